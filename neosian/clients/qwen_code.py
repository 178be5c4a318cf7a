"""Qwen Code: its hook payloads as events.

It names its events and their fields as Claude Code does; here is what differs, as seen in payloads of version 0.24.4,
most of which are in ``tests/data/qwen-code``. Its event of a prompt comes again with every tool result, empty. Only a
prompt's own id is one: what the agent does when background work has ended carries that of the prompt to come, and what
follows a question for leave has none.
"""

from __future__ import annotations

from neosian import payload as text_of
from neosian.clients import claude_code
from neosian.clients._gemini_family import SHELL, is_answer, output, shell_output
from neosian.clients._reading import (
    as_context,
    dict_in,
    event_of,
    list_in,
    number_in,
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

NAME = "qwen-code"
TITLE = "Qwen Code"

OLDEST = (0, 24, 4)
VERB = {event: verb for event, verb in claude_code.VERB.items() if event != "CwdChanged"}
EVENTS: dict[str, tuple[int, ...]] = dict.fromkeys(VERB, OLDEST)

START_LIMIT = 30_000  # UTF-16 code units, the most that was tried; it went through whole
STARTS_WITH_PROMPT = False
cost = utf16

# What stands before the name of work in the background, in the text that tells of its launch.
LAUNCHED = {
    SHELL: "Background shell started.\nid: ",
    "agent": "Background agent launched successfully.\ntask_id: ",
}
ENDED = {"success": True, "error": False, "cancelled": False}


def shown(verb: str, text: str) -> str:
    """What a hook prints for the model to read."""
    return as_context({"start": "SessionStart", "prompt": "UserPromptSubmit"}[verb], text)


def session_of(environ: Mapping[str, str]) -> str:
    """The session of an agent whose tools and hooks run in this environment; "" for a person's own."""
    return environ.get("QWEN_CODE_SESSION_ID", "")


def parse(payload: Payload, spooled: Spooled) -> Event:
    """The payload as an `Event`."""
    name = text_in(payload, "hook_event_name")
    kind, read = READERS.get(name, ("event", unknown))
    data = read(payload)
    return event_of(
        NAME, spooled, name, kind if data else "nothing", data,
        session=text_in(payload, "session_id"), cwd=text_in(payload, "cwd"),
        root=spooled.marks.get("CLAUDE_PROJECT_DIR", ""),
        prompt_id=text_in(payload, "prompt_id") if kind == "prompt" else "",
        agent=text_in(payload, "agent_id"), call=_call_id(payload),
        agent_type=payload["agent_type"] if isinstance(payload.get("agent_type"), str) else None,
    )  # fmt: skip


def _call_id(payload: Payload) -> str:
    """The model's name of a call: the other one is not the same in a batch."""
    return text_in(payload, "tool_call_id") or text_in(payload, "tool_use_id")


# The readers that differ; nothing where the event says nothing.


def _prompt(payload: Payload) -> Payload:
    text = text_in(payload, "submitted_prompt") or text_in(payload, "prompt")
    return _as_theirs({**payload, "prompt": text}) if text else {}


def _result(payload: Payload) -> Payload:
    tool, response = text_in(payload, "tool_name"), payload.get("tool_response")
    said = response.get("llmContent") if isinstance(response, dict) else response
    text, ok = output(tool, said)
    task = _launched(tool, text)
    return {
        **tool_call(payload),
        "text": text,
        "ok": ok is not False,
        "ms": number_in(payload, "duration_ms"),
        "background": task,
        "agent": task if tool == "agent" else None,
        "person": is_answer(tool, text),
    }


def _failed(payload: Payload) -> Payload:
    failed = _as_theirs(payload)
    if failed["tool"] == SHELL:
        failed["text"], _ = shell_output(failed["text"])
    return failed


def _launched(tool: str, text: str) -> str | None:
    """The name of the work that a call left running."""
    before = LAUNCHED.get(tool, "")
    if not before or not text.startswith(before):
        return None
    words = text[len(before) : len(before) + 200].split(None, 1)
    return words[0] if words else None


def _batch(payload: Payload) -> Payload:
    return {"calls": [_batched(call) for call in list_in(payload, "tool_calls") if isinstance(call, dict)]}


def _batched(call: Payload) -> Payload:
    """A call as it ended, which is all there is of one that was refused before it ran."""
    parts = list_in(dict_in(call, "tool_response"), "response_parts")
    answers = [
        dict_in(dict_in(part, "functionResponse"), "response") for part in parts if isinstance(part, dict)
    ]
    told = [readable(answer.get("error", answer.get("output"))) for answer in answers]
    text, _ = output(text_in(call, "tool_name"), text_of.joined(told or [""]))
    return {
        "call": _call_id(call) or None,
        **tool_call(call),
        "text": text,
        "ok": ENDED.get(text_in(call, "status")),
        "person": False,
    }


def _stop(payload: Payload) -> Payload:
    """The work that has ended is in the list too."""
    tasks = list_in(payload, "background_tasks")
    running = [task for task in tasks if isinstance(task, dict) and task.get("status") == "running"]
    return _as_theirs({**payload, "background_tasks": running})


def _as_theirs(payload: Payload) -> Payload:
    """What Claude Code's reader makes of an event."""
    _, read = claude_code.READERS[text_in(payload, "hook_event_name")]
    return read(payload)


READERS: dict[str, tuple[str, Callable[[Payload], Payload]]] = claude_code.READERS | {
    "UserPromptSubmit": ("prompt", _prompt),
    "PostToolUse": ("result", _result),
    "PostToolUseFailure": ("result", _failed),
    "PostToolBatch": ("batch", _batch),
    "Stop": ("stop", _stop),
}
