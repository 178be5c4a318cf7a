"""How text and `--json` reach stdout: always UTF-8, never an escape sequence that a tool once printed."""

from __future__ import annotations

import os
import re
import sys
import time
import unicodedata
from collections.abc import Iterable, Sequence

from neosian.errors import NeosianError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TextIO

_BAR = 16  # columns of a progress bar
_LEAST = 20  # columns that a free text keeps, however narrow the terminal
_UNSEEN = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def text(words: str) -> None:
    """Print words and a line end. What a terminal would obey is shown instead."""
    _write(printable(words) + "\n")


def as_json(value: object) -> None:
    """Print one JSON value on one line."""
    import json  # most commands print text

    said = json.dumps(value, ensure_ascii=False)
    said = said.encode("utf-8", "replace").decode("utf-8")
    _write(_UNSEEN.sub(lambda found: f"\\u{ord(found[0]):04x}", said) + "\n")


def note(words: str) -> None:
    """Say something beside the result, on stderr."""
    sys.stdout.flush()
    sys.stderr.write(printable(words) + "\n")


def printable(words: str) -> str:
    """Text without what a terminal obeys, and without marks that turn its direction: stored text may hold both."""
    return _UNSEEN.sub("\N{REPLACEMENT CHARACTER}", words.replace("\r\n", "\n"))


def table(rows: Iterable[Sequence[str]], head: Sequence[str] = (), *, free: bool = False) -> str:
    """Rows in aligned columns, two spaces between; the last column is never padded.

    ``free``: the last column is free text, cut where a terminal would go on in a second line. What is read by a
    program, or by an agent, is whole.
    """
    cells = [
        [printable(cell).replace("\n", " ") for cell in row] for row in ([head] if head else []) + list(rows)
    ]
    if not cells:
        return ""
    widths = [max(width(row[column]) for row in cells) for column in range(len(cells[0]))]
    room = max(_LEAST, _columns() - sum(widths[:-1]) - 2 * len(widths[:-1])) if free and _columns() else 0
    lines = []
    for row in cells:
        padded = [cell + " " * (size - width(cell)) for cell, size in zip(row[:-1], widths[:-1], strict=True)]
        lines.append("  ".join((*padded, cut(row[-1], room) if room else row[-1])).rstrip())
    return "\n".join(lines)


def cut(words: str, room: int) -> str:
    """A text of at most so many columns; one that is longer ends in `…`."""
    if width(words) <= room:
        return words
    kept, used = [], 1
    for char in words:
        used += width(char)
        if used > room:
            break
        kept.append(char)
    return "".join(kept).rstrip() + "…"


def width(words: str) -> int:
    """Columns a terminal gives to a text."""
    return sum(
        0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1
        for char in words
    )


def when(at: float) -> str:
    """A time in seconds since 1970 as people here read it: local, to the second."""
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(at))


def ago(seconds: float) -> str:
    """An age in its largest unit: `3 min ago`."""
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= size:
            return f"{int(seconds // size)} {unit} ago"
    return "just now"


def _columns(stream: TextIO | None = None) -> int:
    """The width of the terminal that a stream (default: stdout) is; 0 where it is none, or does not say."""
    stream = stream or sys.stdout
    try:
        return os.get_terminal_size(stream.fileno()).columns if stream.isatty() else 0
    except (OSError, ValueError):
        return 0


class Progress:
    """How far something has come, on stderr: one line that is drawn anew on a terminal, elsewhere a line for each step.

    ``is_quiet``: nothing at all.
    """

    def __init__(self, is_quiet: bool = False) -> None:
        self._is_quiet = is_quiet
        self._is_drawn = not is_quiet and _is_terminal()
        self._is_open = False

    def show(self, done: int, total: int, said: str, spent: str = "") -> None:
        """``done`` of ``total``, what is done now, and what it has cost so far."""
        if self._is_quiet:
            return
        if not self._is_drawn:
            note(said)
            return
        filled = _BAR * done // total if total else 0
        bar = f"[{'#' * filled}{'.' * (_BAR - filled)}] {done}/{total}" if total else ""
        line = "  ".join(printable(part) for part in (bar, spent, said) if part)
        room = max(_LEAST, _columns(sys.stderr) - 1)
        sys.stderr.write(f"\r\x1b[K{cut(line, room)}")
        sys.stderr.flush()
        self._is_open = True

    def end(self) -> None:
        """Leave the line to whoever writes next."""
        if self._is_open:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
            self._is_open = False


def _is_terminal() -> bool:
    """Whether stderr is a terminal that can draw a line anew."""
    try:
        return sys.stderr.isatty() and os.environ.get("TERM", "") not in ("", "dumb")
    except ValueError:
        return False


def is_read() -> bool:
    """Whether whoever reads stdout is still there, as far as the system can tell."""
    import select

    try:
        poller = select.poll()
        poller.register(sys.stdout.fileno(), 0)
        return not poller.poll(0)
    except (AttributeError, OSError, ValueError):  # a system without it, a stdout that is no file
        return True


def _write(words: str) -> None:
    raw = words.encode("utf-8", "replace")
    stream = getattr(sys.stdout, "buffer", None)
    if stream is None:
        sys.stdout.write(raw.decode("utf-8"))
        return
    try:
        stream.write(raw)
        stream.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise NeosianError(f"stdout cannot be written: {error.strerror}.") from None
