"""What the start of a session and a prompt have in common: which scopes the session sees, which of two hook lines
answers, and the keeping of what was told."""

from __future__ import annotations

import os
import sys
import time

from neosian import fastjson, files, places, projects
from neosian.context import Mount
from neosian.errors import NeosianError
from neosian.index import Index
from neosian.spool import header, told_mark

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from neosian.config import Config
    from neosian.context import Block
    from neosian.events import Event
    from neosian.mounts import Layout
    from neosian.places import Place
    from neosian.spool import Entry, Spool

_ANSWERED_FOR = 5.0
_PATIENCE, _LEAST = 0.5, 0.05  # seconds to wait for writers of indexes: of all together, and of each at least


def seen_by(home: str, settings: Config, event: Event) -> tuple[Layout, Place | None]:
    """What an event's session sees, and where its turns lie if one has landed: that is where they go on."""
    seen = places.layout_of(home, settings, event)
    if seen.root is not None:
        projects.follow_rename(home, projects.find(home, seen.root))
    place = places.find_place(home, event.client, event.session, search=False)
    if place is not None and place.scope != seen.turns:
        for mount in seen.mounts:
            if mount.scope == seen.turns:
                mount.scope = place.scope
        seen.turns = place.scope
    return seen, place


class Mounts:
    """The mounts of a layout with their indexes open and caught up, for a `with`.

    ``commits`` is how many may be read to catch up (None: all there are); scopes that are further behind are in
    ``behind``. Nothing is written but the indexes, which are caches.
    """

    def __init__(self, home: str, seen: Layout, commits: int | None = 50) -> None:
        self.behind: list[str] = []
        self.turns_at = next(mount.path for mount in seen.mounts if mount.scope == seen.turns)
        self._home = home
        self._seen = seen
        self._commits = commits
        self._opened: list[Mount] = []

    def __enter__(self) -> list[Mount]:
        until = time.monotonic() + _PATIENCE
        try:
            for mount in self._seen.mounts:
                store = projects.open_store(self._home, mount.scope)
                index = Index.open(store.cache, max(_LEAST, until - time.monotonic()))
                self._opened.append(Mount(mount.path, store, index))
                if store.exists and not index.catch_up(store.repo, self._commits):
                    self.behind.append(mount.scope)
        except BaseException:
            self.__exit__()
            raise
        return self._opened

    def __exit__(self, *_: object) -> None:
        for mount in self._opened:
            mount.index.close()
            mount.store.repo.close()


def own_command() -> str:
    """How the agent can run neosian: by name where its PATH has it, else by where this installation lies."""
    for folder in os.environ.get("PATH", "").split(os.pathsep):
        if os.access(os.path.join(folder, "neosian"), os.X_OK):
            return "neosian"
    beside = os.path.join(os.path.dirname(sys.executable), "neosian")
    return beside if os.access(beside, os.X_OK) else f"{sys.executable} -m neosian"


def first_to_answer(home: str, entry: Entry) -> bool:
    """Of two hook lines (user and project level) with the same event only one answers; the same line twice does."""
    from neosian.plumbing import object_id

    said = fastjson.dumps(entry.payload, sort_keys=True).encode("utf-8", "replace")
    folder = os.path.join(home, "cache", "answered")
    path = os.path.join(folder, object_id("blob", said))
    mine = f"{entry.spooled.client} {entry.spooled.level}".encode("utf-8", "surrogateescape")
    try:
        files.make_dir(folder)
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, files.PRIVATE_FILE)
    except FileExistsError:
        if time.time() - os.stat(path).st_mtime < _ANSWERED_FOR:
            return files.read(path) == mine
        files.write(path, mine)
        return True
    except OSError:
        return True  # a home that cannot be written still answers
    os.write(handle, mine)
    os.close(handle)
    files.forget(folder, 60.0)
    return True


def keep(
    home: str, spool: Spool, event: Event, block: Block, seen: Layout, kind: str, source: str | None = None
) -> None:
    """Spool the words that the session was told, for the turn that the event belongs to.

    ``kind``: the block of a start, or what a prompt brought to mind; ``source``: the start's.
    """
    store = projects.open_store(home, seen.turns)
    try:
        commit = store.repo.tip() if store.exists else None
        payload: dict[str, Any] = {"session_id": event.session, "prompt_id": event.prompt_id, "event": kind,
                   "source": source, "commit": commit, "text": block.text, "shown": block.shown,
                   "listed": block.listed}  # fmt: skip
        head = header(
            event.client, "context", event.level, event.cwd, {"CLAUDE_PROJECT_DIR": event.root or ""}
        )
        said = fastjson.dumps(payload, ensure_ascii=False).encode("utf-8", "replace")
        spool.put(head, said, told_mark(event.client, event.session))
    except (OSError, NeosianError) as error:
        files.log(os.path.join(home, "log", "neosian.log"), f"{kind}: what was told is not kept: {error}")
