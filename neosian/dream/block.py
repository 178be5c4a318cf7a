"""The marked block of a document: what is made anew by each dream, between two lines of its own.

All else in the document is people's: it stays byte for byte, whatever it says.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from neosian import speech

_BEGIN = re.compile(r"<!-- neosian-rules(?: ([\w.-]+))?: [^\r\n]* -->")
_LONGEST = 300  # characters of somebody's text inside of a block
_END = "<!-- /neosian-rules -->"
_SAYS = "counted from recorded turns, made anew by each dream: write outside of these two lines"


class New(NamedTuple):
    """What a document begins with that a block is the first to need: its front matter's texts and its heading."""

    description: str
    when: str
    heading: str


class _Span(NamedTuple):
    """The lines of a block: from its first marker up to, not including, ``end``."""

    start: int
    end: int


def holds_block(text: str, origin: str = "") -> bool:
    """Whether a document has the block of ``origin``."""
    return bool(_spans(text.splitlines(keepends=True), origin))


def merged(text: str, body: str, new: New, origin: str = "") -> str:
    """The document with ``body`` as the block of ``origin``; what stands outside of the block stays byte for byte.

    ``origin`` tells blocks of several scopes in one document apart. A document without the block gets it at its end;
    an empty ``text`` becomes a new document. With an empty ``body`` the block goes, and "" is what remains of a
    document that nobody wrote to. A first marker without a last one is replaced alone: what follows may be a person's.
    """
    lines = text.splitlines(keepends=True)
    spans = _spans(lines, origin)
    newline = "\r\n" if text.count("\r\n") * 2 > text.count("\n") else "\n"
    block = _block(body, origin, newline) if body.strip() else []
    if not spans:
        return _appended(text or _head(new), block, newline) if block else text
    for span in reversed(spans[1:]):
        del lines[span.start : span.end]
    first = spans[0]
    ends_bare = first.end == len(lines) and not lines[-1].endswith(("\n", "\r"))
    if ends_bare and block:
        block[-1] = block[-1].rstrip("\r\n")
    lines[first.start : first.end] = block
    whole = "".join(lines)
    return "" if not block and whole.split() == _head(new).split() else whole


def inner(text: str, origin: str = "") -> str:
    """What stands in a document's block, "" where it has none."""
    lines = text.splitlines(keepends=True)
    return "".join("".join(lines[span.start + 1 : span.end - 1]) for span in _spans(lines, origin)[:1])


def neutral(text: str) -> str:
    """A text on one line, cut if it is long, in which nothing can be taken for a marker or opens a comment."""
    return speech.snippet(text, _LONGEST).replace("<!--", "<! --").replace("-->", "-- >")


def _head(new: New) -> str:
    return f'---\ndescription: "{new.description}"\nwhen: "{new.when}"\n---\n# {new.heading}\n'


def _block(body: str, origin: str, newline: str) -> list[str]:
    begin = f"<!-- neosian-rules{f' {origin}' if origin else ''}: {_SAYS} -->"
    return [line + newline for line in (begin, *body.strip("\n").split("\n"), _END)]


def _appended(text: str, block: list[str], newline: str) -> str:
    gap = "" if not text or text.endswith(newline * 2) else newline if text.endswith(newline) else newline * 2
    return text + gap + "".join(block)


def _spans(lines: list[str], origin: str) -> list[_Span]:
    """Where the blocks of ``origin`` are. A first marker that meets another one before its end spans itself alone."""
    found: list[_Span] = []
    start = -1
    for number, line in enumerate([*lines, ""]):
        bare = line.rstrip("\r\n")
        begin = _BEGIN.fullmatch(bare)
        if start >= 0 and (begin or bare == _END or number == len(lines)):
            found.append(_Span(start, number + 1 if bare == _END else start + 1))
            start = -1
        if begin and (begin[1] or "") == origin:
            start = number
    return found
