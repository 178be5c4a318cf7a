"""The search cache of a scope: SQLite with FTS5, keyed by the commit it shows, good to delete at any time.

Turns and commits come from git, documents from the work tree with their stat data; so whatever tool made a change,
the next reader sees it. Rows of the full-text table: a turn has its own id, a document's section its id negated.
"""

from __future__ import annotations

import os
import zlib

from neosian import commits, files, index_documents, speech, turns
from neosian.cache import Cache, Damaged, Unable, is_locked, storable
from neosian.commits import Commit
from neosian.entries import Act, Entry, Session, TurnLine
from neosian.errors import GitError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    from neosian.plumbing import Repo

_SAID_MOST, _HEAD, _TOOLS_MOST = 4_000, 500, 6_000  # characters of a turn that are indexed
_PROMPT_MOST, _ANSWER_MOST = 200, 400  # characters of a turn's line at session start
_SEGMENTS_AT_ONCE, _NEWEST_SEGMENTS = 48, 6
_NO_BLOB = "0" * 40  # in place of the blob of a segment that is gone
_TURN_MOST = 1 << 53  # a number beyond is none of ours, and more than SQLite takes


class Index(Cache):
    """One scope's index: opened whatever state its file is in, brought up to date when asked."""

    # -- catching up

    @property
    def commit(self) -> str | None:
        """The commit whose turns the index shows."""
        row = self.db.execute("SELECT value FROM meta WHERE key = 'commit'").fetchone()
        return str(row[0]) if row else None

    def catch_up(self, repo: Repo, limit: int | None = 50) -> bool:
        """Show main's tip and the work tree as they are now; True when that is done.

        With a ``limit`` at most so many commits are read: a longer way (or a writer that does not give way) leaves
        the turns as they are (an empty index gets the newest few) and says False. ``None`` goes the whole way, in
        steps between which others may read.
        """
        for _ in range(3):
            try:
                followed = self._follow(repo, limit)
                return index_documents.catch_up(self, repo.path, limit) and followed
            except Unable as error:
                self._undo()
                if is_locked(error):
                    return False
                self._to_memory()
            except Damaged:
                self.rebuild()
        return False

    def is_in_step(self, repo: Repo) -> bool:
        """Whether the tables hold every segment of main as it is there, and no other."""
        tip = repo.tip()
        there = (
            {path: blob for path, blob in repo.ls(tip, "record/") if turns.is_segment(path)} if tip else {}
        )
        return self.commit == tip and there == dict(
            self.db.execute("SELECT path, blob FROM segment").fetchall()
        )

    def _follow(self, repo: Repo, limit: int | None) -> bool:
        tip = repo.tip()
        shown = self.commit
        if tip is None or tip == shown:
            if tip is None and shown is not None:
                self.rebuild()
            return True
        try:
            between = commits.since(repo, shown, tip, limit)
        except GitError:
            if shown is None or repo.object(shown) is not None:
                raise
            between = []  # the commit is gone
        if shown is not None and between is not None and not commits.is_ancestor(repo, shown, tip, between):
            self.rebuild()  # history was rewritten: what it dropped must not be found any more
            shown, between = None, commits.since(repo, None, tip, limit)
        if between is None:
            if shown is None:
                self._read_newest(repo, tip)
            return False
        if shown is None:
            self._read_whole(repo, tip, between)
        else:
            self._read_step(repo, shown, tip, between)
        return True

    def _read_step(self, repo: Repo, shown: str, tip: str, between: list[Commit]) -> None:
        """From one commit to a later one, in one transaction."""
        changed: dict[str, str] = {}
        if commits.is_line(shown, between):
            for commit in reversed(between):
                changed.update({path: blob for _, path, blob in commit.changes})
        else:
            changed = {change.path: change.after for change in repo.diff(shown, tip)}
        self.begin()
        if self.commit != shown:
            self._undo()  # another process has been here meanwhile
            return
        self._read_segments(repo, [row for row in changed.items() if turns.is_segment(row[0])])
        self._show(tip, between)

    def _read_whole(self, repo: Repo, tip: str, between: list[Commit]) -> None:
        """Everything at the tip that the tables do not have yet: an ended rebuild goes on where it was."""
        there = {path: blob for path, blob in repo.ls(tip, "record/") if turns.is_segment(path)}
        have = dict(self.db.execute("SELECT path, blob FROM segment").fetchall())
        todo = [(path, blob) for path, blob in there.items() if have.get(path) != blob]
        todo += [(path, _NO_BLOB) for path in have if path not in there]
        for start in range(0, len(todo), _SEGMENTS_AT_ONCE):
            self.begin()
            self._read_segments(repo, todo[start : start + _SEGMENTS_AT_ONCE])
            self.db.execute("COMMIT")
            repo.close()  # its reader has a deadline, which a whole history outlasts
        self.begin()
        self._show(tip, between)

    def _read_newest(self, repo: Repo, tip: str) -> None:
        """The last few segments of a history too long to read now: a start has something to tell all the same."""
        if self.db.execute("SELECT 1 FROM segment").fetchone() is None:
            there = [(path, blob) for path, blob in repo.ls(tip, "record/") if turns.is_segment(path)]
            self.begin()
            self._read_segments(repo, sorted(there)[-_NEWEST_SEGMENTS:])
            self.db.execute("COMMIT")

    def _show(self, tip: str, between: list[Commit]) -> None:
        self._add_commits(reversed(between))
        self.db.execute("INSERT OR REPLACE INTO meta VALUES('commit', ?)", (tip,))
        self.db.execute("COMMIT")

    def _add_commits(self, found: Iterable[Commit]) -> None:
        for commit in found:
            row = (
                commit.id, " ".join(commit.parents), commit.at, commit.actor, commit.email, commit.act,
                commit.conversation, commit.turn, commit.subject,
            )  # fmt: skip
            added = self.db.execute(
                "INSERT OR IGNORE INTO act(id, parent, at, actor, email, act, conversation, turn, subject)"
                " VALUES(?,?,?,?,?,?,?,?,?)",
                row,
            )
            if added.rowcount < 1:
                continue
            seq = added.lastrowid
            for _, path, _ in commit.changes:
                self.db.execute("INSERT OR IGNORE INTO path(path) VALUES(?)", (path,))
                self.db.execute(
                    "INSERT OR IGNORE INTO touched SELECT id, ? FROM path WHERE path = ?", (seq, path)
                )

    # -- turns

    def _read_segments(self, repo: Repo, changed: list[tuple[str, str]]) -> None:
        for start in range(0, len(changed), _SEGMENTS_AT_ONCE):
            batch = changed[start : start + _SEGMENTS_AT_ONCE]
            present = [(path, blob) for path, blob in batch if blob != _NO_BLOB]
            bodies = repo.read_many([blob for _, blob in present])
            for path, _ in [row for row in batch if row[1] == _NO_BLOB]:
                self._drop_segment(repo, path)
            for (path, blob), data in zip(present, bodies, strict=True):
                if data is not None:
                    self._read_segment(repo, path, blob, data)

    def _read_segment(self, repo: Repo, path: str, blob: str, data: bytes) -> None:
        """Take in a new or longer segment: logs only grow, so mostly just what stands behind the part already read."""
        old = self.db.execute("SELECT id, size, crc FROM segment WHERE path = ?", (path,)).fetchone()
        known = old[1] if old and len(data) >= old[1] and zlib.crc32(data[: old[1]]) == old[2] else 0
        if old and not known:
            self._drop_segment(repo, path)
        lines, bad = turns.parse_lines(data[known:])
        if bad:
            _put_aside(repo, blob, bad)
        session = self._session(path, lines)
        self.db.execute(
            "INSERT INTO segment(path, blob, size, crc, session) VALUES(?1, ?2, ?3, ?4, ?5)"
            " ON CONFLICT(path) DO UPDATE SET blob = ?2, size = ?3, crc = ?4, session = ?5",
            (path, blob, len(data), zlib.crc32(data), session),
        )
        (segment,) = self.db.execute("SELECT id FROM segment WHERE path = ?", (path,)).fetchone()
        self._take_lines(repo, session, segment, lines)

    def _take_lines(self, repo: Repo, session: int, segment: int, lines: list[dict[str, Any]]) -> None:
        again = []
        for n, turn in turns.group(line for line in lines if 0 <= line["turn"] < _TURN_MOST).items():
            row = self.db.execute(
                "SELECT id, segments FROM turn WHERE session = ? AND n = ?", (session, n)
            ).fetchone()
            if row is None:
                self._add_turn(session, str(segment), turn)
            else:  # late lines of a turn that has landed
                again.append((row[0], n, " ".join(dict.fromkeys([*row[1].split(), str(segment)]))))
        for id, n, segments in again:
            self._renew_turn(repo, session, id, n, segments)
        self._sum_up(session)

    def _renew_turn(self, repo: Repo, session: int, id: int, n: int, segments: str) -> None:
        """Index a turn anew from all segments that hold lines of it."""
        self._drop_turn(id)
        blobs = [
            self.db.execute("SELECT blob FROM segment WHERE id = ?", (int(number),)).fetchone()
            for number in segments.split()
        ]
        lines: list[dict[str, Any]] = []
        for data in repo.read_many([row[0] for row in blobs if row]):
            lines += [line for line in turns.parse_lines(data or b"")[0] if line.get("turn") == n]
        turn = turns.group(lines).get(n)
        if turn is not None:
            self._add_turn(session, segments, turn)

    def _drop_segment(self, repo: Repo, path: str) -> None:
        row = self.db.execute("SELECT id, session FROM segment WHERE path = ?", (path,)).fetchone()
        if row is None:
            return
        segment, session = row
        self.db.execute("DELETE FROM segment WHERE id = ?", (segment,))
        held = self.db.execute("SELECT id, n, segments FROM turn WHERE session = ?", (session,)).fetchall()
        for id, n, segments in held:
            if str(segment) in segments.split():
                rest = " ".join(number for number in segments.split() if number != str(segment))
                self._renew_turn(repo, session, id, n, rest)
        self._sum_up(session)

    def _add_turn(self, session: int, segments: str, turn: turns.Turn) -> None:
        said = [] if turn.machine else [prompt for prompt in turn.prompts if not speech.is_machine(prompt)]
        prompt = storable(speech.title(said[0], _PROMPT_MOST)) if said else ""
        answer = storable(speech.snippet(turn.answer, _ANSWER_MOST))
        times = [at for line in turn.lines if (at := turns.seconds(storable(line.get("at"))))] or [0.0]
        span = (min(times), max(times))
        row = (session, turn.number, *span, storable(turn.state), not said, prompt, answer, segments)
        added = self.db.execute(
            "INSERT INTO turn(session, n, at, ended, state, machine, prompt, answer, segments)"
            " VALUES(?,?,?,?,?,?,?,?,?)",
            row,
        )
        self.put_text(added.lastrowid, turn_text(turn.lines))
        self.db.execute("UPDATE session SET turns = turns + 1 WHERE id = ?", (session,))

    def _drop_turn(self, id: int) -> None:
        self.db.execute(
            "UPDATE session SET turns = turns - 1 WHERE id = (SELECT session FROM turn WHERE id = ?)", (id,)
        )
        self.db.execute("DELETE FROM turn WHERE id = ?", (id,))
        self.drop_text(id)

    def _session(self, path: str, lines: list[dict[str, Any]]) -> int:
        key = turns.segment_key(path)
        row = self.db.execute("SELECT id FROM session WHERE key = ?", (key,)).fetchone()
        if row:
            return int(row[0])
        header: Mapping[str, Any] = next((line for line in lines if line.get("kind") == "turn"), {})
        client = storable(header.get("client")) or key.rpartition("-")[0]
        conversation = storable(header.get("session")) or key.removeprefix(client + "-")
        added = self.db.execute(
            "INSERT INTO session(key, conversation, client, branch, started, last, turns) VALUES(?,?,?,?,0,0,0)",
            (key, conversation, client, storable(header.get("branch"))),
        )
        return int(added.lastrowid)

    def _sum_up(self, session: int) -> None:
        """Keep a session's first and last time; it goes with its last turn."""
        self.db.execute(
            "UPDATE session SET"
            " started = (SELECT at FROM turn WHERE session = ?1 ORDER BY n LIMIT 1),"
            " last = (SELECT ended FROM turn WHERE session = ?1 ORDER BY n DESC LIMIT 1) WHERE id = ?1",
            (session,),
        )
        self.db.execute("DELETE FROM session WHERE id = ? AND turns <= 0", (session,))

    # -- reading

    def counts(self) -> dict[str, int]:
        """How many turns, conversations, documents and commits it shows."""
        tables = {"turns": "turn", "conversations": "session", "documents": "document", "commits": "act"}
        return {
            name: self.db.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
            for name, table in tables.items()
        }

    def sessions(self, limit: int | None = None, conversation: str | None = None) -> list[Session]:
        """Conversations, the most recently written first."""
        chosen = "WHERE conversation = ? " if conversation is not None else ""
        rows = self.db.execute(
            "SELECT s.conversation, s.client, s.branch, s.started, s.last, s.turns,"
            " (SELECT prompt FROM turn WHERE session = s.id AND NOT machine ORDER BY n LIMIT 1),"
            " (SELECT prompt FROM turn WHERE session = s.id AND NOT machine ORDER BY n DESC LIMIT 1)"
            # the few that are wanted come first, so that the rest is asked of them alone
            f" FROM (SELECT * FROM session {chosen}ORDER BY last DESC, id DESC LIMIT ?) s"
            " ORDER BY s.last DESC, s.id DESC",
            (*([conversation] if conversation is not None else []), -1 if limit is None else limit),
        ).fetchall()
        return [Session(row) for row in rows]

    def heard(self) -> dict[str, tuple[float, str]]:
        """Of each client the last turn: when it ended (seconds since 1970), and its state."""
        rows = self.db.execute(
            "SELECT s.client, s.last, (SELECT state FROM turn WHERE session = s.id ORDER BY n DESC LIMIT 1)"
            # beside max() SQLite takes the other columns from the row that has it
            " FROM (SELECT id, client, max(last) AS last FROM session GROUP BY client) s"
        )
        return {client: (last, state or turns.UNFINISHED) for client, last, state in rows.fetchall()}

    def turns(
        self, conversation: str, client: str | None = None, limit: int | None = None, n: int | None = None
    ) -> list[TurnLine]:
        """The turns of a conversation (or its turn ``n``) on one line each, newest first."""
        session = self.db.execute(
            "SELECT id FROM session WHERE conversation = ?1 AND (?2 IS NULL OR client = ?2) ORDER BY last DESC",
            (conversation, client),
        ).fetchone()
        chosen, values = ("AND n = ? ", (n,)) if n is not None else ("", ())
        rows = self.db.execute(
            "SELECT n, at, state, machine, prompt, answer FROM turn"
            f" WHERE session = ? {chosen}ORDER BY n DESC LIMIT ?",
            (session[0] if session else None, *values, -1 if limit is None else limit),
        ).fetchall()
        return [TurnLine(row) for row in rows]

    def documents(self, paths: Sequence[str] | None = None) -> list[Entry]:
        """Every document of the work tree (or those at ``paths``), by path, with who changed it last and when."""
        chosen = f" WHERE d.path IN ({','.join('?' * len(paths))})" if paths is not None else ""
        rows = self.db.execute(
            "SELECT d.path, d.title, d.description, d.said, d.pinned, d.status, d.name, d.expires, d.flagged,"
            " d.modified, a.at, a.actor, a.email, a.act, d.secret, d.holder FROM document d"
            " LEFT JOIN path p ON p.path = d.path"
            " LEFT JOIN act a ON a.seq = (SELECT max(seq) FROM touched WHERE path = p.id)"
            f"{chosen} ORDER BY d.path",
            tuple(paths or ()),
        ).fetchall()
        return [Entry(row) for row in rows]

    def commits(
        self, *, conversation: str | None = None, turn: int | None = None, actor: str | None = None,
        act: str | None = None, path: str | None = None, since: float | None = None, until: float | None = None,
        documents: bool | None = None, limit: int | None = 50,
    ) -> list[Act]:  # fmt: skip
        """Commits that fit every condition, newest first.

        ``actor`` is a prefix; ``path`` names a file or a folder; times in seconds since 1970; ``documents``: that
        changed more than turn logs and session pages.
        """
        conditions = {
            "conversation = ?": conversation,
            "turn = ?": turn,
            "instr(actor, ?) = 1": actor,
            "act = ?": act,
            "seq IN (SELECT t.seq FROM touched t JOIN path p ON t.path = p.id"
            " WHERE instr(p.path || '/', ? || '/') = 1)": path and path.strip("/"),
            "at >= ?": since,
            "at <= ?": until,
            "? AND seq IN (SELECT t.seq FROM touched t JOIN path p ON t.path = p.id"
            " WHERE instr(p.path, 'record/') <> 1 AND instr(p.path, 'sessions/') <> 1)": documents or None,
        }
        used = {condition: value for condition, value in conditions.items() if value is not None}
        where, values = " AND ".join(used) or "1", used.values()
        rows = self.db.execute(
            "SELECT seq, id, parent, at, actor, act, conversation, turn, subject FROM act"
            f" WHERE {where} ORDER BY seq DESC LIMIT ?",
            (*values, -1 if limit is None else limit),
        ).fetchall()
        return [Act(row, self._paths(row[0])) for row in rows]

    def _paths(self, seq: int) -> list[str]:
        rows = self.db.execute(
            "SELECT p.path FROM touched t JOIN path p ON t.path = p.id WHERE t.seq = ? ORDER BY p.path",
            (seq,),
        )
        return [row[0] for row in rows.fetchall()]


