"""What `neosian off` and `neosian on` share."""

from __future__ import annotations

import argparse
import os
from shlex import quote

from neosian import output, scope, switch
from neosian.errors import UsageError


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "directory", metavar="DIR", nargs="?", help="the project in DIR, its subfolders and linked work trees"
    )
    parser.add_argument("--project", action="store_true", help="the project around the current folder")
    parser.add_argument("--json", action="store_true", help="print one object: changed, off, projects")


def run(args: argparse.Namespace, is_on: bool) -> int:
    """Switch what is meant, and say how things stand then."""
    home = scope.home(args.root)
    root = ""
    if args.directory is not None or args.project:
        directory = scope.working_directory() if args.directory is None else _named(args.directory)
        root = _project(home, directory, args.command)
    changed = switch.switch_project(home, root, is_on) if root else switch.switch(home, is_on)
    if args.json:
        projects = switch.off_projects(home)
        output.as_json({"changed": changed, "off": switch.is_off(home), "projects": projects or []})
        return 0
    output.text(_done(root, is_on, changed))
    for line in _rest(home, root, is_on):
        output.note(line)
    return 0


def _named(directory: str) -> str:
    """A folder's name. An empty one comes from a variable that was not set, and does not mean everything."""
    if not directory:
        raise UsageError("The name of the folder is empty, so nothing was switched.", "neosian project list")
    return directory


def _project(home: str, directory: str, word: str) -> str:
    """The folder of the project that is meant. One that was switched off and is gone by now can still be named."""
    full = os.path.abspath(directory)
    if full in (switch.off_projects(home) or ()):
        return full
    if not os.path.isdir(full):
        raise UsageError(f"{directory} is no folder, so no project was switched.", "neosian project list")
    root = scope.project_root(full)
    if root is None:
        raise UsageError(f"{full} belongs to no project.", f"neosian {word}, which is for everything")
    return root


def _done(root: str, is_on: bool, changed: bool) -> str:
    what = f"The project in {root}" if root else "neosian"
    if not changed:
        return f"{what} was {'on' if is_on else 'off'} already."
    if is_on:
        return f"{what} is on again: sessions are recorded, and told what memory knows."
    return f"{what} is off: nothing is recorded there, and no session is told anything."


def _rest(home: str, root: str, is_on: bool) -> list[str]:
    """What else counts, and the way back."""
    said = []
    named = f" {quote(root)}" if root else ""
    if not is_on:
        said.append(f"What was recorded stays. To go on: neosian on{named}")
    elif root and switch.is_off(home):
        said.append(
            "All of neosian is switched off, so this project is still off. To change that: neosian on"
        )
    elif root and (above := switch.over(home, root)):
        said.append(
            f"{above} is switched off, which this project lies in. To change that: neosian on {quote(above)}"
        )
    elif not root:
        said += [f"Still off: {each} (neosian on {quote(each)})" for each in switch.off_projects(home) or ()]
    if os.environ.get("NEOSIAN_OFF"):
        said.append("NEOSIAN_OFF is set here: what is started from this shell is recorded in neither case.")
    return said
