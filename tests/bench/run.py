"""Measure what hooks and searches cost, in floors: the CPU of `python -I -S -c pass` by the same interpreter.

    python tests/bench/run.py [--quick] [--only spool|start|prompt|stop|search|mcp|disk] [--rounds N] [--json]

docs/performance.md says what is measured and how. Exit status 0, whatever the figures; 1 when something that was to
be measured did not do its work.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.bench import disk, table
from tests.bench.acts import PROMPTS, SMALL_TALK, START_GROWTH, STOP_GROWTH, Hooks, Searches, Server
from tests.bench.errors import BenchError
from tests.bench.histories import History, Maker, Plan, default_folder
from tests.bench.measure import FLOOR, Act, Command, measure
from tests.bench.progress import Progress
from tests.bench.table import Row

GROUPS = ("spool", "start", "prompt", "stop", "search", "mcp", "disk")


class Sizes:
    """How much is made and measured."""

    def __init__(self, quick: bool) -> None:
        self.landings = (10, 1_000) if quick else (10, 1_000, 50_000)
        self.searched = (2_000,) if quick else (20_000, 100_000)
        self.rounds = 8 if quick else 15


def main(argv: Sequence[str] | None = None) -> int:
    args = _parser().parse_args(argv)
    os.environ["TZ"] = "UTC"  # days and hours of made turns are those of the processes that are measured
    time.tzset()
    os.umask(0o077)
    groups = set(args.only or GROUPS)
    passing = Path(tempfile.mkdtemp(prefix="neosian-bench-")).resolve()
    try:
        rows, floor = bench(Sizes(args.quick), groups, args.rounds, args.cache, passing)
    except BenchError as error:
        sys.stderr.write(f"bench: {error}\n")
        return 1
    finally:
        shutil.rmtree(passing, ignore_errors=True)
    if args.json:
        print(
            json.dumps({"floor_ms": round(floor * 1000, 2), "rows": [row.json() for row in rows]}, indent=1)
        )
    else:
        print(table.render(rows), end="")
        if floor:
            print(
                f"\nratios to `python -I -S -c pass`: {floor * 1000:.1f} ms of CPU; disk to the bytes of the turn logs"
            )
    return 0


def bench(
    sizes: Sizes, groups: set[str], rounds: int | None, kept: Path, passing: Path
) -> tuple[list[Row], float]:
    """Every row, and the floor in seconds."""
    progress = Progress()
    made = make(plans(sizes, groups), kept, passing, progress)
    on_disk = [made[plan] for plan in made if plan.turns == 1_000 and "disk" in groups]
    rows = [row for history in on_disk for row in disk.rows(history)]
    acts = list(_acts(made, groups))
    floor = 0.0
    if acts:
        base = Command(FLOOR, passing, next(iter(made.values())).stage.environment)
        floor = measure(acts, rounds or sizes.rounds, base, progress)
    return [*_rows(acts, groups), *rows], floor


def plans(sizes: Sizes, groups: set[str]) -> list[Plan]:
    """The histories that these groups need, those first that take longest to make."""
    found = set()
    if groups & {"start", "stop"}:
        found |= {Plan(count, one) for count in sizes.landings for one in (False, True)} - {Plan(10, True)}
    if groups & {"spool", "disk"}:
        found |= {Plan(1_000), Plan(1_000, True)} if "disk" in groups else {Plan(1_000)}
    if "search" in groups:
        found |= {Plan(count, landed=False) for count in sizes.searched}
    if groups & {"prompt", "mcp"}:
        found.add(Plan(sizes.searched[0], landed=False))
    return sorted(found, key=lambda plan: (-plan.turns * (1 + plan.landed), not plan.one_session))


def make(wanted: Sequence[Plan], kept: Path, passing: Path, progress: Progress) -> dict[Plan, History]:
    """The histories, the short ones first; two are made at a time."""
    progress.say(f"making ready {len(wanted)} histories (long ones are kept in {kept})")
    maker = Maker(kept, passing, progress)
    with ProcessPoolExecutor(min(2, os.cpu_count() or 1)) as pool:
        for _ in pool.map(maker.ready, wanted):
            pass
    return {plan: maker.history(plan) for plan in sorted(wanted)}


def _acts(made: dict[Plan, History], groups: set[str]) -> Iterator[Act]:
    prompted = next((plan for plan in sorted(made) if not plan.landed), None)
    for plan, history in made.items():
        hooks = Hooks(history)
        if "spool" in groups and plan == Plan(1_000):
            yield hooks.spool()
        if "start" in groups and plan.landed:
            yield hooks.start()
        if "stop" in groups and plan.landed:
            yield hooks.stop()
        if "prompt" in groups and plan == prompted:
            yield hooks.prompt("prompt with recall", PROMPTS, tells=True)
            yield hooks.prompt("prompt, small talk", SMALL_TALK, tells=False)
        if "mcp" in groups and plan == prompted:
            yield Server(history).start()
        if "search" in groups and not plan.landed:
            yield Searches(history).as_hook()
            yield Searches(history).as_command()


def _rows(acts: Sequence[Act], groups: set[str]) -> Iterator[Row]:
    """The acts by group; below those of a group, for each kind of history, how they grow."""
    bounds = {"start": START_GROWTH, "stop": STOP_GROWTH}
    for group in GROUPS:
        mine = [act for act in acts if act.group == group]
        for act in mine:
            yield Row(group, str(act), act.ratio, act.bound, *act.spread)
        for kind in (False, True) if group in bounds else ():
            ratios = [act.ratio for act in mine if act.plan.turns == 10 or act.plan.one_session is kind]
            if len(ratios) > 1:
                name = "one session" if kind else "sessions of 30"
                yield table.growth(group, f"{group}, {name}, shortest to longest", ratios, bounds[group])


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="short histories only, fewer rounds")
    parser.add_argument("--only", choices=GROUPS, action="append", help="these rows (repeatable)")
    parser.add_argument("--rounds", type=int, metavar="N", help="how often each act is measured")
    parser.add_argument("--json", action="store_true", help="print one object")
    parser.add_argument(
        "--cache", type=Path, default=default_folder(), metavar="DIR",
        help="where long histories are kept between runs (default: %(default)s)",
    )  # fmt: skip
    return parser


if __name__ == "__main__":
    raise SystemExit(main())
