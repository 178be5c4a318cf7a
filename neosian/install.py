"""What goes where when hooks are installed in a client: the plan first, then the writing.

A plan reads and writes nothing but what it says; printing it is the default of the commands, carrying it
out is their ``--write``.
"""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

from neosian import files, scope, settings
from neosian.clients import claude_install
from neosian.errors import NeosianError, UsageError
from neosian.launcher import hook_line, install_launcher, is_hook_line

BACKUP = ".neosian-backup"
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


class NoClientHome(NeosianError):
    """The client's own folder is not there: it was never started, and neosian does not make it."""


@dataclass(frozen=True)
class Wish:
    """What was asked for: the client, the level, and what its hook lines are to spell out.

    Without ``recall`` a prompt is only recorded: its hook line says so to the launcher, which then starts nothing.
    """

    client: str
    user: bool = False
    project: str | None = None
    root: str | None = None
    scope: str | None = None
    mounts: tuple[str, ...] = ()
    recall: bool = True


@dataclass(frozen=True)
class Plan:
    """A change to one settings file, not made yet.

    ``before`` and ``after`` are its bytes, None where there is no file; ``backup`` is what the file beside
    it is to hold, None for no such file. ``fragment`` is the settings that come or go. ``refused`` says why
    the change cannot be made. ``own_folder``: the folder goes too when the file goes and nothing else is in it.
    """

    file: str
    before: bytes | None
    after: bytes | None
    backup: bytes | None
    fragment: dict[str, Any]
    version: str | None = None
    warnings: tuple[str, ...] = ()
    refused: NeosianError | None = None
    own_folder: bool = False

    @property
    def changed(self) -> bool:
        """Whether the file is to become another one."""
        return self.refused is None and self.before != self.after

    @property
    def events(self) -> list[str]:
        """The client's events whose hooks come or go."""
        return list(self.fragment["hooks"])

    @property
    def backup_file(self) -> str:
        """Where the settings as they were without us are kept."""
        return self.file + BACKUP


@dataclass
class _Look:
    """A settings file as it was found: its bytes, its text, and why it cannot be edited."""

    client: Client
    file: str
    raw: bytes | None = None
    text: str = "{}\n"
    refused: NeosianError | None = None

    @property
    def ours(self) -> dict[str, list[Entry]]:
        """Our hooks in it, by event; none in a file that cannot be read."""
        return {} if self.refused else self.client.owned(self.text)


def plan_install(wish: Wish, environ: Mapping[str, str], cwd: str) -> Plan:
    """What ``record install`` would do; raises ``UsageError`` for flags that make no sense."""
    client = CLIENTS[wish.client]
    flags, root = _flags(wish), _root(wish)
    installed = client.version(ask_version(client.PROGRAM))
    verbs = {} if wish.recall else {"prompt": "note"}
    wanted = client.entries(
        installed, lambda verb: hook_line(client.NAME, verbs.get(verb, verb), flags, root)
    )
    look = _look(client, _file(wish, environ, cwd))
    found = [] if look.refused else client.problems(look.text, installed)
    look.refused = _misplaced(wish, environ, cwd) or look.refused or _refusal(look, found)
    plan = Plan(
        file=look.file,
        before=look.raw,
        after=look.raw if look.refused else client.merge(look.text, wanted).encode(),
        backup=None if look.refused else _without_us(look),
        fragment=client.fragment({event: [entry] for event, entry in wanted.items()}),
        version=".".join(map(str, installed)) if installed else None,
        warnings=(
            *(f"{look.file}: {problem}" for problem in found),
            *_about_client(client, installed),
            *_about_place(wish, environ, look),
        ),
        refused=look.refused,
    )
    return _checked(plan)


def plan_uninstall(wish: Wish, environ: Mapping[str, str], cwd: str) -> Plan:
    """What ``record uninstall`` would do: every hook of ours goes, whatever it spells out."""
    client = CLIENTS[wish.client]
    look = _look(client, _file(wish, environ, cwd))
    plan = Plan(
        file=look.file,
        before=look.raw,
        after=_without_us(look),
        backup=None,
        fragment=client.fragment(look.ours),
        refused=look.refused,
        own_folder=not wish.user,
    )
    return _checked(plan)


