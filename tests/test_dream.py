"""`neosian dream` from turns to notes: with a scripted model behind a real server, and without one."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from neosian import scope
from tests import asking
from tests.factories import OTHER, SESSION, Home, fsck, git, repository, status, subjects, trailers
from tests.hooking import environment
from tests.model_server import Reply, calls, says
from tests.model_server import status as fails
from tests.test_commands import Said, as_json, failed, run

THIRD = "9f3c2a11-7a4e-4a55-9b0e-3c1d5e6f7a80"
DEPLOY = (
    '---\ndescription: "When the shop is deployed"\n---\nDeploys go out on Tuesdays, never on a Friday.\n'
)
Model = asking.Model
model = asking.model


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    """A home with three sessions that are over."""
    home = Home(tmp_path)
    home.talk(SESSION).land("We deploy on Tuesdays, never on a Friday. Remember that.", "Noted.")
    home.talk(OTHER).land("Fix the typo in the title", "Done.")
    home.talk(THIRD).land("From now on deploys go out on Mondays, not on Tuesdays", "Noted.")
    (home.path / "config.toml").write_text("[dream]\nidle = 0\n")
    monkeypatch.setenv("NEOSIAN_HOME", str(home.path))
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(home.project)
    return home


def edits(*given: dict[str, Any]) -> Reply:
    return calls({"edits": list(given)})


def create(path: str, text: str, source: str, reason: str = "the person decided it") -> dict[str, Any]:
    return {"action": "create", "path": path, "text": text, "reason": reason, "sources": [source]}


def test_three_sessions_leave_their_notes_with_reasons_and_sources(
    home: Home, capsys: Said, model: Model
) -> None:
    server = model(
        edits(create("/project/project/deploy.md", DEPLOY, f"{SESSION}#1")),
        edits(),
        edits(
            {
                "action": "str_replace", "path": "/project/project/deploy.md", "old_str": "on Tuesdays, never on a Friday",
                "new_str": "on Mondays, never on a Friday", "reason": "the person moved it from Tuesdays to Mondays",
                "sources": [f"{THIRD}#1"],
            }
        ),
    )  # fmt: skip
    report = as_json(capsys, "dream")
    assert [row["edits"] for row in report["sessions"]] == [1, 0, 1]
    assert (home.shop / "project/deploy.md").read_text() == DEPLOY.replace("Tuesdays, n", "Mondays, n")
    assert subjects(home.shop)[0] == "Dream of 3 sessions: 1 note"
    assert git(home.shop, "log", "-1", "--format=%an", "main") == "dream"
    lines = as_json(capsys, "why", "/project/project/deploy.md")
    sources = [source for passage in lines for source in passage["sources"]]
    assert {(source["conversation"], source["turn"]) for source in sources} == {(SESSION, 1), (THIRD, 1)}
    assert "Mondays" in server.bodies[-1]["messages"][0]["content"] or len(server.bodies) == 3
    assert (fsck(home.shop), status(home.shop)) == ("", "")
    assert "nothing new" in failed_note(capsys, "dream", "--dry-run")


def failed_note(capsys: Said, *words: str) -> str:
    """What a command that prints nothing says beside that."""
    from neosian import cli

    capsys.readouterr()
    assert cli.main(list(words)) == 0
    out, err = capsys.readouterr()
    assert out == ""
    return err


def test_each_session_sees_what_the_ones_before_it_left(home: Home, capsys: Said, model: Model) -> None:
    server = model(edits(create("/project/project/deploy.md", DEPLOY, f"{SESSION}#1")), edits())
    run(capsys, "dream")
    first, second, third = ("".join(map(str, body["messages"])) for body in server.bodies)
    assert "/project/project/deploy.md" not in first
    assert "/project/project/deploy.md: When the shop is deployed" in second
    assert "never on a Friday" in third


def test_a_refusal_is_told_once_and_then_kept(home: Home, capsys: Said, model: Model) -> None:
    bad = create("/project/record/x.md", DEPLOY, f"{SESSION}#1")
    server = model(edits(bad), edits(bad), edits())
    report = as_json(capsys, "dream", "--max-sessions", "1")
    assert report["sessions"] == [{"conversation": SESSION, "edits": 0, "review": 0, "refused": 1}]
    assert "record/x.md" in str(server.bodies[1]["messages"][-1])
    assert not (home.shop / "project").exists()


def test_a_session_that_fails_stays_and_the_others_go_on(home: Home, capsys: Said, model: Model) -> None:
    too_long = fails(400, "invalid_request_error", "prompt is too long")  # in windows of each size
    model(edits(), too_long, too_long, too_long, edits())
    report = as_json(capsys, "dream")
    assert [row["conversation"] for row in report["sessions"]] == [SESSION, THIRD]
    assert [row["conversation"] for row in report["failed"]] == [OTHER]
    assert [row["conversation"] for row in as_json(capsys, "dream", "--dry-run")] == [OTHER]


def test_with_review_nothing_lands_before_a_person_says_so(home: Home, capsys: Said, model: Model) -> None:
    model(edits(create("/project/project/deploy.md", DEPLOY, f"{SESSION}#1")), edits())
    run(capsys, "dream", "--review", "--max-sessions", "1")
    assert not (home.shop / "project/deploy.md").exists()
    (waiting,) = as_json(capsys, "dream", "review")
    assert "+Deploys go out on Tuesdays" in waiting["diff"]
    as_json(capsys, "dream", "accept", "/project/project/deploy.md")
    assert (home.shop / "project/deploy.md").read_text() == DEPLOY
    assert as_json(capsys, "dream", "review") == []


def test_the_reason_of_a_rejection_is_given_to_the_next_dream(home: Home, capsys: Said, model: Model) -> None:
    server = model(edits(create("/project/project/deploy.md", DEPLOY, f"{SESSION}#1")), edits())
    run(capsys, "dream", "--review", "--max-sessions", "1")
    as_json(capsys, "dream", "reject", "project/deploy.md", "--reason", "no notes about deploys, please")
    run(capsys, "dream")
    assert "no notes about deploys, please" in str(server.bodies[-1]["messages"])


def test_so_is_that_of_a_personal_note(home: Home, capsys: Said, model: Model) -> None:
    server = model(edits(create("/user/profile/deploys.md", DEPLOY, f"{SESSION}#1")), edits())
    run(capsys, "dream", "--review", "--max-sessions", "1")
    as_json(capsys, "dream", "reject", "/user", "--reason", "nothing about how I deploy")
    run(capsys, "dream")
    assert "nothing about how I deploy" in str(server.bodies[-1]["messages"])


def test_a_dream_is_taken_back_whole(home: Home, capsys: Said, model: Model) -> None:
    model(edits(create("/project/project/deploy.md", DEPLOY, f"{SESSION}#1")), edits())
    run(capsys, "dream")
    as_json(capsys, "dream", "undo")
    assert not (home.shop / "project/deploy.md").exists()
    assert "nothing new" in failed_note(capsys, "dream", "--dry-run")


def test_without_a_key_preferences_are_counted(home: Home, capsys: Said) -> None:
    report = as_json(capsys, "dream")
    assert report["engine"] == "rules"
    note = (home.user / "profile/preferences.md").read_text()
    assert '"From now on deploys go out on Mondays, not on Tuesdays"' in note
    assert trailers(
        home.user, "main^2" if len(git(home.user, "log", "-1", "--format=%p").split()) > 1 else "main"
    )
    before = git(home.user, "rev-parse", "main")
    run(capsys, "dream")
    assert git(home.user, "rev-parse", "main") == before


def test_a_warm_session_waits(home: Home, capsys: Said) -> None:
    (home.path / "config.toml").write_text("")
    report = as_json(capsys, "dream")
    assert (report["warm"], report["sessions"]) == (3, [])


def test_an_unknown_engine_and_a_lost_server_are_said(home: Home, capsys: Said, model: Model) -> None:
    model(fails(401, "authentication_error", "invalid x-api-key"))
    said = failed(capsys, "dream")
    assert said.count("refused the key") == 1
    assert "3 sessions are left for the next one." in said


def test_the_user_scope_takes_personal_notes(home: Home, capsys: Said, model: Model) -> None:
    note = '---\ndescription: "How Ada likes deploys"\n---\nThe person never deploys on a Friday.\n'
    model(edits(create("/user/profile/deploys.md", note, f"{SESSION}#1")), edits())
    run(capsys, "dream")
    assert (home.user / "profile/deploys.md").read_text() == note
    assert trailers(home.user, "main^2")["Source"] == f"{SESSION}#1"
    assert scope.user_scope()


def settings(home: Home, **more: object) -> None:
    rows = "".join(f"{name} = {value}\n" for name, value in more.items())
    (home.path / "config.toml").write_text(f"[dream]\nidle = 0\n{rows}")


# how much it may spend


@pytest.mark.parametrize("cap", ["max_tokens_per_run", "max_tokens_per_day"])
def test_a_cap_ends_the_asking_and_what_was_dreamt_lands(
    cap: str, home: Home, capsys: Said, model: Model
) -> None:
    settings(home, **{cap: 30_000})
    server = model(edits(create("/project/project/deploy.md", DEPLOY, f"{SESSION}#1")))
    server.replies[0] = calls(
        {"edits": [create("/project/project/deploy.md", DEPLOY, f"{SESSION}#1")]}, usage=(20_000, 900)
    )
    report = as_json(capsys, "dream")
    assert (len(server.bodies), len(report["sessions"]), report["left"]) == (1, 1, 2)
    assert cap in report["stopped"]
    assert (home.shop / "project/deploy.md").read_text() == DEPLOY
    if cap.endswith("day"):
        assert as_json(capsys, "dream")["sessions"] == []
        assert len(server.bodies) == 1


def test_what_was_spent_is_written_down_and_told(home: Home, capsys: Said, model: Model) -> None:
    model(calls({"edits": []}, usage=(1_000, 100)))
    run(capsys, "dream", "--max-sessions", "1")
    (line,) = map(json.loads, (home.path / "dream/spent.jsonl").read_text().splitlines())
    assert (line["input_tokens"], line["output_tokens"], line["conversation"]) == (1_000, 100, SESSION)
    assert status_of(capsys)["dream"]["tokens_today"] == 1_100
    (home.path / "dream/spent.jsonl").write_text("{\n[]\n" + json.dumps({"at": 3}) + "\n")
    assert status_of(capsys)["dream"]["tokens_today"] == 0


def status_of(capsys: Said) -> Any:
    """What `neosian status` says, whether or not all is well."""
    from neosian import cli

    capsys.readouterr()
    cli.main(["status", "--json"])
    return json.loads(capsys.readouterr()[0])


def test_a_session_that_failed_three_times_is_set_aside(home: Home, capsys: Said, model: Model) -> None:
    refuse = says("", stop="refusal")
    server = model(refuse)
    for _try in range(3):
        assert len(json_of(capsys, "dream", "--max-sessions", "1")["failed"]) == 1
    asked = len(server.bodies)
    server.replies = [edits()]
    report = as_json(capsys, "dream")
    assert report["set_aside"] == [SESSION]
    assert [row["conversation"] for row in report["sessions"]] == [OTHER, THIRD]
    assert len(server.bodies) == asked + 2
    (told,) = next(row for row in status_of(capsys)["scopes"] if row["scope"].endswith("shop"))["dream"][
        "set_aside"
    ]
    assert (told["conversation"], told["tries"]) == (SESSION, 3)
    assert [row["conversation"] for row in as_json(capsys, "dream", "--again")["sessions"]] == [SESSION]
    assert as_json(capsys, "dream")["set_aside"] == []


def test_new_turns_give_a_session_that_was_set_aside_another_try(
    home: Home, capsys: Said, model: Model
) -> None:
    server = model(says("", stop="refusal"))
    for _try in range(3):
        json_of(capsys, "dream", "--max-sessions", "1")
    home.talk(SESSION).land("And never deploy at night", "Noted.")
    server.replies = [edits()]
    assert SESSION in [row["conversation"] for row in as_json(capsys, "dream")["sessions"]]


def json_of(capsys: Said, *words: str) -> Any:
    """What a command prints with `--json`, whatever its exit status."""
    from neosian import cli

    capsys.readouterr()
    cli.main([*words, "--json"])
    return json.loads(capsys.readouterr()[0])


def test_an_answer_that_cannot_be_read_twice_leaves_the_session_for_later(
    home: Home, capsys: Said, model: Model
) -> None:
    model(says("Let me think about it."), says("I would rather not."), edits())
    report = as_json(capsys, "dream")
    assert [row["conversation"] for row in report["failed"]] == [SESSION]
    assert [row["conversation"] for row in as_json(capsys, "dream", "--dry-run")] == [SESSION]


def test_a_session_is_asked_about_in_windows_that_the_model_can_read(
    home: Home, capsys: Said, model: Model
) -> None:
    long = home.talk("5a5a5a5a-1111-4222-8333-444455556666")
    for number in range(12):
        long.land(f"Step {number}: " + "we go on with the checkout page " * 60, "Done.")
    too_long = fails(400, "invalid_request_error", "prompt is too long")
    server = model(edits(), edits(), edits(), too_long, edits())
    report = as_json(capsys, "dream")
    assert report["failed"] == []
    asked = ["".join(map(str, body["messages"])) for body in server.bodies[4:]]
    assert len(asked) > 1
    assert all(any(f"Step {number}: " in each for each in asked) for number in range(12))


# who else dreams


def test_a_second_dream_says_so_and_goes(home: Home, capsys: Said, model: Model) -> None:
    said: list[str] = []

    def meanwhile(request: Any) -> None:
        done = subprocess.run([sys.executable, "-m", "neosian", "dream"], capture_output=True, text=True)
        said.append(done.stderr)
        edits()(request)

    model(meanwhile, edits())
    assert len(as_json(capsys, "dream")["sessions"]) == 3
    assert f"Another dream is under way (process {os.getpid()}, for less than a minute)" in said[0]
    assert len(as_json(capsys, "dream", "--dry-run")) == 0


def test_what_a_killed_dream_had_finished_lands_with_the_next(home: Home, model: Model, capsys: Said) -> None:
    server = model(
        edits(create("/project/project/deploy.md", DEPLOY, f"{SESSION}#1")), kills_whoever_asks, edits()
    )
    done = subprocess.run([sys.executable, "-m", "neosian", "dream"], capture_output=True)
    assert done.returncode == -9
    assert not (home.shop / "project/deploy.md").exists()
    assert len(as_json(capsys, "dream")["sessions"]) == 2
    assert (home.shop / "project/deploy.md").read_text() == DEPLOY
    assert len(server.bodies) == 4  # the first session was not asked about again
    assert subjects(home.shop)[:2] == [
        "Dream of 2 sessions: nothing new", "Dream of 1 session: 1 note",
    ]  # fmt: skip
    assert (fsck(home.shop), status(home.shop)) == ("", "")


def test_a_killed_dream_that_was_to_be_reviewed_is_reviewed_still(
    home: Home, model: Model, capsys: Said
) -> None:
    model(edits(create("/project/project/deploy.md", DEPLOY, f"{SESSION}#1")), kills_whoever_asks, edits())
    subprocess.run([sys.executable, "-m", "neosian", "dream", "--review"], capture_output=True)
    run(capsys, "dream")
    assert not (home.shop / "project/deploy.md").exists()
    assert [row["path"] for row in as_json(capsys, "dream", "review")] == ["project/deploy.md"]


def kills_whoever_asks(request: Any) -> None:
    """End the process at the other end of the connection, as a crash would; it is one that this test started."""
    port = request.client_address[1]
    (process,) = {
        int(folder.name)
        for folder in Path("/proc").iterdir()
        if folder.name.isdigit() and int(folder.name) != os.getpid() and _has_port(folder, port)
    }
    os.kill(process, 9)


def _has_port(folder: Path, port: int) -> bool:
    """Whether a process holds the socket of a local port."""
    sockets = {
        fields[9]
        for table in ("tcp", "tcp6")
        for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:]
        if (fields := line.split()) and int(fields[1].rpartition(":")[2], 16) == port
    }
    try:
        held = {os.readlink(each) for each in (folder / "fd").iterdir()}
    except OSError:
        return False
    return any(f"socket:[{inode}]" in held for inode in sockets)


# which scopes


def test_every_scope_is_dreamt_when_asked(home: Home, capsys: Said, model: Model, tmp_path: Path) -> None:
    other = repository(tmp_path / "till")
    home.talk("77777777-1111-4222-8333-444455556666", cwd=other).land("Receipts are printed twice", "Noted.")
    model(edits())
    reports = as_json(capsys, "dream", "--all")
    assert {report["scope"].rpartition(":")[2]: report["total"] for report in reports if report["total"]} == {
        "shop": 3, "till": 1,
    }  # fmt: skip
    assert as_json(capsys, "dream", "--all", "--dry-run") == []


def test_a_scope_that_is_named_may_teach_the_persons_own(home: Home, capsys: Said, model: Model) -> None:
    note = '---\ndescription: "How Ada likes deploys"\n---\nThe person never deploys on a Friday.\n'
    model(edits(create("/user/profile/deploys.md", note, f"{SESSION}#1")), edits())
    run(capsys, "dream", "--scope", home.store().scope)
    assert (home.user / "profile/deploys.md").read_text() == note


def test_a_model_reads_what_rules_have_counted(home: Home, capsys: Said, model: Model) -> None:
    run(capsys, "dream")
    assert as_json(capsys, "dream", "--dry-run") == []
    assert "Count of 3 sessions: " in subjects(home.shop)[0]
    server = model(edits())
    assert len(as_json(capsys, "dream", "--dry-run")) == 3
    run(capsys, "dream")
    assert len(server.bodies) == 3


def test_a_rule_of_two_sessions_becomes_a_note(home: Home, capsys: Said, model: Model) -> None:
    skill = '---\nname: deploy\ndescription: "How the shop is deployed"\n---\nDeploys go out on Mondays, on no other day.\n'
    server = model(edits())
    run(capsys, "dream", "--max-sessions", "2")
    server.replies = [
        edits(
            create("/project/skills/deploy/SKILL.md", skill, f"{SESSION}#1")
            | {"sources": [f"{THIRD}#1", f"{SESSION}#1"]}
        )
    ]
    assert as_json(capsys, "dream")["sessions"][0]["edits"] == 1
    assert (home.shop / "skills/deploy/SKILL.md").read_text() == skill


def test_a_quiet_dream_says_nothing_where_all_is_well(home: Home, capsys: Said, model: Model) -> None:
    model(edits(create("/project/project/deploy.md", DEPLOY, f"{SESSION}#1")), edits())
    assert failed_note(capsys, "dream", "--quiet") == ""


def test_a_terminal_sees_how_far_it_is_and_what_it_cost(home: Home, model: Model) -> None:
    model(calls({"edits": []}, usage=(1_000, 100), model="claude-sonnet-5-5"))
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "neosian", "dream"]
    with subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=theirs, env=environment({"TERM": "xterm"})
    ):
        os.close(theirs)
        drawn = read_all(ours)
    shown = [line.partition("  ")[0] for line in drawn.split("\r\x1b[K") if line.startswith("[")]
    assert shown == [
        "[................] 0/3", "[#####...........] 1/3", "[##########......] 2/3", "[################] 3/3",
    ]  # fmt: skip
    assert "1,100 tokens  session 2 of 3: Fix the typo" in drawn
    assert "3 of 3 sessions dreamt by anthropic, 3,300 tokens." in drawn


def read_all(end: int) -> str:
    """What is written to a terminal until nobody holds its other end."""
    said = b""
    while True:
        try:
            piece = os.read(end, 1 << 16)
        except OSError:  # how Linux says that the other end is closed
            piece = b""
        if not piece:
            os.close(end)
            return said.decode()
        said += piece
