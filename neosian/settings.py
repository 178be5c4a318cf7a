"""Settings files of other programs, edited as text: what an edit does not name keeps its bytes.

A JSON file that people own is never printed anew. An edit finds the place in the text and splices
there, in the style it finds: indentation, line ends, the space after a colon, one line or many.
Nothing here knows whose settings they are.

A place is a path of keys and list positions: ``("hooks", "Stop", 0)``.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import stat
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

from neosian import files
from neosian.errors import BusyError, NeosianError

Path = tuple[str | int, ...]

BOM = "\ufeff"
_SPACE = re.compile(r"[ \t\r\n]*")
_LINE_END = re.compile(r"\r\n|\n|\r")
MOST = 16 << 20
"""Bytes of settings that are read: some clients keep more there than settings, but anybody may lay a file into a
project."""
_COMMENT = ("//", "/*", "#")
_DECODER = json.JSONDecoder()
_DEAD = 10.0  # seconds after which the lock of another program's writer counts as left behind


def in_an_editor(file: str) -> str:
    """What is left to try with a file that only a person can mend."""
    return f"open {file} in an editor"


def to_look(file: str) -> str:
    """What is left to try with a file that may not be written or read: whose it is, and who may."""
    return f"ls -ld {shlex.quote(file)} {shlex.quote(os.path.dirname(file))}"


class NotPlain(NeosianError):
    """A file that a careful edit cannot touch; ``reason`` says why, without the file's name."""

    def __init__(self, file: str, reason: str) -> None:
        super().__init__(f"{file} was left as it is: {reason}.", in_an_editor(file))
        self.reason = reason


class Twice(dict[str, Any]):
    """An object of a file that spells some keys more than once; readers disagree which one counts."""

    keys_twice: tuple[str, ...] = ()


def parse(text: str) -> Any:
    """The value of a JSON text, a byte order mark allowed; raises ``ValueError`` with the reason.

    Stricter than the standard library: no NaN, no Infinity. An object with repeated keys comes as ``Twice``.
    """
    try:
        return json.loads(text.removeprefix(BOM), object_pairs_hook=_object, parse_constant=_constant)
    except json.JSONDecodeError as error:
        raise ValueError(_reason(error)) from None
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


# A string or comment that nobody closed reaches to the end: were it no match, each quote after it would be tried anew.
_STRING = r'"(?:[^"\\]++|\\.)*+(?:"|\\?\Z)'
_STRING_OR_COMMENT = re.compile(rf"{_STRING}|(?P<gone>//[^\r\n]*|/\*.*?\*/)|/\*.*", re.S)
_LAST_COMMA_OR_STRING = re.compile(rf"({_STRING}|[\w\]}}])\s*+,(?=\s*+[\]}}])|{_STRING}", re.S)


def parse_with_comments(text: str) -> Any:
    """As `parse`, for a program that allows comments and a comma after the last member.

    For reading alone: edits know nothing of comments.
    """
    text = _STRING_OR_COMMENT.sub(lambda found: found[0] if found["gone"] is None else " ", text)
    return parse(_LAST_COMMA_OR_STRING.sub(lambda found: found[1] or found[0], text))


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    plain = dict(pairs)
    if len(plain) == len(pairs):
        return plain
    often = Counter(name for name, _ in pairs)
    twice = Twice(plain)
    twice.keys_twice = tuple(name for name in plain if often[name] > 1)
    return twice


def _constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")


def _reason(error: json.JSONDecodeError) -> str:
    """What a person would call the mistake, and where."""
    text, at = error.doc, error.pos
    if not text.strip():
        return "it is empty, which is not JSON (delete it, or put {} into it)"
    if text.startswith(_COMMENT, _skip(text, at)):
        what = "a comment"
    elif text[:at].rstrip(" \t\r\n").endswith(",") and text.startswith(("}", "]"), _skip(text, at)):
        what = "a comma with nothing after it"
    else:
        what = error.msg[:1].lower() + error.msg[1:]
    return f"it is not plain JSON (line {error.lineno}, column {error.colno}: {what})"


# Where things stand in the text ------------------------------------------------------------------


