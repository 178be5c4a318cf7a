"""Claude Code's settings: where our hooks go in them, and what the client makes of the rest.

Tried on Linux with Claude Code 2.1.197, the oldest supported, and 2.1.332, by starting each with some
ninety settings files and looking whether a hook ran. Nothing here writes a file.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Any

from neosian import settings
from neosian.clients import claude_code, mcp_clients
from neosian.clients import own_memory as own
from neosian.clients.claude_code import EVENTS
from neosian.clients.hook_files import GROUPS, HookFile, Problem, Version
from neosian.clients.mcp_clients import PROJECT, Client, Environ, Switch, Switches, below_home

NAME = claude_code.NAME
TITLE = claude_code.TITLE
PROGRAM = "claude"
ADVICE = (
    "User level (--user) is advised: one install then serves every project, and Claude Code started in a "
    "subdirectory of a project reads no project hooks."
)
TRUST = {
    PROJECT: "Claude Code runs what a project brings only when you say so: start claude there, trust the folder, and "
    "let it use the project's MCP server when it asks."
}
VERIFIED = True
FORGIVING: Version = (2, 1, 332)  # the oldest seen to skip one bad hook entry and keep the rest of the file

_FILE = "settings.json"
_NO_MEMORY = "CLAUDE_CODE_DISABLE_AUTO_MEMORY"
# What a client older than the oldest supported is trusted to know.
_EARLY = (
    "SessionStart",
    "UserPromptSubmit",
    "PreToolUse",
    "PostToolUse",
    "SubagentStop",
    "PreCompact",
    "Stop",
    "SessionEnd",
)

# Events by version, those included that we leave alone.
_KNOWN = frozenset(EVENTS) | {
    *("InstructionsLoaded", "UserPromptExpansion", "Notification", "MessageDisplay", "Setup", "TeammateIdle"),
    *("TaskCreated", "TaskCompleted", "Elicitation", "ElicitationResult", "ConfigChange", "FileChanged"),
    *("WorktreeCreate", "WorktreeRemove"),
}
_KNOWN_LATER = _KNOWN | {"PreModelSwitch", "PostModelSwitch", "DirectoryAdded", "PreSkillShellCommand"}


def user_folder(environ: Environ) -> str:
    """The client's own home; never made by us."""
    return os.path.abspath(environ.get("CLAUDE_CONFIG_DIR") or os.path.expanduser("~/.claude"))


def user_file(environ: Environ) -> str:
    """The settings of one user, for every project."""
    return os.path.join(user_folder(environ), _FILE)


def project_file(project: str) -> str:
    """The settings that a project shares."""
    return os.path.join(project, ".claude", _FILE)


def version(said: str) -> Version | None:
    """The version in what ``claude --version`` says (``2.1.332 (Claude Code)``), None for anything else."""
    found = re.match(r"\s*v?(\d{1,9})\.(\d{1,9})\.(\d{1,9})(?![\w.])", said)
    return (int(found[1]), int(found[2]), int(found[3])) if found else None


def _claude_files(environ: Environ) -> tuple[str, ...]:
    """Beside the client's folder, or inside where that was moved; one of an older name goes before both."""
    folder = user_folder(environ)
    older = os.path.join(folder, ".config.json")
    if os.path.exists(older):
        return (older,)
    return (os.path.join(folder if environ.get("CLAUDE_CONFIG_DIR") else below_home(), ".claude.json"),)


# What is wrong with a file -----------------------------------------------------------------------


_WORDS = {dict: "an object", list: "a list", str: "a string", bool: "true or false"}
_DROPS = "so Claude Code drops the whole file"

