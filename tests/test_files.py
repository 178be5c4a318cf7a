"""Files are written whole and belong to their owner alone, whatever the umask."""

from __future__ import annotations

import os
import socket
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from neosian import files


@pytest.fixture(params=[0o000, 0o022, 0o777], ids=oct)
def any_umask(request: pytest.FixtureRequest) -> Iterator[int]:
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_folders_and_files_are_private_under_any_umask(any_umask: int, tmp_path: Path) -> None:
    folder = tmp_path / "home" / "spool" / "new"
    files.make_dir(str(folder))
    files.write(str(folder / "one"), b"text")
    assert [mode(path) for path in (folder.parent.parent, folder.parent, folder)] == [0o700] * 3
    assert mode(folder / "one") == 0o600


def test_a_file_may_be_given_another_mode(any_umask: int, tmp_path: Path) -> None:
    files.write(str(tmp_path / "tool"), b"#!/bin/sh\n", mode=0o700)
    assert mode(tmp_path / "tool") == 0o700


def test_the_log_is_private_even_when_everybody_may_read_new_files(tmp_path: Path) -> None:
    before = os.umask(0)
    files.log(str(tmp_path / "log" / "neosian.log"), "something went wrong")
    os.umask(before)
    assert mode(tmp_path / "log" / "neosian.log") == 0o600


def test_a_folder_that_is_there_stays_as_it_is(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    files.make_dir(str(tmp_path))
    assert mode(tmp_path) == 0o755


@pytest.mark.parametrize("sync", [False, True])
def test_a_file_is_replaced_whole_and_leaves_nothing_beside_it(sync: bool, tmp_path: Path) -> None:
    path = tmp_path / "page.md"
    path.write_text("old")
    files.write(str(path), b"new", sync=sync)
    assert path.read_bytes() == b"new"
    assert os.listdir(tmp_path) == ["page.md"]


def test_a_write_that_fails_leaves_the_old_file_and_no_scrap(tmp_path: Path) -> None:
    target = tmp_path / "folder"
    (target / "inside").mkdir(parents=True)
    with pytest.raises(OSError):
        files.write(str(target), b"text")
    assert os.listdir(tmp_path) == ["folder"]


def test_the_scrap_lies_where_it_is_told_to(tmp_path: Path) -> None:
    (tmp_path / "shown").mkdir()
    with pytest.raises(FileNotFoundError):
        files.write(str(tmp_path / "shown" / "a"), b"text", scratch=str(tmp_path / "gone"))
    assert os.listdir(tmp_path / "shown") == []


@pytest.mark.parametrize("path", ["none", "file/below"])
def test_what_is_not_there_reads_as_nothing(path: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("text")
    assert files.read(str(tmp_path / path)) is None
    assert files.names(str(tmp_path / path)) == []
    assert list(files.lines(str(tmp_path / path))) == []


def test_removing_tells_whether_there_was_something(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("")
    assert files.remove(str(tmp_path / "a"))
    assert not files.remove(str(tmp_path / "a"))


def test_a_message_of_the_log_is_one_line(tmp_path: Path) -> None:
    log = tmp_path / "neosian.log"
    files.log(str(log), "one\ntwo\r\nthree")
    files.log(str(log), "half \udc88")
    rows = log.read_text().splitlines()
    assert [row.partition(" ")[2] for row in rows] == ["one two three", "half ?"]


def test_the_log_is_turned_over_and_never_grows_without_end(tmp_path: Path) -> None:
    log = tmp_path / "neosian.log"
    log.write_bytes(b"x" * (256 * 1024 + 1))
    files.log(str(log), "new")
    assert log.stat().st_size < 100
    assert (tmp_path / "neosian.log.old").stat().st_size == 256 * 1024 + 1


def test_a_log_that_cannot_be_written_is_let_go(tmp_path: Path) -> None:
    (tmp_path / "log").write_text("a file where a folder should be")
    files.log(str(tmp_path / "log" / "neosian.log"), "text")
    assert (tmp_path / "log").read_text() == "a file where a folder should be"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names here")
def test_a_pipe_or_a_device_in_the_place_of_a_file_is_no_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "README.md")
    os.symlink("README.md", tmp_path / "link.md")
    for path in (tmp_path / "README.md", tmp_path / "link.md", "/dev/zero"):
        assert files.read(str(path)) is None
        with pytest.raises(FileNotFoundError):
            files.opened(str(path))


def test_a_socket_in_the_place_of_a_file_is_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # the path of a socket must be short
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind("config.toml")
        assert files.read("config.toml") is None


def test_a_folder_in_the_place_of_a_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(IsADirectoryError):
        files.read(str(tmp_path))


def test_files_that_the_system_makes_up_are_read_whole() -> None:
    assert files.read("/proc/self/stat") or not os.path.exists("/proc/self/stat")
