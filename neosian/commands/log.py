"""`neosian log`: the diary of a scope, a folder or a document, newest first."""

from __future__ import annotations

import argparse
from contextlib import closing

from neosian import history, output
from neosian.commands._commits import as_object, brief, told
from neosian.commands._scopes import add_scope, locate, shown, tell_saved, whole


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "path", metavar="PATH", nargs="?", default="",
        help="a document or folder, such as /project/tools/x.md (default: all of this directory's project)",
    )  # fmt: skip
    add_scope(parser)
    parser.add_argument("--limit", metavar="N", type=whole, default=50, help="at most so many (default: 50)")
    parser.add_argument("--json", action="store_true", help="print one array")


def run(args: argparse.Namespace) -> int:
    mount, store, path = locate(args, args.path)
    with closing(store.repo):
        found = history.log(store, path, args.limit)
    if args.json:
        output.as_json([as_object(commit, store.scope) for commit in found])
        return 0
    rows = [
        (output.when(commit.at), brief(commit.actor), commit.act, commit.id[:10], commit.subject)
        for commit in told(found)
    ]
    with closing(store.repo):
        is_saved = store.exists and tell_saved(mount, store, path)
    if rows:
        output.text(output.table(rows, ("time", "actor", "act", "commit", "subject"), free=True))
    elif not is_saved:
        output.note(f"Nothing was changed at {shown(mount, path)} yet (see: neosian status).")
    return 0
