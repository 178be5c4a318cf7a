"""From the spool to main: each turn lands once and in order, whatever git, a person or a kill does meanwhile."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from neosian import config, hook, landing, recall, scope
from neosian.beginning import begin
from neosian.errors import BusyError
from neosian.store import Lock
from tests.factories import (
    OTHER,
    SESSION,
    Home,
    Talk,
    aged,
    bytes_below,
    fsck,
    git,
    log_of,
    prompts_of,
    repository,
    segments,
    status,
    subjects,
)  # fmt: skip
from tests.test_scope import hostile


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


@pytest.fixture
def talk(home: Home) -> Talk:
    return home.talk()


def is_settled(home: Home) -> bool:
    """Whether nothing waits, and the scope is clean and whole."""
    waits = [name for folder in ("new", "landing", "bad") for name in below(home, folder)]
    return (waits, status(home.shop), fsck(home.shop)) == ([], "", "")


def below(home: Home, folder: str) -> list[str]:
    path = Path(home.spool.folder, folder)
    return sorted(os.listdir(path)) if path.is_dir() else []


def landed_turns(home: Home, rev: str = "main") -> list[str]:
    return [subject for subject in subjects(home.shop, rev) if subject.startswith("Turn")][::-1]


# what lands, and what does not


def test_a_turn_lands_with_its_commit_and_scope(home: Home, talk: Talk) -> None:
    talk.turn("Hello")
    (landed,) = home.land()
    assert landed.scope == f"{scope.user_scope()}/proj:shop"
    assert landed.commit == git(home.shop, "rev-parse", "main")
    assert (landed.span.session, landed.span.turn) == (SESSION, 1)
    assert is_settled(home)


def test_a_turn_that_still_runs_waits(home: Home, talk: Talk) -> None:
    talk.ask("Hello")
    assert home.land() == []
    assert len(below(home, "new")) == 1
    assert not home.shop.exists()
    talk.answer()
    assert len(home.land()) == 1
    assert is_settled(home)


def test_a_session_without_a_prompt_leaves_nothing(home: Home, talk: Talk) -> None:
    talk.start()
    talk.put("session_end.other")
    assert home.land() == []
    assert below(home, "new") == []
    assert not (home.path / "scopes").exists()


def test_a_spool_that_holds_nothing_makes_nothing(home: Home) -> None:
    assert home.land() == []
    assert not (home.path / "scopes").exists()


def test_a_turn_that_fell_silent_is_swept(home: Home, talk: Talk) -> None:
    name = talk.ask("Hello?")
    aged(Path(home.spool.new, name), 7 * 3600)
    home.land()
    assert log_of(home.shop)[0]["state"] == "unfinished"
    assert is_settled(home)


def test_an_event_that_cannot_be_read_stops_no_other(home: Home, talk: Talk) -> None:
    home.spool.make()
    Path(home.spool.new, "0-torn").write_bytes(b"neosian1\0clau")
    unknown = Path(home.spool.new, "0-unknown")
    unknown.write_bytes(b"neosian1\0no-such-client\0stop\0\0\0\0/\0\n{}")
    talk.turn("Hello")
    assert len(home.land()) == 1
    assert below(home, "bad") == ["0-torn", "0-torn.why", "0-unknown", "0-unknown.why"]


def test_two_conversations_in_two_projects_land_each_in_its_own(
    home: Home, talk: Talk, tmp_path: Path
) -> None:
    blog = home.talk(OTHER, cwd=repository(tmp_path / "blog"))
    talk.ask("In the shop")
    blog.ask("In the blog")
    talk.answer()
    blog.answer()
    assert len(home.land()) == 2
    folder = Path(home.store(f"{scope.user_scope()}/proj:blog").path)
    assert (prompts_of(home.shop), prompts_of(folder)) == (["In the shop"], ["In the blog"])


def test_a_scope_that_fails_holds_up_no_other(home: Home, talk: Talk, tmp_path: Path) -> None:
    talk.land("One")
    (home.shop / ".git/index.lock").write_text("")
    talk.turn("Two")
    home.talk(OTHER, cwd=repository(tmp_path / "blog")).turn("In the blog")
    lander = home.lander(patience=0.05)
    assert [each.scope for each in lander.land()] == [f"{scope.user_scope()}/proj:blog"]
    assert [type(error) for error in lander.failures] == [BusyError]
    (home.shop / ".git/index.lock").unlink()
    home.land()
    assert prompts_of(home.shop) == ["One", "Two"]


# where it lands


def test_no_project_means_the_user(home: Home, private_home: Path) -> None:
    home.talk(cwd=private_home).land("Hello")
    assert prompts_of(home.user) == ["Hello"]
    assert "proj:" not in (home.user / "README.md").read_text()
    assert not (home.user / "projects.toml").exists()


def test_a_throwaway_folder_means_the_user(home: Home, tmp_path: Path) -> None:
    home.path.mkdir()
    (home.path / "config.toml").write_text(f'[project]\nthrowaway = ["{tmp_path}/scratch*/**"]\n')
    home.talk(cwd=repository(tmp_path / "scratch-1")).land("Hello")
    assert prompts_of(home.user) == ["Hello"]


@pytest.mark.parametrize(
    ("flags", "marks", "where"),
    [
        (("--scope", "team:x"), {}, "team:x"),
        (("--mount", "/a=team:y:ro", "--mount", "/b=team:z"), {}, "team:z"),
        (("--mount", "/a=team:y", "--mount", "/project=team:z"), {}, "team:z"),
        ((), {"NEOSIAN_SCOPE": "team:w"}, "team:w"),
        (("--scope=team:x",), {"NEOSIAN_SCOPE": "team:w"}, "team:x"),
    ],
)
def test_a_scope_that_is_named_takes_the_turns(
    flags: tuple[str, ...], marks: dict[str, str], where: str, home: Home
) -> None:
    home.talk(flags=flags, marks=marks).land("Hello")
    assert prompts_of(Path(home.store(where).path)) == ["Hello"]
    assert os.listdir(home.path / "scopes") == [scope.disk_name(where)]


def test_a_wrong_hook_line_has_its_events_set_aside_and_holds_up_nobody(home: Home, talk: Talk) -> None:
    wrong = home.talk(OTHER, flags=("--scope", "nonsense"))
    names = [wrong.ask("Whose is this?"), wrong.answer()]
    talk.turn("Hello")
    lander = home.lander()
    assert len(lander.land()) == 1
    assert ["nonsense" in str(error) for error in lander.failures] == [True]
    assert prompts_of(home.shop) == ["Hello"]
    assert set(below(home, "bad")) == {each for name in names for each in (name, f"{name}.why")}


# another branch


@pytest.mark.parametrize("where", [("--detach",), ("--detach", "HEAD~1"), ("-b", "topic")])
def test_with_another_branch_checked_out_it_lands_on_main_alone(
    where: tuple[str, ...], home: Home, talk: Talk
) -> None:
    talk.land("One")
    git(home.shop, "checkout", "-q", *where)
    before = bytes_below(home.shop / "record"), git(home.shop, "rev-parse", "HEAD")
    talk.land("Two")
    assert (bytes_below(home.shop / "record"), git(home.shop, "rev-parse", "HEAD")) == before
    assert status(home.shop) == ""
    git(home.shop, "checkout", "-q", "main")
    assert prompts_of(home.shop) == ["One", "Two"]
    assert "Two" in segments(home.shop)[0].read_text()
    assert is_settled(home)


def test_landings_on_both_sides_of_a_checkout_share_a_segment(home: Home, talk: Talk) -> None:
    talk.land("One")
    git(home.shop, "checkout", "-q", "--detach")
    talk.land("Two")
    git(home.shop, "checkout", "-q", "main")
    talk.land("Three")
    assert prompts_of(home.shop) == ["One", "Two", "Three"]
    assert len(segments(home.shop)) == 1
    assert is_settled(home)


def test_a_person_who_commits_all_after_each_landing_loses_nothing(home: Home, talk: Talk) -> None:
    talk.land("One")
    for number in range(3):
        home.write("project/notes.md", f"mine {number}\n", age=0)
        git(home.shop, "add", "project/notes.md")
        git(home.shop, "commit", "-qam", "Mine")
        talk.land(f"More {number}")
    assert prompts_of(home.shop) == ["One", "More 0", "More 1", "More 2"]
    assert git(home.shop, "log", "--format=%s", "--author=ada@").splitlines() == ["Mine"] * 3
    assert is_settled(home)


# busy


def test_a_live_index_lock_leaves_the_span_in_the_spool(home: Home, talk: Talk) -> None:
    talk.land("One")
    (home.shop / ".git/index.lock").write_text("")
    talk.turn("Two")
    with pytest.raises(BusyError):
        home.land(patience=0.05)
    assert len(below(home, "new")) == 2
    assert prompts_of(home.shop) == ["One"]
    (home.shop / ".git/index.lock").unlink()
    home.land()
    assert prompts_of(home.shop) == ["One", "Two"]
    assert is_settled(home)


def test_an_open_commit_editor_is_waited_for(home: Home, talk: Talk) -> None:
    talk.land("One")
    home.committed("project/a.md", "a\n")
    home.write("project/a.md", "changed\n", age=0)
    editor = home.folder / "editor"
    editor.write_text(f"#!/bin/sh\ntouch '{home.folder}/open'\nsleep 0.7\necho Mine >\"$1\"\n")
    editor.chmod(0o700)
    person = subprocess.Popen(
        ["git", "-C", str(home.shop), "commit", "-qa"], env={**os.environ, "GIT_EDITOR": str(editor)}
    )
    while not (home.folder / "open").exists():
        time.sleep(0.01)
    talk.turn("Two")
    with pytest.raises(BusyError):
        home.land(patience=0.05)
    assert person.wait() == 0
    home.land()
    assert subjects(home.shop)[:2] == ["Turn 2: Two", "Mine"]
    assert is_settled(home)


def test_only_one_lands_at_a_time(home: Home, talk: Talk) -> None:
    talk.turn("Hello")
    other = home.lander()
    with Lock(os.path.join(home.spool.folder, "lock"), 0.0), pytest.raises(BusyError):
        home.lander(patience=0.05).land()
    assert len(other.land()) == 1


def test_many_landers_at_once_land_each_turn_once(home: Home) -> None:
    for number in range(4):
        home.talk(f"session-{number}").turn(f"Prompt {number}")
    code = f"from neosian import hook; hook.land({str(home.path)!r}, patience=30.0)"
    landers = [subprocess.Popen([sys.executable, "-c", code]) for _ in range(4)]
    assert [lander.wait() for lander in landers] == [0] * 4
    assert sorted(prompts_of(home.shop)) == [f"Prompt {number}" for number in range(4)]
    assert is_settled(home)


# killed

STEPS = [
    ("journal.Journal.begin", "before"),
    ("journal.Journal.begin", "after"),
    ("draft.Draft.write", "after"),
    ("gitlocks.set_next", "after"),
    ("gitlocks.lock_index", "after"),
    ("gitlocks.MainLock.__enter__", "after"),
    ("publish._write_file", "after"),
    ("publish._write_out", "after"),
    ("gitlocks.MainLock.commit", "after"),
    ("recent.Recent.add", "after"),
    ("spool.Spool.drop", "before"),
    ("spool.Spool.drop", "after"),
]


def killing(function: str, when: str) -> str:
    """Code that has this process killed before or after a function of ours."""
    return f"""
