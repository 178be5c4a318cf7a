"""Commits as records, read from `git log` whatever stands in their messages."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from neosian import commits
from neosian.commits import Commit, is_ancestor, is_line, log, since, trailers
from neosian.errors import GitError
from tests.scopes import ADA, NOW, Scope


@pytest.fixture
def scope(tmp_path: Path) -> Iterator[Scope]:
    scope = Scope(tmp_path)
    yield scope
    scope.store.repo.close()


def test_who_acted_when_and_on_which_paths(scope: Scope) -> None:
    id = scope.land(ADA, 3, "Fix it", at=NOW)
    (commit,) = log(scope.store.repo, "main")
    assert (commit.id, commit.parents, commit.at) == (id, [], NOW)
    assert (commit.actor, commit.act, commit.conversation, commit.turn) == (
        f"claude-code:{ADA}#3", "record", ADA, 3,
    )  # fmt: skip
    assert commit.subject == "Record turn 3: Fix it"
    assert [(status, path) for status, path, _ in commit.changes] == [
        ("A", str(scope.log(ADA).relative_to(scope.root)))
    ]


def test_a_plain_commit_is_a_person_s_edit(scope: Scope) -> None:
    scope.write("a b\té.md", "x")
    scope.commit("Just a note: with a colon")
    (commit,) = log(scope.store.repo, "main")
    assert (commit.actor, commit.act, commit.conversation, commit.turn) == ("Ada Person", "edit", "", None)
    assert commit.changes[0][1] == "a b\té.md"


def test_a_merge_comes_once(scope: Scope) -> None:
    scope.commit("one")
    scope.git("checkout", "-q", "-b", "side")
    scope.write("side.md", "x")
    side = scope.commit("side")
    scope.git("checkout", "-q", "main")
    scope.write("main.md", "x")
    main = scope.commit("main")
    scope.git("merge", "-q", "--no-edit", "side")
    merge, *_ = found = log(scope.store.repo, "main")
    assert len({commit.id for commit in found}) == len(found) == 4
    assert (merge.parents, [path for _, path, _ in merge.changes]) == ([main, side], ["side.md"])


@pytest.mark.parametrize(
    ("message", "found"),
    [
        ("Subject", {}),
        ("Subject\n\nTurn: 3\nSource: a#1\nSource: b#2\n", {"Turn": ["3"], "Source": ["a#1", "b#2"]}),
        ("Subject\n\nNote: this is\n\nTurn: 4", {"Turn": ["4"]}),
        ("Subject\n\nno trailer here: no", {}),
    ],
)
def test_trailers(message: str, found: dict[str, list[str]]) -> None:
    assert trailers(message) == found


def test_what_lies_between(scope: Scope) -> None:
    ids = [scope.land(ADA, n, "x") for n in (1, 2, 3)]
    repo = scope.store.repo
    between = since(repo, ids[0], ids[2], 2)
    assert between is not None
    assert [commit.id for commit in between] == [ids[2], ids[1]]
    assert is_line(ids[0], between)
    assert is_ancestor(repo, ids[0], ids[2], between)
    assert since(repo, None, ids[2], 2) is None
    assert since(repo, ids[2], ids[0], None) == []
    assert not is_ancestor(repo, ids[2], ids[0], [])
    with pytest.raises(GitError):
        since(repo, "1" * 40, ids[0], None)


def test_near_commits_read_one_by_one_are_those_of_git_log(scope: Scope) -> None:
    """A few commits in a line are read without `git log`; whatever they hold, both say the same."""
    repo = scope.store.repo
    ids = [scope.land(ADA, 1, "first")]

    def commit(message: str = "edit", author: str = "Ada Person <ada@example.org>") -> None:
        ids.append(scope.commit(message, author=author))
        for start in ids[-2:-5:-1]:
            near, whole = since(repo, start, ids[-1], 50), log(repo, f"{start}..{ids[-1]}")
            assert near is not None
            assert list(map(fields, near)) == list(map(fields, whole))

    def fields(commit: Commit) -> tuple[object, ...]:
        names = ("id", "parents", "at", "author", "email", "subject", "trailers")
        return *(getattr(commit, name) for name in names), sorted(commit.changes)

    (scope.root / os.fsdecode(b"caf\xe9.md")).write_bytes(b"x")
    scope.write("a b\té/ü \U0001f600.md", "x")
    commit("Ünder\n\nA body.\n\nTurn: 3\nSource: a#1", author="Zoë  van den Ö <>")
    scope.write("caf.md", "y").chmod(0o755)
    commit(" \n  leading blanks ")
    (scope.root / "caf.md").chmod(0o644)
    scope.write("a b\té/ü \U0001f600.md", "other")
    commit()
    (scope.root / "caf.md").unlink()
    scope.write("caf.md/now a folder.md", "y")
    commit()
    commit("nothing changed")
    scope.git("config", "i18n.commitEncoding", "ISO-8859-1")
    (scope.root / "caf.md/now a folder.md").unlink()
    commit("caf\udce9".encode(errors="surrogateescape").decode("latin-1"))
    scope.git("config", "--unset", "i18n.commitEncoding")
    scope.git("checkout", "-q", "-b", "side")
    scope.write("side.md", "x")
    scope.commit("side")
    scope.git("checkout", "-q", "main")
    scope.write("main.md", "x")
    commit("main")
    scope.git("merge", "-q", "--no-edit", "side")
    commit("upon a merge")
    commit("and one more")


def test_what_just_landed_is_read_without_git_log(
    scope: Scope, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = [scope.land(ADA, n, "x") for n in range(1, 6)]
    git, asked = tmp_path / "git", tmp_path / "asked"
    git.write_text(f'#!/bin/sh\necho "$*" >> "{asked}"\nexec "{shutil.which("git")}" "$@"\n')
    git.chmod(0o755)
    monkeypatch.setenv("NEOSIAN_GIT", str(git))
    for old in ids[1:4]:
        assert len(since(scope.store.repo, old, ids[4], 50) or []) == 4 - ids.index(old)
    assert [line.split()[-2:] for line in asked.read_text().splitlines()] == [["cat-file", "--batch"]]
    assert len(since(scope.store.repo, ids[0], ids[4], 50) or []) == 4
    assert " log " in asked.read_text()


@pytest.mark.parametrize(
    ("message", "body"),
    [
        ("One", ""),
        ("One\n\nTurn: 3", ""),
        ("One\n\n- a.md: why\n- b.md: why\n\nTurn: 3\nSource: a#1", "- a.md: why\n- b.md: why"),
        ("One\n\nfirst\n\nsecond", "first\n\nsecond"),
    ],
)
def test_a_body_is_what_stands_between_subject_and_trailers(message: str, body: str, scope: Scope) -> None:
    id = scope.commit(message)
    assert commits.body(scope.store.repo, id) == body
