"""Where a change fits into main as it is now: merged three ways, and never over somebody's work."""

from __future__ import annotations

from neosian import adopt, documents, history, paths
from neosian.plumbing import FILE, PROGRAM
from neosian.revert import Conflict

TYPE_CHECKING = False
if TYPE_CHECKING:
    from neosian.draft import Draft
    from neosian.history import Move

IS_GONE = "it was deleted meanwhile."
IS_PINNED = "it is pinned."
_EDITED = "it has a change in the folder that has not landed: being edited, staged, or holding a secret."


class Fit:
    """What a change comes to: the ``wanted`` bytes of each path (None: it goes), or the ``conflict`` it meets.

    ``is_moot``: somebody decided otherwise meanwhile, so that there is nothing to ask a person. ``may_settle``: what
    stands in the way is an edit in the folder, which mostly lands within seconds.
    """

    __slots__ = ("conflict", "is_moot", "may_settle", "wanted")

    def __init__(
        self, wanted: dict[str, bytes | None] | None = None, conflict: Conflict | None = None
    ) -> None:
        self.wanted = wanted or {}
        self.conflict = conflict
        self.is_moot = False
        self.may_settle = False


class Fitter:
    """Fits the changes that were made to ``base`` into a draft of main, one after the other.

    ``by_person``: a person wants it so, who may change what is pinned.
    """

    def __init__(self, draft: Draft, base: str, *, by_person: bool = False) -> None:
        self._draft = draft
        self._by_person = by_person
        self._places = history.Places(draft, base)

    def fit(self, move: Move) -> Fit:
        """One change, not yet made. Main is left alone."""
        how = {"A": self._added, "D": self._deleted, "M": self._edited, "R": self._renamed}[move.status]
        try:
            fit = how(move)
        except paths.Twin as twin:
            fit = self._meets(move, f"{twin.other} differs from it only in upper and lower case.")
        return fit if fit.conflict else self._checked(move, fit)

    def put(self, move: Move) -> Fit:
        """The same, and made in the draft where it fits."""
        fit = self.fit(move)
        if fit.conflict is None:
            for path, data in fit.wanted.items():
                self._draft.delete(path) if data is None else self._draft.put(path, data)
        return fit

    def _checked(self, move: Move, fit: Fit) -> Fit:
        """Refuse what would be written over something else than a document in step with the folder."""
        fit.wanted = {path: data for path, data in fit.wanted.items() if self._draft.read(path) != data}
        for path, data in fit.wanted.items():
            entry = self._draft.entry(path)
            there = self._draft.in_the_way(path) if data is not None else ""
            if there:
                return self._meets(move, f"{there} is {'a folder' if there == path else 'no folder'} now.")
            if entry is not None and entry.mode not in (FILE, PROGRAM):
                return self._meets(move, f"{path} is a link now.")
        if fit.wanted and adopt.not_landed(self._draft, list(fit.wanted)):
            found = self._meets(move, _EDITED)
            found.may_settle = True
            return found
        return fit

    # -- each kind of change

    def _added(self, move: Move) -> Fit:
        path = paths.settle(move.path or "", self._draft.folder)
        held, new = self._draft.read(path), self._text(move.after)
        if held is None:
            return Fit({path: new})
        return self._merged(move, path, path, b"", held, new)

    def _edited(self, move: Move) -> Fit:
        here = self._places.now(move.was or "")
        if here is None:
            return self._meets(move, IS_GONE, is_moot=True)
        return self._changed(move, here, here)

    def _renamed(self, move: Move) -> Fit:
        old = move.was or ""
        here = self._places.now(old)
        if here != old:  # somebody found it another place, which it keeps
            return self._edited(move)
        target = paths.settle(move.path or "", self._draft.folder)
        if self._draft.read(target) is not None:
            return self._meets(move, "another document is there now.", target)
        return self._changed(move, old, target)

    def _deleted(self, move: Move) -> Fit:
        path = move.was or ""
        held = self._draft.read(path)
        if held is None:
            return Fit()
        if self._is_pinned(held):
            return self._meets(move, IS_PINNED, is_moot=True)
        if held != self._text(move.before):
            return self._meets(move, "it was changed meanwhile.")
        return Fit({path: None})

    def _changed(self, move: Move, here: str, target: str) -> Fit:
        held = self._draft.read(here) or b""
        if self._is_pinned(held):
            return self._meets(move, IS_PINNED, here, is_moot=True)
        return self._merged(move, here, target, self._text(move.before), held, self._text(move.after))

    def _merged(self, move: Move, here: str, target: str, base: bytes, held: bytes, new: bytes) -> Fit:
        """The document at ``here`` with the change, to lie at ``target``."""
        if held in (base, new):
            data = new
        elif base == new:
            data = held
        else:
            data, ours, theirs = history.merge_note(self._draft.repo, base, held, new)
            if ours or theirs:
                return Fit(conflict=Conflict(here, "the same lines were changed meanwhile.", ours, theirs))
        return Fit({here: None, target: data} if here != target else {target: data})

    def _meets(self, move: Move, why: str, path: str = "", *, is_moot: bool = False) -> Fit:
        """A change that does not fit, with both texts."""
        path = path or move.path or move.was or ""
        then = None if move.path is None else self._text(move.after)
        fit = Fit(conflict=Conflict(path, why, self._draft.read(path), then))
        fit.is_moot = is_moot
        return fit

    def _is_pinned(self, held: bytes) -> bool:
        return not self._by_person and documents.read(held).pinned

    def _text(self, id: str) -> bytes:
        return history.sure_body(self._draft.repo, id)
