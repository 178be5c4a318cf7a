"""A dream lands whole or not at all, once, and never over what somebody wrote while it thought."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from neosian import config, mounts
from neosian.dream import past, review
from neosian.dream.landing import Merged
from neosian.dream.run import Change, Made, RunError, begin, new_id, unfinished
from neosian.errors import BusyError, NeosianError
from neosian.memory import Memory, Writer
from neosian.paths import PathError
from neosian.wiki import Wiki
from tests.dreaming import (
    NOTE,
    RUN,
    SESSION,
    dream,
    in_process,
    is_whole,
    kill_at,
    land,
    person,
    refs,
    session,
    start,
    stores,
    take_back,
    text,
    trailers_of,
    waiting,
)  # fmt: skip
from tests.factories import OTHER, Home, git, log_of, status, subjects

NEW = "---\ndescription: Flags\n---\n# Flags\n\nUse -x.\n"


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    """A home whose project has one landed turn and a note; whole when its test is over."""
    found = Home(tmp_path)
    found.talk().land("Hello")
    found.committed("deploy.md", NOTE)
    yield found
    assert is_whole(found)


def merged(home: Home, texts: dict[str, str | None]) -> Merged:
    """What became of a run's part in the project."""
    return dream(home, texts).scopes[-1]


# -- a run that nobody disturbs


def test_a_run_is_one_commit_a_session_and_one_merge(home: Home) -> None:
    base = git(home.shop, "rev-parse", "main")
    run = start(home)
    session(run, {"tools/flags.md": NEW})
    session(run, {"deploy.md": NOTE.replace("Fridays", "Mondays"), "x.md": NEW}, name=OTHER, turn=4)
    done = land(home, run)
    assert git(home.shop, "log", "--format=%s", "--topo-order", f"{base}..main").splitlines() == [
        "Dream of 2 sessions: 3 notes", "Dream: 2 notes", "Dream: create tools/flags.md",
    ]  # fmt: skip
    assert git(home.shop, "log", "-1", "--format=%P").split() == [base, git(home.shop, "rev-parse", "main^2")]
    assert git(home.shop, "log", "--format=%an <%ae>", f"{base}..main").splitlines() == (
        ["dream <dream@neosian.invalid>"] * 3
    )
    assert trailers_of(home.shop) == [
        "Neosian-Act: dream", "Neosian-Actor: dream", f"Dream-Run: {RUN}", f"Dreamt: {base}",
        f"Dreamt: {SESSION}#1", f"Dreamt: {OTHER}#4",
    ]  # fmt: skip
    assert trailers_of(home.shop, "main^2~") == [
        "Neosian-Act: dream", "Neosian-Actor: dream", f"Conversation: {SESSION}", "Client: claude-code",
        f"Dream-Run: {RUN}", f"Dreamt: {SESSION}#1", f"Source: {SESSION}#1",
    ]  # fmt: skip
    assert git(home.shop, "log", "-1", "--format=%b", "main^2~").startswith(
        "- tools/flags.md: as said of tools/flags.md\n"
    )
    assert done.scopes[-1].paths == ["deploy.md", "tools/flags.md", "x.md"]
    assert text(home, "deploy.md") == NOTE.replace("Fridays", "Mondays")


def test_main_and_folder_know_nothing_of_a_run_before_it_lands(home: Home) -> None:
    before = git(home.shop, "rev-parse", "main"), git(home.shop, "ls-files", "-s")
    run = start(home)
    session(run, {"tools/flags.md": NEW}, user={"profile/role.md": NEW})
    assert (git(home.shop, "rev-parse", "main"), git(home.shop, "ls-files", "-s")) == before
    assert (status(home.shop), status(home.user), (home.shop / "tools").exists()) == ("", "", False)
    assert git(home.shop, "show", f"{run.tips[run.turns.scope]}:tools/flags.md") == NEW.rstrip()
    run.drop()


