"""Kimi Code: its hook payloads as events.

Every field that is read here was seen in payloads of version 2.1.0, most of which are in ``tests/data/kimi-code``, or
is in its published package; the public description is the hooks page of its documentation.

A stop tells no answer, a tool's output is cut by the client after 2,000 characters, and the hook of a result is
started without waiting for it: some never run. What a subagent calls comes under the session and without a mark.
"""

from __future__ import annotations

from neosian import payload as text_of
from neosian.clients._reading import (
    event_of,
    readable,
    session_end,
    session_start,
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

NAME = "kimi-code"
TITLE = "Kimi Code"

OLDEST = (2, 1, 0)
VERB = {
    "SessionStart": "start",
    "UserPromptSubmit": "prompt",
    "PreToolUse": "note",
    "PostToolUse": "note",
    "PostToolUseFailure": "note",
    "PermissionResult": "note",
    "SubagentStart": "note",
    "SubagentStop": "note",
    "PreCompact": "note",
    "PostCompact": "start",
    "Stop": "stop",
    "StopFailure": "stop",
    "Interrupt": "stop",
    "SessionEnd": "end",
}
EVENTS: dict[str, tuple[int, ...]] = dict.fromkeys(VERB, OLDEST)

START_LIMIT = 9_500  # UTF-16 code units; the client has no limit of its own
STARTS_WITH_PROMPT = True
cost = utf16

MAIN = "main"  # the agent that is none of the subagents


def shown(verb: str, text: str) -> str:
    """What a hook prints for the model to read: plain text, read with a prompt only."""
    return text


def session_of(environ: Mapping[str, str]) -> str:
    """The session of an agent whose tools run in this environment: the client leaves no mark there."""
    return ""


def parse(payload: Payload, spooled: Spooled) -> Event:
    """The payload as an `Event`."""
    name = text_in(payload, "hook_event_name")
    kind, read = READERS.get(name, ("event", unknown))
    agent = text_in(payload, "agent_id")
    return event_of(
        NAME, spooled, name, kind, read(payload),
        session=text_in(payload, "session_id"), cwd=text_in(payload, "cwd"), call=text_in(payload, "tool_call_id"),
        agent="" if agent == MAIN else agent, agent_type=text_in(payload, "agent_name") or None,
    )  # fmt: skip


# One reader for each event: what of the payload becomes `Event.data`.


def _prompt(payload: Payload) -> Payload:
    """``steers``: it was handed to the turn that runs."""
    text = _parts(payload.get("prompt"))
    return {"text": text, "notification": None, "steers": payload.get("is_steer") is True}


def _parts(prompt: Any) -> str:
    """A prompt's parts as one text; of a part that is no text only the kind, which may be a picture of megabytes."""
    if not isinstance(prompt, list):
        return readable(prompt)
    parts = [part for part in prompt if isinstance(part, dict)]
    texts = [text_in(part, "text") if part.get("type") == "text" else f"({text_in(part, 'type') or 'something'})"
             for part in parts]  # fmt: skip
    return text_of.joined([text for text in texts if text] or [""])


def _result(payload: Payload) -> Payload:
    return _ended(payload, readable(payload.get("tool_output")), True)


def _failed(payload: Payload) -> Payload:
    error = payload.get("error")
    return _ended(payload, readable(error.get("message") if isinstance(error, dict) else error), False)


def _ended(payload: Payload, text: str, ok: bool) -> Payload:
    return {
        **tool_call(payload), "text": text, "ok": ok, "ms": None, "background": None, "agent": None, "person": False,
    }  # fmt: skip


def _permission(payload: Payload) -> Payload:
    denied = text_in(payload, "decision") in ("rejected", "cancelled")
    return {
        **tool_call(payload),
        "state": "denied" if denied else "asked",
        "reason": text_in(payload, "feedback"),
    }


def _subagent(payload: Payload) -> Payload:
    stop = payload.get("hook_event_name") == "SubagentStop"
    return {"event": "stop" if stop else "start", "text": text_in(payload, "response")}


def _compact(payload: Payload) -> Payload:
    after = payload.get("hook_event_name") == "PostCompact"
    return {"event": "after" if after else "before", "trigger": text_in(payload, "trigger"), "text": ""}


def _stop(payload: Payload) -> Payload:
    return {"text": "", "active": payload.get("stop_hook_active") is True, "background": []}


def _failure(payload: Payload) -> Payload:
    return {"error": readable(payload.get("error_message")) or text_in(payload, "error_type"), "text": ""}


READERS: dict[str, tuple[str, Callable[[Payload], Payload]]] = {
    "SessionStart": ("start", session_start),
    "UserPromptSubmit": ("prompt", _prompt),
    "PreToolUse": ("call", tool_call),
    "PostToolUse": ("result", _result),
    "PostToolUseFailure": ("result", _failed),
    "PermissionRequest": ("permission", _permission),
    "PermissionResult": ("permission", _permission),
    "SubagentStart": ("subagent", _subagent),
    "SubagentStop": ("subagent", _subagent),
    "PreCompact": ("compact", _compact),
    "PostCompact": ("compact", _compact),
    "Stop": ("stop", _stop),
    "StopFailure": ("failure", _failure),
    "Interrupt": ("interrupt", session_end),
    "SessionEnd": ("end", session_end),
}
