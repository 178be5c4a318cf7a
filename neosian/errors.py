"""The errors neosian expects: each holds facts and builds its own sentence."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable


class NeosianError(Exception):
    """Something a person can understand and mend.

    ``str(error)`` is a whole sentence: what happened and what was kept.
    ``hint`` is the next command to try, or "" where there is none.
    """

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


class UsageError(NeosianError):
    """A wrong invocation: the caller, not the store, must change."""


class BusyError(NeosianError):
    """Somebody else holds what is needed; trying again later will do."""


class BrokenStoreError(NeosianError):
    """A scope's repository cannot be read as it stands."""


class BlockedError(NeosianError):
    """A file cannot lie at a path: ``there`` is no folder, or the path is one."""

    def __init__(self, path: str, there: str) -> None:
        is_what = "a folder" if there == path else "no folder"
        super().__init__(f"{path} cannot be written: {there} is {is_what}. Nothing was changed.")


class DamagedError(BrokenStoreError):
    """A repository that must be mended before anything is written, which not everybody has the time or right to do."""

    def __init__(self, path: str) -> None:
        super().__init__(
            f"{path} is damaged, so nothing was written there; the next landing mends it.", "neosian status"
        )


_FULL = ("No space left on device", "Disk quota exceeded")
_UNWRITTEN = (*_FULL, "couldn't write", "nable to write", "write error")
"""What git says, in the language of our children, where the system took no more bytes; often without the reason."""


class GitError(NeosianError):
    """A git child failed; ``detail`` is what it wrote on stderr, ``args`` its words without the program's own name."""

    def __init__(self, args: tuple[str, ...], status: int, detail: str) -> None:
        self.status = status
        self.detail = detail.strip()
        said = self.detail.splitlines()[-1] if self.detail else "it gave no reason"
        if any(words in self.detail for words in _UNWRITTEN):
            full = "is full" if any(words in self.detail for words in _FULL) else "is full or fails"
            super().__init__(
                f"The disk {full}: git {_verb(args)} could not write ({said}).", "make room on it"
            )
        else:
            super().__init__(f"git {_verb(args)} ended with {status}: {said}", "neosian status")


def _verb(args: tuple[str, ...]) -> str:
    """The command among git's words, behind its own options."""
    while args and args[0].startswith("-"):
        args = args[2:] if args[0] == "-C" else args[1:]
    return args[0] if args else ""


class NoGitError(GitError):
    """There is no git where we look for it, or it is none."""

    def __init__(self, program: str, reason: str | None) -> None:
        super().__init__((), 127, reason or "")
        NeosianError.__init__(
            self,
            f"git is missing: {program} cannot be run ({reason}). Nothing was written.",
            "install git, or set NEOSIAN_GIT to where it is",
        )


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """What to add to a sentence about a word that nothing is called by: ` Did you mean search?`, "" where none is near.

    Written out, since `difflib` costs as much as an interpreter's start, and hooks may have to say this too.
    """
    names = sorted(known)
    near = min(names, key=lambda name: (_distance(word.lower(), name.lower()), name), default="")
    few = max(1, min(len(word), len(near)) // 3)
    return f" Did you mean {near}?" if near and _distance(word.lower(), near.lower()) <= few else ""


def _distance(one: str, other: str) -> int:
    """How many signs have to be put in, left out, exchanged or swapped with the next, for one word to be the other."""
    before: list[int] = []
    row = list(range(len(other) + 1))
    for n, sign in enumerate(one, start=1):
        last, before, row = before, row, [n]
        for m, wanted in enumerate(other, start=1):
            least = min(before[m] + 1, row[m - 1] + 1, before[m - 1] + (sign != wanted))
            if n > 1 < m and sign == other[m - 2] and wanted == one[n - 2]:
                least = min(least, last[m - 2] + 1)
            row.append(least)
    return row[-1]
