"""How clients keep hooks: where the file is, and how ours stand in it beside those of others.

A shape is what the files of several clients have in common. Each knows how our hooks are put into a text, found there
and taken out again, and touches nothing else. What is installed stands in ``hooks/``, one template a client, with
``@NEOSIAN start@`` where the hook line of that verb goes. Nothing here reads or writes a file.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, NamedTuple, Protocol

from neosian import settings
from neosian.launcher import is_hook_line, is_launcher

Environ = Mapping[str, str]
Version = tuple[int, int, int]
Line = Callable[[str], str]
"""A verb's hook line."""

_MOST_EVENTS = 100
_PLACEHOLDER = re.compile(r"@NEOSIAN (\w+)@")
_QUOTED_PLACEHOLDER = re.compile(rf'"{_PLACEHOLDER.pattern}"')
# One that nobody closed reaches to the end of its line: were it no match, each quote in it would be tried anew.
_LITERAL = re.compile(r'"(?:[^"\\\n]++|\\.)*+(?:"|\\?(?=\n|\Z))')


class Problem(NamedTuple):
    """Something in a file: where, what, and whether our hooks would be lost with it."""

    path: str
    says: str
    fatal: bool

    def __str__(self) -> str:
        return f"{self.path}: {self.says}" if self.path else self.says


class Shape(Protocol):
    """How hooks stand in a file's text. What is *wanted* or *owned* is of a shape's own making."""

    @property
    def empty(self) -> str:
        """The text of a file that is not there yet."""

    def decode(self, file: str, raw: bytes) -> str:
        """The text of a file; raises ``NotPlain`` where a careful edit cannot touch it."""

    def filled(self, template: str, known: Container[str], line: Line) -> Any:
        """What is wanted: a template with its hook lines, for the events that are known."""

    def names(self, hooks: Any) -> tuple[str, ...]:
        """The names of hooks, wanted or owned: events, or verbs where a file of ours tells of no event."""

    def fragment(self, hooks: Any) -> Any:
        """A text, or plain values, that holds these hooks alone."""

    def show(self, fragment: Any) -> str:
        """A fragment as it can be pasted."""

    def owned(self, text: str) -> Any:
        """Our hooks as they stand in a text; false where there are none."""

    def merge(self, text: str, wanted: Any) -> str:
        """The text with what is wanted in it, once. Raises ``ValueError`` where there is no place for it."""

    def again(self, text: str, owned: Any) -> str:
        """The text with what `owned` gave."""

    def strip(self, text: str) -> str:
        """The text without our hooks."""

    def is_empty(self, text: str) -> bool:
        """Whether nothing is left in a text that anybody needs."""

    def problems(self, text: str, wanted: Any) -> list[Problem]:
        """What keeps our hooks from having a place in a text."""

    def strange(self, text: str) -> list[str]:
        """Where hooks stand that call our launcher in a way of their own, and so are left alone."""


@dataclass(frozen=True)
class HookFile:
    """Where one client's hooks live."""

    shape: Shape
    template: str
    """The file in ``hooks/`` that says what is installed."""
    home: Callable[[Environ], str]
    """The client's own folder, which neosian never makes."""
    user_file: Callable[[Environ], str]
    project_file: Callable[[str], str] | None
    """The file of a project in a folder; None where only the user has one."""
    problems: Callable[[str, Version | None], Sequence[Problem]] | None = None
    """What the client itself would find wrong in the file's text, by its version."""
    early: tuple[str, ...] = ()
    """Events that a client older than the oldest supported is trusted to know."""
    project_words: str = "--project"
    """What the hook lines of a project's file say at their end, so that the same event through both files is one.
    "" where the client runs a line that stands in both files only once."""


def version_in(said: str) -> Version | None:
    """The first version in what a client says of itself; None where there is none."""
    found = re.search(r"(?<![\w.])v?(\d{1,9})\.(\d{1,9})\.(\d{1,9})(?![\w.])", said)
    return (int(found[1]), int(found[2]), int(found[3])) if found else None


# JSON: hooks -> event -> list ---------------------------------------------------------------------


