"""Sessions that a model could not be brought to answer: tried a few times, then set aside until they have new turns."""

from __future__ import annotations

import json
import os
import time

from neosian import files, turns
from neosian.dream import kept
from neosian.dream.sessions import Waiting
from neosian.redact import redact
from neosian.store import Store

MOST = 3
"""Tries after which a session is set aside."""

_FILE = "dream-tries.json"


class Try:
    """What became of a session so far: ``tries`` that failed up to its turn ``number``, and ``why`` the last did."""

    __slots__ = ("at", "conversation", "number", "tries", "why")

    def __init__(self, conversation: str, number: int, tries: int, why: str, at: float) -> None:
        self.conversation = conversation
        self.number = number
        self.tries = tries
        self.why = why
        self.at = at

    def json(self) -> dict[str, object]:
        """The fields that `--json` prints."""
        return {name: getattr(self, name) for name in self.__slots__} | {"at": turns.stamp(self.at)}


class Tries:
    """The failed tries of one scope on this machine, kept beside its repository."""

    def __init__(self, store: Store) -> None:
        self._path = os.path.join(store.repo.private, _FILE)
        self._held = _read(self._path)

    @property
    def failing(self) -> list[Try]:
        """The sessions that failed and are tried again, by name."""
        return [each for _, each in sorted(self._held.items()) if each.tries < MOST]

    @property
    def aside(self) -> list[Try]:
        """The sessions that are set aside, by name."""
        return [each for _, each in sorted(self._held.items()) if each.tries >= MOST]

    def is_aside(self, waiting: Waiting) -> bool:
        """Whether a session is not tried any more: new turns make it a new question."""
        held = self._held.get(waiting.conversation)
        return held is not None and held.tries >= MOST and held.number >= waiting.number

    def failed(self, waiting: Waiting, why: str) -> bool:
        """One more try failed; whether it was the last."""
        held = self._held.get(waiting.conversation)
        before = held.tries if held is not None and held.number >= waiting.number else 0
        self._held[waiting.conversation] = Try(
            waiting.conversation, waiting.number, before + 1, redact(why), time.time()
        )
        self._write()
        return before + 1 >= MOST

    def forget(self, conversation: str) -> None:
        """A session was answered."""
        if self._held.pop(conversation, None) is not None:
            self._write()

    def _write(self) -> None:
        rows = [each.json() | {"at": each.at} for each in self._held.values()]
        files.write(self._path, json.dumps(rows, ensure_ascii=False).encode("utf-8", "replace"))


def _read(path: str) -> dict[str, Try]:
    try:
        found = [
            Try(
                str(row["conversation"]),
                kept.count(row["number"]),
                kept.count(row["tries"]),
                str(row["why"]),
                kept.moment(row["at"]),
            )
            for row in kept.read(path) or []
        ]
    except (ValueError, KeyError, TypeError):
        return {}  # a session is tried again
    return {each.conversation: each for each in found}
