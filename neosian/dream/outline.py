"""How the lines of a Markdown text hang together, so that others can be put between them and change none of them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

_FENCE = re.compile(r"[ \t>]*(?:[-*+]\s+|\d{1,9}[.)]\s+)?(`{3,}|~{3,})")
_HEADING = re.compile(r"[ ]{0,3}(#{1,6})(?:\s|$)")
_UNDERLINE = re.compile(r"[ ]{0,3}(=+|-+)[ \t]*$")
_ITEM = re.compile(r"[ \t]*(?:([-*+•])|(\d{1,9})([.)]))\s")
_ROW = re.compile(r"[ \t]*\|")
_COMMENT = "<!--"
_COMMENTS = re.compile(r"<!--|-->")
_TAG = re.compile(r"[ ]{0,3}<[/!?A-Za-z]")
_RULER = re.compile(r"[\s|:=_*-]+$")
_END = re.compile(r"[.!?…。！？][\s\"'”’»)\]*_`]*$")
_DEFINITION = re.compile(r"[ ]{0,3}\[[^\]]*\]:")


class _Line(NamedTuple):
    """A line, with the headings that it stands below and whether code or a comment is open around it."""

    text: str
    headings: tuple[str, ...]
    within: str


def only_inserts(old: str, new: str) -> bool:
    """Whether the new text is the old one with whole lines put in that leave each old line what it was.

    The old lines stand in their order, below the same headings, inside or outside of the same code. What is put in
    touches them only as items among items, as whole sentences between whole sentences, and right after a text.
    """
    wanted, given = list(_lines(old)), list(_lines(new))
    while wanted and not wanted[-1].text.strip():
        wanted.pop()
    places = _places(wanted, given)
    if places is None:
        return False
    edges = zip([-1, *places], [*places, len(given)], strict=True)
    return all(_is_apart(given, above, below) for above, below in edges if below - above > 1)


def _lines(text: str) -> Iterator[_Line]:
    headings: list[tuple[int, str]] = []
    within = before = ""
    for line in text.split("\n"):
        fence = _FENCE.match(line)
        is_code = within not in ("", _COMMENT)
        if not within and (level := _level(line, before)):
            title = line if _HEADING.match(line) else before
            headings = [*(each for each in headings if each[0] < level), (level, title)]
        if not within and fence:
            within = fence[1]
            yield _Line(line, tuple(title for _, title in headings), within)
        else:
            yield _Line(line, tuple(title for _, title in headings), within)
            if is_code and fence and fence[1].startswith(within) and not line.strip(" \t>`~"):
                within = ""
        for sign in () if is_code or fence else _COMMENTS.findall(line):
            within = _COMMENT if sign == _COMMENT else ""
        before = line


def _level(line: str, before: str) -> int:
    """Of which level a heading is that a line makes, 0 for none."""
    if heading := _HEADING.match(line):
        return len(heading[1])
    underline = _UNDERLINE.match(line)
    if not underline or not before.strip() or _HEADING.match(before):
        return 0
    return 1 if underline[1][0] == "=" else 2


def _places(wanted: Sequence[_Line], given: Sequence[_Line]) -> list[int] | None:
    """Where the lines wanted stand among those given, in their order; None where one is missing or hangs elsewhere."""
    places: list[int] = []
    for at, line in enumerate(given):
        if len(places) < len(wanted) and line == wanted[len(places)]:
            places.append(at)
    return places if len(places) == len(wanted) else None


def _is_apart(given: Sequence[_Line], above: int, below: int) -> bool:
    """Whether the lines between two places, each of an old line or at an end, leave the old ones what they are."""
    block = [line for line in given[above + 1 : below] if line.text.strip()]
    before = given[above].text if above >= 0 else ""
    after = given[below].text if below < len(given) else ""
    if not block:
        return not (before.strip() and after.strip())  # one paragraph made two
    if any(not line.within and (_TAG.match(line.text) or _DEFINITION.match(line.text)) for line in block):
        return False
    next_one = next((line.text for line in given[below:] if line.text.strip()), "")
    if next_one[:1] in (" ", "\t"):
        return False  # it would go on with what is put in
    if before.strip() and _RULER.fullmatch(given[above + 1].text):
        return False
    if not after.strip() or _HEADING.match(after):
        return True
    kind = _kind(after)
    is_among = bool(kind) and all(_kind(line.text) == kind for line in block)
    is_below_heading = not before.strip() or _HEADING.match(before) is not None
    if not given[below - 1].text.strip():
        return is_among or is_below_heading
    is_whole = all(map(_ends, ([before] if _is_prose(before) else []) + [block[-1].text]))
    return is_among or (is_whole and _is_prose(block[-1].text) and _is_prose(after))


def _is_prose(line: str) -> bool:
    """Whether a line is plain text, which makes nothing of the lines beside it."""
    is_marked = line[:1] in (" ", "\t", ">", "<", "[") or any(
        each.match(line) for each in (_FENCE, _HEADING, _ITEM, _ROW, _RULER)
    )
    return bool(line.strip()) and not is_marked


def _ends(line: str) -> bool:
    """Whether a sentence ends with a line."""
    return _END.search(line) is not None


def _kind(line: str) -> str:
    """Of which list or table a line is a part, "" for neither."""
    if item := _ITEM.match(line):
        return f"{len(line) - len(line.lstrip())}{item[1] or item[3]}"
    return "|" if _ROW.match(line) else ""
