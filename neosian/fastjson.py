"""Python's own JSON without the package around it: the same two functions, names and answers as in `json`.

`import json` loads `re` and `enum` for patterns that its C parts never use, and costs a session start half a floor of
its four. The C parts are private (`_json`): where they are missing or not as expected `json` itself does the work. It
is also asked about every text that is no JSON, so that the errors are its own.
"""

from __future__ import annotations

import sys

try:
    import _json
except ImportError:  # pragma: no cover - an interpreter without the private module
    _json = None  # type: ignore[assignment]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_BLANKS = " \t\n\r"
_CONSTANTS = {"-Infinity": float("-inf"), "Infinity": float("inf"), "NaN": float("nan")}


class _Rules:
    """How texts become values, in the attributes that `json.JSONDecoder` has."""

    object_hook = object_pairs_hook = array_hook = None
    parse_float = float
    parse_constant = _CONSTANTS.__getitem__

    def __init__(self, strict: bool, parse_int: Callable[[str], object]) -> None:
        self.strict = strict
        self.parse_int = parse_int


def _refuse(value: object) -> object:
    raise TypeError(f"Object of type {type(value).__name__} is not JSON serializable")


def loads(text: str | bytes, *, strict: bool = True, parse_int: Callable[[str], object] = int) -> Any:
    """The value of a JSON text, as `json.loads` has it, whose ``ValueError`` it raises."""
    if _IS_USABLE:
        try:
            said = text if isinstance(text, str) else text.decode("utf-8", "surrogatepass")
            said = said.strip(_BLANKS)
            value, end = _scan(said, strict, parse_int)
            if end == len(said):
                return value
        except (StopIteration, ValueError, SystemError):
            # It is no JSON, or in another encoding. (A SystemError is what becomes of an error that the scanner can
            # only raise with the help of a `json` that was imported before.)
            pass
    import json

    return json.loads(text, strict=strict, parse_int=parse_int)


def dumps(
    value: object, *, ensure_ascii: bool = True, separators: tuple[str, str] = (", ", ": "),
    sort_keys: bool = False, allow_nan: bool = True, default: Callable[[Any], object] = _refuse,
) -> str:  # fmt: skip
    """The JSON text of a value, as `json.dumps` has it."""
    if _IS_USABLE:
        return _encoded(value, ensure_ascii, separators, sort_keys, allow_nan, default)
    import json

    return json.dumps(
        value, ensure_ascii=ensure_ascii, separators=separators, sort_keys=sort_keys, allow_nan=allow_nan,
        default=default,
    )  # fmt: skip


def _scan(text: str, strict: bool, parse_int: Callable[[str], object]) -> tuple[Any, int]:
    """The value that a text begins with, and where it ends."""
    rules: Any = _Rules(strict, parse_int)
    return _json.make_scanner(rules)(text, 0)


def _encoded(
    value: object, ensure_ascii: bool, separators: tuple[str, str], sort_keys: bool, allow_nan: bool,
    default: Callable[[Any], object],
) -> str:  # fmt: skip
    quote = _json.encode_basestring_ascii if ensure_ascii else _json.encode_basestring
    between, after_key = separators
    seen: dict[int, Any] = {}  # by which it knows a value that holds itself
    encode = _json.make_encoder(seen, default, quote, None, after_key, between, sort_keys, False, allow_nan)
    return "".join(encode(value, 0))


def _works() -> bool:
    """Whether the private parts are what this module takes them for."""
    if _json is None or hasattr(sys, "gettotalrefcount"):  # a debugging interpreter ends at a SystemError
        return False
    try:
        read = _scan('{"a": [1.5]}', True, int)
        return (
            read == ({"a": [1.5]}, 12)
            and _encoded(["é"], True, (",", ":"), False, True, _refuse) == '["\\u00e9"]'
        )
    except (AttributeError, TypeError, ValueError):
        return False


_IS_USABLE = _works()
