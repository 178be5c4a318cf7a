"""Our MCP server into a client's settings and out again, with real files and a fake home."""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
import sys
import threading
import time
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from neosian import cli, health, mcp_install, merging, settings
from neosian.clients import claude_desktop_install, goose_install, vscode_install, zed_install
from neosian.clients.installers import SERVED, installer
from neosian.clients.mcp_clients import SERVER, Client
from neosian.errors import BusyError, NeosianError
from tests.factories import Home
from tests.test_settings import texts

PROGRAM = mcp_install._installed()
WRITTEN = [  # those that have a project's file too
    name for name in SERVED if installer(name).MCP.project_files and not installer(name).MCP.adds
]


class Result(NamedTuple):
    code: int
    out: str
    err: str

    def json(self) -> Any:
        return json.loads(self.out)


Run = Callable[..., Result]


@pytest.fixture
def home(private_home: Path) -> Path:
    """A home in which every client was started once."""
    for client in SERVED:
        Path(installer(client).MCP.home(os.environ)).mkdir(parents=True, exist_ok=True)
    return private_home


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A git work tree; the tests run in a folder of it."""
    folder = tmp_path / "shop"
    (folder / ".git").mkdir(parents=True)
    (folder / "src").mkdir()
    monkeypatch.chdir(folder / "src")
    return folder


@pytest.fixture
def run(home: Path, project: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    """`neosian mcp VERB --client CLIENT ...` in this process."""

    def call(verb: str, *words: str, client: str = "claude-code") -> Result:
        capsys.readouterr()
        try:
            code = cli.main(["mcp", verb, "--client", client, *words])
        except SystemExit as left:
            code = int(left.code or 0)
        said = capsys.readouterr()
        return Result(code, said.out, said.err)

    return call


@pytest.fixture
def user_file(home: Path) -> Path:
    return home / ".claude.json"


def user_file_of(client: str) -> Path:
    return Path(installer(client).MCP.user_files(os.environ)[0])


def entry(file: Path, key: str = "mcpServers") -> Any:
    return json.loads(file.read_text("utf-8-sig"))[key][SERVER]


def names(folder: Path) -> list[str]:
    return sorted(os.listdir(folder))


# What is printed ---------------------------------------------------------------------------------


@pytest.mark.parametrize("client", sorted(SERVED))
def test_the_fragment_is_printed_and_nothing_is_written(
    run: Run, home: Path, project: Path, client: str
) -> None:
    before = sorted(map(str, home.rglob("*")))

    result = run("install", "--user", client=client)

    assert result.code == 0
    assert SERVER in result.out
    assert str(user_file_of(client)) in result.err
    assert sorted(map(str, home.rglob("*"))) == before
    assert names(project) == [".git", "src"]


@pytest.mark.parametrize("client", ["claude-code", "claude-desktop", "cursor"])
def test_a_users_entry_names_this_installation_by_its_path(run: Run, client: str) -> None:
    result = run("install", "--user", client=client)

    assert result.json() == {"mcpServers": {SERVER: {"command": PROGRAM[0], "args": [*PROGRAM[1:], "mcp"]}}}
    assert os.access(PROGRAM[0], os.X_OK)


def test_the_program_of_an_entry_starts(run: Run, tmp_path: Path) -> None:
    (tmp_path / "neosian").mkdir()
    (tmp_path / "neosian" / "__init__.py").write_text("raise SystemExit('the wrong one')")

    for words in (PROGRAM, [sys.executable, "-P", "-m", "neosian"]):
        done = subprocess.run([*words, "mcp", "--help"], capture_output=True, text=True, cwd=tmp_path)
        assert (done.returncode, done.stderr) == (0, "")


def test_without_a_program_beside_python_its_module_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python3"))

    assert mcp_install._installed() == [str(tmp_path / "python3"), "-P", "-m", "neosian"]


def test_opencodes_entry_has_its_own_shape(run: Run) -> None:
    shown = run("install", "--user", client="opencode").json()

    assert shown == {"mcp": {SERVER: {"type": "local", "command": [*PROGRAM, "mcp"], "enabled": True}}}


@pytest.mark.parametrize(
    ("client", "key", "more"),
    [
        ("vscode", "servers", {"type": "stdio"}),
        ("zed", "context_servers", {"source": "custom", "env": {}}),
        ("crush", "mcp", {"type": "stdio"}),
        ("cline", "mcpServers", {}),
        ("windsurf", "mcpServers", {}),
    ],
)
def test_an_entry_has_the_shape_that_its_client_documents(
    run: Run, client: str, key: str, more: dict[str, Any]
) -> None:
    result = run("install", "--user", "--write", client=client)

    assert result.code == 0
    assert "Not verified" in result.err
    assert entry(user_file_of(client), key) == {
        "command": PROGRAM[0],
        "args": [*PROGRAM[1:], "mcp"],
        **more,
    }
    assert run("uninstall", "--user", "--write", client=client).code == 0
    assert not user_file_of(client).exists()


@pytest.mark.parametrize("client", WRITTEN)
def test_a_projects_entry_names_the_program_alone(run: Run, client: str) -> None:
    result = run("install", client=client)

    assert str(PROGRAM[0]) not in result.out
    assert '"neosian"' in result.out
    assert "shared with the project" in result.err


def test_a_program_that_is_not_on_the_path_is_told(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "not on the PATH: put it there" in run("install").err
    (tmp_path / "neosian").write_text("#!/bin/sh\n")
    (tmp_path / "neosian").chmod(0o755)
    assert "not on the PATH: put it there" not in run("install").err


def test_flags_are_spelled_into_the_entry(run: Run, tmp_path: Path) -> None:
    words = ["--root", str(tmp_path / "my home"), "--project", "shop", "--scope", "user:a/proj:my shop"]
    shown = run("install", "--user", *words, "--mount", "/team=team:x:ro", "--mount", "/user=user:a").json()

    assert shown["mcpServers"][SERVER]["args"] == [
        *PROGRAM[1:], "mcp", *words, "--mount", "/team=team:x:ro", "--mount", "/user=user:a",
    ]  # fmt: skip


def test_flags_before_the_verb_count_as_well(
    home: Path, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["mcp", "--project", "shop", "install", "--client", "cursor", "--user"]) == 0

    assert json.loads(capsys.readouterr().out)["mcpServers"][SERVER]["args"][-2:] == ["--project", "shop"]


@pytest.mark.parametrize(
    "words",
    [
        ("--project", ""),
        ("--project", "  "),
        ("--project=-x",),
        ("--project", "a\nb"),
        ("--scope", "alice"),
        ("--scope", "user:\udcff"),
        ("--scope=-x:y",),
        ("--mount", "team=team:x"),
        ("--mount", "/te\nam=team:x"),
        ("--root", ""),
        ("--root", "a\nb"),
        ("--directory", "/nowhere"),
        ("--directory", ".", "--user"),
    ],
)
def test_what_cannot_be_meant_is_a_wrong_invocation(run: Run, home: Path, words: tuple[str, ...]) -> None:
    result = run("install", "--write", *words)

    assert (result.code, result.out) == (2, "")
    assert "Traceback" not in result.err
    assert not (home / ".claude.json").exists()


def test_an_unknown_client_is_a_wrong_invocation(run: Run) -> None:
    result = run("install", client="notepad")

    assert result.code == 2
    assert "claude-desktop" in result.err


def test_a_blank_project_names_those_there_are(run: Run, tmp_path: Path) -> None:
    memory = Home(tmp_path / "memory")
    memory.talk().land("Hello")

    result = run("install", "--user", "--project", " ", "--root", str(memory.path))

    assert "There are: shop." in result.err
    assert (
        "No project is called ship yet" in run("install", "--project", "ship", "--root", str(memory.path)).err
    )
    assert "No project is called" not in run("install", "--project", "shop", "--root", str(memory.path)).err


def test_desktop_says_what_it_serves_without_a_project(run: Run) -> None:
    assert "the user's memory only" in run("install", client="claude-desktop").err
    assert "the user's memory only" not in run("install", "--scope", "team:x", client="claude-desktop").err


@pytest.mark.parametrize("client", ["cursor", "claude-desktop"])
def test_what_was_not_verified_says_so(run: Run, client: str) -> None:
    assert "Not verified" in run("install", client=client).err
    assert "Not verified" in " ".join(run("install", "--json", client=client).json()["warnings"])


# Writing -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("client", "file", "key"),
    [
        ("claude-code", ".mcp.json", "mcpServers"),
        ("cursor", ".cursor/mcp.json", "mcpServers"),
        ("opencode", "opencode.json", "mcp"),
    ],
)
def test_the_project_level_is_the_git_work_tree(
    run: Run, project: Path, client: str, file: str, key: str
) -> None:
    result = run("install", "--write", client=client)

    assert (result.code, result.out) == (0, "")
    assert entry(project / file, key)
    assert run("uninstall", "--write", client=client).code == 0
    assert names(project) == [".git", "src"]


def test_a_project_can_be_named_and_its_folder_stays(run: Run, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()

    run("install", "--write", "--directory", str(tmp_path / "other"))
    assert names(tmp_path / "other") == [".mcp.json"]
    run("uninstall", "--write", "--directory", str(tmp_path / "other"))

    assert names(tmp_path / "other") == []


@pytest.mark.parametrize(
    ("client", "file"),
    [
        ("claude-code", ".claude.json"),
        ("cursor", ".cursor/mcp.json"),
        ("opencode", ".config/opencode/opencode.json"),
        ("claude-desktop", ".config/Claude/claude_desktop_config.json"),
    ],
)
def test_the_user_level_is_the_clients_own_file(
    run: Run, home: Path, client: str, file: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = os.umask(0)
    try:
        assert run("install", "--user", "--write", client=client).code == 0
    finally:
        os.umask(old)

    assert stat.S_IMODE((home / file).stat().st_mode) == 0o600, "the client will keep its secrets there"
    assert "nothing was changed" in run("install", "--user", "--write", client=client).err
    assert run("uninstall", "--user", "--write", client=client).code == 0
    assert not (home / file).exists()
    assert not (home / f"{file}.neosian-backup").exists()


def test_the_clients_own_variables_move_its_file(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "x").mkdir()
    for name, value in {
        "CLAUDE_CONFIG_DIR": "x",
        "CODEX_HOME": "x",
        "OPENCODE_CONFIG": "x/mine.jsonc",
        "XDG_CONFIG_HOME": "config",
    }.items():
        monkeypatch.setenv(name, str(tmp_path / value))

    assert [user_file_of(client).relative_to(tmp_path).as_posix() for client in ("claude-code", "codex", "opencode", "claude-desktop")] == [
        "x/.claude.json", "x/config.toml", "x/mine.jsonc", "config/Claude/claude_desktop_config.json",
    ]  # fmt: skip
    assert run("install", "--user", "--write", client="opencode").code == 0
    assert (tmp_path / "x" / "mine.jsonc").exists()


def test_claude_codes_file_of_an_older_name_goes_first(home: Path) -> None:
    (home / ".claude" / ".config.json").write_text("{}")

    assert user_file_of("claude-code") == home / ".claude" / ".config.json"


@pytest.mark.parametrize(
    ("platform", "folder"),
    [
        ("darwin", "Library/Application Support/Claude"),
        ("win32", "AppData/Roaming/Claude"),
        ("linux", "x/Claude"),
    ],
)
def test_desktops_folder_is_that_of_the_system(private_home: Path, platform: str, folder: str) -> None:
    found = claude_desktop_install._desktop_home({"XDG_CONFIG_HOME": str(private_home / "x")}, platform)

    assert Path(found) == private_home / folder


@pytest.mark.parametrize(
    "client",
    ["claude-code", "cline", "crush", "cursor", "opencode", "claude-desktop", "vscode", "windsurf", "zed"],
)
def test_another_programs_home_is_never_made(
    run: Run, home: Path, monkeypatch: pytest.MonkeyPatch, client: str
) -> None:
    folder = Path(installer(client).MCP.home(os.environ))
    shutil.rmtree(folder)

    result = run("install", "--user", "--write", client=client)

    assert result.code == 1
    assert "is no folder" in result.err
    assert not folder.exists()
    assert not user_file_of(client).exists()


@pytest.mark.parametrize("client", WRITTEN)
def test_a_home_folder_is_no_project(
    run: Run, home: Path, monkeypatch: pytest.MonkeyPatch, client: str
) -> None:
    before = sorted(map(str, home.rglob("*")))
    for words in (["--directory", str(home)], ["--directory", "/"]):
        assert run("install", "--write", *words, client=client).code == 2
    monkeypatch.chdir(home)
    assert run("install", "--write", client=client).code == 2
    (home / ".git").mkdir()
    assert run("install", "--write", client=client).code == 2
    (home / ".git").rmdir()

    assert sorted(map(str, home.rglob("*"))) == before


@pytest.mark.parametrize("client", ["codex", "claude-desktop"])
def test_a_client_without_project_files_needs_no_current_folder(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, client: str
) -> None:
    assert run("install", "--directory", str(tmp_path), client=client).code == 2
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()

    assert run("install", client=client).code == 0
    assert run("install", client="cursor").code == 2


NASTY = [
    '{"a": 1}',
    "{}",
    "{ }\n",
    '{"mcpServers": {}}',
    '{"mcpServers": { }, "z": [ ]}\n',
    '\ufeff{\r\n\t"numStartups": 7,\r\n\t"mcpServers": {\r\n\t\t"other": {"command":"x"}\r\n\t}\r\n}\r\n',
    '{"oauthAccount":{"k":"\\u00e9\\/"},"mcpServers":{"other":{"command":"x","args":[]}},"n":1.50e+1}',
    '{\n    "a" : 1,\n\n    "a" : 2\n}',
    '{"projects": {"/home/ada/shop": {"mcpServers": {"neosian-memory": {"command": "theirs"}}}}}',
]


@pytest.mark.parametrize("text", NASTY)
def test_a_file_comes_back_to_the_byte(run: Run, user_file: Path, text: str) -> None:
    user_file.write_bytes(text.encode())
    user_file.chmod(0o640)

    assert run("install", "--user", "--write").code == 0
    assert entry(user_file)["command"] == PROGRAM[0]
    assert run("install", "--user", "--write", "--scope", "team:x").code == 0
    assert entry(user_file)["args"][-2:] == ["--scope", "team:x"]
    assert stat.S_IMODE(user_file.stat().st_mode) == 0o640
    assert user_file.with_name(".claude.json.neosian-backup").read_bytes() == text.encode()
    assert run("uninstall", "--user", "--write").code == 0

    assert user_file.read_bytes() == text.encode()
    assert not user_file.with_name(".claude.json.neosian-backup").exists()


@hypothesis_settings(
    max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None
)
@given(texts(), st.sampled_from(["claude-code", "opencode"]))
def test_any_settings_come_back_as_they_were(run: Run, home: Path, text: str, client: str) -> None:
    file = user_file_of(client)
    file.write_bytes(text.encode())

    assert run("install", "--user", "--write", client=client).code == 0
    once = file.read_bytes()
    assert run("install", "--user", "--write", client=client).code == 0
    assert file.read_bytes() == once
    assert list(settings.parse(once.decode()))[:-1] == list(settings.parse(text))
    assert run("uninstall", "--user", "--write", client=client).code == 0

    assert file.read_bytes() == text.encode()


def test_what_changed_since_stays_at_uninstall(run: Run, user_file: Path) -> None:
    user_file.write_text('{\n  "numStartups": 1\n}\n')
    run("install", "--user", "--write")
    user_file.write_text(user_file.read_text().replace('"numStartups": 1', '"numStartups": 2'))

    run("uninstall", "--user", "--write")

    assert user_file.read_text() == '{\n  "numStartups": 2\n}\n'


@pytest.mark.parametrize(
    "command",
    [
        ["neosian", "mcp"],
        ["/old/venv/bin/neosian", "mcp", "--scope", "team:x"],
        ["C:\\tools\\neosian.exe", "mcp"],
        ["/usr/bin/python3.12", "-m", "neosian", "mcp"],
        [sys.executable, "-P", "-m", "neosian", "mcp"],
    ],
)
def test_an_older_entry_of_ours_is_replaced_where_it_stands(
    run: Run, user_file: Path, command: list[str]
) -> None:
    old = {"command": command[0], "args": command[1:], "env": {"A": "b"}}
    user_file.write_text(json.dumps({"mcpServers": {SERVER: old, "other": {"command": "x"}}}))

    result = run("install", "--user", "--write")

    assert result.code == 0
    assert list(json.loads(user_file.read_text())["mcpServers"]) == [SERVER, "other"]
    assert entry(user_file) == {"command": PROGRAM[0], "args": [*PROGRAM[1:], "mcp"], "env": {"A": "b"}}
    assert f"mcpServers.{SERVER} also says env, which stays" in result.err


def test_an_entry_that_was_switched_off_is_not_called_right(run: Run, home: Path) -> None:
    file = user_file_of("opencode")
    run("install", "--user", "--write", client="opencode")
    file.write_text(file.read_text().replace("true", "false"))

    result = run("install", "--user", "--write", client="opencode")

    assert "right already" not in result.err
    assert entry(file, "mcp")["enabled"] is True


@pytest.mark.parametrize(
    "theirs",
    [
        {"command": "npx", "args": ["memory-server", "mcp"]},
        {"command": "/opt/neosian", "args": ["serve"]},
        {"command": "neosian-other", "args": ["mcp"]},
        {"command": "perl", "args": ["-m", "neosian", "mcp"]},
        {"command": "python3", "args": ["-m", "neosian_tools", "mcp"]},
        {"command": ["neosian", "mcp"]},
        {"command": "neosian"},
        {"command": "neosian", "args": ["mcp", 5]},
        {"type": "http", "url": "http://127.0.0.1:8080/mcp"},
        "neosian mcp",
        None,
    ],
)
def test_a_foreign_entry_of_that_name_is_named_and_left_alone(run: Run, user_file: Path, theirs: Any) -> None:
    text = json.dumps({"mcpServers": {SERVER: theirs}})
    user_file.write_text(text)

    for verb in ("install", "uninstall"):
        result = run(verb, "--user", "--write")
        assert result.code == 1
        assert f"mcpServers.{SERVER} there is not ours" in result.err
    assert user_file.read_text() == text
    assert ".claude.json.neosian-backup" not in names(user_file.parent)


def test_our_server_under_another_name_is_told(run: Run, user_file: Path) -> None:
    user_file.write_text('{"mcpServers": {"memory": {"command": "neosian", "args": ["mcp"]}}}')

    assert "mcpServers.memory starts the same server" in run("install", "--user").err


def test_a_project_is_told_of_the_users_entry(run: Run, user_file: Path) -> None:
    run("install", "--user", "--write")

    assert f"{user_file} names {SERVER} already" in run("install").err


REFUSED = [
    ("", "it is empty"),
    ('{"a": 1} // mine', "a comment"),
    ('{"a": 1,}', "a comma with nothing after it"),
    ("[]", "no JSON object"),
    ('{"mcpServers": []}', "mcpServers is no object"),
    ('{"mcpServers": null}', "mcpServers is no object"),
    ('{"mcpServers": {}, "mcpServers": {}}', "mcpServers stands there twice"),
    ('{"mcpServers": {"neosian-memory": {}, "neosian-memory": {}}}', "neosian-memory stands there twice"),
    (
        '{"mcpServers": {"neosian-memory": {"args": [], "args": []}}}',
        "neosian-memory.args stands there twice",
    ),
]


@pytest.mark.parametrize(("text", "reason"), REFUSED)
def test_a_file_without_a_place_for_us_is_refused_untouched(
    run: Run, user_file: Path, text: str, reason: str
) -> None:
    user_file.write_text(text)
    before = names(user_file.parent)

    result = run("install", "--user", "--write")

    assert result.code == 1
    assert reason in result.err
    assert result.json()["mcpServers"], "what can be pasted is printed"
    assert run("install", "--user").code == 0
    assert reason in run("install", "--user", "--write", "--json").json()["refused"]
    assert user_file.read_text() == text
    assert names(user_file.parent) == before


@pytest.mark.parametrize("raw", [b'{"a": "\xff"}', '{"a": 1}'.encode("utf-16"), b"[" * 100_000])
def test_bytes_that_are_no_settings_are_refused(run: Run, user_file: Path, raw: bytes) -> None:
    user_file.write_bytes(raw)

    for verb in ("install", "uninstall"):
        result = run(verb, "--user", "--write")
        assert result.code == 1
        assert "was left as it is" in result.err
    assert user_file.read_bytes() == raw


def test_a_folder_in_the_place_of_the_file_is_refused(run: Run, user_file: Path) -> None:
    user_file.mkdir()

    for verb in ("install", "uninstall"):
        assert "is no file" in run(verb, "--user", "--write").err
    assert names(user_file) == []


def test_a_link_to_itself_cannot_be_read(run: Run, user_file: Path) -> None:
    user_file.symlink_to(user_file)

    result = run("install", "--user", "--write")

    assert result.code == 1
    assert user_file.is_symlink()


@pytest.mark.parametrize("there", [True, False])
def test_a_link_is_followed_and_stays(run: Run, user_file: Path, tmp_path: Path, there: bool) -> None:
    target = tmp_path / "dot.json"
    if there:
        target.write_text("{}")
    user_file.symlink_to(target)

    run("install", "--user", "--write")
    assert entry(target)
    assert user_file.is_symlink()
    run("uninstall", "--user", "--write")

    assert user_file.is_symlink()
    assert (target.read_text() if target.exists() else None) == ("{}" if there else None)


def test_a_read_only_file_is_an_error_with_the_fragment(run: Run, user_file: Path) -> None:
    user_file.write_text("{}")
    user_file.chmod(0o444)

    result = run("install", "--user", "--write")

    assert result.code == 1
    assert "is read-only" in result.err
    assert result.json()["mcpServers"]
    assert user_file.read_text() == "{}"


# Beside a client that writes its file itself -----------------------------------------------------


def plan(home: Path) -> merging.Plan:
    return mcp_install.plan_install(mcp_install.Wish("claude-code", user=True), os.environ, str(home))


def test_a_file_that_changed_since_it_was_read_is_left_alone(home: Path, user_file: Path) -> None:
    user_file.write_text('{"a": 1}')
    made = plan(home)
    user_file.write_text('{"a": 2}')

    with pytest.raises(NeosianError, match="changed by another program"):
        merging.carry_out(made)

    assert user_file.read_text() == '{"a": 2}'
    assert [name for name in names(home) if name.startswith(".claude.json")] == [".claude.json"]


def test_a_writer_that_holds_the_lock_is_waited_for(home: Path, user_file: Path) -> None:
    lock = home / ".claude.json.lock"
    lock.mkdir()
    made = plan(home)
    writer = threading.Timer(0.3, lock.rmdir)
    writer.start()

    merging.carry_out(made)

    assert not writer.is_alive()
    assert entry(user_file)
    assert not lock.exists()


def test_a_lock_that_was_left_behind_is_taken_over(home: Path, user_file: Path) -> None:
    lock = home / ".claude.json.lock"
    lock.mkdir()
    os.utime(lock, (time.time() - 60, time.time() - 60))

    merging.carry_out(plan(home))

    assert entry(user_file)
    assert not lock.exists()


def test_a_lock_that_nobody_lets_go_is_an_error(
    home: Path, user_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settings, "_DEAD", 0.1)
    (home / ".claude.json.lock").write_text("a file of a person's")

    with pytest.raises(BusyError, match="nothing was changed"):
        merging.carry_out(plan(home))

    assert not user_file.exists()


# Codex -------------------------------------------------------------------------------------------


def test_codex_gets_a_table_and_the_line_of_its_own_command(run: Run, home: Path) -> None:
    result = run("install", "--scope", "team:my x", client="codex")

    assert result.code == 0
    words = [PROGRAM[0], *PROGRAM[1:], "mcp", "--scope", "team:my x"]
    assert tomllib.loads(result.out) == {"mcp_servers": {SERVER: {"command": words[0], "args": words[1:]}}}
    assert f"next: codex mcp add {SERVER} -- {PROGRAM[0]}" in result.err
    assert "--scope 'team:my x'" in result.err


def test_goose_is_shown_yaml_and_its_file_is_left_alone(run: Run, home: Path) -> None:
    file = user_file_of("goose")
    file.write_text("# mine\nextensions:\n  developer: {type: builtin}\n")
    before = file.read_bytes()

    result = run("install", "--write", client="goose")

    told = {"type": "stdio", "name": SERVER, "enabled": True, "timeout": 300}
    assert yaml.safe_load(result.out) == {
        "extensions": {SERVER: {**told, "cmd": PROGRAM[0], "args": [*PROGRAM[1:], "mcp"]}}
    }
    assert result.code == 1
    assert "Paste what is printed into the file" in result.err
    assert "try: goose configure\n" in result.err
    assert file.read_bytes() == before


def test_what_goose_was_told_is_seen(run: Run, home: Path) -> None:
    file = user_file_of("goose")
    file.write_text("---\nGOOSE_MODE: auto\n" + run("install", client="goose").out)

    assert "right already" in run("install", "--write", client="goose").err
    assert [row["file"] for row in mcp_install.registered(os.environ, str(home))] == [str(file)]
    assert run("install", "--write", "--project", "x", client="goose").code == 1
    assert "try: goose configure\n" in run("uninstall", "--write", client="goose").err
    file.write_text("GOOSE_MODE: auto\n")
    assert run("uninstall", "--write", client="goose").code == 0


@pytest.mark.parametrize(
    ("raw", "says"),
    [
        (b"extensions: [\n", "it is not YAML ("),
        (b"- a list\n", "it is not YAML ("),
        (b"&a [*a]", "it is not YAML ("),
        (b"extensions: \xff\n", "byte 13 is not UTF-8"),
        (b"extensions: 7\n", "extensions is no object"),
    ],
)
def test_gooses_file_that_cannot_be_read_is_told(run: Run, home: Path, raw: bytes, says: str) -> None:
    user_file_of("goose").write_bytes(raw)

    result = run("install", "--write", client="goose")

    assert result.code == 1
    assert says in result.err
    assert user_file_of("goose").read_bytes() == raw


def test_clines_own_variable_names_its_file(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "cline.json"
    monkeypatch.setenv("CLINE_MCP_SETTINGS_PATH", str(file))

    assert run("install", "--write", client="cline").code == 0
    assert entry(file)["args"] == [*PROGRAM[1:], "mcp"]


@pytest.mark.parametrize(
    ("module", "platform", "folder"),
    [
        (vscode_install, "darwin", "/home/a/Library/Application Support/Code/User"),
        (vscode_install, "win32", "/home/a/AppData/Roaming/Code/User"),
        (zed_install, "darwin", "/home/a/.config/zed"),
        (zed_install, "win32", "/home/a/AppData/Roaming/Zed"),
        (goose_install, "darwin", "/home/a/.config/goose"),
        (goose_install, "win32", "/home/a/AppData/Roaming/Block/goose/config"),
    ],
)
def test_a_client_lives_where_its_system_keeps_settings(
    module: Any, platform: str, folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", "/home/a")

    assert module._home({}, platform) == folder


def test_codex_is_not_written_and_its_command_is_the_fix(run: Run, home: Path) -> None:
    file = home / ".codex" / "config.toml"
    file.write_text('model = "x"  # mine\n')

    result = run("install", "--write", client="codex")

    assert result.code == 1
    assert f"try: codex mcp add {SERVER} -- {PROGRAM[0]}" in result.err
    assert "Codex is told by a command of its own: run the one below." in result.err
    assert "by hand" not in result.err
    assert file.read_text() == 'model = "x"  # mine\n'
    assert names(file.parent) == ["config.toml"]


def test_what_codex_was_told_is_seen(run: Run, home: Path) -> None:
    file = home / ".codex" / "config.toml"
    file.write_text(run("install", client="codex").out)

    assert run("install", "--write", client="codex").code == 0
    assert "right already" in run("install", "--write", client="codex").err
    assert f"next: codex mcp remove {SERVER}" in run("uninstall", client="codex").err
    result = run("uninstall", "--write", client="codex")
    assert result.code == 1
    assert f"try: codex mcp remove {SERVER}" in result.err
    assert run("install", "--write", "--project", "x", client="codex").code == 1
    file.unlink()
    assert run("uninstall", "--write", client="codex").code == 0


@pytest.mark.parametrize("raw", [b"[mcp_servers\n", b"\xff", b'mcp_servers = "x"\n', b"a = 1\na = 2\n"])
def test_codexs_file_that_cannot_be_read_is_told(run: Run, home: Path, raw: bytes) -> None:
    (home / ".codex" / "config.toml").write_bytes(raw)

    result = run("install", "--write", client="codex")

    assert result.code == 1
    assert "was left as it is" in result.err


@pytest.mark.parametrize("text", ['quote " back \\ slash', "ключ 😀", "tab"])
def test_a_table_is_toml_whatever_it_says(text: str) -> None:
    part = {"mcp_servers": {SERVER: {"command": text, "args": [text, "mcp"]}}}

    assert tomllib.loads(installer("codex").MCP.format.show(part)) == part


# OpenCode's two files and its comments ------------------------------------------------------------


@pytest.mark.parametrize("suffix", ["json", "jsonc"])
def test_opencode_with_comments_is_refused_with_the_fragment(run: Run, project: Path, suffix: str) -> None:
    file = project / f"opencode.{suffix}"
    text = '{\n  // mine\n  "model": "x", /* and */\n}\n'
    file.write_text(text)

    result = run("install", "--write", client="opencode")

    assert result.code == 1
    assert "a comment" in result.err
    assert result.err.endswith(f"try: open {file} in an editor\n")
    assert result.json()["mcp"][SERVER]
    assert file.read_text() == text
    assert names(project) == [".git", file.name, "src"]


def test_what_was_pasted_among_comments_is_seen(run: Run, project: Path) -> None:
    file = project / "opencode.jsonc"
    ours = json.dumps(run("install", client="opencode").json()["mcp"][SERVER])
    text = f'{{ // "mcp": {{}},\n "mcp": {{"{SERVER}": {ours}, /* , */ }},\n}}'
    file.write_text(text)

    assert "right already" in run("install", "--write", client="opencode").err
    assert run("install", "--write", "--scope", "team:x", client="opencode").code == 1
    result = run("uninstall", "--write", client="opencode")
    assert result.code == 1
    assert "a comment" in result.err
    assert file.read_text() == text


def test_a_plain_jsonc_is_edited(run: Run, project: Path) -> None:
    (project / "opencode.jsonc").write_text('{"model": "x"}')

    run("install", "--write", client="opencode")

    assert entry(project / "opencode.jsonc", "mcp")
    assert not (project / "opencode.json").exists()


def test_of_two_files_the_one_that_names_us_is_edited(run: Run, project: Path) -> None:
    plain, other = project / "opencode.json", project / "opencode.jsonc"
    other.write_text("{}")
    run("install", "--write", client="opencode")
    plain.write_text("{}")

    run("install", "--write", "--scope", "team:x", client="opencode")

    assert plain.read_text() == "{}"
    assert entry(other, "mcp")["command"][-1] == "team:x"
    plain.write_text(other.read_text())
    assert f"{other} names {SERVER} too" in run("install", client="opencode").err
    run("uninstall", "--write", client="opencode")
    assert f"mcp.{SERVER}" not in run("uninstall", "--write", client="opencode").err
    assert other.read_text() == "{}"


# Uninstall, and what is said of it all -----------------------------------------------------------


@pytest.mark.parametrize(
    "text", [None, "{}", '{"mcpServers": {"x": {"command": "y"}}}', '{"mcpServers": []}']
)
def test_without_an_entry_of_ours_uninstall_touches_nothing(
    run: Run, user_file: Path, text: str | None
) -> None:
    if text is not None:
        user_file.write_text(text)

    result = run("uninstall", "--user", "--write")

    assert (result.code, result.out) == (0, "")
    assert f"does not name {SERVER}" in result.err
    assert (user_file.read_text() if user_file.exists() else None) == text


def test_uninstall_prints_what_would_go(run: Run, user_file: Path) -> None:
    run("install", "--user", "--write")
    before = user_file.read_bytes()

    result = run("uninstall", "--user")

    assert result.json() == json.loads(before)
    assert user_file.read_bytes() == before


def test_json_tells_all_of_it(run: Run, user_file: Path) -> None:
    for verb in ("install", "uninstall"):
        answer = run(verb, "--user", "--write", "--json").json()
        assert (answer["file"], answer["client"], answer["server"]) == (str(user_file), "claude-code", SERVER)
        assert (answer["changed"], answer["written"], answer["refused"]) == (True, True, None)
        assert json.loads(answer["paste"]) == answer["fragment"]
    assert run("uninstall", "--user", "--json").json()["fragment"] == {}


def test_status_names_the_files_that_tell_of_the_server(run: Run, home: Path, project: Path) -> None:
    assert health.report(str(home / ".neosian"), str(project))["mcp"] == []
    run("install", "--user", "--write")
    run("install", "--write", client="cursor")

    found = health.report(str(home / ".neosian"), os.curdir)["mcp"]

    assert [(row["client"], row["level"], row["file"]) for row in found] == [
        ("claude-code", "user", str(home / ".claude.json")),
        ("cursor", "project", str(project / ".cursor" / "mcp.json")),
    ]


def test_status_tells_of_a_program_that_is_gone(home: Path, project: Path, user_file: Path) -> None:
    user_file.write_text(json.dumps({"mcpServers": {SERVER: {"command": "/gone/neosian", "args": ["mcp"]}}}))

    problems = health.report(str(home / ".neosian"), str(project))["problems"]

    assert [each["what"] for each in problems] == [f"{user_file} starts /gone/neosian, which is gone."]


@pytest.mark.parametrize("client", [installer(name).MCP for name in SERVED], ids=lambda client: client.name)
def test_an_entry_gives_its_words_back(client: Client) -> None:
    words = ["neosian", "mcp", "--scope", "team:x"]

    assert client.words(client.entry(words)) == words
    assert client.words({"command": 5, "args": "mcp"})[1:] == []


# What goes with it -------------------------------------------------------------------------------


def test_who_else_loses_the_server_is_told(run: Run, project: Path) -> None:
    run("install", "--write")
    assert "GitHub Copilot CLI reads" not in run("uninstall", "--user").err
    for words in ([], ["--write"]):
        said = run("uninstall", *words).err
        assert f"GitHub Copilot CLI reads {project}/.mcp.json too, and is told of the server no more." in said
    assert "GitHub Copilot CLI reads" not in run("uninstall").err


def test_folders_that_were_made_go_and_no_other(run: Run, home: Path, project: Path) -> None:
    (project / ".zed").mkdir()
    for client in ("cursor", "zed"):
        assert run("install", "--write", client=client).code == 0
    assert run("install", "--user", "--write", client="cline").code == 0
    assert health.report(str(home / ".neosian"), "/")["problems"] == []
    for client in ("cursor", "zed"):
        assert run("uninstall", "--write", client=client).code == 0
    assert run("uninstall", "--user", "--write", client="cline").code == 0
    assert names(project) == [".git", ".zed", "src"]
    assert names(home / ".cline") == []
    assert not (home / ".neosian" / "made-folders.json").exists()


@pytest.mark.parametrize("note", [b"{", b"[]", b'{"/": 1, "/etc": ["/etc/x"]}', b"\xff"])
def test_a_note_of_folders_that_is_damaged_harms_nothing(
    run: Run, home: Path, project: Path, note: bytes
) -> None:
    (home / ".neosian").mkdir()
    (home / ".neosian" / "made-folders.json").write_bytes(note)
    assert run("install", "--write", client="cursor").code == 0
    assert run("uninstall", "--write", client="cursor").code == 0
    assert names(project) == [".git", "src"]


def test_a_home_that_takes_no_note_leaves_the_folder(run: Run, home: Path, project: Path) -> None:
    (home / ".neosian").write_text("a file")
    assert run("install", "--write", client="cursor").code == 0
    assert run("uninstall", "--write", client="cursor").code == 0
    assert names(project / ".cursor") == []
