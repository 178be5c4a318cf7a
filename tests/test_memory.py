"""Documents changed through the verbs: one commit an act, checked against what is there, and nothing of anybody lost."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from neosian import adopt, config, mounts, revert, scope
from neosian.adopting import Adopter
from neosian.errors import BrokenStoreError, NeosianError, UsageError
from neosian.index import Index
from neosian.memory import DOCUMENT_MOST, Conflict, Memory, Unlanded, Writer
from neosian.paths import PathError, Twin
from neosian.wiki import Missing, ReadOnly, Wiki
from tests.factories import Home, aged, bytes_below, fsck, git, status, subjects, trailers

ADA = "Ada Person <ada@example.org>"
AGENT = Writer.of_session("claude-code", "s-1")
SECRET = "AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"
DEPLOY = "# Deploy\n\nWe deploy on Fridays.\n"
A, B = "/project/a.md", "/project/b.md"


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """A home in which both scopes were made; each is whole and clean when its test is over."""
    found = Home(tmp_path)
    memory_of(found).create(A, DEPLOY)
    return found


@pytest.fixture
def memory(home: Home) -> Memory:
    return memory_of(home)


def memory_of(home: Home, writer: Writer = AGENT, *flags: str, patience: float = 0.3) -> Memory:
    """The memory of a session in the project."""
    seen = mounts.layout(str(home.path), str(home.project), config.load(str(home.path))[0], flags)
    return Memory(Wiki(str(home.path), seen), writer, patience=patience)


def tip(home: Home, below: Path | None = None) -> str:
    return git(below or home.shop, "rev-parse", "main")


def author(folder: Path, rev: str = "main") -> str:
    return git(folder, "log", "-1", "--format=%an <%ae>", rev)


def is_whole(*folders: Path) -> bool:
    """Whether these scopes are sound, and their folders show what main holds."""
    return [(status(folder), fsck(folder)) for folder in folders] == [("", "")] * len(folders)


def flags_of(home: Home, path: str = "a.md") -> str:
    """What the index says against a document."""
    store = home.store()
    with Index.open(store.cache) as index:
        index.catch_up(store.repo, None)
        store.repo.close()
        return next(entry.flagged for entry in index.documents() if entry.path == path)


# -- each verb


Act = Callable[[Memory], object]
ACTS: dict[str, tuple[Act, str, dict[str, str | None]]] = {
    "create": (lambda m: m.create(B, "new\n"), "Create b.md", {"b.md": "new\n"}),
    "create in folders": (lambda m: m.create("/project/x/y/z.md", "new\n"), "Create x/y/z.md", {"x/y/z.md": "new\n"}),
    "create from here": (lambda m: m.create("tools/x.md", "new\n"), "Create tools/x.md", {"tools/x.md": "new\n"}),
    "str_replace": (lambda m: m.str_replace(A, "Fridays", "Mondays"), "Edit a.md", {"a.md": DEPLOY.replace("Fri", "Mon")}),
    "insert": (lambda m: m.insert(A, 3, "Never alone."), "Edit a.md", {"a.md": DEPLOY + "Never alone.\n"}),
    "rewrite": (lambda m: m.rewrite(A, b"other\r\n", DEPLOY.encode()), "Edit a.md", {"a.md": "other\r\n"}),
    "delete": (lambda m: m.delete(A), "Delete a.md", {"a.md": None}),
    "rename": (lambda m: m.rename(A, "/project/how/b.md"), "Rename a.md to how/b.md", {"a.md": None, "how/b.md": DEPLOY}),
    "pin": (lambda m: m.pin(A), "Pin a.md", {"a.md": "---\npinned: true\n---\n" + DEPLOY}),
    "flag": (
        lambda m: m.flag(A, "stale", " it is\nThursdays: now "),
        "Flag a.md",
        {"a.md": '---\nflagged: "stale: it is Thursdays: now (said of 57d2be2c)"\n---\n' + DEPLOY},
    ),
}  # fmt: skip


@pytest.mark.parametrize(("act", "subject", "files"), ACTS.values(), ids=ACTS)
def test_an_act_is_one_commit_under_who_did_it(
    act: Act, subject: str, files: dict[str, str | None], home: Home, memory: Memory
) -> None:
    before = tip(home)
    done = act(memory)
    assert git(home.shop, "rev-list", f"{before}..main") == tip(home)
    assert subjects(home.shop)[0] == subject
    assert author(home.shop) == "claude-code:s-1 <claude-code@neosian.invalid>"
    assert trailers(home.shop) == {
        "Neosian-Act": "memory", "Neosian-Actor": "claude-code:s-1", "Client": "claude-code", "Conversation": "s-1",
    }  # fmt: skip
    assert getattr(done, "commit") == tip(home)  # noqa: B009 - every act gives one back
    for path, text in files.items():
        full = home.shop / path
        assert (full.read_bytes().decode() if full.exists() else None) == text
    assert is_whole(home.shop, home.user)


def test_a_person_and_a_client_without_a_session_sign_with_their_names(home: Home) -> None:
    memory_of(home, Writer()).create(B, "mine\n")
    assert author(home.shop) == ADA
    assert trailers(home.shop) == {"Neosian-Act": "memory", "Neosian-Actor": "Ada Person"}
    memory_of(home, Writer.of_client("Claude Desktop")).delete(B)
    assert author(home.shop) == "mcp:claude-desktop <claude-desktop@neosian.invalid>"
    assert trailers(home.shop)["Client"] == "claude-desktop"


SAME: dict[str, Act] = {
    "create": lambda m: m.create(A, DEPLOY.replace("\n", "\r\n")),
    "str_replace": lambda m: m.str_replace(A, "Fridays", "Fridays"),
    "rewrite": lambda m: m.rewrite(A, DEPLOY.encode(), b"whatever"),
    "unpin": lambda m: m.pin(A, False),
    "unflag": lambda m: m.unflag(A),
}


@pytest.mark.parametrize("act", SAME.values(), ids=SAME)
def test_what_is_so_already_is_no_commit(act: Act, home: Home, memory: Memory) -> None:
    before = tip(home)
    assert getattr(act(memory), "commit") is None  # noqa: B009
    assert tip(home) == before


def test_taking_back_gives_the_same_bytes(home: Home, memory: Memory) -> None:
    data = b"\xef\xbb\xbf---\r\ntitle: 'Deploy' # why\r\n---\r\nbody\r\n\xff"
    memory.rewrite(A, data, DEPLOY.encode())
    memory.pin(A)
    memory.pin(A)
    memory.flag(A, "wrong")
    memory.flag(A, "stale", "since May")
    memory.unflag(A)
    memory.pin(A, False)
    assert (home.shop / "a.md").read_bytes() == data
    assert is_whole(home.shop)


def test_what_a_person_says_of_a_key_stays_as_they_write_it(home: Home, memory: Memory) -> None:
    home.committed("b.md", "---\npinned: no # never\n---\nbody\n")
    assert memory.pin(B, False).commit is None
    home.committed("b.md", "---\nPinned: yes\n---\nbody\n")
    assert memory.pin(B).commit is None


def test_a_folder_is_moved_and_deleted_whole(home: Home, memory: Memory) -> None:
    memory.create("/project/skills/ship/SKILL.md", "ship it\n")
    script = home.committed("skills/ship/run.sh", "#!/bin/sh\n")
    script.chmod(0o700)
    git(home.shop, "commit", "-qam", "Make it run")
    memory.rename("/project/skills/ship", "/project/skills/release")
    assert not (home.shop / "skills/ship").exists()
    assert os.access(home.shop / "skills/release/run.sh", os.X_OK)
    assert is_whole(home.shop)
    memory.rename("/project/skills/release", "/project/skills/ship")
    memory.delete("/project/skills")
    assert not (home.shop / "skills").exists()
    assert is_whole(home.shop)


def test_a_document_that_may_be_run_stays_so_when_it_is_edited(home: Home, memory: Memory) -> None:
    (home.shop / "a.md").chmod(0o700)
    git(home.shop, "commit", "-qam", "Make it run")
    memory.str_replace(A, "Fridays", "Mondays")
    assert os.access(home.shop / "a.md", os.X_OK)
    assert is_whole(home.shop)


def test_a_document_moves_from_one_mount_to_another(home: Home, memory: Memory) -> None:
    memory.rename(A, "/user/profile/deploy.md")
    assert (home.user / "profile/deploy.md").read_text() == DEPLOY
    assert not (home.shop / "a.md").exists()
    for folder in (home.shop, home.user):
        assert subjects(folder)[0] == "Move /project/a.md to /user/profile/deploy.md"
    assert is_whole(home.shop, home.user)


def test_a_folder_moves_from_one_mount_to_another(home: Home, memory: Memory) -> None:
    for name in ("x.md", "y/z.md"):
        memory.create(f"/project/how/{name}", f"{name}\n")
    memory.rename("/project/how", "/user/ways/how")
    assert (home.user / "ways/how/y/z.md").read_text() == "y/z.md\n"
    assert not (home.shop / "how").exists()
    assert is_whole(home.shop, home.user)


def test_a_scope_that_is_not_there_is_made_for_its_first_document(tmp_path: Path) -> None:
    home = Home(tmp_path)
    assert memory_of(home).create("/user/profile/role.md", "baker\n").commit == tip(home, home.user)
    assert not home.shop.exists()
    memory_of(home).create(A, "new\n")
    assert is_whole(home.shop, home.user)
    assert 'slug = "shop"' in (home.user / "projects.toml").read_text()


@pytest.mark.parametrize("act", [act for name, (act, _, _) in ACTS.items() if not name.startswith("create")])
def test_nothing_is_made_for_a_document_that_cannot_be_there(act: Act, tmp_path: Path) -> None:
    home = Home(tmp_path)
    with pytest.raises(Missing):
        act(memory_of(home))
    assert not home.shop.exists()


# -- what is refused


def contents(memory: Memory) -> dict[str, bytes]:
    """All that lies in the scopes and their repositories, but for what neosian notes for itself."""
    return {
        f"{place}/{path}": data
        for place in memory.wiki.mounts
        for path, data in bytes_below(Path(place.store.path)).items()
        if not path.startswith(".git/neosian/")
    }


def refused(memory: Memory, act: Act, kind: type[NeosianError], *said: str) -> NeosianError:
    """The error of an act that must change nothing."""
    before = contents(memory)
    with pytest.raises(kind) as error:
        act(memory)
    assert contents(memory) == before
    for word in said:
        assert word in str(error.value)
    return error.value


@pytest.mark.parametrize(
    "path",
    [
        "/project/../user/x.md", "../x.md", "/project/record/2026-11/x.md", "/project/sessions/x.md",
        "/project/sessions", "sessions/x.md",
        "/project/README.md", "/project/.git/config", "/project/.gitattributes", "/project/a:b.md", "/project/con.md",
        "/project/git~1/x.md", "/project/x\u200b.md", "/project/a\udce9.md", "/project/" + "x/" * 500 + "a.md",
    ],
)  # fmt: skip
def test_a_path_that_no_document_can_have_is_refused_by_every_verb(path: str, memory: Memory) -> None:
    acts: list[Act] = [
        lambda m: m.create(path, "x"), lambda m: m.str_replace(path, "x", "y"), lambda m: m.insert(path, 0, "x"),
        lambda m: m.rewrite(path, b"x", b"y"), lambda m: m.delete(path), lambda m: m.rename(path, B),
        lambda m: m.rename(A, path), lambda m: m.pin(path), lambda m: m.flag(path, "stale"),
    ]  # fmt: skip
    for act in acts:
        refused(memory, act, PathError)


@pytest.mark.parametrize(
    "path", ["/", "", "/nowhere/x.md", "/projects/x.md", "/etc/passwd", "/project", "/user/"]
)
def test_a_path_outside_the_mounts_and_a_whole_mount_are_refused(path: str, memory: Memory) -> None:
    acts: list[Act] = [
        lambda m: m.create(path, "x"),
        lambda m: m.delete(path),
        lambda m: m.rename(path, B),
        lambda m: m.rename(A, path),
    ]
    for act in acts:
        refused(memory, act, UsageError)


def test_what_is_no_document_is_not_written(memory: Memory) -> None:
    acts: list[Act] = [
        lambda m: m.create("/project/notes.txt", "x"), lambda m: m.create("/project/notes", "x"),
        lambda m: m.rename(A, "/project/a.txt"), lambda m: m.str_replace("/project/projects.toml", "a", "b"),
    ]  # fmt: skip
    for act in acts:
        refused(memory, act, PathError, "markdown")


def test_a_read_only_mount_is_read_and_not_written(home: Home) -> None:
    own = scope.user_scope()
    memory = memory_of(home, AGENT, "--mount", f"/team={own}/proj:shop:ro", "--mount", f"/user={own}")
    assert memory.wiki.read("/team/a.md") == DEPLOY.encode()
    acts: list[Act] = [
        lambda m: m.create("/team/b.md", "x"), lambda m: m.str_replace("/team/a.md", "Fridays", "x"),
        lambda m: m.insert("/team/a.md", 0, "x"), lambda m: m.rewrite("/team/a.md", b"x", DEPLOY.encode()),
        lambda m: m.delete("/team/a.md"), lambda m: m.rename("/team/a.md", "/user/a.md"), lambda m: m.pin("/team/a.md"),
        lambda m: m.flag("/team/a.md", "stale"), lambda m: m.unflag("/team/a.md"),
    ]  # fmt: skip
    for act in acts:
        refused(memory, act, ReadOnly, "/team is mounted read-only")
    refused(memory, lambda m: m.rename("/user/projects.toml", "/team/x.toml"), ReadOnly)


def test_a_twin_by_case_is_refused_wherever_it_would_lie(memory: Memory) -> None:
    memory.create("/project/tools/bash.md", "x\n")
    acts: list[Act] = [
        lambda m: m.create("/project/A.md", "y"), lambda m: m.create("/project/Tools/new.md", "y"),
        lambda m: m.create("/project/tools/BASH.md", "y"),
    ]  # fmt: skip
    for act in acts:
        refused(memory, act, Twin, "upper and lower case")
    refused(memory, lambda m: m.rename(A, "/project/TOOLS/a.md"), Twin)
    refused(memory, lambda m: m.delete("/project/A.md"), Twin)


def test_a_name_in_another_unicode_form_is_the_same_document(home: Home, memory: Memory) -> None:
    home.committed("cafe\u0301/me\u0301nu.md", "soup\n")
    memory.str_replace("/project/café/ménu.md", "soup", "stew")
    assert (home.shop / "cafe\u0301/me\u0301nu.md").read_text() == "stew\n"
    refused(memory, lambda m: m.create("/project/café/ménu.md", "x"), Conflict)
    assert memory.wiki.read("/project/café/ménu.md") == b"stew\n"
    assert is_whole(home.shop)


CONFLICTS: dict[str, tuple[Act, Sequence[str]]] = {
    "create": (lambda m: m.create(A, "another text"), ["exists already", "We deploy on Fridays.", "another text"]),
    "str_replace": (lambda m: m.str_replace(A, "Sundays", "Mondays"), ["word for word", "Fridays", "Sundays", "Mondays"]),
    "str_replace twice": (lambda m: m.str_replace(A, "eploy", "x"), ["2 times (lines 1, 3)", "Fridays"]),
    "insert": (lambda m: m.insert(A, 9, "a line"), ["0 to 3", "Fridays", "a line"]),
    "rewrite": (lambda m: m.rewrite(A, b"mine", b"seen"), ["has changed since", "Fridays", "mine"]),
    "rename": (lambda m: m.rename(A, "/project/a.md"), []),
    "rename to another": (lambda m: m.rename(A, "/project/c.md"), ["exists already", "a third"]),
    "rename to a folder": (lambda m: m.rename("/project/d", "/project/e"), ["exists already", "(a folder)"]),
    "rename to another mount": (lambda m: m.rename(A, "/user/c.md"), ["exists already", "of the user"]),
}  # fmt: skip


@pytest.mark.parametrize(("act", "said"), CONFLICTS.values(), ids=CONFLICTS)
def test_a_conflict_holds_both_texts_and_writes_nothing(
    act: Act, said: Sequence[str], memory: Memory
) -> None:
    for path, text in (
        ("/project/c.md", "a third"),
        ("/project/d/x.md", ""),
        ("/project/e/x.md", ""),
        ("/user/c.md", "of the user"),
    ):
        memory.create(path, text)
    error = refused(memory, act, NeosianError, *said)
    assert not said or isinstance(error, Conflict)


def test_a_long_text_in_a_conflict_is_cut(memory: Memory) -> None:
    error = refused(memory, lambda m: m.create(A, "x" * 100_000), Conflict, "92,000 more characters")
    assert len(str(error)) < 20_000


def test_nothing_lies_below_a_document_and_none_is_a_folder(home: Home, memory: Memory) -> None:
    memory.create("/project/how/x.md", "x\n")
    acts: list[Act] = [
        lambda m: m.create("/project/a.md/b.md", "x"),
        lambda m: m.rename("/project/how/x.md", "/project/a.md/b.md"),
        lambda m: m.rename("/project/how", "/project/a.md/b"),
        lambda m: m.rename("/project/how", "/project/how/deeper"),
        lambda m: m.rename("/project/how/x.md", "/project/how/x.md/y.md"),
    ]
    for act in acts:
        refused(memory, act, NeosianError)
    memory.create("/project/f.md/x.md", "a folder of that name\n")
    refused(memory, lambda m: m.create("/project/f.md", "x"), NeosianError, "is a folder")
    refused(memory, lambda m: m.str_replace("/project/f.md", "x", "y"), NeosianError)
    assert is_whole(home.shop)


def test_a_file_in_the_way_of_a_folder_is_said(home: Home, memory: Memory) -> None:
    home.write("tools", "a file that is no document\n")
    refused(memory, lambda m: m.create("/project/tools/x.md", "x"), NeosianError, "not written through")
    (home.shop / "tools").unlink()
    memory.create("/project/tools/x.md", "x")
    assert is_whole(home.shop)


def test_what_is_missing_is_said_with_the_commit_that_took_it(memory: Memory) -> None:
    memory.delete(A)
    acts: list[Act] = [
        lambda m: m.str_replace(A, "x", "y"), lambda m: m.insert(A, 0, "x"), lambda m: m.rewrite(A, b"x", DEPLOY.encode()),
        lambda m: m.delete(A), lambda m: m.rename(A, B), lambda m: m.rename(A, "/user/b.md"), lambda m: m.pin(A),
        lambda m: m.pin(A, False), lambda m: m.flag(A, "wrong"),
    ]  # fmt: skip
    for act in acts:
        refused(memory, act, Missing, "'Delete a.md'")
    refused(memory, lambda m: m.delete("/project/never"), Missing)


def test_a_flag_is_stale_or_wrong(memory: Memory) -> None:
    refused(memory, lambda m: m.flag(A, "ugly"), UsageError, "stale or wrong")


def test_a_document_has_a_size(memory: Memory) -> None:
    refused(memory, lambda m: m.create(B, "x" * (DOCUMENT_MOST + 1)), NeosianError, "1,000,000")
    memory.create(B, "x" * (DOCUMENT_MOST - 5))
    refused(memory, lambda m: m.insert(B, 1, "too much"), NeosianError, "1,000,000")


@pytest.mark.parametrize("text", [SECRET, "<private>the code is 4711</private>"])
def test_a_secret_reaches_neither_folder_nor_git(text: str, home: Home, memory: Memory) -> None:
    acts: list[Act] = [
        lambda m: m.create(B, f"x\n{text}\n"), lambda m: m.str_replace(A, "Fridays", text), lambda m: m.insert(A, 1, text),
        lambda m: m.rewrite(A, text.encode(), DEPLOY.encode()), lambda m: m.flag(A, "stale", text),
    ]  # fmt: skip
    for act in acts:
        refused(memory, act, NeosianError, "what looks like a secret")
    assert git(home.shop, "log", "-p", "--all", f"-S{text}") == ""


def test_a_secret_that_a_person_committed_is_not_shown_in_a_conflict(home: Home, memory: Memory) -> None:
    home.committed("b.md", f"{SECRET}\n")
    acts: list[Act] = [
        lambda m: m.create(B, "x"),
        lambda m: m.str_replace(B, "no", "x"),
        lambda m: m.rewrite(B, b"x", b"y"),
        lambda m: m.rename(A, B),
    ]
    for act in acts:
        assert "wJalr" not in str(refused(memory, act, Conflict, "is not shown"))
    refused(memory, lambda m: m.insert(B, 0, "x"), NeosianError, "secret")


# -- beside a person


def test_a_persons_saved_edit_is_adopted_first(home: Home, memory: Memory) -> None:
    home.write("a.md", DEPLOY + "By hand.\n")
    home.write("new/b.md", "theirs\n")
    memory.str_replace(A, "Fridays", "Mondays")
    assert (home.shop / "a.md").read_text() == DEPLOY.replace("Fri", "Mon") + "By hand.\n"
    assert subjects(home.shop)[:2] == ["Edit a.md", "Edit 2 documents"]
    assert author(home.shop, "main~1") == ADA
    assert is_whole(home.shop)


def test_a_persons_new_document_is_no_place_for_another(home: Home, memory: Memory) -> None:
    home.write("b.md", "theirs\n")
    with pytest.raises(Conflict, match="theirs"):
        memory.create(B, "mine\n")
    assert (home.shop / "b.md").read_text() == "theirs\n"


def test_an_edit_of_what_a_person_changed_since_is_a_conflict(home: Home, memory: Memory) -> None:
    home.write("a.md", "all new\n")
    acts: list[Act] = [
        lambda m: m.str_replace(A, "Fridays", "x"),
        lambda m: m.rewrite(A, b"x", DEPLOY.encode()),
    ]
    for act in acts:
        with pytest.raises(Conflict, match="all new"):
            act(memory)
    assert (home.shop / "a.md").read_text() == "all new\n"


def test_a_persons_deletion_is_adopted_first(home: Home, memory: Memory) -> None:
    (home.shop / "a.md").unlink()
    aged(home.shop)
    with pytest.raises(Missing):
        memory.str_replace(A, "Fridays", "x")
    memory.create(A, "again\n")
    assert subjects(home.shop)[:2] == ["Create a.md", "Delete a.md"]
    assert is_whole(home.shop)


TOUCHING: dict[str, Act] = {
    "create": lambda m: m.create(A, "x"), "str_replace": lambda m: m.str_replace(A, "Fridays", "x"),
    "insert": lambda m: m.insert(A, 0, "x"), "rewrite": lambda m: m.rewrite(A, b"x", DEPLOY.encode()),
    "delete": lambda m: m.delete(A), "rename": lambda m: m.rename(A, B), "move": lambda m: m.rename(A, "/user/a.md"),
    "pin": lambda m: m.pin(A), "flag": lambda m: m.flag(A, "stale"),
}  # fmt: skip


@pytest.mark.parametrize("act", TOUCHING.values(), ids=TOUCHING)
def test_what_a_person_is_writing_is_left_to_them(act: Act, home: Home, memory: Memory) -> None:
    home.write("a.md", DEPLOY + "half a sent", age=-1.5)
    refused(memory, act, Unlanded, "being edited")
    assert (home.shop / "a.md").read_text() == DEPLOY + "half a sent"


@pytest.mark.parametrize("act", TOUCHING.values(), ids=TOUCHING)
def test_what_a_person_has_staged_is_left_to_them(act: Act, home: Home, memory: Memory) -> None:
    home.write("a.md", DEPLOY + "staged\n")
    git(home.shop, "add", "a.md")
    refused(memory, act, Unlanded, "staged")
    assert git(home.shop, "diff", "--cached", "--name-only") == "a.md"


@pytest.mark.parametrize("act", TOUCHING.values(), ids=TOUCHING)
def test_what_waits_for_its_secret_is_not_written_over(act: Act, home: Home, memory: Memory) -> None:
    home.write("a.md", DEPLOY + SECRET)
    refused(memory, act, Unlanded, "holds a secret")


def test_a_save_is_waited_for(home: Home) -> None:
    home.write("a.md", DEPLOY + "just now\n", age=1.5)
    memory_of(home, patience=10).str_replace(A, "Fridays", "Mondays")
    assert (home.shop / "a.md").read_text() == DEPLOY.replace("Fri", "Mon") + "just now\n"
    assert is_whole(home.shop)


def test_another_document_is_written_beside_one_that_is_edited(home: Home, memory: Memory) -> None:
    home.write("a.md", "half a sent", age=-1.5)
    memory.create(B, "x\n")
    assert (home.shop / "a.md").read_text() == "half a sent"
    assert status(home.shop) == "M a.md".rjust(7)


def test_a_folder_with_a_document_being_edited_is_neither_moved_nor_deleted(
    home: Home, memory: Memory
) -> None:
    for name in ("x.md", "y.md"):
        memory.create(f"/project/how/{name}", "text\n")
    home.write("how/y.md", "half a sent", age=-1.5)
    acts: list[Act] = [
        lambda m: m.delete("/project/how"),
        lambda m: m.rename("/project/how", "/project/ways"),
        lambda m: m.rename("/project/how", "/user/how"),
    ]
    for act in acts:
        refused(memory, act, Unlanded, "how/y.md")


def test_new_files_of_a_person_stay_when_their_folder_goes(home: Home, memory: Memory) -> None:
    memory.create("/project/how/x.md", "text\n")
    home.write("how/draft.md", "half a sent", age=-1.5)
    memory.delete("/project/how")
    assert [path.name for path in (home.shop / "how").iterdir()] == ["draft.md"]


def conflicting(home: Home) -> None:
    """A merge that waits for its person: a.md has both sides, other.md came from theirs."""
    git(home.shop, "checkout", "-q", "-b", "topic")
    home.committed("a.md", "theirs\n")
    git(home.shop, "checkout", "-q", "main")
    home.committed("a.md", "mine\n")
    git(home.shop, "merge", "topic", check=False)


def test_during_a_merge_what_it_holds_is_left_to_the_person(home: Home, memory: Memory) -> None:
    memory.create(B, "text\n")
    conflicting(home)
    refused(memory, lambda m: m.str_replace(A, "mine", "x"), Unlanded, "merge")
    memory.str_replace(B, "text", "other text")
    home.write("a.md", "both\n")
    git(home.shop, "commit", "-qam", "Merge topic")
    assert git(home.shop, "show", "main:b.md") == "other text"
    assert git(home.shop, "show", "main:a.md") == "both"
    assert is_whole(home.shop)


def test_on_another_branch_main_is_written_and_the_folder_left_alone(home: Home, memory: Memory) -> None:
    git(home.shop, "checkout", "-q", "-b", "topic")
    home.write("a.md", "on topic\n")
    memory.str_replace(A, "Fridays", "Mondays")
    memory.create(B, "text\n")
    assert git(home.shop, "show", "main:a.md") == DEPLOY.replace("Fri", "Mon").rstrip("\n")
    assert (home.shop / "a.md").read_text() == "on topic\n"
    assert not (home.shop / "b.md").exists()
    home.write("a.md", DEPLOY)
    git(home.shop, "checkout", "-q", "main")
    assert is_whole(home.shop)


def test_a_held_index_is_waited_for_and_said(home: Home, memory: Memory) -> None:
    (home.shop / ".git/index.lock").write_text("")
    with pytest.raises(NeosianError, match=r"index\.lock"):
        memory.str_replace(A, "Fridays", "x")
    (home.shop / ".git/index.lock").unlink()
    assert (home.shop / "a.md").read_text() == DEPLOY
    assert is_whole(home.shop)


def test_a_scope_that_lost_its_main_is_not_begun_anew(home: Home, memory: Memory) -> None:
    (home.shop / ".git/refs/heads/main").unlink()
    with pytest.raises(BrokenStoreError):
        memory.create(B, "x")
    assert not (home.shop / ".git/refs/heads/main").exists()


# -- links


def test_a_linked_document_is_neither_read_nor_written(home: Home, memory: Memory, tmp_path: Path) -> None:
    outside = tmp_path / "outside.md"
    outside.write_text("private\n")
    (home.shop / "b.md").symlink_to(outside)
    for committed in (False, True):
        if committed:
            git(home.shop, "add", "b.md")
            git(home.shop, "commit", "-qm", "Link")
        acts: list[Act] = [
            lambda m: m.create(B, "x"), lambda m: m.str_replace(B, "private", "x"), lambda m: m.insert(B, 0, "x"),
            lambda m: m.rewrite(B, b"x", b"private\n"), lambda m: m.pin(B), lambda m: m.rename(A, B), lambda m: m.delete(B),
        ]  # fmt: skip
        for act in acts:
            with pytest.raises(NeosianError):
                act(memory)
        with pytest.raises(Missing):
            memory.wiki.read(B)
    assert outside.read_text() == "private\n"
    assert (home.shop / "b.md").is_symlink()


def test_a_link_in_git_is_not_written_through_from_another_branch(home: Home, memory: Memory) -> None:
    (home.shop / "b.md").symlink_to("a.md")
    git(home.shop, "add", "b.md")
    git(home.shop, "commit", "-qm", "Link")
    git(home.shop, "checkout", "-q", "-b", "topic")
    acts: list[Act] = [
        lambda m: m.create(B, "x"),
        lambda m: m.str_replace(B, "a", "x"),
        lambda m: m.rewrite(B, b"x", b"a.md"),
        lambda m: m.delete(B),
    ]
    for act in acts:
        refused(memory, act, NeosianError)
    with pytest.raises(Missing):
        memory.wiki.read(B)


@pytest.mark.parametrize("held", [False, True])
def test_a_linked_folder_is_neither_read_nor_written_through(
    held: bool, home: Home, memory: Memory, tmp_path: Path
) -> None:
    if held:
        memory.create("/project/tools/x.md", "ours\n")
        (home.shop / "tools/x.md").unlink()
        (home.shop / "tools").rmdir()
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "x.md").write_text("private\n")
    (outside / "y.txt").write_text("private\n")
    aged(outside / "x.md")
    (home.shop / "tools").symlink_to(outside, target_is_directory=True)
    acts: list[Act] = [
        lambda m: m.create("/project/tools/new.md", "x"), lambda m: m.create("/project/tools/x.md", "x"),
        lambda m: m.str_replace("/project/tools/x.md", "private", "x"), lambda m: m.delete("/project/tools/x.md"),
        lambda m: m.delete("/project/tools"), lambda m: m.rename(A, "/project/tools/a.md"),
        lambda m: m.rename("/project/tools/x.md", B),
    ]  # fmt: skip
    for act in acts:
        with pytest.raises(NeosianError):
            act(memory)
    with pytest.raises(Missing):
        memory.wiki.read("/project/tools/x.md")
    with pytest.raises(Missing):
        memory.wiki.view("/project/tools")
    memory.create(B, "x\n")
    assert {path.name: path.read_text() for path in outside.iterdir()} == {
        "x.md": "private\n",
        "y.txt": "private\n",
    }
    assert "private" not in git(home.shop, "log", "-p", "--all")


def test_a_linked_store_works(home: Home, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    os.rename(home.shop, elsewhere)
    Path(home.path, "scopes", os.path.basename(home.store().repo.path)).exists()
    (home.path / "scopes" / f"{scope.disk_name(home.store().scope)}").symlink_to(
        elsewhere, target_is_directory=True
    )
    memory_of(home).str_replace(A, "Fridays", "Mondays")
    memory_of(home).create("/project/x/b.md", "x\n")
    assert "Mondays" in memory_of(home).wiki.view(A)
    assert (elsewhere / "x/b.md").read_text() == "x\n"
    assert is_whole(elsewhere)


# -- flags


def test_a_flag_is_shown_until_the_document_changes_through_the_verbs(home: Home, memory: Memory) -> None:
    edits: list[Callable[[], object]] = [
        lambda: memory.str_replace(A, "Fridays", "Mondays"), lambda: memory.insert(A, 4, "x"),
        lambda: memory.rewrite(A, (home.shop / "a.md").read_bytes() + b"y\n", (home.shop / "a.md").read_bytes()),
    ]  # fmt: skip
    for edit in edits:
        memory.flag(A, "stale", "see the calendar")
        assert flags_of(home) == "stale: see the calendar"
        edit()
        assert flags_of(home) == ""
        assert b"flagged" not in (home.shop / "a.md").read_bytes()
    assert is_whole(home.shop)


def test_a_flag_is_shown_until_anybody_changed_the_document(home: Home, memory: Memory) -> None:
    memory.flag(A, "wrong")
    memory.pin(A)
    assert flags_of(home) == "wrong"
    home.write("a.md", (home.shop / "a.md").read_text() + "Corrected.\n")
    memory.create(B, "x\n")
    assert flags_of(home) == ""
    memory.pin(A, False)
    assert flags_of(home) == ""
    memory.flag(A, "stale")
    assert flags_of(home) == "stale"


def test_a_flag_that_an_edit_sets_itself_stays(home: Home, memory: Memory) -> None:
    memory.flag(A, "stale")
    line = (home.shop / "a.md").read_text().splitlines()[1]
    memory.str_replace(A, line, "flagged: wrong")
    assert flags_of(home) == "wrong"


def test_a_flag_stands_again_when_the_change_is_taken_back(home: Home, memory: Memory) -> None:
    memory.flag(A, "stale")
    edited = memory.str_replace(A, "Fridays", "Mondays").commit
    assert flags_of(home) == ""
    revert.take_back(home.store(), str(edited), adopt.person(0), Adopter(str(home.path)).named_by)
    assert flags_of(home) == "stale"


def test_a_flag_that_moved_with_its_document_is_answered_by_an_edit_of_the_folder(
    home: Home, memory: Memory
) -> None:
    memory.flag(A, "stale")
    memory.rename(A, "/project/c.md")
    full = home.shop / "c.md"
    full.write_text(full.read_text().replace("Fridays", "Mondays"))
    aged(full)
    assert [entry.flagged for entry in memory.wiki.entries(memory.wiki.turns) if entry.path == "c.md"] == [""]


def test_a_persons_own_flag_is_shown(home: Home, memory: Memory) -> None:
    home.write("a.md", "---\nflagged: yes\n---\n" + DEPLOY)
    memory.create(B, "x\n")
    assert flags_of(home) == "yes"


def test_a_flag_moves_with_its_document(home: Home, memory: Memory) -> None:
    memory.flag(A, "wrong", "says who?")
    memory.rename(A, B)
    assert flags_of(home, "b.md") == "wrong: says who?"


# -- many at once, and killed ones

CODE = """
import os, sys, time
from pathlib import Path
from neosian.errors import NeosianError
from neosian.memory import Conflict, Writer
from tests.test_memory import Home, memory_of
home = Home.__new__(Home)
home.folder = Path(sys.argv[1]); home.path = home.folder / "home"; home.project = home.folder / "shop"
number = sys.argv[2]
memory = memory_of(home, Writer.of_session("claude-code", number), patience=60)
"""


def together(home: Home, body: str, count: int = 8) -> list[str]:
    """What so many processes say that do the same at once; each knows its ``number``."""
    started = [
        subprocess.Popen(
            [sys.executable, "-c", CODE + body, str(home.folder), str(number)],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=Path(__file__).parent.parent,
        )
        for number in range(count)
    ]  # fmt: skip
    ended = [process.communicate(timeout=120) for process in started]
    assert [errors for _, errors in ended] == [""] * count
    return [said for said, _ in ended]


def test_eight_processes_write_eight_documents_at_once(home: Home) -> None:
    together(home, "for n in range(3): memory.create(f'/project/x/{number}/{n}.md', number)")
    assert len(list((home.shop / "x").glob("*/*.md"))) == 24
    assert int(git(home.shop, "rev-list", "--count", "main", "--", "x")) == 24
    assert is_whole(home.shop)


def test_eight_processes_add_to_one_document_at_once(home: Home) -> None:
    together(home, "for n in range(3): memory.insert('/project/a.md', 3, f'line {number}.{n}')")
    lines = (home.shop / "a.md").read_text().splitlines()
    assert sorted(lines[3:]) == sorted(f"line {number}.{n}" for number in range(8) for n in range(3))
    assert is_whole(home.shop)


def test_of_eight_who_create_or_rewrite_the_same_one_does_and_seven_are_told(home: Home) -> None:
    body = """
