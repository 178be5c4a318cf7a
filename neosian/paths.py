"""Paths of documents: which names a scope may hold, spelled in one way on every machine."""

from __future__ import annotations

import unicodedata

from neosian.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_NAME_MOST, _PATH_MOST = 200, 800  # bytes; Windows and some file systems hold no more than 255 of a name
_FORBIDDEN = '<>:"|?*\\'
_DEVICES = {"con", "prn", "aux", "nul", "conin$", "conout$"} | {
    device + number for device in ("com", "lpt") for number in "0123456789¹²³"
}
_BLANKS = "\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0"
"""Characters that Unicode calls letters or marks, and nobody can see."""
_OWN = {
    "record": "record/ holds the turn logs, which only landings write",
    "sessions": "sessions/ holds the sessions' pages, which only landings write",
}


class PathError(UsageError):
    """A path that no document can have; ``reason`` goes on after the path's name."""

    def __init__(self, path: str, reason: str, hint: str = "") -> None:
        super().__init__(f"{path!r} cannot be the path of a document: {reason}.", hint)


class Twin(UsageError):
    """A path that differs from one that exists only in upper and lower case."""

    def __init__(self, path: str, other: str) -> None:
        self.other = other
        said = f"{path} would differ from {other} only in upper and lower case"
        super().__init__(f"{said}, which not every file system can tell apart.", f"write {other}")


def check(path: str) -> str:
    """The canonical form of a document's path inside its scope: NFC, `a/b.md`. ``PathError`` says what is wrong."""
    path = clean(path)
    if not path.lower().endswith(".md"):
        raise PathError(path, "documents are markdown files", f"{path}.md")
    if path.lower() == "readme.md":
        raise PathError(path, "README.md says what the scope's folder is")
    return path


def clean(path: str, *, pages: bool = False) -> str:
    """The canonical form of a path inside a scope, of a folder or any file that an agent may reach; with ``pages`` the
    sessions' too."""
    canonical = unicodedata.normalize("NFC", path)
    names = [name for name in canonical.split("/") if name]
    if path.startswith("/"):
        raise PathError(path, "inside a scope a path does not begin with a slash")
    if not names:
        raise PathError(path, "it names nothing")
    if len(canonical.encode("utf-8", "surrogatepass")) > _PATH_MOST:
        raise PathError(path[:80] + "…", f"it is longer than {_PATH_MOST} bytes")
    for name in names:
        if wrong := _wrong_name(name):
            raise PathError(path, f"{name!r} {wrong}" if len(name) < 80 else wrong)
    if reason := ("" if pages and names[0] == "sessions" else _OWN.get(names[0].casefold())):
        raise PathError(path, reason)
    return "/".join(names)


def _wrong_name(name: str) -> str:
    """Why a name can be no part of a path, "" where it can."""
    if name in (".", ".."):
        return "leads elsewhere"
    if name.startswith("."):
        return "is hidden"
    if len(name.encode("utf-8", "surrogatepass")) > _NAME_MOST:
        return f"is longer than {_NAME_MOST} bytes"
    if not name.isprintable() or any(char in _BLANKS for char in name):
        return "holds a character that cannot be seen"
    if found := next((char for char in name if char in _FORBIDDEN), ""):
        return f"holds {found}, which Windows cannot"
    if name != name.strip() or name.endswith("."):
        return "begins or ends in a space or a dot, which Windows cannot hold"
    if name.split(".")[0].rstrip().casefold() in _DEVICES:
        return "is the name of a device on Windows"
    if name.casefold().startswith("git~"):
        return "is what Windows calls a .git folder"
    return ""


def settle(path: str, names_in: Callable[[str], Iterable[str]]) -> str:
    """``path`` as the store spells it: a name that is there in another Unicode form is taken as it is there.

    ``names_in(folder)`` gives the names that are in a folder ("" is the scope itself). A name that is there in
    another case raises ``Twin``.
    """
    settled, has_twin = "", False
    for part in path.split("/"):
        names = list(names_in(settled))
        found = part if part in names else next((name for name in names if same_name(name, part)), "")
        twin = "" if found else next((name for name in names if _folded(name) == _folded(part)), "")
        has_twin = has_twin or bool(twin)
        settled = "/".join(filter(None, (settled, found or twin or part)))
    if has_twin:
        raise Twin(path, settled)
    return settled


def same_name(one: str, two: str) -> bool:
    """Whether two names differ in nothing but their Unicode form."""
    return unicodedata.normalize("NFC", one) == unicodedata.normalize("NFC", two)


def _folded(name: str) -> str:
    """A name as a file system takes it that knows no upper and lower case."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())
