"""The documents as a dream has them before it: as one commit of each scope holds them, changed in memory edit by edit.

Beside each text stands what the rules ask of its past: whether a person wrote it, which turns taught it, and what was
deleted and when.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from neosian import adopt, commits, documents, editing, paths
from neosian.dream import edits
from neosian.dream.edits import Edit
from neosian.errors import UsageError
from neosian.history import body
from neosian.plumbing import FILE, FOLDER, NOTHING, PROGRAM, Entry, Repo
from neosian.publish import LOGS
from neosian.wiki import Place, Wiki


class Note:
    """One document: its bytes, its text as it is shown, whether it is a person's, and the turns that taught it.

    ``is_persons``: a person wrote it, or changed it since the dream last did. ``lines``: those that persons brought in.
    ``sources`` as `conversation#turn`, or the conversation alone.
    """

    __slots__ = ("data", "is_persons", "lines", "sources", "text")

    def __init__(
        self,
        data: bytes,
        *,
        is_persons: bool = False,
        lines: Iterable[str] = (),
        sources: Iterable[str] = (),
    ) -> None:
        self.data = data
        self.text = editing.shown(data)
        self.is_persons = is_persons
        self.lines = frozenset(lines)
        self.sources = frozenset(sources)


class Gone(NamedTuple):
    """A document that somebody took away: when (seconds since 1970), and what it said."""

    at: float
    text: str


class Notes:
    """The documents of a session's mounts by place (`/project/tools/x.md`).

    ``mounts`` says of each mount whether it is writable; what is said without one lies in ``turns``. ``withheld`` are
    places that hold a secret, or are no documents or plain files: they are shown to nobody and never written.
    """

    def __init__(
        self, mounts: Mapping[str, bool], held: Mapping[str, Note] | None = None, *, turns: str = "/project",
        gone: Mapping[str, Gone] | None = None, withheld: Iterable[str] = (),
    ) -> None:  # fmt: skip
        self.mounts = dict(mounts)
        self.turns = turns
        self.gone = dict(gone or {})
        self.withheld = frozenset(withheld)
        self._held = dict(held or {})
        self._folders: dict[str, set[str]] | None = None
        self.texts = {place: note.text for place, note in self._held.items()}

    @classmethod
    def read(cls, wiki: Wiki, tips: Mapping[str, str] | None = None) -> Notes:
        """The documents of all mounts as git has them at the commits ``tips``: by scope, main's where none is named."""
        notes = cls({mount.mount: mount.writable for mount in wiki.mounts}, turns=wiki.turns.mount)
        withheld: set[str] = set()
        for mount in wiki.mounts:
            repo = mount.store.repo
            try:
                tip = (tips or {}).get(mount.store.scope) or (repo.tip() if mount.store.exists else None)
                if tip is not None:
                    withheld |= notes._take(mount, tip)
            finally:
                repo.close()
        notes.withheld = frozenset(withheld)
        return notes

    def _take(self, mount: Place, tip: str) -> set[str]:
        """Take one mount's documents in; the places of those that are withheld."""
        repo, withheld = mount.store.repo, set()
        past = _past(repo, tip)
        for path, entry in _files(repo, repo.tree_of(tip), ""):
            place = f"{mount.mount}/{path}"
            is_one = documents.is_document(path) and _is_plain(path, entry)
            data = body(repo, entry.id) if is_one else None
            if data is None or adopt.holds_secret(data):
                withheld.add(place)
            else:
                trail = past.get(path) or _Trail()
                lines = trail.lines(repo)
                self._held[place] = Note(
                    data, is_persons=trail.is_persons(repo), lines=lines, sources=trail.sources
                )
                self.texts[place] = self._held[place].text
        for path, trail in past.items():
            place = f"{mount.mount}/{path}"
            if (
                trail.gone
                and place not in self._held
                and place not in withheld
                and documents.is_document(path)
            ):
                self.gone[place] = Gone(trail.gone, _shown(repo, trail.blob))
        return withheld

    # -- what the rules ask

    def place(self, text: str) -> str:
        """A path as an edit says it, as it is spelled here. ``UsageError`` says why there can be no such document."""
        full = text if text.startswith("/") else f"{self.turns}/{text}"
        whole = "/".join(["", *(part for part in full.split("/") if part)])
        mount = max(
            (each for each in self.mounts if f"{whole}/".startswith(f"{each}/")), key=len, default=None
        )
        if mount is None:
            raise UsageError(f"{text!r} is below no mount; there are {', '.join(self.mounts)}.")
        path = paths.check(whole[len(mount) + 1 :])
        return f"{mount}/{paths.settle(path, lambda folder: self._names(f'{mount}/{folder}'.rstrip('/')))}"

    def mount(self, place: str) -> str:
        """The mount that a place lies below."""
        return max((each for each in self.mounts if place.startswith(f"{each}/")), key=len, default="")

    def is_folder(self, place: str) -> bool:
        """Whether documents lie below a place."""
        return bool(self._names(place))

    def data(self, place: str) -> bytes | None:
        """A document's bytes, None where there is none."""
        note = self._held.get(place)
        return note.data if note else None

    def pinned(self, place: str) -> bool:
        """Whether a person has it told at every session start."""
        note = self._held.get(place)
        return note is not None and documents.read(note.data).pinned

    def is_utf8(self, place: str) -> bool:
        """Whether a document's bytes are what its text says, so that it can be written anew from that."""
        try:
            return (self.data(place) or b"").decode() is not None
        except UnicodeDecodeError:
            return False

    def in_the_way(self, place: str) -> str:
        """The file below which a place would lie, "" for none."""
        while (place := place.rpartition("/")[0]) not in ("", *self.mounts):
            if place in self._held or place in self.withheld:
                return place
        return ""

    def lines_of_persons(self, place: str) -> frozenset[str]:
        """The lines that persons brought into it, and that still stand."""
        note = self._held.get(place)
        return note.lines & frozenset(note.text.split("\n")) if note else frozenset()

    def is_persons(self, place: str) -> bool:
        """Whether a person wrote it, or changed it since the dream last did."""
        note = self._held.get(place)
        return note is not None and note.is_persons

    def sources(self, place: str) -> frozenset[str]:
        """The turns that taught it so far."""
        note = self._held.get(place)
        return note.sources if note else frozenset()

    # -- changing

    def copy(self) -> Notes:
        """The same documents, to be changed apart from these."""
        return Notes(self.mounts, self._held, turns=self.turns, gone=self.gone, withheld=self.withheld)

    def after(self, edit: Edit) -> bytes | None:
        """What a document says once the edit is made, None for one that is gone then.

        ``NeosianError`` where the edit does not fit.
        """
        place = self.place(edit.path)
        held = self.data(place)
        if edit.action in (edits.CREATE, edits.REWRITE):
            return _rewritten(held, edit.text)
        if held is None:
            raise UsageError(f"There is no {place}: create it, or give the path of a note that exists.")
        if edit.action == edits.STR_REPLACE:
            return (
                _appended(held, edit.new) if not edit.old else editing.str_replace(held, edit.old, edit.new)
            )
        return held if edit.action == edits.RENAME else None

    def apply(self, edit: Edit) -> None:
        """Make an edit that the rules let pass. ``NeosianError`` where it does not fit; nothing is changed then."""
        place, data = self.place(edit.path), self.after(edit)
        target = self.place(edit.new_path) if edit.action == edits.RENAME else place
        old = self._held.get(place)
        self._held.pop(place, None)
        self.texts.pop(place, None)
        if data is not None:
            sources = {*(old.sources if old else ()), *edit.sources}
            lines = old.lines if old else ()
            is_persons = old is not None and old.is_persons
            self._held[target] = Note(data, is_persons=is_persons, lines=lines, sources=sources)
            self.texts[target] = self._held[target].text
        self._folders = None

    def changes_since(self, before: Notes) -> dict[str, bytes | None]:
        """The bytes of each document that differs from ``before``, by place; None for one that is gone."""
        places = sorted(self._held.keys() | before._held.keys())
        return {place: self.data(place) for place in places if self.data(place) != before.data(place)}

    def _names(self, folder: str) -> set[str]:
        """The names in a folder, of documents and of folders."""
        if self._folders is None:
            self._folders = {}
            for place in (*self._held, *self.withheld):
                while place.strip("/"):
                    above, name = posixpath.split(place)
                    self._folders.setdefault(above, set()).add(name)
                    place = above
        return self._folders.get(folder, set())


