"""Qwen Code's settings: its hooks and its MCP servers stand in one file. Tried with 0.24.4."""

from __future__ import annotations

import os

from neosian.clients import own_memory as own
from neosian.clients import qwen_code
from neosian.clients.hook_files import GROUPS, HookFile, version_in
from neosian.clients.mcp_clients import JSON_WITH_COMMENTS as WITH_COMMENTS
from neosian.clients.mcp_clients import (
    PROJECT,
    Client,
    Environ,
    Switch,
    Switches,
    is_true,
    names_others,
    names_server,
    of_program_and_arguments,
    program_and_arguments,
)

NAME = qwen_code.NAME
TITLE = qwen_code.TITLE
PROGRAM = "qwen"
ADVICE = (
    "User level (--user) is advised: one install then serves every project, and Qwen Code reads a project's settings "
    "only where it was started in that folder."
)
TRUST = {
    PROJECT: "Where folder trust is switched on in Qwen Code (it is off at first), a project's hooks run only in a "
    "folder that you trust: start `qwen` there once and say so when it asks."
}
VERIFIED = True
version = version_in


def user_folder(environ: Environ) -> str:
    """The client's own home; never made by us."""
    return os.path.abspath(os.path.expanduser(environ.get("QWEN_HOME") or "~/.qwen"))


def user_file(environ: Environ) -> str:
    """The settings of one user, for every project."""
    return os.path.join(user_folder(environ), "settings.json")


def project_file(folder: str) -> str:
    """The settings that a project shares."""
    return os.path.join(folder, ".qwen", "settings.json")


_NOT_STARTED = "so Qwen Code does not start our server"
_SWITCHES = Switches(
    lambda environ, folder: (user_file(environ), project_file(folder)),
    (
        Switch("hooks", ("disableAllHooks",), is_true, "it is true, so Qwen Code runs no hook, ours neither"),
        Switch("server", ("mcp", "excluded"), names_server, f"it names it, {_NOT_STARTED}"),
        Switch("server", ("mcp", "allowed"), names_others, f"it leaves it out, {_NOT_STARTED}"),
    ),
)


# The timeouts in the template are seconds: the client takes 1,000 and more for milliseconds.
HOOKS = HookFile(
    shape=GROUPS,
    template="qwen-code.json",
    home=user_folder,
    user_file=user_file,
    project_file=project_file,
    early=("SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop", "SessionEnd"),
    project_words="",
)


def own_memory(environ: Environ, project: str | None) -> str:
    """Auto memory: on unless the nearest settings file switches it off."""
    files = [user_file(environ), *([project_file(project)] if project else ())]
    is_on = own.switch(WITH_COMMENTS.parse, files, "memory", "enableManagedAutoMemory")
    return "" if is_on is False else "auto memory is on"


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
    calls_itself="qwen-cli",
    project_note="At its next start in a project Qwen Code asks whether the project's server may run.",
    switches=_SWITCHES,
)
