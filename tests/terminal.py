"""A person at a terminal: a real process on a real one, what it shows, and what is typed."""

from __future__ import annotations

import os
import pty
import re
import select
import subprocess
import sys
import termios
import time
from collections.abc import Mapping
from pathlib import Path

_PATIENCE = 60.0  # seconds until a test fails that waits for what never comes

# The process takes the terminal as its own, so that a typed Ctrl-C reaches it, and becomes the command.
_BEGIN = (
    "import fcntl, os, sys, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0);"
    " os.execv(sys.executable, [sys.executable, '-m', 'neosian', *sys.argv[1:]])"
)


class Terminal:
    """`neosian` with some words, run at a terminal of its own; ``raw``: all that it showed so far."""

    def __init__(
        self, folder: Path, *words: str, env: Mapping[str, str] | None = None, columns: int = 100
    ) -> None:
        self._main, side = pty.openpty()
        termios.tcsetwinsize(side, (50, columns))
        environ = {**os.environ, "TERM": "xterm", **(env or {})}
        command = [sys.executable, "-c", _BEGIN, *words]
        self._process = subprocess.Popen(
            command, cwd=folder, env=environ, stdin=side, stdout=side, stderr=side, start_new_session=True
        )
        os.close(side)
        self.raw = ""
        self._read = 0

    def until(self, words: str) -> str:
        """Wait until these words are shown; what was shown since the last time, without colours."""
        until = time.monotonic() + _PATIENCE
        while words not in plain(self.raw[self._read :]):
            assert time.monotonic() < until, f"{words!r} never came:\n{plain(self.raw)}"
            assert self._take(), f"it ended without {words!r}:\n{plain(self.raw)}"
        found = plain(self.raw[self._read :])
        self._read = len(self.raw)
        return found

    def type(self, keys: str) -> None:
        os.write(self._main, keys.encode())

    def end(self) -> tuple[int, str]:
        """Wait for its end; its status, and what was shown since the last time."""
        while self._take():
            pass
        os.close(self._main)
        return self._process.wait(_PATIENCE), plain(self.raw[self._read :])

    def _take(self) -> bool:
        """Read a piece of what it shows; False where nothing comes any more."""
        if not select.select([self._main], [], [], _PATIENCE)[0]:
            self._process.kill()
            return False
        try:
            piece = os.read(self._main, 1 << 16)
        except OSError:  # the other side was closed
            return False
        self.raw += piece.decode("utf-8", "replace")
        return bool(piece)


def plain(shown: str) -> str:
    """What a terminal showed, without colours, its lines ended as in a file."""
    return re.sub(r"\x1b\[[0-9;]*m", "", shown).replace("\r\n", "\n")
