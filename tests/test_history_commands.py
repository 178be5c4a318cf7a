"""What `neosian log`, `diff`, `revert` and `why` print, and which document a path means."""

from __future__ import annotations

import os
import shlex
from pathlib import Path

import pytest

from neosian import cli
from neosian.scope import user_scope
from tests.factories import SESSION, Home, git, repository, subjects
from tests.test_commands import Said, as_json, failed, run, said_beside

PAGE = "one\ntwo\nthree\n"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    """A home with a turn, a document in each of both scopes, and their person in the project."""
    found = Home(tmp_path)
    found.talk().land("Hello")
    found.store(user_scope()).write(lambda draft: None)
    found.committed("project/deploy.md", PAGE)
    found.committed("profile/role.md", "A tester.\n", below=found.user)
    monkeypatch.chdir(found.project)
    monkeypatch.setenv("NEOSIAN_HOME", str(found.path))
    return found


def edit(home: Home, text: str, subject: str = "Edit it") -> str:
    home.write("project/deploy.md", text)
    git(home.shop, "commit", "-qam", subject)
    return git(home.shop, "rev-parse", "HEAD")


# which document


@pytest.mark.parametrize(
    "path",
    [
        "project/deploy.md",
        "./project//deploy.md",
        "/project/project/deploy.md",
        "@/project/deploy.md",
        "project/",
        "/project",
    ],
)
def test_a_document_is_found_by_any_of_its_paths(path: str, home: Home, capsys: Said) -> None:
    path = path.replace("@", str(home.shop))
    assert "Write project/deploy.md" in run(capsys, "log", path)


def test_the_user_s_documents_have_their_mount(home: Home, capsys: Said) -> None:
    assert [row["subject"] for row in as_json(capsys, "log", "/user/profile/role.md")] == [
        "Write profile/role.md"
    ]
    assert "role.md" in run(capsys, "log", "/user")
    assert "role.md" in run(capsys, "log", "profile/role.md", "--scope", user_scope())
    assert "role.md" in run(capsys, "log", "/project/profile/role.md", "--scope", user_scope())


