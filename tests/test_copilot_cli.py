"""Copilot CLI's payloads, as recorded, become events; and the one thing that is read elsewhere: an answer."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from neosian import clients
from neosian.clients import copilot_cli, copilot_transcript
from neosian.events import Spooled
from tests.expected import DATA, event
from tests.factories import Home
from tests.played import payloads, sequence, told

NAME = "copilot-cli"
PAYLOADS = payloads(NAME)
SESSION = "beae1147-0739-4387-b73f-cec37922fd50"  # of events.transcript
CHILD = "3e7b48e8-30f8-4bcd-af20-8db33e4d8914"
STOPPED = "2026-11-30T04:06:48.245Z"


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


def data(name: str, **fields: Any) -> dict[str, Any]:
    return event(NAME, PAYLOADS[name] | fields).data


@pytest.mark.parametrize("name", PAYLOADS)
def test_both_spellings_of_an_event_are_the_same_kind(name: str) -> None:
    value, found = PAYLOADS[name], event(NAME, PAYLOADS[name])
    kinds = {
        "session_start": "start", "user_prompt_submit": "prompt", "user_prompt_submitted": "prompt",
        "pre_tool_use": "call", "post_tool_use": "result", "post_tool_use_failure": "result", "stop": "stop",
        "agent_stop": "stop", "subagent_start": "subagent", "subagent_stop": "subagent", "pre_compact": "compact",
        "permission_request": "permission", "error_occurred": "error", "session_end": "end",
    }  # fmt: skip
    assert found.kind == kinds.get(name.partition(".")[0], "event")
    assert found.cwd == value["cwd"] == "/home/dev/shop"
    spelled = {copilot_cli._spelled(key): said for key, said in value.items()}
    assert found.session == (spelled.get("parent_agent_id") or spelled["session_id"])
    assert found.agent == spelled.get("agent_id")


def test_a_new_session_is_called_a_startup() -> None:
    assert data("session_start") == {"source": "startup", "model": ""}
    assert data("session_start.camel") == {"source": "startup", "model": ""}
    assert data("session_start.resume")["source"] == "resume"


def test_a_shell_whose_command_failed_has_failed() -> None:
    result = {"result_type": "success", "text_result_for_llm": "bad\n<shellId: 0 completed with exit code 3>"}
    found = data("post_tool_use.bash", tool_result=result)
    assert (found["ok"], found["text"]) == (False, result["text_result_for_llm"])
    assert data("post_tool_use.bash")["ok"] is True


@pytest.mark.parametrize(
    ("result", "ok"),
    [
        ({"result_type": "success"}, True),
        ({"result_type": "denied"}, False),
        ({"text_result_for_llm": "x"}, None),
        ({"result_type": "success", "text_result_for_llm": "<shellId: 0 completed with exit code 10>"}, False),
        ({"result_type": "success", "text_result_for_llm": "see <shellId: 0 completed with exit code 3> above"}, True),
        ([], None),
        ("text", None),
    ],
)  # fmt: skip
def test_how_a_call_ended(result: object, ok: bool | None) -> None:
    assert data("post_tool_use.bash", tool_result=result)["ok"] is ok


def test_failed_calls_say_why() -> None:
    found = data("post_tool_use_failure.mcp")
    assert (found["tool"], found["ok"], found["text"]) == (
        "probe-bad",
        False,
        "MCP server 'probe': mcp says no",
    )


def test_a_notification_is_told_from_a_persons_prompt() -> None:
    note = data("user_prompt_submit.notified")["notification"]
    assert note["summary"] == 'Shell command "d" (shellId: 0) has completed successfully.'
    assert note["status"] == "completed"
    assert data("user_prompt_submit")["notification"] is None


def test_an_error_is_told_without_the_clients_stack() -> None:
    assert data("error_occurred") == {"error": '{"message":"boom","type":"scripted"}', "text": ""}
    assert event(NAME, PAYLOADS["error_occurred"] | {"error_context": "tool_execution"}).kind == "event"


def test_of_a_subagent_only_the_last_words_are_kept() -> None:
    found = event(NAME, PAYLOADS["subagent_stop.in_subagent"])
    assert (found.session, found.agent, found.data["text"]) == (SESSION, CHILD, "The child is done.")


@pytest.mark.parametrize(
    "stamp", [None, True, "", "noon", "2026-11-30T99:99:99.999Z", -1, 1e300, [], "2026-11-30T04:06:48,245Z"]
)
def test_a_time_that_is_none_changes_nothing(stamp: object) -> None:
    assert event(NAME, PAYLOADS["stop"] | {"timestamp": stamp}).at == event(NAME, PAYLOADS["stop"]).at


def test_events_are_in_the_order_of_the_clients_own_time() -> None:
    began = 1_796_011_604.0  # 2026-11-30T04:06:44Z
    first = PAYLOADS["session_start"] | {"timestamp": "2026-11-30T04:06:44.585Z"}
    second = PAYLOADS["user_prompt_submit"] | {"timestamp": 1_796_011_604_728}
    late = Spooled(name="b", client=NAME, at=began + 1.2, tick=51.2, boot="one")
    early = Spooled(name="a", client=NAME, at=began + 1.1, tick=51.1, boot="one")
    start, prompt = clients.read(first, late), clients.read(second, early)
    assert [start.tick, prompt.tick] == pytest.approx([50.585, 50.728])
    assert [round(one.at - began, 3) for one in (start, prompt)] == [0.585, 0.728]


def test_what_is_told_is_a_json_object() -> None:
    text = 'He said "x"\n✅ \udc88'
    assert json.loads(copilot_cli.shown("start", text)) == {"additionalContext": text.replace("\udc88", "?")}
    assert copilot_cli.shown("prompt", "") == ""


def test_the_session_of_a_tools_process_is_known() -> None:
    assert clients.calling({"COPILOT_AGENT_SESSION_ID": "abc"}) == (NAME, "abc")


# Turns --------------------------------------------------------------------------------------------


def test_interrupted_turns() -> None:
    found = told(sequence(NAME, "esc"))
    assert [line for line in found if not line.startswith("  Bash")] == [
        "interrupted:", "  asked: First SLEEP", "done:", "  asked: Then BETA", "interrupted:", "  asked: First THINK",
        "done:", "  asked: First THINKThen ALPHA",
    ]  # fmt: skip


def test_a_call_of_an_interrupted_turn_is_not_ended_by_the_same_call_of_the_next() -> None:
    names = (
        "user_prompt_submit",
        "pre_tool_use.bash",
        "user_prompt_submit",
        "pre_tool_use.bash",
        "post_tool_use.bash",
        "stop",
    )
    events = [event(NAME, PAYLOADS[name] | {"session_id": "s"}, second) for second, name in enumerate(names)]
    assert [line for line in told(events) if "asked" not in line] == [
        "interrupted:", "  Bash: unknown", "done:", "  Bash: good",
    ]  # fmt: skip


@pytest.mark.parametrize("at_each_stop", [True, False])
def test_a_request_that_failed_to_the_end_fails_its_turn(at_each_stop: bool) -> None:
    found = told(sequence(NAME, "failing"), at_each_stop=at_each_stop)
    assert found[:3] == ["failed:", "  asked: Do BOOM", '  answered: {"message":"busy","type":"scripted"}']


def test_a_request_that_is_answered_in_the_end_fails_nothing() -> None:
    prompt, error, call, stop = (
        PAYLOADS[name] | {"session_id": "s"}
        for name in ("user_prompt_submit", "error_occurred", "pre_tool_use.bash", "stop")
    )
    events = [event(NAME, value, second) for second, value in enumerate([prompt, error, call, error, stop])]
    assert told(events)[0] == "done:"
    assert told([*events[:3], event(NAME, prompt, 9.0)])[0] == "interrupted:"


# The answer ---------------------------------------------------------------------------------------


@pytest.fixture
def transcript(tmp_path: Path) -> Path:
    """A session's file, below some home of the client."""
    path = tmp_path / "session-state" / SESSION / "events.jsonl"
    path.parent.mkdir(parents=True)
    path.write_bytes((DATA / NAME / "events.transcript").read_bytes())
    return path


