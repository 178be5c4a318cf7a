"""Commits made in memory on top of one commit, written as loose objects when they are whole.

Measured at 100, 6,700 and 20,000 files: a `git cat-file --batch` child and loose objects written here cost
2.2 ms a landing at every size; one `git fast-import` child costs 5.6 to 6.3 ms.
"""

from __future__ import annotations

import time

from neosian.errors import BlockedError, BrokenStoreError
from neosian.plumbing import EMPTY_TREE, FILE, FOLDER, Entry, Repo, format_tree, object_id


class Signature:
    """Who and when in a commit: ``at`` in seconds since 1970, shown in the zone of this machine."""

    __slots__ = ("at", "email", "name")

    def __init__(self, name: str, email: str, at: float) -> None:
        self.name = name
        self.email = email
        self.at = at

    def __str__(self) -> str:
        zone = time.strftime("%z", time.localtime(self.at)) if self.at else "+0000"
        return f"{_plain(self.name) or 'unknown'} <{_plain(self.email)}> {int(self.at)} {zone}"


def _plain(text: str) -> str:
    """A name git accepts in a header: one line, without its delimiters and control characters."""
    kept = "".join(char for char in " ".join(text.split()) if char >= " " and char not in "<>")
    return kept.strip(".,:;\"' ")


class Draft:
    """Commits being made on top of ``base``, in memory until ``write``; several may follow each other."""

    def __init__(self, repo: Repo, base: str | None) -> None:
        self.repo = repo
        self.base = base
        self.tip = base
        self._objects: list[tuple[str, bytes]] = []
        self._bodies: dict[str, bytes] = {}
        self._trees: dict[str, dict[str, Entry]] = {}
        self._root = repo.tree_of(base) if base else EMPTY_TREE
        self._dirty: set[str] = set()

    def folder(self, path: str) -> dict[str, Entry]:
        """Entries of a folder as the draft has it; empty where there is none."""
        if path not in self._trees:
            if not path:
                self._trees[path] = dict(self.repo.tree(self._root))
            else:
                above, _, name = path.rpartition("/")
                found = self.folder(above).get(name)
                known = found is not None and found.mode == FOLDER
                self._trees[path] = dict(self.repo.tree(found.id)) if known and found else {}
        return self._trees[path]

    def entry(self, path: str) -> Entry | None:
        """Where a path is in the draft."""
        above, _, name = path.rpartition("/")
        return self.folder(above).get(name)

    def read(self, path: str) -> bytes | None:
        """A file's bytes in the draft."""
        found = self.entry(path)
        if found is None or found.mode == FOLDER:
            return None
        if found.id in self._bodies:
            return self._bodies[found.id]
        held = self.repo.object(found.id)
        if held is None:
            raise BrokenStoreError(f"{path} of {self.repo.path} cannot be read.", "neosian status")
        return held[1]

    def in_the_way(self, path: str) -> str:
        """What keeps a path from being a file: a file above it, or itself, being a folder; "" for nothing."""
        above = path
        while above := above.rpartition("/")[0]:
            found = self.entry(above)
            if found is not None and found.mode != FOLDER:
                return above
        return path if self.folder(path) else ""

    def put(self, path: str, data: bytes) -> None:
        """Set a file's bytes. Raises BlockedError below a file or link, or where a folder is: neither is replaced."""
        if there := self.in_the_way(path):
            raise BlockedError(path, there)
        above, _, name = path.rpartition("/")
        id = self._add("blob", data)
        self._bodies[id] = data
        known = self.folder(above).get(name)
        mode = known.mode if known and known.mode.startswith("100") else FILE
        self.folder(above)[name] = Entry(mode, id)
        self._touch(above)

    def take(self, path: str, entry: Entry) -> None:
        """Set a file to one whose bytes the repository has already."""
        above, _, name = path.rpartition("/")
        self.folder(above)[name] = entry
        self._touch(above)

    def move(self, old: str, new: str) -> None:
        """Give a file another path; it stays what it is."""
        entry = self.entry(old)
        if entry is not None:
            self.take(new, entry)
            self.delete(old)

    def delete(self, path: str) -> None:
        """Take a file away; harmless where there is none."""
        above, _, name = path.rpartition("/")
        if self.folder(above).pop(name, None) is not None:
            self._touch(above)

    def _touch(self, path: str) -> None:
        self._dirty.add(path)
        while path:
            path = path.rpartition("/")[0]
            self._dirty.add(path)

    def _add(self, kind: str, body: bytes) -> str:
        self._objects.append((kind, body))
        return object_id(kind, body)

    def _add_tree(self, entries: dict[str, Entry]) -> str:
        id = self._add("tree", format_tree(entries))
        self.repo.keep_tree(id, dict(entries))
        return id

    def _close_trees(self) -> None:
        for path in sorted(self._dirty, key=lambda path: -path.count("/") if path else 1):
            entries = self._trees[path]
            above, _, name = path.rpartition("/")
            if not path:
                self._root = self._add_tree(entries) if entries else EMPTY_TREE
            elif entries:
                self.folder(above)[name] = Entry(FOLDER, self._add_tree(entries))
            else:
                self.folder(above).pop(name, None)
        self._dirty.clear()

    def commit(self, message: str, author: Signature, committer: Signature, merged: str = "") -> str:
        """Close the changes so far as one commit, a merge of ``merged`` where that is named; its id."""
        self._close_trees()
        parent = "".join(f"parent {each}\n" for each in (self.tip, merged) if each)
        text = f"tree {self._root}\n{parent}author {author}\ncommitter {committer}\n\n{message}"
        if self._root == EMPTY_TREE:
            self._add("tree", b"")
        self.tip = self._add("commit", text.encode("utf-8", "replace"))
        self.repo.keep_commit(self.tip, self._root)
        return self.tip

    def write(self) -> None:
        """Put every object on disk; nothing names them yet."""
        for kind, body in self._objects:
            self.repo.write_object(kind, body)
        self._objects.clear()
