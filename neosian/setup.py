"""Wiring every client of a machine, or of a project, in one go: hooks and MCP server, and taking all of it back.

A plan is a list of steps, each one change to one file. Two steps may change the same file, so each is planned anew when
it is carried out.
"""

from __future__ import annotations

import difflib
import os
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from neosian import files, install, mcp_install, merging, redact, scope, wiring
from neosian.clients.hook_files import Environ
from neosian.clients.installers import SERVED, installer
from neosian.errors import NeosianError, UsageError
from neosian.launcher import install_launcher, launcher_path
from neosian.merging import NoClientHome, Plan
from neosian.wiring import HOOKS, PROJECT, SERVER, USER

CHANGE, RIGHT, BY_HAND, LATER, LEFT_OUT, REFUSED = (
    "change",
    "right",
    "by hand",
    "later",
    "left out",
    "refused",
)

_OURS = frozenset((
    "bin", "spool", "scopes", "cache", "log", "dream", "machine", "config.toml", "dream-mark", "off", "off-projects",
))  # fmt: skip
"""What a home holds."""
_AROUND = 2  # lines shown around a change
_WIDE = 160  # columns shown of a line


@dataclass(frozen=True)
class Wish:
    """What was asked for: the clients (none: those that are here), the level, a project's folder (None: the one around
    the current folder) and a home that is to be spelled out."""

    clients: tuple[str, ...] = ()
    project: bool = False
    folder: str | None = None
    root: str | None = None


@dataclass(frozen=True)
class Step:
    """One change to one file, or why there is none.

    ``state``: change, right (nothing to do), by hand (the client's own command does it), later (the client was never
    started), left out (it has no such level), refused. ``why`` says so in a sentence, ``hint`` is the next command.
    """

    client: str
    kind: str
    level: str
    state: str
    plan: Plan | None = None
    why: str = ""
    hint: str = ""

    @property
    def file(self) -> str:
        return self.plan.file if self.plan else ""


def found(environ: Environ) -> tuple[str, ...]:
    """The clients that are installed here."""
    return tuple(name for name in SERVED if wiring.is_here(name, environ))


def plan_setup(wish: Wish, environ: Environ, cwd: str) -> list[Step]:
    """What would be written for the clients that are meant. Raises ``UsageError`` for a wish that makes no sense."""
    clients = wish.clients or found(environ)
    return [step for client in clients for step in _steps(client, wish, environ, cwd, is_install=True)]


def plan_removal(wish: Wish, environ: Environ, cwd: str) -> list[Step]:
    """What would be taken out: of every client that is meant, be it here or not."""
    clients = wish.clients or SERVED
    steps = [step for client in clients for step in _steps(client, wish, environ, cwd, is_install=False)]
    return [step for step in steps if step.state in (CHANGE, BY_HAND, REFUSED)]


def carry_out(
    steps: Sequence[Step], wish: Wish, environ: Environ, cwd: str, *, is_install: bool
) -> list[Step]:
    """Do what the steps say; the steps as they went: what was refused only now is told as that."""
    return [
        _carry_out(step, wish, environ, cwd, is_install) if step.state == CHANGE else step for step in steps
    ]


def _carry_out(step: Step, wish: Wish, environ: Environ, cwd: str, is_install: bool) -> Step:
    try:
        plan = _plan(step, wish, environ, cwd, is_install)
        merging.carry_out(plan)
    except NeosianError as error:
        return replace(step, state=REFUSED, why=str(error), hint=error.hint)
    return replace(step, plan=plan)


def write_launcher(wish: Wish) -> Path:
    """Put home and launcher where the hooks look for them."""
    return install_launcher(_home(wish))


def launcher(wish: Wish) -> Path:
    """Where the launcher is, or is to be."""
    return launcher_path(_home(wish))


def remove_launcher(wish: Wish) -> bool:
    """Remove the launcher, and its folder and home where nothing else is in them; whether there was one."""
    path = launcher(wish)
    try:
        there = files.remove(str(path))
        for folder in (path.parent, path.parent.parent):
            if folder.is_dir() and not folder.is_symlink() and not any(folder.iterdir()):
                folder.rmdir()
    except OSError as error:
        raise NeosianError(f"{path} cannot be removed: {error.strerror}.") from None
    return there


def forget(wish: Wish) -> str:
    """Remove the home with all memory in it; its path. Refused where the folder holds anything that is not ours."""
    home = str(_home(wish))
    if os.path.islink(home) or not os.path.isdir(home):
        raise NeosianError(f"{home} is no folder of its own, so it was left as it is.")
    others = sorted(set(os.listdir(home)) - _OURS)
    if others:
        raise NeosianError(
            f"{home} holds what is not neosian's ({', '.join(others[:5])}), so all of it was left as it is.",
            f"look at it, then: rm -r {home}",
        )
    try:
        shutil.rmtree(home)
    except OSError as error:
        raise NeosianError(f"{error.filename} cannot be removed: {error.strerror}.") from None
    return home


