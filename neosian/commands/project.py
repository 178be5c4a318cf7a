"""`neosian project`: the projects of this home; one renamed, two made one, one followed to its new folder."""

from __future__ import annotations

import argparse
import os
from shlex import quote
from typing import Any

from neosian import mcp_install, output, registry, scope
from neosian.commands import _installing
from neosian.commands._writing import writer


def configure(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "List the projects that have a memory, or are known. A project is a folder (its main git work tree); it is "
        "known by the addresses of its remotes and by its path, which stand in projects.toml of your own scope."
    )
    parser.add_argument("--json", action="store_true", help="print JSON instead")
    actions = parser.add_subparsers(dest="action", metavar="list | rename | merge | move")
    _action(actions, "list", "list the projects (so does no word at all)")
    rename = _action(actions, "rename", "give a project another name; its memory comes along")
    rename.add_argument("old", metavar="OLD", help="its name")
    rename.add_argument("new", metavar="NEW", help="the new one: letters, digits and -, in lower case")
    merge = _action(actions, "merge", "make one project of two, with both histories; the first name goes")
    merge.add_argument("old", metavar="FROM", help="the project whose turns and documents move")
    merge.add_argument("new", metavar="INTO", help="the project that gets them")
    move = _action(actions, "move", "tell where a project's folder went")
    move.add_argument("old", metavar="NAME | OLD-FOLDER", help="the project, or the folder it left")
    move.add_argument("new", metavar="NEW-FOLDER", help="where it is now")


def run(args: argparse.Namespace) -> int:
    home = scope.home(args.root)
    if args.action == "rename":
        return _rename(args, home)
    if args.action == "merge":
        return _merge(args, home)
    if args.action == "move":
        return _move(args, home)
    return _list(args, home)


def _action(actions: Any, name: str, about: str) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = actions.add_parser(
        name, help=about, description=about[0].upper() + about[1:] + "."
    )
    _installing.add_flag(parser, "--root", metavar="DIR", help="the home")
    _installing.add_flag(parser, "--json", action="store_true", help="print JSON instead")
    return parser


def _list(args: argparse.Namespace, home: str) -> int:
    found = registry.listed(home)
    if args.json:
        output.as_json([each.json() for each in found])
        return 0
    rows = [
        (
            each.name, _number(each.turns), _number(each.documents),
            output.when(each.last)[:16] if each.last else "never",
            "off" if each.off else "", ", ".join(each.here or each.identities),
        )
        for each in found
    ]  # fmt: skip
    head = ("project", "turns", "documents", "last turn", "", "where")
    output.text(output.table(rows, head, free=True) if rows else "No project yet.")
    return 0


def _number(count: int | None) -> str:
    return "-" if count is None else str(count)


def _rename(args: argparse.Namespace, home: str) -> int:
    name = registry.rename(home, args.old, args.new, writer().signature())
    if args.json:
        output.as_json({"old": args.old, "new": name})
    else:
        output.text(f"{args.old} is called {name} now.")
        output.note(f"To take it back: neosian project rename {quote(name)} {quote(args.old)}")
        _tell_spelled_out(args.old)
    return 0


def _merge(args: argparse.Namespace, home: str) -> int:
    done = registry.merge(home, args.old, args.new, writer().signature())
    if args.json:
        output.as_json({"from": args.old, "into": args.new, **done.__dict__})
        return 0
    told = f" (commit {done.commit[:10]})" if done.commit else ""
    output.text(f"{args.old} is part of {args.new} now, with all its turns and documents{told}.")
    for path, other in done.both.items():
        output.note(
            f"Both had {path}: that of {args.old} is kept as {other}. Make one of them, or keep both."
        )
    for path in done.merged:
        output.note(f"Both had changed {path}: it holds what both say.")
    for name, url in done.remotes.items():
        output.note(f"{args.old} had the remote {name} ({url}), which {args.new} does not get.")
    if done.adopted:
        output.note(f"Edits that lay in the folders landed first: {', '.join(done.adopted)}.")
    _tell_spelled_out(args.old)
    return 0


def _move(args: argparse.Namespace, home: str) -> int:
    name, old, new = registry.move(home, args.old, args.new, writer().signature())
    if args.json:
        output.as_json({"project": name, "old": old or None, "new": new})
    else:
        output.text(f"{name} is known by {new} now" + (f", no more by {old}." if old else "."))
    return 0


def _tell_spelled_out(name: str) -> None:
    """Say which clients' settings spell the name out that is no more."""
    for row in mcp_install.registered(os.environ, scope.working_directory()):
        if name in row["command"] or any(str(word).endswith(f"/proj:{name}") for word in row["command"]):
            output.note(f"{row['file']} starts the MCP server for {name}, which is no more: install it anew.")
