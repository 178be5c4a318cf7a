"""What landed lately, so that a commit made from an older index can be told and mended."""

from __future__ import annotations

import os
import time

from neosian import files
from neosian.plumbing import Change, Repo

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

_REMEMBERED = 60.0
"""Seconds after which a landing is forgotten: git's own races last milliseconds, a person's deed is one after that."""


_MOST = 300
"""Paths that are remembered: each act looks at all of them."""


class Recent:
    """What landed lately: for each path the time, and its blobs in order, the one before the first landing first.

    A plain file of ours, read and written under the scope's lock.
    """

    def __init__(self, repo: Repo) -> None:
        self._path = os.path.join(repo.private, "recent")
        self.rows: dict[str, tuple[float, list[str]]] = {}
        for row in os.fsdecode(files.read(self._path) or b"").split("\0")[:-1]:
            head, _, path = row.partition("\n")
            at, *blobs = head.split(" ")
            try:
                self.rows[path] = (float(at), blobs)
            except ValueError:
                continue  # torn: it only helps

    def add(self, changes: Iterable[Change]) -> None:
        """Remember one landing."""
        for change in changes:
            _, blobs = self.rows.get(change.path, (0.0, [change.before]))
            self.rows.pop(change.path, None)
            self.rows[change.path] = (time.time(), [*blobs[-100:], change.after])
        for path in list(self.rows)[:-_MOST]:
            del self.rows[path]
        self._write()

    def prune(self, keep: Iterable[str]) -> None:
        """Forget what is old, but never the last landing: it tells whose index this is."""
        last = max((at for at, _ in self.rows.values()), default=0.0)
        kept = set(keep)
        before = min(last, time.time() - _REMEMBERED)
        old = [path for path, (at, _) in self.rows.items() if at < before and path not in kept]
        for path in old:
            del self.rows[path]
        if old:
            self._write()

    def _write(self) -> None:
        rows = (f"{at} {' '.join(blobs)}\n{path}\0" for path, (at, blobs) in self.rows.items())
        files.write(self._path, os.fsencode("".join(rows)))
