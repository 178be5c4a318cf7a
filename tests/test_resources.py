"""Folders that travel with the program are found in a checkout and in a wheel."""

from __future__ import annotations

from pathlib import Path

import pytest

from neosian import resources
from neosian.errors import NeosianError


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An installed package without data; ``resources`` believes that it lies there."""
    package = tmp_path / "neosian"
    package.mkdir()
    monkeypatch.setattr(resources, "__file__", str(package / "resources.py"))
    return package


def put(path: Path, text: str = "hello\n") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


@pytest.mark.parametrize("folder", ["docs", "hooks", "templates"])
def test_this_checkout_has_every_folder(folder: str) -> None:
    assert resources.names(folder)


def test_a_checkout_has_the_folder_beside_the_package(package: Path) -> None:
    put(package.parent / "docs" / "page.md")
    assert resources.text("docs", "page.md") == "hello\n"


def test_a_wheel_has_the_folder_inside_the_package(package: Path) -> None:
    put(package / "data" / "docs" / "page.md", "from the wheel\n")
    put(package.parent / "docs" / "page.md", "somebody else's folder\n")
    assert resources.text("docs", "page.md") == "from the wheel\n"


def test_names_are_sorted_files_without_hidden_ones(package: Path) -> None:
    for name in ("b.md", "a.md", ".hidden", "folder/c.md"):
        put(package / "data" / "docs" / name)
    assert resources.names("docs") == ["a.md", "b.md"]


def test_a_missing_folder_has_no_names(package: Path) -> None:
    assert resources.names("docs") == []


@pytest.mark.parametrize("name", ["absent.md", "../secret.md", "folder", ""])
def test_a_name_that_is_no_file_of_the_folder_is_refused(package: Path, name: str) -> None:
    put(package / "data" / "docs" / "folder" / "c.md")
    put(package / "data" / "secret.md")
    with pytest.raises(NeosianError):
        resources.text("docs", name)


def test_text_of_other_scripts_is_read_whatever_the_locale(package: Path) -> None:
    put(package / "data" / "docs" / "page.md", "继续\n")
    assert resources.text("docs", "page.md") == "继续\n"


def test_a_hook_file_holds_the_files_that_it_names() -> None:
    pipe = resources.text("hooks", "pipe.js")
    for name in ("opencode.js", "pi.ts"):
        assert pipe.rstrip("\n") in resources.hook_file(name)
        assert "@NEOSIAN file" not in resources.hook_file(name)
    assert resources.hook_file("codex.json") == resources.text("hooks", "codex.json")
