"""What a crash of the machine left of a repository is mended; what merely could not be looked at is left alone."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from neosian import files, healing
from neosian.errors import NeosianError
from neosian.store import Store
from tests.factories import Home, Talk, fsck, git, prompts_of, segments, status, subjects


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """A home in which three turns have landed."""
    found = Home(tmp_path)
    talk = found.talk()
    for prompt in ("One", "Two", "Three"):
        talk.land(prompt)
    return found


@pytest.fixture
def talk(home: Home) -> Talk:
    return home.talk()


def loose(home: Home, rev: str) -> Path:
    """The file of an object that is in no pack."""
    id = git(home.shop, "rev-parse", rev)
    path = home.shop / ".git" / "objects" / id[:2] / id[2:]
    assert path.exists()
    return path


def heal(home: Home) -> str:
    return healing.heal(home.store(), home.lander().journal, "ab12")


def is_whole(home: Home) -> bool:
    return (status(home.shop), fsck(home.shop)) == ("", "")


def broken_git(home: Home, monkeypatch: pytest.MonkeyPatch, case: str) -> None:
    """From now on a git that fails for the commands that a shell pattern names."""
    path = home.folder / "git"
    real = shutil.which("git")
    path.write_text(f'#!/bin/sh\ncase "$*" in {case}; esac\nexec "{real}" "$@"\n')
    path.chmod(0o755)
    monkeypatch.setenv("NEOSIAN_GIT", str(path))


@pytest.mark.parametrize("lost", ["main", "main^{tree}", "main:record", "main~1"])
@pytest.mark.parametrize("how", ["gone", "empty", "torn"])
def test_what_landed_after_the_newest_whole_commit_lands_again(lost: str, how: str, home: Home) -> None:
    path = loose(home, lost)
    path.chmod(0o600)
    data = path.read_bytes()
    path.unlink() if how == "gone" else path.write_bytes(b"" if how == "empty" else data[: len(data) // 2])
    assert "landed again" in heal(home)
    assert prompts_of(home.shop) == ["One", "Two", "Three"]
    assert is_whole(home)


def test_a_store_that_lost_objects_mends_at_the_next_landing(home: Home, talk: Talk) -> None:
    loose(home, "main").unlink()
    talk.land("Four")
    assert prompts_of(home.shop) == ["One", "Two", "Three", "Four"]
    assert "main at" in (home.path / "log" / "neosian.log").read_text()
    assert is_whole(home)


@pytest.mark.parametrize("lost", ["main^{tree}", "main:record", "day", "segment"])
@pytest.mark.parametrize("how", ["gone", "empty"])
def test_whatever_object_is_lost_the_next_turn_lands(lost: str, how: str, home: Home, talk: Talk) -> None:
    segment = segments(home.shop)[0].relative_to(home.shop)
    path = loose(home, {"day": f"main:{segment.parent}", "segment": f"main:{segment}"}.get(lost, lost))
    path.chmod(0o600)
    path.unlink() if how == "gone" else path.write_bytes(b"")
    talk.land("Four")
    assert prompts_of(home.shop) == ["One", "Two", "Three", "Four"]
    assert is_whole(home)


def test_turns_wait_where_the_log_they_belong_to_cannot_be_read(
    home: Home, talk: Talk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What fails is the store, and no fault of the events: they land with a later hook."""
    path = loose(home, f"main:{segments(home.shop)[0].relative_to(home.shop)}")
    data = path.read_bytes()
    path.unlink()
    broken_git(home, monkeypatch, "*rev-list*) exit 1")  # nor can it be mended now
    talk.turn("Four")
    home.lander().land()
    assert files.names(home.spool.bad) == []
    monkeypatch.delenv("NEOSIAN_GIT")
    path.write_bytes(data)
    home.lander().land()
    assert prompts_of(home.shop) == ["One", "Two", "Three", "Four"]


def test_a_damaged_object_is_set_aside_and_not_removed(home: Home) -> None:
    path = loose(home, "main")
    path.chmod(0o600)
    path.write_bytes(b"what the disk made of it")
    heal(home)
    kept = [each.read_bytes() for each in (home.shop / ".git/neosian/damaged").iterdir()]
    assert b"what the disk made of it" in kept


