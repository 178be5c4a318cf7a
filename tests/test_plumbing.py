"""Git's formats as we read and write them, held against git itself."""

from __future__ import annotations

import stat
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neosian.errors import BrokenStoreError, GitError
from neosian.plumbing import (
    EMPTY_TREE,
    FILE,
    FOLDER,
    LINK,
    MAIN,
    NOTHING,
    Change,
    Entry,
    Repo,
    commit_header,
    format_tree,
    object_id,
    parse_tree,
)  # fmt: skip
from tests.factories import fsck, git, repository

BLOB = "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"
NAMES = st.text(st.characters(exclude_characters="/\0", codec="utf-8"), min_size=1, max_size=12)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return repository(tmp_path / "scope", commit=True)


@pytest.fixture
def repo(folder: Path) -> Repo:
    found = Repo(str(folder))
    (folder / ".git" / "neosian").mkdir()
    return found


def commit(folder: Path, *paths: str, text: str = "text\n") -> str:
    """Write some files, commit all there is; the commit."""
    for path in paths:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "more")
    return git(folder, "rev-parse", "HEAD")


@pytest.mark.parametrize("body", [b"", b"text\n", b"\0\xff" * 5000])
def test_an_object_is_named_as_git_names_it(body: bytes, folder: Path) -> None:
    done = subprocess.run(["git", "hash-object", "--stdin"], input=body, capture_output=True, cwd=folder)
    assert object_id("blob", body) == done.stdout.decode().strip()


def test_the_empty_tree_has_its_known_name() -> None:
    assert object_id("tree", format_tree({})) == EMPTY_TREE


@pytest.mark.parametrize(
    "names",
    [
        ("a", "a.b", "a-b", "a0"),
        ("lib", "lib.py", "lib-x", "Lib"),
        ("日本語", "é", "z"),
    ],
)
def test_a_tree_is_ordered_as_git_orders_it(names: tuple[str, ...], repo: Repo, folder: Path) -> None:
    repo.write_object("blob", b"")
    repo.write_object("tree", b"")
    entries = {name: Entry(FILE, BLOB) for name in names} | {names[0]: Entry(FOLDER, EMPTY_TREE)}
    rows = "".join(
        f"{'040000 tree' if entry.mode == FOLDER else '100644 blob'} {entry.id}\t{name}\n"
        for name, entry in entries.items()
    )
    made = subprocess.run(["git", "mktree"], input=rows.encode(), capture_output=True, cwd=folder, check=True)
    assert object_id("tree", format_tree(entries)) == made.stdout.decode().strip()


@given(st.dictionaries(NAMES, st.sampled_from([FILE, FOLDER, LINK, "100755"])))
def test_a_tree_survives_writing_and_reading(modes: dict[str, str]) -> None:
    entries = {name: Entry(mode, BLOB) for name, mode in modes.items()}
    read = parse_tree(format_tree(entries))
    assert {name: (entry.mode, entry.id) for name, entry in read.items()} == {
        name: (mode, BLOB) for name, mode in modes.items()
    }


def test_a_name_that_is_not_utf_8_keeps_its_bytes() -> None:
    raw = b"100644 caf\xe9\0" + bytes.fromhex(BLOB)
    assert format_tree(parse_tree(raw)) == raw


def test_a_written_object_is_one_that_git_can_read_and_nobody_change(repo: Repo, folder: Path) -> None:
    id = repo.write_object("blob", b"hello\n")
    (path,) = folder.glob(f".git/objects/{id[:2]}/{id[2:]}")
    assert git(folder, "cat-file", "-p", id) == "hello"
    assert stat.S_IMODE(path.stat().st_mode) == 0o400
    assert fsck(folder) == ""
    assert repo.write_object("blob", b"hello\n") == id


def test_the_tip_is_read_from_its_file_and_from_packed_refs(repo: Repo, folder: Path) -> None:
    loose = repo.tip()
    git(folder, "pack-refs", "--all")
    assert not (folder / ".git" / MAIN).exists()
    assert repo.tip() == loose == git(folder, "rev-parse", "main")


def test_a_repository_without_a_commit_has_no_tip(tmp_path: Path) -> None:
    assert Repo(str(repository(tmp_path / "empty"))).tip() is None


@pytest.mark.parametrize("said", ["", "\0" * 41, "abc\n"])
def test_a_torn_ref_is_told(said: str, repo: Repo, folder: Path) -> None:
    (folder / ".git" / MAIN).write_text(said)
    with pytest.raises(BrokenStoreError, match="refs/heads/main"):
        repo.tip()


