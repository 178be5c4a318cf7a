"""Codex's settings: where its hooks and its MCP servers stand. Tried with 0.171.0."""

from __future__ import annotations

import os

from neosian.clients.hook_files import version_in
from neosian.clients.mcp_clients import (
    TOML,
    Client,
    Environ,
    below_home,
    of_program_and_arguments,
    program_and_arguments,
)

NAME = "codex"
TITLE = "Codex"
PROGRAM = "codex"
ADVICE = ""
TRUST = ""
VERIFIED = True
OWN_MEMORY = "AGENTS.md files"
HOOKS = None
version = version_in


def _codex_home(environ: Environ) -> str:
    return os.path.abspath(environ.get("CODEX_HOME") or below_home(".codex"))


MCP = Client(
    name=NAME,
    title=TITLE,
    key="mcp_servers",
    home=_codex_home,
    user_files=lambda environ: (os.path.join(_codex_home(environ), "config.toml"),),
    project_files=None,
    format=TOML,
    entry=program_and_arguments,
    words=of_program_and_arguments,
    note="A trusted project's .codex/config.toml takes the same table.",
    adds="codex mcp add",
    removes="codex mcp remove",
)
