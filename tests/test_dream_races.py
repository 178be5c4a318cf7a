"""`neosian dream` beside people, agents, other dreams and other machines, and killed wherever it stands: nothing is
lost, nothing is done twice, and whose text it was stays known."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from neosian.dream.run import unfinished
from tests import asking
from tests.asking import (
    Model,
    asked,
    begun,
    create,
    dream,
    dreamt,
    edits,
    held,
    meanwhile,
    name_of,
    note,
    notes_of,
    replace,
    sound,
    text_of,
    waiting,
)
from tests.dreaming import in_process, kill_at, stores
from tests.factories import Home, aged, git, repository
from tests.hooking import PATIENCE, Hooks
from tests.model_server import Json, Reply, Request
from tests.recorded import payload
from tests.scopes import turn_lines
from tests.test_commands import Said, as_json, failed, said_beside
from tests.test_dream_claude_cli import Claude, result
from tests.test_mcp_server import Agent, ask

shop, model = asking.shop, asking.model

ONE, TWO, THREE = name_of(1), name_of(2), name_of(3)
DEPLOYS = "/project/project/deploy.md"
BODY = "Deploys go out on Tuesdays.\n\nNever on a Friday.\n\nAda has the keys."
DEPLOY = note(BODY)
MONDAYS = replace(DEPLOYS, "on Tuesdays", "on Mondays", f"{TWO}#1")


@pytest.fixture
def noted(shop: Home, capsys: Said, model: Model) -> Home:
    """A home with a note of the dream's, and one session after it."""
    held(shop, f"Remember: {BODY}")
    model(edits(create(DEPLOYS, DEPLOY, f"{ONE}#1")))
    dream(capsys)
    held(shop, "From now on deploys go out on Mondays, not on Tuesdays", first=2)
    return shop


# -- the same note, while the model thinks


def saves(home: Home, old: str, new: str, *, age: float = 10.0) -> None:
    """A person saves the note with a change."""
    home.write("project/deploy.md", DEPLOY.replace(old, new), age=age)


def commits(home: Home, old: str, new: str) -> None:
    """A person saves the note and commits it."""
    saves(home, old, new)
    git(home.shop, "commit", "-qam", "Mine")


def over_mcp(home: Home, old: str, new: str) -> None:
    """An agent changes the note with a tool of ours."""

    async def act(agent: Agent) -> None:
        await agent.call("memory_str_replace", path=DEPLOYS, old_str=old, new_str=new)

    ask(home, act)


def saves_just_now(home: Home, old: str, new: str) -> None:
    """A person saves the note this very moment."""
    saves(home, old, new, age=0.0)


WRITERS = [commits, saves, saves_just_now, over_mcp]
Writer = Callable[[Home, str, str], None]


@pytest.mark.parametrize("write", WRITERS)
def test_other_lines_of_the_same_note_are_merged(
    write: Writer, noted: Home, capsys: Said, model: Model
) -> None:
    model(meanwhile(lambda: write(noted, "Ada has", "Bob has"), edits(MONDAYS)))
    dream(capsys)
    wanted = DEPLOY.replace("Ada has", "Bob has").replace("on Tuesdays", "on Mondays")
    assert (text_of(noted, "project/deploy.md"), notes_of(noted.shop)) == (
        wanted,
        {"project/deploy.md": wanted},
    )
    assert (waiting(noted), dreamt(noted)) == ([], {ONE: 1, TWO: 1})
    assert authors(noted, "Bob has the keys.") != "dream"
    assert authors(noted, "Deploys go out on Mondays.") == "dream"
    assert sound(noted)


@pytest.mark.parametrize("write", WRITERS)
def test_of_the_same_lines_theirs_stay_and_the_dream_s_wait(
    write: Writer, noted: Home, capsys: Said, model: Model
) -> None:
    model(meanwhile(lambda: write(noted, "on Tuesdays", "whenever Ada says"), edits(MONDAYS)))
    dream(capsys)
    wanted = DEPLOY.replace("on Tuesdays", "whenever Ada says")
    assert (text_of(noted, "project/deploy.md"), notes_of(noted.shop)) == (
        wanted,
        {"project/deploy.md": wanted},
    )
    (review,) = as_json(capsys, "dream", "review")
    (source,) = review["sources"]
    assert (review["path"], source["conversation"], source["turn"]) == ("project/deploy.md", TWO, 1)
    assert "on Mondays" in review["conflict"]["wanted"]
    assert dreamt(noted) == {ONE: 1, TWO: 1}
    assert sound(noted)


