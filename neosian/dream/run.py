"""A run of the dream while it thinks: its commits, apart from main and the folder, on refs of their own.

Below `refs/neosian/dream/<run>/` of each scope that it may write to:

- `base`: the commit of main that was read
- `turns` or `along`: the run's newest commit, in the scope whose turns are dreamt or in another one
- `wait/<n>`: a change that a person is to look at, a commit of its own
- `left/<n>`: one that did not fit when the run landed
- `sealed`: the run is whole and is being landed
- `apart`: all of it is to wait for review

So a run that was killed goes on where it was, or is dropped, and nothing else ever sees half of it.
"""

from __future__ import annotations

import os
import re
import time

from neosian import adopt, commits, history, paths
from neosian.dream.past import COUNTED, DREAMT, RUN, dreamt_by, run_of
from neosian.dream.review import NAME, OF_A_PERSON, WAITS, commit_apart
from neosian.errors import BrokenStoreError, BusyError, GitError, NeosianError
from neosian.gitlocks import clear_locks_below
from neosian.places import machine
from neosian.plumbing import NOTHING, object_id
from neosian.redact import path_is_clean, redact_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from neosian.commits import Commit
    from neosian.plumbing import Repo
    from neosian.store import Store

DREAM = "refs/neosian/dream/"
PATIENCE = 5.0
"""Seconds that a run waits for locks, and for a person's save to settle."""

_TURNS, _ALONG = "turns", "along"


class RunError(NeosianError):
    """A run that cannot land as it is."""


# what is given


class Change:
    """What a note is to be: its whole ``data`` (None: deleted), why, and from which turns (`conversation#turn`)."""

    __slots__ = ("data", "reason", "sources")

    def __init__(self, data: bytes | None, reason: str = "", sources: Iterable[str] = ()) -> None:
        self.data = data
        self.reason = " ".join(reason.split())
        self.sources = list(sources)


class Made:
    """What one session gave in one ``scope``: the accepted ``changes`` by path in the scope, and those ``to_review``,
    made from the notes as ``changes`` leave them. A rename is a deletion and a new path."""

    __slots__ = ("changes", "scope", "to_review")

    def __init__(
        self,
        scope: str,
        changes: Mapping[str, Change] | None = None,
        to_review: Mapping[str, Change] | None = None,
    ) -> None:
        self.scope = scope
        self.changes = dict(changes or {})
        self.to_review = dict(to_review or {})


# a run


