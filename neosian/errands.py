"""What a client's hook asks for once its event is in the spool: to tell a session something, to land a turn.

And what a hook leaves to a child of ours that nobody waits for. Nothing here, nor below it, may import what a hook
has no time for (tests/test_layout.py has the list).
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from neosian.landing import Landed
    from neosian.spool import Spool
    from neosian.store import Lock

BIG = 8 * 1024 * 1024
"""Bytes of backlog from which landing is left to a child that no client waits for."""

_LOOK = 0.5  # seconds for which a child that begins lets others have a look whether one waits

PACK_AFTER = 200
"""Landings after which a scope is packed, off the hook's path."""

VERBS = {"start": 4, "prompt": 4, "stop": 4, "end": 4, "land": 2, "index": 3, "pack": 3}
"""What can be asked for, and of how many words each consists: the first four by the launcher, the rest by `detach`."""


def main(argv: list[str]) -> int:
    """Run one verb; 0, or 1 with one line on stderr and in the log."""
    if len(argv) < 2 or argv[0] not in VERBS or len(argv) < VERBS[argv[0]]:
        sys.stderr.write(
            f"neosian: {' '.join(argv)!r} is nothing that the launcher says. (see: neosian status)\n"
        )
        return 1
    verb, home, *rest = argv
    os.umask(0o077)
    try:
        os.chdir(home)  # the directory that the hook ran in may be gone; the event has its name
        if verb == "start":
            start(home, rest[1])
        elif verb == "prompt":
            prompt(home, rest[1])
        elif verb in ("stop", "end"):
            stop(home, rest[1])
        elif verb == "land":
            land_all(home)
        elif verb == "index":
            index(home, rest[0])
        else:
            from neosian.packing import pack

            pack(home, rest[0])
        return 0
    except Exception as error:
        return failed(home, verb, error)


def failed(home: str, verb: str, error: Exception) -> int:
    """Tell in one line what happened and what was kept; 1. No traceback reaches a person: it is in the log."""
    from neosian import files
    from neosian.errors import NeosianError

    log = os.path.join(home, "log", "neosian.log")
    said = str(error) or type(error).__name__
    if not isinstance(error, (NeosianError, OSError)):
        import traceback

        files.log(log, f"{verb}: " + " | ".join(traceback.format_exception(error)))
    else:
        files.log(log, f"{verb}: {said}")
    sys.stderr.write(f"neosian: {' '.join(said.split())} The event is kept. (see: neosian status)\n")
    return 1


def start(home: str, name: str) -> None:
    """Print what a session is told, and keep word for word what was printed for its first turn."""
    from neosian.beginning import begin

    behind: list[str] = []
    _say(home, begin(home, name, behind=behind), behind)
    tidy(home)
    told_if_unreadable(home, name)


def prompt(home: str, name: str) -> None:
    """Print what memory knows about a prompt, if anything, and keep it word for word; before that a start that was
    not told."""
    from neosian.reminding import remind

    behind: list[str] = []
    _say(home, remind(home, name, behind=behind), behind)
    told_if_unreadable(home, name)


def _say(home: str, text: str, behind: list[str]) -> None:
    """Give a client its text, then see to the scopes whose index had too much to catch up with."""
    sys.stdout.buffer.write(text.encode("utf-8", "replace"))
    sys.stdout.flush()
    for scope in behind:
        detach("index", home, scope)


def stop(home: str, name: str) -> None:
    """Land what is complete; a backlog too big for a hook's time is left to a child."""
    from neosian.spool import Spool

    spool = Spool(home)
    if spool.backlog() > BIG:
        land_behind(home)
        return
    land(home, spool=spool)
    told_if_unreadable(home, name)


def told_if_unreadable(home: str, name: str) -> None:
    """Raise the reason for which this hook's own event was set aside."""
    from neosian.errors import NeosianError
    from neosian.spool import Spool

    reason = Spool(home).reason(name)
    if reason:
        raise NeosianError(reason)


