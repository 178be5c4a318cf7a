"""What the commands print, for a person and as JSON."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from neosian import cli
from neosian.beginning import begin
from neosian.reminding import remind
from neosian.scope import user_scope
from neosian.turns import seconds
from tests import dreaming
from tests.factories import OTHER, SESSION, Home, git, prompts_of, repository, subjects
from tests.recorded import payload

Said = pytest.CaptureFixture[str]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    """A home with two conversations, whose person stands in the project."""
    found = Home(tmp_path)
    talk = found.talk()
    talk.ask("Fix the login page")
    talk.call("Bash", command="pytest -q")
    talk.answer("The login works again.")
    found.land()
    found.talk(OTHER).land("Describe the deployment", "It is described.")
    monkeypatch.chdir(found.project)
    monkeypatch.setenv("NEOSIAN_HOME", str(found.path))
    return found


def run(capsys: Said, *words: str, status: int = 0) -> str:
    """What a command prints on stdout."""
    capsys.readouterr()
    ended = cli.main(words)
    out, err = capsys.readouterr()
    assert ended == status, err
    return out


def as_json(capsys: Said, *words: str) -> Any:
    return json.loads(run(capsys, *words, "--json"))


def failed(capsys: Said, *words: str, status: int = 1) -> str:
    """What a command says on stderr that fails and prints nothing."""
    capsys.readouterr()
    assert cli.main(words) == status
    out, err = capsys.readouterr()
    assert out == ""
    return err


def said_beside(capsys: Said, *words: str) -> str:
    """What a command that prints nothing says on stderr."""
    capsys.readouterr()
    assert cli.main(words) == 0
    out, err = capsys.readouterr()
    assert out == ""
    return err


# recall


@pytest.mark.parametrize(
    "words",
    [
        (f"{SESSION}#1",),
        (SESSION,),
        (SESSION[:6],),
        (f"{SESSION[:6]}#1",),
        ("1", "--conversation", SESSION[:8]),
    ],
)
def test_a_turn_is_recalled_whole_by_any_of_its_names(
    words: tuple[str, ...], home: Home, capsys: Said
) -> None:
    said = run(capsys, "recall", *words)
    assert said.startswith("[1] 20")
    assert "person:\nFix the login page\n" in said
    assert "Bash(command=pytest -q, description=fails): ok\n  one\n" in said
    assert said.endswith("agent:\nThe login works again.\n")


def test_a_recalled_turn_is_the_lines_of_its_log(home: Home, capsys: Said) -> None:
    lines = as_json(capsys, "recall", f"{SESSION}#1")
    assert [line["kind"] for line in lines] == ["turn", "prompt", "tool_call", "tool_result", "answer"]
    assert {line["turn"] for line in lines} == {1}
    assert lines[0]["session"] == SESSION


def test_a_turn_is_recalled_as_it_stood_at_a_revision(home: Home, capsys: Said) -> None:
    talk = home.talk()
    rev = git(home.shop, "rev-parse", "main")
    talk.land("Something else")
    assert "Something else" in run(capsys, "recall", f"{SESSION}#2")
    assert "Something else" not in run(capsys, "recall", SESSION, "--at", rev)
    assert "Something else" in run(capsys, "recall", SESSION, "--at", "main")
    assert "2" in failed(capsys, "recall", f"{SESSION}#2", "--at", rev)


def test_a_forgotten_line_is_still_recalled_from_history(home: Home, capsys: Said) -> None:
    rev = git(home.shop, "rev-parse", "main")
    git(home.shop, "rm", "-qr", "record")
    git(home.shop, "commit", "-qm", "Away")
    assert "Fix the login page" in run(capsys, "recall", f"{SESSION}#1", "--at", rev[:10])


def test_times_are_local_whatever_zone_they_were_recorded_in(
    home: Home, capsys: Said, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin(str(home.path), home.talk(NEW).start())
    monkeypatch.setenv("TZ", "Asia/Kolkata")
    time.tzset()
    try:
        at = seconds(as_json(capsys, "recall", SESSION)[0]["at"])
        assert run(capsys, "recall", SESSION).startswith(f"[1] {utc(at + 19_800)}\n")
        at = seconds(as_json(capsys, "replay", NEW)[0]["at"])
        assert run(capsys, "replay", NEW).startswith(f"[1] start {utc(at + 19_800)}, ")
    finally:
        monkeypatch.undo()
        time.tzset()


def utc(at: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(at))


# replay

NEW = "99999999-6b2f-4994-b69e-ab201285eb10"
ASK = "How did we make the login page work?"


def test_what_an_agent_was_given_is_replayed_word_for_word(home: Home, capsys: Said) -> None:
    talk = home.talk(NEW)
    start = begin(str(home.path), talk.start())
    home.committed("login.md", "# Login page\n\nThe login works by a cookie.\n")
    told = remind(str(home.path), talk.ask(ASK))
    waiting = run(capsys, "replay", NEW[:8])
    assert waiting.count(", not landed yet\n") == 2
    talk.answer()
    home.land()
    said = run(capsys, "replay", f"{NEW}#1")
    assert (start in said, told in said, "not landed" in said) == (True, True, False)
    assert "[1] start 20" in said
    given = as_json(capsys, "replay", NEW)
    assert [(line["event"], line["text"], line["landed"]) for line in given] == [
        ("start", start, True), ("prompt", told, True),
    ]  # fmt: skip


def test_what_has_not_landed_is_replayed_behind_what_has(home: Home, capsys: Said) -> None:
    talk = home.talk(NEW)
    talk.land("Hello")
    home.committed("login.md", "# Login page\n\nThe login works by a cookie.\n")
    told = remind(str(home.path), talk.ask(ASK))
    assert told in run(capsys, "replay", f"{NEW}#2")
    (line,) = as_json(capsys, "replay", NEW)
    assert (line["turn"], line["event"], line["landed"], line["text"]) == (2, "prompt", False, told)


def test_a_conversation_that_was_told_nothing_says_so(home: Home, capsys: Said) -> None:
    assert as_json(capsys, "replay", SESSION) == []
    assert "No conversation" in failed(capsys, "replay", "nobody")
    assert "Of which conversation" in failed(capsys, "replay", "7", status=2)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("nobody",), "No conversation here is named 'nobody'"),
        ((f"{SESSION}#7",), "7"),
        ((SESSION, "--at", "no-such-revision"), "no-such-revision"),
        (("",), "conversation"),
    ],
)
def test_what_cannot_be_recalled_is_told(words: tuple[str, ...], said: str, home: Home, capsys: Said) -> None:
    assert said.lower() in failed(capsys, "recall", *words).lower()


def test_a_turn_number_is_wanted_with_conversation(home: Home, capsys: Said) -> None:
    assert "a turn's number is wanted" in failed(capsys, "recall", "x", "--conversation", SESSION, status=2)


def test_a_prefix_of_several_conversations_names_them(home: Home, capsys: Said) -> None:
    home.talk(SESSION[:4] + "-another").land("Hello")
    said = failed(capsys, "recall", SESSION[:4])
    assert SESSION in said
    assert "neosian recall" in said


def test_a_conversation_is_recalled_from_any_directory(
    home: Home, capsys: Said, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(repository(home.folder / "blog"))
    assert "Fix the login page" in run(capsys, "recall", SESSION)
    assert "Nothing has been recorded" in failed(capsys, "recall", SESSION, "--scope", "team:x")


def test_what_a_tool_printed_cannot_drive_the_terminal(home: Home, capsys: Said) -> None:
    talk = home.talk("escapes")
    talk.land("look \x1b]0;owned\x07\x1b[2J")
    assert "\x1b" not in run(capsys, "recall", "escapes")
    assert "\x1b" in as_json(capsys, "recall", "escapes")[1]["text"]


# search


def test_a_turn_hit_has_its_fields(home: Home, capsys: Said) -> None:
    hits = as_json(capsys, "search", "login")
    (hit,) = [hit for hit in hits if hit["kind"] == "turn"]
    assert {"kind", "conversation", "turn", "at", "score", "snippet"} <= set(hit)
    assert (hit["conversation"], hit["turn"]) == (SESSION, 1)
    assert "login" in hit["snippet"].lower()


def test_a_document_hit_has_its_fields(home: Home, capsys: Said) -> None:
    home.committed("project/deploy.md", "# Deploy\n\n## Rollback\n\nTurn the lighthouse off.\n")
    (hit,) = as_json(capsys, "search", "lighthouse")
    assert set(hit) == {"kind", "path", "section", "score", "snippet"}
    assert (hit["kind"], hit["path"]) == ("document", "/project/project/deploy.md")
    assert "Rollback" in hit["section"]


@pytest.mark.parametrize(
    ("flags", "found"),
    [
        ((), {"turn", "document"}),
        (("--kind", "turn"), {"turn"}),
        (("--kind", "document"), {"document"}),
        (("--conversation", SESSION), {"turn"}),
        (("--conversation", OTHER), set()),
        (("--since", "1h", "--kind", "turn"), {"turn"}),
        (("--since", "2099-01-01"), set()),
        (("--scope", "team:none"), set()),
    ],
)
def test_a_search_is_narrowed(flags: tuple[str, ...], found: set[str], home: Home, capsys: Said) -> None:
    home.committed("project/login.md", "# Login\n\nHow the login works.\n")
    assert {hit["kind"] for hit in as_json(capsys, "search", "login", *flags)} == found


def test_a_search_is_limited_and_shown_for_people(home: Home, capsys: Said) -> None:
    said = run(capsys, "search", "login", "page", "--limit", "1").splitlines()
    assert said[0].startswith(f"{SESSION}#1  20")
    assert said[1].startswith("  ")
    assert len(said) == 2


def test_nothing_found_is_said_beside_an_empty_result(home: Home, capsys: Said) -> None:
    assert as_json(capsys, "search", "xylophone") == []
    assert run(capsys, "search", "xylophone") == ""
    cli.main(["search", "xylophone"])
    assert capsys.readouterr().err == "Nothing found.\n"


def test_what_other_scopes_know_is_told_where_nothing_is_found(
    home: Home, capsys: Said, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(repository(home.folder / "blog"))
    capsys.readouterr()
    assert cli.main(["search", "login", "page"]) == 0
    found, hint = capsys.readouterr().err.splitlines()
    assert found == "Nothing found."
    assert hint == f"1 hit in {home.store().scope}: neosian search 'login page' --scope {home.store().scope}"
    assert run(capsys, *shlex.split(hint.partition(": neosian ")[2])).startswith(SESSION)
    assert " in user:" not in said_beside(capsys, "search", "xylophone")


def test_a_project_is_named_from_anywhere(home: Home, capsys: Said, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir("/")
    assert run(capsys, "search", "login", "--project", "shop").startswith(SESSION)
    assert OTHER in run(capsys, "sessions", "--project", "shop")
    for verb in (("search", "x"), ("sessions",)):
        assert "No project is called 'shpo'; there are: shop." in failed(
            capsys, *verb, "--project", "shpo", status=2
        )


@pytest.mark.parametrize("query", ['"', "*", "AND OR NOT", "a:b", "(", "' OR 1=1 --", "-x", "\0", "日本語"])
def test_any_text_may_be_searched_for(query: str, home: Home, capsys: Said) -> None:
    assert isinstance(json.loads(run(capsys, "search", "--json", "--", query)), list)


# sessions, path, context, status


def test_sessions_are_listed_newest_first(home: Home, capsys: Said) -> None:
    rows = as_json(capsys, "sessions")
    assert [(row["conversation"], row["turns"], row["first_prompt"]) for row in rows] == [
        (OTHER, 1, "Describe the deployment"), (SESSION, 1, "Fix the login page"),
    ]  # fmt: skip
    assert {row["scope"] for row in rows} == {home.store().scope}
    assert len(as_json(capsys, "sessions", "--limit", "1")) == 1


def test_sessions_are_aligned_for_people(home: Home, capsys: Said) -> None:
    head, *rows = run(capsys, "sessions").splitlines()
    assert head.split() == ["last", "turns", "client", "conversation", "began", "with"]
    assert all(row.index("claude-code") == head.index("client") for row in rows)
    assert [row[head.index("began") :] for row in rows] == ["Describe the deployment", "Fix the login page"]


def test_without_any_session_it_is_said(home: Home, capsys: Said) -> None:
    assert run(capsys, "sessions", "--scope", "team:none") == ""
    assert as_json(capsys, "sessions", "--scope", "team:none") == []


def test_the_folder_of_here_is_printed(home: Home, capsys: Said) -> None:
    assert run(capsys, "path") == f"{home.shop}\n"
    assert run(capsys, "path", user_scope()) == f"{home.user}\n"
    assert as_json(capsys, "path") == {"scope": home.store().scope, "path": str(home.shop), "exists": True}


def test_a_folder_that_is_not_there_yet_is_still_named(home: Home, capsys: Said) -> None:
    assert run(capsys, "path", "team:x") == f"{home.path}/scopes/team.x\n"
    assert not as_json(capsys, "path", "team:x")["exists"]
    assert "no scope" in failed(capsys, "path", "nonsense", status=2)


def test_the_environment_names_the_scope_of_here(
    home: Home, capsys: Said, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NEOSIAN_SCOPE", "team:x")
    assert as_json(capsys, "path")["scope"] == "team:x"


def test_the_very_block_of_a_session_start_is_shown_with_the_size_of_its_parts(
    home: Home, capsys: Said
) -> None:
    found = as_json(capsys, "context", "--cwd", str(home.project))
    assert set(found) == {"text", "cost", "parts"}
    assert "Fix the login page" in found["text"]
    assert found["cost"] == len(found["text"].encode("utf-16-le")) // 2
    assert 0 < sum(found["parts"].values()) <= found["cost"]


def test_the_sizes_stand_beside_the_block(home: Home, capsys: Said) -> None:
    cli.main(["context"])
    out, err = capsys.readouterr()
    assert "Fix the login page" in out
    assert err.splitlines()[-1].split()[0] == "total"
    assert "total" not in out


def test_status_tells_of_dreams_once_there_is_one(home: Home, capsys: Said) -> None:
    cli.main(["status"])
    assert "last dream" not in capsys.readouterr().out
    going = dreaming.start(home)
    dreaming.session(going, {"a.md": "a\n"}, waits={f"{number}.md": "b\n" for number in range(3)})
    cli.main(["status"])
    assert f"The dream {going.id} of {home.store().scope} was stopped" in capsys.readouterr().out
    dreaming.land(home, going)
    cli.main(["status"])
    out = capsys.readouterr().out
    assert "1 session, 1 note " in out
    assert f"0.md, 1.md, 2.md of {home.store().scope} can be looked at: neosian dream review" in out


def test_status_tells_of_scopes_and_spool(home: Home, capsys: Said) -> None:
    home.talk().ask("Still running")
    capsys.readouterr()
    cli.main(["status", "--json"])
    found = json.loads(capsys.readouterr().out)
    assert found["home"] == str(home.path)
    assert found["spool"]["waiting"] == 1
    assert {row["scope"] for row in found["scopes"]} == {user_scope(), home.store().scope}
    assert [row["client"] for row in found["clients"]] == ["claude-code"]


def test_status_ends_with_1_and_says_why_when_something_is_wrong(home: Home, capsys: Said) -> None:
    (home.path / "config.toml").write_text("[record\n")
    capsys.readouterr()
    assert cli.main(["status"]) == 1
    assert "is not TOML" in capsys.readouterr().out


# audit


def test_acts_are_told_newest_first_with_their_fields(home: Home, capsys: Said) -> None:
    rows = [row for row in as_json(capsys, "audit") if row["act"] == "record"]
    assert [(row["conversation"], row["turn"]) for row in rows] == [(OTHER, 1), (SESSION, 1)]
    assert set(rows[0]) == {
        "at",
        "actor",
        "act",
        "conversation",
        "turn",
        "subject",
        "commit",
        "scope",
        "paths",
    }
    assert rows[0]["commit"] == git(home.shop, "rev-parse", "main")
    assert rows[0]["actor"] == f"claude-code:{OTHER}#1"


@pytest.mark.parametrize(
    ("flags", "count"),
    [
        (("--conversation", SESSION), 1),
        (("--conversation", f"{SESSION}#1"), 1),
        (("--conversation", f"{SESSION}#2"), 0),
        (("--conversation", SESSION[:5]), 1),
        (("--actor", "claude-code:"), 2),
        (("--act", "record", "--limit", "1"), 1),
        (("--path", "record"), 2),
        (("--since", "1d", "--act", "record"), 2),
        (("--until", "2000-01-01", "--act", "record"), 0),
        (("--scope", user_scope(), "--act", "record"), 0),
    ],
)
def test_an_audit_is_narrowed(flags: tuple[str, ...], count: int, home: Home, capsys: Said) -> None:
    assert len(as_json(capsys, "audit", *flags)) == count


def test_an_audit_is_aligned_for_people(home: Home, capsys: Said) -> None:
    head, *rows = run(capsys, "audit", "--act", "record").splitlines()
    assert head.split() == ["time", "actor", "act", "turn", "commit", "subject"]
    assert [row[head.index("subject") :] for row in rows] == [
        "Turn 1: Describe the deployment",
        "Turn 1: Fix the login page",
    ]
    assert f" {SESSION[:8]}#1 " in rows[1]
    assert SESSION not in rows[1]


@pytest.mark.parametrize("when", ["yesterday", "3", "2026-13-01", "1y", "-1d"])
def test_a_time_that_is_none_is_refused(when: str, home: Home, capsys: Said) -> None:
    assert "is no time" in failed(capsys, "audit", f"--since={when}", status=2)


# record


def recorded(home: Home, name: str, *words: str, **fields: Any) -> subprocess.CompletedProcess[str]:
    """`neosian record` as a process of its own, with a recorded payload on stdin."""
    said = payload(name) | {"cwd": str(home.project)} | fields
    command = [sys.executable, "-m", "neosian", "record", *words]
    return subprocess.run(command, input=json.dumps(said), capture_output=True, text=True, cwd=home.project)


def test_recording_from_stdin_lands_a_turn(home: Home) -> None:
    begun = json.loads(recorded(home, "user_prompt_submit", "--json", session_id="new", prompt="Hi").stdout)
    ended = json.loads(recorded(home, "stop", "--json", session_id="new").stdout)
    assert begun | {"spooled": ""} == {
        "event": "UserPromptSubmit", "conversation": "new", "turn": None, "spooled": "", "landed": None,
    }  # fmt: skip
    assert (ended["event"], ended["turn"], ended["landed"]) == (
        "Stop",
        1,
        git(home.shop, "rev-parse", "main"),
    )
    assert "Hi" in prompts_of(home.shop)


def test_recording_prints_nothing_but_what_a_session_is_told(home: Home) -> None:
    assert recorded(home, "user_prompt_submit", session_id="new").stdout == ""
    assert recorded(home, "stop", session_id="new").stdout == ""
    assert "Fix the login page" in recorded(home, "session_start.startup", session_id="newer").stdout


def test_flags_of_recording_name_scope_and_agent(home: Home) -> None:
    for name in ("user_prompt_submit", "stop"):
        done = recorded(home, name, "--scope", "team:x", "--agent", "reviewer", session_id="new")
        assert (done.returncode, done.stderr) == (0, "")
    folder = Path(home.store("team:x").path)
    assert git(folder, "log", "-1", "--format=%an") == "reviewer:new"


def test_another_spool_is_absolute(home: Home, tmp_path: Path) -> None:
    done = recorded(home, "stop", "--spool", "here")
    assert (done.returncode, "must be absolute" in done.stderr) == (2, True)
    for name in ("user_prompt_submit", "stop"):
        assert recorded(home, name, "--spool", str(tmp_path / "spool"), session_id="new").returncode == 0
    assert os.listdir(tmp_path / "spool/new") == []
    assert len(prompts_of(home.shop)) == 3


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '{"a": 1} x', '"text"'])
def test_what_is_no_payload_is_refused_and_nothing_changes(text: str, home: Home) -> None:
    before = subjects(home.shop)
    command = [sys.executable, "-m", "neosian", "record"]
    done = subprocess.run(command, input=text, capture_output=True, text=True, cwd=home.project)
    assert done.returncode == 1
    assert done.stderr.startswith("neosian: ")
    assert "Traceback" not in done.stderr
    assert (subjects(home.shop), home.spool.names()) == (before, [])


def explained(home: Home, capsys: Said, what: Path | str, *words: str) -> Any:
    return json.loads(run(capsys, "record", "--explain", str(what), "--json", *words))


def test_a_directory_is_explained(home: Home, capsys: Said, private_home: Path) -> None:
    found = explained(home, capsys, home.project)
    assert (found["scope"], found["project"], found["recorded"]) == (
        home.store().scope,
        str(home.project),
        True,
    )
    assert found["folder"] == str(home.shop)
    assert found["mounts"] == {"/user": user_scope(), "/project": home.store().scope}
    assert explained(home, capsys, private_home)["reason"] == "the directory belongs to no project"


def test_a_payload_is_explained_with_what_would_be_dropped(home: Home, capsys: Said, tmp_path: Path) -> None:
    said = payload("post_tool_use.read") | {"session_id": "new", "cwd": str(home.project)}
    said["tool_input"] = {"file_path": str(home.project / ".env")}
    said["tool_response"] = {
        "type": "text",
        "file": {"content": "AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY\n" * 200},
    }
    (tmp_path / "payload.json").write_text(json.dumps(said))
    found = explained(home, capsys, tmp_path / "payload.json")
    assert found["event"] == "result"
    assert ["record.ignore" in found["dropped"][0], len(found["dropped"])] == [True, 3]
    assert home.spool.names() == []


@pytest.mark.parametrize(
    ("words", "scope", "reason"),
    [
        (("--scope", "team:x"), "team:x", "--scope names it"),
        (("--mount", "/project=team:y"), "team:y", "--mount names the scopes"),
    ],
)
def test_flags_are_part_of_the_explanation(
    words: tuple[str, ...], scope: str, reason: str, home: Home, capsys: Said
) -> None:
    found = explained(home, capsys, home.project, *words)
    assert (found["scope"], found["reason"]) == (scope, reason)


def test_a_known_conversation_is_explained_where_it_began(home: Home, capsys: Said, tmp_path: Path) -> None:
    said = payload("stop") | {"session_id": SESSION, "cwd": str(repository(tmp_path / "blog"))}
    (tmp_path / "payload.json").write_text(json.dumps(said))
    found = explained(home, capsys, tmp_path / "payload.json")
    assert (found["scope"], found["reason"]) == (home.store().scope, "the conversation began there")


@pytest.mark.parametrize(
    ("switch", "why"),
    [("off", "off is there"), ("NEOSIAN_OFF", "$NEOSIAN_OFF is set"), ("marked", "record.capture is marked")],
)
def test_what_is_switched_off_is_explained(
    switch: str, why: str, home: Home, capsys: Said, monkeypatch: pytest.MonkeyPatch
) -> None:
    if switch == "off":
        (home.path / "off").write_text("")
    elif switch == "marked":
        (home.path / "config.toml").write_text('[record]\ncapture = "marked"\n')
    else:
        monkeypatch.setenv("NEOSIAN_OFF", "1")
    found = explained(home, capsys, home.project)
    assert (found["recorded"], why in found["because"]) == (False, True)


# the cache


@pytest.mark.parametrize(
    "words",
    [
        ("sessions",),
        ("audit",),
        ("search", "login"),
        ("recall", SESSION),
        ("path",),
        ("recall", f"{OTHER}#1"),
    ],
    ids=lambda words: words[0],
)
def test_without_the_cache_the_answer_is_the_same(words: tuple[str, ...], home: Home, capsys: Said) -> None:
    before = as_json(capsys, *words)
    shutil.rmtree(home.path / "cache")
    assert as_json(capsys, *words) == before


@pytest.mark.parametrize(
    "words", [("sessions",), ("audit",), ("search", "x"), ("recall", SESSION)], ids=lambda words: words[0]
)
def test_reading_an_empty_home_makes_nothing_in_it(
    words: tuple[str, ...], tmp_path: Path, capsys: Said, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    cli.main([*words, "--root", str(tmp_path / "none")])
    assert "Traceback" not in capsys.readouterr().err
    assert not (tmp_path / "none" / "scopes").exists()


# names as other commands print them


@pytest.mark.parametrize(
    "words", [(f"sessions/{SESSION}",), (f"sessions/{SESSION}#1",), (f"sessions/{SESSION[:6]}",)]
)
def test_a_session_is_recalled_by_the_name_of_its_page(
    words: tuple[str, ...], home: Home, capsys: Said
) -> None:
    assert "Fix the login page" in run(capsys, "recall", *words)


def test_acts_of_a_conversation_are_told_by_the_name_of_its_page(home: Home, capsys: Said) -> None:
    (row,) = as_json(capsys, "audit", "--conversation", f"sessions/{SESSION}")
    assert row["conversation"] == SESSION


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("/project/tools", ["tools/x.md"]),
        ("/project/tools/", ["tools/x.md"]),
        ("/project/tools/x.md", ["tools/x.md"]),
        ("tools", ["tools/x.md"]),
        ("/project/profile", []),
        ("/user/profile", ["profile/role.md"]),
        ("/user/tools", []),
        ("/proj", []),
        ("/elsewhere/tools", []),
    ],
)
def test_a_path_as_search_prints_it_narrows_an_audit(
    path: str, found: list[str], home: Home, capsys: Said
) -> None:
    home.committed("tools/x.md", "x\n")
    home.committed("profile/role.md", "x\n", below=home.user)
    assert [row["paths"] for row in as_json(capsys, "audit", "--path", path)] == [[each] for each in found]


# the block, wherever the index stands and whatever is mounted


def test_the_block_is_up_to_date_however_far_the_index_is_behind(home: Home, capsys: Said) -> None:
    assert "Fix the login page" in as_json(capsys, "context")["text"]
    for number in range(60):
        git(home.shop, "commit", "-q", "--allow-empty", "-m", f"Mine {number}")
    home.talk("late").land("The newest of all")
    assert "The newest of all" in as_json(capsys, "context")["text"]


@pytest.mark.parametrize(
    ("flags", "shown"),
    [
        (("--scope", "team:x"), "/project/tools/x.md"),
        (("--mount", "/team=team:x"), "/team/tools/x.md"),
        (("--mount", "/team=team:x:ro", "--mount", "/project=team:y"), "/team/tools/x.md"),
    ],
)
def test_the_block_of_other_mounts_is_shown(
    flags: tuple[str, ...], shown: str, home: Home, capsys: Said
) -> None:
    home.talk("in-team", flags=("--scope", "team:x")).land("For the team")
    folder = Path(home.store("team:x").path)
    home.committed("tools/x.md", "---\ndescription: What the team knows\n---\n", below=folder)
    text = as_json(capsys, "context", *flags)["text"]
    assert f"{shown}: What the team knows" in text
    assert "Fix the login page" not in text


# wrong invocations, and places that are gone


@pytest.mark.parametrize(
    "words", [("--scope", "nonsense"), ("--scope", ""), ("--mount", "nonsense"), ("--mount", "/x=nonsense"), ("--mount", "/x=team:y:ro")]
)  # fmt: skip
def test_recording_for_what_is_no_scope_is_a_wrong_invocation(words: tuple[str, ...], home: Home) -> None:
    done = recorded(home, "user_prompt_submit", *words, session_id="new")
    if words[1]:
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.startswith("neosian: ")
        assert home.spool.names() == []
    else:
        assert done.returncode == 0  # an empty flag names nothing


@pytest.mark.parametrize(
    "words",
    [
        ("sessions",),
        ("audit",),
        ("search", "login"),
        ("recall", SESSION),
        ("path",),
        ("context",),
        ("status",),
    ],
    ids=lambda words: words[0],
)
def test_reading_works_in_a_directory_that_is_gone(words: tuple[str, ...], home: Home) -> None:
    gone = home.project / "gone"
    gone.mkdir()
    line = 'cd "$1" && rmdir "$1" && shift && exec "$@"'
    command = [sys.executable, "-m", "neosian", *words]
    done = subprocess.run(["sh", "-c", line, "sh", gone, *command], capture_output=True, text=True)
    assert done.returncode in (0, 1 if words == ("status",) else 0), done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout


def test_a_name_that_is_far_too_long_is_no_surprise(home: Home, capsys: Said) -> None:
    for name in ("9" * 5000, "x" * 5000, f"{SESSION}#{'9' * 5000}"):
        assert "unexpected" not in failed(capsys, "recall", name)


def test_what_no_index_keeps_is_found_all_the_same(home: Home, capsys: Said) -> None:
    home.talk("late-words").land("word " * 1_000 + "zyzzyva at the end")
    (hit,) = as_json(capsys, "search", "zyzzyva")
    assert (hit["conversation"], hit["turn"], "zyzzyva" in hit["snippet"]) == ("late-words", 1, True)
    assert as_json(capsys, "search", "zyzzyvas") == []


def test_any_text_is_a_query_options_too(home: Home, capsys: Said) -> None:
    home.talk("flags").land("Never use --no-verify here")
    assert as_json(capsys, "search", "--no-verify")[0]["conversation"] == "flags"
