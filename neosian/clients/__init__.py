"""The coding agents that neosian records: one module each, loaded by name when an event of it comes in."""

from __future__ import annotations

import sys

from neosian.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, Protocol

    from neosian.events import Event, Spooled

    class Adapter(Protocol):
        """What every module of this package offers."""

        NAME: str
        #: Event name -> the verb that its hook line says: start, prompt, stop, end or note.
        VERB: dict[str, str]
        #: Event name -> the oldest version of the client that knows it.
        EVENTS: dict[str, tuple[int, ...]]
        #: How much a session start may print, in the client's own unit.
        START_LIMIT: int

        def parse(self, payload: dict[str, Any], spooled: Spooled) -> Event:
            """The payload as an `Event`; wrong types in it are never an error."""

        def session_of(self, environ: Mapping[str, str]) -> str:
            """The session whose agent started a process with this environment, "" where it was none of this client."""

        def cost(self, text: str) -> int:
            """What ``text`` counts against ``START_LIMIT``."""


MODULES = {"claude-code": "neosian.clients.claude_code"}
CLIENTS = tuple(MODULES)


def adapter(client: str) -> Adapter:
    """The module for ``client``. Raises `UsageError` when there is none."""
    name = MODULES.get(client)
    if name is None:
        raise UsageError(
            f"No client is called {client!r}; known are: {', '.join(CLIENTS)}.", "neosian record --help"
        )
    __import__(name)
    module: Any = sys.modules[name]
    return module  # type: ignore[no-any-return]


def calling(environ: Mapping[str, str]) -> tuple[str, str] | None:
    """Client and session of the agent that started this process, as its marks in the environment tell; None for a
    person."""
    for client in CLIENTS:
        session = adapter(client).session_of(environ)
        if session:
            return client, session
    return None
