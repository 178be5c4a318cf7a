"""Pi, for real: our extension in a project, and what its sessions must leave.

Seen with 1.6.0, which needs Node 22.19: that is a package too.
"""

from __future__ import annotations

import json
import os
import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.walkthrough import plugged
from tests.walkthrough.fake_model import Step
from tests.walkthrough.harness import Report, Sandbox, from_npm
from tests.walkthrough.plugged import API_KEY, Act, Player

NAME = "pi"
VERSION = "1.6.0"
PACKAGE = "@earendil-works/pi-coding-agent"
NODE = "22.21.0"
PROGRAM = "pi"
HOOKS = ".pi/extensions/neosian.ts"
SERVERS = ".pi/mcp.json"
SERVER = "mcp__neosian_memory__"


def obtain(version: str, cache: Path) -> Path:
    """A program that runs the client under a Node that it knows."""
    node = from_npm("node", NODE, cache.parent / "node", _node)
    script = from_npm(PACKAGE, version, cache, _script)
    program = cache / version / "pi"
    program.write_text(f'#!/bin/sh\nexec {shlex.join([str(node), str(script)])} "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    return program


def _node(modules: Path) -> Path | None:
    found = modules / "node" / "bin" / "node"
    return found if os.access(found, os.X_OK) else None


def _script(modules: Path) -> Path | None:
    found = modules / PACKAGE / "dist" / "bundle" / "cli.js"
    return found if found.is_file() else None


def prepare(box: Sandbox, url: str) -> dict[str, str]:
    model = {"id": "scripted", "contextWindow": 128_000, "maxTokens": 4096}
    fake = {"baseUrl": url, "apiKey": API_KEY, "api": "openai-completions", "models": [model]}
    folder = box.home / ".pi" / "agent"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "models.json").write_text(json.dumps({"providers": {"fake": fake}}), encoding="utf-8")
    return {}


def ask(prompt: str, session: str) -> list[str]:
    more = ["--session", session] if session else []
    return ["--offline", "--approve", "--model", "fake/scripted", *more, "-p", prompt]


def acts(project: Path) -> list[Act]:
    cart = str(project / "cart.py")
    change = {"oldText": "int(sum(prices))", "newText": "round(sum(prices), 2)"}
    return [
        Act("bash", {"command": "echo hello; ls"}),
        Act("write", {"path": cart, "content": plugged.SOURCE}),
        Act("edit", {"path": cart, "edits": [change]}),
        Act("bash", {"command": "echo '1 failed' >&2; exit 3"}, False),
        Act("read", {"path": str(project / "missing.md")}, False),
    ]


def more() -> Mapping[str, Sequence[Step]]:
    return {}


def walk(client: Path, version: str, box: Sandbox, report: Report) -> None:
    player = Player(sys.modules[__name__], client, box)
    seen = box.run(PROGRAM, "--version")
    report.need(f"the client is {version}", version in seen.stdout + seen.stderr, seen)
    plugged.install(player, report)
    session = plugged.first_session(player, report)
    plugged.check_record(player, session, report)
    plugged.second_session(player, report)
    plugged.third_session(player, report)
    plugged.check_traces(player, report)
    plugged.switched_off(player, report)
    plugged.uninstall(player, report)
