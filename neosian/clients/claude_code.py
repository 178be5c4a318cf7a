"""Claude Code: its hook payloads as events.

Every field that is read here was seen in payloads of versions 2.1.197 and 2.1.332, most of which are in
``tests/data/claude-code``; the public description is the hooks reference in Claude Code's documentation. What a
payload has of the wrong type counts as absent.
"""

from __future__ import annotations

from neosian import payload as text_of
from neosian.clients._reading import (
    dict_in,
    event_of,
    list_in,
    number_in,
    permission,
    readable,
    session_end,
    session_start,
    subagent,
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

NAME = "claude-code"
TITLE = "Claude Code"

OLDEST = (2, 1, 197)
EVENTS: dict[str, tuple[int, ...]] = {
    "SessionStart": OLDEST,
    "UserPromptSubmit": OLDEST,
    "PreToolUse": OLDEST,
    "PostToolUse": OLDEST,
    "PostToolUseFailure": OLDEST,
    "PostToolBatch": OLDEST,
    "PermissionRequest": OLDEST,
    "PermissionDenied": OLDEST,
    "SubagentStart": OLDEST,
    "SubagentStop": OLDEST,
    "PreCompact": OLDEST,
    "PostCompact": OLDEST,
    "Stop": OLDEST,
    "StopFailure": OLDEST,
    "SessionEnd": OLDEST,
    "CwdChanged": OLDEST,
}
VERB = dict.fromkeys(EVENTS, "note") | {
    "SessionStart": "start",
    "UserPromptSubmit": "prompt",
    "Stop": "stop",
    "StopFailure": "stop",
    "SessionEnd": "end",
}
# Events that are not registered but may come from a line that somebody wrote: these two belong to a running turn.
OPENS = ("UserPromptExpansion", "MessageDisplay")

START_LIMIT = 9_500  # UTF-16 code units; the client puts more than 10,000 into a file and shows 2,000
STARTS_WITH_PROMPT = False
cost = utf16

# How a reply to the model begins when the call was refused before it ran.
REFUSED = ("<tool_use_error>", "The user doesn't want to ", "Permission to use ", "Permission for this ")
SAID = "the user said:\n"


def shown(verb: str, text: str) -> str:
    """What a hook prints for the model to read: plain text."""
    return text


def session_of(environ: Mapping[str, str]) -> str:
    """The session of an agent whose tools, hooks and MCP servers run in this environment; "" for a person's own."""
    return environ.get("CLAUDE_CODE_SESSION_ID", "")


def parse(payload: Payload, spooled: Spooled) -> Event:
    """The payload as an `Event`."""
    name = text_in(payload, "hook_event_name")
    kind, read = READERS.get(name, ("event", _unknown))
    return event_of(
        NAME, spooled, name, kind, read(payload),
        session=text_in(payload, "session_id"), cwd=text_in(payload, "cwd"),
        root=spooled.marks.get("CLAUDE_PROJECT_DIR", ""), prompt_id=text_in(payload, "prompt_id"),
        agent=text_in(payload, "agent_id"), call=text_in(payload, "tool_use_id"),
        agent_type=payload["agent_type"] if isinstance(payload.get("agent_type"), str) else None,
    )  # fmt: skip


# One reader for each event: what of the payload becomes `Event.data`.


def _prompt(payload: Payload) -> Payload:
    from neosian.speech import notification  # only a landing comes here

    text = text_in(payload, "prompt")
    told = notification(text)
    names = ("call", "task", "status", "summary")
    return {"text": text, "notification": {name: getattr(told, name) for name in names} if told else None}


def _result(payload: Payload) -> Payload:
    tool, response = text_in(payload, "tool_name"), payload.get("tool_response")
    fields = response if isinstance(response, dict) else {}
    launched = fields.get("isAsync") is True or fields.get("status") == "async_launched"
    agent = text_in(fields, "agentId") or None
    answers = dict_in(fields, "answers") if tool == "AskUserQuestion" else {}
    return {
        **tool_call(payload),
        "text": _answers(answers) if answers else _output(tool, response),
        "ok": True,
        "ms": number_in(payload, "duration_ms"),
        "background": text_in(fields, "backgroundTaskId") or (agent if launched else None),
        "agent": agent,
        "person": bool(answers),
    }


def _failed(payload: Payload) -> Payload:
    return {
        **tool_call(payload),
        "text": readable(payload.get("error")),
        "ok": False,
        "ms": number_in(payload, "duration_ms"),
        "background": None,
        "agent": None,
        "person": False,
    }


def _batch(payload: Payload) -> Payload:
    return {"calls": [_batched(call) for call in list_in(payload, "tool_calls") if isinstance(call, dict)]}


def _batched(call: Payload) -> Payload:
    """A call as the model sees it, which is all there is of one that was refused before it ran."""
    text = readable(call.get("tool_response"))
    refused = text.startswith(REFUSED)
    _, said, words = text.partition(SAID) if refused else ("", "", "")
    return {
        "call": text_in(call, "tool_use_id") or None,
        **tool_call(call),
        "text": words if said else text,
        "ok": False if refused else None,
        "person": bool(said),
    }


def _compact(payload: Payload) -> Payload:
    after = payload.get("hook_event_name") == "PostCompact"
    text = text_in(payload, "compact_summary" if after else "custom_instructions")
    return {"event": "after" if after else "before", "trigger": text_in(payload, "trigger"), "text": text}


def _stop(payload: Payload) -> Payload:
    ids = [text_in(task, "id") for task in list_in(payload, "background_tasks") if isinstance(task, dict)]
    return {
        "text": text_in(payload, "last_assistant_message"),
        "active": payload.get("stop_hook_active") is True,
        "background": [task for task in ids if task],
    }


def _failure(payload: Payload) -> Payload:
    return {"error": readable(payload.get("error")), "text": text_in(payload, "last_assistant_message")}


def _cwd(payload: Payload) -> Payload:
    return {"old": text_in(payload, "old_cwd"), "new": text_in(payload, "new_cwd") or text_in(payload, "cwd")}


def _unknown(payload: Payload) -> Payload:
    return unknown(payload, opens=payload.get("hook_event_name") in OPENS)


READERS: dict[str, tuple[str, Callable[[Payload], Payload]]] = {
    "SessionStart": ("start", session_start),
    "UserPromptSubmit": ("prompt", _prompt),
    "PreToolUse": ("call", tool_call),
    "PostToolUse": ("result", _result),
    "PostToolUseFailure": ("result", _failed),
    "PostToolBatch": ("batch", _batch),
    "PermissionRequest": ("permission", permission),
    "PermissionDenied": ("permission", permission),
    "SubagentStart": ("subagent", subagent),
    "SubagentStop": ("subagent", subagent),
    "PreCompact": ("compact", _compact),
    "PostCompact": ("compact", _compact),
    "Stop": ("stop", _stop),
    "StopFailure": ("failure", _failure),
    "SessionEnd": ("end", session_end),
    "CwdChanged": ("cwd", _cwd),
}


# What a tool gave back, as a person would read it.


def _output(tool: str, response: Any) -> str:
    if not isinstance(response, dict):
        return readable(response)
    read = OUTPUTS.get(tool)
    return read(response) if read else readable(response)


def _shell(response: Payload) -> str:
    streams = [text_in(response, "stdout"), text_in(response, "stderr")]
    return text_of.joined([stream for stream in streams if stream] or [""])


def _read(response: Payload) -> str:
    content = dict_in(response, "file").get("content")
    if isinstance(content, str):
        return content
    return readable(response) if response.get("type") != "image" else "(an image)"


def _edited(response: Payload) -> str:
    """One line; the text itself is in the call's input."""
    act = {"create": "created", "update": "wrote"}.get(text_in(response, "type"), "edited")
    return f"{act} {text_in(response, 'filePath')}{_sizes(response.get('structuredPatch'))}".rstrip()


def _sizes(patch: Any) -> str:
    hunks = patch if isinstance(patch, list) else []
    lines = [
        line
        for hunk in hunks
        if isinstance(hunk, dict)
        for line in hunk.get("lines") or ()
        if isinstance(line, str)
    ]
    added, gone = (sum(line.startswith(sign) for line in lines) for sign in "+-")
    return f" (+{added} -{gone})" if lines else ""


def _agent(response: Payload) -> str:
    if isinstance(response.get("content"), list):
        return readable(response["content"])
    return (
        f"started in the background as {text_in(response, 'agentId')}"
        if response.get("isAsync")
        else readable(response)
    )


OUTPUTS: dict[str, Callable[[Payload], str]] = {
    "Bash": _shell,
    "PowerShell": _shell,
    "Read": _read,
    "Edit": _edited,
    "MultiEdit": _edited,
    "Write": _edited,
    "Agent": _agent,
    "Task": _agent,
}


def _answers(answers: Payload) -> str:
    return "\n".join(f"{question} {readable(answer)}" for question, answer in answers.items())
