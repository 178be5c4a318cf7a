"""Moving main beside a person's git: work tree, index and main agree after each act, whatever came between."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from neosian import publish
from neosian.draft import Draft
from neosian.errors import BusyError
from neosian.gitlocks import MovedError
from neosian.plumbing import NOTHING
from neosian.store import Store, agent, committer, message
from tests.factories import fsck, git, status, subjects

MARK = "neosian holds this lock\n"


def store_in(folder: Path) -> Store:
    return Store(str(folder), "user:ada", str(folder / "scope"), str(folder / "cache.sqlite"))


def put(store: Store, path: str, text: str = "text\n", *, patience: float = 0.2) -> str | None:
    """One act: a file written and committed."""

    def change(draft: Draft) -> None:
        draft.put(path, text.encode())
        draft.commit(message(f"Put {path}", {}), agent("claude-code:x", time.time()), committer())

    return store.write(change, patience=patience)


def killed(store: Store, function: str, when: str) -> None:
    """Put `two.md` in a process that is killed before or after a function of ours."""
    code = f"""
import os
from neosian import files, gitlocks, publish, draft, recent, store
from pathlib import Path
from tests.test_publish import put, store_in
real = {function}
def die(*given, **named):
    if {when == "after"}:
        real(*given, **named)
    os.kill(os.getpid(), 9)
{function} = die
put(store_in(Path({store.home!r})), "notes/two.md")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == -9, done.stderr


@pytest.fixture
def store(tmp_path: Path) -> Store:
    found = store_in(tmp_path)
    put(found, "notes/one.md")
    return found


@pytest.fixture
def folder(store: Store) -> Path:
    return Path(store.path)


def sound(folder: Path) -> bool:
    """Whether work tree, index and main agree, and the repository is whole."""
    return (status(folder), fsck(folder)) == ("", "") and not (folder / ".git/index.lock").exists()


# beside a person


def test_what_landed_is_shown_at_once(store: Store, folder: Path) -> None:
    put(store, "notes/one.md", "changed\n")
    assert (folder / "notes/one.md").read_text() == "changed\n"
    assert sound(folder)


def test_a_file_taken_away_is_gone_from_the_folder(store: Store, folder: Path) -> None:
    def change(draft: Draft) -> None:
        draft.delete("notes/one.md")
        draft.commit("Delete\n", committer(), committer())

    store.write(change)
    assert not (folder / "notes/one.md").exists()
    assert sound(folder)


def test_commit_all_right_after_takes_nothing_away(store: Store, folder: Path) -> None:
    put(store, "record/2026-11/29/00001-ab12-c-s.jsonl")
    (folder / "notes/one.md").write_text("mine\n")
    git(folder, "commit", "-qam", "Mine")
    assert git(folder, "diff", "--name-status", "HEAD~1", "HEAD") == "M\tnotes/one.md"
    assert sound(folder)


def test_a_persons_unsaved_work_stays_as_it_is(store: Store, folder: Path) -> None:
    (folder / "notes/one.md").write_text("mine\n")
    (folder / "new.txt").write_text("mine too\n")
    put(store, "notes/two.md")
    assert status(folder) == " M notes/one.md\n?? new.txt"


def test_a_persons_staged_work_stays_staged(store: Store, folder: Path) -> None:
    (folder / "new.txt").write_text("mine\n")
    git(folder, "add", "new.txt")
    put(store, "notes/two.md")
    assert status(folder) == "A  new.txt"


def test_a_document_that_a_person_is_changing_is_not_overwritten(store: Store, folder: Path) -> None:
    (folder / "notes/one.md").write_text("mine\n")
    put(store, "notes/one.md", "ours\n")
    assert (folder / "notes/one.md").read_text() == "mine\n"
    assert git(folder, "show", "main:notes/one.md") == "ours"
    assert status(folder) == " M notes/one.md"


def test_an_edit_of_equal_size_in_the_second_of_a_landing_is_still_seen(store: Store, folder: Path) -> None:
    time.sleep(1.02 - time.time() % 1)  # git looks at whole seconds, and at content where they leave it open
    put(store, "notes/one.md", "1234\n")
    (folder / "notes/one.md").write_text("5678\n")
    time.sleep(1.02 - time.time() % 1)
    put(store, "notes/two.md")
    assert status(folder) == " M notes/one.md"


