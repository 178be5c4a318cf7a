"""Zed's settings: where it is told of MCP servers. From its documentation, not run."""

from __future__ import annotations

import os
import sys

from neosian.clients import own_memory as own
from neosian.clients.hook_files import version_in
from neosian.clients.mcp_clients import (
    JSON_WITH_COMMENTS,
    PROJECT,
    Client,
    Environ,
    app_folder,
    below_home,
    config_folder,
    of_program_and_arguments,
    program_and_arguments,
    unverified,
)

NAME = "zed"
TITLE = "Zed"
PROGRAM = "zed"
ADVICE = ""
TRUST = {PROJECT: "Zed starts a project's servers only in a worktree that you trust."}
VERIFIED = False
HOOKS = None
version = version_in
own_memory = own.none


def _home(environ: Environ, platform: str = sys.platform) -> str:
    if platform == "win32":
        return app_folder(environ, "Zed", platform)
    return os.path.join(below_home(".config") if platform == "darwin" else config_folder(environ), "zed")


MCP = Client(
    name=NAME,
    title=TITLE,
    key="context_servers",
    home=_home,
    user_files=lambda environ: (os.path.join(_home(environ), "settings.json"),),
    project_files=lambda folder: (os.path.join(folder, ".zed", "settings.json"),),
    format=JSON_WITH_COMMENTS,
    entry=lambda words: {"source": "custom", **program_and_arguments(words), "env": {}},
    words=of_program_and_arguments,
    note=unverified(TITLE),
)
