"""Moving main: work tree, then index, then ref, so that a person's git never sees one without the others.

The order, held together by git's own locks:

1. ``refs/neosian/next`` names the new commit: from here on a killed writer can be finished by the next one.
2. ``index.lock`` is taken (with our mark inside, so that a dead writer's lock is told from a person's).
3. `git update-ref --stdin` *prepares* main: its lock is held and its old value checked.
4. The work tree is written, then the index (a renamed copy), then main moves; the locks go.

A person's `git commit` needs either the index lock or main's lock, so it comes wholly before or wholly after.
Reordering it (ref first, then work tree) lost 40 of 400 turns to a loop of `git commit -am`.

What locks cannot help: `git checkout` and `git reset` look up their commit before they take the index lock, and
checkout moves HEAD after it let go. So what landed lately is remembered (`Recent`), and each act first looks
whether the index and main still hold it.
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

LOGS = ("record", "sessions")
"""Top folders that only neosian writes: never adopted from a person."""

_MARK = b"neosian holds this lock\n"
_STALE_REF_LOCK = 5.0
_DEAD_REF_LOCK = 0.2
_UNDER_WAY = ("rebase-merge", "rebase-apply")
_MERGING = ("MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", *_UNDER_WAY)
_REMEMBERED = 60.0
_BETWEEN_STEPS = 0.1


class MovedError(BusyError):
    """Main moved between reading it and writing it: start again from its new tip."""


def merging(repo: Repo) -> bool:
    """Whether a person's merge, pick or rebase waits for its end."""
    return any(os.path.exists(os.path.join(repo.git_dir, name)) for name in _MERGING)


def checked_out(repo: Repo) -> bool:
    """Whether the work tree shows main."""
    return repo.head() == MAIN and not any(os.path.exists(os.path.join(repo.git_dir, n)) for n in _UNDER_WAY)


def in_log(path: str) -> bool:
    """Whether a path lies in a folder that only neosian writes."""
    return path.partition("/")[0] in LOGS


def publish(repo: Repo, base: str | None, new: str, *, patience: float = 0.8) -> None:
    """Make ``new`` (whose objects are written) the tip of main, which must still be ``base``.

    Raises MovedError when main moved, BusyError when a person's git holds the index for longer than
    ``patience`` seconds. In both cases work tree, index and main are as they were.
    """
    _set_next(repo, new)
    try:
        with _IndexLock(repo, patience):
            _move(repo, base, new)
    except BusyError:
        _set_next(repo, None)  # nothing was written yet; after any other error `recover` looks at what was
        raise
    _set_next(repo, None)


def recover(repo: Repo, *, patience: float = 0.8) -> tuple[str | None, dict[str, str]]:
    """Finish or take back what a killed writer left; the caller holds the scope's lock, so it is dead.

    Then see to it that index and work tree hold what landed lately. Gives back the tip of main that was looked
    at, and what a commit from a stale index took out of it: the path of a log, and the blob it should hold.
    """
    repo.index_seen = None
    if _older_than_boot(_index_lock(repo)):
        files.remove(_index_lock(repo))
    _clear_ref_locks(repo)
    new = _next(repo)
    if new is not None:
        # A dead writer's index lock stays until this is done: else a person's commit would take half of it.
        _finish(repo, new, patience)
    if _is_ours(repo):
        files.remove(_index_lock(repo))
    return _look_again(repo, patience)


def _finish(repo: Repo, new: str, patience: float) -> None:
    tip = repo.tip()
    if repo.object(new) is None:
        _set_next(repo, None)
    elif tip is None or (tip != new and repo.succeeds("merge-base", "--is-ancestor", tip, new)):
        try:
            with _IndexLock(repo, patience):
                _move(repo, tip, new)
        except MovedError:
            if tip is None or repo.tip() != tip:
                raise  # in the next round what the dead writer wrote of it is taken back
            _take_back(repo, tip, new, tip, patience)
        _set_next(repo, None)
    else:
        base = repo.git("merge-base", tip, new, check=False).decode().strip()
        if base == new:  # main has it, perhaps under a person's commit: remember it as if we had lived
            parents = repo.parents(new)
            Recent(repo).add(repo.diff(parents[0] if parents else None, new))
        elif base not in (new, ""):
            _take_back(repo, base, new, tip, patience)
        _set_next(repo, None)


def _take_back(repo: Repo, base: str, new: str, tip: str, patience: float) -> None:
    """Undo in work tree and index what a killed writer wrote of ``new``, which main will not take."""
    changes = []
    for change in repo.diff(base, new):
        entry = repo.entry(tip, change.path)
        changes.append(Change("M", change.path, change.after, entry.id if entry else NOTHING))
    if not checked_out(repo):
        return
    with _IndexLock(repo, patience):
        held = index_entries(repo, [change.path for change in changes])
        for change in changes:
            if held.get(change.path, NOTHING) in (change.before, change.after):
                _write_out(repo, [change])
            else:
                _write_file(repo, change)