def test_within_a_scope_s_folder_paths_are_those_of_files(
    home: Home, capsys: Said, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(home.shop / "project")
    assert "deploy" in run(capsys, "log", "deploy.md")
    assert "Turn 1" in run(capsys, "log", "..")
    monkeypatch.chdir(home.user)
    assert "role.md" in run(capsys, "log", "profile/role.md")
    (tmp_path / "short").symlink_to(home.shop)
    assert "deploy" in run(capsys, "log", str(tmp_path / "short/project/deploy.md"))


@pytest.mark.parametrize(
    "path", ["/elsewhere/x.md", "../x.md", "a/../../x.md", ".git/config", "/project/../x.md", "a\0b"]
)
def test_what_is_no_path_of_a_scope_is_refused(path: str, home: Home, capsys: Said) -> None:
    for verb in ("log", "why"):
        assert "try: neosian path" in failed(capsys, verb, path, status=2)


# log


def test_the_diary_is_aligned_and_newest_first(home: Home, capsys: Said) -> None:
    head, *rows = run(capsys, "log").splitlines()
    assert head.split() == ["time", "actor", "act", "commit", "subject"]
    assert [row[head.index("subject") :] for row in rows] == subjects(home.shop)[:-1]
    assert f"claude-code:{SESSION[:8]}#1" in rows[1]
    assert len(run(capsys, "log", "--limit", "1").splitlines()) == 2


def test_the_diary_as_json_has_the_fields_of_audit(home: Home, capsys: Said) -> None:
    rows = as_json(capsys, "log", "--limit", "2")
    assert rows == as_json(capsys, "audit", "--limit", "2", "--scope", home.store().scope)
    assert rows[1]["actor"] == f"claude-code:{SESSION}#1"


def test_where_nothing_ever_changed_it_is_said(
    home: Home, capsys: Said, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "Nothing was changed at /project/no.md yet" in said_beside(capsys, "log", "no.md")
    assert as_json(capsys, "log", "no.md") == []
    monkeypatch.chdir(repository(home.folder / "blog"))
    assert "Nothing was changed at /project yet" in said_beside(capsys, "log")


# diff


def test_one_word_is_a_path_or_a_range(home: Home, capsys: Said) -> None:
    first = git(home.shop, "rev-parse", "HEAD")
    second = edit(home, PAGE + "four\n")
    home.write("project/deploy.md", PAGE + "four\nfive\n")
    both = "-1,3 +1,5"
    assert "+four\n" in run(capsys, "diff")
    assert "+five" not in run(capsys, "diff", "project/deploy.md")
    for words in [
        (first,),
        (first[:7],),
        (f"{first}..",),
        ("HEAD~1",),
        ("project/deploy.md", first),
        (first, "project/deploy.md"),
    ]:
        assert both in run(capsys, "diff", *words)
    for words in [
        (f"{first}..{second}",),
        ("/project/project", f"{first}..main"),
        (f"{first}..main", "project"),
    ]:
        assert "-1,3 +1,4" in run(capsys, "diff", *words)
    assert "A tester" in run(capsys, "diff", f"{git(home.user, 'rev-parse', 'HEAD~1')}")


def test_a_deleted_document_is_still_a_path(home: Home, capsys: Said) -> None:
    git(home.shop, "rm", "-q", "project/deploy.md")
    git(home.shop, "commit", "-qm", "Away")
    assert "deleted file" in run(capsys, "diff", "project/deploy.md")
    assert "deleted file" in run(capsys, "diff", "project")


def test_a_difference_as_json(home: Home, capsys: Said) -> None:
    first = git(home.shop, "rev-parse", "HEAD")
    git(home.shop, "mv", "project/deploy.md", "project/ship.md")
    git(home.shop, "commit", "-qm", "Rename")
    found = as_json(capsys, "diff", "project", f"{first}..main")
    assert (found["scope"], found["path"], found["old"]) == (home.store().scope, "project", first)
    (each,) = found["files"]
    assert (each["path"], each["was"], each["status"]) == ("project/ship.md", "project/deploy.md", "R")
    assert each["diff"].endswith("rename to project/ship.md\n")


def test_line_ends_are_shown_where_they_differ(home: Home, capsys: Said) -> None:
    edit(home, "one\r\ntwo\nthree\n")
    assert "-one\n+one\N{SYMBOL FOR CARRIAGE RETURN}\n" in run(capsys, "diff")
    edit(home, "one\r\n2\r\nthree\n")
    edit(home, "one\r\nsecond\r\nthree\n")
    assert "-2\n+second\n" in run(capsys, "diff")


def test_what_stands_in_a_document_drives_no_terminal(home: Home, capsys: Said) -> None:
    edit(home, "\x1b]0;owned\x07 \u202e\n")
    for words in (
        ("diff",),
        ("why", "project/deploy.md"),
        ("diff", "--json"),
        ("why", "project/deploy.md", "--json"),
    ):
        assert not {"\x1b", "\u202e"} & set(run(capsys, *words))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("nonsense",), "There is neither a document nor a commit nonsense here"),
        (("nosuch.md",), "There is neither a document nor a commit nosuch.md here"),
        (("project/deploy.md", "nonsense"), "No commit here is named 'nonsense'"),
        (("project/deploy.md", "--", "-n"), "No commit here is named '-n'"),
        (("main..nonsense",), "No commit here is named 'nonsense'"),
        (("deadbeef",), "There is neither a document nor a commit deadbeef here"),
    ],
)  # fmt: skip
def test_an_unknown_revision_is_said(words: tuple[str, ...], said: str, home: Home, capsys: Said) -> None:
    assert said in (err := failed(capsys, "diff", *words))
    assert "try: neosian log" in err


@pytest.mark.parametrize("words", [("a", "b", "c"), ("..main",), ("main...main",)])
def test_what_is_no_range_is_a_bad_invocation(words: tuple[str, ...], home: Home, capsys: Said) -> None:
    assert "neosian diff PATH REV..REV" in failed(capsys, "diff", *words, status=2)


def test_where_nothing_differs_it_is_said(home: Home, capsys: Said) -> None:
    assert "Nothing differs at /project/project" in said_beside(capsys, "diff", "project", "main")
    assert as_json(capsys, "diff", "project", "main")["files"] == []
    assert "Nothing has been recorded for team:none yet" in failed(capsys, "diff", "--scope", "team:none")


