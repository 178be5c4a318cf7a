"""Crush's settings: where it is told of MCP servers. From its documentation, not run."""

from __future__ import annotations

import os

from neosian.clients import own_memory as own
from neosian.clients.hook_files import version_in
from neosian.clients.mcp_clients import (
    JSON,
    Client,
    Environ,
    config_folder,
    of_program_and_arguments,
    program_and_arguments,
    unverified,
)

NAME = "crush"
TITLE = "Crush"
PROGRAM = "crush"
ADVICE = ""
TRUST: dict[str, str] = {}
VERIFIED = False
HOOKS = None
version = version_in
own_memory = own.none


def _home(environ: Environ) -> str:
    return os.path.join(config_folder(environ), "crush")


def _files(folder: str) -> tuple[str, ...]:
    return os.path.join(folder, "crush.json"), os.path.join(folder, ".crush.json")


MCP = Client(
    name=NAME,
    title=TITLE,
    key="mcp",
    home=_home,
    user_files=lambda environ: _files(_home(environ)),
    project_files=_files,
    format=JSON,
    entry=lambda words: {"type": "stdio", **program_and_arguments(words)},
    words=of_program_and_arguments,
    note=unverified(
        TITLE,
        "It reads crush.json still; in a crushrc, which it prefers by now, the same is said by "
        "`mcp add neosian-memory --command PROGRAM --args ARGUMENT`, with --args before each argument.",
    ),
)
