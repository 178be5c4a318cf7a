"""The result: one row an act, its growth below, aligned for reading."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class Row(NamedTuple):
    """One measured thing: its ratio (to the floor, or of two sizes) and what it is to stay within."""

    group: str
    name: str
    ratio: float
    bound: float
    low: float | None = None
    high: float | None = None

    @property
    def verdict(self) -> str:
        """Whether it stays within its bound."""
        return "inside" if self.ratio <= self.bound else "OUTSIDE"

    def json(self) -> dict[str, object]:
        """The row for programs."""
        numbers = {"ratio": self.ratio, "bound": self.bound, "low": self.low, "high": self.high}
        rounded = {name: None if value is None else round(value, 3) for name, value in numbers.items()}
        return {"group": self.group, "act": self.name, **rounded, "verdict": self.verdict}


def growth(group: str, name: str, ratios: Sequence[float], bound: float) -> Row:
    """How much the dearest of some sizes costs more than the cheapest."""
    return Row(group, f"  grows: {name}", max(ratios) / min(ratios), bound)


def render(rows: Sequence[Row]) -> str:
    """The table as text; a range is the middle half of all rounds."""
    cells = [("act", "median ratio", "middle half", "bound", "verdict")]
    for row in rows:
        half = "" if row.low is None or row.high is None else f"{row.low:.2f}-{row.high:.2f}"
        cells.append((row.name, f"{row.ratio:.2f}", half, f"{row.bound:g}", row.verdict))
    wide = [max(len(row[at]) for row in cells) for at in range(5)]
    lines = [
        f"{row[0]:{wide[0]}}  {row[1]:>{wide[1]}}  {row[2]:>{wide[2]}}  {row[3]:>{wide[3]}}  {row[4]}"
        for row in cells
    ]
    return "\n".join(line.rstrip() for line in lines) + "\n"