@pytest.mark.parametrize("path", ["project/new.md", "project/deploy.md"])
@pytest.mark.parametrize("verb", ["log", "diff"])
def test_a_document_that_is_saved_and_not_committed_is_said_to_be_so(
    verb: str, path: str, home: Home, capsys: Said
) -> None:
    home.write(path, PAGE + "four\n")
    capsys.readouterr()
    assert cli.main([verb, path]) == 0
    err = capsys.readouterr().err
    assert f"/project/{path} is saved, not committed yet: the next landing does it, or neosian watch." in err
    assert "Nothing" not in err
    if verb == "diff":
        assert "+four" in run(capsys, *shlex.split(err.partition("To see it: neosian ")[2]))
    home.talk().land("More")
    assert "not committed" not in failing_or_not(capsys, verb, path)


def test_a_document_that_waits_is_said_with_the_kind_and_line_of_its_secret(home: Home, capsys: Said) -> None:
    home.write("project/keys.md", "Keys\n\npassword = hunter2hunter2\n\n<private>x</private>\n")
    said = said_beside(capsys, "log", "project/keys.md")
    assert (
        said
        == "/project/project/keys.md is saved, and waits: line 3 holds a secret (password), line 5 is <private>.\n"
    )


def failing_or_not(capsys: Said, *words: str) -> str:
    """What a command says on stderr."""
    capsys.readouterr()
    cli.main(words)
    return capsys.readouterr().err


# revert


def test_a_commit_is_taken_back_from_either_scope(home: Home, capsys: Said) -> None:
    edit(home, "new\n")
    for folder, path in ((home.shop, "/project/project/deploy.md"), (home.user, "/user/profile/role.md")):
        id = git(folder, "rev-parse", "HEAD")
        said = run(capsys, "revert", id[:10])
        now = git(folder, "rev-parse", "HEAD")[:10]
        assert said == f"Took {id[:10]} back ({path}, commit {now})\n"
    assert git(home.shop, "show", "main:project/deploy.md") == PAGE.rstrip()
    assert not (home.user / "profile/role.md").exists()


def test_a_document_is_put_back_by_any_of_its_paths(home: Home, capsys: Said) -> None:
    first = git(home.shop, "rev-parse", "HEAD")
    for path in ("project/deploy.md", "/project/project/deploy.md", f"{home.shop}/project/deploy.md"):
        edit(home, f"{path}\n")
        run(capsys, "revert", f"{path}@{first}")
        assert (home.shop / "project/deploy.md").read_text() == PAGE
    edit(home, "new\n")
    run(capsys, "revert", "project/deploy.md@main@{1}")
    assert (home.shop / "project/deploy.md").read_text() == PAGE


def test_a_name_may_have_an_at_sign(home: Home, capsys: Said) -> None:
    home.committed("project/ada@example.md", PAGE)
    git(home.shop, "rm", "-q", "project/ada@example.md")
    git(home.shop, "commit", "-qm", "Away")
    found = as_json(capsys, "revert", "project/ada@example.md@HEAD~1")
    assert found["paths"] == ["project/ada@example.md"]
    assert found["commit"] == git(home.shop, "rev-parse", "main")


def test_a_revert_tells_what_it_did_besides(home: Home, capsys: Said) -> None:
    id = edit(home, "new\n")
    home.write("project/other.md", "x\n")
    capsys.readouterr()
    assert cli.main(["revert", id]) == 0
    undo = f"To take it back: neosian revert {git(home.shop, 'rev-parse', 'HEAD')[:10]}\n"
    assert capsys.readouterr().err == f"{undo}Edits that lay in the folder landed first: project/other.md.\n"
    assert said_beside(capsys, "revert", id) == "It is so already; nothing was changed.\n"
    git(home.shop, "checkout", "-qb", "side")
    cli.main(["revert", f"project/deploy.md@{id}"])
    assert "only main has it" in capsys.readouterr().err


def test_a_commit_of_a_scope_out_of_sight_is_named_with_its_scope(
    home: Home, capsys: Said, monkeypatch: pytest.MonkeyPatch
) -> None:
    id = edit(home, "new\n")
    monkeypatch.chdir(repository(home.folder / "blog"))
    said = failed(capsys, "revert", id[:10])
    hint = said.splitlines()[-1].removeprefix("  try: neosian ")
    assert hint == f"revert {id[:10]} --scope {home.store().scope}"
    run(capsys, *shlex.split(hint))
    assert subjects(home.shop)[0] == 'Revert "Edit it"'


