"""A prompt that is about something: what the session is told with it, from the scopes that it sees, nothing twice."""

from __future__ import annotations

import time

from neosian import places, window
from neosian.reminder import reminder
from neosian.telling import Mounts, first_to_answer, keep, own_command, seen_by

TYPE_CHECKING = False
if TYPE_CHECKING:
    from neosian.config import Config
    from neosian.context import Cost, Mount
    from neosian.events import Event
    from neosian.spool import Entry, Spool


def answer(
    home: str, settings: Config, spool: Spool, entry: Entry, event: Event, words: str, cost: Cost, behind: list[str]
) -> str:  # fmt: skip
    """What is told with the prompt of ``event``, whose ``words`` are asked; kept in the spool. "" for nothing.

    Scopes whose index is too far behind to catch up in a hook's time are added to ``behind``.
    """
    seen, place = seen_by(home, settings, event)
    opened = Mounts(home, seen)
    with opened as mounts:
        mine = next(mount for mount in mounts if mount.path == opened.turns_at)
        day = place.day if place else _day_of(mine, opened.behind, event)
        block = reminder(
            mounts, words, window=window.look(mine.store, spool, event.client, event.session, day),
            conversation=event.session, client=event.client, now=time.time(), cost=cost, command=own_command(),
        )  # fmt: skip
    behind += opened.behind
    if not block.text or not first_to_answer(home, entry):
        return ""
    keep(home, spool, event, block, seen)
    return block.text


def _day_of(mine: Mount, behind: list[str], event: Event) -> str | None:
    """The day of a session of which no cache tells; nearly always it is a new one, as the index knows."""
    if mine.store.scope in behind or mine.index.sessions(1, event.session):
        return places.day_in(mine.store, event.client, event.session)
    return None
