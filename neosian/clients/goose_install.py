"""Goose's settings: where it is told of MCP servers. From its documentation, not run.

Its file is YAML, which is shown and never edited: no other part of it could be promised its bytes.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Any

from neosian.clients import own_memory as own
from neosian.clients.hook_files import version_in
from neosian.clients.mcp_clients import (
    SERVER,
    YAML,
    Client,
    Entry,
    Environ,
    app_folder,
    below_home,
    config_folder,
    of_program_and_arguments,
    unverified,
)

NAME = "goose"
TITLE = "Goose"
PROGRAM = "goose"
ADVICE = ""
TRUST: dict[str, str] = {}
VERIFIED = False
HOOKS = None
version = version_in


def _home(environ: Environ, platform: str = sys.platform) -> str:
    if platform == "win32":
        return os.path.join(app_folder(environ, "Block", platform), "goose", "config")
    return os.path.join(below_home(".config") if platform == "darwin" else config_folder(environ), "goose")


def _extension(words: Sequence[str]) -> Entry:
    told = {"type": "stdio", "name": SERVER, "enabled": True, "timeout": 300}
    return {**told, "cmd": words[0], "args": list(words[1:])}


def _of_extension(entry: Entry) -> list[Any]:
    return of_program_and_arguments({**entry, "command": entry.get("cmd")})


def own_memory(environ: Environ, project: str | None) -> str:
    """The memory extension: off until a person switches it on."""
    file = os.path.join(_home(environ), "config.yaml")
    return (
        "memory extension is on" if own.switch(YAML.parse, [file], "extensions", "memory", "enabled") else ""
    )


MCP = Client(
    name=NAME,
    title=TITLE,
    key="extensions",
    home=_home,
    user_files=lambda environ: (os.path.join(_home(environ), "config.yaml"),),
    project_files=None,
    format=YAML,
    entry=_extension,
    words=_of_extension,
    note=unverified(TITLE),
    adds="goose configure",
    removes="goose configure",
    asks=True,
)
