"""Which scope a directory belongs to, and where a scope lies on disk."""

from __future__ import annotations

import os
import unicodedata

from neosian import files
from neosian.errors import UsageError

try:
    from _sha1 import sha1  # `hashlib` costs a third of a start
except ImportError:  # pragma: no cover - an interpreter without the private module
    from hashlib import sha1

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

_NAME_LIMIT = 200
_WILD = str.maketrans("?[", "**")  # what begins a wildcard
_LONGEST = 200
_DEVICES = {"con", "prn", "aux", "nul", *(f"{port}{n}" for port in ("com", "lpt") for n in range(10))}


def home(root: str | None = None) -> str:
    """The folder of everything: ``root``, else `$NEOSIAN_HOME`, else `~/.neosian`; absolute.

    A relative ``root`` is one person's word in one folder. A relative `$NEOSIAN_HOME` would be another home in each
    folder that a client works in, and hooks read no `~`: UsageError.
    """
    named = os.environ.get("NEOSIAN_HOME", "")
    if named and not root and not os.path.isabs(named):
        full = os.path.abspath(os.path.expanduser(named))
        raise UsageError(
            f"NEOSIAN_HOME must be an absolute path, not {named!r}; nothing was done.",
            f"export NEOSIAN_HOME='{full}'",
        )
    return os.path.abspath(os.path.expanduser(root or named or os.path.join(_person_home(), ".neosian")))


def _person_home() -> str:
    """The person's home folder, also where `HOME` is unset."""
    found = os.path.expanduser("~")
    if found == "~":
        raise UsageError("This process has no HOME and no user record.", "neosian status --root DIR")
    return found


def login() -> str:
    """The login of who runs this process, as it stands in a scope."""
    try:
        import pwd

        name = pwd.getpwuid(os.getuid()).pw_name
    except (ImportError, KeyError):
        name = os.environ.get("USERNAME") or os.environ.get("USER") or ""
    return slug(name) or "user"


def host() -> str:
    """The name of this machine."""
    return os.uname().nodename if hasattr(os, "uname") else os.environ.get("COMPUTERNAME", "")


def user_scope() -> str:
    """The scope of the person at this machine."""
    return f"user:{login()}"


def check(text: str) -> str:
    """A scope's text if it is one: `type:id` segments joined by slashes; UsageError otherwise.

    Letters and digits of any script, spaces and a few signs: a scope is shown to agents and written into commits.
    """
    for segment in text.split("/"):
        kind, colon, name = segment.partition(":")
        if not (kind and colon and name) or not all(char.isalnum() or char in "_-.@ +:" for char in segment):
            raise UsageError(f"{text!r} is no scope; scopes look like user:alice/proj:shop.", "neosian path")
    if len(text) > _LONGEST:
        raise UsageError(
            f"A scope of {len(text)} characters is too long; {_LONGEST} are allowed.", "neosian path"
        )
    return text


def slug(name: str) -> str:
    """A name made safe: NFC, lower case, letters and digits of any script kept, each run of the rest one `-`."""
    folded = unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).lower())
    kept = "".join(char if char.isalnum() or char in "_-" else " " for char in folded)
    return "-".join(kept.split()).strip("-")


def disk_name(text: str) -> str:
    """The folder name of a scope or session: one for each text, safe under Windows and without case.

    Lower-case letters, digits, `_`, `-` and letters of scripts without case stay; `:` is `.`, `/` is `+`; the
    rest is percent-encoded; over 200 bytes the end becomes a hash.
    """
    name = "".join(_safe(char) for char in text)
    if name.split(".")[0] in _DEVICES or not name.strip("."):
        name = f"%{ord(text[0]):02x}{name[1:]}" if text else "%"
    raw = name.encode("utf-8")
    if len(raw) <= _NAME_LIMIT:
        return name
    digest = str(sha1(text.encode("utf-8", "surrogatepass")).hexdigest())[:16]
    return raw[: _NAME_LIMIT - 18].decode("utf-8", "ignore") + "%~" + digest


def text_of(name: str) -> str | None:
    """The text that `disk_name` made this name of; None where a hash stands for its end, or it made no such name."""
    if "%~" in name:
        return None
    raw = bytearray()
    for piece in name.replace(".", ":").replace("+", "/").split("%"):
        if not raw and not name.startswith("%"):
            raw += piece.encode("utf-8", "surrogateescape")
            continue
        try:
            raw += bytes.fromhex(piece[:2]) + piece[2:].encode("utf-8", "surrogateescape")
        except ValueError:
            return None
    try:
        text = raw.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return None
    return text if disk_name(text) == name else None


def _safe(char: str) -> str:
    if char == ":":
        return "."
    if char == "/":
        return "+"
    plain = char.isascii() and (char.islower() or char.isdigit() or char in "_-")
    other = (
        not char.isascii() and char.isalnum() and char.lower() == char == unicodedata.normalize("NFC", char)
    )
    if plain or other:
        return char
    return "".join(f"%{byte:02x}" for byte in char.encode("utf-8", "surrogatepass"))


