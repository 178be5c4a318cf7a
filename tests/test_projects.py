"""The register of projects: one memory for one project, wherever it lies, and a file that stays its person's."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from neosian import projects
from neosian.scope import user_scope
from tests.factories import Home, fsck, git, repository, status, subjects

REMOTE = "https://github.com/acme/shop.git"


def registered(home: Home) -> dict[str, Any]:
    return tomllib.loads((home.user / projects.FILE).read_text("utf-8"))


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
    assert registered(home) == {"shop": {"identities": ["github.com/acme/shop", str(home.project)]}}
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
    assert registered(home)["shop"]["identities"] == ["github.com/acme/shop", str(home.project), str(clone)]


def test_the_path_still_knows_a_project_whose_remote_changed(home: Home) -> None:
    git(home.project, "remote", "add", "origin", REMOTE)
    register(home, home.project)
    git(home.project, "remote", "set-url", "origin", "https://gitlab.com/acme/store.git")
    assert register(home, home.project).slug == "shop"
    assert "gitlab.com/acme/store" in registered(home)["shop"]["identities"]


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
    assert registered(home) == {slug: {"identities": [str(root)]}}
    assert projects.find(str(home.path), str(root)).slug == slug


def test_a_path_with_quotes_and_controls_is_written_as_toml(home: Home, tmp_path: Path) -> None:
    root = repository(tmp_path / 'a "b" \\ c\td')
    register(home, root)
    assert registered(home)["a-b-c-d"]["identities"] == [str(root)]


def test_the_file_keeps_what_its_person_wrote(home: Home, tmp_path: Path) -> None:
    register(home, home.project)
    text = f'# mine\n\n[work]   \nnote = "x"  # why\nidentities = [ "{home.project}", ]\n\n[zoo]\nidentities = []\n'
    edited(home, text)
    git(home.project, "remote", "add", "origin", REMOTE)
    assert register(home, home.project).slug == "work"
    now = (home.user / projects.FILE).read_text()
    assert now == text.replace('", ]', '", "github.com/acme/shop"]')
    register(home, repository(tmp_path / "third"))
    assert (home.user / projects.FILE).read_text().startswith(now.rstrip())


def test_an_entry_renamed_by_its_person_is_followed(home: Home) -> None:
    register(home, home.project)
    edited(home, (home.user / projects.FILE).read_text().replace("[shop]", "[store]"))
    assert register(home, home.project).scope == f"{user_scope()}/proj:store"


LAYOUTS = (
    '[shop]  # the shop\nidentities = ["github.com/acme/shop"]\n',
    '[ shop ]\nidentities = ["github.com/acme/shop"]\n',
    "['shop']\nidentities = [\"github.com/acme/shop\"]\n",
    '[shop]\nidentities = ["github.com/acme/shop"]  # the remote\n',
    '[shop]\nidentities = [\n    "github.com/acme/shop",  # the remote\n]\n',
    "[shop]\nidentities = ['github.com/acme/shop']\n",
)


@pytest.mark.parametrize("entry", [*LAYOUTS, 'shop = { identities = ["github.com/acme/shop"] }\n'])
def test_however_a_person_lays_an_entry_out_the_file_stays_one(entry: str, home: Home) -> None:
    register(home, home.folder)  # so that there is a file
    edited(home, entry + '\n[zoo]\nidentities = ["github.com/acme/zoo"]\n')
    git(home.project, "remote", "add", "origin", REMOTE)
    assert register(home, home.project).slug == "shop"
    assert registered(home)["zoo"] == {"identities": ["github.com/acme/zoo"]}
    assert "github.com/acme/shop" in registered(home)["shop"]["identities"]


@pytest.mark.parametrize("entry", LAYOUTS)
def test_however_a_person_lays_an_entry_out_it_is_added_to(entry: str, home: Home) -> None:
    register(home, home.folder)
    edited(home, entry)
    git(home.project, "remote", "add", "origin", REMOTE)
    register(home, home.project)
    assert set(registered(home)["shop"]["identities"]) == {"github.com/acme/shop", str(home.project)}
    assert (home.user / projects.FILE).read_text().startswith(entry.splitlines()[0])


def test_a_new_project_in_a_file_that_a_person_broke_loses_nothing(home: Home) -> None:
    register(home, home.folder)
    edited(home, "[shop\n# half way through\n")
    assert register(home, home.project).slug == "shop"
    assert (home.user / projects.FILE).read_text().startswith("[shop\n# half way through\n")


def test_stores_are_those_that_are_there(home: Home) -> None:
    assert projects.stores(str(home.path)) == []
    home.talk().land("Hello")
    (home.path / "scopes" / "stray").mkdir()
    assert [store.scope for store in projects.stores(str(home.path))] == [user_scope(), f"{user_scope()}/proj:shop"]


def test_a_registration_is_an_act_of_neosian(home: Home) -> None:
    register(home, home.project)
    assert subjects(home.user)[0] == "Register project shop"
    assert git(home.user, "log", "-1", "--format=%an %ae %cn") == "neosian neosian@neosian.invalid neosian"
