"""Gemini CLI: its hook payloads as events.

Every field that is read here was seen in payloads of version 0.61.0, most of which are in ``tests/data/gemini-cli``.
Calls have no id, nor have prompts, but each begins a turn: the moment in which it was submitted is as good as one. The
last event of a turn has all that the agent said in it as one text.
"""

from __future__ import annotations

from neosian import payload as text_of
from neosian.clients._gemini_family import SHELL, is_answer, output
from neosian.clients._reading import (
    as_context,
    dict_in,
    event_of,
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

NAME = "gemini-cli"
TITLE = "Gemini CLI"

OLDEST = (0, 61, 0)
VERB = {
    "SessionStart": "start",
    "BeforeAgent": "prompt",
    "BeforeTool": "note",
    "AfterTool": "note",
    "Notification": "note",
    "AfterAgent": "stop",
    "SessionEnd": "end",
}
EVENTS: dict[str, tuple[int, ...]] = dict.fromkeys(VERB, OLDEST)
ANSWERED = {verb: event for event, verb in VERB.items()}

START_LIMIT = 30_000  # UTF-16 code units, the most that was tried; it went through whole
STARTS_WITH_PROMPT = False
cost = utf16

ECHO, ECHO_ENDS = "<hook_context>", "</hook_context>"
SAID_NOTHING = "[no response text]"  # the client's own words for no answer


def shown(verb: str, text: str) -> str:
    """What a hook prints for the model to read: JSON, since plain text is only shown to the person."""
    return as_context(ANSWERED[verb], text)


def session_of(environ: Mapping[str, str]) -> str:
    """The session of a hook of this client; its tools and MCP servers are told none."""
    return environ.get("GEMINI_SESSION_ID", "")


def parse(payload: Payload, spooled: Spooled) -> Event:
    """The payload as an `Event`."""
    name = text_in(payload, "hook_event_name")
    kind, read = READERS.get(name, ("event", unknown))
    data = read(payload)
    return event_of(
        NAME, spooled, name, kind if data else "nothing", data,
        session=text_in(payload, "session_id"), cwd=text_in(payload, "cwd"),
        prompt_id=text_in(payload, "timestamp") if kind == "prompt" else "",
        root=spooled.marks.get("CLAUDE_PROJECT_DIR", ""),
    )  # fmt: skip


# One reader for each event: what of the payload becomes `Event.data`; nothing where the event says nothing.


def _start(payload: Payload) -> Payload:
    return {"source": text_in(payload, "source"), "model": ""}


def _prompt(payload: Payload) -> Payload:
    return {"text": _without_echo(text_in(payload, "prompt")), "notification": None}


def _result(payload: Payload) -> Payload:
    tool, response = text_in(payload, "tool_name"), dict_in(payload, "tool_response")
    text, ok = output(tool, response.get("llmContent"))
    return {
        **tool_call(payload),
        "text": text or text_in(dict_in(response, "error"), "message"),
        "ok": False if response.get("error") else ok if response else None,
        "ms": None,
        "background": None,
        "agent": None,
        "person": is_answer(tool, text),
    }


def _permission(payload: Payload) -> Payload:
    """What a person is asked for: of an edit only the file, never what is in it."""
    if payload.get("notification_type") != "ToolPermission":
        return {}
    details = dict_in(payload, "details")
    kind = text_in(details, "type")
    tool = f"mcp_{text_in(details, 'serverName')}_{text_in(details, 'toolName')}" if kind == "mcp" else ""
    given = {"command": text_in(details, "command"), "file_path": text_in(details, "filePath")}
    return {
        "tool": SHELL if kind == "exec" else tool,
        "input": {name: value for name, value in given.items() if value},
        "state": "asked",
        "reason": "",
    }


def _stop(payload: Payload) -> Payload:
    text = text_in(payload, "prompt_response")
    return {
        "text": "" if text == SAID_NOTHING else text,
        "active": payload.get("stop_hook_active") is True,
        "background": [],
    }


def _compress(payload: Payload) -> Payload:
    """Without a person's asking this comes before every request, whether the client then compresses or not."""
    if payload.get("trigger") != "manual":
        return {}
    return {"event": "before", "trigger": "manual", "text": ""}


def _request(payload: Payload) -> Payload:
    """Comes with every request to the model, and holds the whole conversation again."""
    return {}


READERS: dict[str, tuple[str, Callable[[Payload], Payload]]] = {
    "SessionStart": ("start", _start),
    "BeforeAgent": ("prompt", _prompt),
    "BeforeTool": ("call", tool_call),
    "AfterTool": ("result", _result),
    "Notification": ("permission", _permission),
    "AfterAgent": ("stop", _stop),
    "SessionEnd": ("end", session_end),
    "PreCompress": ("compact", _compress),
    "BeforeModel": ("event", _request),
    "BeforeToolSelection": ("event", _request),
    "AfterModel": ("event", _request),
}


def _without_echo(prompt: str) -> str:
    """A prompt without what hooks said at the session's start, which a headless client puts before it.

    The client escapes angle brackets in what hooks say. So an element that holds one, or has no blank line behind it,
    was written by the person.
    """
    if not prompt.startswith(ECHO):
        return prompt
    ends = prompt.find(ECHO_ENDS)
    said, after = prompt[len(ECHO) : ends], ends + len(ECHO_ENDS)
    if ends < 0 or "<" in said or ">" in said:
        return prompt
    if after == len(prompt):
        return ""  # a session that was given no prompt
    return text_of.part(prompt, after + 2) if prompt.startswith("\n\n", after) else prompt
