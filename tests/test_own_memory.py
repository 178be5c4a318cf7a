"""Whether a client keeps a memory of its own, from real settings files of it: read, never raised over, never changed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from neosian.clients import INSTALLERS
from neosian.clients.installers import installer
from tests.factories import bytes_below

# Of each client with a switch: its file in a home and in a project, what it says of a file that has no switch, and
# texts of the file with what it says then.
ON = "auto memory is on"
TOOL = "github.copilot.chat.tools.memory.enabled"
SWITCHES = {
    "claude-code": (".claude/settings.json", ".claude/settings.json", ON, {
        '{"autoMemoryEnabled": false}': "",
        '\ufeff{"autoMemoryEnabled": false}': "",
        '{"autoMemoryEnabled": "false"}': ON,
        '{"autoMemoryEnabled": false} // the client ignores a file with a comment': ON,
        '{"env": {"CLAUDE_CODE_DISABLE_AUTO_MEMORY": "1"}}': "",
        '{"env": {"CLAUDE_CODE_DISABLE_AUTO_MEMORY": "0"}, "autoMemoryEnabled": false}': ON,
    }),
    "codex": (".codex/config.toml", ".codex/config.toml", "", {
        "[features]\nmemories = true # on": "memories are on",
        "\ufefffeatures.memory_tool = true\n": "memories are on",
        "[features]\nmemories = false\nmemory_tool = true\n": "",
        "[features]\nmemories = true\n[memories]\nuse_memories = false\n": "memories are on",
        "[features]\nmemories = true\n[memories]\nuse_memories = false\ngenerate_memories = false\n": "",
        "[memories]\nuse_memories = true\n": "",
        "features = 3": "",
    }),
    "gemini-cli": (".gemini/settings.json", ".gemini/settings.json", "GEMINI.md", {
        '{"experimental": {"autoMemory": true,}} // new': "GEMINI.md, auto memory is on",
        '{"experimental": {"autoMemory": false}}': "GEMINI.md",
    }),
    "qwen-code": (".qwen/settings.json", ".qwen/settings.json", ON, {
        '{/* none */ "memory": {"enableManagedAutoMemory": false}}': "",
        '{"memory": {"enableManagedAutoMemory": 0}}': ON,
    }),
    "vscode": (".config/Code/User/settings.json", ".vscode/settings.json", "memory tool is on", {
        f'{{"{TOOL}": false, // older versions': "memory tool is on",
        f'{{"{TOOL}": false}} // older versions': "memory tool, unknown whether on",
    }),
    "goose": (".config/goose/config.yaml", None, "", {
        "extensions:\n  memory:\n    enabled: true # kept\n": "memory extension is on",
        "extensions:\n  memory:\n    enabled: false\n": "",
        "extensions: [memory]\n": "",
    }),
}  # fmt: skip
CASES = [
    (client, text, says) for client, (_, _, _, texts) in SWITCHES.items() for text, says in texts.items()
]
NONE = ("opencode", "pi", "kimi-code", "cursor", "zed", "cline", "crush")
UNSEEN = ("copilot-cli", "windsurf", "claude-desktop")
NONSENSE = {
    "empty": b"", "no text": b"\xff\xfe\x00{", "a list": b"[1]", "a word": b"true", "cut off": b'{"memory": {',
    "deep": b"[" * 100_000, "null": b"null", "deep keys": b"a." * 5_000 + b"b = 1",
}  # fmt: skip


def said(client: str, project: Path | None = None, **environ: str) -> str:
    return installer(client).own_memory({**os.environ, **environ}, str(project) if project else None)


def put(file: Path, data: bytes) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(data)


def test_every_client_is_looked_at_here() -> None:
    assert {*SWITCHES, *NONE, *UNSEEN} == set(INSTALLERS)


@pytest.mark.parametrize(("client", "text", "says"), CASES)
def test_the_switch_in_the_users_settings_is_read(
    client: str, text: str, says: str, private_home: Path
) -> None:
    file, _, otherwise, _ = SWITCHES[client]
    assert said(client) == otherwise
    put(private_home / file, text.encode())
    before = bytes_below(private_home)
    assert said(client) == says
    assert bytes_below(private_home) == before


@pytest.mark.parametrize(("client", "text", "says"), [case for case in CASES if SWITCHES[case[0]][1]])
def test_a_projects_settings_count_in_the_project_alone(
    client: str, text: str, says: str, private_home: Path, tmp_path: Path
) -> None:
    _, file, otherwise, _ = SWITCHES[client]
    put(tmp_path / str(file), text.encode())
    assert (said(client), said(client, tmp_path)) == (otherwise, says)


@pytest.mark.parametrize("client", SWITCHES)
@pytest.mark.parametrize("data", NONSENSE.values(), ids=NONSENSE)
def test_a_file_that_cannot_be_read_says_nothing(client: str, data: bytes, private_home: Path) -> None:
    file, _, otherwise, _ = SWITCHES[client]
    put(private_home / file, data)
    assert said(client) == otherwise


@pytest.mark.parametrize("client", SWITCHES)
def test_what_is_no_file_is_not_waited_for(client: str, private_home: Path) -> None:
    file, _, otherwise, _ = SWITCHES[client]
    (private_home / file).parent.mkdir(parents=True)
    os.mkfifo(private_home / file)
    assert said(client) == otherwise
    (private_home / file).unlink()
    (private_home / file).mkdir()
    assert said(client) == otherwise


@pytest.mark.parametrize("client", NONE)
def test_a_client_that_keeps_none_says_nothing(client: str, private_home: Path, tmp_path: Path) -> None:
    assert said(client, tmp_path) == ""


@pytest.mark.parametrize("client", UNSEEN)
def test_a_switch_that_stands_elsewhere_is_not_guessed(
    client: str, private_home: Path, tmp_path: Path
) -> None:
    assert said(client, tmp_path).endswith(", unknown whether on")


@pytest.mark.parametrize(
    ("client", "variable", "file"),
    [
        ("claude-code", "CLAUDE_CONFIG_DIR", "settings.json"),
        ("codex", "CODEX_HOME", "config.toml"),
        ("gemini-cli", "GEMINI_CLI_HOME", ".gemini/settings.json"),
        ("qwen-code", "QWEN_HOME", "settings.json"),
        ("vscode", "XDG_CONFIG_HOME", "Code/User/settings.json"),
        ("goose", "XDG_CONFIG_HOME", "goose/config.yaml"),
    ],
)
def test_where_a_client_is_told_to_live_is_where_it_is_read(
    client: str, variable: str, file: str, private_home: Path, tmp_path: Path
) -> None:
    _, _, otherwise, texts = SWITCHES[client]
    text, says = next((text, says) for text, says in texts.items() if says != otherwise)
    put(tmp_path / file, text.encode())
    assert (said(client), said(client, None, **{variable: str(tmp_path)})) == (otherwise, says)


@pytest.mark.parametrize(
    ("word", "says"), [("1", ""), (" True", ""), ("on", ""), ("0", ON), ("no", ON), ("", ""), ("2", "")]
)
def test_claude_codes_variable_wins_over_its_settings(word: str, says: str, private_home: Path) -> None:
    put(private_home / ".claude" / "settings.json", b'{"autoMemoryEnabled": false}')
    assert said("claude-code", CLAUDE_CODE_DISABLE_AUTO_MEMORY=word) == says


def test_claude_codes_nearest_file_wins(private_home: Path, tmp_path: Path) -> None:
    put(private_home / ".claude" / "settings.json", b'{"autoMemoryEnabled": false}')
    put(tmp_path / ".claude" / "settings.json", b'{"autoMemoryEnabled": true}')
    assert (said("claude-code"), said("claude-code", tmp_path)) == ("", ON)
    put(tmp_path / ".claude" / "settings.local.json", b'{"autoMemoryEnabled": false}')
    assert said("claude-code", tmp_path) == ""
