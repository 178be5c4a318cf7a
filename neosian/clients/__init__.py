"""The coding agents that neosian records: two modules each, loaded by name when an event of it comes in or its hooks
are installed."""

from __future__ import annotations

import os
import sys

from neosian.errors import UsageError
from neosian.events import FLAG_SEPARATOR

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, Protocol

    from neosian.events import Event, Spooled

    class Adapter(Protocol):
        """What every module of `MODULES` offers."""

        NAME: str
        TITLE: str
        #: The oldest version that is supported.
        OLDEST: tuple[int, ...]
        #: Event name -> the oldest version of the client that knows it.
        EVENTS: dict[str, tuple[int, ...]]
        #: Event name -> the verb that its hook line says: start, prompt, stop, end or note.
        VERB: dict[str, str]
        #: How much a session start may print, in the client's own unit.
        START_LIMIT: int
        #: Whether the client can be told nothing at a session's start: the block then goes with the next prompt.
        STARTS_WITH_PROMPT: bool

        def parse(self, payload: dict[str, Any], spooled: Spooled) -> Event:
            """The payload as an `Event`; wrong types in it are never an error."""

        def session_of(self, environ: Mapping[str, str]) -> str:
            """The session whose agent started a process with this environment, "" where it was none of this client."""

        def cost(self, text: str) -> int:
            """What ``text`` counts against ``START_LIMIT``."""

        def shown(self, verb: str, text: str) -> str:
            """What the hook of a verb (start, prompt) prints so that the model is told ``text``; "" for ""."""


MODULES = {
    "claude-code": "neosian.clients.claude_code",
    "codex": "neosian.clients.codex",
    "opencode": "neosian.clients.opencode",
    "gemini-cli": "neosian.clients.gemini_cli",
    "qwen-code": "neosian.clients.qwen_code",
    "copilot-cli": "neosian.clients.copilot_cli",
    "pi": "neosian.clients.pi",
    "kimi-code": "neosian.clients.kimi_code",
    "cursor": "neosian.clients.cursor",
    "vscode": "neosian.clients.vscode",
}
"""The module of each client that is recorded."""

CLIENTS = tuple(MODULES)

GUESTS = ("vscode",)
"""Clients of `MODULES` that run the hook files of others and have none of ours."""

INSTALLERS = {
    "claude-code": "neosian.clients.claude_install",
    "codex": "neosian.clients.codex_install",
    "opencode": "neosian.clients.opencode_install",
    "gemini-cli": "neosian.clients.gemini_install",
    "qwen-code": "neosian.clients.qwen_install",
    "copilot-cli": "neosian.clients.copilot_install",
    "pi": "neosian.clients.pi_install",
    "kimi-code": "neosian.clients.kimi_install",
    "cursor": "neosian.clients.cursor_install",
    "vscode": "neosian.clients.vscode_install",
    "claude-desktop": "neosian.clients.claude_desktop_install",
    "zed": "neosian.clients.zed_install",
    "cline": "neosian.clients.cline_install",
    "windsurf": "neosian.clients.windsurf_install",
    "goose": "neosian.clients.goose_install",
    "crush": "neosian.clients.crush_install",
}
"""The module that knows where each client keeps its settings, of those too that are only told of the MCP server."""


def adapter(client: str) -> Adapter:
    """The module for ``client``. Raises `UsageError` when there is none."""
    name = MODULES.get(client)
    if name is None:
        raise UsageError(
            f"No client is called {client!r}; known are: {', '.join(CLIENTS)}.", "neosian record --help"
        )
    return loaded(name)  # type: ignore[no-any-return]


def read(payload: dict[str, Any], spooled: Spooled) -> Event:
    """The payload as an event of the client that sent it, through whichever client's hook line it came.

    The line of another client stays visible in the event's ``level``: so the same event through both lines is one.
    """
    client = true_client(spooled.client, payload)
    event = adapter(client).parse(payload, spooled)
    if client != spooled.client:
        words = (spooled.level, "--line", spooled.client)
        event.level = FLAG_SEPARATOR.join(filter(None, words))
    return event


def from_transcript(event: Event, patience: float) -> str:
    """The answer that a stop left out, from the file that its client named for it; "" for none. A client that still
    writes it is waited for, ``patience`` seconds at most."""
    module = loaded(MODULES[event.client])
    return str(module.answer(event, patience))


def true_client(named: str, payload: dict[str, Any]) -> str:
    """The client that sent a payload through a hook line that names ``named``: some run the hook files of others."""
    if "cursor_version" in payload or ("conversation_id" in payload and "generation_id" in payload):
        found = "cursor"
    elif "hookEventName" in payload and "sessionId" in payload:
        found = "vscode"
    elif payload.get("client_type") == "kimi_code_cli":
        found = "kimi-code"
    else:
        found = named
    return found if found in MODULES else named


def calling(environ: Mapping[str, str]) -> tuple[str, str] | None:
    """Client and session of the agent that started this process, as its marks in the environment tell; None for a
    person. An agent that was started from another one's shell has that one's marks beside its own: it counts."""
    found = {client: session for client in CLIENTS if (session := adapter(client).session_of(environ))}
    client = next(iter(found), "") if len(found) < 2 else _innermost(found)
    return (client, found[client]) if client else None


def _innermost(found: Mapping[str, str]) -> str:
    """Of several clients the one whose mark came last: the first process above this one without it is that client.

    Where the system does not tell the environment of others (only Linux does, in ``/proc``), the first by name.
    """
    process = os.getppid()
    while process > 1:
        above, environ = _process(process)
        without = [client for client in found if adapter(client).session_of(environ) != found[client]]
        if without:
            return without[0]
        process = above
    return next(iter(found))


def _process(number: int) -> tuple[int, dict[str, str]]:
    """The parent of a process, and the environment that it was started with; (0, {}) where neither is told."""
    try:
        with open(f"/proc/{number}/environ", "rb") as file:
            rows = os.fsdecode(file.read()).split("\0")
        with open(f"/proc/{number}/stat", "rb") as file:
            stat = file.read()
    except OSError:
        return 0, {}
    # The second field is the program's name in brackets, which may hold anything.
    return int(stat[stat.rindex(b")") :].split()[2]), dict(row.split("=", 1) for row in rows if "=" in row)


def loaded(name: str) -> Any:
    """A module by its name."""
    __import__(name)
    return sys.modules[name]
