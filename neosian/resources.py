"""Text of the folders that travel with the program: ``templates``, ``hooks`` and ``docs``.

In a wheel they lie inside the package (``neosian/data/<folder>``), in a checkout beside it.
"""

from __future__ import annotations

import os

from neosian.errors import NeosianError

_FILE = "// @NEOSIAN file "


def text(folder: str, name: str) -> str:
    """The text of one file of ``folder``, UTF-8; a name that is not in it is a ``NeosianError``."""
    if name not in names(folder):
        raise NeosianError(f"This installation of neosian has no {name} among its {folder}.")
    with open(os.path.join(_where(folder), name), encoding="utf-8") as file:
        return file.read()


def hook_file(name: str) -> str:
    """The template of a client's hook file; a line `// @NEOSIAN file NAME@` of it is another file of `hooks`, whole."""
    lines = text("hooks", name).split("\n")
    held = [line[len(_FILE) : -1] if line.startswith(_FILE) else "" for line in lines]
    return "\n".join(
        text("hooks", other).rstrip("\n") if other else line for line, other in zip(lines, held, strict=True)
    )


def names(folder: str) -> list[str]:
    """The names of the files of ``folder``, sorted; empty when this installation has no such folder."""
    try:
        entries = list(os.scandir(_where(folder)))
    except FileNotFoundError:
        return []
    return sorted(entry.name for entry in entries if entry.is_file() and not entry.name.startswith("."))


def _where(folder: str) -> str:
    package = os.path.dirname(os.path.abspath(__file__))
    packed = os.path.join(package, "data", folder)
    return packed if os.path.isdir(packed) else os.path.join(os.path.dirname(package), folder)
