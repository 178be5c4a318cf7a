"""`neosian memory`, `skills` and `board`, as they are typed."""

from __future__ import annotations

import io
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from neosian import cli
from tests.factories import SESSION, Home, fsck, git, status, subjects, trailers
from tests.test_commands import Said, as_json, failed, run


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    home = Home(tmp_path)
    monkeypatch.setenv("NEOSIAN_HOME", str(home.path))
    monkeypatch.chdir(home.project)
    return home


def test_a_document_from_its_first_line_to_its_end(home: Home, capsys: Said) -> None:
    run(capsys, "memory", "create", "tools/deploy.md", "Push on Friday.\n")
    run(capsys, "memory", "str_replace", "tools/deploy.md", "Friday", "Monday")
    run(capsys, "memory", "insert", "tools/deploy.md", "1", "Then rest.")
    run(capsys, "memory", "pin", "tools/deploy.md")
    run(capsys, "memory", "unpin", "/project/tools/deploy.md")
    assert "     1\tPush on Monday.\n     2\tThen rest." in run(capsys, "memory", "view", "tools/deploy.md")
    run(capsys, "memory", "rename", "tools/deploy.md", "/user/deploy.md")
    run(capsys, "memory", "delete", "/user/deploy.md")
    assert "There is no /user/deploy.md: it went with" in failed(capsys, "memory", "view", "/user/deploy.md")
    assert (fsck(home.shop), status(home.shop), status(home.user)) == ("", "", "")


def test_a_dash_reads_stdin(home: Home, capsys: Said, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO("größer\n".encode())))
    run(capsys, "memory", "create", "x.md", "-")
    assert (home.shop / "x.md").read_text("utf-8") == "größer\n"


def test_a_change_says_how_it_is_taken_back(home: Home, capsys: Said) -> None:
    assert cli.main(["memory", "create", "x.md", "one\n"]) == 0
    tip = git(home.shop, "rev-parse", "main")
    said = capsys.readouterr()
    assert said.out == f"Create x.md (/project/x.md, commit {tip[:10]})\n"
    assert said.err == f"To take it back: neosian revert {tip[:10]}\n"
    done = as_json(capsys, "memory", "str_replace", "x.md", "one", "two")
    tip = git(home.shop, "rev-parse", "main")
    assert done == {
        "path": "/project/x.md",
        "commit": tip,
        "said": "Edit x.md",
        "undo": [f"neosian revert {tip[:10]}"],
    }


@pytest.mark.parametrize(
    "words",
    [("create", "x.md", ""), ("create", "x.md", " \n"), ("create", "x.md", "a", "--template", "how-to")],
)
def test_nothing_to_write_and_too_much_to_write_are_refused(
    words: tuple[str, ...], home: Home, capsys: Said
) -> None:
    failed(capsys, "memory", *words, status=2)
    assert not home.shop.exists()


def test_a_template_is_a_document(home: Home, capsys: Said) -> None:
    for name in ("preference", "project-fact", "how-to"):
        run(capsys, "memory", "create", f"{name}.md", "--template", name)
        assert as_json(capsys, "memory", "view", f"{name}.md")["description"]


def test_a_listing_for_programs(home: Home, capsys: Said) -> None:
    run(capsys, "memory", "create", "x.md", "---\ndescription: An x\npinned: true\n---\nx\n")
    (row,) = as_json(capsys, "memory", "view")["documents"]
    assert (row["path"], row["description"], row["pinned"], row["source"]) == (
        "/project/x.md",
        "An x",
        True,
        "person",
    )
    assert as_json(capsys, "memory", "view", "x.md")["text"].endswith("---\nx\n")
    assert as_json(capsys, "memory", "view", "/project", "--at", "main")["documents"] == [
        {"path": "/project/x.md"}
    ]


def test_everything_has_no_one_revision(home: Home, capsys: Said) -> None:
    assert "one scope" in failed(capsys, "memory", "view", "--at", "main", status=2)


