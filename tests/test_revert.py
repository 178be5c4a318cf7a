"""Taking back what a commit did, and putting a document back: whole or not at all, and never over somebody's work."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from neosian import commits, history, revert
from neosian.adopting import Adopter
from neosian.draft import Draft, Signature
from neosian.errors import BusyError, NeosianError
from neosian.revert import Reverted
from neosian.store import NoStoreError, Store, agent, committer, message
from tests.factories import Home, aged, bytes_below, fsck, git, status, subjects, trailers

PAGE = "one\ntwo\nthree\nfour\nfive\n"
ADA = Signature("Ada Person", "ada@example.org", time.time())


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    """A home whose project has one landed turn and a document."""
    found = Home(tmp_path)
    found.talk().land("Hello")
    found.committed("a.md", PAGE)
    yield found
    assert fsck(found.shop) == ""


def commit(home: Home, path: str, text: str | None, subject: str = "edit") -> str:
    """A person's commit of one document, None for its deletion; its id."""
    if text is None:
        git(home.shop, "rm", "-q", path)
    else:
        home.write(path, text)
        git(home.shop, "add", path)
    git(home.shop, "commit", "-qm", subject)
    return git(home.shop, "rev-parse", "HEAD")


def by_agent(home: Home, change: dict[str, str | None]) -> str:
    """A commit as the memory tools make it; its id."""

    def write(draft: Draft) -> None:
        for path, text in change.items():
            draft.delete(path) if text is None else draft.put(path, text.encode())
        said = message("Change memory", {"Neosian-Act": "memory", "Neosian-Actor": "codex:x#1"})
        draft.commit(said, agent("codex", time.time()), committer())

    tip = home.store().write(write)
    assert tip is not None
    return tip


def take_back(home: Home, name: str) -> Reverted:
    return revert.take_back(home.store(), name, ADA, Adopter(str(home.path)).named_by)


def put_back(home: Home, path: str, name: str) -> Reverted:
    return revert.put_back(home.store(), path, name, ADA, Adopter(str(home.path)).named_by)


def text(home: Home, path: str) -> str | None:
    """What main and the folder both say; None for nothing."""
    store = home.store()
    landed = store.repo.read(store.repo.tip() or "", path)
    store.repo.close()
    full = home.shop / path
    assert landed == (full.read_bytes() if full.exists() else None)
    return None if landed is None else landed.decode()


def refused(home: Home, name: str, said: str, path: str = "") -> NeosianError:
    """An act that is refused with these words and leaves everything as it was."""
    before = all_of(home)
    with pytest.raises(NeosianError) as caught:
        put_back(home, path, name) if path else take_back(home, name)
    assert said in str(caught.value)
    assert all_of(home) == before
    return caught.value


def all_of(home: Home) -> dict[str, bytes]:
    """The folder and git's refs and index; objects that nothing names, and our own notes, tell nobody anything."""
    found = bytes_below(home.shop)
    return {
        name: data for name, data in found.items() if not name.startswith((".git/objects", ".git/neosian"))
    }


# a commit


def test_an_edit_is_taken_back_in_a_commit_of_the_person_s(home: Home) -> None:
    id = commit(home, "a.md", PAGE.replace("three", "3"), "Count")
    done = take_back(home, id[:8])
    assert text(home, "a.md") == PAGE
    assert subjects(home.shop)[0] == 'Revert "Count"'
    assert git(home.shop, "log", "-1", "--format=%an <%ae> %cn") == "Ada Person <ada@example.org> neosian"
    assert trailers(home.shop) == {"Neosian-Act": "edit", "Neosian-Actor": "Ada Person"}
    assert (done.commit, done.paths) == (git(home.shop, "rev-parse", "main"), ["a.md"])
    assert status(home.shop) == ""


def test_what_came_later_stays(home: Home) -> None:
    id = commit(home, "a.md", PAGE.replace("one", "1"))
    commit(home, "a.md", PAGE.replace("one", "1").replace("five", "5"))
    take_back(home, id)
    assert text(home, "a.md") == PAGE.replace("five", "5")


def test_a_revert_is_taken_back_in_turn(home: Home) -> None:
    id = commit(home, "a.md", "new\n", "Count")
    take_back(home, str(take_back(home, id).commit))
    assert text(home, "a.md") == "new\n"
    assert subjects(home.shop)[0] == 'Revert "Revert "Count""'


def test_what_was_taken_back_already_is_left(home: Home) -> None:
    id = commit(home, "a.md", PAGE.replace("one", "1"))
    take_back(home, id)
    tip = git(home.shop, "rev-parse", "main")
    assert take_back(home, id).commit is None
    assert git(home.shop, "rev-parse", "main") == tip


