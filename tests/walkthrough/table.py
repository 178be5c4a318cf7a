"""The tables of clients in docs/clients.md and README.md, written by the walkthrough from what was green."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from pathlib import Path

from neosian.clients.installers import RECORDED, installer
from tests.walkthrough.harness import Row

TOP = Path(__file__).resolve().parents[2]
PAGE, README = TOP / "docs" / "clients.md", TOP / "README.md"
BEGINS, ENDS = "<!-- walkthrough: begin -->\n", "<!-- walkthrough: end -->\n"
HEAD = ("client", "version", "green on", "session start", "prompt", "calls", "failed calls", "answer", "MCP")
UNSEEN = ("*unverified*", *("",) * 7)
SHORT = ("client", "session start", "prompt", "MCP", "verified")


def write(client: str, version: str, row: Row, page: Path = PAGE, readme: Path = README) -> None:
    """Put one client's row in its place; the rows of the others stay as they are. The readme's is made of the page's."""
    rows = dict(_cells(line) for line in _split(page)[1].splitlines()[2:])
    rows[installer(client).TITLE] = (version, time.strftime("%Y-%m-%d"), *row)
    titles = [installer(name).TITLE for name in RECORDED]
    whole = [(title, *rows.get(title, UNSEEN)) for title in titles]
    _put(page, HEAD, whole)
    _put(readme, SHORT, map(_short, whole))


def _short(cells: Sequence[str]) -> tuple[str, ...]:
    title, version, day, start, prompt, *_, mcp = cells
    return (title, start, prompt, mcp, f"{version} on Linux, {day}" if day else version)


def _put(page: Path, head: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    before, _, after = _split(page)
    table = "".join(map(_line, (head, ["---"] * len(head), *rows)))
    page.write_text(before + BEGINS + table + ENDS + after, "utf-8")


def _split(page: Path) -> tuple[str, str, str]:
    """A page before, in and after its table."""
    before, _, rest = page.read_text("utf-8").partition(BEGINS)
    return before, *rest.partition(ENDS)[::2]


def _cells(line: str) -> tuple[str, tuple[str, ...]]:
    title, *cells = (cell.strip() for cell in line.strip().strip("|").split("|"))
    return title, tuple(cells)


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |\n"
