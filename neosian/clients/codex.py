"""Codex: its hook payloads as events.

Every field that is read here was seen in payloads of version 0.171.0, most of which are in ``tests/data/codex``. Events
of a child carry its parent's session with an ``agent_id``, and a turn id of the child's own. A call that failed as a
tool (a patch that does not apply, an error of an MCP server) has no event for its end, and the exit status of a shell's
command is in none: what is not told stays unknown.
"""

from __future__ import annotations

from neosian import fastjson
from neosian.clients._reading import (
    as_context,
    event_of,
    permission,
    readable,
    session_end,
    session_start,
    subagent,
    text_in,
    tool_call,
    unknown,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from neosian.events import Event, Spooled

    Payload = dict[str, Any]

NAME = "codex"
TITLE = "Codex"

OLDEST = (0, 169, 0)
VERB = {
    "SessionStart": "start",
    "UserPromptSubmit": "prompt",
    "PreToolUse": "note",
    "PostToolUse": "note",
    "PermissionRequest": "note",
    "SubagentStart": "note",
    "SubagentStop": "note",
    "PreCompact": "note",
    "PostCompact": "note",
    "Stop": "stop",
    "SessionEnd": "end",
}
EVENTS: dict[str, tuple[int, ...]] = dict.fromkeys(VERB, OLDEST)
ANSWERED = {"start": "SessionStart", "prompt": "UserPromptSubmit"}

START_LIMIT = 9_500  # bytes; the client cuts the middle out of more than 10,000
STARTS_WITH_PROMPT = False

SHELL = "Bash"
SPAWN = "spawn_agent"  # how the tool's name ends; its name space is glued on in front


def cost(text: str) -> int:
    """Bytes of UTF-8."""
    return len(text.encode("utf-8", "surrogatepass"))


def shown(verb: str, text: str) -> str:
    """What a hook prints for the model to read: JSON, since plain text that begins like JSON would be dropped."""
    return as_context(ANSWERED[verb], text)


def session_of(environ: Mapping[str, str]) -> str:
    """The session whose shell commands run in this environment; its MCP servers are told none there."""
    return environ.get("CODEX_SESSION_ID", "")


def parse(payload: Payload, spooled: Spooled) -> Event:
    """The payload as an `Event`."""
    name = text_in(payload, "hook_event_name")
    kind, read = READERS.get(name, ("event", unknown))
    agent = text_in(payload, "agent_id")
    return event_of(
        NAME, spooled, name, kind, read(payload),
        session=text_in(payload, "session_id"), cwd=text_in(payload, "cwd"),
        # A child's turn id means no turn of the session.
        prompt_id="" if agent else text_in(payload, "turn_id"),
        agent=agent, call=text_in(payload, "tool_use_id"), agent_type=text_in(payload, "agent_type") or None,
    )  # fmt: skip


# One reader for each event: what of the payload becomes `Event.data`.


def _prompt(payload: Payload) -> Payload:
    return {"text": text_in(payload, "prompt"), "notification": None}


def _result(payload: Payload) -> Payload:
    """Of a call that returned; only a shell's may have failed all the same."""
    tool, response = text_in(payload, "tool_name"), payload.get("tool_response")
    fields = response if isinstance(response, dict) else {}
    agent = _spawned(response) if tool.endswith(SPAWN) else None
    return {
        **tool_call(payload),
        "text": readable(fields["content"] if isinstance(fields.get("content"), list) else response),
        "ok": None if tool == SHELL else fields.get("isError") is not True,
        "ms": None,
        "background": agent,
        "agent": agent,
        "person": False,
    }


def _spawned(response: Any) -> str | None:
    """The child that a call started: JSON in a text tells of it, where anything does."""
    try:
        told = fastjson.loads(response) if isinstance(response, str) else {}
    except (ValueError, RecursionError):
        return None
    return text_in(told, "agent_id") or None if isinstance(told, dict) else None


def _compact(payload: Payload) -> Payload:
    after = payload.get("hook_event_name") == "PostCompact"
    return {"event": "after" if after else "before", "trigger": text_in(payload, "trigger"), "text": ""}


def _stop(payload: Payload) -> Payload:
    return {
        "text": text_in(payload, "last_assistant_message"),
        "active": payload.get("stop_hook_active") is True,
        "background": [],
    }


READERS: dict[str, tuple[str, Callable[[Payload], Payload]]] = {
    "SessionStart": ("start", session_start),
    "UserPromptSubmit": ("prompt", _prompt),
    "PreToolUse": ("call", tool_call),
    "PostToolUse": ("result", _result),
    "PermissionRequest": ("permission", permission),
    "SubagentStart": ("subagent", subagent),
    "SubagentStop": ("subagent", subagent),
    "PreCompact": ("compact", _compact),
    "PostCompact": ("compact", _compact),
    "Stop": ("stop", _stop),
    "SessionEnd": ("end", session_end),
}
