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

from neosian import files, gitlocks, taking
from neosian.errors import BrokenStoreError, BusyError, GitError, NeosianError
from neosian.gitlocks import IndexLock, MainLock, MovedError
from neosian.plumbing import MAIN, NOTHING, Change, Repo
from neosian.recent import Recent

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

LOGS = ("record", "sessions")
"""Top folders that only neosian writes: never adopted from a person."""

GIVEN_UP = "refs/neosian/given-up/"
"""Commits that a killed writer left and nobody could finish, each by its id."""

_UNDER_WAY = ("rebase-merge", "rebase-apply")
_MERGING = ("MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", *_UNDER_WAY)
_BETWEEN_STEPS = 0.1
_LEFT_BEHIND = 60.0
"""Seconds after which a file that was never put in its place is a dead writer's."""
_MOST_STEPS = 50
"""Commits of one landing that are looked at one by one."""


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
    gitlocks.set_next(repo, new)
    try:
        with IndexLock(repo, patience):
            _move(repo, base, new)
    except BusyError:
        gitlocks.set_next(
            repo, None
        )  # nothing was written yet; after any other error `recover` looks at what was
        raise
    gitlocks.set_next(repo, None)


def recover(
    repo: Repo, *, patience: float = 0.8, tell: Callable[[str], None] = lambda said: None
) -> tuple[str | None, dict[str, str]]:
    """Finish or take back what a killed writer left; the caller holds the scope's lock, so it is dead.

    What can never be finished is given up, so that it holds nothing else up: ``tell`` is told, and its commit kept.

    Then see to it that index and work tree hold what landed lately. Gives back the tip of main that was looked
    at, and what a commit from a stale index took out of it: the path of a log, and the blob it should hold.
    """
    repo.index_seen = None
    taking.settle(repo)
    files.forget(repo.private, _LEFT_BEHIND, (files.SPARE,))
    if gitlocks.older_than_boot(gitlocks.index_lock(repo)):
        files.remove(gitlocks.index_lock(repo))
    gitlocks.clear_ref_locks(repo)
    new = gitlocks.next_commit(repo)
    if new is not None:
        # A dead writer's index lock stays until this is done: else a person's commit would take half of it.
        _finish(repo, new, patience, tell)
    if gitlocks.is_ours(repo):
        files.remove(gitlocks.index_lock(repo))
    return _look_again(repo, patience)


def _finish(repo: Repo, new: str, patience: float, tell: Callable[[str], None]) -> None:
    tip = repo.tip()
    if repo.object(new) is None:
        gitlocks.set_next(repo, None)
    elif tip is None or (tip != new and repo.succeeds("merge-base", "--is-ancestor", tip, new)):
        try:
            with IndexLock(repo, patience):
                _move(repo, tip, new)
        except MovedError:
            if tip is None or repo.tip() != tip:
                raise  # in the next round what the dead writer wrote of it is taken back
            _take_back(repo, tip, new, tip, patience)
        except GitError as error:
            # What cannot be shown at all, such as a path that git refuses, must not stand in the way for ever.
            _give_up(repo, new, error, tell)
            raise
        except BrokenStoreError as error:  # it names what the repository does not hold
            _give_up(repo, new, error, tell)
            _take_back_what_can_be(repo, tip, new, patience)
        gitlocks.set_next(repo, None)
    else:
        base = repo.git("merge-base", tip, new, check=False).decode().strip()
        if base == new:  # main has it, perhaps under a person's commit: remember it as if we had lived
            parents = repo.parents(new)
            Recent(repo).add(repo.diff(parents[0] if parents else None, new))
        elif base not in (new, ""):
            _take_back(repo, base, new, tip, patience)
        gitlocks.set_next(repo, None)


def _give_up(repo: Repo, new: str, why: NeosianError, tell: Callable[[str], None]) -> None:
    """Let go of a commit that cannot land. A ref of its own keeps it for a person where all of it is there: one that
    names a broken commit would have git take the whole repository for a broken one."""
    told = f"A change in {repo.path} that was cut off cannot be finished, and is given up: {why}"
    if repo.succeeds("rev-list", "--objects", "--quiet", new, "--not", MAIN):
        repo.git("update-ref", f"{GIVEN_UP}{new}", new)
        told += f" It is kept as {GIVEN_UP}{new}."
    gitlocks.set_next(repo, None)
    tell(told)


def _take_back_what_can_be(repo: Repo, tip: str | None, new: str, patience: float) -> None:
    if tip is None:
        return
    try:
        _take_back(repo, tip, new, tip, patience)
    except BrokenStoreError:
        return  # what lies in the folder stays, as an edit that anybody may look at


