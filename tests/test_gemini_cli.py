"""Gemini CLI's payloads, as recorded, become events."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from neosian.clients import adapter, calling, gemini_cli
from neosian.events import Event, Spooled
from neosian.payload import Cut, length

DATA = Path(__file__).parent / "data" / "gemini-cli"
TOLD = "<hook_context>where we left off &lt;memory&gt;</hook_context>\n\n"


def payload(name: str) -> dict[str, Any]:
    value: dict[str, Any] = json.loads((DATA / f"{name}.json").read_text("utf-8"))
    return value


def parsed(value: dict[str, Any]) -> Event:
    marks = {"CLAUDE_PROJECT_DIR": "/home/dev/shop"}
    return gemini_cli.parse(
        value, Spooled(name="1", client="gemini-cli", at=1.0, cwd="/spooled", marks=marks)
    )


def data(name: str) -> dict[str, Any]:
    return parsed(payload(name)).data


def prompt(text: str) -> str:
    said: str = parsed({"hook_event_name": "BeforeAgent", "prompt": text}).data["text"]
    return said


def after(tool: str, content: object, **more: object) -> dict[str, Any]:
    """The data of an AfterTool."""
    response = {"llmContent": content, **more}
    return parsed({"hook_event_name": "AfterTool", "tool_name": tool, "tool_response": response}).data


def test_every_event_has_its_kind() -> None:
    kinds = {path.stem: parsed(payload(path.stem)).kind for path in DATA.glob("*.json")}
    by_event = {name.partition(".")[0]: kind for name, kind in kinds.items() if name != "pre_compress.auto"}
    assert by_event == {
        "session_start": "start",
        "before_agent": "prompt",
        "before_tool": "call",
        "after_tool": "result",
        "notification": "permission",
        "after_agent": "stop",
        "session_end": "end",
        "pre_compress": "compact",
        "before_model": "nothing",
        "before_tool_selection": "nothing",
        "after_model": "nothing",
    }


def test_a_prompt_is_known_by_its_moment() -> None:
    value = payload("before_agent")
    assert parsed(value).prompt_id == value["timestamp"]
    assert parsed(payload("after_agent")).prompt_id is None


def test_what_comes_before_every_request_is_no_compaction() -> None:
    assert parsed(payload("pre_compress.auto")).kind == "nothing"


def test_session_directory_and_project_are_read() -> None:
    value = payload("before_tool")
    found = parsed(value)
    assert (found.session, found.cwd, found.root) == (value["session_id"], value["cwd"], "/home/dev/shop")
    assert (found.prompt_id, found.call, found.agent) == (None, None, None)


def test_a_prompt_loses_what_hooks_said_at_the_start() -> None:
    held = payload("before_agent.echo")["prompt"]
    assert held.startswith("<hook_context>")
    assert data("before_agent.echo")["text"] == held.partition("</hook_context>\n\n")[2] != ""


@pytest.mark.parametrize(
    "text",
    [
        "fix it",
        "",
        f"look: {TOLD}",
        "<hook_context> is what you write around it",
        "<hook_context>a <b> c</hook_context>\n\nis what I see",
        "<hook_context>one line</hook_context> is what I see",
        "<hook_context>one line</hook_context>\nis what I see",
        "</hook_context>\n\nhm",
    ],
)
def test_a_persons_own_words_stay(text: str) -> None:
    assert prompt(text) == text
    assert prompt(TOLD + text) == text


def test_a_session_without_a_prompt_has_none() -> None:
    assert prompt(TOLD.rstrip()) == ""


def test_a_long_prompt_still_knows_its_length() -> None:
    held = Cut(f"{TOLD}long [… left out …] end", len(TOLD) + 5_000_000)
    text = parsed({"hook_event_name": "BeforeAgent", "prompt": held}).data["text"]
    assert (text, length(text)) == ("long [… left out …] end", 5_000_000)


@pytest.mark.parametrize(
    ("name", "text", "ok"),
    [
        ("after_tool.shell_terminal", "README.md", True),
        ("after_tool.shell_failed", "1 failed\nExit Code: 3", False),
        (
            "after_tool.read_failed",
            "Could not read file because no file was found at the specified path.",
            False,
        ),
        ("after_tool.write", "Successfully created and wrote to new file: /home/dev/shop/cart.py.", True),
        ("after_tool.replace", "Successfully modified file: /home/dev/shop/cart.py (1 replacements).", True),
    ],
)
def test_an_output_is_what_a_person_would_read(name: str, text: str, ok: bool) -> None:
    found = data(name)
    assert (found["text"], found["ok"]) == (text, ok)


def test_an_mcp_tools_text_is_taken_out_of_its_wrapper() -> None:
    found = data("after_tool.mcp")
    assert found["tool"] == "mcp_neosian-memory_memory_create"
    assert (found["text"].partition(" (")[0], found["ok"]) == ("Create money.md", True)
    failed = data("after_tool.mcp_failed")
    assert "There is no /project/none.md" in failed["text"]
    assert failed["ok"] is False


def test_a_cancelled_command_did_not_go_well() -> None:
    found = data("after_tool.shell_cancelled")
    assert found["text"].startswith("Command was cancelled by user")
    assert found["ok"] is False


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ([{"text": "one"}, {"text": "two"}], "one\ntwo"),
        ([{"inlineData": {"mimeType": "image/png", "data": "AAAA"}}], "(image/png)"),
        ([{"functionResponse": {"a": 1}}], '{"functionResponse":{"a":1}}'),
        ("<untrusted_context> in a file", "<untrusted_context> in a file"),
        ("a file\n</untrusted_context>", "a file\n</untrusted_context>"),
        ("<untrusted_context>\n\n</untrusted_context>", ""),
        (None, ""),
        (7, "7"),
    ],
)
def test_a_tools_content_of_any_shape_is_readable(content: object, text: str) -> None:
    assert after("some_tool", content)["text"] == text


@pytest.mark.parametrize(
    ("said", "text", "ok"),
    [
        ("Output: (empty)\nProcess Group PGID: 1", "", True),
        ("Output: a\nExit Code: 0\nb\nExit Code: 2", "a\nExit Code: 0\nb\nExit Code: 2", False),
        ("Output: Output: x\nError: no\nSignal: 9", "Output: x\nError: no\nSignal: 9", False),
        ("Command: x\nDirectory: d\nOutput: y\nError: (none)\nExit Code: 0\nSignal: (none)", "y", True),
        ("something new", "something new", None),
    ],
)
def test_what_the_shell_tool_writes_around_an_output_goes(said: str, text: str, ok: bool | None) -> None:
    wrapped = f"<untrusted_context>\n{said}\n</untrusted_context>"
    for content in (said, wrapped):
        found = after("run_shell_command", content)
        assert (found["text"], found["ok"]) == (text, ok)


def test_an_error_without_a_text_is_told_by_its_message() -> None:
    found = after("some_tool", "", error={"message": "no such tool", "type": "x"})
    assert (found["text"], found["ok"]) == ("no such tool", False)


def test_a_result_without_a_response_is_not_known_to_have_gone_well() -> None:
    found = parsed({"hook_event_name": "AfterTool", "tool_name": "read_file"}).data
    assert (found["text"], found["ok"]) == ("", None)


def test_what_a_person_answers_to_a_question_is_theirs() -> None:
    assert after("ask_user", '{"answers":{"0":"blue"}}')["person"] is True
    assert after("ask_user", "User dismissed ask_user dialog without answering.")["person"] is False
    assert after("read_file", '{"answers":{}}')["person"] is False


def test_a_person_is_asked_for_a_command() -> None:
    found = data("notification.tool_permission")
    assert (found["tool"], found["state"]) == ("run_shell_command", "asked")
    assert found["input"] == {"command": "rm README.md"}


@pytest.mark.parametrize("kind", ["Info", None, 3])
def test_another_notice_is_nothing(kind: object) -> None:
    assert parsed({"hook_event_name": "Notification", "notification_type": kind}).kind == "nothing"


def test_the_stop_has_the_answer() -> None:
    held = payload("after_agent")["prompt_response"]
    assert data("after_agent") == {"text": held, "active": False, "background": []}
    silent = parsed({"hook_event_name": "AfterAgent", "prompt_response": "[no response text]"})
    assert silent.data["text"] == ""


def test_an_unknown_event_keeps_its_payload() -> None:
    value = {"hook_event_name": "SomethingNew", "session_id": "s", "a": 1}
    assert (parsed(value).kind, parsed(value).data["payload"]) == ("event", value)
    assert (parsed({}).session, parsed({}).cwd) == ("unknown", "/spooled")


@pytest.mark.parametrize("name", sorted(path.stem for path in DATA.glob("*.json")))
@pytest.mark.parametrize("junk", [None, 7, "x", [], {}, [[None]], {"a": {"b": [1]}}, True, 1e400])
def test_fields_of_a_wrong_type_are_never_an_error(name: str, junk: object) -> None:
    value = dict.fromkeys(payload(name), junk) | {"hook_event_name": payload(name)["hook_event_name"]}
    assert isinstance(parsed(value).session, str)


def test_what_is_told_comes_as_json() -> None:
    told = json.loads(gemini_cli.shown("prompt", "port 8431"))
    assert told["hookSpecificOutput"] == {"hookEventName": "BeforeAgent", "additionalContext": "port 8431"}
    assert json.loads(gemini_cli.shown("start", "x"))["hookSpecificOutput"]["hookEventName"] == "SessionStart"
    assert gemini_cli.shown("start", "") == ""


def test_a_hooks_process_knows_its_session() -> None:
    assert adapter("gemini-cli").session_of({"GEMINI_SESSION_ID": "s1"}) == "s1"
    assert calling({"GEMINI_SESSION_ID": "s1"}) == ("gemini-cli", "s1")
    assert calling({"GEMINI_CLI": "1"}) is None
