"""A deeper look than `neosian status`: every repository checked, every file of ours compared, and what is safe mended.

Looking changes nothing that a landing would not change as well. Mending never removes what somebody wrote: damaged
objects and stale locks are moved aside, a client's settings keep a backup, and what is not ours is only told.
"""

from __future__ import annotations

import os
import re
import stat
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from neosian import config, files, healing, health, merging, projects, wiring
from neosian.child import git_program
from neosian.clients.hook_files import Environ
from neosian.errors import NeosianError
from neosian.index import Index
from neosian.journal import Journal
from neosian.landing import Lander
from neosian.launcher import install_launcher, is_of_this_release, last_line, launcher_path
from neosian.places import machine
from neosian.spool import Spool
from neosian.store import Lock, Store

CHECKS = {
    "home": "the home is ours alone",
    "launcher": "the launcher runs, and is of this release",
    "settings": "our settings can be read",
    "client": "what stands in the clients' settings is right",
    "scope": "the repositories are whole",
    "index": "the search caches are in step",
    "spool": "nothing is stuck in the spool",
    "lock": "no foreign lock holds landings up",
}
"""What is looked at, and what it is when all is well."""

_GIT = (2, 30)
_CHECKING = 1800.0  # seconds that git may take to look through one repository
_PATIENCE = 5.0  # seconds that mending waits for others


@dataclass(frozen=True)
class Mend:
    """Something that can be done: ``act`` does it and says what it did. Mends of one name are one."""

    name: str
    act: Callable[[], str]


@dataclass(frozen=True)
class Finding:
    """Something wrong: which of `CHECKS` found it, a sentence, the next command to try, and what ``--fix`` would do."""

    about: str
    what: str
    hint: str = ""
    mend: Mend | None = None


def examine(home: str, directory: str, environ: Environ) -> list[Finding]:
    """All that is wrong, in the order of `CHECKS`; empty when all is well."""
    found = [*_as_status_says(home, directory, environ), *_git()]
    if os.path.isdir(home):
        found += [*_permissions(home), *_launcher(home), *_spool(home)]
        for store in _stores(home):
            try:
                found += [*_repository(home, store), *_index(store)]
            finally:
                store.repo.close()
    order = list(CHECKS)
    seen: dict[str, Finding] = {}
    for each in sorted(found, key=lambda finding: order.index(finding.about)):
        seen.setdefault(each.what, each)
    return list(seen.values())


def mend(findings: Sequence[Finding]) -> list[tuple[bool, str]]:
    """Do what can be done about findings; for each act whether it went well, and what it says."""
    done = []
    for each in {one.mend.name: one.mend for one in findings if one.mend}.values():
        try:
            done.append((True, each.act()))
        except NeosianError as error:
            done.append((False, str(error)))
        except OSError as error:
            done.append((False, files.said(error, each.name)))
    return done


# What status says too ----------------------------------------------------------------------------


def _as_status_says(home: str, directory: str, environ: Environ) -> Iterator[Finding]:
    mends = {"spool": _land(home), "lock": Mend("locks", lambda: _clear_locks(home))}
    faults = wiring.faults(home, environ, directory, is_asking=True)
    mends_of = {fault.what: _mend_of(fault, environ, directory) for fault in faults}
    mends_of |= {what: _make_folder(path) for path, what in health.misfits(home).items()}
    for problem in health.report(home, directory, faults)["problems"]:
        about, what, hint = problem["about"], problem["what"], problem["try"]
        mending = mends_of.get(what) or mends.get(about)
        if hint == "neosian doctor":  # which this is
            hint = "neosian doctor --fix" if mending or about == "scope" else ""
        yield Finding(about, what, hint, mending)


def _mend_of(fault: wiring.Fault, environ: Environ, directory: str) -> Mend | None:
    if fault.launcher:
        return _install(os.path.dirname(os.path.dirname(fault.launcher)))
    if fault.wire:
        wire = fault.wire
        return Mend(f"{wire.file} {wire.kind}", lambda: _write(wire, environ, directory))
    return None