def answer(path: Path | str, session: str = SESSION, until: str = STOPPED) -> str:
    return copilot_transcript.answer(str(path), session, until)


def said(text: str, at: str = STOPPED, **more: Any) -> bytes:
    line = {"type": "assistant.message", "data": {"content": text}, "timestamp": at, **more}
    return json.dumps(line).encode() + b"\n"


def test_the_answer_is_the_last_that_was_said(transcript: Path) -> None:
    assert answer(transcript) == "Parent is done."
    assert answer(transcript, until="") == "Parent is done."


def test_what_was_said_later_or_by_a_subagent_is_no_answer(transcript: Path) -> None:
    with transcript.open("ab") as file:
        file.write(said("Later.", "2026-11-30T04:06:50.000Z"))
        file.write(said("A child.", agentId=CHILD))
    assert answer(transcript) == "Parent is done."
    assert answer(transcript, until="2026-11-30T04:06:50.000Z") == "Later."


def test_a_file_that_is_still_being_written_is_waited_for(transcript: Path) -> None:
    whole = transcript.read_bytes()
    transcript.write_bytes(whole[: whole.index(b'"Parent is done."')])
    assert answer(transcript) == ""
    late = threading.Timer(0.1, transcript.write_bytes, [whole])
    late.start()
    found = copilot_transcript.answer(str(transcript), SESSION, STOPPED, patience=10.0)
    late.join()
    assert found == "Parent is done."


