"""`neosian search`: turns and documents that fit some words, best first."""

from __future__ import annotations

import argparse
from shlex import quote

from neosian import output, projects, recall, scope
from neosian.commands._scopes import add_project, choose_project, mounted, whole
from neosian.errors import NeosianError, UsageError
from neosian.recall import moment
from neosian.store import Store


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("query", metavar="WORDS", nargs="*", help="any text")
    parser.add_argument("--kind", choices=("turn", "document"), help="only these")
    parser.add_argument("--conversation", metavar="ID", help="only turns of this conversation")
    parser.add_argument("--since", metavar="WHEN", type=moment, help="only turns since (2026-11-29, 3d, 2h)")
    parser.add_argument("--limit", metavar="N", type=whole, default=20, help="at most so many (default: 20)")
    add_project(parser)
    parser.add_argument("--json", action="store_true", help="print one array")


def run(args: argparse.Namespace) -> int:
    if not args.query:
        raise UsageError("Nothing to search for was given.", "neosian search WORDS")
    choose_project(args)
    stores = [(mount, store) for mount, store in mounted(args) if store.exists]
    hits = _found(args, stores)
    if args.json:
        output.as_json([hit.json() for hit in hits])
        return 0
    for hit in hits:
        output.text(hit.text())
    if not hits:
        output.note(
            "Nothing found." if stores else "Nothing has been recorded here yet (see: neosian status)."
        )
        if not args.scope:
            _tell_of_others(args, {store.scope for _, store in stores})
    return 0


def _found(args: argparse.Namespace, stores: list[tuple[str, Store]]) -> list[recall.Hit]:
    return recall.search_mounts(
        stores, " ".join(args.query), kind=args.kind, conversation=args.conversation, since=args.since,
        limit=args.limit, behind=None,
    )  # fmt: skip


def _tell_of_others(args: argparse.Namespace, searched: set[str]) -> None:
    """Say which scopes out of sight have what was searched for, and how to see it."""
    for store in projects.stores(scope.home(args.root)):
        if store.scope in searched:
            continue
        try:
            hits = _found(args, [("", store)])
        except NeosianError:
            continue  # not what was asked; `neosian status` tells of it
        if hits:
            many = (
                f"{args.limit} or more hits"
                if len(hits) == args.limit
                else f"{len(hits)} hit{'s' if len(hits) > 1 else ''}"
            )
            words = quote(" ".join(args.query))
            output.note(f"{many} in {store.scope}: neosian search {words} --scope {quote(store.scope)}")