real = {function}
def die(*given, **named):
    if {when == "after"}:
        real(*given, **named)
    os.kill(os.getpid(), 9)
{function} = die
"""


@pytest.mark.parametrize("person", [False, True], ids=["alone", "beside a person"])
@pytest.mark.parametrize(("function", "when"), STEPS)
def test_a_killed_landing_is_finished_once(
    function: str, when: str, person: bool, home: Home, talk: Talk
) -> None:
    talk.land("One")
    home.committed("project/a.md", "a\n")
    talk.turn("Two")
    assert home.land_in_process(killing(function, when)) == -9
    if person:
        home.write("project/a.md", "longer than before\n", age=0)
        git(home.shop, "commit", "-qam", "Mine", check=False)
    talk.turn("Three")
    home.land()
    assert prompts_of(home.shop) == ["One", "Two", "Three"]
    assert landed_turns(home) == ["Turn 1: One", "Turn 2: Two", "Turn 3: Three"]
    assert (below(home, "new"), below(home, "landing"), fsck(home.shop)) == ([], [], "")
    assert status(home.shop) in ("", " M project/a.md")


@pytest.mark.parametrize(
    ("function", "when"), [("publish._write_out", "after"), ("draft.Draft.write", "before")]
)
def test_a_landing_killed_while_its_scope_is_made_is_finished(
    function: str, when: str, home: Home, talk: Talk
) -> None:
    talk.turn("One")
    assert home.land_in_process(killing(function, when)) == -9
    home.land()
    assert prompts_of(home.shop) == ["One"]
    assert is_settled(home)
    assert (status(home.user), fsck(home.user)) == ("", "")


def test_a_landing_killed_on_another_branch_is_finished(home: Home, talk: Talk) -> None:
    talk.land("One")
    git(home.shop, "checkout", "-q", "--detach")
    talk.turn("Two")
    assert home.land_in_process(killing("gitlocks.MainLock.commit", "before")) == -9
    home.land()
    git(home.shop, "checkout", "-q", "main")
    assert prompts_of(home.shop) == ["One", "Two"]
    assert is_settled(home)


def test_a_span_that_comes_twice_lands_once(home: Home, talk: Talk) -> None:
    talk.turn("Hello")
    raw = {name: Path(home.spool.new, name).read_bytes() for name in below(home, "new")}
    times = {name: Path(home.spool.new, name).stat().st_mtime_ns for name in raw}
    home.land()
    for name, data in raw.items():
        Path(home.spool.new, name).write_bytes(data)
        os.utime(Path(home.spool.new, name), ns=(times[name], times[name]))
    assert home.land() == []
    assert prompts_of(home.shop) == ["Hello"]
    assert is_settled(home)


# the journal


def journal(home: Home, commit: str, text: str) -> Path:
    path = Path(home.spool.folder, "landing", commit)
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    return path


def head(home: Home, raw: list[str]) -> str:
    said = {
        "scope": home.store().scope,
        "day": "2026-11/29",
        "client": "claude-code",
        "session": SESSION,
        "turn": 1,
    }
    return json.dumps(said | {"raw": raw}) + "\n"


def test_what_landed_is_kept_until_it_is_packed(home: Home, talk: Talk) -> None:
    commit = talk.land("Hello")
    (kept,) = (home.path / "spool/landed").glob("*/*")
    assert (kept.parent.name, kept.name) == (home.shop.name, commit)
    told, *lines = kept.read_text().splitlines()
    assert json.loads(told)["turn"] == 1
    assert lines == segments(home.shop)[0].read_text().splitlines()


def test_a_journal_whose_commit_is_in_main_removes_its_events(home: Home, talk: Talk) -> None:
    commit = talk.land("Hello")
    name = talk.ask("Left behind")
    journal(home, commit, head(home, [name]))
    home.land()
    assert (below(home, "new"), below(home, "landing")) == ([], [])


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '{"scope": 1}', "\0\0\0"])
def test_a_torn_journal_is_void(text: str, home: Home, talk: Talk) -> None:
    commit = talk.land("One")
    talk.turn("Two")
    journal(home, commit[::-1], text)
    home.land()
    assert prompts_of(home.shop) == ["One", "Two"]
    assert is_settled(home)


def test_a_journal_whose_commit_never_was_keeps_its_events(home: Home, talk: Talk) -> None:
    talk.land("One")
    talk.turn("Two")
    journal(home, "a" * 40, head(home, below(home, "new")))
    home.land()
    assert prompts_of(home.shop) == ["One", "Two"]
    assert is_settled(home)


# the user's own git


def test_git_variables_of_a_hook_do_not_reach_us(
    home: Home, talk: Talk, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop = repository(home.folder / "theirs", commit=True)
    before = bytes_below(shop)
    for name, path in (("GIT_DIR", ".git"), ("GIT_WORK_TREE", "."), ("GIT_INDEX_FILE", ".git/index"), ("GIT_OBJECT_DIRECTORY", ".git/objects")):  # fmt: skip
        monkeypatch.setenv(name, str(shop / path))
    talk.land("Hello")
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY"):
        monkeypatch.delenv(name)
    assert bytes_below(shop) == before
    assert prompts_of(home.shop) == ["Hello"]
    assert is_settled(home)


@pytest.mark.parametrize(
    "settings",
    [
        {"commit.gpgsign": "true", "user.signingkey": "none", "gpg.program": "/bin/false"},
        {"core.autocrlf": "true", "core.eol": "crlf"},
        {"core.safecrlf": "true", "core.autocrlf": "input"},
        {"init.defaultBranch": "trunk"},
        {"core.fileMode": "false", "core.ignoreCase": "true"},
        {"core.excludesFile": "~/ignore"},
        {"safe.directory": "/nowhere"},
    ],
)
def test_a_persons_settings_do_not_reach_our_commits(
    settings: dict[str, str], home: Home, talk: Talk, private_home: Path
) -> None:
    (private_home / "ignore").write_text("record\n*.md\n")
    for key, value in settings.items():
        git(home.folder, "config", "--global", key, value)
    talk.land("One\r\ntwo")
    home.write("project/a.md", "by a person\r\n")
    talk.land("Next")
    assert prompts_of(home.shop) == ["One\r\ntwo", "Next"]
    assert (home.shop / "project/a.md").read_bytes() == b"by a person\r\n"
    assert git(home.shop, "rev-parse", "--abbrev-ref", "HEAD") == "main"
    assert "gpgsig" not in git(home.shop, "cat-file", "commit", "main")
    assert is_settled(home)


def test_a_persons_hooks_are_not_run(home: Home, talk: Talk, private_home: Path) -> None:
    hooks = private_home / "hooks"
    hooks.mkdir()
    for name in ("pre-commit", "commit-msg", "post-commit", "reference-transaction", "post-index-change"):
        (hooks / name).write_text(f"#!/bin/sh\ntouch {private_home}/ran-{name}\nexit 1\n")
        (hooks / name).chmod(0o755)
    git(home.folder, "config", "--global", "core.hooksPath", str(hooks))
    talk.land("Hello")
    assert not list(private_home.glob("ran-*"))
    assert prompts_of(home.shop) == ["Hello"]


def test_without_any_git_identity_it_lands(home: Home, talk: Talk, private_home: Path) -> None:
    (private_home / ".gitconfig").write_text("[user]\n\tuseConfigOnly = true\n")
    talk.land("Hello")
    assert is_settled(home)


# the cache


def test_without_a_cache_every_answer_is_the_same(home: Home, talk: Talk) -> None:
    for prompt in ("One", "Two", "Three", "Four"):
        talk.turn(prompt)
        home.land()
        shutil.rmtree(home.path / "cache", ignore_errors=True)
    assert prompts_of(home.shop) == ["One", "Two", "Three", "Four"]
    assert [line["turn"] for line in log_of(home.shop) if line["kind"] == "turn"] == [1, 2, 3, 4]
    assert is_settled(home)


def test_a_cache_that_cannot_be_written_only_costs_time(home: Home, talk: Talk) -> None:
    home.path.mkdir()
    (home.path / "cache").write_text("a file where a folder should be")
    talk.land("One")
    talk.land("Two")
    assert prompts_of(home.shop) == ["One", "Two"]


# what is kept


def test_nothing_of_an_ignored_file_or_a_private_part_lands(home: Home, talk: Talk) -> None:
    talk.ask("Read it <private>my pin is 4711</private> now")
    talk.call("Read", file_path=str(home.project / ".env"))
    talk.call(
        "Bash", command="curl -H 'Authorization: Bearer abcdefghijklmnopqrstuvwxyz0123456789' x.example"
    )
    talk.answer()
    home.land()
    said = git(home.shop, "log", "-p", "--all")
    assert "4711" not in said
    assert "abcdefghijklmnopqrstuvwxyz0123456789" not in said
    assert [line["kind"] for line in log_of(home.shop)].count("tool_result") == 2
    kept = b"".join(path.read_bytes() for path in (home.path / "spool/landed").glob("*/*"))
    assert b"4711" not in kept


def test_settings_decide_how_much_is_kept(home: Home, talk: Talk) -> None:
    home.path.mkdir()
    (home.path / "config.toml").write_text("[record]\ninput_chars = 10\n")
    assert config.load(str(home.path))[0].record_input_chars == 10
    talk.ask("Write")
    talk.call("Write", file_path="/x/a.txt", content="0123456789" * 3)
    talk.answer()
    home.land()
    (call,) = [line for line in log_of(home.shop) if line["kind"] == "tool_call"]
    assert call["chars"] == {"/content": 30}


def test_each_call_keeps_its_own_directory(home: Home, talk: Talk, tmp_path: Path) -> None:
    talk.ask("Go")
    talk.call("Bash", command="ls")
    talk.cwd = str(tmp_path)
    talk.call("Bash", command="ls")
    talk.answer()
    home.land()
    found = [line.get("cwd", str(home.project)) for line in log_of(home.shop) if line["kind"] == "tool_call"]
    assert found == [str(home.project), str(tmp_path)]


# what one conversation, project or payload must not do to the others


def deep(levels: int) -> object:
    value: object = "core"
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize("levels", [60, 330, 480, 600])
@pytest.mark.parametrize(
    ("name", "field"),
    [("pre_tool_use.bash", "tool_input"), ("post_tool_use.bash", "tool_response"), ("", "anything")],
)
def test_what_is_nested_deeply_lands_and_everything_goes_on(
    levels: int, name: str, field: str, home: Home, talk: Talk
) -> None:
    talk.ask("Go deep")
    if name:
        talk.put(name, **{field: {"x": deep(levels)}})
    else:
        home.put(
            {"hook_event_name": "New", "session_id": SESSION, "cwd": talk.cwd, field: {"x": deep(levels)}}
        )
    talk.answer("Found the bottom.")
    hook.land(str(home.path))
    home.talk(OTHER).turn("Another")
    hook.land(str(home.path))
    assert sorted(prompts_of(home.shop)) == ["Another", "Go deep"]
    assert is_settled(home)
    assert "bottom" in begin(str(home.path), home.talk("third").start())
    assert recall.search(home.store(), "bottom")


@pytest.mark.parametrize("function", ["assemble", "render"])
def test_a_conversation_that_cannot_be_made_sense_of_is_set_aside_and_the_others_land(
    function: str, home: Home, talk: Talk, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = getattr(landing, function)

    def failing(given: object, *more: object, **named: object) -> object:
        if "Cursed" in str([getattr(each, "data", each) for each in given]):  # type: ignore[attr-defined]
            raise RecursionError("too deep for anybody")
        return real(given, *more, **named)

    monkeypatch.setattr(landing, function, failing)
    cursed = home.talk(OTHER)
    names = [cursed.ask("Cursed"), cursed.answer()]
    talk.turn("Hello")
    lander = home.lander()
    assert [each.span.session for each in lander.land()] == [SESSION]
    assert ["too deep" in str(error) for error in lander.failures] == [True]
    assert prompts_of(home.shop) == ["Hello"]
    assert set(names) <= set(below(home, "bad"))
    assert "Traceback" in (home.path / "log" / "neosian.log").read_text()
    talk.land("Go on")
    assert prompts_of(home.shop) == ["Hello", "Go on"]


@pytest.mark.parametrize("place", [".git", ".git/config", ".git/HEAD"])
@pytest.mark.parametrize("what", ["pipe", "folder", "device", "NUL"])
def test_a_hostile_repository_holds_up_no_other_project(
    place: str, what: str, home: Home, talk: Talk, tmp_path: Path
) -> None:
    hostile(tmp_path / "trap" / place, what)
    home.talk(OTHER, cwd=tmp_path / "trap").turn("In the trap")
    talk.turn("Hello")
    assert len(home.land()) == 2
    assert prompts_of(home.shop) == ["Hello"]
    assert prompts_of(Path(home.store(f"{scope.user_scope()}/proj:trap").path)) == ["In the trap"]


def test_a_repository_that_claims_to_be_another_does_not_land_there(
    home: Home, talk: Talk, tmp_path: Path
) -> None:
    talk.land("Ours alone")
    folder = tmp_path / "claims"
    (folder / "private").mkdir(parents=True)
    (folder / ".git").write_text("gitdir: private\n")
    (folder / "private" / "commondir").write_text(f"{home.project}/.git\n")
    stranger = home.talk(OTHER, cwd=folder)
    assert "Ours alone" not in begin(str(home.path), stranger.start())
    stranger.land("Theirs")
    assert prompts_of(home.shop) == ["Ours alone"]


@pytest.mark.parametrize("where", ["/" + "a/" * 3000, "/" + "a" * 5000, "/no\0path"])
def test_a_directory_that_no_system_would_take_holds_up_nobody(where: str, home: Home, talk: Talk) -> None:
    home.put(
        {"hook_event_name": "UserPromptSubmit", "session_id": OTHER, "cwd": where, "prompt": "Where am I?"}
    )
    home.put(
        {"hook_event_name": "Stop", "session_id": OTHER, "cwd": where, "last_assistant_message": "Nowhere."}
    )
    talk.turn("Hello")
    assert len(home.land()) == 2
    assert prompts_of(home.shop) == ["Hello"]
    assert below(home, "bad") == []


def test_a_log_that_a_person_removes_right_after_a_landing_is_put_back(home: Home, talk: Talk) -> None:
    talk.land("One")
    git(home.shop, "rm", "-q", "-r", "record")
    git(home.shop, "commit", "-qm", "Away")
    talk.land("Two")
    assert prompts_of(home.shop) == ["One", "Two"]
    assert "Put back turns that a stale checkout took away" in subjects(home.shop)
    assert is_settled(home)


@pytest.mark.parametrize("when", ["before", "between", "after"])
def test_without_its_markers_it_lands_the_same(when: str, home: Home, talk: Talk) -> None:
    talk.land("One")
    git(home.shop, "commit", "-q", "--allow-empty", "-m", "Mine")
    for moment in ("before", "between", "after"):
        if when == moment:
            for name in ("looked", "index.seen"):
                (home.shop / ".git" / "neosian" / name).unlink(missing_ok=True)
        talk.land(moment)
    assert prompts_of(home.shop) == ["One", "before", "between", "after"]
    assert is_settled(home)
