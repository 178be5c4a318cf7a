"""Which files a tool call names: to keep what is in some of them out of the record, and to know whose edit it was."""

from __future__ import annotations

import os
import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from typing import Any

    from neosian.events import Event

EDITORS = ("Edit", "MultiEdit", "Write", "NotebookEdit")
COMMANDS = ("command", "cmd", "script")  # keys of an input under which a shell's line stands
PATHS = re.compile(r"path|file|dir|glob|folder", re.IGNORECASE)  # keys under which paths stand
WORDS = re.compile(r"[^\s;|&<>()'\"`=,{}\[\]$]+")  # what may be a path in a shell's line
LONGEST = 4096  # bytes of the longest path that Linux takes
MOST = 2000  # words of a shell's line that are looked at


class Globs:
    """Patterns of files as ``.gitignore`` has them: ``**`` spans folders, one without ``/`` matches at any depth.

    Case does not matter: better a file too many kept out than one too few. A pattern is compiled when its core is
    in a path: compiling the two dozen that are the default takes a fifth of a floor.
    """

    __slots__ = ("_compiled", "patterns")

    def __init__(self, patterns: Iterable[str]) -> None:
        self.patterns = [(pattern, _core(pattern)) for pattern in patterns]
        self._compiled: dict[str, re.Pattern[str]] = {}

    def match(self, paths: Iterable[str]) -> str | None:
        """The first pattern that one of the paths, or a folder it lies in, matches."""
        if not self.patterns:
            return None
        names = [path.replace("\\", "/") for path in paths]
        text = "\n".join(names).lower()
        # Beyond ASCII some letters have more than one other case, which patterns know and `lower` does not.
        near = [glob for glob, core in self.patterns if core in text or not text.isascii()]
        return next((glob for glob in near if any(map(self._regex(glob).fullmatch, names))), None)

    def _regex(self, glob: str) -> re.Pattern[str]:
        if glob not in self._compiled:
            self._compiled[glob] = re.compile(_regex(glob), re.IGNORECASE)
        return self._compiled[glob]


def _core(glob: str) -> str:
    """The longest run of characters without which no path, in lower case, matches; "" where none is certain."""
    plain = glob.replace("\\", "/").rstrip("/").removeprefix("./").partition("[")[0].lower()
    runs = plain.replace("**/", "*").replace("?", "*").split("*")
    return max(runs, key=len) if plain.isascii() else ""


def _regex(glob: str) -> str:
    glob = glob.replace("\\", "/").rstrip("/")
    anywhere = "/" not in glob
    parts = re.findall(r"\*\*/|\*\*|\*|\?|\[!?[^\]]+\]|.", glob.removeprefix("./"), re.DOTALL)
    body = "".join(_piece(part) for part in parts)
    return f"{'(?:.*/)?' if anywhere else ''}{body}(?:/.*)?"


def _piece(part: str) -> str:
    known = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    if part in known:
        return known[part]
    if len(part) > 2 and part[0] == "[":
        inner = part[1:-1].replace("\\", r"\\")
        return f"[^{inner[1:]}]" if inner[0] == "!" else f"[{inner}]"
    return re.escape(part)


def named_paths(fields: Mapping[str, Any], cwd: str = "") -> set[str]:
    """Every path that a call's input names, as it stands there, absolute, and relative to ``cwd``."""
    found: set[str] = set()
    for name in _named(fields):
        full = _absolute(name, cwd)
        found |= {name, full}
        if cwd and full.startswith(cwd.rstrip("/") + "/"):
            found.add(full[len(cwd.rstrip("/")) + 1 :])
    return found


def touched_paths(call: Mapping[str, Any], cwd: str = "") -> set[str]:
    """The files that a call may have written: the path of an editing tool, any word of a shell's line.

    ``call`` is a ``tool_call`` line or an event's data. Paths are absolute where the working directory is known.
    """
    fields = call.get("input")
    cwd = str(call.get("cwd") or cwd)
    if not isinstance(fields, dict):
        return set()
    if call.get("tool") in EDITORS:
        return {
            _absolute(path, cwd) for path in _strings(fields.get("file_path"), fields.get("notebook_path"))
        }
    lines = list(_strings(*(fields.get(key) for key in COMMANDS)))
    words = [word for line in lines for word in _words(line)]
    homes = [cwd, *(_absolute(folder, cwd) for line in lines for folder in _folders(line))]
    return {_absolute(word, home) for word in words for home in homes}


def touched_by(event: Event) -> set[str]:
    """The files that the calls of an event may have written."""
    calls = event.data["calls"] if event.kind == "batch" else [event.data]
    return {path for call in calls for path in touched_paths(call, event.cwd)}


def _named(fields: Mapping[str, Any]) -> Iterator[str]:
    for key, value in fields.items():
        if isinstance(value, dict):
            yield from _named(value)
        elif key in COMMANDS:
            for line in _strings(value):
                yield from _words(line)
        elif isinstance(value, list) and any(isinstance(item, dict) for item in value):
            for item in value:
                yield from _named(item) if isinstance(item, dict) else ()
        elif PATHS.search(key):
            yield from (text for text in _strings(value) if 0 < len(text) <= LONGEST and "\n" not in text)


def _strings(*values: Any) -> Iterator[str]:
    """The strings among some values and in the lists among them."""
    for value in values:
        if isinstance(value, str):
            yield value
        elif isinstance(value, list):
            yield from (item for item in value if isinstance(item, str))


def _words(line: str) -> list[str]:
    words = [found[0] for found, _ in zip(WORDS.finditer(line), range(MOST), strict=False)]
    return [word for word in words if len(word) <= LONGEST and word[0] != "-"]


def _folders(line: str) -> list[str]:
    """Where a shell's line goes with ``cd``."""
    return re.findall(r"\b(?:cd|pushd)\s+[\"']?([^\s;|&\"']+)", line)


def _absolute(path: str, cwd: str) -> str:
    if path.startswith("~/"):
        path = os.path.expanduser(path)
    if re.match(r"[A-Za-z]:[\\/]|[\\/]", path):
        return os.path.normpath(path)
    return os.path.normpath(os.path.join(cwd, path)) if cwd else path
