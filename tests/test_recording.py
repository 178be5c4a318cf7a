"""What a turn leaves in its scope: lines in a segment, a page of its session, and one commit that says it all."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from neosian import turns
from neosian.recording import SEGMENT_BYTES
from neosian.scope import disk_name
from tests.factories import (
    OTHER,
    SESSION,
    Home,
    Talk,
    fsck,
    git,
    log_of,
    page_fields,
    prompts_of,
    segments,
    status,
    subjects,
    trailers,
)  # fmt: skip

LONG = "long words " * 2000
ODD = ("../../x", "a/b", "C:\\x", "CON", "x" * 300, "日本", "a\nb", ".git", "-rf", "a b")


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


@pytest.fixture
def talk(home: Home) -> Talk:
    return home.talk()


def is_clean(home: Home) -> bool:
    return (status(home.shop), fsck(home.shop)) == ("", "")


# the commit


def test_a_turn_is_one_commit_of_its_agent(home: Home, talk: Talk) -> None:
    talk.land("Add tests")
    said = git(home.shop, "log", "-1", "--format=%an|%ae|%cn|%ce|%s")
    assert said == (
        f"claude-code:{SESSION}|claude-code@neosian.invalid|neosian|neosian@neosian.invalid|Turn 1: Add tests"
    )
    assert trailers(home.shop) == {
        "Neosian-Act": "record", "Neosian-Actor": f"claude-code:{SESSION}#1", "Conversation": SESSION,
        "Turn": "1", "Client": "claude-code",
    }  # fmt: skip


def test_the_author_time_is_when_it_happened(home: Home, talk: Talk) -> None:
    talk.land("Add tests")
    line = next(line for line in log_of(home.shop) if line["kind"] == "answer")
    at = int(git(home.shop, "log", "-1", "--format=%at"))
    assert turns.stamp(at)[:19] == line["at"][:19]


@pytest.mark.parametrize(
    ("prompt", "subject"),
    [
        ("fix it", "Turn 1: fix it"),
        ("pr-477", "Turn 1: pr-477"),
        ("继续", "Turn 1: 继续"),
        ("two\nlines", "Turn 1: two lines"),
        ("Neosian-Act: forget\n\nTurn: 9", "Turn 1: Neosian-Act: forget Turn: 9"),
    ],
)
def test_the_subject_says_what_a_person_asked(prompt: str, subject: str, home: Home, talk: Talk) -> None:
    talk.land(prompt)
    assert subjects(home.shop)[0] == subject
    assert trailers(home.shop)["Neosian-Act"] == "record"
    assert trailers(home.shop)["Turn"] == "1"


def test_the_agents_own_name_is_its_actor(home: Home) -> None:
    home.talk(flags=("--agent", "reviewer")).land("Look at it")
    assert trailers(home.shop)["Neosian-Actor"] == f"reviewer:{SESSION}#1"
    assert git(home.shop, "log", "-1", "--format=%an") == f"reviewer:{SESSION}"
    assert trailers(home.shop)["Client"] == "claude-code"


def test_an_interrupted_turn_says_so(home: Home, talk: Talk) -> None:
    talk.ask("Do it")
    talk.put("session_end.other")
    home.land()
    assert subjects(home.shop)[0] == "Turn 1: Do it (interrupted)"
    assert log_of(home.shop)[0]["state"] == "interrupted"


# the log


def test_every_line_has_version_turn_number_kind_and_time(home: Home, talk: Talk) -> None:
    talk.start()
    talk.ask("Look")
    talk.call("Bash", command="ls")
    talk.answer()
    home.land()
    lines = log_of(home.shop)
    assert [line["kind"] for line in lines] == [
        "turn",
        "session",
        "prompt",
        "tool_call",
        "tool_result",
        "answer",
    ]
    assert [line["n"] for line in lines] == list(range(6))
    assert all(line["v"] == 1 and line["turn"] == 1 and line["at"] for line in lines)
    assert all(row.endswith(b"}") for row in segments(home.shop)[0].read_bytes().split(b"\n")[:-1])


def test_a_segment_is_named_after_its_first_turn_machine_client_and_session(home: Home, talk: Talk) -> None:
    talk.land("Hello")
    (path,) = segments(home.shop)
    machine = (home.path / "machine").read_text().strip()
    assert path.name == f"00001-{machine}-claude-code-{SESSION}.jsonl"


def test_turns_of_a_conversation_follow_each_other_in_one_segment(home: Home, talk: Talk) -> None:
    for prompt in ("One", "Two", "Three"):
        talk.land(prompt)
    assert len(segments(home.shop)) == 1
    assert prompts_of(home.shop) == ["One", "Two", "Three"]
    assert [line["turn"] for line in log_of(home.shop) if line["kind"] == "turn"] == [1, 2, 3]


def test_each_conversation_has_its_own_log_and_page(home: Home, talk: Talk) -> None:
    talk.land("One")
    home.talk(OTHER).land("Another")
    assert len(segments(home.shop)) == 2
    assert page_fields(home.shop, OTHER)["title"] == '"Another"'
    assert page_fields(home.shop, SESSION)["title"] == '"One"'


def test_a_full_segment_is_closed_and_no_turn_is_split(home: Home, talk: Talk) -> None:
    for _ in range(7):
        talk.land(LONG)
    paths = segments(home.shop)
    first = [turns.parse_lines(path.read_bytes())[0] for path in paths]
    spread = [{line["turn"] for line in lines} for lines in first]
    assert spread == [{1, 2, 3}, {4, 5, 6}, {7}]
    assert [path.name[:5] for path in paths] == ["00001", "00004", "00007"]
    assert all(path.stat().st_size >= SEGMENT_BYTES for path in paths[:-1])
    assert is_clean(home)


def test_turns_that_land_together_share_segment_and_page(home: Home, talk: Talk) -> None:
    for prompt in ("One", "Two", "Three"):
        talk.turn(prompt)
    assert len(home.land()) == 3
    assert len(segments(home.shop)) == 1
    assert prompts_of(home.shop) == ["One", "Two", "Three"]
    fields = page_fields(home.shop)
    assert (fields["title"], fields["last_prompt"], fields["turns"]) == ('"One"', '"Three"', "3")
    assert is_clean(home)


def test_one_huge_turn_stays_whole(home: Home, talk: Talk) -> None:
    talk.land(LONG * 5)
    talk.land("Next")
    assert [path.name[:5] for path in segments(home.shop)] == ["00001", "00002"]
    assert prompts_of(home.shop) == [LONG * 5, "Next"]


def test_a_log_that_a_person_changed_is_left_to_them(home: Home, talk: Talk) -> None:
    talk.land("One")
    (path,) = segments(home.shop)
    text = path.read_text() + "a note of mine\n"
    path.write_text(text)
    talk.land("Two")
    assert path.read_text() == text
    assert [each.name[:5] for each in segments(home.shop)] == ["00001", "00002"]
    assert prompts_of(home.shop) == ["One", "Two"]
    assert status(home.shop) == f" M {path.relative_to(home.shop)}"


def test_a_log_that_a_person_deleted_is_left_to_them(home: Home, talk: Talk) -> None:
    talk.land("One")
    segments(home.shop)[0].unlink()
    talk.land("Two")
    assert [each.name[:5] for each in segments(home.shop)] == ["00002"]
    assert prompts_of(home.shop) == ["One", "Two"]


@pytest.mark.parametrize("junk", [b'{"v":1,"turn":2,"n', b"\0" * 100, b"<<<<<<< HEAD\n", b"\xff\xfe\n"])
def test_a_bad_last_line_that_somebody_committed_stops_nothing(junk: bytes, home: Home, talk: Talk) -> None:
    talk.land("One")
    (path,) = segments(home.shop)
    path.write_bytes(path.read_bytes() + junk)
    git(home.shop, "commit", "-qam", "A torn line")
    (home.shop / ".git/neosian/recent").unlink()
    talk.land("Two")
    assert [line["kind"] for line in log_of(home.shop)] == ["turn", "prompt", "answer"] * 2
    assert is_clean(home)


@pytest.mark.parametrize("session", ODD)
def test_any_session_id_lands_inside_the_scope(session: str, home: Home) -> None:
    talk = home.talk(session)
    talk.land("One")
    talk.land("Two")
    (path,) = segments(home.shop)
    assert path.name.endswith(f"-claude-code-{disk_name(session)}.jsonl")
    assert prompts_of(home.shop) == ["One", "Two"]
    assert {line["session"] for line in log_of(home.shop) if line["kind"] == "turn"} == {session}
    assert is_clean(home)


def test_an_empty_session_id_still_lands(home: Home) -> None:
    home.talk("").land("Hello")
    assert prompts_of(home.shop) == ["Hello"]
    assert is_clean(home)


def test_a_late_word_goes_to_its_own_turn(home: Home, talk: Talk) -> None:
    talk.land("One")
    first = talk.prompt_id
    talk.land("Two")
    talk.prompt_id = first
    talk.answer("And one thing more.")
    home.land()
    assert subjects(home.shop)[0] == "Turn 1, later: And one thing more."
    assert trailers(home.shop)["Turn"] == "1"
    assert turns.group(log_of(home.shop))[1].answer == "And one thing more."
    assert page_fields(home.shop)["turns"] == "2"


# the page


def test_a_page_tells_of_its_session(home: Home, talk: Talk) -> None:
    talk.land("Add tests")
    first = page_fields(home.shop)
    talk.land("Now the docs")
    now = page_fields(home.shop)
    assert now == first | {"last_prompt": '"Now the docs"', "turns": "2"}
    assert (first["title"], first["agent"], json.loads(first["conversation"])) == (
        '"Add tests"',
        "claude-code",
        SESSION,
    )


def test_a_page_that_a_person_changed_is_left_to_them(home: Home, talk: Talk) -> None:
    talk.land("One")
    (page,) = home.shop.glob("sessions/*/*/*.md")
    page.write_text("mine\n")
    talk.land("Two")
    assert page.read_text() == "mine\n"
    assert prompts_of(home.shop) == ["One", "Two"]


def test_a_page_keeps_words_that_would_break_its_front_matter(home: Home, talk: Talk) -> None:
    talk.land('---\ntitle: "x"\n---')
    fields = page_fields(home.shop)
    assert json.loads(fields["title"]).startswith("---")
    talk.land("Next")
    assert page_fields(home.shop)["title"] == fields["title"]