def test_a_file_that_is_not_there_yet_is_waited_for(transcript: Path) -> None:
    whole = transcript.read_bytes()
    transcript.unlink()
    assert answer(transcript) == ""
    late = threading.Timer(0.1, transcript.write_bytes, [whole])
    late.start()
    found = copilot_transcript.answer(str(transcript), SESSION, STOPPED, patience=10.0)
    late.join()
    assert found == "Parent is done."


def test_an_older_turns_answer_is_not_this_ones(transcript: Path) -> None:
    asked = {"type": "hook.start", "data": {"hookType": "userPromptSubmitted"}, "timestamp": STOPPED}
    with transcript.open("ab") as file:
        file.write(json.dumps(asked).encode() + b"\n")
    assert answer(transcript) == ""


@pytest.mark.parametrize(
    "line",
    [b"\x00\xff\xfe", b'{"type":"assistant.message"', b'["assistant.message"]', b'{"type":"assistant.message","data":7}',
     b'{"type":"assistant.message","data":{"content":[1]}}', b'{"a":' * 5000 + b'"assistant.message"', b""],
)  # fmt: skip
def test_a_line_that_is_none_is_passed_over(transcript: Path, line: bytes) -> None:
    with transcript.open("ab") as file:
        file.write(line + b"\n")
    assert answer(transcript) == "Parent is done."


def test_a_file_of_gigabytes_is_read_from_its_end(transcript: Path) -> None:
    with transcript.open("r+b") as file:
        file.truncate(3 << 30)  # a hole: no disk is used
        file.seek(0, os.SEEK_END)
        file.write(b"\n" + said("At the end."))
    assert answer(transcript) == "At the end."
    os.truncate(transcript, 4 << 30)
    assert answer(transcript) == ""


def test_only_the_file_that_belongs_to_the_session_is_read(transcript: Path, tmp_path: Path) -> None:
    assert answer(transcript, session="another") == ""
    other = tmp_path / "events.jsonl"
    other.write_bytes(transcript.read_bytes())
    assert answer(other) == ""
    assert answer("session-state/" + SESSION + "/events.jsonl") == ""
    assert answer(transcript.parent.parent / ".." / "events.jsonl", session="..") == ""


