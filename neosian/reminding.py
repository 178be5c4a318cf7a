"""A prompt: what the session is told with it, from the scopes that it sees, and nothing a second time."""

from __future__ import annotations

import os
import time

from neosian import config, files, places, window
from neosian.clients import adapter
from neosian.reminder import asked, reminder
from neosian.spool import Spool
from neosian.telling import Mounts, first_to_answer, keep, own_command, seen_by

TYPE_CHECKING = False
if TYPE_CHECKING:
    from neosian.context import Block, Cost, Mount
    from neosian.events import Event
    from neosian.places import Place


def remind(
    home: str, client: str, name: str, *, spool: Spool | None = None, behind: list[str] | None = None
) -> str:
    """What the session whose spooled prompt is ``name`` is told with it; "" when there is nothing to tell.

    What is told is spooled too: it becomes a `context` line behind the prompt's own. Scopes whose index is too far
    behind to catch up in a hook's time are added to ``behind``.
    """
    settings, wrong = config.load(home)
    if wrong:
        files.log(os.path.join(home, "log", "neosian.log"), wrong)
    spool = spool or Spool(home)
    entry = next(iter(spool.take([name])), None)
    if entry is None or not settings.context_recall:
        return ""
    program = adapter(client)
    event = program.parse(entry.payload, entry.spooled)
    words = asked(event.data["text"]) if event.kind == "prompt" and not event.agent else ""
    if not words:
        return ""
    seen, place = seen_by(home, settings, event)
    opened = Mounts(home, seen)
    with opened as mounts:
        block = _block(mounts, opened, spool, event, words, place, program.cost)
    if behind is not None:
        behind += opened.behind
    if not block.text or not first_to_answer(home, entry):
        return ""
    keep(home, spool, event, block, seen)
    return block.text


def _block(
    mounts: list[Mount],
    opened: Mounts,
    spool: Spool,
    event: Event,
    words: str,
    place: Place | None,
    cost: Cost,
) -> Block:
    home = next(mount for mount in mounts if mount.path == opened.turns_at)
    day = place.day if place else _day_of(home, opened, event)
    return reminder(
        mounts, words, window=window.look(home.store, spool, event.client, event.session, day),
        conversation=event.session, client=event.client, now=time.time(), cost=cost, command=own_command(),
    )  # fmt: skip


def _day_of(home: Mount, opened: Mounts, event: Event) -> str | None:
    """The day of a session of which no cache tells; nearly always it is a new one, as the index knows."""
    if home.store.scope in opened.behind or home.index.sessions(1, event.session):
        return places.day_in(home.store, event.client, event.session)
    return None