def _rewritten(held: bytes | None, text: str) -> bytes:
    """A whole text in place of a document, with the line ends that it had. ``UsageError`` where its bytes are not what
    is shown of them: a text made from that would lose some."""
    text = editing.clean(text)
    text += "" if text.endswith("\n") else "\n"
    try:
        return editing.str_replace(held, editing.shown(held), text) if held else text.encode()
    except editing.EditError:
        raise UsageError(
            "This note is not UTF-8, so it cannot be written anew: replace parts of it."
        ) from None


def _appended(held: bytes, new: str) -> bytes:
    text = editing.shown(held)
    return editing.insert(held, text.count("\n") + (text != "" and not text.endswith("\n")), new)


# -- the past


class _Trail:
    """What a scope's history says of one path, up to some commit.

    ``person`` and ``dream``: their newest commits on it; ``persons``: the blobs before and after each of persons'.
    ``gone``: when somebody but the dream took it away, else 0.
    """

    __slots__ = ("blob", "by_person", "dream", "gone", "is_there", "person", "persons", "sources")

    def __init__(self, by_person: bool = False) -> None:
        self.is_there = True
        self.by_person = by_person
        self.person = ""
        self.dream = ""
        self.gone = 0.0
        self.blob = NOTHING
        self.persons: list[tuple[str, str]] = []
        self.sources: set[str] = set()

    def end(self, gone: float) -> None:
        """The path is deleted, or moved away."""
        self.is_there = False
        self.gone = gone

    def moved(self) -> _Trail:
        """The trail of a document that goes on under another name."""
        trail = _Trail(self.by_person)
        trail.person, trail.dream, trail.sources = self.person, self.dream, set(self.sources)
        trail.persons = list(self.persons)
        return trail

    def is_persons(self, repo: Repo) -> bool:
        """Whether a person wrote it, or has a change in it that the dream did not have before it."""
        if self.by_person or not self.person or not self.dream:
            return self.by_person or bool(self.person)
        return not repo.succeeds("merge-base", "--is-ancestor", self.person, self.dream)

    def lines(self, repo: Repo) -> set[str]:
        """The lines that persons' changes brought."""
        found: set[str] = set()
        for before, after in self.persons:
            old = set(_shown(repo, before).split("\n")) if before != NOTHING else set()
            found |= {line for line in _shown(repo, after).split("\n") if line.strip() and line not in old}
        return found


