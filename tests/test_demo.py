"""The demo: its recording is real and impersonal, and it shows all it promises or fails loudly."""

from __future__ import annotations

import argparse
import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from neosian import demo, resources
from neosian.commands import demo as command
from neosian.errors import UsageError

SESSIONS = (1, 2)
PROJECT, HOME = Path("/somewhere/shop"), Path("/somewhere/home")
VERBS = {"SessionStart": "start", "UserPromptSubmit": "prompt", "Stop": "stop", "SessionEnd": "end"}

Launcher = Callable[[str], None]


def raw(session: int) -> str:
    return resources.text("templates/demo", f"session-{session}.jsonl")


def events(session: int) -> list[demo.Recorded]:
    return demo.recording(session, PROJECT, HOME)


@pytest.mark.parametrize("session", SESSIONS)
def test_each_event_comes_with_the_verb_of_its_hook_line(session: int) -> None:
    for line in map(json.loads, raw(session).splitlines()):
        assert line["event"] == line["payload"]["hook_event_name"]
        assert line["verb"] == VERBS.get(line["event"], "note")


@pytest.mark.parametrize("session", SESSIONS)
def test_a_recording_runs_from_start_to_end_of_one_session(session: int) -> None:
    recorded = events(session)
    assert (recorded[0].verb, recorded[-1].verb) == ("start", "end")
    assert {event.payload["session_id"] for event in recorded} == {demo.conversation(recorded)}


def test_the_two_sessions_are_two() -> None:
    assert demo.conversation(events(1)) != demo.conversation(events(2))


@pytest.mark.parametrize("session", SESSIONS)
def test_nothing_of_the_recording_machine_is_shipped(session: int) -> None:
    assert not any(folder in raw(session) for folder in ("/root", "/home/", "/tmp", "/Users/", "-tmp-"))


@pytest.mark.parametrize("session", SESSIONS)
def test_the_placeholders_become_the_folders_of_the_demo(session: int) -> None:
    recorded = events(session)
    assert {event.payload["cwd"] for event in recorded} == {str(PROJECT)}
    assert "@" not in "".join(event.payload["transcript_path"] for event in recorded)


def test_a_folder_with_a_quote_in_its_name_is_filled_in_whole() -> None:
    project = Path('/a "b"\\c')
    assert demo.recording(1, project, HOME)[0].payload["cwd"] == str(project)


def test_session_one_holds_a_failure_and_two_prompts_each_with_its_answer() -> None:
    names = [event.payload["hook_event_name"] for event in events(1)]
    assert names.count("PostToolUseFailure") == 1
    assert len(demo.prompts(events(1))) == names.count("Stop") == 2


def test_session_two_asks_one_question() -> None:
    assert len(demo.prompts(events(2))) == 1


def test_the_tree_joins_folders_and_hides_git(tmp_path: Path) -> None:
    for name in ("README.md", ".git/HEAD", "record/2026-11/29/a.jsonl", "record/2026-11/29/b.jsonl"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    assert demo.tree(tmp_path) == "  record/2026-11/29/\n    a.jsonl\n    b.jsonl\n  README.md"


@pytest.fixture
def launcher(monkeypatch: pytest.MonkeyPatch) -> Launcher:
    """Makes the demo install another launcher: the given lines of sh."""

    def replace(script: str) -> None:
        def install(home: Path) -> Path:
            path = home / "bin" / "neosian-hook"
            path.parent.mkdir(parents=True)
            path.write_text(f"#!/bin/sh\ncat > /dev/null\n{script}\n", encoding="utf-8")
            path.chmod(0o700)
            return path

        monkeypatch.setattr(demo, "install_launcher", install)

    return replace


def test_a_failing_hook_is_named_with_what_it_printed(tmp_path: Path, launcher: Launcher) -> None:
    launcher("echo 'the spool is full' >&2; exit 1")
    with pytest.raises(demo.DemoError, match=r"hook for SessionStart.*\n.*the spool is full"):
        list(demo.show(tmp_path / "demo"))


def test_a_hook_that_talks_at_a_tool_call_is_an_error(tmp_path: Path, launcher: Launcher) -> None:
    launcher("echo chatter")
    with pytest.raises(demo.DemoError, match=r"hook for PreToolUse.*\nchatter"):
        list(demo.show(tmp_path / "demo"))


def test_a_session_that_leaves_no_commit_is_an_error(
    tmp_path: Path, launcher: Launcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    launcher("exit 0")
    store = tmp_path / "store"
    commit = ["commit", "--quiet", "--allow-empty", "--message", "nothing"]
    for args in (["init", "--quiet", str(store)], ["-C", str(store), *commit]):
        subprocess.run(["git", *args], check=True)
    monkeypatch.setattr(demo.Stage, "neosian", lambda self, step, *args: f"{store}\n")
    with pytest.raises(demo.DemoError, match="2 turns, but 0 commits"):
        list(demo.show(tmp_path / "demo"))


@pytest.mark.parametrize("text", ["none of it", ""])
def test_what_a_step_should_print_and_does_not_is_named(tmp_path: Path, text: str) -> None:
    with pytest.raises(demo.DemoError, match="It lacks: two words"):
        demo.Stage(tmp_path).expect("recall", text, "two words")


def test_lines_may_be_broken_elsewhere(tmp_path: Path) -> None:
    demo.Stage(tmp_path).expect("recall", "has two\n   words in it", "two words")


def arguments(*argv: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    command.configure(parser)
    return parser.parse_args(argv)


def test_a_folder_that_holds_something_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine").touch()
    with pytest.raises(UsageError, match="is not an empty folder"):
        command.run(arguments("--keep", str(tmp_path)))


def test_the_demo_shows_the_store_the_turn_and_what_the_next_session_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command.run(arguments("--keep", str(tmp_path / "demo"))) == 0
    shown = capsys.readouterr().out
    for heading in (
        "The store",
        "git log",
        "One turn, recalled",
        "What the next session is told",
        "Look around",
    ):
        assert f". {heading}\n" in shown
    assert (tmp_path / "demo" / "home" / ".neosian" / "scopes").is_dir()
