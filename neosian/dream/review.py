"""What of a dream waits for a person: shown change by change, accepted, rejected or edited; and what was rejected.

What waits is a commit under `refs/neosian/review/`, one for each note, upon the commit that it was made from. So git
itself shows it, and main is free to move on: accepting merges it three ways into main as it is then.
"""

from __future__ import annotations

import json
import os
import time

from neosian import adopt, commits, conversations, files, history, matter, scope, turns
from neosian.documents import read as read_document
from neosian.draft import Draft
from neosian.dream import kept
from neosian.dream.fitting import Fitter
from neosian.errors import GitError, NeosianError, UsageError
from neosian.gitlocks import clear_locks_below
from neosian.history import Move
from neosian.index import Index
from neosian.plumbing import NOTHING
from neosian.redact import redact_document, redact_path
from neosian.store import agent, committer, message
from neosian.why import Source

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from neosian.commits import Commit
    from neosian.draft import Signature
    from neosian.dream.fitting import Fit
    from neosian.entries import Session
    from neosian.plumbing import Repo
    from neosian.revert import Conflict
    from neosian.store import Store
    from neosian.wiki import Place, Wiki

    NamedBy = Callable[[str, float], str | None]
    """Who of the agents changed an absolute path at a time, as `adopt` asks."""

NAME = "dream"
"""The dream's name as author and actor."""

REVIEW = "refs/neosian/review/"
PERSON, GATE = "person", "gate"
"""Who rejected a change."""

WAITS = "Dream-Waits"
"""The trailer that says why a change waits: one of the three below."""
OF_A_PERSON, ASKED, COLLIDED = "person", "review", "conflict"
"""The note is a person's; the run was to land nothing; it did not fit what was written while the dream ran."""

_PATIENCE = 5.0  # seconds: a person waits for it
_UNSETTLED = 0.2
_GATE_MOST = 200  # refusals of the gate that are kept
_TEXT_MOST = 8_000  # characters of a rejected text that are kept
_SIDES = ("what it says now", "what the dream wants")
_MARKS = (f"<<<<<<< {_SIDES[0]}".encode(), f">>>>>>> {_SIDES[1]}".encode())


# what waits


class Review:
    """A change that waits: ``status`` (A, M, D, R), ``path`` and ``was`` as in `history.Move`.

    ``here``: where it would land, which is another path than ``path`` for a document that was renamed meanwhile.
    ``text``: the unified diff of what accepting it would do to main now; ``conflict``: why it cannot, with both texts
    (``text`` is then what the dream wanted to do). ``proposed``: the document as it would stand, None for a deletion.
    """

    __slots__ = ("commit", "conflict", "here", "id", "path", "proposed", "reason", "status", "text", "was")

    def __init__(self, id: str, commit: Commit, reason: str, move: Move) -> None:
        self.id = id
        self.commit = commit
        self.reason = reason
        self.status = move.status
        self.path = move.path or move.was or ""
        self.here = self.path
        self.was = move.was
        self.text = ""
        self.proposed: bytes | None = None
        self.conflict: Conflict | None = None

    @property
    def run(self) -> str:
        """The run that it came of."""
        return _trailer(self.commit, "Dream-Run")

    @property
    def waits(self) -> str:
        """Why it waits, as `WAITS` says it; "" where nothing does."""
        return _trailer(self.commit, WAITS)

    @property
    def edited_by(self) -> str:
        """The person whose text it has by now, "" for nobody."""
        return _trailer(self.commit, "Edited-By")

    def json(self) -> dict[str, object]:
        """The fields that `--json` prints."""
        return {
            "id": self.id, "path": self.path, "was": self.was, "status": self.status, "run": self.run,
            "at": turns.stamp(self.commit.at), "conversation": self.commit.conversation,
            "reason": self.reason, "sources": self.commit.trailers.get("Source", []), "waits": self.waits or None,
            "edited_by": self.edited_by or None, "diff": self.text,
            "conflict": said(self.conflict) if self.conflict else None,
        }  # fmt: skip


def said(conflict: Conflict) -> dict[str, object]:
    """A conflict as `--json` prints it."""
    return {"path": conflict.path, "why": conflict.why, "now": conflict.now, "wanted": conflict.then}


