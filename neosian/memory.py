"""The memory verbs: documents of a session's mounts changed, each change one commit.

Every change is made under the scope's lock to what main holds there and then: a document that has moved on since the
writer saw it is never overwritten, the writer is given both texts instead.
"""

from __future__ import annotations

import time

from neosian import adopt, documents, editing, matter, paths, projects, publish, scope
from neosian.adopting import Adopter
from neosian.commits import undo_command
from neosian.draft import Draft, Signature
from neosian.errors import BusyError, NeosianError, UsageError
from neosian.plumbing import FILE, FOLDER, NOTHING, PROGRAM
from neosian.redact import path_is_clean
from neosian.store import MACHINE_EMAIL, committer, message
from neosian.wiki import Missing, Place, Wiki

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from neosian.documents import Document

DOCUMENT_MOST = 1_000_000
"""Bytes that a document may have: what is longer is no note."""

FLAGS = ("stale", "wrong")
"""What can be said against a document: it is out of date, or it never was right."""

_SHOWN_MOST = 8_000  # characters of each text in a conflict
_UNSETTLED = 0.2


class Conflict(NeosianError):
    """A change that does not fit: ``held`` is what the document says, ``wanted`` what was to be written; ``what`` says
    why in a sentence."""

    def __init__(self, place: str, what: str, held: str, wanted: str, hint: str = "") -> None:
        self.what = f"{place}: {what} Nothing was written."
        self.held = _cut(held)
        self.wanted = _cut(wanted)
        self.both = f">>> {place} says:\n{self.held}\n>>> was to be written:\n{self.wanted}\n<<<"
        super().__init__(f"{self.what}\n{self.both}", hint)


class Unlanded(BusyError):
    """A document with a change in the folder that cannot be adopted yet."""

    def __init__(self, place: str, why: str) -> None:
        super().__init__(
            f"{place} has a change in the folder that is not landed yet: {why}. Nothing was written.",
            "neosian status",
        )


class Writer:
    """Who writes: ``actor`` as trailers name it, the e-mail's client (None: a person), more trailers of the commit."""

    __slots__ = ("actor", "client", "trailers")

    def __init__(
        self, actor: str = "", client: str | None = None, trailers: dict[str, str] | None = None
    ) -> None:
        self.actor = actor
        self.client = client
        self.trailers = trailers or {}

    @classmethod
    def of_session(cls, client: str, session: str) -> Writer:
        """An agent in a session whose id is known."""
        client = scope.slug(client) or "agent"
        return cls(f"{client}:{session}", client, {"Client": client, "Conversation": session})

    @classmethod
    def of_client(cls, client: str) -> Writer:
        """An agent that speaks MCP and does not say in which session."""
        client = scope.slug(client) or "agent"
        return cls(f"mcp:{client}", client, {"Client": client})

    def signature(self) -> Signature:
        """The author of a commit made now."""
        at = time.time()
        return (
            adopt.person(at)
            if self.client is None
            else Signature(self.actor, f"{self.client}@{MACHINE_EMAIL}", at)
        )


class Done:
    """What a change came to: ``place``, the act in words, and its ``commits``: none where it was so already; two where
    it moved between scopes, the one that takes it back first."""

    __slots__ = ("commits", "place", "said")

    def __init__(self, place: Place, commits: list[str], said: str) -> None:
        self.place = str(place)
        self.commits = commits
        self.said = said

    @property
    def commit(self) -> str | None:
        """The commit that made it so."""
        return self.commits[-1] if self.commits else None

    @property
    def undo(self) -> str:
        """How to take it back."""
        return " and ".join(f"`{undo_command(commit)}`" for commit in self.commits)

    def json(self) -> dict[str, object]:
        """The fields that `--json` prints."""
        return {
            "path": self.place,
            "commit": self.commit,
            "said": self.said,
            "undo": [undo_command(each) for each in self.commits],
        }


