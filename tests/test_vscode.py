"""VS Code's agent, which runs the hook files of others, with payloads as its documentation has them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from neosian import cli, clients
from neosian.events import Spooled
from tests.expected import DATA
from tests.hooking import Hooks
from tests.recorded import BEGAN, landed

TALK = DATA / "vscode" / "turns" / "documented.jsonl"


def test_what_comes_through_two_clients_lines_is_recorded_once() -> None:
    payloads = [json.loads(text) for text in TALK.read_text("utf-8").splitlines()]
    both = [
        clients.read(payload, Spooled(name=f"{second}-{line}", client=line, at=BEGAN + second + late))
        for second, payload in enumerate(payloads)
        for late, line in ((0.0, "claude-code"), (0.02, "codex"))
    ]
    assert {event.client for event in both} == {"vscode"}
    assert landed(both).lines == landed(both[::2]).lines


def test_claude_codes_line_tells_it_in_its_own_way(tmp_path: Path) -> None:
    hooks = Hooks(tmp_path)
    start = json.loads(TALK.read_text("utf-8").splitlines()[0]) | {"cwd": str(hooks.project)}
    answer = json.loads(hooks.fire(start, argv=["claude-code", "start"]).out)["hookSpecificOutput"]
    assert answer["hookEventName"] == "SessionStart"
    assert "neosian" in answer["additionalContext"]


def test_it_has_no_hooks_to_install(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        cli.main(["record", "install", "--client", "vscode"])
    assert left.value.code == 2
