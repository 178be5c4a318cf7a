"""`neosian status`: how the memory is doing; exit 1 when something of ours is wrong."""

from __future__ import annotations

import argparse
from typing import Any

from neosian import health, output, scope

_BEGIN = "neosian record install --client claude-code --user --write"
_SERVE = "neosian mcp install --client claude-code --user --write"


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print one object")


def run(args: argparse.Namespace) -> int:
    found = health.report(scope.home(args.root), scope.working_directory())
    if args.json:
        output.as_json(found)
    else:
        output.text("\n\n".join(part for part in _parts(found) if part))
    return 1 if found["problems"] else 0


def _parts(found: dict[str, Any]) -> list[str]:
    spool = found["spool"]
    waits = (
        f"{spool['waiting']} events ({spool['bytes']} bytes) wait" if spool["waiting"] else "nothing waits"
    )
    aside = f", {spool['set_aside']} set aside" if spool["set_aside"] else ""
    scopes = [
        (
            row["scope"], str(row.get("turns", "?")), str(row.get("documents", "?")),
            (row.get("last_landing") or "never")[:19].replace("T", " "), row["index"],
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
        output.table([("home", found["home"]), *hooks, *servers, ("spool", waits + aside)]),
        output.table(scopes, ("scope", "turns", "documents", "last landing", "index"))
        if scopes
        else "No scope yet.",
        output.table(clients, ("client", "last event", "age")) if clients else "No client was heard yet.",
        "log\n" + "\n".join(f"  {line}" for line in found["log"]) if found["log"] else "",
        "\n".join(problems) or "All is well.",
    ]
