"""GitHub Copilot CLI: its hook payloads as events, and the answer that they leave out.

Every field that is read here was seen in payloads of version 1.0.102, most of which are in ``tests/data/copilot-cli``;
the public description is the hooks reference in GitHub's documentation. The client spells an event, its fields and its
tools as the hook file spells the event: our file says ``PreToolUse``, and only that spelling names the event in the
payload. A line that somebody wrote as ``preToolUse`` is understood too.

The payloads hold no id of a prompt or a call, and a stop no answer. That answer alone is read from the file that the
stop names, and only where ``record.transcript`` allows it.
"""

from __future__ import annotations

import time

from neosian.clients._reading import (
    as_json,
    dict_in,
    event_of,
    readable,
    session_end,
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

NAME = "copilot-cli"
TITLE = "GitHub Copilot CLI"

OLDEST = (1, 0, 102)
VERB = {
    "SessionStart": "start",
    "UserPromptSubmit": "prompt",
    "PreToolUse": "note",
    "PostToolUse": "note",
    "PostToolUseFailure": "note",
    "SubagentStop": "note",
    "PreCompact": "note",
    "ErrorOccurred": "note",
    "Stop": "stop",
    "SessionEnd": "end",
}
EVENTS: dict[str, tuple[int, ...]] = dict.fromkeys(VERB, OLDEST)

START_LIMIT = 9_500  # UTF-16 code units; 30,000 were tried and came whole
STARTS_WITH_PROMPT = False
cost = utf16

NOTIFIED = "<system_notification>"  # how a prompt begins that the client wrote when background work had ended
# What the client adds to the output of a shell: the only word of how the command ended.
SHELLS = ("Bash", "bash", "PowerShell", "powershell")
ENDED = "<shellId: "
STATUS = " completed with exit code "

_DAY = 86_400.0
_LATEST = 60.0  # seconds a hook may take to begin
_FRESH = 10.0  # seconds after a stop in which its file may be behind


def shown(verb: str, text: str) -> str:
    """What a hook prints for the model to read: an object of one key. Plain text would be dropped in silence."""
    return as_json({"additionalContext": text}) if text else ""


def session_of(environ: Mapping[str, str]) -> str:
    """The session of an agent whose tools and MCP servers run in this environment; "" for a person's own."""
    return environ.get("COPILOT_AGENT_SESSION_ID", "")


def parse(payload: Payload, spooled: Spooled) -> Event:
    """The payload as an `Event`.

    An event of a subagent goes under the session that the agent was started in: its own payload names the agent where
    others name the session.
    """
    fields = _one_spelling(payload)
    name = text_in(fields, "hook_event_name") or _name(fields)
    kind, read = READERS.get(name, ("event", None))
    if name == "ErrorOccurred" and text_in(fields, "error_context") not in ("", "model_call"):
        read = None  # a tool's error or the client's own ends no turn
    agent, session = text_in(fields, "agent_id"), text_in(fields, "session_id")
    if agent and session in ("", agent):
        session = text_in(fields, "parent_agent_id")
    event = event_of(
        NAME, spooled, name, kind if read else "event", read(fields) if read else unknown(payload),
        session=session, cwd=text_in(fields, "cwd"), root=spooled.marks.get("CLAUDE_PROJECT_DIR", ""),
        agent=agent, agent_type=text_in(fields, "agent_type") or None,
    )  # fmt: skip
    late = _late(fields.get("timestamp"), spooled.at)
    event.at -= late
    if event.tick is not None:
        event.tick -= late
    return event


def answer(event: Event, patience: float) -> str:
    """The answer that a stop left out, from the file that it named (``transcript`` of its data); "" for none. A file
    that is still being written is waited for, ``patience`` seconds at most."""
    from neosian.clients import copilot_transcript  # only a landing comes here

    named = event.data["transcript"]
    is_fresh = time.time() - event.at < _FRESH
    return copilot_transcript.answer(
        named["path"], named["session"], named["until"], patience if is_fresh else 0.0
    )


def _late(stamp: Any, at: float) -> float:
    """By how many seconds the hook began after the client's own time of the event; 0 where that cannot be told.

    The client starts the hooks of a session's start and of its first prompt side by side, and those of calls made
    together: only its own time tells which was first. Its time of day is enough, no hook begins a minute late.
    """
    try:
        hours, minutes, seconds = map(float, _iso(stamp)[11:-1].split(":"))
    except ValueError:
        return 0.0
    late = (at - hours * 3600 - minutes * 60 - seconds) % _DAY
    return late if late <= _LATEST else 0.0


def _iso(stamp: Any) -> str:
    """A time of the client's, milliseconds since 1970 or text, as text: ``2026-11-30T04:06:36.582Z``; "" for none."""
    if isinstance(stamp, str):
        return stamp if len(stamp) == 24 and stamp[10] == "T" and stamp[-1] == "Z" else ""
    if not isinstance(stamp, int) or isinstance(stamp, bool) or not 0 < stamp < 1e14:
        return ""
    whole, milli = divmod(stamp, 1000)
    return f"{time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(whole))}.{milli:03}Z"


# The two spellings --------------------------------------------------------------------------------

_OTHER_NAMES = {"tool_args": "tool_input"}
# An event spelled the other way does not name itself. What it holds tells, the first that fits: keys -> name.
_HOLDS = (
    (("transformed_prompt",), "UserPromptTransformed"),
    (("permission_suggestions",), "PermissionRequest"),
    (("tool_name", "tool_result"), "PostToolUse"),
    (("tool_name", "error"), "PostToolUseFailure"),
    (("tool_name",), "PreToolUse"),
    (("error",), "ErrorOccurred"),
    (("agent_name", "response"), "SubagentStop"),
    (("agent_name",), "SubagentStart"),
    (("notification_type",), "Notification"),
    (("trigger",), "PreCompact"),
    (("stop_reason",), "Stop"),
    (("source",), "SessionStart"),
    (("prompt",), "UserPromptSubmit"),
    (("reason",), "SessionEnd"),
)


def _one_spelling(payload: Payload) -> Payload:
    """The payload with its own fields, and those of a tool's result, spelled with underscores."""
    fields = {_spelled(key): value for key, value in payload.items()}
    fields = {_OTHER_NAMES.get(key, key): value for key, value in fields.items()}
    if isinstance(fields.get("tool_result"), dict):
        fields["tool_result"] = {_spelled(key): value for key, value in fields["tool_result"].items()}
    return fields


def _spelled(key: str) -> str:
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in key)


