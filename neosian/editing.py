"""Changing the text of a document, byte for byte: what an edit does not mean to change stays as it is.

Documents are taken as their bytes. Whoever edits one sees its text with plain line ends and without a byte order
mark; here that text is mapped back, so that a file with other line ends, or with bytes that are no UTF-8, keeps them.
"""

from __future__ import annotations

import json
import re

from neosian import documents
from neosian.decoding import decoded, encoding
from neosian.errors import NeosianError

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+\Z")
_ENCODING = "utf-8"
_BOM = "\ufeff"
_QUOTED = re.compile(r"""[ \t]*(?:"(?:[^"\\]|\\.)*"|'(?:[^']|'')*')""")
_FIRST_KEY = re.compile(r"(?![\s{\[]|-[ \t])(?:\?[ \t]|.*:(?:\s|$))")
_UNPRINTABLE = re.compile("[^\t\n\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What no YAML text may hold, and the line ends that only YAML knows."""
_PLACES_NAMED = 10


class EditError(NeosianError):
    """An edit that does not fit the text it was meant for."""


class HeaderError(EditError):
    """Front matter in which a key cannot be set without rewriting it."""


class _Text:
    """A document's text as it is shown (``flat``) and where each of its characters stands in the ``raw`` one."""

    def __init__(self, data: bytes) -> None:
        self.raw = data.decode("utf-8", "surrogateescape")
        start = len(_BOM) if self.raw.startswith(_BOM) else 0
        self.flat = self.raw[start:]
        self._places: list[int] | None = None
        self._start = start
        self.newline = _newline(self.flat)
        if "\r" in self.flat:
            parts, places, at = list[str](), list[int](), start
            for piece in re.split(r"(\r\n|\r)", self.flat):
                ends = piece in ("\r\n", "\r")
                parts.append("\n" if ends else piece)
                places.extend([at] if ends else range(at, at + len(piece)))
                at += len(piece)
            self.flat = "".join(parts)
            self._places = [*places, at]

    def replaced(self, start: int, end: int, new: str) -> bytes:
        """The document with ``flat[start:end]`` replaced; only what really differs is touched."""
        old = self.flat[start:end]
        same = _common(old, new)
        start, old, new = start + same, old[same:], new[same:]
        same = _common(old[::-1], new[::-1])
        end, new = end - same, new[: len(new) - same]
        left, right = self._place(start), self._place(end)
        raw = _joined(self.raw[:left], new.replace("\n", self.newline))
        return _joined(raw, self.raw[right:]).encode("utf-8", "surrogateescape")

    def _place(self, at: int) -> int:
        return self._places[at] if self._places is not None else at + self._start


def _newline(text: str) -> str:
    """The line end that most lines of a text have."""
    pairs = text.count("\r\n")
    counts = {"\n": text.count("\n") - pairs, "\r\n": pairs, "\r": text.count("\r") - pairs}
    return max(counts, key=lambda end: counts[end]) if any(counts.values()) else "\n"


def _joined(left: str, right: str) -> str:
    """Two texts, one behind the other: a line end on each side of the seam stays a line end of its own."""
    return left + ("\r" if left.endswith("\r") and right.startswith("\n") else "") + right


def _common(one: str, two: str) -> int:
    """How many characters two texts share at their beginning."""
    most = min(len(one), len(two))
    if one[:most] == two[:most]:
        return most
    return next(at for at in range(most) if one[at] != two[at])


def shown(data: bytes) -> str:
    """A document's text as whoever edits it sees it: line ends are `\\n`, no byte order mark, U+FFFD for bad bytes."""
    if encoding(data) != _ENCODING:
        return _plain(decoded(data))
    return _Text(data).flat.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _check(data: bytes) -> None:
    """Refuse a text into which UTF-8 cannot be put."""
    if (kind := encoding(data)) != _ENCODING:
        raise EditError(
            f"It is written in {kind[:-3].upper()}, and only UTF-8 can be edited.", "save it as UTF-8"
        )


def clean(text: str) -> str:
    """Text from a caller as it can stand in a document: plain line ends, no lone surrogates, no byte order mark."""
    return _plain(text).replace(_BOM, "")


def _plain(text: str) -> str:
    text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def str_replace(data: bytes, old: str, new: str) -> bytes:
    """The document with ``old``, which must stand in it exactly once, replaced by ``new``."""
    _check(data)
    text, old, new = _Text(data), _plain(old).removeprefix(_BOM), clean(new)
    if not old:
        raise EditError("old_str is empty: it must be the text that is to be replaced.")
    at = text.flat.find(old)
    if at < 0:
        raise EditError("old_str does not stand in it word for word.")
    lines: list[int] = []
    line, counted, found = 1, 0, at
    while found >= 0 and len(lines) <= _PLACES_NAMED:
        line, counted = line + text.flat.count("\n", counted, found), found
        lines.append(line)
        found = text.flat.find(old, found + 1)
    if len(lines) > 1:
        named = ", ".join(map(str, lines[:_PLACES_NAMED]))
        times = (
            f"{len(lines)} times (lines {named})"
            if len(lines) <= _PLACES_NAMED
            else f"often (lines {named}, …)"
        )
        raise EditError(f"old_str stands in it {times}: give more of what is around it.")
    return text.replaced(at, at + len(old), new)


def insert(data: bytes, line: int, new: str) -> bytes:
    """The document with lines added after line ``line``; 0 is its beginning."""
    _check(data)
    text, new = _Text(data), clean(new)
    ends = [found.end() for found in re.finditer("\n", text.flat)]
    if text.flat and not text.flat.endswith("\n"):
        ends.append(len(text.flat))
    if not 0 <= line <= len(ends):
        raise EditError(f"insert_line is {line}; it must be 0 to {len(ends)}, the number of lines.")
    _, start, header_end = header_lines(data)
    if start and line <= header_end and (line == 0 or _ends_header(new)):
        raise EditError(
            f"Lines there would take its front matter apart, which ends with line {header_end + 1}: insert after it."
        )
    at = ends[line - 1] if line else 0
    if at and text.flat[at - 1] != "\n":
        new = "\n" + new
    elif not new.endswith("\n"):
        new += "\n"
    return text.replaced(at, at, new)


def _ends_header(text: str) -> bool:
    return any(line.rstrip() in ("---", "...") for line in text.split("\n"))


# -- front matter


def header_lines(data: bytes) -> tuple[list[str], int, int]:
    """The raw lines of a document with their ends, and which of them the front matter is: from, to (its closing fence).

    (lines, 0, 0) where there is none.
    """
    raw = data.decode("utf-8", "surrogateescape")
    lines = _LINE.findall(raw)
    if lines and lines[0].removeprefix(_BOM).rstrip() == "---" and lines[0].endswith(("\n", "\r")):
        for number, line in enumerate(lines[1:], 1):
            if line.rstrip("\r\n").rstrip(" \t") in ("---", "..."):
                return lines, 1, number
    return lines, 0, 0


def set_key(data: bytes, key: str, value: str | bool) -> bytes:
    """The document with one front matter key set; only that key's line changes, or is added as the last one.

    A key that says so already stays as it is written.
    """
    _check(data)
    lines, start, end = header_lines(data)
    said = "true" if value is True else "false" if value is False else quoted(value)
    if not end:
        return _with_header(data, f"{key}: {said}")
    _check_header(lines[start:end], key)
    numbers = _lines_of(lines[start:end], key)
    if not numbers:
        lines.insert(end, f"{key}: {said}{_line_end(lines[end - 1])}")
    elif _says(documents.scalars(_plain("".join(lines[start:end]))).get(key, ""), value):
        return data
    else:
        number = start + numbers[-1]
        lines[number : _value_end(lines, number, end)] = [_with_value(lines[number], said)]
    return "".join(lines).encode("utf-8", "surrogateescape")


def drop_key(data: bytes, key: str) -> bytes:
    """The document without a front matter key; front matter that is empty then goes too."""
    lines, start, end = header_lines(data)
    gone = {
        at
        for number in _lines_of(lines[start:end], key)
        for at in range(start + number, _value_end(lines, start + number, end))
    }
    if not gone:
        return data
    if len(gone) == end - start:
        gone |= {0, end}
    kept = "".join(line for number, line in enumerate(lines) if number not in gone)
    bom = _BOM if 0 in gone and lines[0].startswith(_BOM) else ""
    return (bom + kept).encode("utf-8", "surrogateescape")


def _says(text: str, value: str | bool) -> bool:
    """Whether a key's text, as a document is read, has this value already."""
    return text == value if isinstance(value, str) else documents.truth(text) is value


def quoted(value: str) -> str:
    """A text as a double-quoted scalar on one line."""
    return json.dumps(_UNPRINTABLE.sub("\N{REPLACEMENT CHARACTER}", clean(value)), ensure_ascii=False)


def _check_header(lines: list[str], key: str) -> None:
    """Refuse front matter to which no line can be added as a key: a list, `{...}`, keys that are all indented."""
    if sum(map(len, lines)) > documents.HEADER_LIMIT:
        raise HeaderError(f"Its front matter is so long that {key!r} would not be read in it.")
    first = next((line for line in lines if line.strip() and not line.lstrip().startswith("#")), None)
    if first is not None and not _FIRST_KEY.match(first):
        raise HeaderError(f"Its front matter is not written key by key, so {key!r} cannot be set in it.")


def _with_header(data: bytes, line: str) -> bytes:
    raw = data.decode("utf-8", "surrogateescape")
    bom, body = (_BOM, raw[1:]) if raw.startswith(_BOM) else ("", raw)
    # A text that begins with `\\n` would lose that to a `\\r` in front of it.
    newline = "\n" if body.startswith("\n") else _newline(body)
    head = newline.join(("---", line, "---", ""))
    return (bom + head + body).encode("utf-8", "surrogateescape")


def _lines_of(lines: list[str], key: str) -> list[int]:
    """The lines that begin with a key, as they are counted in the front matter."""
    found = [re.match(r"([A-Za-z][\w-]*)[ \t]*:(?=[ \t\r\n]|\Z)", line) for line in lines]
    return [number for number, match in enumerate(found) if match and match[1].lower() == key]


def _value_end(lines: list[str], number: int, end: int) -> int:
    """The line behind a key's value: what is indented below the key, and what is empty or a comment between."""
    after = number + 1
    for at in range(after, end):
        if not lines[at].strip() or lines[at].startswith("#"):
            continue
        if lines[at][:1] not in " \t" and not re.match(r"-\s", lines[at]):
            break
        after = at + 1
    return after


def _with_value(line: str, said: str) -> str:
    """A key's line with another value; a comment behind the value stays."""
    end = _line_end(line)
    key, colon, rest = line.removesuffix(end).partition(":")
    gap = rest[: len(rest) - len(rest.lstrip(" \t"))]
    quoted = _QUOTED.match(rest)
    comment = re.compile(r"[ \t]#").search(rest, quoted.end() if quoted else 0)
    if comment is None or (rest[len(gap) :][:1] in ("'", '"') and not quoted):
        return f"{key}{colon}{gap or ' '}{said}{end}"
    behind = rest[len(rest[: comment.start()].rstrip(" \t")) :]
    return f"{key}{colon}{gap if comment.start() >= len(gap) else ' '}{said}{behind}{end}"


def _line_end(line: str) -> str:
    return line[len(line.rstrip("\r\n")) :] or "\n"
