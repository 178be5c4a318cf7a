"""What the adapters share: fields of a payload read without trust in their types, and the shapes of answers."""

from __future__ import annotations

from neosian import payload as text_of
from neosian.events import Event

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from neosian.events import Spooled

    Payload = dict[str, Any]

NOBODY = "unknown"  # the session of a payload that names none
PERSONAL = ("user_email",)  # keys of what is never recorded


def event_of(
    client: str, spooled: Spooled, name: str, kind: str, data: Payload, *, session: str, cwd: str = "",
    root: str = "", prompt_id: str = "", agent: str = "", agent_type: str | None = None, call: str = "",
) -> Event:  # fmt: skip
    """An `Event` of ``client``: what the payload says, and of place and time what the spool says.

    An event without a session goes under the session "unknown", one without a directory under that of its hook.
    """
    return Event(
        client=client, session=session or NOBODY, name=name, kind=kind, at=spooled.at, data=data,
        spooled=spooled.name, cwd=cwd or spooled.cwd, prompt_id=prompt_id or None, agent=agent or None,
        agent_type=agent_type, call=call or None, root=root or None, level=spooled.level, tick=spooled.tick,
        boot=spooled.boot,
    )  # fmt: skip


def unknown(payload: Payload, *, opens: bool = False) -> Payload:
    """The data of an event that is not known: the payload as it came, but for what says who the person is.
    ``opens``: it belongs to a turn that runs."""
    return {"payload": _impersonal(payload), "opens": opens}


def _impersonal(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _impersonal(part) for key, part in value.items() if key not in PERSONAL}
    return [_impersonal(part) for part in value] if isinstance(value, list) else value


# Fields; what is of another type counts as absent -------------------------------------------------


def text_in(payload: Payload, key: str) -> str:
    value = payload.get(key)
    return value if isinstance(value, str) else ""


def dict_in(payload: Payload, key: str) -> Payload:
    value = payload.get(key)
    return value if isinstance(value, dict) else {}


def list_in(payload: Payload, key: str) -> list[Any]:
    value = payload.get(key)
    return value if isinstance(value, list) else []


def number_in(payload: Payload, key: str) -> int | None:
    value = payload.get(key)
    return (
        int(value)
        if isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e15
        else None
    )


def readable(value: Any) -> str:
    """Text as it is, a list of text blocks as their texts, anything else as compact JSON."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        texts = [item.get("text") for item in value if isinstance(item, dict)]
        words = [text for text in texts if isinstance(text, str)]
        if words and len(words) == len(value):
            return text_of.joined(words)
    return text_of.compact(value)


# Readers of events whose payloads several clients write in the same way -----------------------------


def session_start(payload: Payload) -> Payload:
    return {"source": text_in(payload, "source"), "model": text_in(payload, "model")}


def tool_call(payload: Payload) -> Payload:
    return {"tool": text_in(payload, "tool_name"), "input": dict_in(payload, "tool_input")}


def permission(payload: Payload) -> Payload:
    denied = payload.get("hook_event_name") == "PermissionDenied"
    state = "denied" if denied else "asked"
    return {**tool_call(payload), "state": state, "reason": text_in(payload, "reason")}


def subagent(payload: Payload) -> Payload:
    stop = payload.get("hook_event_name") == "SubagentStop"
    return {"event": "stop" if stop else "start", "text": text_in(payload, "last_assistant_message")}


def session_end(payload: Payload) -> Payload:
    return {"reason": text_in(payload, "reason")}


# Answers ------------------------------------------------------------------------------------------


def as_json(answer: Payload) -> str:
    """An answer as one line of JSON that any reader takes: half of a surrogate pair is none for most."""
    return text_of.compact(answer).encode("utf-8", "replace").decode()


def as_context(event: str, text: str) -> str:
    """``text`` as the additional context that a hook of ``event`` has for the model; "" for none."""
    if not text:
        return ""
    return as_json({"hookSpecificOutput": {"hookEventName": event, "additionalContext": text}})


def utf16(text: str) -> int:
    """UTF-16 code units of a text: what JavaScript counts."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2
