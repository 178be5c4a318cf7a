"""Cursor's payloads, as its documentation has them: through its own hook line, and through Claude Code's."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from neosian import cli, clients
from neosian.clients import cursor
from neosian.events import Event, Spooled
from tests.expected import DATA, events, told
from tests.factories import bytes_below
from tests.hooking import Done, Hooks
from tests.recorded import BEGAN, Record, landed

ADDRESS = "dev@example.com"
BOTH = DATA / "cursor" / "turns" / "both_pairs.jsonl"


def said(name: str, **fields: Any) -> dict[str, Any]:
    """A payload of an event, with some fields changed; None takes one away."""
    held: dict[str, Any] = json.loads((DATA / "cursor" / "stop.json").read_text("utf-8"))
    path = next(DATA.glob(f"cursor/{name}.json"), None)
    held = json.loads(path.read_text("utf-8")) if path else {**held, "hook_event_name": name}
    return {key: value for key, value in {**held, **fields}.items() if value is not None}


def event(payload: dict[str, Any], line: str = "cursor", second: float = 0.0) -> Event:
    spooled = Spooled(
        name=f"{BEGAN + second:.3f}-{line}", client=line, at=BEGAN + second, cwd="/home/dev/.cursor"
    )
    return clients.read(payload, spooled)


def turns(*payloads: dict[str, Any]) -> Record:
    return landed([event(payload, second=second) for second, payload in enumerate(payloads)])


# What an event is --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fields", "session"),
    [
        ({"session_id": None}, "6f0a1c52-0d0e-4f0a-9a3e-2f5b7c1d9e10"),
        ({"conversation_id": None, "session_id": "other"}, "other"),
        ({"conversation_id": 7, "session_id": None}, "unknown"),
    ],
)
def test_the_conversation_is_the_session(fields: dict[str, Any], session: str) -> None:
    assert event(said("stop", **fields)).session == session


@pytest.mark.parametrize(
    ("fields", "cwd", "root"),
    [
        ({}, "/home/dev/shop", "/home/dev/shop"),
        ({"cwd": "/home/dev/shop/src"}, "/home/dev/shop/src", "/home/dev/shop"),
        ({"workspace_roots": [7, "/a", "/b"]}, "/a", "/a"),
        ({"workspace_roots": []}, "/home/dev/.cursor", None),
        ({"workspace_roots": "/a"}, "/home/dev/.cursor", None),
    ],
)
def test_the_first_folder_of_the_workspace_is_the_project(
    fields: dict[str, Any], cwd: str, root: str | None
) -> None:
    found = event(said("before_submit_prompt", **fields))
    assert (found.cwd, found.root) == (cwd, root)


@pytest.mark.parametrize(
    ("output", "text", "ok"),
    [
        ('{"output": "a\\n", "exitCode": 0}', "a\n", True),
        ('{"output": "a", "exitCode": 2}', "a", False),
        ('{"content": [{"type": "text", "text": "a"}], "isError": true}', "a", False),
        ('{"success": true}', '{"success": true}', True),
        ("no JSON {", "no JSON {", True),
        ("[" * 100_000, "[" * 100_000, True),
        (None, "", True),
        (7, "7", True),
    ],
)
def test_an_output_reads_as_a_person_would(output: Any, text: str, ok: bool) -> None:
    found = event(said("post_tool_use.shell", tool_output=output))
    assert (found.data["text"], found.data["ok"]) == (text, ok)


@pytest.mark.parametrize("given", ['{"query": "port"}', {"query": "port"}])
def test_what_a_tool_was_asked_may_come_as_a_text(given: Any) -> None:
    assert event(said("pre_tool_use.shell", tool_input=given)).data["input"] == {"query": "port"}


def test_a_child_that_ends_without_a_name_is_no_error() -> None:
    end = said("subagentStop", subagent_type="explore", summary="It is in app.py.")
    record = turns(said("before_submit_prompt"), end, said("stop"))
    assert "subagent event=stop agent=explore agent_type=explore: It is in app.py." in told(record)


@pytest.mark.parametrize("end", [True, False])
def test_a_shells_own_events_count_where_no_others_tell_of_calls(end: bool) -> None:
    shell = [said("before_shell_execution"), *([said("after_shell_execution")] if end else [])]
    record = turns(said("before_submit_prompt"), *shell, said("stop"))
    assert told(record).count("tool_call Shell") == 1
    assert ("tool_result ? ended=False" in told(record)) != end


# What the agent said -----------------------------------------------------------------------------


def test_the_last_words_before_a_stop_are_the_answer() -> None:
    words = [said("after_agent_response", text=text) for text in ("I look.", "It is 8431.")]
    assert turns(said("before_submit_prompt"), *words, said("stop")).turns()[0].answer == "It is 8431."


def test_words_that_come_after_the_stop_are_added_once() -> None:
    late = [said("after_agent_response", text="It is 8431.")] * 2
    payloads = [said("before_submit_prompt"), said("stop"), *late]
    for record in (
        turns(*payloads),
        landed([event(p, second=n) for n, p in enumerate(payloads)], lambda _: True),
    ):
        (turn,) = record.turns()
        assert [line["text"] for line in turn.lines if line["kind"] == "answer"] == ["It is 8431."]


def test_words_of_a_turn_without_a_stop_are_kept() -> None:
    first = [said("before_submit_prompt"), said("after_agent_response", text="I look.")]
    record = turns(*first, said("before_submit_prompt", generation_id="two", prompt="Stop"))
    assert [(turn.state, turn.answer) for turn in record.turns()] == [("interrupted", "I look.")]


# Who it is, and what is never kept ---------------------------------------------------------------


@pytest.mark.parametrize("fields", [{}, {"cursor_version": None}])
def test_claude_codes_line_run_by_cursor_is_cursors(fields: dict[str, Any]) -> None:
    found = event(said("stop", **fields), "claude-code")
    assert (found.client, found.kind, found.level) == ("cursor", "stop", "--line\x1fclaude-code")


def test_both_lines_make_one_record() -> None:
    own = events("cursor", BOTH)
    lines = [json.loads(line) for line in BOTH.read_text("utf-8").splitlines()]
    theirs = [event(payload, "claude-code", second + 0.02) for second, payload in enumerate(lines)]
    both = sorted([*own, *theirs], key=lambda one: one.at)
    assert landed(both).lines == landed(own).lines


@pytest.mark.parametrize("line", ["cursor", "claude-code"])
@pytest.mark.parametrize(
    "payload",
    [
        {"hook_event_name": "workspaceOpen", "user_email": ADDRESS},
        {"hook_event_name": 7, "deep": [{"user_email": ADDRESS, "kept": 1}]},
    ],
)
def test_the_persons_address_is_in_no_event(line: str, payload: dict[str, Any]) -> None:
    assert ADDRESS not in json.dumps(event(payload, line).data)


def test_the_launcher_records_answers_and_keeps_no_address(tmp_path: Path) -> None:
    hooks = Hooks(tmp_path)
    done: list[Done] = []
    for text in BOTH.read_text("utf-8").splitlines():
        payload = json.loads(text.replace("/home/dev/shop", str(hooks.project)))
        verb = cursor.VERB.get(payload["hook_event_name"], "note")
        done += [hooks.fire(payload, argv=[client, verb]) for client in ("cursor", "claude-code")]
    assert [one for one in done if one.status or one.err] == []
    told_at_start = [one.out for one in done[:2] if one.out]
    assert [list(json.loads(out)) for out in told_at_start] == [["additional_context"]]
    assert [one.out for one in done[4:] if one.out] == []
    assert hooks.texts() == ["Which port does the shop listen on?", "Change it to 8500", "And run it"]
    assert {line["client"] for line in hooks.lines() if line["kind"] == "turn"} == {"cursor"}
    hooks.check(hooks.texts())
    assert [name for name, data in bytes_below(hooks.home).items() if ADDRESS.encode() in data] == []
    assert ADDRESS not in json.dumps(hooks.lines())


def test_a_prompt_is_answered_with_leave_to_go_on() -> None:
    assert json.loads(cursor.shown("prompt", "a")) == {"continue": True, "additional_context": "a"}


# Its settings ------------------------------------------------------------------------------------


def test_hooks_go_beside_a_persons_and_out_again(
    private_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = private_home / ".cursor" / "hooks.json"
    file.parent.mkdir()
    mine = '{"version": 1,\r\n "hooks": {"stop": [{"command": "./mine.sh"}]}}\r\n'
    file.write_bytes(mine.encode())
    words = ["--client", "cursor", "--user", "--write"]

    assert cli.main(["record", "install", *words]) == 0
    assert "Not verified" in capsys.readouterr().err
    hooks = json.loads(file.read_text("utf-8"))["hooks"]
    assert set(hooks) == set(cursor.EVENTS)
    assert [entry["command"].rpartition('"$h" ')[2] for entry in hooks["stop"]] == [
        "./mine.sh",
        "cursor stop",
    ]
    assert cli.main(["record", "uninstall", *words]) == 0
    assert file.read_bytes() == mine.encode()
    assert os.listdir(file.parent) == ["hooks.json"]
