"""How a dream reaches main: merged three ways when it is whole, never over what people wrote meanwhile.

Which turns were dreamt is said by the merge, and nowhere else: main and its checkpoint move in one step.
"""

from __future__ import annotations

import time

from neosian import adopt, commits, history
from neosian.draft import Draft
from neosian.dream import review
from neosian.dream.fitting import Fitter
from neosian.dream.past import COUNTED, DREAMT, RUN, run_of
from neosian.dream.review import ASKED, COLLIDED, NAME, REVIEW, WAITS, commit_apart, draft_change
from neosian.dream.run import PATIENCE, RunError, between
from neosian.errors import DamagedError
from neosian.plumbing import NOTHING
from neosian.store import agent, committer, message

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Container, Sequence

    from neosian.commits import Commit
    from neosian.dream.review import NamedBy
    from neosian.dream.run import Run
    from neosian.history import Move
    from neosian.plumbing import Repo
    from neosian.revert import Conflict
    from neosian.store import Store

_UNSETTLED = 0.2


class Merged:
    """What became of a run in one scope: its ``commit`` on main (None: nothing to do, or done before), the ``paths``
    that it changed, the ``conflicts`` it met, what was ``left`` since somebody pinned or deleted it, and what waits
    ``to_review``, whyever."""

    def __init__(self, scope: str) -> None:
        self.scope = scope
        self.commit: str | None = None
        self.paths: list[str] = []
        self.conflicts: list[Conflict] = []
        self.left: list[Conflict] = []
        self.to_review: list[str] = []
        self.adopted: list[str] = []
        self.may_settle = False

    def json(self) -> dict[str, object]:
        """The fields that `--json` prints."""
        return {
            "scope": self.scope, "commit": self.commit, "paths": self.paths, "to_review": self.to_review,
            "conflicts": [review.said(each) for each in self.conflicts],
            "left": [review.said(each) for each in self.left], "adopted": self.adopted,
        }  # fmt: skip


class Landed:
    """What became of a ``run``: one `Merged` for each scope, in the order in which they landed."""

    def __init__(self, run: str, dreamt: dict[str, int]) -> None:
        self.run = run
        self.dreamt = dreamt
        self.scopes: list[Merged] = []

    def json(self) -> dict[str, object]:
        """The fields that `--json` prints."""
        return {"run": self.run, "dreamt": self.dreamt, "scopes": [each.json() for each in self.scopes]}


class _Unsettled(Exception):
    """An edit that was saved just now stands in the way: a moment later it is adopted."""


def land(run: Run, named_by: NamedBy, *, apart: bool = False) -> Landed:
    """Merge a run's commits into the main of each scope, that of the turns last, with the checkpoint.

    Again after a kill it goes on: what has landed is not landed twice. ``apart``: nothing lands, all of it waits for
    review; the checkpoint moves all the same. Raises BusyError where somebody holds a scope too long; the run is
    kept then.
    """
    apart = run.seal(apart)
    landed = Landed(run.id, dict(run.dreamt))
    for store in run.stores:
        if store.scope in run.tips:
            try:
                landed.scopes.append(_land(run, store, named_by, apart))
            finally:
                store.repo.close()
    return landed


def _land(run: Run, store: Store, named_by: NamedBy, apart: bool) -> Merged:
    """One scope's part."""
    if not store.is_sound():
        raise DamagedError(store.path)
    if not store.repo.succeeds("merge-base", "--is-ancestor", run.bases[store.scope], history.tip_of(store)):
        run.drop()  # forgetting rewrites history; a merge would bring back what main was freed of
        raise RunError(
            f"The history of {store.scope} was rewritten while the dream {run.id} ran, so the dream was dropped;"
            " its turns are dreamt next time.",
            "neosian dream",
        )
    since = between(store.repo, run.bases[store.scope], history.tip_of(store))
    landed = any(run_of(commit) == run.id for commit in since)
    merged = Merged(store.scope) if landed else _merge(run, store, named_by, apart)
    merged.to_review = sorted({*merged.to_review, *_hand_over(run, store)})
    return merged


def _merge(run: Run, store: Store, named_by: NamedBy, apart: bool) -> Merged:
    """The run's commits of a scope, merged into main in one step; what does not fit is made to wait before."""
    merged = Merged(store.scope)
    until = time.monotonic() + PATIENCE

    def change(draft: Draft) -> None:
        nonlocal merged
        merged = Merged(store.scope)
        merged.adopted = adopt.adopt(draft, named_by)
        _merge_into(run, store, draft, merged, apart)
        if merged.may_settle and time.monotonic() < until:
            raise _Unsettled

    while True:
        try:
            store.write(change, patience=PATIENCE)
            return merged
        except _Unsettled:
            time.sleep(_UNSETTLED)


