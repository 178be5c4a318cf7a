"""Conversations as git has them: found by the beginning of a name, read whole, at any revision.

No index is asked: a turn is read from the segments that hold it, even where no index can be made.
"""

from __future__ import annotations

from neosian import commits, fastjson, scope, turns
from neosian.errors import NeosianError, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from neosian.plumbing import Repo
    from neosian.store import Store

_NAME_SURE = 150  # bytes of a file name before a long one may turn into a hash
_GREP_MOST = 1_000  # characters of a text that git is asked for
_NAMED = 8  # candidates named in an error


class Conversation:
    """One conversation in git: ``segments`` as (path, blob id), in order."""

    __slots__ = ("client", "conversation", "segments")

    def __init__(self, conversation: str, client: str, segments: list[tuple[str, str]]) -> None:
        self.conversation = conversation
        self.client = client
        self.segments = segments


class UnknownConversation(NeosianError):
    """No conversation, or more than one, goes by this name: ``candidates`` are those."""

    def __init__(self, name: str, candidates: Sequence[str] = ()) -> None:
        self.candidates = list(candidates)
        if not candidates:
            super().__init__(f"No conversation here is named {name!r}.", "neosian sessions")
            return
        more = f" and {len(candidates) - _NAMED} more" if len(candidates) > _NAMED else ""
        super().__init__(
            f"{name!r} names {len(candidates)} conversations: {', '.join(candidates[:_NAMED])}{more}.",
            f"neosian recall {candidates[0]}",
        )


def split(text: str) -> tuple[str, int | None]:
    """Conversation and turn of `CONVERSATION#N`; None where no turn is named."""
    text = text.removeprefix("sessions/")  # as search and the start block show a session's page
    name, mark, number = text.rpartition("#")
    if mark and number.isascii() and number.isdigit() and len(number) < 10:
        return name, int(number)
    return text, None


def resolve(repo: Repo, name: str, at: str | None = None) -> Conversation:
    """The one conversation whose id begins with ``name`` (or whose `client:id` does), at a revision.

    ``NeosianError`` names the candidates when there are several, and the way to a list when there is none.
    """
    rev = repo.tip() if at is None else commits.revision(repo, at)
    logs: dict[str, list[tuple[str, str]]] = {}
    for path, blob in repo.ls(rev, "record/") if rev else []:
        if turns.is_segment(path):
            logs.setdefault(turns.segment_key(path), []).append((path, blob))
    starts = [f"-{start}" for start in _on_disk(name)]
    likely = [key for key in logs if any(start in f"-{key}" for start in starts)]
    found: dict[str, Conversation] = {}
    for key in likely:
        conversation = _conversation(repo, key, sorted(logs[key]))
        full = f"{conversation.client}:{conversation.conversation}"
        if conversation.conversation.startswith(name) or full.startswith(name):
            found[full] = conversation
    exact = [full for full, one in found.items() if name in (full, one.conversation)]
    return found[exact[0] if len(exact) == 1 else the_one(name, sorted(exact or found))]


def _on_disk(name: str) -> list[str]:
    """How the part of a segment's name may begin that a conversation's (or `client:conversation`) name gave it."""
    client, colon, session = name.partition(":")
    starts = [
        scope.disk_name(name),
        *([f"{client}-{scope.disk_name(session) if session else ''}"] if colon else []),
    ]
    return [start[:_NAME_SURE] for start in starts]


def _conversation(repo: Repo, key: str, segments: list[tuple[str, str]]) -> Conversation:
    """A conversation under the names in its own turn line; the file's name must do where that is damaged."""
    lines = turns.parse_lines(repo.read_many([segments[0][1]])[0] or b"")[0]
    header = next((line for line in lines if line.get("kind") == "turn"), {})
    client = str(header.get("client") or key.rpartition("-")[0])
    return Conversation(str(header.get("session") or key.removeprefix(client + "-")), client, segments)


def the_one(name: str, found: Sequence[str]) -> str:
    """The name that is meant among those it may stand for; ``UnknownConversation`` says what there is otherwise."""
    if name in found or len(found) == 1:
        return name if name in found else found[0]
    raise UnknownConversation(name, found)


