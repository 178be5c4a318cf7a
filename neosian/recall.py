"""Finding: ranked answers from documents and turns, to any text.

Ranking needs no model: bm25 over words and phrases, then what stands near in the same conversation.
"""

from __future__ import annotations

import time

from neosian import evidence, query, turns
from neosian.cache import Damaged, is_locked, unpack
from neosian.conversations import UnknownConversation, containing, the_one
from neosian.documents import is_past
from neosian.entries import Session
from neosian.errors import BusyError, NeosianError, UsageError
from neosian.index import Index

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from neosian.store import Store

_COMMON = 2_000  # a word in more turns than this tells little
_CANDIDATES = 200
_SCANNED_FIRST = 5_000  # turns looked through by substring before the older ones are
_COMMON_PHRASES = 2  # phrases without a rarer word in them
_RAREST = 32  # words of a long query that are asked for
_NEIGHBOURS = ((1, 0.3), (2, 0.1))
_SHARE = 0.5
_DOCUMENT = 2.0  # a document outranks a turn of equal bm25 in the best of company
_GUESSED = 4  # unknown words for which a near one is looked for
_VOCABULARY = 6_000  # words looked through for one that is unknown
_SNIPPET, _BEFORE = 160, 50
_PLACES = 200  # at which a snippet may be cut out
_AGE = r"(\d+)(min|h|d|w)"
_HOURS = {"min": 1 / 60, "h": 1, "d": 24, "w": 168}


class Hit:
    """One answer. ``kind`` turn: conversation, turn, at, client; document: path, section. ``score``: more is better.

    ``expired``: the document is past the day it was good for, so that it stands below all that is not.
    """

    __slots__ = (
        "at", "client", "conversation", "expired", "kind", "path", "score", "section", "snippet", "turn"
    )  # fmt: skip

    def __init__(
        self, kind: str, score: float, *, conversation: str = "", turn: int = 0, at: float = 0.0,
        client: str = "", path: str = "", section: str = "", expired: bool = False,
    ) -> None:  # fmt: skip
        self.kind = kind
        self.score = score
        self.conversation = conversation
        self.turn = turn
        self.at = at
        self.client = client
        self.path = path
        self.section = section
        self.expired = expired
        self.snippet = ""

    def text(self) -> str:
        """Two lines: where it stands, and what it says there."""
        if self.kind == "turn":
            where = f"{self.conversation}#{self.turn}"
            beside = time.strftime("%Y-%m-%d %H:%M", time.localtime(self.at))
        else:
            where, beside = self.path, self.section
        return f"{where}  {beside}".rstrip() + f"\n  {self.snippet}"

    def json(self) -> dict[str, object]:
        """The fields of its kind, as `search --json` prints them."""
        rest = {"score": float(f"{self.score:.4g}"), "snippet": self.snippet}
        if self.kind == "document":
            return {"kind": self.kind, "path": self.path, "section": self.section, **rest}
        return {
            "kind": self.kind, "conversation": self.conversation, "turn": self.turn, "at": turns.stamp(self.at),
            **rest, "client": self.client,
        }  # fmt: skip


def search(
    store: Store, text: str, *, kind: str | None = None, conversation: str | None = None,
    since: float | None = None, limit: int = 20, behind: int | None = 50,
) -> list[Hit]:  # fmt: skip
    """The best ``limit`` answers of one scope to any text, best first.

    ``kind`` is "turn" or "document"; ``since`` seconds since 1970; ``behind`` the commits that may be read to catch up
    first (None: all there are).
    """
    with Index.open(store.cache) as index:
        for _ in range(2):
            index.catch_up(store.repo, behind)
            store.repo.close()
            try:
                return find(index, text, kind=kind, conversation=conversation, since=since, limit=limit)
            except Damaged:
                index.rebuild()
        return []


