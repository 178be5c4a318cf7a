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
from neosian.setup import BY_HAND, CHANGE, LATER, LEFT_OUT, REFUSED, RIGHT, SHARED, WIRED, Step

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
        "--uninstall",
        action="store_true",
        help="take all of it back, also from the project around here; what was recorded stays",
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
    steps = planned = setup.plan_setup(wish, os.environ, cwd)
    if not steps:
        known = ", ".join(installer(name).TITLE for name in SERVED)
        raise NeosianError(f"No client was found here; known are: {known}.", "neosian setup --client NAME")
    is_written = args.write
    if not (args.json or args.write):
        has_work = _show_plan(args, wish, cwd, steps)
        _advise(steps)
        is_written = has_work and _asked("Write this?")
    if is_written:
        if setup.needs_launcher(steps):
            setup.write_launcher(wish)
        steps = setup.carry_out(steps, wish, os.environ, cwd, is_install=True)
        _tell(args, steps, "written")
    if args.json:
        output.as_json(_as_json(args, wish, cwd, steps))
    elif args.write:
        _advise(steps)
        if left := _left_alone(wish, cwd, steps):
            output.note(left)
        _say_next(steps)
    elif is_written:
        _say_refused(_refused_since(planned, steps))
        _say_next(steps)
    elif not _is_asking():
        output.note(f"To write it: {_again(args)}")
    return _status(args, steps) if is_written else 0


def _uninstall(args: argparse.Namespace, wish: setup.Wish, cwd: str) -> int:
    if args.memory:
        setup.check_home(wish)
    steps = planned = setup.plan_removal(wish, os.environ, cwd)
    elsewhere = _elsewhere(args, wish, cwd)
    is_written = args.write
    if not (args.json or args.write):
        has_work = _show_plan(args, wish, cwd, steps)
        _say_refused(steps)
        _say_elsewhere(elsewhere)
        is_written = has_work and _asked(_question(args))
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
        output.as_json({**_as_json(args, wish, cwd, steps), "removed": gone, "elsewhere": elsewhere})
    elif is_written:
        for path in gone:
            output.text(f"removed: {path}")
        _say_refused(steps if args.write else _refused_since(planned, steps))
        if args.write:
            _say_elsewhere(elsewhere)
        if not args.memory and setup.launcher(wish).parent.parent.exists():
            output.note("What was recorded stays; it goes with: neosian setup --uninstall --memory --write")
    elif not _is_asking():
        output.note(f"To take it out: {_again(args)}")
    return _status(args, steps) if is_written else 0


def _refused_since(planned: Sequence[Step], steps: Sequence[Step]) -> list[Step]:
    """The steps that were refused only when they were taken: the others were told before the question."""
    return [step for before, step in zip(planned, steps, strict=True) if step.state != before.state]


def _elsewhere(args: argparse.Namespace, wish: setup.Wish, cwd: str) -> list[dict[str, str]]:
    """The other projects in whose files something of ours stays, each with the command for it."""
    if wish.project:
        return []
    try:
        folders = setup.elsewhere(wish, os.environ, cwd)
    except NeosianError as error:
        output.note(f"warning: {error} So nobody looked for other projects.")
        return []
    clients = [word for name in wish.clients for word in ("--client", name)]
    words = ["neosian", "setup", "--uninstall", *clients, "--project"]
    return [{"folder": each, "try": shlex.join([*words, each, "--write"])} for each in folders]


def _say_elsewhere(projects: Sequence[dict[str, str]]) -> None:
    for each in projects:
        output.note(f"The project in {each['folder']} keeps what stands in its files.\n  try: {each['try']}")


def _takes_launcher(args: argparse.Namespace) -> bool:
    """Whether nobody is left to call the launcher: hooks of a single client or project leave others."""
    return not args.client and args.project is None


def _question(args: argparse.Namespace) -> str:
    return "Remove this and the whole memory?" if args.memory else "Take this out?"


# What is shown -----------------------------------------------------------------------------------


