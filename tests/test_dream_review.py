"""What waits of a dream is shown as it would land, and lands, goes or is changed as a person says."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from neosian.dream import landing, past, review
from neosian.dream.review import GATE, PERSON, Rejection, Review
from neosian.errors import NeosianError, UsageError
from tests.dreaming import (
    ADA,
    NOTE,
    RUN,
    SESSION,
    accept,
    in_process,
    is_whole,
    kill_at,
    land,
    person,
    refs,
    session,
    start,
    text,
    trailers_of,
    waiting,
)
from tests.factories import Home, git, subjects

MONDAYS, SUNDAYS = NOTE.replace("Fridays", "Mondays"), NOTE.replace("Fridays", "Sundays")
BOB = NOTE.replace("Ada has", "Bob has")
REFS = "refs/neosian/review"


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    """A home in which a dream wants to edit one note and to create another; whole when its test is over."""
    found = Home(tmp_path)
    found.talk().land("Hello")
    found.committed("deploy.md", NOTE)
    found.committed("old.md", NOTE + "Old.\n")
    run = start(found)
    session(run, {}, waits={"deploy.md": MONDAYS, "tools/flags.md": "Use -x.\n"})
    land(found, run)
    yield found
    assert is_whole(found)


def shown(home: Home, path: str = "deploy.md") -> Review:
    store = home.store()
    try:
        return next(each for each in review.reviews(store) if each.path == path)
    finally:
        store.repo.close()


def reject(home: Home, *names: str, reason: str = "") -> list[Review]:
    return review.reject(home.store(), names, reason)


def edit(home: Home, name: str, new: str) -> Review:
    return review.edit(home.store(), review.opened(home.store(), name), new.encode(), ADA)


# -- shown


def test_what_waits_is_shown_note_by_note(home: Home) -> None:
    found = shown(home)
    assert found.text.startswith(
        "diff --git a/deploy.md b/deploy.md\n--- a/deploy.md\n+++ b/deploy.md\n@@ -3,7 +3,7 @@"
    )
    assert "\n-We deploy on Fridays.\n+We deploy on Mondays.\n" in found.text
    assert (found.reason, found.commit.sources) == ("- deploy.md: as said of deploy.md", [f"{SESSION}#1"])
    assert shown(home, "tools/flags.md").text.endswith("@@ -0,0 +1 @@\n+Use -x.\n")


def test_git_itself_shows_what_waits(home: Home) -> None:
    names = refs(home.shop, REFS)
    assert names == [f"{REFS}/{RUN}-1", f"{REFS}/{RUN}-2"]
    assert "+We deploy on Mondays." in git(home.shop, "show", names[0])
    assert git(home.shop, "diff", "--name-only", f"main...{names[1]}") == "tools/flags.md"


def test_what_waits_is_shown_as_it_would_land_now(home: Home) -> None:
    person(home, "deploy.md", BOB)
    assert "Ada has" not in shown(home).text
    assert (shown(home).proposed, shown(home).conflict) == (
        MONDAYS.replace("Ada has", "Bob has").encode(),
        None,
    )


def test_where_it_would_not_land_both_texts_are_shown(home: Home) -> None:
    person(home, "deploy.md", SUNDAYS)
    found = shown(home)
    assert found.conflict is not None
    assert ("Sundays" in found.conflict.now, "Mondays" in found.conflict.then) == (True, True)
    assert (found.proposed, "+We deploy on Mondays." in found.text) == (MONDAYS.encode(), True)


def test_a_review_is_plain_json(home: Home) -> None:
    said = json.loads(json.dumps(shown(home).json()))
    assert said["status"] == "M"
    assert sorted(said) == [
        "at", "conflict", "conversation", "diff", "edited_by", "id", "path", "reason", "run", "sources", "status",
        "waits", "was",
    ]  # fmt: skip


def test_a_rename_waits_as_one_change(home: Home) -> None:
    run = start(home, "again")
    session(run, {}, waits={"old.md": None, "new.md": NOTE + "New.\n"})
    land(home, run)
    assert (shown(home, "new.md").status, shown(home, "new.md").was) == ("R", "old.md")
    accept(home, "new.md")
    assert (text(home, "old.md"), text(home, "new.md")) == (None, NOTE + "New.\n")
    assert subjects(home.shop)[0] == "Dream: rename old.md to new.md"


def test_without_a_store_nothing_waits(home: Home) -> None:
    assert review.reviews(home.store("user:nobody")) == []
    assert review.waiting_paths(home.store("user:nobody")) == []
    assert review.waiting_paths(home.store()) == ["deploy.md", "tools/flags.md"]


# -- accepted


def test_what_is_accepted_lands_as_the_dream_s_with_its_sources(home: Home) -> None:
    done = accept(home)
    assert (text(home, "deploy.md"), text(home, "tools/flags.md")) == (MONDAYS, "Use -x.\n")
    assert (waiting(home), refs(home.shop, REFS)) == ({}, [])
    assert subjects(home.shop)[:2] == ["Dream: create tools/flags.md", "Dream: edit deploy.md"]
    assert git(home.shop, "log", "-1", "--format=%an <%ae>, %cn") == "dream <dream@neosian.invalid>, neosian"
    assert trailers_of(home.shop) == [
        "Neosian-Act: dream", "Neosian-Actor: dream", f"Conversation: {SESSION}", "Client: claude-code",
        f"Dream-Run: {RUN}", f"Source: {SESSION}#1", "Accepted-By: Ada Person",
    ]  # fmt: skip
    assert [(each.path, commit) for each, commit in done.done][1] == (
        "tools/flags.md", git(home.shop, "rev-parse", "main"),
    )  # fmt: skip


@pytest.mark.parametrize("name", ["tools/flags.md", "tools", "/tools/", f"{RUN}-2"])
def test_one_change_is_accepted_by_its_path_folder_or_id(name: str, home: Home) -> None:
    accept(home, name)
    assert (text(home, "tools/flags.md"), list(waiting(home))) == ("Use -x.\n", ["deploy.md"])


def test_accepting_keeps_what_was_written_meanwhile(home: Home) -> None:
    person(home, "deploy.md", BOB)
    accept(home, "deploy.md")
    assert text(home, "deploy.md") == MONDAYS.replace("Ada has", "Bob has")


def test_what_does_not_fit_waits_on_and_the_rest_lands(home: Home) -> None:
    person(home, "deploy.md", SUNDAYS)
    done = accept(home)
    assert (text(home, "deploy.md"), text(home, "tools/flags.md")) == (SUNDAYS, "Use -x.\n")
    ((waits, conflict),) = done.wait
    assert (waits.path, "Sundays" in conflict.now, "Mondays" in conflict.then) == ("deploy.md", True, True)
    assert list(waiting(home)) == ["deploy.md"]
    assert json.loads(json.dumps(done.json()))["waiting"][0]["path"] == "deploy.md"


def test_a_person_may_accept_a_change_of_a_pinned_note(home: Home) -> None:
    pinned = NOTE.replace("---\n#", "pinned: true\n---\n#")
    person(home, "deploy.md", pinned)
    accept(home, "deploy.md")
    assert text(home, "deploy.md") == pinned.replace("Fridays", "Mondays")


def test_a_note_that_is_gone_is_not_made_again(home: Home) -> None:
    person(home, "deploy.md", None)
    ((_, conflict),) = accept(home, "deploy.md").wait
    assert (text(home, "deploy.md"), conflict.why) == (None, "it was deleted meanwhile.")


def test_what_main_says_already_needs_no_commit(home: Home) -> None:
    person(home, "deploy.md", MONDAYS)
    tip = git(home.shop, "rev-parse", "main")
    assert [commit for _, commit in accept(home, "deploy.md").done] == [None]
    assert (git(home.shop, "rev-parse", "main"), list(waiting(home))) == (tip, ["tools/flags.md"])


def test_a_save_of_a_moment_ago_is_adopted_before(home: Home) -> None:
    home.write("deploy.md", BOB, age=0)
    assert accept(home, "deploy.md").adopted == ["deploy.md"]
    assert text(home, "deploy.md") == MONDAYS.replace("Ada has", "Bob has")


def test_what_a_person_is_about_to_commit_is_not_written_over(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("neosian.dream.review._PATIENCE", 0.3)
    home.write("deploy.md", BOB, age=40)
    git(home.shop, "add", "deploy.md")
    ((_, conflict),) = accept(home, "deploy.md").wait
    assert "has not landed" in conflict.why
    git(home.shop, "commit", "-qm", "Mine")
    assert text(home, "deploy.md") == BOB


def test_a_name_under_which_nothing_waits_is_an_error(home: Home) -> None:
    for answer in (accept, reject):
        with pytest.raises(UsageError, match=r"Nothing of else\.md waits"):
            answer(home, "deploy.md", "else.md")
    assert list(waiting(home)) == ["deploy.md", "tools/flags.md"]


def test_what_somebody_answered_meanwhile_is_let_be(home: Home) -> None:
    before = {each.id: each.commit.id for each in review.reviews(home.store())}
    edit(home, f"{RUN}-1", BOB)
    reject(home, f"{RUN}-2")
    review._drop(home.store(), before)
    assert waiting(home) == {"deploy.md": BOB}


@pytest.mark.parametrize("step", range(0, 16, 3))
def test_killed_at_any_step_it_is_accepted_once(step: int, home: Home) -> None:
    names = ("neosian.plumbing:Repo.update_refs", "neosian.draft:Draft.write", "neosian.gitlocks:MainLock.commit",
             "neosian.files:write")  # fmt: skip
    before = len(subjects(home.shop))
    in_process(home, "accept(home)", kill_at(step, names))
    accept(home)
    assert (text(home, "deploy.md"), text(home, "tools/flags.md"), waiting(home)) == (
        MONDAYS,
        "Use -x.\n",
        {},
    )
    assert len(subjects(home.shop)) == before + 2


# -- edited


def test_what_waits_is_changed_and_then_accepted_as_the_person_s(home: Home) -> None:
    person(home, "deploy.md", SUNDAYS)
    found = edit(home, "deploy.md", SUNDAYS.replace("Sundays", "Sundays and Mondays"))
    assert (found.conflict, found.reason) == (None, "- deploy.md: as said of deploy.md")
    accept(home, "deploy.md")
    assert text(home, "deploy.md") == NOTE.replace("Fridays", "Sundays and Mondays")
    assert git(home.shop, "log", "-1", "--format=%an <%ae>") == "Ada Person <ada@example.org>"
    assert f"Source: {SESSION}#1" in trailers_of(home.shop)


@pytest.mark.parametrize(
    ("new", "said"),
    [
        ("---\ntitle: [\n---\nx\n", "front matter"),
        ("AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "secret"),
        (NOTE, "says just that already"),
    ],
)
def test_an_edit_that_cannot_be_is_refused(new: str, said: str, home: Home) -> None:
    with pytest.raises(NeosianError, match=said):
        edit(home, "deploy.md", new)
    assert waiting(home)["deploy.md"] == MONDAYS


def test_two_changes_of_one_note_are_told_apart_by_their_ids(home: Home) -> None:
    run = start(home, "again")
    session(run, {}, waits={"deploy.md": SUNDAYS})
    land(home, run)
    with pytest.raises(UsageError, match="2 changes wait under"):
        edit(home, "deploy.md", BOB)
    assert edit(home, "again-1", BOB).proposed == BOB.encode()


def test_the_text_to_edit_is_the_dream_s_with_what_main_says_besides(home: Home) -> None:
    person(home, "deploy.md", BOB)
    begun = review.opened(home.store(), "deploy.md")
    assert (begun.text.decode(), begun.has_marks) == (MONDAYS.replace("Ada has", "Bob has"), False)


def test_where_both_changed_a_line_both_stand_between_marks(home: Home) -> None:
    person(home, "deploy.md", SUNDAYS.replace("Ada has", "Bob has"))
    begun = review.opened(home.store(), "deploy.md")
    both = (
        "<<<<<<< what it says now\nWe deploy on Sundays.\n=======\nWe deploy on Mondays.\n"
        ">>>>>>> what the dream wants\n"
    )
    wanted = NOTE.replace("Ada has", "Bob has").replace("We deploy on Fridays.\n", both)
    assert (begun.text.decode(), begun.has_marks) == (wanted, True)
    with pytest.raises(NeosianError, match="has marks still"):
        review.edit(home.store(), begun, begun.text, ADA)


def test_of_a_note_that_is_gone_the_dream_s_text_is_edited(home: Home) -> None:
    person(home, "deploy.md", None)
    assert review.opened(home.store(), "deploy.md").text == MONDAYS.encode()
    edit(home, "deploy.md", SUNDAYS)
    accept(home, "deploy.md")
    assert text(home, "deploy.md") == SUNDAYS


def test_of_a_rename_onto_another_note_both_texts_are_edited(home: Home) -> None:
    run = start(home, "again")
    session(run, {}, waits={"old.md": None, "new.md": NOTE + "New.\n"})
    land(home, run)
    person(home, "new.md", "Mine.\n")
    begun = review.opened(home.store(), "again-1")
    assert begun.text.decode().startswith("<<<<<<< what it says now\nMine.\n=======\n---\n")
    edit(home, "again-1", "Both.\n")
    accept(home, "again-1")
    assert (text(home, "old.md"), text(home, "new.md")) == (NOTE + "Old.\n", "Both.\n")  # neither is lost


@pytest.mark.parametrize("new", ["a.md", "z.md"])
def test_a_rename_may_be_given_another_text(new: str, home: Home) -> None:
    run = start(home, "again")
    session(run, {}, waits={"old.md": None, new: NOTE + "New.\n"})
    land(home, run)
    found = edit(home, "again-1", "Wholly different.\n")
    assert (found.status, found.was, found.path) == ("R", "old.md", new)
    accept(home, "again-1")
    assert (text(home, "old.md"), text(home, new)) == (None, "Wholly different.\n")


def test_what_landed_while_it_was_edited_stays(home: Home) -> None:
    begun = review.opened(home.store(), "deploy.md")
    person(home, "deploy.md", BOB)
    review.edit(home.store(), begun, SUNDAYS.encode(), ADA)
    accept(home, "deploy.md")
    assert text(home, "deploy.md") == SUNDAYS.replace("Ada has", "Bob has")


def test_of_two_who_edit_the_first_counts(home: Home) -> None:
    one, other = (review.opened(home.store(), "deploy.md") for _ in range(2))
    review.edit(home.store(), one, SUNDAYS.encode(), ADA)
    with pytest.raises(NeosianError, match="was answered meanwhile"):
        review.edit(home.store(), other, BOB.encode(), ADA)
    assert waiting(home)["deploy.md"] == SUNDAYS


def test_a_note_that_was_renamed_meanwhile_is_edited_where_it_lies(home: Home) -> None:
    git(home.shop, "mv", "deploy.md", "ship.md")
    git(home.shop, "commit", "-qm", "Mine")
    assert shown(home).here == "ship.md"
    edit(home, "ship.md", SUNDAYS)
    accept(home)
    assert (text(home, "deploy.md"), text(home, "ship.md")) == (None, SUNDAYS)


# -- what a person looked at


def test_what_was_edited_since_it_was_looked_at_is_let_be(home: Home) -> None:
    seen = review.reviews(home.store())
    edit(home, "deploy.md", SUNDAYS)
    assert [each.path for each in review.reject_these(home.store(), seen[:1])] == []
    done = review.accept_these(home.store(), seen, ADA, lambda path, at: None)
    assert [each.path for each, _ in done.done] == ["tools/flags.md"]
    assert (waiting(home), review.rejections(home.store())) == ({"deploy.md": SUNDAYS}, [])


def test_what_waits_says_why(home: Home) -> None:
    person(home, "old.md", SUNDAYS)
    run = start(home, "apart")
    session(run, {"old.md": MONDAYS})
    landing.land(run, lambda path, at: None, apart=True)
    run = start(home, "beside")
    session(run, {"old.md": MONDAYS})
    person(home, "old.md", BOB.replace("Fridays", "Tuesdays"))
    land(home, run)
    found = {each.run: each.waits for each in review.reviews(home.store())}
    assert found == {RUN: "person", "apart": "review", "beside": "conflict"}
    accept(home, "deploy.md")
    assert not any(row.startswith("Dream-Waits") for row in trailers_of(home.shop))


def test_where_a_change_came_from_is_told_with_its_prompts(home: Home) -> None:
    found = review.origin(shown(home), [home.store()])
    assert [(each.conversation, each.first) for each in found.sessions] == [(SESSION, "Hello")]
    assert [(each.conversation, each.turn, each.prompt) for each in found.sources] == [(SESSION, 1, "Hello")]
    assert review.origin(shown(home), []).sessions == []


# -- rejected


def test_what_is_rejected_goes_and_its_reason_stays(home: Home) -> None:
    reject(home, "deploy.md", reason="We never deploy\non Mondays.")
    assert (text(home, "deploy.md"), list(waiting(home))) == (NOTE, ["tools/flags.md"])
    (found,) = review.rejections(home.store(), PERSON)
    assert (found.path, found.reason, found.run) == ("deploy.md", "We never deploy\non Mondays.", RUN)
    assert (found.sources, "+We deploy on Mondays." in found.text) == ([f"{SESSION}#1"], True)
    assert json.loads(json.dumps(found.json()))["by"] == "person"


def test_all_that_waits_is_rejected_at_once(home: Home) -> None:
    assert [each.path for each in reject(home)] == ["deploy.md", "tools/flags.md"]
    assert (waiting(home), refs(home.shop, REFS), len(review.rejections(home.store()))) == ({}, [], 2)


def test_rejections_are_listed_newest_first_and_bad_files_passed_over(home: Home) -> None:
    store = home.store()
    for number in range(3):
        review.keep(store, Rejection(f"x/../{number}", GATE, "a.md", "no", at=float(number)))
    (home.shop / ".git/neosian/rejected/gate-bad.json").write_text("{")
    (home.shop / ".git/neosian/rejected/gate-list.json").write_text("[]")
    assert [each.id for each in review.rejections(store, GATE)] == ["x/../2", "x/../1", "x/../0"]
    assert review.rejections(store, PERSON) == []


def test_of_the_gate_s_refusals_only_the_newest_are_kept(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("neosian.dream.review._GATE_MOST", 3)
    reject(home, reason="no")
    for number in range(6):
        review.keep(home.store(), Rejection(str(number), GATE, "a.md", "no"))
    kept = review.rejections(home.store())
    assert sum(each.by == GATE for each in kept) == 3
    assert sum(each.by == PERSON for each in kept) == 2


def test_a_rejected_secret_is_not_kept(home: Home) -> None:
    secret = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"
    rejection = Rejection(
        "x", GATE, "a.md", f"AWS_SECRET_ACCESS_KEY={secret}", text=f"AWS_SECRET_ACCESS_KEY={secret}"
    )
    review.keep(home.store(), rejection)
    (kept,) = (home.shop / ".git/neosian/rejected").iterdir()
    assert secret not in kept.read_text()


def test_what_a_crash_made_unreadable_is_passed_over(home: Home) -> None:
    blob = git(home.shop, "rev-parse", f"{REFS}/{RUN}-1:deploy.md")
    (home.shop / ".git/objects" / blob[:2] / blob[2:]).unlink()
    assert list(waiting(home)) == ["tools/flags.md"]
    git(home.shop, "update-ref", "-d", f"{REFS}/{RUN}-1")


def test_the_checkpoint_does_not_wait_for_answers(home: Home) -> None:
    assert past.checkpoint(home.store()).holds(SESSION, 1)
    reject(home)
    assert past.checkpoint(home.store()).holds(SESSION, 1)
