"""Gemini CLI's settings: its hooks and its MCP servers stand in one file. Tried with 0.61.0."""

from __future__ import annotations

import os
from typing import Any

from neosian.clients import gemini_cli
from neosian.clients import own_memory as own
from neosian.clients.hook_files import GROUPS, HookFile, version_in
from neosian.clients.mcp_clients import JSON_WITH_COMMENTS as WITH_COMMENTS
from neosian.clients.mcp_clients import (
    PROJECT,
    SERVER,
    Client,
    Environ,
    Switch,
    Switches,
    is_false,
    names_others,
    names_server,
    of_program_and_arguments,
    program_and_arguments,
)
from neosian.launcher import is_hook_line

NAME = gemini_cli.NAME
TITLE = gemini_cli.TITLE
PROGRAM = "gemini"
ADVICE = (
    "User level (--user) is advised: one install then serves every project, and Gemini CLI reads a project's "
    "settings only where it was started in that folder, and only where the folder is trusted."
)
TRUST = {
    PROJECT: "Gemini CLI runs a project's hooks and MCP servers only in a folder that you trust: start `gemini` there "
    "once and say so when it asks, or set GEMINI_CLI_TRUST_WORKSPACE=true (--skip-trust is not enough). Hooks of the "
    "user's settings need no trust."
}
VERIFIED = True
version = version_in


def user_folder(environ: Environ) -> str:
    """The client's own home; never made by us."""
    return os.path.join(os.path.abspath(environ.get("GEMINI_CLI_HOME") or os.path.expanduser("~")), ".gemini")


def user_file(environ: Environ) -> str:
    """The settings of one user, for every project."""
    return os.path.join(user_folder(environ), "settings.json")


def project_file(folder: str) -> str:
    """The settings that a project shares."""
    return os.path.join(folder, ".gemini", "settings.json")


def _names_hooks(value: Any) -> bool:
    """Whether a list of hooks, by their names or commands, has ours."""
    return isinstance(value, list) and any(
        isinstance(name, str) and (name == "neosian" or is_hook_line(name)) for name in value
    )


_NOT_STARTED = "so Gemini CLI does not start our server"
_SWITCHES = Switches(
    lambda environ, folder: (
        os.path.join(user_folder(environ), "mcp-server-enablement.json"),
        user_file(environ),
        project_file(folder),
    ),
    (
        Switch(
            "hooks", ("hooksConfig", "enabled"), is_false,
            "it is false, so Gemini CLI runs no hook, ours neither",
        ),
        Switch(
            "hooks", ("hooksConfig", "disabled"), _names_hooks, "it names our hooks, so Gemini CLI runs none"
        ),
        Switch("server", ("mcp", "excluded"), names_server, f"it names it, {_NOT_STARTED}"),
        Switch("server", ("mcp", "allowed"), names_others, f"it leaves it out, {_NOT_STARTED}"),
        Switch("server", (SERVER, "enabled"), is_false, f"it is false, {_NOT_STARTED}"),
    ),
)  # fmt: skip


# The timeouts in the template are milliseconds.
HOOKS = HookFile(
    shape=GROUPS,
    template="gemini-cli.json",
    home=user_folder,
    user_file=user_file,
    project_file=project_file,
    early=("SessionStart", "BeforeAgent", "BeforeTool", "AfterTool", "AfterAgent", "SessionEnd"),
    project_words="",
)


def own_memory(environ: Environ, project: str | None) -> str:
    """What it saves in GEMINI.md files when it is asked to has no switch; what it makes of past sessions has one."""
    files = [user_file(environ), *([project_file(project)] if project else ())]
    is_on = own.switch(WITH_COMMENTS.parse, files, "experimental", "autoMemory")
    return "GEMINI.md, auto memory is on" if is_on else "GEMINI.md"


MCP = Client(
    name=NAME,
    title=TITLE,
    key="mcpServers",
    home=user_folder,
    user_files=lambda environ: (user_file(environ),),
    project_files=lambda folder: (project_file(folder),),
    format=WITH_COMMENTS,
    entry=program_and_arguments,
    words=of_program_and_arguments,
    project_note="Gemini CLI starts a project's servers only in a folder that you trust.",
    switches=_SWITCHES,
)