# Keys whose value must be of one type, or both versions drop the whole file; those below only 2.1.197.
_TYPES: dict[str, type] = {
    **dict.fromkeys(("attribution", "enabledPlugins", "env", "fileSuggestion", "hooks"), dict),
    **dict.fromkeys(("permissions", "sandbox", "statusLine"), dict),
    **dict.fromkeys(("allowedHttpHookUrls", "availableModels", "companyAnnouncements"), list),
    **dict.fromkeys(("$schema", "apiKeyHelper", "awsAuthRefresh", "defaultShell", "language", "model"), str),
    **dict.fromkeys(("otelHeadersHelper", "outputStyle", "plansDirectory"), str),
    **dict.fromkeys(("alwaysThinkingEnabled", "disableAllHooks", "enableAllProjectMcpServers"), bool),
    **dict.fromkeys(("includeCoAuthoredBy", "respectGitignore", "spinnerTipsEnabled", "verbose"), bool),
}
_TYPES_STRICT: dict[str, type] = {
    "disabledMcpjsonServers": list,
    "enabledMcpjsonServers": list,
    "extraKnownMarketplaces": dict,
}
_PERMISSIONS: dict[str, type] = {
    **dict.fromkeys(("additionalDirectories", "allow", "ask", "deny"), list),
    "disableBypassPermissionsMode": str,
}
_MODES = ("default", "acceptEdits", "plan", "bypassPermissions", "dontAsk", "auto")
# What a hook of each type cannot do without, and what else it may hold.
_NEEDS = {
    "command": ("command",),
    "prompt": ("prompt",),
    "agent": ("prompt",),
    "http": ("url",),
    "mcp_tool": ("server", "tool"),
}
_OPTIONS: dict[str, type] = {
    **dict.fromkeys(("if", "shell", "statusMessage"), str),
    **dict.fromkeys(("async", "once"), bool),
    "args": list,
}


def problems(text: str, installed: Version | None) -> list[Problem]:
    """What would keep the client from reading this file, or would trouble its user, in the order of checking."""
    value = settings.parse(text)
    strict = installed is None or installed < FORGIVING
    found = [*_wrong_types(value, "", _TYPES, True), *_wrong_types(value, "", _TYPES_STRICT, strict)]
    permissions = value.get("permissions")
    if isinstance(permissions, dict):
        found += _wrong_types(permissions, "permissions", _PERMISSIONS, True)
        if permissions.get("defaultMode", "default") not in _MODES:
            says = f"it is none of {', '.join(_MODES)}, {_DROPS}"
            found.append(
                Problem("permissions.defaultMode", says, installed is None or installed <= FORGIVING)
            )
    days = value.get("cleanupPeriodDays", 1)
    if not _positive(days):
        found.append(Problem("cleanupPeriodDays", f"it is no number above 0, {_DROPS}", True))
    for path in settings.twice(value):
        says = "it stands there twice, and Claude Code takes the last"
        found.append(Problem(path, says, path == "hooks" or path.startswith("hooks.")))
    if isinstance(value.get("hooks"), dict):
        for event, groups in value["hooks"].items():
            found += _event_problems(event, groups, installed)
    return found


def _wrong_types(value: dict[str, Any], path: str, types: Mapping[str, type], fatal: bool) -> list[Problem]:
    return [
        Problem(settings.step(path, key), f"it is not {_WORDS[kind]}, {_DROPS}", fatal)
        for key, kind in types.items()
        if key in value and not isinstance(value[key], kind)
    ]


def _event_problems(event: str, groups: Any, installed: Version | None) -> list[Problem]:
    path = settings.step("hooks", event)
    if event not in (_KNOWN if installed is None or installed < FORGIVING else _KNOWN_LATER):
        says = "not known as an event of this Claude Code; each interactive start may open a settings warning"
        return [Problem(path, says, False)]
    if not isinstance(groups, list):
        return [Problem(path, "it is not a list, so Claude Code ignores it", event in EVENTS)]
    strict = installed is None or installed < FORGIVING
    says = _DROPS if strict else "so Claude Code skips it"
    return [
        Problem(where, f"{what}, {says}", strict)
        for n, group in enumerate(groups)
        for where, what in _group_mistakes(settings.step(path, n), group)
    ]


