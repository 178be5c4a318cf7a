"""Qwen Code's payloads, as recorded, become events."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from neosian.clients import calling, qwen_code
from neosian.events import Event, Spooled

DATA = Path(__file__).parent / "data" / "qwen-code"


def payload(name: str) -> dict[str, Any]:
    value: dict[str, Any] = json.loads((DATA / f"{name}.json").read_text("utf-8"))
    return value


def parsed(value: dict[str, Any]) -> Event:
    marks = {"CLAUDE_PROJECT_DIR": "/home/dev/shop"}
    return qwen_code.parse(value, Spooled(name="1", client="qwen-code", at=1.0, cwd="/spooled", marks=marks))


def data(name: str) -> dict[str, Any]:
    return parsed(payload(name)).data


def submitted(**fields: object) -> Event:
    return parsed({"hook_event_name": "UserPromptSubmit", "session_id": "s", **fields})


def test_every_event_has_its_kind() -> None:
    kinds = {path.stem: parsed(payload(path.stem)).kind for path in DATA.glob("*.json")}
    del kinds["user_prompt_submit.after_tool"]
    assert {name.partition(".")[0]: kind for name, kind in kinds.items()} == {
        "session_start": "start",
        "user_prompt_submit": "prompt",
        "pre_tool_use": "call",
        "post_tool_use": "result",
        "post_tool_use_failure": "result",
        "post_tool_batch": "batch",
        "permission_request": "permission",
        "subagent_start": "subagent",
        "subagent_stop": "subagent",
        "pre_compact": "compact",
        "stop": "stop",
        "session_end": "end",
        "instructions_loaded": "event",
        "message_display": "event",
        "notification": "event",
    }


def test_the_empty_prompt_after_every_tool_is_nothing() -> None:
    assert parsed(payload("user_prompt_submit.after_tool")).kind == "nothing"
    assert submitted().kind == submitted(prompt=7, submitted_prompt=None).kind == "nothing"


def test_a_prompt_is_what_was_submitted() -> None:
    assert data("user_prompt_submit")["text"] == "Please list the files here"
    assert payload("user_prompt_submit.reminder")["prompt"].startswith("<system-reminder>")
    assert data("user_prompt_submit.reminder") == {"text": "go on", "notification": None}
    assert submitted(prompt="only this").data["text"] == "only this"


def test_a_notice_of_ended_work_is_told_from_a_prompt() -> None:
    text = "<task-notification>\n<task-id>bg_1</task-id>\n<status>failed</status>\n<summary>It failed.</summary>\n"
    told = submitted(prompt=text).data["notification"]
    assert (told["task"], told["status"], told["summary"]) == ("bg_1", "failed", "It failed.")


def test_ids_are_read() -> None:
    value = payload("post_tool_use.in_subagent")
    found = parsed(value)
    assert (found.session, found.cwd, found.root) == (value["session_id"], value["cwd"], "/home/dev/shop")
    assert found.agent == value["agent_id"]


def test_only_the_id_of_a_prompt_counts() -> None:
    value = payload("user_prompt_submit")
    assert parsed(value).prompt_id == value["prompt_id"] == payload("stop")["prompt_id"]
    assert parsed(payload("stop")).prompt_id is None


def test_a_call_has_one_name_in_all_its_events() -> None:
    call, end, batch = (
        payload(f"{name}") for name in ("pre_tool_use.shell", "post_tool_use.shell", "post_tool_batch")
    )
    assert call["tool_use_id"] != call["tool_call_id"]
    assert parsed(call).call == parsed(end).call == call["tool_call_id"]
    assert [one["call"] for one in parsed(batch).data["calls"]] == [call["tool_call_id"]]


@pytest.mark.parametrize(
    ("name", "text", "ok"),
    [
        ("post_tool_use.write", "Successfully created and wrote to new file: /home/dev/shop/cart.py.", True),
        ("post_tool_use.edit", "The file: /home/dev/shop/cart.py has been updated.", True),
        ("post_tool_use.read", "def total(p):\n    return int(sum(p))\n", True),
        ("post_tool_use.in_subagent", "sub", True),
        ("post_tool_use_failure.shell", "1 failed\nExit Code: 3", False),
        ("post_tool_use_failure.read", "File not found: /home/dev/shop/nothing.py", False),
    ],
)
def test_an_output_is_what_a_person_would_read(name: str, text: str, ok: bool) -> None:
    found = data(name)
    assert (found["text"], found["ok"], type(found["ms"])) == (text, ok, int)


def test_an_agent_that_goes_on_in_the_background_is_named() -> None:
    found, launch = parsed(payload("subagent_stop")), data("post_tool_use.agent")
    assert launch["background"] == launch["agent"] == found.agent != None  # noqa: E711
    assert data("stop.background_agent")["background"] == [found.agent]
    assert found.data == {"event": "stop", "text": "Sub done."}


def test_work_that_has_ended_does_not_go_on() -> None:
    ended = payload("stop.background_agent")
    for task in ended["background_tasks"]:
        task["status"] = "completed"
    assert parsed(ended).data["background"] == []


def test_a_command_that_goes_on_in_the_background_is_named() -> None:
    found = data("post_tool_use.shell_background")
    assert found["background"].startswith("bg_")
    assert found["agent"] is None
    assert data("post_tool_use.shell")["background"] is None


def test_a_call_that_was_refused_is_in_the_batch_alone() -> None:
    [refused] = data("post_tool_batch.refused")["calls"]
    assert (refused["tool"], refused["ok"]) == ("run_shell_command", False)
    assert refused["text"] == "[Operation Cancelled] Reason: User did not allow tool call"
    wrong = data("post_tool_batch.bad_calls")["calls"]
    assert [(call["tool"], call["ok"]) for call in wrong] == [("read_file", False), ("nonsense", False)]
    assert wrong[0]["text"] == "params must have required property 'file_path'"
    [good] = data("post_tool_batch")["calls"]
    assert good["ok"] is True


def test_what_a_person_answers_to_a_question_is_theirs() -> None:
    said = {"llmContent": "User has provided the following answers:\n\n**Colour**: blue"}
    value = {"hook_event_name": "PostToolUse", "tool_name": "ask_user_question", "tool_response": said}
    assert parsed(value).data["person"] is True
    assert data("post_tool_use.read")["person"] is False


def test_an_output_that_is_no_object_is_read_too() -> None:
    value = {"hook_event_name": "PostToolUse", "tool_name": "x", "tool_response": "plain"}
    assert parsed(value).data["text"] == "plain"


@pytest.mark.parametrize("name", sorted(path.stem for path in DATA.glob("*.json")))
@pytest.mark.parametrize("junk", [None, 7, "x", [], {}, [[None]], {"a": {"b": [1]}}, True, 1e400])
def test_fields_of_a_wrong_type_are_never_an_error(name: str, junk: object) -> None:
    value = dict.fromkeys(payload(name), junk) | {"hook_event_name": payload(name)["hook_event_name"]}
    assert isinstance(parsed(value).session, str)


def test_what_is_told_comes_as_json() -> None:
    told = json.loads(qwen_code.shown("prompt", "port 8431"))
    assert told["hookSpecificOutput"] == {
        "hookEventName": "UserPromptSubmit",
        "additionalContext": "port 8431",
    }
    assert qwen_code.shown("start", "") == ""


def test_an_agents_tools_know_their_session() -> None:
    assert calling({"QWEN_CODE_SESSION_ID": "s1"}) == ("qwen-code", "s1")