def _name(fields: Payload) -> str:
    return next((name for keys, name in _HOLDS if all(key in fields for key in keys)), "")


# One reader for each event: what of the payload becomes `Event.data` ------------------------------


def _start(fields: Payload) -> Payload:
    source = text_in(fields, "source")
    return {"source": "startup" if source == "new" else source, "model": ""}


def _prompt(fields: Payload) -> Payload:
    """A prompt typed while a turn runs comes when that has stopped, or not at all where it is handed to the turn."""
    text = text_in(fields, "prompt")
    note = _notification(text) if text.startswith(NOTIFIED) else None
    return {"text": text, "notification": note, "steers": False}


def _notification(text: str) -> Payload:
    summary = text.removeprefix(NOTIFIED).partition("</")[0].strip()
    status = "completed" if "completed successfully" in summary else "failed" if "failed" in summary else ""
    return {"call": "", "task": "", "status": status, "summary": summary}


def _result(fields: Payload) -> Payload:
    call, result = tool_call(fields), dict_in(fields, "tool_result")
    text = readable(result.get("text_result_for_llm"))
    ok = {"": None, "success": True}.get(text_in(result, "result_type"), False)
    if ok and call["tool"] in SHELLS:
        ok = _shell_ended_well(text)
    return _ended(call, text, ok)


def _failed(fields: Payload) -> Payload:
    return _ended(tool_call(fields), readable(fields.get("error")), False)


def _ended(call: Payload, text: str, ok: bool | None) -> Payload:
    return {**call, "text": text, "ok": ok, "ms": None, "background": None, "agent": None, "person": False}


def _shell_ended_well(text: str) -> bool:
    """A command that failed is a success to the client, which puts the exit code on a last line of its own."""
    last = text.rstrip().rpartition("\n")[2]
    return not (last.startswith(ENDED) and STATUS in last and not last.endswith(f"{STATUS}0>"))


def _permission(fields: Payload) -> Payload:
    return {**tool_call(fields), "state": "asked", "reason": ""}


def _subagent(fields: Payload) -> Payload:
    stop = fields.get("hook_event_name", _name(fields)) == "SubagentStop"
    text = text_in(fields, "last_assistant_message") or text_in(fields, "response")  # by the spelling
    return {"event": "stop" if stop else "start", "text": text}


def _compact(fields: Payload) -> Payload:
    return {
        "event": "before",
        "trigger": text_in(fields, "trigger"),
        "text": text_in(fields, "custom_instructions"),
    }


def _stop(fields: Payload) -> Payload:
    text = text_in(fields, "last_assistant_message")  # not told by any version so far
    data = {"text": text, "active": fields.get("stop_hook_active") is True, "background": []}
    path = text_in(fields, "transcript_path")
    if path and not text:
        data["transcript"] = {
            "path": path,
            "session": text_in(fields, "session_id"),
            "until": _iso(fields.get("timestamp")),
        }
    return data


def _error(fields: Payload) -> Payload:
    """One comes with each try that failed, the last included. Without the stack, which tells of the client's code."""
    error = fields.get("error")
    return {"error": readable(error.get("message") if isinstance(error, dict) else error), "text": ""}


READERS: dict[str, tuple[str, Callable[[Payload], Payload] | None]] = {
    "SessionStart": ("start", _start),
    "UserPromptSubmit": ("prompt", _prompt),
    "PreToolUse": ("call", tool_call),
    "PostToolUse": ("result", _result),
    "PostToolUseFailure": ("result", _failed),
    "PermissionRequest": ("permission", _permission),
    "SubagentStart": ("subagent", _subagent),
    "SubagentStop": ("subagent", _subagent),
    "PreCompact": ("compact", _compact),
    "ErrorOccurred": ("error", _error),
    "Stop": ("stop", _stop),
    "SessionEnd": ("end", session_end),
}
