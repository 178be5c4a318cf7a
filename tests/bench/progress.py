"""What is going on, on stderr, wherever it takes longer than a second."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager


class Progress:
    """Tells of steps: what they are when they begin to take long is not known, so each is told at its end too."""

    def say(self, text: str) -> None:
        """One line."""
        sys.stderr.write(f"bench: {text}\n")
        sys.stderr.flush()

    @contextmanager
    def step(self, text: str) -> Iterator[None]:
        """Tell how long a step took if that was over a second."""
        began = time.monotonic()
        if sys.stderr.isatty():
            sys.stderr.write(f"bench: {text} ...\r")
            sys.stderr.flush()
        yield
        took = time.monotonic() - began
        if took > 1:
            self.say(f"{text}: {took:.0f} s")
