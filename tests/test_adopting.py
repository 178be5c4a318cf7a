"""Adoption outside a landing: at once, under who made the edit, and nothing where it is not the moment."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from neosian import adopt
from neosian.adopting import Adopter
from neosian.errors import BusyError, DamagedError
from neosian.store import Store
from tests.factories import (
    OTHER,
    SESSION,
    Home,
    Talk,
    aged,
    bytes_below,
    fsck,
    git,
    status,
    subjects,
    trailers,
)

ADA = "Ada Person <ada@example.org>"
AGENT = f"claude-code:{SESSION} <claude-code@neosian.invalid>"
SECRET = "AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY\n"


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """A home in which one turn has landed."""
    found = Home(tmp_path)
    found.talk(OTHER).land("Begin")
    return found


@pytest.fixture
def talk(home: Home) -> Talk:
    return home.talk()


def adopt_now(home: Home, store: Store | None = None) -> list[str]:
    return Adopter(str(home.path)).adopt_now(store or home.store(), patience=0.1)


def authors(home: Home, path: str) -> list[str]:
    return git(home.shop, "log", "--format=%an <%ae>", "--", path).splitlines()


def asks_for(talk: Talk, tool: str, *, ago: float = 0.0, **given: str) -> None:
    """A call that began some seconds ago, and has not ended."""
    talk.call(tool, **given)
    began, ended = sorted(talk.home.spool.names())[-2:]
    os.unlink(os.path.join(talk.home.spool.new, ended))
    aged(Path(talk.home.spool.new, began), ago)


def test_a_settled_edit_is_adopted_at_once_under_its_person(home: Home) -> None:
    home.write("project/deploy.md", "# Deploy\n")
    assert adopt_now(home) == ["project/deploy.md"]
    assert subjects(home.shop)[0] == "Edit project/deploy.md"
    assert trailers(home.shop) == {"Neosian-Act": "edit", "Neosian-Actor": "Ada Person"}
    assert (status(home.shop), fsck(home.shop)) == ("", "")


def test_a_second_look_finds_nothing(home: Home) -> None:
    home.write("project/deploy.md", "# Deploy\n")
    adopt_now(home)
    tip = git(home.shop, "rev-parse", "main")
    assert adopt_now(home) == []
    assert git(home.shop, "rev-parse", "main") == tip


def test_an_edit_that_is_not_settled_waits(home: Home) -> None:
    home.write("project/now.md", "half a sent", age=0)
    assert adopt_now(home) == []
    assert status(home.shop) == "?? project/"


def test_what_a_waiting_call_wrote_is_its_agents(home: Home, talk: Talk) -> None:
    talk.ask("Write it down")
    path = home.write("project/a.md", "by the agent\n", age=0)
    talk.call("Write", file_path=str(path))
    waits = bytes_below(Path(home.spool.folder))
    assert adopt_now(home) == ["project/a.md"]
    assert authors(home, "project/a.md") == [AGENT]
    assert bytes_below(Path(home.spool.folder)) == waits


def test_what_a_call_wrote_that_landed_lately_is_its_agents(home: Home, talk: Talk) -> None:
    git(home.shop, "checkout", "-q", "--detach")  # so that it cannot be adopted with its own turn
    talk.ask("Write it down")
    path = home.write("project/a.md", "by the agent\n", age=0)
    talk.call("Write", file_path=str(path))
    talk.answer()
    home.land()
    git(home.shop, "checkout", "-q", "main")
    assert adopt_now(home) == ["project/a.md"]
    assert trailers(home.shop)["Neosian-Actor"] == f"claude-code:{SESSION}#1"


@pytest.mark.parametrize("age", [5, 20])
def test_what_a_call_wrote_that_still_runs_is_its_agents(age: float, home: Home, talk: Talk) -> None:
    talk.ask("Generate it")
    path = home.write("project/a.md", "by the agent\n", age=age)
    asks_for(talk, "Bash", ago=30, command=f"sleep 10; generate > {path}; sleep 60")
    assert adopt_now(home) == ["project/a.md"]
    assert authors(home, "project/a.md") == [AGENT]


def test_what_a_running_call_has_just_written_may_be_half_of_it(home: Home, talk: Talk) -> None:
    talk.ask("Generate it")
    path = home.write("project/a.md", "by the ag", age=0)
    asks_for(talk, "Bash", ago=30, command=f"generate > {path}")
    assert adopt_now(home) == []


@pytest.mark.parametrize("end", ["a prompt", "a stop", "ten minutes"])
def test_a_call_of_a_turn_that_is_over_runs_no_more(end: str, home: Home, talk: Talk) -> None:
    talk.ask("Generate it")
    path = home.shop / "project/a.md"
    asks_for(talk, "Bash", ago=700 if end == "ten minutes" else 60, command=f"generate > {path}")
    if end != "ten minutes":
        name = talk.ask("No, stop that") if end == "a prompt" else talk.answer()
        aged(Path(home.spool.new, name), 30)
    home.write("project/a.md", "mine\n", age=10)
    assert adopt_now(home) == ["project/a.md"]
    assert authors(home, "project/a.md") == [ADA]


def test_an_event_that_cannot_be_read_stays_where_it_is(home: Home) -> None:
    Path(home.spool.new, "0-torn").write_bytes(b"neosian1\0clau")
    home.write("project/a.md", "mine\n")
    assert adopt_now(home) == ["project/a.md"]
    assert home.spool.names() == ["0-torn"]


def test_a_document_with_a_secret_waits_and_is_named(home: Home) -> None:
    home.write("project/keys.md", SECRET)
    home.write("project/fine.md", "fine\n")
    assert adopt_now(home) == ["project/fine.md"]
    assert adopt.waiting(home.store().repo) == {"project/keys.md": adopt.SECRET}


def merging(home: Home) -> None:
    git(home.shop, "checkout", "-q", "-b", "topic")
    home.committed("project/a.md", "theirs\n")
    git(home.shop, "checkout", "-q", "main")
    home.committed("project/a.md", "mine\n")
    git(home.shop, "merge", "topic", check=False)


def on_another_branch(home: Home) -> None:
    git(home.shop, "checkout", "-q", "-b", "topic")


def detached(home: Home) -> None:
    git(home.shop, "checkout", "-q", "--detach")


@pytest.mark.parametrize("moment", [merging, on_another_branch, detached])
def test_nothing_happens_when_it_is_not_the_moment(moment: Callable[[Home], None], home: Home) -> None:
    moment(home)
    home.write("project/b.md", "text\n")
    before = git(home.shop, "rev-parse", "main"), status(home.shop)
    assert adopt_now(home) == []
    assert (git(home.shop, "rev-parse", "main"), status(home.shop)) == before


def test_nothing_happens_in_a_scope_that_was_never_made(home: Home) -> None:
    store = home.store("team:none")
    assert adopt_now(home, store) == []
    Path(store.path).mkdir()
    (Path(store.path) / "a.md").write_text("text\n")
    assert adopt_now(home, store) == []
    assert [path.name for path in Path(store.path).iterdir()] == ["a.md"]


def test_a_held_index_is_waited_for_shortly_and_said(home: Home) -> None:
    path = home.write("project/a.md", "text\n")
    (home.shop / ".git/index.lock").write_text("")
    with pytest.raises(BusyError):
        adopt_now(home)
    assert (path.read_text(), status(home.shop)) == ("text\n", "?? project/")


@pytest.mark.parametrize("damage", ["torn", "gone"])
def test_a_damaged_scope_is_left_as_it_is(damage: str, home: Home) -> None:
    home.write("project/a.md", "text\n")
    ref = home.shop / ".git/refs/heads/main"
    ref.write_text("") if damage == "torn" else ref.unlink()
    with pytest.raises(DamagedError):
        adopt_now(home)
    assert not ref.exists() or ref.read_text() == ""


def test_a_landing_elsewhere_mends_a_damaged_scope_before_it_adopts(home: Home, talk: Talk) -> None:
    tip = git(home.user, "rev-parse", "main")
    (home.user / ".git/refs/heads/main").unlink()
    home.write("profile/role.md", "text\n", below=home.user)
    talk.land("Hello")
    assert git(home.user, "rev-parse", "main~1") == tip
    assert subjects(home.user)[0] == "Edit profile/role.md"