def _write(wire: wiring.Wire, environ: Environ, directory: str) -> str:
    """Write anew what stands at a wire; planned only now, for the file may hold more of ours that was mended before."""
    plan = wiring.plan(wire, environ, directory)
    if plan:
        merging.carry_out(plan)
    return f"{wire.file} was written anew."


def _make_folder(path: str) -> Mend:
    """Put a folder where something else lies, which is kept beside it."""

    def act() -> str:
        aside = f"{path}.aside-{time.time_ns()}"
        os.rename(path, aside)
        if not os.path.islink(aside):
            _change_modes([aside], 0o077, 0)
        files.make_dir(path)
        return f"{path} is a folder again; what lay there is {aside}."

    return Mend(f"folder {path}", act)


def _install(home: str) -> Mend:
    return Mend(f"launcher {home}", lambda: f"{install_launcher(Path(home))} was written anew.")


def _land(home: str) -> Mend:
    return Mend("spool", lambda: _land_all(home))


def _land_all(home: str) -> str:
    """Take in again what was left or set aside, and land all that can land."""
    spool = Spool(home)
    again = spool.recover() + spool.try_again()
    lander = Lander(home, config.load(home)[0], patience=_PATIENCE, mends=True)
    try:
        landed = lander.land()
    finally:
        lander.close()
    if lander.failures:
        raise lander.failures[0]
    told = f"{len(landed)} turns landed, {len(spool.names())} events wait"
    return f"{told}; {again} that lay aside were tried once more." if again else f"{told}."


def _clear_locks(home: str) -> str:
    """Have each repository recover, which clears the locks whose owners are surely dead."""
    for store in _stores(home):
        store.write(lambda draft: None, patience=_PATIENCE)
    return "Locks whose owners are surely dead are gone; a lock that somebody may still hold stays."


# The machine, the home ---------------------------------------------------------------------------


def _git() -> Iterator[Finding]:
    program = git_program()
    said = last_line([program, "--version"])
    found = re.search(r"(\d+)\.(\d+)", said)
    if found is None:
        yield Finding(
            "home", f"{program} --version gives no version ({said}), and neosian keeps everything in git."
        )
    elif (int(found[1]), int(found[2])) < _GIT:
        yield Finding("home", f"{program} is {found[0]}; neosian needs 2.30 or newer.")


def _permissions(home: str) -> Iterator[Finding]:
    """Files that another user owns, that others can reach, or that their owner cannot write."""
    foreign, open_to, closed = [], [], []
    misfits = health.misfits(home)
    mine = os.geteuid() if hasattr(os, "geteuid") else None
    for path, found in _own_files(home):
        if path in misfits:
            continue  # which is told by itself
        if mine is not None and found.st_uid != mine:
            foreign.append(path)
        elif mine is None:
            return
        elif found.st_mode & 0o077 and not _is_guarded(home, path):
            open_to.append(path)
        elif (wanted := _needed(found.st_mode)) & found.st_mode != wanted and "objects" not in path.split(
            os.sep
        ):
            closed.append(path)
    if foreign:
        command = f"sudo chown -R $(id -un) {home}"
        yield Finding("home", f"{_named(foreign)} in the home belong to another user.", command)
    if open_to:
        yield Finding(
            "home", f"{_named(open_to)} in the home can be reached by other users.", f"chmod -R go-rwx {home}",
            Mend("open", lambda: _change_modes(open_to, 0o077, 0)),
        )  # fmt: skip
    if closed:
        yield Finding(
            "home", f"{_named(closed)} in the home cannot be written by you.", f"chmod -R u+rwX {home}",
            Mend("closed", lambda: _change_modes(closed, 0, 0o600)),
        )  # fmt: skip


def _own_files(home: str) -> Iterator[tuple[str, os.stat_result]]:
    yield home, os.lstat(home)
    for folder, folders, names in os.walk(home):
        for name in [*folders, *names]:
            path = os.path.join(folder, name)
            try:
                found = os.lstat(path)
            except OSError:
                continue  # gone meanwhile
            if not stat.S_ISLNK(found.st_mode):
                yield path, found


