"""Taking back: what a commit did to documents, or a document put back as it stood, as a new commit of a person's.

Nothing is half done: what cannot be taken back without losing something later is said, and nothing is written.
Turn logs and session pages say what happened; they are never taken back.
"""

from __future__ import annotations

from neosian import adopt, commits, history
from neosian.draft import Draft
from neosian.errors import NeosianError
from neosian.publish import in_log
from neosian.store import committer, message

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from neosian.commits import Commit
    from neosian.draft import Signature
    from neosian.history import Move
    from neosian.store import Store

    NamedBy = Callable[[str, float], str | None]
    """Who of the agents changed an absolute path at a time, as `adopt` asks."""

_PATIENCE = 5.0  # seconds: a person waits for it
_SHOWN = 20  # lines of each text that a conflict shows
_LOGS_STAY = "Turn logs and session pages say what happened; they are never taken back."


class Reverted:
    """What was done: ``commit`` (None: all of it was taken back already), the ``paths`` it changed, the edits of the
    folder that were ``adopted`` first, and the logs that the commit changed too and that were ``left``."""

    __slots__ = ("adopted", "commit", "left", "paths")

    def __init__(self, left: Sequence[str] = ()) -> None:
        self.commit: str | None = None
        self.paths: list[str] = []
        self.adopted: list[str] = []
        self.left = list(left)


class Conflict:
    """A document that has moved on: what it says ``now``, and what it was to say instead ("" for not being there)."""

    __slots__ = ("now", "path", "then", "why")

    def __init__(self, path: str, why: str, now: bytes | str | None, then: bytes | str | None) -> None:
        self.path = path
        self.why = why
        self.now = _text(now)
        self.then = _text(then)


class RevertConflict(NeosianError):
    """Later changes stand in the way: ``conflicts`` has both texts of each document."""

    def __init__(self, store: Store, name: str, conflicts: list[Conflict]) -> None:
        self.conflicts = conflicts
        parts = [f"{name} cannot be taken back without losing what came later; nothing was changed."]
        for conflict in conflicts:
            parts.append(f"{conflict.path}: {conflict.why}")
            parts += [f"  it says now:{_shown(conflict.now)}", f"  it was to say:{_shown(conflict.then)}"]
        super().__init__("\n".join(parts), history.command(store, "diff", conflicts[0].path, name))


def take_back(store: Store, name: str, author: Signature, named_by: NamedBy) -> Reverted:
    """Take back what a commit did to documents, by merging each three ways with what it says now.

    What was renamed since is changed where it lies now. A person's settled edits in the folder are adopted first.
    """
    repo = store.repo
    tip = history.tip_of(store)
    id = commits.revision(repo, name)
    commit = commits.log(repo, "--no-walk", id)[0]
    _check(store, commit, tip)
    did = [move for move in history.moves(repo, commit) if not _is_ours(move.path or move.was or "")]
    left = [path for _, path, _ in commit.changes if in_log(path)]
    if not did:
        why = f"only recorded: {_LOGS_STAY}" if left else "changed no document."
        raise NeosianError(f"Commit {id[:10]} {why} Nothing was changed.", history.command(store, "log"))
    subject = f'Revert "{commit.subject}"'
    trailers = {"Neosian-Act": "edit", "Neosian-Actor": author.name}
    return _write(
        store,
        lambda draft: _merged(store, draft, commit, did),
        message(subject, trailers, f"Takes back {id}."),
        author,
        named_by,
        Reverted(left),
    )


def take_back_all(
    store: Store, found: Sequence[Commit], subject: str, trailers: Mapping[str, str], author: Signature,
    named_by: NamedBy,
) -> Reverted:  # fmt: skip
    """Take back several commits in one, the newest given first; of a merge what it brought to its first parent."""
    said = message(subject, trailers, "\n".join(f"Takes back {commit.id}." for commit in found))
    return _write(store, lambda draft: without(store, draft, found), said, author, named_by, Reverted())


def check_all(store: Store, found: Sequence[Commit]) -> None:
    """Raise what `take_back_all` would raise now; nothing is changed."""
    draft = Draft(store.repo, history.tip_of(store))
    wanted = {path: data for path, data in without(store, draft, found).items() if draft.read(path) != data}
    _check_room(store, draft, wanted)
    _check_folder(store, draft, wanted)