def reviews(store: Store) -> list[Review]:
    """What waits in a scope, in the order in which it was made."""
    tip = store.repo.tip() if store.exists else None
    if tip is None:
        return []
    draft = Draft(store.repo, tip)
    return [_shown(waiting, move, draft) for waiting, move in _waiting(store.repo)]


def again(store: Store, id: str) -> Review | None:
    """A change as it is now; None where it was answered meanwhile."""
    draft = Draft(store.repo, history.tip_of(store))
    return next((_shown(waiting, move, draft) for waiting, move in _waiting(store.repo, id)), None)


def _place_of(waiting: Review, fit: Fit) -> str:
    """Where a document lies once the change is made, or where it met what it does not fit."""
    if fit.conflict is not None:
        return fit.conflict.path
    come = (path for path, data in fit.wanted.items() if data is not None)
    return next(come, next(iter(fit.wanted), waiting.path))


def waiting_paths(store: Store) -> list[str]:
    """The documents of which something waits: a cheap look."""
    return sorted({waiting.path for waiting, _ in _waiting(store.repo)}) if store.exists else []


def _waiting(repo: Repo, only: str = "") -> list[tuple[Review, Move]]:
    """What waits (``only``: under this id), each with its change; what a crash made unreadable is passed over."""
    named = {name: id for name, id in repo.refs(REVIEW).items() if only in ("", name)}
    refs = {name: id for name, id in named.items() if repo.object(id) is not None}
    if not refs:
        return []
    try:
        known = {
            commit.id: commit
            for commit in commits.log(repo, "--no-walk=unsorted", *sorted(set(refs.values())))
        }
    except GitError:
        return []
    found = []
    for name, id in refs.items():
        if id not in known:  # it names something else than a commit
            continue
        for move in _one_move(history.moves(repo, known[id]) if known[id].parents else []):
            if all(blob == NOTHING or repo.object(blob) for blob in (move.before, move.after)):
                found.append((Review(name, known[id], commits.body(repo, id), move), move))
    return sorted(found, key=lambda each: (each[0].commit.at, each[0].id))


def _one_move(moves: Sequence[Move]) -> Sequence[Move]:
    """The one change of a commit that waits: what is gone and what came are one note, however much of it is new."""
    gone = [move for move in moves if move.status == "D"]
    come = [move for move in moves if move.status == "A"]
    if gone and come:
        return [Move(gone[0].was, come[0].path, gone[0].before, come[0].after)]
    return moves[:1]


def _shown(waiting: Review, move: Move, draft: Draft) -> Review:
    """What waits, which says by now what accepting would do to main as the draft has it."""
    fit = Fitter(draft, waiting.commit.parents[0], by_person=True).fit(move)
    _show(waiting, move, draft, fit)
    return waiting


def _show(waiting: Review, move: Move, draft: Draft, fit: Fit) -> None:
    waiting.conflict = fit.conflict
    waiting.here = _place_of(waiting, fit)
    if fit.conflict is not None:
        waiting.proposed = None if move.path is None else history.body(draft.repo, move.after)
        waiting.text = history.patch(move, lambda id: history.body(draft.repo, id))
    elif fit.wanted:
        gone = next((path for path, data in fit.wanted.items() if data is None), None)
        come = next((path for path, data in fit.wanted.items() if data is not None), None)
        held = draft.read(gone or come or "")
        waiting.proposed = fit.wanted[come] if come else None
        texts = {"before": held or b"", "after": waiting.proposed or b""}
        was = gone or (come if held is not None else None)
        waiting.text = history.patch(Move(was, come, "before", "after"), lambda id: texts[id])


# what a person sees of it


class Origin:
    """Where a change came from: the ``sessions`` it was made of, and its ``sources``, each with its prompt. What the
    record does not know any more is left out, or without a prompt."""

    __slots__ = ("sessions", "sources")

    def __init__(self, sessions: list[Session], sources: list[Source]) -> None:
        self.sessions = sessions
        self.sources = sources


