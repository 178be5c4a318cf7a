"""Which scopes a session sees, and at which paths: `/user`, `/project`, or what the hook line spells out."""

from __future__ import annotations

import os

from neosian import projects, scope
from neosian.config import Config
from neosian.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


class Mount:
    """A scope shown at a path. ``writable`` ones may take turns and documents."""

    __slots__ = ("path", "scope", "writable")

    def __init__(self, path: str, scope: str, writable: bool = True) -> None:
        self.path = path
        self.scope = scope
        self.writable = writable


class Layout:
    """The mounts of a session, the one its turns go to, why, and the project's root when there is one."""

    __slots__ = ("mounts", "reason", "root", "turns")

    def __init__(self, mounts: list[Mount], reason: str, root: str | None = None) -> None:
        self.mounts = mounts
        self.reason = reason
        self.root = root
        writable = [mount for mount in mounts if mount.writable]
        if not writable:
            raise UsageError("No mount is writable, so turns have no place to go.", "neosian record --help")
        self.turns = next((mount.scope for mount in writable if mount.path == "/project"), writable[0].scope)


def layout(
    home: str, directory: str, settings: Config, flags: Sequence[str] = (), chosen: str = ""
) -> Layout:
    """What a session in ``directory`` sees.

    ``flags`` are those of the hook line (`--scope S`, `--mount /path=scope[:ro]`); ``chosen`` is `$NEOSIAN_SCOPE`.
    Without either the project is told from the directory. Nothing is written here.
    """
    scopes, mounts = flag_values(flags, "--scope"), flag_values(flags, "--mount")
    if mounts:
        return Layout([_mount(text) for text in mounts], "--mount names the scopes")
    if scopes or chosen:
        text = scope.check(scopes[-1] if scopes else chosen)
        return Layout([Mount("/project", text)], "--scope names it" if scopes else "$NEOSIAN_SCOPE names it")
    user = Mount("/user", scope.user_scope())
    if scope.matches(directory, settings.project_throwaway):
        return Layout([user], "the directory matches project.throwaway")
    root = scope.project_root(directory)
    if root is None:
        return Layout([user], "the directory belongs to no project")
    own = _own_scope(home, root)
    if own:
        mounts_here = [user] if own == user.scope else [user, Mount("/project", own)]
        return Layout(mounts_here, "the directory is the scope's own folder")
    project = projects.find(home, root)
    return Layout([user, Mount("/project", project.scope)], f"the project at {root}", root)


def _own_scope(home: str, root: str) -> str:
    """The scope whose own repository this is, "" for a project: nobody remembers the memory itself as one."""
    if not os.path.isdir(os.path.join(root, ".git", "neosian")):
        return ""
    here = os.path.realpath(root)
    return next((store.scope for store in projects.stores(home) if store.path == here), "")


def _mount(text: str) -> Mount:
    path, equals, named = text.partition("=")
    read_only = named.endswith(":ro")
    if not equals or not path.startswith("/") or path == "/":
        raise UsageError(
            f"{text!r} is no mount; mounts look like /team=user:team[:ro].", "neosian record --help"
        )
    return Mount(path.rstrip("/"), scope.check(named.removesuffix(":ro")), not read_only)


def flag_values(words: Sequence[str], name: str) -> list[str]:
    """Values of one flag of a hook line, spelled `--name value` or `--name=value`."""
    found = []
    rest = list(words)
    while rest:
        word = rest.pop(0)
        if word == name and rest:
            found.append(rest.pop(0))
        elif word.startswith(name + "="):
            found.append(word[len(name) + 1 :])
    return found
