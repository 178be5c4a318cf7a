"""A scope's repository: made with the same beginning everywhere, locked for each act, mended when it is torn."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from neosian.draft import Draft
from neosian.errors import BrokenStoreError, BusyError, DamagedError, NeosianError
from neosian.store import Lock, NoStoreError, Store, agent, committer, message
from tests.factories import Home, fsck, git, status, subjects

ROOT = "bcd8240a5a3ad1c5a8ae721e388985ba90d98b90"


def store_in(folder: Path, name: str = "scope") -> Store:
    return Store(str(folder), "user:ada", str(folder / name), str(folder / "cache.sqlite"))


def put(store: Store, path: str, text: str = "text\n") -> str | None:
    """One act: write a file, commit it as an agent."""

    def change(draft: Draft) -> None:
        draft.put(path, text.encode())
        draft.commit(message(f"Put {path}", {}), agent("claude-code:x", 1_795_982_400), committer())

    return store.write(change)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    found = store_in(tmp_path)
    put(found, "a.md")
    return found


def test_every_scope_begins_with_the_same_commit(tmp_path: Path) -> None:
    one, other = store_in(tmp_path / "one"), Store(str(tmp_path), "user:bob", str(tmp_path / "other"), "")
    for each in (one, other):
        put(each, "a.md")
        assert git(each.path, "rev-list", "--max-parents=0", "main") == ROOT
    git(one.path, "fetch", "-q", other.path, "main")
    assert git(one.path, "merge-base", "main", "FETCH_HEAD") == ROOT


def test_the_first_commit_is_empty_and_from_nobody_in_particular(store: Store) -> None:
    assert git(store.path, "ls-tree", ROOT) == ""
    said = git(store.path, "log", "-1", "--format=%an|%ae|%ad|%s", "--date=raw", ROOT)
    assert said == "neosian|neosian@neosian.invalid|0 +0000|Begin"


def test_a_scope_says_what_it_is_and_how_its_files_merge(store: Store) -> None:
    assert "user:ada" in Path(store.path, "README.md").read_text()
    assert Path(store.path, ".gitattributes").read_text() == "* -text\n*.jsonl -text merge=union\n"
    assert git(store.path, "check-attr", "merge", "record/x.jsonl").endswith("merge: union")
    assert subjects(Path(store.path)) == ["Put a.md", "Say what this folder is", "Begin"]


def test_a_scope_is_an_ordinary_repository(store: Store) -> None:
    assert (status(store.path), fsck(store.path)) == ("", "")
    assert git(store.path, "rev-parse", "--abbrev-ref", "HEAD") == "main"
    assert git(store.path, "config", "gc.auto") == "0"
    assert git(store.path, "config", "core.autocrlf") == "false"
    assert git(store.path, "update-index", "--show-index-version", check=False) in ("4", "")
    assert Path(store.path, ".git", "index").read_bytes()[:8] == b"DIRC\0\0\0\x04"


@pytest.mark.parametrize("umask", [0o000, 0o777], ids=oct)
def test_all_of_a_home_is_private_whatever_the_umask(umask: int, tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.talk().turn("Hello")
    code = f"from neosian import hook; hook.main(['stop', {str(home.path)!r}, 'claude-code', 'x'])"
    subprocess.run([sys.executable, "-c", code], umask=umask, check=True)
    modes = {path: stat.S_IMODE(path.stat().st_mode) for path in home.path.rglob("*")}
    assert not {path: oct(mode) for path, mode in modes.items() if mode & 0o077}
    assert (status(home.shop), fsck(home.shop)) == ("", "")


def test_an_act_that_commits_nothing_changes_nothing(store: Store) -> None:
    before = store.repo.tip()
    assert store.write(lambda draft: draft.put("b.md", b"never committed")) is None
    assert store.repo.tip() == before
    assert status(store.path) == ""


def test_an_act_gives_back_the_new_tip(store: Store) -> None:
    assert put(store, "notes/b.md") == git(store.path, "rev-parse", "main")
    assert Path(store.path, "notes/b.md").read_text() == "text\n"
    assert status(store.path) == ""


def test_an_act_that_raises_leaves_all_as_it_was(store: Store) -> None:
    def change(draft: Draft) -> None:
        draft.put("b.md", b"text")
        draft.commit("One\n", committer(), committer())
        raise NeosianError("no")

    with pytest.raises(NeosianError):
        store.write(change)
    assert subjects(Path(store.path))[0] == "Put a.md"
    assert status(store.path) == ""
    assert put(store, "c.md") is not None


@pytest.mark.parametrize("torn", ["", "re", "ref: refs/hea", None])
def test_a_head_that_a_crash_tore_is_mended(torn: str | None, store: Store) -> None:
    head = Path(store.path, ".git", "HEAD")
    head.unlink() if torn is None else head.write_text(torn)
    put(store, "b.md")
    assert head.read_text() == "ref: refs/heads/main\n"
    assert (status(store.path), fsck(store.path)) == ("", "")
    assert subjects(Path(store.path))[::3] == ["Put b.md", "Begin"]


def test_a_torn_main_is_told_and_never_written_over(store: Store) -> None:
    main = Path(store.path, ".git", "refs/heads/main")
    main.write_text("")
    with pytest.raises(BrokenStoreError, match="refs/heads/main"):
        put(store, "b.md")
    assert main.read_text() == ""


def test_a_scope_whose_main_is_packed_is_not_begun_anew(store: Store) -> None:
    git(store.path, "pack-refs", "--all")
    put(store, "b.md")
    assert subjects(Path(store.path)) == ["Put b.md", "Put a.md", "Say what this folder is", "Begin"]


@pytest.mark.parametrize("lost", ["index", "config", "description", "neosian/scope", "neosian/recent"])
def test_a_file_that_can_be_made_again_is_not_missed(lost: str, store: Store) -> None:
    (Path(store.path, ".git") / lost).unlink(missing_ok=True)
    put(store, "b.md")
    assert (status(store.path), fsck(store.path)) == ("", "")
    assert git(store.path, "show", "main:b.md") == "text"


# the lock


def test_two_cannot_hold_the_lock(tmp_path: Path) -> None:
    path = str(tmp_path / "lock")
    with Lock(path, 0.0), pytest.raises(BusyError, match="held by another"), Lock(path, 0.01):
        pass
    with Lock(path, 0.0):
        assert stat.S_IMODE(os.stat(path).st_mode) == 0o600


def test_a_lock_dies_with_its_owner(tmp_path: Path) -> None:
    path = str(tmp_path / "lock")
    code = f"import os, neosian.store as s; s.Lock({path!r}, 0).__enter__(); os.kill(os.getpid(), 9)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == -9
    with Lock(path, 0.0):
        pass


def test_a_failing_act_gives_the_lock_back(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), Lock(str(tmp_path / "lock"), 0.0):
        raise ZeroDivisionError
    with Lock(str(tmp_path / "lock"), 0.0):
        pass


# messages


@pytest.mark.parametrize(
    ("subject", "trailers", "body", "text"),
    [
        ("One", {}, "", "One\n"),
        ("two\nlines ", {"Turn": "3"}, "", "two lines\n\nTurn: 3\n"),
        ("", {"Turn": ""}, "", "(no subject)\n"),
        ("One", {"Actor": "a\nTurn: 9"}, " body \n", "One\n\nbody\n\nActor: a Turn: 9\n"),
        ("One", {"Source": ["a#1", "", "b\n#2"], "None": []}, "", "One\n\nSource: a#1\nSource: b #2\n"),
    ],
)
def test_a_message_is_subject_body_and_trailers(
    subject: str, trailers: dict[str, str | list[str]], body: str, text: str
) -> None:
    assert message(subject, trailers, body) == text


@pytest.mark.parametrize(
    ("actor", "email"),
    [
        ("claude-code:9f", "claude-code@neosian.invalid"),
        ("dream", "dream@neosian.invalid"),
        ("", "agent@neosian.invalid"),
    ],
)
def test_an_agent_signs_with_the_address_of_its_client(actor: str, email: str) -> None:
    signed = agent(actor, 1.0)
    assert (signed.name, signed.email) == (actor, email)


def test_a_scope_without_anything_says_so() -> None:
    assert str(NoStoreError("user:ada")) == "Nothing has been recorded for user:ada yet."


@pytest.mark.parametrize("left", ["nothing", "other refs"])
def test_a_scope_whose_main_is_gone_is_not_begun_anew(left: str, store: Store) -> None:
    (Path(store.path) / ".git/refs/heads/main").unlink()
    if left == "other refs":
        (Path(store.path) / ".git/packed-refs").write_text("# pack-refs with: peeled fully-peeled sorted\n")
    with pytest.raises(DamagedError, match="nothing was written"):
        put(store, "b.md")
    assert not (Path(store.path) / "b.md").exists()
