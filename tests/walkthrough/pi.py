"""Pi, for real: our extension in a project, and what its sessions must leave.

Seen with 1.6.0: ``-p`` is one prompt a process, ``-c`` the next one of the same session. A project's extensions and
servers are loaded where the folder is trusted, which a flag says.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from tests.walkthrough.fake_chat import ChatModel
from tests.walkthrough.fake_model import Call, FakeModel, Script
from tests.walkthrough.harness import Report, Row, Sandbox, node, npm_command, told
from tests.walkthrough.plugged import SECRET, WINDOW, Exact, PluggedStory
from tests.walkthrough.story import Act

VERSION = "1.6.0"
PACKAGE = "@earendil-works/pi-coding-agent"
ROW = Row(
    start="told with the first prompt, after a compaction with every request",
    prompt="told",
    results="text, `ok`, milliseconds",
    failures="text, `ok`, milliseconds",
    answer="with the stop",
    mcp="yes",
)

# What stands in the project's settings before us, unusual spacing included, and must stand there after us.
SERVERS = """{
    "mcpServers": {"other": {"command": "true", "enabled": false}}
}
"""
SOURCE = "def total(prices):\n    return int(sum(prices))\n"


def obtain(version: str, cache: Path) -> Path:
    return npm_command(PACKAGE, version, cache, "pi")


class Pi:
    """The client, headless, in a sandbox."""

    NAME = "pi"

    def __init__(self, command: Path, box: Sandbox) -> None:
        self.box = box
        self.models = box.home / ".pi" / "agent" / "models.json"
        self.models.parent.mkdir(parents=True)
        short = {"compaction": {"keepRecentTokens": 5}}  # else a short session is left as it is
        self.models.with_name("settings.json").write_text(json.dumps(short), encoding="utf-8")
        (box.bin / "node").symlink_to(node(command))
        (box.bin / "pi").symlink_to(command)
        self.version = box.run("pi", "--version").stdout.strip()

    def model(self, script: Script) -> FakeModel:
        return ChatModel(Exact(script.replies))

    def acts(self, project: Path) -> Sequence[Act]:
        change = {"oldText": "int(sum(prices))", "newText": "round(sum(prices), 2)"}
        return (
            Act(Call("bash", {"command": "echo hello; ls"}), "bash", True, "hello"),
            Act(Call("write", {"path": "cart.py", "content": SOURCE}), "write", True),
            Act(Call("edit", {"path": "cart.py", "edits": [change]}), "edit", True),
            Act(Call("read", {"path": "gone.py"}), "read", False, "no such file"),
            Act(Call("bash", {"command": "echo '1 failed' >&2; exit 3"}), "bash", False, "1 failed"),
        )

    def saving(self, path: str, text: str) -> Sequence[Act]:
        tool = "mcp__neosian_memory__memory_create"
        return (Act(Call(tool, {"path": path, "file_text": text}), tool, True),)

    def prepare(self, url: str) -> None:
        model = {"id": "scripted", "contextWindow": WINDOW, "maxTokens": 4096}
        fake = {"baseUrl": f"{url}/v1", "apiKey": SECRET, "api": "openai-completions", "models": [model]}
        self.models.write_text(json.dumps({"providers": {"fake": fake}}), encoding="utf-8")

    def session(self, *prompts: str) -> str:
        said = []
        for number, prompt in enumerate(prompts):
            again = ("-c",) if number else ()
            words = ("--offline", "--approve", "--model", "fake/scripted", *again, "-p", prompt)
            done = self.box.run("pi", *words)
            said.append(told(done))
            if done.returncode or "xtension" in done.stderr:  # one that fails is told of, and the run goes on
                return "\n".join(said)
        return ""


def walk(client: Path, version: str, box: Sandbox, report: Report) -> None:
    pi = Pi(client, box)
    report.need(f"the client is {version}", pi.version == version, pi.version)
    settings = {
        box.project / ".pi" / "extensions" / "neosian.ts": None,
        box.project / ".pi" / "mcp.json": SERVERS,
    }
    PluggedStory(pi, box, report, settings).play()