@dataclass(frozen=True)
class JsonHooks:
    """A JSON object whose ``hooks`` lead from an event to a list.

    The list holds the hooks themselves, or (``grouped``) groups, each with a matcher and a list of hooks. ``top`` is
    what else a file of hooks has to say. What is wanted is the item of each event's list.
    """

    grouped: bool
    top: Mapping[str, Any] = field(default_factory=dict)
    empty: str = "{}\n"

    def decode(self, file: str, raw: bytes) -> str:
        return settings.decode(file, raw)

    def filled(self, template: str, known: Container[str], line: Line) -> dict[str, Any]:
        hooks = settings.parse(template)["hooks"]
        return {event: _filled(items[0], line) for event, items in hooks.items() if event in known}

    def names(self, hooks: Mapping[str, Any]) -> tuple[str, ...]:
        return tuple(hooks)

    def fragment(self, hooks: Mapping[str, Any]) -> dict[str, Any]:
        items = {event: item if isinstance(item, list) else [item] for event, item in hooks.items()}
        return {**self.top, "hooks": items}

    def show(self, fragment: Any) -> str:
        return json.dumps(fragment, indent=2, ensure_ascii=False)

    def owned(self, text: str) -> dict[str, list[Any]]:
        """Event -> items that hold our hooks and no others."""
        found = {
            event: [self._alone(item, m) for item in _list(items) for m in self._ours_in(item)]
            for event, items in _hooks(text).items()
        }
        return {event: items for event, items in found.items() if items}

    def merge(self, text: str, wanted: Mapping[str, Any]) -> str:
        old = [event for event in self.owned(text) if event not in wanted]
        text = settings.remove_all(text, self._places(_hooks(text), old))
        for key, value in self.top.items():
            if key not in settings.parse(text):
                text = settings.insert(text, (key,), value)
        for event, item in wanted.items():
            text = self._place(text, event, item)
        return text

    def again(self, text: str, owned: Mapping[str, list[Any]]) -> str:
        if len(owned) > _MOST_EVENTS:
            raise ValueError("no release of ours has hooks for so many events")
        return self.merge(text, {event: items[0] for event, items in owned.items()})

    def strip(self, text: str) -> str:
        """The text without our hooks, and without the lists that held nothing else."""
        hooks = _hooks(text)
        events = self.owned(text)
        text = settings.remove_all(text, self._places(hooks, events))
        return settings.remove(text, ("hooks",)) if events and not _hooks(text) else text

    def is_empty(self, text: str) -> bool:
        return settings.parse(text) in ({}, dict(self.top))

    def problems(self, text: str, wanted: Mapping[str, Any]) -> list[Problem]:
        value = settings.parse(text)
        hooks = value.get("hooks", {})
        if not isinstance(hooks, dict):
            return [Problem("hooks", "it is not an object", True)]
        found = [
            Problem(path, "it stands there twice", True)
            for path in settings.twice(value)
            if path == "hooks" or path.startswith("hooks.")
        ]
        return found + [
            Problem(settings.step("hooks", event), "it is not a list", True)
            for event in wanted
            if not isinstance(hooks.get(event, []), list)
        ]

    def strange(self, text: str) -> list[str]:
        return [
            path
            for path, value in settings.walk(settings.parse(text))
            if isinstance(value, str) and "/neosian-hook" in value and not is_hook_line(value)
            if path.startswith("hooks.") and path.endswith(".command")
        ]

    def _place(self, text: str, event: str, item: Any) -> str:
        if "hooks" not in settings.parse(text):
            text = settings.insert(text, ("hooks",), {})
        hooks = settings.parse(text)["hooks"]
        items = hooks.get(event, []) if isinstance(hooks, dict) else None
        if not isinstance(items, list):
            raise ValueError(f"there is no place for a hook of {event}")
        if event not in hooks:
            return settings.insert(text, ("hooks", event), [item])
        right = [
            (n, m)
            for n, other in enumerate(items)
            for m in self._ours_in(other)
            if self._serves(other, m, item)
        ]
        ours = [n for n, other in enumerate(items) if self._only_ours(other)]
        if right:
            keep = right[0]
        elif ours:
            keep = ours[0], 0
            text = settings.replace(text, ("hooks", event, ours[0]), item)
        else:
            keep = len(items), 0
            text = settings.insert(text, ("hooks", event, len(items)), item)
        return self._strip_event(text, event, keep)

    def _strip_event(self, text: str, event: str, keep: tuple[int, int] | None = None) -> str:
        """Take our hooks of one event away, but for the one at ``keep`` (item, hook in it)."""
        return settings.remove_all(text, self._places(_hooks(text), [event], keep))

    def _places(
        self, hooks: Mapping[str, Any], events: Iterable[str], keep: tuple[int, int] | None = None
    ) -> Iterator[settings.Path]:
        """What goes with our hooks of some events, but for the one at ``keep``: a hook, an item or a list that holds
        nothing else."""
        for event in events:
            paths: list[settings.Path] = []
            items = _list(hooks[event])
            for n, item in enumerate(items):
                drop = [m for m in self._ours_in(item) if (n, m) != keep]
                if drop and len(drop) == len(self._entries(item)):
                    paths.append(("hooks", event, n))
                else:
                    paths += [("hooks", event, n, "hooks", m) for m in drop]
            is_whole = len([path for path in paths if len(path) == 3]) == len(items)
            yield from [("hooks", event)] if is_whole else paths

    def _entries(self, item: Any) -> list[Any]:
        if not self.grouped:
            return [item]
        return _list(item.get("hooks")) if isinstance(item, dict) else []

    def _alone(self, item: Any, m: int) -> Any:
        return {**item, "hooks": [item["hooks"][m]]} if self.grouped else item

    def _ours_in(self, item: Any) -> list[int]:
        """Where in an item hooks of ours stand."""
        return [m for m, entry in enumerate(self._entries(item)) if _ours(entry)]

    def _only_ours(self, item: Any) -> bool:
        return 0 < len(self._ours_in(item)) == len(self._entries(item))

    def _serves(self, item: Any, m: int, wanted: Any) -> bool:
        """Whether an item runs just the wanted hook, for whatever that is to run for."""
        if not self.grouped:
            return bool(item == wanted)
        return bool(item["hooks"][m] == wanted["hooks"][0] and _matcher(item) == _matcher(wanted))


