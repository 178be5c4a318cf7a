"""Moving main: work tree, then index, then ref, so that a person's git never sees one without the others.

The order, held together by git's own locks:

1. ``refs/neosian/next`` names the new commit: from here on a killed writer can be finished by the next one.
2. ``index.lock`` is taken (with our mark inside, so that a dead writer's lock is told from a person's).
3. `git update-ref --stdin` *prepares* main: its lock is held and its old value checked.
4. The work tree is written, then the index (a renamed copy), then main moves; the locks go.

A person's `git commit` needs either the index lock or main's lock, so it comes wholly before or wholly after.
Reordering it (ref first, then work tree) lost 40 of 400 turns to a loop of `git commit -am`.
"""

from __future__ import annotations

import os
import time

from neosian import files
from neosian.errors import BrokenStoreError, BusyError, GitError
from neosian.plumbing import MAIN, NEXT, NOTHING, Change, Repo, object_id

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

_MARK = b"neosian holds this lock\n"
_STALE_REF_LOCK = 5.0
_UNDER_WAY = ("rebase-merge", "rebase-apply")
_MERGING = ("MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", *_UNDER_WAY)
# Paths that landed while main was not checked out and that index and work tree may still owe (see `_repay`).
_OWED = "owed"


class MovedError(BusyError):
    """Main moved between reading it and writing it: start again from its new tip."""


def merging(repo: Repo) -> bool:
    """Whether a person's merge, pick or rebase waits for its end."""
    return any(os.path.exists(os.path.join(repo.git_dir, name)) for name in _MERGING)


def checked_out(repo: Repo) -> bool:
    """Whether the work tree shows main."""
    return repo.head() == MAIN and not any(os.path.exists(os.path.join(repo.git_dir, n)) for n in _UNDER_WAY)


def publish(repo: Repo, base: str | None, new: str, *, patience: float = 0.8) -> None:
    """Make ``new`` (whose objects are written) the tip of main, which must still be ``base``.

    Raises MovedError when main moved, BusyError when a person's git holds the index for longer than
    ``patience`` seconds. In both cases work tree, index and main are as they were.
    """
    _set_next(repo, new)
    try:
        _lock_index(repo, patience)
        try:
            _move(repo, base, new)
        finally:
            files.remove(_index_lock(repo))
    except (BusyError, GitError):
        _set_next(repo, None)
        raise
    _set_next(repo, None)


def recover(repo: Repo, *, patience: float = 0.8) -> dict[str, str]:
    """Finish or take back what a killed writer left; the caller holds the scope's lock, so it is dead.

    Gives back what `settle` does: files to be put into main again.
    """
    lock = _index_lock(repo)
    if files.read(lock) == _MARK or _older_than_boot(lock):
        files.remove(lock)
    _clear_ref_locks(repo)
    new = _next(repo)
    if new is not None:
        _finish(repo, new, patience)
    return settle(repo, patience=patience) if _owed(repo) and checked_out(repo) else {}


def _finish(repo: Repo, new: str, patience: float) -> None:
    tip = repo.tip()
    if repo.object(new) is None:
        _set_next(repo, None)
    elif tip is None or (tip != new and repo.succeeds("merge-base", "--is-ancestor", tip, new)):
        publish(repo, tip, new, patience=patience)
    else:
        base = repo.git("merge-base", tip, new, check=False).decode().strip()
        if tip != new and base not in (new, ""):
            _take_back(repo, base, new, tip, patience)
        _set_next(repo, None)


def settle(repo: Repo, *, patience: float = 0.8) -> dict[str, str]:
    """Bring index and work tree up to main for the paths that landed while main was not checked out.

    Gives back what a person's commit from a stale index took away from main again: path and the blob it held.
    """
    tip = repo.tip()
    if tip is None:
        return {}
    lost = {}
    _lock_index(repo, patience)
    try:
        ours = []
        held = index_entries(repo, list(_owed(repo)))
        for path, (old, new) in _owed(repo).items():
            entry = repo.entry(tip, path)
            here = entry.id if entry else NOTHING
            if here == old != new:
                lost[path] = new
            elif held.get(path, NOTHING) == old:
                ours.append(Change("M", path, old, here))
        _write_out(repo, ours)
        files.remove(os.path.join(repo.private, _OWED))
    finally:
        files.remove(_index_lock(repo))
    return lost