def test_head_says_a_branch_or_a_commit(repo: Repo, folder: Path) -> None:
    assert repo.head() == MAIN
    git(folder, "checkout", "-q", "--detach")
    assert repo.head() == git(folder, "rev-parse", "HEAD")


def test_objects_of_every_kind_are_read_through_one_child(repo: Repo, folder: Path) -> None:
    tip = git(folder, "rev-parse", "HEAD")
    kinds = [found[0] for name in (tip, f"{tip}^{{tree}}", f"{tip}:calc.py") if (found := repo.object(name))]
    assert kinds == ["commit", "tree", "blob"]
    assert repo.object(NOTHING) is None
    assert repo.read(tip, "calc.py") == (folder / "calc.py").read_bytes()
    repo.close()


@pytest.mark.parametrize("path", ["nothing.md", "calc.py/below", "notes"])
def test_what_is_no_file_reads_as_none(path: str, repo: Repo, folder: Path) -> None:
    assert repo.read(commit(folder, "notes/a.md"), path) is None
    repo.close()


def test_many_are_read_by_name_and_by_id(repo: Repo, folder: Path) -> None:
    tip = commit(folder, "notes/a.md")
    blob = git(folder, "rev-parse", "HEAD:notes/a.md")
    said = repo.read_many(["main:notes/a.md", blob, f"{tip}:none", NOTHING])
    assert said == [b"text\n", b"text\n", None, None]
    repo.close()


def test_changes_are_those_that_git_tells(repo: Repo, folder: Path) -> None:
    old = commit(folder, "a/one.md", "a/two.md", "b", "kept/x.md")
    for name in ("a/one.md", "b"):
        (folder / name).unlink()
    new = commit(folder, "a/two.md", "b/was a file.md", "日/本.md", text="other\n")
    said = git(folder, "-c", "core.quotepath=off", "diff", "--no-renames", "--name-status", old, new)
    assert sorted(names(repo.diff(old, new))) == sorted(
        (row.split("\t")[0], row.split("\t")[1]) for row in said.splitlines()
    )
    repo.close()


def test_against_nothing_every_file_is_new(repo: Repo, folder: Path) -> None:
    tip = commit(folder, "notes/a.md")
    assert names(repo.diff(None, tip)) == [("A", "calc.py"), ("A", "notes/a.md")]
    repo.close()


def test_files_are_listed_below_a_folder(repo: Repo, folder: Path) -> None:
    tip = commit(folder, "notes/a.md", "notes/café.md", "other.md")
    blob = git(folder, "rev-parse", "HEAD:other.md")
    assert repo.ls(tip, "notes/") == [("notes/a.md", blob), ("notes/café.md", blob)]
    assert len(repo.ls(tip)) == 4


def test_headers_of_a_commit_are_told_from_its_message() -> None:
    body = b"tree t\nparent p\nparent q\nauthor A <a> 0 +0000\n\nparent x\n"
    assert commit_header(body, "parent") == ["p", "q"]
    assert commit_header(body, "tree") == ["t"]


def test_a_failing_git_says_what_it_said(repo: Repo) -> None:
    with pytest.raises(GitError, match="git rev-parse ended with 128: fatal"):
        repo.git("rev-parse", "--verify", "nowhere")
    assert repo.git("rev-parse", "-q", "--verify", "nowhere", check=False) == b""
    assert not repo.succeeds("rev-parse", "--verify", "-q", "nowhere")


def test_a_reader_of_objects_that_ended_starts_anew(repo: Repo, folder: Path) -> None:
    settings = folder / ".git" / "config"
    right = settings.read_text()
    settings.write_text("[[[[")
    for _ in range(2):
        with pytest.raises(GitError, match="bad config line"):
            repo.object("HEAD")
    settings.write_text(right)
    assert (repo.object("HEAD") or [""])[0] == "commit"
    repo.close()


def names(changes: list[Change]) -> list[tuple[str, str]]:
    return [(change.status, change.path) for change in changes]


def test_refs_move_together_or_not_at_all(repo: Repo, folder: Path) -> None:
    tip = git(folder, "rev-parse", "HEAD")
    repo.update_refs([("refs/x/a", tip, NOTHING), ("refs/x/b/c", tip, NOTHING)])
    assert repo.refs("refs/x/") == {"a": tip, "b/c": tip}
    with pytest.raises(GitError):
        repo.update_refs([("refs/x/a", NOTHING, tip), ("refs/x/b/c", tip, NOTHING)])
    assert repo.refs("refs/x/") == {"a": tip, "b/c": tip}
    repo.update_refs([("refs/x/a", NOTHING, tip)])
    assert (repo.refs("refs/x/"), repo.refs("refs/none/")) == ({"b/c": tip}, {})
