"""What is to be dreamt: the turns of each conversation that the checkpoint does not have, oldest conversation first.

By commits and never by a clock: the turns of a machine whose clock is behind are read once they are in main.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from neosian import conversations, speech, turns
from neosian.index import Index
from neosian.store import Store


class Session:
    """The turns of one conversation that have not been dreamt, in order. ``started`` and ``last`` are theirs, in
    seconds since 1970."""

    __slots__ = ("client", "conversation", "last", "started", "turns")

    def __init__(self, client: str, conversation: str, found: Sequence[turns.Turn]) -> None:
        self.client = client
        self.conversation = conversation
        self.turns = list(found)
        times = [turns.seconds(str(line["at"])) for turn in self.turns for line in turn.lines]
        self.started = min(times, default=0.0)
        self.last = max(times, default=0.0)

    @property
    def is_asked(self) -> bool:
        """Whether a person said anything in it: what programs did among themselves teaches nothing."""
        return any(
            not speech.is_machine(prompt) and speech.spoken(prompt).strip()
            for turn in self.turns
            if not turn.machine
            for prompt in turn.prompts
        )


class Due:
    """What a run finds: ``sessions`` to dream, those that are ``warm`` still and wait, and how many were ``skipped``
    since no person said anything in them."""

    __slots__ = ("sessions", "skipped", "warm")

    def __init__(self) -> None:
        self.sessions: list[Session] = []
        self.warm: list[Session] = []
        self.skipped: list[Session] = []


def due(store: Store, commit: str, dreamt: Mapping[str, int], *, now: float, idle: float) -> Due:
    """The sessions of a scope at a commit with turns after those that were ``dreamt`` (the last one, by conversation).

    ``idle``: seconds of silence after which a session counts as over for now.
    """
    found = Due()
    with Index.open(store.cache) as index:
        index.catch_up(store.repo, None)
        rows = [
            (row.client, row.conversation)
            for row in index.sessions()
            if (last := index.turns(row.conversation, row.client, 1))
            and last[0].n > dreamt.get(row.conversation, 0)
        ]
    for client, conversation in rows:
        held = conversations.turns_of(store.repo, f"{client}:{conversation}", commit)
        session = Session(
            client, conversation, [each for each in held if each.number > dreamt.get(conversation, 0)]
        )
        if not session.turns:
            continue  # they came in after the commit that is read
        which = (
            found.warm if now - session.last < idle else found.sessions if session.is_asked else found.skipped
        )
        which.append(session)
    found.sessions.sort(key=lambda each: (each.started, each.conversation))
    store.repo.close()
    return found
