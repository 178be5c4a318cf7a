"""Which agent changed a file: whose own tool call names it and ran when it was changed."""

from __future__ import annotations

import os

from neosian import journal, turns
from neosian.calls import touched_by, touched_paths

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from neosian.events import Event

    Touch = tuple[str, float, float, str]
    """A path that a call names, when the call began and ended, and the actor."""

_BEFORE, _AFTER = 1.0, 2.0
"""Seconds by which a file's time may lie outside its call: clocks of file systems are coarse."""

_LATELY = 20
"""Landings of each scope whose calls are looked at: a change is mostly found at the very next landing."""


class Touches:
    """The calls of waiting events, each with its actor, and (read when asked for) those that landed last."""

    def __init__(self, events: Iterable[tuple[Event, str]], landed: journal.Journal) -> None:
        self._waiting = [touch for event, actor in events for touch in _of_event(event, actor)]
        self._journal = landed

    def named_by(self, path: str, changed: float) -> str | None:
        """The actor whose call names the absolute ``path`` and ran at ``changed`` (seconds since 1970)."""
        for named, began, ended, actor in self._all():
            if named == path and began - _BEFORE <= changed <= ended + _AFTER:
                return actor
        return None

    def below(self, folder: str) -> set[str]:
        """The first name below ``folder`` of each path that a waiting call names."""
        inside = (path for path, *_ in self._waiting if path.startswith(folder + os.sep))
        return {path[len(folder) + 1 :].partition(os.sep)[0] for path in inside}

    def _all(self) -> Iterator[Touch]:
        yield from self._waiting
        for folder in self._journal.scopes():
            for path in self._journal.kept(folder)[-_LATELY:]:
                note = journal.read(path)
                yield from _of_lines(turns.parse_lines(b"".join(note.lines))[0]) if note else ()


def _of_event(event: Event, actor: str) -> Iterator[Touch]:
    took = (event.data.get("ms") or 0) / 1000
    for path in touched_by(event):
        yield os.path.realpath(path), event.at - took, event.at, actor


def _of_lines(lines: list[turns.Line]) -> Iterator[Touch]:
    header = next((line for line in lines if line["kind"] == "turn"), {})
    actor = f"{header.get('actor')}#{header.get('turn')}"
    ends = {line.get("call"): turns.seconds(line["at"]) for line in lines if line["kind"] == "tool_result"}
    for line in lines:
        if line["kind"] == "tool_call":
            began = turns.seconds(line["at"])
            for path in touched_paths(line, str(line.get("cwd") or header.get("cwd") or "")):
                yield os.path.realpath(path), began, ends.get(line.get("call"), began), actor
