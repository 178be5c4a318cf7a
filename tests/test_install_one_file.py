"""Gemini CLI and Qwen Code: hooks and servers in one settings file, put in and taken out by the real verbs."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from neosian.cli import main
from neosian.clients import adapter
from tests.factories import git

CLIENTS = {"gemini-cli": ".gemini", "qwen-code": ".qwen"}
MOVED = {"gemini-cli": ("GEMINI_CLI_HOME", ".gemini"), "qwen-code": ("QWEN_HOME", "")}
THEIRS = """{
\t"theme" : "dark",
\t"hooks": { "SessionStart": [{"matcher": "startup", "hooks": [{"type": "command", "command": "true"}]}] },
\t"mcpServers": {"other": {"command": "true"}}
}
"""


class Done(NamedTuple):
    code: int
    out: str
    err: str


Run = Callable[..., Done]


@pytest.fixture
def project(tmp_path: Path, private_home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A git work tree, in the home of somebody who has started both clients once."""
    for folder in CLIENTS.values():
        (private_home / folder).mkdir()
    found = tmp_path / "shop"
    found.mkdir()
    git(found, "init", "-q", "-b", "main")
    monkeypatch.chdir(found)
    return found


@pytest.fixture
def run(project: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    """`neosian` in the project."""

    def call(*words: str) -> Done:
        capsys.readouterr()
        code = main(words)
        said = capsys.readouterr()
        return Done(code, said.out, said.err)

    return call


def held(file: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(file.read_text("utf-8"))
    return found


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("level", ["--user", ""])
@pytest.mark.parametrize("before", [None, THEIRS, THEIRS.replace("\n", "\r\n")])
@pytest.mark.parametrize("first", ["record", "mcp"])
def test_both_go_into_one_file_and_out_of_it_again(
    client: str, level: str, before: str | None, first: str, run: Run, project: Path, private_home: Path
) -> None:
    file = (private_home if level else project) / CLIENTS[client] / "settings.json"
    if before is not None:
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(before.encode())
    verbs = ("record", "mcp") if first == "record" else ("mcp", "record")
    words = ["--client", client, "--write", *filter(None, [level])]
    for verb in verbs:
        assert run(verb, "install", *words).code == 0
    both = held(file)
    assert set(both["hooks"]) == set(adapter(client).EVENTS)
    assert both["mcpServers"]["neosian-memory"]["args"] == ["mcp"]
    for verb in verbs:
        assert run(verb, "uninstall", *words).code == 0
    assert (file.read_bytes() if file.exists() else None) == (before.encode() if before is not None else None)
    assert not list(project.glob("**/*neosian*"))


@pytest.mark.parametrize("client", CLIENTS)
def test_timeouts_are_in_the_clients_own_unit(client: str, run: Run, project: Path) -> None:
    run("record", "install", "--client", client, "--write")
    hooks = held(project / CLIENTS[client] / "settings.json")["hooks"]
    [[entry]] = [group["hooks"] for group in hooks["SessionStart"]]
    assert entry["timeout"] == {"gemini-cli": 20_000, "qwen-code": 20}[client]
    assert entry["command"].endswith(f'exec "$h" {client} start')


@pytest.mark.parametrize("client", CLIENTS)
def test_the_clients_moved_home_is_honoured(
    client: str, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name, below = MOVED[client]
    folder = tmp_path / "moved" / below
    folder.mkdir(parents=True)
    monkeypatch.setenv(name, str(tmp_path / "moved"))
    for verb in ("record", "mcp"):
        assert run(verb, "install", "--client", client, "--user", "--write").code == 0
    assert {"hooks", "mcpServers"} <= held(folder / "settings.json").keys()


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("text", ['{\n  // mine\n  "a": 1\n}\n', '{"a": 1,}\n'])
def test_a_server_in_a_file_with_comments_is_left_to_a_person(
    client: str, text: str, run: Run, project: Path
) -> None:
    file = project / CLIENTS[client] / "settings.json"
    file.parent.mkdir()
    file.write_text(text, encoding="utf-8")
    assert run("mcp", "install", "--client", client, "--write").code == 1
    assert file.read_text("utf-8") == text


@pytest.mark.parametrize(
    ("client", "text", "key"),
    [
        ("gemini-cli", '{"hooksConfig": {"enabled": false}}', "hooksConfig.enabled"),
        ("qwen-code", '{"disableAllHooks": true}', "disableAllHooks"),
    ],
)
def test_hooks_that_are_switched_off_are_told(
    client: str, text: str, key: str, run: Run, project: Path
) -> None:
    file = project / CLIENTS[client] / "settings.json"
    file.parent.mkdir()
    file.write_text(text, encoding="utf-8")
    done = run("record", "install", "--client", client, "--write")
    assert (done.code, f"{key}: it is" in done.err) == (0, True)
