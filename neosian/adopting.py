"""Adoption when it is asked for: before a document is written, when a folder is watched, beside a landing."""

from __future__ import annotations

from neosian import adopt, clients
from neosian.errors import DamagedError
from neosian.journal import Journal
from neosian.spool import CONTEXT, Spool
from neosian.touches import Touches, actor

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from neosian.draft import Draft
    from neosian.events import Event
    from neosian.store import Store


def adopt_edits(
    store: Store, named_by: Callable[[str, float], str | None], *, patience: float = 0.8
) -> list[str]:
    """Commit the settled edits of one scope, as `adopt.adopt` says; their paths.

    Nothing happens, and that is no error, where the scope was never made, another branch is checked out or a merge is
    under way. Raises BusyError after ``patience`` seconds of waiting for others, DamagedError for a damaged
    scope: it must be mended before anything is written into it.
    """
    if not (store.exists and store.was_made and adopt.is_time(store.repo)):
        return []
    adopted: list[str] = []

    def change(draft: Draft) -> None:
        adopted[:] = adopt.adopt(draft, named_by)

    try:
        if not store.is_sound():
            raise DamagedError(store.path)
        store.write(change, patience=patience)
    finally:
        if not store.stays_open:
            store.repo.close()
    return adopted


class Adopter:
    """Adopts outside a landing. Made anew for each act: what waits in the spool is read once, when an edit first
    needs an owner, and nothing in the spool is changed.
    """

    def __init__(self, home: str) -> None:
        self._spool = Spool(home)
        self._journal = Journal(self._spool.folder, home)
        self._touches: Touches | None = None

    def named_by(self, path: str, changed: float) -> str | None:
        """The actor whose own tool call changed an absolute path then; what `adopt.adopt` asks."""
        if self._touches is None:
            self._touches = Touches([(event, actor(event)) for event in self._events()], self._journal)
        return self._touches.named_by(path, changed)

    def adopt_now(self, store: Store, *, patience: float = 0.8) -> list[str]:
        """`adopt_edits` with the owners that spool and journal tell."""
        return adopt_edits(store, self.named_by, patience=patience)

    def _events(self) -> Iterator[Event]:
        """What waits. An event that cannot be read is left to the next landing, which says so."""
        for entry in self._spool.look():
            if entry.spooled.event == CONTEXT:
                continue
            try:
                yield clients.read(entry.payload, entry.spooled)
            except Exception:
                continue
