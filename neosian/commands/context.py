"""`neosian context`: the very block a session is told at its start, and the size of each part."""

from __future__ import annotations

import argparse
import os

from neosian import config, output, scope
from neosian.beginning import block_for
from neosian.clients import CLIENTS, adapter
from neosian.commands._scopes import add_mounts, seen


def configure(parser: argparse.ArgumentParser) -> None:
    add_mounts(parser)
    parser.add_argument("--client", choices=CLIENTS, default=CLIENTS[0], help="whose limits count")
    parser.add_argument(
        "--cwd", metavar="DIR", default=".", help="where the session would start (default: here)"
    )
    parser.add_argument(
        "--source", choices=("startup", "resume", "clear", "fork", "compact"), default="startup",
        help="how the session begins (default: startup)",
    )  # fmt: skip
    parser.add_argument(
        "--conversation", metavar="ID", default="", help="the session itself (for resume and compact)"
    )
    parser.add_argument("--json", action="store_true", help="print one object: text, cost, parts")


def run(args: argparse.Namespace) -> int:
    home = scope.home(args.root)
    settings, wrong = config.load(home)
    if wrong:
        output.note(wrong)
    program = adapter(args.client)
    where = os.path.normpath(os.path.join(scope.working_directory(), args.cwd))
    shown = seen(args, where)
    block = block_for(
        home, shown, source=args.source, conversation=args.conversation, client=args.client,
        budget=min(settings.context_budget, program.START_LIMIT), cost=program.cost, commits=None,
    )  # fmt: skip
    if args.json:
        output.as_json({"text": block.text, "cost": block.cost, "parts": dict(block.parts)})
        return 0
    output.text(block.text)
    output.note(
        output.table([*((name, str(cost)) for name, cost in block.parts), ("total", str(block.cost))])
    )
    return 0
