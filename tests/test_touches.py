"""Which agent changed a file: the one whose own call names it and ran at the time, waiting or landed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from neosian.events import Event
from neosian.journal import Journal, Note
from neosian.touches import Touches
from neosian.turns import dumps, stamp
from tests.recorded import BEGAN, event

ACTOR = "claude-code:s#3"


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    return Journal(str(tmp_path / "spool"), str(tmp_path))


def result(path: Path, second: float = 0.0, *, ms: int = 0, **more: Any) -> Event:
    """A call's result, told ``second`` after the beginning."""
    value = {
        "hook_event_name": "PostToolUse", "session_id": "s", "cwd": str(path.parent), "tool_use_id": "c",
        "tool_name": "Write", "tool_input": {"file_path": str(path)}, "duration_ms": ms,
    }  # fmt: skip
    found = event(value | more, second)
    found.data["ms"] = ms
    return found


def test_a_call_that_names_a_file_and_ran_then_made_the_change(tmp_path: Path, journal: Journal) -> None:
    touches = Touches([(result(tmp_path / "a.md"), ACTOR)], journal)
    assert touches.named_by(str(tmp_path / "a.md"), BEGAN) == ACTOR
    assert touches.named_by(str(tmp_path / "b.md"), BEGAN) is None


@pytest.mark.parametrize(
    ("changed", "is_the_agents"),
    [(-12, False), (-10.5, True), (-3, True), (0, True), (1.9, True), (3, False)],
)
def test_a_change_counts_while_the_call_ran_and_a_moment_around_it(
    changed: float, is_the_agents: bool, tmp_path: Path, journal: Journal
) -> None:
    touches = Touches([(result(tmp_path / "a.md", ms=10_000), ACTOR)], journal)
    assert (touches.named_by(str(tmp_path / "a.md"), BEGAN + changed) == ACTOR) is is_the_agents


def test_of_two_sessions_the_one_that_ran_then_is_named(tmp_path: Path, journal: Journal) -> None:
    first, second = result(tmp_path / "a.md", 0), result(tmp_path / "a.md", 60)
    touches = Touches([(first, "claude-code:one#1"), (second, "claude-code:two#1")], journal)
    named = [touches.named_by(str(tmp_path / "a.md"), BEGAN + second) for second in (0, 60, 30)]
    assert named == ["claude-code:one#1", "claude-code:two#1", None]


def test_a_call_that_names_a_file_through_a_link_is_understood(tmp_path: Path, journal: Journal) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    touches = Touches([(result(tmp_path / "link" / "a.md"), ACTOR)], journal)
    assert touches.named_by(str(tmp_path / "real" / "a.md"), BEGAN) == ACTOR


def test_a_call_that_only_reads_made_no_change(tmp_path: Path, journal: Journal) -> None:
    read = result(
        tmp_path / "a.md", tool_name="Read", tool_response={"type": "text", "file": {"content": "x"}}
    )
    assert Touches([(read, ACTOR)], journal).named_by(str(tmp_path / "a.md"), BEGAN) is None


def kept(journal: Journal, tmp_path: Path, *, torn: bool = False) -> None:
    """A landed turn whose call wrote a.md."""
    said: list[dict[str, Any]] = [
        {"kind": "turn", "at": stamp(BEGAN), "actor": "claude-code:s", "cwd": str(tmp_path)},
        {
            "kind": "tool_call",
            "at": stamp(BEGAN),
            "call": "c",
            "tool": "Write",
            "input": {"file_path": "a.md"},
        },
        {"kind": "tool_result", "at": stamp(BEGAN + 5), "call": "c", "ok": True, "text": ""},
    ]
    lines = [dumps({"v": 1, "turn": 3, "n": n, **line}) for n, line in enumerate(said)]
    note = Note(
        scope="team:x", day="2025-11/29", client="claude-code", session="s", turn=3, raw=(), lines=lines
    )  # fmt: skip
    journal.begin("a" * 40, note)
    journal.finish("a" * 40, "team.x")
    if torn:
        (path,) = journal.kept("team.x")
        Path(path).write_bytes(b"{")


@pytest.mark.parametrize(
    ("changed", "is_the_agents"), [(-2, False), (0, True), (4, True), (6, True), (8, False)]
)
def test_a_call_that_landed_lately_still_tells(
    changed: float, is_the_agents: bool, tmp_path: Path, journal: Journal
) -> None:
    kept(journal, tmp_path)
    touches = Touches([], journal)
    assert (touches.named_by(str(tmp_path / "a.md"), BEGAN + changed) == ACTOR) is is_the_agents


def test_a_torn_note_of_a_landing_tells_nothing(tmp_path: Path, journal: Journal) -> None:
    kept(journal, tmp_path, torn=True)
    assert Touches([], journal).named_by(str(tmp_path / "a.md"), BEGAN) is None


def test_the_folders_that_waiting_calls_name_are_known(tmp_path: Path, journal: Journal) -> None:
    scopes = tmp_path / "scopes"
    events = [
        (result(scopes / "team.x" / "notes" / "a.md"), ACTOR),
        (result(scopes / "team.y" / "b.md"), ACTOR),
        (result(tmp_path / "elsewhere" / "c.md"), ACTOR),
    ]
    assert Touches(events, journal).below(str(scopes)) == {"team.x", "team.y"}
