"""What goes when neosian goes: the launcher, and the home with all memory in it. What is not ours stays."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

from neosian import files, made
from neosian.errors import NeosianError
from neosian.launcher import NAME, is_launcher_file, launcher_path

_SPARE = re.escape(files.SPARE)
_HOLDS = {
    "": rf"machine|config\.toml|dream-mark|dream\.env|off|off-projects|{re.escape(made.FILE)}|templates|{_SPARE}.*"
    r"|bin|log|cache|spool|dream|scopes",
    "bin": rf"{NAME}|{_SPARE}.*",
    "log": rf"neosian\.log(\.old)?|{_SPARE}.*",
    "cache": rf"[^/]+\.sqlite(-.*)?|[a-z-]+\.json|conversations|answered|owed|own|merged-[0-9a-f]+|{_SPARE}.*",
    "spool": rf"new|tmp|bad|landing|landed|lock|waiting|{_SPARE}.*",
    "templates": "dream",
    "dream": rf"spent\.jsonl|last\.json|lock|owner|{_SPARE}.*",
}
"""The names that stand in a folder of a home, as an expression."""
_SHOWN = 5


def remove_launcher(home: Path) -> bool:
    """Remove the launcher, and its folder and home where nothing else is in them; whether there was one.

    An empty folder that never held a launcher is somebody else's.
    """
    path = launcher_path(home)
    if not is_launcher_file(path):
        return False
    try:
        files.remove(str(path))
        for folder in (path.parent, home):
            if not folder.is_symlink() and not any(folder.iterdir()):
                folder.rmdir()
    except OSError as error:
        raise NeosianError(f"{path} cannot be removed: {error.strerror}.") from None
    return True


def check(home: Path) -> None:
    """Raise ``NeosianError`` where a home cannot be removed: nothing in it shows that it is ours, or it holds anything
    that is not. A home that is not there is no error."""
    if not os.path.lexists(home):
        return
    if home.is_symlink() or not home.is_dir():
        raise NeosianError(f"{home} is no folder of its own, so it was left as it is.")
    try:
        is_ours = _is_home(home)
        others = sorted(_others(home)) if is_ours else []
    except OSError as error:
        raise NeosianError(f"{error.filename} cannot be looked into: {error.strerror}.") from None
    if not is_ours:
        raise NeosianError(
            f"Nothing in {home} shows that it is a home of neosian, so all of it was left as it is.",
            "neosian status",
        )
    if others:
        more = f" and {len(others) - _SHOWN} more" if len(others) > _SHOWN else ""
        raise NeosianError(
            f"{home} holds what is not neosian's ({', '.join(others[:_SHOWN])}{more}), so all of it was left as it is.",
            "move that out, then run it again",
        )


def forget(home: Path) -> bool:
    """Remove the home with all memory in it; whether there was one. Raises as `check` does."""
    check(home)
    try:
        shutil.rmtree(home)
    except FileNotFoundError:
        return False
    except OSError as error:
        raise NeosianError(f"{error.filename} cannot be removed: {error.strerror}.") from None
    return True


def _is_home(home: Path) -> bool:
    """Whether neosian has written here: its machine's name, a launcher, or a scope's repository."""
    said = (files.readable(str(home / "machine")) or b"")[:6]
    return (
        re.fullmatch(rb"[0-9a-f]{4}\n?", said) is not None
        or is_launcher_file(launcher_path(home))
        or any((scope / ".git" / "neosian").is_dir() for scope in _entries(home / "scopes"))
    )


def _others(home: Path) -> Iterator[str]:
    """What in a home is not neosian's, as paths within it."""
    for folder, names in _HOLDS.items():
        for entry in _entries(home / folder):
            if not re.fullmatch(names, entry.name) or (
                not folder and entry.is_dir() != _is_folder(entry.name)
            ):
                yield str(entry.relative_to(home))
    for entry in _entries(home / "scopes"):
        if not os.path.lexists(entry / ".git") and not entry.name.startswith(files.SPARE):
            yield str(entry.relative_to(home))
    launcher = launcher_path(home)
    if os.path.lexists(launcher) and not is_launcher_file(launcher):
        yield str(launcher.relative_to(home))


def _is_folder(name: str) -> bool:
    return name in _HOLDS or name == "scopes"


def _entries(folder: Path) -> list[Path]:
    """What a folder holds; nothing where there is none, and a link's target is another's."""
    return [] if folder.is_symlink() or not folder.is_dir() else list(folder.iterdir())