def test_the_user_scope_lands_first_and_only_the_turns_scope_moves_the_checkpoint(home: Home) -> None:
    run = start(home)
    session(run, {"tools/flags.md": NEW}, user={"profile/role.md": NEW})
    assert [each.scope for each in land(home, run).scopes] == [store.scope for store in stores(home)]
    assert text(home, "profile/role.md", home.user) == NEW
    assert [row for row in trailers_of(home.user) if row.startswith("Dream")] == [f"Dream-Run: {RUN}"]
    assert past.checkpoint(stores(home)[0]).turns == {}
    assert past.checkpoint(home.store()).turns == {SESSION: 1}


def test_sessions_that_gave_nothing_move_the_checkpoint_and_nothing_else(home: Home) -> None:
    tree = git(home.shop, "rev-parse", "main^{tree}")
    run = start(home)
    run.add(SESSION, "claude-code", 1)
    land(home, run)
    assert subjects(home.shop)[0] == "Dream of 1 session: nothing new"
    assert git(home.shop, "rev-parse", "main^{tree}") == tree
    assert len(git(home.shop, "log", "-1", "--format=%P").split()) == 1
    assert past.checkpoint(home.store()).holds(SESSION, 1)


def test_a_session_that_gave_nothing_leaves_no_commit_of_its_own(home: Home) -> None:
    base = git(home.shop, "rev-parse", "main")
    run = start(home)
    session(run, {"a.md": NEW})
    run.add(OTHER, "claude-code", 1)
    land(home, run)
    assert git(home.shop, "log", "--format=%s", f"{base}..main").splitlines() == [
        "Dream of 2 sessions: 1 note",
        "Dream: create a.md",
    ]


def test_a_run_without_sessions_makes_no_commit(home: Home) -> None:
    tip = git(home.shop, "rev-parse", "main")
    land(home, start(home))
    assert git(home.shop, "rev-parse", "main") == tip


def test_what_lands_whole_keeps_the_ids_it_had(home: Home) -> None:
    run = start(home)
    session(run, {"a.md": NEW, "deploy.md": None})
    session(run, {"a.md": NEW + "And -y: both, always.\n"}, name=OTHER)
    tip = run.tips[run.turns.scope]
    land(home, run)
    assert git(home.shop, "rev-parse", "main^2") == tip
    assert (text(home, "a.md"), text(home, "deploy.md")) == (NEW + "And -y: both, always.\n", None)


def test_a_second_session_changes_what_the_first_wrote(home: Home) -> None:
    run = start(home)
    session(run, {"a.md": NEW})
    session(run, {"a.md": None, "b.md": NEW}, name=OTHER)
    land(home, run)
    assert (text(home, "a.md"), text(home, "b.md")) == (None, NEW)


def test_a_scope_that_is_not_there_yet_is_made(tmp_path: Path) -> None:
    home = Home(tmp_path)
    run = start(home)
    session(run, {"a.md": NEW}, user={"profile/role.md": NEW})
    land(home, run)
    assert (text(home, "a.md"), text(home, "profile/role.md", home.user)) == (NEW, NEW)
    assert is_whole(home)


def test_the_turns_may_be_the_user_scope_s_own(home: Home) -> None:
    run = begin(stores(home)[:1], RUN)
    run.add(SESSION, "claude-code", 2, [Made(run.turns.scope, {"profile/role.md": Change(NEW.encode())})])
    land(home, run)
    assert text(home, "profile/role.md", home.user) == NEW
    assert past.checkpoint(stores(home)[0]).turns == {SESSION: 2}


def test_with_another_branch_checked_out_only_main_moves(home: Home) -> None:
    git(home.shop, "checkout", "-q", "-b", "mine")
    dream(home, {"a.md": NEW})
    assert (git(home.shop, "show", "main:a.md"), (home.shop / "a.md").exists()) == (NEW.rstrip(), False)


@pytest.mark.parametrize(
    "path", ["../x.md", "/x.md", "x.sh", ".git/hooks/post-commit.md", "record/x.md", "README.md", "a//b.md"]
)
def test_a_path_that_no_note_has_is_refused(path: str, home: Home) -> None:
    run = start(home)
    with pytest.raises((PathError, NeosianError)):
        session(run, {path: NEW})
    assert (run.dreamt, run.tips[run.turns.scope]) == ({}, git(home.shop, "rev-parse", "main"))
    run.drop()


