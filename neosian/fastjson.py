"""Python's own JSON without the package around it: the same two functions, names and answers as in `json`.

`import json` loads `re`, `enum`, `functools` and `collections` for patterns that its C parts never use, and with them
costs 1.2 of the 4 floors that a session start may take. Those C parts are private (`_json`); where they are missing
or not as expected, and for every text that is no JSON, `json` itself is asked, so that its errors are these.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    # The context that `make_scanner` reads its rules from is typed as a scanner.
    from _json import make_scanner as _Scanner
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
    if _is_usable:
        try:
            said = text if isinstance(text, str) else text.decode("utf-8", "surrogatepass")
            said = said.strip(_BLANKS)
            value, end = _scanner(strict, parse_int)(said, 0)
            if end == len(said):
                return value
        except (StopIteration, ValueError):
            pass  # `json` says what is wrong, or knows the encoding
    import json

    return json.loads(text, strict=strict, parse_int=parse_int)


def dumps(
    value: object, *, ensure_ascii: bool = True, separators: tuple[str, str] = (", ", ": "),
    sort_keys: bool = False, allow_nan: bool = True, default: Callable[[Any], object] = _refuse,
) -> str:  # fmt: skip
    """The JSON text of a value, as `json.dumps` has it."""
    if not _is_usable:
        import json

        return json.dumps(
            value, ensure_ascii=ensure_ascii, separators=separators, sort_keys=sort_keys, allow_nan=allow_nan,
            default=default,
        )  # fmt: skip
    quote = _json.encode_basestring_ascii if ensure_ascii else _json.encode_basestring
    between, after_key = separators
    encode = _json.make_encoder({}, default, quote, None, after_key, between, sort_keys, False, allow_nan)
    return "".join(encode(value, 0))


def _scanner(strict: bool, parse_int: Callable[[str], object]) -> _Scanner:
    rules: Any = _Rules(strict, parse_int)
    return _json.make_scanner(rules)


def _works() -> bool:
    """Whether the private parts are what this module takes them for."""
    try:
        return (
            _scanner(True, int)('{"a": [1.5]}', 0) == ({"a": [1.5]}, 12)
            and dumps([None, "é"]) == '[null, "\\u00e9"]'
        )
    except (AttributeError, TypeError, ValueError):
        return False


try:
    import _json

    _is_usable = True
    _is_usable = _works()
except ImportError:  # pragma: no cover - an interpreter without them
    _is_usable = False
