"""Switching off: what the launcher and every other way in then leave out, and the two verbs."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from neosian import cli, switch
from neosian.beginning import begin
from tests.factories import SESSION, Home, git, prompts_of, repository
from tests.hooking import Hooks, quiet
from tests.test_launcher import HERE, SHELLS

Said = pytest.CaptureFixture[str]
BIG = 1 << 20  # bytes: more than a pipe holds


@pytest.fixture(params=HERE)
def hooks(request: pytest.FixtureRequest, tmp_path: Path) -> Hooks:
    """A home whose launcher is run by one of the shells."""
    return Hooks(tmp_path, shell=SHELLS[request.param])


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    """A home with one landed turn in its project, in which the test stands."""
    made = Home(tmp_path)
    made.talk().land("why is login slow?")
    monkeypatch.setenv("NEOSIAN_HOME", str(made.path))
    monkeypatch.chdir(made.project)
    return made


def off(hooks: Hooks, *folders: Path | str) -> None:
    (hooks.home / "off-projects").write_text("".join(f"{folder}\n" for folder in folders))


def keeps(hooks: Hooks, cwd: Path | str, client: str = "claude-code", **env: str) -> bool:
    """Whether the launcher keeps an event there; whatever it does, it says nothing."""
    before = len(hooks.spooled())
    done = hooks.fire(hooks.said("pre_tool_use.bash"), cwd=cwd, env=env, argv=[client, "note"])
    assert quiet(done), done
    return len(hooks.spooled()) > before


# the launcher


def test_nothing_of_a_project_that_is_off_is_kept_or_told(hooks: Hooks) -> None:
    below = hooks.project / "a" / "b"
    below.mkdir(parents=True)
    off(hooks, "/elsewhere", hooks.project)
    assert quiet(hooks.start())
    assert quiet(hooks.record(hooks.said("session_start.startup")))
    assert [keeps(hooks, folder) for folder in (hooks.project, below)] == [False, False]
    assert keeps(hooks, repository(hooks.folder / "shop-two"))


def test_the_project_that_the_client_says_counts_before_the_folder(hooks: Hooks) -> None:
    off(hooks, hooks.project)
    assert not keeps(hooks, "/", CLAUDE_PROJECT_DIR=str(hooks.project))
    assert keeps(hooks, hooks.project, CLAUDE_PROJECT_DIR=str(repository(hooks.folder / "blog")))


@pytest.mark.parametrize("client", ["codex", "kimi-code", "opencode", "pi"])
def test_a_project_that_a_client_inherited_does_not_count(hooks: Hooks, client: str) -> None:
    off(hooks, hooks.project)
    assert not keeps(hooks, hooks.project, client, CLAUDE_PROJECT_DIR=str(repository(hooks.folder / "blog")))


@pytest.mark.parametrize("is_relative", [False, True])
def test_a_linked_work_tree_is_off_with_its_project(hooks: Hooks, is_relative: bool) -> None:
    repository(hooks.project, commit=True)
    linked = hooks.folder / "it's linked"
    git(hooks.project, "worktree", "add", "-q", "-b", "side", str(linked))
    if is_relative:  # as a later git writes it
        (linked / ".git").write_text("gitdir: ../shop/.git/worktrees/it's linked\n")
    (linked / "src").mkdir()
    off(hooks, hooks.project)
    assert not keeps(hooks, linked / "src")


def test_a_linked_folder_is_the_one_it_leads_to(hooks: Hooks) -> None:
    link = hooks.folder / "link"
    link.symlink_to(hooks.project)
    off(hooks, hooks.project)
    assert not keeps(hooks, link, PWD=str(link))


@pytest.mark.parametrize(
    "name", ["a b", "it's", "*", "[x]", "$HOME `id`", "-rf", "naïve 项目", "back\\slash"]
)
def test_any_folder_can_be_off_and_means_only_itself(hooks: Hooks, name: str) -> None:
    one, other = hooks.folder / "in" / name, hooks.folder / "in" / "x"
    one.mkdir(parents=True)
    other.mkdir(exist_ok=True)
    off(hooks, one)
    assert (keeps(hooks, one), keeps(hooks, other)) == (False, True)


def test_a_list_without_its_last_line_end_counts_whole(hooks: Hooks) -> None:
    (hooks.home / "off-projects").write_text(f"# mine\n\nrelative\n{hooks.project}/")
    assert not keeps(hooks, hooks.project)


def test_a_list_that_nobody_can_read_keeps_everything_out(hooks: Hooks) -> None:
    (hooks.home / "off-projects").mkdir()
    assert not keeps(hooks, hooks.project)
    assert quiet(hooks.record(hooks.said("stop")))
    assert hooks.spooled() == []


@pytest.mark.parametrize("by", ["off", "off-projects", "marked"])
def test_a_payload_that_is_not_kept_is_read_to_its_end(hooks: Hooks, by: str) -> None:
    if by == "marked":
        (hooks.home / "config.toml").write_text('[record]\ncapture = "marked"\n')
    else:
        (hooks.home / by).write_text(f"{hooks.project}\n")
    reading, writing = os.pipe()
    if os.fork() == 0:  # a client that is told nothing more of a hook that went before it had read all
        os.close(reading)
        with os.fdopen(writing, "wb") as pipe:
            pipe.write(b" " * BIG)
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        words = [*hooks.shell, str(hooks.launcher), "claude-code", "note"]
        assert subprocess.run(words, stdin=pipe, cwd=hooks.project, check=False).returncode == 0
    _, status = os.wait()
    assert (status, hooks.spooled()) == (0, [])


# what a launcher could not see


def test_a_session_whose_hooks_ran_elsewhere_leaves_nothing_and_is_told_nothing(home: Home) -> None:
    switch.switch_project(str(home.path), str(home.project), is_on=False)
    talk = home.talk("22222222-0000-4000-8000-000000000000", marks={"CLAUDE_PROJECT_DIR": str(home.project)})
    assert begin(str(home.path), talk.start()) == ""
    talk.turn("a secret of this project")
    assert home.land() == []
    assert (home.spool.names(), prompts_of(home.shop)) == ([], ["why is login slow?"])


def test_a_turn_that_runs_while_its_project_is_switched_off_ends(home: Home) -> None:
    talk = home.talk(SESSION)
    talk.ask("and logout?")
    switch.switch_project(str(home.path), str(home.project), is_on=False)
    talk.answer()
    assert len(home.land()) == 1


# the verbs


def say(capsys: Said, *words: str) -> tuple[int, str, str]:
    status = cli.main(words)
    said = capsys.readouterr()
    return status, said.out, said.err


def test_off_and_on_for_everything(home: Home, capsys: Said) -> None:
    assert say(capsys, "off") == (
        0,
        "neosian is off: nothing is recorded there, and no session is told anything.\n",
        "What was recorded stays. To go on: neosian on\n",
    )
    assert switch.is_off(str(home.path))
    assert say(capsys, "off")[1] == "neosian was off already.\n"
    assert say(capsys, "on")[1].startswith("neosian is on again")
    assert not switch.is_off(str(home.path))


def test_off_and_on_for_a_project_from_a_folder_in_it(
    home: Home, capsys: Said, monkeypatch: pytest.MonkeyPatch
) -> None:
    (home.project / "src").mkdir()
    monkeypatch.chdir(home.project / "src")
    status, out, err = say(capsys, "off", "--project")
    assert (status, str(home.project) in out, f"neosian on {home.project}" in err) == (0, True, True)
    assert switch.off_projects(str(home.path)) == [str(home.project)]
    said = json.loads(say(capsys, "on", str(home.project), "--json")[1])
    assert said == {"changed": True, "off": False, "projects": []}
    assert not (home.path / "off-projects").exists()


def test_a_project_that_is_gone_can_be_switched_on_again(home: Home, capsys: Said, tmp_path: Path) -> None:
    gone = repository(tmp_path / "gone")
    assert say(capsys, "off", str(gone))[0] == 0
    shutil.rmtree(gone)
    assert say(capsys, "on", str(gone))[0] == 0
    status, _, err = say(capsys, "on", str(gone))
    assert (status, "is no folder" in err) == (2, True)


@pytest.mark.parametrize("words", [("",), ("--project", ""), ("--root", "")])
@pytest.mark.parametrize("verb", ["off", "on"])
def test_an_empty_word_does_not_mean_everything(
    home: Home, capsys: Said, verb: str, words: tuple[str, ...]
) -> None:
    switch.switch(str(home.path), is_on=verb == "off")
    status, _, _ = say(capsys, verb, *words)
    assert (status, switch.is_off(str(home.path))) == (2, verb == "on")
    assert switch.off_projects(str(home.path)) == []


@pytest.mark.parametrize("word", ["off", "on"])
def test_what_is_no_project_is_refused_with_the_way_out(word: str, home: Home, capsys: Said) -> None:
    status, _, err = say(capsys, word, "/")
    assert (status, "belongs to no project" in err, f"neosian {word}," in err) == (2, True, True)
    assert switch.off_projects(str(home.path)) == []


def test_a_project_stays_off_while_all_or_a_folder_above_is(home: Home, capsys: Said) -> None:
    say(capsys, "off", str(home.project))
    say(capsys, "off")
    assert "All of neosian is switched off" in say(capsys, "on", "--project")[2]
    inner = repository(home.project / "vendor")
    say(capsys, "on")
    say(capsys, "off", str(home.project))
    assert f"neosian on {home.project}" in say(capsys, "on", str(inner))[2]


def test_a_folder_with_a_line_end_cannot_be_listed(home: Home, capsys: Said, tmp_path: Path) -> None:
    odd = repository(tmp_path / "two\nlines")
    status, _, err = say(capsys, "off", str(odd))
    assert (status, "cannot stand in a list" in err) == (2, True)
