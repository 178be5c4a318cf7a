"""`neosian board`: what is being done now, and by whom."""

from __future__ import annotations

import argparse
import time

from neosian import board, output, scope
from neosian.commands._scopes import add_mounts, seen
from neosian.commands._writing import tell, writer
from neosian.errors import UsageError
from neosian.memory import Memory
from neosian.wiki import Wiki


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "verb", metavar="VERB", nargs="?", choices=tuple(board.STATUSES), help="add, start, done or drop"
    )
    parser.add_argument("item", metavar="ITEM", nargs="*", help="the words of a new item, or an item's name")
    parser.add_argument("--all", action="store_true", help="list what is done or dropped, too")
    add_mounts(parser)
    parser.add_argument("--json", action="store_true", help="print one array, of a change one object")


def run(args: argparse.Namespace) -> int:
    wiki = Wiki(scope.home(args.root), seen(args))
    if args.verb:
        named = " ".join(args.item)
        if not named:
            raise UsageError(
                f"What is to be {args.verb}ed?" if args.verb != "done" else "What is done?", "neosian board"
            )
        memory = Memory(wiki, writer())
        tell(args, board.add(memory, named) if args.verb == "add" else board.update(memory, named, args.verb))
        return 0
    found = [item for item in board.items(wiki) if item.is_open or args.all]
    if args.json:
        output.as_json([item.json() for item in found])
    elif found:
        now = time.time()
        rows = [
            (
                item.slug,
                item.entry.status,
                item.title,
                item.entry.holder or "-",
                output.ago(now - item.entry.changed),
            )
            for item in found
        ]
        output.text(output.table(rows, ("item", "status", "what", "held by", "changed")))
    else:
        output.note("Nothing is open (neosian board add 'What to do').")
    return 0
