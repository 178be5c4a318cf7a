"""What a recorded sequence of hook payloads becomes: readable texts beside the sequences in ``tests/data``.

    python -m tests.expected [CLIENT...]     write them anew; look at `git diff` before you believe them

A sequence is a ``.jsonl`` file below the client's folder, one payload a line as the hooks of a real session gave them;
beside it stands a ``.turns`` file of the same name.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from neosian import clients
from neosian.events import Event, Spooled
from neosian.turns import Turn
from tests.recorded import BEGAN, Record

DATA = Path(__file__).parent / "data"
SHOWN = 300  # characters of a text


def payloads(client: str) -> list[Path]:
    """The single payloads of a client."""
    return sorted(path for path in (DATA / client).glob("*.json") if path.name != "payloads_index.json")


def sequences(client: str) -> list[Path]:
    return sorted((DATA / client).rglob("*.jsonl"))


def verb_of(client: str, payload: Any) -> str:
    """The verb of the hook line through which a payload came."""
    named = payload if isinstance(payload, dict) else {}
    name = named.get("hook_event_name", named.get("hookEventName"))
    return clients.adapter(client).VERB.get(name, "note") if isinstance(name, str) else "note"


def event(client: str, payload: dict[str, Any], second: float = 0.0, level: str = "") -> Event:
    """A payload as the event that its spool file would become."""
    return clients.read(
        payload,
        Spooled(
            name=f"{BEGAN + second:.3f}-{level or 'user'}",
            client=client,
            event=verb_of(client, payload),
            at=BEGAN + second,
            level=level,
            cwd="/home/dev/shop",
        ),
    )


def events(client: str, sequence: Path, *, level: str = "") -> list[Event]:
    """A recorded session, its events a second apart."""
    late = 0.02 if level else 0.0  # a second hook line writes its file a moment after the first
    lines = sequence.read_text("utf-8").splitlines()
    return [
        event(client, json.loads(line), second + late, level) for second, line in enumerate(lines) if line
    ]


def told(record: Record) -> str:
    """What has landed, in words; and what has not."""
    sessions = [(session, Record.turns_of(lines)) for session, lines in record.lines.items()]
    blocks = ["\n".join([f"session {session}", *_turns(turns)]) for session, turns in sessions]
    waits = [f"waits: {one.name}" for one in record.spool]
    return "\n\n".join([*blocks, *(["\n".join(waits)] if waits else [])]) + "\n"


def _turns(turns: Iterable[Turn]) -> Iterable[str]:
    for turn in turns:
        machine = ", begun by the client" if turn.machine else ""
        yield f"  turn {turn.number}: {turn.state}{machine}"
        yield from (f"    {_line(line)}" for line in turn.lines if line["kind"] != "turn")


def _line(line: dict[str, Any]) -> str:
    kind = line["kind"]
    known = {"v", "turn", "n", "kind", "at", "text", "tool", "input", "ok", "call", "payload", "chars", "ms"}
    more = {name: value for name, value in line.items() if name not in known and not name.startswith("_")}
    words = [kind]
    if "tool" in line:
        words.append(f"{line['tool']} {_short(json.dumps(line.get('input'), ensure_ascii=False))}")
    if kind == "tool_result":
        words.append({True: "ok", False: "failed", None: "?"}[line["ok"]])
    words += [f"{name}={value}" for name, value in more.items()]
    return " ".join(words) + (f": {_short(line['text'])}" if "text" in line else "")


def _short(text: str) -> str:
    text = text.replace("\n", "⏎")
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}… ({len(text)})"


def main(names: list[str]) -> None:
    from tests.recorded import landed

    for client in names or clients.CLIENTS:
        for path in sequences(client):
            path.with_suffix(".turns").write_text(told(landed(events(client, path))), "utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
