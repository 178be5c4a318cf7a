"""The register of projects: one memory for one project, wherever it lies, and a file that stays its person's."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path

import pytest

from neosian import projects
from neosian.beginning import begin
from neosian.errors import NeosianError
from neosian.scope import user_scope
from tests.factories import OTHER, Home, fsck, git, prompts_of, repository, status, subjects

REMOTE = "https://github.com/acme/shop.git"


def registered(home: Home) -> dict[str, list[str]]:
    """The identities of each slug, in their order."""
    entries = tomllib.loads((home.user / projects.FILE).read_text("utf-8")).get("project", [])
    found: dict[str, list[str]] = {}
    for entry in entries:
        found.setdefault(entry["slug"], []).extend(entry["identities"])
    return found


def register(home: Home, root: Path) -> projects.Project:
    return projects.register(str(home.path), str(root))


def edited(home: Home, text: str) -> None:
    """A person writes the register and commits it."""
    home.committed(projects.FILE, text, below=home.user)


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


def test_a_project_goes_by_its_remotes_and_its_path(home: Home) -> None:
    git(home.project, "remote", "add", "origin", REMOTE)
    project = register(home, home.project)
    assert (project.slug, project.scope) == ("shop", f"{user_scope()}/proj:shop")
    assert registered(home) == {"shop": ["github.com/acme/shop", str(home.project)]}
    assert (status(home.user), fsck(home.user)) == ("", "")


def test_registering_again_writes_nothing(home: Home) -> None:
    register(home, home.project)
    before = git(home.user, "rev-parse", "main")
    register(home, home.project)
    assert git(home.user, "rev-parse", "main") == before


def test_a_clone_elsewhere_is_the_same_project(home: Home, tmp_path: Path) -> None:
    git(home.project, "remote", "add", "origin", REMOTE)
    register(home, home.project)
    clone = repository(tmp_path / "other name", remote="git@github.com:acme/shop.git")
    assert register(home, clone).slug == "shop"
    assert registered(home)["shop"] == ["github.com/acme/shop", str(home.project), str(clone)]


def test_the_path_still_knows_a_project_whose_remote_changed(home: Home) -> None:
    git(home.project, "remote", "add", "origin", REMOTE)
    register(home, home.project)
    git(home.project, "remote", "set-url", "origin", "https://gitlab.com/acme/store.git")
    assert register(home, home.project).slug == "shop"
    assert "gitlab.com/acme/store" in registered(home)["shop"]


def test_a_name_that_is_taken_gets_four_digits_more(home: Home, tmp_path: Path) -> None:
    register(home, home.project)
    another = register(home, repository(tmp_path / "client" / "shop"))
    assert another.slug.startswith("shop-")
    assert len(another.slug) == len("shop-") + 4
    assert int(another.slug[-4:], 16) >= 0
    assert register(home, home.project).slug == "shop"
    assert set(registered(home)) == {"shop", another.slug}


def test_looking_a_project_up_writes_nothing(home: Home) -> None:
    assert projects.find(str(home.path), str(home.project)).slug == "shop"
    assert not home.path.exists()


@pytest.mark.parametrize(("name", "slug"), [("---", "project"), ("日本語", "日本語"), ("My Shop", "my-shop")])
def test_any_name_of_a_folder_makes_an_entry(name: str, slug: str, home: Home, tmp_path: Path) -> None:
    root = repository(tmp_path / name)
    assert register(home, root).slug == slug
    assert registered(home) == {slug: [str(root)]}
    assert projects.find(str(home.path), str(root)).slug == slug


def test_a_path_with_quotes_and_controls_is_written_as_toml(home: Home, tmp_path: Path) -> None:
    root = repository(tmp_path / 'a "b" \\ c\td')
    register(home, root)
    assert registered(home)["a-b-c-d"] == [str(root)]


LAYOUTS = (
    '[[project]]\nslug = "work"\nidentities = ["github.com/acme/shop"]\n',
    "[[ project ]]  # the shop\nnote = 'x'\nidentities = [\n    'github.com/acme/shop',  # the remote\n]\nslug = 'work'\n",
)


@pytest.mark.parametrize("text", LAYOUTS)
def test_the_file_keeps_what_its_person_wrote(text: str, home: Home, tmp_path: Path) -> None:
    register(home, home.folder)  # so that there is a file
    edited(home, f"# mine\n\n{text}")
    git(home.project, "remote", "add", "origin", REMOTE)
    assert register(home, home.project).slug == "work"
    register(home, repository(tmp_path / "third"))
    assert (home.user / projects.FILE).read_text().startswith(f"# mine\n\n{text}")
    assert registered(home)["work"] == ["github.com/acme/shop", str(home.project)]
    assert registered(home)["third"] == [str(tmp_path / "third")]


def test_a_layout_that_cannot_be_added_to_is_told_and_left_readable(home: Home) -> None:
    register(home, home.folder)
    text = 'project = [{ slug = "work", identities = ["github.com/acme/shop"] }]\n'
    edited(home, text)
    git(home.project, "remote", "add", "origin", REMOTE)
    assert projects.find(str(home.path), str(home.project)).slug == "work"
    with pytest.raises(NeosianError, match=r"projects\.toml"):
        register(home, home.project)
    assert (home.user / projects.FILE).read_text() == text


@pytest.mark.parametrize(
    "text", ["project = 1\n", "[[project]]\nslug = 3\n", '[[project]]\nidentities = ["x"]\n', "[project]\n"]
)
def test_an_entry_that_says_nothing_useful_is_passed_over(text: str, home: Home) -> None:
    register(home, home.folder)
    edited(home, text)
    assert projects.find(str(home.path), str(home.project)).slug == "shop"


def test_a_project_renamed_by_its_person_is_followed(home: Home) -> None:
    register(home, home.project)
    edited(home, (home.user / projects.FILE).read_text().replace('"shop"', '"store"'))
    assert register(home, home.project).scope == f"{user_scope()}/proj:store"


def test_a_register_that_a_person_broke_is_told_and_not_touched(home: Home) -> None:
    register(home, home.project)
    edited(home, "[[project\n# half way through\n")
    with pytest.raises(NeosianError, match=r"projects\.toml is not TOML"):
        register(home, home.project)
    assert (home.user / projects.FILE).read_text() == "[[project\n# half way through\n"


def test_while_the_register_is_broken_known_sessions_land_and_new_ones_wait(
    home: Home, private_home: Path
) -> None:
    known = home.talk()
    known.land("One")
    edited(home, "[[project\n")
    known.turn("Two")
    home.talk("elsewhere", cwd=private_home).turn("No project")
    home.talk(OTHER).turn("New")
    lander = home.lander()
    lander.land()
    assert (prompts_of(home.shop), prompts_of(home.user)) == (["One", "Two"], ["No project"])
    assert [str(error) for error in lander.failures if "projects.toml" in str(error)]
    git(home.user, "revert", "--no-edit", "HEAD~1" if "Turn" in subjects(home.user)[0] else "HEAD")
    home.land()
    assert sorted(prompts_of(home.shop)) == ["New", "One", "Two"]


def test_stores_are_those_that_are_there(home: Home) -> None:
    assert projects.stores(str(home.path)) == []
    home.talk().land("Hello")
    (home.path / "scopes" / "stray").mkdir()
    assert [store.scope for store in projects.stores(str(home.path))] == [
        user_scope(),
        f"{user_scope()}/proj:shop",
    ]


def test_a_registration_is_an_act_of_neosian(home: Home) -> None:
    register(home, home.project)
    assert subjects(home.user)[0] == "Register project shop"
    assert git(home.user, "log", "-1", "--format=%an %ae %cn") == "neosian neosian@neosian.invalid neosian"


# a slug that is renamed


def renamed(home: Home, old: str = "shop", new: str = "store") -> None:
    edited(home, (home.user / projects.FILE).read_text().replace(f'"{old}"', f'"{new}"'))


def store_folder(home: Home, slug: str) -> Path:
    return Path(home.store(f"{user_scope()}/proj:{slug}").path)


@pytest.mark.parametrize("how", ["a landing", "a session's start"])
def test_a_renamed_project_brings_its_folder_page_and_memory_along(how: str, home: Home) -> None:
    home.talk().land("Before")
    old = home.shop
    renamed(home)
    another = home.talk(OTHER)
    if how == "a landing":
        another.land("After")
    else:
        assert "Before" in begin(str(home.path), another.start())
        another.land("After")
    new = store_folder(home, "store")
    assert not old.exists()
    assert prompts_of(new) == ["Before", "After"]
    assert "proj:store" in (new / "README.md").read_text()
    assert "proj:shop" not in (new / "README.md").read_text()
    assert (status(new), fsck(new)) == ("", "")


def test_the_folder_of_a_renamed_project_says_its_new_scope(home: Home) -> None:
    home.talk().land("Before")
    renamed(home)
    home.talk(OTHER).land("After")
    said = (store_folder(home, "store") / ".git/neosian/scope").read_text()
    assert said.strip() == f"{user_scope()}/proj:store"


def test_a_project_renamed_to_a_name_too_long_for_a_folder_is_still_listed(home: Home) -> None:
    home.talk().land("Before")
    long = "日" * 90  # its folder's name ends in a hash
    renamed(home, new=long)
    home.talk(OTHER).land("After")
    assert f"{user_scope()}/proj:{long}" in [store.scope for store in projects.stores(str(home.path))]


def test_a_conversation_that_is_under_way_goes_on_in_the_renamed_project(home: Home) -> None:
    talk = home.talk()
    talk.land("One")
    renamed(home)
    home.talk(OTHER).land("Another")
    talk.land("Two")
    assert prompts_of(store_folder(home, "store")).count("One") == 1
    assert sorted(prompts_of(store_folder(home, "store"))) == ["Another", "One", "Two"]
    assert [store.scope for store in projects.stores(str(home.path))] == [
        user_scope(),
        f"{user_scope()}/proj:store",
    ]


def test_a_page_that_a_person_wrote_keeps_its_words_in_a_renamed_project(home: Home) -> None:
    home.talk().land("Before")
    home.committed("README.md", "My own words on shop.\n")
    renamed(home)
    home.talk(OTHER).land("After")
    assert (store_folder(home, "store") / "README.md").read_text() == "My own words on shop.\n"


def test_a_project_renamed_to_one_that_has_a_folder_changes_neither(home: Home, tmp_path: Path) -> None:
    home.talk().land("In the shop")
    home.talk(OTHER, cwd=repository(tmp_path / "store")).land("In the store")
    renamed(home)
    home.talk("third").land("Where?")
    assert prompts_of(home.shop) == ["In the shop"]
    assert prompts_of(store_folder(home, "store")) == ["In the store", "Where?"]


def test_looking_a_renamed_project_up_moves_nothing(home: Home) -> None:
    home.talk().land("Before")
    renamed(home)
    assert projects.find(str(home.path), str(home.project)).slug == "store"
    assert home.shop.exists()


# another branch, other paths


@pytest.mark.parametrize("where", [("-b", "topic", "main~2"), ("--detach", "main~2")])
def test_another_branch_in_the_user_scope_does_not_mix_projects_up(
    where: tuple[str, ...], home: Home, tmp_path: Path
) -> None:
    home.talk().land("In the shop")
    other = repository(tmp_path / "client" / "shop")
    home.talk(OTHER, cwd=other).land("In the other")
    slug = projects.find(str(home.path), str(other)).slug
    git(home.user, "checkout", "-q", *where)
    home.talk("third", cwd=other).land("In the other again")
    home.talk("fourth").land("In the shop again")
    assert prompts_of(home.shop) == ["In the shop", "In the shop again"]
    assert prompts_of(store_folder(home, slug)) == ["In the other", "In the other again"]


@pytest.mark.parametrize("linked", [False, True], ids=["itself", "through a link"])
def test_a_project_whose_path_is_no_text_stops_no_other(linked: bool, home: Home, tmp_path: Path) -> None:
    root = repository(Path(os.fsdecode(os.fsencode(tmp_path) + b"/bad-\xff")))
    if linked:
        (tmp_path / "link").symlink_to(root)
    marks = {"CLAUDE_PROJECT_DIR": str(tmp_path / "link" if linked else root)}
    home.talk(OTHER, marks=marks).land("In the odd one")
    home.talk().land("In the shop")
    home.talk("third", marks=marks).land("In the odd one again")
    assert prompts_of(home.shop) == ["In the shop"]
    assert registered(home)["bad"] == [str(tmp_path) + r"/bad-\xff"]
    assert prompts_of(store_folder(home, "bad")) == ["In the odd one", "In the odd one again"]


def test_a_token_in_a_remote_or_a_path_is_not_written_down(home: Home, tmp_path: Path) -> None:
    token = "gh" + "p_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    git(home.project, "remote", "add", "origin", f"https://host.example/{token}/shop.git")
    home.talk().land("Hello")
    other = repository(tmp_path / token)
    home.talk(OTHER, cwd=other).land("Hello from a folder with an odd name")
    assert registered(home)["shop"] == [str(home.project)]
    assert registered(home)["redacted-github-token"] == [str(tmp_path / "[redacted:github-token]")]
    assert token[4:] not in git(home.user, "log", "-p", "--all")
    assert projects.find(str(home.path), str(other)).slug == "redacted-github-token"


@pytest.mark.parametrize(
    "url",
    [
        "https://ada:hunter2@host.example/acme/shop.git?token=hunter2",
        "https://host.example/acme/shop?access_token=hunter2#hunter2",
        "ada:hunter2@host.example:acme/shop.git",
        "https://host.example/hunter2:x@y/shop",
    ],
)
def test_no_password_of_a_remote_is_written_down(url: str, home: Home) -> None:
    git(home.project, "remote", "add", "origin", url)
    home.talk().land("Hello")
    assert "hunter2" not in git(home.user, "log", "-p", "--all")
    assert "hunter2" not in git(home.shop, "log", "-p", "--all")
    assert str(home.project) in registered(home)["shop"]
