"""One dream at a time for a home: a lock that says who holds it, and since when."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator

from neosian import files
from neosian.errors import BusyError
from neosian.store import Lock

_PATIENCE = 0.1


@contextlib.contextmanager
def alone(home: str) -> Iterator[None]:
    """Hold the dream's lock. BusyError says who holds it; one whose owner died is free."""
    try:
        with _lock(home):
            files.write(_owner(home), f"{os.getpid()} {int(time.time())}\n".encode())
            try:
                yield
            finally:
                files.remove(_owner(home))
    except _Held:
        raise BusyError(
            f"Another dream is under way{_told(home)}; this one stops.", "neosian status"
        ) from None


def running(home: str) -> tuple[int, float] | None:
    """Process and start (seconds since 1970) of the dream that is under way."""
    if not os.path.exists(_owner(home)):
        return None
    try:
        with _lock(home):
            return None
    except _Held:
        return _said(home)
    except OSError:
        return None


class _Held(Exception):
    """Somebody has the lock."""


@contextlib.contextmanager
def _lock(home: str) -> Iterator[None]:
    lock = Lock(os.path.join(home, "dream", "lock"), _PATIENCE)
    try:
        lock.__enter__()
    except BusyError:
        raise _Held from None
    try:
        yield
    finally:
        lock.__exit__()


def _owner(home: str) -> str:
    return os.path.join(home, "dream", "owner")


def _said(home: str) -> tuple[int, float]:
    words = (files.read(_owner(home)) or b"").split()
    if len(words) == 2 and all(word.isdigit() and len(word) < 12 for word in words):
        return int(words[0]), float(words[1])
    return 0, 0.0


def _told(home: str) -> str:
    process, since = _said(home)
    if not process:
        return ""
    minutes = max(0, int((time.time() - since) // 60))
    age = f"{minutes} min" if minutes else "less than a minute"
    return f" (process {process}, for {age})"
