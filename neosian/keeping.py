"""Turn keeping for one conversation: a fold over its events that gives spans. The rules are told in `neosian.spans`."""

from __future__ import annotations

from neosian.order import MADE
from neosian.running import Entry, Running, answer, last_words, numbered, outcome, unended
from neosian.turns import DONE, FAILED, INTERRUPTED, NOTIFIED, UNFINISHED, Launch, Memory, stamp

try:
    from _sha1 import sha1
except ImportError:  # a Python built without its own
    from hashlib import sha1

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Protocol

    from neosian.events import Event
    from neosian.turns import Line

    class Desk(Protocol):
        """Where the conversations of one batch meet, since they may speak of each other's background work."""

        spans: list[Span]

        def keeper(self, client: str, session: str) -> Keeper:
            """The keeper of any conversation, in this batch or not."""

        def launch(self, client: str, *names: str) -> Launch | None:
            """The call that launched the work of one of these names, in this batch or before."""


AFTERWORDS = ("compact", "cwd", "event")  # what may follow a turn that has closed


class Span:
    """Lines that land together: a new turn, or (``late``) an addition to one that has landed.

    ``lines`` begin with the ``turn`` line and are not scrubbed yet: fields that begin with ``_`` are for the scrubber.
    ``events`` are used up once the span has landed; there are none where an event of another turn had something to
    tell this one. ``first`` is the event it begins with, in ``events`` or not; ``at``, ``cwd`` and ``root`` are its.
    ``id`` makes a second landing harmless; a late span has one of its own, its ``turn`` line keeps the turn's.
    """

    __slots__ = (
        "at", "client", "cwd", "events", "first", "id", "late", "lines", "prompt_id", "root", "session", "state",
        "turn",
    )  # fmt: skip

    def __init__(
        self, keeper: Keeper, lines: list[Line], first: Event, events: list[Event], span: str, late: bool
    ) -> None:
        header = lines[0]
        self.client = keeper.client
        self.session = keeper.session
        self.turn: int = header["turn"]
        self.state: str = header["state"]
        self.prompt_id: str | None = header.get("prompt_id")
        self.id = span
        self.late = late
        self.lines = lines
        self.events = events
        self.first = first
        self.at = first.at
        self.cwd = first.cwd
        self.root = first.root


