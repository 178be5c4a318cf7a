"""Cursor: its hook payloads as events. Not verified: read in its documentation and in its published package, never run.

``generation_id`` is the turn. What the agent said last comes in an event of its own, before the stop or after it. One
call is told of by two pairs of events: those of all tools, which carry the call's id and are what is installed, and
those of shell, MCP servers and files, which carry none. The person's address (``user_email``) stands in every payload
and is never taken over.
"""

from __future__ import annotations

from neosian import fastjson
from neosian.clients._reading import (
    as_json,
    event_of,
    list_in,
    number_in,
    readable,
    session_end,
    text_in,
    unknown,
    utf16,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from neosian.events import Event, Spooled

    Payload = dict[str, Any]

NAME = "cursor"
TITLE = "Cursor"

OLDEST = (2, 4, 0)
VERB = {
    "sessionStart": "start",
    "beforeSubmitPrompt": "prompt",
    "preToolUse": "note",
    "postToolUse": "note",
    "postToolUseFailure": "note",
    "subagentStart": "note",
    "subagentStop": "note",
    "preCompact": "note",
    "afterAgentResponse": "note",
    "stop": "stop",
    "sessionEnd": "end",
}
EVENTS: dict[str, tuple[int, ...]] = dict.fromkeys(VERB, OLDEST)

START_LIMIT = 9_500  # characters; the client drops a text of more than 10,000 whole
STARTS_WITH_PROMPT = False
cost = utf16  # what JavaScript counts, which is never less

NEW = "startup"  # the event says nothing of it: documented is that it comes with a new conversation


def shown(verb: str, text: str) -> str:
    """What a hook prints for the model to read; that of a prompt is documented with ``continue`` alone."""
    if not text:
        return ""
    answer = {"continue": True} if verb == "prompt" else {}
    return as_json({**answer, "additional_context": text})


def session_of(environ: Mapping[str, str]) -> str:
    """Nothing in the environment of its shells names the session."""
    return ""


def parse(payload: Payload, spooled: Spooled) -> Event:
    """The payload as an `Event`."""
    name = text_in(payload, "hook_event_name")
    kind, read = READERS.get(name, ("event", unknown))
    data, root = read(payload), _root(payload)
    return event_of(
        NAME, spooled, name, "failure" if kind == "stop" and data["error"] else kind, data,
        session=text_in(payload, "conversation_id") or text_in(payload, "session_id"),
        cwd=text_in(payload, "cwd") or root, root=root or spooled.marks.get("CLAUDE_PROJECT_DIR", ""),
        # A session begins and ends around turns, not in one.
        prompt_id="" if kind in ("start", "end") else text_in(payload, "generation_id"),
        agent=_child(payload) if kind == "subagent" else "", call=text_in(payload, "tool_use_id"),
        agent_type=text_in(payload, "subagent_type") or None,
    )  # fmt: skip


def _root(payload: Payload) -> str:
    """The first folder of the workspace."""
    return next((root for root in list_in(payload, "workspace_roots") if isinstance(root, str)), "")


def _child(payload: Payload) -> str:
    """The name of a child; its end may be told without one."""
    names = (text_in(payload, key) for key in ("subagent_id", "tool_call_id", "subagent_type"))
    return next(filter(None, names), "subagent")


# One reader for each event: what of the payload becomes `Event.data`.


def _start(payload: Payload) -> Payload:
    return {"source": text_in(payload, "source") or NEW, "model": text_in(payload, "model")}


def _prompt(payload: Payload) -> Payload:
    return {"text": text_in(payload, "prompt"), "notification": None}


def _call(payload: Payload) -> Payload:
    return {"tool": text_in(payload, "tool_name"), "input": _input(payload)}


def _result(payload: Payload) -> Payload:
    text, ok = _output(payload.get("tool_output"))
    return _ended(payload, _call(payload), text, ok)


def _failed(payload: Payload) -> Payload:
    text = readable(payload.get("error_message")) or text_in(payload, "failure_type")
    return _ended(payload, _call(payload), text, False)


def _ended(payload: Payload, call: Payload, text: str, ok: bool | None) -> Payload:
    ms = number_in(payload, "duration")
    return {**call, "text": text, "ok": ok, "ms": ms, "background": None, "agent": None, "person": False}


def _input(payload: Payload) -> Payload:
    """What a tool was asked: an object, or a text that holds one."""
    found = _loaded(payload.get("tool_input"))
    return found if isinstance(found, dict) else {}


def _output(value: Any) -> tuple[str, bool]:
    """What a tool gave back, as a person would read it, and whether all was well: a text that mostly holds JSON."""
    found = _loaded(value)
    if not isinstance(found, dict):
        return readable(value), True
    ok = found.get("isError") is not True and number_in(found, "exitCode") in (None, 0)
    for key in ("output", "content"):
        if isinstance(found.get(key), str | list):
            return readable(found[key]), ok
    return readable(value), ok


def _loaded(value: Any) -> Any:
    try:
        return fastjson.loads(value) if isinstance(value, str) else value
    except (ValueError, RecursionError):
        return None


def _said(payload: Payload) -> Payload:
    return {"text": text_in(payload, "text")}


def _subagent(payload: Payload) -> Payload:
    stop = payload.get("hook_event_name") == "subagentStop"
    return {"event": "stop" if stop else "start", "text": text_in(payload, "summary")}


def _compact(payload: Payload) -> Payload:
    return {"event": "before", "trigger": text_in(payload, "trigger"), "text": ""}


def _stop(payload: Payload) -> Payload:
    """The turn's end: ``status`` is completed, aborted (by the person) or error, and nothing says which error."""
    status = text_in(payload, "status")
    return {
        "text": "",
        "error": "the turn ended with an error" if status == "error" else "",
        "aborted": status == "aborted",
        "active": (number_in(payload, "loop_count") or 0) > 0,
        "background": [],
    }


# The second pair of a call, for what somebody installed by hand. A file's has one half only.


def _shell_call(payload: Payload) -> Payload:
    return {"tool": "Shell", "input": {"command": text_in(payload, "command")}, "echo": True}


def _shell(payload: Payload) -> Payload:
    return _echo(payload, _shell_call(payload), text_in(payload, "output"), None)  # no exit status


def _served_call(payload: Payload) -> Payload:
    return {**_call(payload), "echo": True}


def _served(payload: Payload) -> Payload:
    text, ok = _output(payload.get("result_json"))
    return _echo(payload, _call(payload), text, ok)


def _edited(payload: Payload) -> Payload:
    asked = {"file_path": text_in(payload, "file_path"), "edits": list_in(payload, "edits")}
    return _echo(payload, {"tool": "Edit", "input": asked}, "", True)


def _read(payload: Payload) -> Payload:
    call = {"tool": "Read", "input": {"file_path": text_in(payload, "file_path")}}
    return _echo(payload, call, text_in(payload, "content"), True)


def _echo(payload: Payload, call: Payload, text: str, ok: bool | None) -> Payload:
    return {**_ended(payload, call, text, ok), "echo": True}


READERS: dict[str, tuple[str, Callable[[Payload], Payload]]] = {
    "sessionStart": ("start", _start),
    "beforeSubmitPrompt": ("prompt", _prompt),
    "preToolUse": ("call", _call),
    "postToolUse": ("result", _result),
    "postToolUseFailure": ("result", _failed),
    "afterAgentResponse": ("said", _said),
    "subagentStart": ("subagent", _subagent),
    "subagentStop": ("subagent", _subagent),
    "preCompact": ("compact", _compact),
    "stop": ("stop", _stop),
    "sessionEnd": ("end", session_end),
    "beforeShellExecution": ("call", _shell_call),
    "beforeMCPExecution": ("call", _served_call),
    "afterShellExecution": ("result", _shell),
    "afterMCPExecution": ("result", _served),
    "beforeReadFile": ("result", _read),
    "afterFileEdit": ("result", _edited),
}
