"""Windsurf's settings: where it is told of MCP servers. From its documentation, not run."""

from __future__ import annotations

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

NAME = "windsurf"
TITLE = "Windsurf"
PROGRAM = "windsurf"
ADVICE = ""
TRUST: dict[str, str] = {}
VERIFIED = False
HOOKS = None
version = version_in


def own_memory(environ: Environ, project: str | None) -> str:
    """Cascade's memories are switched in the app."""
    return own.unknown("memories of Cascade")


MCP = Client(
    name=NAME,
    title=TITLE,
    key="mcpServers",
    home=lambda environ: below_home(".codeium", "windsurf"),
    user_files=lambda environ: (below_home(".codeium", "windsurf", "mcp_config.json"),),
    project_files=None,
    format=JSON,
    entry=program_and_arguments,
    words=of_program_and_arguments,
    note=unverified(
        TITLE, "It does not say in which folder it starts a server: --project NAME names the one to serve."
    ),
)
