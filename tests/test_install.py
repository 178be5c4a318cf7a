"""Hooks into a client's settings and out again, with real files, a fake home and a real program on the PATH."""

from __future__ import annotations

import argparse
import json
import os
import re
import shlex
import shutil
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from neosian import install, launcher, resources, settings
from neosian.clients import claude_code, claude_install
from neosian.clients.hook_files import GROUPS
from neosian.commands import record_install
from neosian.errors import NeosianError, UsageError
from tests.test_settings import VALUES

LINE = 'h="${NEOSIAN_HOME:-$HOME/.neosian}/bin/neosian-hook"; [ -x "$h" ] || exit 0; exec "$h" claude-code '
TEMPLATE = "#!/bin/sh\n# python @PYTHON@ git @GIT@ stub @STUB@\n"
SLEEP = shutil.which("sleep") or "/bin/sleep"


class Result(NamedTuple):
    code: int
    out: str
    err: str

    def json(self) -> Any:
        return json.loads(self.out)


Run = Callable[..., Result]


@pytest.fixture
def home(private_home: Path) -> Path:
    """A home in which Claude Code was started once."""
    (private_home / ".claude").mkdir()
    return private_home


@pytest.fixture
def bin_(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only folder on the PATH: git, and a ``claude`` that tells its version."""
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "git").symlink_to(shutil.which("git") or "")
    monkeypatch.setenv("PATH", str(folder))
    claude(folder, "echo '2.1.332 (Claude Code)'")
    return folder


def claude(folder: Path, script: str) -> None:
    program = folder / "claude"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A git work tree; the tests run in a folder of it."""
    folder = tmp_path / "shop"
    (folder / ".git").mkdir(parents=True)
    (folder / "src").mkdir()
    monkeypatch.chdir(folder / "src")
    return folder


@pytest.fixture
def run(
    home: Path,
    bin_: Path,
    project: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Run:
    """The command as the dispatcher calls it; errors are shown as it shows them."""
    text = resources.text
    monkeypatch.setattr(
        resources, "text", lambda folder, name: TEMPLATE if name == launcher.NAME else text(folder, name)
    )

    def call(verb: str, *words: str) -> Result:
        parser = argparse.ArgumentParser()
        getattr(record_install, f"configure_{verb}")(parser)
        capsys.readouterr()
        try:
            code = getattr(record_install, f"run_{verb}")(
                parser.parse_args(["--client", "claude-code", *words])
            )
        except NeosianError as error:
            code = 2 if isinstance(error, UsageError) else 1
            print(f"{error}\n{error.hint}", file=sys.stderr)
        said = capsys.readouterr()
        return Result(code, said.out, said.err)

    return call


@pytest.fixture
def user_file(home: Path) -> Path:
    return home / ".claude" / "settings.json"


def ours(file: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(file.read_text("utf-8-sig"))["hooks"]
    return found


# The fragment ------------------------------------------------------------------------------------


def test_the_fragment_is_printed_and_nothing_is_written(run: Run, home: Path, project: Path) -> None:
    result = run("install")

    assert result.code == 0
    assert list(result.json()) == ["hooks"]
    assert str(project / ".claude" / "settings.json") in result.err
    assert result.err.endswith("next: neosian record install --client claude-code --write\n")
    assert "subdirectory" in result.err
    assert sorted(os.listdir(home)) == [".claude", ".gitconfig"]
    assert os.listdir(home / ".claude") == []
    assert not (project / ".claude").exists()


def test_the_next_command_is_the_same_one_and_writes(run: Run) -> None:
    result = run("install", "--user", "--scope", "team:my x", "--no-recall")
    again = "neosian record install --client claude-code --user --scope 'team:my x' --no-recall --write"
    assert result.err.endswith(f"next: {again}\n")


def test_every_event_is_hooked_with_its_verb_and_a_timeout(run: Run) -> None:
    hooks = run("install").json()["hooks"]

    assert hooks["Stop"] == [{"hooks": [{"type": "command", "command": LINE + "stop", "timeout": 30}]}]
    assert list(hooks) == list(claude_code.EVENTS)
    for event, [group] in hooks.items():
        [entry] = group["hooks"]
        assert entry["command"] == LINE + claude_code.VERB[event]
        assert 1.5 < entry["timeout"] <= 60


def test_without_recall_the_line_of_a_prompt_only_records(run: Run, user_file: Path) -> None:
    run("install", "--user", "--write")
    with_recall = user_file.read_bytes()
    run("install", "--user", "--write", "--no-recall")
    [group] = ours(user_file)["UserPromptSubmit"]

    assert [entry["command"] for entry in group["hooks"]] == [LINE + "note"]
    run("install", "--user", "--write")
    assert user_file.read_bytes() == with_recall


@pytest.mark.parametrize(
    ("script", "version", "early_only"),
    [
        ("echo '2.1.332 (Claude Code)'", "2.1.332", False),
        ("echo 2.1.197", "2.1.197", False),
        ("echo v3.0.0", "3.0.0", False),
        ("echo '2.0.14 (Claude Code)'", "2.0.14", True),
        ("echo hello", None, False),
        ("echo 2.1", None, False),
        ("echo 2.1.332; exit 1", None, False),
        ("printf '2\\0000'", None, False),
        ("printf '\\377\\376'", None, False),
        (f"{SLEEP} 7 & echo 2.1.332", "2.1.332", False),
        (f"{SLEEP} 60 & exec {SLEEP} 60", None, False),
    ],
)
def test_only_events_that_the_installed_client_knows_are_used(
    run: Run, bin_: Path, monkeypatch: pytest.MonkeyPatch, script: str, version: str | None, early_only: bool
) -> None:
    claude(bin_, script)
    monkeypatch.setattr(install, "_ASKING", 0.5)
    began = time.monotonic()

    answer = run("install", "--json").json()

    assert time.monotonic() - began < 5
    assert answer["version"] == version
    assert ("PostToolBatch" in answer["events"]) is not early_only
    assert "SessionStart" in answer["events"]
    assert bool(answer["warnings"]) is (version is None or early_only)


def test_a_client_that_is_not_there_gets_the_oldest_supported_set(run: Run, bin_: Path) -> None:
    (bin_ / "claude").unlink()

    answer = run("install", "--json").json()

    assert answer["version"] is None
    assert answer["events"] == [
        event for event, since in claude_code.EVENTS.items() if since <= claude_code.OLDEST
    ]


def test_the_client_is_asked_in_its_own_environment(
    run: Run, bin_: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    claude(bin_, 'echo "$THEIRS"')
    monkeypatch.setenv("THEIRS", "2.1.250")

    assert run("install", "--json").json()["version"] == "2.1.250"


# The line ----------------------------------------------------------------------------------------


def test_root_scope_and_mounts_are_spelled_into_the_line(run: Run, tmp_path: Path) -> None:
    root = tmp_path / "it's home"
    result = run(
        "install",
        "--root", str(root),
        "--scope", "user:alice/proj:a shop",
        "--mount", "/team=team:x:ro",
    )  # fmt: skip

    command = result.json()["hooks"]["Stop"][0]["hooks"][0]["command"]
    assert shlex.split(command)[0] == f"h={root}/bin/neosian-hook;"
    assert shlex.split(command)[-6:] == [
        "claude-code", "stop", "--scope", "user:alice/proj:a shop", "--mount", "/team=team:x:ro",
    ]  # fmt: skip
    assert launcher.is_hook_line(command)


@pytest.mark.parametrize(
    "words",
    [
        ("--scope", "alice"),
        ("--scope", ""),
        ("--scope", "user:"),
        ("--scope", "user:alice/"),
        ("--scope", "user:a\nb"),
        ("--scope", "user:a\u2028b"),
        ("--scope", "user:\udcff"),
        ("--scope=-x:y",),
        ("--scope", "https://example.org/x"),
        ("--mount", "user:alice"),
        ("--mount", "team=team:x"),
        ("--mount", "/team=team"),
        ("--mount", "/te\nam=team:x"),
        ("--root", ""),
        ("--root", "a\nb"),
        ("--project", "/nowhere"),
    ],
)
def test_what_cannot_stand_in_a_line_is_a_wrong_invocation(run: Run, words: tuple[str, ...]) -> None:
    result = run("install", "--write", *words)

    assert result.code == 2
    assert result.out == ""


def test_the_line_does_nothing_where_neosian_is_not_installed(home: Path) -> None:
    done = subprocess.run(["/bin/sh", "-c", launcher.hook_line("claude-code", "stop")], capture_output=True)

    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


@pytest.mark.parametrize("where", ["default", "NEOSIAN_HOME", "root"])
def test_the_line_finds_the_launcher_of_the_home(
    tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    folder = home / ".neosian" if where == "default" else tmp_path / "it's $HOME"
    program = launcher.launcher_path(folder)
    program.parent.mkdir(parents=True)
    program.write_text('#!/bin/sh\necho "$0|$*"\n')
    program.chmod(0o700)
    if where == "NEOSIAN_HOME":
        monkeypatch.setenv("NEOSIAN_HOME", str(folder))
    line = launcher.hook_line("claude-code", "note", "--scope 'a:b c'", folder if where == "root" else None)

    said = subprocess.check_output(["/bin/sh", "-c", line], text=True)

    assert said == f"{program}|claude-code note --scope a:b c\n"


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        (LINE + "stop", True),
        ('h="$HOME/.neosian/bin/neosian-hook"; [ -x "$h" ] || exit 0; exec "$h" claude-code Stop', True),
        ('h="$HOME/.neosian/bin/neosian-hook"; my-backup --now; "$h" claude-code stop', False),
        ('h="$HOME/x/neosian-hook"; [ -x "$h" ] || exit 0; my-backup; exec "$h" claude-code stop', False),
        ('h="$HOME/x/neosian-hook"; [ -x "$h" ] || exit 0; exec "$h" claude-code stop; my-backup', False),
        ("h=/opt/bin/neosian-hook; notify-send hi", False),
        ("~/.neosian/bin/neosian-hook claude-code stop\nmy-backup --now", False),
        ('~/.neosian/bin/neosian-hook claude-code stop "$(my-backup)"', False),
        ("~/.neosian/bin/neosian-hook claude-code stop `my-backup`", False),
        ("~/.neosian/bin/neosian-hook", False),
        ('h=\'/a b\'"\'"\'c/bin/neosian-hook\'; [ -x "$h" ] || exit 0; exec "$h" claude-code stop', True),
        ('"$HOME/.neosian/bin/neosian-hook" claude-code stop', True),
        ("~/.neosian/bin/neosian-hook claude-code stop --scope 'a:b;c'", True),
        ("exec /opt/neosian/bin/neosian-hook claude-code note", True),
        ('"C:\\Users\\a b\\.neosian\\bin\\neosian-hook" claude-code stop', True),
        ("/opt/bin/neosian-hook-wrapper stop", False),
        ("/opt/bin/my-neosian-hook stop", False),
        ("/opt/neosian-hook/run stop", False),
        ("notify; ~/.neosian/bin/neosian-hook claude-code stop", False),
        ("~/.neosian/bin/neosian-hook claude-code stop && notify", False),
        ("grep -q x ~/.neosian/bin/neosian-hook", False),
        ("echo neosian-hook", False),
        ("", False),
        ('h="unclosed/neosian-hook', False),
    ],
)
def test_a_line_of_ours_is_told_from_a_persons(command: str, expected: bool) -> None:
    assert launcher.is_hook_line(command) is expected


# Writing -----------------------------------------------------------------------------------------


def test_the_project_level_is_the_git_work_tree(run: Run, project: Path, home: Path) -> None:
    result = run("install", "--write")

    assert result.code == 0
    assert result.out == ""
    assert list(ours(project / ".claude" / "settings.json")) == list(claude_code.EVENTS)
    assert (home / ".neosian" / "bin" / "neosian-hook").exists()


def test_a_project_can_be_named(run: Run, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()

    run("install", "--write", "--project", str(tmp_path / "other"))

    assert (tmp_path / "other" / ".claude" / "settings.json").exists()


def test_the_user_level_is_the_clients_home(run: Run, user_file: Path) -> None:
    assert run("install", "--write", "--user").code == 0
    assert list(ours(user_file)) == list(claude_code.EVENTS)


def test_the_clients_own_variable_moves_its_home(
    run: Run, tmp_path: Path, user_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "elsewhere"))

    run("install", "--write", "--user")

    assert (tmp_path / "elsewhere" / "settings.json").exists()
    assert not user_file.exists()


@pytest.mark.parametrize("variable", [True, False])
def test_another_programs_home_is_never_made(
    run: Run, tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch, variable: bool
) -> None:
    (home / ".claude").rmdir()
    if variable:
        monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "elsewhere"))

    result = run("install", "--write", "--user")

    assert result.code == 1
    assert "is no folder" in result.err
    assert result.out == ""
    assert (
        "start Claude Code once, then run neosian record install --client claude-code --user --write"
        in result.err
    )
    assert not (home / ".claude").exists()
    assert not (tmp_path / "elsewhere").exists()


def test_a_home_folder_is_no_project(run: Run, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(home)

    result = run("install", "--write")

    assert result.code == 2
    assert "--user" in result.err
    assert run("install").code == 0
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(home / "x"))
    assert run("install", "--write").code == 2
    assert os.listdir(home / ".claude") == []


def test_the_user_level_needs_no_current_folder(
    run: Run, user_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()

    assert run("install", "--write").code == 2
    assert run("install", "--write", "--user").code == 0
    assert user_file.exists()


def test_a_second_run_changes_no_byte(run: Run, user_file: Path) -> None:
    user_file.write_text('{"model": "opus"}')
    run("install", "--write", "--user")
    before, when = user_file.read_bytes(), user_file.stat()

    result = run("install", "--write", "--user", "--json")

    assert user_file.read_bytes() == before
    assert user_file.stat().st_ino == when.st_ino
    assert result.json()["changed"] is False
    assert run("install", "--write", "--user").err.startswith(f"{user_file} is right already")


FOREIGN = """\
\ufeff{\r
    "model": "opus",\r
    "hooks": {\r
        "Stop": [\r
            { "matcher": "", "hooks": [ {"type":"command", "command":"say done"} ] }\r
        ],\r
        "Notification": [ ]\r
    },\r
\r
    "env" : { "K": "\\u00e9\\/", "n": 1.50e+1 }\r
}"""


def test_what_is_not_ours_keeps_its_bytes(run: Run, user_file: Path) -> None:
    user_file.write_bytes(FOREIGN.encode())
    user_file.chmod(0o640)

    assert run("install", "--write", "--user").code == 0

    after = user_file.read_bytes().decode()
    theirs = [line.rstrip(",") for line in FOREIGN.split("\r\n")]
    rest = iter(line.rstrip(",") for line in after.split("\r\n"))
    assert all(line in rest for line in theirs)
    assert "\n" not in after.replace("\r\n", "")
    assert ours(user_file)["Stop"][0]["hooks"] == [{"type": "command", "command": "say done"}]
    assert ours(user_file)["Stop"][1]["hooks"][0]["command"] == LINE + "stop"
    assert stat.S_IMODE(user_file.stat().st_mode) == 0o640
    assert run("uninstall", "--write", "--user").code == 0
    assert user_file.read_bytes() == FOREIGN.encode()
    assert os.listdir(user_file.parent) == ["settings.json"]


def test_a_changed_file_is_kept_beside_it_until_uninstall(run: Run, user_file: Path) -> None:
    user_file.write_text('{"model": "opus"}')
    user_file.chmod(0o600)
    backup = user_file.with_name("settings.json.neosian-backup")

    run("install", "--write", "--user")
    run("install", "--write", "--user", "--scope", "team:x")

    assert backup.read_text() == '{"model": "opus"}'
    assert stat.S_IMODE(backup.stat().st_mode) == 0o600


def test_settings_that_a_client_emptied_stay_in_their_backup(run: Run, user_file: Path) -> None:
    user_file.write_text('{"allow": ["precious"]}')
    run("install", "--write", "--user")
    user_file.write_text("{}")

    run("install", "--write", "--user")
    assert run("uninstall", "--write", "--user").code == 0

    assert user_file.read_text() == "{}"
    assert {path.name: path.read_text() for path in user_file.parent.iterdir()} == {
        "settings.json": "{}",
        "settings.json.neosian-backup": '{"allow": ["precious"]}',
    }


def test_settings_that_a_client_removed_stay_in_their_backup(run: Run, user_file: Path) -> None:
    user_file.write_text('{"allow": ["precious"]}')
    run("install", "--write", "--user")
    user_file.unlink()

    run("install", "--write", "--user")
    run("uninstall", "--write", "--user")

    assert "precious" in user_file.with_name("settings.json.neosian-backup").read_text()


@pytest.mark.parametrize("is_link", [False, True])
@pytest.mark.parametrize("before", [None, '{"model": "opus"}'])
def test_a_persons_own_file_of_a_backups_name_is_left_alone(
    run: Run, user_file: Path, before: str | None, is_link: bool
) -> None:
    theirs = user_file.with_name("settings.json.neosian-backup")
    target = user_file.with_name("target") if is_link else theirs
    target.write_text("mine")
    if is_link:
        theirs.symlink_to(target)
    if before:
        user_file.write_text(before)

    result = run("install", "--write", "--user")
    assert (f"As it was before: {theirs}-2" in result.err) is (before is not None)
    assert run("uninstall", "--write", "--user").code == 0

    assert (theirs.read_text(), theirs.is_symlink()) == ("mine", is_link)
    assert not user_file.with_name(theirs.name + "-2").exists()
    assert (user_file.read_text() if user_file.exists() else None) == before


OLD = 'h="$HOME/.neosian/bin/neosian-hook"; [ -x "$h" ] || exit 0; exec "$h" claude-code '


def test_older_lines_are_replaced_where_they_stand(run: Run, user_file: Path) -> None:
    entry = {"type": "command", "command": OLD + "Stop"}
    right = {"type": "command", "command": LINE + "note", "timeout": 10}
    theirs = {"type": "command", "command": "say done"}
    old = {
        "PreCompact": [{"matcher": "auto", "hooks": [entry]}, {"hooks": [theirs]}],
        "Stop": [{"hooks": [entry, theirs]}, {"hooks": [entry]}, {"hooks": [entry]}],
        "PreToolUse": [{"matcher": "Bash", "hooks": [right]}],
        "Notification": [{"hooks": [entry]}, {"hooks": [theirs]}],
        "MessageDisplay": [{"hooks": [entry]}],
    }
    user_file.write_text(json.dumps({"hooks": old}, indent=2))

    run("install", "--write", "--user")

    hooks = ours(user_file)
    assert hooks["PreCompact"] == [{"hooks": [right]}, {"hooks": [theirs]}]
    assert hooks["PreToolUse"] == [{"hooks": [right]}]
    assert hooks["Stop"] == [
        {"hooks": [theirs]},
        {"hooks": [{"type": "command", "command": LINE + "stop", "timeout": 30}]},
    ]
    assert hooks["Notification"] == [{"hooks": [theirs]}]
    assert "MessageDisplay" not in hooks


def test_a_right_hook_stays_where_a_person_put_it(run: Run, user_file: Path) -> None:
    run("install", "--write", "--user")
    value = json.loads(user_file.read_text())
    value["hooks"]["Stop"][0]["hooks"].append({"type": "command", "command": "say done"})
    value["hooks"]["Stop"].append({"hooks": []})
    user_file.write_text(json.dumps(value))
    before = user_file.read_bytes()

    run("install", "--write", "--user")

    assert user_file.read_bytes() == before


def test_a_link_to_a_dotfile_is_followed(run: Run, user_file: Path, tmp_path: Path) -> None:
    target = tmp_path / "dot.json"
    target.write_text("{}")
    user_file.symlink_to(target)

    run("install", "--write", "--user")
    assert user_file.is_symlink()
    assert "Stop" in ours(target)
    run("uninstall", "--write", "--user")

    assert user_file.is_symlink()
    assert target.read_text() == "{}"


def test_a_read_only_file_is_an_error_with_the_fragment(run: Run, user_file: Path) -> None:
    user_file.write_text("{}")
    user_file.chmod(0o444)

    result = run("install", "--write", "--user")

    assert result.code == 1
    assert "is read-only" in result.err
    assert user_file.read_text() == "{}"
    assert result.json()["hooks"]
    assert os.listdir(user_file.parent) == ["settings.json"]


def test_a_read_only_file_that_is_right_already_is_no_error(run: Run, user_file: Path) -> None:
    run("install", "--write", "--user")
    user_file.chmod(0o444)

    assert run("install", "--write", "--user").code == 0


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"a": 1} // mine', "a comment"),
        ('{"a": 1,}', "a comma with nothing after it"),
        ('{"a": NaN}', "NaN"),
        ("", "it is empty"),
        ("[]", "no JSON object"),
        ('{"hooks": []}', "hooks: it is not an object"),
        ('{"hooks": null}', "hooks: it is not an object"),
        ('{"hooks": {}, "hooks": {}}', "hooks: it stands there twice"),
        ('{"hooks": {"Stop": [], "Stop": []}}', "hooks.Stop: it stands there twice"),
        ('{"hooks": {"Stop": {}}}', "hooks.Stop: it is not a list"),
        ('{"permissions": "all"}', "permissions: it is not an object"),
        ('{"permissions": {"allow": "Bash"}}', "permissions.allow: it is not a list"),
        ('{"permissions": {"defaultMode": "wild"}}', "permissions.defaultMode: it is none of"),
        ('{"env": []}', "env: it is not an object"),
        ('{"model": 5}', "model: it is not a string"),
        ('{"cleanupPeriodDays": "7"}', "cleanupPeriodDays: it is no number above 0"),
    ],
)
def test_a_file_in_which_our_hooks_would_be_lost_is_refused_untouched(
    run: Run, user_file: Path, home: Path, text: str, reason: str
) -> None:
    user_file.write_text(text)

    result = run("install", "--write", "--user")

    assert result.code == 1
    assert reason in result.err
    assert user_file.read_text() == text
    assert result.json()["hooks"]["Stop"]
    assert os.listdir(user_file.parent) == ["settings.json"]
    assert (home / ".neosian" / "bin" / "neosian-hook").exists(), "or the pasted hooks would do nothing"
    assert run("install", "--user").code == 0
    refused = run("install", "--user", "--write", "--json")
    assert refused.code == 1
    assert reason in refused.json()["refused"]


