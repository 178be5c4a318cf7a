"""What a session still has before its eyes: what it was told, and which of its own turns, since it was last compacted.

The truth is in the session's log and, for what has not landed, in the spool. Only the log's end is read: what stands
before that many segments fits into no client's window.
"""

from __future__ import annotations

import os

from neosian import files, publish, turns
from neosian.draft import Draft
from neosian.places import segments_among

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from neosian.spool import Spool
    from neosian.store import Store

_SEGMENTS = 64  # of 64 KiB each
_EVERY = 1 << 53
_KINDS, _MARK = ("context", "compact"), b'"kind":"co'


class Window:
    """``shown``: documents and turns (`conversation#turn`) that the session was told whole. Of its own turns those
    below ``gone`` are in the window no more."""

    __slots__ = ("gone", "shown")

    def __init__(self) -> None:
        self.shown: set[str] = set()
        self.gone = 0

    def take(self, said: Mapping[str, object], turn: int) -> None:
        """Fold in a `context` or `compact` line, or what is to become one."""
        if _empties(said):
            self.shown.clear()
            self.gone = turn
        shown = said.get("shown")
        self.shown.update(filter(_is_text, shown if isinstance(shown, list) else ()))


def look(store: Store, spool: Spool, client: str, session: str, day: str | None) -> Window:
    """The window of a session whose log is in ``store`` below ``day`` (None: nothing of it has landed)."""
    # The spool first: what lands in between is then seen twice, and not missed.
    waiting = spool.told(client, session)
    window = Window()
    for line in _landed(store, client, session, day) if day else ():
        window.take(line, line["turn"])
    for said in waiting:
        window.take(said, _EVERY)
    return window


def _empties(said: Mapping[str, object]) -> bool:
    """Whether the client threw its window away here: before it is told anew, so that what follows counts."""
    return said.get("source") == "compact" or (
        said.get("kind") == "compact" and said.get("event") == "before"
    )


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _landed(store: Store, client: str, session: str, day: str) -> list[turns.Line]:
    """The lines of the log that tell of the window, from the last compaction on."""
    folder = f"record/{day}"
    names, read = _log(store, folder)
    found: list[turns.Line] = []
    for name in reversed(segments_among(names, client, session)[-_SEGMENTS:]):
        rows = b"\n".join(_rows(read(f"{folder}/{name}") or b""))
        lines = [line for line in turns.parse_lines(rows)[0] if line["kind"] in _KINDS]
        found += lines
        if any(map(_empties, lines)):
            break
    store.repo.close()
    return sorted(found, key=lambda line: (line["turn"], line["n"]))


def _rows(data: bytes) -> Iterator[bytes]:
    """The rows of a segment that may be of these kinds; a log is written without a blank behind its colons."""
    at = data.find(_MARK)
    while at >= 0:
        end = data.find(b"\n", at)
        end = len(data) if end < 0 else end
        yield data[data.rfind(b"\n", 0, at) + 1 : end]
        at = data.find(_MARK, end)


def _log(store: Store, folder: str) -> tuple[list[str], Callable[[str], bytes | None]]:
    """The names in a folder of logs, and how to read one: from the work tree where that shows main, else from git."""
    if publish.checked_out(store.repo):
        names = files.names(os.path.join(store.path, folder))
        return names, lambda path: files.read(os.path.join(store.path, path))
    draft = Draft(store.repo, store.repo.tip())
    return list(draft.folder(folder)), draft.read