def turns_of(repo: Repo, conversation: str, at: str | None = None) -> list[turns.Turn]:
    """Every turn of a conversation, whole, from git."""
    found = resolve(repo, conversation, at)
    lines = []
    for data in repo.read_many([blob for _, blob in found.segments]):
        lines += turns.parse_lines(data or b"")[0]
    return [turn for _, turn in sorted(turns.group(lines).items())]


def turn(repo: Repo, conversation: str, n: int, at: str | None = None) -> turns.Turn:
    """One turn, whole, from git; ``at`` is any revision."""
    found = resolve(repo, conversation, at)
    import re  # a search, which may be a hook's, reads no turn

    lines = []
    for data in repo.read_many([blob for _, blob in found.segments]):
        if data and re.search(rb'"turn"\s*:\s*%d\b' % n, data):
            lines += [line for line in turns.parse_lines(data)[0] if line.get("turn") == n]
    grouped = turns.group(lines)
    if n in grouped:
        return grouped[n]
    known = [one.number for one in turns_of(repo, conversation, at)]
    span = f"turns {known[0]} to {known[-1]}" if known else "no turns"
    raise NeosianError(
        f"Conversation {found.conversation} has {span}; there is no turn {n}.",
        f"neosian recall {found.conversation}",
    )


def found_in(
    stores: Iterable[Store], name: str, at: str | None = None, *, asked: int | None = None
) -> tuple[str, Store]:
    """`client:conversation` of the one that begins with ``name``, and its scope; ``asked``: of it this turn alone.

    ``NeosianError`` names the candidates when there are several, and the way to a list when there is none.
    """
    found: dict[str, Store] = {}
    failed: NeosianError | None = None
    for store in stores:
        try:
            one = resolve(store.repo, name, at)
            found.setdefault(f"{one.client}:{one.conversation}", store)
        except UnknownConversation as error:
            if error.candidates:
                raise
            failed = failed or error
        except commits.UnknownRevision as error:
            failed = error
        finally:
            store.repo.close()
    if not found and asked is None and name.isdigit() and len(name) < 6 and failed is not None:
        raise UsageError(f"Of which conversation is turn {name} wanted?", f"neosian recall ID#{name}")
    if not found:
        raise failed or NeosianError("Nothing has been recorded yet.", "neosian status")
    full = the_one(name, [full for full in found if full.endswith(f":{name}")] or sorted(found))
    return full, found[full]


def find_turns(
    stores: Iterable[Store], name: str, number: int | None = None, at: str | None = None
) -> list[turns.Turn]:
    """The turns that are meant, or the one with this number, from whichever scope has their conversation."""
    full, store = found_in(stores, name, at, asked=number)
    try:
        return turns_of(store.repo, full, at) if number is None else [turn(store.repo, full, number, at)]
    finally:
        store.repo.close()


def containing(repo: Repo, text: str, limit: int) -> list[tuple[Conversation, turns.Line]]:
    """Lines of the logs that hold a text somewhere, by git's own search: what no index keeps is found too.

    The index holds the first 4,000 characters of a prompt and 500 of an output. Case does not count; at most
    ``limit`` lines, and of one segment at most three.
    """
    rev = repo.tip()
    escaped = fastjson.dumps(text, ensure_ascii=False)[1:-1]
    if rev is None or not text.strip() or len(escaped) > _GREP_MOST or "\n" in escaped:
        return []
    said = repo.git(
        "grep", "-z", "-i", "-F", "-m", "3", "-e", escaped, rev, "--", "record", check=False, timeout=20.0
    )
    found: list[tuple[Conversation, turns.Line]] = []
    for row in said.split(b"\n"):
        name, _, raw = row.partition(b"\0")
        path = name.decode("utf-8", "surrogateescape").partition(":")[2]
        for line in turns.parse_lines(raw)[0]:
            blob = repo.entry(rev, path)
            if blob is not None and line["kind"] != "context":
                found.append((_conversation(repo, turns.segment_key(path), [(path, blob.id)]), line))
        if len(found) >= limit:
            break
    return found[:limit]
