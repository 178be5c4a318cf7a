"""The documents of a work tree in the index: compared by stat data, read anew where that differs.

They come from the work tree and not from git, so that what a person has just saved is found at once.
"""

from __future__ import annotations

import os
import time
import zlib

from neosian import documents, files
from neosian.cache import storable
from neosian.decoding import decoded

TYPE_CHECKING = False
if TYPE_CHECKING:
    from neosian.cache import Cache

_AT_ONCE = 500
_SETTLED = 2.0  # seconds: a file system may not tell two changes apart that are nearer


class _Known:
    """What the index remembers of a document: its row, and the mark and checksum of the file as it was read."""

    __slots__ = ("crc", "id", "mark")

    def __init__(self, id: int, mark: str, crc: int) -> None:
        self.id = id
        self.mark = mark
        self.crc = crc


class _Found:
    """A document whose stat data changed: its bytes, and what to remember it by."""

    __slots__ = ("crc", "data", "mark", "modified", "path")

    def __init__(self, path: str, data: bytes, stat: os.stat_result) -> None:
        self.path = storable(path)
        self.data = data
        self.crc = zlib.crc32(data)
        self.modified = stat.st_mtime
        # A change within the clock's grain would leave the same stat data: look again until it has settled.
        settled = max(stat.st_mtime, stat.st_ctime) < time.time() - _SETTLED
        self.mark = _mark(stat) if settled else ""


def catch_up(cache: Cache, root: str, limit: int | None) -> bool:
    """Show the documents below ``root`` as they are now; False when some wait for the next time.

    With a ``limit`` (of commits, see `Index.catch_up`) only so many documents are read as a hook has time for.
    """
    rows = cache.db.execute("SELECT path, id, mark, crc FROM document").fetchall()
    known = {path: _Known(id, mark, crc) for path, id, mark, crc in rows}
    changed = []
    for path, stat in documents.walk(root):
        old = known.pop(storable(path), None)
        if old is None or old.mark != _mark(stat):
            changed.append((path, old))
    most = len(changed) if limit is None else _AT_ONCE
    todo = [found for path, old in changed[:most] if (found := _read(root, path, old))]
    if todo or known:  # those still in `known` are gone
        cache.begin()
        for old in known.values():
            _drop(cache, old.id)
        for found in todo:
            _put(cache, found)
        cache.db.execute("COMMIT")
    return len(changed) <= most


def _mark(stat: os.stat_result) -> str:
    return f"{stat.st_mtime_ns}:{stat.st_ctime_ns}:{stat.st_size}:{stat.st_ino}"


def _read(root: str, path: str, old: _Known | None) -> _Found | None:
    """What is new about a document; None when only its time is unsettled still, or it has gone."""
    try:
        name = os.path.join(root, path)
        stat = os.lstat(name)
        data = files.read(name)
    except OSError:
        return None
    if data is None:
        return None
    found = _Found(path, data, stat)
    return None if old and old.crc == found.crc and old.mark == found.mark == "" else found


def _put(cache: Cache, found: _Found) -> None:
    # Another process may have been here since the comparison: what it wrote counts.
    row = cache.db.execute("SELECT id, crc FROM document WHERE path = ?", (found.path,)).fetchone()
    if row and row[1] == found.crc:
        cache.db.execute("UPDATE document SET mark = ? WHERE id = ?", (found.mark, row[0]))
        return
    if row:
        _drop(cache, row[0])
    from neosian.redact import path_is_clean, redact_document, redact_path  # only what changed comes here

    said = decoded(found.data)
    fit = redact_document(said)  # whatever the index holds may be told to an agent
    page = documents.read(fit.encode("utf-8", "replace"))
    parts = documents.sections(page)
    title = page.title or next((heading for heading, _ in parts if heading), "")
    values = (
        found.path, found.mark, found.crc, found.modified, title, page.description, page.when, page.pinned,
        page.status, page.name, page.expires, page.flagged,
        fit != said or not path_is_clean(found.path), page.holder,
    )  # fmt: skip
    added = cache.db.execute(
        "INSERT INTO document(path, mark, crc, modified, title, description, said, pinned, status, name, expires,"
        " flagged, secret, holder) VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
        values,
    )
    top = parts.pop(0)[1] if parts and not parts[0][0] else ""
    _put_section(
        cache, added.lastrowid, "", (title, page.description, redact_path(found.path), page.header, top)
    )
    for heading, text in parts:
        _put_section(cache, added.lastrowid, heading, (title, heading, text))


def _put_section(cache: Cache, document: int, heading: str, texts: tuple[str, ...]) -> None:
    added = cache.db.execute("INSERT INTO section(document, heading) VALUES(?, ?)", (document, heading))
    cache.put_text(-added.lastrowid, "\n".join(texts))


def _drop(cache: Cache, id: int) -> None:
    rows = cache.db.execute("SELECT id FROM section WHERE document = ?", (id,)).fetchall()
    for (section,) in rows:
        cache.drop_text(-section)
    cache.db.execute("DELETE FROM section WHERE document = ?", (id,))
    cache.db.execute("DELETE FROM document WHERE id = ?", (id,))