class Member(NamedTuple):
    """One member of an object or list: ``text[start:end]``; its value begins at ``at``."""

    key: str | int
    start: int
    at: int
    end: int


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at


def _value_end(text: str, at: int) -> int:
    end: int = _DECODER.raw_decode(text, at)[1]
    return end


def _root(text: str) -> int:
    return _skip(text, len(BOM) if text.startswith(BOM) else 0)


def _members(text: str, at: int) -> tuple[list[Member], int]:
    """The members of the object or list that begins at ``at``, and where its closing bracket stands."""
    named = text[at] == "{"
    found: list[Member] = []
    here = _skip(text, at + 1)
    while text[here] not in "]}":
        start, key = here, len(found)
        name: str | int = key
        if named:
            name, here = _DECODER.raw_decode(text, here)
            here = _skip(text, _skip(text, here) + 1)
        end = _value_end(text, here)
        found.append(Member(name, start, here, end))
        here = _skip(text, end)
        if text[here] == ",":
            here = _skip(text, here + 1)
    return found, here


def _find(text: str, path: Path) -> int:
    """Where the value at ``path`` begins; of a key spelled twice the last counts, as JSON readers have it."""
    at = _root(text)
    for step in path:
        members, _ = _members(text, at)
        at = next(member.at for member in reversed(members) if member.key == step)
    return at


# The style of a file -----------------------------------------------------------------------------


@dataclass(frozen=True)
class _Style:
    """How a file is written: its line end, one step of indentation, what stands around ``:``, and
    whether a container that has been empty so far gets lines of its own."""

    newline: str
    step: str
    colon: str
    lines: bool

    def dump(self, value: Any, margin: str, lines: bool) -> str:
        """``value`` as this file would have it; ``margin`` is the indentation of its first line."""
        if not lines:
            return json.dumps(value, ensure_ascii=False, separators=("," + self.gap, self.colon))
        text = json.dumps(value, ensure_ascii=False, indent=self.step, separators=(",", self.colon))
        return text.replace("\n", self.newline + margin)

    @property
    def gap(self) -> str:
        """What follows a comma inside a line."""
        return " " if self.colon.endswith(" ") else ""


def _style(text: str) -> _Style:
    root = _root(text)
    members, _ = _members(text, root)
    break_ = _LINE_END.search(text)
    newline = break_.group() if break_ else "\n"
    if not members:
        return _Style(newline, "  ", ": ", True)
    first = members[0]
    lead = text[root + 1 : first.start]
    colon = ": "
    if isinstance(first.key, str):
        spelled = text[_value_end(text, first.start) : first.at]
        colon = spelled if not _LINE_END.search(spelled) else ": "
    lines = bool(_LINE_END.search(lead))
    step = _LINE_END.split(lead)[-1] if lines else "  "
    return _Style(newline, step, colon, lines)


def _margin(text: str, at: int) -> str:
    """The indentation of the line that holds ``at``."""
    start = max(text.rfind("\n", 0, at), text.rfind("\r", 0, at)) + 1
    line = text[start:at].removeprefix(BOM)
    return line[: len(line) - len(line.lstrip(" \t"))]


# Edits: each takes a JSON text and returns another ------------------------------------------------


def insert(text: str, path: Path, value: Any) -> str:
    """Add ``value`` as the last member of the container at ``path[:-1]``, under the key ``path[-1]``."""
    style = _style(text)
    at = _find(text, path[:-1])
    members, close = _members(text, at)
    name = "" if isinstance(path[-1], int) else json.dumps(path[-1], ensure_ascii=False) + style.colon
    if members:
        lead, lines = _lead(text, at, members, style)
        value_text = style.dump(value, lead.lstrip("\r\n"), lines)
        return text[: members[-1].end] + "," + lead + name + value_text + text[members[-1].end :]
    if not style.lines:
        return text[: at + 1] + name + style.dump(value, "", False) + text[close:]
    end = style.newline + _margin(text, at)
    lead = end + style.step
    whole = lead + name + style.dump(value, lead.lstrip("\r\n"), True) + end
    return text[: at + 1] + whole + text[close:]


