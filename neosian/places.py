"""Where a conversation's turns lie: its scope and its day, both fixed at its first event."""

from __future__ import annotations

import os
import time

from neosian import fastjson, files, projects, scope
from neosian.errors import BrokenStoreError, GitError, UsageError
from neosian.events import FLAG_SEPARATOR
from neosian.mounts import Layout, layout

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from neosian.config import Config
    from neosian.events import Event
    from neosian.store import Store


class Place:
    """A conversation's scope, its day as `YYYY-MM/DD`, and the project's root if this machine just saw it."""

    __slots__ = ("day", "root", "scope")

    def __init__(self, scope: str, day: str, root: str | None = None) -> None:
        self.scope = scope
        self.day = day
        self.root = root

    def remember(self, home: str, client: str, session: str) -> None:
        """Keep it in the cache; a cache that cannot be written only costs time."""
        try:
            path = _cached(home, client, session)
            said = fastjson.dumps({"scope": self.scope, "day": self.day}).encode()
            if files.read(path) != said:
                files.make_dir(os.path.dirname(path))
                files.write(path, said)
        except OSError:
            pass


def machine(home: str) -> str:
    """This writer's four hex digits, made once and kept in the home."""
    path = os.path.join(home, "machine")
    said = (files.read(path) or b"").decode("ascii", "replace").strip()
    if len(said) == 4 and not said.strip("0123456789abcdef"):
        return said
    said = os.urandom(2).hex()
    files.make_dir(home)
    files.write(path, said.encode() + b"\n")
    return said


def segment_suffix(client: str, session: str) -> str:
    """How the names of a conversation's segments end, after `NNNNN-<machine>`."""
    return f"-{client}-{scope.disk_name(session)}.jsonl"


def segments_among(names: Iterable[str], client: str, session: str) -> list[str]:
    """Of these file names those of a conversation's segments, of any machine, in the order of their first turns."""
    suffix = segment_suffix(client, session)
    size = len(suffix)
    found = [name for name in names if name.endswith(suffix)]
    return sorted(name for name in found if name[:-size].count("-") == 1 and name.partition("-")[0].isdigit())


def find_place(home: str, client: str, session: str, *, search: bool = True) -> Place | None:
    """Where a conversation lies: from the cache, else (with ``search``) by looking through every scope."""
    try:
        said = fastjson.loads(files.read(_cached(home, client, session)) or b"null")
        there = isinstance(said, dict) and projects.open_store(home, scope.check(str(said["scope"]))).exists
        if there and _is_day(str(said["day"])):  # anybody may write into a cache
            return Place(str(said["scope"]), str(said["day"]))
    except (ValueError, KeyError, UsageError):
        pass
    for store in projects.stores(home) if search else ():
        day = day_in(store, client, session)
        if day:
            return Place(store.scope, day)
    return None


def _is_day(text: str) -> bool:
    digits = text[:4] + text[5:7] + text[8:]
    return len(text) == 10 and text[4] + text[7] == "-/" and digits.isascii() and digits.isdigit()


def new_place(home: str, settings: Config, first: Event) -> Place:
    """Where a conversation goes whose first event this is."""
    seen = layout_of(home, settings, first)
    if seen.root is not None:
        projects.follow_rename(home, projects.find(home, seen.root))
    return Place(seen.turns, time.strftime("%Y-%m/%d", time.localtime(first.at)), seen.root)


def layout_of(home: str, settings: Config, event: Event) -> Layout:
    """The mounts of an event's session: from its hook line's flags, else from the client's project or directory."""
    flags = event.level.split(FLAG_SEPARATOR) if event.level else []
    return layout(home, event.root or event.cwd or home, settings, flags)


def _cached(home: str, client: str, session: str) -> str:
    return os.path.join(home, "cache", "conversations", scope.disk_name(f"{client}:{session}"))


def day_in(store: Store, client: str, session: str) -> str | None:
    """The day of a conversation in one scope, found by looking through its log; None when it is not there."""
    try:
        tip = store.repo.tip()
        days = (
            {path.rpartition("/")[2]: path.split("/")[1:3] for path, _ in store.repo.ls(tip, "record/")}
            if tip
            else {}
        )
        for name in segments_among(days, client, session):
            return "/".join(days[name])
    except (BrokenStoreError, GitError):
        return None  # a damaged scope is mended when something is to land in it
    finally:
        store.repo.close()
    return None