def test_in_the_shell_of_an_agent_the_commit_is_the_agents(
    home: Home, capsys: Said, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", SESSION)
    run(capsys, "memory", "create", "x.md", "one\n")
    assert trailers(home.shop)["Neosian-Actor"] == f"claude-code:{SESSION}"


# -- edit


def edit(home: Home, editor: str, *words: str) -> subprocess.CompletedProcess[bytes]:
    """`neosian memory edit` on a terminal, with an editor of ours."""
    master, slave = pty.openpty()
    try:
        environ = {**os.environ, "NEOSIAN_HOME": str(home.path), "EDITOR": editor}
        command = [sys.executable, "-m", "neosian", "memory", "edit", *words]
        done = subprocess.run(
            command, cwd=home.project, env=environ, stdin=slave, stdout=slave, stderr=subprocess.PIPE
        )
    finally:
        os.close(slave)
        os.close(master)
    return done


def test_an_edit_is_one_commit_of_the_person_whatever_the_editor_leaves_beside(
    home: Home, capsys: Said
) -> None:
    run(capsys, "memory", "create", "x.md", "one\n")
    assert edit(home, "sed -i.bak s/one/two/", "x.md").returncode == 0
    assert (home.shop / "x.md").read_text() == "two\n"
    assert subjects(home.shop)[0] == "Edit x.md"
    assert "invalid" not in git(home.shop, "log", "-1", "--format=%ae").rpartition("@")[2]


def test_a_new_document_is_edited_into_being(home: Home) -> None:
    assert edit(home, "sh -c 'echo new > $0'", "x.md").returncode == 0
    assert (home.shop / "x.md").read_text() == "new\n"


@pytest.mark.parametrize(
    ("editor", "said"),
    [("false", b"ended with 1"), ("rm -f", b"left no file"), ("ln -sf /etc/passwd", b"left no file"),
     ("sh -c ': > $0'", b"was emptied")],
)  # fmt: skip
def test_an_editor_that_leaves_no_text_changes_nothing(
    editor: str, said: bytes, home: Home, capsys: Said
) -> None:
    run(capsys, "memory", "create", "x.md", "one\n")
    done = edit(home, editor, "x.md")
    assert done.returncode == 1
    assert said in done.stderr
    assert (home.shop / "x.md").read_text() == "one\n"


def test_what_cannot_be_written_is_kept_in_a_file(home: Home, capsys: Said) -> None:
    run(capsys, "memory", "create", "x.md", "one\n")
    done = edit(home, 'sh -c \'printf "%s" "---\n[\n---\n" > $0\'', "x.md")
    assert done.returncode == 1
    kept = done.stderr.decode().partition("Your text is kept in ")[2].split("\n")[0].rstrip(".")
    assert Path(kept).read_text().startswith("---\n[")


@pytest.mark.parametrize("path", ["README.md", "tools", "/nowhere/x.md", "x.txt"])
def test_a_path_that_cannot_be_written_opens_no_editor(path: str, home: Home, tmp_path: Path) -> None:
    done = edit(home, f"touch {tmp_path / 'opened'}; true", path)
    assert done.returncode == 2
    assert not (tmp_path / "opened").exists()


def test_without_a_terminal_no_editor_is_opened(home: Home, capsys: Said) -> None:
    assert "needs a terminal" in failed(capsys, "memory", "edit", "x.md", status=2)


# -- skills and board


def test_skills_are_listed_and_shown(home: Home, capsys: Said) -> None:
    run(capsys, "memory", "create", "skills/rel/SKILL.md", "---\ndescription: How to release\n---\nTag it.\n")
    assert run(capsys, "skills").split() == ["rel", "/project/skills/rel/SKILL.md", "How", "to", "release"]
    assert "Tag it." in run(capsys, "skills", "rel")
    assert as_json(capsys, "skills")[0]["name"] == "rel"
    assert "there are: rel" in failed(capsys, "skills", "other", status=1)


def test_the_board_tells_who_holds_what(home: Home, capsys: Said, monkeypatch: pytest.MonkeyPatch) -> None:
    run(capsys, "board", "add", "Ship", "the", "checkout")
    run(capsys, "board", "add", "Rest")
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", SESSION)
    run(capsys, "board", "start", "ship")
    monkeypatch.delenv("CLAUDE_CODE_SESSION_ID")
    run(capsys, "memory", "pin", "board/ship-the-checkout.md")
    held = {row["slug"]: (row["status"], row.get("holder")) for row in as_json(capsys, "board")}
    assert held == {"ship-the-checkout": ("doing", f"claude-code:{SESSION}"), "rest": ("open", None)}
    run(capsys, "board", "done", "ship-the-checkout")
    assert [row["slug"] for row in as_json(capsys, "board")] == ["rest"]
    assert len(as_json(capsys, "board", "--all")) == 2
    assert "there are" in failed(capsys, "board", "drop", "nothing", status=1)
