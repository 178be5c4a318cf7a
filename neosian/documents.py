"""Documents: markdown files that people and agents write, read cheaply and whatever state they are in.

A document may begin with YAML front matter. Of it only lines of the form ``key: value`` at the left margin are
understood here (plain, quoted, or a block of indented text after ``|`` or ``>``): a full YAML reader costs
more than a hook may. What is not understood is skipped, never an error, and the body is always there.
"""

from __future__ import annotations

import os
import zlib

from neosian.decoding import decoded

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

HEADER_LIMIT = 64 * 1024
"""Characters of front matter that are read."""
_ESCAPES = {'\\"': '"', "\\\\": "\\", "\\n": "\n", "\\t": "\t", "\\/": "/"}
_BLOCK_MARKS = ("|", ">", "|-", ">-", "|+", ">+")
_TRUE = ("true", "yes", "on", "1")
_SAID_OF = " (said of "  # and a fingerprint, behind the reason of a flag that one of our verbs set
_FALSE = ("", "false", "no", "off", "0", "null", "~")


class Document:
    """One document as read: what its front matter says in plain scalars, the front matter itself, and the body.

    ``when`` and ``expires`` are as written (a date such as `2026-11-29`). ``flagged`` is the reason, "yes" where none
    is given, "" for a document that is not flagged, or has changed since.
    """

    __slots__ = (
        "body", "description", "expires", "flagged", "header", "holder", "name", "pinned", "status", "title", "when"
    )  # fmt: skip

    def __init__(self, header: str, body: str) -> None:
        self.header = header
        self.body = body
        self._take(scalars(header))

    def _take(self, header: dict[str, str]) -> None:
        self.name = header.get("name", "")
        self.title = header.get("title", "")
        self.description = header.get("description", "")
        self.when = header.get("when", "")
        self.status = header.get("status", "")
        self.expires = header.get("expires", "")
        self.holder = header.get("holder", "")
        self.pinned = truth(header.get("pinned", "")) is True
        flagged = header.get("flagged", "")
        flag = truth(flagged)
        self.flagged = self._standing(flagged) if flag is None else "yes" if flag else ""

    def _standing(self, flagged: str) -> str:
        """A flag's reason, unless it was said of another text than this one."""
        reason, mark, rest = flagged.rpartition(_SAID_OF)
        if not mark or len(rest) != 9 or rest[8] != ")":
            return flagged
        return reason if rest[:8] == self.fingerprint else ""

    @property
    def fingerprint(self) -> str:
        """Eight digits that tell this text from another; of the front matter only what is said in it counts."""
        said = "\n".join((self.title, self.description, self.when, self.body.strip()))
        return f"{zlib.crc32(said.encode('utf-8', 'replace')):08x}"

    def flag(self, reason: str) -> str:
        """What goes under `flagged` for this text: once the text changes the flag stands no longer."""
        return f"{reason}{_SAID_OF}{self.fingerprint})"


def read(data: bytes) -> Document:
    """A document from the bytes of its file; any bytes will do."""
    text = decoded(data)
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    header, body = _split(text)
    return Document(header[:HEADER_LIMIT], body)


def _split(text: str) -> tuple[str, str]:
    """Front matter and body; without a closed fence all of it is body."""
    first, newline, rest = text.partition("\n")
    if first.rstrip() != "---" or not newline:
        return "", text
    start = 0
    while start <= len(rest):
        end = rest.find("\n", start)
        end = len(rest) if end < 0 else end
        if rest[start:end].rstrip(" \t") in ("---", "..."):
            return rest[:start], rest[end + 1 :]
        start = end + 1
    return "", text


def scalars(header: str) -> dict[str, str]:
    """Keys (in lower case) and their texts, as far as front matter is understood here; of a key twice the last."""
    found: dict[str, str] = {}
    lines = header.split("\n")
    for number, line in enumerate(lines):
        key, colon, value = line.partition(":")
        key = _unquoted(key.rstrip(" \t"))
        if colon and _is_key(key) and value[:1] in ("", " ", "\t"):
            value = value.strip()
            found[key.lower()] = _indented(lines, number + 1) if value in _BLOCK_MARKS else _plain(value)
    return found


def _unquoted(key: str) -> str:
    """A key without quotes around it."""
    return key[1:-1] if len(key) > 2 and key[0] in "'\"" and key[-1] == key[0] else key


