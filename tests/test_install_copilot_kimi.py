"""Copilot CLI's file of hooks and Kimi Code's tables: put in and taken out by the real verbs."""

from __future__ import annotations

import json
import os
import subprocess
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from neosian.cli import main
from neosian.clients import adapter, hook_files
from neosian.launcher import hook_line
from tests.factories import git


class Done(NamedTuple):
    code: int
    out: str
    err: str


Run = Callable[..., Done]
COPILOT, KIMI = ("--client", "copilot-cli"), ("--client", "kimi-code")
CONFIG = """# mine
default_model   = "x"    # the good one

[[hooks]]
event = "Stop"
command = 'say "done"'

[models."a.b"]
n = 1
"""


@pytest.fixture
def project(tmp_path: Path, private_home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A git work tree, in the home of somebody who has started both clients once."""
    (private_home / ".copilot").mkdir()
    (private_home / ".kimi-code").mkdir()
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


def tree(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if ".git" not in path.parts)


# Copilot CLI: a file of our own -------------------------------------------------------------------


@pytest.mark.parametrize("level", ["--user", "--project"])
def test_copilots_hooks_are_a_file_of_ours_and_gone_without_a_trace(
    level: str, run: Run, project: Path, private_home: Path
) -> None:
    words = (*COPILOT, "--write", *(["--user"] if level == "--user" else []))
    file = (
        (private_home / ".copilot" if level == "--user" else project / ".github") / "hooks" / "neosian.json"
    )
    before = tree(project), tree(private_home / ".copilot")
    assert run("record", "install", *words).code == 0
    said = json.loads(file.read_text("utf-8"))
    assert (said["version"], set(said["hooks"])) == (1, set(adapter("copilot-cli").EVENTS))
    for event, [hook] in said["hooks"].items():
        verb = adapter("copilot-cli").VERB[event]
        assert hook["bash"].endswith(f"copilot-cli {verb}" + (" --project" if level == "--project" else ""))
    written = file.read_bytes()
    assert "nothing was changed" in run("record", "install", *words).err
    assert file.read_bytes() == written
    assert run("record", "uninstall", *words).code == 0
    assert (tree(project), tree(private_home / ".copilot")) == before


def test_an_older_file_of_ours_is_written_anew(run: Run, project: Path) -> None:
    file = project / ".github" / "hooks" / "neosian.json"
    run("record", "install", *COPILOT, "--write")
    new = file.read_bytes()
    file.write_bytes(new.replace(b'"SubagentStop"', b'"SubagentStart"'))
    assert run("record", "install", *COPILOT, "--write").code == 0
    assert file.read_bytes() == new


def test_the_events_of_the_file_are_counted(run: Run) -> None:
    assert (
        f": {len(adapter('copilot-cli').EVENTS)} events of GitHub Copilot CLI"
        in run("record", "install", *COPILOT, "--write").err
    )


@pytest.mark.parametrize(
    "broken", [lambda raw: raw[:-3], lambda raw: b"[" + raw + b"]", lambda raw: b"7 " + raw]
)
def test_a_file_of_ours_that_was_broken_is_mended_or_taken_away(
    broken: Callable[[bytes], bytes], run: Run, project: Path
) -> None:
    file = project / ".github" / "hooks" / "neosian.json"
    run("record", "install", *COPILOT, "--write")
    whole = file.read_bytes()
    file.write_bytes(broken(whole))
    assert run("record", "install", *COPILOT, "--write").code == 0
    assert file.read_bytes() == whole
    file.write_bytes(broken(whole))
    assert run("record", "uninstall", *COPILOT, "--write").code == 0
    assert tree(project) == []


@pytest.mark.parametrize("text", ['{"version": 1, "hooks": {}}', "not json", "\xff"])
def test_somebody_elses_file_of_that_name_is_left_alone(text: str, run: Run, project: Path) -> None:
    file = project / ".github" / "hooks" / "neosian.json"
    file.parent.mkdir(parents=True)
    file.write_bytes(text.encode("latin-1"))
    for verb in ("install", "uninstall"):
        run("record", verb, *COPILOT, "--write")
        assert file.read_bytes() == text.encode("latin-1")
    done = run("record", "install", *COPILOT, "--write")
    assert (done.code, "was left as it is" in done.err) == (1, True)
    assert "Traceback" not in done.err


def test_other_files_of_hooks_are_not_touched(run: Run, project: Path) -> None:
    other = project / ".github" / "hooks" / "mine.json"
    other.parent.mkdir(parents=True)
    other.write_text('{"version": 1}')
    run("record", "install", *COPILOT, "--write")
    run("record", "uninstall", *COPILOT, "--write")
    assert tree(project) == [".github", ".github/hooks", ".github/hooks/mine.json"]


def test_a_person_is_told_of_trust(run: Run) -> None:
    assert "trusted folder" in run("record", "install", *COPILOT).err


def test_claude_code_and_copilot_share_a_projects_file_of_servers(run: Run, project: Path) -> None:
    assert run("mcp", "install", "--client", "claude-code", "--write").code == 0
    written = (project / ".mcp.json").read_bytes()
    assert run("mcp", "install", *COPILOT, "--write").code == 0
    assert (project / ".mcp.json").read_bytes() == written


# Kimi Code: tables of the user's file --------------------------------------------------------------


@pytest.fixture
def config(private_home: Path, project: Path) -> Path:
    return private_home / ".kimi-code" / "config.toml"


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("text", [CONFIG, CONFIG.rstrip("\n"), "", None])
def test_kimis_tables_come_and_go_and_the_rest_keeps_its_bytes(
    text: str | None, end: str, run: Run, config: Path
) -> None:
    before = None if text is None else text.replace("\n", end).encode()
    if before is not None:
        config.write_bytes(before)
    assert run("record", "install", *KIMI, "--write").code == 0
    written = config.read_bytes()
    assert written.startswith((before or b"").rstrip(b"\r\n"))
    tables: list[dict[str, Any]] = tomllib.loads(written.decode())["hooks"]
    ours = [table for table in tables if "neosian-hook" in table["command"]]
    assert [table["event"] for table in ours] == list(adapter("kimi-code").EVENTS)
    assert all(set(table) == {"event", "command", "timeout"} for table in ours)
    assert "nothing was changed" in run("record", "install", *KIMI, "--write").err
    assert config.read_bytes() == written
    assert run("record", "uninstall", *KIMI, "--write").code == 0
    assert (config.read_bytes() if config.exists() else None) == before


def test_what_a_person_writes_around_our_tables_stays(run: Run, config: Path) -> None:
    config.write_text(CONFIG)
    run("record", "install", *KIMI, "--write")
    config.write_text("# before\n" + config.read_text() + "\n[late]\nx = 1  # after\n")
    assert run("record", "install", *KIMI, "--write").code == 0
    assert run("record", "uninstall", *KIMI, "--write").code == 0
    left = config.read_text()
    assert left.startswith("# before\n" + CONFIG)
    assert left.endswith("[late]\nx = 1  # after\n")
    assert "neosian" not in left


BEGIN, END = (mark + "\n" for mark in (hook_files._FIRST, hook_files._LAST))
MINE = '[[hooks]]\nevent = "Stop"\ncommand = "mine"\n'


@pytest.mark.parametrize(
    ("change", "left"),
    [
        (lambda text: text.replace(BEGIN, ""), ""),
        (lambda text: text.replace(END, ""), ""),
        (lambda text: text.replace(END, "").replace(BEGIN, ""), ""),
        (lambda text: text + text[text.index(BEGIN) :], ""),
        (lambda text: text.replace(END, MINE + END), MINE),
        (lambda text: text.replace(BEGIN, BEGIN + MINE), MINE),
        (lambda text: text.replace(END, "# precious\n" + END), "# precious\n"),
        (lambda text: text + "\n[late]\nx = nan\n", "\n[late]\nx = nan\n"),
    ],
)
@pytest.mark.parametrize("is_again", [False, True])
def test_kimis_tables_are_found_by_their_line_and_others_between_them_stay(
    change: Callable[[str], str], left: str, is_again: bool, run: Run, config: Path
) -> None:
    config.write_text("x = 1\n")
    run("record", "install", *KIMI, "--write")
    config.write_text(change(config.read_text()))
    if is_again:
        assert run("record", "install", *KIMI, "--write").code == 0
        tables = tomllib.loads(config.read_text())["hooks"]
        ours = [table["event"] for table in tables if "neosian-hook" in table["command"]]
        assert ours == list(adapter("kimi-code").EVENTS)
    assert run("record", "uninstall", *KIMI, "--write").code == 0
    assert config.read_text().replace("\n", "") == ("x = 1\n" + left).replace("\n", "")


@pytest.mark.parametrize("quotes", ['"""', "'''"])
def test_what_only_looks_like_a_table_of_ours_stays(quotes: str, run: Run, config: Path) -> None:
    run("record", "install", *KIMI, "--write")
    note = config.read_text()
    if quotes == '"""':
        note = note.replace("\\", "\\\\").replace('"', '\\"')
    config.write_text(f"note = {quotes}\n{note}{quotes}\n")
    before = config.read_bytes()
    assert run("record", "uninstall", *KIMI, "--write").code == 0
    assert config.read_bytes() == before


def test_hooks_of_ours_that_cannot_be_taken_out_are_told(run: Run, config: Path) -> None:
    line = hook_line("kimi-code", "stop").replace('"', '\\"')
    config.write_text(f'hooks = [{{event = "Stop", command = "{line}"}}]\n')
    before = config.read_bytes()
    assert "hooks[0] calls neosian-hook" in run("record", "uninstall", *KIMI, "--write").err
    assert config.read_bytes() == before


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("a = [1,", "is not TOML"),
        ("\xff", "is not UTF-8"),
        ('hooks = "x"\n', "no table can be added"),
        ("hooks = []\n", "no table can be added"),
        ('[[hooks]]\nevent = "Stop"\ncommand = "x"\nname = "y"\n', "it has the key 'name', so Kimi Code takes no hook"),
        ('[[hooks]]\nevent = "Stop"\n', "it has no command"),
        ('[[hooks]]\nevent = "Stop"\ncommand = "x"\ntimeout = 601\n', "its timeout is not 1 to 600 seconds"),
        ('[[hooks]]\nevent = "Stop"\ncommand = "x"\nmatcher = 1\n', "its matcher is not a text"),
    ],
)  # fmt: skip
def test_a_file_in_which_our_hooks_would_be_lost_is_left_alone(
    text: str, says: str, run: Run, config: Path
) -> None:
    config.write_bytes(text.encode("latin-1"))
    done = run("record", "install", *KIMI, "--write")
    assert (done.code, says in done.err) == (1, True), done.err
    assert config.read_bytes() == text.encode("latin-1")
    assert "kimi-code start" in done.out