def search_mounts(
    mounts: Sequence[tuple[str, Store]], text: str, *, kind: str | None = None, conversation: str | None = None,
    since: float | None = None, limit: int = 20, behind: int | None = 50,
) -> list[Hit]:  # fmt: skip
    """`search` in several scopes at once; paths of documents begin with their mount (`/project/tools/x.md`)."""
    hits: list[Hit] = []
    unknown: list[NeosianError] = []
    for mount, store in mounts:
        try:
            found = search(
                store, text, kind=kind, conversation=conversation, since=since, limit=limit, behind=behind
            )
        except UnknownConversation as error:
            unknown.append(error)
            continue
        for hit in found:
            hit.path = f"{mount}/{hit.path}" if hit.path else ""
        hits += found
    if unknown and len(unknown) == len(mounts):
        raise unknown[0]
    if not hits and kind != "document":
        for _, store in mounts:
            hits += _in_the_logs(store, text, conversation, since, limit)
    return sorted(hits, key=_order)[:limit]


def _in_the_logs(
    store: Store, text: str, conversation: str | None, since: float | None, limit: int
) -> list[Hit]:
    """Turns whose log holds the text word for word, where the index has none: no silent zero while it is there."""
    hits = []
    for found, line in containing(store.repo, text, limit):
        at = turns.seconds(str(line["at"]))
        wanted = found.conversation.startswith(conversation or "") and at >= (since or 0.0)
        if wanted:
            hit = Hit(
                "turn", 0.0, conversation=found.conversation, turn=line["turn"], at=at, client=found.client
            )
            hit.snippet = snippet(str(line.get("text") or line.get("input") or ""), [text])
            hits.append(hit)
    store.repo.close()
    return hits


def find(
    index: Index, text: str, *, kind: str | None = None, conversation: str | None = None,
    since: float | None = None, limit: int = 20,
) -> list[Hit]:  # fmt: skip
    """The best answers of an index as it stands; ``Damaged`` where it cannot be read."""
    with _Reading():
        return _found(index, query.parse(text), kind, conversation, since, limit)


def _found(
    index: Index, wanted: query.Query, kind: str | None, conversation: str | None, since: float | None, limit: int
) -> list[Hit]:  # fmt: skip
    where, values = _conditions(index, kind, conversation, since)
    words = wanted.words
    scores: dict[int, float] = {}
    if index.fts and words:
        scores, words = _match(index, wanted, where, values)
    if not scores and wanted.text:
        scores = _scan(index, wanted, where, values)
    return _ranked(index, scores, words or wanted.text.split(), limit)


def find_sure(index: Index, text: str, *, limit: int = 20) -> list[Hit]:
    """Only what the text surely speaks of, best first: nothing for most texts, and then at a fraction of the cost."""
    wanted = query.parse(text)
    with _Reading():
        return _ranked(index, evidence.scores(index, wanted), wanted.words, limit)


class _Reading:
    """For a `with`: an index that somebody is writing is busy, which is not to be taken for damaged."""

    def __enter__(self) -> None:
        return

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, Exception) and is_locked(error):
            raise BusyError("The search index is being written by another process.", "try again") from None


def _ranked(index: Index, scores: dict[int, float], words: list[str], limit: int) -> list[Hit]:
    """The best of these rows as answers, each with a snippet around the words."""
    hits = _hits(index, scores)
    best = sorted(hits.items(), key=lambda item: _order(item[1]))[:limit]
    bodies = index.texts(id for id, _ in best)
    for id, hit in best:
        hit.snippet = snippet(bodies.get(id, ""), words)
    return [hit for _, hit in best]


def _order(hit: Hit) -> tuple[bool, float, bool, float]:
    return hit.expired, -hit.score, hit.kind == "turn", -hit.at


