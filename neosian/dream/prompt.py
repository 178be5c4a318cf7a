"""What a model is asked for one session: what lasts, the notes there are, the session itself, each within its budget.

The words that do not change lie in `templates/dream/`, one file a part; a file of the same name in that folder of the
home wins.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Mapping

from neosian import files, resources, turns
from neosian.context import fenced
from neosian.dream.engine import Asked
from neosian.dream.sessions import Session

TEMPLATES = "templates/dream"
MAX_TOKENS = 16_000
"""Tokens that an answer may have, thinking included."""

WINDOWS = (60_000, 24_000, 8_000)
"""Characters of a session that are asked about at once: the next where a model cannot take so many."""

# Beside a window of the first size: characters of whole notes, of the list of all, of standing rules.
_BODIES, _INDEX, _RULES = 24_000, 10_000, 4_000
# How much of a call and of its output is shown: the first that lets a session fit, else it is cut into windows.
_CUTS = ((1_500, 1_500), (600, 400), (240, 80), (120, 0))


def system(home: str) -> str:
    """The part of the prompt that is the same for every session."""
    texts = []
    for name in resources.names(TEMPLATES):
        own = files.read(os.path.join(home, TEMPLATES, name))
        texts.append(own.decode("utf-8", "replace") if own is not None else resources.text(TEMPLATES, name))
    return "\n\n".join(text.strip() for text in texts) + "\n"


def windows(session: Session, room: int = WINDOWS[0]) -> list[str]:
    """The session as text, in as many pieces of ``room`` characters as it takes: whole where it fits, else the outputs
    are cut first, then the calls; prompts and answers stay."""
    texts: list[str] = []
    for call_most, output_most in _CUTS:
        texts = [_turn(session, turn, call_most, output_most) for turn in session.turns]
        if sum(map(len, texts)) <= room:
            return ["\n\n".join(texts)]
    pieces: list[list[str]] = [[]]
    for text in texts:
        text = _middle_out(text, room)
        if pieces[-1] and sum(map(len, pieces[-1])) + len(text) > room:
            pieces.append([])
        pieces[-1].append(text)
    return ["\n\n".join(piece) for piece in pieces]


def asked(
    home: str,
    session: Session,
    said: str,
    *,
    index: Iterable[str],
    bodies: Mapping[str, str],
    rules: Iterable[str],
    now: float,
    room: int = WINDOWS[0],
) -> Asked:
    """The question about one window of a session. ``index``: a line for each note; ``bodies``: those that matter, the
    likeliest first; ``rules``: what a person said when they rejected an edit; ``room``: as of the window."""
    share = room / WINDOWS[0]
    day = time.strftime("%Y-%m-%d %H:%M %z", time.localtime(now))
    began, ended = (
        time.strftime("%Y-%m-%d %H:%M %z", time.localtime(at)) for at in (session.started, session.last)
    )
    standing = _fitting((f"- {rule}" for rule in rules), int(share * _RULES))
    parts = [
        (
            f"Today is {day}. The session {session.conversation} ran with {session.client} from {began} to {ended}; its"
            f" turns are named {session.conversation}#1 and so on."
        ),
        *(["Rules that a person gave when they rejected an edit:\n" + standing] if standing else []),
        "All notes there are:\n" + fenced(_fitting(index, int(share * _INDEX)) or "(none yet)"),
    ]
    shown = _fitting(
        (f"## {place}\n{text.strip()}\n" for place, text in bodies.items()), int(share * _BODIES)
    )
    if shown:
        parts.append("Those that may matter, whole:\n" + fenced(shown))
    parts.append("The session:\n" + fenced(said))
    return Asked(system(home), "\n\n".join(parts), MAX_TOKENS)


def _turn(session: Session, turn: turns.Turn, call_most: int, output_most: int) -> str:
    """A turn as the model reads it."""
    parts = [f"[{session.conversation}#{turn.number}] {turn.at[:16].replace('T', ' ')} ({turn.state})"]
    results = {call.id: call for call in turn.calls}
    for line in turn.lines:
        kind, text = line["kind"], str(line.get("text") or "")
        if kind == "prompt":
            parts.append(f"{'client' if line.get('from') else 'person'}: {text}")
        elif kind == "answer":
            parts.append(f"agent: {text}")
        elif kind == "tool_call":
            call = results.get(str(line.get("call")))
            parts.append(_call(line, call, call_most, output_most))
    return "\n".join(parts)


def _call(line: turns.Line, call: turns.Call | None, call_most: int, output_most: int) -> str:
    given = line.get("input")
    said = (
        " ".join(f"{key}={value}" for key, value in given.items())
        if isinstance(given, dict)
        else str(given or "")
    )
    ended = "" if call is None or call.ok is None else " -> ok" if call.ok else " -> failed"
    text = f"  {line.get('tool')}: {_head(said, call_most)}{ended}"
    output = _head(call.text, output_most) if call is not None and output_most else ""
    return f"{text}\n    {output}" if output else text


def _head(text: str, most: int) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= most else f"{flat[:most]} […]"


def _middle_out(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most * 2 // 3]}\n[…]\n{text[-most // 3 :]}"


def _fitting(rows: Iterable[str], most: int) -> str:
    """As many rows as fit."""
    kept, left = [], most
    for row in rows:
        left -= len(row) + 1
        if left < 0:
            break
        kept.append(row)
    return "\n".join(kept)