def _move(repo: Repo, base: str | None, new: str) -> None:
    """Steps 3 and 4; the index lock is ours."""
    changes = repo.diff(base, new)
    attached = _attached(repo, base)
    refs = repo.start("update-ref", "-m", "neosian", "--stdin", timeout=10.0)
    try:
        refs.write(f"start\nupdate {MAIN} {new} {base or NOTHING}\nprepare\n".encode())
        for wanted in (b"start: ok", b"prepare: ok"):
            if refs.line() != wanted:
                raise refs.failed()
        if attached != checked_out(repo):
            raise MovedError("A checkout came between.", "neosian status")
        if attached:
            _write_out(repo, changes)
        else:
            _owe(repo, changes)
        refs.write(b"commit\n")
        if refs.line() != b"commit: ok":
            raise refs.failed()
    except GitError as error:
        if repo.tip() != base:
            raise MovedError("Somebody committed to the scope meanwhile.", "neosian status") from None
        if ".lock" in error.detail:
            raise BusyError(f"Git holds a lock in {repo.path}: {error.detail}", "neosian status") from None
        raise
    finally:
        refs.close()


def _attached(repo: Repo, base: str | None) -> bool:
    """Whether work tree and index show ``base``, waiting for a `git checkout` that is between two steps.

    Checkout writes the index, lets go of its lock, and only then moves HEAD. In between, HEAD tells of one
    commit and the index holds another; what main changed last is the probe.
    """
    for _ in range(5):
        shown = checked_out(repo)
        if base is None or merging(repo):
            return shown
        parents = repo.parents(base)
        last = repo.diff(parents[0] if parents else None, base)
        probe = [change for change in last if change.status != "D"][:20]
        held = index_entries(repo, [change.path for change in probe])
        if shown == all(held.get(change.path) == change.after for change in probe):
            return shown
        time.sleep(0.02)
    return checked_out(repo)


def _write_out(repo: Repo, changes: Iterable[Change]) -> None:
    """Work tree, then index, for these changes; a file that a person changed meanwhile stays as it is."""
    written: list[Change] = []
    kept: list[Change] = []
    for change in changes:
        (written if _write_file(repo, change) else kept).append(change)
    index = os.path.join(repo.git_dir, "index")
    spare = os.path.join(repo.private, "index.new")
    files.remove(spare + ".lock")
    held = files.read(index)
    if held is None:
        files.remove(spare)
        if tip := repo.tip():
            repo.git("read-tree", tip, index=spare, timeout=30.0)
    else:
        files.write(spare, held)
    listed = b"".join(os.fsencode(change.path) + b"\0" for change in written)
    if listed:
        repo.git("update-index", "--index-version", "4", "--add", "--remove", "-z", "--stdin",
                 input=listed, index=spare)  # fmt: skip
    if kept:
        rows = b"".join(_index_row(change) for change in kept)
        repo.git("update-index", "--index-version", "4", "-z", "--index-info", input=rows, index=spare)
    if os.path.exists(spare):
        os.replace(spare, index)


def _index_row(change: Change) -> bytes:
    mode = "0" if change.after == NOTHING else "100644"
    return f"{mode} {change.after}\t".encode() + os.fsencode(change.path) + b"\0"


def _write_file(repo: Repo, change: Change) -> bool:
    """Write one file of the work tree if it holds what we think it holds."""
    path = os.path.join(repo.path, change.path)
    found = None if os.path.islink(path) or os.path.isdir(path) else files.read(path)
    here = NOTHING if found is None else object_id("blob", found)
    if os.path.islink(path) or os.path.isdir(path) or here not in (change.before, change.after):
        return False
    if here == change.after:
        return True
    if change.after == NOTHING:
        files.remove(path)
        return True
    body = repo.object(change.after)
    if body is None:
        raise BrokenStoreError(f"{change.path} of {repo.path} cannot be read.", "neosian status")
    folder = os.path.dirname(path)
    if os.path.realpath(folder) != os.path.normpath(
        os.path.join(os.path.realpath(repo.path), change.path, "..")
    ):
        return False  # a linked folder leads out of the scope
    files.make_dir(folder)
    files.write(path, body[1], scratch=repo.private)
    return True


