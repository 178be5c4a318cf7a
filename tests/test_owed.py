"""A client that can be told nothing at a session's start is told it with the first prompt, and once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from neosian.beginning import begin
from neosian.clients import claude_code
from neosian.reminding import remind
from tests.factories import OTHER, Home, Talk, bytes_below, log_of

NEW = "11111111-0000-4000-8000-000000000001"
ASK = "How are the totals of a cart rounded?"
LEFT_OFF = "Fix the rounding of cart totals"
NOTE = "at the very end"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    monkeypatch.setattr(claude_code, "STARTS_WITH_PROMPT", True)
    found = Home(tmp_path)
    found.talk(OTHER).land(LEFT_OFF, "Done.")
    found.committed("project/money.md", f"# Money\n\nCart totals are rounded once, {NOTE}.\n")
    return found


def start(home: Home, talk: Talk, source: str = "startup") -> str:
    return begin(str(home.path), talk.start(source))


def told(home: Home, talk: Talk, prompt: str = "Go on") -> str:
    return remind(str(home.path), talk.ask(prompt))


def contexts(home: Home) -> list[dict[str, Any]]:
    return [line for line in log_of(home.shop) if line["kind"] == "context"]


def test_the_first_prompt_brings_the_start_and_no_other(home: Home) -> None:
    talk = home.talk(NEW)
    assert start(home, talk) == ""
    assert LEFT_OFF in told(home, talk)
    assert told(home, talk) == ""


def test_a_session_whose_start_nobody_heard_is_told_all_the_same(home: Home) -> None:
    assert LEFT_OFF in told(home, home.talk(NEW))


def test_what_the_prompt_brings_to_mind_follows_the_start(home: Home) -> None:
    talk = home.talk(NEW)
    text = told(home, talk, ASK)
    assert text.index(LEFT_OFF) < text.index(NOTE)
    talk.answer()
    home.land()
    first, second = contexts(home)
    assert (first["event"], second["event"]) == ("start", "prompt")
    assert f"{first['text']}\n\n{second['text']}" == text
    assert {first["turn"], second["turn"]} == {1}


@pytest.mark.parametrize("budget", [3000, 6000])
def test_both_stay_under_one_budget(budget: int, home: Home) -> None:
    home.write("profile/role.md", "# Role\n" + "A long story. " * 900, below=home.user)
    (home.path / "config.toml").write_text(f"[context]\nbudget = {budget}\n")
    text = told(home, home.talk(NEW), ASK)
    assert NOTE in text
    assert len(text) <= budget + 2


@pytest.mark.parametrize("source", ["resume", "clear", "compact"])
def test_a_session_that_starts_anew_is_told_anew(home: Home, source: str) -> None:
    talk = home.talk(NEW)
    told(home, talk)
    start(home, talk, source)
    assert "neosian keeps the memory" in told(home, talk)
    assert told(home, talk) == ""


def test_after_a_compaction_that_only_its_own_event_tells_it_is_told_its_own_record(home: Home) -> None:
    talk = home.talk(NEW)
    told(home, talk, "Paint the door")
    talk.answer("Painted.")
    home.land()
    assert begin(str(home.path), talk.put("post_compact.manual")) == ""
    text = told(home, talk)
    assert "Paint the door" in text
    assert LEFT_OFF not in text


def test_of_two_hook_lines_one_answers(home: Home) -> None:
    user, project = home.talk(NEW), home.talk(NEW, flags=("--agent", "x"))
    user.prompt_id = project.prompt_id = "one"
    texts = [
        remind(str(home.path), talk.put("user_prompt_submit", prompt="Go on")) for talk in (user, project)
    ]
    assert texts.count("") == 1


@pytest.mark.parametrize("fields", [{"agent_id": "a1"}, {"prompt": "  "}])
def test_a_childs_prompt_and_an_empty_one_are_told_nothing(home: Home, fields: dict[str, str]) -> None:
    talk = home.talk(NEW)
    name = talk.put("user_prompt_submit", **fields)
    assert remind(str(home.path), name) == ""
    assert LEFT_OFF in told(home, talk)


def test_neither_is_told_where_it_is_switched_off(home: Home) -> None:
    (home.path / "config.toml").write_text("[context]\nstart = false\n")
    talk = home.talk(NEW)
    start(home, talk)
    text = told(home, talk, ASK)
    assert NOTE in text
    assert "neosian keeps the memory" not in text


def test_a_start_alone_leaves_the_record_as_it_was(home: Home) -> None:
    before = bytes_below(home.shop)
    start(home, home.talk(NEW))
    assert bytes_below(home.shop) == before
