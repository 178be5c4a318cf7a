"""What `neosian status` says of a home: every fault of ours by name, with the next thing to try."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import sqlite3
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from neosian import cli, files, health, install, mcp_install, merging, projects, recall
from neosian.dream import review
from neosian.launcher import install_launcher, launcher_path
from neosian.projects import FILE
from neosian.scope import user_scope
from neosian.spool import header
from tests import dreaming
from tests.factories import OTHER, Home, Talk, aged, git, prompts_of, repository, segments, status


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    """A home with a launcher, in which a turn has landed."""
    found = Home(tmp_path)
    monkeypatch.setenv("NEOSIAN_HOME", str(found.path))
    install_launcher(found.path)
    found.talk().land("Hello")
    return found


@pytest.fixture
def talk(home: Home) -> Talk:
    return home.talk()


def report(home: Home) -> dict[str, Any]:
    return health.report(str(home.path), str(home.project))


def problems(home: Home) -> list[str]:
    return [problem["what"] for problem in report(home)["problems"]]


def row(home: Home, text: str = "") -> dict[str, Any]:
    """What is said of one scope."""
    wanted = text or home.store().scope
    found: list[dict[str, Any]] = [each for each in report(home)["scopes"] if each["scope"] == wanted]
    return found[0]


def test_a_home_in_order_has_no_problem(home: Home) -> None:
    found = report(home)
    assert found["problems"] == []
    assert {each["scope"] for each in found["scopes"]} == {user_scope(), home.store().scope}
    assert row(home)["index"] == "in step"
    assert (row(home)["bad_lines"], row(home)["edits_waiting"]) == (0, [])
    assert [each["last"] for each in found["clients"]] == ["stop, landed"]


def test_looking_changes_nothing(home: Home) -> None:
    before = git(home.shop, "rev-parse", "main"), git(home.user, "rev-parse", "main")
    report(home)
    assert (git(home.shop, "rev-parse", "main"), git(home.user, "rev-parse", "main")) == before
    assert (status(home.shop), status(home.user)) == ("", "")


def test_a_home_that_is_not_there_is_no_error(tmp_path: Path) -> None:
    found = health.report(str(tmp_path / "none"))
    assert (found["scopes"], found["clients"], found["problems"]) == ([], [], [])
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize("bad", ['{"torn": ', "no JSON at all", "[]", "\0\0\0\0"])
def test_lines_that_cannot_be_read_are_put_aside_and_counted(bad: str, home: Home, talk: Talk) -> None:
    log = segments(home.shop)[0]
    log.write_text(log.read_text() + bad + "\n")
    git(home.shop, "commit", "-qam", "Damage it")
    talk.land("More")
    assert prompts_of(home.shop) == ["Hello", "More"]
    assert row(home)["bad_lines"] == 1
    kept = [path.read_text() for path in (home.shop / ".git/neosian/bad-lines").iterdir()]
    assert bad in "".join(kept)
    assert [said for said in problems(home) if "1 lines" in said and home.store().scope in said]
    talk.land("And more")
    assert row(home)["bad_lines"] == 1


def test_a_register_that_is_no_toml_is_told(home: Home) -> None:
    (home.user / FILE).write_text("[[project\n")
    assert [said for said in problems(home) if FILE in said and "is not TOML" in said]


def test_a_wrong_setting_is_told(home: Home) -> None:
    (home.path / "config.toml").write_text("[record]\noutput_chars = -1\n")
    assert [said for said in problems(home) if "record.output_chars must be" in said]


def test_a_document_with_a_secret_is_told_by_its_path(home: Home, talk: Talk) -> None:
    home.write("project/keys.md", "AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY\n")
    talk.land("More")
    assert row(home)["edits_waiting"] == ["project/keys.md"]
    (said,) = problems(home)
    assert said.startswith("project/keys.md in")
    assert "is not committed: line 1 holds a secret (" in said


def test_a_save_that_was_overtaken_is_told_by_where_it_lies(home: Home) -> None:
    lies = home.shop / ".git/neosian/kept/1f/project/a.md"
    lies.parent.mkdir(parents=True)
    lies.write_text("mine\n")
    assert [said.split()[0] for said in problems(home)] == [str(lies)]


def test_events_that_were_set_aside_are_told_with_the_reason(home: Home) -> None:
    Path(home.spool.new, "0-torn").write_bytes(b"neosian1\0clau")
    home.land()
    assert report(home)["spool"]["set_aside"] == 1
    assert [said for said in problems(home) if said.startswith("Event 0-torn is set aside: ")]


def test_events_that_have_waited_for_hours_are_told(home: Home) -> None:
    name = home.talk(OTHER).ask("Hello?")
    assert problems(home) == []
    hook(home)
    aged(Path(home.spool.new, name), 7 * 3600)
    assert problems(home) == ["Events have waited for hours."]


def test_events_that_no_hook_is_left_to_land_are_told(home: Home) -> None:
    hook(home)
    name = home.talk(OTHER).ask("Hello?")
    merging.carry_out(install.plan_uninstall(install.Wish("claude-code", folder=str(home.project)), {}, "/"))
    assert problems(home) == []  # its session may still run, with the hooks that it began with
    aged(Path(home.spool.new, name), 11 * 60)
    assert problems(home) == ["1 events wait, and no hook is installed here that would land them."]


def hook(home: Home) -> None:
    """Put hooks into the settings of the project."""
    (home.project / ".claude").mkdir()
    wish = install.Wish("claude-code", folder=str(home.project))
    merging.carry_out(install.plan_install(wish, {}, "/"))


def test_a_lock_that_holds_landings_up_is_told(home: Home) -> None:
    (home.shop / ".git/index.lock").write_text("")
    assert [said for said in problems(home) if "index.lock is held" in said]
    assert report(home)["spool"]["held_up"] == [str(home.shop / ".git/index.lock")]


def test_a_scope_that_cannot_be_read_is_told_and_the_others_are_there(home: Home) -> None:
    shutil.rmtree(home.shop / ".git/objects")
    assert row(home)["index"] == "unreadable"
    assert [said for said in problems(home) if str(home.shop) in said]
    assert row(home, user_scope())["index"] == "in step"


@pytest.mark.parametrize("name", ["%ff", "\udcff", "100%", "Foo Bar", "x%~y"])
def test_a_folder_that_no_scope_has_is_passed_over_and_told(name: str, home: Home, talk: Talk) -> None:
    private = home.path / "scopes" / name / ".git/neosian"
    private.mkdir(parents=True)
    (private / "scope").write_bytes(b"\xff\xfe")
    talk.land("Still heard?")
    assert prompts_of(home.shop) == ["Hello", "Still heard?"]
    (problem,) = report(home)["problems"]
    assert (problem["about"], "is passed over" in problem["what"]) == ("scope", True)
    assert [store.path for store in projects.stores(str(home.path))] == [str(home.user), str(home.shop)]


def test_a_repository_that_lies_elsewhere_is_told_and_the_command_brings_it_back(
    home: Home, talk: Talk, tmp_path: Path
) -> None:
    os.rename(home.shop / ".git", tmp_path / "real git")
    (home.shop / ".git").write_text(f"gitdir: {tmp_path}/real git\n")
    talk.turn("Who hears this?")
    home.talk(OTHER, cwd=repository(tmp_path / "blog")).turn("In another project")
    lander = home.lander()
    lander.land()
    assert [str(each).partition(" is no folder")[0] for each in lander.failures] == [f"{home.shop}/.git"]
    assert prompts_of(home.path / "scopes" / home.shop.name.replace("shop", "blog")) == ["In another project"]
    (problem,) = (each for each in report(home)["problems"] if each["about"] == "scope")
    assert problem["what"] == str(lander.failures[0])
    subprocess.run(problem["try"], shell=True, check=True)
    home.land()
    assert prompts_of(home.shop) == ["Hello", "Who hears this?"]


def test_a_scope_that_is_the_work_tree_of_another_repository_is_told(home: Home, tmp_path: Path) -> None:
    shutil.rmtree(home.shop)
    other = repository(tmp_path / "other", commit=True)
    git(other, "worktree", "add", "-q", str(home.shop), "-b", "tree")
    (problem,) = report(home)["problems"]
    assert problem["try"] == f"mv {home.shop}/.git SOMEWHERE-ELSE"


def test_a_file_in_the_place_of_a_scope_is_told(home: Home) -> None:
    shutil.rmtree(home.shop)
    home.shop.write_text("")
    (problem,) = report(home)["problems"]
    assert problem["what"].startswith(f"{home.shop} is no folder")


def test_what_is_left_out_by_choice_is_told_and_no_problem(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert report(home)["spool"]["by_choice"] == []
    (home.path / "off").write_text("")
    (home.path / "off-projects").write_text("/src/a\n/src/b b\n")
    (home.path / "config.toml").write_text('[record]\ncapture = "marked"\n')
    monkeypatch.setenv("NEOSIAN_OFF", "1")
    said = report(home)["spool"]["by_choice"]
    assert [line.split()[0] for line in said] == ["All", "The", "The", "Only", "NEOSIAN_OFF"]
    assert said[2].endswith("neosian on '/src/b b'")
    assert problems(home) == []


def test_events_that_were_lost_are_counted_and_told_until_a_turn_lands(home: Home, talk: Talk) -> None:
    files.log(
        str(home.path / "log" / "neosian.log"),
        "claude-code stop: this event was not recorded: the disk is full",
    )
    assert report(home)["spool"]["lost"] == 1
    (said,) = problems(home)
    assert said.startswith("1 events were lost since the last landing: claude-code stop: ")
    assert "the disk is full" in said


def client_row(home: Home, name: str) -> dict[str, Any]:
    found: list[dict[str, Any]] = [each for each in report(home)["clients"] if each["client"] == name]
    return found[0]


def test_a_client_is_followed_from_installed_to_heard(home: Home, tmp_path: Path) -> None:
    gemini = Path(os.path.expanduser("~/.gemini"))
    gemini.mkdir()
    found = client_row(home, "gemini-cli")
    assert (found["state"], found["hooks"], found["mcp"], found["last"]) == ("not set up", [], [], None)
    assert found["try"] == "neosian setup --client gemini-cli --write"
    merging.carry_out(install.plan_install(install.Wish("gemini-cli", user=True), os.environ, "/"))
    found = client_row(home, "gemini-cli")
    assert (found["state"], found["hooks"]) == ("never fired", ["user"])
    assert found["try"] == "start Gemini CLI and say something"
    payload = b'{"session_id": "s-1", "hook_event_name": "BeforeAgent", "prompt": "Hi"}'
    home.spool.put(header("gemini-cli", "prompt", "", str(home.project), {}), payload)
    found = client_row(home, "gemini-cli")
    assert (found["state"], found["last"], found["try"]) == ("heard", "prompt, waiting", "")
    assert problems(home) == []


def codex_turn(home: Home, session: str = "c-1") -> None:
    """A turn in Codex, landed."""
    common = {"session_id": session, "turn_id": "t-1", "cwd": str(home.project)}
    home.put({**common, "hook_event_name": "UserPromptSubmit", "prompt": "Hi"}, client="codex")
    home.put({**common, "hook_event_name": "Stop", "last_assistant_message": "Hello."}, client="codex")
    home.land()


def test_a_client_stays_heard_however_many_sessions_others_had_since(home: Home) -> None:
    codex_turn(home)
    for number in range(21):
        home.talk(f"session-{number:02}").land("Hello")
    assert client_row(home, "codex")["last"] == "stop, landed"
    assert client_row(home, "codex")["age"] is not None


def test_an_index_that_somebody_holds_is_no_reason_not_to_have_heard(home: Home) -> None:
    recall.sessions(home.store())  # the index shows what landed so far
    codex_turn(home)
    with sqlite3.connect(home.store().cache) as other:
        other.execute("BEGIN IMMEDIATE")
        assert (row(home)["index"], client_row(home, "codex")["last"]) == ("behind", "turn, landed")


def test_the_last_event_says_how_a_landed_turn_ended(home: Home, talk: Talk) -> None:
    talk.ask("More")
    talk.put("stop_failure", error="rate_limit")
    home.land()
    assert client_row(home, "claude-code")["last"] == "failure, landed"
    talk.ask("And more")
    talk.call("Bash")
    assert client_row(home, "claude-code")["last"] == "result, waiting"


def test_an_event_is_of_the_client_that_sent_it_not_of_the_line_it_came_through(home: Home) -> None:
    said = {
        "hook_event_name": "beforeSubmitPrompt",
        "conversation_id": "x",
        "generation_id": "y",
        "prompt": "Hi",
    }
    home.put({**said, "cursor_version": "1.7"}, client="claude-code")
    rows = {each["client"]: each["last"] for each in report(home)["clients"]}
    assert rows == {"claude-code": "stop, landed", "cursor": "prompt, waiting"}


@pytest.fixture
def claude(home: Home, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's settings of Claude Code, with our hooks in them."""
    folder = home.folder / "claude"
    folder.mkdir()
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(folder))
    merging.carry_out(install.plan_install(install.Wish("claude-code", user=True), os.environ, "/"))
    assert problems(home) == []
    return folder / "settings.json"


