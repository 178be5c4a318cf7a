"""Kimi Code's settings: where its hooks and its MCP servers stand. Tried with 2.1.0.

Its hooks are tables of the user's ``config.toml``, and the client takes none of them where one of them is not as it
wants it.
"""

from __future__ import annotations

import os
import tomllib
from typing import Any

from neosian.clients import kimi_code
from neosian.clients import own_memory as own
from neosian.clients.hook_files import TOML, HookFile, Problem, Version, version_in
from neosian.clients.mcp_clients import (
    JSON,
    Client,
    Environ,
    below_home,
    of_program_and_arguments,
    program_and_arguments,
)

NAME = kimi_code.NAME
TITLE = kimi_code.TITLE
PROGRAM = "kimi"
ADVICE = ""
TRUST: dict[str, str] = {}
VERIFIED = True
version = version_in
own_memory = own.none

_KEYS = ("event", "matcher", "command", "timeout")
_DROPS = "so Kimi Code takes no hook of this file"
_TABLE = '[[hooks]]\nevent = "Stop"\n'  # what is added, as far as its place goes


def _kimi_home(environ: Environ) -> str:
    return os.path.abspath(environ.get("KIMI_CODE_HOME") or below_home(".kimi-code"))


def _problems(text: str, installed: Version | None) -> list[Problem]:
    """What keeps our hooks from a place in the text, and what the client would find wrong in those of others."""
    found = TOML.problems(text, _TABLE)
    hooks = tomllib.loads(TOML.strip(text)).get("hooks", [])
    for place, hook in enumerate(hooks if isinstance(hooks, list) else ()):
        found += [Problem(f"hooks[{place}]", f"{says}, {_DROPS}", True) for says in _wrong(hook)]
    return found


def _wrong(hook: Any) -> list[str]:
    """What is wrong with a table of hooks. Events are not looked at: a later client knows more of them."""
    if not isinstance(hook, dict):
        return ["it is not a table"]
    found = [f"it has the key {key!r}" for key in hook if key not in _KEYS]
    for key in ("event", "command"):
        if not (isinstance(hook.get(key), str) and hook[key]):
            found.append(f"it has no {key}")
    if not isinstance(hook.get("matcher", ""), str):
        found.append("its matcher is not a text")
    seconds = hook.get("timeout", 1)
    if not isinstance(seconds, int) or isinstance(seconds, bool) or not 1 <= seconds <= 600:
        found.append("its timeout is not 1 to 600 seconds")
    return found


HOOKS = HookFile(
    shape=TOML,
    template="kimi-code.toml",
    home=_kimi_home,
    user_file=lambda environ: os.path.join(_kimi_home(environ), "config.toml"),
    project_file=None,
    problems=_problems,
)

MCP = Client(
    name=NAME,
    title=TITLE,
    key="mcpServers",
    home=_kimi_home,
    user_files=lambda environ: (os.path.join(_kimi_home(environ), "mcp.json"),),
    project_files=lambda folder: (os.path.join(folder, ".kimi-code", "mcp.json"),),
    format=JSON,
    entry=program_and_arguments,
    words=of_program_and_arguments,
    project_note="Kimi Code starts a project's servers in a trusted folder only: say yes to its question there.",
)