def _checked(plan: Plan) -> Plan:
    """The plan, refused where the disk would refuse it."""
    why = settings.why_not_writable(plan.file) if plan.changed else ""
    return replace(plan, refused=NeosianError(why)) if why else plan


def carry_out(plan: Plan) -> None:
    """Make the change; raises the plan's refusal, or ``NeosianError`` when the disk says no.

    The backup is written before the file, and one that is no longer wanted goes after it.
    """
    if plan.refused is not None:
        raise plan.refused
    if plan.changed:
        if plan.after is not None:
            _make_folder(plan.file)
        if plan.backup is not None:
            _save_backup(plan, plan.backup)
        settings.save(plan.file, plan.after, plan.before)
    if plan.backup is None:
        _remove_backup(plan)
    if plan.changed and plan.after is None and plan.own_folder:
        _remove_folder(os.path.dirname(plan.file))


def write_launcher(wish: Wish) -> Path:
    """Put the launcher into the home that the hook lines name."""
    return install_launcher(_root(wish) or Path(scope.home()))


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


# Where -------------------------------------------------------------------------------------------


def _root(wish: Wish) -> Path | None:
    if wish.root is None:
        return None
    if not wish.root:
        raise UsageError("--root needs the path of a folder.")
    return Path(scope.home(_plain("--root", wish.root)))


def _file(wish: Wish, environ: Mapping[str, str], cwd: str) -> str:
    """The settings file that is meant."""
    client = CLIENTS[wish.client]
    return client.user_file(environ) if wish.user else client.project_file(_project(wish.project, cwd))


def _project(named: str | None, cwd: str) -> str:
    """The folder a project-level install is for: the one named, else the git work tree around ``cwd``."""
    if named is None:
        return _work_tree(cwd) or cwd
    if not os.path.isdir(named):
        raise UsageError(f"{named} is no folder.")
    return os.path.abspath(named)


def _work_tree(folder: str) -> str | None:
    while not os.path.exists(os.path.join(folder, ".git")):
        folder, below = os.path.dirname(folder), folder
        if folder == below:
            return None
    return folder


def _misplaced(wish: Wish, environ: Mapping[str, str], cwd: str) -> NeosianError | None:
    """Why nothing may be written at the place that is meant, be the file there what it may."""
    client = CLIENTS[wish.client]
    install = f"neosian record install --client {client.NAME}"
    folder = client.user_folder(environ)
    if wish.user:
        if os.path.isdir(folder):
            return None
        said = f"{folder} is no folder: {client.TITLE} makes it when it is first started, neosian does not."
        return NoClientHome(said, f"{client.PROGRAM}, once; then neosian record install again")
    file = _file(wish, environ, cwd)
    if os.path.realpath(file) == os.path.realpath(client.user_file(environ)):
        return UsageError(
            f"{file} is {client.TITLE}'s user level, no project's.", f"{install} --user --write"
        )
    if wish.project is None and _work_tree(cwd) is None and _no_project(cwd):
        return UsageError(f"{cwd} is no project.", f"{install} --project DIR --write")
    return None


def _no_project(folder: str) -> bool:
    """A home, the root and the root of temporary files hold projects; they are none."""
    real = os.path.realpath(folder)
    return real == os.path.dirname(real) or real in map(
        os.path.realpath, (os.path.expanduser("~"), tempfile.gettempdir())
    )


def _make_folder(file: str) -> None:
    """Make a project's folder for the client's settings; that of a user is there, or was refused."""
    folder = os.path.dirname(file)
    try:
        os.makedirs(folder, exist_ok=True)
    except OSError as error:
        raise NeosianError(f"{folder} cannot be made: {error.strerror}.") from None


def _remove_folder(folder: str) -> None:
    """Remove a folder if it is empty; one that is not, or is a link, stays."""
    try:
        os.rmdir(folder)
    except OSError:
        return


# What --------------------------------------------------------------------------------------------


def _flags(wish: Wish) -> str:
    """The flags a hook line spells out, quoted for the shell."""
    words = []
    if wish.scope is not None:
        words += ["--scope", _scope("--scope", wish.scope)]
    for mount in wish.mounts:
        words += ["--mount", _mount(mount)]
    return shlex.join(words)


