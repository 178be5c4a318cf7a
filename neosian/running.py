"""The turn that runs: its lines to be, each with the event that it comes from."""

from __future__ import annotations

from neosian.turns import PERSON, VERSION, Launch, stamp

TYPE_CHECKING = False
if TYPE_CHECKING:
    from neosian.events import Event
    from neosian.turns import Line


class Entry:
    """A line to be, with the event it comes from; a prompt that ``waits`` is not delivered yet."""

    __slots__ = ("event", "line", "waits")

    def __init__(self, event: Event, kind: str, waits: bool = False, /, **fields: object) -> None:
        self.event = event
        self.waits = waits
        self.line: Line = {"kind": kind, "at": stamp(event.at)}
        self.line.update((name, value) for name, value in fields.items() if value is not None)


class Running:
    """The turn that runs. ``again``: it had closed, and a call opened it once more.

    ``events`` are those it uses up, in order; ``ids`` leads from a kind of line to the calls that have one.
    """

    __slots__ = (
        "again", "began", "ended", "entries", "error", "events", "first", "ids", "launches", "note", "number",
        "prompt_id", "said", "stopped",
    )  # fmt: skip

    def __init__(self, number: int, first: Event, again: bool = False) -> None:
        self.number = number
        self.prompt_id = first.prompt_id
        self.first = first
        self.again = again
        self.note: Line | None = None
        self.said: Event | None = None  # with the agent's last words, where its stop does not tell them
        self.entries: list[Entry] = []
        self.events: dict[Event, None] = {}
        self.ids: dict[str, set[str]] = {}
        self.launches: dict[str, Launch] = {}
        self.error: Event | None = None  # that ends the turn, if nothing follows
        self.began = self.stopped = self.ended = 0  # of subagents without a name: starts, own stops, ends

    def add(self, *entries: Entry) -> None:
        """Add lines, and use their events up."""
        for entry in entries:
            self.insert(entry)
            self.use(entry.event)

    def insert(self, entry: Entry) -> None:
        """Add a line whose event is used up elsewhere."""
        self.entries.append(entry)
        if "call" in entry.line:
            self.ids.setdefault(entry.line["kind"], set()).add(entry.line["call"])

    def use(self, event: Event) -> None:
        self.events[event] = None

    def is_mine(self, event: Event) -> bool:
        return event.prompt_id is None or event.prompt_id == self.prompt_id

    def has(self, kind: str, call: str | None) -> bool:
        """Whether there is a line of this kind for the call."""
        return call in self.ids.get(kind, ())

    def pending(self, tool: str = "") -> list[str]:
        """The calls without a result, of one tool or of all."""
        calls = [entry.line for entry in self.entries if entry.line["kind"] == "tool_call"]
        return [
            line["call"]
            for line in calls
            if "call" in line and tool in ("", line["tool"]) and not self.has("tool_result", line["call"])
        ]

    def child(self, event: Event) -> None:
        """A subagent without a name starts or ends."""
        if event.data["event"] == "start":
            self.began += 1
        else:
            self.ended += 1
        self.use(event)

    def is_of_a_child(self, event: Event) -> bool:
        """Whether a stop is the one that each subagent brings, where nothing in it tells so; it is used up then.

        The turn's own cannot come while the call that launched the subagent runs.
        """
        if self.began <= max(self.stopped, self.ended) or not self.pending():
            return False
        self.stopped += 1
        self.use(event)
        return True

    def launch(self, session: str, result: Event) -> None:
        """Remember what the call of ``result`` left running, or which subagent it ran."""
        task = result.data.get("background") or result.data.get("agent")
        if task and result.call:
            launch = Launch(session, self.number, result.call, task)
            self.launches |= {task: launch, result.call: launch}

    def queued(self) -> list[Event]:
        """The prompts that wait."""
        return [entry.event for entry in self.entries if entry.waits]

    def settle(self, queued: list[Event]) -> None:
        """Take the queued prompts out, and say of what is still expected that it never came."""
        for prompt in queued:
            del self.events[prompt]
        self.entries = [entry for entry in self.entries if entry.event not in queued]
        for entry in self.entries:
            if entry.waits:
                entry.line["answered"] = False
        last = self.entries[-1].event if self.entries else self.first
        for call in self.pending():
            self.insert(unended(last, call))


def numbered(line: Line, number: int, n: int) -> Line:
    fields = {name: value for name, value in line.items() if name not in ("v", "turn", "n", "kind")}
    return {"v": VERSION, "turn": number, "n": n, "kind": line["kind"], **fields}


def outcome(event: Event, call: str | None, data: Line) -> Entry:
    """The line of a result. What the call was asked goes along for the scrubber, which may have to drop both."""
    entry = Entry(event, "tool_result", call=call)
    entry.line |= {"ok": data["ok"], "text": data["text"]}
    optional = {"ms": data.get("ms"), "background": data.get("background")}
    entry.line |= {name: value for name, value in optional.items() if value is not None}
    if data.get("person"):
        entry.line["from"] = PERSON
    entry.line |= {"_input": data["input"], "_cwd": event.cwd}
    return entry


def unended(event: Event, call: str, **fields: object) -> Entry:
    entry = Entry(event, "tool_result", call=call)
    entry.line |= {"ok": None, "text": "", "ended": False, **fields}
    return entry


def answer(event: Event, said: str = "") -> Entry:
    """The line of an answer. ``said``: its text, where the event has none."""
    data = event.data
    fields = {"error": data.get("error") or None, "background": data.get("background") or None}
    return Entry(event, "answer", text=data["text"] or said, **fields)


def last_words(event: Event, launch: Launch | None) -> Entry:
    fields = {"event": "stop", "agent": event.agent, "agent_type": event.agent_type}
    return Entry(event, "subagent", **fields, call=launch.call if launch else None, text=event.data["text"])
