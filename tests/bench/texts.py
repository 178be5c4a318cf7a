"""Text to record: whole lines of the standard library's own sources, other ones for every turn."""

from __future__ import annotations

import ast
import os
import random
from collections.abc import Iterator
from pathlib import Path

_SKIPPED = {"test", "tests", "site-packages", "idlelib", "lib2to3", "__pycache__"}
_NOTED = (
    "argparse", "base64", "calendar", "cgi", "cmd", "configparser", "contextlib", "copy", "csv", "difflib",
    "email.header", "email.parser", "filecmp", "fractions", "ftplib", "gettext", "glob", "gzip", "heapq", "http.client",
    "http.cookies", "imaplib", "inspect", "keyword", "locale", "mailbox", "optparse", "pickle", "pprint", "queue",
    "random", "sched", "shelve", "shlex", "smtplib", "string", "subprocess", "tarfile", "tempfile", "threading",
    "traceback", "warnings", "zipfile", "concurrent.futures.thread",
)  # fmt: skip
_ENOUGH = 16_000_000  # characters


def sources() -> str:
    """The standard library's modules one after another, in the order of their paths."""
    root = Path(os.__file__).parent
    paths = sorted(path for path in root.rglob("*.py") if not _SKIPPED & set(path.relative_to(root).parts))
    parts: list[str] = []
    size = 0
    for path in paths:
        parts.append(path.read_text("utf-8", errors="replace"))
        size += len(parts[-1])
        if size > _ENOUGH:
            break
    return "".join(parts)


def notes() -> Iterator[tuple[str, str]]:
    """(name, Markdown) of a note for each of some modules, made of what the module says about itself."""
    for name in _NOTED:
        path = Path(os.__file__).parent / (name.replace(".", "/") + ".py")
        said = ast.get_docstring(ast.parse(path.read_text("utf-8"))) or ""
        first, _, rest = said.partition("\n\n")
        yield (
            name.replace(".", "-"),
            f"---\ndescription: {' '.join(first.split())}\n---\n\n# {name}\n\n{rest[:2_000]}\n",
        )


class Texts:
    """Pieces of one long text, the same ones for the same seed."""

    def __init__(self, pool: str, seed: int) -> None:
        self._pool = pool
        self.dice = random.Random(seed)

    def lines(self, size: int) -> str:
        """About ``size`` characters, from the beginning of a line."""
        start = self._pool.find("\n", self.dice.randrange(len(self._pool) - 3 * size)) + 1
        return self._pool[start : start + size]

    def sentence(self, size: int) -> str:
        """About ``size`` characters in one line, as somebody might type them."""
        return " ".join(self.lines(2 * size).split())[:size].strip() or "go on"

    def id(self) -> str:
        """An id such as a client gives a session or a prompt."""
        digits = f"{self.dice.getrandbits(128):032x}"
        return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-8{digits[17:20]}-{digits[20:]}"
