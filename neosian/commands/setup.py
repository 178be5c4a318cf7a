"""`neosian setup`: hooks and MCP server for every client that is here, in one go; and all of it back out again."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from collections.abc import Sequence
from typing import Any

from neosian import output, setup, wiring
from neosian.clients.installers import SERVED, installer
from neosian.commands import _installing
from neosian.errors import NeosianError, UsageError
from neosian.setup import BY_HAND, CHANGE, LATER, LEFT_OUT, REFUSED, RIGHT, Step

_WHAT = {wiring.HOOKS: "hooks", wiring.SERVER: "MCP server"}


def configure(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Show what would be written so that the coding agents installed here record with neosian and reach its memory: "
        "their hooks and the MCP server. With --write it is written, with a backup beside each changed file. On a "
        "terminal it asks. The clients' own memories are left alone."
    )
    parser.add_argument(
        "--client", action="append", choices=sorted(SERVED), help="only this one (may be given several times)"
    )
    parser.add_argument(
        "--project", metavar="DIR", nargs="?", const="",
        help="into the files of a project, the one around the current folder, and not for every project",
    )  # fmt: skip
    parser.add_argument("--write", action="store_true", help="write it, and do not ask")
    parser.add_argument(
        "--uninstall", action="store_true", help="take all of it back; what was recorded stays"
    )
    parser.add_argument(
        "--memory",
        action="store_true",
        help="with --uninstall: remove the home too, with all turns and documents",
    )
    parser.add_argument("--json", action="store_true", help="print one object, and never ask")


def run(args: argparse.Namespace) -> int:
    if args.memory and (not args.uninstall or args.client or args.project is not None):
        raise UsageError(
            "--memory goes with --uninstall for the whole machine.", "neosian setup --uninstall --memory"
        )
    cwd = _installing.current_folder(needed=args.project is not None)
    wish = setup.Wish(tuple(args.client or ()), args.project is not None, args.project or None, args.root)
    setup.check(wish, cwd)
    return (_uninstall if args.uninstall else _install)(args, wish, cwd)


def _install(args: argparse.Namespace, wish: setup.Wish, cwd: str) -> int:
    steps = setup.plan_setup(wish, os.environ, cwd)
    if not steps:
        known = ", ".join(installer(name).TITLE for name in SERVED)
        raise NeosianError(f"No client was found here; known are: {known}.", "neosian setup --client NAME")
    is_written = args.write or (_show_plan(args, wish, cwd, steps) and _asked("Write this?"))
    if is_written:
        setup.write_launcher(wish)
        steps = setup.carry_out(steps, wish, os.environ, cwd, is_install=True)
        _tell(args, steps, "written")
    if args.json:
        output.as_json(_as_json(args, wish, cwd, steps))
    else:
        _guide(args, wish, cwd, steps, is_written)
    return _status(args, steps) if is_written else 0


def _uninstall(args: argparse.Namespace, wish: setup.Wish, cwd: str) -> int:
    if args.memory:
        setup.check_home(wish)
    steps = setup.plan_removal(wish, os.environ, cwd)
    is_written = args.write or (_show_plan(args, wish, cwd, steps) and _asked(_question(args)))
    gone: list[str] = []
    if is_written:
        steps = setup.carry_out(steps, wish, os.environ, cwd, is_install=False)
        _tell(args, steps, "taken out")
        stays = args.memory and any(step.state == REFUSED for step in steps)
        if stays:
            output.note("The home stays, with all that was recorded, while a file of a client does.")
        elif _takes_launcher(args) and setup.remove_launcher(wish):
            gone.append(str(setup.launcher(wish)))
        if args.memory and not stays and (home := setup.forget(wish)):
            gone.append(home)
    if args.json:
        output.as_json({**_as_json(args, wish, cwd, steps), "removed": gone})
    elif is_written:
        for path in gone:
            output.text(f"removed: {path}")
        _say_refused(steps)
        if not args.memory and setup.launcher(wish).parent.parent.exists():
            output.note("What was recorded stays; it goes with: neosian setup --uninstall --memory --write")
    elif not _is_asking():
        output.note(f"To take it out: {_again(args)}")
    return _status(args, steps) if is_written else 0


def _takes_launcher(args: argparse.Namespace) -> bool:
    """Whether nobody is left to call the launcher: hooks of a single client or project leave others."""
    return not args.client and args.project is None


def _question(args: argparse.Namespace) -> str:
    return "Remove this and the whole memory?" if args.memory else "Take this out?"


# What is shown -----------------------------------------------------------------------------------


def _show_plan(args: argparse.Namespace, wish: setup.Wish, cwd: str, steps: Sequence[Step]) -> bool:
    """Show the steps with their differences; whether there is anything to do."""
    if args.json:
        return False
    output.text(_table(steps, "would be taken out" if args.uninstall else "would be written"))
    changes = [step for step in steps if step.state == CHANGE]
    for step in changes:
        if step.plan:
            output.text("\n" + setup.difference(step.plan))
    launcher = setup.launcher(wish)
    if args.uninstall:
        if _takes_launcher(args) and launcher.exists():
            output.text(f"\nThe launcher would go: {launcher}")
        if args.memory:
            output.text(f"The home would go, with all that was recorded: {launcher.parent.parent}")
        return bool(changes) or launcher.exists() or args.memory
    output.text(f"\nThe launcher that the hooks call: {launcher}")
    if left := _left_alone(wish, cwd, steps):
        output.text(left)
    return bool(changes)


def _table(steps: Sequence[Step], verb: str) -> str:
    states = {
        CHANGE: verb, RIGHT: "right already", BY_HAND: "by its own command", LATER: "not started yet",
        LEFT_OUT: "left out", REFUSED: "refused",
    }  # fmt: skip
    rows = [
        (installer(step.client).TITLE, _WHAT[step.kind], step.level, states[step.state], step.file)
        for step in steps
    ]
    return (
        output.table(rows, ("client", "what", "level", "", "file"))
        if rows
        else "Nothing of neosian stands there."
    )


def _tell(args: argparse.Namespace, steps: Sequence[Step], verb: str) -> None:
    if not args.json:
        output.text(_table(steps, verb))


def _guide(
    args: argparse.Namespace, wish: setup.Wish, cwd: str, steps: Sequence[Step], is_written: bool
) -> None:
    """What a person has to know and to do beside what is written."""
    for warning in dict.fromkeys(
        warning
        for step in steps
        if step.plan and step.state in (CHANGE, RIGHT)
        for warning in step.plan.warnings
    ):
        output.note(f"warning: {warning}")
    _say_refused(steps)
    for client in _wired(steps):
        if trust := setup.trust(client):
            title = installer(client).TITLE
            output.note(trust if title in trust else f"{title}: {trust}")
    if args.write and (left := _left_alone(wish, cwd, steps)):
        output.note(left)
    if not is_written and not _is_asking():
        output.note(f"To write it: {_again(args)}")
    elif is_written and (started := [step for step in steps if step.state == CHANGE]):
        backups = [step.plan.backup_file for step in started if step.plan and step.plan.backup is not None]
        if backups:
            output.note(f"As the files were before: {', '.join(dict.fromkeys(backups))}")
        output.note("next: start a client anew, say something, then see neosian status")


def _wired(steps: Sequence[Step]) -> list[str]:
    return list(dict.fromkeys(step.client for step in steps if step.state in (CHANGE, RIGHT, BY_HAND)))


def _left_alone(wish: setup.Wish, cwd: str, steps: Sequence[Step]) -> str:
    """The line of the plan about memories that go on beside ours; "" where there are none."""
    memories = setup.own_memories(_wired(steps), wish, os.environ, cwd)
    return (
        f"Left alone, memories that the clients keep themselves: {'; '.join(memories)}." if memories else ""
    )


def _say_refused(steps: Sequence[Step]) -> None:
    """The steps that somebody else has to take, and why."""
    for step in steps:
        if step.state in (BY_HAND, LATER, LEFT_OUT, REFUSED):
            said = f"{installer(step.client).TITLE}, {_WHAT[step.kind]}: {step.why}"
            output.note(said + (f"\n  try: {step.hint}" if step.hint else ""))


def _as_json(args: argparse.Namespace, wish: setup.Wish, cwd: str, steps: Sequence[Step]) -> dict[str, Any]:
    clients = list(dict.fromkeys(step.client for step in steps))
    return {
        "written": bool(args.write), "launcher": str(setup.launcher(wish)),
        "steps": [
            {
                "client": step.client, "what": step.kind, "level": step.level, "file": step.file or None,
                "state": step.state, "why": step.why, "try": step.hint,
                "warnings": list(step.plan.warnings) if step.plan else [],
                "diff": setup.difference(step.plan) if step.plan and step.state == CHANGE else "",
            }
            for step in steps
        ],
        "trust": {name: said for name in clients if (said := setup.trust(name))},
        "own_memories": setup.own_memories(clients, wish, os.environ, cwd),
    }  # fmt: skip


def _status(args: argparse.Namespace, steps: Sequence[Step]) -> int:
    """1 when something was refused, or when nothing could be done for clients that have to be started first."""
    states = {step.state for step in steps}
    is_late = LATER in states and (bool(args.client) or not states & {CHANGE, RIGHT, BY_HAND})
    return 1 if REFUSED in states or is_late else 0


# Asking ------------------------------------------------------------------------------------------


def _is_asking() -> bool:
    """Whether a person sits there who can answer."""
    return sys.stdin.isatty() and sys.stdout.isatty()


def _asked(question: str) -> bool:
    """A person's yes; never asked where nobody can answer."""
    if not _is_asking():
        return False
    try:
        return input(f"\n{question} [y/N] ").strip().lower() in ("y", "yes")
    except EOFError:
        return False


def _again(args: argparse.Namespace) -> str:
    """The same command, which then writes."""
    clients = [word for name in args.client or () for word in ("--client", name)]
    project = [] if args.project is None else ["--project", *([args.project] if args.project else [])]
    flags = [f"--{name}" for name in ("uninstall", "memory") if getattr(args, name)]
    root = ["--root", args.root] if args.root else []
    return shlex.join(["neosian", "setup", *clients, *project, *flags, *root, "--write"])
