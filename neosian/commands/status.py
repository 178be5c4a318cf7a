"""`neosian status`: how the memory is doing; exit 1 when something of ours is wrong."""

from __future__ import annotations

import argparse
import os
import time
from typing import Any

from neosian import health, output, scope, turns

_BEGIN = "neosian setup"
_SILENT = 600.0  # seconds after which it is said when the last event came
_NAMED = 10  # documents that are named one by one
_SAID = {"never fired": "installed, never fired", "heard": "without hooks here"}
"""What is said of a client's state where something is to be done about it."""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print one object")


def _saved(scopes: list[dict[str, Any]]) -> str:
    """The documents that the next landing commits."""
    paths = [os.path.join(row["path"], path) for row in scopes for path in row.get("edits_saved", ())]
    more = [f"  and {len(paths) - _NAMED} more"] if len(paths) > _NAMED else []
    head = "saved, not committed yet: the next landing does it, or neosian watch"
    return "\n".join([head, *(f"  {path}" for path in paths[:_NAMED]), *more]) if paths else ""


def _log(found: dict[str, Any]) -> str:
    """What the log says last, what of it is old, and where the rest is."""
    path = os.path.join(found["home"], "log", "neosian.log")
    lines = [
        f"  {output.when(turns.seconds(row['at']))} {'(old) ' if row['old'] else ''}{row['what']}"
        for row in found["log"]
    ]
    head = "log (old: from before the last landing, or of another day)"
    return "\n".join([head, *lines, f"  all of it: {path}; to clear it, remove that file"]) if lines else ""


def run(args: argparse.Namespace) -> int:
    found = health.report(scope.home(args.root), scope.working_directory())
    if args.json:
        output.as_json(found)
    else:
        output.text("\n\n".join(part for part in _parts(found) if part))
    return 1 if found["problems"] else 0


def _dreams(found: dict[str, Any]) -> str:
    """What was dreamt, a line a scope in which there is something to say, and what to do about it."""
    rows, hints = [], []
    for row in found["scopes"]:
        dream = row.get("dream") or {}
        last, waits = dream.get("last"), dream.get("to_review", [])
        rejected, aside = sum(dream.get("rejected", {}).values()), dream.get("set_aside", [])
        if any((last, waits, rejected, aside, dream.get("waiting"))):
            rows.append((
                row["scope"], str(dream["waiting"]), output.when(turns.seconds(last["at"]))[:16] if last else "never",
                _came_to(last), str(len(waits)), str(rejected),
            ))  # fmt: skip
        if waits:
            named = ", ".join(waits[:_NAMED]) + (", …" if len(waits) > _NAMED else "")
            hints.append(f"{named} of {row['scope']} can be looked at: neosian dream review")
        if refused := dream.get("refused"):
            hints.append(
                f"The gate refused {refused['path']}: {refused['reason']} All that was rejected: neosian dream rejected"
            )
        hints += [
            f"Session {each['conversation']} could not be dreamt and is tried again: {each['why']}"
            for each in dream.get("failing", [])
        ]
        hints += [
            f"Session {each['conversation']} was set aside after {each['tries']} tries: {each['why']}"
            " To try once more: neosian dream --again"
            for each in aside
        ]
        if dream.get("unfinished") and not found["dream"]["running"]:
            stopped = f"The dream {dream['unfinished'][0]} of {row['scope']} was stopped"
            hints.append(f"{stopped}; the next one lands what it had: neosian dream")
    if rows:
        hints.insert(
            0, output.table(rows, ("scope", "to dream", "last dream", "came to", "for review", "rejected"))
        )
    return "\n".join([*hints, *_spent(found["dream"])])


def _came_to(last: dict[str, Any] | None) -> str:
    """What the last dream of a scope gave."""
    if last is None:
        return ""
    given = f"{output.many(last['sessions'], 'session')}, {output.many(last['notes'], 'note')}"
    return f"{given}, taken back" if last["undone"] else given


