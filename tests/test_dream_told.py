"""What a dream tells the model, what it tells the person, and what it books."""

from __future__ import annotations

import json
import os
import shutil
import time
from typing import Any

import pytest

from neosian import cli
from neosian.dream import prompt
from tests import asking
from tests.asking import (
    Model,
    asked,
    create,
    dream,
    dreamt,
    edits,
    held,
    name_of,
    note,
    refusals,
    rewrite,
    sound,
    text_of,
    waiting,
)
from tests.factories import Home
from tests.model_server import calls, says
from tests.test_commands import Said, as_json, failed, run

shop, model = asking.shop, asking.model

ONE, TWO = name_of(1), name_of(2)
SAID = "We deploy on Tuesdays, never on a Friday. Remember that."
MADE = create(
    "/project/project/deploy.md", note("Deploys go out on Tuesdays, never on a Friday."), f"{ONE}#1"
)


def status_of(capsys: Said) -> Any:
    """What `neosian status` says, whether or not all is well."""
    capsys.readouterr()
    cli.main(["status", "--json"])
    return json.loads(capsys.readouterr()[0])


def text_of_status(capsys: Said) -> str:
    capsys.readouterr()
    cli.main(["status"])
    return capsys.readouterr()[0]


def of_the_shop(capsys: Said) -> Any:
    """What `neosian status` says of the dreams of the project."""
    return next(row for row in status_of(capsys)["scopes"] if row["scope"].endswith("shop"))["dream"]


# -- what the model is told


def test_a_long_note_of_a_person_leaves_room_for_the_others(shop: Home, capsys: Said, model: Model) -> None:
    shop.write(
        "ops/handbook.md",
        note("Deploys go out on Tuesdays, never on a Friday.\n" * 800, "All of ops"),
        age=40,
    )
    shop.write("project/deploy.md", note("Deploys go out on Mondays.", "When deploys go out"), age=40)
    held(shop, SAID)
    server = model(edits())
    dream(capsys)
    said = asked(server.bodies[0])
    assert "## /project/project/deploy.md\n---" in said
    assert "Deploys go out on Mondays." in said
    assert "characters more]" in said
    assert len(said) < 40_000


def test_of_more_notes_than_can_be_listed_the_likely_ones_are(shop: Home, capsys: Said, model: Model) -> None:
    for number in range(150):
        shop.write(
            f"aaa/n{number}.md",
            note(f"Fact {number} of many.", f"Something about fact {number} " * 3),
            age=40,
        )
    shop.write(
        "zzz/deploy.md", note("Deploys go out on Mondays, never on a Friday.", "When deploys go out"), age=40
    )
    shop.write("profile/role.md", note("Ada runs the shop.", "Who Ada is"), below=shop.user, age=40)
    held(shop, SAID)
    server = model(edits())
    dream(capsys)
    said = asked(server.bodies[0])
    assert "- /project/zzz/deploy.md: When deploys go out" in said
    assert "- /user/profile/role.md: Who Ada is" in said
    listed = said.count("- /project/aaa/")
    assert 0 < listed < 150
    assert f"and {150 - listed} more that are not listed, in /project/aaa/ ({150 - listed})" in said


def test_the_model_is_told_where_it_may_write(shop: Home, capsys: Said, model: Model) -> None:
    held(shop, SAID)
    server = model(edits())
    dream(capsys, "--mount", "/user=user:ada:ro", "--mount", f"/project={shop.store().scope}")
    said = asked(server.bodies[0])
    assert (
        "Notes may be written below /project, and nowhere else. Those below /user are to be read only."
        in said
    )


def test_a_prompt_longer_than_a_window_is_read_whole(shop: Home, capsys: Said, model: Model) -> None:
    log = "\n".join(f"line {number} of a log that somebody pasted" for number in range(4_000))
    held(shop, f"{log[:80_000]}\nDECISION: deploys go out on Tuesdays.\n{log[80_000:]}")
    server = model(edits())
    dream(capsys)
    assert len(server.bodies) >= 3
    said = [asked(body) for body in server.bodies]
    assert sum("DECISION: deploys go out on Tuesdays." in each for each in said) == 1
    assert all(f"line {number} of a log" in "\n".join(said) for number in range(0, 3_900, 100))
    assert all(f"[{ONE}#1]" in each for each in said)


