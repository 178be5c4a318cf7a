"""Claude Desktop's settings: where it is told of MCP servers. From its documentation, not run."""

from __future__ import annotations

import os
import sys

from neosian.clients import own_memory as own
from neosian.clients.hook_files import version_in
from neosian.clients.mcp_clients import (
    JSON,
    Client,
    Environ,
    app_folder,
    of_program_and_arguments,
    program_and_arguments,
    unverified,
)

NAME = "claude-desktop"
TITLE = "Claude Desktop"
PROGRAM = ""
ADVICE = ""
TRUST: dict[str, str] = {}
VERIFIED = False
HOOKS = None
version = version_in


def _desktop_home(environ: Environ, platform: str = sys.platform) -> str:
    return app_folder(environ, "Claude", platform)


def own_memory(environ: Environ, project: str | None) -> str:
    """The memory is of the account, and switched there."""
    return own.unknown("memory of the account")


MCP = Client(
    name=NAME,
    title=TITLE,
    key="mcpServers",
    home=_desktop_home,
    user_files=lambda environ: (os.path.join(_desktop_home(environ), "claude_desktop_config.json"),),
    project_files=None,
    format=JSON,
    entry=program_and_arguments,
    words=of_program_and_arguments,
    note=unverified(TITLE),
    has_folder=False,
)
