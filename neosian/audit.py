"""Who changed what, when, and from which turn: read from git, found fast by the index."""

from __future__ import annotations

from neosian import commits
from neosian.errors import GitError
from neosian.index import Index
from neosian.publish import in_log

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from neosian.commits import Commit
    from neosian.store import Store


class Wanted:
    """Conditions on commits; each that is None holds for all. ``actor`` is a prefix, times are seconds since 1970.

    ``documents``: only commits that changed more than turn logs and session pages.
    """

    __slots__ = ("act", "actor", "conversation", "documents", "path", "since", "turn", "until")

    def __init__(
        self, *, conversation: str | None = None, turn: int | None = None, actor: str | None = None,
        act: str | None = None, path: str | None = None, since: float | None = None, until: float | None = None,
        documents: bool | None = None,
    ) -> None:  # fmt: skip
        self.conversation = conversation
        self.turn = turn
        self.actor = actor
        self.act = act
        self.path = path.strip("/") if path else None
        self.since = since
        self.until = until
        self.documents = documents

    def fits(self, commit: Commit) -> bool:
        """Whether a commit meets every condition; what the index finds is held to this too."""
        paths = [path for _, path, _ in commit.changes]
        return (
            (self.conversation is None or commit.conversation.startswith(self.conversation))
            and (self.turn is None or commit.turn == self.turn)
            and (self.actor is None or commit.actor.startswith(self.actor))
            and (self.act is None or commit.act == self.act)
            and (self.path is None or any(f"{path}/".startswith(f"{self.path}/") for path in paths))
            and (self.since is None or commit.at >= self.since)
            and (self.until is None or commit.at <= self.until)
            and (not self.documents or not all(in_log(path) for path in paths))
        )


def history(store: Store, wanted: Wanted, limit: int = 50) -> list[Commit]:
    """The newest ``limit`` commits that fit, newest first, each as git has it."""
    tip = store.repo.tip() if store.exists else None
    if tip is None:
        return []
    found = _by_index(store, wanted, limit)
    if found is None:
        found = _by_log(store, wanted.fits, tip, limit)
    return found


def _by_index(store: Store, wanted: Wanted, limit: int) -> list[Commit] | None:
    """The ids that the index finds, read from git; None where the index cannot be brought up to date."""
    with Index.open(store.cache) as index:
        if not index.catch_up(store.repo, None):
            return None
        acts = index.commits(
            turn=wanted.turn, actor=wanted.actor, act=wanted.act, path=wanted.path, since=wanted.since,
            until=wanted.until, documents=wanted.documents, limit=limit if wanted.conversation is None else None,
        )  # fmt: skip
    ids = [act.id for act in acts if act.conversation.startswith(wanted.conversation or "")][:limit]
    if not ids:
        return []
    try:
        found = commits.log(store.repo, "--no-walk=unsorted", *ids)
    except GitError:
        return None
    return [commit for commit in found if wanted.fits(commit)]


def _by_log(store: Store, fits: Callable[[Commit], bool], tip: str, limit: int) -> list[Commit]:
    return [commit for commit in commits.log(store.repo, tip) if fits(commit)][:limit]
