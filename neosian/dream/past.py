"""What dreams did before: how far the turns were dreamt, which runs landed, and a run taken back."""

from __future__ import annotations

from neosian import adopting, audit, commits, conversations, history, revert, turns
from neosian.dream import review
from neosian.errors import GitError, NeosianError
from neosian.index import Index

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from neosian.commits import Commit
    from neosian.draft import Signature
    from neosian.dream.review import NamedBy
    from neosian.plumbing import Repo
    from neosian.revert import Reverted
    from neosian.store import Store

RUN, DREAMT, COUNTED, UNDONE = "Dream-Run", "Dreamt", "Counted", "Dream-Undone"
"""Trailers: the run that a commit came of; how far its landing was dreamt by a model, or counted by rules; the run that
a commit takes back."""

_FAR = (DREAMT, COUNTED)
_PATIENCE = 5.0  # seconds: a person waits for it
_LANDS = 600.0  # seconds in which a run lands in all of its scopes, that of its turns last
_TO_LOOK = "neosian audit --act dream"


class Checkpoint:
    """How far a scope's turns were dreamt, on whatever machine: of each conversation the last turn, and the commits
    that were read, newest run first. ``counted``: the same where rules that ask no model count, too: what they read a
    model may read still. ``run`` and ``at``: the newest run ("" and 0 where there was none)."""

    __slots__ = ("at", "commits", "counted", "run", "turns")

    def __init__(self, landings: Sequence[Commit]) -> None:
        self.run = run_of(landings[0]) if landings else ""
        self.at = landings[0].at if landings else 0.0
        self.commits: list[str] = []
        self.turns: dict[str, int] = {}
        self.counted: dict[str, int] = {}
        for commit in landings:
            self.commits += [said for key in _FAR for said in commit.trailers.get(key, []) if "#" not in said]
            for held, keys in ((self.turns, (DREAMT,)), (self.counted, _FAR)):
                for conversation, turn in dreamt_by(commit, keys):
                    held[conversation] = max(turn, held.get(conversation, 0))

    def holds(self, conversation: str, turn: int) -> bool:
        """Whether a turn was dreamt by a model."""
        return turn <= self.turns.get(conversation, 0)


class Past:
    """One run as it landed: its merge ``commit``, and how many ``sessions`` it dreamt and ``notes`` it changed."""

    __slots__ = ("at", "commit", "notes", "run", "sessions")

    def __init__(self, commit: Commit) -> None:
        self.run = run_of(commit)
        self.at = commit.at
        self.commit = commit.id
        self.sessions = len(list(dreamt_by(commit)))
        self.notes = len({path for _, path, _ in commit.changes})

    def json(self) -> dict[str, object]:
        """The fields that `--json` prints."""
        return {name: getattr(self, name) for name in self.__slots__} | {"at": turns.stamp(self.at)}


def checkpoint(store: Store) -> Checkpoint:
    """How far the turns of a scope were dreamt, as main's history says: never by a clock."""
    return Checkpoint(_landings(store))


def runs(store: Store, limit: int | None = None) -> list[Past]:
    """The runs that landed in a scope with its turns, newest first."""
    return [Past(commit) for commit in _landings(store, limit)]


def run_of(commit: Commit) -> str:
    """The run that a commit came of, "" for none."""
    return commit.trailers.get(RUN, [""])[0]


def dreamt_by(commit: Commit, keys: Sequence[str] = _FAR) -> Iterator[tuple[str, int]]:
    """The conversations that a commit says were dreamt, each with its last turn."""
    for said in [said for key in keys for said in commit.trailers.get(key, [])]:
        conversation, turn = conversations.split(said)
        if turn is not None:
            yield conversation, turn


def _landings(store: Store, limit: int | None = None) -> list[Commit]:
    """The commits on main that moved the checkpoint, newest first. A session's own commit names its conversation."""
    tip = store.repo.tip() if store.exists else None
    if tip is None:
        return []
    with Index.open(store.cache) as index:
        acts = index.commits(act=review.NAME, limit=None) if index.catch_up(store.repo, None) else None
    if acts is None:
        found = _grepped(store.repo, tip)
    else:
        ids = [act.id for act in acts if not act.conversation][:limit]
        try:
            found = commits.log(store.repo, "--no-walk=unsorted", *ids) if ids else []
        except GitError:
            found = _grepped(store.repo, tip)
    is_landing = [
        commit.email.endswith(commits.OURS)
        and any(map(commit.trailers.get, _FAR))
        and not commit.conversation
        for commit in found
    ]
    return [commit for commit, is_one in zip(found, is_landing, strict=True) if is_one][:limit]


