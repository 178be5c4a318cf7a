"""`neosian dream prompt`: what every question of a dream begins with, and copies of it to change."""

from __future__ import annotations

import argparse
import os

from neosian import files, output, scope
from neosian.dream import prompt

ACTION = "prompt"


def configure(actions: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    about = "show what every question to a model begins with, file by file"
    action = actions.add_parser(ACTION, help=about, description=f"{about[0].upper()}{about[1:]}.")
    action.add_argument(
        "--write", action="store_true", help="copy what is not there into the home, to be changed"
    )
    action.add_argument("--root", metavar="DIR", default=argparse.SUPPRESS, help="the home")
    action.add_argument("--json", action="store_true", default=argparse.SUPPRESS, help="print one array")


def run(args: argparse.Namespace) -> int:
    home = scope.home(args.root)
    folder = os.path.join(home, prompt.TEMPLATES)
    found = prompt.parts(home)
    copied = [each for each in found if not each.is_own] if args.write else []
    for each in copied:
        files.make_dir(folder)
        files.write(os.path.join(folder, each.name), each.text.encode())
    if args.json:
        output.as_json([each._asdict() for each in prompt.parts(home)])
        return 0
    for each in [] if args.write else found:
        output.text(f"{each.name}{' (yours)' if each.is_own else ''}")
        output.text("".join(f"    {line}\n" for line in each.text.strip().split("\n")).rstrip("\n"))
    if args.write:
        output.note(
            f"{output.many(len(copied), 'part')} copied to {folder}; those that were there are as they were."
        )
    else:
        output.note(f"To change a part, or to add one, write it below {folder}: neosian dream prompt --write")
    return 0
