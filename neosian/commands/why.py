"""`neosian why`: for each line of a document who wrote it, when, through which client, and from which turns it came."""

from __future__ import annotations

import argparse
import re
from contextlib import ExitStack, closing

from neosian import output, turns, why
from neosian.commands._commits import brief
from neosian.commands._scopes import add_scope, everywhere, locate, shown
from neosian.why import Passage, Source

_LINE = re.compile(r"(.+):(\d{1,9})", re.DOTALL)


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "what", metavar="PATH[:LINE]", help="a document, such as /project/tools/x.md, or a line of it"
    )
    add_scope(parser)
    parser.add_argument("--json", action="store_true", help="print one array")


def run(args: argparse.Namespace) -> int:
    asked = _LINE.fullmatch(args.what)
    mount, store, path = locate(args, asked[1] if asked else args.what)
    with ExitStack() as stack:
        stores = [store, *everywhere(args)]
        for each in stores:
            stack.enter_context(closing(each.repo))
        found = why.explain(store, path, int(asked[2]) if asked else None, stores)
    if args.json:
        output.as_json([_as_object(passage) for passage in found])
    elif found:
        output.text("\n\n".join(_told(found)))
    else:
        output.note(f"{shown(mount, path)} is empty.")
    return 0


def _told(found: list[Passage]) -> list[str]:
    """The passages as text; the turns of a commit stand below its first one."""
    parts, named = [], set()
    for passage in found:
        rows = [
            f"{_numbers(passage)}  {_who(passage)}",
            *(f"    | {line}".rstrip() for line in passage.lines),
        ]
        if passage.commit and passage.commit.id not in named:
            named.add(passage.commit.id)
            rows += [f"    from {_source(source)}" for source in passage.sources]
        parts.append("\n".join(rows))
    return parts


def _numbers(passage: Passage) -> str:
    last = passage.first + len(passage.lines) - 1
    return str(last) if last == passage.first else f"{passage.first}-{last}"


def _who(passage: Passage) -> str:
    commit = passage.commit
    if commit is None:
        return "not landed yet"
    through = f" through {commit.client}" if commit.client else ""
    return f"{brief(commit.actor)}{through}, {output.when(commit.at)}, {commit.id[:10]} {commit.subject}"


def _source(source: Source) -> str:
    name = source.conversation if source.turn is None else f"{source.conversation}#{source.turn}"
    return f"{name}: {source.prompt}" if source.prompt else name


def _as_object(passage: Passage) -> dict[str, object]:
    commit = passage.commit
    return {
        "lines": [passage.first, passage.first + len(passage.lines) - 1], "text": passage.lines,
        "commit": commit and commit.id, "at": commit and turns.stamp(commit.at), "actor": commit and commit.actor,
        "act": commit and commit.act, "client": (commit and commit.client) or None,
        "subject": commit and commit.subject,
        "sources": [
            {"conversation": each.conversation, "turn": each.turn, "prompt": each.prompt or None}
            for each in passage.sources
        ],
    }  # fmt: skip
