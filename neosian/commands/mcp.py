"""`neosian mcp`: the MCP server over stdio; and install, uninstall, which tell a client of it."""

from __future__ import annotations

import argparse
import os
from typing import Any

from neosian import mcp_install, merging, scope
from neosian.clients.installers import SERVED, installer
from neosian.clients.mcp_clients import SERVER, Client
from neosian.commands import _installing
from neosian.commands._scopes import add_mounts, mount_flags
from neosian.errors import UsageError


def configure(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        f"Serve the memory over MCP on stdin and stdout, as the server {SERVER}; a client starts this itself once "
        "it was told of it with install."
    )
    parser.add_argument(
        "--project", metavar="NAME", help="the project that is served (default: that of the current folder)"
    )
    add_mounts(parser)
    actions = parser.add_subparsers(dest="action", metavar="install | uninstall")
    _configure_install(actions.add_parser("install", help="tell a client of the server"))
    _configure_uninstall(actions.add_parser("uninstall", help="have a client forget the server"))


def run(args: argparse.Namespace) -> int:
    """Serve, or do what was named."""
    if args.action == "install":
        return _install(args)
    if args.action == "uninstall":
        return _uninstall(args)
    if args.project is not None and (args.scope or args.mount):
        raise UsageError(
            "--project names what is served, and so do --scope and --mount: one of them will do."
        )
    from neosian.mcp_server import serve  # its packages take a second to load

    serve(scope.home(args.root), mount_flags(args), args.project)
    return 0


def _configure_install(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Print the settings that tell a client of the MCP server. With --write they are merged into its settings "
        "file: the project's (the git work tree around the current folder) or, with --user, the user's. Codex has a "
        "command of its own for that, which is printed."
    )
    _configure(parser, "merge them into the settings file")


def _configure_uninstall(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Print what a client's settings file says of the MCP server. With --write it is taken out, and the file is as "
        "it was before. --root, --project, --scope and --mount make no difference here."
    )
    _configure(parser, "take it out of the settings file")


def _configure(parser: argparse.ArgumentParser, write: str) -> None:
    parser.add_argument("--client", required=True, choices=sorted(SERVED), help="the client")
    level = parser.add_mutually_exclusive_group()
    level.add_argument(
        "--user",
        action="store_true",
        help="the user's settings, for every project (a client may have no others)",
    )
    level.add_argument("--directory", metavar="DIR", help="the settings of the project in DIR")
    parser.add_argument("--write", action="store_true", help=write)
    flag = _installing.add_flag
    flag(parser, "--root", metavar="DIR", help="the home, its path written down (default: told at the start)")
    flag(
        parser, "--project", metavar="NAME",
        help="have the server serve this project (default: told by the folder it is started in)",
    )  # fmt: skip
    flag(
        parser, "--scope", metavar="SCOPE", help="have it serve user:alice/proj:shop, say, and no other scope"
    )
    flag(parser, "--mount", metavar="/PATH=SCOPE[:ro]", action="append", help="a scope and where it is shown")
    flag(parser, "--json", action="store_true", help="print one JSON object instead")


def _install(args: argparse.Namespace) -> int:
    client = installer(args.client).MCP
    plan = mcp_install.plan_install(_wish(args), os.environ, _folder(args))
    if args.write and plan.refused is None:
        merging.carry_out(plan)
    _answer(args, client, plan)
    if not _installing.as_json(args):
        _installing.say(*_guidance(args, client, plan))
    return _installing.status(args, plan)


def _uninstall(args: argparse.Namespace) -> int:
    client = installer(args.client).MCP
    plan = mcp_install.plan_uninstall(_wish(args), os.environ, _folder(args))
    if args.write and plan.refused is None:
        merging.carry_out(plan)
    _answer(args, client, plan)
    if not _installing.as_json(args):
        _installing.say(*_farewell(args, plan))
    return _installing.status(args, plan)


def _folder(args: argparse.Namespace) -> str:
    return _installing.current_folder(
        needed=not (args.user or installer(args.client).MCP.project_files is None)
    )


def _wish(args: argparse.Namespace) -> mcp_install.Wish:
    return mcp_install.Wish(
        args.client,
        args.user,
        args.directory,
        getattr(args, "root", None),
        getattr(args, "scope", None),
        _installing.mounts(args),
        getattr(args, "project", None),
    )


def _answer(args: argparse.Namespace, client: Client, plan: merging.Plan) -> None:
    fragment = client.format.show(plan.fragment)
    more: dict[str, Any] = {
        "client": client.name,
        "server": SERVER,
        "paste": fragment,
        "try": plan.refused.hint if plan.refused else "",
    }
    _installing.answer(args, plan, fragment, more)


def _guidance(args: argparse.Namespace, client: Client, plan: merging.Plan) -> list[str]:
    """What a person reads beside the result: what was done, what to look at, what to do next."""
    said = [f"warning: {warning}" for warning in plan.warnings]
    if plan.refused is not None and args.write:
        if client.asks and plan.refused.hint == client.adds:
            return [
                *said,
                "Paste what is printed into the file, or run the command below, which asks for the same.",
            ]
        if client.adds and plan.refused.hint.startswith(client.adds):
            return [*said, f"{client.title} is told by a command of its own: run the one below."]
        return [
            *said,
            "Paste what is printed into the file by hand, or mend what is said below and try again.",
        ]
    if plan.refused is not None:
        return [*said, *_installing.would_be_refused(plan)]
    if not plan.changed:
        said.append(f"{plan.file} is right already; nothing {'was' if args.write else 'would be'} changed.")
        return said
    if not args.write:
        return [*said, f"For {client.title}. This belongs into {plan.file}; --write puts it there."]
    said.append(f"{plan.file} tells {client.title} of {SERVER}.")
    if plan.backup is not None:
        said.append(f"As it was before: {plan.backup_file}")
    return [*said, f"next: start {client.title} anew; one that runs already does not look again"]


def _farewell(args: argparse.Namespace, plan: merging.Plan) -> list[str]:
    said = [f"warning: {warning}" for warning in plan.warnings]
    if plan.refused is not None:
        return said if args.write or not plan.names else [*said, *_installing.would_be_refused(plan)]
    if not plan.names:
        return [*said, f"{plan.file} does not name {SERVER}."]
    if not args.write:
        return [*said, f"This would go from {plan.file}. To take it out, say it again with --write."]
    if plan.after is None:
        return [*said, f"{plan.file} held nothing else and was removed."]
    return [*said, f"{SERVER} is out of {plan.file}."]