def origin(waiting: Review, stores: Iterable[Store]) -> Origin:
    """Where a change came from, as the indexes of these scopes know it, the first of them that does."""
    named = [conversations.split(each) for each in waiting.commit.sources]
    talks = dict.fromkeys([*waiting.commit.trailers.get("Conversation", []), *(name for name, _ in named)])
    sessions: dict[str, Session] = {}
    prompts: dict[tuple[str, int | None], str] = {}
    for store in stores:
        with Index.open(store.cache) as index:
            index.catch_up(store.repo, None)
            for name in talks:
                for session in index.sessions(1, name):
                    sessions.setdefault(name, session)
            for name, turn in named:
                for row in index.turns(name, n=turn) if turn is not None else ():
                    prompts.setdefault((name, turn), row.prompt)
    sources = [Source(name, turn, prompts.get((name, turn), "")) for name, turn in named]
    return Origin([sessions[name] for name in talks if name in sessions], sources)


def in_sight(wiki: Wiki) -> list[tuple[Place, Review]]:
    """What waits in the scopes that a session may write to, each with its mount."""
    mounts: dict[str, Place] = {}
    for mount in wiki.mounts:
        if mount.writable:
            mounts.setdefault(mount.store.scope, mount)
    return [(mount, each) for mount in mounts.values() for each in reviews(mount.store)]


def named(wiki: Wiki, found: Sequence[tuple[Place, Review]], name: str) -> list[tuple[Place, Review]]:
    """Which of what is in sight goes by a name: a path as people meet it, a path of one scope, or an id."""
    if name.startswith("/"):
        place = wiki.writable(name)
        chosen = [
            (mount, each)
            for mount, each in found
            if mount.store.scope == place.store.scope and _is_named(each, place.path)
        ]
    else:
        chosen = [(mount, each) for mount, each in found if name and _is_named(each, name)]
    if not chosen:
        raise UsageError(f"Nothing of {name} waits for review here.", "neosian dream review")
    mounts = dict.fromkeys(mount.mount for mount, _ in chosen)
    if len(mounts) > 1:
        ways = " or ".join(str(mount.at(each.here)) for mount, each in chosen)
        raise UsageError(
            f"{name} waits in {len(mounts)} scopes: say {ways}. Nothing was done.", "neosian dream review"
        )
    return chosen


# commits of the dream's


def commit_apart(
    repo: Repo, parent: str, changes: Mapping[str, bytes | None], reason: str,
    trailers: Mapping[str, str | Sequence[str]], at: float,
) -> str:  # fmt: skip
    """A commit of the dream's upon ``parent`` that nothing names yet; its id. Its objects are written."""
    draft = Draft(repo, parent)
    made = draft_change(draft, changes, reason, trailers, at)
    draft.write()
    return made


def draft_change(
    draft: Draft, changes: Mapping[str, bytes | None], reason: str,
    trailers: Mapping[str, str | Sequence[str]], at: float,
) -> str:  # fmt: skip
    """Commit changes to a draft in the dream's name; the commit."""
    subject = f"Dream: {_act_on(draft, changes)}"
    for path in [path for path, data in changes.items() if data is None]:
        draft.delete(path)
    for path, data in changes.items():
        if data is not None:
            draft.put(path, data)
    return draft.commit(message(subject, trailers, reason), agent(NAME, at), committer(at))


def _act_on(draft: Draft, changes: Mapping[str, bytes | None]) -> str:
    """What changes that are not made yet come to: `edit a.md`, `rename a.md to b.md`, `3 notes`."""
    gone = [path for path, data in changes.items() if data is None]
    come = [path for path, data in changes.items() if data is not None]
    if len(gone) == len(come) == 1 and draft.entry(come[0]) is None:
        return f"rename {gone[0]} to {come[0]}"
    if len(changes) == 1:
        return f"delete {gone[0]}" if gone else f"{'edit' if draft.entry(come[0]) else 'create'} {come[0]}"
    return f"{len(changes)} notes" if changes else "nothing new"


# answers


