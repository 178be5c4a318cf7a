"""Records of the index: a conversation, a turn on one line, a document in the list, an act."""

from __future__ import annotations

from neosian import commits, turns

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any


class Session:
    """One conversation. ``started`` and ``last`` in seconds since 1970; ``first`` and ``prompt``: what a person said
    first and last, short; ``turns``: how many.
    """

    __slots__ = ("branch", "client", "conversation", "first", "last", "prompt", "started", "turns")

    def __init__(self, row: Sequence[Any]) -> None:
        self.conversation: str = row[0]
        self.client: str = row[1]
        self.branch: str = row[2]
        self.started: float = row[3]
        self.last: float = row[4]
        self.turns: int = row[5]
        self.first: str = row[6] or ""
        self.prompt: str = row[7] or ""


class TurnLine:
    """A turn on one line: what was asked and what was answered, both short."""

    __slots__ = ("answer", "at", "machine", "n", "prompt", "state")

    def __init__(self, row: Sequence[Any]) -> None:
        self.n: int = row[0]
        self.at: float = row[1]
        self.state: str = row[2]
        self.machine = bool(row[3])
        self.prompt: str = row[4]
        self.answer: str = row[5]


class Entry:
    """A document as the memory index lists it. ``changed``: seconds since 1970; ``source``: person, agent or dream;
    ``secret``: it holds one, so that its file is shown to nobody."""

    __slots__ = (
        "actor", "changed", "description", "expires", "flagged", "holder", "name", "path", "pinned", "secret",
        "source", "status", "title", "when",
    )  # fmt: skip

    def __init__(self, row: Sequence[Any]) -> None:
        self.path: str = row[0]
        self.title: str = row[1]
        self.description: str = row[2]
        self.when: str = row[3]
        self.pinned = bool(row[4])
        self.status: str = row[5]
        self.name: str = row[6]
        self.expires: str = row[7]
        self.flagged: str = row[8]
        self.changed: float = row[9] if row[10] is None else row[10]
        self.actor: str = row[11] or ""
        self.source = _source(row[12] or "", row[13] or "")
        self.secret = bool(row[14])
        self.holder: str = row[15] or ""

    def json(self) -> dict[str, object]:
        """The fields that `--json` prints: what the front matter says, who changed it last and when."""
        said = {
            name: getattr(self, name)
            for name in ("title", "description", "when", "status", "holder", "name", "expires")
        }
        kept = {name: value for name, value in said.items() if value}
        marks = {"pinned": self.pinned, "flagged": self.flagged or None}
        by = {"source": self.source, "actor": self.actor or None, "changed": turns.stamp(self.changed)}
        return {**kept, **marks, **by}


class Act:
    """A commit as the index keeps it: enough to find it; what is printed of it comes from git."""

    __slots__ = ("act", "actor", "at", "conversation", "id", "parent", "paths", "subject", "turn")

    def __init__(self, row: Sequence[Any], paths: list[str]) -> None:
        self.id: str = row[1]
        self.parent: str = row[2]
        self.at: float = row[3]
        self.actor: str = row[4]
        self.act: str = row[5]
        self.conversation: str = row[6]
        self.turn: int | None = row[7]
        self.subject: str = row[8]
        self.paths = paths


def _source(email: str, act: str) -> str:
    if not email.endswith(commits.OURS):
        return "person"
    return "dream" if act == "dream" or email.startswith("dream@") else "agent"
