"""Which files a tool call names: to keep what is in some of them out of the record, and to know whose edit it was."""

from __future__ import annotations

import os
import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from typing import Any

    from neosian.events import Event

EDITORS = re.compile(r"edit|write|create|replace|patch|insert", re.IGNORECASE)  # names of tools that write
COMMANDS = ("command", "cmd", "script")  # keys of an input under which a shell's line stands
PATHS = re.compile(r"path|file|dir|glob|folder", re.IGNORECASE)  # keys under which paths stand
# Keys under which no path stands, though what stands there may look like one.
TEXTS = re.compile(
    r"content|text|string|pattern|query|prompt|description|message|reason|code|body|regex|subject|title",
    re.IGNORECASE,
)
PATH_LIKE = re.compile(
    r"file:|~?/|\.|[A-Za-z]:[\\/]|[^\s:]+/\S*$"
)  # how a path begins where its key tells nothing
WORDS = re.compile(r"[^\s;|&<>()'\"`=,{}\[\]$]+")  # what may be a path in a shell's line
LONGEST = 4096  # bytes of the longest path that Linux takes
MOST = 2000  # words of a shell's line that may name what it wrote
RESOLVED = 5000  # names that are also looked at as absolute paths


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
        found = next((glob for glob in near if any(map(self._regex(glob).fullmatch, names))), None)
        return found or self._reached(names)

    def near(self, text: str) -> bool:
        """Whether a path that a pattern matches may stand in ``text``; False is certain."""
        low = text.lower()
        return any(core in low for _, core in self.patterns)

    def _reached(self, names: Iterable[str]) -> str | None:
        """The first pattern whose files one of the names, a glob itself, aims at: ``cat .e*`` reads ``.env``."""
        wild = [name.lower().split("/") for name in names if "*" in name or "?" in name][:500]
        for glob, _ in self.patterns if wild else ():
            sample = _sample(glob)
            for parts in wild:
                places = range(len(parts) - len(sample) + 1)
                if any(_aims(parts[at : at + len(sample)], sample) for at in places):
                    return glob
        return None

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


def _sample(glob: str) -> list[str]:
    """The parts of a path that a pattern matches, those that it leaves open left out."""
    parts = glob.lower().replace("\\", "/").strip("/").removesuffix("/**").rpartition("**/")[2].split("/")
    plain = (re.sub(r"\[[^\]]+\]|\?", "x", part) for part in parts)
    return [("x" if part.startswith("*") else "") + part.replace("*", "") for part in plain]


def _aims(parts: list[str], sample: list[str]) -> bool:
    """Whether the parts of a glob match those of a path, and say enough of it to mean it: ``*.json`` does not."""
    return parts != sample and all(
        part == name or _aims_at(part, name) for part, name in zip(parts, sample, strict=True)
    )


def _aims_at(part: str, name: str) -> bool:
    head = part.partition("*")[0].partition("?")[0]
    if head == part or not name.startswith(head) or (name[:1] == "." and not head):
        return False
    said = len(part.replace("*", "").replace("?", ""))
    enough = len(head) > 2 or said * 2 >= len(name) or name[:1] == "."
    return enough and re.fullmatch("".join(map(_piece, part)), name) is not None


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
    named = list(dict.fromkeys(_named(fields)))
    found = set(named)
    for name in named[:RESOLVED]:
        full = _absolute(name, cwd)
        found.add(full)
        if cwd and full.startswith(cwd.rstrip("/") + "/"):
            found.add(full[len(cwd.rstrip("/")) + 1 :])
    return found


def touched_paths(call: Mapping[str, Any], cwd: str = "") -> set[str]:
    """The files that a call may have written: the paths of an editing tool, any word of a shell's line.

    ``call`` is a ``tool_call`` line or an event's data. Paths are absolute where the working directory is known.
    """
    fields = call.get("input")
    cwd = str(call.get("cwd") or cwd)
    if not isinstance(fields, dict):
        return set()
    if edited := edited_paths(str(call.get("tool")), fields):
        return {_absolute(path, cwd) for path in edited}
    lines = list(_strings(*(fields.get(key) for key in COMMANDS)))
    words = [word for line in lines for word in _words(line)]
    homes = [cwd, *(_absolute(folder, cwd) for line in lines for folder in _folders(line))]
    return {_absolute(word, home) for word in words for home in homes}


