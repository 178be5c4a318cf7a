"""Turn keeping: the events of any number of conversations become spans, each of them lines that can land.

`assemble` is a pure fold. What it knows of the past is a `Memory` for each conversation, made of landed lines; what
cannot land yet is handed back to be kept and comes in again with the next events. So it gives the same spans whether
the events come at once or in pieces.

The rules of the fold, for clients that give prompts an id (seen in Claude Code 2.1.197 and 2.1.332):

- An id not seen before on a prompt, call, result, batch, permission or stop opens a turn and closes the open one as
  interrupted. A session's start (not after compaction) and its end only close.
- A prompt with the id of a turn that is open or over waits: the next batch of that turn delivers it, else it moves to
  the next turn that opens without a prompt of its own; what waits when the session starts again was never answered.
- A notification of ended background work never waits. It belongs to the open turn whose id it has, or opens a
  machine turn.
- Events of a subagent take no part, but for its last words: they go to the turn of the call that launched it,
  wherever that is.
- What has no id belongs to the turn that is open, a stop without one to the newest. A client may give its prompts alone
  an id (Gemini CLI, Qwen Code), and its calls none: these are then paired with their results by tool and input.
- Some clients say that a prompt steers the turn that runs, or does not (Kimi Code, Copilot CLI): then it belongs to
  that turn, or closes it as interrupted. An interruption that is told closes it at once. A request to the model that
  failed fails the turn only where nothing follows.
- Where subagents have no name (Kimi Code), each brings one stop of its own, which is not the turn's.
- What comes for a turn that has closed is added to it, under the next ``n`` and a new ``turn`` line; only a new call
  of the newest turn opens that turn again.
"""

from __future__ import annotations

from neosian.keeping import Keeper, Span
from neosian.order import by_clock, in_order, with_calls, without_echoes, without_twins

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from neosian.events import Event
    from neosian.turns import Launch, Memory

    Remember = Callable[[str, str], Memory]
    FindLaunch = Callable[[str, str], Launch | None]

__all__ = ["SILENCE", "Batch", "Span", "assemble"]

SILENCE = 6 * 3600.0  # seconds after which an open turn counts as unfinished


class Batch:
    """What became of a batch of events; each of them is in one span, in ``keep`` or in ``drop``.

    ``spans`` are in the order in which they must land, those of one conversation after each other. ``keep`` stays in
    the spool: an open turn, prompts that wait, a session's start before its first prompt. ``drop`` leaves nothing.
    """

    __slots__ = ("drop", "keep", "spans")

    def __init__(self) -> None:
        self.spans: list[Span] = []
        self.keep: list[Event] = []
        self.drop: list[Event] = []


def assemble(
    events: Iterable[Event],
    memory: Remember,
    find_launch: FindLaunch = lambda client, name: None,
    *,
    now: float | None = None,
    silence: float = SILENCE,
) -> Batch:
    """Fold ``events`` into spans.

    ``memory(client, session)`` gives what has landed of a conversation; it is asked once for each, and grows with
    what is assembled. ``find_launch(client, id)`` looks a background task, agent or call up in other conversations
    of the record. With ``now`` (seconds since 1970) conversations silent for ``silence`` seconds are closed.
    """
    events = by_clock(events)
    conversations: dict[tuple[str, str], list[Event]] = {}
    for event in events:
        conversations.setdefault((event.client, event.session), []).append(event)
    desk = _Desk(memory, find_launch, {event.data.get("agent") for event in events if event.kind == "result"})
    total: list[Event] = []
    for key, mine in conversations.items():
        ordered = in_order(mine)
        total += ordered
        for event in with_calls(without_echoes(without_twins(ordered))):
            desk.keeper(*key).take(event)
    if now is not None:
        for keeper in list(desk.keepers.values()):
            keeper.sweep(now - silence)
    return desk.settled(total)


class _Desk:
    """The conversations of one batch, which may speak of each other's background work."""

    def __init__(self, memory: Remember, find_launch: FindLaunch, agents: set[str | None]) -> None:
        self.memory = memory
        self.find = find_launch
        self.agents = agents  # whose launch is among the events, though it may come after their last words
        self.found: dict[tuple[str, str], Launch | None] = {}
        self.keepers: dict[tuple[str, str], Keeper] = {}
        self.spans: list[Span] = []

    def keeper(self, client: str, session: str) -> Keeper:
        key = client, session
        if key not in self.keepers:
            self.keepers[key] = Keeper(self, client, session, self.memory(client, session))
        return self.keepers[key]

    def launch(self, client: str, *names: str) -> Launch | None:
        """The call that launched the work of one of these names, in this batch or before."""
        for name in filter(None, names):
            mine = (keeper.launched(name) for keeper in self.keepers.values() if keeper.client == client)
            found = next(filter(None, mine), None) or self._older(client, name)
            if found:
                return found
        return None

    def _older(self, client: str, name: str) -> Launch | None:
        if name not in self.agents and (client, name) not in self.found:
            self.found[client, name] = self.find(client, name)
        return self.found.get((client, name))

    def settled(self, events: list[Event]) -> Batch:
        batch = Batch()
        batch.spans = self.spans
        landed = {event.spooled for span in self.spans for event in span.events}
        kept = {event.spooled for keeper in self.keepers.values() for event in keeper.kept()}
        batch.keep = [event for event in events if event.spooled in kept]
        batch.drop = [event for event in events if event.spooled not in landed | kept]
        return batch
