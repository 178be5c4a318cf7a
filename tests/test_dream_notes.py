"""The documents as a dream has them: read from one commit, with their past, and changed in memory edit by edit."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from neosian import config, mounts
from neosian.dream.edits import Edit
from neosian.dream.notes import Notes
from neosian.errors import NeosianError, UsageError
from neosian.memory import Memory, Writer
from neosian.wiki import Wiki
from tests.factories import Home, git

A, B = "/project/a.md", "/project/deep/b.md"
PAGE = "---\ndescription: x\n---\none\ntwo\nthree\n"
SECRET = "AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY\n"
DREAM = ("dream <dream@neosian.invalid>", "Neosian-Act: dream", "Neosian-Actor: dream")
ADA = ("Ada Person <ada@example.org>",)


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """A home in which an agent wrote a note of the project."""
    found = Home(tmp_path)
    Memory(wiki(found), Writer.of_session("claude-code", "s-1")).create(A, PAGE)
    return found


def wiki(home: Home, *flags: str) -> Wiki:
    return Wiki(
        str(home.path),
        mounts.layout(str(home.path), str(home.project), config.load(str(home.path))[0], flags),
    )


def read(home: Home, *flags: str) -> Notes:
    return Notes.read(wiki(home, *flags))


def write(home: Home, by: tuple[str, ...], path: str, text: str | None, *more: str) -> str:
    """One commit of the project's scope on main, as somebody's git makes it; its id."""
    full = home.shop / path
    if text is None:
        full.unlink()
    else:
        full.parent.mkdir(parents=True, exist_ok=True)
        full.write_bytes(text.encode())
    return commit(home, by, *more)


def commit(home: Home, by: tuple[str, ...], *more: str) -> str:
    git(home.shop, "add", "-A")
    author, *trailers = (*by, *more)
    git(home.shop, "commit", "-q", "--author", author, "-m", "Change a note\n\n" + "\n".join(trailers))
    return git(home.shop, "rev-parse", "HEAD")


# -- reading


def test_the_documents_of_all_mounts_are_read(home: Home) -> None:
    Memory(wiki(home), Writer()).create("/user/profile/role.md", "r\n")
    notes = read(home)
    assert notes.texts == {A: PAGE, "/user/profile/role.md": "r\n"}
    assert (notes.mounts, notes.turns) == ({"/user": True, "/project": True}, "/project")


def test_logs_pages_and_the_readme_are_no_notes(home: Home) -> None:
    home.talk().land("Hello")
    assert set(read(home).texts) == {A}


def test_the_work_tree_does_not_count(home: Home) -> None:
    home.write("a.md", "unsaved\n")
    assert read(home).texts == {A: PAGE}


def test_an_older_commit_can_be_read(home: Home) -> None:
    old = git(home.shop, "rev-parse", "HEAD")
    write(home, ADA, "a.md", "newer\n")
    assert Notes.read(wiki(home), {home.store().scope: old}).texts == {A: PAGE}


def test_a_home_without_scopes_has_no_notes(tmp_path: Path) -> None:
    assert read(Home(tmp_path)).texts == {}


def withheld(home: Home) -> set[str]:
    """The documents that are withheld, as are the files that are none."""
    found = read(home).withheld
    assert "/project/.gitattributes" in found
    return {place for place in found if place.endswith(".md") and not place.endswith("/README.md")}


def test_what_holds_a_secret_is_withheld(home: Home) -> None:
    write(home, ADA, "key.md", SECRET)
    assert withheld(home) == {"/project/key.md"}
    assert set(read(home).texts) == {A}


def test_links_and_names_that_are_no_text_are_withheld(home: Home) -> None:
    (home.shop / "link.md").symlink_to("a.md")
    (home.shop / os.fsdecode(b"\xff.md")).write_text("x")
    commit(home, ADA)
    assert len(withheld(home)) == 2
    assert set(read(home).texts) == {A}


# -- whose it is


def test_a_note_of_an_agent_is_nobodys(home: Home) -> None:
    assert not read(home).is_persons(A)


def test_what_a_person_wrote_stays_theirs(home: Home) -> None:
    write(home, ADA, "deep/b.md", PAGE)
    write(home, DREAM, "deep/b.md", PAGE + "four\n")
    assert read(home).is_persons(B)


def test_what_a_person_changed_is_theirs_until_the_dream_changes_it(home: Home) -> None:
    write(home, ADA, "a.md", PAGE + "four\n")
    assert read(home).is_persons(A)
    write(home, DREAM, "a.md", PAGE + "five\n")
    assert not read(home).is_persons(A)
    write(home, ADA, "a.md", PAGE + "six\n")
    assert read(home).is_persons(A)


def test_what_a_person_changed_beside_the_dream_is_theirs(home: Home) -> None:
    git(home.shop, "checkout", "-q", "-b", "dreamt")
    write(home, DREAM, "a.md", PAGE + "four\n")
    git(home.shop, "checkout", "-q", "main")
    write(home, ADA, "a.md", PAGE.replace("one", "1"))
    git(home.shop, "merge", "-q", "--no-edit", "dreamt")
    assert read(home).is_persons(A)


def test_a_persons_note_is_theirs_under_another_name(home: Home) -> None:
    write(home, ADA, "b.md", PAGE + "of Ada\n")
    Memory(wiki(home), Writer.of_session("claude-code", "s-1")).rename("/project/b.md", B)
    assert read(home).is_persons(B)


def test_a_note_knows_the_turns_that_taught_it(home: Home) -> None:
    write(home, DREAM, "a.md", PAGE + "four\n", "Source: s-2#3", "Source: s-2#4")
    assert read(home).sources(A) == {"s-1", "s-2#3", "s-2#4"}


# -- what is gone


def test_a_note_that_was_deleted_is_known_with_its_time_and_its_text(home: Home) -> None:
    Memory(wiki(home), Writer()).delete(A)
    assert read(home).texts == {}
    assert read(home).gone[A].text == PAGE
    assert int(read(home).gone[A].at) == int(git(home.shop, "log", "-1", "--format=%at"))


def test_what_the_dream_took_away_itself_may_come_again(home: Home) -> None:
    write(home, DREAM, "a.md", None)
    assert read(home).gone == {}


def test_a_note_that_came_back_is_not_gone(home: Home) -> None:
    write(home, ADA, "a.md", None)
    write(home, ADA, "a.md", PAGE)
    assert read(home).gone == {}


def test_a_deletion_on_a_side_that_was_merged_is_known(home: Home) -> None:
    git(home.shop, "checkout", "-q", "-b", "other")
    write(home, ADA, "b.md", PAGE)
    write(home, ADA, "b.md", None)
    git(home.shop, "checkout", "-q", "main")
    write(home, ADA, "c.md", "c\n")
    git(home.shop, "merge", "-q", "--no-edit", "other")
    assert set(read(home).gone) == {"/project/b.md"}


# -- places


PLACES = [
    ("/project/a.md", A),
    ("a.md", A),
    ("//project//x//y.md", "/project/x/y.md"),
    ("/project/cafe\u0301.md", "/project/caf\u00e9.md"),
]


@pytest.mark.parametrize(("said", "place"), PLACES)
def test_a_path_is_spelled_in_one_way(home: Home, said: str, place: str) -> None:
    assert read(home).place(said) == place


BAD_PLACES = [
    "/project/../x.md", "/etc/passwd", "/project/x.sh", "/project/.git/hooks/post-commit", "/project/README.md", "/project/A.md",
    "/project/record/x.md", "/project/sessions/x.md", "/project", "", "/", "/project/con.md", "/project/a\u200b.md", "/project/\ud800.md",
]  # fmt: skip


@pytest.mark.parametrize("said", BAD_PLACES)
def test_a_path_that_no_note_can_have_is_refused(home: Home, said: str) -> None:
    with pytest.raises(UsageError):
        read(home).place(said)


# -- changing


def changed(home: Home, *edits: Edit, text: str = PAGE) -> dict[str, bytes | None]:
    """What some edits make of the notes, one of which has this text."""
    if text != PAGE:
        write(home, ADA, "a.md", text)
    before = read(home)
    notes = before.copy()
    for edit in edits:
        notes.apply(edit)
    return notes.changes_since(before)


CHANGES = [
    (Edit("create", B, text="new"), {B: b"new\n"}),
    (Edit("rewrite", A, text="x\n"), {A: b"x\n"}),
    (Edit("str_replace", A, old="two", new="2"), {A: PAGE.replace("two", "2").encode()}),
    (Edit("str_replace", A, new="four"), {A: (PAGE + "four\n").encode()}),
    (Edit("rename", A, new_path=B), {A: None, B: PAGE.encode()}),
    (Edit("delete", A), {A: None}),
]


@pytest.mark.parametrize(("edit", "made"), CHANGES)
def test_each_edit_changes_what_it_says(home: Home, edit: Edit, made: dict[str, bytes | None]) -> None:
    assert changed(home, edit) == made


def test_the_second_edit_sees_what_the_first_left(home: Home) -> None:
    edits = (Edit("rename", A, new_path=B), Edit("str_replace", B, old="one", new="1"))
    assert changed(home, *edits) == {A: None, B: PAGE.replace("one", "1").encode()}


def test_line_ends_and_the_byte_order_mark_of_a_note_stay(home: Home) -> None:
    text = "\ufeffone\r\ntwo\r\n"
    edits = (
        Edit("str_replace", A, old="two", new="2\n3"),
        Edit("str_replace", A, new="4"),
        Edit("rewrite", A, text="1\n2\n3\n4\n"),
    )
    assert changed(home, *edits, text=text) == {A: "\ufeff1\r\n2\r\n3\r\n4\r\n".encode()}


def test_an_edit_that_does_not_fit_changes_nothing(home: Home) -> None:
    notes = read(home)
    for edit in (
        Edit("str_replace", A, old="zzz", new="y"),
        Edit("delete", B),
        Edit("rename", A, new_path="/x.md"),
    ):
        with pytest.raises(NeosianError):
            notes.apply(edit)
    assert notes.texts == {A: PAGE}


def test_a_note_keeps_its_past_under_its_new_name(home: Home) -> None:
    write(home, ADA, "b.md", "b\n")
    notes = read(home)
    notes.apply(Edit("rename", "/project/b.md", new_path=B, sources=("s-2#1",)))
    assert (notes.is_persons(B), notes.sources(B)) == (True, frozenset({"s-2#1"}))
