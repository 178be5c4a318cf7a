"""Adoption: what people and agents changed in the folder lands alone, first, and under the name of who did it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from neosian import adopt, scope
from neosian.calls import touched_paths
from tests.factories import (
    OTHER,
    SESSION,
    Home,
    Talk,
    aged,
    fsck,
    git,
    prompts_of,
    status,
    subjects,
    trailers,
    without_rights,
)

ADA = "Ada Person <ada@example.org>"
AGENT = f"claude-code:{SESSION} <claude-code@neosian.invalid>"
SECRET = "AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY\n"


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """A home in which one turn has landed."""
    found = Home(tmp_path)
    found.talk(OTHER).land("Begin")
    return found


@pytest.fixture
def talk(home: Home) -> Talk:
    return home.talk()


def authors(home: Home, path: str, folder: Path | None = None) -> list[str]:
    """Who committed a path, newest first."""
    return git(folder or home.shop, "log", "--format=%an <%ae>", "--", path).splitlines()


def changed(folder: Path, rev: str) -> list[str]:
    return git(folder, "diff-tree", "--no-commit-id", "-r", "--name-status", "--root", rev).splitlines()


def is_clean(home: Home) -> bool:
    return (status(home.shop), fsck(home.shop)) == ("", "")


# a person's


def test_a_settled_edit_lands_first_alone_and_under_its_person(home: Home, talk: Talk) -> None:
    home.write("project/deploy.md", "# Deploy\n")
    talk.land("Hello")
    assert subjects(home.shop)[:2] == ["Turn 1: Hello", "Edit project/deploy.md"]
    assert changed(home.shop, "HEAD~1") == ["A\tproject/deploy.md"]
    assert authors(home, "project/deploy.md") == [ADA]
    assert trailers(home.shop, "HEAD~1") == {"Neosian-Act": "edit", "Neosian-Actor": "Ada Person"}
    assert git(home.shop, "log", "-1", "--format=%cn", "HEAD~1") == "neosian"
    assert is_clean(home)


def test_a_change_of_a_tracked_file_of_any_kind_is_adopted(home: Home, talk: Talk) -> None:
    home.committed("tools/run.sh", "#!/bin/sh\n")
    home.write("tools/run.sh", "#!/bin/sh\necho more\n")
    talk.land("Hello")
    assert git(home.shop, "show", "main:tools/run.sh").endswith("echo more")
    assert is_clean(home)


def test_several_edits_are_one_commit_that_lists_them(home: Home, talk: Talk) -> None:
    home.write("project/a.md", "a\n")
    home.write("project/b.md", "b\n")
    talk.land("Hello")
    assert subjects(home.shop)[1] == "Edit 2 documents"
    assert "- project/a.md\n- project/b.md" in git(home.shop, "log", "-1", "--format=%B", "HEAD~1")
    assert is_clean(home)


def test_a_deletion_is_adopted(home: Home, talk: Talk) -> None:
    home.committed("project/old.md", "old\n").unlink()
    aged(home.shop / "project") if (home.shop / "project").exists() else aged(home.shop)
    talk.land("Hello")
    assert changed(home.shop, "HEAD~1") == ["D\tproject/old.md"]
    assert subjects(home.shop)[1] == "Delete project/old.md"
    assert is_clean(home)


def test_a_whole_folder_that_is_gone_is_adopted(home: Home, talk: Talk) -> None:
    home.committed("project/deep/a.md", "a\n")
    shutil.rmtree(home.shop / "project")
    aged(home.shop)
    talk.land("Hello")
    assert changed(home.shop, "HEAD~1") == ["D\tproject/deep/a.md"]
    assert is_clean(home)


def test_a_rename_is_one_commit(home: Home, talk: Talk) -> None:
    old = home.committed("project/old.md", "the same text\n")
    old.rename(home.shop / "project/new.md")
    aged(home.shop / "project")
    aged(home.shop / "project/new.md")
    talk.land("Hello")
    assert changed(home.shop, "HEAD~1") == ["A\tproject/new.md", "D\tproject/old.md"]
    assert is_clean(home)


def test_an_edit_that_is_not_settled_waits_for_the_next_landing(home: Home, talk: Talk) -> None:
    path = home.write("project/now.md", "half a sent", age=0)
    talk.land("One")
    assert status(home.shop) == "?? project/"
    aged(path)
    talk.land("Two")
    assert subjects(home.shop)[:3] == ["Turn 2: Two", "Edit project/now.md", "Turn 1: One"]


def test_a_file_from_the_future_is_settled(home: Home, talk: Talk) -> None:
    home.write("project/now.md", "text\n", age=-86_400)
    talk.land("Hello")
    assert is_clean(home)


@pytest.mark.parametrize(
    "path", ["draft.txt", ".hidden.md", ".obsidian/notes.md", "record/mine.md", "sessions/mine.md"]
)
def test_what_is_no_document_is_left_to_its_person(path: str, home: Home, talk: Talk) -> None:
    home.write(path, "text\n")
    talk.land("Hello")
    assert subjects(home.shop)[:2] == ["Turn 1: Hello", "Turn 1: Begin"]
    assert status(home.shop).startswith("?? ")


def test_a_link_is_not_followed(home: Home, talk: Talk, tmp_path: Path) -> None:
    (tmp_path / "secret.md").write_text("private\n")
    (home.shop / "link.md").symlink_to(tmp_path / "secret.md")
    talk.land("Hello")
    assert git(home.shop, "ls-tree", "main", "link.md") == ""


def test_a_path_that_is_partly_staged_stays_its_persons(home: Home, talk: Talk) -> None:
    home.committed("project/a.md", "one\n")
    home.write("project/a.md", "one\ntwo\n")
    git(home.shop, "add", "project/a.md")
    home.write("project/a.md", "one\ntwo\nthree\n")
    talk.land("Hello")
    assert git(home.shop, "show", "main:project/a.md") == "one"
    assert git(home.shop, "show", ":project/a.md") == "one\ntwo"
    assert status(home.shop) == "MM project/a.md"


def test_a_file_that_was_touched_but_is_equal_makes_no_commit(home: Home, talk: Talk) -> None:
    home.committed("project/a.md", "one\n")
    home.write("project/a.md", "one\n", age=5)
    talk.land("Hello")
    assert subjects(home.shop)[:2] == ["Turn 1: Hello", "Write project/a.md"]
    assert is_clean(home)


@pytest.mark.parametrize("missing", ["user.name", "user.email", "both"])
def test_without_a_git_identity_the_login_stands_in(
    missing: str, home: Home, talk: Talk, private_home: Path
) -> None:
    for key in ("user.name", "user.email") if missing == "both" else (missing,):
        git(home.shop, "config", "--global", "--unset", key)
    home.write("project/a.md", "text\n")
    talk.land("Hello")
    login = adopt.login_name()
    name = login if missing != "user.email" else "Ada Person"
    email = f"{login}@localhost" if missing != "user.name" else "ada@example.org"
    assert authors(home, "project/a.md") == [f"{name} <{email}>"]


def test_the_identity_of_the_users_own_repository_is_not_taken(home: Home, talk: Talk) -> None:
    git(home.project, "config", "user.email", "ada@work.example")
    home.write("project/a.md", "text\n")
    talk.land("Hello")
    assert authors(home, "project/a.md") == [ADA]


def test_a_person_is_known_also_where_the_own_folder_is_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    assert (adopt.person(0).name, adopt.person(0).email) == ("Ada Person", "ada@example.org")


# a secret


@pytest.mark.parametrize("before", ["", "harmless\n"])
def test_a_document_with_a_secret_waits_and_is_named(before: str, home: Home, talk: Talk) -> None:
    if before:
        home.committed("project/keys.md", before)
    home.write("project/keys.md", before + SECRET)
    home.write("project/fine.md", "fine\n")
    talk.land("Hello")
    assert adopt.waiting(home.store().repo) == {"project/keys.md": adopt.SECRET}
    assert "wJalrXUtnFEMI" not in git(home.shop, "log", "-p", "--all")
    assert authors(home, "project/fine.md") == [ADA]


def test_a_document_without_its_secret_waits_no_longer(home: Home, talk: Talk) -> None:
    home.write("project/keys.md", SECRET)
    talk.land("One")
    home.write("project/keys.md", "It is in the vault.\n")
    talk.land("Two")
    assert adopt.waiting(home.store().repo) == {}
    assert is_clean(home)


def test_both_halves_of_a_rename_wait_for_each_other(home: Home, talk: Talk) -> None:
    home.committed("project/a.md", "moved\n")
    (home.shop / "project/a.md").rename(home.shop / "project/b.md")
    aged(home.shop / "project/b.md")
    talk.land("Hello")
    assert subjects(home.shop)[0] == "Turn 1: Hello"
    aged(home.shop / "project")
    talk.land("Again")
    assert git(home.shop, "log", "-1", "--skip=1", "--format=%s", "--name-status", "-M").split("\n\n") == [
        "Edit 2 documents", "R100\tproject/a.md\tproject/b.md",
    ]  # fmt: skip


def test_the_other_files_of_a_skill_belong_to_it(home: Home, talk: Talk) -> None:
    talk.land("Hello")
    home.write("skills/rel/SKILL.md", "How\n")
    home.write("skills/rel/scripts/tag.sh", "git tag\n")
    home.write("skills/rel/.env", "x\n")
    home.write("notes/picture.png", "x\n")
    talk.land("Again")
    held = git(home.shop, "ls-tree", "-r", "--name-only", "main", "skills", "notes").splitlines()
    assert held == ["skills/rel/SKILL.md", "skills/rel/scripts/tag.sh"]


SECRET_PATH = "project/ghp_MTX6T5bC6O3hDpHJanr4VjXiMha2mn82r7HQ.md"


def test_a_document_with_a_secret_in_its_name_waits(home: Home, talk: Talk) -> None:
    home.write(SECRET_PATH, "text\n")
    talk.land("Hello")
    assert adopt.waiting(home.store().repo) == {SECRET_PATH: adopt.SECRET_NAME}
    assert "ghp_" not in git(home.shop, "log", "--raw", "--all", "--format=%B")


@pytest.mark.parametrize("others", [[], ["project/b.md"]])
def test_a_secret_in_a_name_can_be_deleted_and_no_message_says_it(
    others: list[str], home: Home, talk: Talk
) -> None:
    for path in (SECRET_PATH, *others):
        home.committed(path, "text\n").unlink()
    aged(home.shop / "project" if (home.shop / "project").exists() else home.shop)
    talk.land("Hello")
    said = git(home.shop, "log", "-1", "--format=%B", "HEAD~1")
    assert "project/[redacted:github-token].md" in said
    assert "ghp_" not in said
    assert is_clean(home)


@pytest.mark.parametrize("kind", ["utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-8-sig"])
def test_a_secret_is_seen_in_whatever_way_its_text_is_written(kind: str, home: Home, talk: Talk) -> None:
    home.write("project/keys.md", "").write_bytes(SECRET.encode(kind))
    aged(home.shop / "project/keys.md")
    talk.land("Hello")
    assert adopt.waiting(home.store().repo) == {"project/keys.md": adopt.SECRET}


# no right to read


@pytest.mark.parametrize("before", ["", "text\n"])
@pytest.mark.parametrize("shut", ["project/shut.md", "project"])
def test_what_cannot_be_read_waits_and_is_named_and_the_turn_lands(
    shut: str, before: str, home: Home, talk: Talk
) -> None:
    if before:
        home.committed("project/shut.md", before)
    home.write("project/shut.md", "other text\n")
    home.write("fine.md", "fine\n")
    talk.turn("Hello")
    rights = (home.shop / shut).stat().st_mode
    (home.shop / shut).chmod(0)
    try:
        lands = [
            *without_rights(),
            sys.executable,
            "-c",
            f"from neosian import hook; hook.land({str(home.path)!r})",
        ]
        subprocess.run(lands, check=True)
    finally:
        (home.shop / shut).chmod(rights)
    assert adopt.waiting(home.store().repo) == {shut: adopt.UNREADABLE}
    assert subjects(home.shop)[:2] == ["Turn 1: Hello", "Edit fine.md"]


# not the moment


def test_a_new_document_that_is_staged_is_left_to_who_staged_it(home: Home, talk: Talk) -> None:
    home.write("project/a.md", "text\n")
    git(home.shop, "add", "project/a.md")
    talk.land("Hello")
    assert subjects(home.shop)[0] == "Turn 1: Hello"
    assert status(home.shop) == "A  project/a.md"
    git(home.shop, "commit", "-qm", "Mine")
    assert subjects(home.shop)[0] == "Mine"


def test_nothing_is_adopted_during_a_merge(home: Home, talk: Talk) -> None:
    git(home.shop, "checkout", "-q", "-b", "topic")
    home.committed("project/a.md", "theirs\n")
    git(home.shop, "checkout", "-q", "main")
    home.committed("project/a.md", "mine\n")
    git(home.shop, "merge", "topic", check=False)
    home.write("project/b.md", "text\n")
    aged(home.shop / "project/a.md")
    talk.land("Hello")
    assert subjects(home.shop)[:2] == ["Turn 1: Hello", "Write project/a.md"]
    assert status(home.shop).splitlines() == ["AA project/a.md", "?? project/b.md"]


@pytest.mark.parametrize("where", [("-b", "topic"), ("--detach",)])
def test_nothing_is_adopted_on_another_branch(where: tuple[str, ...], home: Home, talk: Talk) -> None:
    git(home.shop, "checkout", "-q", *where)
    home.write("project/a.md", "text\n")
    talk.land("Hello")
    assert subjects(home.shop, "main")[:2] == ["Turn 1: Hello", "Turn 1: Begin"]
    assert status(home.shop) == "?? project/"


# an agent's


def lands_with(
    home: Home, talk: Talk, tool: str, path: Path, text: str = "by the agent\n", **given: str
) -> None:
    """A turn in which the agent's own tool writes a file."""
    talk.ask("Write it down")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    talk.call(tool, **given)
    talk.answer()
    home.land()


