"""The answer of a turn from the file that GitHub Copilot CLI writes of a session: the one thing that is read there.

The hook of a stop is told the file and not the answer (documented, and seen in 1.0.102). The file is read at the
landing, in nearly every case by the stop's own hook while the client waits. What was written after the stop is passed
over, so that a landing that comes late finds the same answer; where the file is gone, the answer stays unknown.
"""

from __future__ import annotations

import os
import stat
import time

from neosian.payload import PayloadError, loads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import BinaryIO

FILE = "events.jsonl"
FOLDER = "session-state"  # below the client's own home, with a folder a session
MOST = 4 << 20  # bytes from the end that are looked through
CHUNK = 64 << 10
PAUSE = 0.02  # seconds
# What a line must hold to be looked at: most hold tool output, or what a hook was given.
MARKS = (b'"assistant.message"', b'"hook.start"')
# No link is followed, and a pipe of that name makes nobody wait.
_FLAGS = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)


def answer(path: str, session: str, until: str, patience: float = 0.0) -> str:
    """The last words of the agent in its turn that ended at ``until`` (as the file writes times; "" for: just now).

    "" where there are none, and where ``path`` is not what the client names for ``session``: a plain file of one name
    ``session-state/<session>/events.jsonl``, no link itself nor in a linked folder, in whatever home the client has.
    The client writes the file while the hook starts: a file that does not reach to ``until`` yet is waited for,
    ``patience`` seconds at most.
    """
    if (
        session in ("", ".", "..")
        or path.split("/")[-3:] != [FOLDER, session, FILE]
        or not path.startswith("/")
    ):
        return ""
    give_up = time.monotonic() + patience
    while True:
        found, whole = _read(path, until)
        if whole or time.monotonic() > give_up:
            return found
        time.sleep(PAUSE)


def _read(path: str, until: str) -> tuple[str, bool]:
    """The answer in the file as it is, and whether the file has all of the turn."""
    try:
        with os.fdopen(_opened(path), "rb") as file:
            found = os.fstat(file.fileno())
            if not stat.S_ISREG(found.st_mode) or found.st_nlink > 1:
                return "", True
            return _answer(_backwards(file, found.st_size), until)
    except FileNotFoundError:
        return "", False  # the client writes a session's first lines late
    except (OSError, ValueError):
        return "", True


def _opened(path: str) -> int:
    """The file, and only where neither it nor the session's folder is a link."""
    folder, name = os.path.split(path)
    if not hasattr(os, "O_DIRECTORY"):  # pragma: no cover - Windows, not verified
        return os.open(path, _FLAGS)
    session = os.open(folder, _FLAGS | os.O_DIRECTORY)
    try:
        return os.open(name, _FLAGS, dir_fd=session)
    finally:
        os.close(session)


def _answer(lines: Iterator[bytes], until: str) -> tuple[str, bool]:
    """What the agent said last before ``until``, back to the prompt that it answers, and whether a line is of that time
    or later: the client notes the stop itself. A subagent's lines name it."""
    whole = not until
    for raw in lines:
        if not any(mark in raw for mark in MARKS):
            continue
        try:
            line = loads(raw)
        except PayloadError:
            continue
        data = line.get("data")
        written = str(line.get("timestamp") or "")
        whole = whole or written >= until
        if line.get("agentId") or not isinstance(data, dict) or (until and written > until):
            continue
        if line.get("type") == "assistant.message":
            text = data.get("content")
            if isinstance(text, str) and text:
                return text, whole
        elif data.get("hookType") == "userPromptSubmitted":
            return "", whole
    return "", whole


def _backwards(file: BinaryIO, size: int) -> Iterator[bytes]:
    """The lines of a file, last first, as far as `MOST` reaches; one that begins before that is left out."""
    rest = b""
    at, first = size, max(0, size - MOST)
    while at > first:
        at, end = max(first, at - CHUNK), at
        file.seek(at)
        block = file.read(end - at) + rest
        rest, *lines = block.split(b"\n")
        yield from reversed(lines)
    if at == 0:
        yield rest
