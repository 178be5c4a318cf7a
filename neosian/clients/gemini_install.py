"""Gemini CLI's settings: its hooks and its MCP servers stand in one file. Tried with 0.61.0."""

from __future__ import annotations

import os

from neosian import settings
from neosian.clients import gemini_cli
from neosian.clients import own_memory as own
from neosian.clients.hook_files import GROUPS, HookFile, Problem, Version, version_in
from neosian.clients.mcp_clients import JSON_WITH_COMMENTS as WITH_COMMENTS
from neosian.clients.mcp_clients import (
    PROJECT,
    Client,
    Environ,
    of_program_and_arguments,
    program_and_arguments,
)

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


def problems(text: str, installed: Version | None) -> list[Problem]:
    """What keeps our hooks from running in a file of this text."""
    switches = settings.parse(text).get("hooksConfig")
    if isinstance(switches, dict) and switches.get("enabled") is False:
        off = [Problem("hooksConfig.enabled", "it is false, so Gemini CLI runs no hook, ours neither", False)]
    else:
        off = []
    return [*GROUPS.problems(text, gemini_cli.EVENTS), *off]


# The timeouts in the template are milliseconds.
HOOKS = HookFile(
    shape=GROUPS,
    template="gemini-cli.json",
    home=user_folder,
    user_file=user_file,
    project_file=project_file,
    problems=problems,
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
)
