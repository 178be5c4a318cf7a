"""The man page, made fit to read: `argparse-manpage ... | python -m tests.manpage` prints it.

argparse-manpage sets a command's usage as running text, and gives each list of options a heading of the first order.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

END = Path(__file__).parent.parent / "docs" / "neosian.1.end"
_NAMED = re.compile(r"\.SH (COMMAND|OPTIONS|POSITIONAL ARGUMENTS) \\fI\\,'(.+)'\\/\\fR")


def readable(page: str) -> str:
    """The page with a section a command, each usage line by line, and what no parser knows at its end."""
    lines = page.replace(".SH\nPOSITIONAL", ".SH POSITIONAL").rstrip("\n").split("\n")
    shown: list[str] = []
    in_usage = False
    for line in lines:
        if line.startswith("usage: "):
            in_usage = True
            shown.append(".nf")
        elif in_usage and not line:
            in_usage = False
            shown.append(".fi")
        shown.append(line.removeprefix("usage: ").removeprefix(" " * 7) if in_usage else _heading(line))
    return "\n".join(shown) + "\n" + END.read_text("utf-8")


def _heading(line: str) -> str:
    if line == ".SH POSITIONAL ARGUMENTS":
        return ".SH COMMANDS"
    found = _NAMED.fullmatch(line)
    if found is None:
        return line
    what, command = found.groups()
    if what == "COMMAND":
        return f"{'.SH' if len(command.split()) == 2 else '.SS'} {command}"
    return f".SS {'Options' if what == 'OPTIONS' else 'Arguments'} of {command}"


if __name__ == "__main__":
    print(readable(sys.stdin.read()), end="")