BAD = [
    ({"type": "command", "command": "true", "timeout": "5"}, ".hooks[0].timeout"),
    ({"type": "command", "command": "true", "timeout": 0}, ".hooks[0].timeout"),
    ({"type": "command", "command": "true", "timeout": True}, ".hooks[0].timeout"),
    ({"type": "command"}, ".hooks[0].command"),
    ({"type": "http"}, ".hooks[0].url"),
    ({"type": "mcp_tool", "tool": "x"}, ".hooks[0].server"),
    ({"type": "shout", "command": "true"}, ".hooks[0].type"),
    ({"type": "command", "command": "true", "async": "yes"}, ".hooks[0].async"),
    ("true", ".hooks[0]"),
]


@pytest.mark.parametrize(("entry", "path"), BAD)
def test_a_bad_entry_refuses_the_file_only_where_the_client_drops_it(
    run: Run, user_file: Path, bin_: Path, entry: Any, path: str
) -> None:
    user_file.write_text(json.dumps({"hooks": {"Stop": [{"hooks": [entry]}]}}))

    skipped = run("install", "--user", "--json").json()
    claude(bin_, "echo 2.1.197")
    dropped = run("install", "--user", "--json").json()

    assert skipped["refused"] is None
    assert f"hooks.Stop[0]{path}: " in skipped["warnings"][0]
    assert f"hooks.Stop[0]{path}: " in dropped["refused"]


