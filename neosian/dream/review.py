"""What of a dream waits for a person: shown change by change, accepted, rejected or edited; and what was rejected.

What waits is a commit under `refs/neosian/review/`, one for each note, upon the commit that it was made from. So git
itself shows it, and main is free to move on: accepting merges it three ways into main as it is then.
"""

from __future__ import annotations

import json
import os
import time

from neosian import adopt, commits, files, history, matter, scope, turns
from neosian.documents import read as read_document
from neosian.draft import Draft
from neosian.dream.fitting import Fitter
from neosian.errors import GitError, NeosianError, UsageError
from neosian.gitlocks import clear_locks_below
from neosian.history import Move
from neosian.plumbing import NOTHING
from neosian.redact import redact_document
from neosian.store import agent, committer, message

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from neosian.commits import Commit
    from neosian.draft import Signature
    from neosian.dream.fitting import Fit
    from neosian.plumbing import Repo
    from neosian.revert import Conflict
    from neosian.store import Store

    NamedBy = Callable[[str, float], str | None]
    """Who of the agents changed an absolute path at a time, as `adopt` asks."""

NAME = "dream"
"""The dream's name as author and actor."""

REVIEW = "refs/neosian/review/"
PERSON, GATE = "person", "gate"
"""Who rejected a change."""

_PATIENCE = 5.0  # seconds: a person waits for it
_UNSETTLED = 0.2
_GATE_MOST = 200  # refusals of the gate that are kept
_TEXT_MOST = 8_000  # characters of a rejected text that are kept


# what waits


class Review:
    """A change that waits: ``status`` (A, M, D, R), ``path`` and ``was`` as in `history.Move`.

    ``text``: the unified diff of what accepting it would do to main now; ``conflict``: why it cannot, with both texts
    (``text`` is then what the dream wanted to do). ``proposed``: the document as it would stand, None for a deletion.
    """

    __slots__ = ("commit", "conflict", "id", "path", "proposed", "reason", "status", "text", "was")

    def __init__(self, id: str, commit: Commit, reason: str, move: Move) -> None:
        self.id = id
        self.commit = commit
        self.reason = reason
        self.status = move.status
        self.path = move.path or move.was or ""
        self.was = move.was
        self.text = ""
        self.proposed: bytes | None = None
        self.conflict: Conflict | None = None

    @property
    def run(self) -> str:
        """The run that it came of."""
        return _trailer(self.commit, "Dream-Run")

    def json(self) -> dict[str, object]:
        """The fields that `--json` prints."""
        return {
            "id": self.id, "path": self.path, "was": self.was, "status": self.status, "run": self.run,
            "at": turns.stamp(self.commit.at), "conversation": self.commit.conversation,
            "reason": self.reason, "sources": self.commit.trailers.get("Source", []), "diff": self.text,
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
    found = []
    for waiting, move in _waiting(store.repo):
        _show(waiting, move, draft, Fitter(draft, waiting.commit.parents[0], by_person=True).fit(move))
        found.append(waiting)
    return found


def waiting_paths(store: Store) -> list[str]:
    """The documents of which something waits: a cheap look."""
    return sorted({waiting.path for waiting, _ in _waiting(store.repo)}) if store.exists else []


def _waiting(repo: Repo) -> list[tuple[Review, Move]]:
    """What waits, each with its change; what a crash made unreadable is passed over."""
    refs = {name: id for name, id in repo.refs(REVIEW).items() if repo.object(id) is not None}
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
        moves = history.moves(repo, known[id]) if known[id].parents else []
        for move in moves[:1]:
            if all(blob == NOTHING or repo.object(blob) for blob in (move.before, move.after)):
                found.append((Review(name, known[id], commits.body(repo, id), move), move))
    return sorted(found, key=lambda each: (each[0].commit.at, each[0].id))


def _show(waiting: Review, move: Move, draft: Draft, fit: Fit) -> None:
    """Say what accepting would do to main as the draft has it."""
    waiting.conflict = fit.conflict
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
    for path, data in changes.items():
        draft.delete(path) if data is None else draft.put(path, data)
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
            "accepted": [{"id": each.id, "path": each.path, "commit": commit} for each, commit in self.done],
            "waiting": [{"id": each.id, **said(conflict)} for each, conflict in self.wait],
            "adopted": self.adopted,
        }