def main_work_tree(directory: str) -> str | None:
    """The main work tree that holds ``directory``, whichever linked worktree it is in; None outside git."""
    here = os.path.abspath(directory)
    while True:
        dot_git = os.path.join(here, ".git")
        if os.path.isdir(dot_git):
            return here
        if os.path.isfile(dot_git):
            return _main_of_linked(here, dot_git)
        above = os.path.dirname(here)
        if above == here:
            return None
        here = above


def _main_of_linked(here: str, dot_git: str) -> str:
    """Follow a linked worktree's `.git` file to the main work tree; a submodule is a tree of its own.

    Only where the main repository names the worktree in turn, as git has it: a file alone could claim any project.
    """
    private = os.path.join(here, _first_line(dot_git).removeprefix("gitdir:").strip())
    common = os.path.realpath(os.path.join(private, _first_line(os.path.join(private, "commondir")) or "-"))
    named = _first_line(os.path.join(private, "gitdir"))
    inside = os.path.dirname(os.path.realpath(private)) == os.path.join(common, "worktrees")
    if not (inside and named and os.path.realpath(os.path.join(private, named)) == os.path.realpath(dot_git)):
        return here
    return os.path.dirname(common) if os.path.basename(common) == ".git" else common


def _first_line(path: str) -> str:
    """The first line of one of git's small files, "" where it could not be one."""
    line = files.strange(path, 4096).partition("\n")[0].strip()
    return "" if "\0" in line else line


def working_directory() -> str:
    """Where this process runs, also when that directory is gone by now."""
    try:
        return os.getcwd()
    except OSError:
        return os.environ.get("PWD") or os.sep


def project_root(directory: str) -> str | None:
    """The root of the project a directory belongs to, None where it belongs to no project.

    `$HOME`, `/`, the temp roots and a folder that merely holds repositories are no projects, nor is what no
    system would take for a path.
    """
    try:
        tree = main_work_tree(directory)
        root = os.path.realpath(tree or directory)
    except (OSError, ValueError):
        return None
    if root in _no_projects() or (tree is None and _holds_repositories(root)):
        return None
    return root


def _no_projects() -> set[str]:
    temps = ("/tmp", "/var/tmp", os.environ.get("TMPDIR"), os.environ.get("TEMP"), os.environ.get("TMP"))
    people = ("/", os.path.expanduser("~"), "/home", "/Users")
    return {os.path.realpath(path) for path in (*temps, *people) if path}


def _holds_repositories(folder: str) -> bool:
    found = 0
    try:
        with os.scandir(folder) as entries:
            for number, entry in enumerate(entries):
                found += entry.is_dir() and os.path.exists(os.path.join(entry.path, ".git"))
                if found > 1 or number > 500:
                    break
    except OSError:
        return False
    return found > 1


def remote_identities(root: str) -> list[str]:
    """Normalised URLs of a repository's remotes, `origin` first: `github.com/acme/shop`."""
    remotes: dict[str, str] = {}
    name = ""
    for line in files.strange(os.path.join(root, ".git", "config")).splitlines():
        row = line.strip()
        if row.startswith("["):
            name = row[len('[remote "') : -2] if row.startswith('[remote "') else ""
        elif name and row.partition("=")[0].strip() == "url":
            remotes.setdefault(name, row.partition("=")[2].strip())
    ordered = sorted(remotes, key=lambda each: (each != "origin", each))
    return [found for found in (normal_url(remotes[each]) for each in ordered) if found]


def normal_url(url: str) -> str:
    """A remote's URL without scheme, user, port, query, `.git` and case of the host.

    "" for a local path, and for what would still hold a name or a password: it goes into a file under git.
    """
    rest = url.partition("://")[2]
    if not rest:
        host, colon, path = url.partition(":")
        if not colon or "/" in host:
            return ""
        rest = f"{host}/{path}"
    elif url.startswith("file:"):
        return ""
    front, _, path = rest.partition("/")
    host = front.rpartition("@")[2].partition(":")[0].lower()
    path = path.partition("?")[0].partition("#")[0].strip("/").removesuffix(".git")
    return f"{host}/{path}" if host and path and not set(path) & set("@:\\") else ""


def identity(path: str) -> str:
    """A path as it is written down: bytes that are no UTF-8 are spelled out."""
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def branch(directory: str) -> str:
    """The branch checked out where ``directory`` is, "" when there is none to name."""
    here = directory.partition("\0")[0]
    while not os.path.exists(os.path.join(here, ".git")):
        above = os.path.dirname(here)
        if above == here:
            return ""
        here = above
    git_dir = os.path.join(here, ".git")
    if os.path.isfile(git_dir):
        git_dir = os.path.join(here, _first_line(git_dir).removeprefix("gitdir:").strip())
    head = _first_line(os.path.join(git_dir, "HEAD"))
    return head.removeprefix("ref: refs/heads/") if head.startswith("ref: ") else ""


def matches(path: str, patterns: Iterable[str]) -> bool:
    """Whether a folder lies under one of these patterns (`**` any depth, `*` within a name)."""
    for pattern in patterns:
        if not path.startswith(pattern.translate(_WILD).partition("*")[0].removesuffix("/")):
            continue  # nearly always so; what follows would take a tenth of a session start
        from fnmatch import translate
        from re import match

        wide = pattern.removesuffix("/**")
        if match(translate(wide), path) or match(translate(wide + "/*"), path):
            return True
    return False
