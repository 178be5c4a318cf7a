"""Sessions that are neosian's own questions to a model: never recorded, never told anything.

Such a session is known by a secret of the home that stands in its prompt, and by the name of the directory that it is
started in; what the environment says is for the launcher, and may be gone. Once a prompt has told, the session is
remembered for what comes later.
"""

from __future__ import annotations

import os
import zlib

from neosian import files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from neosian.events import Event

SECRET = "dream-mark"
"""The file of a home that holds the secret."""

_FOLDER = "neosian-dream-"
_REMEMBERED = 7 * 86400.0  # seconds; no event of a session comes later than that


def make_secret(home: str) -> str:
    """The secret of a home, made where there is none."""
    if not secret(home):
        files.make_dir(home)
        files.write(os.path.join(home, SECRET), f"{os.urandom(16).hex()}\n".encode())
    return secret(home)


def secret(home: str) -> str:
    """The secret of a home; "" where no model was ever asked."""
    found = (files.read(os.path.join(home, SECRET)) or b"").decode("ascii", "replace").strip()
    return found if len(found) == 32 else ""


def folder_prefix(known: str) -> str:
    """How the name of a directory begins in which our own sessions are started; tells nothing of the secret."""
    return f"{_FOLDER}{zlib.crc32(known.encode()):08x}-"


def is_own(home: str, event: Event) -> bool:
    """Whether an event is of one of our own sessions, as it shows itself or an earlier one did."""
    known = secret(home)
    if not known:
        return False
    return _shows(event, known) or _name(event.client, event.session) in files.names(_remembered(home))


def own_sessions(home: str, events: Iterable[Event]) -> set[tuple[str, str]]:
    """Client and session of those among these events that are our own, found now or before."""
    known = secret(home)
    if not known:
        return set()
    folder = _remembered(home)
    before = set(files.names(folder))
    found: set[tuple[str, str]] = set()
    for event in events:
        key = event.client, event.session
        if key in found or _name(*key) in before:
            found.add(key)
        elif _shows(event, known):
            found.add(key)
            files.make_dir(folder)
            files.write(os.path.join(folder, _name(*key)), b"")
    files.forget(folder, _REMEMBERED)
    return found


def _shows(event: Event, known: str) -> bool:
    if event.kind == "prompt" and known in event.data["text"]:
        return True
    prefix = folder_prefix(known)
    return any(os.path.basename(place).startswith(prefix) for place in (event.cwd, event.root or ""))


def _remembered(home: str) -> str:
    """The folder with one empty file a session of our own."""
    return os.path.join(home, "cache", "own")


def _name(client: str, session: str) -> str:
    """The file that remembers a session."""
    said = f"{client}:{session}".encode("utf-8", "replace")
    return f"{zlib.crc32(said):08x}{zlib.adler32(said):08x}"