def test_documents_stay_as_they_are(home: Home) -> None:
    home.write("project/mine.md", "not committed yet\n", age=0)
    loose(home, "main").unlink()
    heal(home)
    assert (home.shop / "project/mine.md").read_text() == "not committed yet\n"
    assert prompts_of(home.shop) == ["One", "Two", "Three"]


def test_a_whole_repository_is_left_as_it_is(home: Home) -> None:
    before = git(home.shop, "rev-parse", "main"), segments(home.shop)[0].read_bytes()
    assert "0 damaged objects" in heal(home)
    assert (git(home.shop, "rev-parse", "main"), segments(home.shop)[0].read_bytes()) == before
    assert is_whole(home)


@pytest.mark.parametrize(
    "failing",
    [
        "exit 1",
        "exit 128",
        "kill -9 $$",
        "echo 'fatal: out of memory' >&2; exit 128",
        "echo 'fatal: detected dubious ownership in repository' >&2; exit 128",
    ],
)
def test_a_git_that_fails_moves_main_nowhere(
    failing: str, home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    committed = home.committed("project/mine.md", "mine\n")
    before = git(home.shop, "rev-parse", "main")
    broken_git(home, monkeypatch, f"*rev-list*{before}*) {failing}")
    with pytest.raises(NeosianError):
        heal(home)
    assert git(home.shop, "rev-parse", "main") == before
    assert committed.read_text() == "mine\n"
    assert is_whole(home)


def test_a_git_that_is_missing_moves_main_nowhere(
    home: Home, talk: Talk, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = git(home.shop, "rev-parse", "main")
    monkeypatch.setenv("NEOSIAN_GIT", "/nonexistent/git")
    talk.turn("Four")
    lander = home.lander(mends=True)
    assert lander.land() == []
    assert lander.failures
    assert not any("is whole any more" in str(error) for error in lander.failures)
    monkeypatch.delenv("NEOSIAN_GIT")
    assert git(home.shop, "rev-parse", "main") == before
    home.land()
    assert prompts_of(home.shop) == ["One", "Two", "Three", "Four"]


def test_a_git_that_is_missing_is_named(home: Home, talk: Talk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NEOSIAN_GIT", "/nonexistent/git")
    talk.turn("Four")
    lander = home.lander()
    lander.land()
    assert any("/nonexistent/git" in str(error) for error in lander.failures)


def test_a_git_that_fails_for_a_while_costs_no_commit_of_a_persons(
    home: Home, talk: Talk, monkeypatch: pytest.MonkeyPatch
) -> None:
    home.committed("project/mine.md", "mine\n")
    tip = git(home.shop, "rev-parse", "main")
    broken_git(home, monkeypatch, f"*cat-file*|*rev-list*{tip}*) exit 1")
    talk.turn("Four")
    lander = home.lander(mends=True)
    assert lander.land() == []
    assert lander.failures
    monkeypatch.delenv("NEOSIAN_GIT")
    home.land()
    assert "Write project/mine.md" in subjects(home.shop)
    assert prompts_of(home.shop) == ["One", "Two", "Three", "Four"]


def test_rows_of_the_reflog_that_name_what_is_gone_are_dropped(home: Home) -> None:
    gone = loose(home, "main")
    id = gone.parent.name + gone.name
    gone.unlink()
    heal(home)
    for name in ("HEAD", "refs/heads/main"):
        rows = (home.shop / ".git/logs" / name).read_text().splitlines()
        assert rows
        assert [row for row in rows if id in row.split()[:2]] == []
    assert is_whole(home)


def test_without_a_whole_commit_it_is_said_and_nothing_is_changed(home: Home) -> None:
    text = segments(home.shop)[0].read_bytes()
    for path in (home.shop / ".git/objects").glob("??/*"):
        path.unlink()
    before = (home.shop / ".git/refs/heads/main").read_bytes()
    with pytest.raises(NeosianError, match=r"No commit of .* is whole any more"):
        heal(home)
    assert (home.shop / ".git/refs/heads/main").read_bytes() == before
    assert segments(home.shop)[0].read_bytes() == text


def test_a_large_repository_is_not_mended_in_a_hooks_time(
    home: Home, talk: Talk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(healing, "_QUICK", 0)
    store: Store = home.store()
    assert not healing.is_quick(store.repo)
    loose(home, "main").unlink()
    talk.turn("Four")
    lander = home.lander()
    assert lander.land() == []
    assert lander.failures
    home.land(mends=True)
    assert prompts_of(home.shop) == ["One", "Two", "Three", "Four"]
