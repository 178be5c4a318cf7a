"""`neosian revert`: take back what a commit did to documents, or put a document back as it stood."""

from __future__ import annotations

import argparse
import re
from contextlib import closing
from shlex import quote

from neosian import commits, output, publish, revert, scope
from neosian.adopting import Adopter
from neosian.commands._scopes import add_scope, holding, locate, shown
from neosian.commands._writing import writer
from neosian.errors import UsageError
from neosian.mounts import Mount
from neosian.revert import Reverted
from neosian.store import Store

_PATH_AT = re.compile(r"(.+)@(?!\{)((?:[^@]|@\{)*)", re.DOTALL)
"""`PATH@REV`; a path may have an `@` too, and a revision `@{...}`."""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "what",
        metavar="COMMIT | PATH@REV",
        help="a commit of documents, or a document and how it is to stand",
    )
    add_scope(parser)
    parser.add_argument("--json", action="store_true", help="print one object: commit, paths, adopted, left")


def run(args: argparse.Namespace) -> int:
    author, named_by = writer().signature(), Adopter(scope.home(args.root)).named_by
    found = _PATH_AT.fullmatch(args.what)
    if found:
        mount, store, path = locate(args, found[1])
        with closing(store.repo):
            done = revert.put_back(store, path, found[2], author, named_by)
    elif "/" in args.what or args.what.endswith(".md"):
        raise UsageError(
            f"{args.what} is to stand as at which commit?", f"neosian revert {quote(args.what)}@REV"
        )
    else:
        mount, store = holding(args, args.what)
        with closing(store.repo):
            done = revert.take_back(store, args.what, author, named_by)
    _tell(
        args,
        mount,
        store,
        done,
        f"{found[1]} stands as at {found[2]} again" if found else f"Took {args.what} back",
    )
    return 0


def _tell(args: argparse.Namespace, mount: Mount, store: Store, done: Reverted, did: str) -> None:
    if args.json:
        output.as_json(
            {
                "scope": store.scope, "commit": done.commit, "paths": done.paths, "adopted": done.adopted,
                "left": done.left,
            }
        )  # fmt: skip
    elif done.commit:
        paths = ", ".join(shown(mount, path) for path in done.paths)
        output.text(f"{did} ({paths}, commit {done.commit[:10]})")
        output.note(f"To take it back: {commits.undo_command(done.commit)}")
    if done.commit is None:
        output.note("It is so already; nothing was changed.")
    elif not publish.checked_out(store.repo):
        output.note("Another branch is checked out in the folder, so only main has it.")
    if done.adopted:
        output.note(f"Edits that lay in the folder landed first: {', '.join(done.adopted)}.")
    if done.left:
        output.note("What the commit recorded of turns stays: turn logs are never taken back.")
