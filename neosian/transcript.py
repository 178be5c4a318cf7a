"""A turn as text: who said what, which tools ran, how they ended."""

from __future__ import annotations

from neosian import output, turns

TYPE_CHECKING = False
if TYPE_CHECKING:
    from neosian.turns import Turn


def whole(turn: Turn) -> str:
    """A turn as text: who said what, which tools ran, how they ended."""
    state = "" if turn.state == "done" else f", {turn.state}"
    parts = [f"[{turn.number}] {output.when(turns.seconds(turn.at))}{state}"]
    results = {call.id: call for call in turn.calls}
    for line in turn.lines:
        kind, text = line.get("kind"), str(line.get("text") or "")
        if kind == "prompt":
            who = "client" if line.get("from") else "person"
            parts.append(_said(who, text + (" (never answered)" if line.get("answered") is False else "")))
        elif kind == "answer":
            parts.append(_said("agent", text))
        elif kind == "tool_call":
            parts.append(_called(results.get(str(line.get("call"))), line))
        elif kind == "subagent" and text:
            parts.append(_said("subagent", text))
    return "\n".join(parts)


def _said(who: str, text: str) -> str:
    return f"\n{who}:\n{text}"


def _called(call: object, line: dict[str, object]) -> str:
    """A call with what it was asked, how it ended, and what came of it."""
    asked = line.get("input")
    values = asked if isinstance(asked, dict) else {} if asked is None else {"input": asked}
    inline = {key: value for key, value in values.items() if not _is_long(value)}
    named = ", ".join(f"{key}={' '.join(str(value).split())}" for key, value in inline.items())
    dropped = f"not kept: {line['dropped']}" if line.get("dropped") else ""
    ended, ok, text = (getattr(call, name, None) for name in ("ended", "ok", "text"))
    verdict = "never ended" if ended is False else "failed" if ok is False else "ok" if ok else "end not told"
    blocks = [f"  {key}:\n{_indented(str(value), 4)}" for key, value in values.items() if _is_long(value)]
    results = getattr(call, "results", None) or [{}]
    cut = _cut_note(results[-1].get("chars"), str(text or ""))
    parts = [f"\n{line.get('tool')}({named or dropped}): {verdict}", *blocks]
    return "\n".join([*parts, *([_indented(str(text))] if text else []), *cut])


def _is_long(value: object) -> bool:
    return isinstance(value, str) and ("\n" in value or len(value) > 120)


def _cut_note(chars: object, text: str) -> list[str]:
    """What to say of a text that is kept only in part."""
    if isinstance(chars, int) and chars > len(text):
        return [f"  [{len(text):,} of {chars:,} characters are kept]"]
    return []


def _indented(text: str, by: int = 2) -> str:
    return "\n".join(f"{' ' * by}{row}".rstrip() for row in text.splitlines())
