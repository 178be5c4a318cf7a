"""The start of a session: told once, of the right scopes, and what was told becomes part of its first turn."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import pytest

from neosian.beginning import begin
from tests.factories import OTHER, SESSION, Home, Talk, bytes_below, git, log_of, repository

NEW = "11111111-0000-4000-8000-000000000001"


@pytest.fixture
def home(tmp_path: Path) -> Home:
    found = Home(tmp_path)
    found.talk().land("Add a login page", "It is in login.py.")
    return found


def told(home: Home, talk: Talk, source: str = "startup") -> str:
    """What a session is told whose start event was just spooled."""
    return begin(str(home.path), talk.start(source))


def contexts(home: Home, folder: Path | None = None) -> list[dict[str, Any]]:
    return [line for line in log_of(folder or home.shop) if line["kind"] == "context"]


def test_a_new_session_is_told_where_the_last_one_left_off(home: Home) -> None:
    text = told(home, home.talk(NEW))
    assert "Add a login page" in text
    assert "It is in login.py." in text


def test_a_session_in_another_project_is_not_told_of_this_one(home: Home, tmp_path: Path) -> None:
    text = told(home, home.talk(NEW, cwd=repository(tmp_path / "blog")))
    assert "login" not in text


def test_what_it_was_told_is_a_line_of_its_first_turn_word_for_word(home: Home) -> None:
    talk = home.talk(NEW)
    text = told(home, talk)
    tip = git(home.shop, "rev-parse", "main")
    talk.land("Go on")
    (line,) = contexts(home)
    assert (line["text"], line["event"], line["turn"]) == (text, "start", 1)
    assert line["commit"] == tip


def test_many_starts_without_a_prompt_leave_and_change_nothing(home: Home) -> None:
    before = git(home.shop, "rev-parse", "main")
    record = bytes_below(home.shop)
    for number in range(5):
        talk = home.talk(f"probe-{number}")
        told(home, talk)
        talk.put("session_end.other")
    assert home.land() == []
    assert home.spool.names() == []
    assert (git(home.shop, "rev-parse", "main"), bytes_below(home.shop)) == (before, record)


def test_a_home_that_holds_nothing_is_not_made_by_looking(tmp_path: Path) -> None:
    home = Home(tmp_path)
    told(home, home.talk(NEW))
    assert not (home.path / "scopes").exists()


def test_of_two_hook_lines_with_one_event_only_one_answers(home: Home) -> None:
    user, project = home.talk(NEW), home.talk(NEW, flags=("--agent", "x"))
    assert told(home, user) != ""
    assert told(home, project) == ""


def test_one_hook_line_answers_each_time(home: Home) -> None:
    talk = home.talk(NEW)
    assert "" not in (told(home, talk), told(home, talk))


def test_a_different_event_of_the_session_is_answered(home: Home) -> None:
    assert told(home, home.talk(NEW)) != ""
    assert told(home, home.talk(NEW, flags=("--agent", "x")), source="clear") != ""


def test_a_resumed_session_is_told_of_the_scope_it_began_in(home: Home, tmp_path: Path) -> None:
    talk = home.talk(SESSION, cwd=repository(tmp_path / "blog"))
    text = told(home, talk, source="resume")
    assert "proj:shop" in text
    assert "proj:blog" not in text


def test_after_compaction_a_session_is_told_its_own_record(home: Home) -> None:
    home.talk(OTHER).land("Something else entirely")
    text = told(home, home.talk(SESSION), source="compact")
    assert "Add a login page" in text
    assert "Something else entirely" not in text


def test_context_can_be_switched_off(home: Home) -> None:
    (home.path / "config.toml").write_text("[context]\nstart = false\n")
    assert told(home, home.talk(NEW)) == ""
    assert len(home.spool.names()) == 1


@pytest.mark.parametrize("budget", [0, 40, 200, 600, 1000, 4000])
def test_the_budget_is_kept(budget: int, home: Home) -> None:
    home.write("profile/role.md", "# Role\n" + "A long story. " * 500, below=home.user)
    (home.path / "config.toml").write_text(f"[context]\nbudget = {budget}\n")
    assert len(told(home, home.talk(NEW))) <= budget


def test_a_wrong_setting_is_logged_and_the_session_still_told(home: Home) -> None:
    (home.path / "config.toml").write_text("[context]\nbudget = -1\n")
    assert "Add a login page" in told(home, home.talk(NEW))
    assert "context.budget must be" in (home.path / "log/neosian.log").read_text()


def test_an_event_that_is_gone_or_no_start_is_not_answered(home: Home) -> None:
    assert begin(str(home.path), "gone") == ""
    assert begin(str(home.path), home.talk(NEW).ask("Hello")) == ""


def test_the_documents_of_both_scopes_are_shown(home: Home) -> None:
    home.committed("project/deploy.md", "---\ndescription: how to deploy the shop\n---\n\n# Deploy\n")
    home.write("profile/role.md", "# Role\n\nAda works on the shop.\n", below=home.user)
    text = told(home, home.talk(NEW))
    assert "how to deploy the shop" in text
    assert "/project/project/deploy.md" in text
    assert "Ada works on the shop." in text


def test_a_document_that_waits_with_a_secret_is_not_told(home: Home) -> None:
    page = home.shop / "profile" / "me.md"
    page.parent.mkdir(exist_ok=True)
    page.write_text("# Me\n\nI like tea.\n")
    os.utime(page, (1, 1))
    home.talk(OTHER).land("Go on")
    assert "I like tea." in told(home, home.talk(NEW))
    page.write_text("# Me\n\npassword: hunter22\n")
    os.utime(page, (2, 2))
    home.talk(OTHER).land("And on")
    assert "me.md" not in told(home, home.talk("one more"))


@pytest.mark.parametrize("kind", ["utf-16", "utf-32", "utf-8-sig"])
def test_a_profile_in_another_encoding_is_told_as_the_text_that_it_is(kind: str, home: Home) -> None:
    path = home.write("profile/role.md", "", below=home.user)
    path.write_bytes("# Role\n\nAda, 工程师, mends the shop.\n".encode(kind))
    old = time.time() - 60
    os.utime(path, (old, old))
    block = told(home, home.talk(NEW))
    assert "Ada, 工程师, mends the shop." in block
    assert "\0" not in block
