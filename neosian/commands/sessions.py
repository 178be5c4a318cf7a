"""`neosian sessions`: the conversations of the scopes in sight, newest first."""

from __future__ import annotations

import argparse

from neosian import output, projects, recall, scope, turns
from neosian.commands._scopes import add_project, choose_project, mounted, whole

_PROMPT = 100  # columns of a prompt that say which session it was


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--limit", metavar="N", type=whole, default=50, help="at most so many (default: 50)")
    add_project(parser)
    parser.add_argument("--json", action="store_true", help="print one array")


def run(args: argparse.Namespace) -> int:
    choose_project(args)
    found = []
    for _, store in mounted(args):
        if store.exists:
            found += [(session, store.scope) for session in recall.sessions(store, args.limit, behind=None)]
    found.sort(key=lambda pair: -pair[0].last)
    if args.json:
        output.as_json(
            [
                {
                    "conversation": session.conversation, "client": session.client, "scope": scope,
                    "started": turns.stamp(session.started), "last": turns.stamp(session.last),
                    "turns": session.turns, "branch": session.branch, "first_prompt": session.first,
                    "last_prompt": session.prompt,
                }
                for session, scope in found[: args.limit]
            ]
        )  # fmt: skip
        return 0
    rows = [
        (output.when(session.last)[:16], str(session.turns), session.client,
         session.conversation, output.cut(session.first, _PROMPT))
        for session, _ in found[: args.limit]
    ]  # fmt: skip
    if rows:
        output.text(output.table(rows, ("last", "turns", "client", "conversation", "began with"), free=True))
    else:
        others = [store.scope for store in projects.stores(scope.home(args.root)) if store.exists]
        output.note("No session of this project has been recorded yet (see: neosian status).")
        if others and not args.scope:
            output.note(f"There is memory of {', '.join(others[:5])}: neosian sessions --scope SCOPE")
    return 0