def _show_plan(args: argparse.Namespace, wish: setup.Wish, cwd: str, steps: Sequence[Step]) -> bool:
    """Show the steps with their differences; whether there is anything to do."""
    output.text(_table(steps, "would be taken out" if args.uninstall else "would be written"))
    changes = [step for step in steps if step.state == CHANGE]
    for difference in dict.fromkeys(setup.difference(step.plan) for step in changes if step.plan):
        output.text("\n" + difference)
    launcher = setup.launcher(wish)
    if args.uninstall:
        if _takes_launcher(args) and launcher.exists():
            output.text(f"\nThe launcher would go: {launcher}")
        if args.memory:
            output.text(f"The home would go, with all that was recorded: {launcher.parent.parent}")
        return bool(changes) or (_takes_launcher(args) and launcher.exists()) or args.memory
    output.text(f"\nThe launcher that the hooks call: {launcher}")
    if left := _left_alone(wish, cwd, steps):
        output.text(left)
    return setup.needs_launcher(steps) and (bool(changes) or setup.lacks_launcher(wish))


def _table(steps: Sequence[Step], verb: str) -> str:
    states = {
        CHANGE: verb, RIGHT: "right already", BY_HAND: "by its own command", LATER: "not started yet",
        LEFT_OUT: "left out", SHARED: "stays", REFUSED: "refused",
    }  # fmt: skip
    rows = [
        (
            ", ".join(map(_name, (step.client, *step.others))),
            _WHAT[step.kind], step.level, states[step.state], step.file,
        )
        for step in steps
    ]  # fmt: skip
    return (
        output.table(rows, ("client", "what", "level", "", "file"))
        if rows
        else "Nothing of neosian stands there."
    )


def _name(client: str) -> str:
    """A client's title, marked where nobody tried it."""
    known = installer(client)
    return known.TITLE if known.VERIFIED else f"{known.TITLE} (unverified)"


def _tell(args: argparse.Namespace, steps: Sequence[Step], verb: str) -> None:
    if not args.json:
        output.text(_table(steps, verb))


def _advise(steps: Sequence[Step]) -> None:
    """What a person has to know and to do beside what is written."""
    for warning in dict.fromkeys(
        warning for step in steps if step.plan and step.state in WIRED for warning in step.plan.warnings
    ):
        output.note(f"warning: {warning}")
    _say_refused(steps)
    for client, trust in setup.trusts(steps).items():
        title = installer(client).TITLE
        output.note(trust if title in trust else f"{title}: {trust}")


def _say_next(steps: Sequence[Step]) -> None:
    """What to do with what was written."""
    started = [step.plan for step in steps if step.plan and step.state == CHANGE]
    if backups := [plan.backup_file for plan in started if plan.backup is not None]:
        output.note(f"As the files were before: {', '.join(dict.fromkeys(backups))}")
    if started:
        output.note("next: start a client anew, say something, then see neosian status")


def _left_alone(wish: setup.Wish, cwd: str, steps: Sequence[Step]) -> str:
    """The line of the plan about memories that go on beside ours; "" where there are none."""
    memories = setup.own_memories(setup.wired(steps), wish, os.environ, cwd)
    return (
        f"Left alone, memories that the clients keep themselves: {'; '.join(memories)}." if memories else ""
    )


def _say_refused(steps: Sequence[Step]) -> None:
    """The steps that somebody else has to take, and why."""
    for step in steps:
        if step.state in (BY_HAND, LATER, LEFT_OUT, SHARED, REFUSED):
            said = [f"{_name(step.client)}, {_WHAT[step.kind]}: {step.why}"]
            said += [f"  try: {step.hint}"] if step.hint else []
            said += [f"  to print what belongs there: {step.prints}"] if step.prints else []
            output.note("\n".join(said))


def _as_json(args: argparse.Namespace, wish: setup.Wish, cwd: str, steps: Sequence[Step]) -> dict[str, Any]:
    return {
        "written": bool(args.write), "launcher": str(setup.launcher(wish)),
        "steps": [
            {
                "client": step.client, "others": list(step.others), "verified": installer(step.client).VERIFIED,
                "what": step.kind, "level": step.level, "file": step.file or None,
                "state": step.state, "why": step.why, "try": step.hint,
                "prints": step.prints, "paste": setup.fragment(step),
                "warnings": list(step.plan.warnings) if step.plan else [],
                "diff": setup.difference(step.plan) if step.plan and step.state == CHANGE else "",
            }
            for step in steps
        ],
        "trust": setup.trusts(steps) if not args.uninstall else {},
        "own_memories": setup.own_memories(setup.wired(steps), wish, os.environ, cwd),
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
