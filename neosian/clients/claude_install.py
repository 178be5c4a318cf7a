"""Claude Code's settings: where our hooks go in them, and what the client makes of the rest.

Tried on Linux with Claude Code 2.1.197, the oldest supported, and 2.1.332, by starting each with some
ninety settings files and looking whether a hook ran. Nothing here reads or writes a file.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from neosian import settings
from neosian.clients import claude_code
from neosian.clients.claude_code import EVENTS, VERB
from neosian.launcher import is_hook_line, is_launcher

Version = tuple[int, int, int]
Entry = dict[str, Any]

NAME = claude_code.NAME
TITLE = "Claude Code"
PROGRAM = "claude"
ADVICE = (
    "User level (--user) is advised: one install then serves every project, and Claude Code started in a "
    "subdirectory of a project reads no project hooks."
)
OLDEST: Version = claude_code.OLDEST
FORGIVING: Version = (2, 1, 332)  # the oldest seen to skip one bad hook entry and keep the rest of the file

_FILE = "settings.json"
# Seconds. The client waits for its hooks: an event that is only recorded is a file written by the shell, a start
# reads the store and a stop lands in it, each with a deadline of its own far below these, which only end what
# hangs. A session's end gets 1.5 s in all, but as long as the largest timeout that its hooks state.
_TIMEOUT = {"start": 20, "prompt": 20, "note": 10, "stop": 30, "end": 10}
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


def user_folder(environ: Mapping[str, str]) -> str:
    """The client's own home; never made by us."""
    return os.path.abspath(environ.get("CLAUDE_CONFIG_DIR") or os.path.expanduser("~/.claude"))


def user_file(environ: Mapping[str, str]) -> str:
    """The settings of one user, for every project."""
    return os.path.join(user_folder(environ), _FILE)


def project_file(project: str) -> str:
    """The settings that a project shares."""
    return os.path.join(project, ".claude", _FILE)


def version(said: str) -> Version | None:
    """The version in what ``claude --version`` says (``2.1.332 (Claude Code)``), None for anything else."""
    found = re.match(r"\s*v?(\d{1,9})\.(\d{1,9})\.(\d{1,9})(?![\w.])", said)
    return (int(found[1]), int(found[2]), int(found[3])) if found else None


def entries(installed: Version | None, line: Callable[[str], str]) -> dict[str, Entry]:
    """Event -> our hook entry, for the events that the installed client knows; ``line`` makes a verb's command.

    One event name that the client does not know opens a warning at each of its interactive starts.
    """
    known: tuple[int, ...] = OLDEST if installed is None else installed
    return {
        event: {"type": "command", "command": line(VERB[event]), "timeout": _TIMEOUT[VERB[event]]}
        for event, since in EVENTS.items()
        if since <= known or event in _EARLY
    }


def fragment(hooks: Mapping[str, Sequence[Entry]]) -> dict[str, Any]:
    """Settings that hold these hooks alone, by event."""
    return {"hooks": {event: [{"hooks": list(entries)}] for event, entries in hooks.items()}}


# hooks -> event -> groups, each with a matcher and its hooks -> entries ---------------------------


def merge(text: str, wanted: Mapping[str, Entry]) -> str:
    """The settings with our hooks in them, once: what is right stays as it is, older ones are replaced.

    Raises ``ValueError`` where hooks are of a shape that has no place for ours; ``problems`` says so before.
    """
    for event in owned(text):
        if event not in wanted:
            text = _strip_event(text, event)
    for event, entry in wanted.items():
        text = _place(text, event, entry)
    return text


def strip(text: str) -> str:
    """The settings without our hooks, and without the lists that held nothing else."""
    events = owned(text)
    for event in events:
        text = _strip_event(text, event)
    if events and not _hooks(text):
        text = settings.remove(text, ("hooks",))
    return text


def owned(text: str) -> dict[str, list[Entry]]:
    """Our hooks as they stand in the settings, by event; events without one are not named."""
    found = {
        event: [group["hooks"][m] for group in _list(groups) for m in _ours_in(group)]
        for event, groups in _hooks(text).items()
    }
    return {event: entries for event, entries in found.items() if entries}


def _place(text: str, event: str, entry: Entry) -> str:
    if "hooks" not in settings.parse(text):
        text = settings.insert(text, ("hooks",), {})
    hooks = settings.parse(text)["hooks"]
    groups = hooks.get(event, []) if isinstance(hooks, dict) else None
    if not isinstance(groups, list):
        raise ValueError(f"there is no place for a hook of {event}")
    if event not in hooks:
        return settings.insert(text, ("hooks", event), [_group(entry)])
    right = [(n, m) for n, group in enumerate(groups) for m in _ours_in(group) if _serves(group, m, entry)]
    ours = [n for n, group in enumerate(groups) if _only_ours(group)]
    if right:
        keep = right[0]
    elif ours:
        keep = ours[0], 0
        text = settings.replace(text, ("hooks", event, ours[0]), _group(entry))
    else:
        keep = len(groups), 0
        text = settings.insert(text, ("hooks", event, len(groups)), _group(entry))
    return _strip_event(text, event, keep)


def _strip_event(text: str, event: str, keep: tuple[int, int] | None = None) -> str:
    """Take our entries of one event away, but for the one at ``keep`` (group, entry); from the back, so
    that the numbers hold."""
    groups = _list(_hooks(text)[event])
    for n in reversed(range(len(groups))):
        drop = [m for m in _ours_in(groups[n]) if (n, m) != keep]
        if drop and len(drop) == len(groups[n]["hooks"]):
            text = settings.remove(text, ("hooks", event, n))
            continue
        for m in reversed(drop):
            text = settings.remove(text, ("hooks", event, n, "hooks", m))
    return text if _hooks(text)[event] else settings.remove(text, ("hooks", event))


def _group(entry: Entry) -> dict[str, Any]:
    return {"hooks": [entry]}


def _hooks(text: str) -> dict[str, Any]:
    found = settings.parse(text).get("hooks")
    return found if isinstance(found, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _entries(group: Any) -> list[Any]:
    return _list(group.get("hooks")) if isinstance(group, dict) else []


def _ours_in(group: Any) -> list[int]:
    """Where in a group entries of ours stand."""
    return [m for m, entry in enumerate(_entries(group)) if _ours(entry)]


def _only_ours(group: Any) -> bool:
    return 0 < len(_ours_in(group)) == len(_entries(group))


def _serves(group: dict[str, Any], m: int, entry: Entry) -> bool:
    """Whether a group runs just this entry for whatever the event is about."""
    return bool(group["hooks"][m] == entry and group.get("matcher", "") in ("", "*"))


def _ours(entry: Any) -> bool:
    command = entry.get("command") if isinstance(entry, dict) else None
    if not isinstance(command, str):
        return False
    return is_launcher(command) if "args" in entry else is_hook_line(command)


# What is wrong with a file -----------------------------------------------------------------------


class Problem(NamedTuple):
    """Something in a settings file: where, what, and whether our hooks would be lost with it."""

    path: str
    says: str
    fatal: bool

    def __str__(self) -> str:
        return f"{self.path}: {self.says}"


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
    if value.get("disableAllHooks") is True:
        found.append(
            Problem("disableAllHooks", "it is true, so Claude Code runs no hook, ours neither", False)
        )
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
