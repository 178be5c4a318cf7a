"""What any tool changed in the folder is known to the next search and the next session's start, without a command."""

from __future__ import annotations

import itertools
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from neosian import recall
from neosian.beginning import begin
from tests.editors import EDITORS
from tests.factories import OTHER, Home, aged, git, status, subjects

SESSIONS = itertools.count(1)
PATH = "project/deploy.md"
OLD = "---\ndescription: shipping on mondays\n---\n\nThe walrus deploys.\n"
# Of another length: git itself overlooks a change of equal length whose dates are equal to the second.
NEW = "---\ndescription: shipping on fridays\n---\n\nThe ocelot deploys by hand.\n"


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """A home with a document that was committed and has been searched and told of."""
    found = Home(tmp_path)
    found.talk(OTHER).land("Begin")
    found.committed(PATH, OLD)
    sees(found, PATH, "walrus", "shipping on mondays")
    return found


def search(home: Home, words: str) -> list[str]:
    """Paths of the documents that a search finds."""
    return [hit.path for hit in recall.search(home.store(), words) if hit.kind == "document"]


def told(home: Home) -> str:
    """What the next session is told."""
    talk = home.talk(f"outside-{next(SESSIONS)}")
    return begin(str(home.path), talk.start())


def sees(home: Home, path: str, word: str, description: str) -> None:
    """Search and start know the document as it is, and not as it was."""
    assert search(home, word) == [path]
    block = told(home)
    assert path in block
    assert description in block


def forgot(home: Home, path: str, word: str, description: str) -> None:
    assert search(home, word) == []
    block = told(home)
    assert f"/project/{path}" not in block
    assert description not in block


def is_new(home: Home) -> None:
    """The document says what ``NEW`` says, and nothing of what ``OLD`` said."""
    sees(home, PATH, "ocelot", "shipping on fridays")
    assert search(home, "walrus") == []
    assert "mondays" not in told(home)


@pytest.mark.parametrize("save", EDITORS.values(), ids=EDITORS)
def test_a_save_of_any_editor(save: Callable[[Path, str], None], home: Home) -> None:
    if save is EDITORS["appending"]:
        (home.shop / PATH).write_text("")
    save(home.shop / PATH, NEW)
    is_new(home)


def test_a_new_document(home: Home) -> None:
    home.write("tools/new.md", "---\ndescription: a tool\n---\n\nThe gecko.\n", age=0)
    sees(home, "tools/new.md", "gecko", "a tool")


def test_a_change_of_the_header_alone(home: Home) -> None:
    home.write(PATH, OLD.replace("mondays", "sundays"), age=0)
    sees(home, PATH, "walrus", "shipping on sundays")
    assert search(home, "mondays") == []


def test_a_change_that_keeps_size_and_time(home: Home) -> None:
    before = os.stat(home.shop / PATH)
    (home.shop / PATH).write_text(OLD.replace("mondays", "fridays").replace("walrus", "badger"))
    os.utime(home.shop / PATH, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert os.stat(home.shop / PATH).st_size == before.st_size
    sees(home, PATH, "badger", "shipping on fridays")


def test_an_older_copy_put_in_its_place(home: Home) -> None:
    copy = home.write("copy", NEW, age=86_400, below=home.folder)
    shutil.copy2(copy, home.shop / PATH)
    is_new(home)


def moved(home: Home) -> None:
    (home.shop / "project").rename(home.shop / "runbooks")


def moved_by_git(home: Home) -> None:
    git(home.shop, "mv", "project", "runbooks")


def moved_by_a_commit(home: Home) -> None:
    moved_by_git(home)
    git(home.shop, "commit", "-qm", "Move it")


@pytest.mark.parametrize("move", [moved, moved_by_git, moved_by_a_commit])
def test_a_renamed_folder(move: Callable[[Home], None], home: Home) -> None:
    move(home)
    sees(home, "runbooks/deploy.md", "walrus", "shipping on mondays")
    assert f"/{PATH}" not in told(home)


@pytest.mark.parametrize("command", [("rm", "-q"), ("rm", "-q", "--cached")])
def test_a_deletion_by_git(command: tuple[str, ...], home: Home) -> None:
    git(home.shop, *command, PATH)
    if "--cached" in command:
        sees(home, PATH, "walrus", "shipping on mondays")  # it is in the folder still
    else:
        forgot(home, PATH, "walrus", "shipping on mondays")


def test_a_commit_and_its_reset(home: Home) -> None:
    home.committed(PATH, NEW)
    is_new(home)
    git(home.shop, "reset", "-q", "--hard", "HEAD~1")
    sees(home, PATH, "walrus", "shipping on mondays")
    assert search(home, "ocelot") == []


def test_a_revert(home: Home) -> None:
    home.committed(PATH, NEW)
    is_new(home)
    git(home.shop, "revert", "--no-edit", "HEAD")
    sees(home, PATH, "walrus", "shipping on mondays")


def test_another_branch_and_back(home: Home) -> None:
    git(home.shop, "checkout", "-q", "-b", "topic")
    home.committed(PATH, NEW)
    is_new(home)
    git(home.shop, "checkout", "-q", "main")
    sees(home, PATH, "walrus", "shipping on mondays")
    git(home.shop, "checkout", "-q", "topic", "--", PATH)
    is_new(home)


def test_a_stash(home: Home) -> None:
    home.write(PATH, NEW, age=0)
    git(home.shop, "stash", "-q")
    sees(home, PATH, "walrus", "shipping on mondays")
    git(home.shop, "stash", "pop", "-q")
    is_new(home)


def test_a_pull_brings_documents_and_turns(home: Home, tmp_path: Path) -> None:
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", str(home.shop), str(clone))
    (clone / PATH).write_text(NEW)
    git(clone, "commit", "-qam", "Elsewhere")
    home.talk("here").land("Here too")
    git(home.shop, "pull", "-q", "--no-rebase", "--no-edit", str(clone), "main")
    is_new(home)
    assert [hit.conversation for hit in recall.search(home.store(), "here too")][:1] == ["here"]
    other = Home(tmp_path / "machine")
    git(tmp_path, "clone", "-q", str(home.shop), str(other.shop))
    other.talk("there").land("Look for the axolotl")
    git(home.shop, "pull", "-q", str(other.shop), "main")
    assert [hit.conversation for hit in recall.search(home.store(), "axolotl")] == ["there"]


def test_what_is_known_at_once_is_committed_by_the_next_landing(home: Home) -> None:
    home.write(PATH, NEW, age=0)
    is_new(home)
    assert status(home.shop) == f" M {PATH}"
    aged(home.shop / PATH)
    home.talk("next").land("Hello")
    assert subjects(home.shop)[:2] == ["Turn 1: Hello", f"Edit {PATH}"]
    is_new(home)