class Memory:
    """The documents that a session sees, for one writer. ``named_by`` is what adoption asks whose an edit is.

    ``patience``: seconds to wait for locks, and for a person's save to settle.
    """

    def __init__(
        self, wiki: Wiki, writer: Writer, *, named_by: Callable[[str, float], str | None] | None = None,
        patience: float = 5.0,
    ) -> None:  # fmt: skip
        self.wiki = wiki
        self.writer = writer
        self.patience = patience
        self._named_by = named_by or Adopter(wiki.home).named_by

    def create(self, text: str, body: str) -> Done:
        """A new document. The same text at the same path is no conflict, and no commit."""
        place, data = self._document(text), editing.clean(body).encode()

        def change(draft: Draft, path: str) -> str | None:
            held = draft.read(path)
            if held == data:
                return None
            if draft.folder(path):
                raise NeosianError(
                    f"{place} is a folder. Nothing was written.", f"neosian memory view {place}"
                )
            self._in_step(draft, place, path)
            if held is not None:
                raise Conflict(
                    str(place), "it exists already.", _shown(held), body, f"neosian memory view {place}"
                )
            self._put(draft, place, path, None, data)
            return f"Create {path}"

        return self._write(place, change, makes=True)

    def str_replace(self, text: str, old: str, new: str) -> Done:
        """The document with one text, which stands in it exactly once, replaced by another."""
        return self._edit(
            text, lambda data: editing.str_replace(data, old, new), f"{old}\n>>> in its place:\n{new}"
        )

    def insert(self, text: str, line: int, new: str) -> Done:
        """The document with lines added after line ``line`` (0: at its beginning)."""
        return self._edit(text, lambda data: editing.insert(data, line, new), new)

    def rewrite(self, text: str, body: bytes, seen: bytes) -> Done:
        """The document with other bytes, made from ``seen``: when it holds anything else by now that is a conflict."""
        place = self._document(text)

        def change(draft: Draft, path: str) -> str | None:
            held = self._held(draft, place, path)
            if held == body:
                return None
            if held != seen:
                what = "it has changed since it was read."
                raise Conflict(
                    str(place), what, _shown(held), editing.shown(body), f"neosian memory view {place}"
                )
            self._put(draft, place, path, held, _answered(held, body))
            return f"Edit {path}"

        return self._write(place, change)

    def _edit(self, text: str, edit: Callable[[bytes], bytes], wanted: str) -> Done:
        """A change of a document's text. It answers a flag that the document has."""
        place = self._document(text)

        def change(draft: Draft, path: str) -> str | None:
            held = self._held(draft, place, path)
            try:
                data = edit(held)
            except editing.EditError as error:
                raise Conflict(
                    str(place), str(error), _shown(held), wanted, f"neosian memory view {place}"
                ) from None
            if data == held:
                return None
            self._put(draft, place, path, held, _answered(held, data))
            return f"Edit {path}"

        return self._write(place, change)

    def delete(self, text: str) -> Done:
        """Take a document, or a folder of them, away; history keeps it."""
        place = self._movable(text)

        def change(draft: Draft, path: str) -> str:
            for found in self._below(draft, place, path):
                draft.delete(found)
            return f"Delete {path}"

        return self._write(place, change)

    def rename(self, old: str, new: str) -> Done:
        """Move a document, or a folder of them, to a path that is free; also from one mount to another."""
        place, target = self._movable(old), self._movable(new)
        if place.path.lower().endswith(".md"):
            target = target.at(paths.check(target.path))
        if place.store.scope == target.store.scope:
            return self._rename_within(place, target)
        moved: dict[str, bytes] = {}

        def read(draft: Draft, path: str) -> None:
            moved.clear()
            moved.update(
                {
                    found[len(path) :]: self._held(draft, place, found)
                    for found in self._below(draft, place, path)
                }
            )

        def arrive(draft: Draft, path: str) -> str:
            self._free(draft, target, path, list(moved))
            for rest, data in moved.items():
                draft.put(path + rest, data)
            return f"Move {place} to {target}"

        def leave(draft: Draft, path: str) -> str | None:
            # What was changed meanwhile stays, too.
            left = [rest for rest, data in moved.items() if draft.read(path + rest) == data]
            left = [rest for rest in left if not self._differs(draft, path + rest)]
            for rest in left:
                draft.delete(path + rest)
            return f"Move {place} to {target}" if left else None

        self._write(place, read)
        done = self._write(target, arrive, makes=True)
        left = self._write(place, leave)
        done.commits = left.commits + done.commits
        if not left.commits:
            done.said += f"; {place} was changed meanwhile and stays, too"
        return done

    def _rename_within(self, place: Place, target: Place) -> Done:
        def change(draft: Draft, path: str) -> str:
            found = self._below(draft, place, path)
            new = paths.settle(target.path, draft.folder)
            if f"{new}/".startswith(f"{path}/"):
                raise UsageError(f"{place} cannot be moved into itself.", f"neosian memory view {place}")
            self._free(draft, target, new, [each[len(path) :] for each in found])
            for each in found:
                draft.move(each, new + each[len(path) :])
            return f"Rename {path} to {new}"

        done = self._write(place, change)
        return Done(target, done.commits, done.said)

    def set_keys(
        self, text: str, wanted: Callable[[Document], Mapping[str, str | bool | None]], said: str
    ) -> Done:
        """Set front matter keys, or drop them (None), as ``wanted`` says of the document; ``said`` is the act: "Pin"
        becomes the subject `Pin PATH`."""
        place = self._document(text)

        def change(draft: Draft, path: str) -> str | None:
            held = self._held(draft, place, path)
            data = held
            for key, value in wanted(documents.read(held)).items():
                data = _with_key(place, data, key, value)
            if data == held:
                return None
            self._put(draft, place, path, held, data)
            return f"{said} {path}"

        return self._write(place, change)

    def pin(self, text: str, on: bool = True) -> Done:
        """Have a document's body told at every session start, or no longer."""
        return self.set_keys(text, lambda page: {"pinned": True if on else None}, "Pin" if on else "Unpin")

    def flag(self, text: str, kind: str, reason: str = "") -> Done:
        """Say that a document is stale or wrong; that is shown beside it until the document changes."""
        if kind not in FLAGS:
            raise UsageError(f"A document is flagged as {' or '.join(FLAGS)}, not {kind!r}.")
        said = ": ".join(part for part in (kind, " ".join(editing.clean(reason).split())) if part)
        return self.set_keys(text, lambda page: {"flagged": page.flag(said)}, "Flag")

    def unflag(self, text: str) -> Done:
        """Take back what was said against a document."""
        return self.set_keys(text, lambda page: {"flagged": None}, "Unflag")

    def check(self, text: str) -> None:
        """Refuse what is no path that a document could be written to."""
        self._document(text)

    # -- one act

    def _document(self, text: str) -> Place:
        place = self.wiki.writable(text)
        path = paths.check(place.path)
        if not path_is_clean(path):
            raise UsageError(
                "The path holds what looks like a secret, and a path is in every list and commit."
            )
        return place.at(path)

    def _movable(self, text: str) -> Place:
        """A document or a folder, or a file beside a skill."""
        place = self.wiki.writable(text)
        if not place.path:
            raise UsageError(
                f"{place} is a whole scope: documents and folders in it are what can be moved or deleted.",
                "neosian memory view /",
            )
        if not path_is_clean(place.path):
            raise UsageError(
                "The path holds what looks like a secret, and a path is in every list and commit."
            )
        return place.at(paths.check(place.path)) if place.path.lower().endswith(".md") else place

    def _write(
        self, place: Place, change: Callable[[Draft, str], str | None], *, makes: bool = False
    ) -> Done:
        """One commit in the scope of ``place``, after what people changed there was adopted.

        ``change`` gets the draft and the path as the store spells it, and gives the commit's subject, None for nothing.
        ``makes``: where the scope is not there yet it is made.
        """
        said = ""
        if not place.store.exists and not makes:
            raise Missing(str(place))

        def act(draft: Draft) -> None:
            nonlocal said
            adopt.adopt(draft, self._named_by)
            subject = change(draft, paths.settle(place.path, draft.folder))
            said = subject or ""
            if subject:
                author = self.writer.signature()
                trailers = {
                    "Neosian-Act": "memory",
                    "Neosian-Actor": self.writer.actor or author.name,
                    **self.writer.trailers,
                }
                draft.commit(message(subject, trailers), author, committer())

        until = time.monotonic() + self.patience
        while True:
            try:
                tip = place.store.write(act, patience=self.patience)
                break
            except Unlanded:
                if time.monotonic() > until:
                    raise
                time.sleep(_UNSETTLED)  # a save settles within seconds
        root = self.wiki.root
        if makes and root is not None and place.store.scope == self.wiki.turns.store.scope:
            project = projects.register(self.wiki.home, root)
            projects.note_identities(place.store, project)
        if said and not publish.checked_out(place.store.repo):
            said += "; another branch is checked out in the folder, so only main has it"
        return Done(place, [tip] if said and tip else [], said)

    def _held(self, draft: Draft, place: Place, path: str) -> bytes:
        """What main holds at a path, once the folder holds the same."""
        self._in_step(draft, place, path)
        held = draft.read(path)
        if held is None:
            gone = self.wiki.gone(place)
            raise Missing(str(place), gone)
        return held

    def _in_step(self, draft: Draft, place: Place, path: str) -> None:
        """Refuse where the folder holds a change that was not adopted: a commit over it would lose one of the two."""
        repo = draft.repo
        _check_place(draft, place, path)
        if self._differs(draft, path):
            if publish.work_tree_id(repo, path) == "" or not publish.in_reach(repo, path):
                raise NeosianError(
                    f"{place} is a link or a folder there, or lies behind one or a file, and those are not"
                    " written through. Nothing was written."
                )
            why = (
                "it holds a secret, or cannot be read"
                if path in adopt.waiting(repo)
                else "a merge is under way"
                if publish.merging(repo)
                else "it is being edited, or staged"
            )
            raise Unlanded(str(place), why)

    def _differs(self, draft: Draft, path: str) -> bool:
        """Whether the folder, where it shows main, holds anything else at a path than the draft."""
        if not publish.checked_out(draft.repo):
            return False
        held = draft.entry(path)
        here = publish.work_tree_id(draft.repo, path)
        return here != (held.id if held else NOTHING) or not publish.in_reach(draft.repo, path)

    def _below(self, draft: Draft, place: Place, path: str) -> list[str]:
        """The document at a path, or all files below a folder, each in step with the folder."""
        entry = draft.entry(path)
        found = list(_files_of(draft, path)) if entry and entry.mode == FOLDER else [path]
        for each in found:
            self._in_step(draft, place.at(each), each)
        if entry is None:
            raise Missing(str(place), self.wiki.gone(place))
        return found

    def _free(self, draft: Draft, place: Place, path: str, rests: list[str]) -> None:
        """Refuse where something is at a path already, or where one of ``rests`` is to go behind it."""
        held = draft.read(path)
        if held is not None or draft.folder(path):
            said = "(a folder)" if held is None else _shown(held)
            raise Conflict(str(place), "it exists already.", said, "(what was to be moved there)")
        for rest in rests:
            self._in_step(draft, place.at(path + rest), path + rest)

    def _put(self, draft: Draft, place: Place, path: str, held: bytes | None, data: bytes) -> None:
        """Put a document's bytes, once they are fit for git."""
        self._in_step(draft, place, path)
        if len(data) > DOCUMENT_MOST:
            raise NeosianError(
                f"{place} would have {len(data):,} bytes, and a note has at most {DOCUMENT_MOST:,}."
                " Nothing was written."
            )
        if adopt.holds_secret(data):
            raise NeosianError(
                f"{place} would hold what looks like a secret, or a <private> part. Nothing was written:"
                " leave it out, or say where it is kept."
            )
        header = documents.read(data).header
        is_new = header != documents.read(held or b"").header and len(header) < documents.HEADER_LIMIT
        problem = matter.read(header)[1] if is_new else ""
        if problem:
            raise NeosianError(
                f"{place}: its front matter could not be read: {problem}. Nothing was written.",
                "quote the value",
            )
        draft.put(path, data)


