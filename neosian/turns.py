"""The lines of a turn log: written one JSON object a line, read back with patience, understood as turns.

docs/formats.md has every field. A line always has ``v``, ``turn``, ``n``, ``kind`` and ``at``; fields that are not
known here survive whatever is done to a line.
"""

from __future__ import annotations

import time

from neosian import fastjson
from neosian.payload import DEEPEST, shallow

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    Line = dict[str, Any]

VERSION = 1
DONE, INTERRUPTED, UNFINISHED, FAILED = "done", "interrupted", "unfinished", "failed"
NOTIFIED = "task-notification"  # ``from`` of a prompt that the client made when background work ended
PERSON = "person"  # ``from`` of a tool result that is a person's own words


# Writing


def stamp(at: float) -> str:
    """Seconds since 1970 as local ISO time with milliseconds and offset: ``2026-11-29T20:41:07.123+01:00``."""
    whole, milli = divmod(round(at * 1000), 1000)
    local = time.localtime(whole)
    minutes = local.tm_gmtoff // 60
    sign = "-" if minutes < 0 else "+"
    zone = f"{sign}{abs(minutes) // 60:02}:{abs(minutes) % 60:02}"
    return f"{time.strftime('%Y-%m-%dT%H:%M:%S', local)}.{milli:03}{zone}"


def seconds(stamp: str) -> float:
    """Seconds since 1970 of an ISO time such as `2026-11-29T20:41:07.123+01:00`; 0 for what is none.

    Without a zone it is UTC. (`datetime` costs more than a hook may spend on it.)
    """
    digits = stamp[:4] + stamp[5:7] + stamp[8:10] + stamp[11:13] + stamp[14:16] + stamp[17:19]
    marks = stamp[4:5] + stamp[7:8] + stamp[10:11] + stamp[13:14] + stamp[16:17]
    if len(digits) != 14 or not digits.isdecimal() or marks not in ("--T::", "-- ::"):
        return 0.0
    year, month, day = int(stamp[:4]), int(stamp[5:7]), int(stamp[8:10])
    if month < 3:  # years that begin in March put the leap day last
        year, month = year - 1, month + 12
    days = 365 * year + year // 4 - year // 100 + year // 400 + (153 * (month - 3) + 2) // 5 + day - 719_469
    end = 19
    if stamp[19:20] == ".":
        rest = stamp[20:].lstrip("0123456789")
        end = len(stamp) - len(rest)
    return (
        days * 86_400
        + int(stamp[11:13]) * 3_600
        + int(stamp[14:16]) * 60
        + float(stamp[17:end])
        - _ahead(stamp[end:])
    )


def _ahead(zone: str) -> int:
    """Seconds by which a zone such as `+01:00` or `-0330` is ahead of UTC; 0 for any other text."""
    sign, digits = zone[:1], zone[1:3] + (zone[4:6] if zone[3:4] == ":" else zone[3:5])
    if sign not in ("+", "-") or len(digits) != 4 or not digits.isdecimal():
        return 0
    return (int(digits[:2]) * 60 + int(digits[2:])) * (-60 if sign == "-" else 60)


def dumps(line: Line) -> bytes:
    """One line of a turn log, its line feed included.

    The three line separators that JSON leaves alone are escaped, so that no reader can split a line at them.
    """
    try:
        text = fastjson.dumps(line, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    except ValueError:
        text = fastjson.dumps(_finite(line), ensure_ascii=False, separators=(",", ":"))
    for separator in ("\x85", "\u2028", "\u2029"):
        text = text.replace(separator, f"\\u{ord(separator):04x}")
    return text.encode("utf-8", "replace") + b"\n"


def _finite(value: Any) -> Any:
    """``value`` with NaN and the infinities, which JSON does not have, as their names."""
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_finite(item) for item in value]
    return str(value) if isinstance(value, float) and value - value != 0 else value


# Reading


def is_segment(path: str) -> bool:
    """Whether a path of a scope is that of a log's segment."""
    return path.startswith("record/") and path.endswith(".jsonl")


def segment_key(path: str) -> str:
    """`<client>-<session>` of `record/<month>/<day>/<NNNNN>-<machine>-<client>-<session>.jsonl`."""
    name = path.rpartition("/")[2].removesuffix(".jsonl")
    return name.split("-", 2)[-1]


