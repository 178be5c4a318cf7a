"""Commits made in memory: whole, as git would make them, and nowhere until they are written."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from neosian.draft import Draft, Signature
from neosian.plumbing import Repo
from tests.factories import bytes_below, fsck, git, repository

ADA = Signature("Ada Person", "ada@example.org", 1_795_982_400)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    found = repository(tmp_path / "scope", commit=True)
    (found / ".git" / "neosian").mkdir()
    return found


@pytest.fixture
def draft(folder: Path) -> Draft:
    return Draft(Repo(str(folder)), git(folder, "rev-parse", "HEAD"))


def write(draft: Draft, message: str = "More\n", author: Signature = ADA) -> str:
    """Commit the draft and put it on disk; the commit."""
    tip = draft.commit(message, author, ADA)
    draft.write()
    draft.repo.close()
    return tip


def listed(folder: Path, rev: str) -> list[str]:
    return git(folder, "-c", "core.quotepath=off", "ls-tree", "-r", "--name-only", rev).splitlines()


def test_files_are_added_changed_and_taken_away(draft: Draft, folder: Path) -> None:
    draft.put("notes/deep/a.md", b"one\n")
    draft.put("notes/deep/a.md", b"two\n")
    draft.put("notes/b.md", b"b\n")
    draft.delete("calc.py")
    tip = write(draft)
    assert listed(folder, tip) == ["notes/b.md", "notes/deep/a.md"]
    assert git(folder, "show", f"{tip}:notes/deep/a.md") == "two"
    assert fsck(folder) == ""


def test_what_was_put_is_read_back_before_anything_is_written(draft: Draft) -> None:
    draft.put("notes/a.md", b"one\n")
    assert draft.read("notes/a.md") == b"one\n"
    assert draft.read("calc.py") == b"def add(a, b):\n    return a - b\n"
    assert draft.read("notes") is None
    assert list(draft.folder("notes")) == ["a.md"]
    draft.repo.close()


def test_nothing_is_on_disk_before_the_draft_is_written(draft: Draft, folder: Path) -> None:
    before = bytes_below(folder)
    draft.put("a.md", b"one\n")
    tip = draft.commit("More\n", ADA, ADA)
    assert bytes_below(folder) == before
    draft.write()
    assert git(folder, "cat-file", "-t", tip) == "commit"
    draft.repo.close()


def test_a_folder_goes_with_its_last_file(draft: Draft, folder: Path) -> None:
    draft.put("a/b/c.md", b"c\n")
    draft.commit("One\n", ADA, ADA)
    draft.delete("a/b/c.md")
    assert listed(folder, write(draft)) == ["calc.py"]


def test_the_last_file_of_all_leaves_an_empty_tree(draft: Draft, folder: Path) -> None:
    draft.delete("calc.py")
    assert listed(folder, write(draft)) == []
    assert fsck(folder) == ""


def test_deleting_what_is_not_there_changes_nothing(draft: Draft, folder: Path) -> None:
    draft.delete("none/such.md")
    tip = write(draft)
    assert git(folder, "rev-parse", f"{tip}^{{tree}}") == git(folder, "rev-parse", "HEAD^{tree}")


def test_several_commits_follow_each_other(draft: Draft, folder: Path) -> None:
    base = draft.base
    for number in range(3):
        draft.put("a.md", b"%d\n" % number)
        draft.commit(f"Put {number}\n", ADA, ADA)
    draft.write()
    assert draft.tip is not None
    assert git(folder, "log", "--format=%s", f"{base}..{draft.tip}").splitlines() == [
        "Put 2",
        "Put 1",
        "Put 0",
    ]
    assert git(folder, "show", f"{draft.tip}~1:a.md") == "1"
    draft.repo.close()


def test_an_executable_file_stays_executable(draft: Draft, folder: Path) -> None:
    git(folder, "update-index", "--chmod=+x", "calc.py")
    git(folder, "commit", "-qm", "Run it")
    again = Draft(draft.repo, git(folder, "rev-parse", "HEAD"))
    again.put("calc.py", b"changed\n")
    assert git(folder, "ls-tree", write(again), "calc.py").startswith("100755")


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("Ada Person", "Ada Person"),
        ("Ada <ada@x> Person\n", "Ada ada@x Person"),
        ("", "unknown"),
        ("...", "unknown"),
        ("エイダ", "エイダ"),
    ],
)
def test_any_name_becomes_one_that_git_accepts(name: str, told: str, draft: Draft, folder: Path) -> None:
    tip = write(draft, author=Signature(name, "a@b", 1_795_982_400))
    assert git(folder, "log", "-1", "--format=%an", tip) == told
    assert fsck(folder) == ""


def test_a_message_with_half_a_pair_is_still_a_commit(draft: Draft, folder: Path) -> None:
    tip = write(draft, "half \udc88 a pair\n")
    assert git(folder, "log", "-1", "--format=%s", tip) == "half ? a pair"
    assert fsck(folder) == ""


def test_a_time_is_told_in_the_zone_of_here_and_zero_the_same_everywhere(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with monkeypatch.context() as elsewhere:
        elsewhere.setenv("TZ", "Asia/Tokyo")
        time.tzset()
        said = str(ADA), str(Signature("neosian", "n@x", 0))
    time.tzset()
    assert said == ("Ada Person <ada@example.org> 1795982400 +0900", "neosian <n@x> 0 +0000")


def test_a_merge_has_both_parents(draft: Draft, folder: Path) -> None:
    base = git(folder, "rev-parse", "HEAD")
    other = Draft(draft.repo, base)
    other.put("b.md", b"b\n")
    side = write(other)
    draft.put("a.md", b"a\n")
    tip = draft.commit("Merge\n", ADA, ADA, side)
    draft.write()
    assert git(folder, "log", "-1", "--format=%P", tip).split() == [base, side]
    assert (listed(folder, tip), fsck(folder)) == (["a.md", "calc.py"], "")


@pytest.mark.parametrize(
    ("path", "there"),
    [("calc.py/x.md", "calc.py"), ("notes", "notes"), ("notes/b.md", ""), ("new/a/b.md", "")],
)
def test_what_is_in_the_way_of_a_path_is_named(path: str, there: str, draft: Draft) -> None:
    draft.put("notes/a.md", b"a\n")
    assert draft.in_the_way(path) == there