def land_all(home: str) -> None:
    """What a child of ours does that nobody waits for: also bring in what a killed launcher left whole. Where another
    child waits to do the same, that one does."""
    from neosian.errors import BusyError
    from neosian.spool import Spool

    turn = _turn(home, _LOOK)
    try:
        turn.__enter__()
    except BusyError:
        return
    try:
        Spool(home).recover()
        land(home, patience=60.0, mends=True, turn=turn)
    finally:
        turn.release()


def index(home: str, scope: str) -> None:
    """Bring a scope's index up to its tip, however far behind it is."""
    from neosian.index import Index
    from neosian.projects import open_store

    store = open_store(home, scope)
    try:
        with Index.open(store.cache) as opened:
            opened.catch_up(store.repo, None)
    finally:
        store.repo.close()


def land(
    home: str,
    *,
    patience: float = 0.5,
    spool: Spool | None = None,
    mends: bool = False,
    turn: Lock | None = None,
) -> list[Landed]:
    """Land the spool, then bring the index up to what landed. A damaged store that a hook has no time to mend is
    left to a child."""
    from neosian import config
    from neosian.errors import DamagedError
    from neosian.index import Index
    from neosian.landing import Lander

    settings, wrong = config.load(home)
    lander = Lander(home, settings, patience=patience, spool=spool, mends=mends)
    try:
        landed = lander.land(turn=turn)
        for text in dict.fromkeys(each.scope for each in landed):
            store = lander.store(text)
            with Index.open(store.cache) as index:
                if not index.catch_up(store.repo):
                    detach("index", home, text)
            if len(lander.journal.kept(os.path.basename(store.path))) >= PACK_AFTER:
                detach("pack", home, text)
    finally:
        lander.close()
    if any(isinstance(failure, DamagedError) for failure in lander.failures):
        land_behind(home)
    if lander.failures:
        raise lander.failures[0]
    if wrong:
        from neosian import files

        files.log(os.path.join(home, "log", "neosian.log"), wrong)
    return landed


def tidy(home: str) -> None:
    """Have a child see to what has waited long: a killed session's last turn, what a killed launcher left."""
    from neosian.spool import Spool

    if Spool(home).neglected():
        land_behind(home)


def land_behind(home: str) -> None:
    """Have a child land what is in the spool; none where one waits to begin, which will find all that is there then."""
    from neosian.errors import BusyError

    try:
        with _turn(home, 0.0):
            pass
    except BusyError:
        return
    except OSError:
        pass  # the child tells of it in the log
    detach("land", home)


def _turn(home: str, patience: float) -> Lock:
    """The place of the one child that waits for the spool's lock."""
    from neosian.store import Lock

    return Lock(os.path.join(home, "spool", "waiting"), patience)


def detach(*argv: str) -> None:
    """Start this program again on its own: nobody waits for it, and no client's end ends it."""
    null = os.devnull
    environment = {
        name: os.environ[name] for name in ("PATH", "HOME", "NEOSIAN_GIT", "LANG", "TZ") if name in os.environ
    }
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "hook.py")
    command = [sys.executable, "-I", "-S", "-X", "utf8", script, *argv]
    if not hasattr(os, "posix_spawn"):  # pragma: no cover - Windows, not verified
        import subprocess

        apart = getattr(subprocess, "DETACHED_PROCESS", 0)
        nothing = subprocess.DEVNULL
        subprocess.Popen(command, stdin=nothing, stdout=nothing, stderr=nothing, creationflags=apart)
        return
    os.posix_spawn(
        sys.executable,
        command,
        environment,
        file_actions=[
            (os.POSIX_SPAWN_OPEN, 0, null, os.O_RDONLY, 0),
            (os.POSIX_SPAWN_OPEN, 1, null, os.O_WRONLY, 0),
            (os.POSIX_SPAWN_OPEN, 2, null, os.O_WRONLY, 0),
        ],
        setsid=True,
    )
