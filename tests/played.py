"""Recorded sessions of any client: their payloads as events, played into a record, told as text."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from neosian import clients
from neosian.events import Event, Spooled
from tests.recorded import BEGAN, Record

DATA = Path(__file__).parent / "data"


def payloads(client: str) -> dict[str, dict[str, Any]]:
    """The single payloads recorded of a client, by file name without ``.json``."""
    return {path.stem: json.loads(path.read_text("utf-8")) for path in sorted((DATA / client).glob("*.json"))}


def event(client: str, value: dict[str, Any], second: float = 0.0, *, level: str = "") -> Event:
    """A payload as the event that its spool file would become."""
    name = f"{BEGAN + second:.3f}-{level or 'user'}"
    return clients.read(value, Spooled(name=name, client=client, at=BEGAN + second, level=level))


def sequence(client: str, name: str) -> list[Event]:
    """A recorded session, its events a second apart."""
    lines = (DATA / client / "turns" / f"{name}.jsonl").read_text("utf-8").splitlines()
    return [event(client, json.loads(line), second) for second, line in enumerate(lines)]


def told(events: Sequence[Event], *, at_each_stop: bool = True) -> list[str]:
    """The turns that a session leaves, a line each for its state, its prompts, calls and answer; landed at each stop,
    as in life, or all at once."""
    record, waiting = Record(), []
    for one in events:
        waiting.append(one)
        if at_each_stop and one.kind in ("stop", "failure", "interrupt", "end"):
            record.land(waiting)
            waiting = []
    record.land(waiting)
    said = [line for turn in record.turns() for line in _turn(turn)]
    return [*said, *(f"waits: {event.name}" for event in record.spool)]


def _turn(turn: Any) -> list[str]:
    ends = {line["call"]: line for line in turn.lines if line["kind"] == "tool_result" and "call" in line}
    said = [f"{turn.state}:"]
    for line in turn.lines:
        if line["kind"] == "prompt":
            said.append(f"  {'told' if line.get('from') else 'asked'}: {line['text']}")
        elif line["kind"] == "tool_call":
            ok = ends.get(line.get("call"), {}).get("ok")
            said.append(f"  {line['tool']}: {({True: 'good', False: 'bad'}).get(ok, 'unknown')}")
        elif line["kind"] == "answer":
            said.append(f"  answered: {line['text'] or line.get('error')}")
        elif line["kind"] not in ("turn", "tool_result", "session"):
            said.append(f"  {line['kind']} {line.get('event') or line.get('state')}")
    return said
