"""OpenCode, for real: our plugin in a project, and what its sessions must leave.

Seen with 1.18.33: a word of the command line that holds a space reaches the model in quotation marks; as soon as there
is a plugin the client asks npm for a package of its own, which here finds no registry and is not waited for.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.walkthrough import plugged
from tests.walkthrough.fake_model import Call, Step
from tests.walkthrough.harness import Report, Sandbox, from_npm, told
from tests.walkthrough.plugged import API_KEY, Act, Player

NAME = "opencode"
VERSION = "1.18.33"
PACKAGE = "opencode-ai"
PROGRAM = "opencode"
HOOKS = ".opencode/plugins/neosian.js"
SERVERS = "opencode.json"
SERVER = "neosian-memory_"

LOOK = "Look which tests there are"
LOOKED = "There are none."
SKILL = "---\nname: release\ndescription: How to release\n---\nTag $1 in git, then tell Sam.\n"
RELEASED = "Tag v2 in git, then tell Sam."
BAD_MODEL = "fake/gone"


def obtain(version: str, cache: Path) -> Path:
    return from_npm(PACKAGE, version, cache, _binary)


def _binary(modules: Path) -> Path | None:
    found = modules.glob("opencode-*/bin/opencode*")
    usable = (path for path in sorted(found, reverse=True) if os.access(path, os.X_OK))
    return next(usable, None)


def prepare(box: Sandbox, url: str) -> dict[str, str]:
    model = {"name": "scripted", "tool_call": True, "limit": {"context": 200_000, "output": 8_000}}
    provider = {
        "npm": "@ai-sdk/openai-compatible",  # inside the client, nothing is fetched for it
        "name": "fake",
        "options": {"baseURL": url, "apiKey": API_KEY},
        "models": {"scripted": model},
    }
    config = {
        "autoupdate": False,
        "share": "disabled",
        "model": "fake/scripted",
        "small_model": "fake/scripted",
        "enabled_providers": ["fake"],
        "provider": {"fake": provider},
    }
    return {
        "OPENCODE_CONFIG_CONTENT": json.dumps(config),
        "OPENCODE_DISABLE_AUTOUPDATE": "1",
        "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
        "OPENCODE_DISABLE_MODELS_FETCH": "1",
        "npm_config_fetch_retries": "0",
        "npm_config_registry": "http://127.0.0.1:9",
    }


def ask(prompt: str, session: str) -> list[str]:
    return ["run", *(["-s", session] if session else []), *prompt.split()]


def acts(project: Path) -> list[Act]:
    cart = str(project / "cart.py")
    child = {"description": "look around", "prompt": LOOK, "subagent_type": "general"}
    change = {"filePath": cart, "oldString": "int(sum(prices))", "newString": "round(sum(prices), 2)"}
    return [
        Act("bash", {"command": "echo hello; ls", "description": "look"}),
        Act("write", {"filePath": cart, "content": plugged.SOURCE}),
        Act("edit", change),
        Act("task", child),
        Act("bash", {"command": "echo '1 failed' >&2; exit 3", "description": "test"}, False),
        Act("read", {"filePath": str(project / "missing.md")}, False),
    ]


def more() -> Mapping[str, Sequence[Step]]:
    shell = Call("bash", {"command": "ls test*", "description": "look"})
    return {LOOK: [Step(calls=(shell,)), Step(LOOKED)], RELEASED: [Step("Released.")]}


def walk(client: Path, version: str, box: Sandbox, report: Report) -> None:
    player = Player(sys.modules[__name__], client, box)
    seen = box.run(PROGRAM, "--version", OPENCODE_DISABLE_AUTOUPDATE="1").stdout.strip()
    report.need(f"the client is {version}", seen == version, seen)
    plugged.install(player, report)
    session = plugged.first_session(player, report)
    plugged.check_record(player, session, report, ["subagent"])
    _check_child(player, session, report)
    plugged.second_session(player, report)
    plugged.third_session(player, report)
    _skill(player, report)
    plugged.check_traces(player, report)
    plugged.switched_off(player, report)
    plugged.uninstall(player, report)


def _check_child(player: Player, session: str, report: Report) -> None:
    """What a child did is part of the turn that called it, and its prompt is nobody's."""
    store = Path(player.box.neosian("path").stdout.strip())
    said = [line for line in plugged.turn_lines(store, session) if line["kind"] == "subagent"]
    good = [(line["turn"], line["text"]) for line in said] == [(1, LOOKED)]
    report.check("a subagent's words are in the turn that asked it", good, said)
    sessions = player.box.neosian_json("sessions") or []
    report.check("it is no session of its own", len(sessions) == 1, sessions)


def _skill(player: Player, report: Report) -> None:
    """A skill of the memory is a command of the client."""
    done = player.box.neosian("memory", "create", "skills/release/SKILL.md", SKILL)
    report.need("a skill is written", done.returncode == 0, told(done))
    run = player.run("", command=["run", "--command", "neosian-memory:release", "v2"])
    held = any(RELEASED in request.text() for request in run.requests)
    report.check("the skill runs as a command, its argument in place", held and not run.trouble, run)
