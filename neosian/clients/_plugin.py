"""What neosian's own plugins send: the files in ``hooks/`` for clients that run JavaScript in place of commands.

The payloads are of our own making, an object an event, and the same for all of those clients:

================  ==========================================================================================
all               hook_event_name, session_id, cwd, prompt_id; in a subagent agent_id and agent_type
SessionStart      source (startup, resume, fork, compact), model
UserPromptSubmit  prompt
PreToolUse        tool_name, tool_input, tool_use_id
PostToolUse       the same, tool_output, ok (absent: not told), duration_ms, child_session_id (of a subagent)
SubagentStart     -
SubagentStop      last_assistant_message
PreCompact        trigger
PostCompact       trigger, text
Stop              last_assistant_message, aborted
StopFailure       last_assistant_message, error
SessionEnd        reason
================  ==========================================================================================
"""

from __future__ import annotations

from neosian.clients._reading import dict_in, event_of, number_in, readable, text_in, unknown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from neosian.events import Event, Spooled

    Payload = dict[str, Any]

VERB = {
    "SessionStart": "start",
    "UserPromptSubmit": "prompt",
    "PreToolUse": "note",
    "PostToolUse": "note",
    "SubagentStart": "note",
    "SubagentStop": "note",
    "PreCompact": "note",
    "PostCompact": "note",
    "Stop": "stop",
    "StopFailure": "stop",
    "SessionEnd": "end",
}


def parse(client: str, payload: Payload, spooled: Spooled) -> Event:
    """The payload as an event of ``client``."""
    name = text_in(payload, "hook_event_name")
    kind, read = READERS.get(name, ("event", unknown))
    agent = text_in(payload, "agent_id")
    return event_of(
        client, spooled, name, kind, read(payload), session=text_in(payload, "session_id"),
        cwd=text_in(payload, "cwd"), prompt_id=text_in(payload, "prompt_id"), agent=agent,
        agent_type=text_in(payload, "agent_type") if agent else None, call=text_in(payload, "tool_use_id"),
    )  # fmt: skip


def _start(payload: Payload) -> Payload:
    return {"source": text_in(payload, "source"), "model": text_in(payload, "model")}


def _prompt(payload: Payload) -> Payload:
    return {"text": text_in(payload, "prompt"), "notification": None}


def _call(payload: Payload) -> Payload:
    return {"tool": text_in(payload, "tool_name"), "input": dict_in(payload, "tool_input")}


def _result(payload: Payload) -> Payload:
    ok = payload.get("ok")
    return {
        **_call(payload),
        "text": readable(payload.get("tool_output")),
        "ok": ok if isinstance(ok, bool) else None,
        "ms": number_in(payload, "duration_ms"),
        "background": None,
        "agent": text_in(payload, "child_session_id") or None,
        "person": False,
    }


def _subagent(payload: Payload) -> Payload:
    stop = payload.get("hook_event_name") == "SubagentStop"
    return {"event": "stop" if stop else "start", "text": text_in(payload, "last_assistant_message")}


def _compact(payload: Payload) -> Payload:
    after = payload.get("hook_event_name") == "PostCompact"
    return {
        "event": "after" if after else "before",
        "trigger": text_in(payload, "trigger"),
        "text": text_in(payload, "text"),
    }


def _stop(payload: Payload) -> Payload:
    text = text_in(payload, "last_assistant_message")
    return {"text": text, "active": False, "background": [], "aborted": payload.get("aborted") is True}


def _failure(payload: Payload) -> Payload:
    return {"error": readable(payload.get("error")), "text": text_in(payload, "last_assistant_message")}


def _end(payload: Payload) -> Payload:
    return {"reason": text_in(payload, "reason")}


READERS: dict[str, tuple[str, Callable[[Payload], Payload]]] = {
    "SessionStart": ("start", _start),
    "UserPromptSubmit": ("prompt", _prompt),
    "PreToolUse": ("call", _call),
    "PostToolUse": ("result", _result),
    "SubagentStart": ("subagent", _subagent),
    "SubagentStop": ("subagent", _subagent),
    "PreCompact": ("compact", _compact),
    "PostCompact": ("compact", _compact),
    "Stop": ("stop", _stop),
    "StopFailure": ("failure", _failure),
    "SessionEnd": ("end", _end),
}
