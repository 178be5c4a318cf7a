"""`neosian path`: the folder of a scope, for `cd`, an editor and git."""

from __future__ import annotations

import argparse

from neosian import output, projects, scope
from neosian.commands._scopes import seen


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "scope", metavar="SCOPE", nargs="?", help="user:alice/proj:shop (default: where turns of here go)"
    )
    parser.add_argument("--json", action="store_true", help="print one object: scope, path, exists")


def run(args: argparse.Namespace) -> int:
    home = scope.home(args.root)
    text = scope.check(args.scope) if args.scope else seen(args).turns
    store = projects.open_store(home, text)
    if args.json:
        output.as_json({"scope": text, "path": store.path, "exists": store.exists})
        return 0
    output.text(store.path)
    if not store.exists:
        output.note(f"Nothing has been recorded for {text} yet: the folder is not there.")
    return 0
