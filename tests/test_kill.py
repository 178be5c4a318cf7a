"""Hooks that are killed at any moment, and many at once: nothing is lost once a launcher has returned, nothing doubled.

The whole of it, 8 processes with 50 turns and 500 kills, is `tests/stress/hooks.py`, which makes these same checks.
"""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.hooking import Hooks
from tests.stress.hooks import kill_hooks, play_at_once


def test_eight_processes_at_once_lose_and_double_nothing(tmp_path: Path) -> None:
    assert play_at_once(Hooks(tmp_path), processes=8, turns=12) == []


@pytest.mark.parametrize("seed", [1, 2])
def test_hooks_that_are_killed_lose_and_double_nothing(tmp_path: Path, seed: int) -> None:
    assert kill_hooks(Hooks(tmp_path), kills=20, dice=random.Random(seed)) == []