@pytest.mark.parametrize("write", WRITERS)
def test_the_same_change_of_both_is_made_once(write: Writer, noted: Home, capsys: Said, model: Model) -> None:
    model(meanwhile(lambda: write(noted, "on Tuesdays", "on Mondays"), edits(MONDAYS)))
    dream(capsys)
    assert notes_of(noted.shop) == {"project/deploy.md": DEPLOY.replace("on Tuesdays", "on Mondays")}
    assert (waiting(noted), dreamt(noted)) == ([], {ONE: 1, TWO: 1})
    assert sound(noted)


def test_a_note_of_the_same_name_is_not_written_over(noted: Home, capsys: Said, model: Model) -> None:
    theirs, ours = note("Bob keeps the spare keys.", "Keys"), note("Deploys go out on Mondays.", "Days")
    act = lambda: noted.committed("project/days.md", theirs)  # noqa: E731
    model(meanwhile(act, edits(create("/project/project/days.md", ours, f"{TWO}#1"))))
    dream(capsys)
    assert text_of(noted, "project/days.md") == theirs
    assert waiting(noted) == ["project/days.md"]
    assert sound(noted)


@pytest.mark.parametrize("how", ["committed", "in the folder"])
def test_a_note_that_is_deleted_meanwhile_stays_deleted(
    how: str, noted: Home, capsys: Said, model: Model
) -> None:
    def act() -> None:
        if how == "committed":
            git(noted.shop, "rm", "-q", "project/deploy.md")
            git(noted.shop, "commit", "-qm", "Away with it")
        else:
            (noted.shop / "project/deploy.md").unlink()
            aged(noted.shop / "project")

    model(meanwhile(act, edits(MONDAYS)))
    dream(capsys)
    assert (notes_of(noted.shop), waiting(noted)) == ({}, [])
    assert dreamt(noted) == {ONE: 1, TWO: 1}
    assert sound(noted)


def test_a_note_that_is_pinned_meanwhile_is_left_alone(noted: Home, capsys: Said, model: Model) -> None:
    model(meanwhile(lambda: commits(noted, "---\nd", "---\npinned: true\nd"), edits(MONDAYS)))
    (scope,) = [each for each in dream(capsys)["landed"][0]["scopes"] if each["left"]]
    assert [(each["path"], each["why"]) for each in scope["left"]] == [("project/deploy.md", "it is pinned.")]
    assert text_of(noted, "project/deploy.md") == DEPLOY.replace("---\nd", "---\npinned: true\nd")
    assert (waiting(noted), dreamt(noted), sound(noted)) == ([], {ONE: 1, TWO: 1}, True)


def test_a_repository_that_is_held_is_landed_in_later_and_nobody_is_asked_again(
    noted: Home, capsys: Said, model: Model
) -> None:
    lock = noted.shop / ".git/index.lock"
    server = model(meanwhile(lock.touch, edits(MONDAYS)))
    assert "Traceback" not in failed(capsys, "dream")
    assert notes_of(noted.shop) == {"project/deploy.md": DEPLOY}
    lock.unlink()
    dream(capsys)
    assert (len(server.bodies), dreamt(noted)) == (1, {ONE: 1, TWO: 1})
    assert text_of(noted, "project/deploy.md") == DEPLOY.replace("on Tuesdays", "on Mondays")
    assert sound(noted)


def test_turns_that_land_meanwhile_are_dreamt_next_time(noted: Home, capsys: Said, model: Model) -> None:
    server = model(meanwhile(lambda: noted.talk(TWO).land("And Ada's keys are Bob's now"), edits()), edits())
    dream(capsys)
    assert dreamt(noted) == {ONE: 1, TWO: 1}
    assert [each["conversation"] for each in dream(capsys)["sessions"]] == [TWO]
    assert "Ada's keys are Bob's" in asked(server.bodies[-1])
    assert "not on Tuesdays" not in asked(server.bodies[-1])
    assert (dreamt(noted), sound(noted)) == ({ONE: 1, TWO: 2}, True)


