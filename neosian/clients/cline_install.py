"""Cline's settings: where it is told of MCP servers. From its documentation, not run."""

from __future__ import annotations

import os

from neosian.clients import own_memory as own
from neosian.clients.hook_files import version_in
from neosian.clients.mcp_clients import (
    JSON,
    Client,
    Environ,
    below_home,
    of_program_and_arguments,
    program_and_arguments,
    unverified,
)

NAME = "cline"
TITLE = "Cline"
PROGRAM = "cline"
ADVICE = ""
TRUST: dict[str, str] = {}
VERIFIED = False
HOOKS = None
version = version_in
own_memory = own.none


def _file(environ: Environ) -> str:
    named = environ.get("CLINE_MCP_SETTINGS_PATH")
    return (
        os.path.abspath(named)
        if named
        else below_home(".cline", "data", "settings", "cline_mcp_settings.json")
    )


MCP = Client(
    name=NAME,
    title=TITLE,
    key="mcpServers",
    home=lambda environ: (
        os.path.dirname(_file(environ)) if environ.get("CLINE_MCP_SETTINGS_PATH") else below_home(".cline")
    ),
    user_files=lambda environ: (_file(environ),),
    project_files=None,
    format=JSON,
    entry=program_and_arguments,
    words=of_program_and_arguments,
    note=unverified(
        TITLE,
        "An older extension keeps a cline_mcp_settings.json of its own, which its panel of MCP servers opens.",
        "It does not say in which folder it starts a server: --project NAME names the one to serve.",
    ),
)
