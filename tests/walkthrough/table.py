"""The table in docs/clients.md: a row a client, written by the walkthrough from what was green."""

from __future__ import annotations

import time
from pathlib import Path

from neosian.clients.installers import RECORDED, installer
from tests.walkthrough.harness import Row

PAGE = Path(__file__).resolve().parents[2] / "docs" / "clients.md"
BEGINS, ENDS = "<!-- walkthrough: begin -->\n", "<!-- walkthrough: end -->\n"
HEAD = ("client", "version", "green on", "session start", "prompt", "calls", "failed calls", "answer", "MCP")
UNSEEN = ("*unverified*", *("",) * 7)


def write(client: str, version: str, row: Row, page: Path = PAGE) -> None:
    """Put one client's row in its place; the rows of the others stay as they are."""
    text = page.read_text("utf-8")
    before, _, rest = text.partition(BEGINS)
    old, _, after = rest.partition(ENDS)
    rows = dict(_cells(line) for line in old.splitlines()[2:])
    rows[installer(client).TITLE] = (version, time.strftime("%Y-%m-%d"), *row)
    titles = [installer(name).TITLE for name in RECORDED]
    lines = [_line(HEAD), _line(["---"] * len(HEAD))]
    lines += [_line((title, *rows.get(title, UNSEEN))) for title in titles]
    page.write_text(before + BEGINS + "".join(lines) + ENDS + after, "utf-8")


def _cells(line: str) -> tuple[str, tuple[str, ...]]:
    title, *cells = (cell.strip() for cell in line.strip().strip("|").split("|"))
    return title, tuple(cells)


def _line(cells: tuple[str, ...] | list[str]) -> str:
    return "| " + " | ".join(cells) + " |\n"
