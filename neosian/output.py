"""How text and `--json` reach stdout: always UTF-8, never an escape sequence that a tool once printed. And how a person
at a terminal is asked."""

from __future__ import annotations

import contextlib
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
_USUAL = 80  # columns of a terminal that does not say how wide it is
_LEAST = 20  # columns that a free text keeps, however narrow the terminal
BOLD, CYAN, GREEN, RED = "1", "36", "32", "31"
"""How words may look on a terminal that shows colours."""

_UNSEEN = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def text(words: str, look: str = "") -> None:
    """Print words and a line end. What a terminal would obey is shown instead."""
    _write(_painted(printable(words), look) + "\n")


def diff(words: str) -> None:
    """Print a unified diff, in colours where a terminal shows them. Where only some of the changed lines end in CR LF,
    these ends are shown: a person must see which."""
    lines = words.removesuffix("\n").split("\n")
    changed = [line for line in lines if line[:1] in ("+", "-") and line[:3] not in ("+++", "---")]
    if len({line.endswith("\r") for line in changed}) > 1:
        lines = [
            f"{line[:-1]}\N{SYMBOL FOR CARRIAGE RETURN}" if line.endswith("\r") else line for line in lines
        ]
    rows, in_head = [], True
    for line in lines:
        in_head = line.startswith("diff ") or (in_head and not line.startswith("@@"))
        look = BOLD if in_head else {"@": CYAN, "+": GREEN, "-": RED}.get(line[:1], "")
        rows.append(_painted(printable(line.removesuffix("\r")), look))
    _write("\n".join(rows) + "\n")


def ask(question: str) -> str | None:
    """Print a question, and read the line that is typed at the terminal, without blanks around it; None where no line
    is ended (Ctrl-D)."""
    _write(_painted(printable(question), BOLD) + " ")
    line = sys.stdin.buffer.readline()
    if not line.endswith(b"\n"):
        _write("\n")
        return None
    return line.decode("utf-8", "replace").strip()


def can_ask() -> bool:
    """Whether somebody sits there who can be asked."""
    return sys.stdin.isatty() and sys.stdout.isatty()


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


def fields(rows: Iterable[tuple[str, str]]) -> str:
    """Names, and beside each what is said of it; on a terminal a long text goes on below its own beginning."""
    shown = [(name, printable(words)) for name, words in rows]
    size = max((width(name) for name, _ in shown), default=0)
    room = max(_LEAST, _columns() - size - 4) if _columns() else 0
    lines = []
    for name, words in shown:
        for line in (each for row in words.split("\n") for each in (wrapped(row, room) if room else [row])):
            lines.append(f"  {name}{' ' * (size - width(name))}  {line}".rstrip())
            name = ""
    return "\n".join(lines)


def wrapped(words: str, room: int) -> list[str]:
    """A line as lines of at most so many columns, ended between words; a word that is longer is ended anywhere."""
    lines = [""]
    for word in words.split(" "):
        if lines[-1] and width(lines[-1]) + 1 + width(word) > room:
            lines.append("")
        lines[-1] += f" {word}" if lines[-1] else word
        while width(lines[-1]) > room:
            end = max(1, _fitting(lines[-1], room))
            lines[-1:] = [lines[-1][:end], lines[-1][end:]]
    return lines


def cut(words: str, room: int) -> str:
    """A text of at most so many columns; one that is longer ends in `…`."""
    if width(words) <= room:
        return words
    return words[: _fitting(words, room - 1)].rstrip() + "…"


def _fitting(words: str, room: int) -> int:
    """How many of the first characters of a text take at most so many columns."""
    used = 0
    for n, char in enumerate(words):
        used += width(char)
        if used > room:
            return n
    return len(words)


def width(words: str) -> int:
    """Columns a terminal gives to a text."""
    return sum(
        0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1
        for char in words
    )


def many(count: int, noun: str) -> str:
    """`1 session`, `2 sessions`."""
    return f"{count:,} {noun}{'s' * (count != 1)}"


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
        """``done`` of ``total``, what is done now, and what it has cost so far. Where that cannot be told (a full
        device, a closed stream) the work goes on."""
        if not self._is_quiet:
            with contextlib.suppress(OSError, ValueError):
                self._show(done, total, said, spent)

    def _show(self, done: int, total: int, said: str, spent: str) -> None:
        if not self._is_drawn:
            note(said)
            return
        filled = _BAR * done // total if total else 0
        bar = f"[{'#' * filled}{'.' * (_BAR - filled)}] {done}/{total}" if total else ""
        line = "  ".join(printable(part) for part in (bar, spent, said) if part)
        room = max(_LEAST, (_columns(sys.stderr) or _USUAL) - 1)
        sys.stderr.write(f"\r\x1b[K{cut(line, room)}")
        sys.stderr.flush()
        self._is_open = True

    def end(self) -> None:
        """Leave the line to whoever writes next."""
        if self._is_open:
            with contextlib.suppress(OSError, ValueError):
                sys.stderr.write("\r\x1b[K")
                sys.stderr.flush()
            self._is_open = False


def _is_terminal() -> bool:
    """Whether stderr is a terminal that can draw a line anew."""
    try:
        return sys.stderr.isatty() and os.environ.get("TERM", "") not in ("", "dumb")
    except ValueError:
        return False


def _painted(words: str, look: str) -> str:
    """Words as a terminal is to show them; as they are where stdout is none, or nobody wants colours."""
    plain = not look or not words or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return words if plain or not sys.stdout.isatty() else f"\x1b[{look}m{words}\x1b[m"


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
