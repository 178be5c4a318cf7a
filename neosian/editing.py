"""Changing the text of a document, byte for byte: what an edit does not mean to change stays as it is.

Documents are taken as their bytes. Whoever edits one sees its text with plain line ends and without a byte order
mark; here that text is mapped back, so that a file with other line ends, or with bytes that are no UTF-8, keeps them.
"""

from __future__ import annotations

import json
import re

from neosian.errors import NeosianError

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+\Z")
_BOM = "\ufeff"
_QUOTED = re.compile(r"""\"(?:[^"\\]|\\.)*"|'(?:[^']|'')*'""")


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
        raw = self.raw[:left] + new.replace("\n", self.newline) + self.raw[right:]
        return raw.encode("utf-8", "surrogateescape")

    def _place(self, at: int) -> int:
        return self._places[at] if self._places is not None else at + self._start


def _newline(text: str) -> str:
    """The line end that most lines of a text have."""
    pairs = text.count("\r\n")
    counts = {"\n": text.count("\n") - pairs, "\r\n": pairs, "\r": text.count("\r") - pairs}
    return max(counts, key=lambda end: counts[end]) if any(counts.values()) else "\n"


def _common(one: str, two: str) -> int:
    """How many characters two texts share at their beginning."""
    most = min(len(one), len(two))
    if one[:most] == two[:most]:
        return most
    return next(at for at in range(most) if one[at] != two[at])


def shown(data: bytes) -> str:
    """A document's text as whoever edits it sees it: line ends are `\\n`, no byte order mark, U+FFFD for bad bytes."""
    return _Text(data).flat.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def clean(text: str) -> str:
    """Text from a caller as it can stand in a document: plain line ends, no lone surrogates."""
    text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def str_replace(data: bytes, old: str, new: str) -> bytes:
    """The document with ``old``, which must stand in it exactly once, replaced by ``new``."""
    text, old, new = _Text(data), clean(old), clean(new)
    if not old:
        raise EditError("old_str is empty: it must be the text that is to be replaced.")
    at = text.flat.find(old)
    if at < 0:
        raise EditError("old_str does not stand in it word for word.")
    places = []
    while at >= 0:
        places.append(text.flat.count("\n", 0, at) + 1)
        at = text.flat.find(old, at + 1)
    if len(places) > 1:
        lines = ", ".join(map(str, places[:10])) + (", …" if len(places) > 10 else "")
        raise EditError(
            f"old_str stands in it {len(places)} times (lines {lines}): give more of what is around it."
        )
    at = text.flat.find(old)
    return text.replaced(at, at + len(old), new)


def insert(data: bytes, line: int, new: str) -> bytes:
    """The document with lines added after line ``line``; 0 is its beginning."""
    text, new = _Text(data), clean(new)
    ends = [found.end() for found in re.finditer("\n", text.flat)]
    if text.flat and not text.flat.endswith("\n"):
        ends.append(len(text.flat))
    if not 0 <= line <= len(ends):
        raise EditError(f"insert_line is {line}; it must be 0 to {len(ends)}, the number of lines.")
    _, start, header_end = header_lines(data)
    if start and line <= header_end - 1 and (line == 0 or _ends_header(new)):
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
    """The document with one front matter key set; only that key's line changes, or is added as the last one."""
    said = (
        ("true" if value else "false") if isinstance(value, bool) else json.dumps(value, ensure_ascii=False)
    )
    lines, start, end = header_lines(data)
    if not end:
        return _with_header(data, f"{key}: {said}")
    number = max(_lines_of(lines[start:end], key), default=-1)
    if number < 0:
        if any(not _is_block_line(line) for line in lines[start:end]):
            raise HeaderError(
                f"Its front matter is not written line by line, so {key!r} cannot be added to it."
            )
        newline = _line_end(lines[end - 1])
        lines.insert(end, f"{key}: {said}{newline}")
    else:
        number += start
        lines[number : _value_end(lines, number, end)] = [_with_value(lines[number], said)]
    return "".join(lines).encode("utf-8", "surrogateescape")


def drop_key(data: bytes, key: str) -> bytes:
    """The document without a front matter key; front matter that is empty then goes too."""
    lines, start, end = header_lines(data)
    for number in reversed(_lines_of(lines[start:end], key)):
        gone = _value_end(lines, start + number, end)
        del lines[start + number : gone]
        end -= gone - (start + number)
    if end == start and end:
        bom = _BOM if lines[0].startswith(_BOM) else ""
        lines[: end + 1] = [bom] if bom else []
    return "".join(lines).encode("utf-8", "surrogateescape")


def _with_header(data: bytes, line: str) -> bytes:
    raw = data.decode("utf-8", "surrogateescape")
    bom, body = (_BOM, raw[1:]) if raw.startswith(_BOM) else ("", raw)
    newline = _newline(body)
    head = newline.join(("---", line, "---", ""))
    return (bom + head + body).encode("utf-8", "surrogateescape")


def _lines_of(lines: list[str], key: str) -> list[int]:
    """The lines that begin with a key, as they are counted in the front matter."""
    found = [re.match(r"([A-Za-z][\w-]*)[ \t]*:(?=[ \t\r\n]|\Z)", line) for line in lines]
    return [number for number, match in enumerate(found) if match and match[1].lower() == key]


def _value_end(lines: list[str], number: int, end: int) -> int:
    """The line behind a key's value: what is indented below the key belongs to it, empty lines between too."""
    after = number + 1
    for at in range(after, end):
        if lines[at][:1] in " \t" or lines[at].startswith("- "):
            after = at + 1
        elif lines[at].strip():
            break
    return after


def _with_value(line: str, said: str) -> str:
    """A key's line with another value; a comment behind the value stays."""
    end = _line_end(line)
    key, colon, rest = line.removesuffix(end).partition(":")
    value = rest.lstrip(" \t")
    gap = rest[: len(rest) - len(value)] or " "
    quoted = _QUOTED.match(value)
    after = quoted.end() if quoted else 0
    comment = min((at for mark in (" #", "\t#") if (at := value.find(mark, after)) >= 0), default=len(value))
    return f"{key}{colon}{gap}{said}{value[len(value[:comment].rstrip()) :]}{end}"


def _is_block_line(line: str) -> bool:
    """Whether a line of front matter is one that a key at the margin may follow."""
    return not line.strip() or line[:1] in " \t#-" or bool(re.match(r"""["'\w?]""", line))


def _line_end(line: str) -> str:
    return line[len(line.rstrip("\r\n")) :] or "\n"
