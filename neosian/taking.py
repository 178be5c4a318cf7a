"""A document's file replaced or removed without losing a save that comes between the look at it and the deed.

Nothing is renamed over. The new file and the old one change places in one step, and what came out lies in
`.git/neosian/taken/<id expected>-<id put there>-<number>/<path>` until it was looked at: is it anything else than what
was expected, a person saved it a moment ago, and it goes back. A writer that is killed leaves it for the next one.
"""

from __future__ import annotations

import errno
import os
import stat
import time

from neosian import files
from neosian.plumbing import NOTHING, Change, Repo, object_id

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_TAKEN, _KEPT = "taken", "kept"
_EXCHANGE = 2  # RENAME_EXCHANGE of Linux, RENAME_SWAP of macOS
_HERE = -100  # AT_FDCWD


def file_id(path: str) -> str:
    """The blob id of a file; NOTHING for none, "" for what is no plain file or cannot be read."""
    try:
        if not stat.S_ISREG(os.lstat(path).st_mode):
            return ""
        found = files.read(path)
    except (FileNotFoundError, NotADirectoryError):
        return NOTHING
    except OSError:
        return ""
    return NOTHING if found is None else object_id("blob", found)


def put(repo: Repo, change: Change, body: bytes, mode: int) -> bool:
    """Have a document's file hold ``body``; False where it is seen not to be what ``change`` expects before it.

    What was taken for it waits for `settle`.
    """
    path = os.path.join(repo.path, change.path)
    held = _place_for(repo, change)
    files.write(held, body, scratch=repo.private, mode=mode)
    try:
        if change.before == NOTHING:
            return _move_to_free(held, path)
        if not _exchange(held, path):
            if file_id(path) != change.before:
                return False
            os.replace(held, path)  # a save in these microseconds is lost; only where there is no such step
        return True
    except (FileNotFoundError, NotADirectoryError):
        return False  # somebody removed it


def remove(repo: Repo, change: Change) -> bool:
    """Take a document's file away, for `settle` to look at; False where there is none."""
    try:
        os.rename(os.path.join(repo.path, change.path), _place_for(repo, change))
    except (FileNotFoundError, NotADirectoryError):
        return False
    return True


def settle(repo: Repo) -> None:
    """Let go of what was taken as expected, and give back what a person had saved a moment before."""
    taken = os.path.join(repo.private, _TAKEN)
    if not os.path.isdir(taken):
        return
    for ids, path in _files_in(taken):
        held = os.path.join(taken, ids, path)
        expected = ids.split("-")[:2]
        if file_id(held) not in expected:
            _give_back(held, os.path.join(repo.path, path), expected[1])
        if os.path.lexists(held):
            if file_id(held) in expected:
                files.remove(held)
            else:
                _keep(repo, held, path)
    _remove_folders(taken)


def kept(repo: Repo) -> list[str]:
    """Files that hold a person's save which could not go back, since a later one lay at its path."""
    folder = os.path.join(repo.private, _KEPT)
    return [os.path.join(folder, number, path) for number, path in _files_in(folder)]


def _place_for(repo: Repo, change: Change) -> str:
    ids = f"{change.before}-{change.after}-{time.monotonic_ns():x}"
    held = os.path.join(repo.private, _TAKEN, ids, change.path)
    files.make_dir(os.path.dirname(held))
    return held


def _files_in(folder: str) -> Iterator[tuple[str, str]]:
    """(name of the first folder, path below it) of every file in a folder of folders."""
    for name in files.names(folder):
        top = os.path.join(folder, name)
        for below, folders, names in os.walk(top):
            links = [each for each in folders if os.path.islink(os.path.join(below, each))]
            for each in (*names, *links):
                yield name, os.path.relpath(os.path.join(below, each), top)


def _give_back(held: str, path: str, ours: str) -> None:
    """Have a save that was taken lie at its path again, where nothing newer than ``ours`` does.

    Afterwards ``held`` is gone, or is what lay at the path.
    """
    try:
        files.make_dir(os.path.dirname(path))
        if _move_to_free(held, path) or file_id(path) != ours:
            return
        placed = ours
        while True:
            mine = file_id(held)
            if not _exchange(held, path):
                os.replace(held, path)
                return
            if file_id(held) == placed:
                return
            placed = mine  # yet another save came between: the newest goes back
    except OSError:
        return  # it is kept


def _keep(repo: Repo, held: str, path: str) -> None:
    kept = os.path.join(repo.private, _KEPT, f"{time.monotonic_ns():x}", path)
    files.make_dir(os.path.dirname(kept))
    os.rename(held, kept)


def _remove_folders(folder: str) -> None:
    """Remove a folder and those below it, as far as nothing is in them."""
    for below, _, _ in os.walk(folder, topdown=False):
        try:
            os.rmdir(below)
        except OSError:
            continue


def _move_to_free(held: str, path: str) -> bool:
    """Move a file to a path where nothing is; False where something is."""
    try:
        os.link(held, path, follow_symlinks=False)
    except FileExistsError:
        return False
    except FileNotFoundError:
        raise
    except (OSError, NotImplementedError):  # a file system without links, or no file
        if os.path.lexists(path):
            return False
        os.rename(held, path)
        return True
    files.remove(held)
    return True


def _exchange(one: str, other: str) -> bool:
    """Have two files change places in one step; False where the system has no such step."""
    try:
        import ctypes  # half an interpreter's start: only an act that replaces a document has use for it

        system = ctypes.CDLL(None, use_errno=True)
        names = os.fsencode(one), os.fsencode(other)
        if hasattr(system, "renameat2"):
            failed = system.renameat2(_HERE, names[0], _HERE, names[1], _EXCHANGE)
        else:
            failed = system.renamex_np(*names, _EXCHANGE)
    except (ImportError, OSError, AttributeError, TypeError):
        return False
    if failed and ctypes.get_errno() in (errno.ENOENT, errno.ENOTDIR):
        raise FileNotFoundError(errno.ENOENT, "is gone", other)
    return not failed
