"""The board: what is being done now, one document `board/<slug>.md` an item, with a `status`."""

from __future__ import annotations

from neosian import editing, scope
from neosian.context import CLOSED
from neosian.errors import NeosianError, UsageError
from neosian.memory import Conflict, Done, Memory
from neosian.wiki import Wiki

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from neosian.entries import Entry

STATUSES = {"add": "open", "start": "doing", "done": "done", "drop": "dropped"}
"""What each verb makes of an item."""

_FOLDER = "board"


class Item:
    """An item of the board: its ``slug``, by which it is named, its path, and what the index knows of it."""

    __slots__ = ("entry", "path", "slug")

    def __init__(self, mount: str, entry: Entry) -> None:
        self.slug = entry.path[len(_FOLDER) + 1 : -len(".md")]
        self.path = f"{mount}/{entry.path}"
        self.entry = entry

    @property
    def title(self) -> str:
        """What is to be done."""
        return self.entry.title or self.entry.description or self.slug

    @property
    def is_open(self) -> bool:
        """Whether somebody still has to do it."""
        return self.entry.status.lower() not in CLOSED

    def json(self) -> dict[str, object]:
        """The fields that `--json` prints."""
        return {"slug": self.slug, "path": self.path, **self.entry.json()}


class UnknownItem(NeosianError):
    """No item of the board, or more than one, goes by this name."""

    def __init__(self, name: str, items: Sequence[Item]) -> None:
        known = ", ".join(item.slug for item in items[:20]) or "none"
        super().__init__(f"No one item of the board is called {name!r}; there are: {known}.", "neosian board")


def items(wiki: Wiki) -> list[Item]:
    """Every item of the board of all mounts, the last changed first."""
    found = [
        Item(mount.mount, entry)
        for mount in wiki.mounts
        for entry in wiki.entries(mount)
        if entry.path.startswith(f"{_FOLDER}/") and entry.status
    ]
    return sorted(found, key=lambda item: -item.entry.changed)


def add(memory: Memory, title: str, body: str = "") -> Done:
    """A new open item. Its slug comes from the title; one that is taken gets a number."""
    title = " ".join(title.split())
    slug = scope.slug(title)[:60].strip("-")
    if not slug:
        raise UsageError(
            "An item of the board needs a title: what is to be done.", "neosian board add 'What to do'"
        )
    text = f"---\ntitle: {editing.quoted(title)}\nstatus: {STATUSES['add']}\n---\n{body}"
    number = 1
    while True:
        name = slug if number == 1 else f"{slug}-{number}"
        try:
            return memory.create(f"{memory.wiki.turns.mount}/{_FOLDER}/{name}.md", text)
        except Conflict:
            number += 1


def update(memory: Memory, name: str, verb: str) -> Done:
    """Start, finish or drop the item with this slug (or path, or the beginning of a slug that only one has)."""
    known = items(memory.wiki)
    exact = [item for item in known if name in (item.slug, item.path)]
    likely = exact or [item for item in known if item.slug.startswith(name)]
    if len(likely) != 1 or not name:
        raise UnknownItem(name, known)
    said = {"start": "Start", "done": "Finish", "drop": "Drop", "add": "Reopen"}[verb]
    # Whoever starts an item holds it, until it is done or given back.
    holder = (memory.writer.actor or memory.writer.signature().name) if verb == "start" else None
    return memory.set_keys(likely[0].path, lambda page: {"status": STATUSES[verb], "holder": holder}, said)
