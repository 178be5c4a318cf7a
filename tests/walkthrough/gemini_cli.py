"""Gemini CLI, for real: two sessions with our hooks, and what they must leave.

Seen with 0.61.0: ``-p`` is one prompt a process, ``--resume latest`` the next one of the same session. A project's hooks
and servers run where the folder is trusted, which one variable says.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path

from tests.walkthrough.fake_gemini import GeminiModel
from tests.walkthrough.fake_model import Call, FakeModel, Script
from tests.walkthrough.harness import Report, Row, Sandbox, node, npm_command, told
from tests.walkthrough.story import SERVER, Act, Story

VERSION = "0.61.0"
PACKAGE = "@google/gemini-cli"
ROW = Row(
    start="told",
    prompt="told",
    results="text and `ok`",
    failures="text and `ok`",
    answer="with the stop: all that the agent said in the turn",
    mcp="yes",
)
TROUBLE = re.compile(r"hook.*(fail|error)|(fail|error).*hook", re.IGNORECASE)
SHELL = "run_shell_command"

# What stands in the project's settings before us, unusual spacing included, and must stand there after us.
SETTINGS = """{
    "hooks": {
        "AfterAgent": [{"hooks": [{"type": "command", "command": "true"}]}]
    },
    "mcpServers": {"other": {"command": "true"}}
}
"""
USER = {
    "security": {"auth": {"selectedType": "gemini-api-key"}},
    "privacy": {"usageStatisticsEnabled": False},
    "general": {"enableAutoUpdate": False},
}


def obtain(version: str, cache: Path) -> Path:
    return npm_command(PACKAGE, version, cache, "gemini")


class Gemini:
    """The client, headless, in a sandbox."""

    NAME = "gemini-cli"

    def __init__(self, command: Path, box: Sandbox) -> None:
        self.box = box
        self.url = ""
        (box.bin / "node").symlink_to(node(command))
        (box.bin / "gemini").symlink_to(command)
        (box.home / ".gemini").mkdir()
        (box.home / ".gemini" / "settings.json").write_text(json.dumps(USER), encoding="utf-8")
        self.version = box.run("gemini", "--version").stdout.strip()

    def model(self, script: Script) -> FakeModel:
        return GeminiModel(script)

    def acts(self, project: Path) -> Sequence[Act]:
        old, new = "int(sum(prices))", "round(sum(prices), 2)"
        edit = {"file_path": "cart.py", "instruction": "round", "old_string": old, "new_string": new}
        source = f"def total(prices):\n    return {old}\n"
        return (
            Act(_shell("echo hello; ls"), SHELL, True, "hello"),
            Act(Call("write_file", {"file_path": "cart.py", "content": source}), "write_file", True),
            Act(Call("read_file", {"file_path": "cart.py"}), "read_file", True, old),
            Act(Call("replace", edit), "replace", True),
            Act(Call("read_file", {"file_path": "gone.py"}), "read_file", False),
            Act(_shell("echo '1 failed' >&2; exit 3"), SHELL, False, "1 failed"),
        )

    def saving(self, path: str, text: str) -> Sequence[Act]:
        tool = f"mcp_{SERVER}_memory_create"
        return (Act(Call(tool, {"path": path, "file_text": text}), tool, True),)

    def prepare(self, url: str) -> None:
        self.url = url

    def session(self, *prompts: str) -> str:
        said = []
        for number, prompt in enumerate(prompts):
            again = ("--resume", "latest") if number else ()
            done = self.box.run(
                *("gemini", "-m", "gemini-2.5-flash", "--yolo", *again, "-p", prompt),
                GEMINI_API_KEY="dummy",
                GEMINI_CLI_TRUST_WORKSPACE="true",
                GOOGLE_GEMINI_BASE_URL=self.url,
            )
            said.append(told(done))
            if done.returncode or TROUBLE.search(done.stderr):
                return "\n".join(said)
        return ""


def _shell(command: str) -> Call:
    return Call(SHELL, {"command": command, "description": "try"})


def walk(client: Path, version: str, box: Sandbox, report: Report) -> None:
    gemini = Gemini(client, box)
    report.need(f"the client is {version}", gemini.version == version, gemini.version)
    Story(gemini, box, report, {box.project / ".gemini" / "settings.json": SETTINGS}).play()
