"""What the dream keeps in small files of JSON, read whatever became of them; and numbers that others tell us."""

from __future__ import annotations

import json
from typing import Any

from neosian import files

_LATEST = (
    253_402_300_799.0 / 2
)  # a time after that (the year 5984) is a slip, and no system can show it anyway
_MOST = 10**9  # of tokens that one answer can have taken, of turns, of tries


def loads(data: bytes | str) -> Any:
    """A value of JSON. ValueError for all that is none, also where it is nested deeper than can be read."""
    try:
        return json.loads(data)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def read(path: str) -> Any:
    """What a file holds; None where there is none, or it cannot be read."""
    try:
        return loads(files.read(path) or b"null")
    except (ValueError, OSError):
        return None


def moment(value: object) -> float:
    """A time in seconds since 1970. ValueError for what is none."""
    if isinstance(value, int | float) and 0 <= value <= _LATEST:
        return float(value)
    raise ValueError("it is no time")


def count(value: object) -> int:
    """How many there were, as somebody says: 0 where that cannot be."""
    return value if isinstance(value, int) and 0 <= value <= _MOST else 0
