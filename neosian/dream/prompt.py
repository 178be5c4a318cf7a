"""What a model is asked for one session: what lasts, the notes there are, the session itself, each within its budget.

The words that do not change lie in `templates/dream/`, one file a part; a file of the same name in that folder of the
home wins, and one of another name is a part more.
"""

from __future__ import annotations

import itertools
import os
import re
import time
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from neosian import files, resources, turns
from neosian.context import fenced
from neosian.dream.engine import Asked
from neosian.dream.sessions import Session
from neosian.errors import NeosianError

TEMPLATES = "templates/dream"
MAX_TOKENS = 16_000
"""Tokens that an answer may have, thinking included."""

WINDOWS = (60_000, 24_000, 8_000)
"""Characters of a session that are asked about at once: the next where a model cannot take so many."""

# Beside a window of the first size: characters of whole notes, of the list of all, of standing rules.
_BODIES, _INDEX, _RULES = 24_000, 10_000, 4_000
_NOTE = 4_000  # characters that are shown of one note; only those of persons have more
_PLAIN = re.compile(r"[\w.:@/+-]{1,120}")
_FOLDERS = 20  # that are named of those whose notes are not listed
# How much of a call and of its output is shown: the first that lets a session fit, else it is cut into windows.
_CUTS = ((1_500, 1_500), (600, 400), (240, 80), (120, 0))


class Part(NamedTuple):
    """One file of the part of the prompt that is the same for every session; ``is_own``: the home's, not ours."""

    name: str
    text: str
    is_own: bool


def parts(home: str) -> list[Part]:
    """The parts in their order, which is that of their names. Raises NeosianError for one that cannot be read."""
    ours = resources.names(TEMPLATES)
    folder = os.path.join(home, TEMPLATES)
    own = [name for name in files.names(folder) if name.endswith(".md")]
    found = []
    for name in sorted({*ours, *own}):
        if name not in own:
            found.append(Part(name, resources.text(TEMPLATES, name), False))
            continue
        path = os.path.join(folder, name)
        try:
            data = files.read(path)
        except OSError as error:
            reason = error.strerror or str(error)
            raise NeosianError(f"{path}, a part of the dream's prompt, cannot be read: {reason}.") from None
        found.append(Part(name, (data or b"").decode("utf-8", "replace"), True))
    return found


def system(home: str) -> str:
    """The part of the prompt that is the same for every session."""
    return "\n\n".join(each.text.strip() for each in parts(home)) + "\n"


def windows(session: Session, room: int = WINDOWS[0]) -> list[str]:
    """The session as text, in as many pieces of ``room`` characters as it takes: whole where it fits, else the outputs
    are cut first, then the calls; prompts and answers stay."""
    texts: list[str] = []
    for call_most, output_most in _CUTS:
        texts = [_turn(session, turn, call_most, output_most) for turn in session.turns]
        if sum(map(len, texts)) <= room:
            return ["\n\n".join(texts)]
    pieces: list[list[str]] = [[]]
    for text in [part for each in texts for part in _parts(each, room)]:
        if pieces[-1] and sum(map(len, pieces[-1])) + len(text) > room:
            pieces.append([])
        pieces[-1].append(text)
    return ["\n\n".join(piece) for piece in pieces]


