"""`neosian diff`: what changed in documents, between two commits or up to what lies in the folder now."""

from __future__ import annotations

import argparse
import os
from contextlib import closing

from neosian import commits, history, output
from neosian.commands._scopes import add_scope, holding, locate, shown, tell_saved
from neosian.errors import NeosianError, UsageError
from neosian.history import Comparison
from neosian.mounts import Mount
from neosian.store import Store


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "words", metavar="PATH | REV[..REV]", nargs="*",
        help="a document or folder (default: all documents), and from which commit to which (default: its last change; "
        "of one commit alone: from there to now), in either order",
    )  # fmt: skip
    add_scope(parser)
    parser.add_argument("--json", action="store_true", help="print one object: path, old, new, files")


def run(args: argparse.Namespace) -> int:
    mount, store, path, old, new = _asked(args)
    with closing(store.repo):
        found = history.compare(store, path, old, new)
    if args.json:
        output.as_json(_as_object(found, store, path))
        return 0
    if found.differences:
        output.diff(found.text)
    see = f" To see it: {history.command(store, 'diff', *([path] if path else []), 'main')}"
    with closing(store.repo):
        is_saved = old is None and tell_saved(mount, store, path, see)
    if not (found.differences or is_saved):
        output.note(f"Nothing differs at {shown(mount, path)} (see: neosian log).")
    return 0


def _asked(args: argparse.Namespace) -> tuple[Mount, Store, str, str | None, str | None]:
    """The scope, the path in it, and the revisions that the words mean."""
    if len(args.words) > 2:
        raise UsageError("A path and a range of commits are wanted, no more.", "neosian diff PATH REV..REV")
    if len(args.words) == 2:
        name, revisions = args.words
        if not _is_there(args, name) and _is_there(args, revisions):  # as git has them
            name, revisions = revisions, name
        mount, store, path = locate(args, name)
        return mount, store, path, *_range(revisions)
    if not args.words or _is_path(args, args.words[0]):
        mount, store, path = locate(args, args.words[0] if args.words else "")
        return mount, store, path, None, None
    old, new = _range(args.words[0])
    mount, store = holding(args, old)
    return mount, store, "", old, new


def _range(text: str) -> tuple[str, str | None]:
    """The two revisions of `REV..REV`; one alone reaches to now."""
    old, dots, new = text.partition("..")
    if dots and (not old or new.startswith(".")):
        raise UsageError(f"{text!r} is no range of commits.", "neosian diff PATH REV..REV")
    return old, new or None


def _is_path(args: argparse.Namespace, word: str) -> bool:
    """Whether one word alone means a path: it looks like one, lies there, or is nothing that git knows."""
    if word.startswith(("./", "../")) or _is_there(args, word):
        return True
    if ".." in word:
        return False
    try:
        _, store = holding(args, word)
        with closing(store.repo):
            return not commits.revision(store.repo, word)
    except commits.UnknownRevision as error:
        if error.candidates:
            raise
        raise NeosianError(
            f"There is neither a document nor a commit {word} here: documents are named as in project/tools/x.md,"
            " commits as neosian log shows them.",
            "neosian log",
        ) from None


def _is_there(args: argparse.Namespace, word: str) -> bool:
    """Whether a word names what lies in a scope, or once did."""
    if word.startswith("/"):
        return True
    try:
        _, store, path = locate(args, word)
    except UsageError:  # `main..HEAD` leads nowhere as a path
        return False
    if os.path.lexists(os.path.join(store.path, path)):
        return True
    with closing(store.repo):
        return store.exists and history.last_change(store, path) is not None


def _as_object(found: Comparison, store: Store, path: str) -> dict[str, object]:
    files = [
        {"path": each.path, "was": each.was, "status": each.status, "diff": each.text}
        for each in found.differences
    ]
    return {"scope": store.scope, "path": path, "old": found.old, "new": found.new, "files": files}
