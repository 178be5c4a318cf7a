"""The wiki as a session sees it: where a path lies, what a document says, what a folder holds."""

from __future__ import annotations

import os
import posixpath
import time

from neosian import adopt, commits, documents, editing, files, paths, projects, publish, scope
from neosian.context import ago, index_lines, one_line
from neosian.errors import NeosianError, UsageError
from neosian.index import Index
from neosian.plumbing import FOLDER, LINK

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from neosian.entries import Entry
    from neosian.mounts import Layout
    from neosian.plumbing import Entry as GitEntry
    from neosian.plumbing import Repo
    from neosian.store import Store

_LISTING_MOST = 20_000  # characters of a folder's listing
_SESSIONS_LISTED = 50

OTHERS = "projects"
"""Where the user's other projects can be read: `/projects/<name>`."""


class Missing(NeosianError):
    """A path at which there is no document; ``gone`` tells of the commit that took it away.

    ``at``: the revision that has none; ``other``: the place that differs from it only in case.
    """

    def __init__(self, place: str, gone: str = "", *, at: str | None = None, other: str = "") -> None:
        why = f": {gone}" if gone else f"; there is {other}" if other else ""
        near = other or posixpath.dirname(place) or "/"
        hint = f"neosian log {place}" if gone or at is not None else f"neosian memory view {near}"
        super().__init__(f"There is no {place}{f' at {at}' if at is not None else ''}{why}.", hint)


class ReadOnly(NeosianError):
    """A mount that may be read and not written."""

    def __init__(self, mount: str) -> None:
        super().__init__(f"{mount} is mounted read-only: nothing was written.")


class Place:
    """A path as it is said (`/project/tools/x.md`), and where that is: the store, and the path inside its scope."""

    __slots__ = ("mount", "path", "store", "writable")

    def __init__(self, mount: str, store: Store, path: str, writable: bool) -> None:
        self.mount = mount
        self.store = store
        self.path = path
        self.writable = writable

    def __str__(self) -> str:
        return f"{self.mount}/{self.path}".rstrip("/") or "/"

    def at(self, path: str) -> Place:
        """Another path of the same scope."""
        return Place(self.mount, self.store, path, self.writable)


