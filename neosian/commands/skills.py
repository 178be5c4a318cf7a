"""`neosian skills`: what the agents know how to do."""

from __future__ import annotations

import argparse

from neosian import output, scope, skills
from neosian.commands._scopes import add_mounts, seen
from neosian.wiki import Wiki


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", nargs="?", help="show this one whole (default: list all)")
    parser.add_argument("file", metavar="FILE", nargs="?", default="", help="another file of its folder")
    add_mounts(parser)
    parser.add_argument(
        "--json", action="store_true", help="print one array, of one skill an object with its text"
    )


def run(args: argparse.Namespace) -> int:
    wiki = Wiki(scope.home(args.root), seen(args))
    if args.name:
        said = skills.load(wiki, args.name, args.file)
        output.as_json({"name": args.name, "text": said}) if args.json else output.text(said.rstrip("\n"))
        return 0
    found = skills.skills(wiki)
    if args.json:
        output.as_json([skill.json() for skill in found])
    elif found:
        output.text(
            output.table([(skill.name, str(skill.place), skill.description) for skill in found], free=True)
        )
    else:
        output.note("No skill yet (neosian memory create skills/NAME/SKILL.md --template how-to).")
    return 0
