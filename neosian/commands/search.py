"""`neosian search`: turns and documents that fit some words, best first."""

from __future__ import annotations

import argparse

from neosian import output, recall
from neosian.commands._scopes import add_scope, mounted, whole
from neosian.errors import UsageError
from neosian.recall import moment


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("query", metavar="WORDS", nargs="*", help="any text")
    parser.add_argument("--kind", choices=("turn", "document"), help="only these")
    parser.add_argument("--conversation", metavar="ID", help="only turns of this conversation")
    parser.add_argument("--since", metavar="WHEN", type=moment, help="only turns since (2026-11-29, 3d, 2h)")
    parser.add_argument("--limit", metavar="N", type=whole, default=20, help="at most so many (default: 20)")
    add_scope(parser)
    parser.add_argument("--json", action="store_true", help="print one array")


def run(args: argparse.Namespace) -> int:
    if not args.query:
        raise UsageError("Nothing to search for was given.", "neosian search WORDS")
    stores = [(mount, store) for mount, store in mounted(args) if store.exists]
    hits = recall.search_mounts(
        stores, " ".join(args.query), kind=args.kind, conversation=args.conversation, since=args.since,
        limit=args.limit, behind=None,
    )  # fmt: skip
    if args.json:
        output.as_json([hit.json() for hit in hits])
        return 0
    for hit in hits:
        output.text(hit.text())
    if not hits:
        output.note(
            "Nothing found." if stores else "Nothing has been recorded here yet (see: neosian status)."
        )
    return 0
