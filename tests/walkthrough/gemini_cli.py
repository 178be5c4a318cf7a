"""Gemini CLI, for real.

Seen with 0.61.0: a process with ``-p`` is asked one prompt, ``--resume latest`` goes on with the last session; its
answer at a turn's end is all that it said in that turn.
"""

from __future__ import annotations

import json
from pathlib import Path

from tests.walkthrough import headless
from tests.walkthrough.fake_gemini import GeminiModel
from tests.walkthrough.fake_model import Call
from tests.walkthrough.harness import Report, Sandbox

VERSION = "0.61.0"
PACKAGE = "@google/gemini-cli"
SHELL = "run_shell_command"

WALKED = headless.Walked(
    name="gemini-cli",
    title="Gemini CLI",
    version_words=("gemini", "--version"),
    prompt=("gemini", "-m", "gemini-2.5-flash", "--yolo"),
    again=("--resume", "latest"),
    settings=".gemini/settings.json",
    calls=(
        Call(SHELL, {"command": "echo hello; ls", "description": "look"}),
        Call("write_file", {"file_path": "cart.py", "content": headless.SOURCE}),
        Call("read_file", {"file_path": "cart.py"}),
        Call("replace", {"file_path": "cart.py", "instruction": "round", **headless.EDITED}),
        Call(SHELL, {"command": "echo '1 failed' >&2; exit 3", "description": "test"}),
    ),
    saves=(
        Call(
            f"mcp_{headless.SERVER}_memory_create", {"path": headless.SAVED, "file_text": headless.SAVED_TEXT}
        ),
    ),
    fixed=f"{headless.LOOK}\n{headless.FIXED}",
    model=GeminiModel,
    environment={"GEMINI_API_KEY": headless.API_KEY, "GEMINI_CLI_TRUST_WORKSPACE": "true"},
    url="GOOGLE_GEMINI_BASE_URL",
)


def obtain(version: str, cache: Path) -> Path:
    return headless.with_node(PACKAGE, version, cache, "gemini")


def walk(client: Path, version: str, box: Sandbox, report: Report) -> None:
    folder = box.home / ".gemini"
    folder.mkdir()
    user = {
        "security": {"auth": {"selectedType": "gemini-api-key"}},
        "privacy": {"usageStatisticsEnabled": False},
        "general": {"enableAutoUpdate": False},
    }
    (folder / "settings.json").write_text(json.dumps(user), encoding="utf-8")
    headless.walk(client, version, box, report, WALKED)
