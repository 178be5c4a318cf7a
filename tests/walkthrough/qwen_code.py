"""Qwen Code, for real.

Seen with 0.24.4: a process with ``-p`` is asked one prompt, ``-c`` goes on with the last session; it has MCP tools at
hand only once it has looked for them; no session's end is told.
"""

from __future__ import annotations

import json
from pathlib import Path

from tests.walkthrough import headless
from tests.walkthrough.fake_chat import ChatModel
from tests.walkthrough.fake_model import Call
from tests.walkthrough.harness import Report, Sandbox

VERSION = "0.24.4"
PACKAGE = "@qwen-code/qwen-code"
SHELL = "run_shell_command"
SAVE = f"mcp__{headless.SERVER}__memory_create"


def obtain(version: str, cache: Path) -> Path:
    return headless.with_node(PACKAGE, version, cache, "qwen")


def walked(project: Path) -> headless.Walked:
    cart = str(project / "cart.py")  # the client takes absolute paths only
    return headless.Walked(
        name="qwen-code",
        title="Qwen Code",
        version_words=("qwen", "--version"),
        prompt=("qwen", "--auth-type", "openai", "--yolo"),
        again=("-c",),
        settings=".qwen/settings.json",
        calls=(
            Call(SHELL, {"command": "echo hello; ls", "description": "look", "is_background": False}),
            Call("write_file", {"file_path": cart, "content": headless.SOURCE}),
            Call("read_file", {"file_path": cart}),
            Call("edit", {"file_path": cart, **headless.EDITED}),
            Call(
                SHELL,
                {"command": "echo '1 failed' >&2; exit 3", "description": "test", "is_background": False},
            ),
        ),
        saves=(
            Call("tool_search", {"query": "memory_create"}),
            Call(SAVE, {"path": headless.SAVED, "file_text": headless.SAVED_TEXT}),
        ),
        fixed=headless.FIXED,
        model=ChatModel,
        environment={
            "OPENAI_API_KEY": headless.API_KEY,
            "OPENAI_MODEL": "scripted",
            "QWEN_CODE_SUPPRESS_YOLO_WARNING": "1",
        },
        url="OPENAI_BASE_URL",
        below="/v1",
    )


def walk(client: Path, version: str, box: Sandbox, report: Report) -> None:
    folder = box.home / ".qwen"
    folder.mkdir()
    user = {
        "security": {"auth": {"selectedType": "openai"}},
        "privacy": {"usageStatisticsEnabled": False},
        "general": {"enableAutoUpdate": False},
    }
    (folder / "settings.json").write_text(json.dumps(user), encoding="utf-8")
    headless.walk(client, version, box, report, walked(box.project))