def test_a_log_that_a_person_changed_is_not_overwritten_nor_lost(store: Store, folder: Path) -> None:
    path = "record/2026-11/29/00001-ab12-c-s.jsonl"
    put(store, path, "one\n")
    (folder / path).write_text("mine\n")
    with pytest.raises(MovedError, match="log was changed"):
        put(store, path, "one\ntwo\n")
    assert (folder / path).read_text() == "mine\n"
    assert git(folder, "show", f"main:{path}") == "one"


def test_nothing_is_written_through_a_link_that_leads_out(store: Store, folder: Path, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (folder / "skills").symlink_to(tmp_path / "outside")
    put(store, "skills/x.md")
    assert os.listdir(tmp_path / "outside") == []
    assert git(folder, "show", "main:skills/x.md") == "text"


def test_a_live_index_lock_is_waited_for_and_never_moved(store: Store, folder: Path) -> None:
    lock = folder / ".git/index.lock"
    lock.write_text("")
    with pytest.raises(BusyError, match=r"index\.lock"):
        put(store, "notes/two.md")
    assert lock.read_text() == ""
    lock.unlink()
    assert subjects(folder)[0] == "Put notes/one.md"
    assert sound(folder)


def test_a_lock_that_goes_in_time_is_no_error(store: Store, folder: Path) -> None:
    lock = folder / ".git/index.lock"
    lock.write_text("")
    child = subprocess.Popen(["sh", "-c", f"sleep 0.2; rm '{lock}'"])
    put(store, "notes/two.md", patience=20.0)
    child.wait()
    assert subjects(folder)[0] == "Put notes/two.md"


def test_an_index_lock_older_than_the_boot_is_stale(store: Store, folder: Path) -> None:
    lock = folder / ".git/index.lock"
    lock.write_text("")
    os.utime(lock, (1_000_000_000, 1_000_000_000))
    put(store, "notes/two.md")
    assert sound(folder)


def test_our_own_lock_of_a_dead_writer_is_taken_over(store: Store, folder: Path) -> None:
    (folder / ".git/index.lock").write_text(MARK)
    put(store, "notes/two.md")
    assert sound(folder)


@pytest.mark.parametrize("name", ["refs/heads/main.lock", "HEAD.lock", "packed-refs.lock"])
def test_a_stale_ref_lock_is_moved_aside(name: str, store: Store, folder: Path) -> None:
    lock = folder / ".git" / name
    lock.write_text("")
    os.utime(lock, (time.time() - 60, time.time() - 60))
    put(store, "notes/two.md")
    assert not lock.exists()
    assert (folder / ".git/neosian" / f"stale-{lock.name}").exists()
    assert sound(folder)


def test_a_fresh_ref_lock_is_somebodys(store: Store, folder: Path) -> None:
    lock = folder / ".git/refs/heads/main.lock"
    lock.write_text("")
    with pytest.raises(BusyError):
        put(store, "notes/two.md")
    assert lock.exists()
    lock.unlink()
    put(store, "notes/two.md")
    assert sound(folder)


def test_main_that_moved_is_not_moved_back(store: Store, folder: Path) -> None:
    base = store.repo.tip()
    draft = Draft(store.repo, base)
    draft.put("notes/two.md", b"text\n")
    new = draft.commit("Two\n", committer(), committer())
    draft.write()
    git(folder, "commit", "-q", "--allow-empty", "-m", "Mine")
    with pytest.raises(MovedError):
        publish.publish(store.repo, base, new)
    assert subjects(folder)[0] == "Mine"
    assert sound(folder)
    store.repo.close()


def test_a_commit_that_came_between_is_built_upon(store: Store, folder: Path) -> None:
    calls: list[str | None] = []

    def change(draft: Draft) -> None:
        if not calls:
            git(folder, "commit", "-q", "--allow-empty", "-m", "Mine")
        calls.append(draft.base)
        draft.put("notes/two.md", b"text\n")
        draft.commit("Two\n", committer(), committer())

    store.write(change, patience=10.0)
    assert len(calls) == 2
    assert subjects(folder)[:2] == ["Two", "Mine"]
    assert sound(folder)


# another branch, a merge


@pytest.mark.parametrize("where", [("--detach", "HEAD~1"), ("-b", "topic", "HEAD~1"), ("--detach",)])
def test_with_another_commit_checked_out_only_main_moves(
    where: tuple[str, ...], store: Store, folder: Path
) -> None:
    git(folder, "checkout", "-q", *where)
    before = git(folder, "rev-parse", "HEAD")
    put(store, "notes/two.md")
    assert git(folder, "rev-parse", "HEAD") == before
    assert not (folder / "notes/two.md").exists()
    assert sound(folder)
    git(folder, "checkout", "-q", "main")
    assert (folder / "notes/two.md").read_text() == "text\n"
    assert sound(folder)


def test_while_a_merge_waits_it_can_still_be_finished(store: Store, folder: Path) -> None:
    git(folder, "checkout", "-q", "-b", "topic")
    for branch, text in (("topic", "theirs\n"), ("main", "mine\n")):
        git(folder, "checkout", "-q", branch)
        (folder / "notes/one.md").write_text(text)
        git(folder, "commit", "-qam", branch)
    git(folder, "merge", "topic", check=False)
    put(store, "notes/two.md")
    (folder / "notes/one.md").write_text("both\n")
    git(folder, "commit", "-qam", "Merged")
    assert git(folder, "show", "HEAD:notes/two.md") == "text"
    assert git(folder, "show", "HEAD:notes/one.md") == "both"
    assert sound(folder)


# a commit from a stale index


def test_lines_that_a_stale_index_took_out_of_main_come_back(store: Store, folder: Path) -> None:
    path = "record/2026-11/29/00001-ab12-c-s.jsonl"
    put(store, path, "one\n")
    old = git(folder, "rev-parse", "HEAD^{tree}")
    put(store, path, "one\ntwo\n")
    stale = git(folder, "commit-tree", "-p", "HEAD", "-m", "Mine", old)
    git(folder, "update-ref", "refs/heads/main", stale)
    git(folder, "read-tree", "HEAD")
    put(store, "notes/two.md")
    assert git(folder, "show", f"main:{path}") == "one\ntwo"
    assert subjects(folder)[:3] == [
        "Put notes/two.md",
        "Put back turns that a stale checkout took away",
        "Mine",
    ]
    assert sound(folder)


def test_an_index_that_a_checkout_left_behind_is_brought_up(store: Store, folder: Path) -> None:
    before = (folder / ".git/index").read_bytes()
    put(store, "notes/two.md")
    (folder / ".git/index").write_bytes(before)
    (folder / "notes/two.md").unlink()
    assert status(folder) == "D  notes/two.md"
    put(store, "notes/three.md")
    assert (folder / "notes/two.md").exists()
    assert sound(folder)


@pytest.mark.parametrize("code", [errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK])
def test_a_file_system_without_links_will_do(
    code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def link(*_: object, **__: object) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(os, "link", link)
    store = store_in(tmp_path)
    store.make()
    put(store, "notes/one.md")
    folder = Path(store.path)
    lock = folder / ".git/index.lock"
    assert (status(folder), lock.exists(), sound(folder)) == ("", False, True)
    lock.write_text("")  # a person's git
    with pytest.raises(BusyError):
        put(store, "notes/two.md")
    lock.write_text(MARK)  # a dead writer's of ours
    put(store, "notes/two.md")
    assert (status(folder), lock.exists()) == ("", False)


# a killed writer

STEPS = [
    ("draft.Draft.write", "before"),
    ("draft.Draft.write", "after"),
    ("gitlocks.set_next", "after"),
    ("gitlocks.lock_index", "after"),
    ("gitlocks.MainLock.__enter__", "after"),
    ("publish._write_file", "after"),
    ("publish._write_out", "after"),
    ("gitlocks.MainLock.commit", "after"),
    ("recent.Recent.add", "before"),
    ("recent.Recent.add", "after"),
]
NEVER_BEGUN = STEPS[:2]


@pytest.mark.parametrize(("function", "when"), STEPS)
def test_what_a_killed_writer_began_is_finished_once(
    function: str, when: str, store: Store, folder: Path
) -> None:
    killed(store, function, when)
    put(store_in(Path(store.home)), "notes/three.md")
    found = subjects(folder)
    assert found.count("Put notes/two.md") == ((function, when) not in NEVER_BEGUN)
    assert found[0] == "Put notes/three.md"
    assert not (folder / ".git/refs/neosian/next").exists()
    assert sound(folder)


@pytest.mark.parametrize(("function", "when"), STEPS)
def test_a_persons_commit_after_a_killed_writer_takes_no_half_of_it(
    function: str, when: str, store: Store, folder: Path
) -> None:
    killed(store, function, when)
    (folder / "notes/one.md").write_text("mine and longer\n")
    git(folder, "commit", "-qam", "Mine", check=False)
    mine = git(folder, "log", "--format=", "--name-only", "--grep=^Mine$", "--author=ada@")
    assert mine in ("", "notes/one.md")
    put(store_in(Path(store.home)), "notes/three.md")
    assert subjects(folder).count("Put notes/two.md") <= 1
    assert (folder / "notes/one.md").read_text() == "mine and longer\n"
    assert status(folder) == ("" if mine else " M notes/one.md")
    assert fsck(folder) == ""


def test_folder_and_index_show_it_before_main_moves(store: Store, folder: Path) -> None:
    killed(store, "gitlocks.MainLock.commit", "before")
    assert (folder / "notes/two.md").read_text() == "text\n"
    assert git(folder, "ls-files", "notes") == "notes/one.md\nnotes/two.md"
    assert subjects(folder, "main")[0] == "Put notes/one.md"


def test_a_store_that_has_written_before_finishes_what_another_began(store: Store, folder: Path) -> None:
    killed(store, "publish._write_out", "after")
    put(store, "notes/three.md")
    assert subjects(folder)[:2] == ["Put notes/three.md", "Put notes/two.md"]
    assert sound(folder)


def test_a_next_that_names_nothing_is_dropped(store: Store, folder: Path) -> None:
    for said in ("", "torn", "0" * 40 + "\n", NOTHING.replace("0", "a") + "\n"):
        (folder / ".git/refs/neosian").mkdir(exist_ok=True)
        (folder / ".git/refs/neosian/next").write_text(said)
        put(store, f"notes/{len(said)}.md")
        assert not (folder / ".git/refs/neosian/next").exists()
    assert sound(folder)


def test_a_next_that_main_has_passed_is_taken_back(store: Store, folder: Path) -> None:
    killed(store, "publish._write_out", "after")
    (folder / ".git/index.lock").unlink()
    git(folder, "reset", "-q", "notes/two.md")
    git(folder, "commit", "-q", "--allow-empty", "-m", "Mine")
    put(store_in(Path(store.home)), "notes/three.md")
    assert "Put notes/two.md" not in subjects(folder)
    assert not (folder / "notes/two.md").exists()
    assert sound(folder)


def test_a_next_that_can_never_be_finished_is_kept_aside_and_holds_nothing_up(
    store: Store, folder: Path
) -> None:
    """It holds a repository within the repository, which has no file to write."""
    base = git(folder, "rev-parse", "main")
    git(folder, "update-index", "--add", "--cacheinfo", f"160000,{base},mod")
    new = git(folder, "commit-tree", git(folder, "write-tree"), "-p", base, "-m", "Odd")
    git(folder, "rm", "-q", "--cached", "mod")
    (folder / ".git/refs/neosian").mkdir(exist_ok=True)
    (folder / ".git/refs/neosian/next").write_text(new + "\n")
    put(store, "notes/two.md")
    assert subjects(folder)[:2] == ["Put notes/two.md", "Put notes/one.md"]
    assert git(folder, "rev-parse", f"refs/neosian/given-up/{new}") == new
    assert new in (Path(store.home) / "log/neosian.log").read_text()
    assert sound(folder)


def test_a_next_that_lacks_objects_gets_no_ref_that_would_break_the_repository(
    store: Store, folder: Path
) -> None:
    base = git(folder, "rev-parse", "main")
    git(folder, "update-index", "--add", "--cacheinfo", f"100644,{'a' * 40},lost.md")
    tree = git(folder, "write-tree", "--missing-ok")
    new = git(folder, "commit-tree", tree, "-p", base, "-m", "Torn")
    git(folder, "rm", "-q", "--cached", "lost.md")
    (folder / ".git/refs/neosian").mkdir(exist_ok=True)
    (folder / ".git/refs/neosian/next").write_text(new + "\n")
    put(store, "notes/two.md")
    assert subjects(folder)[0] == "Put notes/two.md"
    assert git(folder, "for-each-ref", "refs/neosian") == ""
