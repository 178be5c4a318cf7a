"""The errors neosian expects: each holds facts and builds its own sentence."""

from __future__ import annotations


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


class DamagedError(BrokenStoreError):
    """A repository that must be mended before anything is written, which not everybody has the time or right to do."""

    def __init__(self, path: str) -> None:
        super().__init__(
            f"{path} is damaged, so nothing was written there; the next landing mends it.", "neosian status"
        )


class GitError(NeosianError):
    """A git child failed; ``detail`` is what it wrote on stderr."""

    def __init__(self, args: tuple[str, ...], status: int, detail: str) -> None:
        self.status = status
        self.detail = detail.strip()
        said = self.detail.splitlines()[-1] if self.detail else "it gave no reason"
        super().__init__(f"git {args[0] if args else ''} ended with {status}: {said}", "neosian status")
