"""Which project is which, on every machine: `projects.toml` in the user scope's repository."""

from __future__ import annotations

import os

from neosian import config, files, scope
from neosian.draft import Draft
from neosian.plumbing import object_id
from neosian.store import Store, committer, message

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

FILE = "projects.toml"
_HEAD = """\
# Which project is which. A directory belongs to the entry that names its remote or its path.
# Rename a project by renaming its [entry]; move one by editing its identities.
"""


class Project:
    """A registered project: its slug, its root on this machine, the identities it goes by."""

    __slots__ = ("identities", "root", "slug")

    def __init__(self, slug: str, root: str, identities: list[str]) -> None:
        self.slug = slug
        self.root = root
        self.identities = identities

    @property
    def scope(self) -> str:
        """The scope of the project under this machine's user."""
        return f"{scope.user_scope()}/proj:{self.slug}"


def open_store(home: str, text: str) -> Store:
    """The store of a scope; nothing is made yet."""
    name = scope.disk_name(text)
    folder = os.path.realpath(os.path.join(home, "scopes", name))
    return Store(home, text, folder, os.path.join(home, "cache", name + ".sqlite"))


def stores(home: str) -> list[Store]:
    """Every scope there is, by name on disk."""
    found = []
    for name in files.names(os.path.join(home, "scopes")):
        said = files.read(os.path.join(home, "scopes", name, ".git", "neosian", "scope"))
        if said:
            found.append(open_store(home, said.decode("utf-8", "replace").strip()))
    return found


def find(home: str, root: str) -> Project:
    """The project whose root this is: as registered, else as it would be registered. Writes nothing."""
    identities = [*scope.remote_identities(root), root]
    known = _known(home)
    for name, entry in known.items():
        if set(_identities(entry)) & set(identities):
            return Project(name, root, identities)
    name = scope.slug(os.path.basename(root)) or "project"
    if name in known:
        name = f"{name}-{object_id('blob', identities[0].encode('utf-8', 'surrogateescape'))[:4]}"
    return Project(name, root, identities)


def register(home: str, root: str) -> Project:
    """The project of ``root``, its identities written down in the user scope when they are new."""
    project = find(home, root)
    if set(project.identities) <= set(_identities(_known(home).get(project.slug, {}))):
        return project
    user = open_store(home, scope.user_scope())

    def change(draft: Draft) -> None:
        held = (draft.read(FILE) or _HEAD.encode()).decode("utf-8", "replace")
        text = _with(held, project)
        if text != held:
            draft.put(FILE, text.encode())
            trailers = {"Neosian-Act": "edit", "Neosian-Actor": "neosian"}
            draft.commit(message(f"Register project {project.slug}", trailers), committer(), committer())

    user.write(change)
    return project


def _known(home: str) -> Mapping[str, Any]:
    user = open_store(home, scope.user_scope())
    try:
        return config.parsed_toml(os.path.join(user.path, FILE), os.path.join(home, "cache", "projects.json"))
    except config.ConfigError:
        return {}


def _identities(entry: object) -> list[str]:
    found = entry.get("identities") if isinstance(entry, dict) else None
    return [str(each) for each in found] if isinstance(found, list) else []


def _with(text: str, project: Project) -> str:
    """The file with this project's identities added; everything else stays as the person wrote it."""
    rows = text.splitlines(keepends=True)
    heads = (f"[{project.slug}]", f'["{project.slug}"]')
    for number, row in enumerate(rows):
        if row.strip() in heads:
            return _extended(rows, number + 1, project)
    name = project.slug if project.slug.isascii() else _quoted(project.slug)
    listed = ", ".join(map(_quoted, project.identities))
    return f"{text.rstrip()}\n\n[{name}]\nidentities = [{listed}]\n"


def _extended(rows: list[str], start: int, project: Project) -> str:
    for number in range(start, len(rows)):
        row = rows[number]
        if row.startswith("["):
            break
        if row.partition("=")[0].strip() == "identities" and row.rstrip().endswith("]"):
            missing = [each for each in project.identities if _quoted(each) not in row]
            if missing:
                kept = row.rstrip()[:-1].rstrip().rstrip(",")
                comma = "" if kept.endswith("[") else ", "
                rows[number] = f"{kept}{comma}{', '.join(map(_quoted, missing))}]\n"
            break
    return "".join(rows)


def _quoted(text: str) -> str:
    """A TOML basic string."""
    escaped = "".join(
        f"\\u{ord(char):04x}" if ord(char) < 32 or char == "\x7f" else "\\" + char if char in '"\\' else char
        for char in text
    )
    return f'"{escaped}"'