def _conditions(
    index: Index, kind: str | None, conversation: str | None, since: float | None
) -> tuple[str, list[object]]:
    """SQL over `rowid` for the filters: turns have ids above zero, sections below."""
    where = ""
    values: list[object] = []
    if kind:
        where += " AND rowid > 0" if kind == "turn" else " AND rowid < 0"
    if conversation:
        where += " AND rowid IN (SELECT t.id FROM turn t JOIN session s ON t.session = s.id WHERE s.conversation = ?)"
        values.append(_known_conversation(index, conversation))
    if since is not None:
        where += (
            " AND rowid IN (SELECT id FROM turn WHERE ended >= ? UNION ALL"
            " SELECT -s.id FROM section s JOIN document d ON s.document = d.id WHERE d.modified >= ?)"
        )
        values += [since, since]
    return where, values


def _known_conversation(index: Index, name: str) -> str:
    rows = index.db.execute(
        "SELECT DISTINCT conversation FROM session WHERE instr(conversation, ?1) = 1 OR"
        " instr(client || ':' || conversation, ?1) = 1",
        (name.encode("utf-8", "replace").decode(),),
    ).fetchall()
    return the_one(name, sorted(row[0] for row in rows))


def _match(
    index: Index, wanted: query.Query, where: str, values: list[object]
) -> tuple[dict[int, float], list[str]]:
    """Scores of the best rows, and the words that were asked for in the end."""
    counts = {word: _count(index, word) for word in wanted.words}
    rare = sorted((word for word in counts if 0 < counts[word] <= _COMMON), key=lambda word: counts[word])
    common = [word for word in counts if counts[word] > _COMMON]
    for word in [word for word in counts if not counts[word]][:_GUESSED]:
        rare += [other for other in _nearest(index, word) if other not in rare]
    words = rare[:_RAREST]
    phrases = _affordable(wanted.phrases, rare)
    scores: dict[int, float] = {}
    if words:
        scores = _best(index, query.quoted([*words, *phrases]), where, values)
    if not scores and common:
        scores = _match_common(index, wanted, common, where, values)
    return scores, words + common


def _affordable(phrases: list[str], rare: list[str]) -> list[str]:
    """Phrases with a rare word in them, and a few without: bm25 counts the rows of each, however common its words."""
    told = set(rare)
    cheap = [phrase for phrase in phrases if told.intersection(phrase.lower().split())]
    return cheap + [phrase for phrase in phrases if phrase not in cheap][:_COMMON_PHRASES]


def _match_common(
    index: Index, wanted: query.Query, common: list[str], where: str, values: list[object]
) -> dict[int, float]:
    """Rows for words that are everywhere, where bm25 tells next to nothing: the newest that hold them, all or any."""
    phrases = [query.quoted([phrase]) for phrase in wanted.phrases[:_COMMON_PHRASES]]
    for expressions in ([*phrases, query.quoted(common, " AND ")], [query.quoted(common)]):
        ids: list[int] = []
        for side in (" AND rowid > 0", " AND rowid < 0"):
            for expression in expressions:
                ids += _newest(index, expression, where + side, values)
        if ids:
            return _weighed(index.texts(ids), [*(phrase.lower() for phrase in wanted.phrases), *common])
    return {}


def _newest(index: Index, expression: str, where: str, values: list[object]) -> list[int]:
    rows = index.db.execute(
        f"SELECT rowid FROM words WHERE words MATCH ?{where} ORDER BY rowid DESC LIMIT {_CANDIDATES}",
        (expression, *values),
    )
    return [id for (id,) in rows.fetchall()]


def _best(index: Index, expression: str, where: str, values: list[object]) -> dict[int, float]:
    rows = index.db.execute(
        f"SELECT rowid, rank FROM words WHERE words MATCH ?{where} ORDER BY rank LIMIT {_CANDIDATES}",
        (expression, *values),
    )
    return {id: -rank for id, rank in rows.fetchall()}


def _count(index: Index, word: str) -> int:
    """In how many rows a word stands, counted up to just above `_COMMON`."""
    row = index.db.execute(
        f"SELECT count(*) FROM (SELECT 1 FROM words WHERE words MATCH ? LIMIT {_COMMON + 1})",
        (query.quoted([word]),),
    ).fetchone()
    return int(row[0])


