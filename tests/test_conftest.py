"""The real home and configuration are out of the tests' reach."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from tests.conftest import REAL_HOME


def test_home_is_a_folder_of_this_test(private_home: Path, tmp_path: Path) -> None:
    assert Path.home() == private_home
    assert private_home.parent == tmp_path.parent
    assert str(private_home) != REAL_HOME


def test_no_variable_points_into_the_real_home(private_home: Path) -> None:
    names = ("HOME", "USERPROFILE", "NEOSIAN_HOME", "CLAUDE_CONFIG_DIR", "XDG_CONFIG_HOME", "XDG_DATA_HOME")
    found = [os.environ[name] for name in names if name in os.environ]
    assert all(Path(value).is_relative_to(private_home) for value in found)


def test_no_client_or_git_variable_is_left() -> None:
    left = [name for name in os.environ if name.startswith(("NEOSIAN_", "CLAUDE", "ANTHROPIC_", "GIT_"))]
    assert sorted(left) == ["GIT_CONFIG_GLOBAL", "GIT_CONFIG_NOSYSTEM"]


def test_git_reads_only_the_configuration_of_this_test(private_home: Path, tmp_path: Path) -> None:
    command = ["git", "config", "--list", "--show-origin"]
    listed = subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, text=True).stdout
    origins = {line.split("\t")[0] for line in listed.splitlines()}
    assert origins == {f"file:{private_home / '.gitconfig'}"}


def test_a_child_process_sees_the_same_home(private_home: Path) -> None:
    shown = subprocess.run(["sh", "-c", "echo ~"], check=True, capture_output=True, text=True).stdout
    assert shown.strip() == str(private_home)


def test_each_test_starts_with_an_empty_home(private_home: Path) -> None:
    assert [path.name for path in private_home.iterdir()] == [".gitconfig"]