def _move(repo: Repo, base: str | None, new: str) -> None:
    """Steps 3 and 4; the index lock is ours."""
    changes = repo.diff(base, new)
    attached = checked_out(repo)
    if attached and repo.index_seen is not None and _signature(repo) != repo.index_seen:
        raise MovedError("Somebody's git wrote the index meanwhile.", "neosian status")
    with _MainLock(repo, f"update {MAIN} {new} {base or NOTHING}", base) as main:
        if attached != checked_out(repo):
            raise MovedError("A checkout came between.", "neosian status")
        if attached:
            _write_out(repo, changes)
            _sign_index(repo)
        main.commit()
    Recent(repo).add(changes)


class _MainLock:
    """Git's own lock on main and HEAD, taken by a `git update-ref` child that has checked main's old value.

    ``commit`` makes the update; without it, or when this process dies, the child lets go and changes nothing.
    """

    def __init__(self, repo: Repo, instruction: str, base: str | None) -> None:
        self._repo = repo
        self._base = base
        self._refs = repo.start("update-ref", "-m", "neosian", "--stdin", timeout=10.0)
        self._instruction = instruction

    def __enter__(self) -> _MainLock:
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
            if ".lock" in error.detail:
                lock = error.detail.splitlines()[0]
                raise BusyError(f"Git holds a lock in {self._repo.path}: {lock}", "neosian status") from None
            raise


class Recent:
    """What landed lately: for each path the time, and its blobs in order, the one before the first landing first.

    A plain file of ours, read and written under the scope's lock.
    """

    def __init__(self, repo: Repo) -> None:
        self._path = os.path.join(repo.private, "recent")
        self.rows: dict[str, tuple[float, list[str]]] = {}
        for row in os.fsdecode(files.read(self._path) or b"").split("\0")[:-1]:
            head, _, path = row.partition("\n")
            at, *blobs = head.split(" ")
            self.rows[path] = (float(at), blobs)

    def add(self, changes: Iterable[Change]) -> None:
        """Remember one landing."""
        for change in changes:
            _, blobs = self.rows.get(change.path, (0.0, [change.before]))
            self.rows[change.path] = (time.time(), [*blobs[-100:], change.after])
        self._write()

    def prune(self, keep: Iterable[str]) -> None:
        """Forget what is old, but never the last landing: it tells whose index this is."""
        last = max((at for at, _ in self.rows.values()), default=0.0)
        kept = set(keep)
        before = min(last, time.time() - _REMEMBERED)
        old = [path for path, (at, _) in self.rows.items() if at < before and path not in kept]
        for path in old:
            del self.rows[path]
        if old:
            self._write()

    def _write(self) -> None:
        rows = (f"{at} {' '.join(blobs)}\n{path}\0" for path, (at, blobs) in self.rows.items())
        files.write(self._path, os.fsencode("".join(rows)))


def _look_again(repo: Repo, patience: float) -> tuple[str | None, dict[str, str]]:
    """Compare what landed lately with main, index and work tree; mend the last two, name what main lost."""
    recent = Recent(repo)
    tip = repo.tip()
    if tip is None or not recent.rows:
        return tip, {}
    lost = {}
    now = {}
    for path, (_, blobs) in recent.rows.items():
        entry = repo.entry(tip, path)
        now[path] = entry.id if entry else NOTHING
        if in_log(path) and now[path] != blobs[-1]:
            lost[path] = blobs[-1]
    stale, attached = _stale(repo, recent, now)
    if attached and stale:
        with _IndexLock(repo, patience), _MainLock(repo, f"verify {MAIN} {tip}", tip):
            if not checked_out(repo):
                raise MovedError("A checkout came between.", "neosian status")
            held = index_entries(repo, stale)
            changes = []
            for path in stale:
                blobs = recent.rows[path][1]
                here = work_tree_id(repo, path)
                if held.get(path, NOTHING) in blobs:
                    changes.append(Change("M", path, here if here in blobs else NOTHING, now[path]))
            _write_out(repo, changes, keep_logs=True)
    if attached:
        repo.index_seen = _signature(repo)
        recent.prune(lost)
    return tip, lost


def _stale(repo: Repo, recent: Recent, now: dict[str, str]) -> tuple[list[str], bool]:
    """Paths whose index entry is an earlier one than main's, and whether main is checked out.

    Where index and HEAD disagree a `git checkout` may be between its steps: it is given a moment.
    """
    if _is_as_we_left_it(repo):
        return [], checked_out(repo)
    until = time.monotonic() + _BETWEEN_STEPS
    while True:
        attached = checked_out(repo)
        held = index_entries(repo, list(recent.rows))
        behind = [path for path in recent.rows if held.get(path, NOTHING) != now[path]]
        stale = [path for path in behind if held.get(path, NOTHING) in recent.rows[path][1]]
        if attached != bool(stale) or time.monotonic() > until or merging(repo):
            return stale, attached
        time.sleep(0.01)


