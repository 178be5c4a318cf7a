"""Pi's extensions and settings: where ours stands, and where it is told of MCP servers. Tried with 1.6.0."""

from __future__ import annotations

import os
from collections.abc import Sequence

from neosian.clients import own_memory as own
from neosian.clients import pi
from neosian.clients.hook_files import OWN, HookFile, version_in
from neosian.clients.mcp_clients import (
    JSON,
    PROJECT,
    Client,
    Entry,
    Environ,
    below_home,
    of_program_and_arguments,
    program_and_arguments,
)

NAME = pi.NAME
TITLE = pi.TITLE
PROGRAM = "pi"
ADVICE = (
    "User level (--user) is advised: Pi loads a project's extensions from the folder that it is started in, from none "
    "above it."
)
TRUST = {
    PROJECT: "Start Pi and trust the project when it asks, or start it with --approve: until then it skips what "
    "stands in a project's .pi folder, without a word."
}
VERIFIED = True
version = version_in
own_memory = own.none


def _agent(environ: Environ) -> str:
    """The user's folder."""
    named = environ.get("PI_CODING_AGENT_DIR")
    return os.path.abspath(os.path.expanduser(named)) if named else below_home(".pi", "agent")


def _extension(folder: str) -> str:
    return os.path.join(folder, "extensions", "neosian.ts")


HOOKS = HookFile(
    shape=OWN,
    template="pi.ts",
    home=_agent,
    user_file=lambda environ: _extension(_agent(environ)),
    project_file=lambda project: _extension(os.path.join(project, ".pi")),
    project_words="",
)


def _direct(words: Sequence[str]) -> Entry:
    """An entry whose tools the model has at hand; Pi keeps others behind a tool that searches for them."""
    return {**program_and_arguments(words), "exposure": "direct"}


MCP = Client(
    name=NAME,
    title=TITLE,
    key="mcpServers",
    home=_agent,
    user_files=lambda environ: (os.path.join(_agent(environ), "mcp.json"),),
    project_files=lambda folder: (os.path.join(folder, ".pi", "mcp.json"),),
    format=JSON,
    entry=_direct,
    words=of_program_and_arguments,
)
