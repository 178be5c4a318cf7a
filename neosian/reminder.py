"""What a prompt brings to mind: the few documents and turns that surely bear on it, as one block of text.

It is fenced as the block of a session's start is: stored text is information, whoever wrote it, and never an
instruction. Of a turn only what the person and the agent said is shown, no tool's output.
"""

from __future__ import annotations

import os

from neosian import context, documents, files, query, recall
from neosian.cache import Damaged
from neosian.context import Block
from neosian.documents import is_past
from neosian.errors import BusyError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from neosian.context import Cost, Mount
    from neosian.entries import Entry
    from neosian.recall import Hit
    from neosian.window import Window

    Item = tuple[str, str]  # a text, and by what name it counts as shown

BUDGET = 2_000
_LOOKED_AT = 12  # answers of each scope
_DOCUMENTS, _TURNS = 3, 3
_WHOLE, _PART = 700, 400  # a note up to this is shown whole; of a longer one, what stands around the words
_ASKED, _ANSWERED = 160, 300


def reminder(
    mounts: Sequence[Mount], words: str, *, window: Window, conversation: str, client: str, now: float, cost: Cost,
    budget: int = BUDGET, command: str = "neosian", nonce: str = "",
) -> Block:  # fmt: skip
    """What is to be said with a prompt, given its ``words`` (see `evidence.asked`); an empty block where nothing is.

    What is in the session's ``window`` is not said again. ``cost`` and ``budget`` are in the client's unit.
    """
    intro = f"neosian found this in its memory for the prompt. More: `{command} search WORDS`, `{command} recall ID#N`."
    room = budget - cost(f"{intro}\n{context.fenced('', '0' * 12)}")
    texts: list[str] = []
    shown: list[str] = []
    for text, name in _items(mounts, words, window, conversation, client, now):
        if cost(text) + 1 <= room:
            texts.append(text)
            shown.append(name)
            room -= cost(text) + 1
    if not texts:
        return Block("", [], 0, [])
    stored = "\n".join(texts)
    whole = f"{intro}\n{context.fenced(stored, nonce)}"
    return Block(whole, [("recalled", cost(stored))], cost(whole), shown)


def _items(
    mounts: Sequence[Mount], words: str, window: Window, conversation: str, client: str, now: float
) -> Iterator[Item]:
    """What may be shown, the best first and documents before turns, a few of each."""
    found = [(mount, hit) for mount in mounts for hit in _found(mount, words)]
    found.sort(key=lambda pair: -pair[1].score)
    notes = (
        item
        for mount, hit in found
        if hit.kind == "document"
        for item in _document(mount, hit, words, window, now)
    )
    turns = (
        item
        for mount, hit in found
        if hit.kind == "turn" and not _is_before_it(hit, window, conversation, client)
        for item in _turn(mount, hit, now)
    )
    for items, most in ((notes, _DOCUMENTS), (turns, _TURNS)):
        yield from (item for item, _ in zip(items, range(most), strict=False))


def _found(mount: Mount, words: str) -> list[Hit]:
    try:
        return recall.find_sure(mount.index, words, limit=_LOOKED_AT)
    except Damaged:
        mount.index.rebuild()  # the other scopes still answer, and this one the next time
        return []
    except BusyError:
        return []


def _document(mount: Mount, hit: Hit, words: str, window: Window, now: float) -> Iterator[Item]:
    """A document, or the section of it that fits, unless it is not to be told."""
    entry = next(iter(mount.index.documents([hit.path])), None)
    if (
        entry is None
        or entry.secret
        or context.is_closed(entry)
        or is_past(entry.expires, context.date_of(now))
    ):
        return
    place = context.place_of(mount.path, entry)
    section = f"{place}#{hit.section}"
    if place in window.shown or section in window.shown:
        return
    data = files.readable(os.path.join(mount.store.path, entry.path))
    if data is None:
        return
    page = documents.read(data)
    body = context.plain(page.body)
    if len(body) <= _WHOLE:
        yield _entitled(place, "", entry, now) + (body or context.one_line(entry.description)), place
        return
    part = context.plain(
        next((text for heading, text in documents.sections(page) if heading == hit.section), body)
    )
    if len(part) > _WHOLE:
        part = recall.snippet(part, query.parse(words).words, _PART)
    yield _entitled(place, hit.section, entry, now) + part, section


def _entitled(place: str, section: str, entry: Entry, now: float) -> str:
    doubt = context.doubt_of(entry, context.date_of(now))
    under = f", {context.one_line(section)}" if section else ""
    return f"## {place}{under} ({context.origin_of(entry, now)}{'; ' + doubt if doubt else ''})\n"


def _is_before_it(hit: Hit, window: Window, conversation: str, client: str) -> bool:
    """Whether the agent has a turn in its window: its own, or one that it was told."""
    own = (hit.conversation, hit.client) == (conversation, client) and hit.turn >= window.gone
    return own or f"{hit.conversation}#{hit.turn}" in window.shown


def _turn(mount: Mount, hit: Hit, now: float) -> Iterator[Item]:
    """What was asked and what was answered in a turn."""
    for turn in mount.index.turns(hit.conversation, hit.client, 1, hit.turn):
        name = f"{hit.conversation}#{hit.turn}"
        lines = [
            f"## {context.one_line(name, 240)} ({context.one_line(hit.client, 40)}, {context.ago(hit.at, now)})"
        ]
        for who, said, most in (("person", turn.prompt, _ASKED), ("agent", turn.answer, _ANSWERED)):
            lines += [f"{who}: {context.one_line(said, most)}"] if said else []
        yield "\n".join(lines), name