class Wiki:
    """The documents of a session's mounts; ``turns`` is the mount that takes the session's turns."""

    def __init__(self, home: str, seen: Layout, *, others: bool = True) -> None:
        """``others``: the user's other projects may be read, too."""
        self.home = home
        self._others = others
        self.root = seen.root
        self.mounts = [
            Place(mount.path, projects.open_store(home, mount.scope), "", mount.writable)
            for mount in seen.mounts
        ]
        self.turns = next(mount for mount in self.mounts if mount.store.scope == seen.turns)

    def place(self, text: str) -> Place:
        """What a path names. Without a slash in front it lies in the mount that takes the session's turns."""
        for mount in self.mounts:
            if text.startswith(mount.store.path + os.sep):  # the file itself, as an editor names it
                text = f"{mount.mount}/{text[len(mount.store.path) + 1 :]}"
        full = text if text.startswith("/") else f"{self.turns.mount}/{text}"
        whole = "/".join(["", *(part for part in full.split("/") if part)])
        if not whole.strip("/"):
            raise UsageError(
                "/ holds the mounts; a document lies below one of them.", "neosian memory view /"
            )
        best = max(
            (
                mount
                for mount in [*self.mounts, *self._other_project(whole)]
                if f"{whole}/".startswith(f"{mount.mount}/")
            ),
            key=lambda mount: len(mount.mount),
            default=None,
        )
        if best is None:
            names = ", ".join(mount.mount for mount in self.mounts)
            raise UsageError(f"{text!r} is below no mount; there are {names}.", "neosian memory view /")
        rest = whole[len(best.mount) + 1 :]
        return best.at(paths.clean(rest, pages=True) if rest else "")

    def _other_project(self, path: str) -> list[Place]:
        """The mount of another project of the user's, which every session may read: `/projects/<name>`."""
        top, _, rest = path.lstrip("/").partition("/")
        name = rest.partition("/")[0]
        if not self._others or top != OTHERS or name not in projects.slugs(self.home):
            return []
        store = projects.open_store(self.home, projects.scope_of(self.home, name))
        return [Place(f"/{OTHERS}/{name}", store, "", False)]

    def writable(self, text: str) -> Place:
        """The same for a path that is to be written: its mount is no read-only one, and it is nothing of ours."""
        place = self.place(text)
        if not place.writable:
            raise ReadOnly(place.mount)
        return place.at(paths.clean(place.path)) if place.path else place

    def view(self, text: str = "/", lines: Sequence[int] | None = None, at: str | None = None) -> str:
        """A document with line numbers (``lines``: first and last, -1 for the end), or what a folder holds.

        ``at`` is a revision of the scope.
        """
        if text.strip("/") == "":
            _of_one_scope(at)
            return self._listing(self.mounts)
        place = self.place(text)
        try:
            if _is_of_sessions(place):
                if at is not None:
                    raise UsageError(
                        "Pages of sessions are shown as they are now.", f"neosian memory view {place}"
                    )
                return self._session(place, lines)
            place = self._spelled(place, at)
            data = self.data(place, at)
            if data is None:
                if lines:
                    raise UsageError(
                        f"{place} is no document, so it has no lines.", f"neosian memory view {place}"
                    )
                return self._folder(place, at)
            return _numbered(place, data, lines, self._about(place) if at is None else f"at {at}")
        finally:
            place.store.repo.close()

    def as_json(self, text: str = "/", at: str | None = None) -> dict[str, object]:
        """The same for a program: of a document its ``text`` and what is known of it, of a folder its ``documents``."""
        if text.strip("/") == "":
            _of_one_scope(at)
            return {"path": "/", "documents": [row for mount in self.mounts for row in self._rows(mount)]}
        place = self.place(text)
        try:
            place = self._spelled(place, at)
            data = self.data(place, at)
            if data is not None:
                about = (
                    next((row for row in self._rows(place) if row["path"] == str(place)), {})
                    if at is None
                    else {}
                )
                return {**about, "path": str(place), "text": editing.shown(data)}
            if at is not None:
                rows: list[dict[str, object]] = [
                    {"path": str(place.at(path))} for path in self._held_at(place, at)
                ]
            else:
                rows = self._rows(place)
            if place.path and not rows:
                raise Missing(str(place), "" if at else self.gone(place), at=at)
            return {"path": str(place), "documents": rows}
        finally:
            place.store.repo.close()

    def _rows(self, place: Place) -> list[dict[str, object]]:
        """The document at a place, or those below it, as `--json` has them."""
        return [
            {"path": str(place.at(entry.path)), **entry.json()}
            for entry in self.entries(place)
            if f"{entry.path}/".startswith(f"{place.path}/") or not place.path
        ]

    def read(self, text: str, at: str | None = None) -> bytes:
        """The bytes of a document as they are now, or were at a revision."""
        place = self.place(text)
        try:
            place = self._spelled(place, at)
            data = None if _is_of_sessions(place) else self.data(place, at)
        finally:
            place.store.repo.close()
        if data is None:
            raise Missing(str(place), "" if at else self.gone(place), at=at)
        return data

    def _spelled(self, place: Place, at: str | None) -> Place:
        """A place with its path as it is spelled there, which may be another Unicode form."""
        repo = place.store.repo
        if not place.path or not place.store.exists:
            return place
        in_folder = at is None
        rev = None if at is None else commits.revision(repo, at)

        def names(folder: str) -> Iterable[str]:
            return files.names(os.path.join(repo.path, folder)) if in_folder else _tree(repo, rev, folder)

        try:
            return place.at(paths.settle(place.path, names))
        except paths.Twin as twin:
            folder, _, name = twin.other.rpartition("/")
            other = str(place.at(twin.other)) if name in names(folder) else ""
            raise Missing(str(place), other=other) from None

    def data(self, place: Place, at: str | None = None) -> bytes | None:
        """A file's bytes: the folder's where main is checked out, else main's, or those at a revision."""
        repo = place.store.repo
        if not place.path or not place.store.exists:
            return None
        if at is not None:
            found = _read_at(repo, commits.revision(repo, at), place.path)
        else:
            found = read_plain(repo.path, place.path)
        if found is not None and adopt.holds_secret(found):
            raise NeosianError(
                f"{place} holds what looks like a secret and is not shown until a person takes it out.",
                f"open {os.path.join(repo.path, place.path)} in an editor",
            )
        return found

    def entries(self, place: Place, only: Sequence[str] | None = None) -> list[Entry]:
        """The documents of a scope (or those at some paths) as the index lists them, but those that hold a secret."""
        if not place.store.exists:
            return []
        with Index.open(place.store.cache) as index:
            index.catch_up(place.store.repo, None)
            place.store.repo.close()
            return [entry for entry in index.documents(only) if not entry.secret]

    def _listing(self, places: Sequence[Place]) -> str:
        """The documents below these places, with the folders of mounts named."""
        heads = [
            f"{place}{'' if place.writable else ' (read-only)'}: {place.store.scope}"
            for place in places
            if not place.path
        ]
        listed = [
            (place.mount, entry)
            for place in places
            for entry in self.entries(place)
            if not place.path or entry.path.startswith(place.path + "/")
        ]
        return "\n".join([*heads, index_lines(listed, time.time(), _LISTING_MOST) or "No documents yet."])

    def _folder(self, place: Place, at: str | None) -> str:
        if at is not None:
            found = self._held_at(place, at)
            if not found:
                raise Missing(str(place), at=at)
            return "\n".join(f"- {place.at(path)}{self._said_at(place, path, at)}" for path in found)
        listing = self._listing([place])
        others = files_below(place)
        if place.path and listing == "No documents yet." and not others:
            raise Missing(str(place), self.gone(place))
        return "\n".join([listing, *(f"- {place.at(path)}" for path in others)])

    def _held_at(self, place: Place, at: str) -> list[str]:
        """The documents below a place at a revision."""
        repo = place.store.repo
        rev = commits.revision(repo, at) if place.store.exists else None
        held = repo.ls(rev, f"{place.path}/" if place.path else "") if rev else []
        return sorted(path for path, _ in held if documents.is_document(path))

    def _said_at(self, place: Place, path: str, at: str) -> str:
        """What a document says of itself at a revision, behind its path."""
        repo = place.store.repo
        page = documents.read(_read_at(repo, commits.revision(repo, at), path) or b"")
        said = page.description or page.title
        return f": {one_line(said, 140)}" if said else ""

    def _session(self, place: Place, lines: Sequence[int] | None) -> str:
        """The page of a session, or the newest sessions."""
        name = place.path.partition("/")[2].removesuffix(".md").rpartition("/")[2]
        if not place.store.exists:
            if name:
                raise Missing(str(place))
            return "No sessions yet."
        if not name:
            with Index.open(place.store.cache) as index:
                index.catch_up(place.store.repo, None)
                rows = index.sessions(_SESSIONS_LISTED)
            return (
                "\n".join(
                    f"- {place.mount}/sessions/{row.conversation} ({row.client}, {row.turns} turns,"
                    f" {ago(row.last, time.time())}): {row.prompt}"
                    for row in rows
                )
                or "No sessions yet."
            )
        tip = place.store.repo.tip()
        wanted = (name, scope.disk_name(name))
        for path, _ in place.store.repo.ls(tip, "sessions/") if tip else []:
            if path.rpartition("/")[2].removesuffix(".md") in wanted:
                page = place.store.repo.read(tip or "", path) or b""
                return _numbered(
                    place, page, lines, "a session's page; its turns: recall_turn, `neosian recall`"
                )
        raise Missing(str(place))

    def _about(self, place: Place) -> str:
        """Who changed a document last and when, and what is to be known before trusting it."""
        entry = next(iter(self.entries(place, [place.path])), None)
        if entry is None:
            return ""
        marks = [
            f"{entry.source} {entry.actor}".strip() if entry.actor else entry.source,
            ago(entry.changed, time.time()),
            *(["pinned"] if entry.pinned else []),
            *([f"expires {entry.expires}"] if entry.expires else []),
            *([f"flagged {entry.flagged}"] if entry.flagged else []),
        ]
        return ", ".join(marks)

    def gone(self, place: Place) -> str:
        """What took a document away, "" when it never was, or is there still as far as main knows."""
        if not place.path or not place.store.exists:
            return ""
        tip = place.store.repo.tip()
        if tip is None or place.store.repo.entry(tip, place.path) is not None:
            return ""
        with Index.open(place.store.cache) as index:
            index.catch_up(place.store.repo, None)
            place.store.repo.close()
            acts = index.commits(path=place.path, limit=1)
        return f"it went with {acts[0].id[:10]}, {acts[0].subject!r}" if acts else ""