def _is_guarded(home: str, path: str) -> bool:
    """Whether a file lies where people's editors and git give it the modes they like: in a scope's folder, or as the
    settings and templates of a home, behind whose own mode nobody else comes."""
    top, _, below = os.path.relpath(path, home).partition(os.sep)
    return (top == "scopes" and os.sep in below) or top in ("config.toml", "templates")


def _needed(mode: int) -> int:
    return 0o700 if stat.S_ISDIR(mode) else 0o600


def _change_modes(paths: Sequence[str], drop: int, add: int) -> str:
    for path in paths:
        mode = stat.S_IMODE(os.lstat(path).st_mode)
        more = add | 0o100 if add and os.path.isdir(path) else add
        os.chmod(path, mode & ~drop | more)
    return f"The modes of {_named(paths)} are right again."


def _named(paths: Sequence[str]) -> str:
    return paths[0] if len(paths) == 1 else f"{paths[0]} and {len(paths) - 1} more"


def _launcher(home: str) -> Iterator[Finding]:
    path = launcher_path(Path(home))
    if path.exists() and not is_of_this_release(Path(home)):
        said = f"The launcher {path} is of another release than this neosian."
        yield Finding("launcher", said, "neosian doctor --fix", _install(home))


# The stores --------------------------------------------------------------------------------------


def _stores(home: str) -> list[Store]:
    """The scopes that are there; a folder whose name says no scope is somebody's repository, and left alone."""
    return [store for store in projects.stores(home) if ":" in store.scope]


def _repository(home: str, store: Store) -> Iterator[Finding]:
    """What git itself finds wrong when it reads everything, and what it does not mind: a main that is gone."""
    said = _fsck(store)
    if not said and store.was_made and not store.is_sound():
        said = ["main, HEAD or the index is not what a landing leaves"]
    if said:
        yield Finding(
            "scope", f"There is damage in {store.path}: {said[0]} ({len(said)} lines in all).",
            f"git -C {store.path} fsck", Mend(f"heal {store.scope}", lambda: _heal(home, store)),
        )  # fmt: skip


def _fsck(store: Store) -> list[str]:
    words = ("fsck", "--strict", "--no-dangling", "--no-progress")
    try:
        status, out, errors = store.repo.start(*words, timeout=_CHECKING).communicate(b"")
    except NeosianError as error:
        return [str(error)]
    said = [
        row for row in (out + errors).decode("utf-8", "replace").splitlines() if not row.startswith("notice:")
    ]
    return said if said or not status else [f"git fsck ended with {status}"]


def _heal(home: str, store: Store) -> str:
    spool = Spool(home)
    with Lock(os.path.join(spool.folder, "lock"), _PATIENCE):
        try:
            return healing.heal(store, Journal(spool.folder, home), machine(home))
        finally:
            store.repo.close()


def _index(store: Store) -> Iterator[Finding]:
    """Whether the search cache is whole, and shows what main holds."""
    try:
        with Index.open(store.cache) as index:
            wrong = "" if index.is_whole() else "is damaged"
            if not wrong and index.catch_up(store.repo, None) and not index.is_in_step(store.repo):
                wrong = "does not show what the repository holds"
    except (NeosianError, OSError):
        return  # the repository or the cache's folder cannot be read, which is told already
    if wrong:
        yield Finding(
            "index", f"The search cache {store.cache} {wrong}.", f"rm {store.cache}",
            Mend(f"index {store.scope}", lambda: _read_anew(store)),
        )  # fmt: skip


def _read_anew(store: Store) -> str:
    try:
        with Index.open(store.cache) as index:
            index.rebuild()
            index.catch_up(store.repo, None)
    finally:
        store.repo.close()
    return f"{store.cache} was made anew."


# The spool ---------------------------------------------------------------------------------------


def _spool(home: str) -> Iterator[Finding]:
    """Whether anybody could land: who does so holds the lock for moments."""
    spool = Spool(home)
    if not os.path.isdir(spool.folder):
        return
    try:
        with Lock(os.path.join(spool.folder, "lock"), _PATIENCE):
            pass
    except NeosianError as error:
        yield Finding(
            "spool", f"{error} As long as it is, nothing lands.", "neosian doctor, once more in a minute"
        )
