"""What goes where when hooks are installed in a client's settings, and taken out of them."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from neosian import merging, scope, settings
from neosian.clients import claude_install
from neosian.errors import NeosianError
from neosian.launcher import hook_line, install_launcher, is_hook_line
from neosian.merging import Look, Place, Plan

_ASKING = 5.0  # seconds a client has to tell its version

Version = tuple[int, int, int]
Entry = dict[str, Any]


class Problem(Protocol):
    """Something wrong in a settings file; ``fatal`` when our hooks would be lost with it."""

    @property
    def fatal(self) -> bool: ...


class Client(Protocol):
    """What the installer asks of a client's module; texts are JSON settings."""

    NAME: str
    TITLE: str
    PROGRAM: str
    ADVICE: str
    OLDEST: Version

    def user_folder(self, environ: Mapping[str, str]) -> str: ...
    def user_file(self, environ: Mapping[str, str]) -> str: ...
    def project_file(self, project: str) -> str: ...
    def version(self, said: str) -> Version | None: ...
    def entries(self, installed: Version | None, line: Callable[[str], str]) -> dict[str, Entry]: ...
    def fragment(self, hooks: Mapping[str, Sequence[Entry]]) -> dict[str, Any]: ...
    def problems(self, text: str, installed: Version | None) -> Sequence[Problem]: ...
    def owned(self, text: str) -> dict[str, list[Entry]]: ...
    def merge(self, text: str, wanted: Mapping[str, Entry]) -> str: ...
    def strip(self, text: str) -> str: ...


CLIENTS: dict[str, Client] = {claude_install.NAME: claude_install}


@dataclass(frozen=True)
class Wish(merging.Wish):
    """What was asked for. Without ``recall`` a prompt is only recorded: its hook line says so to the launcher, which
    then starts nothing."""

    recall: bool = True


@dataclass(frozen=True)
class _Hooks:
    """Our hooks as a part of a client's settings, by event."""

    client: Client

    def owned(self, text: str) -> dict[str, list[Entry]]:
        return self.client.owned(text)

    def strip(self, text: str) -> str:
        return self.client.strip(text)

    def again(self, text: str, owned: Mapping[str, Sequence[Entry]]) -> str:
        return self.client.merge(text, {event: entries[0] for event, entries in owned.items()})


def plan_install(wish: Wish, environ: Mapping[str, str], cwd: str) -> Plan:
    """What ``record install`` would do; raises ``UsageError`` for flags that make no sense."""
    client = CLIENTS[wish.client]
    flags, root = shlex.join(merging.flags(wish)), merging.root(wish)
    installed = client.version(ask_version(client.PROGRAM))
    verbs = {} if wish.recall else {"prompt": "note"}
    wanted = client.entries(
        installed, lambda verb: hook_line(client.NAME, verbs.get(verb, verb), flags, root)
    )
    place = _place(client, wish, environ, cwd)
    look = merging.look(place.file)
    found = [] if look.refused else client.problems(look.text, installed)
    look.refused = merging.misplaced(wish, place, cwd) or look.refused or _refusal(look, found)
    plan = Plan(
        file=look.file,
        before=look.raw,
        after=look.raw if look.refused else client.merge(look.text, wanted).encode(),
        backup=None if look.refused else merging.without_us(look, _Hooks(client)),
        fragment=client.fragment({event: [entry] for event, entry in wanted.items()}),
        names=tuple(wanted),
        version=".".join(map(str, installed)) if installed else None,
        warnings=(
            *(f"{look.file}: {problem}" for problem in found),
            *_about_client(client, installed),
            *_about_place(client, wish, environ, look),
        ),
        refused=look.refused,
        private=wish.user,
    )
    return merging.checked(plan)


def plan_uninstall(wish: Wish, environ: Mapping[str, str], cwd: str) -> Plan:
    """What ``record uninstall`` would do: every hook of ours goes, whatever it spells out."""
    client = CLIENTS[wish.client]
    look = merging.look(_place(client, wish, environ, cwd).file)
    ours = look.ours(_Hooks(client)) or {}
    plan = Plan(
        file=look.file,
        before=look.raw,
        after=merging.without_us(look, _Hooks(client)),
        backup=None,
        fragment=client.fragment(ours),
        names=tuple(ours),
        refused=look.refused,
        own_folder=not wish.user,
    )
    return merging.checked(plan)


def _place(client: Client, wish: Wish, environ: Mapping[str, str], cwd: str) -> Place:
    """The settings file that is meant, and what else of the client counts for it."""
    user_file = client.user_file(environ)
    return Place(
        title=client.TITLE,
        install=f"neosian record install --client {client.NAME}",
        home=client.user_folder(environ),
        user_file=user_file,
        file=user_file if wish.user else client.project_file(merging.project_folder(wish, cwd)),
    )


def write_launcher(wish: Wish) -> Path:
    """Put the launcher into the home that the hook lines name."""
    return install_launcher(merging.root(wish) or Path(scope.home()))


def ask_version(program: str) -> str:
    """What a client on the PATH says to ``--version``; empty when it is missing, fails or takes over 5 s."""
    found = shutil.which(program)
    if not found:
        return ""
    environment = {**os.environ, "DISABLE_AUTOUPDATER": "1"}
    # Its words go to a file: a child it leaves behind could hold a pipe open for ever.
    with tempfile.TemporaryFile() as said:
        try:
            child = subprocess.Popen(
                [found, "--version"],
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=subprocess.DEVNULL,
                env=environment,
                start_new_session=True,
            )
        except OSError:
            return ""
        try:
            status = child.wait(_ASKING)
        except subprocess.TimeoutExpired:
            _end(child)
            return ""
        said.seek(0)
        return said.read(4096).decode("utf-8", "replace") if status == 0 else ""


def _end(child: subprocess.Popen[bytes]) -> None:
    """End a child that does not answer, and what it started."""
    if hasattr(os, "killpg"):
        os.killpg(child.pid, signal.SIGKILL)
    else:
        child.kill()
    child.wait()


def _refusal(look: Look, found: Sequence[Problem]) -> NeosianError | None:
    """Why a file is refused: a mistake in it that our hooks would be lost with."""
    for problem in found:
        if problem.fatal:
            said = f"{look.file} was left as it is, our hooks would be lost in it: {problem}."
            return NeosianError(said, settings.in_an_editor(look.file))
    return None


def _about_client(client: Client, installed: Version | None) -> list[str]:
    oldest = f"{client.TITLE} {'.'.join(map(str, client.OLDEST))}"
    if installed is None:
        return [f"{client.PROGRAM} --version gave no answer, so the events of {oldest} are used."]
    if installed < client.OLDEST:
        return [f"The oldest supported is {oldest}: only the events that every version has are used."]
    return []


def _about_place(client: Client, wish: Wish, environ: Mapping[str, str], look: Look) -> list[str]:
    """What the person should know of the surroundings, and of hooks that are nearly ours."""
    said = []
    if environ.get("NEOSIAN_HOME") and wish.root is None:
        said.append(
            "NEOSIAN_HOME is set: hooks go there only where it is set too. --root DIR writes it down."
        )
    if not wish.user:
        user = merging.look(client.user_file(environ))
        if user.ours(_Hooks(client)):
            said.append(f"{user.file} has our hooks already, for every project.")
    for path, value in settings.walk(settings.parse(look.text)) if not look.refused else ():
        strange = isinstance(value, str) and "/neosian-hook" in value and not is_hook_line(value)
        if strange and path.startswith("hooks.") and path.endswith(".command"):
            said.append(f"{look.file}: {path} calls neosian-hook in a way of its own, and was left alone.")
    return said
