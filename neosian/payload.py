"""A hook payload: bytes in, one JSON object out, with memory that does not follow the payload's size."""

from __future__ import annotations

import os

from neosian import fastjson
from neosian.errors import NeosianError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mmap import mmap
    from typing import Any

LARGE = 1 << 20  # bytes; a payload up to this is decoded as it is
DEEPEST = 64  # levels of nesting that are kept as they are
ROOM = 8 << 20  # bytes that a large payload may still have when it is decoded
SHARES = ((48 << 10, 16 << 10), (6 << 10, 2 << 10), (512, 256))  # bytes of head and tail, by need
CHUNK = 1 << 20


class PayloadError(NeosianError):
    """The bytes are not one JSON object."""

    def __init__(self, why: str) -> None:
        super().__init__(f"The payload is not one JSON object: {why}.", "neosian record --help")


class Cut(str):
    """A string that was too long to be held: its head, a line that says so, its tail.

    ``chars`` is the length that it had, in code points.
    """

    __slots__ = ("chars",)
    chars: int

    def __new__(cls, text: str, chars: int) -> Cut:
        self = super().__new__(cls, text)
        self.chars = chars
        return self


def length(text: str) -> int:
    """The true length of ``text`` in code points, what was left out included."""
    return text.chars if isinstance(text, Cut) else len(text)


def joined(parts: list[str], separator: str = "\n") -> str:
    """The parts as one text that still knows its true length."""
    if len(parts) == 1:
        return parts[0]
    text = separator.join(parts)
    return _grown(text, sum(length(part) - len(part) for part in parts))


def compact(value: Any) -> str:
    """``value`` as one line of JSON that still knows its true length."""
    text = fastjson.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)
    return _grown(text, _missing(value))


def part(text: str, start: int, end: int | None = None) -> str:
    """A piece of ``text`` that takes all with it that was left out of the text."""
    return _grown(text[start:end], length(text) - len(text))


def left_out(head: str, tail: str, chars: int) -> str:
    """Head and tail of a text of ``chars`` code points, with a line between that tells what is not there."""
    return f"{head}\n[… {chars - len(head) - len(tail):,} characters left out …]\n{tail}"


def loads(raw: bytes | mmap, start: int = 0) -> dict[str, Any]:
    """The object in ``raw`` from byte ``start``. Bytes that are no UTF-8, and halves of surrogate pairs, become U+FFFD.

    Raises `PayloadError`.
    """
    cuts: dict[str, Cut] = {}
    try:
        data = _shortened(raw, cuts, start) if len(raw) - start > LARGE else raw[start:]
        lone = b"\\ud" in data or b"\\uD" in data
        value = fastjson.loads(data.decode("utf-8-sig", "replace"), strict=False, parse_int=_integer)
    except ValueError as error:
        raise PayloadError(_reason(error)) from None
    except RecursionError:
        raise PayloadError("it is nested too deeply") from None
    if not isinstance(value, dict):
        raise PayloadError(f"it is {_article(value)}")
    if data.count(b"{") + data.count(b"[") > DEEPEST:
        value = {key: shallow(item) for key, item in value.items()}
    if cuts or lone:
        value = _restored(value, cuts)
        assert isinstance(value, dict)
    return value


def shallow(value: Any, room: int = DEEPEST) -> Any:
    """``value`` with what is nested deeper than ``room`` levels as its JSON text.

    Whoever walks a value later does it by recursion; one payload must not be able to stop all landing.
    """
    if isinstance(value, dict):
        return {key: shallow(item, room - 1) for key, item in value.items()} if room else _nested(value)
    if isinstance(value, list):
        return [shallow(item, room - 1) for item in value] if room else _nested(value)
    return value


def _nested(value: Any) -> str:
    try:
        return fastjson.dumps(value, ensure_ascii=False)
    except RecursionError:
        return "(nested too deeply)"


def _reason(error: ValueError) -> str:
    from json import JSONDecodeError

    if not isinstance(error, JSONDecodeError):
        return str(error)
    if not error.doc.strip():
        return "it is empty"
    return f"{error.msg[0].lower()}{error.msg[1:]} at character {error.pos}"


def _article(value: object) -> str:
    names = {list: "an array", str: "a string", bool: "true or false", type(None): "null"}
    return names.get(type(value), "a number")


def _integer(digits: str) -> int | str:
    """Python refuses integers of more than 4,300 digits; such a one stays text."""
    try:
        return int(digits)
    except ValueError:
        return digits


def _grown(text: str, missing: int) -> str:
    return Cut(text, len(text) + missing) if missing else text


def _missing(value: object) -> int:
    if isinstance(value, str):
        return length(value) - len(value)
    if isinstance(value, dict):
        return sum(_missing(item) for item in value.values())
    if isinstance(value, list):
        return sum(_missing(item) for item in value)
    return 0