def test_a_secret_never_reaches_git(home: Home) -> None:
    run = start(home)
    secret = "AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"
    for waits in (False, True):
        with pytest.raises(RunError, match="secret"):
            session(run, {} if waits else {"a.md": secret}, waits={"a.md": secret} if waits else {})
    with pytest.raises(RunError, match="secret"):
        session(run, {f"tools/ghp_{'a1B2' * 9}.md": NEW})
    assert secret not in git(home.shop, "log", "-p", "--all")
    run.drop()


def test_names_of_runs_fit_into_refs(home: Home) -> None:
    begin(stores(home), new_id(str(home.path), time.time())).drop()
    for bad in ("", "../x", "a b", "A", "a.lock", "-a"):
        with pytest.raises(RunError, match="no name"):
            start(home, bad)


# -- what others wrote meanwhile


def by_mcp(home: Home, path: str, old: str, new: str) -> None:
    seen = mounts.layout(str(home.path), str(home.project), config.load(str(home.path))[0])
    Memory(Wiki(str(home.path), seen), Writer.of_client("codex")).str_replace(f"/project/{path}", old, new)


MONDAYS = NOTE.replace("Fridays", "Mondays")


@pytest.mark.parametrize("how", ["commit", "mcp", "saved"])
def test_what_others_wrote_in_other_lines_stays(how: str, home: Home) -> None:
    run = start(home)
    session(run, {"deploy.md": MONDAYS})
    theirs = NOTE.replace("Ada has", "Bob has")
    if how == "commit":
        person(home, "deploy.md", theirs)
    elif how == "mcp":
        by_mcp(home, "deploy.md", "Ada has", "Bob has")
    else:
        home.write("deploy.md", theirs, age=40)
    done = land(home, run).scopes[-1]
    assert text(home, "deploy.md") == MONDAYS.replace("Ada has", "Bob has")
    assert (done.conflicts, done.adopted) == ([], ["deploy.md"] if how == "saved" else [])


@pytest.mark.parametrize("how", ["commit", "mcp", "saved"])
def test_in_the_same_lines_theirs_stays_and_the_dream_s_waits(how: str, home: Home) -> None:
    run = start(home)
    session(run, {"deploy.md": MONDAYS, "a.md": NEW})
    theirs = NOTE.replace("Fridays", "Sundays")
    if how == "commit":
        person(home, "deploy.md", theirs)
    elif how == "mcp":
        by_mcp(home, "deploy.md", "Fridays", "Sundays")
    else:
        home.write("deploy.md", theirs, age=40)
    done = land(home, run).scopes[-1]
    assert (text(home, "deploy.md"), text(home, "a.md")) == (theirs, NEW)
    assert waiting(home) == {"deploy.md": MONDAYS}
    (conflict,) = done.conflicts
    assert ("Sundays" in conflict.now, "Mondays" in conflict.then) == (True, True)
    assert (done.to_review, done.paths) == (["deploy.md"], ["a.md"])


def test_what_waits_says_why_and_from_which_turns(home: Home) -> None:
    run = start(home)
    session(run, {"deploy.md": MONDAYS, "a.md": NEW})
    session(run, {"deploy.md": MONDAYS + "Ask Bob.\n"}, name=OTHER, turn=7)
    person(home, "deploy.md", NOTE.replace("Fridays", "Sundays"))
    land(home, run)
    (found,) = review.reviews(home.store())
    assert found.commit.sources == [f"{SESSION}#1", f"{OTHER}#7"]
    assert found.reason == "- deploy.md: as said of deploy.md\n- deploy.md: as said of deploy.md"
    assert (found.run, found.status, found.commit.subject) == (RUN, "M", "Dream: edit deploy.md")


def test_history_does_not_say_that_the_dream_wrote_what_did_not_land(home: Home) -> None:
    run = start(home)
    session(run, {"deploy.md": MONDAYS, "a.md": NEW})
    person(home, "deploy.md", NOTE.replace("Fridays", "Sundays"))
    land(home, run)
    assert "dream" not in git(
        home.shop, "log", "--full-history", "--no-merges", "--format=%an", "main", "--", "deploy.md"
    )
    assert git(home.shop, "log", "-1", "--format=%s%n%b", "main^2").split("\n")[:3] == [
        "Dream: create a.md", "- a.md: as said of a.md", "",
    ]  # fmt: skip