class Run:
    """One dream: its commits in each scope it may write to. The last of ``stores`` is the one whose turns are dreamt.

    ``dreamt``: the last turn that was dreamt, by conversation. ``is_sealed``: all that is left is to land it. ``mark``:
    the trailer that says how far it came.
    """

    def __init__(self, id: str, stores: Sequence[Store]) -> None:
        self.id = id
        self.stores = list(stores)
        self.is_sealed = False
        self.mark = DREAMT
        self.dreamt: dict[str, int] = {}
        self.tips: dict[str, str] = {}
        self.bases: dict[str, str] = {}
        self._load()

    @property
    def prefix(self) -> str:
        """Where its refs are."""
        return f"{DREAM}{self.id}/"

    @property
    def turns(self) -> Store:
        """The scope whose turns are dreamt."""
        return self.stores[-1]

    def add(self, conversation: str, client: str, turn: int, made: Sequence[Made] = ()) -> dict[str, str]:
        """A session was dreamt up to ``turn``; what it gave, if anything, one commit a scope. The tips by scope."""
        if self.is_sealed:
            raise RunError(f"The dream {self.id} is whole already and can only land.", "neosian dream")
        given = {each.scope: each for each in made}
        if unknown := set(given) - {store.scope for store in self.stores}:
            raise RunError(f"The dream {self.id} does not write to {', '.join(sorted(unknown))}.")
        for each in made:
            for path, change in (*each.changes.items(), *each.to_review.items()):
                _check(path, change)
        said = {
            "Neosian-Act": NAME, "Neosian-Actor": NAME, "Conversation": conversation, "Client": client, RUN: self.id,
        }  # fmt: skip
        for store in self.stores:
            found = given.get(store.scope, Made(store.scope))
            mark = {self.mark: f"{conversation}#{turn}"} if store is self.turns else {}
            if mark or found.changes or found.to_review:
                self._add(store, found, said, mark)
        self.dreamt[conversation] = max(turn, self.dreamt.get(conversation, 0))
        return dict(self.tips)

    def _add(self, store: Store, made: Made, said: Mapping[str, str], mark: Mapping[str, str]) -> None:
        """One scope's part of a session: its commit and what waits, named in one step."""
        repo, prefix, old = store.repo, self.prefix, self.tips[store.scope]
        refs = repo.refs(prefix)
        if refs.get(self._role(store)) != old:
            raise BusyError(
                f"Another process goes on with the dream {self.id}: this one stops.", "neosian status"
            )
        new = _commit(repo, old, made.changes, {**said, **mark}) if mark or made.changes else old
        moved = [(prefix + self._role(store), new, old)] if new != old else []
        waiting = sum(name.startswith("wait/") for name in refs)
        for number, group in enumerate(_one_by_one(repo, new, made.to_review), waiting + 1):
            made_apart = _commit(repo, new, group, {**said, WAITS: OF_A_PERSON})
            moved.append((f"{prefix}wait/{number:04}", made_apart, NOTHING))
        if moved:
            repo.update_refs(moved)
        self.tips[store.scope] = new
        repo.close()

    def check(self) -> None:
        """Raise GitError where a crash of the machine took something of it."""
        for store in self.stores:
            refs = store.repo.refs(self.prefix) if store.exists else {}
            if refs and "base" not in refs:
                raise BrokenStoreError(f"The dream {self.id} lost where it began.", "neosian dream")
            if refs:
                made = sorted(set(refs.values()))
                store.repo.git("rev-list", "--objects", "--quiet", *made, "--not", refs["base"], timeout=60.0)

    def drop(self) -> None:
        """Let the run go, as if it had not been."""
        _forget(self.stores, self.id)

    # -- refs

    def _load(self) -> None:
        """Read the run's refs; a session that is not whole in all scopes is taken out again."""
        for store in reversed(self.stores):
            refs = store.repo.refs(self.prefix) if store.exists else {}
            role = self._role(store)
            if "base" not in refs or role not in refs:
                continue
            self.bases[store.scope], self.tips[store.scope] = refs["base"], refs[role]
            found = between(store.repo, refs["base"], refs[role])
            if store is self.turns:
                self.is_sealed = "sealed" in refs
                for commit in found:
                    self.mark = COUNTED if COUNTED in commit.trailers else DREAMT
                    for conversation, turn in dreamt_by(commit):
                        self.dreamt[conversation] = max(turn, self.dreamt.get(conversation, 0))
            else:
                self._take_out_the_half(store, refs, found)

    def _take_out_the_half(self, store: Store, refs: Mapping[str, str], found: Sequence[Commit]) -> None:
        """Of another scope: its part of a session that the scope of the turns does not know was dreamt."""
        tip = refs[_ALONG]
        for commit in reversed(found):
            if commit.conversation in self.dreamt:
                break
            tip = commit.parents[0]
        waits = {name: id for name, id in refs.items() if name.startswith("wait/")}
        known = {id: commits.log(store.repo, "--no-walk", id)[0].conversation for id in waits.values()}
        moved = [
            (self.prefix + name, NOTHING, id) for name, id in waits.items() if known[id] not in self.dreamt
        ]
        if tip != refs[_ALONG]:
            moved.append((self.prefix + _ALONG, tip, refs[_ALONG]))
        if moved:
            store.repo.update_refs(moved)
        self.tips[store.scope] = tip

    def seal(self, apart: bool) -> bool:
        """Note that the run is whole, and how it is to land; what was noted first counts."""
        repo = self.turns.repo
        refs = repo.refs(self.prefix)
        if self.turns.scope not in self.tips or _TURNS not in refs:
            raise RunError(f"There is no dream {self.id} to land.", "neosian dream")
        apart = apart or "apart" in refs
        if "sealed" in refs:
            return "apart" in refs
        if other := self._outrun():
            self.drop()
            raise RunError(
                f"The dream {other} landed turns of the dream {self.id} first, so this one was dropped;"
                " turns that neither landed are dreamt next time.",
                "neosian dream",
            )
        names = {"sealed", "apart"} if apart else {"sealed"}
        repo.update_refs(
            (self.prefix + name, self.tips[self.turns.scope], NOTHING) for name in sorted(names - refs.keys())
        )
        self.is_sealed = True
        return apart

    def _outrun(self) -> str:
        """The run of another process that landed some of the same turns after this one began; "" for none."""
        store = self.turns
        for commit in between(store.repo, self.bases[store.scope], history.tip_of(store)):
            other = run_of(commit)
            if other not in ("", self.id) and any(name in self.dreamt for name, _ in dreamt_by(commit)):
                return other
        return ""

    def _role(self, store: Store) -> str:
        return _TURNS if store is self.turns else _ALONG


def new_id(home: str, now: float) -> str:
    """A name for a run that begins now, of this one alone: `20261129-204107-ab12-5f3c`.

    Of one second there may be several: `--all` dreams of one project after the other, and they share the user scope.
    """
    began = time.strftime("%Y%m%d-%H%M%S", time.localtime(now))
    return f"{began}-{machine(home)}-{os.urandom(2).hex()}"


