"""CPU of acts in floors: every act between two runs of the floor, so that a busy machine slows all three.

The MCP server is compared with the import of its SDK instead.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.bench.errors import BenchError
from tests.bench.histories import Plan
from tests.bench.progress import Progress
from tests.bench.stage import python

FLOOR = python("-I", "-S", "-c", "pass")


class Command:
    """A process to measure: what it runs, where, and what it is given."""

    def __init__(
        self, argv: Sequence[str], cwd: Path, environment: Mapping[str, str], given: bytes = b""
    ) -> None:
        self.argv = argv
        self.cwd = cwd
        self.environment = environment
        self.given = given


def cpu_of(command: Command) -> tuple[float, bytes]:
    """Seconds of CPU, user and system, of a process and all children it waited for; and what it printed."""
    with (
        tempfile.TemporaryFile() as given,
        tempfile.TemporaryFile() as out,
        tempfile.TemporaryFile() as errors,
    ):
        given.write(command.given)
        given.seek(0)
        child = subprocess.Popen(
            command.argv, cwd=command.cwd, env=command.environment, stdin=given, stdout=out, stderr=errors
        )
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        errors.seek(0)
        if child.returncode:
            said = errors.read().decode("utf-8", "replace").strip()
            raise BenchError(f"{' '.join(command.argv)} ended with {child.returncode}: {said}")
        return used.ru_utime + used.ru_stime, out.read()


@dataclass
class Act:
    """Something to measure again and again.

    ``ready`` is called before each round and gives the command; ``check`` is given its output afterwards, raises
    BenchError where the act did not do its work, and leaves things as they were. Neither is measured. ``base``: what
    it is compared with, where that is not the floor.
    """

    group: str
    name: str
    plan: Plan
    bound: float
    ready: Callable[[int], Command]
    check: Callable[[bytes], None]
    base: Command | None = None
    ratios: list[float] = field(default_factory=list)

    def __str__(self) -> str:
        return f"{self.name}, {self.plan}"

    @property
    def ratio(self) -> float:
        """The median of all rounds, in floors."""
        return statistics.median(self.ratios)

    @property
    def spread(self) -> tuple[float, float]:
        """The quarter points of all rounds."""
        low, _, high = statistics.quantiles(self.ratios, n=4) if len(self.ratios) > 1 else self.ratios * 3
        return low, high


def measure(acts: Sequence[Act], rounds: int, floor: Command, progress: Progress) -> float:
    """Fill in the ratios of all acts; the median floor in seconds. One round before the first warms everything up.

    The floor runs just before and just after each act, for how fast a shared machine is changes within a second.
    """
    floors = []
    for number in range(rounds + 1):
        for act in acts:
            command = act.ready(number)
            before, _ = cpu_of(act.base or floor)
            used, said = cpu_of(command)
            after, _ = cpu_of(act.base or floor)
            act.check(said)
            if number:
                base = (before + after) / 2
                act.ratios.append(used / base)
                if act.base is None:
                    floors.append(base)
        if number % 5 == 0:
            progress.say(f"round {number} of {rounds}")
    return statistics.median(floors) if floors else 0.0
