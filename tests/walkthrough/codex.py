"""Codex, for real: two sessions with our hooks, and what they must leave.

Seen with 0.171.0: the platform package holds one native binary. ``codex exec`` is one prompt a process, ``codex exec
resume`` the next one of the same session. Hooks that nobody has reviewed are run with a flag of the client's own.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Sequence
from pathlib import Path

from tests.walkthrough.fake_model import Call, FakeModel, Script
from tests.walkthrough.fake_responses import ResponsesModel
from tests.walkthrough.harness import BrokenOffError, Report, Row, Sandbox, from_npm, told
from tests.walkthrough.story import SERVER, Act, Story

VERSION = "0.171.0"
PACKAGE = "@openai/codex"
ROW = Row(
    start="told",
    prompt="told",
    results="text; `ok` of a shell's command is unknown",
    failures="a tool that failed has no end: `ok` is unknown",
    answer="with the stop",
    mcp="yes",
)
TROUBLE = re.compile(r"^hook: \w+ (Failed|Blocked|Stopped)$", re.M)
FLAGS = ("--dangerously-bypass-hook-trust", "--skip-git-repo-check")

# What stands in the hooks of the project before us, unusual spacing included, and must stand there after us.
HOOKS = """{
    "hooks": {
        "Stop": [{"hooks": [{"type": "command", "command": "true"}]}]
    }
}
"""
CONFIG = """model = "gpt-5.5"
model_provider = "fake"
sandbox_mode = "danger-full-access"
check_for_update_on_startup = false

[analytics]
enabled = false

[model_providers.fake]
name = "fake"
base_url = "@URL@/v1"
wire_api = "responses"
env_key = "FAKE_MODEL_KEY"
request_max_retries = 0
stream_max_retries = 0

[projects."@PROJECT@"]
trust_level = "trusted"
"""


def obtain(version: str, cache: Path) -> Path:
    return from_npm(PACKAGE, version, cache, _binary)


def _binary(modules: Path) -> Path | None:
    found = modules.glob("@openai/codex-*/vendor/*/bin/codex")
    return next((path for path in found if os.access(path, os.X_OK)), None)


class Codex:
    """The client, headless, in a sandbox."""

    NAME = "codex"

    def __init__(self, binary: Path, box: Sandbox) -> None:
        self.box = box
        self.config = box.home / ".codex" / "config.toml"
        self.config.parent.mkdir()
        (box.bin / "codex").symlink_to(binary)
        self.version = box.run("codex", "--version").stdout.split()[-1]

    def model(self, script: Script) -> FakeModel:
        return ResponsesModel(script)

    def acts(self, project: Path) -> Sequence[Act]:
        return (
            Act(_shell("echo hello; ls"), "Bash", None, "hello"),
            Act(
                _patch("*** Add File: cart.py\n+def total(prices):\n+    return int(sum(prices))\n"),
                "apply_patch",
                True,
            ),
            Act(_patch("*** Update File: gone.py\n@@\n-a\n+b\n"), "apply_patch", None),
            Act(_shell("echo '1 failed' >&2; exit 3"), "Bash", None, "1 failed"),
        )

    def saving(self, path: str, text: str) -> Sequence[Act]:
        call = Call("mcp__neosian_memory/memory_create", {"path": path, "file_text": text})
        # A run does not wait for a server that is starting.
        return Act(_shell("sleep 3"), "Bash", None), Act(call, "mcp__neosian_memory__memory_create", True)

    def prepare(self, url: str) -> None:
        text = CONFIG.replace("@URL@", url).replace("@PROJECT@", str(self.box.project))
        self.config.write_text(text, encoding="utf-8")
        self.mcp("install")

    def mcp(self, act: str) -> None:
        """Run the command that our installer prints: the client edits this file itself."""
        said = self.box.neosian_json("mcp", act, "--client", "codex")
        done = self.box.run(*shlex.split(said["try"]))
        if done.returncode:
            raise BrokenOffError(told(done))

    def session(self, *prompts: str) -> str:
        said = []
        for number, prompt in enumerate(prompts):
            again = ("resume", "--last") if number else ()
            done = self.box.run("codex", "exec", *again, *FLAGS, prompt, FAKE_MODEL_KEY="dummy")
            said.append(told(done))
            if done.returncode or TROUBLE.search(done.stderr):
                return "\n".join(said)
        return ""


def _shell(command: str) -> Call:
    return Call("exec_command", {"cmd": command})


def _patch(text: str) -> Call:
    return Call("apply_patch", {"apply_patch": f"*** Begin Patch\n{text}*** End Patch\n"})


def walk(client: Path, version: str, box: Sandbox, report: Report) -> None:
    codex = Codex(client, box)
    report.need(f"the client is {version}", codex.version == version, codex.version)
    Story(codex, box, report, {box.project / ".codex" / "hooks.json": HOOKS}).play()
    codex.mcp("uninstall")
    left = codex.config.read_text(encoding="utf-8")
    report.check("the client has taken our server out", SERVER not in left, left)
