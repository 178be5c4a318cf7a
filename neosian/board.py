"""The board: what is being done now, one document `board/<slug>.md` an item, with a `status`."""

from __future__ import annotations

from neosian import scope
from neosian.context import CLOSED
from neosian.errors import NeosianError, UsageError
from neosian.memory import Done, Memory
from neosian.wiki import Wiki

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

STATUSES = {"add": "open", "start": "doing", "done": "done", "drop": "dropped"}
"""What each verb makes of an item."""

_FOLDER = "board"


class Item:
    """An item: its ``slug`` and path, what is to be done, its status, who changed it last (who holds it) and when."""

    __slots__ = ("actor", "changed", "path", "slug", "status", "title")

    def __init__(self, path: str, slug: str, title: str, status: str, actor: str, changed: float) -> None:
        self.path = path
        self.slug = slug
        self.title = title
        self.status = status
        self.actor = actor
        self.changed = changed

    @property
    def is_open(self) -> bool:
        """Whether somebody still has to do it."""
        return self.status.lower() not in CLOSED

    def json(self) -> dict[str, object]:
        """The fields that `--json` prints."""
        return {name: getattr(self, name) for name in ("slug", "path", "title", "status", "actor", "changed")}


class UnknownItem(NeosianError):
    """No item of the board, or more than one, goes by this name."""

    def __init__(self, name: str, items: Sequence[Item]) -> None:
        known = ", ".join(item.slug for item in items[:20]) or "none"
        super().__init__(f"No one item of the board is called {name!r}; there are: {known}.", "neosian board")


def items(wiki: Wiki) -> list[Item]:
    """Every item of the board of all mounts, the last changed first."""
    found = []
    for mount in wiki.mounts:
        for entry in wiki.entries(mount):
            if entry.path.startswith(f"{_FOLDER}/") and entry.status:
                slug = entry.path[len(_FOLDER) + 1 : -len(".md")]
                title = entry.title or entry.description or slug
                path = f"{mount.mount}/{entry.path}"
                found.append(
                    Item(path, slug, title, entry.status, entry.actor or entry.source, entry.changed)
                )
    return sorted(found, key=lambda item: -item.changed)


def add(memory: Memory, title: str, body: str = "") -> Done:
    """A new open item. Its slug comes from the title; one that is taken gets a number."""
    title = " ".join(title.split())
    slug = scope.slug(title)[:60].strip("-")
    if not slug:
        raise UsageError(
            "An item of the board needs a title: what is to be done.", "neosian board add 'What to do'"
        )
    taken = {item.slug for item in items(memory.wiki)}
    number = 1
    while (name := slug if number == 1 else f"{slug}-{number}") in taken:
        number += 1
    text = f"---\ntitle: {_quoted(title)}\nstatus: {STATUSES['add']}\n---\n{body}"
    return memory.create(f"{memory.wiki.turns.mount}/{_FOLDER}/{name}.md", text)


def update(memory: Memory, name: str, verb: str) -> Done:
    """Start, finish or drop the item with this slug (or path, or the beginning of a slug that only one has)."""
    known = items(memory.wiki)
    exact = [item for item in known if name in (item.slug, item.path)]
    likely = exact or [item for item in known if item.slug.startswith(name)]
    if len(likely) != 1 or not name:
        raise UnknownItem(name, known)
    said = {"start": "Start", "done": "Finish", "drop": "Drop", "add": "Reopen"}[verb]
    return memory.set_key(likely[0].path, "status", STATUSES[verb], said)


def _quoted(text: str) -> str:
    import json

    return json.dumps(text, ensure_ascii=False)
