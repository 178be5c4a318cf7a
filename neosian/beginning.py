"""The start of a session: which scopes it sees, and the block it is told."""

from __future__ import annotations

import os
import time

from neosian import clients, config, files, owed, switch
from neosian.context import Block, start_block
from neosian.own import is_own
from neosian.spool import Spool
from neosian.telling import Mounts, first_to_answer, keep, own_command, seen_by

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from neosian.mounts import Layout


def begin(home: str, name: str, *, spool: Spool | None = None, behind: list[str] | None = None) -> str:
    """What a hook prints so that the session whose spooled start event is ``name`` is told; "" when another hook line
    told it already, or when its client can be told nothing before a prompt.

    What is told is spooled too: it becomes a `context` line of the session's first turn. Scopes whose index is too
    far behind to catch up in a hook's time are added to ``behind``.
    """
    settings, wrong = config.load(home)
    if wrong:
        files.log(os.path.join(home, "log", "neosian.log"), wrong)
    spool = spool or Spool(home)
    entry = next(iter(spool.take([name])), None)
    if entry is None or not settings.context_start:
        return ""
    event = clients.read(entry.payload, entry.spooled)
    if switch.is_project_off(home, event.root or event.cwd):
        return ""
    program = clients.adapter(event.client)
    if program.STARTS_WITH_PROMPT and event.kind in ("start", "compact") and not event.agent:
        owed.owe(home, event)
        return ""
    if event.kind != "start" or is_own(home, event) or not first_to_answer(home, entry):
        return ""
    seen, _ = seen_by(home, settings, event)
    block = block_for(
        home, seen, source=str(event.data.get("source") or "startup"), conversation=event.session,
        client=event.client,
        budget=min(settings.context_budget, program.START_LIMIT), cost=program.cost, behind=behind,
    )  # fmt: skip
    keep(home, spool, event, block, seen, "start", event.data.get("source"))
    return program.shown("start", block.text)


def block_for(
    home: str, seen: Layout, *, source: str, conversation: str, client: str, budget: int,
    cost: Callable[[str], int], behind: list[str] | None = None, commits: int | None = 50,
) -> Block:  # fmt: skip
    """The block for a session with these mounts. Nothing is written but the index, which is a cache.

    ``commits`` is how many may be read to catch up (None: all there are).
    """
    opened = Mounts(home, seen, commits)
    with opened as mounts:
        if behind is not None:
            behind += opened.behind
        return start_block(
            mounts, source=source, conversation=conversation, client=client, now=time.time(), budget=budget,
            cost=cost, turns_at=opened.turns_at, command=own_command(),
        )  # fmt: skip
