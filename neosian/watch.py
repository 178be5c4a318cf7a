"""Watching: adoption as soon as a save has settled, instead of at the next landing. Nothing depends on it.

What the system says of a changed folder is only a nudge: some scope may be worth a look. What changed there, and whose
it is, `neosian.adopt` finds out as ever. So a nudge too many costs a look and one too few a delay: every ten seconds
all scopes are looked at anyway, by the times of their files.
"""

from __future__ import annotations

import logging
import os
import queue
import time
from collections.abc import Iterable, Iterator

from watchdog.events import (
    DirCreatedEvent,
    DirDeletedEvent,
    DirMovedEvent,
    FileClosedEvent,
    FileCreatedEvent,
    FileDeletedEvent,
    FileModifiedEvent,
    FileMovedEvent,
    FileSystemEvent,
    FileSystemEventHandler,
)
from watchdog.observers import Observer
from watchdog.observers.api import ObservedWatch

from neosian import adopt, commits, files, projects, scope
from neosian.adopting import Adopter
from neosian.commits import Commit
from neosian.errors import NeosianError
from neosian.publish import LOGS
from neosian.store import Store

QUIET = adopt.SETTLED + 0.2
"""Seconds after a nudge when its scope is looked at: by then the save has settled."""

_TICK, _POLL = 10.0, 1.0
"""Seconds between two looks around, with the system's nudges and without."""
_RARELY, _SOON = 60.0, 5.0
"""Seconds between two tries at most, with nudges and without, where something cannot be adopted yet."""
_PATIENCE = 0.5
_NUDGES: list[type[FileSystemEvent]] = [
    DirCreatedEvent, DirDeletedEvent, DirMovedEvent, FileClosedEvent, FileCreatedEvent, FileDeletedEvent,
    FileModifiedEvent, FileMovedEvent,
]  # fmt: skip
"""What counts as a change. Opening and reading do not, else each look of ours would call for the next."""

_Key = tuple[str, bool, int]
"""A folder that is followed: its path, whether with all that is in it, and its inode."""

_AROUND, _END = "", "\0"
"""What is in the queue beside names of scopes: folders came or went or nudges were lost; `Watcher.stop`."""


class Adopted:
    """One commit that a look made: ``at`` in seconds since 1970, ``paths`` what it changed."""

    __slots__ = ("actor", "at", "commit", "paths", "scope", "subject")

    def __init__(self, scope: str, commit: Commit) -> None:
        self.scope = scope
        self.at = commit.at
        self.commit = commit.id
        self.actor = commit.actor
        self.subject = commit.subject
        self.paths = [path for _, path, _ in commit.changes]


class Trouble:
    """What keeps edits from being adopted, in a sentence, and the next command to try. Told once; tried again."""

    __slots__ = ("hint", "what")

    def __init__(self, what: str, hint: str) -> None:
        self.what = what
        self.hint = hint


class Watcher:
    """Watches all scopes of a home, or those named, whether they are there already or not."""

    def __init__(self, home: str, scopes: Iterable[str] = ()) -> None:
        self._home = home
        self._named = frozenset(map(scope.disk_name, scopes))
        self._woken: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._watched: dict[str, _Watched] = {}
        self._nudges: _Nudges | None = None
        self._around = 0.0

    @property
    def scopes(self) -> list[str]:
        """The scopes that are watched now."""
        return sorted(each.store.scope for each in self._watched.values())

    def stop(self) -> None:
        """Have `news` end when what it is doing is done; fit for a signal handler."""
        self._woken.put(_END)

    def news(self) -> Iterator[Adopted | Trouble | None]:
        """What is adopted as it happens, and None each time that is all for the moment; ends with `stop`."""
        lost = _LostNudges(self._woken)
        logging.getLogger("watchdog").addHandler(lost)
        try:
            yield from self._listen()
            while True:
                if time.monotonic() >= self._around:
                    yield from self._look_around()
                for each in self._watched.values():
                    if each.due <= time.monotonic():
                        yield from each.look(self._home, _RARELY if self._nudges else _SOON)
                yield None
                woken = self._wait()
                if _END in woken:
                    return
                self._take(woken)
        finally:
            logging.getLogger("watchdog").removeHandler(lost)
            if self._nudges:
                self._nudges.close()

    def _listen(self) -> Iterator[Trouble]:
        try:
            self._nudges = _Nudges(self._woken)
        except (OSError, RuntimeError) as error:
            yield _no_nudges(error)

    def _look_around(self) -> Iterator[Trouble]:
        """Take in what scopes and folders there are now, and plan a look where times of files say so."""
        there = {scope.disk_name(store.scope): store for store in projects.stores(self._home)}
        self._watched = {
            name: self._watched.get(name) or _Watched(store)
            for name, store in there.items()
            if not self._named or name in self._named
        }
        if self._nudges:
            try:
                self._nudges.follow(os.path.join(self._home, "scopes"), self._named)
            except (OSError, RuntimeError) as error:
                self._nudges.close()
                self._nudges = None
                yield _no_nudges(error)
        self._around = time.monotonic() + (_TICK if self._nudges else _POLL)
        for each in self._watched.values():
            each.glance()

    def _wait(self) -> set[str]:
        """Wait for a nudge, or until something is due; all nudges that came."""
        until = min([self._around, *(each.due for each in self._watched.values())])
        woken = set()
        try:
            woken.add(self._woken.get(timeout=max(0.0, until - time.monotonic())))
            while True:
                woken.add(self._woken.get_nowait())
        except queue.Empty:
            return woken

    def _take(self, woken: set[str]) -> None:
        if _AROUND in woken:
            self._around = 0.0
        for name in woken & self._watched.keys():
            self._watched[name].touch()