def _check_place(draft: Draft, place: Place, path: str) -> None:
    """Refuse a path below a document, and one that git holds as a link or another repository."""
    parts = path.split("/")
    for number in range(1, len(parts)):
        above = "/".join(parts[:number])
        entry = draft.entry(above)
        if entry is not None and entry.mode != FOLDER:
            raise NeosianError(
                f"{place.at(above)} is no folder, so there can be no {place}. Nothing was written.",
                f"neosian memory view {place.at(above)}",
            )
    entry = draft.entry(path)
    if entry is not None and entry.mode not in (FILE, PROGRAM, FOLDER):
        raise NeosianError(f"{place} is a link, and those are not written through. Nothing was written.")


def _answered(held: bytes, data: bytes) -> bytes:
    """A document after an edit: a flag that it had before is answered by that, and goes."""
    before, after = (
        documents.scalars(documents.read(each).header).get("flagged", "") for each in (held, data)
    )
    answered = after == before != "" and not matter.read(documents.read(data).header)[1]
    return editing.drop_key(data, "flagged") if answered else data


def _with_key(place: Place, held: bytes, key: str, value: str | bool | None) -> bytes:
    """A document with a front matter key set, or dropped."""
    if value is None and _says_no(held, key):
        return held
    try:
        data = editing.drop_key(held, key) if value is None else editing.set_key(held, key, value)
    except editing.EditError as error:
        raise NeosianError(f"{place}: {error} Nothing was written.", f"neosian memory edit {place}") from None
    if _changes_others(held, data, key):
        raise NeosianError(
            f"{place}: its front matter is written so that {key!r} cannot be changed alone. Nothing was written.",
            f"neosian memory edit {place}",
        )
    return data


