"""What was landed and could still be lost: one synced file a landing, named by its commit.

A file is a JSON line that says where the turn belongs and which spooled events it was made of, then the turn's log
lines. It lies in `spool/landing/` until main is known to hold the commit (the events may go then), and in
`spool/landed/<scope>/` until a pack holds the commit: git's own loose objects are not synced one by one.
"""

from __future__ import annotations

import os

from neosian import fastjson, files, turns

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any


class Note:
    """One landing: ``scope`` and ``day`` of the conversation, ``raw`` names of its events, its log lines."""

    __slots__ = ("client", "day", "lines", "raw", "scope", "session", "turn")

    def __init__(
        self, *, scope: str, day: str, client: str, session: str, turn: int, raw: Iterable[str], lines: list[bytes]
    ) -> None:  # fmt: skip
        self.scope = scope
        self.day = day
        self.client = client
        self.session = session
        self.turn = turn
        self.raw = list(raw)
        self.lines = lines


class Journal:
    """The two folders: what is on the way lies in the spool that it came from, what landed in the home's."""

    def __init__(self, spool: str, home: str) -> None:
        self._landing = os.path.join(spool, "landing")
        self._landed = os.path.join(home, "spool", "landed")

    def begin(self, commit: str, note: Note) -> None:
        """Have a landing on disk before its commit is made."""
        head = {name: getattr(note, name) for name in Note.__slots__ if name != "lines"}
        text = turns.dumps(head) + b"".join(note.lines)
        files.make_dir(self._landing)
        files.write(os.path.join(self._landing, commit), text, sync=True)

    def drop(self, commit: str) -> None:
        """Forget a landing whose commit was not made."""
        files.remove(os.path.join(self._landing, commit))

    def unfinished(self) -> list[tuple[str, Note | None]]:
        """Landings of which it is not known whether main has them; None for a file that is torn."""
        return [(name, read(os.path.join(self._landing, name))) for name in files.names(self._landing)]

    def finish(self, commit: str, scope_folder: str) -> None:
        """Keep a landing that main has until it is packed."""
        folder = os.path.join(self._landed, scope_folder)
        files.make_dir(folder)
        os.replace(os.path.join(self._landing, commit), os.path.join(folder, commit))

    def kept(self, scope_folder: str) -> list[str]:
        """Paths of what landed in a scope since its last pack, oldest first."""
        folder = os.path.join(self._landed, scope_folder)
        paths = [os.path.join(folder, name) for name in files.names(folder)]
        return sorted(paths, key=_changed)

    def scopes(self) -> list[str]:
        """Scope folders of which something is kept."""
        return files.names(self._landed)


def read(path: str) -> Note | None:
    """One landing; None when its file is torn or gone."""
    head, _, rest = (files.read(path) or b"").partition(b"\n")
    try:
        said: dict[str, Any] = fastjson.loads(head)
        return Note(
            scope=str(said["scope"]), day=str(said["day"]), client=str(said["client"]), session=str(said["session"]),
            turn=int(said["turn"]), raw=map(str, said["raw"]), lines=rest.splitlines(keepends=True),
        )  # fmt: skip
    except (ValueError, KeyError, TypeError):
        return None


def _changed(path: str) -> int:
    try:
        return os.stat(path).st_mtime_ns
    except OSError:
        return 0