def test_an_edit_that_is_staged_stays_and_the_dream_s_waits(home: Home) -> None:
    run = start(home)
    session(run, {"deploy.md": MONDAYS})
    theirs = NOTE.replace("Ada has", "Bob has")
    home.write("deploy.md", theirs, age=40)
    git(home.shop, "add", "deploy.md")
    land(home, run)
    assert (home.shop / "deploy.md").read_text() == theirs
    assert list(waiting(home)) == ["deploy.md"]
    git(home.shop, "commit", "-qm", "Mine")
    assert text(home, "deploy.md") == theirs


def test_an_edit_that_was_saved_just_now_is_waited_for(home: Home) -> None:
    run = start(home)
    session(run, {"deploy.md": MONDAYS})
    home.write("deploy.md", NOTE.replace("Ada has", "Bob has"), age=0)
    assert land(home, run).scopes[-1].adopted == ["deploy.md"]
    assert text(home, "deploy.md") == MONDAYS.replace("Ada has", "Bob has")


def test_a_note_that_was_pinned_or_deleted_meanwhile_is_left(home: Home) -> None:
    home.committed("b.md", NOTE)
    run = start(home)
    session(run, {"deploy.md": MONDAYS, "b.md": MONDAYS})
    pinned = NOTE.replace("---\n#", "pinned: true\n---\n#")
    person(home, "deploy.md", pinned)
    person(home, "b.md", None)
    done = land(home, run).scopes[-1]
    assert (text(home, "deploy.md"), text(home, "b.md"), waiting(home)) == (pinned, None, {})
    assert {each.path: each.why for each in done.left} == {
        "b.md": "it was deleted meanwhile.", "deploy.md": "it is pinned.",
    }  # fmt: skip


def test_a_note_that_was_moved_meanwhile_is_changed_where_it_lies(home: Home) -> None:
    run = start(home)
    session(run, {"deploy.md": MONDAYS})
    (home.shop / "how").mkdir()
    git(home.shop, "mv", "deploy.md", "how/ship.md")
    git(home.shop, "commit", "-qm", "Move")
    land(home, run)
    assert (text(home, "how/ship.md"), text(home, "deploy.md")) == (MONDAYS, None)


def test_a_rename_takes_along_what_was_written_meanwhile(home: Home) -> None:
    run = start(home)
    session(run, {"deploy.md": None, "how/ship.md": MONDAYS})
    person(home, "deploy.md", NOTE.replace("Ada has", "Bob has"))
    land(home, run)
    assert (text(home, "how/ship.md"), text(home, "deploy.md")) == (
        MONDAYS.replace("Ada has", "Bob has"),
        None,
    )


def test_a_deletion_of_what_was_changed_meanwhile_waits(home: Home) -> None:
    run = start(home)
    session(run, {"deploy.md": None})
    person(home, "deploy.md", MONDAYS)
    land(home, run)
    assert (text(home, "deploy.md"), waiting(home)) == (MONDAYS, {"deploy.md": ""})


@pytest.mark.parametrize(
    ("theirs", "why"),
    [
        ("tools/flags.md", "changed meanwhile"),
        ("tools/Flags.md", "upper and lower case"),
        ("tools/flags.md/x.md", "a folder now"),
        ("tools.md/x.md", ""),
    ],
)
def test_a_new_note_gives_way_to_one_that_came_meanwhile(theirs: str, why: str, home: Home) -> None:
    run = start(home)
    session(run, {"tools/flags.md": NEW})
    person(home, theirs, "theirs\n")
    done = land(home, run).scopes[-1]
    assert text(home, theirs) == "theirs\n"
    assert [why in each.why for each in done.conflicts] == ([True] if why else [])
    assert list(waiting(home)) == (["tools/flags.md"] if why else [])


def test_what_somebody_wrote_likewise_is_no_conflict(home: Home) -> None:
    run = start(home)
    session(run, {"deploy.md": MONDAYS, "a.md": NEW, "gone.md": NEW})
    person(home, "deploy.md", MONDAYS)
    person(home, "a.md", NEW)
    done = land(home, run).scopes[-1]
    assert (done.conflicts, done.paths, waiting(home)) == ([], ["gone.md"], {})


