"""`neosian replay`: word for word what an agent was given, at the start of its session and with each prompt."""

from __future__ import annotations

import argparse
from typing import Any

from neosian import conversations, output, scope, turns
from neosian.commands._scopes import add_scope, everywhere
from neosian.errors import NeosianError
from neosian.spool import Entry, Spool


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("what", metavar="CONVERSATION[#N]", help="a conversation, or one turn of it")
    add_scope(parser)
    parser.add_argument("--json", action="store_true", help="print one array: the context lines")


def run(args: argparse.Namespace) -> int:
    name, number = conversations.split(args.what)
    given = [line for line in _given(args, name) if number in (None, line["turn"])]
    if args.json:
        output.as_json(given)
        return 0
    for line in given:
        made = f", from commit {str(line['commit'])[:12]}" if line.get("commit") else ""
        late = "" if line["landed"] else ", not landed yet"
        at = output.when(turns.seconds(str(line["at"])))
        output.text(
            f"[{line['turn']}] {line.get('event', 'start')} {at}{made}{late}\n{line.get('text') or ''}"
        )
    if not given:
        output.note(f"Nothing was told to {args.what} (see: neosian recall {args.what}).")
    return 0


def _given(args: argparse.Namespace, name: str) -> list[dict[str, Any]]:
    """The context lines of a conversation, those that still wait in the spool at the end; ``landed`` tells which."""
    waiting = Spool(scope.home(args.root)).all_told()
    try:
        full, store = conversations.found_in(everywhere(args), name)
    except NeosianError:
        full = _waiting_one(name, waiting)
        if not full:
            raise
        return [_line(entry, 1) for entry in waiting if _key(entry) == full]
    try:
        known = conversations.turns_of(store.repo, full)
    finally:
        store.repo.close()
    landed = [{**line, "landed": True} for turn in known for line in turn.lines if line["kind"] == "context"]
    following = known[-1].number + 1 if known else 1
    return landed + [_line(entry, following) for entry in waiting if _key(entry) == full]


def _waiting_one(name: str, waiting: list[Entry]) -> str:
    """The conversation of this name that has nothing but what waits in the spool; "" when there is none."""
    keys = sorted({_key(entry) for entry in waiting})
    found = [key for key in keys if key.startswith(name) or key.partition(":")[2].startswith(name)]
    return (
        conversations.the_one(name, [key for key in found if key.endswith(f":{name}")] or found)
        if found
        else ""
    )


def _key(entry: Entry) -> str:
    return f"{entry.spooled.client}:{entry.payload.get('session_id')}"


def _line(entry: Entry, turn: int) -> dict[str, Any]:
    """A spooled text as the line that it is going to be."""
    said = {
        name: entry.payload.get(name) for name in ("event", "source", "commit", "shown", "listed", "text")
    }
    kept = {name: value for name, value in said.items() if value not in (None, "")}
    return {"v": turns.VERSION, "turn": turn, "kind": "context", "at": turns.stamp(entry.spooled.at), **kept,
            "landed": False}  # fmt: skip
