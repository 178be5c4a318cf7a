"""Where each client keeps its settings: one module a client, found by the client's name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol, cast

from neosian.clients import GUESTS, INSTALLERS, MODULES, loaded
from neosian.clients.hook_files import HookFile, Version
from neosian.clients.mcp_clients import Client, Environ


class Installer(Protocol):
    """What every module of `INSTALLERS` offers."""

    NAME: str
    TITLE: str
    PROGRAM: str
    """What starts it on the command line, "" for an app."""
    ADVICE: str
    """What a person should know before hooks go into a project's file."""
    TRUST: Mapping[str, str]
    """By level the step that a person has to take before the client runs what stands there; none where it just does."""
    VERIFIED: bool
    """Whether it was tried with the client, and is not from documentation alone."""
    HOOKS: HookFile | None
    MCP: Client

    def own_memory(self, environ: Environ, project: str | None) -> str:
        """The memory that the client keeps itself, as its settings switch it for a user, or in the folder of a project.

        A few words where it is on, or where that cannot be known; "" where it is off, or where there is none.
        """

    def version(self, said: str) -> Version | None:
        """The version in what the client says to ``--version``."""


RECORDED = tuple(name for name in INSTALLERS if name in MODULES and name not in GUESTS)
"""The clients that have hooks of ours."""

SERVED = tuple(INSTALLERS)
"""The clients that can be told of the MCP server."""


def installer(client: str) -> Installer:
    """The module of one client."""
    return cast(Installer, loaded(INSTALLERS[client]))


def trust(client: str, level: str) -> str:
    """What a person has to do before a client runs what stands at a level; "" where nothing is."""
    return installer(client).TRUST.get(level, "")


def hooks_of(client: str) -> HookFile:
    """Where the hooks of one of `RECORDED` live."""
    found = installer(client).HOOKS
    assert found is not None, f"{client} is recorded, so it has a file of hooks"
    return found


def calling_itself(name: str) -> str:
    """The client that tells a server this name, often its own with more behind it; any other name as it is."""
    rows = (installer(client).MCP for client in SERVED)
    return next((row.name for row in rows if name.startswith(row.calls_itself or row.name)), name)