def _restored(value: Any, cuts: dict[str, Cut]) -> Any:
    """``value`` with the cut strings back in place and without lone surrogates."""
    if isinstance(value, str):
        return cuts.get(value) or _whole(value)
    if isinstance(value, dict):
        return {_restored(key, cuts): _restored(item, cuts) for key, item in value.items()}
    if isinstance(value, list):
        return [_restored(item, cuts) for item in value]
    return value


def _whole(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


# Large payloads. String literals are found with a possessive pattern, which needs no memory of its own, and the long
# ones are replaced by a name before anything is decoded. The names hold random digits: no payload can forge one.


def _shortened(raw: bytes | mmap, cuts: dict[str, Cut], begin: int) -> bytes:
    spans = _literals(raw, sum(SHARES[-1]), begin)
    head, tail = _share(spans, len(raw) - begin)
    nonce = os.urandom(8).hex()
    pieces: list[bytes] = []
    done = begin
    for start, end in spans:
        if end - start <= head + tail:
            continue
        name = f"cut {nonce} {len(cuts)}"
        cuts[name] = _cut(raw, start, end, head, tail)
        pieces += (raw[done:start], name.encode())
        done = end
    pieces.append(raw[done:])
    return b"".join(pieces)


def _literals(raw: bytes | mmap, least: int, begin: int) -> list[tuple[int, int]]:
    """Where the contents of the string literals longer than ``least`` bytes begin and end."""
    import re  # here and below: no payload of an ordinary size needs it

    spans = []
    for found in re.compile(rb'"(?:[^"\\]++|\\.)*+("?)', re.DOTALL).finditer(raw, begin):
        if not found[1]:
            raise PayloadError("a string in it never ends")
        if found.end() - found.start() > least + 2:
            spans.append((found.start() + 1, found.end() - 1))
    return spans


def _share(spans: list[tuple[int, int]], size: int) -> tuple[int, int]:
    """How much of each long string to keep: much, unless there are so many that they would not fit."""
    for head, tail in SHARES[:-1]:
        saved = sum(end - start for start, end in spans if end - start > head + tail)
        if size - saved <= ROOM:
            return head, tail
    return SHARES[-1]


def _cut(raw: bytes | mmap, start: int, end: int, head: int, tail: int) -> Cut:
    first = _decoded(raw, start, _seam(raw, start, start + head))
    last = ""
    chars = 0
    while start < end:
        stop = end if end - start <= CHUNK else _seam(raw, start, start + CHUNK)
        if start <= end - tail < stop:
            last = _decoded(raw, _seam(raw, start, end - tail), end)
        chars += len(_decoded(raw, start, stop))
        start = stop
    return Cut(left_out(_without_half(_whole(first)), _without_half(_whole(last), tail=True), chars), chars)


_WORD = 512  # characters at a seam that a cut may have left of a word


def _without_half(text: str, *, tail: bool = False) -> str:
    """Head or tail of a cut text without what the cut went through: a word (half a token no rule would know), and in
    the tail all that belongs to something private or a key that began in what is gone."""
    if not tail:
        seam = max(0, len(text) - _WORD)
        return text[:seam] + "".join(text[seam:].rpartition(" ")[:2])
    text = text[:_WORD].partition(" ")[2] + text[_WORD:]
    for end, begin in (("</private", "<private"), ("-----END", "-----BEGIN")):
        low = text.lower()
        closes, opens = low.find(end.lower()), low.find(begin.lower())
        if closes >= 0 and not 0 <= opens < closes:
            text = text[closes + len(end) :]
    return text


def _decoded(raw: bytes | mmap, start: int, end: int) -> str:
    text: str = fastjson.loads('"' + raw[start:end].decode("utf-8", "replace") + '"', strict=False)
    return text


def _seam(raw: bytes | mmap, start: int, limit: int) -> int:
    """The last place not after ``limit`` that is inside no escape, no surrogate pair and no UTF-8 sequence.

    ``start`` is such a place; from there on whole units are matched, since backslashes can only be told by counting.
    """
    import re

    units = re.compile(
        rb"(?:[^\\]++"  # no escape
        rb"|\\[^u]"
        rb"|\\u(?![dD][89abAB])[0-9a-fA-F]{4}"
        rb"|\\u[dD][89abAB][0-9a-fA-F]{2}(?:\\u[0-9a-fA-F]{4}|(?=[^\\]|\\[^u])))*+",  # a pair, or half of one
        re.DOTALL,
    )
    found = units.match(raw, start, limit)
    at = found.end() if found else start
    for _ in range(3):
        if at > start and 0x80 <= raw[at] < 0xC0:
            at -= 1
    if at <= start < limit:
        raise PayloadError("an escape in it is none")
    return at