def without(store: Store, draft: Draft, found: Sequence[Commit]) -> dict[str, bytes | None]:
    """What every document of a draft is to say, so that all is as if these commits (newest first) had not been made.

    ``RevertConflict`` where that would lose something later. The draft is left alone.
    """
    draft.write()
    trial, wanted = Draft(store.repo, draft.tip), dict[str, bytes | None]()
    for commit in found:
        did = [
            move for move in history.moves(store.repo, commit) if not _is_ours(move.path or move.was or "")
        ]
        for path, data in _merged(store, trial, commit, did).items():
            trial.delete(path) if data is None else trial.put(path, data)
            wanted[path] = data
    return wanted


def put_back(store: Store, path: str, name: str, author: Signature, named_by: NamedBy) -> Reverted:
    """Put a document back as it stood at a revision, also one that was deleted since."""
    history.tip_of(store)
    if in_log(path):
        raise NeosianError(f"{_LOGS_STAY} Nothing was changed.", history.command(store, "log"))
    id = commits.revision(store.repo, name)
    text = history.text_at(store, id, path)
    if text is None:
        raise NeosianError(
            f"{path} was not there at {id[:10]}; nothing was changed.", history.command(store, "log", path)
        )
    trailers = {"Neosian-Act": "edit", "Neosian-Actor": author.name}
    said = message(f"Put {path} back as it stood at {id[:10]}", trailers)
    return _write(store, lambda draft: {path: text}, said, author, named_by, Reverted())


def _check(store: Store, commit: Commit, tip: str) -> None:
    """Refuse a commit that cannot be taken back as a whole."""
    if len(commit.parents) > 1:
        raise NeosianError(
            f"Commit {commit.id[:10]} is a merge: it is not told which of its sides to take back. Nothing was changed.",
            history.command(store, "log"),
        )
    if commit.id != tip and not store.repo.succeeds("merge-base", "--is-ancestor", commit.id, tip):
        raise NeosianError(
            f"Commit {commit.id[:10]} is not part of main, so there is nothing of it to take back.",
            history.command(store, "log"),
        )


def _is_ours(path: str) -> bool:
    """Whether a path is one that no person's revert may touch: the logs, and what makes the repository work."""
    return in_log(path) or path.startswith(".")


# one act


def _write(
    store: Store, plan: Callable[[Draft], dict[str, bytes | None]], said: str, author: Signature,
    named_by: NamedBy, done: Reverted,
) -> Reverted:  # fmt: skip
    """Adopt, then commit what ``plan`` wants of a draft: the new bytes of each path, None for one that goes."""
    waits = False

    def change(draft: Draft) -> None:
        nonlocal waits
        adopted = adopt.adopt(draft, named_by)
        wanted = {path: data for path, data in plan(draft).items() if draft.read(path) != data}
        _check_room(store, draft, wanted)
        _check_folder(store, draft, wanted)
        done.adopted = [*(path for path in done.adopted if path not in adopted), *adopted]
        # A file of the folder is written over only where main had it so: what is adopted has to land before.
        waits = not set(wanted).isdisjoint(adopted)
        done.paths = sorted(wanted)
        if wanted and not waits:
            for path, data in wanted.items():
                draft.delete(path) if data is None else draft.put(path, data)
            done.commit = draft.commit(said, author, committer())

    store.write(change, patience=_PATIENCE)
    if waits:
        store.write(change, patience=_PATIENCE)
    return done


def _check_folder(store: Store, draft: Draft, paths: dict[str, bytes | None]) -> None:
    """Refuse to write over what lies in the folder, or is staged, and has not landed."""
    for path in adopt.not_landed(draft, list(paths)):
        raise NeosianError(
            f"{path} was changed in the folder and has not landed: saved just now, staged, part of a merge,"
            " or holding a secret. Nothing was changed.",
            history.command(store, "diff", path, "main"),
        )


