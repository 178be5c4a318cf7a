"""Kimi Code, for real: two sessions with our hooks, and what they must leave.

Seen with 2.1.0: ``-p`` is one prompt a process, ``-c`` the next one of the same session. Its hooks are in the user's
``config.toml``, which also names the model. The hook of a result is killed where the turn ends before it has run.
"""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from pathlib import Path

from tests.walkthrough.fake_chat import ChatModel
from tests.walkthrough.fake_model import Call, FakeModel, Json, Script, Step
from tests.walkthrough.harness import Report, Row, Sandbox, node, npm_command, told
from tests.walkthrough.story import SERVER, Act, Story

VERSION = "2.1.0"
PACKAGE = "@moonshot-ai/kimi-code"
ROW = Row(
    start="told with the first prompt",
    prompt="told",
    results="2,000 characters and `ok`; may be missing at a turn's end",
    failures="text and `ok`; may be missing at a turn's end",
    answer="not told",
    mcp="yes",
)
TROUBLE = re.compile(r"hook.*(fail|error)|(fail|error).*hook", re.IGNORECASE)
THINKING = 1.5  # seconds; a model takes longer

NOWHERE = "http://127.0.0.1:9"
# What stands in the user's settings before us, unusual spacing included, and must stand there after us.
CONFIG = f"""# my settings
default_model   = "fake"
telemetry = false

[providers.fake]
type = "openai"
base_url = "{NOWHERE}/v1"   # a local one
api_key = "dummy"

[models.fake]
provider = "fake"
model = "scripted"
max_context_size = 128000

[[hooks]]
event = "Stop"
command = "true"
"""


class Thinking(Script):
    """What a model says that thinks before each reply."""

    def pick(self, body: Json) -> Step:
        time.sleep(THINKING)
        return super().pick(body)


def obtain(version: str, cache: Path) -> Path:
    return npm_command(PACKAGE, version, cache, "kimi")


class Kimi:
    """The client, headless, in a sandbox."""

    NAME = "kimi-code"

    def __init__(self, command: Path, box: Sandbox) -> None:
        self.box = box
        self.config = box.home / ".kimi-code" / "config.toml"
        self.url = NOWHERE
        (box.bin / "node").symlink_to(node(command))
        (box.bin / "kimi").symlink_to(command)
        self.version = box.run("kimi", "--version").stdout.strip()

    def model(self, script: Script) -> FakeModel:
        return ChatModel(Thinking(script.replies))

    def acts(self, project: Path) -> Sequence[Act]:
        cart, gone = str(project / "cart.py"), str(project / "gone.py")
        old, new = "int(sum(prices))", "round(sum(prices), 2)"
        source = f"def total(prices):\n    return {old}\n"
        edit = {"path": cart, "old_string": old, "new_string": new}
        return (
            Act(_shell("echo hello; ls"), "Bash", True, "hello"),
            Act(Call("Write", {"path": cart, "content": source}), "Write", True),
            Act(Call("Read", {"path": cart}), "Read", True, old),
            Act(Call("Edit", edit), "Edit", True),
            Act(Call("Read", {"path": gone}), "Read", False),
            Act(_shell("echo '1 failed' >&2; exit 3"), "Bash", False, "1 failed"),
        )

    def saving(self, path: str, text: str) -> Sequence[Act]:
        tool = f"mcp__{SERVER}__memory_create"
        # A run does not wait for a server that is starting.
        return (
            Act(_shell("sleep 5"), "Bash", True),
            Act(Call(tool, {"path": path, "file_text": text}), tool, True),
        )

    def prepare(self, url: str) -> None:
        text = self.config.read_text(encoding="utf-8")
        self.config.write_text(text.replace(self.url, url), encoding="utf-8")
        self.url = url

    def session(self, *prompts: str) -> str:
        said = []
        for number, prompt in enumerate(prompts):
            done = self.box.run("kimi", *(("-c",) if number else ()), "-p", prompt)
            said.append(told(done))
            if done.returncode or TROUBLE.search(done.stderr):
                return "\n".join(said)
        return ""


def _shell(command: str) -> Call:
    return Call("Bash", {"command": command, "description": "try"})


def walk(client: Path, version: str, box: Sandbox, report: Report) -> None:
    kimi = Kimi(client, box)
    report.need(f"the client is {version}", kimi.version == version, kimi.version)
    servers = (
        box.home / ".kimi-code" / "mcp.json"
    )  # a project's file counts where a person has trusted its folder
    story = Story(kimi, box, report, {kimi.config: CONFIG, servers: None}, answers=False)
    story.install("--user")
    box.listen()
    story.first()
    story.second()
    story.traces()
    kimi.prepare(NOWHERE)
    story.uninstall("--user")
