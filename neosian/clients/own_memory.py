"""What a client's settings say of a memory that the client keeps itself: read for one line that is shown.

Nothing is raised, whatever stands there: a file that cannot be read says nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from neosian import settings
from neosian.errors import NeosianError

Parse = Callable[[str], Any]


def none(environ: Mapping[str, str], project: str | None) -> str:
    """A client that keeps none; files of instructions that people write are none."""
    return ""


def unknown(what: str) -> str:
    """A memory whose switch stands where we cannot look: in an account, in an app's own database."""
    return f"{what}, unknown whether on"


def switch(parse: Parse, files: Sequence[str], *keys: str) -> bool | None:
    """What the last of the files that says so has at a path of keys, None where none does."""
    found = [value for value in stated(parse, files, *keys) if isinstance(value, bool)]
    return found[-1] if found else None


def stated(parse: Parse, files: Sequence[str], *keys: str) -> list[Any]:
    """What stands at a path of keys in each of the files, None where nothing does."""
    return [_at(_value(parse, file), keys) for file in files]


def _at(value: Any, keys: Sequence[str]) -> Any:
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _value(parse: Parse, file: str) -> Any:
    try:
        return parse((settings.read(file) or b"").decode("utf-8-sig"))
    except (NeosianError, ValueError, RecursionError):
        return None
