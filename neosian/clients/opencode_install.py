"""OpenCode's plugins and settings: where ours stands, and where it is told of MCP servers. Tried with 1.18.33."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from neosian.clients import opencode
from neosian.clients import own_memory as own
from neosian.clients.hook_files import OWN, HookFile, version_in
from neosian.clients.mcp_clients import (
    JSON_WITH_COMMENTS,
    PROJECT,
    SERVER,
    USER,
    Client,
    Entry,
    Environ,
    Switch,
    Switches,
    config_folder,
    is_false,
)

NAME = opencode.NAME
TITLE = opencode.TITLE
PROGRAM = "opencode"
ADVICE = ""
_FETCHES = (
    "Start OpenCode once with a network: with its first plugin it fetches a package of its own before it begins, half "
    "a minute once; without a network each start takes more than a minute."
)
TRUST = {USER: _FETCHES, PROJECT: _FETCHES}
VERIFIED = True
version = version_in
own_memory = own.none


def _folder(environ: Environ) -> str:
    """The user's folder; a file of settings elsewhere, as `OPENCODE_CONFIG` names it, has no plugins beside it."""
    return os.path.join(config_folder(environ), "opencode")


def _plugin(folder: str) -> str:
    return os.path.join(folder, "plugins", "neosian.js")


HOOKS = HookFile(
    shape=OWN,
    template="opencode.js",
    home=_folder,
    user_file=lambda environ: _plugin(_folder(environ)),
    project_file=lambda project: _plugin(os.path.join(project, ".opencode")),
    project_words="",
)


def _home(environ: Environ) -> str:
    named = environ.get("OPENCODE_CONFIG")
    return os.path.dirname(os.path.abspath(named)) if named else _folder(environ)


def _files(environ: Environ) -> tuple[str, ...]:
    named = environ.get("OPENCODE_CONFIG")
    return (os.path.abspath(named),) if named else _both(_home(environ), "opencode")


def _both(folder: str, name: str) -> tuple[str, ...]:
    return os.path.join(folder, f"{name}.json"), os.path.join(folder, f"{name}.jsonc")


def _one_list(words: Sequence[str]) -> Entry:
    return {"type": "local", "command": list(words), "enabled": True}


def _of_one_list(entry: Entry) -> list[Any]:
    words = entry.get("command")
    return words if isinstance(words, list) else []


MCP = Client(
    name=NAME,
    title=TITLE,
    key="mcp",
    home=_home,
    user_files=_files,
    project_files=lambda folder: _both(folder, "opencode"),
    format=JSON_WITH_COMMENTS,
    entry=_one_list,
    words=_of_one_list,
    switches=Switches(
        lambda environ, folder: (*_files(environ), *_both(folder, "opencode")),
        (
            Switch(
                "server", ("mcp", SERVER, "enabled"), is_false, "it is false, so OpenCode does not start it"
            ),
        ),
    ),
)
