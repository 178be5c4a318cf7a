"""Lines of a note that is counted from turns: texts of others made harmless, their sources, as many as fit."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from neosian.dream import block

_SOURCES_MOST, _SHORTEST = 3, 8
_REDACTED = "[redacted:"


class Sources:
    """How turns are named at the end of a line: `(2026-11-29: 9f3c2a11#3)`."""

    def __init__(self, conversations: Iterable[str]) -> None:
        self._short = short_names(conversations)

    def of(self, day: str, turns: Sequence[tuple[str, int]]) -> str:
        """The newest of some turns, (conversation, number) oldest first, behind the day of the last one."""
        newest = list(dict.fromkeys(reversed(turns)))[:_SOURCES_MOST]
        names = ", ".join(f"{self._short[name]}#{number}" for name, number in newest)
        return f"({block.neutral(day)}: {names})"


def short_names(conversations: Iterable[str]) -> dict[str, str]:
    """Conversation -> the beginning of its name by which it can be told from the others."""
    ordered = sorted(conversations)
    short: dict[str, str] = {}
    for before, name, after in zip(["", *ordered], ordered, [*ordered[1:], ""], strict=False):
        shared = max(_shared(name, before), _shared(name, after))
        short[name] = block.neutral(name[: max(_SHORTEST, shared + 1)])
    return short


def _shared(one: str, two: str) -> int:
    """How many characters two names share at their beginning."""
    pairs = zip(one, two, strict=False)
    return next((at for at, (a, b) in enumerate(pairs) if a != b), min(len(one), len(two)))


def sources_in(body: str, conversations: Iterable[str]) -> list[str]:
    """The sources (`conversation#turn`) at the ends of a body's lines, each once and with its whole name."""
    whole = {short: name for name, short in short_names(conversations).items()}
    ends = (match[1].split(", ") for match in re.finditer(r"\([\d-]*: ([^()]+)\)$", body, re.MULTILINE))
    parts = (source.rpartition("#") for end in ends for source in end)
    return list(dict.fromkeys(f"{whole[short]}#{number}" for short, _, number in parts if short in whole))


def fitting(lines: Sequence[str], room: int, more: int = 0) -> list[str]:
    """As many of the lines as there is room for; if any or ``more`` are left, a last one says how many."""
    kept: list[str] = []
    room -= len("- and 1,000,000 more") + 1
    for line in lines:
        room -= len(line) + 1
        if room < 0:
            break
        kept.append(line)
    left = len(lines) - len(kept) + more
    return [*kept, f"- and {left:,} more"] if left else kept


def by_count(counted: Counter[str]) -> list[tuple[str, int]]:
    """What was counted, the most frequent first, equals by name."""
    return sorted(counted.items(), key=lambda item: (-item[1], item[0]))


def has_secret(text: str) -> bool:
    """Whether something was taken out of a text when it was recorded."""
    return _REDACTED in text


def quoted(text: str) -> str:
    """A sentence in quotes."""
    return f'"{block.neutral(text)}"'


def code(text: str) -> str:
    """A text as code in Markdown, whatever back quotes it holds."""
    text = block.neutral(text)
    runs = re.findall(r"`+", text)
    if not runs:
        return f"`{text}`"
    fence = "`" * (max(map(len, runs)) + 1)
    return f"{fence} {text} {fence}"


def codes(names: Sequence[str], most: int) -> str:
    """Several texts as code, and how many more there are."""
    more = [f"{len(names) - most} more"] if len(names) > most else []
    return ", ".join([*map(code, names[:most]), *more])