def parse_lines(data: bytes) -> tuple[list[Line], list[bytes]]:
    """The lines of a turn log, and the bytes of those that are none: torn, padded, or merge markers.

    NUL bytes around a whole line (what a crash leaves on some file systems) do not spoil it.
    """
    lines: list[Line] = []
    bad: list[bytes] = []
    for raw in data.split(b"\n"):
        if not raw.strip():
            continue
        line = _parsed(raw.strip(b"\0 \t\r"))
        if line is None:
            bad.append(raw)
        else:
            lines.append(line)
    return lines, bad


def _parsed(raw: bytes) -> Line | None:
    try:
        line = fastjson.loads(raw)
    except (ValueError, RecursionError):
        return None
    if not isinstance(line, dict) or not isinstance(line.get("kind"), str):
        return None
    if type(line.get("turn")) is not int or type(line.get("n")) is not int:
        return None
    deep = raw.count(b"{") + raw.count(b"[") > DEEPEST
    return {key: shallow(value) for key, value in line.items()} if deep else line


class Call:
    """A tool call of a turn with all that came back: first the launch, then the end, of work in the background."""

    __slots__ = ("line", "results")

    def __init__(self, line: Line) -> None:
        self.line = line
        self.results: list[Line] = []

    @property
    def id(self) -> str:
        return str(self.line.get("call") or "")

    @property
    def tool(self) -> str:
        return str(self.line.get("tool") or "")

    @property
    def input(self) -> Line:
        value = self.line.get("input")
        return value if isinstance(value, dict) else {}

    @property
    def text(self) -> str:
        return str(self.results[-1].get("text") or "") if self.results else ""

    @property
    def ok(self) -> bool | None:
        """Whether it succeeded; None where nobody said so."""
        ok = self.results[-1].get("ok") if self.results else None
        return ok if isinstance(ok, bool) else None

    @property
    def ended(self) -> bool:
        return bool(self.results) and self.results[-1].get("ended") is not False


class Turn:
    """One turn as its lines tell it, in order; where two lines say the same thing the later one wins."""

    __slots__ = ("header", "lines", "number")

    def __init__(self, number: int, lines: list[Line]) -> None:
        self.number = number
        self.lines = lines
        headers = [line for line in lines if line["kind"] == "turn"]
        self.header: Line = headers[-1] if headers else {}

    @property
    def state(self) -> str:
        return str(self.header.get("state") or UNFINISHED)

    @property
    def at(self) -> str:
        return str((self.header or self.lines[0]).get("at") or "")

    @property
    def machine(self) -> bool:
        """Whether the client began this turn by itself, when background work had ended."""
        return self.header.get("machine") is True

    @property
    def prompts(self) -> list[str]:
        """What persons typed, in order; without their answers to a tool's questions."""
        return [text for line, text in self._texts("prompt") if "from" not in line]

    @property
    def machine_prompts(self) -> list[str]:
        return [text for line, text in self._texts("prompt") if "from" in line]

    @property
    def answer(self) -> str:
        """The last answer; a turn may have several when something asked for another round."""
        answers = [text for _, text in self._texts("answer")]
        return answers[-1] if answers else ""

    @property
    def calls(self) -> list[Call]:
        calls: dict[Any, Call] = {}
        for line in self.lines:
            if line["kind"] == "tool_call":
                calls.setdefault(line.get("call"), Call(line))
            elif line["kind"] == "tool_result":
                calls.setdefault(line.get("call"), Call({"call": line.get("call")})).results.append(line)
        return list(calls.values())

    def _texts(self, kind: str) -> list[tuple[Line, str]]:
        return [(line, str(line.get("text") or "")) for line in self.lines if line["kind"] == kind]


def group(lines: Iterable[Line]) -> dict[int, Turn]:
    """The turns of one conversation by number, whatever the order of its segments; equal lines count once."""
    ordered = sorted(lines, key=lambda line: (line["turn"], line["n"]))
    turns: dict[int, list[Line]] = {}
    for line in ordered:
        mine = turns.setdefault(line["turn"], [])
        same = next((old for old in reversed(mine) if old == line or old["n"] != line["n"]), None)
        if same != line:
            mine.append(line)
    return {number: Turn(number, mine) for number, mine in turns.items()}