@pytest.mark.parametrize("tool", ["Write", "Edit", "Bash"])
def test_what_an_agents_own_tool_wrote_is_booked_under_the_agent(tool: str, home: Home, talk: Talk) -> None:
    home.committed("project/a.md", "before\n")
    path = home.shop / "project/a.md"
    given = {"command": f"echo hi > {path}"} if tool == "Bash" else {"file_path": str(path)}
    lands_with(home, talk, tool, path, **given)
    assert authors(home, "project/a.md") == [AGENT, ADA]
    assert subjects(home.shop)[:2] == ["Turn 1: Write it down", "Edit project/a.md"]
    assert trailers(home.shop, "HEAD~1")["Neosian-Actor"].startswith(f"claude-code:{SESSION}")
    assert is_clean(home)


def test_the_agents_edit_names_the_turn_that_made_it(home: Home, talk: Talk) -> None:
    path = home.shop / "project/a.md"
    lands_with(home, talk, "Write", path, file_path=str(path))
    assert trailers(home.shop, "HEAD~1")["Neosian-Actor"] == f"claude-code:{SESSION}#1"


def test_a_shell_that_went_into_the_folder_is_understood(home: Home, talk: Talk) -> None:
    path = home.shop / "project/a.md"
    lands_with(home, talk, "Bash", path, command=f"cd {home.shop} && echo hi > project/a.md")
    assert authors(home, "project/a.md") == [AGENT]