def test_front_matter_is_merged_key_by_key(home: Home) -> None:
    run = start(home)
    session(run, {"deploy.md": NOTE.replace("How we deploy", "When and how we deploy")})
    person(home, "deploy.md", NOTE.replace("description:", "title: Shipping\ndescription:"))
    land(home, run)
    assert text(home, "deploy.md") == NOTE.replace(
        "description: How", "title: Shipping\ndescription: When and how"
    )


def test_a_merge_under_way_is_left_to_the_person(home: Home) -> None:
    run = start(home)
    session(run, {"deploy.md": MONDAYS, "a.md": NEW})
    git(home.shop, "checkout", "-qb", "side", "main~1")
    home.committed("side.md", "side\n")
    git(home.shop, "checkout", "-q", "main")
    git(home.shop, "merge", "-q", "--no-commit", "--no-ff", "side")
    land(home, run)
    git(home.shop, "commit", "-qm", "Merge side")
    assert [text(home, path) for path in ("deploy.md", "a.md", "side.md")] == [MONDAYS, NEW, "side\n"]


def test_turns_that_land_meanwhile_stay(home: Home) -> None:
    run = start(home)
    session(run, {"a.md": NEW})
    home.talk(OTHER).land("Later")
    land(home, run)
    assert [line["text"] for line in log_of(home.shop) if line["kind"] == "prompt"] == ["Hello", "Later"]
    assert not past.checkpoint(home.store()).holds(OTHER, 1)


# -- apart: nothing lands, all of it waits


def test_apart_nothing_lands_and_all_of_it_waits(home: Home) -> None:
    tree = git(home.shop, "rev-parse", "main^{tree}")
    run = start(home)
    session(run, {"deploy.md": MONDAYS, "a.md": NEW}, user={"profile/role.md": NEW})
    session(run, {"deploy.md": MONDAYS + "Ask Bob.\n"}, name=OTHER)
    done = land(home, run, apart=True)
    assert git(home.shop, "rev-parse", "main^{tree}") == tree
    assert waiting(home) == {"deploy.md": MONDAYS + "Ask Bob.\n", "a.md": NEW}
    assert refs(home.user, "refs/neosian/review") == [f"refs/neosian/review/{RUN}-1"]
    assert subjects(home.shop)[0] == "Dream of 2 sessions: 2 for review"
    assert past.checkpoint(home.store()).turns == {SESSION: 1, OTHER: 1}
    assert [each.to_review for each in done.scopes] == [["profile/role.md"], ["a.md", "deploy.md"]]


def test_what_the_gate_would_not_decide_waits(home: Home) -> None:
    run = start(home)
    session(run, {"a.md": NEW}, waits={"deploy.md": MONDAYS, "a.md": NEW + "Or -y.\n", "same.md": None})
    land(home, run)
    assert text(home, "deploy.md") == NOTE
    assert waiting(home) == {"deploy.md": MONDAYS, "a.md": NEW + "Or -y.\n"}


# -- killed, and more than one


def test_a_run_that_was_killed_goes_on(home: Home) -> None:
    session(start(home), {"a.md": NEW}, user={"profile/role.md": NEW})
    (run,) = unfinished(stores(home))
    assert (run.id, run.is_sealed, run.dreamt) == (RUN, False, {SESSION: 1})
    session(run, {"b.md": NEW}, name=OTHER)
    land(home, run)
    assert [text(home, path) for path in ("a.md", "b.md")] == [NEW, NEW]
    assert unfinished(stores(home)) == []


def test_half_a_session_is_taken_out(home: Home) -> None:
    run = start(home)
    user = run.stores[0]
    session(run, {"a.md": NEW}, user={"profile/role.md": NEW})
    run._add(
        user,
        Made(user.scope, {"b.md": Change(b"half")}, {"c.md": Change(b"half")}),
        {"Conversation": OTHER},
        {},
    )
    (again,) = unfinished(stores(home))
    assert (again.dreamt, again.tips[user.scope]) == (
        {SESSION: 1},
        git(home.user, "rev-parse", f"{run.tips[user.scope]}~"),
    )
    assert not any("wait" in name for name in refs(home.user, "refs/neosian/dream"))
    again.drop()


