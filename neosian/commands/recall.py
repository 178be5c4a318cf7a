"""`neosian recall`: a turn whole, as it stands in git, now or at a revision."""

from __future__ import annotations

import argparse

from neosian import conversations, output
from neosian.commands._scopes import add_scope, everywhere
from neosian.errors import UsageError
from neosian.transcript import whole


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "what", metavar="CONVERSATION[#N] | N", help="a conversation (or a turn of it), or a turn's number"
    )
    parser.add_argument(
        "--conversation", metavar="ID", help="the conversation of turn N; a unique beginning is enough"
    )
    parser.add_argument("--at", metavar="REV", help="as it stood at a commit of the scope")
    add_scope(parser)
    parser.add_argument("--json", action="store_true", help="print the lines of the log, as one array")


def run(args: argparse.Namespace) -> int:
    name, number = conversations.split(args.what)
    if args.conversation:
        if not (args.what.isascii() and args.what.isdigit() and len(args.what) < 10):
            raise UsageError(
                f"With --conversation a turn's number is wanted, not {args.what!r}.", "neosian sessions"
            )
        name, number = args.conversation, int(args.what)
    turns = conversations.find_turns(everywhere(args), name, number, args.at)
    if args.json:
        output.as_json([line for turn in turns for line in turn.lines])
    else:
        output.text("\n\n".join(whole(turn) for turn in turns))
    return 0
