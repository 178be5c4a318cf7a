"""What a hook leaves to a child: as few children as the work needs, and none of it undone."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from neosian import errands
from neosian.errors import BusyError
from neosian.store import Lock
from tests.factories import Home
from tests.hooking import eventually

linux = pytest.mark.skipif(sys.platform != "linux", reason="only here a process tells of its children")


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


def spool_lock(home: Home, name: str, patience: float = 5.0) -> Lock:
    return Lock(os.path.join(home.spool.folder, name), patience)


def children() -> set[str]:
    """The processes that this one started and that have not been waited for."""
    return {
        pid for task in Path("/proc/self/task").iterdir() for pid in (task / "children").read_text().split()
    }


def is_held(home: Home, name: str) -> bool:
    try:
        with spool_lock(home, name, 0.0):
            return False
    except BusyError:
        return True


@linux
def test_a_big_backlog_starts_a_child_only_where_none_waits(home: Home) -> None:
    stopped = home.put({"hook_event_name": "Stop", "session_id": "s"})
    home.put({"hook_event_name": "PostToolUse", "session_id": "s", "tool_response": "y" * errands.BIG})
    before = children()
    with spool_lock(home, "waiting"):
        for _ in range(3):
            errands.stop(str(home.path), stopped)
        assert children() == before
    errands.stop(str(home.path), stopped)
    (child,) = children() - before
    assert os.waitpid(int(child), 0)[1] == 0


def test_a_child_that_finds_another_waiting_leaves_the_work_to_it(home: Home) -> None:
    talk = home.talk()
    talk.turn("Hello")
    waiting = home.spool.names()
    with spool_lock(home, "waiting"):
        assert errands.main(["land", str(home.path)]) == 0
    assert home.spool.names() == waiting
    assert errands.main(["land", str(home.path)]) == 0
    assert home.spool.names() == []


def test_a_child_frees_the_place_once_its_turn_has_come(home: Home) -> None:
    talk = home.talk()
    with spool_lock(home, "lock"):
        errands.detach("land", str(home.path))
        eventually(lambda: is_held(home, "waiting"), "the child waits")
        talk.turn("Hello")
    eventually(lambda: home.spool.names() == [], "what came while it waited has landed")
    eventually(lambda: not is_held(home, "waiting"), "the place is free")
