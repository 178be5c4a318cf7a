"""OpenCode, for real: our plugin in a project, and what its sessions must leave.

Seen with 1.18.33: a word of the command line that holds a space reaches the model in quotation marks; as soon as there
is a plugin the client asks npm for a package of its own, which here finds no registry and is not waited for; it writes
``$schema`` into a file of settings that lacks it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path

from tests.walkthrough.fake_chat import ChatModel
from tests.walkthrough.fake_model import Call, FakeModel, Script, Step
from tests.walkthrough.harness import Report, Row, Sandbox, from_npm, told
from tests.walkthrough.plugged import SECRET, WINDOW, Exact, PluggedStory
from tests.walkthrough.story import SERVER, Act

VERSION = "1.18.33"
PACKAGE = "opencode-ai"
ROW = Row(
    start="told with the first prompt, after a compaction with every request",
    prompt="told",
    results="text, `ok`, milliseconds",
    failures="text, `ok`, milliseconds",
    answer="with the stop",
    mcp="yes",
)

# What stands in the project's settings before us, unusual spacing included, and must stand there after us.
SETTINGS = """{
    "$schema": "https://opencode.ai/config.json",
    "mcp": {"other": {"type": "local", "command": ["true"], "enabled": false}}
}
"""
LOOK = "Look which tests there are"
LOOKED = "There are none."
SKILL = "---\nname: release\ndescription: How to release\n---\nTag $1 in git, then tell Sam.\n"
RELEASE = f"/{SERVER}:release v2"
RELEASED = "Tag v2 in git, then tell Sam."
SOURCE = "def total(prices):\n    return int(sum(prices))\n"


def obtain(version: str, cache: Path) -> Path:
    return from_npm(PACKAGE, version, cache, _binary)


def _binary(modules: Path) -> Path | None:
    found = (path for path in sorted(modules.glob("opencode-*/bin/opencode*")) if os.access(path, os.X_OK))
    return next(found, None)


class OpenCode:
    """The client, headless, in a sandbox."""

    NAME = "opencode"

    def __init__(self, binary: Path, box: Sandbox) -> None:
        self.box = box
        self.env: dict[str, str] = {}
        (box.bin / "opencode").symlink_to(binary)
        self.version = box.run("opencode", "--version", OPENCODE_DISABLE_AUTOUPDATE="1").stdout.strip()

    def model(self, script: Script) -> FakeModel:
        words = Call("bash", {"command": "ls test*", "description": "look"})
        return ChatModel(Exact({LOOK: [Step(calls=(words,)), Step(LOOKED)], **script.replies}))

    def acts(self, project: Path) -> Sequence[Act]:
        cart = str(project / "cart.py")
        change = {"filePath": cart, "oldString": "int(sum(prices))", "newString": "round(sum(prices), 2)"}
        child = {"description": "look around", "prompt": LOOK, "subagent_type": "general"}
        return (
            Act(_shell("echo hello; ls"), "bash", True, "hello"),
            Act(Call("write", {"filePath": cart, "content": SOURCE}), "write", True),
            Act(Call("edit", change), "edit", True),
            Act(Call("task", child), "task", True, LOOKED),
            Act(Call("read", {"filePath": str(project / "gone.py")}), "read", False, "not found"),
            Act(_shell("echo '1 failed' >&2; exit 3"), "bash", False, "1 failed"),
        )

    def saving(self, path: str, text: str) -> Sequence[Act]:
        tool = f"{SERVER}_memory_create"
        return (Act(Call(tool, {"path": path, "file_text": text}), tool, True),)

    def prepare(self, url: str) -> None:
        limit = {"context": WINDOW, "output": 8_000}
        provider = {
            "npm": "@ai-sdk/openai-compatible",  # inside the client, nothing is fetched for it
            "name": "fake",
            "options": {"baseURL": f"{url}/v1", "apiKey": SECRET},
            "models": {"scripted": {"name": "scripted", "tool_call": True, "limit": limit}},
        }
        config = {
            "autoupdate": False,
            "share": "disabled",
            "model": "fake/scripted",
            "small_model": "fake/scripted",
            "enabled_providers": ["fake"],
            "provider": {"fake": provider},
        }
        self.env = {
            "OPENCODE_CONFIG_CONTENT": json.dumps(config),
            "OPENCODE_DISABLE_AUTOUPDATE": "1",
            "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
            "OPENCODE_DISABLE_MODELS_FETCH": "1",
            "npm_config_fetch_retries": "0",
            "npm_config_registry": "http://127.0.0.1:9",
        }

    def session(self, *prompts: str) -> str:
        said = []
        for number, prompt in enumerate(prompts):
            again = ("-c",) if number else ()
            done = self.box.run("opencode", "run", *again, *_words(prompt), **self.env)
            said.append(told(done))
            if done.returncode:
                return "\n".join(said)
        return ""


def _words(prompt: str) -> list[str]:
    """A prompt, or a command with its arguments."""
    first, *rest = prompt.split()
    return ["--command", first[1:], *rest] if first.startswith("/") else [first, *rest]


def _shell(command: str) -> Call:
    return Call("bash", {"command": command, "description": "try"})


class _Story(PluggedStory):
    def recorded(self) -> None:
        super().recorded()
        logs = [path.read_text("utf-8").splitlines() for path in self.box.store.glob("record/**/*.jsonl")]
        lines = [json.loads(line) for log in logs for line in log]
        said = [(line["turn"], line["text"]) for line in lines if line["kind"] == "subagent"]
        self.report.check("a subagent's words are in the turn that asked it", said == [(1, LOOKED)], said)
        self.report.check("and it is no session of its own", len(logs) == 1, len(logs))

    def more(self) -> None:
        """A skill of the memory is a command of the client."""
        done = self.box.neosian("memory", "create", "skills/release/SKILL.md", SKILL)
        self.report.need("a skill is written", done.returncode == 0, told(done))
        requests = self.played("a session with a skill", Script({RELEASED: [Step("Released.")]}), RELEASE)
        held = any(RELEASED in request.text() for request in requests)
        self.report.check("the skill runs as a command, its argument in place", held)


def walk(client: Path, version: str, box: Sandbox, report: Report) -> None:
    opencode = OpenCode(client, box)
    report.need(f"the client is {version}", opencode.version == version, opencode.version)
    settings = {
        box.project / ".opencode" / "plugins" / "neosian.js": None,
        box.project / "opencode.json": SETTINGS,
    }
    _Story(opencode, box, report, settings).play()