# What has landed of a conversation, as far as the next events need it


class Launch:
    """A call that left work running in the background: the turn it was made in, and whether that work ended."""

    __slots__ = ("call", "ended", "session", "task", "turn")

    def __init__(self, session: str, turn: int, call: str, task: str = "", ended: bool = False) -> None:
        self.session = session
        self.turn = turn
        self.call = call
        self.task = task
        self.ended = ended


class TurnMemory:
    """A landed turn: ``header`` is its last ``turn`` line, ``next_n`` the number that its next line gets, ``answered``
    the time of its last answer."""

    __slots__ = ("answer", "answered", "header", "next_n", "number")

    def __init__(self, number: int) -> None:
        self.number = number
        self.next_n = 0
        self.answer: str | None = None
        self.answered = ""
        self.header: Line = {}

    @property
    def state(self) -> str:
        return str(self.header.get("state") or UNFINISHED)


class Memory:
    """What is known of a conversation from its landed lines.

    ``last`` is its highest turn (0: none has landed), ``prompts`` leads from a prompt id to its turn, ``calls`` from
    a call to (turn, whether its result is there), ``launches`` from a task id and from a call id to the launch;
    ``seen`` holds kind and time of every line, by which an event that comes a second time is known again, ``words``
    the last words of each subagent.
    Lines of the newest segment alone make a memory that serves; only events for older turns are then not placed.
    """

    __slots__ = ("calls", "last", "launches", "model", "prompts", "seen", "turns", "words")

    def __init__(self) -> None:
        self.last = 0
        self.model = ""
        self.turns: dict[int, TurnMemory] = {}
        self.prompts: dict[str, int] = {}
        self.calls: dict[str, tuple[int, bool]] = {}
        self.launches: dict[str, Launch] = {}
        self.seen: set[tuple[str, str]] = set()
        self.words: dict[str, str] = {}

    def learn(self, line: Line) -> None:
        """Take in one more landed line."""
        number, kind = line["turn"], line["kind"]
        self.last = max(self.last, number)
        self.seen.add((kind, str(line.get("at"))))
        turn = self.turns.setdefault(number, TurnMemory(number))
        turn.next_n = max(turn.next_n, line["n"] + 1)
        if kind == "turn":
            self._learn_header(turn, line)
        elif kind == "answer":
            turn.answer = str(line.get("text") or "")
            turn.answered = str(line.get("at"))
        elif kind == "tool_call":
            self.calls.setdefault(str(line.get("call")), (number, False))
        elif kind == "tool_result":
            self._learn_result(number, line)
        elif kind in ("subagent", "prompt"):
            if kind == "subagent":
                self.words[str(line.get("agent"))] = str(line.get("text") or "")
            self._end(line.get("agent") or line.get("task"), line.get("call"))

    def _learn_header(self, turn: TurnMemory, line: Line) -> None:
        turn.header = line
        if isinstance(line.get("prompt_id"), str):
            self.prompts[line["prompt_id"]] = turn.number
        self.model = str(line.get("model") or self.model)

    def _learn_result(self, number: int, line: Line) -> None:
        call, task = str(line.get("call")), line.get("background")
        ended = line.get("ended") is not False
        self.calls[call] = (number, ended or self.calls.get(call, (0, False))[1])
        if not ended or "task" in line:
            self._end(task or line.get("task"), call)
        elif isinstance(task, str):
            session = str(self.turns[number].header.get("session") or "")
            self.launches[task] = self.launches[call] = Launch(session, number, call, task)

    def _end(self, *ids: object) -> None:
        for launch in (self.launches.get(str(name)) for name in ids if name):
            if launch is not None:
                launch.ended = True


def remember(lines: Iterable[Line], into: Memory | None = None) -> Memory:
    """What the landed ``lines`` of one conversation tell; ``into`` is an older memory to go on with."""
    memory = into or Memory()
    for line in sorted(lines, key=lambda line: (line["turn"], line["n"])):
        memory.learn(line)
    return memory
