"""The SQLite file of an index: opened whatever state it is in, replaced when it is damaged or foreign.

What is searched lies in it in three ways, which are kept together here: the texts as they are shown, the words that
FTS5 knows of them, and a list of the words themselves, for those who spell one wrong.
Where no file can be written the tables are kept in memory, so that a read-only home still gets its answers.
"""

from __future__ import annotations

import os
import zlib

from neosian import files, query

try:
    import _sqlite3 as sqlite  # `sqlite3` adds datetime and its adapters
except ImportError:  # pragma: no cover - an interpreter without the private module
    import sqlite3 as sqlite  # type: ignore[no-redef]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any, Self

Damaged = sqlite.DatabaseError
Unable = sqlite.OperationalError  # locked, read-only, a full disk: the file itself is sound
VERSION = 5
_APPLICATION = 0x6E656F73  # "neos"
_WORD = r"[^\W\d_]{4,24}"
_REMEMBERED = 500_000  # words; a process that has seen more of them asks the table

_TABLES = """
CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID;
CREATE TABLE session(id INTEGER PRIMARY KEY, key TEXT UNIQUE, conversation TEXT, client TEXT, branch TEXT,
    started REAL, last REAL, turns INTEGER);
CREATE INDEX session_last ON session(last);
CREATE INDEX session_conversation ON session(conversation);
CREATE TABLE segment(id INTEGER PRIMARY KEY, path TEXT UNIQUE, blob TEXT, size INTEGER, crc INTEGER, session INTEGER);
CREATE TABLE turn(id INTEGER PRIMARY KEY, session INTEGER, n INTEGER, at REAL, ended REAL, state TEXT, machine INTEGER,
    prompt TEXT, answer TEXT, segments TEXT, UNIQUE(session, n));
CREATE TABLE body(id INTEGER PRIMARY KEY, packed BLOB);
CREATE TABLE document(id INTEGER PRIMARY KEY, path TEXT UNIQUE, mark TEXT, crc INTEGER, modified REAL, title TEXT,
    description TEXT, said TEXT, pinned INTEGER, status TEXT, name TEXT, expires TEXT, flagged TEXT,
    secret INTEGER, holder TEXT);
CREATE TABLE section(id INTEGER PRIMARY KEY, document INTEGER, heading TEXT);
CREATE INDEX section_document ON section(document);
CREATE TABLE act(seq INTEGER PRIMARY KEY, id TEXT UNIQUE, parent TEXT, at REAL, actor TEXT, email TEXT, act TEXT,
    conversation TEXT, turn INTEGER, subject TEXT);
CREATE INDEX act_conversation ON act(conversation);
CREATE TABLE path(id INTEGER PRIMARY KEY, path TEXT UNIQUE);
CREATE TABLE touched(path INTEGER, seq INTEGER, PRIMARY KEY(path, seq)) WITHOUT ROWID;
CREATE INDEX touched_seq ON touched(seq);
CREATE TABLE word(word TEXT PRIMARY KEY) WITHOUT ROWID;
"""
# Contentless: what is indexed is wider (query.expand) than what is shown, and the text lies in `body` once.
_WORDS = """CREATE VIRTUAL TABLE words USING fts5(text, content='',
    tokenize="porter unicode61 remove_diacritics 2 categories 'L* N* Co M*'")"""


