"""`neosian doctor`: each fault is found by its own check, and what is safe to mend is whole again afterwards."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from neosian import doctor, health, install, mcp_install, merging
from neosian.index import Index
from neosian.launcher import install_launcher, launcher_path
from tests.factories import Home, bytes_below, fsck, git, prompts_of


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    """A home in which a turn has landed, and a client beside it that its person uses."""
    found = Home(tmp_path)
    install_launcher(found.path)
    found.talk().land("Hello")
    (tmp_path / "claude").mkdir()
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))
    monkeypatch.setenv("NEOSIAN_HOME", str(found.path))
    return found


@pytest.fixture
def settings(home: Home) -> Path:
    """The client's settings, with our hooks in them."""
    merging.carry_out(install.plan_install(install.Wish("claude-code", user=True), os.environ, "/"))
    return home.folder / "claude" / "settings.json"


def examine(home: Home) -> list[doctor.Finding]:
    return doctor.examine(str(home.path), str(home.project), os.environ)


def told(home: Home) -> list[tuple[str, str]]:
    return [(each.about, each.what) for each in examine(home)]


def mend(home: Home) -> list[str]:
    """Mend what can be; what was done. Every act must go well, and nothing be left."""
    done = doctor.mend(examine(home))
    assert [said for is_well, said in done if not is_well] == []
    assert told(home) == []
    return [said for _, said in done]


def test_a_home_in_order_has_no_finding(home: Home, settings: Path) -> None:
    assert told(home) == []
    assert doctor.mend([]) == []


def test_looking_changes_nothing(home: Home, settings: Path) -> None:
    os.chmod(settings, 0o600)
    settings.write_text(settings.read_text().replace('"timeout": 20', '"timeout": 21'))
    kept = bytes_below(settings.parent), git(home.shop, "rev-parse", "main"), os.stat(home.path).st_mode
    assert told(home)
    assert (
        bytes_below(settings.parent),
        git(home.shop, "rev-parse", "main"),
        os.stat(home.path).st_mode,
    ) == kept


def test_a_home_that_is_not_there_is_no_fault(tmp_path: Path) -> None:
    assert doctor.examine(str(tmp_path / "none"), str(tmp_path), os.environ) == []


def test_files_that_others_can_reach_are_closed(home: Home) -> None:
    os.chmod(home.path, 0o755)
    os.chmod(home.path / "machine", 0o640)
    (found,) = examine(home)
    assert found.about == "home"
    assert "can be reached by other users" in found.what
    mend(home)
    assert [os.stat(path).st_mode & 0o777 for path in (home.path, home.path / "machine")] == [0o700, 0o600]


def test_the_modes_that_people_give_their_documents_are_theirs(home: Home) -> None:
    home.committed("project/a.md", "# A\n").chmod(0o644)
    assert told(home) == []


def test_what_its_owner_cannot_write_is_made_writable(home: Home) -> None:
    os.chmod(home.path / "spool" / "new", 0o500)
    assert [about for about, _ in told(home)] == ["home"]
    mend(home)
    assert os.stat(home.path / "spool" / "new").st_mode & 0o777 == 0o700


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_files_of_another_user_are_told_and_left(home: Home) -> None:
    os.chown(home.path / "machine", 12345, -1)
    (found,) = examine(home)
    assert "belong to another user" in found.what
    assert (found.mend, found.hint.split()[0]) == (None, "sudo")


@pytest.mark.parametrize("harm", ["older", "not to be run", "gone"])
def test_a_launcher_that_is_not_right_is_written_anew(harm: str, home: Home, settings: Path) -> None:
    path = launcher_path(home.path)
    if harm == "older":
        path.write_text(path.read_text() + "# of last year\n")
    elif harm == "gone":
        path.unlink()
    else:
        path.chmod(0o600)
    assert "launcher" in [about for about, _ in told(home)]
    mend(home)
    assert os.access(path, os.X_OK)


def test_another_python_in_the_launcher_is_as_good(home: Home) -> None:
    path = launcher_path(home.path)
    os.symlink(sys.executable, home.folder / "python")
    path.write_text(path.read_text().replace(f"python={sys.executable}", f"python={home.folder / 'python'}"))
    assert str(home.folder / "python") in path.read_text()
    assert told(home) == []


