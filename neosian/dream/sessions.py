"""What is to be dreamt: the turns of each conversation that the checkpoint does not have, oldest conversation first.

By commits and never by a clock: the turns of a machine whose clock is behind are read once they are in main.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from neosian import conversations, entries, turns
from neosian.errors import NeosianError
from neosian.index import Index
from neosian.store import Store


class Session:
    """Turns of one conversation, in order. ``started`` and ``last`` are theirs, in seconds since 1970."""

    __slots__ = ("client", "conversation", "last", "started", "turns")

    def __init__(self, client: str, conversation: str, found: Sequence[turns.Turn]) -> None:
        self.client = client
        self.conversation = conversation
        self.turns = list(found)
        times = [turns.seconds(str(line["at"])) for turn in self.turns for line in turn.lines]
        self.started = min(times, default=0.0)
        self.last = max(times, default=0.0)


class Waiting:
    """A conversation that has turns to dream: those ``after`` a number, up to ``number``.

    ``prompt``: what a person said first in them, "" where nobody did; what programs do by themselves teaches nothing.
    """

    __slots__ = ("after", "client", "conversation", "last", "number", "prompt", "started")

    def __init__(self, row: entries.Session, new: Sequence[entries.TurnLine], after: int) -> None:
        self.client = row.client
        self.conversation = row.conversation
        self.started = row.started
        self.last = row.last
        self.after = after
        self.number = new[0].n
        self.prompt = next((line.prompt for line in reversed(new) if line.prompt and not line.machine), "")

    @property
    def count(self) -> int:
        """How many turns there may be."""
        return self.number - self.after

    def read(self, store: Store, commit: str) -> Session:
        """The turns themselves, as a commit has them."""
        try:
            held = conversations.turns_of(store.repo, f"{self.client}:{self.conversation}", commit)
        except conversations.UnknownConversation:  # it came in after the commit that is read
            held = []
        return Session(self.client, self.conversation, [each for each in held if each.number > self.after])

    def json(self) -> dict[str, object]:
        """The fields that `--json` prints."""
        return {
            "conversation": self.conversation, "client": self.client, "turns": self.count, "prompt": self.prompt,
            "last": turns.stamp(self.last),
        }  # fmt: skip


class Due:
    """What a run finds: ``sessions`` to dream, those that are ``warm`` still and wait, and those ``skipped`` since no
    person said anything in them. Each oldest first."""

    __slots__ = ("sessions", "skipped", "warm")

    def __init__(self) -> None:
        self.sessions: list[Waiting] = []
        self.warm: list[Waiting] = []
        self.skipped: list[Waiting] = []

    def ready(self, idle: float) -> float:
        """When the first of those that are warm may be dreamt, if nothing more is said in it; 0 where there is none."""
        return min((each.last for each in self.warm), default=-idle) + idle


def due(store: Store, dreamt: Mapping[str, int], *, now: float, idle: float) -> Due:
    """The conversations of a scope with turns after those that were ``dreamt`` (the last one, by conversation).

    ``idle``: seconds of silence after which a session counts as over for now.
    """
    found = Due()
    with Index.open(store.cache) as index:
        index.catch_up(store.repo, None)
        for row in index.sessions():
            after = dreamt.get(row.conversation, 0)
            new = [line for line in index.turns(row.conversation, row.client) if line.n > after]
            if not new:
                continue
            each = Waiting(row, new, after)
            which = found.warm if now - each.last < idle else found.sessions if each.prompt else found.skipped
            which.append(each)
    for sort in (found.sessions, found.warm, found.skipped):
        sort.sort(key=lambda each: (each.started, each.conversation))
    store.repo.close()
    return found


class Sources:
    """Every turn of a scope that is in the record, by `conversation#turn`: asked with ``in``."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._known: dict[str, frozenset[int]] = {}

    def __contains__(self, source: object) -> bool:
        conversation, number = conversations.split(str(source))
        if number is None:
            return False
        if conversation not in self._known:
            with Index.open(self._store.cache) as index:
                self._known[conversation] = frozenset(line.n for line in index.turns(conversation))
        return number in self._known[conversation]


def everything(store: Store, commit: str) -> Iterator[Session]:
    """Every conversation of a scope in which a person said something, whole."""
    found = due(store, {}, now=0.0, idle=float("-inf"))
    for each in found.sessions:
        try:
            session = each.read(store, commit)
        except NeosianError:
            continue
        if session.turns:
            yield session
    store.repo.close()