def test_what_an_agent_wrote_into_the_other_scope_lands_there_too(home: Home, talk: Talk) -> None:
    path = home.user / "profile/role.md"
    lands_with(home, talk, "Write", path, file_path=str(path))
    assert authors(home, "profile/role.md", home.user) == [AGENT]
    assert (status(home.user), fsck(home.user)) == ("", "")
    assert is_clean(home)


def test_one_landing_books_each_edit_under_its_own_author(home: Home, talk: Talk) -> None:
    home.write("project/mine.md", "mine\n")
    path = home.shop / "project/its.md"
    lands_with(home, talk, "Write", path, file_path=str(path))
    assert (authors(home, "project/mine.md"), authors(home, "project/its.md")) == ([ADA], [AGENT])
    assert is_clean(home)


def test_a_later_edit_of_the_same_file_is_its_persons(home: Home, talk: Talk) -> None:
    path = home.shop / "project/a.md"
    lands_with(home, talk, "Write", path, file_path=str(path))
    home.write("project/a.md", "mine now\n", age=-3600)
    talk.land("Next")
    assert authors(home, "project/a.md") == [ADA, AGENT]


def test_an_edit_whose_call_has_just_landed_is_still_the_agents(home: Home, talk: Talk) -> None:
    path = home.shop / "project/a.md"
    git(home.shop, "checkout", "-q", "--detach")  # so that it cannot be adopted with its own turn
    lands_with(home, talk, "Write", path, file_path=str(path))
    git(home.shop, "checkout", "-q", "main")
    talk.land("Next")
    assert authors(home, "project/a.md") == [AGENT]
    assert is_clean(home)


