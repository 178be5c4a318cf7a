"""Front matter read as the YAML it is: each value with its type, and what is wrong with it and where.

For what a person waits for; `neosian.documents` reads the plain lines that a hook needs, whatever YAML thinks of them.
Anybody may have written the text, so it is looked through before any value is made of it: length, depth and aliases
are bounded, and a tag that names a Python object is an error, never a call.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import yaml
from frontmatter.default_handlers import SafeLoader, YAMLHandler

LONGEST = 64 * 1024
"""Characters of front matter that are read."""
_DEEPEST = 50
_MOST_ALIASES = 20  # merged into each other, twice as many could stand for a million keys
_ABOVE = 2  # lines count from 1, and the fence is the first


class Unfit(ValueError):
    """Front matter of which no value is made."""


def read(header: str) -> tuple[dict[str, Any], str]:
    """The values of front matter (without its fences), and what is wrong with it: "" where nothing is.

    What is wrong begins with its line in the file, of which the opening fence is the first: `line 3: ...`. Where only
    some values cannot be read, or a key stands twice (the last counts), the values that can are there.
    """
    text = header.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    try:
        odd = _look_through(text)
    except (Unfit, yaml.YAMLError, UnicodeError) as error:
        return {}, _told(error, text)
    try:
        found = YAMLHandler().load(text)
    except Exception as error:  # of a value: PyYAML raises whatever it stumbles upon, even AttributeError
        return _one_by_one(text, _told(error, text))
    if found is not None and not isinstance(found, dict):
        return {}, f"line {_ABOVE}: these are no lines of the form `key: value`"
    return {str(key): value for key, value in (found or {}).items()}, odd


def _told(error: Exception, text: str) -> str:
    if isinstance(error, Unfit):
        return str(error)
    mark = getattr(error, "problem_mark", None)
    at = getattr(error, "position", None)
    line = mark.line if mark else text.count("\n", 0, at) if isinstance(at, int) else 0
    # At the end of the text the mark is behind the last line.
    line = min(line, text.rstrip("\n").count("\n"))
    return f"line {line + _ABOVE}: {_said(error)}"


def _said(error: Exception) -> str:
    if isinstance(error, (yaml.YAMLError, ValueError)):
        return str(getattr(error, "problem", None) or error).partition("\n")[0]
    return "this value cannot be read"


def _one_by_one(text: str, problem: str) -> tuple[dict[str, Any], str]:
    """The values that can be read, where as a whole they cannot, and the first that cannot."""
    values, problems = {}, []
    loader = SafeLoader(text)
    try:
        for key, value in _pairs(loader.get_single_node()):
            try:
                values[str(loader.construct_object(key, deep=True))] = loader.construct_object(
                    value, deep=True
                )
            except Exception as error:
                problems.append(f"line {value.start_mark.line + _ABOVE}: {_said(error)}")
    except yaml.YAMLError:
        pass  # `problem` is of this one
    finally:
        loader.dispose()
    return values, next(iter(problems), problem)


def _pairs(node: Any) -> Iterator[tuple[Any, Any]]:
    yield from node.value if isinstance(node, yaml.MappingNode) else ()


def _look_through(text: str) -> str:
    """A key that stands twice, "" where none does. Raises `Unfit` or YAML's own errors where nothing is to be read."""
    if len(text) > LONGEST:
        raise Unfit(
            f"line 1: the front matter is {len(text):,} characters long, of which {LONGEST:,} may be read"
        )
    odd, aliases = "", 0
    open_nodes: list[_Open] = []
    for event in yaml.parse(text, Loader=SafeLoader):
        where = f"line {event.start_mark.line + _ABOVE}" if event.start_mark else ""
        if isinstance(event, yaml.CollectionEndEvent):
            open_nodes.pop()
        elif isinstance(event, yaml.NodeEvent):
            if open_nodes and (key := open_nodes[-1].repeated(event)):
                odd = odd or f"{where}: the key {key!r} stands here a second time"
            if isinstance(event, yaml.AliasEvent):
                aliases += 1
                if aliases > _MOST_ALIASES:
                    raise Unfit(f"{where}: there are more than {_MOST_ALIASES} aliases")
                if event.anchor in [each.anchor for each in open_nodes]:
                    raise Unfit(f"{where}: *{event.anchor} stands inside of what it stands for")
            elif isinstance(event, yaml.CollectionStartEvent):
                if len(open_nodes) == _DEEPEST:
                    raise Unfit(f"{where}: it goes more than {_DEEPEST} levels deep")
                open_nodes.append(_Open(event))
    return odd


class _Open:
    """A list or a mapping on the way: its anchor, and of a mapping its keys so far."""

    def __init__(self, event: yaml.CollectionStartEvent) -> None:
        self.anchor = event.anchor
        self._is_mapping = isinstance(event, yaml.MappingStartEvent)
        self._keys: set[str] = set()
        self._is_key = False

    def repeated(self, event: yaml.NodeEvent) -> str:
        """Take the next node in; the key that it is, where that was there before."""
        self._is_key = self._is_mapping and not self._is_key
        if not self._is_key or not isinstance(event, yaml.ScalarEvent):
            return ""
        known = event.value in self._keys
        self._keys.add(event.value)
        return str(event.value) if known else ""