def _grepped(repo: Repo, tip: str) -> list[Commit]:
    return commits.log(repo, "--fixed-strings", *(f"--grep={key}: " for key in _FAR), tip)


# taking back


class Undone:
    """A run that was taken back: what was done in each scope, what of it waited and went too (``dropped``: scope and
    path), and the edits of the folder that were ``adopted`` first."""

    def __init__(self, run: str) -> None:
        self.run = run
        self.scopes: list[tuple[str, Reverted]] = []
        self.dropped: list[tuple[str, str]] = []
        self.adopted: list[str] = []

    def json(self) -> dict[str, object]:
        """The fields that `--json` prints."""
        rows = [{"scope": scope, "commit": done.commit, "paths": done.paths} for scope, done in self.scopes]
        dropped = [{"scope": scope, "path": path} for scope, path in self.dropped]
        return {"run": self.run, "scopes": rows, "dropped": dropped, "adopted": self.adopted}


def undo(stores: Sequence[Store], person: Signature, named_by: NamedBy, run: str = "") -> Undone:
    """Take a run back in all its scopes, also what of it was accepted later: by default the last one that changed
    something, or of which something waits.

    Merged three ways, so what people changed since stays. Where it cannot, `RevertConflict` has both texts and nothing
    was changed in any scope. The checkpoint stays: its turns are not dreamt again by themselves.
    """
    stores = [store for store in stores if store.exists]
    landed = [_by_run(store) for store in stores]
    run = run or _last(stores, landed)
    found = [(store, commits_of.get(run, [])) for store, commits_of in zip(stores, landed, strict=True)]
    if not any(commits_of for _, commits_of in found) and not _waits(stores, run):
        raise NeosianError(
            f"No dream {run!r} changed anything here, nor does anything of it wait; nothing was done.",
            _TO_LOOK,
        )
    undone = Undone(run)
    for store, commits_of in found:  # all are tried before one is done
        undone.adopted += adopting.adopt_edits(store, named_by, patience=_PATIENCE)
        revert.check_all(store, commits_of)
    trailers = {"Neosian-Act": "edit", "Neosian-Actor": person.name, UNDONE: run}
    for store, commits_of in found:
        if commits_of:
            done = revert.take_back_all(store, commits_of, f"Undo dream {run}", trailers, person, named_by)
            undone.scopes.append((store.scope, done))
        undone.dropped += [(store.scope, path) for path in review.drop_of(store, run)]
    return undone


def came_to(stores: Sequence[Store], past: Past) -> tuple[int, bool]:
    """How many notes a run changed in some scopes, and whether it was taken back since."""
    notes, undone = 0, False
    run, since = (
        past.run,
        past.at - _LANDS,
    )  # only what is as young is read: a home may have thousands of runs
    for store in stores:
        found = _by_run(store, since).get(run, [])
        notes += len({path for commit in found for _, path, _ in commit.changes})
        undone |= bool(found) and run in _undone(store, f"{found[0].id}..{history.tip_of(store)}")
    return notes, undone


def _last(stores: Sequence[Store], landed: Sequence[Mapping[str, list[Commit]]]) -> str:
    """The newest run that changed something, or of which something waits, and that was not taken back."""
    past = runs(stores[-1]) if stores else []
    if not past:
        raise NeosianError("No dream has landed here yet; nothing was done.", "neosian dream")
    back = {run for store in stores for run in _undone(store, history.tip_of(store))}
    for each in past:
        is_there = any(commits_of.get(each.run) for commits_of in landed) and each.run not in back
        if is_there or _waits(stores, each.run):
            return each.run
    raise NeosianError(
        "There is nothing to take back: no dream changed anything here that still stands.", _TO_LOOK
    )


def _undone(store: Store, commits_among: str) -> set[str]:
    """The runs that were taken back by these commits."""
    found = commits.log(store.repo, "--fixed-strings", f"--grep={UNDONE}: ", commits_among)
    return {run for commit in found for run in commit.trailers.get(UNDONE, [])}


def _waits(stores: Sequence[Store], run: str) -> bool:
    """Whether anything of a run waits for review."""
    return any(review.waits_of(store, run) for store in stores)


def _by_run(store: Store, since: float | None = None) -> dict[str, list[Commit]]:
    """What brought each run to main, newest first: its merge, and what a person accepted later."""
    found: dict[str, list[Commit]] = {}
    for commit in audit.history(store, audit.Wanted(act=review.NAME, since=since), 1_000_000):
        if run_of(commit) and (len(commit.parents) > 1 or "Accepted-By" in commit.trailers):
            found.setdefault(run_of(commit), []).append(commit)
    return found