class Answered:
    """What became of the changes: ``done`` ones with their commits (None: main says so already), those that ``wait``
    on with the conflict, the edits of the folder that were ``adopted`` first. ``may_settle``: one waits for an edit
    that was saved just now."""

    def __init__(self) -> None:
        self.may_settle = False
        self.done: list[tuple[Review, str | None]] = []
        self.wait: list[tuple[Review, Conflict]] = []
        self.adopted: list[str] = []

    def json(self) -> dict[str, object]:
        """The fields that `--json` prints."""
        return {
            "accepted": [{"id": each.id, "path": each.here, "commit": commit} for each, commit in self.done],
            "waiting": [{"id": each.id, **said(conflict)} for each, conflict in self.wait],
            "adopted": self.adopted,
        }


def accept(store: Store, person: Signature, named_by: NamedBy, names: Sequence[str] = ()) -> Answered:
    """Land what waits (``names``: ids, paths or folders; none: all of it), each change one commit, in one act.

    Each is merged three ways into main as it is now. What does not fit waits on, and its conflict has both texts.
    """
    return accept_these(store, choose(store, names), person, named_by)


def accept_these(store: Store, seen: Iterable[Review], person: Signature, named_by: NamedBy) -> Answered:
    """The same for changes that a person looked at: one that somebody answered or edited since is let be."""
    chosen = {each.id: each.commit.id for each in seen}
    total = Answered()
    until = time.monotonic() + _PATIENCE
    while True:
        found = _accept_now(store, chosen, person, named_by)
        _drop(store, {each.id: each.commit.id for each, _ in found.done})
        total.done += found.done
        total.adopted += found.adopted
        total.wait, total.may_settle = found.wait, found.may_settle
        if not found.may_settle or time.monotonic() > until:
            return total
        chosen = {each.id: each.commit.id for each, _ in found.wait}
        time.sleep(_UNSETTLED)


def _accept_now(store: Store, chosen: Mapping[str, str], person: Signature, named_by: NamedBy) -> Answered:
    """One act: what of these still waits, and fits."""
    found = Answered()

    def change(draft: Draft) -> None:
        nonlocal found
        found = Answered()
        found.adopted = adopt.adopt(draft, named_by)
        for waiting, move in _waiting(store.repo):
            if chosen.get(waiting.id) == waiting.commit.id:
                _accept(draft, waiting, move, person, found)

    store.write(change, patience=_PATIENCE)
    return found


def _accept(draft: Draft, waiting: Review, move: Move, person: Signature, found: Answered) -> None:
    """Commit one change where it fits."""
    fit = Fitter(draft, waiting.commit.parents[0], by_person=True).put(move)
    waiting.here = _place_of(waiting, fit)
    if fit.conflict is not None:
        found.wait.append((waiting, fit.conflict))
        found.may_settle |= fit.may_settle
        return
    made = None
    if fit.wanted:
        author = person if waiting.edited_by else agent(NAME, time.time())
        trailers = {**waiting.commit.trailers, "Accepted-By": person.name, "Neosian-Actor": author.name}
        trailers.pop(WAITS, None)
        made = draft.commit(message(waiting.commit.subject, trailers, waiting.reason), author, committer())
    found.done.append((waiting, made))


class Opened:
    """What a person's editor begins with: the ``text`` of what ``waiting`` wants, or, where that does not fit, of main
    and of the dream with marks around what collides. ``base``: the commit of main that it was made from."""

    __slots__ = ("base", "text", "waiting")

    def __init__(self, waiting: Review, base: str, text: bytes) -> None:
        self.waiting = waiting
        self.base = base
        self.text = text

    @property
    def has_marks(self) -> bool:
        """Whether both texts stand in it."""
        return _has_marks(self.text)


def opened(store: Store, name: str) -> Opened:
    """What a person may change of a change that waits (``name``: its id or its path), which stays as it is."""
    found = choose(store, [name])
    if len(found) > 1:
        several = ", ".join(each.id for each in found)
        raise UsageError(f"{len(found)} changes wait under {name}: {several}. Name one of them.")
    tip = history.tip_of(store)
    draft = Draft(store.repo, tip)
    for waiting, move in _waiting(store.repo, found[0].id):
        return Opened(_shown(waiting, move, draft), tip, _text_of(waiting, move, draft))
    raise _answered(found[0].id)