def _lead(text: str, at: int, members: list[Member], style: _Style) -> tuple[str, bool]:
    """What a new last member has before it, after the comma; and whether that is a line of its own.

    It is what the last member so far has before it, without empty lines.
    """
    before = _skip(text, members[-2].end) if len(members) > 1 else at
    lead = text[before + 1 : members[-1].start]
    ends = list(_LINE_END.finditer(lead))
    if ends:
        return lead[ends[-1].start() :], True
    return (lead if len(members) > 1 else style.gap), False


def replace(text: str, path: Path, value: Any) -> str:
    """Put ``value`` in the place of the one at ``path``."""
    style = _style(text)
    at = _find(text, path)
    end = _value_end(text, at)
    lines = bool(_LINE_END.search(text, at, end))
    return text[:at] + style.dump(value, _margin(text, at), lines) + text[end:]


def remove_all(text: str, paths: Iterable[Path]) -> str:
    """Take members away as `remove` would one after the other, from the back; none lies within another.

    However many they are, what lies around them is read once.
    """
    going: _Going = {}
    for path in paths:
        around = going
        for key in path[:-1]:
            around = around.setdefault(key, {})
        around[path[-1]] = {}
    if not going:
        return text
    pieces, here = [], 0
    for start, end in sorted(_cuts(text, _root(text), going)):
        pieces.append(text[here:start])
        here = end
    return "".join((*pieces, text[here:]))


_Going = dict[str | int, Any]
"""Members of a container, each with those within it that are to go; with none it is to go itself."""


def _cuts(text: str, at: int, going: _Going) -> Iterator[tuple[int, int]]:
    """What of a text goes with members of the container that begins at ``at``; of a key spelled twice the last."""
    members, close = _members(text, at)
    last = {member.key: n for n, member in enumerate(members)}
    for key, within in going.items():
        if within:
            yield from _cuts(text, members[last[key]].at, within)
    whole = {last[key] for key, within in going.items() if not within}
    if whole and len(whole) == len(members):
        yield at + 1, close
        return
    end = len(members)
    while end - 1 in whole:
        end -= 1
    yield from ((members[n].start, members[n + 1].start) for n in whole if n < end)
    if end < len(members):
        yield members[end - 1].end, members[-1].end


def remove(text: str, path: Path) -> str:
    """Take the member at ``path`` away, and with it the comma and the space that came with it.

    What ``insert`` added is taken away to the byte, but for a container that had been empty: it ends as
    ``{}`` or ``[]``, whatever space it once held.
    """
    return remove_all(text, [path])


# Files -------------------------------------------------------------------------------------------


def decode(file: str, raw: bytes) -> str:
    """The text of a settings file that can be edited: UTF-8, plain JSON, one object."""
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise NotPlain(file, f"byte {error.start + 1} is not UTF-8") from None
    try:
        value = parse(text)
    except ValueError as error:
        raise NotPlain(file, str(error)) from None
    if not isinstance(value, dict):
        raise NotPlain(file, "it holds no JSON object")
    return text


def read(file: str) -> bytes | None:
    """The bytes of a settings file, None where there is none (a dangling link counts as none)."""
    try:
        if os.path.exists(file) and not os.path.isfile(file):
            raise NeosianError(f"{file} is no file, so no settings can stand there.", to_look(file))
        if os.path.exists(file) and os.path.getsize(file) > MOST:
            said = f"{file} is larger than {MOST >> 20} MB, so it was neither read nor changed."
            raise NeosianError(said, to_look(file))
        return files.read(file)
    except OSError as error:
        raise NeosianError(f"{file} cannot be read: {error.strerror}.", to_look(file)) from None


def check_unmoved(file: str, seen: bytes | None) -> None:
    """Raise ``NeosianError`` where a file is no longer what an edit was made of."""
    if read(file) != seen:
        raise NeosianError(
            f"{file} was changed by another program just now; it was left as it is. Try again."
        )