def _home(wish: Wish) -> Path:
    return merging.root(merging.Wish("", root=wish.root)) or Path(scope.home())


# One step ----------------------------------------------------------------------------------------


def _steps(client: str, wish: Wish, environ: Environ, cwd: str, *, is_install: bool) -> Iterator[Step]:
    known = installer(client)
    if known.HOOKS is not None:
        yield _step(client, HOOKS, known.HOOKS.project_file is not None, wish, environ, cwd, is_install)
    yield _step(client, SERVER, known.MCP.project_files is not None, wish, environ, cwd, is_install)


def _step(
    client: str, kind: str, has_project: bool, wish: Wish, environ: Environ, cwd: str, is_install: bool
) -> Step:  # fmt: skip
    """What is to be done about hooks or server of one client.

    A client without a project's file is left out of a project, but where it was asked for by name: then its user's file
    is meant.
    """
    level = PROJECT if wish.project and has_project else USER
    if wish.project and not has_project and not wish.clients:
        what = "hooks" if kind == HOOKS else "MCP servers"
        return Step(
            client, kind, USER, LEFT_OUT, why=f"It takes {what} from its user's settings only.",
            hint=f"neosian setup --client {client}",
        )  # fmt: skip
    step = Step(client, kind, level, CHANGE)
    plan = _plan(step, wish, environ, cwd, is_install)
    refused = plan.refused
    if refused is None:
        has_work = plan.changed if is_install else bool(plan.names)
        return replace(step, plan=plan, state=CHANGE if has_work else RIGHT)
    own = installer(client).MCP
    command = own.adds if is_install else own.removes
    if kind == SERVER and command and refused.hint.startswith(command):
        state = BY_HAND
    elif isinstance(refused, NoClientHome):
        hint = f"start {installer(client).TITLE} once, then: neosian setup --client {client} --write"
        return replace(step, plan=plan, state=LATER, why=str(refused), hint=hint)
    elif not is_install and b"neosian" not in (plan.before or b""):
        state = RIGHT  # whatever else keeps it from being read, nothing of ours is in it
    else:
        state = REFUSED
    return replace(step, plan=plan, state=state, why=str(refused), hint=refused.hint)


def _plan(step: Step, wish: Wish, environ: Environ, cwd: str, is_install: bool) -> Plan:
    user = step.level == USER
    folder = None if user else wish.folder
    if step.kind == HOOKS:
        hooks = install.Wish(step.client, user, folder, wish.root)
        return (install.plan_install if is_install else install.plan_uninstall)(hooks, environ, cwd)
    server = mcp_install.Wish(step.client, user, folder, wish.root)
    return (mcp_install.plan_install if is_install else mcp_install.plan_uninstall)(server, environ, cwd)


def check(wish: Wish, cwd: str) -> None:
    """Raise ``UsageError`` for a project that is none."""
    if wish.project:
        folder = merging.project_folder(merging.Wish("", folder=wish.folder), cwd)
        if merging.is_no_project(folder):
            raise UsageError(f"{folder} is no project: run this in one, or name its folder.", "neosian setup")


# What is shown -----------------------------------------------------------------------------------


def difference(plan: Plan) -> str:
    """A plan as a difference between files, without the secrets that may stand around it."""
    before, after = (_lines(data) for data in (plan.before, plan.after))
    old = plan.file if plan.before is not None else os.devnull
    new = plan.file if plan.after is not None else os.devnull
    rows = difflib.unified_diff(before, after, old, new, n=_AROUND, lineterm="")
    return "\n".join(row if len(row) <= _WIDE else row[: _WIDE - 1] + "…" for row in rows)


def _lines(data: bytes | None) -> list[str]:
    return redact.redact((data or b"").decode("utf-8-sig", "replace")).splitlines()


def trust(client: str) -> str:
    """What a person has to do before the client runs what was written; "" where nothing is."""
    return installer(client).TRUST


def own_memories(clients: Sequence[str], wish: Wish, environ: Environ, cwd: str) -> list[str]:
    """The memories that the clients keep themselves and that are on, or may be: these are left alone."""
    project = merging.project_folder(merging.Wish("", folder=wish.folder), cwd) if wish.project else None
    found = ((installer(name).TITLE, installer(name).own_memory(environ, project)) for name in clients)
    return [f"{title} ({memory})" for title, memory in found if memory]