def test_neither_a_link_nor_a_pipe_nor_a_folder_is_read(transcript: Path, tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    transcript.rename(kept)
    assert answer(transcript) == ""
    transcript.symlink_to(kept)
    assert answer(transcript) == ""
    transcript.unlink()
    os.mkfifo(transcript)
    assert answer(transcript) == ""
    transcript.unlink()
    transcript.mkdir()
    assert answer(transcript) == ""


def test_neither_a_hard_link_nor_a_file_in_a_linked_folder_is_read(transcript: Path, tmp_path: Path) -> None:
    os.link(transcript, tmp_path / "kept")
    assert answer(transcript) == ""
    (tmp_path / "kept").unlink()
    assert answer(transcript) == "Parent is done."
    elsewhere = tmp_path / "elsewhere"
    transcript.parent.rename(elsewhere)
    transcript.parent.symlink_to(elsewhere)
    assert answer(transcript) == ""


def landed(home: Home, transcript: Path, **stop: Any) -> list[dict[str, Any]]:
    """The lines of a turn whose stop names a file."""
    said = {"session_id": SESSION, "cwd": str(home.project)}
    for name, more in (("user_prompt_submit", {}), ("stop", {"transcript_path": str(transcript), **stop})):
        value = PAYLOADS[name] | {"timestamp": STOPPED} | said | more
        home.put(value, client=NAME)
    return [line for each in home.land() for line in each.span.lines]


def test_a_landed_turn_has_the_answer(home: Home, transcript: Path) -> None:
    lines = landed(home, transcript)
    assert [line["text"] for line in lines if line["kind"] == "answer"] == ["Parent is done."]
    assert {line.get("client") for line in lines if line["kind"] == "turn"} == {NAME}


def test_a_landing_waits_for_all_answers_together(home: Home, transcript: Path) -> None:
    whole = transcript.read_bytes()
    for session in ("a", "b", SESSION):
        path = transcript.parent.parent / session / "events.jsonl"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(whole if session == SESSION else b"")
        about = {"session_id": session, "cwd": str(home.project), "timestamp": STOPPED}
        home.put(PAYLOADS["user_prompt_submit"] | about, client=NAME)
        home.put(PAYLOADS["stop"] | about | {"transcript_path": str(path)}, client=NAME)
    lander = home.lander()
    lines = [line for each in lander.land() for line in each.span.lines]
    lander.close()
    assert lander._waits == 0.0, "the first took it all"
    assert [line["text"] for line in lines if line["kind"] == "answer"] == ["Parent is done."]


def test_a_text_in_the_payload_comes_first(home: Home, transcript: Path) -> None:
    lines = landed(home, transcript, last_assistant_message="From the payload.")
    assert [line["text"] for line in lines if line["kind"] == "answer"] == ["From the payload."]


@pytest.mark.parametrize("setting", ["false", '"no"'])
def test_the_file_is_not_read_where_that_is_switched_off(home: Home, transcript: Path, setting: str) -> None:
    home.path.mkdir(exist_ok=True)
    (home.path / "config.toml").write_text(f"[record]\ntranscript = {setting}\n", encoding="utf-8")
    lines = landed(home, transcript)
    assert [line["kind"] for line in lines] == ["turn", "prompt"]


def test_a_stop_without_its_file_ends_the_turn_all_the_same(home: Home, tmp_path: Path) -> None:
    lines = landed(home, tmp_path / "session-state" / SESSION / "events.jsonl")
    assert [(line["kind"], line.get("state")) for line in lines] == [("turn", "done"), ("prompt", None)]


def test_a_hook_loads_nothing_of_the_transcript() -> None:
    code = "import sys; from neosian.clients import copilot_cli; print('neosian.clients.copilot_transcript' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