@pytest.mark.parametrize("gone", ["home", "launcher"])
def test_hooks_whose_launcher_is_gone_are_told_with_the_home_or_without(
    gone: str, home: Home, claude: Path
) -> None:
    shutil.rmtree(home.path if gone == "home" else home.path / "bin")
    (problem,) = report(home)["problems"]
    assert problem["what"].startswith(
        f"The hooks in {claude} call {launcher_path(home.path)}, which is not there"
    )
    assert problem["try"] == "neosian doctor --fix"
    assert home.path.exists() == (gone == "launcher")


def test_hooks_of_which_one_was_removed_are_told(home: Home, claude: Path) -> None:
    value = json.loads(claude.read_text())
    del value["hooks"]["Stop"]
    claude.write_text(json.dumps(value))
    assert problems(home) == [f"The hooks in {claude} are not what this neosian writes for Claude Code."]


def test_hooks_that_a_foreign_table_spoils_for_the_client_are_told(home: Home) -> None:
    file = Path(os.path.expanduser("~/.kimi-code/config.toml"))
    file.parent.mkdir()
    merging.carry_out(install.plan_install(install.Wish("kimi-code", user=True), os.environ, "/"))
    assert problems(home) == []
    file.write_text('[[hooks]]\nevent = "Stop"\ncommand = "true"\nwhen = "always"\n\n' + file.read_text())
    (said,) = problems(home)
    assert "it has the key 'when', so Kimi Code takes no hook of this file" in said