def accept(store: Store, person: Signature, named_by: NamedBy, names: Sequence[str] = ()) -> Answered:
    """Land what waits (``names``: ids, paths or folders; none: all of it), each change one commit, in one act.

    Each is merged three ways into main as it is now. What does not fit waits on, and its conflict has both texts.
    """
    chosen = {each.id: each.commit.id for each in choose(store, names)}
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
    if fit.conflict is not None:
        found.wait.append((waiting, fit.conflict))
        found.may_settle |= fit.may_settle
        return
    made = None
    if fit.wanted:
        edited = _trailer(waiting.commit, "Edited-By")
        author = person if edited else agent(NAME, time.time())
        trailers = {**waiting.commit.trailers, "Accepted-By": person.name, "Neosian-Actor": author.name}
        made = draft.commit(message(waiting.commit.subject, trailers, waiting.reason), author, committer())
    found.done.append((waiting, made))


def edit(store: Store, name: str, text: bytes, person: Signature) -> Review:
    """Have what waits say ``text`` instead, made from main as it is now; it waits on, and is the person's by then."""
    found = choose(store, [name])
    waiting = found[0]
    if len(found) > 1:
        several = ", ".join(each.id for each in found)
        raise UsageError(f"{len(found)} changes wait under {name}: {several}. Name one of them.")
    header = read_document(text).header
    problem = matter.read(header)[1] if header else ""
    if problem:
        raise NeosianError(
            f"{waiting.path}: its front matter could not be read: {problem}. Nothing was changed.",
            "quote the value",
        )
    if adopt.holds_secret(text):
        raise NeosianError(
            f"{waiting.path} would hold what looks like a secret, or a <private> part. Nothing was changed:"
            " leave it out, or say where it is kept."
        )
    tip = history.tip_of(store)
    moved = waiting.was if waiting.status == "R" and store.repo.entry(tip, waiting.was or "") else None
    changes: dict[str, bytes | None] = {waiting.path: text} | ({moved: None} if moved else {})
    if store.repo.read(tip, waiting.path) == text and not moved:
        raise NeosianError(
            f"{waiting.path} says just that already, so there is nothing to wait for.",
            history.command(store, "dream", "reject", waiting.id),
        )
    trailers = {**waiting.commit.trailers, "Edited-By": person.name}
    made = commit_apart(store.repo, tip, changes, waiting.reason, trailers, time.time())
    with store.lock(_PATIENCE):
        if store.repo.refs(REVIEW).get(waiting.id) != waiting.commit.id:
            raise NeosianError(
                f"{waiting.id} was answered meanwhile. Nothing was changed.", "neosian dream review"
            )
        store.repo.update_refs([(REVIEW + waiting.id, made, waiting.commit.id)])
    return choose(store, [waiting.id])[0]


def reject(store: Store, names: Sequence[str] = (), reason: str = "") -> list[Review]:
    """Drop what waits (``names``: ids, paths or folders; none: all of it); the reason is kept for later dreams."""
    chosen = choose(store, names)
    for each in chosen:
        keep(
            store, Rejection(
                f"review-{each.id}", PERSON, each.path, reason, run=each.run, conversation=each.commit.conversation,
                sources=each.commit.trailers.get("Source", []), text=each.text,
            ),
        )  # fmt: skip
    _drop(store, {each.id: each.commit.id for each in chosen})
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
    return waiting.id == name or any(
        f"{path}/".startswith(f"{name}/") for path in (waiting.path, waiting.was or "")
    )


def drop_of(store: Store, run: str) -> list[str]:
    """Let all that waits of a run go, as if it had never been proposed; the paths."""
    found = [each for each, _ in _waiting(store.repo) if each.run == run]
    _drop(store, {each.id: each.commit.id for each in found})
    return sorted({each.path for each in found})


def _drop(store: Store, found: Mapping[str, str]) -> None:
    """Let these go, each if it still names that commit."""
    if not found:
        return
    with store.lock(_PATIENCE):
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
    held = rejection.json() | {"text": text, "at": rejection.at, "reason": redact_document(rejection.reason)}
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
            held = json.loads(files.read(os.path.join(_folder(store), name)) or b"")
            rejection = Rejection(
                str(held["id"]), str(held["by"]), str(held["path"]), str(held["reason"]), run=str(held["run"]),
                conversation=str(held["conversation"]), sources=[str(each) for each in held["sources"]],
                text=str(held["text"]), at=float(held["at"]),
            )  # fmt: skip
        except (ValueError, KeyError, TypeError, OSError):
            continue
        if by in (None, rejection.by):
            found.append(rejection)
    return sorted(found, key=lambda each: (-each.at, each.id))


def _folder(store: Store) -> str:
    return os.path.join(store.repo.private, "rejected")