def _nearest(index: Index, word: str) -> list[str]:
    """Indexed words that a slip turns into this one, among those that begin alike."""
    if not 4 <= len(word) <= 24 or not word.isalpha():
        return []
    for start in (word[:2], word[:1], word[1:2]):
        rows = index.db.execute(
            "SELECT word FROM word WHERE word >= ? AND word < ? AND length(word) BETWEEN ? AND ? LIMIT ?",
            (start, start + "\U0010ffff", len(word) - 2, len(word) + 2, _VOCABULARY),
        ).fetchall()
        found = [other for other in query.near(word, (row[0] for row in rows)) if _count(index, other)]
        if found:
            return found
    return []


def _scan(index: Index, wanted: query.Query, where: str, values: list[object]) -> dict[int, float]:
    """Rows that hold the text itself or parts of it, whatever its characters; without FTS5 every search is this."""
    text = wanted.text.lower()
    parts = list(dict.fromkeys([text, *([query.stem(word) for word in wanted.words] or text.split())]))[
        :_RAREST
    ]
    lettered = text.upper() != text

    def holds(packed: bytes) -> bool:
        text = unpack(packed)
        text = text.lower() if lettered else text  # SQLite's own lower() knows ASCII only
        return any(part in text for part in parts)

    index.db.create_function("holds", 1, holds)
    newest = index.db.execute("SELECT max(id) FROM body").fetchone()[0] or 0
    older = newest - _SCANNED_FIRST
    ids: list[int] = []
    oldest = f"id BETWEEN 1 AND {older}"
    for condition in ("id < 0", f"id > {max(0, older)}", oldest):
        if not ids or condition != oldest:
            found = index.db.execute(
                f"SELECT id FROM body WHERE {condition}{where.replace('rowid', 'id')} AND holds(packed)"
                f" ORDER BY id DESC LIMIT {_CANDIDATES}",
                values,
            )
            ids += [id for (id,) in found.fetchall()]
    return _weighed(index.texts(ids), parts)


def _weighed(texts: dict[int, str], parts: list[str]) -> dict[int, float]:
    """Scores by how often the parts stand in each text; a part that few texts hold weighs more."""
    lowered = {id: text.lower() for id, text in texts.items()}
    found = [(id, [text.count(part) for part in parts]) for id, text in lowered.items()]
    weights = [len(found) / (1 + sum(1 for _, counts in found if counts[at])) for at in range(len(parts))]
    scores = {
        id: 0.01 + sum(weight * count / (count + 1) for weight, count in zip(weights, counts, strict=True))
        for id, counts in found
    }
    return dict(sorted(scores.items(), key=lambda item: -item[1])[:_CANDIDATES])


def _hits(index: Index, scores: dict[int, float]) -> dict[int, Hit]:
    """Rows as hits: a turn gains from its neighbours and its session, a document from being one.

    Of a document only the best section is kept.
    """
    hits: dict[int, Hit] = {}
    sections: dict[str, int] = {}
    turns_of: dict[tuple[int, int], Hit] = {}
    for id, conversation, client, session, n, at in index.db.execute(
        "SELECT t.id, s.conversation, s.client, t.session, t.n, t.at FROM turn t JOIN session s ON t.session = s.id"
        f" WHERE t.id IN ({_listed(id for id in scores if id > 0)})"
    ):
        hit = Hit("turn", scores[id], conversation=conversation, client=client, turn=n, at=at)
        hits[id] = turns_of[session, n] = hit
    today = time.strftime("%Y-%m-%d")
    for id, path, heading, expires in index.db.execute(
        "SELECT -s.id, d.path, s.heading, d.expires FROM section s JOIN document d ON s.document = d.id"
        f" WHERE s.id IN ({_listed(-id for id in scores if id < 0)})"
    ):
        best = sections.setdefault(path, id)
        if scores[id] > scores[best]:
            hits.pop(best)
            sections[path] = best = id
        if best == id:
            hits[id] = Hit(
                "document",
                scores[id] * _DOCUMENT,
                path=path,
                section=heading,
                expired=is_past(expires, today),
            )
    for place, score in _in_company({place: hit.score for place, hit in turns_of.items()}).items():
        turns_of[place].score = score
    return hits


