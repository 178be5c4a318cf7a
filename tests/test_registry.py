"""The projects of a home, by the four words of `neosian project`: real scopes, landed turns, real git."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from neosian import cli, registry, switch
from neosian.scope import user_scope
from neosian.store import ATTRIBUTES
from tests.factories import (
    OTHER,
    SESSION,
    Home,
    aged,
    fsck,
    git,
    prompts_of,
    repository,
    status,
    subjects,
    trailers,
)

Said = pytest.CaptureFixture[str]
THIRD = "77777777-0000-4000-8000-000000000000"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    """A home with a turn in each of the projects `shop` and `blog`."""
    made = Home(tmp_path)
    made.talk(SESSION).land("why is login slow?")
    made.talk(OTHER, cwd=repository(tmp_path / "blog")).land("write a post")
    monkeypatch.setenv("NEOSIAN_HOME", str(made.path))
    monkeypatch.chdir(made.project)
    return made


def say(capsys: Said, *words: str) -> tuple[int, str, str]:
    """`neosian project ...`: status, stdout, stderr."""
    capsys.readouterr()
    ended = cli.main(["project", *words])
    said = capsys.readouterr()
    return ended, said.out, said.err


def folder(home: Home, name: str) -> Path:
    return Path(home.store(f"{user_scope()}/proj:{name}").path)


def register(home: Home) -> str:
    return (home.user / "projects.toml").read_text("utf-8")


def tips(home: Home) -> list[str]:
    return [git(folder(home, name), "rev-parse", "main") for name in ("shop", "blog")]


def is_whole(home: Home) -> bool:
    return all(status(each) + fsck(each) == "" for each in (home.path / "scopes").iterdir())


# list


def test_every_project_is_listed_with_what_it_holds(home: Home, capsys: Said, tmp_path: Path) -> None:
    switch.switch_project(str(home.path), str(tmp_path / "blog"), is_on=False)
    rows = {row["name"]: row for row in json.loads(say(capsys, "list", "--json")[1])}
    assert sorted(rows) == ["blog", "shop"]
    shop = rows["shop"]
    assert (shop["turns"], shop["documents"], shop["here"], shop["off"]) == (1, 0, [str(home.project)], False)
    assert rows["blog"]["off"]
    said = say(capsys)[1].splitlines()
    assert [line.split()[0] for line in said] == ["project", "blog", "shop"]


def test_a_home_without_projects_is_no_error(tmp_path: Path, capsys: Said) -> None:
    assert say(capsys, "list", "--root", str(tmp_path / "none")) == (0, "No project yet.\n", "")
    assert not (tmp_path / "none").exists()


# rename


def test_a_renamed_project_keeps_its_memory_and_goes_on(home: Home, capsys: Said) -> None:
    home.committed("ops/deploy.md", "Friday\n")
    talk = home.talk(SESSION)
    talk.ask("and logout?")  # a turn that runs while its project gets another name
    ended, out, err = say(capsys, "rename", "shop", "store-2")
    assert (ended, out) == (0, "shop is called store-2 now.\n")
    assert "neosian project rename store-2 shop" in err
    talk.answer()
    home.land()
    assert not folder(home, "shop").exists()
    assert prompts_of(folder(home, "store-2")) == ["why is login slow?", "and logout?"]
    assert (folder(home, "store-2") / "ops/deploy.md").read_text() == "Friday\n"
    assert "store-2" in (folder(home, "store-2") / "README.md").read_text()
    assert is_whole(home)


def test_a_persons_layout_of_the_register_stays(home: Home, capsys: Said) -> None:
    path = home.user / "projects.toml"
    text = register(home).replace('slug = "shop"', "slug='Shop' # my \"shop\"").replace("\n", "\r\n")
    path.write_bytes(text.encode())
    aged(path)
    assert say(capsys, "rename", "shop", "store")[0] == 0
    assert path.read_bytes().decode() == text.replace("slug='Shop'", 'slug="store"'.replace("slug=", "slug="))
    assert status(home.user) == ""


def test_a_rename_that_was_cut_off_is_finished(home: Home, capsys: Said) -> None:
    path = home.user / "projects.toml"
    path.write_text(register(home).replace('"shop"', '"store"'))
    aged(path)
    assert say(capsys, "rename", "shop", "store")[0] == 0
    assert prompts_of(folder(home, "store")) == ["why is login slow?"]


CUT_OFF = [
    "registry._edit_register", "projects.rename_scope", "projects._finish_rename", "projects._rename_landed",
    "projects._rename_page", "store.Store.note_scope",
]  # fmt: skip


@pytest.mark.parametrize("step", CUT_OFF)
@pytest.mark.parametrize("again", ["asked", "session"])
def test_a_rename_that_was_killed_goes_on_from_where_it_was(
    home: Home, capsys: Said, step: str, again: str
) -> None:
    code = f"""