def _sign_index(repo: Repo) -> None:
    """Remember what git's index file looked like when we last wrote it."""
    files.write(os.path.join(repo.private, "index.seen"), repr(_signature(repo)).encode())


def _is_as_we_left_it(repo: Repo) -> bool:
    """Whether nobody's git wrote the index since we did: then it holds what landed, and is whole."""
    return files.read(os.path.join(repo.private, "index.seen")) == repr(_signature(repo)).encode()


def index_is_sound(repo: Repo) -> bool:
    """Whether git's index can be read."""
    return _is_as_we_left_it(repo) or repo.index_is_whole()


def _signature(repo: Repo) -> tuple[int, int, int]:
    try:
        found = os.stat(os.path.join(repo.git_dir, "index"))
    except OSError:
        return (0, 0, 0)
    return (found.st_mtime_ns, found.st_size, found.st_ino)


def _write_out(repo: Repo, changes: Iterable[Change], *, keep_logs: bool = False) -> None:
    """Work tree, then index, for these changes; a file that a person changed meanwhile stays as it is."""
    changes = list(changes)
    logs = [change for change in changes if in_log(change.path)]
    if not keep_logs and any(work_tree_id(repo, log.path) not in (log.before, log.after) for log in logs):
        # With the index ahead of the folder a person's `git commit -a` would take our lines away again.
        raise MovedError("A log was changed in the folder meanwhile.", "neosian status")
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
        # With its time: git takes an entry as old as the index file for one that may have changed since.
        times = os.stat(index)
        files.write(spare, held)
        os.utime(spare, ns=(times.st_atime_ns, times.st_mtime_ns))
    update = ("update-index", "--index-version", "4", "--add", "--remove", "-z")
    if written:
        listed = b"".join(os.fsencode(change.path) + b"\0" for change in written)
        repo.git(*update, "--stdin", input=listed, index=spare)
    if kept:
        rows = b"".join(_index_row(change) for change in kept)
        repo.git(*update, "--index-info", input=rows, index=spare)
    if os.path.exists(spare):
        os.replace(spare, index)


def _index_row(change: Change) -> bytes:
    mode = "0" if change.after == NOTHING else "100644"
    return f"{mode} {change.after}\t".encode() + os.fsencode(change.path) + b"\0"


def _write_file(repo: Repo, change: Change) -> bool:
    """Write one file of the work tree if it holds what we think it holds."""
    path = os.path.join(repo.path, change.path)
    here = work_tree_id(repo, change.path)
    if here not in (change.before, change.after):
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


def work_tree_id(repo: Repo, path: str) -> str:
    """The blob id of what lies in the folder at ``path``; NOTHING for no file, "" for what is no plain file."""
    full = os.path.join(repo.path, path)
    if os.path.islink(full) or os.path.isdir(full):
        return ""
    found = files.read(full)
    return NOTHING if found is None else object_id("blob", found)


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


# refs/neosian/next: a plain file of ours, touched only under the scope's lock


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


# locks


class _IndexLock:
    """Git's index lock, for as long as a `with` block."""

    def __init__(self, repo: Repo, patience: float) -> None:
        self._repo = repo
        self._patience = patience

    def __enter__(self) -> None:
        _lock_index(self._repo, self._patience)

    def __exit__(self, *_: object) -> None:
        files.remove(_index_lock(self._repo))


def _index_lock(repo: Repo) -> str:
    return os.path.join(repo.git_dir, "index.lock")


def _lock_index(repo: Repo, patience: float) -> None:
    """Take git's index lock. It is linked into place with our mark inside: made first and marked then, a killed
    maker would leave a lock that nobody can tell from a person's."""
    marked = os.path.join(repo.private, "index.mark")
    if files.read(marked) != _MARK:
        files.write(marked, _MARK)
    until = time.monotonic() + patience
    while True:
        try:
            os.link(marked, _index_lock(repo))
            return
        except FileExistsError:
            if _is_ours(repo):
                return  # of a writer that died: we hold the scope's lock, so no living one has it
            if time.monotonic() > until:
                raise BusyError(
                    f"Another git holds {_index_lock(repo)}; what was to land waits in the spool.",
                    "finish or abort the git command that is open there",
                ) from None
        time.sleep(0.01)


def _is_ours(repo: Repo) -> bool:
    return files.read(_index_lock(repo)) == _MARK


def _older_than_boot(path: str) -> bool:
    """Whether a lock was made before this machine started: its owner cannot live."""
    try:
        with open("/proc/uptime", encoding="ascii") as stream:
            booted = time.time() - float(stream.read().split()[0])
        return os.stat(path).st_mtime < booted - 60
    except (OSError, ValueError):
        return False


def _clear_ref_locks(repo: Repo) -> None:
    """Move aside ref locks that no living git can still hold: git keeps them for milliseconds.

    While `next` stands a writer of ours died on the way, and they are almost surely its own.
    """
    patience = _STALE_REF_LOCK if _next(repo) is None else _DEAD_REF_LOCK
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