def _changes_others(held: bytes, data: bytes, key: str) -> bool:
    """Whether anything but a key reads otherwise than before: a line that begins like it may stand in another value."""
    before, wrong = matter.read(documents.read(held).header)
    after, wrong_now = matter.read(documents.read(data).header)
    before, after = (
        {each: value for each, value in values.items() if each.lower() != key} for values in (before, after)
    )
    return not (wrong or wrong_now) and repr(before) != repr(after)


def _says_no(data: bytes, key: str) -> bool:
    """Whether a document's front matter says of a key that it is not so, as it would without the key."""
    return documents.truth(documents.scalars(documents.read(data).header).get(key, "")) is False


def _shown(held: bytes) -> str:
    """A document's text for a conflict."""
    return (
        "(it holds what looks like a secret, and is not shown)"
        if adopt.holds_secret(held)
        else editing.shown(held)
    )


def _files_of(draft: Draft, folder: str) -> Iterator[str]:
    for name, entry in sorted(draft.folder(folder).items()):
        path = f"{folder}/{name}"
        if entry.mode == FOLDER:
            yield from _files_of(draft, path)
        else:
            yield path


def _cut(text: str) -> str:
    return (
        text
        if len(text) <= _SHOWN_MOST
        else f"{text[:_SHOWN_MOST]}\n[… {len(text) - _SHOWN_MOST:,} more characters]"
    )
