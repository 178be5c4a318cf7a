"""What a tool call was for: to read a file, to look into the web, or to do something.

What was only read has its own place and changes there; what was done is a session's own work.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from neosian import calls, turns

READS, LOOKS, DOES = "reads", "looks", "does"

_READING = re.compile(r"(?:notebook_?)?read|view|grep|search_files|cat|open_file", re.IGNORECASE)
_LOOKING = re.compile(r"web|fetch|brows|navigat|crawl|scrape|https?(?:_|$)|url", re.IGNORECASE)
_QUOTED = re.compile(r"'([^']*)'|\"((?:\\.|[^\"\\])*)\"")
_PARTS = re.compile(r"&&|\|\||[;|\n]|&(?!>)")
_WRITES = re.compile(r"(?<![<\d&-])>>?(?!\s*/dev/null|&)|\bsed\b[^;|&]*\s-\w*i|\btee\b")
_BEFORE = re.compile(r"^(?:\s*(?:sudo|command|time|env|nice|\w+=\S*)\s+)+")
_READERS = frozenset(
    "cat less more head tail bat batcat nl tac sed awk gawk grep egrep fgrep rg ag jq yq strings".split()
)
_SEARCHERS = re.compile(r"^(?:rg|ag|git grep)\b|^[ef]?grep\s+(?:-\w+\s+)*-\w*[rR]")
_GIT_READERS = re.compile(r"^git\s+(?:-\S+\s+\S+\s+)*(?:show|grep|blame|cat-file)\b")
_HARMLESS = frozenset(
    "cd pushd popd pwd echo printf true set export ls find tree wc stat file which test sort uniq cut tr column".split()
)
_FETCHERS = re.compile(
    r"^(?:curl|wget|lynx|links|w3m|http|https|xh)\b|^gh\s+(?:issue|pr|api|gist|search|release)\s+(?!create|close|merge)"
)
_LOCAL = re.compile(r"\b(?:localhost|127\.\d+\.\d+\.\d+|0\.0\.0\.0)\b|\[::1?\]|://[\w-]+(?::\d+)?(?:/|\s|$)")
_FILE = re.compile(
    r"(?:[^\s:=]*/)?(?:[\w@+-]*\.[A-Za-z]\w{0,9}|(?:Make|Docker|Proc|Gem|Pip|Just|Vagrant|Rake)file|\.[\w.-]+)$|[^\s:=]*/[^\s:=]+$"
)
_PASSING = re.compile(
    r"\.(?:log|out|err|tmp)$|^(?:/private)?/(?:tmp|var/tmp|var/log|var/folders|proc|sys|dev)/"
)
_FOUND = re.compile(r"^([^\s:]*[^\s:/])(?::(?:\d+[:-])?|$)", re.MULTILINE)
_PATH_KEYS = ("file_path", "notebook_path", "path", "file", "filename")


class Read(NamedTuple):
    """What a call showed of files: their paths as they were named (none where they were not), and the text."""

    paths: tuple[str, ...]
    text: str


def lines_of(given: Mapping[str, Any]) -> list[str]:
    """The shell's lines of a call's input."""
    found = []
    for key in calls.COMMANDS:
        value = given.get(key)
        if isinstance(value, list) and all(isinstance(word, str) for word in value):
            is_shell = len(value) == 3 and value[1] in ("-lc", "-c")
            found.append(value[2] if is_shell else shlex.join(value))
        elif isinstance(value, str):
            found.append(value)
    return found


def kind(call: turns.Call) -> str:
    """Whether a call only read files, looked into the web, or did something."""
    if lines := lines_of(call.input):
        parts = [part for line in lines for part in _parts(line)]
        if any(_FETCHERS.match(part) and not _LOCAL.search(part) for part in parts):
            return LOOKS
        reads = [part for part in parts if _is_reader(part)]
        is_reading = any(_files(part) or _SEARCHERS.match(part) for part in reads)
        others = [part for part in parts if part not in reads and part.split()[0] not in _HARMLESS]
        writes = any(_WRITES.search(_unquoted(line)) for line in lines)
        is_passing = all(_PASSING.search(path) for part in reads for path in _files(part) or ["x"])
        return READS if is_reading and not (others or writes or is_passing) else DOES
    name = call.tool.rpartition("__")[2]
    if _READING.match(name):
        return DOES if (paths := _named(call.input)) and all(map(_PASSING.search, paths)) else READS
    return LOOKS if _LOOKING.search(name) else DOES


def read(call: turns.Call, shown: str) -> Read:
    """What a call that read files showed of them."""
    paths = [
        *_named(call.input),
        *(path for line in lines_of(call.input) for part in _parts(line) for path in _files(part)),
    ]
    found = (
        [path for path in _FOUND.findall(shown) if _FILE.fullmatch(path)]
        if not paths or _is_search(call)
        else []
    )
    return Read(tuple(dict.fromkeys([*paths, *found])), _FOUND.sub(_without_place, shown) if found else shown)


def _without_place(match: re.Match[str]) -> str:
    return "" if _FILE.fullmatch(match[1]) else match[0]


def _is_search(call: turns.Call) -> bool:
    is_tool = call.tool.rpartition("__")[2].lower().startswith(("grep", "search"))
    return is_tool or any(re.search(r"\b(?:[ef]?grep|rg|ag)\b", line) for line in lines_of(call.input))


def _named(given: Mapping[str, Any]) -> list[str]:
    return [value for key in _PATH_KEYS if isinstance(value := given.get(key), str) and value]


def _unquoted(line: str) -> str:
    """A line with its quoted parts as single words without signs of the shell."""
    return _QUOTED.sub(lambda match: re.sub(r"[\s;|&<>]", "_", match[1] or match[2] or "_"), line)


def _parts(line: str) -> Iterator[str]:
    """The commands of a line, without what stands before them."""
    for part in _PARTS.split(_unquoted(line)):
        if bare := _BEFORE.sub("", part.strip(" \t()")).strip():
            yield bare


def _is_reader(part: str) -> bool:
    return part.split()[0].rpartition("/")[2] in _READERS or _GIT_READERS.match(part) is not None


def _files(part: str) -> list[str]:
    """The files that a reading command names."""
    words = [word.rpartition(":")[2] for word in part.split()[1:] if not word.startswith("-")]
    return [word for word in words if _FILE.fullmatch(word)] if _is_reader(part) else []