def authors(home: Home, line: str) -> str:
    """Who wrote a line of the note, as git says."""
    rows = git(home.shop, "blame", "--line-porcelain", "main", "--", "project/deploy.md").split("\n")
    at = rows.index(f"\t{line}")
    return next(row for row in reversed(rows[:at]) if row.startswith("author ")).removeprefix("author ")


# -- two at once, and killed


def ended(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    """How a process ended, and what it said."""
    out, err = process.communicate(timeout=PATIENCE)
    return process.returncode, out, err


def test_of_two_dreams_at_once_the_second_says_so_and_goes(noted: Home, capsys: Said, model: Model) -> None:
    second: list[tuple[int, str, str]] = []
    server = model(meanwhile(lambda: second.append(ended(begun("--json"))), edits(MONDAYS)))
    dream(capsys)
    ((code, out, err),) = second
    assert (code, out, "Another dream is under way" in err, "Traceback" in err) == (1, "", True, False)
    assert len(server.bodies) == 1
    assert notes_of(noted.shop) == {"project/deploy.md": DEPLOY.replace("on Tuesdays", "on Mondays")}
    assert sound(noted)


@pytest.fixture
def three(shop: Home) -> Home:
    """A home with three sessions."""
    held(shop, "Remember: Ada has the keys.", "Remember: Bob has the cellar.", "Remember: Cem has the roof.")
    return shop


KEPT = {
    "project/keys.md": note("Ada has the keys.", "Keys"),
    "project/cellar.md": note("Bob has the cellar.", "Cellar"),
    "project/roof.md": note("Cem has the roof.", "Roof"),
}
HERS = {"profile/likes.md": note("The person remembers who has what.", "Likes")}


def teaches(request: Request) -> None:
    """What each of the three sessions gives: a note of the project, the first one of the person's, too."""
    said = asked(request.body)
    for number, (path, text) in enumerate(KEPT.items(), 1):
        if f"The session {name_of(number)} ran" in said:
            made = [create(f"/project/{path}", text, f"{name_of(number)}#1")]
            more = [create(f"/user/{path}", text, f"{ONE}#1") for path, text in HERS.items()]
            edits(*made, *(more if number == 1 else []))(request)


def kept_once(home: Home) -> bool:
    """Whether the notes of the three sessions are there, each brought by one commit of main."""
    brought = git(
        home.shop, "log", "--diff-merges=off", "--format=", "--name-only", "--diff-filter=A", "main"
    ).split("\n")
    notes = {path: text for path, text in notes_of(home.shop).items() if path in KEPT}
    return (
        notes == KEPT
        and notes_of(home.user) == HERS
        and all(brought.count(path) == 1 for path in KEPT)
        and dreamt(home) == dict.fromkeys((ONE, TWO, THREE), 1)
        and waiting(home) == []
        and unfinished(stores(home)) == []
        and sound(home)
    )


@pytest.mark.parametrize("at", [1, 2, 3])
def test_killed_while_the_model_thinks_it_is_dreamt_later_and_once(
    at: int, three: Home, capsys: Said, model: Model
) -> None:
    started: list[subprocess.Popen[str]] = []
    kill = meanwhile(lambda: os.kill(started[0].pid, signal.SIGKILL), edits())
    server = model(*[teaches] * (at - 1), kill, teaches)
    started.append(begun())
    assert ended(started[0])[0] == -signal.SIGKILL
    assert notes_of(three.shop) == {}
    dream(capsys)
    assert kept_once(three)
    assert len(server.bodies) <= 4 + at
    assert "nothing new" in said_beside(capsys, "dream", "--dry-run")


# What moves something: objects, refs, the folder, the index, and what lies beside the repository.
STEPS = [
    "neosian.plumbing:Repo.update_refs", "neosian.draft:Draft.write", "neosian.publish:publish", "neosian.files:write",
    "neosian.files:remove", "neosian.dream.landing:_hand_over", "neosian.dream.run:Run.add", "neosian.dream.run:Run.seal",
]  # fmt: skip
DREAM = "from neosian import cli\ncli.main(['dream'])\n"


@pytest.mark.parametrize(
    "step", [0, 15, 30, 45, 60]
)  # of about 74 without a kill; the landing's tests try more
def test_killed_at_any_step_it_lands_once_and_whole(
    step: int, three: Home, capsys: Said, model: Model
) -> None:
    model(teaches)
    assert in_process(three, DREAM, kill_at(step, STEPS)) == -9
    dream(capsys)
    assert kept_once(three)


# -- other machines, other clients, and much of it


def logged(folder: Path, name: str, lines: list[list[Json]], segment: str) -> None:
    """Turns of a conversation, committed as another machine's neosian would."""
    path = folder / segment / f"00001-cd34-claude-code-{name}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = (json.dumps(line, ensure_ascii=False) for turn in lines for line in turn)
    with path.open("a", encoding="utf-8") as file:
        file.writelines(f"{row}\n" for row in rows)
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", f"Record {name}")


def test_late_turns_of_a_machine_whose_clock_is_behind_are_dreamt(
    noted: Home, tmp_path: Path, capsys: Said, model: Model
) -> None:
    other = tmp_path / "other"
    git(tmp_path, "clone", "-q", str(noted.shop), str(other))
    model(edits(MONDAYS))
    dream(capsys)  # what is here is dreamt, up to now
    now = dreamt(noted)
    behind = turns_at(noted) - 7200
    logged(
        other,
        THREE,
        [turn_lines(THREE, 1, "Remember: the keys are Bob's now.", "Noted.", at=behind)],
        "record/2026-11/29",
    )
    logged(
        other, TWO, [turn_lines(TWO, 2, "And the cellar is Cem's.", "Noted.", at=behind)], "record/2026-11/29"
    )
    git(noted.shop, "pull", "-q", "--no-rebase", "--no-edit", str(other), "main")
    server = model(
        edits(replace(DEPLOYS, "Ada has", "Bob has", f"{THREE}#1", reason="Ada's keys are Bob's")), edits()
    )
    assert [each["conversation"] for each in dream(capsys)["sessions"]] == [THREE, TWO]
    assert "Cem" in asked(server.bodies[1])
    assert "not on Tuesdays" not in asked(server.bodies[1])
    assert dreamt(noted) == now | {TWO: 2, THREE: 1}
    assert text_of(noted, "project/deploy.md") == DEPLOY.replace("Ada has", "Bob has").replace(
        "on Tuesdays", "on Mondays"
    )
    assert sound(noted)


def turns_at(home: Home) -> int:
    """When the last commit of the project was made."""
    return int(git(home.shop, "log", "-1", "--format=%ct", "main"))


def test_turns_of_another_machine_that_come_while_the_model_thinks_are_not_passed_over(
    noted: Home, tmp_path: Path, capsys: Said, model: Model
) -> None:
    other = tmp_path / "other"
    git(tmp_path, "clone", "-q", str(noted.shop), str(other))
    logged(
        other,
        THREE,
        [turn_lines(THREE, 1, "Remember: the keys are Bob's now.", "Noted.", at=turns_at(noted) - 7200)],
        "record/2026-11/29",
    )
    pull = lambda: git(noted.shop, "pull", "-q", "--no-rebase", "--no-edit", str(other), "main")  # noqa: E731
    server = model(meanwhile(pull, edits(MONDAYS)), edits())
    dream(capsys)
    assert dreamt(noted) == {ONE: 1, TWO: 1}
    assert [each["conversation"] for each in dream(capsys)["sessions"]] == [THREE]
    assert ("Bob's now" in asked(server.bodies[-1]), sound(noted)) == (True, True)


@pytest.mark.parametrize(
    "environment", ["dict(os.environ)", "{'PATH': os.environ['PATH'], 'HOME': os.environ['HOME']}"]
)
def test_a_client_that_fires_our_hooks_while_it_answers_is_not_recorded(
    environment: str, noted: Home, tmp_path: Path, capsys: Said, monkeypatch: pytest.MonkeyPatch
) -> None:
    hooks = Hooks(tmp_path, home=noted.path)
    claude = Claude(tmp_path)
    monkeypatch.setenv("PATH", claude.environ["PATH"])
    events = {
        "start": "session_start.startup",
        "prompt": "user_prompt_submit",
        "note": "pre_tool_use.bash",
        "stop": "stop",
        "end": "session_end.other",
    }
    said = {verb: payload(name) | {"session_id": THREE} for verb, name in events.items()}
    claude.does(
        f"for verb, event in {said!r}.items():\n"
        "    event['cwd'] = os.getcwd()\n    if 'prompt' in event: event['prompt'] = said\n"
        f"    done = subprocess.run([{str(hooks.launcher)!r}, 'claude-code', verb], input=json.dumps(event).encode(),"
        f" env={environment}, capture_output=True)\n"
        "    assert (done.returncode, done.stdout, done.stderr) == (0, b'', b''), done\n"
        f"print({json.dumps(result(result=json.dumps({'edits': [MONDAYS]})))!r})"
    )
    dream(capsys, "--engine", "claude-cli")
    assert text_of(noted, "project/deploy.md") == DEPLOY.replace("on Tuesdays", "on Mondays")
    noted.land()
    assert hooks.texts() == [f"Remember: {BODY}", "From now on deploys go out on Mondays, not on Tuesdays"]
    assert (hooks.spooled(), hooks.aside(), hooks.log()) == ([], [], "")
    assert [each["conversation"] for each in as_json(capsys, "sessions")] == [TWO, ONE]
    assert sound(noted)


def test_a_session_of_a_thousand_turns_is_read_to_its_end(noted: Home, capsys: Said, model: Model) -> None:
    began = turns_at(noted) - 100_000
    tool = ("Bash", {"command": "make check"}, "all passed\n" * 200)
    long = [
        turn_lines(
            THREE,
            n,
            f"Turn {n}: look at shelf {n} and say what lies there. " * 4,
            f"On shelf {n} lie {n} parcels.",
            at=began + 60 * n,
            tools=[tool],
        )
        for n in range(1, 1001)
    ]
    long[776][1]["text"] = "Remember: shelf 777 is Dora's."
    logged(noted.shop, THREE, long, "record/2026-11/29")
    text = note("Shelf 777 is Dora's.", "Whose which shelf is")

    def answer(request: Request) -> None:
        here = "is Dora's" in asked(request.body) and "project/shelves.md" not in asked(request.body)
        edits(*([create("/project/project/shelves.md", text, f"{THREE}#777")] if here else []))(request)

    server = model(by_session({TWO: edits(MONDAYS), THREE: answer}))
    dream(capsys)
    assert text_of(noted, "project/shelves.md") == text
    said = "".join(asked(body) for body in server.bodies)
    assert [n for n in range(1, 1001) if f"[{THREE}#{n}]" not in said] == []
    assert max(len(asked(body)) for body in server.bodies) < 130_000
    assert dreamt(noted)[THREE] == 1000
    assert sound(noted)


def by_session(replies: dict[str, Reply]) -> Reply:
    """The reply of the session that a request asks about."""
    return lambda request: next(
        reply for name, reply in replies.items() if f"The session {name} ran" in asked(request.body)
    )(request)


def test_dreams_of_two_projects_in_one_moment_are_two(
    three: Home, tmp_path: Path, capsys: Said, model: Model
) -> None:
    barn = repository(tmp_path / "barn")
    three.talk(name_of(4), cwd=barn).land("Remember: Eve has the barn.")
    barns = create("/user/profile/barn.md", note("Eve has the barn.", "Barn"), f"{name_of(4)}#1")
    model(by_session({ONE: teaches, TWO: teaches, THREE: teaches, name_of(4): edits(barns)}))
    reports = dream(capsys, "--all")
    assert len({each["run"] for each in reports if each["run"]}) == 2
    assert sorted(notes_of(three.user)) == ["profile/barn.md", "profile/likes.md"]
    as_json(capsys, "dream", "undo")
    assert (sorted(notes_of(three.user)), notes_of(three.shop)) == (["profile/barn.md"], {})
    assert sound(three)