def test_a_file_that_an_agent_only_read_stays_its_persons(home: Home, talk: Talk) -> None:
    talk.ask("Read it")
    path = home.write("project/a.md", "mine\n", age=0)
    talk.call("Read", file_path=str(path))
    talk.answer()
    home.land()
    aged(path)
    talk.land("Next")
    assert authors(home, "project/a.md") == [ADA]


@pytest.mark.parametrize(
    ("call", "paths"),
    [
        ({"tool": "Write", "input": {"file_path": "/s/a.md"}}, {"/s/a.md"}),
        ({"tool": "Edit", "input": {"file_path": "a.md"}, "cwd": "/s"}, {"/s/a.md"}),
        ({"tool": "Read", "input": {"file_path": "/s/a.md"}}, set()),
        ({"tool": "Bash", "input": {"command": "rm -f '/s/a.md'"}}, {"/s/a.md"}),
        ({"tool": "Write", "input": None}, set()),
    ],
)
def test_which_files_a_call_may_have_written(call: dict[str, object], paths: set[str]) -> None:
    assert paths <= touched_paths(call)
    assert bool(paths) is bool(touched_paths(call))


def test_an_edit_of_a_session_page_is_kept_and_never_adopted(home: Home, talk: Talk) -> None:
    (page,) = home.shop.glob(f"sessions/*/*/{OTHER}.md")
    text = page.read_text() + "mine\n"
    page.write_text(text)
    aged(page)
    home.talk(OTHER).turn("More")
    home.land()
    assert page.read_text() == text
    assert status(home.shop).startswith(" M sessions/")
    assert prompts_of(home.shop) == ["Begin", "More"]


