"""`neosian audit`: what was changed in the scopes in sight, by whom and from which turn, newest first."""

from __future__ import annotations

import argparse

from neosian import audit, output
from neosian.commands._commits import as_object, brief, told
from neosian.commands._scopes import add_scope, mounted, whole
from neosian.commits import Commit
from neosian.conversations import split
from neosian.recall import moment


def configure(parser: argparse.ArgumentParser) -> None:
    add_scope(parser)
    parser.add_argument("--conversation", metavar="ID[#N]", help="of one conversation, or one turn of it")
    parser.add_argument("--actor", metavar="PREFIX", help="whose name begins so, such as claude-code:")
    parser.add_argument("--act", metavar="ACT", help="record, edit, memory, dream, ...")
    parser.add_argument("--path", metavar="PATH", help="a file or folder of the scope")
    parser.add_argument("--since", metavar="WHEN", type=moment, help="2026-11-29, 3d, 2h")
    parser.add_argument("--until", metavar="WHEN", type=moment, help="up to then")
    parser.add_argument("--limit", metavar="N", type=whole, default=50, help="at most so many (default: 50)")
    parser.add_argument("--json", action="store_true", help="print one array, every id whole")


def run(args: argparse.Namespace) -> int:
    name, turn = split(args.conversation) if args.conversation else (None, None)
    found = []
    for mount, store in mounted(args):
        path = _below(args.path, mount)
        if path is None and args.path:
            continue
        wanted = audit.Wanted(
            conversation=name,
            turn=turn,
            actor=args.actor,
            act=args.act,
            path=path,
            since=args.since,
            until=args.until,
        )
        found += [(commit, store.scope) for commit in audit.history(store, wanted, args.limit)]
    found = sorted(found, key=lambda pair: -pair[0].at)[: args.limit]
    if args.json:
        output.as_json([as_object(commit, scope) for commit, scope in found])
        return 0
    rows = [
        (output.when(commit.at), brief(commit.actor), commit.act,
         brief(_turn(commit)), commit.id[:10], commit.subject)
        for commit in told(commit for commit, _ in found)
    ]  # fmt: skip
    if rows:
        output.text(output.table(rows, ("time", "actor", "act", "turn", "commit", "subject"), free=True))
    else:
        output.note("Nothing was changed here yet, or nothing fits (see: neosian status).")
    return 0


def _turn(commit: Commit) -> str:
    """The turn that a commit came of; of a dream's the conversation, "" for one of neither."""
    return f"{commit.conversation}#{commit.turn}" if commit.turn is not None else commit.conversation


def _below(path: str | None, mount: str) -> str | None:
    """The path within a scope of one as search prints it (`/project/tools/x.md`); None when it is in another."""
    if path is None or not path.startswith("/"):
        return path
    return path[len(mount) + 1 :] if f"{path}/".startswith(f"{mount}/") else None
