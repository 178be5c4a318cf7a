"""Which agent changed a file: whose own tool call names it and ran when it was changed."""

from __future__ import annotations

import os
import time

from neosian import journal, turns
from neosian.adopt import SETTLED
from neosian.calls import touched_by, touched_paths
from neosian.events import FLAG_SEPARATOR
from neosian.mounts import flag_values

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from neosian.events import Event

    Touch = tuple[str, float, float, str]
    """A path that a call names, when the call began and ended, and the actor."""

_BEFORE, _AFTER = 1.0, 2.0
"""Seconds by which a file's time may lie outside its call: clocks of file systems are coarse."""

_LONGEST_CALL = 600.0
"""Seconds for which a call without a result is taken to run: its client may be gone."""

_TURN_ENDS = ("prompt", "stop", "failure", "end")

_LATELY = 20
"""Landings of each scope whose calls are looked at: a change is mostly found at the very next landing."""


def actor(event: Event) -> str:
    """Who acts in a session: the client, or the agent that the hook line names."""
    named = flag_values(event.level.split(FLAG_SEPARATOR), "--agent")
    return f"{named[-1] if named else event.client}:{event.session}"


class Touches:
    """The calls of waiting events, each with its actor, and (read when asked for) those that landed last."""

    def __init__(self, events: Iterable[tuple[Event, str]], landed: journal.Journal) -> None:
        waiting = list(events)
        self._waiting = [touch for event, actor in waiting for touch in _of_event(event, actor)]
        running = _running([event for event, _ in waiting])
        self._running = [
            touch for event, actor in waiting if event in running for touch in _of_event(event, actor)
        ]
        self._journal = landed

    def named_by(self, path: str, changed: float) -> str | None:
        """The actor whose call names the absolute ``path`` and ran at ``changed`` (seconds since 1970)."""
        for named, began, ended, actor in self._all():
            if named == path and began - _BEFORE <= changed <= ended + _AFTER:
                return actor
        # While a call runs, what it has just written may be half of it.
        until = time.time() - SETTLED
        for named, began, _, actor in self._running:
            if named == path and began <= changed <= min(until, began + _LONGEST_CALL):
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


def _running(events: list[Event]) -> list[Event]:
    """The calls among some events that have begun and, for all that the events say, not ended."""
    ended = {event.call for event in events if event.kind == "result"}
    ended |= {call["call"] for event in events if event.kind == "batch" for call in event.data["calls"]}
    over: dict[tuple[str, str], list[Event]] = {}
    for event in events:
        if event.kind in _TURN_ENDS and not event.agent:
            over.setdefault((event.client, event.session), []).append(event)
    return [
        event
        for event in events
        if event.kind == "call"
        and event.call not in ended
        and not any(_is_over(event, end) for end in over.get((event.client, event.session), ()))
    ]


def _is_over(call: Event, end: Event) -> bool:
    """Whether an event ends the turn of a call; a prompt that was only queued meanwhile has the turn's own id."""
    return end.at > call.at and not (end.kind == "prompt" and end.prompt_id == call.prompt_id)


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