def _check_room(store: Store, draft: Draft, wanted: dict[str, bytes | None]) -> None:
    """Refuse to put a document where a folder is, or below another document."""
    for path in [path for path, data in wanted.items() if data is not None]:
        there = draft.in_the_way(path)
        if there:
            why = "it is a folder now" if there == path else f"{there} is a document now"
            said = f"{path} cannot be put back: {why}. Nothing was changed."
            raise NeosianError(said, history.command(store, "log", there))


# merging


def _merged(store: Store, draft: Draft, commit: Commit, did: list[Move]) -> dict[str, bytes | None]:
    """What every document is to say, so that all is as if the commit had not been made."""
    plan = _Plan(store, draft, commit)
    for move in did:
        {"A": plan.take_away, "D": plan.bring_back, "M": plan.unedit, "R": plan.unrename}[move.status](move)
    if plan.conflicts:
        raise RevertConflict(store, commit.id[:10], plan.conflicts)
    return plan.wanted


class _Plan:
    """The documents that one commit changed, as they are to be without it: ``wanted`` bytes, None for what goes."""

    def __init__(self, store: Store, draft: Draft, commit: Commit) -> None:
        self.wanted: dict[str, bytes | None] = {}
        self.conflicts: list[Conflict] = []
        self._store = store
        self._draft = draft
        self._commit = commit
        self._places = history.Places(draft, commit.id)

    def take_away(self, move: Move) -> None:
        """A document that the commit added."""
        here = self._lies(move)
        if here is None:
            return
        if self._draft.read(here) == self._after(move):
            self.wanted[here] = None
        else:
            self._conflict(here, "it was changed since.", None)

    def bring_back(self, move: Move) -> None:
        """One that it deleted."""
        path, before = move.was or "", self._before(move)
        if self._draft.read(path) in (None, before):
            self.wanted[path] = before
        else:
            self._conflict(path, "another document is there now.", before)

    def unedit(self, move: Move) -> None:
        """One whose text it changed; it may have another name by now, which it keeps."""
        here = self._lies(move)
        if here is None:
            self._conflict(move.path or "", "it is gone.", self._before(move))
        else:
            self.wanted[here] = self._merge(here, move)

    def unrename(self, move: Move) -> None:
        """One that it gave another name, and perhaps another text."""
        here, old = self._lies(move), move.was or ""
        held = self._draft.read(old)
        if here is None and held == self._before(move):
            return  # somebody has taken it back already
        if here is None:
            self._conflict(move.path or "", "it is gone.", self._before(move))
        elif held is not None and here != old:
            self._conflict(old, "another document is there now.", self._before(move))
        else:
            self.wanted[here] = None
            self.wanted[old] = self._merge(here, move)

    def _merge(self, here: str, move: Move) -> bytes | None:
        """The text at ``here`` without what the commit did to it."""
        base, now, before = self._after(move), self._draft.read(here), self._before(move)
        if now == base or before is None or base is None or now is None:
            return before
        if base == before or now == before:
            return now
        merged, ours, theirs = history.merge(self._store.repo, base, now, before)
        if ours or theirs:
            self.conflicts.append(Conflict(here, "the same lines were changed since.", ours, theirs))
        return merged

    def _conflict(self, path: str, why: str, then: bytes | None) -> None:
        self.conflicts.append(Conflict(path, why, self._draft.read(path), then))

    def _before(self, move: Move) -> bytes | None:
        return (
            history.text_at(self._store, self._commit.parents[0], move.was or "")
            if self._commit.parents
            else None
        )

    def _after(self, move: Move) -> bytes | None:
        return history.text_at(self._store, self._commit.id, move.path or "")

    def _lies(self, move: Move) -> str | None:
        """Where a document of the commit lies now, under its name or a later one; None where it is gone."""
        return self._places.now(move.path or "")


def _text(data: bytes | str | None) -> str:
    return data if isinstance(data, str) else (data or b"").decode("utf-8", "replace")


def _shown(text: str) -> str:
    """A text on lines of its own below what is said of it."""
    if not text:
        return " nothing"
    lines = text.splitlines()
    more = [f"... and {len(lines) - _SHOWN} more lines"] if len(lines) > _SHOWN else []
    return "".join(f"\n    | {line[:200]}" for line in [*lines[:_SHOWN], *more])