def test_a_server_by_a_name_that_is_not_on_the_path_is_told(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wish = mcp_install.Wish("claude-code", folder=str(home.project))
    merging.carry_out(mcp_install.plan_install(wish, os.environ, "/"))
    monkeypatch.setenv("PATH", os.defpath)
    (problem,) = report(home)["problems"]
    assert problem["what"].startswith(
        f"{home.project}/.mcp.json starts neosian by name, which is not on the PATH"
    )
    assert "neosian mcp install --client claude-code --user --write" in problem["try"]
    program = tmp_path / "programs" / "neosian"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o700)
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.defpath}")
    assert problems(home) == []


def test_a_home_that_is_a_repository_has_its_users_hooks_once(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = Path(os.path.expanduser("~"))
    git(folder, "init", "-q")
    (folder / ".claude").mkdir()
    merging.carry_out(install.plan_install(install.Wish("claude-code", user=True), os.environ, "/"))
    found = health.report(str(home.path), str(folder))
    assert ([each["level"] for each in found["hooks"]], found["problems"]) == (["user"], [])


def test_a_launcher_with_an_open_quote_is_told(home: Home) -> None:
    launcher_path(home.path).write_text("python='/usr/bin/python\n")
    (said,) = problems(home)
    assert said.endswith("is not as neosian writes it: No closing quotation.")


def test_a_client_is_asked_for_its_version_once_and_again_when_something_is_wrong(
    home: Home, claude: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program, asked = tmp_path / "programs" / "claude", tmp_path / "asked"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\necho >>{asked}\necho 2.1.332\n")
    program.chmod(0o700)
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    merging.carry_out(install.plan_install(install.Wish("claude-code", user=True), os.environ, "/"))
    asked.unlink()
    assert (problems(home), problems(home)) == ([], [])
    assert client_row(home, "claude-code")["version"] == "2.1.332"
    assert asked.read_text() == "\n"
    program.write_text(program.read_text().replace("2.1.332", "1.0.0"))
    merging.carry_out(install.plan_install(install.Wish("claude-code", user=True), os.environ, "/"))
    assert problems(home) == []
    assert client_row(home, "claude-code")["version"] == "1.0.0"


def test_a_client_that_is_not_here_has_no_row_for_a_file_that_it_shares(home: Home) -> None:
    """Copilot CLI reads the same .mcp.json."""
    wish = mcp_install.Wish("claude-code", folder=str(home.project))
    merging.carry_out(mcp_install.plan_install(wish, os.environ, "/"))
    assert [each["client"] for each in report(home)["clients"]] == ["claude-code"]
    Path(os.path.expanduser("~/.copilot")).mkdir()
    assert [each["client"] for each in report(home)["clients"]] == ["claude-code", "copilot-cli"]


def test_what_a_client_does_by_itself_is_named_by_its_own_command(
    home: Home, capsys: pytest.CaptureFixture[str]
) -> None:
    for folder in (".config/goose", ".codex", ".gemini"):
        Path(os.path.expanduser(f"~/{folder}")).mkdir(parents=True)
    merging.carry_out(install.plan_install(install.Wish("codex", user=True), os.environ, "/"))
    cli.main(["status"])
    said = capsys.readouterr().out
    assert "Not set up: Gemini CLI: neosian setup" in said
    assert "Goose is not told of the MCP server; it is by its own command: goose configure" in said
    assert "Codex is not told of the MCP server: codex mcp add neosian-memory -- /" in said


def test_hooks_in_a_file_with_comments_are_seen(home: Home) -> None:
    """Gemini CLI reads such a file, and runs what stands in it."""
    folder = Path(os.path.expanduser("~/.gemini"))
    folder.mkdir()
    merging.carry_out(install.plan_install(install.Wish("gemini-cli", user=True), os.environ, "/"))
    file = folder / "settings.json"
    file.write_text("// mine\n" + file.read_text())
    assert client_row(home, "gemini-cli")["hooks"] == ["user"]
    assert problems(home) == []
    plan = install.plan_install(install.Wish("gemini-cli", user=True), os.environ, "/")
    assert (plan.refused, plan.changed, plan.before) == (None, False, file.read_bytes())
    file.write_text(file.read_text().replace("AfterAgent", "AfterAll"))
    assert len(problems(home)) == 1


@pytest.mark.parametrize("name", ["python", "stub", "NEOSIAN_GIT"])
def test_a_program_of_the_launcher_that_is_gone_is_told(name: str, home: Home) -> None:
    path = launcher_path(home.path)
    rows = path.read_text().splitlines(keepends=True)
    written = [f"{name}=/nonexistent/{name}\n" if row.startswith(f"{name}=") else row for row in rows]
    path.write_text("".join(written))
    said = "git" if name == "NEOSIAN_GIT" else name
    assert problems(home) == [f"The launcher's {said} is gone: /nonexistent/{name}."]


def test_a_launcher_that_may_not_be_run_is_told(home: Home) -> None:
    os.chmod(launcher_path(home.path), 0o600)
    assert problems(home) == [f"The launcher {launcher_path(home.path)} may not be run, so hooks do nothing."]


def test_a_stub_that_does_not_run_is_told(home: Home, tmp_path: Path) -> None:
    (tmp_path / "the package's").mkdir()
    stub = tmp_path / "the package's" / "hook.py"
    stub.write_text("import nosuchmodule\n")
    path = launcher_path(home.path)
    rows = path.read_text().splitlines(keepends=True)
    path.write_text(
        "".join(f"stub={shlex.quote(str(stub))}\n" if row.startswith("stub=") else row for row in rows)
    )
    (said,) = problems(home)
    assert said.startswith("The launcher's python cannot run its stub: ")
    assert "No module named 'nosuchmodule'" in said


def test_what_is_saved_and_not_committed_is_told_and_no_problem(home: Home, talk: Talk) -> None:
    home.write("project/note.md", "A note.\n")
    assert row(home)["edits_saved"] == ["project/note.md"]
    assert problems(home) == []
    talk.land("More")
    assert row(home)["edits_saved"] == []


def test_a_traceback_of_the_log_is_told_by_its_last_line(home: Home) -> None:
    log = str(home.path / "log" / "neosian.log")
    files.log(
        log, "stop: " + " | ".join(["Traceback (most recent call last): ", "File x " * 200, "ValueError: no"])
    )
    files.log(log, "y" * 500)
    first, second = report(home)["log"]
    assert (first["what"], len(second["what"])) == ("stop: ValueError: no", 160)


def test_lines_of_the_log_from_before_the_last_landing_are_old(home: Home, talk: Talk) -> None:
    path = home.path / "log" / "neosian.log"
    path.parent.mkdir(exist_ok=True)
    now = time.time()
    for age in (8 * 86_400, 2 * 86_400, 60, -60):
        with path.open("a") as log:
            log.write(time.strftime(f"%Y-%m-%dT%H:%M:%S%z {age}\n", time.localtime(now - age)))
    assert [(line["what"], line["old"]) for line in report(home)["log"]] == [
        (str(2 * 86_400), True), ("60", True), ("-60", False),
    ]  # fmt: skip


@pytest.mark.parametrize("kind", ["a file", "a link to nowhere"])
def test_a_scope_whose_repository_is_elsewhere_is_told(kind: str, home: Home) -> None:
    path = home.shop / ".git"
    path.rename(home.folder / "elsewhere")
    if kind == "a file":
        path.write_text(f"gitdir: {home.folder}/elsewhere\n")
    else:
        path.symlink_to("/nowhere")
    (said,) = problems(home)
    assert said.startswith(f"{path} is no folder")


def test_what_status_finds_never_sends_back_to_status(home: Home) -> None:
    (home.shop / ".git" / "HEAD").write_text("garbage\n")
    assert [each["try"] for each in report(home)["problems"]] == ["neosian doctor"]


def test_a_launcher_that_no_hook_calls_is_not_missed(home: Home) -> None:
    os.unlink(launcher_path(home.path))
    assert problems(home) == []


@pytest.mark.parametrize("place", ["index.seen", "looked", "recent"])
def test_markers_that_are_gone_are_no_problem(place: str, home: Home) -> None:
    (home.shop / ".git/neosian" / place).unlink(missing_ok=True)
    assert problems(home) == []


def test_hooks_of_a_linked_worktree_are_those_of_its_own_folder(home: Home, tmp_path: Path) -> None:
    (home.project / "a").write_text("")
    git(home.project, "add", "a")
    git(home.project, "commit", "-qm", "Begin")
    git(home.project, "worktree", "add", "-q", str(tmp_path / "linked"))
    wish = install.Wish("claude-code", folder=str(tmp_path / "linked"))
    merging.carry_out(install.plan_install(wish, {}, str(tmp_path)))
    files = [each["file"] for each in health.report(str(home.path), str(tmp_path / "linked"))["hooks"]]
    assert files == [str(tmp_path / "linked" / ".claude" / "settings.json")]


def test_a_document_whose_front_matter_is_no_yaml_is_told_once_with_its_line(home: Home, talk: Talk) -> None:
    home.write("project/deploy.md", "---\ntitle: Use this: that\n---\n\nWe deploy on Thursdays.\n")
    home.write("project/fine.md", "---\ntitle: Fine\n---\n\nText.\n")
    talk.land("More")
    (said,) = [each for each in report(home)["problems"] if "front matter" in each["what"]]
    assert "project/deploy.md in" in said["what"]
    assert "line 2: mapping values are not allowed" in said["what"]
    assert said["try"] == f"open {home.shop}/project/deploy.md in an editor"
    assert [each["path"] for each in row(home)["front_matter"]] == ["project/deploy.md"]


def test_a_document_with_invalid_front_matter_is_found_all_the_same(home: Home) -> None:
    home.write(
        "project/deploy.md", "---\ntitle: Use this: that\nwhen: [shipping\n---\n\nWe deploy on Thursdays.\n"
    )
    for words in ("Thursdays", "shipping"):
        assert [hit.path for hit in recall.search(home.store(), words)] == ["project/deploy.md"]


def test_front_matter_without_an_end_in_sight_is_told(home: Home) -> None:
    home.write("project/long.md", "---\n" + "key: value\n" * 10_000 + "---\n\nText.\n")
    home.write("project/rule.md", "---\n\nA rule, and text.\n")
    assert [each["path"] for each in row(home)["front_matter"]] == ["project/long.md"]


def test_of_many_faulty_documents_the_first_are_named_and_the_rest_counted(home: Home) -> None:
    for number in range(25):
        home.write(f"project/{number:02}.md", "---\n- a\n---\n")
    told = [said for said in problems(home) if "project/" in said or "more documents" in said]
    assert len(told) == 21
    assert told[-1].startswith("So have 5 more documents")


def test_what_was_dreamt_and_what_waits_of_it_is_told(home: Home) -> None:
    assert row(home)["dream"] == {
        "last": None, "unfinished": [], "waiting": 0, "warm": 1, "failing": [], "set_aside": [], "to_review": [],
        "rejected": {"person": 0, "gate": 0}, "refused": None,
    }  # fmt: skip
    run = dreaming.start(home)
    dreaming.session(run, {"a.md": "a\n"}, waits={"b.md": "b\n", "c.md": "c\n"})
    assert row(home)["dream"]["unfinished"] == [run.id]
    dreaming.land(home, run)
    review.reject(home.store(), ["b.md"])
    found = row(home)["dream"]
    assert (found["last"]["run"], found["last"]["sessions"], found["last"]["notes"]) == (run.id, 1, 1)
    assert (found["unfinished"], found["to_review"], found["rejected"]["person"]) == ([], ["c.md"], 1)
    assert problems(home) == []