def _listed(ids: Iterable[int]) -> str:
    return ",".join(map(str, ids))


def _in_company(scores: dict[tuple[int, int], float]) -> dict[tuple[int, int], float]:
    """Scores by (session, turn) with what neighbours and the session's share of all add."""
    shares: dict[int, float] = {}
    for (session, _), score in scores.items():
        shares[session] = shares.get(session, 0.0) + score
    whole = sum(shares.values()) or 1.0
    return {
        (session, n): (score + _from_neighbours(scores, session, n)) * (1 + _SHARE * shares[session] / whole)
        for (session, n), score in scores.items()
    }


def _from_neighbours(scores: dict[tuple[int, int], float], session: int, n: int) -> float:
    return sum(
        weight * (scores.get((session, n - far), 0.0) + scores.get((session, n + far), 0.0))
        for far, weight in _NEIGHBOURS
    )


def snippet(text: str, words: Iterable[str], width: int = _SNIPPET) -> str:
    """One line of ``text`` around the place where most of the words stand."""
    stems = sorted({query.stem(word.lower()) for word in words if word.strip("*")}, key=len, reverse=True)
    line = " ".join(text.split())
    low = _lowered(line)
    found = _places(low, stems[:_RAREST])
    if not found:
        return _cut(line, 0, width)
    best = max(found, key=lambda start: (_different(low, stems, start, width), -start))
    return _cut(line, max(0, best - _BEFORE), width)


def _lowered(line: str) -> str:
    """The line in lower case, each character where it was (a few become two when they are lowered)."""
    low = line.lower()
    return low if len(low) == len(line) else "".join(char.lower()[:1] for char in line)


def _places(low: str, stems: list[str]) -> list[int]:
    """Where the first of the stems stand, in order."""
    found: list[int] = []
    for stem in stems:
        at = low.find(stem)
        while at >= 0 and len(found) < _PLACES:
            found.append(at)
            at = low.find(stem, at + len(stem))
    return sorted(found)


def _different(low: str, stems: list[str], start: int, width: int) -> int:
    window = low[start : start + width - _BEFORE]
    return sum(1 for stem in stems if stem in window)


def _cut(line: str, start: int, width: int) -> str:
    """``width`` characters from ``start``, begun at a word where one is near; dots say that there is more."""
    if start and (space := line.find(" ", start, start + 20)) >= 0:
        start = space + 1
    end = start + width
    return ("…" if start else "") + line[start:end].strip() + ("…" if end < len(line) else "")


def sessions(store: Store, limit: int | None = None, behind: int | None = 50) -> list[Session]:
    """The conversations of a scope, the most recently written first."""
    with Index.open(store.cache) as index:
        index.catch_up(store.repo, behind)
        store.repo.close()
        return index.sessions(limit)


def moment(text: str) -> float:
    """Seconds since 1970 of a date, a time (both ISO), or an age such as `3d`, `2h`, `30min`."""
    import re
    from datetime import datetime, timedelta  # as dear as a tenth of a search that names no time

    try:
        if found := re.fullmatch(_AGE, text):
            return (datetime.now() - timedelta(hours=int(found[1]) * _HOURS[found[2]])).timestamp()
        return datetime.fromisoformat(text).timestamp()
    except (ValueError, OverflowError):
        raise UsageError(f"{text!r} is no time.", "2026-11-29, 2026-11-29T14:00, 3d, 2h or 30min") from None
