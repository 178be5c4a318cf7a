"""`neosian dream` from turns to notes: with a scripted model behind a real server, and without one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from neosian import scope
from tests.factories import OTHER, SESSION, Home, fsck, git, status, subjects, trailers
from tests.model_server import ModelServer, Reply, calls
from tests.model_server import status as fails
from tests.test_commands import Said, as_json, failed, run

THIRD = "9f3c2a11-7a4e-4a55-9b0e-3c1d5e6f7a80"
DEPLOY = (
    '---\ndescription: "When the shop is deployed"\n---\nDeploys go out on Tuesdays, never on a Friday.\n'
)
Model = Callable[..., ModelServer]


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


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Begins a server that gives these replies, one a request, and has the dream ask it."""
    begun: list[ModelServer] = []

    def begin(*replies: Reply) -> ModelServer:
        server = ModelServer(*replies).__enter__()
        begun.append(server)
        monkeypatch.setenv("ANTHROPIC_API_KEY", "a-key")
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        return server

    yield begin
    for server in begun:
        server.__exit__(None, None, None)


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
    assert "was not dreamt" in failed(capsys, "dream")


def test_the_user_scope_takes_personal_notes(home: Home, capsys: Said, model: Model) -> None:
    note = '---\ndescription: "How Ada likes deploys"\n---\nThe person never deploys on a Friday.\n'
    model(edits(create("/user/profile/deploys.md", note, f"{SESSION}#1")), edits())
    run(capsys, "dream")
    assert (home.user / "profile/deploys.md").read_text() == note
    assert trailers(home.user, "main^2")["Source"] == f"{SESSION}#1"
    assert scope.user_scope()