@pytest.mark.parametrize(
    "change",
    [
        {"a.md": None},
        {"a.md": None, "deep/b.md": PAGE},
        {"a.md": None, "deep/b.md": PAGE.replace("one", "1")},
        {"new/c.md": "c\n"},
        {"a.md": "other\n", "c.md": "c\n", "d e.md": "d\n"},
    ],
)  # fmt: skip
def test_what_the_memory_tools_did_is_undone(change: dict[str, str | None], home: Home) -> None:
    before = git(home.shop, "rev-parse", "main^{tree}")
    id = by_agent(home, change)
    assert commits.undo_command(id) == f"neosian revert {id[:10]}"
    take_back(home, commits.undo_command(id).split()[-1])
    assert git(home.shop, "rev-parse", "main^{tree}") == before
    assert (text(home, "a.md"), status(home.shop)) == (PAGE, "")


def test_a_rename_is_taken_back_with_the_edits_that_came_after_it(home: Home) -> None:
    id = by_agent(home, {"a.md": None, "deep/b.md": PAGE})
    by_agent(home, {"deep/b.md": PAGE + "six\n"})
    take_back(home, id)
    assert (text(home, "a.md"), text(home, "deep/b.md")) == (PAGE + "six\n", None)


def test_an_edit_is_taken_back_where_the_document_lies_now(home: Home) -> None:
    id = by_agent(home, {"a.md": PAGE.replace("one", "1")})
    by_agent(home, {"a.md": None, "b.md": PAGE.replace("one", "1") + "six\n"})
    take_back(home, id)
    assert (text(home, "a.md"), text(home, "b.md")) == (None, PAGE + "six\n")


def test_an_edit_is_taken_back_where_a_person_has_just_moved_the_document(home: Home) -> None:
    id = by_agent(home, {"a.md": PAGE.replace("one", "1")})
    (home.shop / "a.md").rename(home.shop / "b.md")
    aged(home.shop)
    aged(home.shop / "b.md")
    done = take_back(home, id)
    assert sorted(done.adopted) == ["a.md", "b.md"]
    assert (text(home, "a.md"), text(home, "b.md")) == (None, PAGE)


@pytest.mark.parametrize("name", ["a b.md", "日本.md", 'q"\\.md', "two\nlines.md", "-n.md"])
def test_documents_of_any_name_are_taken_and_put_back(name: str, home: Home) -> None:
    id = by_agent(home, {f"deep/{name}": "x\n"})
    take_back(home, id)
    assert text(home, f"deep/{name}") is None
    put_back(home, f"deep/{name}", id)
    assert text(home, f"deep/{name}") == "x\n"


def test_a_document_of_5_mb_is_taken_back(home: Home) -> None:
    long = "".join(f"line {n}\n" for n in range(450_000))
    by_agent(home, {"a.md": long})
    id = by_agent(home, {"a.md": long.replace("line 200000\n", "")})
    by_agent(home, {"a.md": long.replace("line 200000\n", "") + "end\n"})
    take_back(home, id)
    assert text(home, "a.md") == long + "end\n"


def test_what_a_commit_recorded_beside_documents_stays(home: Home) -> None:
    (page,) = home.shop.glob("sessions/*/*/*.md")
    page.write_text(page.read_text() + "mine\n")
    home.write("a.md", "new\n")
    git(home.shop, "commit", "-qam", "All of it")
    done = take_back(home, "main")
    assert (text(home, "a.md"), done.left) == (PAGE, [str(page.relative_to(home.shop))])
    assert page.read_text().endswith("mine\n")


# conflicts


def test_the_same_lines_changed_since_are_shown_in_both_texts(home: Home) -> None:
    id = commit(home, "a.md", PAGE.replace("three", "3"))
    commit(home, "a.md", PAGE.replace("three", "III"))
    error = refused(home, id, "a.md: the same lines were changed since.")
    assert "it says now:\n    | III\n  it was to say:\n    | three" in str(error)
    assert error.hint == f"neosian diff a.md {id[:10]} --scope {home.store().scope}"


def test_one_conflict_stops_the_whole(home: Home) -> None:
    id = by_agent(home, {"a.md": "A\n", "b.md": "b\n", "c.md": "c\n"})
    by_agent(home, {"b.md": "b again\n"})
    error = refused(home, id, "b.md: it was changed since.")
    assert isinstance(error, revert.RevertConflict)
    assert [(each.path, each.now, each.then) for each in error.conflicts] == [("b.md", "b again\n", "")]