seen = memory.wiki.read('/project/a.md')
(home.folder / f'ready-{number}').touch()
while len(list(home.folder.glob('ready-*'))) < 8: time.sleep(0.01)
for act in (lambda: memory.create('/project/b.md', number), lambda: memory.rewrite('/project/a.md', number.encode(), seen)):
    try:
        act()
        print(number)
    except Conflict as told:
        print('told' if told.held in '01234567' else told.held)
"""
    said = [text.split() for text in together(home, body)]
    for column, path in enumerate(("b.md", "a.md")):
        words = [row[column] for row in said]
        assert words.count("told") == 7
        assert (home.shop / path).read_text() in words
    assert is_whole(home.shop)


STEPS = [
    "gitlocks.set_next", "gitlocks.lock_index", "publish._write_out", "publish._write_file", "publish._sign_index",
    "gitlocks.MainLock.commit", "recent.Recent.add", "draft.Draft.write",
]  # fmt: skip


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("heals", ["write", "landing"])
def test_a_writer_that_is_killed_leaves_nothing_half(
    step: str, when: str, heals: str, home: Home, memory: Memory
) -> None:
    text = DEPLOY + "By hand.\n"
    home.write("c.md", "theirs\n")
    home.write("a.md", text)
    owner, _, name = step.rpartition(".")
    calls = "os.kill(os.getpid(), 9)", "held(*args, **more)"
    body = f"""
