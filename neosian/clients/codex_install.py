"""Codex's settings: where its hooks and its MCP servers stand. Tried with 0.171.0."""

from __future__ import annotations

import os

from neosian.clients import codex
from neosian.clients import own_memory as own
from neosian.clients.hook_files import GROUPS, HookFile, version_in
from neosian.clients.mcp_clients import (
    PROJECT,
    SERVER,
    TOML,
    USER,
    Client,
    Environ,
    Switch,
    Switches,
    below_home,
    is_false,
    of_program_and_arguments,
    program_and_arguments,
)

NAME = codex.NAME
TITLE = codex.TITLE
PROGRAM = "codex"
ADVICE = (
    "User level (--user) is advised: one install and one review then serve every project. A project's hooks run only "
    "where the project is trusted, and are reviewed anew when it moves."
)
_REVIEW = "Codex runs no hook that you have not reviewed, and does not say so: start codex, say /hooks, and trust ours."
TRUST = {USER: _REVIEW, PROJECT: _REVIEW}
VERIFIED = True
version = version_in


def _codex_home(environ: Environ) -> str:
    return os.path.abspath(environ.get("CODEX_HOME") or below_home(".codex"))


# The timeouts in the template are seconds; the client gives a session's end no more than 3, and warns of more.
HOOKS = HookFile(
    shape=GROUPS,
    template="codex.json",
    home=_codex_home,
    user_file=lambda environ: os.path.join(_codex_home(environ), "hooks.json"),
    project_file=lambda folder: os.path.join(folder, ".codex", "hooks.json"),
)


def own_memory(environ: Environ, project: str | None) -> str:
    """Memories: a feature that is off at first, with two switches of its own for writing and for reading them."""
    folders = [_codex_home(environ), *([os.path.join(project, ".codex")] if project else ())]
    files = [os.path.join(folder, "config.toml") for folder in folders]
    states = [own.switch(TOML.parse, files, "features", name) for name in ("memories", "memory_tool")]
    is_on = next((state for state in states if state is not None), False)
    uses = [own.switch(TOML.parse, files, "memories", f"{verb}_memories") for verb in ("use", "generate")]
    return "memories are on" if is_on and uses != [False, False] else ""


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
    switches=Switches(
        lambda environ, folder: (os.path.join(_codex_home(environ), "config.toml"),),
        (
            Switch(
                "hooks", ("features", "hooks"), is_false, "it is false, so Codex runs no hook, ours neither"
            ),
            Switch(
                "server",
                ("mcp_servers", SERVER, "enabled"),
                is_false,
                "it is false, so Codex does not start it",
            ),
        ),
    ),
    adds="codex mcp add",
    removes="codex mcp remove",
)
