"""`neosian status`: how the memory is doing; exit 1 when something of ours is wrong."""

from __future__ import annotations

import argparse
import os
import time
from typing import Any

from neosian import health, output, scope, turns

_BEGIN = "neosian record install --client claude-code --user --write"
_SILENT = 600.0  # seconds after which it is said when the last event came
_NAMED = 10  # documents that are named one by one
_SERVE = "neosian mcp install --client claude-code --user --write"


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
    spool = found["spool"]
    waits = (
        f"{spool['waiting']} events ({spool['bytes']} bytes) wait" if spool["waiting"] else "nothing waits"
    )
    newest = turns.seconds(spool["newest"]) if spool["newest"] else time.time()
    if (silent := time.time() - newest) > _SILENT:
        waits += f", the last came {output.ago(silent)}: a turn that runs lands at its stop, a killed client's later"
    aside = f", {spool['set_aside']} set aside" if spool["set_aside"] else ""
    scopes = [
        (
            row["scope"], str(row.get("turns", "?")), str(row.get("documents", "?")),
            output.when(turns.seconds(row["last_landing"])) if row.get("last_landing") else "never", row["index"],
        )
        for row in found["scopes"]
    ]  # fmt: skip
    hooks = [
        ("hooks", f"{row['client']}, {row['level']}: {row['events']} events in {row['file']}")
        for row in found["hooks"]
    ] or [("hooks", f"none for this directory, so nothing new is recorded ({_BEGIN})")]
    servers = [("mcp", f"{row['client']}, {row['level']}: {row['file']}") for row in found["mcp"]] or [
        ("mcp", f"no client is told of the server ({_SERVE})")
    ]
    clients = [(row["client"], row["last"], output.ago(row["age"])) for row in found["clients"]]
    problems = [
        f"! {row['what']}" + (f"\n    try: {row['try']}" if row["try"] else "") for row in found["problems"]
    ]
    return [
        output.table(
            [
                ("home", found["home"]),
                *hooks,
                *servers,
                ("schedule", _schedule(found["schedule"])),
                ("spool", waits + aside),
            ]
        ),
        output.table(scopes, ("scope", "turns", "documents", "last landing", "index"))
        if scopes
        else "No scope yet.",
        _dreams(found),
        output.table(clients, ("client", "last event", "age")) if clients else "No client was heard yet.",
        _saved(found["scopes"]),
        _log(found),
        "\n".join(problems) or "All is well.",
    ]
