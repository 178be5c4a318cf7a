"""The memory for a Python program: appended, read, searched, and never mixed up with another project's."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path
from typing import Any

import pytest

from neosian import filestore
from neosian.errors import UsageError
from neosian.filestore import FileStore, Scope, project_scope
from neosian.scope import user_scope
from tests.factories import fsck, git, log_of, repository, status, subjects

ACTOR = "tester:one"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home, and a person who stands in the project beside it."""
    monkeypatch.setenv("NEOSIAN_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(repository(tmp_path / "shop"))
    return tmp_path / "home"


def here() -> Scope:
    """The scope of the working directory's project."""
    return FileStore(filestore.home()).scope(project_scope())


def append(scope: Scope, *texts: str, span: str | None = None) -> int:
    messages = [
        {"role": role, "text": text} for role, text in zip(("user", "assistant"), texts, strict=False)
    ]
    return scope.append_turn("one", messages, actor=ACTOR, span=span)


def folder(home: Path, scope: str) -> Path:
    return home / "scopes" / scope.replace(":", ".").replace("/", "+")


def registered(home: Path) -> dict[str, list[str]]:
    text = (folder(home, user_scope()) / "projects.toml").read_text("utf-8")
    return {entry["slug"]: entry["identities"] for entry in tomllib.loads(text)["project"]}


def test_naming_a_scope_makes_nothing(home: Path) -> None:
    assert here().text == f"{user_scope()}/proj:shop"
    assert here().search("anything") == []
    assert here().history() == []
    assert not home.exists()


def test_the_first_turn_makes_the_scope_and_registers_the_project(home: Path, tmp_path: Path) -> None:
    scope = here()
    assert append(scope, "Hello", "Hi.") == 1
    assert registered(home) == {"shop": [str(tmp_path / "shop")]}
    for each in (user_scope(), scope.text):
        assert (status(folder(home, each)), fsck(folder(home, each))) == ("", "")
    assert append(scope, "Again") == 2


def test_two_directories_of_one_name_share_no_scope(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = here()
    append(first, "In the first")
    monkeypatch.chdir(repository(tmp_path / "client" / "shop"))
    second = here()
    assert second.text != first.text
    append(second, "In the second")
    assert [turn.prompts for turn in (first.turn("one", 1), second.turn("one", 1))] == [
        ["In the first"],
        ["In the second"],
    ]
    assert project_scope(str(tmp_path / "shop")) == first.text


def test_a_scope_that_is_not_the_directorys_registers_nothing(home: Path) -> None:
    scope = FileStore(str(home)).scope("team:x")
    append(scope, "Hello")
    assert not (folder(home, user_scope())).exists()
    assert subjects(folder(home, "team:x"))[0] == "Turn 1: Hello"


def test_a_span_that_was_appended_before_changes_nothing(home: Path) -> None:
    scope = here()
    assert [append(scope, "Hello", span="a"), append(scope, "Hello", span="a")] == [1, 1]
    assert append(scope, "Hello", span="b") == 2


def test_a_turn_with_a_call_is_read_back_whole(home: Path) -> None:
    scope = here()
    messages: list[dict[str, Any]] = [
        {"role": "user", "text": "Run it"},
        {"role": "assistant", "tool": "Bash", "call": "c1", "input": {"command": "make"}},
        {"role": "tool", "call": "c1", "ok": False, "text": "no rule"},
        {"role": "assistant", "text": "It fails."},
    ]
    scope.append_turn("one", messages, actor=ACTOR)
    turn = scope.turn("one", 1)
    assert (turn.prompts, turn.answer, turn.state) == (["Run it"], "It fails.", "done")
    assert [(call.tool, call.ok, call.text) for call in turn.calls] == [("Bash", False, "no rule")]
    assert [hit.turn for hit in scope.search("rule")] == [1]
    assert [commit.turn for commit in scope.history(act="record")] == [1]


def test_nothing_of_a_secret_lands(home: Path) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    scope = here()
    append(scope, f"use {secret} <private>4711</private>", f"I used {secret}")
    assert secret not in str(log_of(folder(home, scope.text)))
    assert "4711" not in str(log_of(folder(home, scope.text)))


@pytest.mark.parametrize("role", ["", "system", None, 3])
def test_a_role_that_is_none_is_refused_before_anything_is_made(role: object, home: Path) -> None:
    with pytest.raises(UsageError, match="role"):
        here().append_turn("one", [{"role": role, "text": "x"}], actor=ACTOR)
    assert not home.exists() or not (home / "scopes").exists()


def test_it_works_in_a_directory_that_is_gone(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert append(FileStore(str(home)).scope("team:x"), "Hello") == 1


def test_an_actor_that_holds_a_secret_is_written_without_it(home: Path) -> None:
    token = "gh" + "p_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    here().append_turn("one", [{"role": "user", "text": "Hello"}], actor=f"tester:{token}")
    scope = folder(home, here().text)
    assert token not in str(log_of(scope)) + git(scope, "log", "--all")


def test_a_document_that_waits_with_a_secret_is_told_to_nobody(home: Path) -> None:
    append(here(), "Hello")
    scope = folder(home, here().text)
    page = scope / "profile" / "me.md"
    page.parent.mkdir()
    page.write_text("# Me\n\nI like tea.\n")
    os.utime(page, (1, 1))
    append(here(), "Two")
    assert "I like tea." in here().context().text
    page.write_text("# Me\n\npassword: hunter22\n")
    (scope / ".git" / "neosian" / "waiting").write_text("profile/me.md\n")
    assert "me.md" not in here().context().text