def _scope(flag: str, text: str) -> str:
    """A scope's text as it is, once it is known to be one that can stand behind a flag."""
    if text.startswith("-"):
        raise UsageError(f"{flag} {text}: a scope does not begin with a dash.")
    return scope.check(_plain(flag, text))


def _mount(text: str) -> str:
    path, equals, shown = text.partition("=")
    if not equals or not path.startswith("/"):
        raise UsageError(f"--mount {text}: it is written /path=scope, with :ro after it for reading only.")
    _scope("--mount", shown.removesuffix(":ro"))
    return _plain("--mount", text)


def _plain(flag: str, text: str) -> str:
    """A text that can stand in a hook line: one line, and good UTF-8."""
    if not text.isprintable():
        raise UsageError(f"{flag} {text!r}: it holds characters that cannot stand in a hook line.")
    return text


def _look(client: Client, file: str) -> _Look:
    look = _Look(client, file)
    try:
        look.raw = settings.read(file)
        if look.raw is not None:
            look.text = settings.decode(file, look.raw)
    except NeosianError as error:
        look.refused = error
    return look


def _refusal(look: _Look, found: Sequence[Problem]) -> NeosianError | None:
    """Why a file is refused: a mistake in it that our hooks would be lost with."""
    for problem in found:
        if problem.fatal:
            return NeosianError(f"{look.file} was left as it is, our hooks would be lost in it: {problem}.")
    return None


def _about_client(client: Client, installed: Version | None) -> list[str]:
    oldest = f"{client.TITLE} {'.'.join(map(str, client.OLDEST))}"
    if installed is None:
        return [f"{client.PROGRAM} --version gave no answer, so the events of {oldest} are used."]
    if installed < client.OLDEST:
        return [f"The oldest supported is {oldest}: only the events that every version has are used."]
    return []


def _about_place(wish: Wish, environ: Mapping[str, str], look: _Look) -> list[str]:
    """What the person should know of the surroundings, and of hooks that are nearly ours."""
    said = []
    if environ.get("NEOSIAN_HOME") and wish.root is None:
        said.append(
            "NEOSIAN_HOME is set: hooks go there only where it is set too. --root DIR writes it down."
        )
    if not wish.user:
        user = _look(look.client, look.client.user_file(environ))
        if user.ours:
            said.append(f"{user.file} has our hooks already, for every project.")
    for path, value in settings.walk(settings.parse(look.text)) if not look.refused else ():
        strange = isinstance(value, str) and "/neosian-hook" in value and not is_hook_line(value)
        if strange and path.startswith("hooks.") and path.endswith(".command"):
            said.append(f"{look.file}: {path} calls neosian-hook in a way of its own, and was left alone.")
    return said


# The way back ------------------------------------------------------------------------------------


def _without_us(look: _Look) -> bytes | None:
    """The file as ``uninstall`` leaves it; None when nothing is left of one that had not been there before.

    That is the backup, to the byte, where nothing but our part has changed since; else what is left of the
    text.
    """
    if not look.ours:
        return look.raw
    backup = _look(look.client, look.file + BACKUP)
    if backup.raw is not None and not backup.refused:
        if _explains(backup, look):
            return backup.raw
    elif not settings.parse(look.client.strip(look.text)):
        return None
    return look.client.strip(look.text).encode()


def _explains(backup: _Look, look: _Look) -> bool:
    """Whether a file is its backup with our hooks and nothing else: then both, with hooks of ours for the
    same events taken out of them, are the same."""
    client = look.client
    entry = {"type": "command", "command": hook_line(client.NAME, "note")}
    try:
        merged = client.merge(backup.text, dict.fromkeys(look.ours, entry))
    except ValueError:
        return False
    return not backup.ours and client.strip(merged) == client.strip(look.text)


def _save_backup(plan: Plan, data: bytes) -> None:
    """Keep what the file was without us, under the file's own mode: it holds the same secrets."""
    try:
        files.write(plan.backup_file, data, mode=os.stat(plan.file).st_mode & 0o777)
    except OSError as error:
        raise NeosianError(f"{plan.backup_file} cannot be written: {error.strerror}.") from None


def _remove_backup(plan: Plan) -> None:
    try:
        if os.path.lexists(plan.backup_file):
            files.remove(plan.backup_file)
    except OSError as error:
        raise NeosianError(f"{plan.backup_file} cannot be removed: {error.strerror}.") from None