def test_what_a_person_answered_to_a_question_is_shown_as_theirs(
    shop: Home, capsys: Said, model: Model
) -> None:
    talk = shop.talk(ONE)
    talk.ask("Set up the deploys")
    given = {"questions": [{"question": "On which day?", "header": "Day", "options": []}]}
    talk.put("pre_tool_use.bash", tool_name="AskUserQuestion", tool_input=given, tool_use_id="toolu_1")
    talk.put(
        "post_tool_use.bash", tool_name="AskUserQuestion", tool_input=given, tool_use_id="toolu_1",
        tool_response={"questions": given["questions"], "answers": {"On which day?": "Tuesdays, as Ingrid wants it"}},
    )  # fmt: skip
    talk.answer("Done.")
    shop.land()
    held(shop, "x" * 70_000, first=2)
    server = model(edits())
    dream(capsys)
    said = asked(server.bodies[0])
    rows = [row for row in said.split("\n") if "as Ingrid wants it" in row]
    assert [row.partition(":")[0] for row in rows] == ["person"]


def test_a_person_s_own_parts_are_told_too(shop: Home, capsys: Said, model: Model) -> None:
    folder = shop.path / prompt.TEMPLATES
    run(capsys, "dream", "prompt", "--write")
    assert sorted(each.name for each in folder.iterdir()) == [each.name for each in prompt.parts("/nowhere")]
    (folder / "2-what-lasts.md").write_text("Only decisions last.\n")
    (folder / "5-mine.md").write_text("Write notes in Latin.\n")
    run(capsys, "dream", "prompt", "--write")
    assert {each["name"] for each in as_json(capsys, "dream", "prompt") if each["is_own"]} >= {"5-mine.md"}
    held(shop, SAID)
    server = model(edits())
    dream(capsys)
    system = str(server.bodies[0]["system"])
    assert "Only decisions last." in system
    assert "Write notes in Latin." in system
    assert "What is a lasting note" not in system


def test_a_part_that_cannot_be_read_is_told(shop: Home, capsys: Said, model: Model) -> None:
    (shop.path / prompt.TEMPLATES / "1-task.md").mkdir(parents=True)
    held(shop, SAID)
    server = model(edits())
    assert "a part of the dream's prompt, cannot be read" in failed(capsys, "dream")
    assert server.bodies == []
    assert dreamt(shop) == {}


def test_a_turn_that_was_not_finished_is_read_once(shop: Home, capsys: Said, model: Model) -> None:
    talk = shop.talk(ONE)
    talk.turn("Look at the deploys", "They go out on Tuesdays.")
    talk.ask("Never deploy on a Friday, remember that")
    talk.put("session_end.other")
    shop.land()
    server = model(edits())
    dream(capsys)
    assert "Never deploy on a Friday" in asked(server.bodies[0])
    dream(capsys)
    assert len(server.bodies) == 1
    assert dreamt(shop) == {ONE: 2}


def test_a_session_in_which_no_person_spoke_is_passed_over(shop: Home, capsys: Said, model: Model) -> None:
    notice = "<task-notification>\n<task-id>b1</task-id>\n<status>completed</status>\n</task-notification>"
    shop.talk(ONE).turn(notice, "The build is done.")
    shop.land()
    held(shop, SAID, first=2)
    server = model(edits())
    report = dream(capsys)
    assert [row["conversation"] for row in report["sessions"]] == [TWO]
    assert len(server.bodies) == 1
    assert dreamt(shop) == {ONE: 1, TWO: 1}


def test_a_session_that_is_warm_is_told_with_the_time(shop: Home, capsys: Said, model: Model) -> None:
    (shop.path / "config.toml").write_text("[dream]\nidle = 1800\n")
    held(shop, SAID)
    model(edits(MADE))
    for words in ([], ["--dry-run"]):
        capsys.readouterr()
        assert cli.main(["dream", *words]) == 0
        said = capsys.readouterr()[1]
        ready = time.strftime("%H:%M", time.localtime(os.path.getmtime(shop.shop / "README.md") + 1800))
        later = time.strftime("%H:%M", time.localtime(time.time() + 1800))
        assert "1 session is still warm; the first may be dreamt from " in said
        assert any(f"from {at} on (dream.idle)" in said for at in (ready, later))