from neosian import draft, gitlocks, publish, recent
held = {owner}.{name}
def killed(*args, **more):
    {calls[0] if when == "before" else calls[1]}
    {calls[1] if when == "before" else calls[0]}
{owner}.{name} = killed
memory.rename('/project/a.md', '/project/how/b.md')
"""
    done = subprocess.run(
        [sys.executable, "-c", CODE + body, str(home.folder), "0"],
        capture_output=True,
        cwd=Path(__file__).parent.parent,
    )
    assert done.returncode == -9, done.stderr
    if heals == "write":
        memory.create("/project/d.md", "after\n")
    else:
        home.talk().land("Hello")
    names = {path.name for path in home.shop.rglob("*.md")} & {"a.md", "b.md"}
    assert names in ({"a.md"}, {"b.md"})
    path = "a.md" if names == {"a.md"} else "how/b.md"
    assert (home.shop / path).read_text() == text
    assert git(home.shop, "show", f"main:{path}") == text.rstrip("\n")
    assert git(home.shop, "show", "main:c.md") == "theirs"
    assert is_whole(home.shop)


# -- front matter


@pytest.mark.parametrize("header", ["title: a: b", "title: 'open", "- x\ntitle: y", "title: x\ntitle: y"])
def test_no_new_document_has_front_matter_that_is_no_yaml(header: str, memory: Memory) -> None:
    text = f"---\n{header}\n---\nbody\n"
    refused(memory, lambda m: m.create(B, text), NeosianError, "could not be read: line")


def test_no_edit_makes_front_matter_that_is_no_yaml(memory: Memory) -> None:
    memory.create(B, "---\ntitle: x\n---\nbody\n")
    refused(
        memory, lambda m: m.str_replace(B, "title: x", "title: [x"), NeosianError, "could not be read: line"
    )
    refused(memory, lambda m: m.insert(B, 1, "  odd: 1"), NeosianError, "could not be read: line")


def test_a_document_with_broken_front_matter_is_edited_in_its_body_alone(home: Home, memory: Memory) -> None:
    held = "---\ntitle: a: b\nflagged: wrong\n---\n"
    home.committed("b.md", held + "body\n")
    memory.str_replace(B, "body", "text")
    assert (home.shop / "b.md").read_text() == held + "text\n"
    acts: list[Act] = [
        lambda m: m.pin(B),
        lambda m: m.flag(B, "stale"),
        lambda m: m.str_replace(B, "title: a: b", "title: c: d"),
    ]
    for act in acts:
        refused(memory, act, NeosianError, "could not be read: line")
    memory.str_replace(B, "title: a: b", "title: 'a: b'")
    memory.pin(B)
    assert is_whole(home.shop)


@pytest.mark.parametrize(
    ("header", "on", "said"),
    [
        ('text: "one\npinned: no\ntwo"\n', True, "cannot be changed alone"),
        ("map: {\npinned: true,\na: 1}\n", False, "cannot be changed alone"),
        ("pinned: &x no\nb: *x\n", True, "could not be read: line 3"),
    ],
)
def test_a_line_that_only_looks_like_a_key_is_left_alone(
    header: str, on: bool, said: str, home: Home, memory: Memory
) -> None:
    home.committed("b.md", f"---\n{header}---\nbody\n")
    refused(memory, lambda m: m.pin(B, on), NeosianError, said)


def test_front_matter_is_never_run(home: Home, memory: Memory, tmp_path: Path) -> None:
    owned = tmp_path / "owned"
    header = f"---\ntitle: !!python/object/apply:os.system ['touch {owned}']\n---\n"
    home.committed("b.md", header + "body\n")
    refused(memory, lambda m: m.pin(B), NeosianError, "could not be read: line 2")
    memory.str_replace(B, "body", "text")
    assert (home.shop / "b.md").read_text() == header + "text\n"
    assert not owned.exists()


def test_long_front_matter_of_a_person_is_edited_beside_it(home: Home, memory: Memory) -> None:
    header = "---\n" + "".join(f"key{n}: 'value # {n}'\n" for n in range(6_000)) + "---\n"
    home.committed("b.md", header + "body\n")
    memory.str_replace(B, "body", "text")
    memory.str_replace(B, "value # 17'", "value # 18'")
    assert (home.shop / "b.md").read_text() == header.replace("value # 17'", "value # 18'") + "text\n"
    refused(memory, lambda m: m.pin(B), NeosianError, "would not be read")