import os
from neosian import cli, landing, projects, registry, store
{step} = lambda *given, **named: os._exit(9)
cli.main(["project", "rename", "shop", "store"])
"""
    copies = list((home.path / "spool/landed").glob("*/*"))
    assert subprocess.run([sys.executable, "-c", code]).returncode == 9
    if again == "asked":
        assert say(capsys, "rename", "shop", "store")[0] == 0
    elif step == CUT_OFF[0]:
        return  # nothing was done
    home.talk(THIRD).land("and now?")
    store = folder(home, "store")
    assert (folder(home, "shop").exists(), prompts_of(store)) == (False, ["why is login slow?", "and now?"])
    assert ("proj:store" in (store / "README.md").read_text(), is_whole(home)) == (True, True)
    assert (store / ".git/neosian/scope").read_text() == f"{user_scope()}/proj:store\n"
    landed = home.path / "spool/landed"
    assert not (landed / home.shop.name).exists()
    assert {path.name for path in copies} <= {path.name for path in landed.glob("*/*")}


def test_a_rename_that_finds_the_index_held_says_how_far_it_is(home: Home, capsys: Said) -> None:
    lock = home.shop / ".git/index.lock"
    lock.touch()
    ended, _, err = say(capsys, "rename", "shop", "store")
    assert (ended, "is called" in err, "Then ask for it once more" in err) == (1, True, True), err
    (folder(home, "store") / ".git/index.lock").unlink()
    assert say(capsys, "rename", "shop", "store")[:2] == (0, "shop is called store now.\n")
    assert "proj:store" in (folder(home, "store") / "README.md").read_text()
    ended, _, err = say(capsys, "rename", "shop", "store")  # it is done
    assert (ended, "No project is called 'shop'" in err) == (2, True)


@pytest.mark.parametrize(
    ("old", "new", "why", "hint"),
    [
        ("nothing", "x", "No project is called 'nothing'; there are: blog, shop.", "neosian project list"),
        ("shop", "blog", "There is a project blog already.", "neosian project merge shop blog"),
        ("shop", "shop", "shop is called so already.", "neosian project list"),
        ("shop", "Shop 2", "'Shop 2' cannot be a project's name", "neosian project rename OLD shop-2"),
        ("shop", "../x", "'../x' cannot be a project's name", "neosian project rename OLD x"),
        ("shop", "", "'' cannot be a project's name", "neosian project list"),
        ("shop", "n" * 81, "cannot be a project's name", "neosian project rename OLD nnn"),
    ],
)
def test_a_name_that_will_not_do_is_refused(
    home: Home, capsys: Said, old: str, new: str, why: str, hint: str
) -> None:
    before = register(home)
    ended, out, err = say(capsys, "rename", old, new)
    assert (ended, out, why in err, hint in err) == (2, "", True, True), err
    assert (register(home), folder(home, "shop").exists()) == (before, True)


def test_a_register_just_saved_or_not_toml_stops_the_act(home: Home, capsys: Said) -> None:
    path = home.user / "projects.toml"
    path.write_text(register(home) + "# mine\n")
    ended, _, err = say(capsys, "rename", "shop", "store")
    assert (ended, "was saved just now" in err) == (1, True), err
    path.write_text("[[project]\n")
    aged(path)
    ended, _, err = say(capsys, "rename", "shop", "store")
    assert (ended, "is not TOML" in err, "Traceback" in err) == (1, True, False), err
    assert folder(home, "shop").exists()


# merge


def test_two_projects_become_one_with_both_histories(home: Home, capsys: Said) -> None:
    home.committed("ops/deploy.md", "Friday\n")
    home.committed("ops/posts.md", "monthly\n", below=folder(home, "blog"))
    tips = [git(folder(home, name), "rev-parse", "main") for name in ("shop", "blog")]
    ended, out, _ = say(capsys, "merge", "shop", "blog")
    blog = folder(home, "blog")
    assert (ended, out.startswith("shop is part of blog now")) == (0, True)
    assert not folder(home, "shop").exists()
    assert git(blog, "log", "-1", "--format=%P").split() == tips[::-1]
    assert trailers(blog)["Neosian-Act"] == "merge"
    assert sorted(prompts_of(blog)) == ["why is login slow?", "write a post"]
    assert [(blog / "ops" / name).read_text() for name in ("deploy.md", "posts.md")] == [
        "Friday\n",
        "monthly\n",
    ]
    assert is_whole(home)


def test_sessions_of_both_projects_go_on_in_the_one(home: Home, capsys: Said) -> None:
    say(capsys, "merge", "shop", "blog")
    home.talk(SESSION).land("and logout?")
    home.talk(THIRD).land("a new session in the old folder")
    assert len(prompts_of(folder(home, "blog"))) == 4
    assert not folder(home, "shop").exists()
    capsys.readouterr()
    assert cli.main(["search", "logout", "--json"]) == 0
    assert "and logout?" in capsys.readouterr().out
    assert is_whole(home)


def test_documents_that_both_have_are_both_kept_and_said(home: Home, capsys: Said) -> None:
    for name, text in (("shop", "Friday\n"), ("blog", "Monday\n")):
        home.committed("ops/deploy.md", text, below=folder(home, name))
        home.committed("same.md", "the same\n", below=folder(home, name))
    home.committed("OPS/Case.md", "upper\n")
    home.committed("ops/case.md", "lower\n", below=folder(home, "blog"))
    _, _, err = say(capsys, "merge", "shop", "blog")
    blog = folder(home, "blog")
    assert (blog / "ops/deploy.md").read_text() == "Monday\n"
    assert (blog / "ops/deploy-from-shop.md").read_text() == "Friday\n"
    assert (blog / "ops/case-from-shop.md").read_text() == "upper\n"
    assert "Both had ops/deploy.md: that of shop is kept as ops/deploy-from-shop.md" in err
    assert "same" not in err
    assert is_whole(home)


def test_a_persons_own_gitattributes_are_kept_and_said(home: Home, capsys: Said) -> None:
    home.committed(".gitattributes", "*.md text\n")
    _, _, err = say(capsys, "merge", "shop", "blog")
    blog = folder(home, "blog")
    assert (blog / ".gitattributes-from-shop").read_text() == "*.md text\n"
    assert "is kept as .gitattributes-from-shop" in err
    assert (blog / ".gitattributes").read_bytes() == ATTRIBUTES


def test_a_document_where_the_other_has_a_folder_is_kept(home: Home, capsys: Said) -> None:
    home.committed("a.md/inner.md", "in a folder\n")
    home.committed("a.md", "a document\n", below=folder(home, "blog"))
    home.committed("b.md", "a document\n")
    home.committed("b.md/c.md", "in a folder\n", below=folder(home, "blog"))
    ended, _, err = say(capsys, "merge", "shop", "blog")
    assert ended == 0, err
    texts = [path.read_text() for path in folder(home, "blog").rglob("*from-shop*") if path.is_file()]
    assert sorted(texts) == ["a document\n", "in a folder\n"]
    assert is_whole(home)


def test_what_two_projects_share_of_their_past_merges_by_line(home: Home, capsys: Said) -> None:
    rows = [f"line {n}\n" for n in range(20)]
    home.committed("a.md", "".join(rows))
    say(capsys, "merge", "shop", "blog")
    blog = folder(home, "blog")
    # The same project once more, from another machine's folder that had gone on by itself.
    shop = home.store().path
    git(home.folder, "clone", "-q", str(blog), shop)
    (Path(shop) / ".git/neosian").mkdir()
    home.committed("a.md", "".join(["first\n", *rows[1:]]))
    home.committed("a.md", "".join([*rows[:-1], "last\n"]), below=blog)
    _, _, err = say(capsys, "merge", "shop", "blog")
    assert (blog / "a.md").read_text() == "".join(["first\n", *rows[1:-1], "last\n"])
    assert "Both had changed a.md" in err
    assert is_whole(home)


def test_what_would_be_lost_with_the_folder_stops_the_merge(home: Home, capsys: Said) -> None:
    picture = home.shop / "picture.png"
    picture.write_bytes(b"\x89PNG")
    before = [git(folder(home, name), "rev-parse", "main") for name in ("shop", "blog")]
    ended, _, err = say(capsys, "merge", "shop", "blog")
    assert (ended, "picture.png" in err, f"git -C {home.shop} status" in err) == (1, True, True)
    assert [git(folder(home, name), "rev-parse", "main") for name in ("shop", "blog")] == before
    assert picture.exists()


@pytest.mark.parametrize("kind", ["repository", "link"])
def test_what_is_no_file_stops_the_merge_before_anything_is_written(
    home: Home, capsys: Said, kind: str
) -> None:
    odd = home.shop / "mod"
    if kind == "repository":
        repository(odd, commit=True)
    else:
        odd.symlink_to("/etc/hosts")
    git(home.shop, "add", "mod")
    git(home.shop, "commit", "-qm", "Odd")
    before = tips(home)
    ended, _, err = say(capsys, "merge", "shop", "blog")
    assert (ended, "cannot be merged: mod." in err, "Nothing was merged" in err) == (1, True, True), err
    assert (tips(home), odd.exists()) == (before, True)
    home.talk(OTHER, cwd=home.folder / "blog").land("and one more")


def test_branches_and_tags_of_a_person_come_along(home: Home, capsys: Said) -> None:
    git(home.shop, "branch", "idea")
    git(home.shop, "tag", "v1")
    say(capsys, "merge", "shop", "blog")
    said = git(folder(home, "blog"), "for-each-ref", "--format=%(refname)").split()
    assert said == ["refs/heads/main", "refs/heads/shop/idea", "refs/tags/shop/v1"]


def refs_of(path: Path) -> dict[str, str]:
    words = git(path, "for-each-ref", "--format=%(refname) %(objectname)").split()
    return dict(zip(words[::2], words[1::2], strict=True))


def test_no_ref_of_either_project_is_lost_or_written_over(home: Home, capsys: Said) -> None:
    blog = folder(home, "blog")
    for name in ("shop", "shop-2/idea/more"):  # where this project's branches would go
        git(blog, "branch", name)
    git(blog, "update-ref", "refs/neosian/review/run-1", "main")
    git(home.shop, "branch", "idea")
    git(home.shop, "notes", "add", "-m", "precious")
    git(home.shop, "update-ref", "refs/backup/x", "main")
    git(home.shop, "update-ref", "refs/neosian/review/run-1", "main")
    git(home.shop, "update-ref", "refs/neosian/review/run-2", "main")
    git(home.shop, "update-ref", "refs/remotes/origin/main", "main")
    theirs, held = refs_of(home.shop), refs_of(blog)
    assert say(capsys, "merge", "shop", "blog")[0] == 0
    came = {name: id for name, id in refs_of(blog).items() if name not in held}
    assert {name: held[name] for name in held if name != "refs/heads/main"}.items() <= refs_of(blog).items()
    assert came == {
        "refs/backup/shop-3/x": theirs["refs/backup/x"],
        "refs/heads/shop-3/idea": theirs["refs/heads/idea"],
        "refs/neosian/review/run-1-shop-3": theirs["refs/heads/main"],
        "refs/neosian/review/run-2": theirs["refs/heads/main"],
        "refs/notes/shop-3/commits": theirs["refs/notes/commits"],
        "refs/remotes/shop-3/origin/main": theirs["refs/heads/main"],
    }
    assert is_whole(home)


def test_a_second_project_of_a_name_takes_no_branch_of_the_first(
    home: Home, capsys: Said, tmp_path: Path
) -> None:
    blog = folder(home, "blog")
    for number in (1, 2):
        if number == 2:
            home.talk(THIRD, cwd=repository(tmp_path / "more" / "shop")).land("another shop")
        git(home.shop, "checkout", "-qb", "idea")
        home.committed("idea.md", f"{number}\n")
        git(home.shop, "checkout", "-q", "main")
        assert say(capsys, "merge", "shop", "blog")[0] == 0
    said = [git(blog, "show", f"{name}/idea:idea.md") for name in ("shop", "shop-2")]
    assert said == ["1", "2"]


@pytest.mark.parametrize("name", ["a b", "x.lock", "a..b", "p/branch:q", "@"])
def test_a_project_with_a_name_that_no_ref_has_can_be_merged(home: Home, capsys: Said, name: str) -> None:
    text = f"{user_scope()}/proj:{name}"
    for number, scope in enumerate([text, f"{user_scope()}/proj:blog"]):
        session = f"{number + 1}" * 8 + "-0000-4000-8000-000000000000"
        home.talk(session, flags=["--scope", scope]).land(f"turn {number}")
        home.committed("same.md", f"{number}\n", below=Path(home.store(scope).path))
    git(home.store(text).path, "branch", "idea")
    ended, _, err = say(capsys, "merge", name, "blog")
    blog = folder(home, "blog")
    assert (ended, sorted(prompts_of(blog))) == (0, ["turn 0", "turn 1", "write a post"]), err
    assert (len(list(blog.glob("same-from-*.md"))), len(git(blog, "branch").splitlines())) == (1, 2)
    assert is_whole(home)


def test_a_linked_work_tree_stops_the_merge(home: Home, capsys: Said, tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    git(home.shop, "worktree", "add", "-q", "--detach", str(tree))
    (tree / "unsaved.md").write_text("not yet\n")
    ended, _, err = say(capsys, "merge", "shop", "blog")
    assert (ended, "has a work tree elsewhere (tree)" in err, "Nothing was merged" in err) == (1, True, True)
    assert status(tree) == "?? unsaved.md"


def test_remotes_that_do_not_come_along_are_named_without_their_password(home: Home, capsys: Said) -> None:
    git(home.shop, "remote", "add", "origin", "https://ada:hunter2@host.example/notes.git")
    ended, _, err = say(capsys, "merge", "shop", "blog")
    assert (ended, "the remote origin (host.example/notes)" in err, "hunter2" in err) == (0, True, False), err


def test_a_change_that_a_killed_writer_left_comes_along(home: Home, capsys: Said) -> None:
    base = git(home.shop, "rev-parse", "main")
    new = git(home.shop, "commit-tree", f"{base}^{{tree}}", "-p", base, "-m", "Left behind")
    (home.shop / ".git/refs/neosian").mkdir(exist_ok=True)
    (home.shop / ".git/refs/neosian/next").write_text(new + "\n")
    say(capsys, "merge", "shop", "blog")
    assert "Left behind" in subjects(folder(home, "blog"))


# the register, which is a person's file


def test_a_register_that_cannot_be_edited_stops_the_merge_before_anything_moves(
    home: Home, capsys: Said
) -> None:
    path, before = home.user / "projects.toml", tips(home)
    path.write_text(register(home).replace("slug =", '"sl\\u0075g" ='))
    aged(path)
    ended, _, err = say(capsys, "merge", "shop", "blog")
    assert (ended, "a way that neosian does not edit" in err, tips(home)) == (1, True, before), err
    path.write_text(register(home) + "# typing\n")
    git(home.user, "add", "projects.toml")
    ended, _, err = say(capsys, "merge", "shop", "blog")
    assert (ended, "is staged" in err, "Nothing was changed" in err, tips(home)) == (1, True, True, before)


def test_a_quoted_key_of_the_register_can_be_edited(home: Home, capsys: Said) -> None:
    path = home.user / "projects.toml"
    path.write_text(register(home).replace("slug =", '"slug" ='))
    aged(path)
    assert say(capsys, "merge", "shop", "blog")[0] == 0
    assert register(home).count('"slug" = "blog"') == 2


def test_a_register_that_is_taken_while_the_merge_lands_is_said_to_be_left(
    home: Home, capsys: Said, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep = registry._keep_refs

    def keep_while_somebody_commits(*given: Any) -> None:
        keep(*given)
        (home.user / ".git/index.lock").touch()

    monkeypatch.setattr(registry, "_keep_refs", keep_while_somebody_commits)
    ended, _, err = say(capsys, "merge", "shop", "blog")
    assert (ended, "The turns and documents of shop are in" in err, "Nothing was" in err) == (
        1,
        True,
        False,
    ), err
    (home.user / ".git/index.lock").unlink()
    monkeypatch.undo()
    monkeypatch.setenv("NEOSIAN_HOME", str(home.path))
    assert say(capsys, "merge", "shop", "blog")[0] == 0
    assert (folder(home, "shop").exists(), len(prompts_of(folder(home, "blog")))) == (False, 2)
    assert is_whole(home)


def test_an_edit_that_waits_in_the_folder_lands_first(home: Home, capsys: Said) -> None:
    home.write("ops/new.md", "by hand\n")
    _, _, err = say(capsys, "merge", "shop", "blog")
    blog = folder(home, "blog")
    assert ("ops/new.md" in err, (blog / "ops/new.md").read_text()) == (True, "by hand\n")
    assert "Edit ops/new.md" in subjects(blog)


def test_merging_into_a_project_without_a_memory_yet_is_a_rename(home: Home, capsys: Said) -> None:
    path = home.user / "projects.toml"
    path.write_text(register(home) + '\n[[project]]\nslug = "new"\nidentities = ["/nowhere"]\n')
    aged(path)
    assert say(capsys, "merge", "shop", "new")[0] == 0
    assert prompts_of(folder(home, "new")) == ["why is login slow?"]
    home.talk(SESSION).land("and logout?")
    assert len(prompts_of(folder(home, "new"))) == 2


def test_what_a_killed_merge_left_in_the_cache_goes_with_the_next(home: Home, capsys: Said) -> None:
    left = home.path / "cache/merged-1/.git"
    left.mkdir(parents=True)
    say(capsys, "merge", "shop", "blog")
    assert not list((home.path / "cache").glob("merged-*"))


def test_a_merge_that_was_cut_off_is_finished(home: Home, capsys: Said) -> None:
    shop = home.shop
    shutil.copytree(shop, home.folder / "copy", symlinks=True)
    say(capsys, "merge", "shop", "blog")
    shutil.copytree(
        home.folder / "copy", shop, symlinks=True
    )  # as if it had been killed before the folder went
    count = len(subjects(folder(home, "blog")))
    assert say(capsys, "merge", "shop", "blog")[0] == 0
    assert (shop.exists(), len(subjects(folder(home, "blog")))) == (False, count)


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("shop", "shop"), "cannot be merged with itself"),
        (("shop", "nothing"), "No project is called 'nothing'"),
        (("", "shop"), "The project's name is blank"),
    ],
)
def test_projects_that_cannot_be_merged(home: Home, capsys: Said, words: tuple[str, str], why: str) -> None:
    ended, _, err = say(capsys, "merge", *words)
    assert (ended, why in err) == (2, True), err


def test_a_dream_under_way_stops_the_act(home: Home, capsys: Said) -> None:
    from neosian.dream.alone import alone

    with alone(str(home.path)):
        ended, _, err = say(capsys, "merge", "shop", "blog")
    assert (ended, "dream is under way" in err) == (1, True)
    assert folder(home, "shop").exists()


# move


def test_a_moved_project_is_known_by_its_new_folder(home: Home, capsys: Said, tmp_path: Path) -> None:
    old, new = home.project, tmp_path / "elsewhere" / "web shop"
    switch.switch_project(str(home.path), str(old), is_on=False)
    new.parent.mkdir()
    os.rename(old, new)
    assert say(capsys, "move", "shop", str(new))[:2] == (
        0,
        f"shop is known by {new} now, no more by {old}.\n",
    )
    assert switch.off_projects(str(home.path)) == [str(new)]
    switch.switch_project(str(home.path), str(new), is_on=True)
    home.talk(THIRD, cwd=new).land("from the new folder")
    assert prompts_of(home.shop) == ["why is login slow?", "from the new folder"]
    repository(old)  # another project where the old one was
    home.talk("88888888-0000-4000-8000-000000000000", cwd=old).land("something else")
    assert len(prompts_of(home.shop)) == 2


def test_the_folder_that_was_left_can_be_named_instead(home: Home, capsys: Said, tmp_path: Path) -> None:
    os.rename(home.project, tmp_path / "moved")
    (tmp_path / "moved" / "src").mkdir()
    ended, out, _ = say(capsys, "move", str(home.project), str(tmp_path / "moved" / "src"))
    assert (ended, out.startswith(f"shop is known by {tmp_path / 'moved'} now")) == (0, True)


def test_a_move_that_is_none_is_refused(home: Home, capsys: Said, tmp_path: Path) -> None:
    new = repository(tmp_path / "new")
    for words, why, hint in (
        (("shop", str(new)), "is still there, so shop did not move", f"mv {home.project} {new}"),
        (("shop", str(tmp_path / "gone")), "is no folder", "neosian project list"),
        (("shop", "/"), "can be no project", "neosian project list"),
        (
            ("shop", str(tmp_path / "blog")),
            "belongs to the project blog already",
            "neosian project merge blog shop",
        ),
        (("shop", str(home.project)), "is known by", "neosian project list"),
        (("/nowhere", str(new)), "No project is known by the folder /nowhere", "neosian project list"),
        (("nothing", str(new)), "No project is called 'nothing'", "neosian project list"),
    ):
        ended, out, err = say(capsys, "move", *words)
        assert (ended, out, why in err, hint in err) == (2, "", True, True), err


def test_of_several_folders_the_one_that_was_left_has_to_be_named(
    home: Home, capsys: Said, tmp_path: Path
) -> None:
    path = home.user / "projects.toml"
    path.write_text(register(home) + '\n[[project]]\nslug = "shop"\nidentities = ["/gone/one"]\n')
    aged(path)
    os.rename(home.project, tmp_path / "new")
    ended, _, err = say(capsys, "move", "shop", str(tmp_path / "new"))
    assert (ended, "is known by 2 folders: /gone/one" in err) == (2, True), err
    assert say(capsys, "move", str(home.project), str(tmp_path / "new"))[0] == 0
    assert "/gone/one" in register(home)