def test_a_dream_s_own_commits_name_a_conversation_and_no_turn(
    shop: Home, capsys: Said, model: Model
) -> None:
    held(shop, SAID)
    model(edits(MADE))
    dream(capsys)
    told = run(capsys, "audit", "--act", "dream")
    assert "None" not in told
    assert ONE[:8] in told


# -- what is booked


def test_tokens_of_an_answer_that_is_of_no_use_are_booked(shop: Home, capsys: Said, model: Model) -> None:
    held(shop, SAID)
    server = model(calls({"edits": []}, stop="max_tokens", usage=(3_000, 1_600), model="claude-sonnet-5-5"))
    report = as_json_of_a_failure(capsys, "dream")
    assert len(server.bodies) == 1  # one short session: there is nothing to cut into smaller pieces
    assert (report["input_tokens"], report["output_tokens"]) == (3_000, 1_600)
    assert report["cost"] == pytest.approx(0.022)
    assert status_of(capsys)["dream"]["tokens_today"] == 4_600


def test_a_long_session_is_asked_about_in_pieces_where_an_answer_is_cut_off(
    shop: Home, capsys: Said, model: Model
) -> None:
    talk = shop.talk(ONE)
    for number in range(6):
        talk.turn(f"Step {number}. " + "All of it matters. " * 400, "Noted.")
    shop.land()
    server = model(calls({"edits": []}, stop="max_tokens", usage=(3_000, 1_600)), edits())
    dream(capsys)
    assert len(server.bodies) > 2
    assert dreamt(shop) == {ONE: 6}


def test_a_cap_leaves_room_for_the_longest_answer(shop: Home, capsys: Said, model: Model) -> None:
    (shop.path / "config.toml").write_text("[dream]\nidle = 0\nmax_tokens_per_run = 5000\n")
    held(shop, SAID)
    server = model(edits())
    report = dream(capsys)
    assert server.bodies == []
    assert "dream.max_tokens_per_run is 5,000" in report["stopped"]


def as_json_of_a_failure(capsys: Said, *words: str) -> Any:
    return json.loads(run(capsys, *words, "--json", status=1))


# -- what the person is told


def test_what_waits_for_a_person_is_told_at_once(shop: Home, capsys: Said, model: Model) -> None:
    shop.write("project/deploy.md", note("Deploys go out on Mondays."), age=40)
    held(shop, SAID)
    model(edits(rewrite(MADE["path"], str(MADE["text"]), f"{ONE}#1")))
    capsys.readouterr()
    assert cli.main(["dream"]) == 0
    out, err = capsys.readouterr()
    assert out == "/project/project/deploy.md  waits for review\n"
    assert "To look: neosian dream review. To take it back: neosian dream undo" in err
    assert waiting(shop) == ["project/deploy.md"]


def test_what_would_be_dreamt_is_what_is_dreamt(shop: Home, capsys: Said, model: Model) -> None:
    held(shop, SAID, "And another thing", "And a third")
    model(says("", stop="refusal"))
    for _try in range(3):
        cli.main(["dream", "--max-sessions", "1"])
    rows = as_json(capsys, "dream", "--dry-run", "--max-sessions", "1")
    assert [row["conversation"] for row in rows] == [TWO]
    again = as_json(capsys, "dream", "--dry-run", "--again")
    assert [row["conversation"] for row in again] == [ONE, TWO, name_of(3)]


def test_status_says_what_stopped_a_dream_and_which_session_failed(
    shop: Home, capsys: Said, model: Model
) -> None:
    held(shop, SAID, "And another thing")
    server = model(says("", stop="refusal"), edits())
    run(capsys, "dream")
    assert [each["conversation"] for each in of_the_shop(capsys)["failing"]] == [ONE]
    assert f"Session {ONE} could not be dreamt and is tried again: " in text_of_status(capsys)
    assert status_of(capsys)["dream"]["ended"]["stopped"] is None
    server.__exit__(None, None, None)
    capsys.readouterr()
    cli.main(["dream"])
    err = capsys.readouterr()[1]
    assert ".." not in err
    assert err.count("cannot be reached") <= 1
    assert " stopped: " in text_of_status(capsys)
    assert "To go on: neosian dream" in text_of_status(capsys)


