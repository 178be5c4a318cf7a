"""The history of documents: their commits through renames, what changed, whose each line is, and merging."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from neosian import commits, history
from neosian.errors import NeosianError
from neosian.projects import open_store
from tests.factories import Home, git
from tests.scopes import ADA, BOB, Scope

NAMES = [
    "a b.md",
    "naïve/日本語.md",
    'say "hi"\\.md',
    "two\nlines\tand a tab.md",
    "-n.md",
    "@{1}.md",
    "$(id).md",
]
PAGE = "one\ntwo\nthree\nfour\nfive\n"


@pytest.fixture
def scope(tmp_path: Path) -> Iterator[Scope]:
    scope = Scope(tmp_path)
    yield scope
    scope.store.repo.close()


def write(scope: Scope, path: str, text: str, message: str = "edit") -> str:
    scope.write(path, text)
    return scope.commit(message)


def move(scope: Scope, old: str, new: str, message: str = "rename") -> str:
    (scope.root / new).parent.mkdir(parents=True, exist_ok=True)
    (scope.root / old).rename(scope.root / new)
    return scope.commit(message)


def logged(scope: Scope, path: str = "", limit: int = 50) -> list[str]:
    return [commit.subject for commit in history.log(scope.store, path, limit)]


# log


def test_a_document_is_followed_through_its_renames(scope: Scope) -> None:
    write(scope, "a.md", PAGE, "write a")
    write(scope, "other.md", "x", "other")
    scope.land(ADA, 1, "a turn")
    move(scope, "a.md", "deep/b.md", "a to b")
    write(scope, "deep/b.md", PAGE + "six\n", "edit b")
    (scope.root / "deep/b.md").rename(scope.root / "c.md")
    write(scope, "c.md", PAGE + "seven\n", "b to c, edited")
    wanted = ["b to c, edited", "edit b", "a to b", "write a"]
    assert logged(scope, "c.md") == wanted
    assert [logged(scope, "c.md", n) for n in (1, 2, 3)] == [wanted[:n] for n in (1, 2, 3)]
    assert logged(scope, "deep") == wanted[:3]


def test_a_name_that_was_used_twice_has_two_lives(scope: Scope) -> None:
    write(scope, "a.md", PAGE, "first a")
    move(scope, "a.md", "b.md", "a to b")
    write(scope, "a.md", "quite another\n", "second a")
    assert logged(scope, "a.md") == ["second a", "a to b", "first a"]
    write(scope, "b.md", PAGE + "more\n", "edit b")
    assert logged(scope, "b.md") == ["edit b", "a to b", "first a"]


def test_a_deleted_document_still_has_its_history(scope: Scope) -> None:
    write(scope, "a.md", PAGE, "write")
    (scope.root / "a.md").unlink()
    scope.commit("delete")
    assert logged(scope, "a.md") == ["delete", "write"]


@pytest.mark.parametrize("name", NAMES)
def test_a_name_of_any_kind_is_followed(name: str, scope: Scope) -> None:
    write(scope, "old.md", PAGE, "write")
    move(scope, "old.md", name)
    assert logged(scope, name) == ["rename", "write"]
    assert [line.text for line in history.blame(scope.store, name)] == PAGE.split()
    move(scope, name, "new.md", "away")
    assert logged(scope, "new.md") == ["away", "rename", "write"]


def test_a_name_that_is_no_utf_8_is_found(scope: Scope) -> None:
    name = os.fsdecode(b"caf\xe9.md")
    (scope.root / name).write_text(PAGE)
    scope.commit("write")
    (scope.root / name).write_text("new\n")
    scope.commit("edit")
    assert logged(scope, name) == ["edit", "write"]
    assert "+new" in history.diff(scope.store, name)
    assert len(history.blame(scope.store, name)) == 1


def test_a_scope_s_log_holds_turns_too(scope: Scope) -> None:
    scope.land(ADA, 1, "a turn")
    write(scope, "a.md", "x", "write")
    assert logged(scope) == ["write", "Record turn 1: a turn"]
    assert logged(scope, "nowhere.md") == []


def test_the_last_change_of_documents_is_behind_any_number_of_turns(scope: Scope) -> None:
    write(scope, "a.md", "x", "write")
    for n in range(1, 5):
        scope.land(ADA, n, "a turn")
    last = history.last_change(scope.store)
    assert last is not None
    assert last.subject == "write"


# diff


def test_without_revisions_the_last_change_is_shown(scope: Scope) -> None:
    write(scope, "a.md", PAGE)
    write(scope, "b.md", "b\n")
    scope.land(ADA, 1, "a turn")
    assert history.diff(scope.store, "a.md").startswith(
        "diff --git a/a.md b/a.md\nnew file mode 100644\n--- /dev/null\n+++ b/a.md\n@@ -0,0 +1,5 @@\n+one\n"
    )
    assert "b/b.md" in (said := history.diff(scope.store))
    assert "a.md" not in said


def test_what_one_commit_did(scope: Scope) -> None:
    write(scope, "a.md", PAGE)
    second = write(scope, "a.md", PAGE.replace("three", "3"))
    write(scope, "a.md", "all new\n")
    assert "-three\n+3\n" in history.diff(scope.store, "a.md", None, second)


def test_from_a_revision_to_now_the_folder_counts(scope: Scope) -> None:
    first = write(scope, "a.md", PAGE)
    write(scope, "gone.md", "gone\n")
    write(scope, "a.md", PAGE.replace("one", "1"))
    scope.write("a.md", PAGE.replace("one", "1").replace("five", "5"))
    scope.write("new.md", "new\n")
    (scope.root / "gone.md").unlink()
    found = history.compare(scope.store, "", first)
    assert [(each.status, each.path) for each in found.differences] == [("M", "a.md"), ("A", "new.md")]
    assert "-one\n+1\n two" in found.text
    assert "-five\n+5\n" in found.text
    assert (found.old, found.new) == (first, None)
    assert "deleted file" in history.diff(scope.store, "gone.md", "main")


def test_a_rename_in_the_folder_is_told_as_one(scope: Scope) -> None:
    write(scope, "a.md", PAGE)
    (scope.root / "a.md").rename(scope.root / "b.md")
    (each,) = history.compare(scope.store, "b.md", "main").differences
    assert (each.status, each.was, each.path) == ("R", "a.md", "b.md")
    assert each.text == "diff --git a/a.md b/b.md\nrename from a.md\nrename to b.md\n"


def test_two_empty_documents_are_no_rename(scope: Scope) -> None:
    write(scope, "a.md", "")
    (scope.root / "a.md").unlink()
    write(scope, "b.md", "")
    assert [each.status for each in history.compare(scope.store).differences] == ["D", "A"]


@pytest.mark.parametrize("name", NAMES)
def test_what_is_shown_is_a_patch_that_git_takes(name: str, scope: Scope) -> None:
    first = write(scope, "old.md", PAGE)
    scope.write("kept.md", "no line end")
    (scope.root / "old.md").unlink()
    write(scope, name, PAGE.replace("two", "2"))
    said = history.diff(scope.store, "", first, "main")
    git(scope.root, "checkout", "-q", first)
    subprocess.run(["git", "-C", scope.root, "apply", "--index"], input=said.encode(), check=True)
    assert git(scope.root, "write-tree") == git(scope.root, "rev-parse", "main^{tree}")


def test_logs_are_shown_only_where_they_are_named(scope: Scope) -> None:
    first = write(scope, "a.md", PAGE)
    scope.land(ADA, 1, "a turn")
    assert history.diff(scope.store, "", first, "main") == ""
    assert '"text":"a turn"' in history.diff(scope.store, "record", first, "main")
    log = str(scope.log(ADA).relative_to(scope.root))
    assert '"text":"a turn"' in history.diff(scope.store, log)
    assert history.diff(scope.store, str(scope.log(BOB).relative_to(scope.root)), first, "main") == ""


def test_on_another_branch_now_is_what_main_has(scope: Scope) -> None:
    write(scope, "a.md", PAGE)
    scope.git("checkout", "-q", "-b", "side")
    scope.write("a.md", "of the side\n")
    assert history.diff(scope.store, "a.md", "main") == ""
    assert [line.text for line in history.blame(scope.store, "a.md")] == PAGE.split()


def test_a_binary_and_a_huge_document_are_compared(scope: Scope) -> None:
    write(scope, "a.md", "\0" * 100)
    write(scope, "b.md", "".join(f"line {n}\n" for n in range(400_000)))
    scope.write("a.md", "\0" * 99)
    scope.write("b.md", "".join(f"line {n if n != 200_000 else 'new'}\n" for n in range(400_000)))
    scope.commit()
    a, b = history.compare(scope.store).differences
    assert a.text == "diff --git a/a.md b/a.md\nBinary files a/a.md and b/a.md differ\n"
    assert "-line 200000\n+line new\n" in b.text
    assert len(b.text) < 400


def test_texts_outlive_their_comparison(scope: Scope) -> None:
    """libgit2 reads from the texts again when a patch is printed, and does not hold them itself."""
    for n in range(60):
        scope.write(f"{n}.md", f"begin {n}\nsame\n")
    first = scope.commit()
    for n in range(60):
        scope.write(f"{n}.md", f"ended {n}\nsame\n")
    second = scope.commit()
    said = history.diff(scope.store, "", first, second)
    assert all(f"-begin {n}\n+ended {n}\n same\n" in said for n in range(60))


def test_a_submodule_has_no_text(scope: Scope) -> None:
    first = write(scope, "a.md", PAGE)
    scope.git("update-index", "--add", "--cacheinfo", f"160000,{first},sub")
    scope.git("commit", "-qm", "a submodule")
    assert history.diff(scope.store, "", first, "main").startswith("diff --git a/sub b/sub\n")


def test_a_scope_without_anything_says_so(tmp_path: Path) -> None:
    store = open_store(str(tmp_path), "user:ada/proj:none")
    assert history.log(store) == []
    for ask in (lambda: history.diff(store), lambda: history.blame(store, "a.md")):
        with pytest.raises(NeosianError, match="Nothing has been recorded for user:ada/proj:none yet"):
            ask()
    assert not Path(store.path).exists()


def test_a_scope_that_was_just_made_has_only_its_page(tmp_path: Path) -> None:
    home = Home(tmp_path)
    store = home.store()
    store.write(lambda draft: None)
    assert [commit.subject for commit in history.log(store, limit=1)] == ["Say what this folder is"]
    assert "+++ b/README.md" in history.diff(store)
    store.repo.close()


# revisions


@pytest.mark.parametrize(
    "name", ["", "nonsense", "-n", "--all", "main\n", "ma\0in", "main..main", "\ud800", "a b", "0" * 40]
)
def test_what_is_no_revision_is_said(name: str, scope: Scope) -> None:
    write(scope, "a.md", PAGE)
    with pytest.raises(commits.UnknownRevision) as caught:
        history.diff(scope.store, "a.md", name)
    assert caught.value.hint == "neosian log"


def test_a_beginning_that_several_commits_share_names_them(scope: Scope) -> None:
    stream = "".join(
        f"commit refs/heads/main\ncommitter A <a@b> {1_000_000_000 + n} +0000\ndata 1\nx\n"
        for n in range(600)
    )
    subprocess.run(["git", "-C", scope.root, "fast-import", "--quiet"], input=stream.encode(), check=True)
    ids = git(scope.root, "rev-list", "main").split()
    shared = next(id[:4] for id in ids if sum(other.startswith(id[:4]) for other in ids) > 1)
    with pytest.raises(commits.UnknownRevision, match="names 2 commits") as caught:
        history.diff(scope.store, "", shared)
    assert set(caught.value.candidates) == {id for id in ids if id.startswith(shared)}
    assert commits.revision(scope.store.repo, ids[0][:12].upper()) == ids[0]


# lines


def blamed(scope: Scope, path: str = "a.md") -> list[tuple[str, str | None]]:
    return [(line.text, line.commit) for line in history.blame(scope.store, path)]


def test_each_line_has_its_commit_through_renames(scope: Scope) -> None:
    first = write(scope, "old.md", "one\ntwo\nthree\n")
    move(scope, "old.md", "a.md")
    second = write(scope, "a.md", "one\n2\nthree\nfour\n")
    assert blamed(scope) == [("one", first), ("2", second), ("three", first), ("four", second)]


@pytest.mark.parametrize(
    ("now", "new"),
    [
        ("zero\none\ntwo\nthree\n", [0]),
        ("one\ntwo\nthree\nfour\n", [3]),
        ("one\nthree\n", []),
        ("", []),
        ("one\ntwo\nthree", [2]),
        ("x\ny\n", [0, 1]),
        ("one\nx\ny\ntwo\nthree\nz\n", [1, 2, 5]),
    ],
)
def test_lines_that_have_not_landed_have_none(now: str, new: list[int], scope: Scope) -> None:
    first = write(scope, "a.md", "one\ntwo\nthree\n")
    scope.write("a.md", now)
    lines = blamed(scope)
    assert [text for text, _ in lines] == now.splitlines()
    assert [n for n, (_, commit) in enumerate(lines) if commit is None] == new
    assert {commit for _, commit in lines} <= {first, None}


def test_a_document_that_has_not_landed_at_all(scope: Scope) -> None:
    write(scope, "other.md", "x")
    scope.write("a.md", "one\ntwo\n")
    assert blamed(scope) == [("one", None), ("two", None)]


def test_line_ends_and_byte_order_marks_are_no_part_of_a_line(scope: Scope) -> None:
    first = write(scope, "a.md", "\ufeffone\r\ntwo\r\n")
    scope.write("a.md", "\ufeffone\r\ntwo\r\nthree\r\n")
    assert blamed(scope) == [("one", first), ("two", first), ("three", None)]


def test_what_has_no_lines_is_said(scope: Scope, tmp_path: Path) -> None:
    write(scope, "deep/a.md", "x")
    write(scope, "binary.md", "a\0b\n")
    (tmp_path / "outside.md").write_text("outside\n")
    (scope.root / "link.md").symlink_to(tmp_path / "outside.md")
    scope.commit()
    for path, said in [
        ("deep", "a folder"),
        ("binary.md", "no text"),
        ("link.md", "a link"),
        ("no.md", "no document"),
    ]:
        with pytest.raises(history.NoText, match=said):
            history.blame(scope.store, path)


def test_nothing_is_read_through_a_link(scope: Scope, tmp_path: Path) -> None:
    first = write(scope, "deep/a.md", "inside\n")
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "a.md").write_text("outside\n")
    (scope.root / "deep/a.md").unlink()
    (scope.root / "deep").rmdir()
    (scope.root / "deep").symlink_to(outside)
    assert blamed(scope, "deep/a.md") == [("inside", first)]


def test_git_s_own_index_is_left_as_it_is(scope: Scope) -> None:
    write(scope, "a.md", PAGE)
    scope.git("update-index", "--index-version", "4")
    before = (scope.root / ".git/index").read_bytes()
    scope.write("a.md", "one\n")
    history.diff(scope.store, "a.md", "main")
    history.blame(scope.store, "a.md")
    assert (scope.root / ".git/index").read_bytes() == before


# merging


@pytest.mark.parametrize(("end", "mark"), [(b"\n", b""), (b"\r\n", b"\xef\xbb\xbf"), (b"\n", b"\xe9\xff")])
def test_texts_of_any_encoding_merge_byte_for_byte(end: bytes, mark: bytes, scope: Scope) -> None:
    base, ours, theirs, both = (
        mark + end.join(text.split())
        for text in (b"1 2 3 4 5", b"one 2 3 4 5", b"1 2 3 4 five", b"one 2 3 4 five")
    )
    assert history.merge(scope.store.repo, base, ours, theirs) == (both, "", "")
    assert os.listdir(scope.root / ".git/neosian") == []


@pytest.mark.parametrize(
    ("base", "ours", "theirs"),
    [(b"a\n", b"b\n", b"c\n"), (b"", b"=======\nb\n", b">>>>>>> x\n"), (b"a\0", b"b\0", b"c\0")],
)
def test_of_texts_that_do_not_merge_both_are_given(
    base: bytes, ours: bytes, theirs: bytes, scope: Scope
) -> None:
    _, one, other = history.merge(scope.store.repo, base, ours, theirs)
    assert (one.encode(), other.encode()) == (ours, theirs)


HEAD = b"---\ntitle: Deploy\ndescription: How\ntags:\n  - a\n---\n"
BODY = b"# Deploy\n\nOn Fridays.\n"


@pytest.mark.parametrize(
    ("ours", "theirs", "merged"),
    [
        (HEAD.replace(b"Deploy", b"Ship"), HEAD.replace(b"How", b"When"), HEAD.replace(b"Deploy", b"Ship").replace(b"How", b"When")),
        (HEAD.replace(b"  - a", b"  - b"), HEAD.replace(b"How", b"When"), HEAD.replace(b"  - a", b"  - b").replace(b"How", b"When")),
        (HEAD.replace(b"tags:\n  - a\n", b""), HEAD.replace(b"How", b"When"), HEAD.replace(b"How", b"When").replace(b"tags:\n  - a\n", b"")),
        (HEAD.replace(b"tags", b"when: now\ntags"), HEAD.replace(b"tags", b"status: open\ntags"), HEAD.replace(b"tags", b"when: now\ntags").replace(b"  - a\n", b"  - a\nstatus: open\n")),
        (HEAD.replace(b"title", b"pinned: true\ntitle"), HEAD.replace(b"  - a\n", b"  - a\npinned: true\n"), HEAD.replace(b"title", b"pinned: true\ntitle")),
    ],
    ids=["beside each other", "a list", "one dropped", "two new ones", "the same one twice"],
)  # fmt: skip
@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_front_matter_that_collides_is_merged_key_by_key(
    ours: bytes, theirs: bytes, merged: bytes, end: bytes, scope: Scope
) -> None:
    texts = [
        text.replace(b"\n", end)
        for text in (HEAD + BODY, ours + BODY + b"More.\n", theirs + b"Intro\n" + BODY, merged + b"Intro\n" + BODY + b"More.\n")
    ]  # fmt: skip
    assert history.merge_note(scope.store.repo, *texts[:3]) == (texts[3], "", "")


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (HEAD.replace(b"How", b"When") + BODY, HEAD.replace(b"How", b"Where") + BODY),
        (HEAD.replace(b"Deploy", b"Ship") + BODY.replace(b"Fri", b"Sun"), HEAD.replace(b"How", b"When") + BODY.replace(b"Fri", b"Mon")),
    ],
)  # fmt: skip
def test_where_a_key_or_the_text_was_changed_on_both_sides_both_are_given(
    ours: bytes, theirs: bytes, scope: Scope
) -> None:
    assert history.merge_note(scope.store.repo, HEAD + BODY, ours, theirs) == (
        b"",
        ours.decode(),
        theirs.decode(),
    )


def test_two_new_notes_of_one_name_do_not_merge(scope: Scope) -> None:
    merged, *sides = history.merge_note(scope.store.repo, b"", HEAD + BODY, HEAD + b"else\n")
    assert (merged, all(sides)) == (b"", True)


def test_a_text_without_front_matter_merges_as_any_text(scope: Scope) -> None:
    assert history.merge_note(scope.store.repo, b"a\nb\nc\n", b"1\nb\nc\n", b"a\nb\n3\n") == (
        b"1\nb\n3\n",
        "",
        "",
    )
    assert history.merge_note(scope.store.repo, b"a\n", b"b\n", b"c\n") == (b"", "b\n", "c\n")
