"""Qwen Code, for real: two sessions with our hooks, and what they must leave.

Seen with 0.24.4: ``-p`` is one prompt a process, ``-c`` the next one of the same session. MCP tools are not at hand
before the model has looked for them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path

from tests.walkthrough.fake_chat import ChatModel
from tests.walkthrough.fake_model import Call, FakeModel, Script
from tests.walkthrough.harness import Report, Row, Sandbox, node, npm_command, told
from tests.walkthrough.story import SERVER, Act, Story

VERSION = "0.24.4"
PACKAGE = "@qwen-code/qwen-code"
ROW = Row(
    start="told",
    prompt="told",
    results="text and `ok`",
    failures="text and `ok`",
    answer="with the stop",
    mcp="yes, once the model has looked for them",
)
TROUBLE = re.compile(r"hook.*(fail|error)|(fail|error).*hook", re.IGNORECASE)
SHELL = "run_shell_command"

# What stands in the project's settings before us, unusual spacing included, and must stand there after us.
SETTINGS = """{
    "$version": 4,
    "hooks": {
        "Stop": [{"hooks": [{"type": "command", "command": "true"}]}]
    },
    "mcpServers": {"other": {"command": "true"}}
}
"""
USER = {
    "security": {"auth": {"selectedType": "openai"}},
    "privacy": {"usageStatisticsEnabled": False},
    "general": {"enableAutoUpdate": False},
}


def obtain(version: str, cache: Path) -> Path:
    return npm_command(PACKAGE, version, cache, "qwen")


class Qwen:
    """The client, headless, in a sandbox."""

    NAME = "qwen-code"

    def __init__(self, command: Path, box: Sandbox) -> None:
        self.box = box
        self.url = ""
        (box.bin / "node").symlink_to(node(command))
        (box.bin / "qwen").symlink_to(command)
        (box.home / ".qwen").mkdir()
        (box.home / ".qwen" / "settings.json").write_text(json.dumps(USER), encoding="utf-8")
        self.version = box.run("qwen", "--version").stdout.strip()

    def model(self, script: Script) -> FakeModel:
        return ChatModel(script)

    def acts(self, project: Path) -> Sequence[Act]:
        cart, gone = (
            str(project / "cart.py"),
            str(project / "gone.py"),
        )  # the client takes absolute paths only
        old, new = "int(sum(prices))", "round(sum(prices), 2)"
        source = f"def total(prices):\n    return {old}\n"
        edit = {"file_path": cart, "old_string": old, "new_string": new}
        return (  # of a command that ends too soon the client may lose what it said
            Act(_shell("echo hello; ls; sleep 1"), SHELL, True, "hello"),
            Act(Call("write_file", {"file_path": cart, "content": source}), "write_file", True),
            Act(Call("read_file", {"file_path": cart}), "read_file", True, old),
            Act(Call("edit", edit), "edit", True),
            Act(Call("read_file", {"file_path": gone}), "read_file", False),
            Act(_shell("echo '1 failed' >&2; exit 3"), SHELL, False, "1 failed"),
        )

    def saving(self, path: str, text: str) -> Sequence[Act]:
        tool = f"mcp__{SERVER}__memory_create"
        return (
            Act(Call("tool_search", {"query": "memory_create"}), "tool_search", True, "memory_create"),
            Act(Call(tool, {"path": path, "file_text": text}), tool, True),
        )

    def prepare(self, url: str) -> None:
        self.url = url

    def session(self, *prompts: str) -> str:
        said = []
        for number, prompt in enumerate(prompts):
            again = ("-c",) if number else ()
            done = self.box.run(
                *("qwen", "--auth-type", "openai", "--yolo", *again, "-p", prompt),
                OPENAI_API_KEY="dummy",
                OPENAI_BASE_URL=f"{self.url}/v1",
                OPENAI_MODEL="scripted",
                QWEN_CODE_SUPPRESS_YOLO_WARNING="1",
            )
            said.append(told(done))
            if done.returncode or TROUBLE.search(done.stderr):
                return "\n".join(said)
        return ""


def _shell(command: str) -> Call:
    return Call(SHELL, {"command": command, "description": "try", "is_background": False})


def walk(client: Path, version: str, box: Sandbox, report: Report) -> None:
    qwen = Qwen(client, box)
    report.need(f"the client is {version}", qwen.version == version, qwen.version)
    Story(qwen, box, report, {box.project / ".qwen" / "settings.json": SETTINGS}).play()