def test_a_key_that_is_missing_is_told_by_status(
    shop: Home, capsys: Said, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    monkeypatch.delenv("ANTHROPIC_AUTH_TOKEN", raising=False)
    held(shop, SAID)
    why = failed(capsys, "dream", "--engine", "anthropic").splitlines()[0]
    assert status_of(capsys)["dream"]["ended"]["stopped"] in why


def test_status_counts_the_person_s_own_notes_and_says_what_was_taken_back(
    shop: Home, capsys: Said, model: Model
) -> None:
    held(shop, "I never deploy on a Friday, whatever the project. Remember that.")
    own = create("/user/profile/deploys.md", note("The person never deploys on a Friday."), f"{ONE}#1")
    model(edits(own))
    run(capsys, "dream")
    last = of_the_shop(capsys)["last"]
    assert (last["sessions"], last["notes"], last["undone"]) == (1, 1, False)
    assert "1 session, 1 note " in text_of_status(capsys)
    assert "/user/profile/deploys.md: as before that dream" in run(capsys, "dream", "undo")
    assert of_the_shop(capsys)["last"]["undone"]
    assert "1 session, 1 note, taken back" in text_of_status(capsys)


def test_undo_means_the_last_dream_that_changed_something(shop: Home, capsys: Said, model: Model) -> None:
    held(shop, SAID)
    server = model(edits(MADE))
    first = dream(capsys)["run"]
    held(shop, "Nothing that lasts", first=2)
    server.replies = [edits()]
    capsys.readouterr()
    cli.main(["dream"])
    assert "To take it back" not in capsys.readouterr()[1]
    assert as_json(capsys, "dream", "undo")["run"] == first
    assert text_of(shop, "project/deploy.md") is None
    assert "neosian audit --act dream" in failed(capsys, "dream", "undo")
    assert run(capsys, "audit", "--act", "dream")
    assert sound(shop)


def test_a_dream_of_which_all_waits_is_taken_back_too(shop: Home, capsys: Said, model: Model) -> None:
    held(shop, SAID)
    model(edits(MADE))
    begun = dream(capsys, "--review")["run"]
    undone = as_json(capsys, "dream", "undo")
    assert (undone["run"], undone["scopes"]) == (begun, [])
    assert [each["path"] for each in undone["dropped"]] == ["project/deploy.md"]
    assert waiting(shop) == []
    assert refusals(shop) == []


def test_one_scope_that_is_damaged_does_not_end_a_dream_of_all(
    shop: Home, capsys: Said, model: Model
) -> None:
    held(shop, SAID)
    other = shop.project.parent / "other"
    other.mkdir()
    talk = shop.talk(TWO)
    talk.cwd = str(other)
    talk.turn("Remember that the other one is deployed on Sundays", "Noted.")
    shop.land()
    damaged = next(each for each in (shop.path / "scopes").iterdir() if each.name.endswith("proj.other"))
    shutil.rmtree(damaged / ".git/objects")
    model(edits(MADE), edits())
    capsys.readouterr()
    assert cli.main(["dream", "--all"]) == 1
    out, err = capsys.readouterr()
    assert "/project/project/deploy.md" in out
    assert "proj:other was passed over: " in err
    assert "Traceback" not in err
    assert dreamt(shop) == {ONE: 1}
    rows = as_json_of_a_failure(capsys, "dream", "--all")
    assert [row["scope"].rpartition(":")[2] for row in rows if "error" in row] == ["other"]


@pytest.mark.parametrize("flag", [["--scope", "user:ada"], ["--mount", "/user=user:ada"]])
def test_all_scopes_and_one_of_them_is_a_contradiction(flag: list[str], shop: Home, capsys: Said) -> None:
    assert "--all means every scope" in failed(capsys, "dream", "--all", *flag, status=2)
