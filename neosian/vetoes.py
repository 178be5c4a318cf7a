"""What a person has set in a client's own settings against ours: hooks or a server switched off there.

It is theirs: it is told, with the file to look into, and never changed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from neosian import settings
from neosian.clients.installers import installer
from neosian.clients.mcp_clients import FOLDER, TOML, Client, Environ, Switch
from neosian.errors import NeosianError


@dataclass(frozen=True)
class Veto:
    """A switch that is off: in which file, where in it, and what comes of it."""

    file: str
    path: str
    says: str

    def __str__(self) -> str:
        return f"{self.file}: {self.path}: {self.says}"

    @property
    def hint(self) -> str:
        """What is left to a person."""
        return f"take it out of {self.file}, if ours is to run"


def vetoes(name: str, kind: str, environ: Environ, folder: str, *, is_project: bool) -> list[Veto]:
    """What keeps hooks or server (``kind``) of ours from running in a client that works in a folder; ``is_project``:
    they stand in the project's file, not in the user's."""
    client = installer(name).MCP
    if client.switches is None:
        return []
    found = [(file, _read(client, file)) for file in client.switches.files(environ, folder)]
    switches = [each for each in client.switches.all if each.kind == kind and is_project >= each.project_only]
    return [veto for switch in switches for veto in _off(switch, found, folder)]


def _off(switch: Switch, found: Sequence[tuple[str, Any]], folder: str) -> list[Veto]:
    """Of a list what any file names counts, of another value what the last file says."""
    path = [folder if key == FOLDER else key for key in switch.path]
    said = [(file, value) for file, whole in found if (value := _at(whole, path)) is not None]
    counts = [row for row in said if isinstance(row[1], list)] or said[-1:]
    return [Veto(file, _spelled(path), switch.says) for file, value in counts if switch.is_off(value)]


def _at(value: Any, path: Sequence[str]) -> Any:
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _spelled(path: Sequence[str]) -> str:
    spelled = ""
    for key in path:
        spelled = settings.step(spelled, key)
    return spelled


def _read(client: Client, file: str) -> Any:
    """What a file holds; nothing of one that cannot be read, which is told where hooks and servers are."""
    parse = client.format.parse if client.format is TOML else settings.parse_with_comments
    try:
        return parse((settings.read(file) or b"{}").decode("utf-8"))
    except (NeosianError, ValueError, RecursionError):
        return {}
