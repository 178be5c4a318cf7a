"""GitHub Copilot CLI's settings: where its hooks and its MCP servers stand. Tried with 1.0.102.

Its hooks are a file of our own: the client reads every JSON file of its ``hooks`` folders.
"""

from __future__ import annotations

import os

from neosian.clients import copilot_cli
from neosian.clients import own_memory as own
from neosian.clients.hook_files import OWN, HookFile, version_in
from neosian.clients.mcp_clients import (
    JSON,
    PROJECT,
    Client,
    Environ,
    below_home,
    of_program_and_arguments,
    program_and_arguments,
)

NAME = copilot_cli.NAME
TITLE = copilot_cli.TITLE
PROGRAM = "copilot"
ADVICE = "VS Code and the cloud agent read a project's .github/hooks too; where neosian is not, its lines do nothing."
TRUST = {
    PROJECT: "A project's hooks and MCP servers run in a trusted folder only: start copilot there and say yes to its "
    "question, or give a single run --trust-folder. The user's own run without."
}
VERIFIED = True
version = version_in

_FILE = "neosian.json"


def _copilot_home(environ: Environ) -> str:
    return os.path.abspath(environ.get("COPILOT_HOME") or below_home(".copilot"))


HOOKS = HookFile(
    shape=OWN,
    template="copilot-cli.json",
    home=_copilot_home,
    user_file=lambda environ: os.path.join(_copilot_home(environ), "hooks", _FILE),
    project_file=lambda folder: os.path.join(folder, ".github", "hooks", _FILE),
)


def own_memory(environ: Environ, project: str | None) -> str:
    """Copilot Memory is switched in the account."""
    return own.unknown("Copilot Memory")


MCP = Client(
    name=NAME,
    title=TITLE,
    key="mcpServers",
    home=_copilot_home,
    user_files=lambda environ: (os.path.join(_copilot_home(environ), "mcp-config.json"),),
    project_files=lambda folder: (os.path.join(folder, ".mcp.json"),),
    format=JSON,
    entry=program_and_arguments,
    words=of_program_and_arguments,
    project_note="Claude Code reads the same .mcp.json of a project: one entry serves both.",
)