def _text_of(waiting: Review, move: Move, draft: Draft) -> bytes:
    """The text of the dream as it would land; of a deletion, or of what main says already, the one that is there."""
    here = waiting.here if draft.read(waiting.here) is not None else move.was or ""
    held = draft.read(here)
    if waiting.conflict is None or held is None or move.path is None:
        return waiting.proposed or held or b""
    is_another = here == move.path != move.was and (move.was is None or draft.read(move.was) is not None)
    base = b"" if is_another else history.sure_body(draft.repo, move.before)
    return history.merge_marked(draft.repo, base, held, waiting.proposed or b"", _SIDES)


def _has_marks(text: bytes) -> bool:
    return any(line.rstrip() in _MARKS for line in text.splitlines())


def edit(store: Store, begun: Opened, text: bytes, person: Signature) -> Review:
    """Have what waits say ``text`` instead of what its editor began with; it waits on, and is the person's by then."""
    waiting = begun.waiting
    header = read_document(text).header
    problem = matter.read(header)[1] if header else ""
    if _has_marks(text):
        raise NeosianError(
            f"{waiting.here} has marks still, between what main says and what the dream wants. Nothing was changed:"
            " leave in it what it is to say."
        )
    if problem:
        raise NeosianError(
            f"{waiting.here}: its front matter could not be read: {problem}. Nothing was changed.",
            "quote the value",
        )
    if adopt.holds_secret(text):
        raise NeosianError(
            f"{waiting.here} would hold what looks like a secret, or a <private> part. Nothing was changed:"
            " leave it out, or say where it is kept."
        )
    held = [store.repo.entry(begun.base, path) is not None for path in (waiting.was or "", waiting.path)]
    moved = waiting.was if waiting.status == "R" and held == [True, False] else None
    path = waiting.path if moved else waiting.here
    changes: dict[str, bytes | None] = {path: text} | ({moved: None} if moved else {})
    if store.repo.read(begun.base, path) == text and not moved:
        raise NeosianError(
            f"{path} says just that already, so there is nothing to wait for.",
            history.command(store, "dream", "reject", waiting.id),
        )
    trailers = {**waiting.commit.trailers, "Edited-By": person.name}
    made = commit_apart(store.repo, begun.base, changes, waiting.reason, trailers, time.time())
    with store.lock(_PATIENCE):
        if store.repo.refs(REVIEW).get(waiting.id) != waiting.commit.id:
            raise _answered(waiting.id)
        store.repo.update_refs([(REVIEW + waiting.id, made, waiting.commit.id)])
    return choose(store, [waiting.id])[0]


def _answered(id: str) -> NeosianError:
    return NeosianError(f"{id} was answered meanwhile. Nothing was changed.", "neosian dream review")


def reject(store: Store, names: Sequence[str] = (), reason: str = "") -> list[Review]:
    """Drop what waits (``names``: ids, paths or folders; none: all of it); the reason is kept for later dreams."""
    return reject_these(store, choose(store, names), reason)


def reject_these(store: Store, seen: Iterable[Review], reason: str = "") -> list[Review]:
    """The same for changes that a person looked at; those that nobody answered or edited since are dropped."""
    seen = list(seen)
    if not seen:
        return []
    with store.lock(_PATIENCE):
        held = store.repo.refs(REVIEW)
        chosen = [each for each in seen if held.get(each.id) == each.commit.id]
        for each in chosen:
            keep(
                store, Rejection(
                    f"review-{each.id}", PERSON, each.path, reason, run=each.run, conversation=each.commit.conversation,
                    sources=each.commit.trailers.get("Source", []), text=each.text,
                ),
            )  # fmt: skip
        _let_go(store, {each.id: each.commit.id for each in chosen})
    return chosen


def choose(store: Store, names: Sequence[str]) -> list[Review]:
    """What waits under these ids, paths or folders; all of it without a name. A name of nothing is an error."""
    found = reviews(store)
    for name in names:
        if not any(_is_named(each, name) for each in found):
            raise UsageError(
                f"Nothing of {name} waits for review in {store.scope}.",
                history.command(store, "dream", "review"),
            )
    return [each for each in found if not names or any(_is_named(each, name) for name in names)]