def _merge_into(run: Run, store: Store, draft: Draft, merged: Merged, apart: bool) -> None:
    """Put into the draft what fits, have the rest wait, and commit it all as one merge."""
    repo, base, tip = store.repo, run.bases[store.scope], run.tips[store.scope]
    fitter = Fitter(draft, base)
    refused: list[Move] = []
    without: set[str | None] = set()
    for move in history.moves_between(repo, base, tip):
        fit = None if apart else fitter.put(move)
        if fit is not None and fit.conflict is None:
            merged.paths += sorted(fit.wanted)
            continue
        without |= {move.was, move.path}
        if fit is None or not fit.is_moot:
            refused.append(move)
        if fit is not None and fit.conflict is not None:
            (merged.left if fit.is_moot else merged.conflicts).append(fit.conflict)
            merged.may_settle |= fit.may_settle
    merged.to_review = _let_wait(run, store, refused, ASKED if apart else COLLIDED)
    marks = _marks(run, store)
    if marks or merged.paths:
        body = "\n".join(f"- {each.path}: {each.why}" for each in (*merged.conflicts, *merged.left))
        trailers = {"Neosian-Act": NAME, "Neosian-Actor": NAME, RUN: run.id, run.mark: marks}
        joined = _replayed(repo, base, tip, without) if merged.paths else base
        said = message(_subject(merged, run), trailers, body)
        author = agent(NAME, time.time())
        merged.commit = draft.commit(said, author, committer(), joined if joined != base else "")


def _marks(run: Run, store: Store) -> list[str]:
    """What the checkpoint says: the commit that was read, and how far each conversation was dreamt."""
    if store is not run.turns or not run.dreamt:
        return []
    return [run.bases[store.scope], *(f"{name}#{turn}" for name, turn in sorted(run.dreamt.items()))]


def _let_wait(run: Run, store: Store, refused: Sequence[Move], why: str) -> list[str]:
    """Name a commit for each change that does not land, before main moves; the paths.

    It is done anew when main has moved meanwhile: the names are the same then.
    """
    repo, prefix = store.repo, f"{run.prefix}left/"
    base = run.bases[store.scope]
    found = between(repo, base, run.tips[store.scope]) if refused else []
    new = {f"{number:04}": _gathered(repo, base, move, found, why) for number, move in enumerate(refused, 1)}
    old = repo.refs(prefix)
    changes = [(prefix + name, new.get(name, NOTHING), old.get(name, NOTHING)) for name in {*old, *new}]
    if changes:
        repo.update_refs(changes)
    return sorted(move.path or move.was or "" for move in refused)


def _hand_over(run: Run, store: Store) -> list[str]:
    """Have what waits wait for review, and let the run's refs go, in one step; the paths that wait."""
    repo, prefix = store.repo, run.prefix
    with store.lock(PATIENCE):
        refs = repo.refs(prefix)
        known = repo.refs(REVIEW)
        waits = [refs[name] for name in sorted(refs) if name.startswith(("left/", "wait/"))]
        moved = [(prefix + name, NOTHING, id) for name, id in refs.items()]
        for number, id in enumerate(waits, 1):
            name = f"{run.id}-{number}"
            moved.append((REVIEW + name, id, known.get(name, NOTHING)))
        if moved:
            repo.update_refs(moved)
    found = commits.log(repo, "--no-walk", *sorted(set(waits))) if waits else []
    return [path for commit in found for _, path, _ in commit.changes]


def _replayed(repo: Repo, base: str, tip: str, without: Container[str | None]) -> str:
    """The run's commits as they land: those of sessions that gave something, without the paths that do not land.

    What lands whole keeps its ids.
    """
    draft = Draft(repo, base)
    for commit in between(repo, base, tip):
        kept = {
            each.path: None if each.after == NOTHING else history.sure_body(repo, each.after)
            for each in repo.diff(commit.parents[0], commit.id)
            if each.path not in without
        }
        if kept:
            draft_change(draft, kept, _reasons_of([commit], repo, kept), commit.trailers, commit.at)
    draft.write()
    return draft.tip or base


def _reasons_of(found: Sequence[Commit], repo: Repo, named: Container[str]) -> str:
    """What these commits say of some paths."""
    rows = [row for commit in found for row in commits.body(repo, commit.id).split("\n")]
    return "\n".join(row for row in rows if row[2:].partition(": ")[0] in named)


def _gathered(repo: Repo, base: str, move: Move, found: Sequence[Commit], why: str) -> str:
    """A commit for review of what several sessions made of a note, with all their reasons and sources; its id."""
    named = [path for path in (move.was, move.path) if path is not None]
    by = [commit for commit in found if any(path in named for _, path, _ in commit.changes)]
    trailers: dict[str, list[str]] = {}
    for commit in by:
        for key, values in commit.trailers.items():
            trailers[key] = list(dict.fromkeys([*trailers.get(key, []), *values]))
    for key in (DREAMT, COUNTED):
        trailers.pop(key, None)
    trailers[WAITS] = [why]
    changes: dict[str, bytes | None] = {move.was: None} if move.was is not None else {}
    if move.path is not None:
        changes[move.path] = history.sure_body(repo, move.after)
    at = by[-1].at if by else time.time()
    return commit_apart(repo, base, changes, _reasons_of(by, repo, named), trailers, at)


def _subject(merged: Merged, run: Run) -> str:
    """The subject of a merge."""
    sessions = len(run.dreamt)
    notes = f"{len(merged.paths)} note{'s' * (len(merged.paths) != 1)}" if merged.paths else "nothing new"
    if not merged.paths and merged.to_review:
        notes = f"{len(merged.to_review)} for review"
    did = "Count" if run.mark == COUNTED else "Dream"
    return f"{did} of {sessions} session{'s' * (sessions != 1)}: {notes}"
