"""Recorded sessions of any client, landed and told in a few words a turn."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from neosian.events import Event
from neosian.turns import Turn
from tests import expected
from tests.recorded import landed

OUTCOME = {True: "good", False: "bad", None: "unknown"}


def payloads(client: str) -> dict[str, dict[str, Any]]:
    """The single payloads recorded of a client, by file name without ``.json``."""
    return {path.stem: json.loads(path.read_text("utf-8")) for path in expected.payloads(client)}


def sequence(client: str, name: str) -> list[Event]:
    """A recorded session."""
    return expected.events(client, expected.DATA / client / "turns" / f"{name}.jsonl")


def told(events: Sequence[Event], *, at_each_stop: bool = True) -> list[str]:
    """The turns that events leave, landed at each stop, as in life, or all at once: of each its state, then a line for
    each prompt, call and answer."""
    record = landed(events, lambda one: at_each_stop and one.kind in ("stop", "failure", "interrupt", "end"))
    said = [line for turn in record.turns() for line in _turn(turn)]
    return [*said, *(f"waits: {event.name}" for event in record.spool)]


def _turn(turn: Turn) -> list[str]:
    ends = {line["call"]: line for line in turn.lines if line["kind"] == "tool_result"}
    said = [f"{turn.state}:"]
    for line in turn.lines:
        if line["kind"] == "prompt":
            said.append(f"  {'told' if line.get('from') else 'asked'}: {line['text']}")
        elif line["kind"] == "tool_call":
            ok: bool | None = ends.get(line["call"], {}).get("ok")
            said.append(f"  {line['tool']}: {OUTCOME[ok]}")
        elif line["kind"] == "answer":
            said.append(f"  answered: {line['text'] or line.get('error')}")
        elif line["kind"] not in ("turn", "tool_result", "session"):
            said.append(f"  {line['kind']} {line.get('event') or line.get('state')}")
    return said