def test_a_run_that_is_being_landed_takes_no_more_sessions(home: Home) -> None:
    run = start(home)
    run.seal(False)
    with pytest.raises(RunError, match="only land"):
        run.add(SESSION, "claude-code", 1)
    run.drop()


KILLED_AT = ("neosian.plumbing:Repo.update_refs", "neosian.draft:Draft.write", "neosian.publish:publish",
             "neosian.publish:_write_out", "neosian.gitlocks:MainLock.commit", "neosian.files:write")  # fmt: skip
SCENE = f"""
    found = unfinished(stores(home))
    run = found[0] if found else start(home)
    if not run.is_sealed:
        for name, note in (("{SESSION}", "a.md"), ("{OTHER}", "b.md")):
            if name not in run.dreamt:
                session(run, {{note: NOTE, "deploy.md": NOTE.replace("Fridays", note)}}, user={{note: NOTE}},
                        waits={{"wait-" + note: NOTE}}, name=name)
        if "Sundays" not in (home.shop / "deploy.md").read_text():
            person(home, "deploy.md", NOTE.replace("Fridays", "Sundays"))
    land(home, run)
"""


@pytest.mark.parametrize("step", range(1, 74, 6))  # of 72 without a kill
def test_killed_at_any_step_it_lands_once_and_whole(step: int, home: Home) -> None:
    if in_process(home, SCENE, kill_at(step, KILLED_AT)) == -9:
        in_process(home, SCENE, kill_at(step // 2, KILLED_AT))
    while past.runs(home.store()) == [] or unfinished(stores(home)):
        assert in_process(home, SCENE) == 0
    assert [text(home, path) for path in ("a.md", "b.md")] == [NOTE, NOTE]
    assert [text(home, path, home.user) for path in ("a.md", "b.md")] == [NOTE, NOTE]
    assert text(home, "deploy.md") == NOTE.replace("Fridays", "Sundays")
    assert sorted(waiting(home)) == ["deploy.md", "wait-a.md", "wait-b.md"]
    assert past.checkpoint(home.store()).turns == {SESSION: 1, OTHER: 1}
    assert [
        len(git(below, "log", "--merges", "--format=%h").split()) for below in (home.shop, home.user)
    ] == [1, 1]


def test_killed_right_after_its_merge_it_is_not_merged_again(home: Home) -> None:
    killed = """
        from neosian.dream import landing
        whole = landing._hand_over
        landing._hand_over = lambda run, store: os.kill(os.getpid(), 9) if store is run.turns else whole(run, store)
    """
    session(start(home), {"a.md": NEW}, waits={"w.md": NEW})
    code = "(run,) = unfinished(stores(home))\nland(home, run)\n"
    assert [in_process(home, code, killed), in_process(home, code, killed)] == [-9, -9]
    tip = git(home.shop, "rev-parse", "main")
    take_back(home)  # what was done since is not undone by going on
    (run,) = unfinished(stores(home))
    land(home, run)
    assert (text(home, "a.md"), list(waiting(home))) == (None, ["w.md"])
    assert [tip] == git(home.shop, "log", "--merges", "--format=%H").split()


def test_of_two_dreams_of_the_same_turns_the_second_is_dropped(home: Home) -> None:
    one, two = start(home, "one"), start(home, "two")
    session(one, {"a.md": NEW})
    session(two, {"b.md": NEW}, user={"b.md": NEW})
    land(home, one)
    with pytest.raises(RunError, match="dream one landed turns"):
        land(home, two)
    assert (text(home, "b.md"), text(home, "b.md", home.user)) == (None, None)


def test_two_dreams_of_different_turns_both_land(home: Home) -> None:
    one, two = start(home, "one"), start(home, "two")
    session(one, {"a.md": NEW})
    session(two, {"b.md": NEW}, name=OTHER)
    land(home, one)
    land(home, two)
    assert (text(home, "a.md"), text(home, "b.md")) == (NEW, NEW)
    assert past.checkpoint(home.store()).turns == {SESSION: 1, OTHER: 1}


def test_two_processes_that_go_on_with_one_run_do_not_mix(home: Home) -> None:
    run = start(home)
    (again,) = unfinished(stores(home))
    session(run, {"a.md": NEW})
    with pytest.raises(BusyError, match="Another process"):
        session(again, {"b.md": NEW}, name=OTHER)
    land(home, run)
    assert text(home, "b.md") is None


def test_a_scope_that_is_held_keeps_the_run(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("neosian.dream.landing.PATIENCE", 0.1)
    run = start(home)
    session(run, {"a.md": NEW}, user={"profile/role.md": NEW})
    with home.store().lock(), pytest.raises(BusyError):
        land(home, run)
    assert text(home, "profile/role.md", home.user) == NEW
    (again,) = unfinished(stores(home))
    assert again.is_sealed
    land(home, again)
    assert text(home, "a.md") == NEW


def test_a_rewritten_history_is_not_brought_back(home: Home) -> None:
    run = start(home)
    session(run, {"a.md": NEW})
    git(home.shop, "commit", "-q", "--amend", "-m", "Forgotten")
    with pytest.raises(RunError, match="rewritten"):
        land(home, run)
    assert text(home, "a.md") is None


def test_a_run_that_a_crash_left_in_pieces_is_dropped(home: Home) -> None:
    run = start(home)
    session(run, {"a.md": NEW})
    blob = git(home.shop, "rev-parse", f"{run.tips[run.turns.scope]}:a.md")
    (home.shop / ".git/objects" / blob[:2] / blob[2:]).unlink()
    assert unfinished(stores(home)) == []


def test_a_lock_that_a_crash_left_does_not_stop_the_next_run(home: Home) -> None:
    from tests.factories import aged

    start(home)
    lock = home.shop / ".git/refs/neosian/dream" / RUN / "turns.lock"
    lock.write_text("")
    aged(lock)
    (again,) = unfinished(stores(home))
    session(again, {"a.md": NEW})
    land(home, again)
    assert text(home, "a.md") == NEW


# -- the checkpoint


def test_the_checkpoint_is_what_all_dreams_together_reached(home: Home) -> None:
    first = git(home.shop, "rev-parse", "main")
    dream(home, {"a.md": NEW}, id="one", turn=3)
    second = git(home.shop, "rev-parse", "main")
    dream(home, {}, id="two", name=OTHER)
    found = past.checkpoint(home.store())
    assert (found.run, found.commits, found.turns) == ("two", [second, first], {SESSION: 3, OTHER: 1})
    assert [found.holds(SESSION, 3), found.holds(SESSION, 4), found.holds("else", 1)] == [True, False, False]


def test_turns_of_another_machine_are_new_however_old_their_dates(home: Home, tmp_path: Path) -> None:
    git(home.shop, "branch", "other")
    dream(home, {"a.md": NEW})
    git(home.shop, "checkout", "-q", "other")
    early = "2020-01-01T00:00:00Z"
    dates = {
        "GIT_AUTHOR_DATE": early,
        "GIT_COMMITTER_DATE": early,
        "GIT_AUTHOR_EMAIL": "dream@neosian.invalid",
    }
    said = f"Dream\n\nNeosian-Act: dream\nDream-Run: far\nDreamt: {git(home.shop, 'rev-parse', 'other')}\nDreamt: far#2\n"
    git(home.shop, "commit", "-q", "--allow-empty", "-m", said, env=dates)
    git(home.shop, "checkout", "-q", "main")
    git(home.shop, "merge", "-q", "--no-edit", "other")
    found = past.checkpoint(home.store())
    assert found.turns == {SESSION: 1, "far": 2}
    assert not found.holds("far", 3)


def test_a_checkpoint_is_read_without_an_index_too(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    dream(home, {"a.md": NEW})
    monkeypatch.setattr("neosian.index.Index.catch_up", lambda *_: False)
    assert past.checkpoint(home.store()).turns == {SESSION: 1}


def test_a_scope_without_a_dream_has_an_empty_checkpoint(home: Home) -> None:
    found = past.checkpoint(home.store())
    assert (found.run, found.commits, found.turns, past.runs(home.store())) == ("", [], {}, [])
    assert past.checkpoint(home.store("user:nobody")).turns == {}
