"""What the dream spent, question by question, and how much of that a run and a day may have.

One line of JSON a question in `dream/spent.jsonl` of the home: `at`, `engine`, `model`, `scope`, `conversation`,
`input_tokens`, `output_tokens`, `cost` (US dollars, null where no price is known). Written under the dream's lock.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping
from typing import Any

from neosian import files, turns
from neosian.dream import kept
from neosian.dream.engine import Answer, Asked, Engine

FILE = os.path.join("dream", "spent.jsonl")

_KEPT = 40 * 86_400.0  # seconds that a line is kept
_DEAREST = 1_000_000.0  # dollars that one answer can have cost
_BYTES_OF_A_TOKEN = 3  # fewer than there are in most texts: an estimate had better be high


class Spend:
    """Tokens of one run and of this day (local), against the most that each may have; 0 is no limit."""

    def __init__(self, home: str, now: float, *, run_most: int = 0, day_most: int = 0) -> None:
        self._path = os.path.join(home, FILE)
        self._now = now
        self._run_most = run_most
        self._day_most = day_most
        self.run_tokens = 0
        self.day_tokens, self.day_cost = today(home, now)

    def refuses(self, tokens: int) -> str:
        """Why a question that may take so many tokens is not asked any more; "" where there is room for it."""
        needs = f"the next question may take {tokens:,}"
        if self._run_most and self.run_tokens + tokens > self._run_most:
            return (
                f"dream.max_tokens_per_run is {self._run_most:,}, {self.run_tokens:,} are spent, and {needs}"
            )
        if self._day_most and self.day_tokens + tokens > self._day_most:
            return f"dream.max_tokens_per_day is {self._day_most:,}, {self.day_tokens:,} are spent today, and {needs}"
        return ""

    def book(self, engine: Engine, answer: Answer, scope: str, conversation: str) -> None:
        """Write down what an answer cost. Raises OSError where that cannot be, and caps could not be kept."""
        tokens = answer.input_tokens + answer.output_tokens
        self.run_tokens += tokens
        self.day_tokens += tokens
        line = {
            "at": turns.stamp(time.time()), "engine": engine.name, "model": answer.model or engine.model,
            "scope": scope, "conversation": conversation, "input_tokens": answer.input_tokens,
            "output_tokens": answer.output_tokens, "cost": answer.cost,
        }  # fmt: skip
        kept = [each for each in _lines(self._path) if turns.seconds(str(each["at"])) > self._now - _KEPT]
        files.make_dir(os.path.dirname(self._path))
        data = "".join(json.dumps(each, ensure_ascii=False) + "\n" for each in [*kept, line])
        files.write(self._path, data.encode("utf-8", "replace"))


def estimate(asked: Asked, again: str = "", answered: int = 0) -> int:
    """The most tokens that a question may take, as far as can be told: those to be read, rather too many than too few,
    and those that the answer may have. In a second round the question is read once more, with the ``answered`` tokens
    of its first answer and what is said of it ``again``."""
    read = sum(len(text.encode("utf-8", "replace")) for text in (asked.system, asked.prompt, again))
    return read // _BYTES_OF_A_TOKEN + answered + asked.max_tokens


def today(home: str, now: float) -> tuple[int, float]:
    """Tokens and dollars spent since the day began here, whatever scope and run they were for."""
    day = time.strftime("%Y-%m-%d", time.localtime(now))
    mine = [
        line
        for line in _lines(os.path.join(home, FILE))
        if time.strftime("%Y-%m-%d", time.localtime(turns.seconds(str(line["at"])))) == day
    ]
    tokens = sum(kept.count(line.get(key)) for line in mine for key in ("input_tokens", "output_tokens"))
    return tokens, sum(float(line.get("cost") or 0.0) for line in mine)


def _lines(path: str) -> list[Mapping[str, Any]]:
    """The lines that can be read; another writer's slip must not stop a dream."""
    found: list[Mapping[str, Any]] = []
    try:
        lines = list(files.lines(path))
    except OSError:
        return []
    for line in lines:
        try:
            held = kept.loads(line)
        except ValueError:
            continue
        if isinstance(held, dict) and isinstance(held.get("at"), str):
            cost = held.get("cost")
            is_cost = isinstance(cost, int | float) and 0 <= cost <= _DEAREST
            found.append(held | {"cost": cost if is_cost else None})
    return found