def why_not_writable(file: str) -> str:
    """Why ``save`` would fail for a file, as far as can be seen before; empty when it should not.

    A rename would get past a file that nobody may write, so its mode is asked; it would give a file of another user to
    this one, and cut off its other names.
    """
    target = os.path.realpath(file)
    mode = stat.S_IWUSR
    try:
        found = os.stat(target)
    except FileNotFoundError:
        pass
    except OSError as error:
        return f"{file} cannot be written: {error.strerror}."
    else:
        mode = found.st_mode
        if found.st_nlink > 1:
            return f"{file} is one file with another of another name (a hard link). It was left as it is."
        if hasattr(os, "geteuid") and os.geteuid() not in (0, found.st_uid):
            return f"{file} belongs to another user. It was left as it is."
    folder = os.path.dirname(target)
    locked = os.path.isdir(folder) and not os.access(folder, os.W_OK | os.X_OK)
    if locked or not mode & 0o222 or (os.path.exists(target) and not os.access(target, os.W_OK)):
        return f"{file} is read-only. It was left as it is."
    return ""


def save(file: str, data: bytes | None, seen: bytes | None, *, private: bool = False) -> None:
    """Put ``data`` whole at ``file``, or remove the file for None.

    A link is followed, not replaced; the file's mode, owner and group are kept. A new file gets what the umask leaves
    (its owner always reads and writes), or with ``private`` is its owner's alone. ``seen`` is what the edit was made
    of: a file that has moved on since is left alone.
    """
    if why := why_not_writable(file):
        raise NeosianError(why, to_look(file))
    target = os.path.realpath(file)
    try:
        check_unmoved(file, seen)
        if data is None:
            files.remove(target)
        else:
            files.write(target, data, mode=_mode(target, private), owner=owner(target))
    except OSError as error:
        raise NeosianError(f"{file} cannot be written: {error.strerror}. It was left as it is.") from None


@contextmanager
def held(lock: str) -> Iterator[None]:
    """Hold the lock of a program that writes its file itself: a folder that each writer makes and takes away again.

    One that is 10 s old was left by a writer that died, as the programs that lock so have it. Raises `BusyError`.
    """
    until = time.monotonic() + 2 * _DEAD
    while not _taken(lock):
        if time.monotonic() > until:
            raise BusyError(f"{lock} is held by another program; nothing was changed.")
        time.sleep(0.05)
    try:
        yield
    finally:
        _release(lock)


def _taken(lock: str) -> bool:
    try:
        os.mkdir(lock)
        return True
    except FileExistsError:
        pass
    except OSError as error:
        raise NeosianError(f"{lock} cannot be made: {error.strerror}.") from None
    try:
        if time.time() - os.stat(lock).st_mtime > _DEAD:
            _release(lock)
    except OSError:
        pass  # let go just now
    return False


def _release(lock: str) -> None:
    try:
        os.rmdir(lock)
    except OSError:
        return  # taken over by another writer, or a file of a person's: then waiting ends in an error


def owner(target: str) -> tuple[int, int] | None:
    """User and group of a file; None for one that is not there, and where the system has none."""
    try:
        found = os.stat(target)
    except FileNotFoundError:
        return None
    return (found.st_uid, found.st_gid) if hasattr(os, "fchown") else None


def _mode(target: str, private: bool) -> int:
    """The mode a file has, or is to have when it is new."""
    try:
        return stat.S_IMODE(os.stat(target).st_mode)
    except FileNotFoundError:
        if private:
            return files.PRIVATE_FILE
        umask = os.umask(0o077)
        os.umask(umask)
        return 0o666 & ~umask | 0o600


def twice(value: Any) -> list[str]:
    """The keys that ``value`` spells more than once, each as ``a.b[0].key``."""
    return [
        step(path, key) for path, inner in walk(value) if isinstance(inner, Twice) for key in inner.keys_twice
    ]


def walk(value: Any) -> Iterator[tuple[str, Any]]:
    """``value`` and all within it, in the order of the file, each with its path."""
    waiting = [("", value)]
    while waiting:
        path, here = waiting.pop()
        yield path, here
        if isinstance(here, dict):
            waiting.extend((step(path, key), here[key]) for key in reversed(here))
        elif isinstance(here, list):
            waiting.extend((step(path, n), here[n]) for n in reversed(range(len(here))))


def step(path: str, key: str | int) -> str:
    """``path`` one step further, as messages spell it."""
    if isinstance(key, int):
        return f"{path}[{key}]"
    return f"{path}.{key}" if path else key
