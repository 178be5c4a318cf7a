"""Wiring every client of a machine, or of a project, in one go: hooks and MCP server, and taking all of it back.

A plan is a list of steps, each one change to one file. Two steps may change the same file, so each is planned anew when
it is carried out.
"""

from __future__ import annotations

import difflib
import os
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from neosian import install, made, mcp_install, merging, projects, redact, removal, wiring
from neosian.clients.hook_files import Environ
from neosian.clients.installers import RECORDED, SERVED, hooks_of, installer, trust
from neosian.clients.mcp_clients import PROJECT, USER
from neosian.errors import NeosianError, UsageError
from neosian.launcher import install_launcher, is_of_this_release, launcher_path
from neosian.merging import NoClientHome, Plan
from neosian.wiring import HOOKS, SERVER

CHANGE, RIGHT, BY_HAND, LATER, LEFT_OUT, SHARED, REFUSED = (
    "change",
    "right",
    "by hand",
    "later",
    "left out",
    "shared",
    "refused",
)
WIRED = (CHANGE, RIGHT)
"""The states of what stands in a client's file, or is to."""

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
    started), left out (it has no such level), shared (it stays for another client), refused. ``why`` says so in a
    sentence, ``hint`` is the next command, ``prints`` the one that prints what is to be pasted by hand. ``others`` are
    the clients that go with it, because they read the same file.
    """

    client: str
    kind: str
    level: str
    state: str
    plan: Plan | None = None
    why: str = ""
    hint: str = ""
    prints: str = ""
    others: tuple[str, ...] = ()

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
    """What would be taken out of every client that is meant, be it here or not: from one project where that was asked
    for, else from the user's files and those of the project around the current folder."""
    wishes = [wish]
    if not wish.project and not merging.is_no_project(_folder(wish, cwd)):
        wishes.append(replace(wish, project=True))
    steps = [
        step
        for each in wishes
        for client in wish.clients or SERVED
        for step in _steps(client, each, environ, cwd, is_install=False)
    ]
    return _once([step for step in steps if step.state in (CHANGE, BY_HAND, SHARED, REFUSED)])


def _once(steps: Sequence[Step]) -> list[Step]:
    """Each file once for hooks and once for the server, also where several clients read it."""
    found: dict[tuple[str, str], Step] = {}
    for step in steps:
        place = (step.kind, os.path.realpath(step.file))
        first = found.setdefault(place, step)
        if step.client not in (first.client, *first.others):
            found[place] = replace(first, others=(*first.others, step.client))
    return list(found.values())


def elsewhere(wish: Wish, environ: Environ, cwd: str) -> list[str]:
    """The folders of other projects of the home in whose files something of ours stands. Raises ``NeosianError`` where
    nobody can tell which projects there are."""
    known = sorted(set().union(*projects.known(str(_home(wish))).values()))
    here = os.path.realpath(_folder(wish, cwd))
    folders = [each for each in known if each.startswith("/") and os.path.isdir(each)]
    others = [each for each in folders if os.path.realpath(each) != here and not merging.is_no_project(each)]
    return [each for each in others if _is_wired(replace(wish, project=True, folder=each), environ, cwd)]


def _is_wired(wish: Wish, environ: Environ, cwd: str) -> bool:
    return any(step.level == PROJECT for step in plan_removal(wish, environ, cwd))


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
        return _refused(step, error, wish, is_install)
    return replace(step, plan=plan)


def _refused(step: Step, error: NeosianError, wish: Wish, is_install: bool) -> Step:
    prints = _prints(step, wish) if is_install and not isinstance(error, UsageError) else ""
    return replace(step, state=REFUSED, why=str(error), hint=error.hint, prints=prints)


def _prints(step: Step, wish: Wish) -> str:
    """The command that prints what belongs into the file of a step."""
    verb, flag = ("record", "--project") if step.kind == HOOKS else ("mcp", "--directory")
    level = ["--user"] if step.level == USER else [flag, wish.folder] if wish.folder else []
    root = ["--root", wish.root] if wish.root else []
    return shlex.join(["neosian", verb, "install", "--client", step.client, *level, *root])


def needs_launcher(steps: Sequence[Step]) -> bool:
    """Whether anything stands, or is to, that a launcher is for: without it there is no home to be made."""
    return any(step.state in WIRED for step in steps)


def lacks_launcher(wish: Wish) -> bool:
    """Whether the launcher is missing, or another than this release would write."""
    path = launcher(wish)
    return not (is_of_this_release(_home(wish)) and os.access(path, os.X_OK))


def write_launcher(wish: Wish) -> Path:
    """Put home and launcher where the hooks look for them."""
    return install_launcher(_home(wish))


def launcher(wish: Wish) -> Path:
    """Where the launcher is, or is to be."""
    return launcher_path(_home(wish))


