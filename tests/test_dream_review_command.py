"""A person looks at what waits of a dream, at a real terminal and without one."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from neosian import output
from neosian.dream import review
from neosian.dream.run import Made
from tests.dreaming import (
    ADA,
    NOTE,
    RUN,
    SESSION,
    changes,
    is_whole,
    land,
    person,
    session,
    start,
    text,
    trailers_of,
    waiting,
)
from tests.factories import Home, git, subjects
from tests.terminal import Terminal
from tests.test_commands import Said, as_json, failed, run

MONDAYS, SUNDAYS = NOTE.replace("Fridays", "Mondays"), NOTE.replace("Fridays", "Sundays")
QUESTION = "? explains)"
DEPLOY, FLAGS = "/project/deploy.md", "/project/tools/flags.md"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Home]:
    """A home in which a dream wants to edit a person's note and to create another; whole when its test is over."""
    found = Home(tmp_path)
    found.talk().land("We deploy on Mondays from now on")
    found.committed("deploy.md", NOTE)
    run = start(found)
    session(run, {}, waits={"deploy.md": MONDAYS, "tools/flags.md": "Use -x.\n"})
    land(found, run)
    monkeypatch.setenv("NEOSIAN_HOME", str(found.path))
    monkeypatch.chdir(found.project)
    yield found
    assert is_whole(found)


def at_terminal(
    home: Home, *words: str, editor: str = "false", columns: int = 100, env: Mapping[str, str] | None = None
) -> Terminal:
    """`neosian dream review`, or another action, at a terminal; with an editor of ours."""
    given = {"EDITOR": editor, **(env or {})}
    return Terminal(home.project, "dream", *(words or ("review",)), env=given, columns=columns)


def answered(home: Home, *keys: str, editor: str = "false") -> tuple[int, str]:
    """Type one answer after the other, each as soon as it is asked for; the end."""
    terminal = at_terminal(home, editor=editor)
    shown = ""
    for typed in keys:
        shown += terminal.until(QUESTION)
        terminal.type(typed)
    status, rest = terminal.end()
    return status, shown + rest


def rejected(home: Home) -> list[tuple[str, str]]:
    return [(each.path, each.reason) for each in review.rejections(home.store(), review.PERSON)]


# -- shown


def test_each_change_is_shown_with_all_that_a_person_wants_to_know(home: Home) -> None:
    terminal = at_terminal(home)
    shown = terminal.until(QUESTION)
    assert shown.startswith(
        f"\n1 of 2  {DEPLOY}  (edit)\n  id       {RUN}-1\n  session  {SESSION[:8]}, claude-code, 20"
    )
    assert ": We deploy on Mondays from now on\n  reason   as said of deploy.md\n" in shown
    assert f"  from     {SESSION[:8]}#1: the prompt above\n" in shown
    assert "  waits    a person wrote this note" in shown
    assert "\n-We deploy on Fridays.\n+We deploy on Mondays.\n" in shown
    terminal.type("q\n")
    assert terminal.end()[0] == 0