def test_a_hook_of_a_later_client_is_no_mistake(run: Run, config: Path) -> None:
    config.write_text('[[hooks]]\nevent = "SessionDreamt"\ncommand = "x"\n')
    assert run("record", "install", *KIMI, "--write").code == 0


def test_kimi_has_no_hooks_in_a_project(run: Run, project: Path) -> None:
    done = run("record", "install", *KIMI, "--project", str(project), "--write")
    assert (done.code, "--user" in done.err) == (2, True)
    assert tree(project) == []


def test_without_a_level_kimis_hooks_are_the_users(run: Run, config: Path) -> None:
    assert run("record", "install", *KIMI, "--write").code == 0
    assert "--project" not in config.read_text().partition('exec "$h"')[2]


@pytest.mark.parametrize("bad", ["'", '"', "$x `id`", "ü ", "\\n"])
def test_the_command_says_what_it_says_in_every_home(
    bad: str, run: Run, config: Path, tmp_path: Path
) -> None:
    """A path with quotes in it goes through TOML, and then through a shell."""
    root = tmp_path / f"home {bad}"
    assert run("record", "install", *KIMI, "--root", str(root), "--write").code == 0
    [stop] = [
        table["command"]
        for table in tomllib.loads(config.read_text("utf-8"))["hooks"]
        if table["event"] == "Stop"
    ]
    launcher = root / "bin" / "neosian-hook"
    launcher.write_text('#!/bin/sh\necho ran "$@"\n')
    launcher.chmod(0o755)
    done = subprocess.run(["sh", "-c", stop], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("ran kimi-code stop")


# Both ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("client", "variable", "file"),
    [("copilot-cli", "COPILOT_HOME", "hooks/neosian.json"), ("kimi-code", "KIMI_CODE_HOME", "config.toml")],
)
def test_the_clients_moved_home_is_honoured(
    client: str, variable: str, file: str, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    moved = tmp_path / "moved"
    moved.mkdir()
    monkeypatch.setenv(variable, str(moved))
    assert run("record", "install", "--client", client, "--user", "--write").code == 0
    assert run("mcp", "install", "--client", client, "--user", "--write").code == 0
    servers = "mcp.json" if client == "kimi-code" else "mcp-config.json"
    assert {file, servers} <= set(tree(moved))


@pytest.mark.parametrize(("client", "folder"), [("copilot-cli", ".copilot"), ("kimi-code", ".kimi-code")])
def test_a_client_that_was_never_started_gets_no_home_of_ours(
    client: str, folder: str, run: Run, private_home: Path
) -> None:
    os.rmdir(private_home / folder)
    assert run("record", "install", "--client", client, "--user", "--write").code == 1
    assert not (private_home / folder).exists()