def _group_mistakes(path: str, group: Any) -> list[tuple[str, str]]:
    """What a group of hooks may not be, each with its path."""
    if not isinstance(group, dict) or not isinstance(group.get("hooks"), list):
        return [(path, "it is no object with a list of hooks")]
    found = []
    if not isinstance(group.get("matcher", ""), str):
        found.append((f"{path}.matcher", "it is not a string"))
    for m, entry in enumerate(group["hooks"]):
        found += _entry_mistakes(settings.step(f"{path}.hooks", m), entry)
    return found


def _entry_mistakes(path: str, entry: Any) -> list[tuple[str, str]]:
    if not isinstance(entry, dict):
        return [(path, "it is not an object")]
    kind = entry.get("type")
    if not isinstance(kind, str) or kind not in _NEEDS:
        return [(f"{path}.type", "it is no type of hook that is known")]
    found = [
        (f"{path}.{key}", f"a hook of type {kind} needs it, as a string")
        for key in _NEEDS[kind]
        if not isinstance(entry.get(key), str)
    ]
    found += [
        (f"{path}.{key}", f"it is not {_WORDS[wanted]}")
        for key, wanted in _OPTIONS.items()
        if key in entry and not isinstance(entry[key], wanted)
    ]
    if not _positive(entry.get("timeout", 1)):
        found.append((f"{path}.timeout", "it is no number above 0"))
    return found


def _positive(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and value > 0


# The timeouts in the template are seconds. The client waits for its hooks: an event that is only recorded is a file
# written by the shell, a start reads the store and a stop lands in it, each with a deadline of its own far below these,
# which only end what hangs. A session's end gets 1.5 s in all, but as long as the largest timeout its hooks state.
HOOKS = HookFile(
    shape=GROUPS,
    template="claude-code.json",
    home=user_folder,
    user_file=user_file,
    project_file=project_file,
    problems=problems,
    early=_EARLY,
    project_words="",
)


# Its own memory ----------------------------------------------------------------------------------


def own_memory(environ: Environ, project: str | None) -> str:
    """Auto memory: on unless it is switched off, by a variable first, by the nearest settings file then.

    A settings file can set the variable too, and wins over the environment.
    """
    files = [user_file(environ)]
    if project:
        files += [project_file(project), os.path.join(project, ".claude", "settings.local.json")]
    says = [environ.get(_NO_MEMORY), *own.stated(settings.parse, files, "env", _NO_MEMORY)]
    word = next((str(value).strip().lower() for value in reversed(says) if value is not None), "")
    if word in ("1", "true", "yes", "on"):
        return ""
    is_forced = word in ("0", "false", "no", "off")
    is_off = own.switch(settings.parse, files, "autoMemoryEnabled") is False
    return "" if is_off and not is_forced else "auto memory is on"


_SWITCHES = Switches(
    lambda environ, folder: (
        *_claude_files(environ),
        user_file(environ),
        project_file(folder),
        os.path.join(folder, ".claude", "settings.local.json"),
    ),
    (
        Switch(
            "hooks", ("disableAllHooks",), mcp_clients.is_true,
            "it is true, so Claude Code runs no hook, ours neither",
        ),
        Switch(
            "server", ("disabledMcpjsonServers",), mcp_clients.names_server,
            "it names our server, so Claude Code does not start it", project_only=True,
        ),
        Switch(
            "server", ("projects", mcp_clients.FOLDER, "disabledMcpServers"), mcp_clients.names_server,
            "it names our server, so Claude Code does not start it in this project",
        ),
    ),
)  # fmt: skip

MCP = Client(
    name=NAME,
    title=TITLE,
    key="mcpServers",
    home=user_folder,
    user_files=_claude_files,
    project_files=lambda folder: (os.path.join(folder, ".mcp.json"),),
    format=mcp_clients.JSON,
    entry=mcp_clients.program_and_arguments,
    words=mcp_clients.of_program_and_arguments,
    lock=".lock",
    switches=_SWITCHES,
)