def _put_aside(repo: Repo, blob: str, bad: list[bytes]) -> None:
    """Keep what is no line of a log where `neosian status` counts it; the log itself is never mended."""
    try:
        folder = os.path.join(repo.private, "bad-lines")
        files.make_dir(folder)
        files.write(os.path.join(folder, blob), b"\n".join(bad) + b"\n")
    except OSError:
        return  # a store that cannot be written is read all the same


def turn_text(lines: Iterable[Mapping[str, Any]]) -> str:
    """What is indexed of a turn: prompts and answers to 4,000 characters, of calls and results the first 500."""
    said, tools = _SAID_MOST, _TOOLS_MOST
    parts: list[str] = []
    for line in lines:
        kind = line.get("kind")
        if kind in ("prompt", "answer"):
            text = _flat(line.get("text"))[: _SAID_MOST if kind == "answer" else said]
            said -= len(text) if kind == "prompt" else 0
        elif kind == "tool_call":
            text = f"{_flat(line.get('tool'))} {_flat(line.get('input'))}"[: min(_HEAD, tools)]
            tools -= len(text)
        elif kind in ("tool_result", "subagent"):
            text = _flat(line.get("text"))[: min(_HEAD, tools)]
            tools -= len(text)
        else:
            continue
        if text.strip():
            parts.append(text)
    return "\n".join(parts)


def _flat(value: object) -> str:
    """The words in a JSON value: strings and numbers, without its keys and punctuation."""
    if isinstance(value, str):
        return value
    if isinstance(value, (dict, list)):
        items = value.values() if isinstance(value, dict) else value
        return " ".join(text for item in items if (text := _flat(item)))
    return "" if value is None or isinstance(value, bool) else str(value)