class Cache:
    """An open index file, or its stand-in in memory; ``fts`` tells whether this SQLite has FTS5."""

    def __init__(self, path: str, patience: float = 0.5) -> None:
        self.path = os.path.abspath(path)
        self._patience = patience
        self._listed: set[str] = set()  # words that this process knows to be in the list
        self._open()

    @classmethod
    def open(cls, path: str, patience: float = 0.5) -> Self:
        """The index at ``path``, whatever state its file is in; ``patience``: seconds to wait for another writer."""
        return cls(path, patience)

    # -- the file

    def _open(self) -> None:
        for way in (self._on_disk, self._on_disk, self._read_only):
            try:
                self.db, self.readonly = way()
                return
            except (OSError, Unable) as error:
                if is_locked(error):
                    break  # whichever way it is opened, its writer has it: waiting once is enough
                continue  # a folder that cannot be written, say: the next way
            except Damaged:
                self._remove()
        self.db, self.readonly = self._in_memory()

    def _on_disk(self) -> tuple[Any, bool]:
        files.make_dir(os.path.dirname(self.path))
        if not os.path.exists(self.path):
            handle = os.open(self.path, os.O_RDWR | os.O_CREAT, files.PRIVATE_FILE)
            os.fchmod(handle, files.PRIVATE_FILE)
            os.close(handle)
        if not os.access(self.path, os.W_OK) or not os.access(os.path.dirname(self.path), os.W_OK):
            raise OSError("read-only")
        return self._checked(self._connect(self.path)), False

    def _read_only(self) -> tuple[Any, bool]:
        name = self.path.replace("%", "%25").replace("?", "%3f").replace("#", "%23")
        return self._checked(self._connect(f"file:{name}?mode=ro", uri=True)), True

    def _in_memory(self) -> tuple[Any, bool]:
        return self._checked(self._connect(":memory:")), False

    def _connect(self, name: str, uri: bool = False) -> Any:
        return sqlite.connect(name, timeout=self._patience, isolation_level=None, uri=uri)

    def _checked(self, db: Any) -> Any:
        """The connection when the file is ours or new; else ``Damaged``."""
        try:
            db.execute("PRAGMA cache_size = -16000")
            self.fts = self._has_fts(db)
            # Tables that were filled without FTS5 serve nobody who has it.
            ours = (_APPLICATION, 2 * VERSION + self.fts)
            if _stamp(db) != ours:
                db.execute("BEGIN IMMEDIATE")
                if db.execute("SELECT 1 FROM sqlite_master").fetchone() is None:
                    _make_tables(db, self.fts, ours)
                db.execute("COMMIT")
            if _stamp(db) != ours:
                raise Damaged("another program's file, or another version's")
            return db
        except BaseException:
            db.close()
            raise

    @staticmethod
    def _has_fts(db: Any) -> bool:
        return ("fts5",) in db.execute("PRAGMA module_list").fetchall()

    def _remove(self) -> None:
        for ending in ("", "-journal", "-wal", "-shm"):
            try:
                os.unlink(self.path + ending)
            except OSError:
                pass

    def close(self) -> None:
        """Let the file go."""
        self.db.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def rebuild(self) -> None:
        """Forget everything; the next `catch_up` reads it anew."""
        self.db.close()
        self._listed.clear()
        if self.readonly:
            self.db, self.readonly = self._in_memory()
        else:
            self._remove()
            self._open()

    def is_whole(self) -> bool:
        """Whether SQLite finds nothing wrong in the tables when it reads all of them."""
        try:
            return bool(self.db.execute("PRAGMA quick_check(1)").fetchone()[0] == "ok")
        except Unable:
            return True  # another process writes: then nothing can be told
        except Damaged:
            return False

    def _to_memory(self) -> None:
        """Go on in memory, with what the file holds: it cannot be written."""
        memory, _ = self._in_memory()
        try:
            self.db.backup(memory)
        except Damaged:
            pass  # then it is read anew
        self.db.close()
        self.db, self.readonly = memory, False

    def _undo(self) -> None:
        if self.db.in_transaction:
            self.db.execute("ROLLBACK")

    def begin(self) -> None:
        """Open a transaction that may write."""
        if self.readonly:
            self._to_memory()
        self.db.execute("BEGIN IMMEDIATE")

    # -- what is searched

    def put_text(self, id: int, text: str) -> None:
        """Make a text findable under ``id``: a turn's own, or the id of a document's section negated."""
        import re  # a session start, which hardly ever writes, has no time for it

        text = storable(text)
        self.db.execute("INSERT INTO body VALUES(?, ?)", (id, pack(text)))
        if self.fts:
            self.db.execute("INSERT INTO words(rowid, text) VALUES(?, ?)", (id, query.expand(text)))
        new = set(re.findall(_WORD, text.lower())) - self._listed
        if len(self._listed) < _REMEMBERED:
            self._listed |= new
        self.db.executemany("INSERT OR IGNORE INTO word VALUES(?)", [(word,) for word in new])

    def drop_text(self, id: int) -> None:
        """Take back what `put_text` did; words stay in the list, where they do no harm."""
        for text in (
            self.texts([id]).values() if self.fts else ()
        ):  # a contentless table must be told what it forgets
            self.db.execute(
                "INSERT INTO words(words, rowid, text) VALUES('delete', ?, ?)", (id, query.expand(text))
            )
        self.db.execute("DELETE FROM body WHERE id = ?", (id,))

    def texts(self, ids: Iterable[int]) -> dict[int, str]:
        """The texts of these ids, as far as there are any, in the order of the ids."""
        wanted = list(ids)
        rows = self.db.execute(f"SELECT id, packed FROM body WHERE id IN ({','.join(map(str, wanted))})")
        packed = dict(rows.fetchall())
        return {id: unpack(packed[id]) for id in wanted if id in packed}


def pack(text: str) -> bytes:
    """A text as `body` holds it: plain ones of a few KB, one to a page of the file, would take three times the room."""
    return zlib.compress(text.encode(), 6)


def unpack(packed: bytes) -> str:
    """The text that `pack` was given; ``Damaged`` where there is none."""
    try:
        return zlib.decompress(packed).decode()
    except (zlib.error, ValueError, TypeError) as error:
        raise Damaged(f"a text cannot be unpacked: {error}") from None


def storable(value: object) -> str:
    """Text that SQLite takes: lone surrogates, which no UTF-8 has, become U+FFFD."""
    return (
        value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
        if isinstance(value, str)
        else ""
    )


def is_locked(error: Exception) -> bool:
    """Whether another process is writing the file: it is sound, and must be left alone."""
    return isinstance(error, Unable) and "locked" in str(error)


def _stamp(db: Any) -> tuple[int, int]:
    application, version = (
        db.execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version")
    )
    return application, version


def _make_tables(db: Any, fts: bool, stamp: tuple[int, int]) -> None:
    for statement in _TABLES.split(";\n"):
        if statement.strip():
            db.execute(statement)
    if fts:
        db.execute(_WORDS)
    db.execute(f"PRAGMA application_id = {stamp[0]}")
    db.execute(f"PRAGMA user_version = {stamp[1]}")
