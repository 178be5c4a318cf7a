"""Where a conversation's turns lie: fixed at its first event, found again without any cache."""

from __future__ import annotations

import shutil
import time
from pathlib import Path

import pytest

from neosian import places
from neosian.scope import user_scope
from tests.factories import OTHER, SESSION, Home, git, prompts_of, repository, segments


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


def place(home: Home, session: str = SESSION) -> tuple[str, str] | None:
    found = places.find_place(str(home.path), "claude-code", session)
    return (found.scope, found.day) if found else None


def test_a_machine_has_four_digits_and_keeps_them(home: Home) -> None:
    said = places.machine(str(home.path))
    assert int(said, 16) >= 0
    assert len(said) == 4
    assert places.machine(str(home.path)) == said


@pytest.mark.parametrize("torn", ["", "a", "abcde\n"])
def test_a_torn_machine_file_is_written_anew(torn: str, home: Home) -> None:
    home.path.mkdir()
    (home.path / "machine").write_text(torn)
    assert len(places.machine(str(home.path))) == 4
    assert len((home.path / "machine").read_text().strip()) == 4


@pytest.mark.parametrize(
    ("name", "mine"),
    [
        ("00001-ab12-claude-code-x.jsonl", True),
        ("00031-ffff-claude-code-x.jsonl", True),
        ("00001-ab12-claude-code-y-claude-code-x.jsonl", False),
        ("00001-ab12-codex-x.jsonl", False),
        ("00001-ab12-claude-code-xx.jsonl", False),
        ("00001-ab12-claude-code-x.jsonl.bak", False),
        ("notes-ab12-claude-code-x.jsonl", False),
    ],
)
def test_a_segment_is_told_from_those_of_other_conversations(name: str, mine: bool) -> None:
    assert places.segments_among([name], "claude-code", "x") == ([name] if mine else [])


def test_a_place_is_the_day_and_scope_of_the_first_event(home: Home) -> None:
    home.talk().land("Hello")
    today = time.strftime("%Y-%m/%d")
    assert place(home) == (f"{user_scope()}/proj:shop", today)
    assert segments(home.shop)[0].parent == home.shop / "record" / today


def test_a_place_is_found_again_without_the_cache(home: Home) -> None:
    home.talk().land("Hello")
    before = place(home)
    shutil.rmtree(home.path / "cache")
    assert place(home) == before


@pytest.mark.parametrize(
    "torn", [b"", b"{", b"[]", b"{}", b'{"scope": "no:where", "day": "2020-01/01"}', b"\xff"]
)
def test_a_broken_note_of_a_place_is_not_believed(torn: bytes, home: Home) -> None:
    home.talk().land("Hello")
    before = place(home)
    (note,) = (home.path / "cache" / "conversations").iterdir()
    note.write_bytes(torn)
    assert place(home) == before


def test_an_unknown_conversation_has_no_place(home: Home) -> None:
    home.talk().land("Hello")
    assert place(home, OTHER) is None
    assert places.find_place(str(home.path), "codex", SESSION) is None


@pytest.mark.parametrize("with_cache", [True, False])
def test_a_later_cd_moves_no_conversation(with_cache: bool, home: Home, tmp_path: Path) -> None:
    talk = home.talk()
    talk.land("Here")
    if not with_cache:
        shutil.rmtree(home.path / "cache")
    talk.cwd = str(repository(tmp_path / "elsewhere"))
    talk.land("There")
    assert prompts_of(home.shop) == ["Here", "There"]
    assert "elsewhere" not in (home.user / "projects.toml").read_text()


def test_a_turn_belongs_to_the_project_of_its_first_event(home: Home, tmp_path: Path) -> None:
    talk = home.talk()
    talk.ask("Look over there")
    talk.cwd = str(repository(tmp_path / "elsewhere"))
    talk.put("cwd_changed", old_cwd=str(home.project), new_cwd=talk.cwd)
    talk.answer()
    home.land()
    assert prompts_of(home.shop) == ["Look over there"]
    assert not (home.path / "scopes" / f"{home.user.name}+proj.elsewhere").exists()


def test_the_clients_own_project_counts_more_than_where_it_stands(home: Home, tmp_path: Path) -> None:
    talk = home.talk(cwd=tmp_path / "somewhere", marks={"CLAUDE_PROJECT_DIR": str(home.project)})
    talk.land("Hello")
    assert prompts_of(home.shop) == ["Hello"]


def test_the_day_of_a_conversation_stays_that_of_its_first_turn(home: Home) -> None:
    talk = home.talk()
    talk.land("Yesterday")
    before = segments(home.shop)
    moved = home.shop / "record/2020-01/01"
    moved.mkdir(parents=True)
    git(home.shop, "mv", str(before[0]), str(moved))
    git(home.shop, "commit", "-qm", "As if long ago")
    (home.shop / ".git/neosian/recent").unlink()  # else it passes for a commit from a stale index
    shutil.rmtree(home.path / "cache")
    talk.land("Today")
    assert prompts_of(home.shop) == ["Yesterday", "Today"]
    assert {path.parent for path in segments(home.shop)} == {moved}