def truth(text: str) -> bool | None:
    """What a key's text says as yes or no; None where it is something else."""
    return True if text.lower() in _TRUE else False if text.lower() in _FALSE else None


def _is_key(text: str) -> bool:
    return text[:1].isascii() and text[:1].isalpha() and all(char.isalnum() or char in "_-" for char in text)


def _plain(value: str) -> str:
    """A scalar without its quotes or its comment."""
    if "#" not in value and value[:1] not in ("'", '"'):
        return value
    import re  # a session start has no time for it, and hardly a document needs it

    if value[:1] == '"':
        quoted = re.match(r'"((?:[^"\\]|\\.)*)"', value)
        if quoted:
            return re.sub(r"\\.", lambda escape: _ESCAPES.get(escape[0], escape[0]), quoted[1])
    if value[:1] == "'":
        quoted = re.match(r"'((?:[^']|'')*)'", value)
        if quoted:
            return quoted[1].replace("''", "'")
    return re.split(r"(?:^|\s)#", value, maxsplit=1)[0].strip()


def _indented(lines: list[str], start: int) -> str:
    """The indented lines of a block scalar, joined into one."""
    block = []
    for line in lines[start:]:
        if line.strip() and not line.startswith((" ", "\t")):
            break
        block.append(line.strip())
    return " ".join(line for line in block if line)


def sections(document: Document) -> list[tuple[str, str]]:
    """(heading, text) of each part of the body; the part before the first heading has the heading "".

    Headings are those that begin with `#` outside a code fence; empty parts without a heading are left out.
    """
    found: list[tuple[str, list[str]]] = [("", [])]
    fence = ""
    for line in document.body.split("\n"):
        bare = line.lstrip(" ")
        mark = _fence(bare) if len(line) - len(bare) <= 3 else ""
        if mark and not fence:
            fence = mark
        elif mark and mark.startswith(fence):
            fence = ""
        if not fence and len(line) - len(bare) <= 3 and _is_heading(bare):
            heading = line.strip().lstrip("#").strip()
            found.append(
                (heading.rstrip("#").rstrip() if " #" in heading or heading.startswith("#") else heading, [])
            )
        else:
            found[-1][1].append(line)
    parts = [(heading, "\n".join(lines).strip()) for heading, lines in found]
    return [part for part in parts if part[0] or part[1]]


def _fence(bare: str) -> str:
    """The marks that open or close a code block on this line, "" on any other."""
    if not bare.startswith(("```", "~~~")):
        return ""
    return bare[: len(bare) - len(bare.lstrip(bare[0]))]


def _is_heading(bare: str) -> bool:
    marks = len(bare) - len(bare.lstrip("#"))
    return 1 <= marks <= 6 and bare[marks : marks + 1] in (" ", "\t")


def is_past(day: str, today: str) -> bool:
    """Whether what a document says under `expires` is a day (`2026-11-29`, anything behind it) before ``today``."""
    day = day[:10]
    is_day = len(day) == 10 and day[4] == day[7] == "-" and (day[:4] + day[5:7] + day[8:]).isdecimal()
    return is_day and day < today


def is_document(path: str) -> bool:
    """Whether a path inside a scope (with "/") names a document."""
    parts = path.split("/")
    return (
        parts[-1].lower().endswith(".md")
        and parts[0] not in ("record", "sessions")
        and path != "README.md"
        and not any(part.startswith(".") for part in parts)
    )


def is_of_skill(path: str) -> bool:
    """Whether a path inside a scope lies in the folder of a skill: `skills/<name>/scripts/tag.sh`."""
    parts = path.split("/")
    return parts[0] == "skills" and len(parts) > 2 and not any(part.startswith(".") for part in parts)


def walk(root: str) -> Iterator[tuple[str, os.stat_result]]:
    """(path, stat) of every document in a work tree, sorted by folder; symlinks and dot folders are not followed."""
    yield from _walk(root, "")


def _walk(root: str, folder: str) -> Iterator[tuple[str, os.stat_result]]:
    try:
        with os.scandir(os.path.join(root, folder)) as found:
            entries = sorted(found, key=lambda entry: entry.name)
    except OSError:
        return
    for entry in entries:
        path = folder + entry.name
        try:
            if entry.is_dir(follow_symlinks=False):
                if is_document(path + "/x.md"):
                    yield from _walk(root, path + "/")
            elif is_document(path) and entry.is_file(follow_symlinks=False):
                yield path, entry.stat(follow_symlinks=False)
        except OSError:
            continue