def _is_of_sessions(place: Place) -> bool:
    return place.path.partition("/")[0] == "sessions"


def _of_one_scope(at: str | None) -> None:
    if at is not None:
        raise UsageError(
            "A revision belongs to one scope: name a folder of it.", f"neosian memory view /project --at {at}"
        )


def read_plain(root: str, path: str) -> bytes | None:
    """A file of a scope's folder; None for none, and for what a link leads to."""
    full = os.path.join(root, path)
    folder = os.path.normpath(os.path.join(os.path.realpath(root), os.path.dirname(path)))
    try:
        if (
            os.path.islink(full)
            or os.path.realpath(os.path.dirname(full)) != folder
            or not os.path.isfile(full)
        ):
            return None
        return files.read(full)
    except OSError:
        return None


def _tree(repo: Repo, rev: str | None, folder: str) -> dict[str, GitEntry]:
    """The names in a folder at a commit."""
    entry = repo.entry(rev, folder) if rev else None
    return repo.tree(entry.id) if entry and entry.mode == FOLDER else {}


def _read_at(repo: Repo, rev: str | None, path: str) -> bytes | None:
    """A file's bytes at a commit; None for none, and for a link."""
    entry = repo.entry(rev, path) if rev else None
    return repo.read(rev or "", path) if entry and entry.mode != LINK else None


