"""Git's own locks: held while a scope's main moves, and cleared when their owner is surely dead.

A person's `git commit` needs the index lock or main's lock, so it comes wholly before or wholly after ours.
"""

from __future__ import annotations

import os
import time

from neosian import files
from neosian.errors import BrokenStoreError, BusyError, GitError
from neosian.plumbing import MAIN, NEXT, Repo

_MARK = b"neosian holds this lock\n"
_STALE_REF_LOCK = 5.0
_DEAD_REF_LOCK = 0.2


class MovedError(BusyError):
    """Main moved between reading it and writing it: start again from its new tip."""


def set_next(repo: Repo, commit: str | None) -> None:
    """Have `refs/neosian/next` name the commit that is about to land, or nothing: a plain file of ours."""
    path = os.path.join(repo.git_dir, NEXT)
    if commit is None:
        files.remove(path)
    else:
        files.make_dir(os.path.dirname(path))
        files.write(path, commit.encode() + b"\n", scratch=repo.private)


def next_commit(repo: Repo) -> str | None:
    """The commit that a writer was about to land when it died (while we hold the scope's lock)."""
    try:
        return repo.ref(NEXT)
    except BrokenStoreError:
        set_next(repo, None)
        return None


class IndexLock:
    """Git's index lock, for as long as a `with` block."""

    def __init__(self, repo: Repo, patience: float) -> None:
        self._repo = repo
        self._patience = patience

    def __enter__(self) -> None:
        lock_index(self._repo, self._patience)

    def __exit__(self, *_: object) -> None:
        files.remove(index_lock(self._repo))


def index_lock(repo: Repo) -> str:
    """Where git's index lock lies."""
    return os.path.join(repo.git_dir, "index.lock")


def lock_index(repo: Repo, patience: float) -> None:
    """Take git's index lock. It is linked into place with our mark inside: made first and marked then, a killed
    maker would leave a lock that nobody can tell from a person's."""
    marked = os.path.join(repo.private, "index.mark")
    if files.read(marked) != _MARK:
        files.write(marked, _MARK)
    until = time.monotonic() + patience
    while True:
        try:
            _link(marked, index_lock(repo))
            return
        except FileExistsError:
            if is_ours(repo):
                return  # of a writer that died: we hold the scope's lock, so no living one has it
            if time.monotonic() > until:
                raise BusyError(
                    f"Another git holds {index_lock(repo)}, so nothing was written; what is in the spool waits.",
                    "finish or abort the git command that is open there",
                ) from None
        time.sleep(0.01)


def _link(marked: str, lock: str) -> None:
    try:
        os.link(marked, lock)
    except FileExistsError:
        raise
    except (OSError, NotImplementedError):  # a file system without links says so in many ways
        handle = os.open(lock, os.O_WRONLY | os.O_CREAT | os.O_EXCL, files.PRIVATE_FILE)
        try:
            os.write(handle, _MARK)
        except OSError:
            files.remove(lock)  # unmarked, it would be taken for a person's for ever
            raise
        finally:
            os.close(handle)


def is_ours(repo: Repo) -> bool:
    """Whether the index lock bears our mark."""
    return files.read(index_lock(repo)) == _MARK


def older_than_boot(path: str) -> bool:
    """Whether a lock was made before this machine started: its owner cannot live."""
    try:
        with open("/proc/uptime", encoding="ascii") as stream:
            booted = time.time() - float(stream.read().split()[0])
        return os.stat(path).st_mtime < booted - 60
    except (OSError, ValueError):
        return False


def clear_ref_locks(repo: Repo) -> None:
    """Move aside ref locks that no living git can still hold: git keeps them for milliseconds.

    While `next` stands a writer of ours died on the way, and they are almost surely its own.
    """
    patience = _STALE_REF_LOCK if next_commit(repo) is None else _DEAD_REF_LOCK
    for name in (MAIN + ".lock", "HEAD.lock", NEXT + ".lock", "packed-refs.lock"):
        path = os.path.join(repo.git_dir, name)
        try:
            age = time.time() - os.stat(path).st_mtime
            if 0 <= age < patience == _DEAD_REF_LOCK:
                time.sleep(patience - age)  # if its git still lives, it takes the lock away itself
                age = time.time() - os.stat(path).st_mtime
            if age >= patience:
                os.replace(path, os.path.join(repo.private, f"stale-{os.path.basename(name)}"))
        except FileNotFoundError:
            continue


def clear_locks_below(repo: Repo, folder: str) -> None:
    """Move aside the locks that a crash left on refs below a folder where only neosian writes."""
    for where, _, names in os.walk(os.path.join(repo.git_dir, folder)):
        for name in names:
            path = os.path.join(where, name)
            if name.endswith(".lock") and time.time() - os.stat(path).st_mtime > _STALE_REF_LOCK:
                os.replace(path, os.path.join(repo.private, f"stale-{name}"))


class MainLock:
    """Git's own lock on main and HEAD, taken by a `git update-ref` child that has checked main's old value.

    ``commit`` makes the update; without it, or when this process dies, the child lets go and changes nothing.
    """

    def __init__(self, repo: Repo, instruction: str, base: str | None) -> None:
        self._repo = repo
        self._base = base
        self._refs = repo.start("update-ref", "-m", "neosian", "--stdin", timeout=10.0)
        self._instruction = instruction

    def __enter__(self) -> MainLock:
        try:
            self._ask(f"start\n{self._instruction}\nprepare\n", b"start: ok", b"prepare: ok")
        except BaseException:
            self._refs.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._refs.close()

    def commit(self) -> None:
        """Move main."""
        self._ask("commit\n", b"commit: ok")

    def _ask(self, said: str, *wanted: bytes) -> None:
        try:
            self._refs.write(said.encode())
            for answer in wanted:
                if self._refs.line() != answer:
                    raise self._refs.failed()
        except GitError as error:
            if self._repo.tip() != self._base or "but expected" in error.detail:
                raise MovedError("Somebody committed to the scope meanwhile.", "neosian status") from None
            if ".lock" in error.detail and "File exists" in error.detail:
                lock = error.detail.splitlines()[0]
                raise BusyError(f"Git holds a lock in {self._repo.path}: {lock}", "neosian status") from None
            raise