def test_the_commit_that_every_scope_begins_with_is_in_several(home: Home, capsys: Said) -> None:
    root = git(home.shop, "rev-list", "--max-parents=0", "main")
    assert "names a commit in 2 scopes" in failed(capsys, "revert", root)


@pytest.mark.parametrize(
    ("word", "status", "said"),
    [
        ("project/deploy.md", 2, "neosian revert project/deploy.md@REV"),
        ("project/deploy.md@", 1, "No commit here is named ''"),
        ("nonsense", 1, "No commit here is named 'nonsense'"),
        ("", 1, "No commit here is named ''"),
        ("two\nlines", 1, "No commit here is named"),
        ("HEAD~1", 1, "only recorded"),
        ("no.md@main", 1, "no.md was not there at"),
        ("../x.md@main", 2, "is no path of a scope"),
    ],
)
def test_what_cannot_be_reverted_is_said(word: str, status: int, said: str, home: Home, capsys: Said) -> None:
    assert said in failed(capsys, "revert", word, status=status)


def test_a_conflict_is_told_with_both_texts(home: Home, capsys: Said) -> None:
    id = edit(home, "one\n\x1b[2J2\nthree\n")
    edit(home, "one\nII\nthree\n")
    said = failed(capsys, "revert", id)
    assert "    | II\n" in said
    assert "    | two\n" in said
    hint = said.splitlines()[-1].removeprefix("  try: neosian ")
    assert "+II\n" in run(capsys, *shlex.split(hint))


# why


def test_lines_are_told_with_their_turns(home: Home, capsys: Said) -> None:
    edit(home, "one\nII\nthree\n", f"Edit it\n\nSource: {SESSION}#1\nSource: gone#2")
    home.write("project/deploy.md", "one\nII\nthree\nfour\n")
    said = run(capsys, "why", "/project/project/deploy.md")
    first, second, third, fourth = said.split("\n\n")
    assert first.startswith("1  Ada Person, 20")
    assert first.endswith("Write project/deploy.md\n    | one")
    assert second.endswith(f"Edit it\n    | II\n    from {SESSION}#1: Hello\n    from gone#2")
    assert third.startswith("3  Ada Person")
    assert fourth == "4  not landed yet\n    | four\n"


def test_one_line_is_told_alone_and_as_json(home: Home, capsys: Said) -> None:
    id = edit(home, "one\nII\nthree\n", f"Edit it\n\nSource: {SESSION}#1")
    (found,) = as_json(capsys, "why", "project/deploy.md:2")
    assert (found["lines"], found["text"], found["commit"]) == ([2, 2], ["II"], id)
    assert (found["actor"], found["client"], found["act"]) == ("Ada Person", None, "edit")
    assert found["sources"] == [{"conversation": SESSION, "turn": 1, "prompt": "Hello"}]


def test_an_agent_s_line_says_through_what_it_came(home: Home, capsys: Said) -> None:
    talk = home.talk()
    talk.ask("Write it down")
    home.write("project/new.md", "x\n", age=0)
    talk.call("Write", file_path=os.fspath(home.shop / "project/new.md"))
    talk.answer()
    home.land()
    said = run(capsys, "why", "project/new.md")
    assert f"claude-code:{SESSION[:8]}#2 through claude-code, " in said
    assert said.endswith(f"    from {SESSION}#2: Write it down\n")


@pytest.mark.parametrize(
    ("word", "status", "said"),
    [
        ("project/deploy.md:4", 2, "project/deploy.md has 3 lines; there is no line 4"),
        ("project", 1, "project is a folder"),
        ("no.md", 1, "There is no document no.md"),
    ],
)
def test_what_has_no_lines_is_said(word: str, status: int, said: str, home: Home, capsys: Said) -> None:
    assert said in failed(capsys, "why", word, status=status)


def test_an_empty_document_is_said_to_be_so(home: Home, capsys: Said) -> None:
    edit(home, "")
    assert said_beside(capsys, "why", "project/deploy.md") == "/project/project/deploy.md is empty.\n"
