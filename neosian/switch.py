"""Where a person switched neosian off: for a home, or for single projects.

The launcher obeys the same two files (`hooks/neosian-hook`): what it does not see, such as a hook that its client runs
in a folder of its own, is left out at landing.
"""

from __future__ import annotations

import os

from neosian import files, scope
from neosian.errors import UsageError

_ALL = "off"
_PROJECTS = "off-projects"


def file(home: str) -> str:
    """The file whose being there switches a home off."""
    return os.path.join(home, _ALL)


def list_file(home: str) -> str:
    """The file that names the folders of projects which are switched off, one a line."""
    return os.path.join(home, _PROJECTS)


def is_off(home: str) -> bool:
    """Whether all of a home is switched off."""
    return os.path.exists(file(home))


def is_project_off(home: str, directory: str) -> bool:
    """Whether what happens in a directory belongs to a project that is switched off.

    A project reaches down into its folder, and its linked work trees are part of it wherever they lie.
    """
    if not directory or not os.path.exists(list_file(home)):
        return False
    folders = off_projects(home)
    if folders is None:
        return True  # nobody can tell: what may have been meant to stay out stays out
    names = {directory, os.path.realpath(directory), scope.main_work_tree(directory) or directory}
    return any(_is_below(name, folder) for name in names for folder in folders)


def off_projects(home: str) -> list[str] | None:
    """The folders of the projects that are switched off; None where nobody may read which they are."""
    try:
        said = files.read(list_file(home))
    except OSError:
        return None
    if said is None:
        return None if os.path.lexists(list_file(home)) else []
    lines = said.decode("utf-8", "surrogateescape").split("\n")
    return list(dict.fromkeys(line for line in lines if line.startswith("/")))


def switch(home: str, is_on: bool) -> bool:
    """Switch all of a home on or off; whether that changed anything."""
    if is_on:
        return files.remove(file(home))
    if is_off(home):
        return False
    files.make_dir(home)
    files.write(file(home), b"")
    return True


def switch_project(home: str, root: str, is_on: bool) -> bool:
    """Switch the project in a folder on or off; whether that changed anything."""
    if "\n" in root or not root.startswith("/"):
        raise UsageError(
            f"{root!r} cannot stand in a list of folders, so it stays as it is.",
            f"neosian {'on' if is_on else 'off'}",
        )
    held = off_projects(home)
    if held is None:
        raise UsageError(
            f"{list_file(home)} cannot be read; until then every project counts as switched off.",
            f"rm {list_file(home)}",
        )
    if is_on:
        wanted = [folder for folder in held if folder != root]
    else:
        wanted = [*held, *([root] if root not in held else [])]
    if wanted == held:
        return False
    _write(home, wanted)
    return True


def move_project(home: str, old: str, new: str) -> None:
    """Have a project that is switched off stay so in its new folder."""
    held = off_projects(home) or []
    if old in held and "\n" not in new:
        _write(home, [new if folder == old else folder for folder in held])


def over(home: str, root: str) -> str:
    """The folder above a project, switched off itself, that keeps the project off; "" where there is none."""
    return next(
        (folder for folder in off_projects(home) or () if folder != root and _is_below(root, folder)), ""
    )


def _is_below(path: str, folder: str) -> bool:
    return f"{path}/".startswith(folder.rstrip("/") + "/")


def _write(home: str, folders: list[str]) -> None:
    files.make_dir(home)
    if not folders:
        files.remove(list_file(home))
        return
    text = "".join(f"{folder}\n" for folder in folders)
    files.write(list_file(home), text.encode("utf-8", "surrogateescape"))