def test_a_terminal_shows_colours_unless_nobody_wants_them(home: Home) -> None:
    for env, colours in (({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)):
        terminal = at_terminal(home, env=env)
        terminal.until(QUESTION)
        terminal.type("q\n")
        terminal.end()
        assert ("\x1b[32m+We deploy on Mondays.\x1b[m" in terminal.raw, "\x1b" in terminal.raw) == (
            colours,
            colours,
        )


def test_what_a_terminal_would_obey_is_shown(home: Home) -> None:
    run = start(home, "again")
    session(run, {}, waits={"odd.md": "\x1b]0;mine\x07 and \u202ebackwards\n"})
    land(home, run)
    terminal = at_terminal(home, env={"NO_COLOR": "1"})
    for _ in range(2):
        terminal.until(QUESTION)
        terminal.type("s\n")
    assert "+�]0;mine� and �backwards" in terminal.until(QUESTION)
    terminal.type("q\n")
    terminal.end()
    assert re.search(r"[\x1b\x07\u202e]", terminal.raw) is None


def test_long_texts_go_on_below_themselves(home: Home) -> None:
    home.talk().land("Please " + "remember that the keys of the shop are with Ada, " * 3 + "and 日本語" * 9)
    run = start(home, "again")
    session(run, {}, waits={"keys.md": "Ada.\n"}, turn=2)
    land(home, run)
    terminal = at_terminal(home, columns=60)
    for _ in range(2):
        terminal.until(QUESTION)
        terminal.type("s\n")
    shown = terminal.until(QUESTION)
    terminal.type("q\n")
    terminal.end()
    about = shown.partition("\ndiff ")[0].splitlines()[1:]
    begun = next(n for n, row in enumerate(about) if row.lstrip().startswith("from"))
    assert max(output.width(row) for row in about) <= 60
    assert about[begun + 1].startswith(" " * 11)


def test_without_a_terminal_it_is_printed_and_nothing_asked(home: Home, capsys: Said) -> None:
    command = [sys.executable, "-m", "neosian", "dream", "review"]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    assert (done.returncode, "\x1b" in done.stdout, QUESTION in done.stdout) == (0, False, False)
    assert [row for row in done.stdout.splitlines() if " of 2  " in row] == [
        f"1 of 2  {DEPLOY}  (edit)", f"2 of 2  {FLAGS}  (new)",
    ]  # fmt: skip
    assert "reason   as said of deploy.md" in done.stdout
    assert f"neosian dream accept {DEPLOY}\n" in done.stderr
    assert f"neosian dream reject {DEPLOY} --reason TEXT\n" in done.stderr


def test_a_program_is_given_everything(home: Home, capsys: Said) -> None:
    first, second = as_json(capsys, "dream", "review")
    assert (first["place"], second["place"], first["waits"]) == (DEPLOY, FLAGS, "person")
    assert first["sources"] == [
        {"conversation": SESSION, "turn": 1, "prompt": "We deploy on Mondays from now on"}
    ]
    (told,) = first["sessions"]
    assert (told["conversation"], told["client"], told["prompt"]) == (
        SESSION, "claude-code", "We deploy on Mondays from now on",
    )  # fmt: skip


def test_at_a_terminal_too_json_asks_nothing(home: Home) -> None:
    status, shown = at_terminal(home, "review", "--json").end()
    assert (status, [each["place"] for each in json.loads(shown)]) == (0, [DEPLOY, FLAGS])


def test_where_nothing_waits_nothing_is_asked(home: Home) -> None:
    review.reject(home.store())
    for action in ("review", "accept", "reject"):
        assert at_terminal(home, action).end() == (0, "Nothing waits for review.\n")


# -- answered


def test_what_is_accepted_and_rejected_counts_at_once(home: Home) -> None:
    terminal = at_terminal(home)
    terminal.until(QUESTION)
    terminal.type("a\n")
    terminal.until(QUESTION)
    assert text(home, "deploy.md") == MONDAYS
    assert subjects(home.shop)[0] == "Dream: edit deploy.md"
    assert "Accepted-By: Ada Person" in trailers_of(home.shop)
    assert not [row for row in trailers_of(home.shop) if row.startswith("Dream-Waits")]
    terminal.type("reject\n")
    terminal.until("Why?")
    terminal.type("flags are in the\x1b manual\n")
    assert terminal.end() == (
        0,
        "flags are in the^[ manual\n/project/tools/flags.md: rejected\n1 accepted, 1 rejected, nothing waits any more.\n",
    )
    assert rejected(home) == [("tools/flags.md", "flags are in the� manual")]
    assert text(home, "tools/flags.md") is None


def test_a_rejection_needs_no_reason(home: Home) -> None:
    assert "1 rejected, 1 still waits" in answered(home, "r\n\n", "q\n")[1]
    assert rejected(home) == [("deploy.md", "")]


def test_without_an_end_of_the_reason_nothing_is_rejected(home: Home) -> None:
    status, shown = answered(home, "r\n\x04")
    assert (status, "2 still wait" in shown, rejected(home)) == (0, True, [])


def test_what_is_skipped_waits_on(home: Home) -> None:
    status, shown = answered(home, "s\n", "a\n")
    assert (status, "1 accepted, 1 still waits (neosian dream review)." in shown) == (0, True)
    assert list(waiting(home)) == ["deploy.md"]


@pytest.mark.parametrize(("key", "status"), [("q\n", 0), ("\x04", 0), ("\x03", 130)])
def test_who_stops_keeps_what_was_answered(key: str, status: int, home: Home) -> None:
    terminal = at_terminal(home)
    terminal.until(QUESTION)
    terminal.type("a\n")
    terminal.until(QUESTION)
    terminal.type(key)
    ended, shown = terminal.end()
    assert (ended, shown.endswith("1 accepted, 1 still waits (neosian dream review).\n")) == (status, True)
    assert (text(home, "deploy.md"), list(waiting(home))) == (MONDAYS, ["tools/flags.md"])


@pytest.mark.parametrize("said", ["?", "", "yes", "acceptance"])
def test_another_answer_explains_the_answers(said: str, home: Home) -> None:
    terminal = at_terminal(home)
    terminal.until(QUESTION)
    terminal.type(f"{said}\n")
    assert "r, reject  it goes; you are asked why" in terminal.until(QUESTION)
    terminal.type("q\n")
    assert terminal.end()[0] == 0
    assert len(waiting(home)) == 2


# -- edited


def test_what_is_edited_lands_under_the_person_s_name(home: Home) -> None:
    status, shown = answered(home, "e\n", "q\n", editor="sed -i s/Mondays/Tuesdays/")
    assert (status, "/project/deploy.md: landed as" in shown) == (0, True)
    assert text(home, "deploy.md") == NOTE.replace("Fridays", "Tuesdays")
    assert git(home.shop, "log", "-1", "--format=%an <%ae>") == "Ada Person <ada@example.org>"
    assert {"Edited-By: Ada Person", "Accepted-By: Ada Person", f"Source: {SESSION}#1"} <= set(
        trailers_of(home.shop)
    )


@pytest.mark.parametrize(
    ("editor", "said"),
    [
        ("false", "The editor ended with 1."),
        ("true", "You left it as it was"),
        ("rm -f", "The editor left no file"),
        ("sh -c ': > $0'", "You left nothing in it"),
        ("sed -i s/How/[/", "its front matter could not be read"),
        ("sed -i s/Mondays/Fridays/", "says just that already"),
    ],
)  # fmt: skip
def test_an_editor_that_leaves_no_text_is_said_and_asked_again(editor: str, said: str, home: Home) -> None:
    terminal = at_terminal(home, editor=editor)
    terminal.until(QUESTION)
    terminal.type("e\n")
    assert said in terminal.until(QUESTION)
    terminal.type("a\n")
    terminal.until(QUESTION)
    terminal.type("q\n")
    assert terminal.end()[0] == 0
    assert text(home, "deploy.md") == MONDAYS


def test_a_text_that_cannot_land_is_kept_in_a_file(home: Home) -> None:
    shown = answered(home, "e\n", "q\n", editor="sed -i s/How/[/")[1]
    kept = Path(shown.partition("Your text is kept in ")[2].split(".md")[0] + ".md")
    assert kept.read_text() == MONDAYS.replace("How", "[")


def test_in_place_of_a_deletion_the_note_can_be_edited(home: Home) -> None:
    review.reject(home.store())
    run = start(home, "again")
    session(run, {}, waits={"deploy.md": None})
    land(home, run)
    shown = answered(home, "e\n", editor="sed -i s/Fridays/Sundays/")[1]
    assert "(deletion)" in shown
    assert text(home, "deploy.md") == SUNDAYS


# -- others


def test_what_somebody_else_answered_meanwhile_is_said(home: Home) -> None:
    terminal = at_terminal(home)
    terminal.until(QUESTION)
    review.reject(home.store(), ["deploy.md"])
    terminal.type("a\n")
    assert f"{DEPLOY} was answered elsewhere meanwhile.\n\n2 of 2  {FLAGS}" in terminal.until(QUESTION)
    terminal.type("a\n")
    assert "1 accepted, 1 answered elsewhere, nothing waits any more." in terminal.end()[1]
    assert (text(home, "deploy.md"), text(home, "tools/flags.md")) == (NOTE, "Use -x.\n")


@pytest.mark.parametrize("keys", ["a\n", "r\n\n", "e\n"])
def test_what_somebody_else_edited_meanwhile_is_shown_first(keys: str, home: Home) -> None:
    terminal = at_terminal(home, editor="sed -i s/Sundays/Tuesdays/")
    terminal.until(QUESTION)
    review.edit(home.store(), review.opened(home.store(), "deploy.md"), SUNDAYS.encode(), ADA)
    terminal.type(keys)
    shown = terminal.until(QUESTION)
    assert ("was edited meanwhile" in shown, "+We deploy on Sundays." in shown) == (True, True)
    assert (text(home, "deploy.md"), waiting(home)["deploy.md"]) == (NOTE, SUNDAYS)
    terminal.type("q\n")
    terminal.end()


def test_a_conflict_shows_both_texts_and_waits_on(home: Home) -> None:
    terminal = at_terminal(home)
    terminal.until(QUESTION)
    person(home, "deploy.md", SUNDAYS)
    terminal.type("a\n")
    shown = terminal.until(QUESTION)
    assert "/project/deploy.md: waits on, for the same lines were changed meanwhile." in shown
    assert "  it says now:\n    | ...\n    | We deploy on Sundays.\n    | ...\n" in shown
    assert "  the dream wants:\n    | ...\n    | We deploy on Mondays.\n    | ...\n" in shown
    terminal.type("q\n")
    assert "2 still wait" in terminal.end()[1]
    assert (text(home, "deploy.md"), len(waiting(home))) == (SUNDAYS, 2)


def test_a_conflict_is_settled_in_the_editor(home: Home) -> None:
    person(home, "deploy.md", SUNDAYS.replace("Ada has", "Bob has"))
    shown = answered(home, "e\n", "q\n", editor="sed -i -e '/^[<=>]\\{7\\}/d' -e /Sundays/d")[1]
    assert "it does not fit: the same lines were changed meanwhile." in shown
    assert text(home, "deploy.md") == MONDAYS.replace("Ada has", "Bob has")


def test_marks_that_are_left_in_it_do_not_land(home: Home) -> None:
    person(home, "deploy.md", SUNDAYS)
    assert "has marks still" in answered(home, "e\n", "q\n", editor="sed -i s/Sundays/Saturdays/")[1]
    assert (text(home, "deploy.md"), len(waiting(home))) == (SUNDAYS, 2)


def test_what_is_written_while_the_editor_is_open_stays(home: Home, tmp_path: Path) -> None:
    other = tmp_path / "editor"
    new = NOTE.replace("Ada has", "Bob has")
    other.write_text(
        f"#!/bin/sh\ncat > {home.shop}/deploy.md <<'END'\n{new}END\n"
        f'git -C {home.shop} commit -qam Mine\nsed -i s/Mondays/Tuesdays/ "$1"\n'
    )
    other.chmod(0o755)
    answered(home, "e\n", "q\n", editor=str(other))
    assert text(home, "deploy.md") == new.replace("Fridays", "Tuesdays")


def test_a_note_that_was_renamed_meanwhile_is_edited_where_it_lies(home: Home) -> None:
    git(home.shop, "mv", "deploy.md", "ship.md")
    git(home.shop, "commit", "-qm", "Mine")
    shown = answered(home, "e\n", "q\n", editor="sed -i s/Mondays/Tuesdays/")[1]
    assert "1 of 2  /project/ship.md  (edit; the dream knew it as /project/deploy.md)" in shown
    assert (text(home, "deploy.md"), text(home, "ship.md")) == (None, NOTE.replace("Fridays", "Tuesdays"))


# -- all of it


@pytest.mark.parametrize("action", ["accept", "reject"])
def test_at_a_terminal_all_of_it_is_asked_for(action: str, home: Home) -> None:
    for keys in ("\n", "n\n", "\x04"):
        terminal = at_terminal(home, action)
        shown = terminal.until(f"{action.capitalize()} all 2 notes? (y/N)")
        assert f"  {DEPLOY}  (edit)\n  {FLAGS}  (new)\n" in shown
        terminal.type(keys)
        assert terminal.end()[0] == 0
    assert (len(waiting(home)), text(home, "deploy.md")) == (2, NOTE)
    terminal = at_terminal(home, action)
    terminal.until("(y/N)")
    terminal.type("y\n")
    assert terminal.end()[0] == 0
    assert (waiting(home), text(home, "deploy.md")) == ({}, MONDAYS if action == "accept" else NOTE)


def test_at_a_terminal_what_is_named_is_done_at_once(home: Home) -> None:
    status, shown = at_terminal(home, "accept", DEPLOY).end()
    assert (status, shown.startswith(f"{DEPLOY}: landed as ")) == (0, True)


def test_without_a_terminal_all_is_accepted_and_never_rejected(home: Home, capsys: Said) -> None:
    assert "Name what is rejected" in failed(capsys, "dream", "reject", status=2)
    assert run(capsys, "dream", "accept").splitlines()[1].startswith(f"{FLAGS}: landed as ")
    assert waiting(home) == {}


def test_what_did_not_land_fails(home: Home, capsys: Said) -> None:
    person(home, "deploy.md", SUNDAYS)
    command = [sys.executable, "-m", "neosian", "dream", "accept"]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    assert (done.returncode, "waits on, for the same lines" in done.stdout) == (1, True)
    assert (list(waiting(home)), text(home, "tools/flags.md")) == (["deploy.md"], "Use -x.\n")


# -- several scopes


def two_scopes(home: Home) -> None:
    """Let a note wait in the user scope that is called as one of the project's is."""
    found = start(home, "again")
    made = changes({"deploy.md": NOTE}, SESSION, 1)
    found.add(SESSION, "claude-code", 1, [Made(found.stores[0].scope, {}, made)])
    land(home, found)


def test_a_name_means_one_scope(home: Home, capsys: Said) -> None:
    two_scopes(home)
    said = failed(capsys, "dream", "accept", "deploy.md", status=2)
    assert "deploy.md waits in 2 scopes: say /user/deploy.md or /project/deploy.md. Nothing was done." in said
    run(capsys, "dream", "accept", "/user/deploy.md", "tools")
    assert (text(home, "deploy.md", home.user), text(home, "tools/flags.md")) == (NOTE, "Use -x.\n")
    assert list(waiting(home)) == ["deploy.md"]


def test_a_mount_names_all_that_waits_in_it(home: Home, capsys: Said) -> None:
    two_scopes(home)
    run(capsys, "dream", "reject", "/user", "--reason", "mine")
    assert [each["place"] for each in as_json(capsys, "dream", "review")] == [DEPLOY, FLAGS]


def test_a_name_of_nothing_does_nothing(home: Home, capsys: Said) -> None:
    for name in ("nothing.md", "/project/nothing.md", "", "/user"):
        assert f"Nothing of {name} waits" in failed(capsys, "dream", "accept", DEPLOY, name, status=2)
    assert len(waiting(home)) == 2


def test_what_is_mounted_read_only_is_not_answered(home: Home, capsys: Said) -> None:
    scope = home.store().scope
    mounts = ("--mount", f"/team={scope}:ro", "--mount", "/user=user:ada")
    assert "read-only" in failed(capsys, "dream", "accept", "/team/deploy.md", *mounts, status=1)
    assert as_json(capsys, "dream", "review", *mounts) == []