@pytest.mark.parametrize(
    ("first", "later", "said"),
    [
        ({"a.md": "A\n"}, {"a.md": None}, "a.md: it is gone."),
        ({"a.md": None}, {"a.md": "another\n"}, "a.md: another document is there now."),
        ({"a.md": None, "b.md": PAGE}, {"a.md": "another\n"}, "a.md: another document is there now."),
        ({"a.md": None, "b.md": PAGE}, {"b.md": None}, "b.md: it is gone."),
        ({"a.md": None}, {"a.md/b.md": "x\n"}, "a.md cannot be put back: it is a folder now."),
        ({"a.md": "", "deep/b.md": None}, {"deep": "x\n"}, "deep/b.md cannot be put back: deep is a document now."),
    ],
)  # fmt: skip
def test_what_stands_in_the_way_is_said(
    first: dict[str, str | None], later: dict[str, str | None], said: str, home: Home
) -> None:
    by_agent(home, {"deep/b.md": "deep\n"})
    id = by_agent(home, first)
    by_agent(home, later)
    refused(home, id, said)


def test_a_long_conflict_is_shortened(home: Home) -> None:
    id = by_agent(home, {"b.md": "b\n"})
    by_agent(home, {"b.md": "long\n" * 1000 + "x" * 5000})
    assert len(str(refused(home, id, "and 981 more lines"))) < 1000


# what is refused


def test_a_commit_that_only_recorded_turns(home: Home) -> None:
    home.talk().land("Again")
    refused(
        home,
        "main",
        "only recorded: Turn logs and session pages say what happened; they are never taken back",
    )


def test_a_merge(home: Home) -> None:
    git(home.shop, "checkout", "-qb", "side")
    commit(home, "side.md", "x\n")
    git(home.shop, "checkout", "-q", "main")
    commit(home, "main.md", "x\n")
    git(home.shop, "merge", "-q", "--no-edit", "side")
    refused(home, "main", "is a merge")


def test_the_beginning_and_what_is_not_in_main(home: Home) -> None:
    root = git(home.shop, "rev-list", "--max-parents=0", "main")
    refused(home, root, "changed no document")
    git(home.shop, "checkout", "-qb", "side")
    side = commit(home, "side.md", "x\n")
    git(home.shop, "checkout", "-q", "main")
    refused(home, side, "is not part of main")


def test_what_makes_the_repository_work_is_never_taken_back(home: Home) -> None:
    first = git(home.shop, "rev-list", "main").split()[-2]
    assert take_back(home, first).paths == ["README.md"]
    assert (home.shop / ".gitattributes").exists()


@pytest.mark.parametrize("name", ["nonsense", "", "-n", "main\n", "0123456789"])
def test_an_unknown_revision(name: str, home: Home) -> None:
    assert isinstance(refused(home, name, "No commit here is named"), commits.UnknownRevision)
    refused(home, name, "No commit here is named", "a.md")


def test_a_scope_that_was_not_made_is_not_made_by_it(tmp_path: Path) -> None:
    store = Store(str(tmp_path), "user:ada", str(tmp_path / "none"), str(tmp_path / "cache"))
    with pytest.raises(NoStoreError):
        revert.take_back(store, "main", ADA, lambda path, at: None)
    with pytest.raises(NoStoreError):
        revert.put_back(store, "a.md", "main", ADA, lambda path, at: None)
    assert not (tmp_path / "none").exists()


# a document


def test_a_document_is_put_back_as_it_stood(home: Home) -> None:
    before = commit(home, "a.md", "two\n")
    commit(home, "a.md", "three\n")
    put_back(home, "a.md", f"{before}~1")
    assert text(home, "a.md") == PAGE
    assert subjects(home.shop)[0].startswith("Put a.md back as it stood at ")
    assert put_back(home, "a.md", f"{before}~1").commit is None


def test_a_deleted_document_is_put_back(home: Home) -> None:
    before = git(home.shop, "rev-parse", "main")
    by_agent(home, {"a.md": None})
    refused(home, "main", "a.md was not there at", "a.md")
    put_back(home, "a.md", before)
    assert (text(home, "a.md"), status(home.shop)) == (PAGE, "")


def test_what_is_no_document_is_not_put_back(home: Home) -> None:
    commit(home, "deep/b.md", "b\n")
    refused(home, "main", "deep is a folder", "deep")
    log = next(home.shop.glob("record/*/*/*.jsonl")).relative_to(home.shop)
    refused(home, "main", "never taken back", str(log))


# what lies in the folder


