"""A person saves a document in the very moment in which it is written: nothing of it is lost."""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from neosian import taking
from neosian.draft import Draft
from neosian.plumbing import NOTHING, Change
from neosian.store import Store, committer
from tests.factories import git, status
from tests.test_publish import put, sound, store_in

PATH = "notes/one.md"


@pytest.fixture
def store(tmp_path: Path) -> Store:
    found = store_in(tmp_path)
    put(found, PATH)
    return found


@pytest.fixture
def folder(store: Store) -> Path:
    return Path(store.path)


def save(folder: Path, text: str, path: str = PATH) -> None:
    """What an editor does: another file under the old name."""
    spare = folder / f"{path}~"
    spare.parent.mkdir(exist_ok=True)
    spare.write_text(text)
    spare.replace(folder / path)


def delete(store: Store) -> None:
    def change(draft: Draft) -> None:
        draft.delete(PATH)
        draft.commit("Delete\n", committer(), committer())

    store.write(change)


def meanwhile(
    monkeypatch: pytest.MonkeyPatch, name: str, before: Callable[[], None] | None, after: Callable[[], None] | None
) -> None:  # fmt: skip
    """Have a person act right before or after the first call of a function of `taking`."""
    real = getattr(taking, name)

    def call(*given: object, **named: object) -> object:
        monkeypatch.setattr(taking, name, real)
        if before:
            before()
        said = real(*given, **named)
        if after:
            after()
        return said

    monkeypatch.setattr(taking, name, call)


def test_a_save_right_before_a_document_is_replaced_stays(
    store: Store, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    meanwhile(monkeypatch, "_exchange", lambda: save(folder, "mine\n"), None)
    put(store, PATH, "ours\n")
    assert (folder / PATH).read_text() == "mine\n"
    assert git(folder, "show", f"main:{PATH}") == "ours"
    assert status(folder) == f" M {PATH}"


def test_a_save_right_after_a_document_was_replaced_stays_and_is_not_staged(
    store: Store, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    meanwhile(monkeypatch, "_exchange", None, lambda: save(folder, "mine\n"))
    put(store, PATH, "ours\n")
    assert (folder / PATH).read_text() == "mine\n"
    assert status(folder) == f" M {PATH}"


def test_of_two_saves_the_later_one_stays_in_its_place(
    store: Store, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    meanwhile(
        monkeypatch, "_exchange", lambda: save(folder, "mine\n"), lambda: save(folder, "mine, and later\n")
    )
    put(store, PATH, "ours\n")
    assert (folder / PATH).read_text() == "mine, and later\n"
    (earlier,) = taking.kept(store.repo)
    assert Path(earlier).read_text() == "mine\n"
    put(store, "notes/two.md")
    assert (folder / PATH).read_text() == "mine, and later\n"


def test_a_save_while_a_taken_one_is_given_back_stays(
    store: Store, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def second() -> None:
        meanwhile(monkeypatch, "_exchange", lambda: save(folder, "mine, and later\n"), None)

    meanwhile(monkeypatch, "_exchange", lambda: save(folder, "mine\n"), second)
    put(store, PATH, "ours\n")
    assert (folder / PATH).read_text() == "mine, and later\n"
    assert [Path(path).read_text() for path in taking.kept(store.repo)] == ["mine\n"]


def test_a_document_that_is_saved_where_a_new_one_comes_stays(
    store: Store, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    meanwhile(monkeypatch, "_move_to_free", lambda: save(folder, "mine\n", "notes/two.md"), None)
    put(store, "notes/two.md", "ours\n")
    assert (folder / "notes/two.md").read_text() == "mine\n"
    assert status(folder) == " M notes/two.md"


def test_a_save_right_before_a_document_is_removed_comes_back(
    store: Store, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    meanwhile(monkeypatch, "remove", lambda: save(folder, "mine\n"), None)
    delete(store)
    assert (folder / PATH).read_text() == "mine\n"
    assert status(folder) == "?? notes/"


def test_a_save_right_after_a_document_was_removed_stays_and_is_not_staged(
    store: Store, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    meanwhile(monkeypatch, "remove", None, lambda: save(folder, "mine\n"))
    delete(store)
    assert (folder / PATH).read_text() == "mine\n"
    assert status(folder) == "?? notes/"


def test_a_document_that_a_person_removes_right_before_stays_removed(
    store: Store, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    meanwhile(monkeypatch, "_exchange", (folder / PATH).unlink, None)
    put(store, PATH, "ours\n")
    assert status(folder) == f" D {PATH}"


def test_no_save_is_lost_at_whatever_moment_of_an_act_it_comes(store: Store, folder: Path) -> None:
    began = time.monotonic()
    put(store, PATH, "base\n")
    took = time.monotonic() - began
    for moment in range(50):
        path, text = f"notes/{moment}.md", f"mine at {moment}\n"
        put(store, path, "base\n", patience=20.0)
        person = threading.Timer(took * moment / 50, save, (folder, text, path))
        person.start()
        put(store, path, "ours\n", patience=20.0)
        person.join()
        assert (folder / path).read_text() == text
    assert taking.kept(store.repo) == []
    assert {row[:2] for row in status(folder).splitlines()} == {" M"}


def test_what_a_killed_writer_took_the_next_one_gives_back(store: Store, folder: Path) -> None:
    ours = taking.file_id(str(folder / PATH))
    save(folder, "mine\n")
    assert taking.put(store.repo, Change("M", PATH, ours, NOTHING[:-1] + "1"), b"ours\n", 0o600)
    assert (folder / PATH).read_text() == "ours\n"
    (folder / PATH).unlink()
    put(store, "notes/two.md")
    assert (folder / PATH).read_text() == "mine\n"
    assert not (folder / ".git/neosian/taken").exists()


def test_without_a_step_that_exchanges_files_a_document_is_written_all_the_same(
    store: Store, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(taking, "_exchange", lambda *_: False)
    put(store, PATH, "ours\n")
    assert (folder / PATH).read_text() == "ours\n"
    assert sound(folder)


@pytest.mark.parametrize("kind", ["pipe", "socket", "folder", "link"])
def test_what_is_no_file_at_a_documents_path_is_not_replaced(kind: str, store: Store, folder: Path) -> None:
    path = folder / "two.md"
    make: dict[str, Callable[[], object]] = {
        "pipe": lambda: os.mkfifo(path),
        "socket": lambda: _listen(path, folder),
        "folder": path.mkdir,
        "link": lambda: path.symlink_to("nowhere"),
    }
    make[kind]()
    before = path.lstat().st_mode
    put(store, "two.md")
    assert path.lstat().st_mode == before
    assert git(folder, "show", "main:two.md") == "text"


def _listen(path: Path, folder: Path) -> None:
    here = os.getcwd()
    os.chdir(folder)  # a socket's path is at most 108 bytes long
    try:
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(path.name)
    finally:
        os.chdir(here)


def test_a_dead_writers_scraps_are_cleared_by_the_next_one(store: Store) -> None:
    private = Path(store.repo.private)
    for name, at in ((".neosian-1-old", 1_000_000_000), (".neosian-1-new", None)):
        (private / name).write_text("half")
        if at:
            os.utime(private / name, (at, at))
    put(store, "notes/two.md")
    assert [each.name for each in private.glob(".neosian-*")] == [".neosian-1-new"]