@pytest.mark.parametrize(
    ("text", "warning"),
    [
        ('{"hooks": {"Unheard": []}}', "hooks.Unheard: not known as an event"),
        ('{"hooks": {"Notification": {}}}', "hooks.Notification: it is not a list"),
        ('{"disableAllHooks": true}', "disableAllHooks: it is true"),
        ('{"a": {"b": 1, "b": 2}}', "a.b: it stands there twice"),
        (
            '{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"a; ~/.neosian/bin/neosian-hook x"}]}]}}',
            "hooks.Stop[0].hooks[0].command calls neosian-hook",
        ),
    ],
)
def test_what_troubles_only_its_owner_is_a_warning(
    run: Run, user_file: Path, text: str, warning: str
) -> None:
    user_file.write_text(text)

    result = run("install", "--user", "--write")

    assert result.code == 0
    assert warning in result.err
    assert "SessionStart" in ours(user_file)


def test_an_event_of_a_newer_client_is_no_trouble_there(run: Run, user_file: Path, bin_: Path) -> None:
    user_file.write_text('{"hooks": {"PreModelSwitch": []}}')

    assert run("install", "--user", "--json").json()["warnings"] == []
    claude(bin_, "echo 2.1.197")
    assert "PreModelSwitch" in run("install", "--user", "--json").json()["warnings"][0]