class Keeper:
    """One conversation: what has landed, the turn that runs, the prompts that wait, what the next turn begins with."""

    def __init__(self, desk: Desk, client: str, session: str, memory: Memory) -> None:
        self.desk = desk
        self.client = client
        self.session = session
        self.memory = memory
        self.landed = frozenset(memory.seen)
        self.open: Running | None = None
        self.waiting: list[Event] = []
        self.held: list[Entry] = []

    def take(self, event: Event) -> None:
        """Fold one event in."""
        if event.agent:
            self._agent(event)
        elif not self._came_before(event):
            HANDLERS[event.kind](self, event)

    def kept(self) -> list[Event]:
        """The events that must come again with the next batch."""
        running = self.open.events if self.open else {}
        return [*running, *self.waiting, *(entry.event for entry in self.held)]

    def launched(self, name: str) -> Launch | None:
        """The launch of a task, agent or call in this conversation."""
        running = self.open.launches if self.open else {}
        return running.get(name) or self.memory.launches.get(name)

    def sweep(self, before: float) -> None:
        """Close what has been silent since ``before``."""
        kept = self.kept()
        if kept and max(event.at for event in kept) <= before:
            if self.open:
                self._close(UNFINISHED, over=True)
            self._unanswered(None)
            self._leave()

    def _came_before(self, event: Event) -> bool:
        """Whether this very event has landed: a crash may leave it in the spool. An echo has, with its turn."""
        if event.data.get("echo") and self._known(event) and not self._running(event):
            return True
        nameless = event.call is not None and event.call.startswith(MADE)
        kind = (NAMELESS if nameless else LINE_OF).get(event.kind)
        return kind is not None and (kind, stamp(event.at)) in self.landed

    # One method for each kind of event

    def _start(self, event: Event) -> None:
        source, model = event.data["source"], event.data["model"]
        if source == "compact":  # the lines of the compaction tell it
            return
        if self.open:
            self._close(INTERRUPTED, over=True)
        self._unanswered(False)
        self._leave()
        name = "start" if source in ("", "startup") else source
        self.held.append(Entry(event, "session", event=name, source=source or None, model=model or None))

    def _prompt(self, event: Event) -> None:
        note, text = event.data.get("notification"), event.data["text"]
        running, known = self.open, self._known(event)
        if note:
            self._notified(event, note)
        elif running and running.is_mine(event) and event.data.get("steers") is not False:
            running.add(Entry(event, "prompt", event.prompt_id is not None, text=text))
        elif known:
            self.waiting.append(event)
        else:
            self._begin(event).add(Entry(event, "prompt", text=text))

    def _notified(self, event: Event, note: Line) -> None:
        """The client tells the model that background work has ended."""
        fields = {name: note[name] for name in ("call", "task", "status") if note.get(name)}
        entry = Entry(event, "prompt", text=event.data["text"], **{"from": NOTIFIED}, **fields)
        self._ended_elsewhere(event, note)
        running, known = self.open, self._known(event)
        if running and running.is_mine(event):
            running.add(entry)
        elif known:
            self._late(known, [entry])
        else:
            turn = self._begin(event)
            turn.note = entry.line
            turn.add(entry)

    def _ended_elsewhere(self, event: Event, note: Line) -> None:
        """Tell a launch of another conversation, whose own events would never say so, that its work is over."""
        launch = self.desk.launch(self.client, note.get("task", ""), note.get("call", ""))
        if launch is None or launch.ended or launch.session == self.session:
            return
        ok = {"completed": True, "failed": False}.get(note.get("status", ""))
        entry = Entry(event, "tool_result", call=launch.call, task=launch.task, text=note.get("summary", ""))
        entry.line["ok"] = ok
        self.desk.keeper(self.client, launch.session).add(launch.turn, entry, used=False)
        launch.ended = True

    def _call(self, event: Event) -> None:
        if event.call in self.memory.calls or (self.open and self.open.has("tool_call", event.call)):
            self._use(event)
            return
        entry = self._asked(event)
        known = self._known(event)
        if known and not self.open and known == self.memory.last:
            self.open = Running(known, event, again=True)
        self._put(event, entry)

    def _asked(self, event: Event) -> Entry:
        """The line of a call, from whichever event of it came first."""
        asked = {"tool": event.data["tool"], "input": event.data["input"], "cwd": event.cwd}
        return Entry(event, "tool_call", call=event.call, **asked)

    def _result(self, event: Event) -> None:
        data = event.data
        told, done = self.memory.calls.get(event.call or "", (0, False))
        if done or (self.open and self.open.has("tool_result", event.call)):
            self._use(event)
            return
        number = told or self._put(event)
        # The hooks may have been installed in mid-turn, or the call's own event be lost: the result tells of it too.
        announced = told or (self.open and self.open.has("tool_call", event.call))
        asked = () if announced else (self._asked(event),)
        self.add(number, *asked, outcome(event, event.call, data))
        if self.open and self.open.number == number:
            self.open.launch(self.session, event)

    def _batch(self, event: Event) -> None:
        number = self._told_of(event) or self._put(event)
        for call in event.data["calls"]:
            self._batched(number, event, call)
        self._deliver(event)

    def _told_of(self, batch: Event) -> int:
        """The landed turn that holds a batch's calls, where no id and no turn that runs says whose it is; else 0."""
        if batch.prompt_id or self.open:
            return 0
        turns = (self.memory.calls.get(call["call"], (0, False))[0] for call in batch.data["calls"])
        return next(filter(None, turns), 0)

    def _batched(self, number: int, event: Event, data: Line) -> None:
        """Take from a batch what no other event told: calls that were refused before they ran."""
        call = data["call"]
        _, done = self.memory.calls.get(call, (0, False))
        here = self.open if self.open and self.open.number == number else None
        if done or (here and here.has("tool_result", call)):
            return
        entries = []
        if call not in self.memory.calls and not (here and here.has("tool_call", call)):
            entries.append(
                Entry(event, "tool_call", call=call, tool=data["tool"], input=data["input"], cwd=event.cwd)
            )
        asked = here and here.has("permission", call)
        if asked and data["ok"] is None and not data.get("person"):
            data = {**data, "ok": False}  # asked for leave, and never ran
        self.add(number, *entries, outcome(event, call, data))

    def _permission(self, event: Event) -> None:
        data = event.data
        pending = self.open.pending(data["tool"]) if self.open else []
        call = event.call or (pending[-1] if pending else None)  # a request does not name its call
        fields = {
            "call": call,
            "tool": data["tool"],
            "state": data["state"],
            "reason": data["reason"] or None,
        }
        known = self.open is not None and self.open.has("tool_call", call)
        self._put(event, Entry(event, "permission", **fields, input=None if known else data["input"]))

    def _said(self, event: Event) -> None:
        """What the agent said last, of a client whose stop does not tell it; it may come after the stop."""
        known = self._of_id(event)
        if known and not self._running(event):
            turn = self.memory.turns[known]
            if stamp(event.at) > turn.answered:
                self._stop_late(known, event, turn.state)
            return
        self._put(event)
        assert self.open is not None
        self.open.said = event

    def _stop(self, event: Event) -> None:
        if self.open and self.open.is_of_a_child(event):
            return
        state = FAILED if event.kind == "failure" else INTERRUPTED if event.data.get("aborted") else DONE
        known = self._of_id(event)
        mine = self.open is not None and self.open.is_mine(event)
        if known and not mine:
            self._stop_late(known, event, state)
        elif mine or event.data["text"] or self.waiting:  # else nothing was said, and nobody to say it to
            self._put(event)
            self._close(state, event)

    def _error(self, event: Event) -> None:
        """A request to the model failed; the client may try again, so that only what follows tells what it meant."""
        if self.open:
            self.open.use(event)
            self.open.error = event

    def _interrupt(self, event: Event) -> None:
        """A person stopped what runs."""
        if self.open and not self.open.is_of_a_child(event):
            self.open.use(event)
            self._close(INTERRUPTED)

    def _stop_late(self, number: int, event: Event, state: str) -> None:
        turn = self.memory.turns[number]
        said = event.data["text"] and not same(event.data["text"], turn.answer)
        if said or turn.state != state:
            self._late(number, [answer(event)] if said else [], state=state, event=event)

    def _end(self, event: Event) -> None:
        if self.open:
            self.open.add(Entry(event, "session", event="end", reason=event.data["reason"] or None))
            self._close(INTERRUPTED, over=True)
        self._unanswered(None)
        self._leave()

    def _aside(self, event: Event) -> None:
        """What neither opens nor closes a turn: it belongs to the one that runs, else to the next."""
        if event.kind == "event":
            fields = {"name": event.name, "payload": event.data["payload"]}
        else:
            fields = {name: value for name, value in event.data.items() if value not in ("", None)}
        entry = Entry(event, event.kind, **fields)
        if self.open:
            self.open.add(entry)
        elif event.data.get("opens"):
            self._put(event, entry)
        else:
            self.held.append(entry)

    def _agent(self, event: Event) -> None:
        """Of a subagent's own events only the last words count; a writer of summaries has no type and none."""
        if self.open and event.kind == "subagent" and not event.agent:
            self.open.child(event)
        if event.kind != "subagent" or event.data["event"] != "stop" or not event.agent_type:
            return
        launch = self.desk.launch(self.client, event.agent or "")
        keeper = self.desk.keeper(self.client, launch.session) if launch else self
        number = launch.turn if launch else self._running(event) or self._of_id(event)
        told = same(event.data["text"], keeper.memory.words.get(event.agent or ""))
        if number and not told and not keeper._came_before(event):
            keeper.add(number, last_words(event, launch))

    # Turns opening and closing

    def _known(self, event: Event) -> int:
        """The landed turn that has the event's prompt id; 0 when there is none."""
        return self.memory.prompts.get(event.prompt_id or "", 0)

    def _of_id(self, event: Event) -> int:
        """The landed turn that has the event's prompt id, the newest where it has none; 0 when there is none."""
        return self._known(event) if event.prompt_id else self.memory.last

    def _running(self, event: Event) -> int:
        return self.open.number if self.open and self.open.is_mine(event) else 0

    def _put(self, event: Event, *entries: Entry) -> int:
        """Add to the turn the event belongs to, which opens when there is none; its number."""
        number = self._running(event) or self._known(event) or self._begin(event).number
        self._use(event)
        if self.open and self.open.number == number:
            self.open.error = None
        if entries:
            self.add(number, *entries)
        return number

    def _use(self, event: Event) -> None:
        if self.open and self.open.is_mine(event):
            self.open.use(event)

    def add(self, number: int, *entries: Entry, used: bool = True) -> None:
        """Put lines into a turn of this conversation, running or over. ``used``: they use their events up."""
        if self.open and self.open.number == number:
            for entry in entries:
                self.open.insert(entry)
                if used:
                    self.open.use(entry.event)
        else:
            self._late(number, list(entries), used=used)

    def _begin(self, event: Event) -> Running:
        if self.open:
            self._close(INTERRUPTED)
        held, self.held = self.held, []
        for entry in held:
            if entry.line["kind"] == "session" and entry.line["event"] == "resume":
                self._lose(entry.event)
        turn = self.open = Running(self.memory.last + 1, event)
        turn.add(*held)
        if event.kind != "prompt":
            turn.add(*(Entry(prompt, "prompt", text=prompt.data["text"]) for prompt in self.waiting))
            self.waiting = []
        turn.use(event)
        return turn

    def _deliver(self, batch: Event) -> None:
        """With a batch the client hands over the prompts typed while its calls ran."""
        if not (self.open and self.open.is_mine(batch)):
            return
        for entry in self.open.entries:
            entry.waits = False
        due = [prompt for prompt in self.waiting if prompt.prompt_id == batch.prompt_id]
        self.open.add(*(Entry(prompt, "prompt", text=prompt.data["text"]) for prompt in due))
        self.waiting = [prompt for prompt in self.waiting if prompt not in due]

    def _close(self, state: str, stop: Event | None = None, *, over: bool = False) -> None:
        """The open turn becomes a span. Prompts that wait leave it, unless the run is ``over`` and they are lost."""
        turn = self.open
        assert turn is not None
        if stop is None and turn.error is not None:
            state, stop = FAILED, turn.error
        queued = [] if over else turn.queued()
        self.waiting += queued
        turn.settle(queued)
        said = turn.said.data["text"] if turn.said else ""
        if stop is not None and (stop.data["text"] or stop.data.get("error") or said):
            turn.insert(answer(stop, said))
        elif turn.said and said:
            turn.insert(answer(turn.said))
        events = list(turn.events)
        if turn.again:
            self._late(turn.number, turn.entries, state=state, event=turn.first, events=events)
        else:
            span = span_id(self, turn.first)
            self._emit(self._header(turn, state), turn.entries, turn.first, events, span, late=False)
        self.open = None

    def _header(self, turn: Running, state: str) -> Line:
        first = turn.first
        header: Line = {"turn": turn.number, "kind": "turn", "state": state, "at": stamp(first.at)}
        header |= {"id": span_id(self, first), "cwd": first.cwd}
        starts = [entry.line["model"] for entry in turn.entries if "model" in entry.line]
        fields = {"model": starts[-1] if starts else self.memory.model, "prompt_id": turn.prompt_id}
        header |= {name: value for name, value in fields.items() if value}
        header |= {"client": self.client, "session": self.session}
        if turn.note:
            header["machine"] = True
            header |= self._launched_by(turn.note)
        return header

    def _late(
        self,
        number: int,
        entries: list[Entry],
        *,
        state: str = "",
        event: Event | None = None,
        events: list[Event] | None = None,
        used: bool = True,
    ) -> None:
        """Add lines to a turn that has closed."""
        turn = self.memory.turns.get(number)
        if turn is None:  # older than what is remembered
            return
        first = event or entries[0].event
        spent = events if events is not None else [first, *(entry.event for entry in entries)] if used else []
        header = {**turn.header, "turn": number, "kind": "turn", "state": state or turn.state}
        span = span_id(self, first, late=True)
        self._emit(header, entries, first, list(dict.fromkeys(spent)), span, late=True)

    def _emit(
        self, header: Line, entries: list[Entry], first: Event, events: list[Event], span: str, *, late: bool
    ) -> None:
        number = header["turn"]
        start = self.memory.turns[number].next_n if late else 0
        lines = [header, *(self._resolved(entry.line, header) for entry in entries)]
        lines = [numbered(line, number, start + step) for step, line in enumerate(lines)]
        for line in lines:
            self.memory.learn(line)
        self.desk.spans.append(Span(self, lines, first, events, span, late))

    def _resolved(self, line: Line, header: Line) -> Line:
        """A line with what only the whole batch could tell, and without what the ``turn`` line says already."""
        if line["kind"] == "tool_call" and line.get("cwd") == header.get("cwd"):
            del line["cwd"]
        if line.get("from") == NOTIFIED:
            return line | self._launched_by(line)
        if line["kind"] == "subagent" and "call" not in line and "agent" in line:
            launch = self.desk.launch(self.client, line["agent"])
            return line | ({"call": launch.call} if launch else {})
        return line

    def _launched_by(self, note: Line) -> Line:
        launch = self.desk.launch(self.client, note.get("task", ""), note.get("call", ""))
        if launch is None:
            return {}
        return {"launched_by": {"conversation": launch.session, "turn": launch.turn, "call": launch.call}}

    # What is left over

    def _unanswered(self, answered: bool | None) -> None:
        """Book the prompts that still wait under the turns they were typed in; None: nobody told whether in vain."""
        waiting, self.waiting = self.waiting, []
        for prompt in waiting:
            entry = Entry(prompt, "prompt", text=prompt.data["text"])
            entry.line["answered"] = answered
            self._late(self._known(prompt), [entry])

    def _leave(self) -> None:
        """A run is over. What came after its last turn is added to that; what no prompt followed leaves nothing."""
        held, self.held = self.held, []
        runs = [at for at, entry in enumerate(held) if entry.line["kind"] == "session"]
        after = [entry for entry in held[: runs[0] if runs else None] if entry.line["kind"] in AFTERWORDS]
        if after and self.memory.last:
            self._late(self.memory.last, after)

    def _lose(self, start: Event) -> None:
        """The client was killed and came back: background work that had not ended is lost."""
        for launch in dict.fromkeys(self.memory.launches.values()):
            if not launch.ended:
                self.add(launch.turn, unended(start, launch.call, background=launch.task), used=False)


