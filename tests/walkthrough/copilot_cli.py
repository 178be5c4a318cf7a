"""GitHub Copilot CLI, for real: two sessions with our hooks, and what they must leave.

Seen with 1.0.102: the platform package holds one native binary, which needs no sign-in for a provider of the user's
own. ``-p`` is one prompt a process, ``--continue`` the next one of the same session. A project's hooks and servers run
in a trusted folder only.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from pathlib import Path

from tests.walkthrough.fake_chat import ChatModel
from tests.walkthrough.fake_model import Call, FakeModel, Script
from tests.walkthrough.harness import Report, Row, Sandbox, from_npm, told
from tests.walkthrough.story import SERVER, Act, Story

VERSION = "1.0.102"
PACKAGE = "@github/copilot"
ROW = Row(
    start="told",
    prompt="told",
    results="text and `ok`",
    failures="text and `ok`",
    answer="from the file that the stop names",
    mcp="yes",
)
TROUBLE = re.compile(r"hook.*(fail|error)|(fail|error).*hook", re.IGNORECASE)

# What stands in the project's file of servers before us, unusual spacing included, and must stand there after us.
SERVERS = """{
    "mcpServers": {"other": {"command": "true"}}
}
"""


def obtain(version: str, cache: Path) -> Path:
    return from_npm(PACKAGE, version, cache, _binary)


def _binary(modules: Path) -> Path | None:
    found = modules.glob("@github/copilot-*/copilot")
    return next((path for path in found if os.access(path, os.X_OK)), None)


class Copilot:
    """The client, headless, in a sandbox."""

    NAME = "copilot-cli"

    def __init__(self, binary: Path, box: Sandbox) -> None:
        self.box = box
        self.url = ""
        (box.bin / "copilot").symlink_to(binary)
        (box.home / ".copilot").mkdir()
        trusted = json.dumps({"trustedFolders": [str(box.project)]})
        (box.home / ".copilot" / "config.json").write_text(trusted, encoding="utf-8")
        said = box.run("copilot", "--version", COPILOT_AUTO_UPDATE="false")
        found = re.search(r"\d+\.\d+\.\d+", said.stdout)
        self.version = found[0] if found else told(said)

    def model(self, script: Script) -> FakeModel:
        return ChatModel(script)

    def acts(self, project: Path) -> Sequence[Act]:
        cart, gone = str(project / "cart.py"), str(project / "gone.py")
        old, new = "int(sum(prices))", "round(sum(prices), 2)"
        source = f"def total(prices):\n    return {old}\n"
        return (
            Act(_shell("echo hello; ls"), "Bash", True, "hello"),
            Act(Call("create", {"path": cart, "file_text": source}), "Write", True),
            Act(Call("view", {"path": cart}), "Read", True, old),
            Act(Call("edit", {"path": cart, "old_str": old, "new_str": new}), "Edit", True),
            Act(Call("view", {"path": gone}), "Read", False),
            Act(_shell("echo '1 failed' >&2; exit 3"), "Bash", False, "1 failed"),
        )

    def saving(self, path: str, text: str) -> Sequence[Act]:
        tool = f"{SERVER}-memory_create"
        # A run does not wait for a server that is starting.
        return (
            Act(_shell("sleep 5"), "Bash", True),
            Act(Call(tool, {"path": path, "file_text": text}), tool, True),
        )

    def prepare(self, url: str) -> None:
        self.url = url

    def session(self, *prompts: str) -> str:
        said = []
        for number, prompt in enumerate(prompts):
            again = ("--continue",) if number else ()
            done = self.box.run(
                *("copilot", *again, "-p", prompt, "--allow-all-tools"),
                COPILOT_OFFLINE="true",
                COPILOT_AUTO_UPDATE="false",
                COPILOT_MODEL="scripted",
                COPILOT_PROVIDER_BASE_URL=f"{self.url}/v1",
                COPILOT_PROVIDER_API_KEY="dummy",
            )
            said.append(told(done))
            if done.returncode or TROUBLE.search(done.stderr):
                return "\n".join(said)
        return ""


def _shell(command: str) -> Call:
    return Call("bash", {"command": command, "description": "try"})


def walk(client: Path, version: str, box: Sandbox, report: Report) -> None:
    copilot = Copilot(client, box)
    report.need(f"the client is {version}", copilot.version == version, copilot.version)
    hooks, servers = box.project / ".github" / "hooks" / "neosian.json", box.project / ".mcp.json"
    Story(copilot, box, report, {hooks: None, servers: SERVERS}).play()