def test_an_odd_name_is_adopted_as_it_is(home: Home, talk: Talk) -> None:
    for name in ("with space.md", "日本語.md", 'quo"te.md', "new\nline.md", os.fsdecode(b"caf\xe9.md")):
        home.write(name, "text\n")
    talk.land("Hello")
    assert is_clean(home)
    assert len(changed(home.shop, "HEAD~1")) == 5


# in the user's scope, where none of the turns land


def documented(home: Home, path: str, text: str = "text\n") -> Path:
    """A document of the user scope that has landed, and a look at the folder that found nothing more."""
    found = home.write(path, text, below=home.user)
    home.talk("first").land("Adopt it")
    home.talk("second").land("Look again")
    assert status(home.user) == ""
    return found


@pytest.mark.parametrize("path", ["top.md", "profile/role.md", "profile/deep/er.md"])
def test_a_persons_edit_in_the_user_scope_lands_with_a_turn_in_a_project(path: str, home: Home) -> None:
    home.write(path, "text\n", below=home.user)
    home.talk().land("Hello")
    assert authors(home, path, home.user) == [ADA]
    assert (status(home.user), fsck(home.user)) == ("", "")


@pytest.mark.parametrize("path", ["top.md", "profile/role.md"])
def test_a_document_deleted_in_the_user_scope_is_deleted_in_main(path: str, home: Home) -> None:
    found = documented(home, path)
    found.unlink()
    folder = home.user if not found.parent.exists() else found.parent
    aged(folder)
    home.talk().land("Hello")
    assert subjects(home.user)[0] == f"Delete {path}"
    assert status(home.user) == ""


def test_an_edit_in_the_user_scope_that_was_not_settled_lands_later(home: Home) -> None:
    found = documented(home, "profile/role.md")
    home.write("profile/role.md", "more text\n", age=0, below=home.user)
    home.talk(flags=("--scope", scope.user_scope())).land("In the user scope itself")
    assert status(home.user) == " M profile/role.md"
    aged(found)
    home.talk().land("In the project")
    assert authors(home, "profile/role.md", home.user) == [ADA, ADA]
    assert status(home.user) == ""


@pytest.mark.parametrize("path", ["top.md", "profile/other.md"])
def test_a_copy_that_keeps_an_old_time_is_found_in_the_user_scope(path: str, home: Home) -> None:
    documented(home, "profile/role.md")
    home.write(path, "from an old machine\n", age=86_400 * 365, below=home.user)
    home.talk().land("Hello")
    assert authors(home, path, home.user) == [ADA]
    assert status(home.user) == ""


def test_what_a_persons_git_wrote_into_the_index_hides_no_edit(home: Home) -> None:
    found = documented(home, "profile/role.md")
    found.write_text("more text\n")
    aged(found)
    git(home.user, "update-index", "--refresh", "-q", check=False)
    home.committed("profile/another.md", "text\n", below=home.user)
    home.talk().land("Hello")
    assert status(home.user) == ""


@pytest.mark.parametrize("when", ["before the edit", "after the edit", "always"])
def test_without_its_markers_the_same_is_adopted(when: str, home: Home, talk: Talk) -> None:
    def forget() -> None:
        for folder in (home.shop, home.user):
            for name in ("looked", "index.seen", "recent"):
                (folder / ".git" / "neosian" / name).unlink(missing_ok=True)

    talk.land("One")
    if when != "after the edit":
        forget()
    home.write("project/mine.md", "mine\n")
    home.write("profile/role.md", "role\n", below=home.user)
    if when != "before the edit":
        forget()
    talk.land("Two")
    if when == "always":
        forget()
    talk.land("Three")
    assert subjects(home.shop)[:4] == ["Turn 3: Three", "Turn 2: Two", "Edit project/mine.md", "Turn 1: One"]
    assert authors(home, "profile/role.md", home.user) == [ADA]
    assert is_clean(home)
    assert status(home.user) == ""