def test_surroundings_that_surprise_are_told(run: Run, monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
    run("install", "--user", "--write")
    monkeypatch.setenv("NEOSIAN_HOME", str(home / "elsewhere"))

    warnings = " ".join(run("install", "--json").json()["warnings"])

    assert "has our hooks already" in warnings
    assert "NEOSIAN_HOME is set" in warnings


def test_json_tells_all_of_it(run: Run, user_file: Path, home: Path) -> None:
    answer = run("install", "--user", "--write", "--json").json()

    assert answer["file"] == str(user_file)
    assert (answer["changed"], answer["written"], answer["refused"]) == (True, True, None)
    assert answer["events"] == list(answer["fragment"]["hooks"])
    assert (answer["version"], answer["warnings"]) == ("2.1.332", [])
    assert answer["launcher"] == str(home / ".neosian" / "bin" / "neosian-hook")


# Uninstall ---------------------------------------------------------------------------------------


def test_uninstall_prints_what_would_go(run: Run, user_file: Path) -> None:
    run("install", "--user", "--write")
    before = user_file.read_bytes()

    result = run("uninstall", "--user")

    assert result.json() == json.loads(before)
    assert "--write" in result.err
    assert user_file.read_bytes() == before


def test_a_file_that_only_we_made_is_removed(run: Run, user_file: Path, project: Path) -> None:
    for words in (["--user"], []):
        run("install", "--write", *words)
        run("install", "--write", "--scope", "team:x", *words)
        assert run("uninstall", "--write", *words).code == 0

    assert os.listdir(user_file.parent) == []
    assert not (project / ".claude").exists()


@pytest.mark.parametrize(
    "text", ['{"a": 1}', "{}", "{ }\n", "{\n}\n", '{"hooks": {}}', '{"hooks": {"Stop": [ ]}}']
)
def test_a_file_that_was_there_stays(run: Run, user_file: Path, text: str) -> None:
    user_file.write_text(text)

    run("install", "--user", "--write")
    run("install", "--user", "--write", "--scope", "team:x")
    run("uninstall", "--user", "--write")

    assert user_file.read_text() == text


def test_what_a_person_added_since_stays(run: Run, user_file: Path) -> None:
    user_file.write_text('{\n  "a": 1\n}\n')
    run("install", "--user", "--write")
    user_file.write_text(user_file.read_text().replace('"a": 1', '"a": 1,\n  "b": 2'))

    run("uninstall", "--user", "--write")

    assert user_file.read_text() == '{\n  "a": 1,\n  "b": 2\n}\n'
    assert os.listdir(user_file.parent) == ["settings.json"]


def test_a_person_s_hook_beside_ours_stays(run: Run, user_file: Path) -> None:
    theirs = {"type": "command", "command": "say done"}
    run("install", "--user", "--write")
    value = json.loads(user_file.read_text())
    value["hooks"]["Stop"][0]["hooks"].append(theirs)
    user_file.write_text(json.dumps(value, indent=2))

    run("uninstall", "--user", "--write")

    assert json.loads(user_file.read_text()) == {"hooks": {"Stop": [{"hooks": [theirs]}]}}


@pytest.mark.parametrize("text", [None, "{}", '{"hooks": {"Stop": [{"hooks": [{"command": "x"}]}]}}'])
def test_without_hooks_of_ours_uninstall_touches_nothing(run: Run, user_file: Path, text: str | None) -> None:
    if text is not None:
        user_file.write_text(text)

    result = run("uninstall", "--user", "--write")

    assert result.code == 0
    assert "no hook of neosian" in result.err
    assert (user_file.read_text() if user_file.exists() else None) == text


def test_uninstall_refuses_what_it_cannot_read(run: Run, user_file: Path) -> None:
    user_file.write_text("{,}")

    for words in ([], ["--write"], ["--json"]):
        result = run("uninstall", "--user", *words)
        assert result.code == 1
        assert "not plain JSON" in result.err

    assert user_file.read_text() == "{,}"


def test_the_launcher_stays_for_other_clients(run: Run, home: Path) -> None:
    run("install", "--user", "--write")
    run("uninstall", "--user", "--write")

    assert (home / ".neosian" / "bin" / "neosian-hook").exists()


GROUP = st.builds(
    lambda command, matcher: {"matcher": matcher, "hooks": [{"type": "command", "command": command}]},
    st.sampled_from(["say done", 'h="x"; echo "{[,"', LINE + "stop --scope old:one", OLD + "Stop"]),
    st.sampled_from(["", "Bash", "*"]),
)
HOOKS = st.dictionaries(
    st.sampled_from(["Stop", "PreToolUse", "Notification", "Later"]), st.lists(GROUP, max_size=3), max_size=3
)
STYLES = st.tuples(
    st.sampled_from([None, 0, 2, 3, "\t"]), st.sampled_from(["\n", "\r\n"]), st.sampled_from(["", "\n"])
)


def written(value: Any, style: tuple[Any, str, str]) -> str:
    indent, newline, end = style
    return json.dumps(value, indent=indent, ensure_ascii=False).replace("\n", newline) + end


def without_ours(hooks: dict[str, Any]) -> dict[str, Any]:
    """A simple model of what is left of hooks: lists that held only ours are gone."""
    left = {}
    for event, groups in hooks.items():
        theirs = [group for group in groups if "neosian-hook" not in json.dumps(group)]
        if theirs or not groups:
            left[event] = theirs
    return left


@hypothesis_settings(
    max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None
)
@given(st.dictionaries(st.sampled_from(["a", "b c", "ü"]), VALUES, max_size=3), st.none() | HOOKS, STYLES)
def test_any_settings_come_back_as_they_were(
    run: Run,
    user_file: Path,
    others: dict[str, Any],
    hooks: dict[str, Any] | None,
    style: tuple[Any, str, str],
) -> None:
    backup = user_file.with_name("settings.json.neosian-backup")
    backup.unlink(missing_ok=True)
    value = others if hooks is None else {**others, "hooks": hooks, "last": 1}
    text = written(value, style)
    user_file.write_bytes(text.encode())

    run("install", "--user", "--write")
    once = user_file.read_bytes()
    run("install", "--user", "--write")
    assert user_file.read_bytes() == once
    data = json.loads(once)
    assert {key: data[key] for key in value if key != "hooks"} == others | (
        {"last": 1} if hooks is not None else {}
    )
    assert list(data)[: len(value)] == list(value)
    for event in claude_code.EVENTS:
        lines = [entry["command"] for group in data["hooks"][event] for entry in group["hooks"]]
        assert lines.count(LINE + claude_code.VERB[event]) == 1
        assert sum("neosian-hook" in line for line in lines) == 1

    run("uninstall", "--user", "--write")
    clean = without_ours(hooks or {})
    if clean == (hooks or {}):
        assert user_file.read_bytes() == text.encode()
    else:
        left = json.loads(user_file.read_bytes())
        assert left.pop("hooks", {}) == clean
        assert left == {key: data[key] for key in value if key != "hooks"}
    assert not backup.exists()


# The launcher ------------------------------------------------------------------------------------


@pytest.fixture
def template(monkeypatch: pytest.MonkeyPatch) -> None:
    text = resources.text
    monkeypatch.setattr(
        resources, "text", lambda folder, name: TEMPLATE if name == launcher.NAME else text(folder, name)
    )


@pytest.mark.usefixtures("template")
def test_the_launcher_has_absolute_paths_written_down(tmp_path: Path) -> None:
    old = os.umask(0)
    try:
        path = launcher.install_launcher(tmp_path / "home")
    finally:
        os.umask(old)

    _, _, python, _, git, _, stub = path.read_text().splitlines()[1].split()
    assert (python, git) == (sys.executable, shutil.which("git"))
    assert Path(stub) == Path(launcher.__file__).parent / "hook.py"
    for place in (tmp_path / "home", path.parent, path):
        assert stat.S_IMODE(place.stat().st_mode) == 0o700


@pytest.mark.usefixtures("template")
def test_paths_with_spaces_are_one_word(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/opt/my python/it's")

    text = launcher.install_launcher(tmp_path).read_text()

    assert shlex.split(text.splitlines()[1], comments=False)[2] == "/opt/my python/it's"


@pytest.mark.usefixtures("template")
def test_the_launcher_is_written_only_when_it_is_another(tmp_path: Path) -> None:
    path = launcher.install_launcher(tmp_path)
    first = path.stat()
    launcher.install_launcher(tmp_path)
    assert path.stat().st_ino == first.st_ino

    path.chmod(0o600)
    assert stat.S_IMODE(launcher.install_launcher(tmp_path).stat().st_mode) == 0o700
    path.write_text("old")
    assert launcher.install_launcher(tmp_path).read_text() != "old"


@pytest.mark.usefixtures("template")
def test_a_home_that_cannot_be_ours_is_a_clear_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file, locked = tmp_path / "file", tmp_path / "locked"
    file.write_text("")
    locked.mkdir(mode=0o500)

    with pytest.raises(NeosianError, match="is a file"):
        launcher.install_launcher(file)
    with pytest.raises(NeosianError, match="cannot be made"):
        launcher.install_launcher(file / "below")
    with pytest.raises(NeosianError, match="is read-only"):
        launcher.install_launcher(locked)
    monkeypatch.setattr(os, "getuid", lambda: tmp_path.stat().st_uid + 1)
    with pytest.raises(NeosianError, match="belongs to another user"):
        launcher.install_launcher(tmp_path)


def test_without_git_there_is_no_launcher(run: Run, bin_: Path, user_file: Path) -> None:
    (bin_ / "git").unlink()

    result = run("install", "--user", "--write")

    assert result.code == 1
    assert "no git on the PATH" in result.err
    assert not user_file.exists()


def test_the_shipped_template_becomes_a_sound_script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/opt/my python/it's")

    path = launcher.install_launcher(tmp_path)

    assert [shlex.split(line) for line in path.read_text().splitlines() if line.startswith("python=")] == [
        ["python=/opt/my python/it's"]
    ]
    assert not re.search("@[A-Z]+@", path.read_text())
    subprocess.run(["/bin/sh", "-n", str(path)], check=True)


@pytest.mark.parametrize("words", [("--root", "{}", "install"), ("install", "--root", "{}")])
def test_the_flags_of_record_count_on_either_side_of_the_verb(
    home: Path, bin_: Path, tmp_path: Path, words: tuple[str, ...]
) -> None:
    root = str(tmp_path / "memory")
    called = [sys.executable, "-m", "neosian", "record", *(word.format(root) for word in words)]

    done = subprocess.run(
        [*called, "--client", "claude-code", "--user", "--write", "--json"],
        cwd=Path(launcher.__file__).parent.parent,
        capture_output=True,
        text=True,
    )

    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["launcher"] == f"{root}/bin/neosian-hook"
    assert root in ours(home / ".claude" / "settings.json")["Stop"][0]["hooks"][0]["command"]


# The client's facts ------------------------------------------------------------------------------


def hooks_for(line: Callable[[str], str]) -> dict[str, Any]:
    return GROUPS.filled(resources.text("hooks", "claude-code.json"), claude_code.EVENTS, line)


def test_every_event_has_a_verb_and_a_limit() -> None:
    wanted = hooks_for(lambda verb: verb)

    assert set(wanted) == set(claude_code.EVENTS)
    assert all(item["hooks"][0]["command"] == claude_code.VERB[event] for event, item in wanted.items())


def test_our_own_fragment_has_no_problem() -> None:
    text = GROUPS.merge("{}", hooks_for(lambda verb: launcher.hook_line("claude-code", verb)))

    assert claude_install.problems(text, None) == []
    assert settings.parse(GROUPS.strip(text)) == {}
