"""A run is taken back whole, in all its scopes, and what people changed since stays."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from neosian.dream import past
from neosian.errors import NeosianError
from neosian.revert import RevertConflict
from tests.dreaming import (
    NOTE,
    RUN,
    SESSION,
    accept,
    dream,
    in_process,
    is_whole,
    kill_at,
    land,
    person,
    session,
    start,
    take_back,
    text,
    trailers_of,
    waiting,
)
from tests.factories import OTHER, Home, git, log_of, subjects

MONDAYS, BOB = NOTE.replace("Fridays", "Mondays"), NOTE.replace("Ada has", "Bob has")


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    """A home in which a dream changed two notes of the project and one of the user; whole when its test is over."""
    found = Home(tmp_path)
    found.talk().land("Hello")
    found.committed("deploy.md", NOTE)
    run = start(found)
    session(
        run, {"deploy.md": MONDAYS, "a.md": "new\n"}, user={"profile/role.md": "Ada\n"}, waits={"w.md": "w\n"}
    )
    land(found, run)
    yield found
    assert is_whole(found)


def notes(home: Home) -> list[str | None]:
    return [text(home, "deploy.md"), text(home, "a.md"), text(home, "profile/role.md", home.user)]


def test_the_last_run_is_taken_back_in_all_its_scopes(home: Home) -> None:
    home.talk(OTHER).land("Later")
    done = take_back(home)
    assert notes(home) == [NOTE, None, None]
    assert (subjects(home.shop)[0], git(home.shop, "log", "-1", "--format=%an")) == (
        f"Undo dream {RUN}",
        "Ada Person",
    )
    assert trailers_of(home.shop) == [
        "Neosian-Act: edit",
        "Neosian-Actor: Ada Person",
        f"Dream-Undone: {RUN}",
    ]
    assert [line["text"] for line in log_of(home.shop) if line["kind"] == "prompt"] == ["Hello", "Later"]
    said = json.loads(json.dumps(done.json()))
    assert [row["paths"] for row in said["scopes"]] == [["profile/role.md"], ["a.md", "deploy.md"]]


def test_its_turns_are_not_dreamt_again(home: Home) -> None:
    take_back(home)
    assert past.checkpoint(home.store()).holds(SESSION, 1)


def test_what_of_it_waited_goes_too(home: Home) -> None:
    assert [path for _, path in take_back(home).dropped] == ["w.md"]
    assert waiting(home) == {}


def test_what_of_it_was_accepted_later_goes_too(home: Home) -> None:
    accept(home)
    assert text(home, "w.md") == "w\n"
    take_back(home)
    assert (text(home, "w.md"), notes(home)) == (None, [NOTE, None, None])


def test_what_people_changed_since_stays(home: Home) -> None:
    person(home, "deploy.md", MONDAYS.replace("Ada has", "Bob has"))
    home.write("b.md", "mine\n")
    assert take_back(home).adopted == ["b.md"]
    assert (notes(home)[0], text(home, "b.md")) == (BOB, "mine\n")


@pytest.mark.parametrize("path", ["deploy.md", "a.md"])
def test_where_that_cannot_be_nothing_is_changed_in_any_scope(path: str, home: Home) -> None:
    person(home, path, "Sundays\n")
    before = [git(folder, "rev-parse", "main") for folder in (home.shop, home.user)]
    with pytest.raises(RevertConflict) as caught:
        take_back(home)
    assert [each.path for each in caught.value.conflicts] == [path]
    assert [git(folder, "rev-parse", "main") for folder in (home.shop, home.user)] == before
    assert list(waiting(home)) == ["w.md"]


def test_an_edit_that_is_staged_is_not_written_over(home: Home) -> None:
    home.write("deploy.md", BOB, age=40)
    git(home.shop, "add", "deploy.md")
    with pytest.raises(NeosianError, match="has not landed"):
        take_back(home)
    assert text(home, "profile/role.md", home.user) == "Ada\n"
    git(home.shop, "commit", "-qm", "Mine")


def test_run_after_run_is_taken_back(home: Home) -> None:
    dream(home, {"deploy.md": MONDAYS + "More.\n"}, id="two", name=OTHER)
    assert take_back(home).run == "two"
    assert text(home, "deploy.md") == MONDAYS
    assert take_back(home).run == RUN
    assert notes(home) == [NOTE, None, None]
    with pytest.raises(NeosianError, match="There is nothing to take back"):
        take_back(home)


def test_an_older_run_is_taken_back_by_its_name(home: Home) -> None:
    dream(home, {"b.md": "two\n"}, id="two", name=OTHER)
    take_back(home, RUN)
    assert (notes(home), text(home, "b.md")) == ([NOTE, None, None], "two\n")


def test_taking_back_twice_changes_nothing_more(home: Home) -> None:
    take_back(home)
    tip = git(home.shop, "rev-parse", "main")
    assert [done.commit for _, done in take_back(home, RUN).scopes] == [None, None]
    assert git(home.shop, "rev-parse", "main") == tip


@pytest.mark.parametrize("name", ["nothing", "--all", "a\nb", "*"])
def test_a_run_that_never_landed_is_an_error(name: str, home: Home) -> None:
    with pytest.raises(NeosianError, match="No dream"):
        take_back(home, name)


def test_without_a_dream_there_is_nothing_to_take_back(tmp_path: Path) -> None:
    home = Home(tmp_path)
    with pytest.raises(NeosianError, match="No dream has landed here yet"):
        take_back(home)


@pytest.mark.parametrize("step", range(0, 24, 4))
def test_killed_at_any_step_it_is_taken_back_whole(step: int, home: Home) -> None:
    names = ("neosian.plumbing:Repo.update_refs", "neosian.draft:Draft.write", "neosian.gitlocks:MainLock.commit",
             "neosian.files:write")  # fmt: skip
    in_process(home, "take_back(home)", kill_at(step, names))
    take_back(home, RUN)
    assert (notes(home), waiting(home)) == ([NOTE, None, None], {})


def test_runs_are_listed_with_what_they_did(home: Home) -> None:
    dream(home, {}, id="two", name=OTHER)
    assert [(each.run, each.sessions, each.notes) for each in past.runs(home.store())] == [
        ("two", 1, 0),
        (RUN, 1, 2),
    ]
    assert [each.run for each in past.runs(home.store(), 1)] == ["two"]
    assert json.loads(json.dumps(past.runs(home.store(), 1)[0].json()))["sessions"] == 1