def _spent(dream: dict[str, Any]) -> list[str]:
    """What the dream is doing, how the last one ended, and what was spent today."""
    under_way, ended = dream["running"], dream["ended"]
    told = []
    if ended and ended["stopped"]:
        when = output.when(turns.seconds(ended["at"]))[:16]
        told.append(f"The dream of {when} stopped: {ended['stopped'].rstrip('.')}. To go on: neosian dream")
    if under_way:
        since = output.when(turns.seconds(under_way["since"]))
        told.append(f"A dream is under way: process {under_way['process']}, since {since}.")
    if dream["tokens_today"]:
        money = f", about ${dream['cost_today']:.2f}" if dream["cost_today"] else ""
        told.append(f"Dreams spent {dream['tokens_today']:,} tokens today{money}.")
    return told


def _schedule(found: dict[str, Any] | None) -> str:
    """Whether the dream runs by itself, and when next."""
    if found is None:
        return "none: a dream runs when you say so (neosian dream schedule)"
    following = f", next at {output.when(turns.seconds(found['next']))[:16]}" if found["next"] else ""
    return f"{found['every']} by {found['by']}{following}"


def _parts(found: dict[str, Any]) -> list[str]:
    scopes = [
        (
            row["scope"], str(row.get("turns", "?")), str(row.get("documents", "?")),
            output.when(turns.seconds(row["last_landing"])) if row.get("last_landing") else "never", row["index"],
        )
        for row in found["scopes"]
    ]  # fmt: skip
    problems = [
        f"! {row['what']}" + (f"\n    try: {row['try']}" if row["try"] else "") for row in found["problems"]
    ]
    return [
        output.table(
            [("home", found["home"]), ("schedule", _schedule(found["schedule"])), *_spool(found["spool"])]
        ),
        output.table(scopes, ("scope", "turns", "documents", "last landing", "index"))
        if scopes
        else "No scope yet.",
        _dreams(found),
        _clients(found),
        _saved(found["scopes"]),
        _log(found),
        "\n".join(problems) or "All is well.",
    ]


def _spool(spool: dict[str, Any]) -> list[tuple[str, str]]:
    """What became of events, each in words of its own: waits, set aside, lost, held up, left out by choice."""
    waits = (
        f"{spool['waiting']} events ({spool['bytes']} bytes) wait" if spool["waiting"] else "nothing waits"
    )
    newest = turns.seconds(spool["newest"]) if spool["newest"] else time.time()
    if (silent := time.time() - newest) > _SILENT:
        waits += f", the last came {output.ago(silent)}: a turn that runs lands at its stop, a killed client's later"
    rows = [("spool", waits)]
    if spool["set_aside"]:
        rows.append(("set aside", f"{spool['set_aside']} events that could not be read"))
    if spool["lost"]:
        rows.append(("lost", f"{spool['lost']} events in the last week, see the log"))
    rows += [("held up", f"by the lock {lock}") for lock in spool["held_up"]]
    return rows + [("by choice", said) for said in spool["by_choice"]]


def _clients(found: dict[str, Any]) -> str:
    """A row a client, and below what is to be done about some of them."""
    rows = [
        (
            row["title"] + ("" if row["verified"] or row["state"] == "unknown" else " (unverified)"),
            row["version"] or "", ", ".join(row["hooks"]) or "-", ", ".join(row["mcp"]) or "-",
            row["last"] or row["state"], output.ago(row["age"]) if row["last"] else "",
        )
        for row in found["clients"]
    ]  # fmt: skip
    head = ("client", "version", "hooks", "mcp", "last event", "age")
    hints = (
        []
        if found["hooks"]
        else [f"No hooks are here for this directory, so nothing new is recorded: {_BEGIN}"]
    )
    fresh = [row for row in found["clients"] if row["state"] == "not set up"]
    by_setup = [row["title"] for row in fresh if row["try"].startswith("neosian setup")]
    if by_setup:
        hints.append(f"Not set up: {', '.join(by_setup)}: {_BEGIN}")
    hints += [
        f"{row['title']} is not told of the MCP server; it is by its own command: {row['try']}"
        for row in fresh
        if row["title"] not in by_setup
    ]
    hints += [
        f"{row['title']}, {_SAID[row['state']]}: {row['try']}" for row in found["clients"]
        if row["try"] and row["state"] in _SAID
    ]  # fmt: skip
    hints += [
        f"{row['title']} is not told of the MCP server: {row['tell']}"
        for row in found["clients"] if row["hooks"] and row["tell"]
    ]  # fmt: skip
    table = output.table(rows, head) if rows else "No client is here, and none was heard."
    return "\n".join([table, *hints])