def asked(
    home: str,
    session: Session,
    said: str,
    *,
    mounts: Mapping[str, bool],
    index: Mapping[str, str],
    bodies: Mapping[str, str],
    rules: Iterable[str],
    now: float,
    room: int = WINDOWS[0],
) -> Asked:
    """The question about one window of a session. ``mounts``: where notes lie, and whether they may be written there;
    ``index``: a line for each note by its place, those that matter first; ``bodies``: these themselves, the likeliest
    first; ``rules``: what a person said when they rejected an edit; ``room``: as of the window."""
    share = room / WINDOWS[0]
    is_plain = _PLAIN.fullmatch(session.conversation)  # whoever began it chose its name
    named = session.conversation if is_plain else "below"
    day = time.strftime("%Y-%m-%d %H:%M %z", time.localtime(now))
    began, ended = (
        time.strftime("%Y-%m-%d %H:%M %z", time.localtime(at)) for at in (session.started, session.last)
    )
    standing = _fitting((f"- {rule}" for rule in rules), int(share * _RULES))
    parts = [
        (
            f"Today is {day}. The session {named} ran with {session.client} from {began} to {ended}; its"
            f" turns are named {named}#1 and so on. {_told_mounts(mounts)}"
        ),
        *(["Rules that a person gave when they rejected an edit:\n" + standing] if standing else []),
        "All notes there are:\n" + fenced(_listed(index, int(share * _INDEX))),
    ]
    shown = _bodies(bodies, max(int(share * _BODIES), _NOTE + 500))
    if shown:
        parts.append("Those that may matter, whole:\n" + fenced(shown))
    parts.append("The session:\n" + fenced(said))
    said = "\n\n".join(parts)  # of what was stored, half a character may be left, which cannot be sent
    return Asked(system(home), said.encode("utf-8", "replace").decode(), MAX_TOKENS)


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
            parts += [f"person: {said}" for said in _by_persons(call)]
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
    is_shown = call is not None and output_most and not any(_by_persons(call))
    output = _head(call.text, output_most) if call is not None and is_shown else ""
    return f"{text}\n    {output}" if output else text


def _by_persons(call: turns.Call | None) -> Iterator[str]:
    """What a person answered to a call, as to a question that the agent asked by a tool."""
    for line in call.results if call is not None else ():
        if line.get("from") == turns.PERSON:
            yield str(line.get("text") or "")


def _head(text: str, most: int) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= most else f"{flat[:most]} […]"


def _parts(text: str, most: int) -> Iterator[str]:
    """A turn in as many parts as it takes, each under its first line and cut where a line ends if one does."""
    head, _, rest = text.partition("\n")
    room = most - len(head) - 20
    for number in itertools.count(1):
        end = len(rest) if len(rest) <= room else max(rest.rfind("\n", room // 2, room), 0) or room
        yield f"{head}{f' part {number}' if number > 1 else ''}\n{rest[:end]}"
        rest = rest[end:].removeprefix("\n")
        if not rest:
            return


def _told_mounts(mounts: Mapping[str, bool]) -> str:
    """Where notes may lie."""
    written = [mount for mount, is_writable in mounts.items() if is_writable]
    said = f"Notes may be written below {' and '.join(written)}, and nowhere else."
    if read := [mount for mount in mounts if mount not in written]:
        said += f" Those below {' and '.join(read)} are to be read only."
    return said


def _listed(index: Mapping[str, str], most: int) -> str:
    """The notes by their places; of those that there is no room for, how many lie in which folder."""
    left, kept, rest = most, list[str](), dict[str, int]()
    for place, row in index.items():
        left -= len(row) + 1
        if left >= 0:
            kept.append(place)
        else:
            folder = place.rpartition("/")[0]
            rest[folder] = rest.get(folder, 0) + 1
    rows = [index[place] for place in sorted(kept)]
    if rest:
        folders = ", ".join(f"{folder}/ ({count})" for folder, count in sorted(rest.items())[:_FOLDERS])
        rows.append(f"and {sum(rest.values())} more that are not listed, in {folders}")
    return "\n".join(rows) or "(none yet)"


def _bodies(bodies: Mapping[str, str], most: int) -> str:
    """As many notes as there is room for, a long one cut; and which had none."""
    shown, unseen = list[str](), list[str]()
    for place, text in bodies.items():
        text = text.strip()
        cut = f"{text[:_NOTE]}\n[… {len(text) - _NOTE:,} characters more]" if len(text) > _NOTE else text
        row = f"## {place}\n{cut}\n"
        if len(row) <= most:
            shown.append(row)
            most -= len(row) + 1
        else:
            unseen.append(place.partition(" ")[0])
    if shown and unseen:
        shown.append(f"(without room for: {', '.join(unseen)})")
    return "\n".join(shown)


def _fitting(rows: Iterable[str], most: int) -> str:
    """As many rows as fit."""
    kept, left = [], most
    for row in rows:
        left -= len(row) + 1
        if left < 0:
            break
        kept.append(row)
    return "\n".join(kept)
