"""Cursor's settings: where its hooks and its MCP servers stand. From its documentation and its package, not run."""

from __future__ import annotations

import os

from neosian.clients import cursor
from neosian.clients import own_memory as own
from neosian.clients.hook_files import FLAT, HookFile, version_in
from neosian.clients.mcp_clients import (
    JSON,
    PROJECT,
    Client,
    Environ,
    below_home,
    of_program_and_arguments,
    program_and_arguments,
    unverified,
)

NAME = cursor.NAME
TITLE = cursor.TITLE
PROGRAM = "cursor"
ADVICE = (
    "User level (--user) is advised: one install then serves every project. Where Cursor is set to run Claude Code's "
    "hooks too, what comes through both lines is recorded once."
)
TRUST = {
    PROJECT: "Cursor runs a project's hooks only in a workspace that you trust: open the folder in it and say so."
}
VERIFIED = False
version = version_in
own_memory = own.none


def _home(environ: Environ) -> str:
    return below_home(".cursor")


# The timeouts in the template are seconds.
HOOKS = HookFile(
    shape=FLAT,
    template="cursor.json",
    home=_home,
    user_file=lambda environ: os.path.join(_home(environ), "hooks.json"),
    project_file=lambda folder: os.path.join(folder, ".cursor", "hooks.json"),
    early=("beforeSubmitPrompt", "stop"),
)

MCP = Client(
    name=NAME,
    title=TITLE,
    key="mcpServers",
    home=_home,
    user_files=lambda environ: (os.path.join(_home(environ), "mcp.json"),),
    project_files=lambda folder: (os.path.join(folder, ".cursor", "mcp.json"),),
    format=JSON,
    entry=program_and_arguments,
    words=of_program_and_arguments,
    note=unverified(TITLE, source="its documentation and its published package"),
)
