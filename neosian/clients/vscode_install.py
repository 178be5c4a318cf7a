"""VS Code's settings: where it is told of MCP servers. From its documentation, not run.

It has no file of hooks of our own: it runs those of Claude Code and Copilot CLI.
"""

from __future__ import annotations

import os
import sys

from neosian.clients import own_memory as own
from neosian.clients import vscode
from neosian.clients.hook_files import version_in
from neosian.clients.mcp_clients import (
    JSON_WITH_COMMENTS,
    PROJECT,
    Client,
    Environ,
    app_folder,
    of_program_and_arguments,
    program_and_arguments,
    unverified,
)

NAME = vscode.NAME
TITLE = vscode.TITLE
PROGRAM = "code"
ADVICE = ""
TRUST = {
    PROJECT: "VS Code runs what a project brings only in a workspace that you trust: open the folder in it and say so."
}
VERIFIED = False
HOOKS = None
version = version_in


def _home(environ: Environ, platform: str = sys.platform) -> str:
    return os.path.join(app_folder(environ, "Code", platform), "User")


def own_memory(environ: Environ, project: str | None) -> str:
    """The memory tool is on; the setting that switched it off is one that newer versions do not know any more."""
    folders = [_home(environ), *([os.path.join(project, ".vscode")] if project else ())]
    files = [os.path.join(folder, "settings.json") for folder in folders]
    is_on = own.switch(JSON_WITH_COMMENTS.parse, files, "github.copilot.chat.tools.memory.enabled")
    return own.unknown("memory tool") if is_on is False else "memory tool is on"


MCP = Client(
    name=NAME,
    title=TITLE,
    key="servers",
    home=_home,
    user_files=lambda environ: (os.path.join(_home(environ), "mcp.json"),),
    project_files=lambda folder: (os.path.join(folder, ".vscode", "mcp.json"),),
    format=JSON_WITH_COMMENTS,
    entry=lambda words: {"type": "stdio", **program_and_arguments(words)},
    words=of_program_and_arguments,
    note=unverified(TITLE),
)