def test_hooks_that_call_a_launcher_which_is_gone_get_one(home: Home, tmp_path: Path) -> None:
    other = tmp_path / "other"
    (other / "spool").mkdir(parents=True, mode=0o700)
    wish = install.Wish("claude-code", user=True, root=str(other))
    merging.carry_out(install.plan_install(wish, os.environ, "/"))
    ((about, what),) = told(home)
    assert about == "launcher"
    assert f"call {launcher_path(other)}, which is not there" in what
    mend(home)
    assert os.access(launcher_path(other), os.X_OK)


def foreign(line: str, file: Path) -> None:
    """A client's settings with one hook line."""
    hooks = {"Stop": [{"hooks": [{"type": "command", "command": line}]}]}
    file.parent.mkdir(exist_ok=True)
    file.write_text(json.dumps({"hooks": hooks}))


STRANGE = (
    "{home}/.gemini/bin/neosian-hook", "sub/bin/neosian-hook", "~/x/bin/neosian-hook", "{home}/deep/er/neosian-hook",
    "{home}/a\nb/bin/neosian-hook", "{home}/\x1b[31m\u202e/bin/neosian-hook", "{home}/a\0b/bin/neosian-hook",
    "{home}/\ud800/bin/neosian-hook", "",
)  # fmt: skip


