"""Claude Code's payloads, as recorded, become events."""

from __future__ import annotations

import json
from typing import Any

import pytest

from neosian.clients import CLIENTS, adapter, claude_code
from neosian.errors import UsageError
from neosian.events import Event
from neosian.payload import Cut, length
from tests.recorded import DATA, event, payload

PAYLOADS = sorted(path.stem for path in DATA.glob("*.json") if path.stem != "payloads_index")
KIND = {
    "SessionStart": "start",
    "UserPromptSubmit": "prompt",
    "PreToolUse": "call",
    "PostToolUse": "result",
    "PostToolUseFailure": "result",
    "PostToolBatch": "batch",
    "PermissionRequest": "permission",
    "SubagentStart": "subagent",
    "SubagentStop": "subagent",
    "PreCompact": "compact",
    "PostCompact": "compact",
    "Stop": "stop",
    "StopFailure": "failure",
    "SessionEnd": "end",
    "CwdChanged": "cwd",
}


def parsed(name: str) -> Event:
    return event(payload(name))


def data(name: str) -> dict[str, Any]:
    return parsed(name).data


def after(tool: str, response: object, **fields: object) -> dict[str, Any]:
    """The data of a PostToolUse."""
    value = {
        "hook_event_name": "PostToolUse",
        "session_id": "s",
        "tool_name": tool,
        "tool_response": response,
    }
    return event(value | fields).data


@pytest.mark.parametrize("name", PAYLOADS)
def test_every_recorded_payload_has_its_kind_and_ids(name: str) -> None:
    value, found = payload(name), parsed(name)
    assert found.kind == KIND.get(value["hook_event_name"], "event")
    assert (found.session, found.cwd) == (value["session_id"], value["cwd"])
    assert (found.prompt_id, found.agent) == (value.get("prompt_id"), value.get("agent_id"))
    assert (found.call, found.root) == (value.get("tool_use_id"), "/home/dev/shop")


@pytest.mark.parametrize("name", PAYLOADS)
@pytest.mark.parametrize("junk", [None, 7, "x", [], {}, [[None]], {"a": {"b": [1]}}, True, 1e400])
def test_fields_of_a_wrong_type_are_never_an_error(name: str, junk: object) -> None:
    value = {key: junk for key in payload(name) if key != "hook_event_name"}
    found = event(value | {"hook_event_name": payload(name)["hook_event_name"]})
    assert isinstance(found.session, str)


@pytest.mark.parametrize("session", [None, "", 5, ["a"]])
def test_an_event_without_a_session_goes_under_a_name_of_its_own(session: object) -> None:
    assert event({"hook_event_name": "Stop", "session_id": session}).session == "unknown"


@pytest.mark.parametrize("session", ["../../x", "a/b", r"C:\x", "CON", "x" * 300, "a\nb", ".git"])
def test_a_session_id_is_taken_as_it_is(session: str) -> None:
    assert event({"hook_event_name": "Stop", "session_id": session}).session == session


def test_an_unknown_event_keeps_its_payload() -> None:
    found = parsed("instructions_loaded")
    assert (found.kind, found.data) == ("event", {"payload": payload("instructions_loaded"), "opens": False})


def test_an_empty_payload_is_an_unknown_event() -> None:
    assert (event({}).kind, event({}).session) == ("event", "unknown")


@pytest.mark.parametrize(
    ("name", "source", "model"),
    [
        ("session_start.startup", "startup", ""),
        ("session_start.startup_interactive", "startup", "claude-opus-5-5"),
        ("session_start.fork", "fork", ""),
        ("session_start.compact_midturn", "compact", "claude-opus-5-5"),
    ],
)
def test_starts(name: str, source: str, model: str) -> None:
    assert data(name) == {"source": source, "model": model}


@pytest.mark.parametrize(
    ("name", "status"),
    [
        ("user_prompt_submit.task_notification_agent", "completed"),
        ("user_prompt_submit.task_notification_bash", "completed"),
        ("user_prompt_submit.task_notification_bash_failed", "failed"),
    ],
)
def test_a_notification_is_told_from_a_persons_prompt(name: str, status: str) -> None:
    note = data(name)["notification"]
    assert note["status"] == status
    assert note["call"].startswith("toolu_")
    assert note["task"] in data(name)["text"]


def test_what_an_agent_wrote_is_no_field_of_its_notification() -> None:
    text = "<task-notification><task-id>a1</task-id><result>It said <status>failed</status>.</result>"
    note = event({"hook_event_name": "UserPromptSubmit", "prompt": text}).data["notification"]
    assert note == {"call": "", "task": "a1", "status": "", "summary": ""}


def test_a_person_may_speak_of_notifications() -> None:
    said = {"hook_event_name": "UserPromptSubmit", "prompt": "what is <task-notification>?"}
    assert event(said).data["notification"] is None


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("post_tool_use.bash", "one"),
        ("post_tool_use.read", "def add(a, b):\n    return a - b\n\n"),
        ("post_tool_use.edit", "edited /home/dev/shop/calc.py (+1 -1)"),
        ("post_tool_use.write", "created /home/dev/shop/notes.md"),
        ("post_tool_use.mcp", '{"hits":1}'),
        ("post_tool_use.agent_background", "started in the background as a65ba9e726b93cef9"),
        ("post_tool_use.agent_foreground_197", "Sub done."),
        ("post_tool_use.ask_user_question", "Which colour? Red"),
        ("post_tool_use_failure.bash", "Exit code 3\nout\noops"),
        ("post_tool_use_failure.mcp", "boom"),
    ],
)
def test_a_result_reads_as_a_person_would_read_it(name: str, text: str) -> None:
    assert data(name)["text"] == text


