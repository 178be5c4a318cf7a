"""Which scopes a session sees: told from its directory, or spelled out by a flag or the environment."""

from __future__ import annotations

from pathlib import Path

import pytest

from neosian.config import Config
from neosian.errors import UsageError
from neosian.mounts import Layout, flag_values, layout
from neosian.scope import user_scope
from tests.factories import Home, repository


def seen(
    home: Home, directory: Path, *flags: str, chosen: str = "", settings: Config | None = None
) -> Layout:
    return layout(str(home.path), str(directory), settings or Config(), flags, chosen)


def paths(found: Layout) -> dict[str, str]:
    return {mount.path: mount.scope for mount in found.mounts}


def test_a_project_is_mounted_beside_its_user(tmp_path: Path) -> None:
    home = Home(tmp_path)
    found = seen(home, home.project)
    assert paths(found) == {"/user": user_scope(), "/project": f"{user_scope()}/proj:shop"}
    assert found.turns == f"{user_scope()}/proj:shop"
    assert found.root == str(home.project)


def test_where_there_is_no_project_turns_go_to_the_user(tmp_path: Path, private_home: Path) -> None:
    found = seen(Home(tmp_path), private_home)
    assert paths(found) == {"/user": user_scope()}
    assert (found.turns, found.root) == (user_scope(), None)
    assert found.reason == "the directory belongs to no project"


@pytest.mark.parametrize("below", ["", "record"])
def test_the_folder_of_a_scope_is_that_scope_and_no_project(below: str, tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.talk().land("hello")
    found = seen(home, home.shop / below)
    assert paths(found) == {"/user": user_scope(), "/project": f"{user_scope()}/proj:shop"}
    assert paths(seen(home, home.user)) == {"/user": user_scope()}
    assert found.root is None


def test_a_throwaway_folder_belongs_to_the_user_though_it_is_a_repository(tmp_path: Path) -> None:
    home = Home(tmp_path)
    settings = Config({"project": {"throwaway": [f"{tmp_path}/scratch-*/**"]}})
    found = seen(home, repository(tmp_path / "scratch-1" / "shop"), settings=settings)
    assert (paths(found), found.root) == ({"/user": user_scope()}, None)
    assert seen(home, home.project, settings=settings).root == str(home.project)


def test_a_scope_that_is_named_is_the_one_mount(tmp_path: Path) -> None:
    home = Home(tmp_path)
    for found in (
        seen(home, home.project, "--scope", "team:x"),
        seen(home, home.project, chosen="team:x"),
        seen(home, home.project, "--scope=team:x", chosen="team:y"),
    ):
        assert paths(found) == {"/project": "team:x"}
        assert (found.turns, found.root) == ("team:x", None)


def test_mounts_replace_the_whole_layout(tmp_path: Path) -> None:
    home = Home(tmp_path)
    found = seen(
        home, home.project, "--mount", "/docs=team:docs:ro", "--mount=/notes/=user:ada", "--scope", "team:x"
    )
    assert paths(found) == {"/docs": "team:docs", "/notes": "user:ada"}
    assert [mount.writable for mount in found.mounts] == [False, True]
    assert found.turns == "user:ada"


def test_turns_go_to_project_wherever_it_stands(tmp_path: Path) -> None:
    home = Home(tmp_path)
    found = seen(home, home.project, "--mount", "/notes=user:ada", "--mount", "/project=team:x")
    assert found.turns == "team:x"


def test_a_read_only_project_takes_no_turns(tmp_path: Path) -> None:
    home = Home(tmp_path)
    found = seen(home, home.project, "--mount", "/project=team:x:ro", "--mount", "/notes=user:ada")
    assert found.turns == "user:ada"


@pytest.mark.parametrize(
    "flags",
    [
        ("--mount", "team:x"),
        ("--mount", "team=team:x"),
        ("--mount", "/=team:x"),
        ("--mount", "/team=x"),
        ("--mount", "/team=team:x:ro"),
        ("--scope", "x"),
    ],
)
def test_what_cannot_be_meant_is_refused(flags: tuple[str, ...], tmp_path: Path) -> None:
    home = Home(tmp_path)
    with pytest.raises(UsageError):
        seen(home, home.project, *flags)


@pytest.mark.parametrize(
    ("words", "values"),
    [
        ([], []),
        (["--scope", "a:b"], ["a:b"]),
        (["--scope=a:b", "--agent", "x", "--scope", "c:d"], ["a:b", "c:d"]),
        (["--scope"], []),
        (["--scopes", "a:b"], []),
    ],
)
def test_values_of_a_flag_are_found_in_either_spelling(words: list[str], values: list[str]) -> None:
    assert flag_values(words, "--scope") == values


def test_looking_at_a_directory_registers_nothing(tmp_path: Path) -> None:
    home = Home(tmp_path)
    seen(home, home.project)
    assert not home.path.exists()