class _Watched:
    """One scope: when it is to be looked at (``due``, on the monotonic clock), and what was told of it."""

    __slots__ = ("_again", "_said", "_touched", "_waiting", "due", "store")

    def __init__(self, store: Store) -> None:
        self.store = store
        self.due = float("inf")
        self._again = QUIET
        self._touched = 0.0
        self._said = ""
        self._waiting: set[str] = set()

    def touch(self) -> None:
        """Something may have changed just now."""
        self._touched = time.monotonic()
        self._again = QUIET
        self.due = min(self.due, self._touched + QUIET)

    def glance(self) -> None:
        """Be due where the times of files say that something changed, unless a look is planned already."""
        if self.due == float("inf") and self._is_time():
            self._again = QUIET
            self.due = time.monotonic()

    def look(self, home: str, rarely: float) -> Iterator[Adopted | Trouble]:
        """Adopt what has settled, and plan the next look: after what came meanwhile, else ever more rarely while
        something is left (which is so for a moment after each adoption: then the look finds that nothing is)."""
        failed = ""
        try:
            yield from self._adopt(home)
        except Exception as error:  # one scope must not stop the others
            trouble = _trouble(home, error)
            failed = trouble.what
            if failed != self._said:
                yield trouble
        self._said = failed
        now = time.monotonic()
        if self._touched + QUIET > now:
            self.due = self._touched + QUIET
        elif failed or self._is_time():
            self.due = now + self._again
            self._again = min(self._again * 2, rarely)
        else:
            self.due = float("inf")

    def _adopt(self, home: str) -> Iterator[Adopted | Trouble]:
        store = self.store
        before = store.repo.tip()
        if Adopter(home).adopt_now(store, patience=_PATIENCE):
            try:
                made = commits.since(store.repo, before, store.repo.tip() or "", None) or []
            finally:
                store.repo.close()
            for commit in reversed(made):
                if commit.act == "edit" and commit.actor != "neosian":
                    yield Adopted(store.scope, commit)
        waiting = adopt.waiting(store.repo)
        new = sorted(waiting.keys() - self._waiting)
        self._waiting = set(waiting)
        for path in new:
            yield Trouble(*adopt.told_waiting(store.repo, path, waiting[path]))

    def _is_time(self) -> bool:
        try:
            return adopt.is_time(self.store.repo)
        except (NeosianError, OSError):
            return True  # the look tells


def _trouble(home: str, error: Exception) -> Trouble:
    if isinstance(error, NeosianError):
        return Trouble(f"{error} It is tried again.", error.hint)
    if isinstance(error, OSError):
        where = f" ({error.filename})" if error.filename else ""
        return Trouble(f"{error.strerror or error}{where}. It is tried again.", "neosian status")
    import traceback

    files.log(
        os.path.join(home, "log", "neosian.log"), "watch: " + " | ".join(traceback.format_exception(error))
    )
    return Trouble(f"{type(error).__name__}: {error}. It is tried again.", "neosian status")