def edited_paths(tool: str, fields: Mapping[str, Any]) -> list[str]:
    """The paths that a call of an editing tool names, as they stand there; none of any other tool's."""
    if not EDITORS.search(tool):
        return []
    keys = (key for key in fields if PATHS.search(key) and not TEXTS.search(key))
    return [path for path in _strings(*(fields[key] for key in keys)) if len(path) <= LONGEST]


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
                for word in WORDS.finditer(line):
                    yield from _spellings(word[0])
        elif isinstance(value, list) and any(isinstance(item, dict) for item in value):
            for item in value:
                yield from _named(item) if isinstance(item, dict) else ()
        else:
            texts = (text for text in _strings(value) if 0 < len(text) <= LONGEST and "\n" not in text)
            if PATHS.search(key):
                yield from texts
            elif not TEXTS.search(key):
                yield from (_local(text) for text in texts if PATH_LIKE.match(text))


def _strings(*values: Any) -> Iterator[str]:
    """The strings among some values and in the lists among them."""
    for value in values:
        if isinstance(value, str):
            yield value
        elif isinstance(value, list):
            yield from (item for item in value if isinstance(item, str))


def _local(text: str) -> str:
    """The path of a ``file:`` URI, any other text as it is."""
    if not text.startswith("file:"):
        return text
    path = text.removeprefix("file:").removeprefix("//").removeprefix("localhost")
    return re.sub("%([0-7][0-9A-Fa-f])", lambda code: chr(int(code[1], 16)), path)


def _spellings(word: str) -> Iterator[str]:
    r"""A word of a shell's line, and what of it may be a path: ``@x``, ``-fx``, ``HEAD:x``, ``x:/mount``, ``\x``."""
    if len(word) > LONGEST:
        return
    if word[0] in "@-":
        word = word[1:] if word[0] == "@" else word[2:] if word[1:2] != "-" else ""
    if word:
        yield word
    if "\\" in word:
        yield word.replace("\\", "")
    if ":" in word:
        yield from filter(None, word.split(":"))


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


# Patterns that few outputs need: compiled where they are used, for compiling all takes a tenth of an empty Python.
# In the output of a search, a path before its line: `a/.env:KEY=1`, `a/.env:3:KEY=1`, `a/.env-2-KEY=1`.
_NAMED_LINE = r"((?:[A-Za-z]:)?[^\s:]{1,1024}?)(?::|-\d{1,7}-)(?=.)"
# And one above its lines: of a file in a patch, of `head` and `tail`, or alone, with numbered lines below.
_NAMED_ABOVE = r"diff --git \S+ \"?b/(.+?)\"?$|==> (.+) <==$|([^\s:]{1,1024})$"
_NUMBERED = r"\d{1,7}[:-]"


def without_ignored(text: str, globs: Globs, cwd: str = "") -> str:
    """The output of a tool without lines of files to ignore, though the call did not name them.

    What a search, a patch, `head` or `tail` tells of such a file becomes ``[dropped: PATTERN]``, a line for a line;
    the path stays. So do the same texts inside compact JSON.
    """
    if not globs.near(text):
        return text
    # In JSON a line ends at its escape, and the first one begins at a quote.
    ends = r'(\n|(?<!\\)\\n|(?<!\\)")' if text[:1] in ("{", "[") else r"(\n)"
    pieces = re.split(ends, text)
    named_line, named_above, numbered = map(re.compile, (_NAMED_LINE, _NAMED_ABOVE, _NUMBERED))
    known: dict[str, str | None] = {}
    # The pattern of the file that lines belong to, None where it may be told; whether all do or only numbered ones.
    above: str | None = None
    whole = False

    def ignored(path: str) -> str | None:
        if path not in known:
            known[path] = globs.match(named_paths({"path": path}, cwd))
        return known[path]

    for place in range(0, len(pieces), 2):
        line = pieces[place]
        found, title = named_line.match(line), named_above.match(line)
        pattern = ignored(found[1]) if found else None
        if found and pattern:
            pieces[place] = f"{found[0]}[dropped: {pattern}]"
        elif title and (title[1] or title[2]):
            above, whole = ignored(title[1] or title[2]), True
        elif above and line and (whole or numbered.match(line)):
            pieces[place] = f"[dropped: {above}]"
        elif title:
            above, whole = ignored(title[3]), False
        elif not whole:
            above = None
    return "".join(pieces)
