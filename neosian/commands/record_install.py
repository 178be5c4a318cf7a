"""``neosian record install`` and ``neosian record uninstall``: hooks into a client's settings, and out again."""

from __future__ import annotations

import argparse
import os
import shlex

from neosian import install, merging
from neosian.clients.installers import RECORDED, Installer, hooks_of, installer, trust
from neosian.clients.mcp_clients import PROJECT, USER
from neosian.commands import _installing
from neosian.errors import UsageError


def configure_install(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Print the settings that make a coding agent record with neosian. With --write they are merged into its "
        "settings file: the project's (the git work tree around the current folder) or, with --user, the user's."
    )
    _configure(parser, "merge them into the settings file, and install the launcher")
    parser.add_argument(
        "--no-recall", action="store_true", help="record prompts only, and tell nothing with them"
    )


def run_install(args: argparse.Namespace) -> int:
    wish = _wish(args)
    plan = install.plan_install(wish, os.environ, _folder(args))
    launcher = None
    if args.write and isinstance(plan.refused, merging.NoClientHome):
        raise plan.refused
    if args.write and not isinstance(plan.refused, UsageError):
        # Where the file is refused too: the hooks are then pasted by hand, and do nothing without it.
        launcher = str(install.write_launcher(wish))
    if args.write and plan.refused is None:
        merging.carry_out(plan)
    _answer(args, plan, {"launcher": launcher})
    if not _installing.as_json(args):
        _installing.say(*_guidance(args, plan, launcher))
    return _installing.status(args, plan)


def configure_uninstall(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Print the hooks of neosian in a coding agent's settings file. With --write they are taken out, and the file "
        "is as it was before. What was recorded stays. --root, --scope and --mount make no difference here: every "
        "hook of neosian goes."
    )
    _configure(parser, "take them out of the settings file")


def run_uninstall(args: argparse.Namespace) -> int:
    plan = install.plan_uninstall(_wish(args), os.environ, _folder(args))
    if args.write and plan.refused is None:
        merging.carry_out(plan)
    _answer(args, plan, {})
    if plan.refused is None and not _installing.as_json(args):
        _installing.say(*(f"warning: {warning}" for warning in plan.warnings))
        if not plan.names:
            _installing.say(f"{plan.file} has no hook of neosian.")
        elif not args.write:
            _installing.say(f"These would go from {plan.file}. To take them out, say it again with --write.")
        elif plan.after is None:
            _installing.say(f"{plan.file} held nothing else and was removed.")
        else:
            _installing.say(f"The hooks of neosian are out of {plan.file}.")
    return _installing.status(args, plan)


def _configure(parser: argparse.ArgumentParser, write: str) -> None:
    parser.add_argument("--client", required=True, choices=sorted(RECORDED), help="the coding agent")
    level = parser.add_mutually_exclusive_group()
    level.add_argument("--user", action="store_true", help="the user's settings, for every project (advised)")
    level.add_argument("--project", metavar="DIR", help="the settings of the project in DIR")
    parser.add_argument("--write", action="store_true", help=write)
    _installing.add_flag(
        parser,
        "--root",
        metavar="DIR",
        help="the home, its path written into the hooks (default: told when they run)",
    )
    _installing.add_flag(
        parser,
        "--scope",
        metavar="SCOPE",
        help="record into user:alice/proj:shop, say (default: told by the folder)",
    )
    _installing.add_flag(
        parser, "--mount", metavar="/PATH=SCOPE[:ro]", action="append", help="a scope and where it is shown"
    )
    _installing.add_flag(parser, "--json", action="store_true", help="print one JSON object instead")


def _folder(args: argparse.Namespace) -> str:
    return _installing.current_folder(needed=not _wish(args).user)


def _wish(args: argparse.Namespace) -> install.Wish:
    wish = install.Wish(
        args.client,
        args.user,
        args.project,
        getattr(args, "root", None),
        getattr(args, "scope", None),
        _installing.mounts(args),
        recall=not getattr(args, "no_recall", False),
    )
    return install.levelled(wish)


def _answer(args: argparse.Namespace, plan: merging.Plan, more: dict[str, str | None]) -> None:
    fragment = hooks_of(args.client).shape.show(plan.fragment) if plan.names else ""
    _installing.answer(args, plan, fragment, {"events": list(plan.names), "version": plan.version, **more})


def _guidance(args: argparse.Namespace, plan: merging.Plan, launcher: str | None) -> list[str]:
    """What a person reads beside the result: what was done, what to look at, what to do next."""
    client = installer(args.client)
    said = [f"warning: {warning}" for warning in plan.warnings]
    if plan.refused is not None:
        return [*said, *_not_written(args, plan)]
    known = f"{client.TITLE} {plan.version}" if plan.version else client.TITLE
    if not args.write:
        said.append(f"For {known}. This belongs into {plan.file}; --write puts it there.")
        said.append("Hooks do nothing before the launcher that they name is there; --write installs it too.")
        return [*said, *_before_hooks_run(args, client), f"next: {_again(args)}"]
    if plan.changed:
        said.append(f"{plan.file}: {len(plan.names)} events of {known} are recorded.")
        if plan.backup is not None:
            said.append(f"As it was before: {plan.backup_file}")
    else:
        said.append(f"{plan.file} is right already; nothing was changed.")
    said += _before_hooks_run(args, client)
    return [*said, f"launcher: {launcher}", f"next: start {client.PROGRAM}, then see neosian status"]


def _before_hooks_run(args: argparse.Namespace, client: Installer) -> list[str]:
    """What a person should know of the place, and what the client wants to be told first."""
    return [
        *([client.ADVICE] if client.ADVICE and not _wish(args).user else []),
        *filter(None, [trust(client.NAME, USER if _wish(args).user else PROJECT)]),
    ]


def _again(args: argparse.Namespace) -> str:
    """The same command, which then writes."""
    wish = _wish(args)
    level = ["--user"] if wish.user else ["--project", wish.folder] if wish.folder else []
    root = ["--root", wish.root] if wish.root else []
    recall = [] if wish.recall else ["--no-recall"]
    words = ["--client", wish.client, *level, *root, *merging.flags(wish), *recall, "--write"]
    return shlex.join(["neosian", "record", "install", *words])


def _not_written(args: argparse.Namespace, plan: merging.Plan) -> list[str]:
    """The way out of a refusal; the refusal itself is said last, when there was something to write."""
    if args.write:
        return [
            "The launcher is in place. Paste what is printed into the file by hand, or mend it and try again."
        ]
    return _installing.would_be_refused(plan)