HANDLERS: dict[str, Callable[[Keeper, Event], None]] = {
    "start": Keeper._start,
    "prompt": Keeper._prompt,
    "call": Keeper._call,
    "result": Keeper._result,
    "batch": Keeper._batch,
    "permission": Keeper._permission,
    "said": Keeper._said,
    "subagent": Keeper._agent,
    "compact": Keeper._aside,
    "cwd": Keeper._aside,
    "context": Keeper._aside,
    "event": Keeper._aside,
    "stop": Keeper._stop,
    "failure": Keeper._stop,
    "error": Keeper._error,
    "interrupt": Keeper._interrupt,
    "end": Keeper._end,
    "nothing": lambda keeper, event: None,
}
# The kind of line by which an event is known again; calls and results have their ids for that, if any.
LINE_OF = {"start": "session", "end": "session", "stop": "answer", "failure": "answer"} | {
    kind: kind for kind in ("prompt", "permission", "subagent", "compact", "cwd", "context", "event")
}
NAMELESS = {"call": "tool_call", "result": "tool_result"}  # the same where the client gives no ids


def same(text: str, answer: str | None) -> bool:
    """Whether a text is the answer that landed, secrets taken out of it."""
    if answer is None or text == answer:
        return text == answer
    from neosian.redact import redact

    return redact(text) == answer


def span_id(keeper: Keeper, first: Event, late: bool = False) -> str:
    """16 hex digits that are the same whenever the same events are assembled."""
    name = first.spooled if late else first.prompt_id or first.spooled
    parts = [keeper.client, keeper.session, name, *(["late"] if late else [])]
    return str(sha1("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:16])
