"""Which sessions are still to be told their start: of clients that can be told nothing before a prompt.

Kept in one small file a session, so that a prompt that has nothing to say stays cheap. It is a cache: a session of
which nothing is known is told at its next prompt.
"""

from __future__ import annotations

import os

from neosian import files, scope

TYPE_CHECKING = False
if TYPE_CHECKING:
    from neosian.events import Event

_REMEMBERED = 30 * 86400.0  # seconds
_UNKNOWN = "startup"


def owe(home: str, event: Event) -> None:
    """A session starts, or its client threw its window away: what it was told is gone."""
    source = event.data.get("source") if event.kind == "start" else "compact"
    _write(home, event, source if isinstance(source, str) and source else _UNKNOWN)


def owed(home: str, event: Event) -> str:
    """The source (startup, resume, compact, ...) of the start that the event's session was not told of; "" for none."""
    said = files.read(_path(home, event))
    return _UNKNOWN if said is None else said.decode("utf-8", "replace")


def settle(home: str, event: Event) -> None:
    """The session has been told."""
    _write(home, event, "")
    files.forget(_folder(home), _REMEMBERED)


def _write(home: str, event: Event, source: str) -> None:
    files.make_dir(_folder(home))
    files.write(_path(home, event), source.encode("utf-8", "replace"))


def _path(home: str, event: Event) -> str:
    return os.path.join(_folder(home), scope.disk_name(f"{event.client}:{event.session}"))


def _folder(home: str) -> str:
    return os.path.join(home, "cache", "owed")