def _past(repo: Repo, tip: str) -> dict[str, _Trail]:
    """The trail of every path that ever was a document. What a merge brings stands in the commits it merges."""
    without = (f":(exclude){name}" for name in LOGS)
    found: dict[str, _Trail] = {}
    for commit in reversed(commits.log(repo, "--full-history", tip, "--", ".", *without)):
        if len(commit.parents) < 2:
            _learn(found, commit)
    return found


def _learn(found: dict[str, _Trail], commit: commits.Commit) -> None:
    """Take a commit in, those before it being known."""
    is_person = not commit.email.endswith(commits.OURS)
    is_dream = commit.act == "dream" and not is_person
    left = {
        found[path].blob: found[path] for status, path, _ in commit.changes if status == "D" and path in found
    }
    for status, path, blob in commit.changes:
        if status == "D":
            found.setdefault(path, _Trail()).end(0.0 if is_dream else commit.at)
            continue
        if path not in found or not found[path].is_there:
            found[path] = left[blob].moved() if blob in left else _Trail(is_person)
        trail = found[path]
        if is_person:
            trail.persons.append((trail.blob, blob))
        trail.blob = blob
        trail.sources.update(commit.sources)
        trail.person = commit.id if is_person else trail.person
        trail.dream = commit.id if is_dream else trail.dream


def _files(repo: Repo, tree: str, below: str) -> Iterator[tuple[str, Entry]]:
    """(path, entry) of every document in a tree, and of whatever else lies in a folder that may hold documents."""
    for name, entry in repo.tree(tree).items():
        path = f"{below}/{name}" if below else name
        if entry.mode == FOLDER:
            if documents.is_document(f"{path}/x.md"):
                yield from _files(repo, entry.id, path)
        else:
            yield path, entry


def _is_plain(path: str, entry: Entry) -> bool:
    """Whether it is a file, and its name a text."""
    name = path.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    return entry.mode in (FILE, PROGRAM) and name == path


def _shown(repo: Repo, blob: str) -> str:
    """A text of the past; "" for what must not be shown."""
    data = body(repo, blob)
    return "" if adopt.holds_secret(data) else editing.shown(data)