def _take_back(repo: Repo, base: str, new: str, tip: str, patience: float) -> None:
    """Undo in work tree and index what a killed writer wrote of ``new``, which main will not take."""
    changes = []
    for change in repo.diff(base, new):
        entry = repo.entry(tip, change.path)
        changes.append(Change("M", change.path, change.after, entry.id if entry else NOTHING))
    if not checked_out(repo):
        return
    with IndexLock(repo, patience):
        held = index_entries(repo, [change.path for change in changes])
        for change in changes:
            if held.get(change.path, NOTHING) in (change.before, change.after):
                _write_out(repo, [change])
            else:
                _write_file(repo, change)
        taking.settle(repo)


def _move(repo: Repo, base: str | None, new: str) -> None:
    """Steps 3 and 4; the index lock is ours."""
    steps = _steps(repo, base, new)
    attached = checked_out(repo)
    if attached and repo.index_seen is not None and _signature(repo) != repo.index_seen:
        raise MovedError("Somebody's git wrote the index meanwhile.", "neosian status")
    with MainLock(repo, f"update {MAIN} {new} {base or NOTHING}", base) as main:
        if attached != checked_out(repo):
            raise MovedError("A checkout came between.", "neosian status")
        if attached:
            _write_out(repo, _in_one(repo, steps))
            _sign_index(repo)
        main.commit()
    Recent(repo).add(steps)


def _steps(repo: Repo, base: str | None, new: str) -> list[Change]:
    """What changed from ``base`` to ``new``, commit by commit; between commits of another kind what differs."""
    steps: list[Change] = []
    each = new
    for _ in range(_MOST_STEPS):
        above = next(iter(repo.parents(each)), None)
        steps = [*repo.diff(above, each), *steps]
        if above == base:
            return steps
        if above is None:
            break
        each = above
    return repo.diff(base, new)


def _in_one(repo: Repo, steps: list[Change]) -> list[Change]:
    """One change a path. Where the folder holds what a commit between says (an adopted edit), that is ``before``."""
    by_path: dict[str, list[Change]] = {}
    for step in steps:
        by_path.setdefault(step.path, []).append(step)
    changes = []
    for path, (first, *more) in by_path.items():
        last = more[-1] if more else first
        here = work_tree_id(repo, path) if more else ""
        before = here if here in [step.before for step in more] else first.before
        if not more or before != last.after:
            changes.append(Change(last.status, path, before, last.after, last.is_program))
    return changes


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
        with IndexLock(repo, patience), MainLock(repo, f"verify {MAIN} {tip}", tip):
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
    # Git read what lies there now: of a save just made the index must know nothing, or it would count as staged.
    kept += [change for change in written if not in_log(change.path) and _is_other(repo, change)]
    if kept:
        rows = b"".join(_index_row(change) for change in kept)
        repo.git(*update, "--index-info", input=rows, index=spare)
    if os.path.exists(spare):
        os.replace(spare, index)
    taking.settle(repo)


def _is_other(repo: Repo, change: Change) -> bool:
    return work_tree_id(repo, change.path) != change.after


def _index_row(change: Change) -> bytes:
    mode = "0" if change.after == NOTHING else "100755" if change.is_program else "100644"
    return f"{mode} {change.after}\t".encode() + os.fsencode(change.path) + b"\0"


def _write_file(repo: Repo, change: Change) -> bool:
    """Write one file of the work tree if it holds what we think it holds."""
    here = work_tree_id(repo, change.path)
    if here not in (change.before, change.after):
        return False
    if here == change.after:
        return True
    if not in_reach(repo, change.path):
        return False
    path = os.path.join(repo.path, change.path)
    if change.after == NOTHING:
        is_gone = files.remove(path) if in_log(change.path) else taking.remove(repo, change)
        _remove_empty(repo, os.path.dirname(path))
        return is_gone
    body = repo.object(change.after)
    if body is None or body[0] != "blob":
        raise BrokenStoreError(f"{change.path} of {repo.path} cannot be read.", "neosian status")
    files.make_dir(os.path.dirname(path))
    mode = files.PRIVATE_FILE | (0o100 if change.is_program else 0)
    if not in_log(change.path):
        return taking.put(repo, change, body[1], mode)
    files.write(path, body[1], scratch=repo.private, mode=mode)
    return True


def in_reach(repo: Repo, path: str) -> bool:
    """Whether the folder of a path is the scope's own, or can be made: no link leads out, no file is in the way."""
    folder = os.path.dirname(os.path.join(os.path.realpath(repo.path), path))
    if os.path.realpath(folder) != os.path.normpath(folder):
        return False
    while not os.path.lexists(folder):
        folder = os.path.dirname(folder)
    return os.path.isdir(folder)


def _remove_empty(repo: Repo, folder: str) -> None:
    """Remove a folder and those above it that hold nothing any more, as git does."""
    try:
        while folder != repo.path:
            os.rmdir(folder)
            folder = os.path.dirname(folder)
    except OSError:
        return  # something is in it


def work_tree_id(repo: Repo, path: str) -> str:
    """The blob id of what lies in the folder at ``path``; NOTHING for no file, "" for what is no plain file or
    cannot be read."""
    return taking.file_id(os.path.join(repo.path, path))


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
