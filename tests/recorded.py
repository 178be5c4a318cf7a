"""Recorded Claude Code sessions as events, and a record in memory to land them in."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from neosian.clients import claude_code
from neosian.events import Event, Spooled
from neosian.spans import Batch, Span, assemble
from neosian.turns import Launch, Memory, Turn, group, remember

DATA = Path(__file__).parent / "data" / "claude-code"
INDEX: dict[str, Any] = json.loads((DATA / "payloads_index.json").read_text("utf-8"))["sequences"]["files"]
BEGAN = 1_764_400_000.0  # seconds since 1970, when the played sessions began


def payload(name: str) -> dict[str, Any]:
    """One recorded payload, by file name without ``.json``."""
    value: dict[str, Any] = json.loads((DATA / f"{name}.json").read_text("utf-8"))
    return value


def event(value: dict[str, Any], second: float = 0.0, *, level: str = "", tick: float | None = None) -> Event:
    """A payload as the event that its spool file would become."""
    name = f"{BEGAN + second:.3f}-{level or 'user'}"
    marks = {"CLAUDE_PROJECT_DIR": "/home/dev/shop"}
    spooled = Spooled(
        name=name,
        client="claude-code",
        at=BEGAN + second,
        level=level,
        marks=marks,
        tick=tick,
        boot="one" if tick else "",
    )
    return claude_code.parse(value, spooled)


def session(name: str, *, level: str = "", ticking: bool = False) -> list[Event]:
    """A recorded session, its events a second apart."""
    lines = (DATA / "turns" / name).read_text("utf-8").splitlines()
    late = 0.02 if level else 0.0  # a second hook line writes its file a moment after the first
    return [
        event(json.loads(line), second + late, level=level, tick=second + late if ticking else None)
        for second, line in enumerate(lines)
    ]


class Record:
    """What has landed, conversation by conversation, and the spool beside it."""

    def __init__(self) -> None:
        self.lines: dict[str, list[dict[str, Any]]] = {}
        self.spans: list[Span] = []
        self.spool: list[Event] = []
        self.dropped: list[Event] = []

    def land(self, events: Iterable[Event], *, now: float | None = None) -> Batch:
        """Add events to the spool and land what can land."""
        self.spool += events
        batch = assemble(self.spool, self.memory, self.find, now=now)
        for span in batch.spans:
            self.lines.setdefault(span.session, []).extend(json.loads(json.dumps(span.lines)))
        self.spans += batch.spans
        self.dropped += batch.drop
        self.spool = batch.keep
        return batch

    def memory(self, client: str, session: str) -> Memory:
        return remember(self.lines.get(session, []))

    def find(self, client: str, name: str) -> Launch | None:
        memories = (self.memory(client, session) for session in self.lines)
        return next((found for memory in memories if (found := memory.launches.get(name))), None)

    def turns(self) -> list[Turn]:
        return [turn for lines in self.lines.values() for turn in self.turns_of(lines)]

    @staticmethod
    def turns_of(lines: list[dict[str, Any]]) -> list[Turn]:
        """The turns of one conversation."""
        return list(group(lines).values())


def landed(events: Sequence[Event], cut: Callable[[Event], bool] = lambda event: False) -> Record:
    """The record after all events, landed whenever ``cut`` says so of one, and at the end."""
    record = Record()
    waiting: list[Event] = []
    for one in events:
        waiting.append(one)
        if cut(one):
            record.land(waiting)
            waiting = []
    record.land(waiting)
    return record


def told(turn: Turn) -> dict[str, Any]:
    """A turn in the words of the index of recorded sessions."""
    ends = {"done": "stop", "interrupted": "interrupted", "failed": "error"}
    waited = [
        line["text"] for line in turn.lines if line["kind"] == "prompt" and line.get("answered") is False
    ]
    says: dict[str, Any] = {
        "session_id": turn.header["session"],
        "prompt_id": turn.header["prompt_id"],
        "prompts": turn.prompts,
        "main_tool_calls": len(turn.calls),
        "end": ends[turn.state],
    }
    return says | ({"unanswered": waited} if waited else {})