def _is_named(waiting: Review, name: str) -> bool:
    name = name.strip("/")
    paths = (waiting.path, waiting.here, waiting.was or "")
    return name in ("", waiting.id) or any(f"{path}/".startswith(f"{name}/") for path in paths)


def waits_of(store: Store, run: str) -> list[Review]:
    """What waits of one run."""
    return [each for each, _ in _waiting(store.repo) if each.run == run]


def drop_of(store: Store, run: str) -> list[str]:
    """Let all that waits of a run go, as if it had never been proposed; the paths."""
    found = waits_of(store, run)
    _drop(store, {each.id: each.commit.id for each in found})
    return sorted({each.path for each in found})


def _drop(store: Store, found: Mapping[str, str]) -> None:
    """Let these go, each if it still names that commit."""
    if found:
        with store.lock(_PATIENCE):
            _let_go(store, found)


def _let_go(store: Store, found: Mapping[str, str]) -> None:
    """The same for who holds the scope's lock."""
    clear_locks_below(store.repo, REVIEW)
    held = store.repo.refs(REVIEW)
    gone = [(REVIEW + id, NOTHING, commit) for id, commit in found.items() if held.get(id) == commit]
    store.repo.update_refs(gone)


def _trailer(commit: Commit, key: str) -> str:
    return commit.trailers.get(key, [""])[0]


# what was rejected


class Rejection:
    """A change that was not wanted: ``by`` a person or the gate, ``reason`` in words, ``text`` what it was to be."""

    __slots__ = ("at", "by", "conversation", "id", "path", "reason", "run", "sources", "text")

    def __init__(
        self, id: str, by: str, path: str, reason: str, *, run: str = "", conversation: str = "",
        sources: Iterable[str] = (), text: str = "", at: float | None = None,
    ) -> None:  # fmt: skip
        self.id = id
        self.by = by
        self.path = path
        self.reason = reason
        self.run = run
        self.conversation = conversation
        self.sources = list(sources)
        self.text = text
        self.at = time.time() if at is None else at

    def json(self) -> dict[str, object]:
        """The fields that `--json` prints."""
        return {name: getattr(self, name) for name in self.__slots__} | {"at": turns.stamp(self.at)}


def keep(store: Store, rejection: Rejection) -> None:
    """Keep a rejection beside the repository, on this machine; the same id again is the same one.

    Of the gate's only the newest are kept, of persons' all. A secret in it is not.
    """
    folder = _folder(store)
    files.make_dir(folder)
    text = redact_document(rejection.text)[:_TEXT_MOST]
    held = rejection.json() | {
        "text": text, "at": rejection.at, "reason": redact_document(rejection.reason),
        "path": redact_path(rejection.path), "sources": [redact_document(each) for each in rejection.sources],
    }  # fmt: skip
    data = json.dumps(held, ensure_ascii=False).encode("utf-8", "replace")
    files.write(os.path.join(folder, f"{rejection.by}-{scope.disk_name(rejection.id)}.json"), data)
    old = sorted(
        (os.stat(path).st_mtime, path)
        for name in files.names(folder)
        if name.startswith(GATE) and os.path.exists(path := os.path.join(folder, name))
    )
    for _, path in old[:-_GATE_MOST]:
        files.remove(path)


def rejections(store: Store, by: str | None = None) -> list[Rejection]:
    """What was rejected in a scope on this machine, newest first; a file that cannot be read is passed over."""
    found = []
    for name in files.names(_folder(store)):
        try:
            held = kept.read(os.path.join(_folder(store), name))
            rejection = Rejection(
                str(held["id"]), str(held["by"]), str(held["path"]), str(held["reason"]), run=str(held["run"]),
                conversation=str(held["conversation"]), sources=[str(each) for each in held["sources"]],
                text=str(held["text"]), at=kept.moment(held["at"]),
            )  # fmt: skip
        except (ValueError, KeyError, TypeError):
            continue
        if by in (None, rejection.by):
            found.append(rejection)
    return sorted(found, key=lambda each: (-each.at, each.id))


def _folder(store: Store) -> str:
    return os.path.join(store.repo.private, "rejected")
