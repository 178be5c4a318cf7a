"""Folders that were made around settings files of other programs: noted in the home, so that they can go again with the
files, and no other folder does."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence

from neosian import files

FILE = "made-folders.json"
"""The note in a home: for each folder that was made, the settings files in it."""


def folders_for(file: str) -> list[str]:
    """Make the folders that are missing around a file; which they are. Raises ``OSError`` where one cannot be made."""
    missing, folder = [], os.path.dirname(file)
    while not os.path.exists(folder):
        missing.append(folder)
        folder = os.path.dirname(folder)
    os.makedirs(os.path.dirname(file), exist_ok=True)
    return missing


def remember(file: str, folders: Sequence[str], home: str) -> None:
    """A file was written, and these folders were made for it. Where no note can be kept, its folders stay for good."""
    known = _read(home)
    known |= {folder: [] for folder in folders}
    for folder, held in known.items():
        if _is_below(file, folder) and file not in held:
            held.append(file)
    _write(home, known)


def leave(file: str, home: str) -> None:
    """A file is gone: with it go the folders around it that were made for it and are empty now."""
    known = _read(home)
    for folder in sorted(known, key=len, reverse=True):
        if _is_below(file, folder):
            try:
                os.rmdir(folder)
            except OSError:
                continue  # something else is in it by now, or it is a link
    _write(home, known)


def tidy(home: str) -> None:
    """Drop from the note what has gone without us."""
    _write(home, _read(home))


def _is_below(file: str, folder: str) -> bool:
    return file.startswith(folder + os.sep)


def _read(home: str) -> dict[str, list[str]]:
    try:
        said = json.loads(files.readable(os.path.join(home, FILE)) or b"{}")
    except ValueError:
        return {}
    known = said if isinstance(said, dict) else {}
    return {folder: list(map(str, held)) for folder, held in known.items() if isinstance(held, list)}


def _write(home: str, known: dict[str, list[str]]) -> None:
    """Note the folders that still hold a file of ours; without any there is no note."""
    held = {folder: [file for file in inside if _is_ours(file)] for folder, inside in known.items()}
    kept = {folder: inside for folder, inside in held.items() if inside}
    note = os.path.join(home, FILE)
    try:
        if not kept:
            files.remove(note)
        elif kept != _read(home):
            files.make_dir(home)
            files.write(note, json.dumps(kept, indent=2).encode())
    except OSError:
        return


def _is_ours(file: str) -> bool:
    return b"neosian" in (files.readable(file) or b"")
