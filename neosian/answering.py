"""A prompt that is about something: what the session is told with it, from the scopes that it sees, nothing twice."""

from __future__ import annotations

import time

from neosian import owed, places, window
from neosian.clients import adapter
from neosian.context import start_block
from neosian.reminder import BUDGET, reminder
from neosian.telling import Mounts, first_to_answer, keep, own_command, seen_by

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from neosian.config import Config
    from neosian.context import Mount
    from neosian.events import Event
    from neosian.spool import Entry, Spool


def answer(
    home: str, settings: Config, spool: Spool, entry: Entry, event: Event, words: str, start: str, behind: list[str]
) -> str:  # fmt: skip
    """What is told with the prompt of ``event``, whose ``words`` are asked; kept in the spool. "" for nothing.

    ``start`` is the source of a start that the session is still to be told of, "" for none: both are told then, under
    the one budget of a start. Scopes whose index is too far behind to catch up in a hook's time are added to
    ``behind``.
    """
    program = adapter(event.client)
    seen, place = seen_by(home, settings, event)
    opened = Mounts(home, seen)
    begun = said = None
    with opened as mounts:
        mine = next(mount for mount in mounts if mount.path == opened.turns_at)
        told: dict[str, Any] = {"conversation": event.session, "client": event.client, "now": time.time(),
                                "cost": program.cost, "command": own_command()}  # fmt: skip
        most = BUDGET
        if start:
            limit = min(settings.context_budget, program.START_LIMIT)
            most = min(BUDGET, limit // 4) if words else 0
            begun = start_block(mounts, source=start, budget=limit - most, turns_at=opened.turns_at, **told)
        if words:
            day = place.day if place else _day_of(mine, opened.behind, event)
            before = window.look(mine.store, spool, event.client, event.session, day)
            if begun:
                before.take({"source": start, "shown": begun.shown}, 0)
            said = reminder(mounts, words, window=before, budget=most, **told)
    behind += opened.behind
    blocks = [block for block in (begun, said) if block and block.text]
    if not blocks or not first_to_answer(home, entry):
        return ""
    if begun:
        keep(home, spool, event, begun, seen, "start", start)
        owed.settle(home, event)
    if said and said.text:
        keep(home, spool, event, said, seen, "prompt")
    return "\n\n".join(block.text for block in blocks)


def _day_of(mine: Mount, behind: list[str], event: Event) -> str | None:
    """The day of a session of which no cache tells; nearly always it is a new one, as the index knows."""
    if mine.store.scope in behind or mine.index.sessions(1, event.session):
        return places.day_in(mine.store, event.client, event.session)
    return None