def files_below(place: Place) -> list[str]:
    """Files below a folder that are no documents, by their path in the scope; they can be read, too."""
    found = []
    root = place.store.path
    if not place.path or not publish.in_reach(place.store.repo, f"{place.path}/"):
        return []
    for folder, folders, names in os.walk(os.path.join(root, place.path)):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        below = os.path.relpath(folder, root).replace(os.sep, "/")
        for name in sorted(names):
            path, full = f"{below}/{name}", os.path.join(folder, name)
            plain = os.path.isfile(full) and not os.path.islink(full) and name.isprintable()
            if plain and not name.startswith(".") and not documents.is_document(path):
                found.append(path)
    return found


def _numbered(place: Place, data: bytes, lines: Sequence[int] | None, about: str) -> str:
    """A document as the agent's tools number it: from 1, a tab behind the number."""
    rows = editing.shown(data).split("\n")
    if rows[-1] == "" and len(rows) > 1:
        rows.pop()
    lines = lines or (1, -1)
    first, last = lines[0], len(rows) if lines[-1] == -1 else lines[-1]
    if len(lines) != 2 or not 1 <= first <= min(last, len(rows)):
        raise UsageError(
            f"view_range {list(lines)} is none; {place} has {len(rows)} lines: [1, {len(rows)}]."
        )
    head = f"{place} ({about})" if about else str(place)
    return "\n".join(
        [head, *(f"{number:6}\t{row}" for number, row in enumerate(rows[first - 1 : last], first))]
    )
