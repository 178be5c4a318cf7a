"""Who changed what, when and from which turn: as git has it, with the index or without."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from neosian import audit
from neosian.commits import Commit
from neosian.scope import user_scope
from tests.factories import OTHER, SESSION, Home, git


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Home:
    """A scope with turns of two conversations, an agent's edit, a person's edit and a person's own commit."""
    folder = tmp_path_factory.mktemp("told")
    (folder / ".gitconfig").write_text("[user]\n\tname = Ada Person\n\temail = ada@example.org\n")
    with pytest.MonkeyPatch.context() as patch:  # made once, so before any test has its private home
        patch.setenv("HOME", str(folder))
        patch.setenv("GIT_CONFIG_GLOBAL", str(folder / ".gitconfig"))
        return filled(Home(folder))


def filled(home: Home) -> Home:
    talk, other = home.talk(), home.talk(OTHER, flags=("--agent", "reviewer"))
    talk.land("Add tests")
    path = home.shop / "project/deploy.md"
    talk.ask("Write it down")
    path.parent.mkdir()
    path.write_text("# Deploy\n")
    talk.call("Write", file_path=str(path))
    talk.answer()
    home.land()
    other.land("Look at it")
    home.committed("tools/run.md", "# Run\n")
    home.write("project/deploy.md", "# Deploy by hand\n", age=-3600)
    talk.land("More")
    return home


def history(home: Home, limit: int = 50, **wanted: Any) -> list[Commit]:
    return audit.history(home.store(), audit.Wanted(**wanted), limit)


def said(found: list[Commit]) -> list[tuple[str, str, str, float]]:
    return [(commit.id, commit.actor, commit.act, commit.at) for commit in found]


def without_index(home: Home, limit: int = 50, **wanted: Any) -> list[Commit]:
    """The same question asked of git alone: the cache is gone, and cannot be made."""
    shutil.rmtree(home.path / "cache")
    tip = home.store().repo.tip()
    assert tip is not None
    return audit._by_log(home.store(), audit.Wanted(**wanted).fits, tip, limit)


def test_every_commit_is_told_newest_first(told: Home) -> None:
    ids = git(told.shop, "rev-list", "main").splitlines()
    assert [commit.id for commit in history(told)] == ids


def test_each_says_who_what_and_from_which_turn(told: Home) -> None:
    rows = [
        (commit.actor, commit.act, commit.conversation, commit.turn, commit.subject)
        for commit in history(told)
    ]
    assert rows[:6] == [
        (f"claude-code:{SESSION}#3", "record", SESSION, 3, "Turn 3: More"),
        ("Ada Person", "edit", "", None, "Edit project/deploy.md"),
        ("Ada Person", "edit", "", None, "Write tools/run.md"),
        (f"reviewer:{OTHER}#1", "record", OTHER, 1, "Turn 1: Look at it"),
        (f"claude-code:{SESSION}#2", "record", SESSION, 2, "Turn 2: Write it down"),
        (f"claude-code:{SESSION}#2", "edit", "", None, "Edit project/deploy.md"),
    ]


WANTED: list[tuple[dict[str, Any], int]] = [
    ({"conversation": SESSION}, 3),
    ({"conversation": SESSION[:8]}, 3),
    ({"conversation": SESSION, "turn": 2}, 1),
    ({"turn": 1}, 2),
    ({"conversation": "none"}, 0),
    ({"actor": "claude-code:"}, 4),
    ({"actor": "Ada"}, 2),
    ({"actor": "reviewer"}, 1),
    ({"act": "edit"}, 5),
    ({"act": "record"}, 4),
    ({"act": "dream"}, 0),
    ({"path": "project/deploy.md"}, 2),
    ({"path": "project"}, 2),
    ({"path": "/project/"}, 2),
    ({"path": "proj"}, 0),
    ({"path": "tools/run.md", "act": "edit"}, 1),
    ({"since": 1.0}, 8),
    ({"since": 9e9}, 0),
    ({"until": 1.0}, 1),
    ({"actor": "%"}, 0),
    ({"path": "project/deploy_md"}, 0),
    ({"documents": True}, 4),
    ({"documents": True, "actor": "claude-code:"}, 1),
]


@pytest.mark.parametrize(("wanted", "count"), WANTED, ids=lambda value: str(value))
def test_conditions_find_the_same_with_the_index_and_without(
    wanted: dict[str, Any], count: int, told: Home
) -> None:
    found = said(history(told, **wanted))
    assert len(found) == count
    assert found == said(without_index(told, **wanted))
    assert found == said(history(told, **wanted))


@pytest.mark.parametrize("limit", [1, 2, 4, 8, 50])
def test_the_newest_are_told_first_whatever_the_limit(limit: int, told: Home) -> None:
    ids = git(told.shop, "rev-list", "main").splitlines()[:limit]
    assert [commit.id for commit in history(told, limit)] == ids
    assert [commit.id for commit in without_index(told, limit)] == ids
    assert len(history(told, limit, conversation=SESSION)) == min(limit, 3)


def test_the_paths_of_a_commit_are_told(told: Home) -> None:
    (commit,) = history(told, path="tools/run.md")
    assert [(status, path) for status, path, _ in commit.changes] == [("A", "tools/run.md")]


def test_an_index_that_is_damaged_changes_no_answer(told: Home) -> None:
    before = said(history(told))
    for cache in (told.path / "cache").glob("*.sqlite"):
        cache.write_bytes(b"no database at all" * 100)
    assert said(history(told)) == before


def test_an_index_that_tells_lies_is_not_believed(tmp_path: Path) -> None:
    home = filled(Home(tmp_path))
    history(home)
    import sqlite3

    with sqlite3.connect(home.store().cache) as db:
        db.execute("UPDATE act SET actor = 'mallory', subject = 'nothing to see'")
    db.close()
    assert history(home, actor="mallory") == []
    assert history(home)[0].subject == "Turn 3: More"


def test_a_history_that_was_rewritten_is_told_as_it_is_now(tmp_path: Path) -> None:
    home = filled(Home(tmp_path))
    history(home)
    git(home.shop, "reset", "-q", "--hard", "main~3")
    ids = git(home.shop, "rev-list", "main").splitlines()
    assert [commit.id for commit in history(home)] == ids


def test_a_merge_is_told_once(tmp_path: Path) -> None:
    home = filled(Home(tmp_path))
    git(home.shop, "checkout", "-q", "-b", "topic", "main~2")
    home.committed("project/topic.md", "topic\n")
    git(home.shop, "checkout", "-q", "main")
    git(home.shop, "merge", "-q", "--no-edit", "topic")
    found = said(history(home))
    assert len(found) == len(set(found)) == len(git(home.shop, "rev-list", "main").splitlines())
    assert found == said(without_index(home))


def test_a_scope_without_anything_has_no_history(tmp_path: Path) -> None:
    home = Home(tmp_path)
    assert history(home) == []
    assert not home.path.exists()
    assert audit.history(home.store(user_scope()), audit.Wanted()) == []