@pytest.mark.parametrize(
    ("tool", "response", "text"),
    [
        ("Bash", {"stdout": "out", "stderr": "err"}, "out\nerr"),
        ("Bash", {"stdout": "", "stderr": ""}, ""),
        ("Read", {"type": "image", "file": {"base64": "aaaa"}}, "(an image)"),
        ("Grep", {"mode": "content", "content": "a:1"}, '{"mode":"content","content":"a:1"}'),
        ("mcp__x__y", [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}], "a\nb"),
        ("mcp__x__y", [{"type": "image"}], '[{"type":"image"}]'),
        ("Edit", {"filePath": "a", "structuredPatch": "odd"}, "edited a"),
        ("Anything", None, ""),
        ("Anything", 5, "5"),
    ],
)
def test_results_of_other_shapes(tool: str, response: object, text: str) -> None:
    assert after(tool, response)["text"] == text


def test_a_cut_result_keeps_its_true_length() -> None:
    assert length(after("Bash", {"stdout": Cut("head", 9000), "stderr": "e"})["text"]) == 9002


@pytest.mark.parametrize(
    ("name", "background"),
    [
        ("post_tool_use.bash", None),
        ("post_tool_use.bash_background", "b9tq0dy1d"),
        ("post_tool_use.bash_moved_to_background", "baksmldx1"),
        ("post_tool_use.bash_backgrounded_for_message", "bi87i23sc"),
        ("post_tool_use.agent_background", "a65ba9e726b93cef9"),
        ("post_tool_use.agent_foreground", None),
    ],
)
def test_work_left_in_the_background_has_an_id(name: str, background: str | None) -> None:
    assert data(name)["background"] == background


def test_a_foreground_agent_is_known_by_its_id() -> None:
    assert data("post_tool_use.agent_foreground")["agent"] == "ada323a9e3e640857"


@pytest.mark.parametrize(
    ("name", "ok"),
    [
        ("post_tool_batch.edit_rejected", False),
        ("post_tool_batch.permission_no_with_reason", False),
        ("post_tool_batch.parallel", None),
    ],
)
def test_a_batch_tells_which_calls_were_refused(name: str, ok: bool | None) -> None:
    assert data(name)["calls"][0]["ok"] is ok


def test_the_reason_for_a_no_is_the_persons_words() -> None:
    call = data("post_tool_batch.permission_no_with_reason")["calls"][0]
    assert (call["person"], call["text"]) == (True, "use another name")
    assert data("post_tool_use.ask_user_question")["person"] is True


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("stop", {"text": "It failed.", "active": False, "background": []}),
        ("stop.background_bash", {"text": "Started.", "active": False, "background": ["b9tq0dy1d"]}),
        ("stop_failure", {"error": "unknown", "text": "API Error: 400 scripted bad request"}),
        ("session_end.clear", {"reason": "clear"}),
        ("cwd_changed", {"old": "/home/dev/shop", "new": "/home/dev/shop/sub"}),
        ("subagent_stop", {"event": "stop", "text": "Subagent result: README says Shop."}),
        ("subagent_start", {"event": "start", "text": ""}),
        ("pre_compact.auto", {"event": "before", "trigger": "auto", "text": ""}),
    ],
)
def test_what_is_taken_from_the_other_events(name: str, wanted: dict[str, Any]) -> None:
    assert data(name) == wanted


def test_permissions() -> None:
    asked = data("permission_request.bash")
    denied = event({"hook_event_name": "PermissionDenied", "tool_use_id": "c", "reason": "no"})
    assert (asked["state"], asked["tool"], asked["reason"]) == ("asked", "Bash", "")
    assert (denied.data["state"], denied.data["reason"], denied.call) == ("denied", "no", "c")


def test_every_registered_event_is_in_the_oldest_version_that_is_supported() -> None:
    assert set(claude_code.EVENTS.values()) == {claude_code.OLDEST}
    assert set(claude_code.VERB) == set(claude_code.EVENTS)
    assert set(KIND) <= set(claude_code.EVENTS)


@pytest.mark.parametrize(("text", "units"), [("", 0), ("abc", 3), ("日本", 2), ("🎉", 2), ("\udc88", 1)])
def test_the_client_counts_utf16_code_units(text: str, units: int) -> None:
    assert claude_code.cost(text) == units


def test_adapters_are_found_by_name() -> None:
    assert [adapter(name).NAME for name in CLIENTS] == list(CLIENTS)


def test_an_unknown_client_is_told_which_are_known() -> None:
    with pytest.raises(UsageError, match=r"'emacs'.*claude-code"):
        adapter("emacs")


def test_the_data_of_an_event_is_plain_json() -> None:
    for name in PAYLOADS:
        assert json.loads(json.dumps(data(name))) == data(name)
