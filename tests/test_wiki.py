"""The wiki as a session sees it: documents with line numbers, folders, sessions; now, and as they were."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from neosian import config, mounts, scope
from neosian.commits import UnknownRevision
from neosian.errors import NeosianError, UsageError
from neosian.memory import Memory, Writer
from neosian.paths import PathError
from neosian.scope import user_scope
from neosian.wiki import Missing, ReadOnly, Wiki
from tests.factories import OTHER, SESSION, Home, bytes_below, git, repository, subjects

SECRET = "AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"
TEXT = "---\ndescription: When we deploy\n---\n# Deploy\n\nWe deploy on Fridays.\n"


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """A home with a landed session and a document in each scope."""
    found = Home(tmp_path)
    found.talk().land("Where are we?")
    memory = Memory(wiki_of(found), Writer.of_session("claude-code", "s-1"))
    memory.create("/project/project/deploy.md", TEXT)
    memory.create("/user/profile/role.md", "# Baker\n")
    return found


@pytest.fixture
def wiki(home: Home) -> Wiki:
    return wiki_of(home)


def wiki_of(home: Home, *flags: str, cwd: Path | None = None) -> Wiki:
    settings = config.load(str(home.path))[0]
    return Wiki(str(home.path), mounts.layout(str(home.path), str(cwd or home.project), settings, flags))


def body_of(view: str) -> str:
    """What a view shows of a document, without its head."""
    return view.partition("\n")[2]


# -- documents


def test_a_document_has_line_numbers_and_says_who_changed_it(wiki: Wiki) -> None:
    head, *lines = wiki.view("/project/project/deploy.md").splitlines()
    assert head.startswith("/project/project/deploy.md (agent claude-code:s-1, ")
    assert lines[0] == "     1\t---"
    assert lines[-1] == "     6\tWe deploy on Fridays."


@pytest.mark.parametrize(
    "path", ["project/deploy.md", "/project//project/deploy.md", "/project/project/deploy.md/"]
)
def test_a_path_may_be_said_in_several_ways(path: str, wiki: Wiki) -> None:
    assert wiki.view(path).startswith("/project/project/deploy.md (")
    assert wiki.read(path) == TEXT.encode()


def test_what_is_to_be_known_of_a_document_stands_beside_its_name(home: Home, wiki: Wiki) -> None:
    home.committed("a.md", "---\npinned: true\nexpires: 2020-01-01\nflagged: wrong\n---\nbody\n")
    head = wiki.view("/project/a.md").splitlines()[0]
    assert head.endswith("pinned, expires 2020-01-01, flagged wrong)")
    assert "person Ada Person" in head


@pytest.mark.parametrize(
    ("lines", "first", "last"),
    [
        ((1, -1), 1, 6),
        ([2, 3], 2, 3),
        ((6, 6), 6, 6),
        ((5, 99), 5, 6),
        ([3, -1], 3, 6),
        ([], 1, 6),
        (None, 1, 6),
    ],
)
def test_a_range_of_lines_keeps_their_numbers(
    lines: Sequence[int] | None, first: int, last: int, wiki: Wiki
) -> None:
    shown = body_of(wiki.view("/project/project/deploy.md", lines)).splitlines()
    assert [int(line.partition("\t")[0]) for line in shown] == list(range(first, last + 1))


@pytest.mark.parametrize(
    "lines", [[0, 3], [3, 2], [7, 9], [7, -1], [-1, -1], [-3, -1], [1, -2], [1], [1, 2, 3]]
)
def test_a_range_that_is_none_is_told_the_one_there_is(lines: Sequence[int], wiki: Wiki) -> None:
    with pytest.raises(UsageError, match=r"has 6 lines: \[1, 6\]"):
        wiki.view("/project/project/deploy.md", lines)


@pytest.mark.parametrize(
    ("data", "lines"),
    [
        (b"", [""]),
        (b"\n", [""]),
        (b"one", ["one"]),
        (b"one\n\n", ["one", ""]),
        (b"\xef\xbb\xbfone\r\ntwo\rthree\n", ["one", "two", "three"]),
        (b"caf\xe9\n", ["caf\ufffd"]),
        ("a\u2028b\x0bc\x85\n".encode(), ["a\u2028b\x0bc\x85"]),
    ],
)
def test_any_bytes_are_shown_line_by_line(data: bytes, lines: list[str], home: Home, wiki: Wiki) -> None:
    (home.shop / "a.md").write_bytes(data)
    shown = body_of(wiki.view("/project/a.md"))
    assert shown == "\n".join(f"{number:6}\t{line}" for number, line in enumerate(lines, 1))


def test_an_edit_in_the_folder_is_seen_at_once(home: Home, wiki: Wiki) -> None:
    home.write("project/deploy.md", "just now", age=0)
    home.write("project/new.md", "# New\n", age=0)
    assert wiki.read("/project/project/deploy.md") == b"just now"
    assert "/project/project/new.md" in wiki.view("/project")


def test_on_another_branch_the_folder_is_shown_as_search_shows_it(home: Home, wiki: Wiki) -> None:
    git(home.shop, "checkout", "-q", "-b", "topic")
    home.committed("project/deploy.md", "on topic\n")
    assert wiki.read("/project/project/deploy.md") == b"on topic\n"


def test_a_file_of_the_folder_is_named_as_an_editor_names_it(home: Home, wiki: Wiki) -> None:
    assert wiki.read(str(home.shop / "project/deploy.md")) == TEXT.encode()


def test_another_project_may_be_read_and_not_written(home: Home, wiki: Wiki) -> None:
    home.talk(OTHER, cwd=repository(home.folder / "bank")).land("hello")
    bank = Path(home.store(f"{user_scope()}/proj:bank").path)
    home.write("heist.md", "At noon.\n", below=bank)
    assert wiki.read("/projects/bank/heist.md") == b"At noon.\n"
    assert "/projects/bank/heist.md" in wiki.view("/projects/bank")
    with pytest.raises(ReadOnly):
        Memory(wiki, Writer()).create("/projects/bank/x.md", "mine\n")
    with pytest.raises(UsageError):
        wiki.view("/projects/nothing")


def test_a_name_is_found_in_either_unicode_form(home: Home, wiki: Wiki) -> None:
    home.committed("cafe\u0301/menu.md", "soup\n")
    assert wiki.view("/project/café/menu.md").endswith("\tsoup")
    assert wiki.read("/project/cafe\u0301/menu.md", "main") == b"soup\n"


def test_another_case_is_another_path_and_the_one_there_is_named(wiki: Wiki) -> None:
    with pytest.raises(Missing, match=r"; there is /project/project/deploy\.md\.") as missing:
        wiki.view("/project/Project/Deploy.md")
    assert missing.value.hint == "neosian memory view /project/project/deploy.md"
    with pytest.raises(Missing) as missing:
        wiki.view("/project/Project/never.md")
    assert str(missing.value) == "There is no /project/Project/never.md."


# -- what is not there


@pytest.mark.parametrize(
    "path",
    ["/project/never.md", "/project/project/never.md", "/project/never", "/project/project/deploy.md/x.md"],
)
def test_a_path_with_nothing_at_it_is_said(path: str, wiki: Wiki) -> None:
    with pytest.raises(Missing, match=f"There is no {path}") as missing:
        wiki.view(path)
    assert missing.value.hint.startswith("neosian memory view /project")


def test_what_is_gone_is_said_with_the_commit_that_took_it(home: Home, wiki: Wiki) -> None:
    Memory(wiki, Writer()).rename("/project/project", "/project/how")
    commit = git(home.shop, "rev-parse", "--short=10", "main")
    for path in ("/project/project/deploy.md", "/project/project"):
        with pytest.raises(Missing, match=f"it went with {commit}, 'Rename project to how'") as missing:
            wiki.view(path)
        assert missing.value.hint == f"neosian log {path}"
    with pytest.raises(Missing, match="it went with"):
        wiki.read("/project/project/deploy.md")


def test_what_only_the_folder_lost_did_not_go_with_a_commit(home: Home, wiki: Wiki) -> None:
    (home.shop / "project/deploy.md").unlink()
    with pytest.raises(Missing) as missing:
        wiki.view("/project/project/deploy.md")
    assert "it went" not in str(missing.value)
    assert wiki.read("/project/project/deploy.md", "main") == TEXT.encode()


@pytest.mark.parametrize("path", ["/nowhere/x.md", "/projects", "/proj", "/etc/passwd"])
def test_a_path_below_no_mount_is_told_the_mounts(path: str, wiki: Wiki) -> None:
    with pytest.raises(UsageError, match="there are /user, /project"):
        wiki.view(path)


@pytest.mark.parametrize(
    "path",
    [
        "/project/../user/profile/role.md",
        "../x.md",
        "/project/.git/config",
        "/project/record/x",
        "/project/a\0.md",
    ],
)
def test_a_path_that_leads_elsewhere_is_refused(path: str, wiki: Wiki) -> None:
    with pytest.raises(PathError):
        wiki.view(path)


# -- folders


@pytest.mark.parametrize("path", ["/", "", "//"])
def test_the_top_lists_every_mount(path: str, home: Home, wiki: Wiki) -> None:
    shown = wiki.view(path)
    own = scope.user_scope()
    for line in (f"/user: {own}", f"/project: {own}/proj:shop"):
        assert line in shown.splitlines()
    assert "/project/project/deploy.md" in shown
    assert "When we deploy" in shown
    assert "/user/profile/role.md" in shown


def test_a_folder_lists_what_lies_below_it(home: Home, wiki: Wiki) -> None:
    home.committed("projects/other.md", "# Other\n")
    shown = wiki.view("/project/project")
    assert "/project/project/deploy.md" in shown
    assert "other.md" not in shown
    assert "role.md" not in wiki.view("/project")


def test_a_folder_lists_files_beside_a_skill_but_no_links(home: Home, wiki: Wiki, tmp_path: Path) -> None:
    home.committed("skills/ship/SKILL.md", "---\nname: ship\n---\nship it\n")
    home.committed("skills/ship/run.sh", "#!/bin/sh\n")
    (home.shop / "skills/ship/passwd").symlink_to("/etc/passwd")
    (home.shop / "skills/ship/.swp").write_text("")
    shown = wiki.view("/project/skills/ship")
    assert "- /project/skills/ship/run.sh" in shown.splitlines()
    assert "passwd" not in shown
    assert ".swp" not in shown
    assert wiki.view("/project/skills/ship/run.sh").endswith("     1\t#!/bin/sh")
    with pytest.raises(Missing):
        wiki.view("/project/skills/ship/passwd")


def test_a_read_only_mount_says_so(home: Home) -> None:
    own = scope.user_scope()
    shown = wiki_of(home, "--mount", f"/team={own}/proj:shop:ro", "--mount", f"/user={own}").view("/")
    assert f"/team (read-only): {own}/proj:shop" in shown.splitlines()


def test_a_scope_that_is_not_there_yet_holds_no_documents(tmp_path: Path) -> None:
    home = Home(tmp_path)
    wiki = wiki_of(home)
    assert "No documents yet." in wiki.view("/")
    assert "No documents yet." in wiki.view("/project")
    assert wiki.view("/project/sessions") == "No sessions yet."
    for path in ("/project/a.md", "/project/sessions/x", "a"):
        with pytest.raises(Missing):
            wiki.view(path)
    with pytest.raises(NeosianError):
        wiki.view("/project", at="main")
    assert bytes_below(home.path) == {}


# -- sessions


def test_the_sessions_are_listed_and_each_has_its_page(wiki: Wiki) -> None:
    for path in ("/project/sessions", "/project/sessions/", "sessions"):
        assert f"- /project/sessions/{SESSION} (claude-code, 1 turns" in wiki.view(path)
    for path in (f"/project/sessions/{SESSION}", f"sessions/{SESSION}.md"):
        assert "Where are we?" in wiki.view(path)
    assert body_of(wiki.view(f"/project/sessions/{SESSION}", [1, 1])) == "     1\t---"


@pytest.mark.parametrize("name", ["never", "../../etc/passwd", "x" * 5_000, "a\0b", "*"])
def test_a_session_that_is_not_there_is_said(name: str, wiki: Wiki) -> None:
    with pytest.raises((Missing, UsageError)):
        wiki.view(f"/project/sessions/{name}")
    with pytest.raises((Missing, UsageError)):
        wiki.read(f"/project/sessions/{name}")


# -- as they were


def test_a_document_is_shown_as_it_was(home: Home, wiki: Wiki) -> None:
    before = git(home.shop, "rev-parse", "main")
    memory = Memory(wiki, Writer())
    memory.str_replace("/project/project/deploy.md", "Fridays", "Mondays")
    memory.delete("/project/project/deploy.md")
    for at in (before, before[:8], "main~2"):
        shown = wiki.view("/project/project/deploy.md", at=at)
        assert shown.splitlines()[0] == f"/project/project/deploy.md (at {at})"
        assert shown.endswith("Fridays.")
    assert wiki.view("/project/project/deploy.md", [6, 6], "main~1").endswith("Mondays.")
    with pytest.raises(Missing, match=r"no /project/project/deploy\.md at main"):
        wiki.view("/project/project/deploy.md", at="main")
    with pytest.raises(Missing, match="at main"):
        wiki.read("/project/project/deploy.md", "main")


def test_a_folder_is_listed_as_it_was(home: Home, wiki: Wiki) -> None:
    Memory(wiki, Writer()).rename("/project/project", "/project/how")
    assert wiki.view("/project/project", at="main~1") == "- /project/project/deploy.md: When we deploy"
    assert wiki.view("/project", at="main") == "- /project/how/deploy.md: When we deploy"
    with pytest.raises(Missing):
        wiki.view("/project/project", at="main")


@pytest.mark.parametrize(
    "at", ["nothing", "", "--help", "-1", "main:README.md", "main..main~1", "a b", "\udce9", "x\ny", "0" * 40]
)
def test_a_revision_that_is_none_is_said(at: str, wiki: Wiki) -> None:
    for path in ("/project/project/deploy.md", "/project"):
        with pytest.raises(UnknownRevision):
            wiki.view(path, at=at)


# -- secrets and links


def test_a_secret_is_shown_neither_now_nor_as_it_was(home: Home, wiki: Wiki) -> None:
    home.committed("keys.md", f"{SECRET}\n")
    home.committed("project/deploy.md", f"{SECRET}\n")
    home.committed("project/deploy.md", "clean again\n")
    for path, at in (("keys.md", None), ("keys.md", "main"), ("project/deploy.md", "main~1")):
        for act in (wiki.view, wiki.read):
            with pytest.raises(NeosianError, match="looks like a secret"):
                act(f"/project/{path}", at=at)
    assert wiki.read("/project/project/deploy.md") == b"clean again\n"


def test_a_document_that_waits_for_its_secret_is_not_listed(home: Home, wiki: Wiki) -> None:
    home.write("keys.md", f"---\ndescription: {SECRET}\n---\n")
    home.write("project/deploy.md", f"---\ndescription: {SECRET}\n---\n")
    home.talk().land("Again")
    shown = wiki.view("/")
    assert "wJalr" not in shown
    assert "keys.md" not in shown


def test_a_link_in_git_is_not_read_at_a_revision(home: Home, wiki: Wiki) -> None:
    (home.shop / "b.md").symlink_to("/etc/passwd")
    git(home.shop, "add", "b.md")
    git(home.shop, "commit", "-qm", "Link")
    assert subjects(home.shop)[0] == "Link"
    for at in (None, "main"):
        with pytest.raises(Missing):
            wiki.view("/project/b.md", at=at)