def test_a_settled_edit_lands_first_and_is_kept(home: Home) -> None:
    id = commit(home, "a.md", PAGE.replace("one", "1"))
    home.write("a.md", PAGE.replace("one", "1").replace("five", "5"))
    home.write("b.md", "b\n")
    done = take_back(home, id)
    assert (text(home, "a.md"), text(home, "b.md")) == (PAGE.replace("five", "5"), "b\n")
    assert sorted(done.adopted) == ["a.md", "b.md"]
    assert subjects(home.shop)[1] == "Edit 2 documents"


def test_an_agent_s_edit_that_waits_to_land_is_booked_under_the_agent(home: Home) -> None:
    id = commit(home, "a.md", PAGE.replace("one", "1"))
    talk = home.talk()
    talk.ask("Write it down")
    home.write("b.md", "b\n", age=0)
    talk.call("Write", file_path=str(home.shop / "b.md"))
    take_back(home, id)
    assert git(home.shop, "log", "-1", "--format=%ae", "--", "b.md") == "claude-code@neosian.invalid"


@pytest.mark.parametrize("way", ["unsettled", "secret", "staged", "deleted", "link", "merge"])
def test_an_edit_that_has_not_landed_is_never_lost(way: str, home: Home, tmp_path: Path) -> None:
    id = commit(home, "a.md", "new\n")
    if way == "unsettled":
        home.write("a.md", "mine\n", age=0)
    elif way == "secret":
        home.write("a.md", "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY\n")
    elif way == "staged":
        home.write("a.md", "mine\n")
        git(home.shop, "add", "a.md")
        home.write("a.md", "new\n")
    elif way == "deleted":
        (home.shop / "a.md").unlink()
    elif way == "link":
        (home.shop / "a.md").unlink()
        (home.shop / "a.md").symlink_to(tmp_path / "elsewhere.md")
    else:
        git(home.shop, "checkout", "-qb", "side", "main~1")
        commit(home, "a.md", "of the side\n")
        git(home.shop, "checkout", "-q", "main")
        git(home.shop, "merge", "side", check=False)
    refused(home, id, "a.md was changed in the folder and has not landed")
    if way != "deleted":
        refused(home, f"{id}~1", "a.md was changed in the folder and has not landed", "a.md")


def test_a_file_of_a_person_s_is_in_no_one_s_way(home: Home) -> None:
    commit(home, "notes.txt", "tracked\n")
    commit(home, "notes.txt", None)
    (home.shop / "notes.txt").write_text("a person's own\n")
    refused(home, "main~1", "notes.txt was changed in the folder", "notes.txt")


def test_during_a_merge_what_it_does_not_touch_is_put_back(home: Home) -> None:
    commit(home, "b.md", "b\n")
    id = commit(home, "b.md", "new\n")
    git(home.shop, "checkout", "-qb", "side", "main~2")
    commit(home, "a.md", "of the side\n")
    git(home.shop, "checkout", "-q", "main")
    commit(home, "a.md", "of main\n")
    git(home.shop, "merge", "side", check=False)
    take_back(home, id)
    assert git(home.shop, "show", "main:b.md") == "b"
    home.write("a.md", "both\n")
    git(home.shop, "commit", "-qam", "Merged")
    assert (text(home, "b.md"), text(home, "a.md")) == ("b\n", "both\n")


def test_with_another_branch_checked_out_only_main_moves(home: Home) -> None:
    id = commit(home, "a.md", "new\n")
    git(home.shop, "checkout", "-qb", "side")
    home.write("a.md", "mine\n")
    take_back(home, id)
    assert git(home.shop, "show", "main:a.md") == PAGE.rstrip()
    assert (home.shop / "a.md").read_text() == "mine\n"
    assert status(home.shop) == " M a.md"


def test_while_another_git_holds_the_index_nothing_is_done(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    id = commit(home, "a.md", "new\n")
    monkeypatch.setattr(revert, "_PATIENCE", 0.05)
    (home.shop / ".git/index.lock").touch()
    assert isinstance(refused(home, id, "nothing was written"), BusyError)
    (home.shop / ".git/index.lock").unlink()
    take_back(home, id)
    assert [each.subject for each in history.log(home.store(), "a.md", 1)] == ['Revert "edit"']


def test_a_text_that_a_crash_took_is_not_put_back_as_an_empty_one(home: Home) -> None:
    old = git(home.shop, "rev-parse", "main:a.md")
    id = commit(home, "a.md", "new\n")
    (home.shop / ".git/objects" / old[:2] / old[2:]).rename(home.folder / "taken")
    for name, path in ((id, ""), (f"{id}~", "a.md")):
        refused(home, name, "cannot be read", path)
    (home.folder / "taken").rename(home.shop / ".git/objects" / old[:2] / old[2:])
