"""VS Code's agent: its hook payloads as events. Not verified: read in its documentation, never run.

It has no hook file of ours. It runs those of Claude Code and Copilot CLI, with payloads of its own: the session and the
event are named as nobody else does. Prompts have no id, what the agent said is in no event, only calls that went well
have an end, and a session has none.
"""

from __future__ import annotations

from neosian.clients._reading import (
    as_context,
    event_of,
    readable,
    text_in,
    tool_call,
    unknown,
    utf16,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from neosian.events import Event, Spooled

    Payload = dict[str, Any]

NAME = "vscode"
TITLE = "VS Code"

OLDEST = (1, 110, 0)
VERB = {
    "SessionStart": "start",
    "UserPromptSubmit": "prompt",
    "PreToolUse": "note",
    "PostToolUse": "note",
    "PreCompact": "note",
    "SubagentStart": "note",
    "SubagentStop": "note",
    "Stop": "stop",
}
EVENTS: dict[str, tuple[int, ...]] = dict.fromkeys(VERB, OLDEST)
ANSWERED = {"start": "SessionStart", "prompt": "UserPromptSubmit"}

START_LIMIT = 9_500  # no limit is documented: that of the clients whose files it runs
STARTS_WITH_PROMPT = False
cost = utf16

NEW = {"new": "startup"}  # what it calls a new session


def shown(verb: str, text: str) -> str:
    """What a hook prints for the model to read; that of a prompt may not be taken."""
    return as_context(ANSWERED[verb], text)


def session_of(environ: Mapping[str, str]) -> str:
    """Nothing in the environment of its shells names the session."""
    return ""


def parse(payload: Payload, spooled: Spooled) -> Event:
    """The payload as an `Event`."""
    name = text_in(payload, "hookEventName")
    kind, read = READERS.get(name, ("event", unknown))
    return event_of(
        NAME, spooled, name, kind, read(payload),
        session=text_in(payload, "sessionId"), cwd=text_in(payload, "cwd"),
        root=spooled.marks.get("CLAUDE_PROJECT_DIR", ""), call=text_in(payload, "tool_use_id"),
        agent=text_in(payload, "agent_id"), agent_type=text_in(payload, "agent_type") or None,
    )  # fmt: skip


# One reader for each event: what of the payload becomes `Event.data`.


def _start(payload: Payload) -> Payload:
    source = text_in(payload, "source")
    return {"source": NEW.get(source, source), "model": text_in(payload, "model")}


def _prompt(payload: Payload) -> Payload:
    return {"text": text_in(payload, "prompt"), "notification": None}


def _result(payload: Payload) -> Payload:
    text = readable(payload.get("tool_response"))
    return {**tool_call(payload), "text": text, "ok": None, "ms": None, "background": None, "agent": None,
            "person": False}  # fmt: skip


def _compact(payload: Payload) -> Payload:
    return {"event": "before", "trigger": text_in(payload, "trigger"), "text": ""}


def _subagent(payload: Payload) -> Payload:
    stop = payload.get("hookEventName") == "SubagentStop"
    return {"event": "stop" if stop else "start", "text": ""}


def _stop(payload: Payload) -> Payload:
    return {"text": "", "active": payload.get("stop_hook_active") is True, "background": []}


READERS: dict[str, tuple[str, Callable[[Payload], Payload]]] = {
    "SessionStart": ("start", _start),
    "UserPromptSubmit": ("prompt", _prompt),
    "PreToolUse": ("call", tool_call),
    "PostToolUse": ("result", _result),
    "PreCompact": ("compact", _compact),
    "SubagentStart": ("subagent", _subagent),
    "SubagentStop": ("subagent", _subagent),
    "Stop": ("stop", _stop),
}
