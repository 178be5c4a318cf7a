"""`neosian setup`: every client that is here is wired in one go, nothing else is touched, and all of it goes again."""

from __future__ import annotations

import json
import os
import pty
import shlex
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from neosian import cli, health, projects, scope
from neosian.clients.hook_files import OwnFile
from neosian.clients.installers import RECORDED, SERVED, hooks_of, installer, trust
from neosian.clients.mcp_clients import PROJECT, USER
from neosian.launcher import launcher_path
from tests.factories import Home, bytes_below

WHOLE = [name for name in SERVED if not installer(name).MCP.adds]


class Result(NamedTuple):
    code: int
    out: str
    err: str

    def json(self) -> Any:
        return json.loads(self.out)

    def states(self) -> dict[tuple[str, str], str]:
        return {(step["client"], step["what"]): step["state"] for step in self.json()["steps"]}


Run = Callable[..., Result]


@pytest.fixture
def home(private_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A person's home in which no client was ever started, and no program of one is on the PATH."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("git", "sh", "cat"):
        (folder / name).symlink_to(
            f"/usr/bin/{name}" if os.path.exists(f"/usr/bin/{name}") else f"/bin/{name}"
        )
    monkeypatch.setenv("PATH", str(folder))
    return private_home


@pytest.fixture
def clients(home: Path) -> Path:
    """The home, with every client started once."""
    for client in SERVED:
        for folder in homes(client):
            folder.mkdir(parents=True, exist_ok=True)
    return home


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "shop"
    (folder / ".git").mkdir(parents=True)
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def run(home: Path, project: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    def call(*words: str) -> Result:
        capsys.readouterr()
        try:
            code = cli.main(["setup", *words])
        except SystemExit as left:
            code = int(left.code or 0)
        said = capsys.readouterr()
        return Result(code, said.out, said.err)

    return call


def homes(client: str) -> set[Path]:
    known = installer(client)
    return {Path(each.home(os.environ)) for each in (known.HOOKS, known.MCP) if each}


def written(home: Path) -> dict[str, bytes]:
    """Every file of a home but git's settings of the test's own."""
    return {name: data for name, data in bytes_below(home).items() if name != ".gitconfig"}


def folders_below(folder: Path) -> set[Path]:
    return {path for path in folder.rglob("*") if path.is_dir()}


def files_of(client: str) -> list[Path]:
    """The user's files of a client that we write."""
    known = installer(client)
    hooks = [Path(known.HOOKS.user_file(os.environ))] if known.HOOKS else []
    servers = [] if known.MCP.adds else [Path(known.MCP.user_files(os.environ)[0])]
    return list(dict.fromkeys(hooks + servers))


def test_where_no_client_is_the_known_ones_are_told(run: Run, home: Path) -> None:
    result = run("--write")
    assert (result.code, written(home)) == (1, {})
    assert "No client was found here; known are: Claude Code, " in result.err


def test_the_plan_is_shown_and_nothing_is_written(run: Run, clients: Path) -> None:
    result = run()
    assert (result.code, written(clients)) == (0, {})
    for client in WHOLE:
        assert all(str(file) in result.out for file in files_of(client))
    assert "neosian-hook" in result.out
    assert "To write it: neosian setup --write" in result.err


def test_every_client_that_is_here_is_wired(run: Run, clients: Path) -> None:
    result = run("--write")
    assert result.code == 0
    assert all(file.exists() for client in WHOLE for file in files_of(client))
    assert os.access(launcher_path(clients / ".neosian"), os.X_OK)
    found = health.report(str(clients / ".neosian"), "/")
    assert {row["client"] for row in found["hooks"]} == set(RECORDED)
    assert {row["client"] for row in found["mcp"]} == set(WHOLE)
    again = run("--write", "--json")
    assert set(again.states().values()) <= {"right", "by hand"}


def test_the_steps_that_a_person_has_to_take_are_told(run: Run, clients: Path) -> None:
    said = run("--write").err
    for client in SERVED:
        assert trust(client, USER) in said
        if installer(client).MCP.adds:
            assert f"try: {installer(client).MCP.adds}" in said


@pytest.mark.parametrize("level", [USER, PROJECT])
def test_the_steps_are_those_of_the_level(level: str, run: Run, clients: Path) -> None:
    words = ["--project"] if level == PROJECT else []
    other = {USER: PROJECT, PROJECT: USER}[level]
    said, trusts = run(*words, "--write").err, run(*words, "--json").json()["trust"]
    assert trusts == {client: step for client in SERVED if (step := trust(client, level))}
    for client in SERVED:
        assert trust(client, level) in said
        assert trust(client, other) in said or trust(client, other) != trust(client, level)
        assert installer(client).MCP.project_note in said or level == USER
    if level == USER:
        assert not any(word in said for word in ("project's", "workspace", "worktree", "--approve"))


@pytest.mark.parametrize("words", [[], ["--write"], ["--uninstall"], ["--uninstall", "--write"]])
def test_a_client_that_nobody_tried_is_marked_in_every_row(words: list[str], run: Run, clients: Path) -> None:
    if "--uninstall" in words:
        run("--write")
    rows = run(*words).out
    for client in WHOLE:
        known = installer(client)
        assert (f"{known.TITLE} (unverified)" in rows) != known.VERIFIED
    steps = run(*words, "--json").json()["steps"]
    assert all(step["verified"] == installer(step["client"]).VERIFIED for step in steps)


def test_cursor_is_known_from_its_package_too(run: Run, clients: Path) -> None:
    said = run("--client", "cursor").err
    assert said.count("Not verified") == 1
    assert "its documentation and its published package" in said


def test_a_line_of_the_plan_says_which_memories_of_their_own_are_on_and_leaves_them(
    run: Run, clients: Path
) -> None:
    switches = clients / ".codex" / "config.toml"
    switches.write_text("[features]\nmemories = true\n", encoding="utf-8")
    (clients / ".claude" / "settings.json").write_text('{"autoMemoryEnabled": false}', encoding="utf-8")
    line = next(line for line in run().out.splitlines() if line.startswith("Left alone"))
    assert "Codex (memories are on); " in line
    assert "Windsurf (memories of Cascade, unknown whether on)" in line
    assert "Claude Code" not in line
    assert line in run("--write").err
    assert switches.read_text("utf-8") == "[features]\nmemories = true\n"
    assert (
        json.loads((clients / ".claude" / "settings.json").read_text("utf-8"))["autoMemoryEnabled"] is False
    )


def test_a_memory_that_a_project_switches_off_is_off_there(run: Run, clients: Path, project: Path) -> None:
    (project / ".claude").mkdir()
    (project / ".claude" / "settings.local.json").write_text('{"autoMemoryEnabled": false}', encoding="utf-8")
    claude = ("--client", "claude-code", "--json")
    assert run(*claude).json()["own_memories"] == ["Claude Code (auto memory is on)"]
    assert run("--project", *claude).json()["own_memories"] == []


@pytest.mark.parametrize("client", SERVED)
def test_a_client_is_found_by_its_folder_and_left_alone_without(client: str, run: Run, home: Path) -> None:
    for folder in homes(client):
        folder.mkdir(parents=True)
    before = {path for path in home.rglob("*") if path.is_dir()}
    result = run("--write", "--json")
    assert {step["client"] for step in result.json()["steps"]} == {client}
    made = {path for path in home.rglob("*") if path.is_dir()} - before
    assert {path.relative_to(home).parts[0] for path in made} - {".neosian"} <= {
        path.relative_to(home).parts[0] for path in homes(client)
    }


def test_a_client_that_was_never_started_gets_no_folder(run: Run, home: Path, tmp_path: Path) -> None:
    program = tmp_path / "bin" / "claude"
    program.write_text("#!/bin/sh\necho '2.1.332 (Claude Code)'\n")
    program.chmod(0o755)
    result = run("--write", "--json")
    assert (result.code, set(result.states().values())) == (1, {"later"})
    assert written(home) == {}
    assert "start Claude Code once" in result.json()["steps"][0]["try"]


def test_for_a_client_that_was_never_started_nothing_is_made_or_told(run: Run, home: Path) -> None:
    result = run("--client", "codex", "--write")
    assert (result.code, written(home)) == (1, {})
    assert "start Codex once" in result.err
    assert "/hooks" not in result.err
    assert "Left alone" not in result.err


def test_only_the_named_clients_are_wired(run: Run, clients: Path) -> None:
    result = run("--client", "cursor", "--client", "claude-code", "--write", "--json")
    assert {client for client, _ in result.states()} == {"cursor", "claude-code"}
    assert not any(file.exists() for file in files_of("gemini-cli"))


def test_an_unknown_client_is_refused_by_name(run: Run) -> None:
    result = run("--client", "emacs")
    assert (result.code, "claude-code" in result.err) == (2, True)


def test_the_folders_that_clients_are_told_to_use_are_used(
    run: Run, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    moved = {"CLAUDE_CONFIG_DIR": "claude", "CODEX_HOME": "codex", "GEMINI_CLI_HOME": "gemini"}
    for name, folder in moved.items():
        (tmp_path / folder / ".gemini").mkdir(parents=True)
        monkeypatch.setenv(name, str(tmp_path / folder))
    assert run("--write").code == 0
    for folder in (
        "claude/settings.json",
        "claude/.claude.json",
        "codex/hooks.json",
        "gemini/.gemini/settings.json",
    ):
        assert "neosian" in (tmp_path / folder).read_text()
    assert set(written(home)) == {".neosian/bin/neosian-hook"}


@pytest.mark.parametrize(
    "text",
    [
        None, "{}", "{}\n", '{"a": 1}', '{\n  "a": 1\n}\n', '{\r\n\t"a": 1,\r\n\t"b": [2]\r\n}\r\n', "\ufeff{}",
        '{"hooks": {}}', '{"hooks": {"Stop": []}, "mcpServers": {}}', '{"mcpServers": {"a": {"command": "x"}}}',
    ],
)  # fmt: skip
def test_it_goes_byte_for_byte(text: str | None, run: Run, clients: Path) -> None:
    if text is not None:
        for client in SERVED:
            hooks = installer(client).HOOKS
            whole = (
                {Path(hooks.user_file(os.environ))} if hooks and isinstance(hooks.shape, OwnFile) else set()
            )
            for file in {*files_of(client)} - whole:
                if file.suffix == ".json":
                    file.parent.mkdir(parents=True, exist_ok=True)
                    file.write_bytes(text.encode())
    before, folders = written(clients), folders_below(clients)
    run("--write")
    assert written(clients) != before
    assert run("--uninstall", "--write").code == 0
    assert written(clients) == before
    assert folders_below(clients) == folders
    assert not (clients / ".neosian").exists()


def test_what_changed_meanwhile_stays(run: Run, clients: Path) -> None:
    file = files_of("gemini-cli")[0]
    file.write_text('{"theme": "dark"}\n')
    run("--write")
    value = json.loads(file.read_text())
    value["model"] = "theirs"
    file.write_text(json.dumps(value, indent=2))
    assert run("--uninstall", "--write").code == 0
    assert json.loads(file.read_text()) == {"theme": "dark", "model": "theirs"}
    assert [path.name for path in file.parent.iterdir()] == [file.name]


def test_hooks_and_server_of_one_file_have_one_backup(run: Run, clients: Path) -> None:
    file = files_of("gemini-cli")[0]
    file.write_text('{"theme": "dark"}\n')
    run("--write")
    backup = file.with_name(file.name + ".neosian-backup")
    assert backup.read_text() == '{"theme": "dark"}\n'
    for verb in ("record", "mcp"):
        assert cli.main([verb, "uninstall", "--client", "gemini-cli", "--user", "--write"]) == 0
        assert backup.exists() == (verb == "record")
    assert file.read_text() == '{"theme": "dark"}\n'


def test_a_file_that_cannot_be_edited_is_told_and_the_others_are_written(run: Run, clients: Path) -> None:
    file = Path(hooks_of("claude-code").user_file(os.environ))
    file.write_text('{// mine\n"a": 1}\n')
    result = run("--write")
    assert (result.code, file.read_text()) == (1, '{// mine\n"a": 1}\n')
    assert str(file) in result.err
    assert "neosian" in files_of("gemini-cli")[0].read_text()
    assert run("--uninstall", "--write").code == 0


def test_a_project_gets_files_of_its_own(run: Run, clients: Path, project: Path) -> None:
    before = bytes_below(project)
    result = run("--project", "--write", "--json")
    changed = [step for step in result.json()["steps"] if step["state"] == "change"]
    assert changed
    assert all(step["file"].startswith(str(project)) for step in changed)
    assert set(written(clients)) == {".neosian/bin/neosian-hook", ".neosian/made-folders.json"}
    assert run("--project", "--uninstall", "--write").code == 0
    assert bytes_below(project) == before
    assert set(written(clients)) == {".neosian/bin/neosian-hook"}
    assert {path.name for path in project.iterdir()} == {".git"}
    assert (clients / ".neosian/bin/neosian-hook").exists()


@pytest.mark.parametrize(
    ("link", "target", "client"),
    [
        (".opencode/plugins/neosian.js", ".profile", "opencode"),
        (".opencode", "victim", "opencode"),
        (".claude/settings.json", "vscode.json", "claude-code"),
        (".mcp.json", "victim/none.json", "claude-code"),
    ],
)
def test_a_project_whose_link_leads_out_of_it_writes_nothing_there(
    run: Run, clients: Path, project: Path, link: str, target: str, client: str
) -> None:
    (clients / "victim").mkdir()
    (clients / "vscode.json").write_text('{"editor": 1}')
    (project / link).parent.mkdir(parents=True, exist_ok=True)
    (project / link).symlink_to(clients / target)
    before = written(clients)
    result = run("--project", "--client", client, "--write")
    of_ours = {".neosian/bin/neosian-hook", ".neosian/made-folders.json"}
    assert (result.code, set(written(clients)) - set(before) - of_ours) == (1, set())
    assert (clients / "vscode.json").read_text() == '{"editor": 1}'
    assert f"leads out of the project, to {clients / target}" in result.err


def test_what_a_link_out_of_a_project_leads_to_is_not_removed(run: Run, clients: Path, project: Path) -> None:
    run("--project", "--client", "opencode", "--write")
    (project / ".opencode").rename(clients / "theirs")
    (project / ".opencode").symlink_to(clients / "theirs")
    before = written(clients)
    result = run("--project", "--uninstall", "--client", "opencode", "--write")
    assert (result.code, written(clients)) == (1, before)


def test_a_link_within_a_project_is_followed(run: Run, project: Path, clients: Path) -> None:
    (project / "config").mkdir()
    (project / ".claude").symlink_to("config")
    assert run("--project", "--client", "claude-code", "--write").code == 0
    assert (project / "config" / "settings.json").exists()


def test_what_has_no_project_file_is_left_out_but_by_name(run: Run, clients: Path) -> None:
    both = [name for name in SERVED if not installer(name).MCP.project_files]
    assert {run("--project", "--json").states()[name, "server"] for name in both} == {"left out"}
    assert run("--project", "--client", "claude-desktop", "--json").states() == {
        ("claude-desktop", "server"): "change"
    }


def test_a_folder_that_is_no_project_is_refused(
    run: Run, clients: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(clients)
    result = run("--project", "--write")
    assert (result.code, written(clients)) == (2, {})
    assert "is no project" in result.err


def test_the_way_back_of_one_client_leaves_the_launcher_to_the_others(run: Run, clients: Path) -> None:
    run("--write")
    run("--uninstall", "--client", "cursor", "--write")
    assert not any(file.exists() for file in files_of("cursor"))
    assert (clients / ".neosian/bin/neosian-hook").exists()


def test_a_home_with_memory_stays_until_that_is_asked_for(run: Run, clients: Path, tmp_path: Path) -> None:
    other = Home(tmp_path / "h")
    run("--root", str(other.path), "--write")
    other.talk().land("Hello")
    run("--root", str(other.path), "--uninstall", "--write")
    assert (other.path / "scopes").exists()
    (other.path / "mine.txt").write_text("mine")
    result = run("--root", str(other.path), "--uninstall", "--memory", "--write")
    assert (result.code, (other.path / "scopes").exists()) == (1, True)
    assert "mine.txt" in result.err
    (other.path / "mine.txt").unlink()
    assert run("--root", str(other.path), "--uninstall", "--memory", "--write").code == 0
    assert not other.path.exists()


def test_all_levels_go_and_the_launcher_with_them(
    run: Run, clients: Path, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = written(clients), bytes_below(project)
    run("--write")
    run("--project", "--write")
    (project / "src").mkdir()
    monkeypatch.chdir(project / "src")
    assert str(project / ".mcp.json") in run("--uninstall").out
    assert run("--uninstall", "--write").code == 0
    assert (written(clients), bytes_below(project)) == before
    assert {path.name for path in project.iterdir()} == {".git", "src"}
    assert not (clients / ".neosian").exists()


def test_one_clients_lines_go_from_all_levels(run: Run, clients: Path, project: Path) -> None:
    run("--client", "cursor", "--write")
    run("--client", "cursor", "--project", "--write")
    run("--uninstall", "--client", "cursor", "--write")
    assert not (project / ".cursor").exists()
    assert not any(file.exists() for file in files_of("cursor"))


def test_other_projects_that_hold_our_lines_are_named(
    run: Run, clients: Path, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    others = [tmp_path / name for name in ("a b", "bare", "gone")]
    for folder in (project, *others):
        folder.mkdir(exist_ok=True)
        (folder / ".git").mkdir(exist_ok=True)
        projects.register(str(clients / ".neosian"), str(folder))
    run("--project", str(others[0]), "--client", "claude-code", "--write")
    run("--project", "--write")
    shutil.rmtree(others[2])
    monkeypatch.chdir(project)
    again = f"neosian setup --uninstall --project '{others[0]}' --write"
    for words in ([], ["--write"]):
        result = run("--uninstall", *words)
        assert result.code == 0
        assert f"The project in {others[0]} keeps what stands in its files.\n  try: {again}\n" in result.err
        assert result.err.count("keeps what stands") == 1
    assert run("--uninstall", "--json").json()["elsewhere"] == [{"folder": str(others[0]), "try": again}]
    assert run("--uninstall", "--project", str(others[0]), "--write").code == 0
    assert os.listdir(others[0]) == [".git"]
    assert run("--uninstall", "--json").json()["elsewhere"] == []


def test_a_register_that_cannot_be_read_does_not_keep_anything_in_place(run: Run, clients: Path) -> None:
    home = str(clients / ".neosian")
    projects.register(home, str(clients))
    run("--write")
    Path(projects.open_store(home, scope.user_scope()).path, projects.FILE).write_text("[[project")
    result = run("--uninstall", "--write")
    assert (result.code, files_of("cursor")[0].exists()) == (0, False)
    assert "nobody looked for other projects" in result.err


def test_a_server_that_another_wired_client_shares_stays(run: Run, clients: Path, project: Path) -> None:
    shared = project / ".mcp.json"
    run("--project", "--client", "claude-code", "--client", "copilot-cli", "--write")
    for words in (["--project", "--client", "copilot-cli"], ["--client", "copilot-cli"]):
        result = run("--uninstall", *words, "--write")
        assert (result.code, "neosian" in shared.read_text()) == (0, True)
        assert f"{shared} tells Claude Code of the server too, so the entry stays." in result.err
        assert "--client copilot-cli --client claude-code --write" in result.err
    assert not (project / ".github").exists()
    assert run("--uninstall", "--project", "--client", "claude-code", "--write").code == 0
    assert {path.name for path in project.iterdir()} == {".git"}


def test_a_server_goes_with_its_client_where_the_other_has_one_of_its_own(
    run: Run, clients: Path, project: Path
) -> None:
    run("--client", "claude-code", "--write")
    run("--project", "--client", "copilot-cli", "--write")
    assert run("--uninstall", "--project", "--client", "copilot-cli", "--write").code == 0
    assert {path.name for path in project.iterdir()} == {".git"}
    run("--project", "--client", "copilot-cli", "--write")
    assert cli.main(["mcp", "uninstall", "--client", "claude-code", "--user", "--write"]) == 0
    run("--uninstall", "--project", "--client", "copilot-cli", "--write")
    assert "neosian" in (project / ".mcp.json").read_text()


def test_a_file_that_two_clients_read_is_one_row(run: Run, clients: Path, project: Path) -> None:
    run("--project", "--write")
    shown = run("--uninstall", "--project")
    assert shown.out.count(f"{project}/.mcp.json\n") == 1 + len(["---"])
    assert "Claude Code, GitHub Copilot CLI" in shown.out
    steps = run("--uninstall", "--project", "--json").json()["steps"]
    (row,) = [step for step in steps if step["file"] == str(project / ".mcp.json")]
    assert (row["client"], row["others"]) == ("claude-code", ["copilot-cli"])


def test_a_folder_that_was_there_stays_and_one_that_was_made_goes(
    run: Run, clients: Path, project: Path
) -> None:
    (clients / ".cline" / "data").mkdir()
    (project / ".cursor").mkdir()
    run("--write")
    run("--project", "--write")
    (project / ".vscode" / "mine.json").write_text("{}")
    assert run("--uninstall", "--write").code == 0
    assert os.listdir(clients / ".cline" / "data") == []
    assert sorted(os.listdir(project)) == [".cursor", ".git", ".vscode"]
    assert os.listdir(project / ".cursor") == []
    assert not (clients / ".neosian").exists()


@pytest.mark.parametrize(
    ("client", "text"),
    [
        ("claude-code", '{// mine\n"a": 1}\n'), ("claude-code", '{"a": 1,}'), ("claude-code", '{"hooks": []}'),
        ("copilot-cli", '{"version": 1, "hooks": {}}'), ("gemini-cli", '{"hooks": {}, "hooks": {}}'),
        ("kimi-code", "[hooks"), ("cursor", None),
    ],
)  # fmt: skip
@pytest.mark.parametrize("level", [USER, PROJECT])
def test_a_refusal_names_the_command_that_prints_what_belongs_there(
    client: str, text: str | None, level: str, run: Run, clients: Path, project: Path,
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    project_file = hooks_of(client).project_file
    is_users = level == USER or project_file is None
    file = Path(
        project_file(str(project))
        if project_file and not is_users
        else hooks_of(client).user_file(os.environ)
    )
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("{}" if text is None else text)
    if text is None:
        file.chmod(0o400)
        monkeypatch.chdir(project)
    words = ["--client", client, *(["--project"] if level == PROJECT else [])]
    step = run(*words, "--json").json()["steps"][0]
    assert (step["state"], step["try"] != "") == ("refused", True)
    prints = f"neosian record install --client {client}" + (" --user" if is_users else "")
    assert step["prints"] == prints
    assert "neosian-hook" in step["paste"]
    for more in ([], ["--write"]):
        assert f"  try: {step['try']}\n  to print what belongs there: {prints}\n" in run(*words, *more).err
    capsys.readouterr()
    assert cli.main(prints.split()[1:]) == 0
    assert capsys.readouterr().out == step["paste"] + "\n"


def test_what_a_client_asks_for_can_be_printed(run: Run, clients: Path) -> None:
    step = run("--client", "goose", "--json").json()["steps"][0]
    assert (step["state"], step["prints"]) == ("by hand", "neosian mcp install --client goose --user")
    assert "neosian-memory:" in step["paste"]
    assert step["prints"] in run("--client", "goose").err


def test_the_command_for_a_project_elsewhere_names_its_folder(
    run: Run, clients: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "a b"
    (folder / ".cursor").mkdir(parents=True)
    for name in ("hooks.json", "mcp.json"):
        (folder / ".cursor" / name).write_text("{,}")
    steps = run("--client", "cursor", "--project", str(folder), "--json").json()["steps"]
    assert [cli.main(shlex.split(step["prints"])[1:]) for step in steps] == [0, 0]
    assert all(str(folder) in step["prints"] for step in steps)


@pytest.mark.parametrize(
    "theirs", ["bin/x", "log/mine", "cache/data.csv", "spool/y", "dream/z", "scopes/notes/a"]
)
def test_a_persons_files_within_a_home_keep_all_of_it(
    run: Run, clients: Path, tmp_path: Path, theirs: str
) -> None:
    home = Home(tmp_path / "h").path
    run("--root", str(home), "--write")
    (home / theirs).parent.mkdir(parents=True, exist_ok=True)
    (home / theirs).write_text("precious")
    before = written(tmp_path)
    result = run("--root", str(home), "--uninstall", "--memory", "--write")
    assert (result.code, written(tmp_path)) == (1, before)
    assert os.path.join(*theirs.split("/")[:2]) in result.err


def test_a_folder_that_was_never_a_home_is_left_alone(run: Run, clients: Path, tmp_path: Path) -> None:
    tools = tmp_path / "tools"
    for name in ("bin/x", "log/mine"):
        (tools / name).parent.mkdir(parents=True)
        (tools / name).write_text("precious")
    result = run("--root", str(tools), "--uninstall", "--memory", "--write")
    assert (result.code, (tools / "bin/x").read_text()) == (1, "precious")
    assert "shows that it is a home" in result.err


def test_a_persons_empty_folders_stay(run: Run, clients: Path, tmp_path: Path) -> None:
    empty = tmp_path / "work" / "bin"
    empty.mkdir(parents=True)
    assert run("--root", str(empty.parent), "--uninstall", "--write").code == 0
    assert empty.is_dir()


def test_a_persons_program_of_the_launchers_name_stays(run: Run, clients: Path, tmp_path: Path) -> None:
    theirs = tmp_path / "work" / "bin" / "neosian-hook"
    theirs.parent.mkdir(parents=True)
    theirs.write_text("#!/bin/sh\nmine\n")
    run("--root", str(tmp_path / "work"), "--uninstall", "--write")
    assert theirs.exists()


def test_memory_stays_while_hooks_that_record_into_it_do(run: Run, clients: Path) -> None:
    run("--write")
    home = clients / ".neosian"
    file = Path(hooks_of("claude-code").user_file(os.environ))
    file.write_text("// mine\n" + file.read_text("utf-8"), encoding="utf-8")
    result = run("--uninstall", "--memory", "--write")
    assert (result.code, launcher_path(home).exists()) == (1, True)
    assert "The home stays" in result.err


def test_memory_is_not_removed_for_one_client(run: Run, clients: Path) -> None:
    assert run("--memory").code == 2
    assert run("--uninstall", "--memory", "--client", "cursor").code == 2


def test_secrets_around_a_change_are_not_shown(run: Run, clients: Path) -> None:
    secret = "ghp_" + "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7cF0xR" + "4tLq"
    files_of("gemini-cli")[0].write_text(json.dumps({"env": {"GITHUB_TOKEN": secret}}, indent=2))
    result = run()
    assert "GITHUB_TOKEN" in result.out
    assert secret not in result.out + run("--json").out


def test_a_person_at_a_terminal_is_asked(run: Run, clients: Path, project: Path) -> None:
    assert "Write this? [y/N]" in at_terminal("n\n", project, "--client", "cursor")
    assert not files_of("cursor")[0].exists()
    assert "written" in at_terminal("y\n", project, "--client", "cursor")
    assert files_of("cursor")[0].exists()


def test_all_is_told_before_the_question(run: Run, clients: Path, project: Path) -> None:
    file = Path(hooks_of("claude-code").user_file(os.environ))
    file.write_text("{,}")
    words = ["--client", "claude-code", "--client", "codex", "--client", "cursor"]
    before, _, after = at_terminal("y\n", project, *words, code=1).partition("Write this?")
    told = [
        f"{file} was left as it is",
        "warning: Not verified",
        "say /hooks",
        "try: codex mcp add",
        "Left alone",
    ]
    for each in told:
        assert each in before
        assert each not in after
    projects.register(str(clients / ".neosian"), str(project))
    file.write_text('{"neosian": 1,}')
    run("--project", str(project), "--client", "cursor", "--write")
    before, _, after = at_terminal("y\n", clients, "--uninstall", code=1).partition("Take this out?")
    for each in (f"{file} was left as it is", f"The project in {project} keeps"):
        assert each in before
        assert each not in after


def test_a_launcher_that_is_gone_is_asked_for(run: Run, clients: Path, project: Path) -> None:
    run("--client", "cursor", "--write")
    launcher = launcher_path(clients / ".neosian")
    assert "Write this?" not in at_terminal("", project, "--client", "cursor")
    launcher.unlink()
    assert "Write this?" in at_terminal("y\n", project, "--client", "cursor")
    assert os.access(launcher, os.X_OK)
    assert "Take this out?" not in at_terminal("", project, "--client", "zed", "--uninstall")


def at_terminal(answer: str, folder: Path, *words: str, code: int = 0) -> str:
    """What `neosian setup` says to somebody who answers."""
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "neosian", "setup", *words]
    child = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, cwd=folder)
    os.close(theirs)
    os.write(ours, answer.encode())
    said = b""
    while True:
        try:
            piece = os.read(ours, 4096)
        except OSError:
            break
        said += piece
        if not piece:
            break
    assert child.wait() == code
    os.close(ours)
    return said.decode()


def test_files_of_the_user_are_private(run: Run, clients: Path) -> None:
    run("--write")
    modes = {stat.S_IMODE(file.stat().st_mode) for client in WHOLE for file in files_of(client)}
    assert modes == {0o600}