@pytest.mark.parametrize("level", ["user", "project"])
@pytest.mark.parametrize("path", STRANGE)
def test_a_launcher_that_is_not_of_a_home_of_ours_is_told_and_never_written(
    path: str, level: str, home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(home.project)
    (tmp_path / ".gemini").mkdir()
    folder = home.project / ".claude" if level == "project" else tmp_path / "claude"
    word = path.replace("{home}", str(tmp_path))
    named = word if word.startswith("~") else f"'{word}'"
    line = f'h={named}; [ -x "$h" ] || exit 0; exec "$h" claude-code stop'
    foreign(line if path else "neosian-hook claude-code stop", folder / "settings.json")
    kept = sorted(tmp_path.rglob("*"))
    found = [each for each in examine(home) if each.about == "launcher"]
    assert [each.mend for each in found] == [None]
    assert "neosian record install --client claude-code" in found[0].hint
    doctor.mend(examine(home))
    new = {path for path in set(tmp_path.rglob("*")) - set(kept) if home.path not in path.parents}
    assert {path for path in new if path.parent != folder} == set()  # beside its settings a backup may stand
    assert "launcher" in [about for about, _ in told(home)]


def test_a_home_that_only_a_project_names_gets_no_launcher(home: Home, tmp_path: Path) -> None:
    (tmp_path / "other" / "spool").mkdir(parents=True)
    foreign(f"{tmp_path}/other/bin/neosian-hook claude-code stop", home.project / ".claude" / "settings.json")
    doctor.mend(examine(home))
    assert not (tmp_path / "other" / "bin").exists()


def test_a_launcher_that_only_a_project_names_is_not_asked_what_it_starts(home: Home, tmp_path: Path) -> None:
    evil = tmp_path / "evil"
    evil.write_text(f"#!/bin/sh\ntouch {tmp_path}/started\n")
    launcher = home.project / "bin" / "neosian-hook"
    launcher.parent.mkdir()
    launcher.write_text(f"#!/bin/sh\npython={evil}\nstub={evil}\n")
    for path in (evil, launcher):
        path.chmod(0o755)
    foreign(f"{launcher} claude-code stop", home.project / ".claude" / "settings.json")
    told(home)
    assert not (tmp_path / "started").exists()


def test_hooks_and_server_in_one_file_are_mended_in_one_go(home: Home) -> None:
    folder = Path(os.path.expanduser("~/.gemini"))
    folder.mkdir()
    merging.carry_out(install.plan_install(install.Wish("gemini-cli", user=True), os.environ, "/"))
    merging.carry_out(mcp_install.plan_install(mcp_install.Wish("gemini-cli", user=True), os.environ, "/"))
    file = folder / "settings.json"
    right = file.read_text()
    value = json.loads(right.replace("20000", "2"))
    value["mcpServers"]["neosian-memory"]["command"] = "/gone/neosian"
    file.write_text(json.dumps(value))
    assert [about for about, _ in told(home)] == ["client", "client"]
    mend(home)
    assert json.loads(file.read_text()) == json.loads(right)


def test_settings_are_compared_whole(home: Home, settings: Path) -> None:
    right = settings.read_text()
    for wrong in (
        right.replace('"timeout": 20', '"timeout": 0.1', 1),
        right.replace("CwdChanged", "SomeEvent"),
        right.replace('"hooks": [', '"matcher": "Bash", "hooks": [', 1),
    ):
        settings.write_text(wrong)
        assert "client" in [about for about, _ in told(home)], wrong
        mend(home)
        assert json.loads(settings.read_text()) == json.loads(right)


@pytest.mark.parametrize(
    "more",
    [{}, {"recall": False}, {"scope": "user:bo/proj:x"}, {"mounts": ("/user=user:bo:ro", "/p=team:a")}],
)
@pytest.mark.parametrize("level", ["user", "project"])
def test_hooks_for_another_wish_are_right_as_they_are(level: str, more: dict[str, Any], home: Home) -> None:
    folder = {"user": True} if level == "user" else {"folder": str(home.project)}
    wish = install.Wish("claude-code", **folder, **more)
    merging.carry_out(install.plan_install(wish, os.environ, "/"))
    assert told(home) == []


def test_settings_that_the_client_would_refuse_are_told(home: Home, settings: Path) -> None:
    value = json.loads(settings.read_text())
    settings.write_text(json.dumps(value | {"model": 5, "env": []}))
    assert [about for about, _ in told(home)] == ["client"]


def test_a_server_that_starts_another_program_is_set_right(home: Home) -> None:
    merging.carry_out(mcp_install.plan_install(mcp_install.Wish("claude-code", user=True), os.environ, "/"))
    file = home.folder / "claude" / ".claude.json"
    right = file.read_text()
    assert told(home) == []
    value = json.loads(right)
    entry = value["mcpServers"]["neosian-memory"]
    entry["command"] = "/gone/neosian"
    file.write_text(json.dumps(value))
    assert {about for about, _ in told(home)} == {"client"}
    mend(home)
    assert json.loads(file.read_text()) == json.loads(right)


def test_an_object_that_is_damaged_is_moved_aside_and_the_turn_kept(home: Home) -> None:
    home.talk().land("More")
    blob = git(home.shop, "rev-parse", "main:README.md")
    path = home.shop / ".git/objects" / blob[:2] / blob[2:]
    path.chmod(0o600)
    path.write_bytes(b"rubbish")
    assert "scope" in [about for about, _ in told(home)]
    doctor.mend(examine(home))
    assert [path.name for path in (home.shop / ".git/neosian/damaged").iterdir()]
    assert [each for each in told(home) if each[0] == "launcher"] == []


@pytest.mark.parametrize(
    ("name", "said"),
    [("HEAD", "garbage\n"), ("HEAD", "ref: nowhere\n"), ("config", "[[[["), ("refs/heads/main", None),
     ("refs/heads/main", ""), ("index", "garbage")],
)  # fmt: skip
def test_what_git_stumbles_over_is_told_and_mended(name: str, said: str | None, home: Home) -> None:
    assert told(home) == []  # which makes the cache, too
    file = home.shop / ".git" / name
    file.unlink() if said is None else file.write_text(said)
    assert {about for about, _ in told(home)} == {"scope"}
    mend(home)
    assert (fsck(home.shop), prompts_of(home.shop)) == ("", ["Hello"])


def test_a_repository_without_objects_is_told_and_its_files_stay(home: Home) -> None:
    assert told(home) == []
    shutil.rmtree(home.shop / ".git/objects")
    assert {about for about, _ in told(home)} == {"scope"}
    ((is_well, said),) = doctor.mend(examine(home))
    assert (is_well, "No commit of" in said) == (False, True)
    assert {about for about, _ in told(home)} == {"scope"}
    assert (home.shop / "README.md").exists()


def test_a_turn_whose_object_is_lost_lands_again(home: Home) -> None:
    home.talk().land("More")
    tip = git(home.shop, "rev-parse", "main")
    path = home.shop / ".git/objects" / tip[:2] / tip[2:]
    path.chmod(0o600)
    path.write_bytes(b"")
    assert "scope" in [about for about, _ in told(home)]
    mend(home)
    assert (fsck(home.shop), prompts_of(home.shop)) == ("", ["Hello", "More"])


def test_a_search_cache_that_misses_something_is_made_anew(home: Home) -> None:
    with Index.open(home.store().cache) as index:
        index.catch_up(home.store().repo, None)
        index.db.execute("DELETE FROM segment")
    assert [about for about, _ in told(home)] == ["index"]
    mend(home)
    with Index.open(home.store().cache) as index:
        assert index.is_in_step(home.store().repo)


@pytest.mark.parametrize(
    "name", ["spool", "spool/new", "spool/tmp", "spool/bad", "spool/landing", "spool/landed", "log", "bin"]
)
@pytest.mark.parametrize("kind", ["a file", "a link to nowhere"])
def test_what_lies_where_a_folder_belongs_is_told_and_moved_aside(name: str, kind: str, home: Home) -> None:
    path = home.path / name
    shutil.rmtree(path, ignore_errors=True)
    path.write_text("theirs") if kind == "a file" else path.symlink_to("/nowhere")
    problems = health.report(str(home.path), str(home.project))["problems"]
    assert [each["try"] for each in problems if f"{path} is " in each["what"]] == ["neosian doctor --fix"]
    doctor.mend(examine(home))
    assert os.stat(path).st_mode & 0o777 == 0o700
    (aside,) = path.parent.glob(f"{path.name}.aside-*")
    assert aside.is_symlink() if kind != "a file" else aside.read_text() == "theirs"
    doctor.mend(examine(home))  # where a file had the place of `bin`, the launcher is gone with it
    assert told(home) == []
    home.talk().land("More")
    assert prompts_of(home.shop)[-1] == "More"


def test_a_folder_whose_name_no_scope_has_is_left_alone(home: Home) -> None:
    for name in ("%31%30%30", "Foo Bar", "100"):
        shutil.copytree(home.shop, home.path / "scopes" / name)
    lock = home.shop / ".git/index.lock"
    lock.write_text("")
    os.utime(lock, (0, 0))
    kept = sorted(os.listdir(home.path / "scopes"))
    doctor.mend(examine(home))
    assert sorted(os.listdir(home.path / "scopes")) == kept
    assert not lock.exists()


def test_settings_of_ours_that_are_a_folder_are_told_in_words(home: Home) -> None:
    (home.path / "config.toml").mkdir(mode=0o700)
    ((about, what),) = told(home)
    assert (about, "Errno" in what, "Is a directory (" in what) == ("settings", False, True)


def test_a_turn_that_did_not_land_is_landed(home: Home) -> None:
    talk = home.talk()
    talk.ask("More")
    name = talk.answer()
    then = os.stat(Path(home.spool.new, name)).st_mtime - 120
    os.utime(Path(home.spool.new, name), (then, then))
    assert [about for about, _ in told(home)] == ["spool"]
    mend(home)
    assert prompts_of(home.shop) == ["Hello", "More"]


def test_what_was_set_aside_is_tried_once_more(home: Home) -> None:
    home.talk().turn("More")
    home.spool.make()
    for name in home.spool.names():
        home.spool.set_aside(name, "an older release could not read it")
    assert {about for about, _ in told(home)} == {"spool"}
    mend(home)
    assert prompts_of(home.shop) == ["Hello", "More"]


def test_what_still_cannot_be_read_stays_aside(home: Home) -> None:
    Path(home.spool.new, "0-torn").write_bytes(b"neosian1\0clau")
    home.land()
    assert all(is_well for is_well, _ in doctor.mend(examine(home)))
    assert [about for about, _ in told(home)] == ["spool"]
    assert os.listdir(home.spool.bad)


def test_a_lock_of_before_the_boot_is_cleared(home: Home) -> None:
    lock = home.shop / ".git/index.lock"
    lock.write_text("")
    os.utime(lock, (0, 0))
    assert [about for about, _ in told(home)] == ["lock"]
    mend(home)


def test_a_lock_that_somebody_may_hold_stays(home: Home) -> None:
    lock = home.shop / ".git/index.lock"
    lock.write_text("")
    doctor.mend(examine(home))
    assert lock.exists()
    assert [about for about, _ in told(home)] == ["lock"]


def test_a_landing_that_never_ends_is_told(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "_PATIENCE", 0.1)
    with open(Path(home.spool.folder, "lock"), "w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        assert [about for about, _ in told(home)] == ["spool"]


def run(home: Home, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "neosian", "doctor", *words]
    return subprocess.run(command, capture_output=True, text=True, cwd=home.project)


def test_the_command_tells_mends_and_ends_with_what_stays(home: Home) -> None:
    assert (run(home).returncode, "All is well." in run(home).stdout) == (0, True)
    os.chmod(home.path, 0o755)
    seen = run(home)
    assert (seen.returncode, "1 wrong  the home is ours alone" in seen.stdout) == (1, True)
    assert "neosian doctor --fix" in seen.stderr
    (problem,) = json.loads(run(home, "--json").stdout)["problems"]
    assert (problem["about"], problem["fix"]) == ("home", True)
    mended = json.loads(run(home, "--fix", "--json").stdout)
    assert (mended["problems"], [each["ok"] for each in mended["done"]]) == ([], [True])