def _take_back(repo: Repo, base: str, new: str, tip: str, patience: float) -> None:
    """Undo in work tree and index what a killed writer wrote of ``new``, which main will not take."""
    _lock_index(repo, patience)
    try:
        changes = []
        for change in repo.diff(base, new):
            entry = repo.entry(tip, change.path)
            changes.append(Change("M", change.path, change.after, entry.id if entry else NOTHING))
        if checked_out(repo):
            held = index_entries(repo, [change.path for change in changes])
            for change in changes:
                if held.get(change.path, NOTHING) in (change.before, change.after):
                    _write_out(repo, [change])
                else:
                    _write_file(repo, change)
    finally:
        files.remove(_index_lock(repo))


def index_entries(repo: Repo, paths: list[str]) -> dict[str, str]:
    """Blob ids of these paths in git's index (stage 0)."""
    if not paths:
        return {}
    said = repo.git("--literal-pathspecs", "ls-files", "-s", "-z", "--", *paths)
    rows = {}
    for row in said.split(b"\0")[:-1]:
        meta, _, raw = row.partition(b"\t")
        rows[os.fsdecode(raw)] = meta.split(b" ")[1].decode()
    return rows


# refs/neosian/next and what is owed: plain files of ours, touched only under the scope's lock


def _set_next(repo: Repo, commit: str | None) -> None:
    path = os.path.join(repo.git_dir, NEXT)
    if commit is None:
        files.remove(path)
    else:
        files.make_dir(os.path.dirname(path))
        files.write(path, commit.encode() + b"\n")


def _next(repo: Repo) -> str | None:
    try:
        return repo.ref(NEXT)
    except BrokenStoreError:
        _set_next(repo, None)
        return None


def _owe(repo: Repo, changes: Iterable[Change]) -> None:
    owed = _owed(repo)
    for change in changes:
        old = owed[change.path][0] if change.path in owed else change.before
        owed[change.path] = (old, change.after)
    rows = "".join(f"{old} {new} {path}\0" for path, (old, new) in owed.items())
    files.write(os.path.join(repo.private, _OWED), os.fsencode(rows))


def _owed(repo: Repo) -> dict[str, tuple[str, str]]:
    """Paths that index and work tree owe: the blob they last held, the blob main got."""
    said = os.fsdecode(files.read(os.path.join(repo.private, _OWED)) or b"")
    return {row[82:]: (row[:40], row[41:81]) for row in said.split("\0")[:-1]}


# locks


def _index_lock(repo: Repo) -> str:
    return os.path.join(repo.git_dir, "index.lock")


def _lock_index(repo: Repo, patience: float) -> None:
    until = time.monotonic() + patience
    while True:
        try:
            handle = os.open(_index_lock(repo), os.O_WRONLY | os.O_CREAT | os.O_EXCL, files.PRIVATE_FILE)
        except FileExistsError:
            if time.monotonic() > until:
                raise BusyError(
                    f"Another git holds {_index_lock(repo)}; what was to land waits in the spool.",
                    "finish or abort the git command that is open there",
                ) from None
            time.sleep(0.01)
        else:
            os.write(handle, _MARK)
            os.close(handle)
            return


def _older_than_boot(path: str) -> bool:
    """Whether a lock was made before this machine started: its owner cannot live."""
    try:
        with open("/proc/uptime", encoding="ascii") as stream:
            booted = time.time() - float(stream.read().split()[0])
        return os.stat(path).st_mtime < booted - 60
    except (OSError, ValueError):
        return False


def _clear_ref_locks(repo: Repo) -> None:
    """Move aside ref locks that no living git can still hold; git keeps them for milliseconds."""
    for name in ("HEAD.lock", MAIN + ".lock", NEXT + ".lock", "packed-refs.lock"):
        path = os.path.join(repo.git_dir, name)
        try:
            age = time.time() - os.stat(path).st_mtime
        except OSError:
            continue
        if age > _STALE_REF_LOCK:
            os.replace(path, os.path.join(repo.private, f"stale-{os.path.basename(name)}"))