def _no_nudges(error: Exception) -> Trouble:
    why = error.strerror if isinstance(error, OSError) else str(error)
    return Trouble(
        f"The system watches no more folders ({why}), so they are looked at every second instead.",
        "sysctl fs.inotify.max_user_instances fs.inotify.max_user_watches",
    )


class _Nudges:
    """The system's nudges: each puts the name of its scope's folder into the queue."""

    def __init__(self, woken: queue.SimpleQueue[str]) -> None:
        self._woken = woken
        self._gone: set[str] = set()
        self._followed: dict[_Key, ObservedWatch] = {}
        self._observer = Observer()
        self._observer.start()

    def follow(self, scopes: str, named: Iterable[str]) -> None:
        """Follow the folder of all scopes, each scope's own, and wholly each folder of documents in it: neither git's
        nor the logs'. Raises OSError where a limit of the system is reached.
        """
        wanted = {_key(scopes, False): _Handler(self, "", scopes)}
        for name in named or files.names(scopes):
            root = os.path.realpath(os.path.join(scopes, name))
            handler = _Handler(self, name, root)
            wanted |= {_key(root, False): handler}
            wanted |= {_key(folder, True): handler for folder in _document_folders(root)}
        gone = {self._gone.pop() for _ in range(len(self._gone))}
        for key in [key for key in self._followed if key not in wanted or key[0] in gone]:
            self._drop(key)
        new = wanted.keys() - self._followed.keys()
        for key in new:
            self._add(key, wanted[key])
        if new:
            # Once more and last: of folders that were left out for want of watches no error tells but this one's.
            self._drop(_key(scopes, False))
            self._add(_key(scopes, False), wanted[_key(scopes, False)])

    def close(self) -> None:
        """Let go of all folders."""
        self._observer.stop()
        self._observer.join()

    def heard(self, event: FileSystemEvent, name: str, root: str) -> None:
        """Called in a thread of the observer for each event in a scope's folder."""
        if event.is_directory:
            self._gone.add(os.fsdecode(event.src_path))
            self._woken.put(_AROUND)
        paths = [os.fsdecode(path) for path in (event.src_path, event.dest_path) if path]
        if name and any(_may_matter(os.path.relpath(path, root)) for path in paths):
            self._woken.put(name)

    def _add(self, key: _Key, handler: _Handler) -> None:
        path, whole, _ = key
        try:
            self._followed[key] = self._observer.schedule(
                handler, path, recursive=whole, event_filter=_NUDGES
            )
        except FileNotFoundError:
            pass  # not there, or no more

    def _drop(self, key: _Key) -> None:
        if key in self._followed:
            self._observer.unschedule(self._followed.pop(key))


class _Handler(FileSystemEventHandler):
    """Says of each event which scope's folder it was in."""

    def __init__(self, nudges: _Nudges, name: str, root: str) -> None:
        self._nudges = nudges
        self._name = name
        self._root = root

    def on_any_event(self, event: FileSystemEvent) -> None:
        self._nudges.heard(event, self._name, self._root)


class _LostNudges(logging.Handler):
    """Hears of what the observer only logs, such as nudges that came too fast to be kept: then all is looked at."""

    def __init__(self, woken: queue.SimpleQueue[str]) -> None:
        super().__init__(logging.WARNING)
        self._woken = woken

    def emit(self, record: logging.LogRecord) -> None:
        self._woken.put(_AROUND)


def _key(folder: str, whole: bool) -> _Key:
    """What tells a followed folder apart from another that took its place."""
    try:
        return folder, whole, os.stat(folder).st_ino
    except OSError:
        return folder, whole, 0


def _document_folders(root: str) -> list[str]:
    """The folders in a scope's own that may hold documents."""
    try:
        with os.scandir(root) as entries:
            return [
                entry.path
                for entry in entries
                if _may_matter(entry.name) and entry.is_dir(follow_symlinks=False)
            ]
    except OSError:
        return []


def _may_matter(path: str) -> bool:
    """Whether a path inside a scope may be worth a look: not git's, no log, no editor's spare file or lock."""
    parts = path.split(os.sep)
    name = parts[-1]
    is_spare = name.startswith(("#", "~")) or name.endswith(("~", ".swp", ".tmp")) or name == "4913"
    return parts[0] not in LOGS and not is_spare and not any(part.startswith(".") for part in parts)