def _matcher(group: Mapping[str, Any]) -> Any:
    matcher = group.get("matcher", "")
    return "" if matcher == "*" else matcher


def _filled(value: Any, line: Line) -> Any:
    if isinstance(value, dict):
        return {key: _filled(item, line) for key, item in value.items()}
    if isinstance(value, list):
        return [_filled(item, line) for item in value]
    found = _PLACEHOLDER.fullmatch(value) if isinstance(value, str) else None
    return line(found[1]) if found else value


def _hooks(text: str) -> dict[str, Any]:
    value = settings.parse(text)
    found = value.get("hooks") if isinstance(value, dict) else None
    return found if isinstance(found, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _ours(entry: Any) -> bool:
    command = entry.get("command") if isinstance(entry, dict) else None
    if not isinstance(command, str):
        return False
    return is_launcher(command) if "args" in entry else is_hook_line(command)


# A file of our own --------------------------------------------------------------------------------


@dataclass(frozen=True)
class OwnFile:
    """A file that is ours from the first byte to the last. It is known by the hook lines in it, each a string of its
    own; one that has none is somebody else's."""

    empty: str = ""

    def decode(self, file: str, raw: bytes) -> str:
        return _utf8(file, raw)

    def filled(self, template: str, known: Container[str], line: Line) -> str:
        return _quoted(template, line)

    def names(self, hooks: str) -> tuple[str, ...]:
        try:
            events = tuple(_hooks(hooks))
        except ValueError:  # it is a plugin, or no longer as we wrote it
            events = ()
        return events or tuple(dict.fromkeys(_verb(line) for line in lines_in(hooks)))

    def fragment(self, hooks: str) -> str:
        return hooks

    def show(self, fragment: str) -> str:
        return fragment.rstrip("\n")

    def owned(self, text: str) -> str:
        return text if any(True for _ in lines_in(text)) else ""

    def merge(self, text: str, wanted: str) -> str:
        return wanted

    again = merge

    def strip(self, text: str) -> str:
        return "" if self.owned(text) else text

    def is_empty(self, text: str) -> bool:
        return not text.strip()

    def problems(self, text: str, wanted: str) -> list[Problem]:
        if self.is_empty(text) or self.owned(text):
            return []
        return [Problem("", "it is somebody else's, no line in it is neosian's", True)]

    def strange(self, text: str) -> list[str]:
        return []


def _quoted(template: str, line: Line) -> str:
    """A template of any language in which a JSON string is a string."""
    return _QUOTED_PLACEHOLDER.sub(lambda found: json.dumps(line(found[1]), ensure_ascii=False), template)


def lines_in(text: str) -> Iterator[str]:
    """The hook lines of ours that are strings in a text."""
    for literal in _LITERAL.findall(text):
        if "neosian-hook" in literal:
            try:
                said = json.loads(literal)
            except ValueError:
                continue
            if is_hook_line(said):
                yield said


def _verb(line: str) -> str:
    """The verb of a hook line: the second word behind the launcher."""
    words = line.rpartition('exec "$h"')[2].split()
    return words[1] if len(words) > 1 else ""


def _utf8(file: str, raw: bytes) -> str:
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise settings.NotPlain(file, f"byte {error.start + 1} is not UTF-8") from None


# TOML, between two lines of comment ---------------------------------------------------------------

_FIRST = "# neosian's hooks begin here: `neosian record install` writes them anew, `uninstall` takes them out"
_LAST = "# neosian's hooks end here"
_MARK = re.compile(rf"^(?:{re.escape(_FIRST)}|{re.escape(_LAST)})[ \t]*(?:\r?\n|\Z)", re.M)
_HEADER = re.compile(r"^[ \t]*\[", re.M)
_BLANK = re.compile(r"(?:[ \t]*\r?\n)*+")
Span = tuple[int, int]


@dataclass(frozen=True)
class TomlTables:
    """Tables at the end of a TOML file, between two lines of comment; the rest keeps its bytes.

    The comments are for people: a table of ours is known by its hook line, wherever it stands, and a table of somebody
    else's between them stays.
    """

    key: str = "hooks"
    empty: str = ""

    def decode(self, file: str, raw: bytes) -> str:
        text = _utf8(file, raw)
        try:
            tomllib.loads(text)
        except (tomllib.TOMLDecodeError, RecursionError) as error:
            raise settings.NotPlain(file, f"it is not TOML ({error})") from None
        return text

    def filled(self, template: str, known: Container[str], line: Line) -> str:
        """What is wanted: the block whole."""
        tables = re.split(r"(?m)^(?=\[\[)", template)
        kept = [table for table in tables if table.startswith("[[") and self._events(table)[0] in known]
        return _FIRST + "\n" + _quoted("".join(kept), line).rstrip("\n") + "\n" + _LAST + "\n"

    def names(self, hooks: str) -> tuple[str, ...]:
        return tuple(self._events(hooks))

    def fragment(self, hooks: str) -> str:
        return hooks

    def show(self, fragment: str) -> str:
        return fragment.rstrip("\n")

    def owned(self, text: str) -> str:
        """Our tables, as one block."""
        tables = [text[start:end].strip().replace("\r\n", "\n") for start, end in self._places(text)]
        return "\n".join((_FIRST, "\n\n".join(tables), _LAST, "")) if tables else ""

    def merge(self, text: str, wanted: str) -> str:
        end = "\r\n" if "\r\n" in text else "\n"
        block = wanted.replace("\n", end)
        cuts = self._cuts(text)
        if cuts and all(cut[1] == after[0] for cut, after in pairwise(cuts)):
            return text[: cuts[0][0]] + block + text[cuts[-1][1] :]
        text = self.strip(text)
        gap = "" if not text else end if text.endswith("\n") else 2 * end
        return text + gap + block

    again = merge

    def strip(self, text: str) -> str:
        cuts = self._cuts(text)
        if not cuts:
            return text
        left = _without(text, cuts)
        # The blank line that was put before our block goes with it.
        return re.sub(r"(?<=\n)\r?\n\Z", "", left) if cuts[-1][1] == len(text) else left

    def is_empty(self, text: str) -> bool:
        return not text.strip()

    def problems(self, text: str, wanted: str) -> list[Problem]:
        try:
            tomllib.loads(self.merge(text, wanted))
        except (tomllib.TOMLDecodeError, RecursionError) as error:
            return [Problem(self.key, f"no table can be added to it ({error})", True)]
        stray = self._ours(tomllib.loads(self.strip(text)))
        says = "hooks of ours stand where they cannot be taken out, and run as well: take them out by hand"
        return [Problem(self.key, says, False)] if stray else []

    def strange(self, text: str) -> list[str]:
        tables = _list(tomllib.loads(self.strip(text)).get(self.key))
        return [
            settings.step(self.key, n)
            for n, table in enumerate(tables)
            if isinstance(table, dict) and "/neosian-hook" in str(table.get("command"))
        ]

    def _places(self, text: str) -> list[Span]:
        """Where our tables stand, each with the blank lines behind it; none where they cannot be taken out so that all
        else still says the same."""
        value = tomllib.loads(text)
        if not self._ours(value):
            return []
        found = list(self._candidates(text))
        left = {**value, self.key: [table for table in _list(value[self.key]) if not _ours(table)]}
        if not left[self.key]:
            del left[self.key]
        try:
            is_clean = repr(tomllib.loads(_without(text, found))) == repr(left)  # a float may be NaN
        except tomllib.TOMLDecodeError:
            is_clean = False
        return found if is_clean else []

    def _candidates(self, text: str) -> Iterator[Span]:
        """What looks like tables of ours: it may stand in a text of several lines."""
        starts = [found.start() for found in _HEADER.finditer(text)]
        for start, end in pairwise((*starts, len(text))):
            table = _to_last_key(text[start:end])
            if "neosian-hook" not in table:
                continue
            try:
                value = tomllib.loads(table)
            except (tomllib.TOMLDecodeError, RecursionError):
                continue
            if list(value) == [self.key] and len(self._ours(value)) == 1:
                blank = _BLANK.match(text, start + len(table))
                yield start, blank.end() if blank else start + len(table)

    def _cuts(self, text: str) -> list[Span]:
        """Our tables and the comments around them, in the order of the text; none where there is no table of ours."""
        places = self._places(text)
        marks = [found.span() for found in _MARK.finditer(text)] if places else []
        cuts = sorted([*places, *marks])
        is_same = not marks or repr(tomllib.loads(_without(text, cuts))) == repr(
            tomllib.loads(_without(text, places))
        )
        return cuts if is_same else places  # a mark may stand in a text of several lines

    def _events(self, text: str) -> list[str]:
        return [str(table.get("event", "")) for table in self._tables(tomllib.loads(text))]

    def _ours(self, value: Mapping[str, Any]) -> list[Any]:
        return [table for table in self._tables(value) if _ours(table)]

    def _tables(self, value: Mapping[str, Any]) -> Iterable[dict[str, Any]]:
        return (table for table in _list(value.get(self.key)) if isinstance(table, dict))


def _to_last_key(table: str) -> str:
    """A table without the blank lines and comments behind it."""
    lines = table.splitlines(keepends=True)
    while lines and lines[-1].lstrip()[:1] in ("", "#"):
        lines.pop()
    return "".join(lines)


def _without(text: str, cuts: Iterable[Span]) -> str:
    pieces, here = [], 0
    for start, end in cuts:
        pieces.append(text[here:start])
        here = end
    return "".join((*pieces, text[here:]))


GROUPS = JsonHooks(grouped=True)
FLAT = JsonHooks(grouped=False, top={"version": 1})
OWN = OwnFile()
TOML = TomlTables()
