"""Cursor's settings: where it is told of MCP servers. From its documentation, not run."""

from __future__ import annotations

import os

from neosian.clients.hook_files import version_in
from neosian.clients.mcp_clients import (
    JSON,
    Client,
    below_home,
    of_program_and_arguments,
    program_and_arguments,
)

NAME = "cursor"
TITLE = "Cursor"
PROGRAM = "cursor"
ADVICE = ""
TRUST = ""
VERIFIED = False
OWN_MEMORY = "rules and memories of its own, below .cursor and in its settings"
HOOKS = None
version = version_in

MCP = Client(
    name=NAME,
    title=TITLE,
    key="mcpServers",
    home=lambda environ: below_home(".cursor"),
    user_files=lambda environ: (below_home(".cursor", "mcp.json"),),
    project_files=lambda folder: (os.path.join(folder, ".cursor", "mcp.json"),),
    format=JSON,
    entry=program_and_arguments,
    words=of_program_and_arguments,
    note="Not verified: what is known of Cursor here comes from its documentation.",
)