def begin(
    stores: Sequence[Store],
    id: str,
    bases: Mapping[str, str] | None = None,
    *,
    apart: bool = False,
    is_counted: bool = False,
) -> Run:
    """A new run. ``stores``: those it may write to, the one whose turns are dreamt last; scopes are made where they are
    missing. ``bases``: the commit of main that was read in each scope (default: its tip now). ``apart``: whoever lands
    it, all of it waits for review. ``is_counted``: no model reads the turns."""
    if not re.fullmatch(r"[a-z0-9]([a-z0-9-]*[a-z0-9])?", id):
        raise RunError(f"{id!r} is no name of a dream: small letters, digits and hyphens are.")
    for store in reversed(stores):  # a run is there when that of the turns is
        with store.lock(PATIENCE):
            if not store.ready():
                store.make()
            clear_locks_below(store.repo, DREAM)
            base = (bases or {}).get(store.scope) or history.tip_of(store)
            role = _TURNS if store is stores[-1] else _ALONG
            is_apart = apart and store is stores[-1]
            names = [f"{DREAM}{id}/{name}" for name in ("base", role, *(["apart"] if is_apart else []))]
            if store.repo.refs(f"{DREAM}{id}/"):
                raise RunError(f"There is a dream {id} already.", "neosian status")
            store.repo.update_refs((name, base, NOTHING) for name in names)
        store.repo.close()
    run = Run(id, stores)
    run.mark = COUNTED if is_counted else DREAMT
    return run


def unfinished(stores: Sequence[Store]) -> list[Run]:
    """The runs of the turns of the last store that were begun and have not landed, oldest first.

    A sealed one is landed; another goes on, or is dropped. One that a crash left in pieces is dropped here.
    """
    if not stores or not stores[-1].exists:
        return []
    found = []
    refs = stores[-1].repo.refs(DREAM)
    for id in sorted({name.partition("/")[0] for name in refs if name.endswith(f"/{_TURNS}")}):
        for store in stores:
            clear_locks_below(store.repo, DREAM)
        try:
            run = Run(id, stores)
            run.check()
        except (GitError, BrokenStoreError):
            _forget(stores, id)
            continue
        if run.is_sealed or len(run.tips) == len(stores):
            found.append(run)
        else:
            run.drop()
    for store in stores:
        store.repo.close()
    return found


# commits


def _check(path: str, change: Change) -> None:
    """Refuse what the gate should have: nothing else may reach git."""
    if paths.check(path) != path:
        raise paths.PathError(path, "it is not written as paths are", paths.check(path))
    if not path_is_clean(path) or (change.data is not None and adopt.holds_secret(change.data)):
        raise RunError(
            f"{redact_path(path)} would hold what looks like a secret, so the session was not kept."
        )


def _commit(repo: Repo, parent: str, changes: Mapping[str, Change], said: Mapping[str, str]) -> str:
    """A commit upon ``parent``, also where it changes nothing; its id."""
    body = "\n".join(f"- {path}: {change.reason}" for path, change in changes.items() if change.reason)
    sources = list(dict.fromkeys(source for change in changes.values() for source in change.sources))
    return commit_apart(repo, parent, _bytes(changes), body, {**said, "Source": sources}, time.time())


def _bytes(changes: Mapping[str, Change]) -> dict[str, bytes | None]:
    return {path: change.data for path, change in changes.items()}


def _one_by_one(repo: Repo, parent: str, changes: Mapping[str, Change]) -> list[dict[str, Change]]:
    """Changes as they are reviewed: each by itself, a rename's two paths together; those that change something."""
    held = {path: repo.read(parent, path) for path in changes}
    changes = {path: change for path, change in changes.items() if change.data != held[path]}
    old = {path: object_id("blob", data) for path, data in held.items() if data is not None}
    new = {path: object_id("blob", each.data) for path, each in changes.items() if each.data is not None}
    texts = {
        object_id("blob", data): data
        for data in [*held.values(), *_bytes(changes).values()]
        if data is not None
    }
    moved = history.renames(old, new, lambda id: texts[id])
    groups = [{path: changes[path]} for path in changes if path not in {*moved, *moved.values()}]
    return groups + [{was: changes[was], path: changes[path]} for was, path in moved.items()]


def between(repo: Repo, base: str, tip: str) -> list[Commit]:
    """The commits from ``base`` to ``tip``, oldest first."""
    return commits.log(repo, "--reverse", "--topo-order", f"{base}..{tip}") if base != tip else []


def _forget(stores: Sequence[Store], id: str) -> None:
    """Let all refs of a run go, those of the turns last: they say that there is one."""
    for store in stores:
        if store.exists:
            with store.lock(PATIENCE):
                refs = store.repo.refs(f"{DREAM}{id}/")
                if refs:
                    store.repo.update_refs(
                        (f"{DREAM}{id}/{name}", NOTHING, old) for name, old in refs.items()
                    )
            store.repo.close()
