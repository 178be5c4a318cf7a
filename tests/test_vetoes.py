"""What a person has switched off in a client's own settings: told by setup, status and doctor, and left alone."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from neosian import cli, doctor, health, install, mcp_install, merging, vetoes
from neosian.launcher import install_launcher
from tests.factories import Home

OFF = [
    ("claude-code", "hooks", "~/.claude/settings.json", {"disableAllHooks": True}),
    ("claude-code", "hooks", ".claude/settings.local.json", {"disableAllHooks": True}),
    (
        "claude-code",
        "project server",
        ".claude/settings.local.json",
        {"disabledMcpjsonServers": ["neosian-memory"]},
    ),
    (
        "claude-code",
        "server",
        "~/.claude.json",
        {"projects": {"<here>": {"disabledMcpServers": ["neosian-memory"]}}},
    ),
    ("gemini-cli", "hooks", "~/.gemini/settings.json", {"hooksConfig": {"enabled": False}}),
    ("gemini-cli", "hooks", "~/.gemini/settings.json", {"hooksConfig": {"disabled": ["other", "neosian"]}}),
    ("gemini-cli", "hooks", ".gemini/settings.json", {"hooksConfig": {"disabled": ["neosian"]}}),
    ("gemini-cli", "server", "~/.gemini/settings.json", {"mcp": {"excluded": ["neosian-memory"]}}),
    ("gemini-cli", "server", "~/.gemini/settings.json", {"mcp": {"allowed": ["other"]}}),
    ("gemini-cli", "server", "~/.gemini/mcp-server-enablement.json", {"neosian-memory": {"enabled": False}}),
    ("qwen-code", "hooks", "~/.qwen/settings.json", {"disableAllHooks": True}),
    ("qwen-code", "server", "~/.qwen/settings.json", {"mcp": {"excluded": ["neosian-memory"]}}),
]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    """A home with a launcher, in whose project the test works, and the folders of three clients."""
    found = Home(tmp_path)
    install_launcher(found.path)
    monkeypatch.setenv("NEOSIAN_HOME", str(found.path))
    monkeypatch.chdir(found.project)
    for name in (".claude", ".gemini", ".qwen"):
        Path(os.path.expanduser(f"~/{name}")).mkdir()
    return found


def write(home: Home, name: str, value: dict[str, Any]) -> Path:
    """Put settings into a file of the user's (``~/…``) or of the project, beside what is there."""
    file = Path(os.path.expanduser(name)) if name.startswith("~") else home.project / name
    there = json.loads(file.read_text()) if file.exists() else {}
    file.parent.mkdir(exist_ok=True)
    file.write_text(json.dumps({**there, **value}).replace("<here>", str(home.project)))
    return file


def wire(home: Home, client: str, kind: str) -> merging.Plan:
    """Install hooks or server; the plan that was carried out."""
    level: dict[str, Any] = {"folder": str(home.project)} if "project" in kind else {"user": True}
    plan = (
        install.plan_install(install.Wish(client, **level), os.environ, str(home.project))
        if kind == "hooks"
        else mcp_install.plan_install(mcp_install.Wish(client, **level), os.environ, str(home.project))
    )
    merging.carry_out(plan)
    return plan


def problems(home: Home) -> list[str]:
    return [
        each["what"]
        for each in health.report(str(home.path), str(home.project))["problems"]
        if "on the PATH" not in each["what"]
    ]


@pytest.mark.parametrize(("client", "kind", "file", "value"), OFF)
def test_what_is_switched_off_is_told_by_install_status_and_doctor_and_left(
    client: str, kind: str, file: str, value: dict[str, Any], home: Home
) -> None:
    wire(home, client, kind)
    assert problems(home) == []
    written = write(home, file, value)
    before = written.read_bytes()
    (said,) = problems(home)
    assert said.startswith(f"{written}: ")
    assert said in wire(home, client, kind).warnings
    (found,) = [
        each for each in doctor.examine(str(home.path), str(home.project), os.environ) if each.what == said
    ]
    assert (found.mend, str(written) in found.hint) == (None, True)
    assert written.read_bytes() == before


@pytest.mark.parametrize(
    ("file", "value"),
    [
        ("~/.claude/settings.json", {"disableAllHooks": False}),
        ("~/.claude/settings.json", {"disabledMcpjsonServers": ["neosian-memory"]}),
        ("~/.claude.json", {"projects": {"/elsewhere": {"disabledMcpServers": ["neosian-memory"]}}}),
    ],
)
def test_a_switch_that_is_on_or_of_something_else_is_none(
    file: str, value: dict[str, Any], home: Home
) -> None:
    wire(home, "claude-code", "hooks")
    wire(home, "claude-code", "server")
    write(home, file, value)
    assert problems(home) == []


def test_the_nearer_file_has_the_last_word(home: Home) -> None:
    wire(home, "claude-code", "hooks")
    write(home, "~/.claude/settings.json", {"disableAllHooks": True})
    write(home, ".claude/settings.json", {"disableAllHooks": False})
    assert problems(home) == []


@pytest.mark.parametrize(
    "text", ["", "[]", "{", '{"hooksConfig": 5, "mcp": [1]}', '// a\n{"mcp": {},}', "\0"]
)
def test_settings_of_any_kind_are_no_switch(text: str, home: Home) -> None:
    Path(os.path.expanduser("~/.gemini/settings.json")).write_text(text)
    for kind in ("hooks", "server"):
        assert vetoes.vetoes("gemini-cli", kind, os.environ, str(home.project), is_project=False) == []


def test_a_server_that_a_person_switched_off_is_told_and_not_mended(home: Home) -> None:
    folder = Path(os.path.expanduser("~/.config/opencode"))
    folder.mkdir(parents=True)
    wire(home, "opencode", "server")
    file = folder / "opencode.json"
    value = json.loads(file.read_text())
    value["mcp"]["neosian-memory"]["enabled"] = False
    file.write_text(json.dumps(value))
    assert problems(home) == [
        f"{file}: mcp.neosian-memory.enabled: it is false, so OpenCode does not start it"
    ]
    (found,) = doctor.examine(str(home.path), str(home.project), os.environ)
    assert found.mend is None


def test_codex_with_its_hooks_switched_off_is_told(home: Home) -> None:
    folder = Path(os.path.expanduser("~/.codex"))
    folder.mkdir()
    wire(home, "codex", "hooks")
    (folder / "config.toml").write_text("[features]\nhooks = false\n")
    assert problems(home) == [
        f"{folder}/config.toml: features.hooks: it is false, so Codex runs no hook, ours neither"
    ]


def test_setup_says_what_is_switched_off_and_status_ends_with_1(
    home: Home, capsys: pytest.CaptureFixture[str]
) -> None:
    write(home, "~/.gemini/settings.json", {"hooksConfig": {"disabled": ["neosian"]}})
    assert cli.main(["setup", "--client", "gemini-cli", "--write"]) == 0
    assert "hooksConfig.disabled: it names our hooks, so Gemini CLI runs none" in capsys.readouterr().err
    assert cli.main(["status"]) == 1
    assert "hooksConfig.disabled" in capsys.readouterr().out