def remove_launcher(wish: Wish) -> bool:
    """Remove the launcher, and what folders it leaves empty; whether there was one."""
    made.tidy(str(_home(wish)))
    return removal.remove_launcher(_home(wish))


def check_home(wish: Wish) -> None:
    """Raise ``NeosianError`` where the home could not be removed, before anything else is taken out."""
    removal.check(_home(wish))


def forget(wish: Wish) -> str:
    """Remove the home with all memory in it; its path, "" where there was none."""
    home = _home(wish)
    return str(home) if removal.forget(home) else ""


def _home(wish: Wish) -> Path:
    return Path(merging.home(merging.Wish("", root=wish.root)))


def _folder(wish: Wish, cwd: str) -> str:
    return merging.project_folder(merging.Wish("", folder=wish.folder), cwd)


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
    step, refused = replace(step, plan=plan), plan.refused
    if refused is None:
        has_work = plan.changed if is_install else bool(plan.names)
        if has_work and not is_install and (told := _still_told(step, wish, environ, cwd)):
            return _shared(step, told, wish)
        return replace(step, state=CHANGE if has_work else RIGHT)
    own = installer(client).MCP
    command = own.adds if is_install else own.removes
    said = replace(step, why=str(refused), hint=refused.hint)
    if kind == SERVER and command and refused.hint.startswith(command):
        prints = _prints(step, wish) if is_install and own.asks else ""
        return replace(said, state=BY_HAND, prints=prints)
    if isinstance(refused, NoClientHome):
        hint = f"start {installer(client).TITLE} once, then: neosian setup --client {client} --write"
        return replace(said, state=LATER, hint=hint)
    if not is_install and b"neosian" not in (plan.before or b""):
        return replace(said, state=RIGHT)  # whatever else keeps it from being read, nothing of ours is in it
    return _refused(step, refused, wish, is_install)


def _still_told(step: Step, wish: Wish, environ: Environ, cwd: str) -> list[str]:
    """The clients that stay wired when a step is taken, and are told of the server by its file alone."""
    if step.kind != SERVER or step.level != PROJECT or not wish.clients:
        return []
    folder = _folder(wish, cwd)
    readers = mcp_install.readers(step.file, folder)
    return [name for name in readers if name not in wish.clients and _relies(name, folder, environ)]


def _relies(client: str, folder: str, environ: Environ) -> bool:
    """Whether a client has hooks of ours for a project, and the server from nowhere but there."""
    if client not in RECORDED:
        return False

    def has_hooks(*, user: bool) -> bool:
        wish = install.Wish(client, user, None if user else folder)
        return bool(install.plan_uninstall(wish, environ, folder).names)

    server = mcp_install.Wish(client, user=True)
    is_served = bool(mcp_install.plan_uninstall(server, environ, folder).names)
    has_own_hooks = hooks_of(client).project_file is not None and has_hooks(user=False)
    return has_own_hooks or (has_hooks(user=True) and not is_served)


def _shared(step: Step, told: Sequence[str], wish: Wish) -> Step:
    titles = " and ".join(installer(name).TITLE for name in told)
    clients = [word for name in (*wish.clients, *told) for word in ("--client", name)]
    project = ["--project", *([wish.folder] if wish.folder else [])]
    return replace(
        step,
        state=SHARED,
        why=f"{step.file} tells {titles} of the server too, so the entry stays.",
        hint=shlex.join(["neosian", "setup", "--uninstall", *project, *clients, "--write"]),
    )


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
        folder = _folder(wish, cwd)
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


def trusts(steps: Sequence[Step]) -> dict[str, str]:
    """What a person has to do, by client, before it runs what was written at the levels of the steps."""
    said: dict[str, str] = {}
    for step in steps:
        if step.state in WIRED and (known := trust(step.client, step.level)):
            said[step.client] = known
    return said


def wired(steps: Sequence[Step]) -> list[str]:
    """The clients that have, or are to have, something of ours."""
    late = {step.client for step in steps if step.state == LATER}
    told = dict.fromkeys(step.client for step in steps if step.state in (*WIRED, BY_HAND))
    return [client for client in told if client not in late]


def fragment(step: Step) -> str:
    """What is to be pasted by hand where a step has a command that prints it, else ""."""
    if not step.plan or not step.prints:
        return ""
    if step.kind == HOOKS:
        return hooks_of(step.client).shape.show(step.plan.fragment)
    return installer(step.client).MCP.format.show(step.plan.fragment)


def own_memories(clients: Sequence[str], wish: Wish, environ: Environ, cwd: str) -> list[str]:
    """The memories that the clients keep themselves and that are on, or may be: these are left alone."""
    project = merging.project_folder(merging.Wish("", folder=wish.folder), cwd) if wish.project else None
    found = ((installer(name).TITLE, installer(name).own_memory(environ, project)) for name in clients)
    return [f"{title} ({memory})" for title, memory in found if memory]
