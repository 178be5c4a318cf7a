"""What one span adds to a scope: lines of its conversation's log, the session's page, one commit."""

from __future__ import annotations

from neosian import adopt, fastjson, publish, scope, turns
from neosian.draft import Draft
from neosian.places import segment_suffix, segments_among
from neosian.speech import snippet, spoken, title
from neosian.store import agent, committer, message

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

SEGMENT_BYTES = 64 * 1024
"""A segment this long is closed: a commit stores the whole file anew, so one growing file costs its square."""


class Span:
    """Lines to append: those of a new turn, or later ones of a turn that landed before (``late``).

    ``began`` and ``at`` are when it began and ended, in seconds since 1970.
    """

    __slots__ = ("actor", "at", "began", "client", "late", "lines", "session", "state", "turn")

    def __init__(
        self, client: str, session: str, turn: int, lines: list[dict[str, Any]], *,
        actor: str, at: float, began: float | None = None, state: str = turns.DONE, late: bool = False,
    ) -> None:  # fmt: skip
        self.client = client
        self.session = session
        self.turn = turn
        self.lines = lines
        self.actor = actor
        self.at = at
        self.began = at if began is None else began
        self.state = state
        self.late = late


def segments(draft: Draft, day: str, client: str, session: str) -> list[str]:
    """Paths of a conversation's segments in the order of their first turns."""
    names = segments_among(draft.folder(f"record/{day}"), client, session)
    return [f"record/{day}/{name}" for name in names]


def add(draft: Draft, day: str, machine: str, span: Span) -> str:
    """Commit one span to ``draft``; the commit's id."""
    path = _segment(draft, day, machine, span)
    held = draft.read(path) or b""
    if held and not held.endswith(b"\n"):
        held += b"\n"  # somebody committed a torn last line: ours must not be glued to it
    draft.put(path, held + b"".join(map(turns.dumps, span.lines)))
    turn = turns.group(span.lines)[span.turn]
    _put_page(draft, day, span, turn)
    trailers = {
        "Neosian-Act": "record",
        "Neosian-Actor": f"{span.actor}#{span.turn}",
        "Conversation": span.session,
        "Turn": str(span.turn),
        "Client": span.client,
    }
    return draft.commit(message(_subject(span, turn), trailers), agent(span.actor, span.at), committer())


def _segment(draft: Draft, day: str, machine: str, span: Span) -> str:
    """The segment that takes the span: this machine's last, unless it is full or a person changed it."""
    suffix = f"-{machine}{segment_suffix(span.client, span.session)}"
    mine = [path for path in segments(draft, day, span.client, span.session) if path.endswith(suffix)]
    shown = publish.checked_out(draft.repo)
    if mine:
        full = len(draft.read(mine[-1]) or b"") >= SEGMENT_BYTES and not span.late
        if not full and not (shown and not adopt.same_as_main(draft, mine[-1])):
            return mine[-1]
    number = span.turn
    while f"record/{day}/{number:05}{suffix}" in mine:
        number += 1
    return f"record/{day}/{number:05}{suffix}"


def page_path(day: str, session: str) -> str:
    """Where a session's page lies."""
    return f"sessions/{day}/{scope.disk_name(session)}.md"


def _put_page(draft: Draft, day: str, span: Span, turn: turns.Turn) -> None:
    """Bring the session's page up to date; one that a person changed is left alone, for it can be made again."""
    path = page_path(day, span.session)
    if publish.checked_out(draft.repo) and not adopt.same_as_main(draft, path):
        return
    known = _fields((draft.read(path) or b"").decode("utf-8", "replace"))
    said = [words for prompt in turn.prompts if (words := spoken(prompt))]
    last = snippet(said[-1], 200) if said else _unquoted(known.get("last_prompt", ""))
    heading = _unquoted(known.get("title", "")) or (title(said[0]) if said else "") or _what(span, turn)
    rows = {
        "title": fastjson.dumps(heading, ensure_ascii=False),
        "agent": span.client,
        "conversation": fastjson.dumps(span.session, ensure_ascii=False),
        "started": known.get("started") or turns.stamp(span.began),
        "last_prompt": fastjson.dumps(last, ensure_ascii=False),
        "turns": str(max(span.turn, int(known["turns"]) if known.get("turns", "").isdigit() else 0)),
    }
    head = "".join(f"{key}: {value}\n" for key, value in rows.items())
    body = f"Each turn whole: `neosian recall N --conversation {span.session}`\n"
    draft.put(path, f"---\n{head}---\n\n{body}".encode("utf-8", "replace"))


def _fields(page: str) -> dict[str, str]:
    """The front matter of a page we wrote."""
    head = page.split("\n---\n", 1)[0].splitlines()[1:]
    return {key: value.strip() for key, colon, value in (row.partition(":") for row in head) if colon}


def _unquoted(text: str) -> str:
    try:
        return str(fastjson.loads(text)) if text else ""
    except ValueError:
        return text


def _subject(span: Span, turn: turns.Turn) -> str:
    number = f"Turn {span.turn}, later" if span.late else f"Turn {span.turn}"
    state = "" if span.state == turns.DONE else f" ({span.state})"
    return f"{number}: {_what(span, turn)}{state}"


def _what(span: Span, turn: turns.Turn) -> str:
    """What a span is about, in a line: a person's words, else what the client announced, else the answer."""
    for prompt in turn.prompts:
        if words := title(prompt):
            return words
    for line in span.lines:
        if line.get("from") == turns.NOTIFIED:
            return title(str(line.get("summary") or line.get("status") or "background work ended"))
        if line["kind"] == "subagent" and line.get("text"):
            return snippet(str(line["text"]), 72)
    return snippet(turn.answer, 72) or next(
        (str(line["kind"]) for line in span.lines if line["kind"] != "turn"), ""
    )
