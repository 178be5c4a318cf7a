"""A change to a client's settings file: the plan first, then the writing, and the way back to the byte.

A plan reads and writes nothing but what it says; printing it is the default of the commands, carrying it
out is their ``--write``. What is put into a file and taken out of it again, hooks or a server, is a `Part`.
"""

from __future__ import annotations

import os
import re
import shlex
import tempfile
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

from neosian import files, made, scope, settings
from neosian.errors import NeosianError, UsageError

BACKUP = ".neosian-backup"
_MOST_BACKUPS = 9  # that are looked at on the way back
_POSITION = re.compile(r"\[\d+\]")


class NoClientHome(NeosianError):
    """The client's own folder is not there: it was never started, and neosian does not make it."""


@dataclass(frozen=True)
class Wish:
    """What was asked for: the client, the level, and what the command that it runs is to spell out.

    ``folder`` is the project's, None for the one around the current folder.
    """

    client: str
    user: bool = False
    folder: str | None = None
    root: str | None = None
    scope: str | None = None
    mounts: tuple[str, ...] = ()


@dataclass(frozen=True)
class Place:
    """Where settings are to go: ``file``, and of its client the folder and the user's file.

    ``install`` is the command that brought us here.
    """

    title: str
    install: str
    home: str
    user_file: str
    file: str


class Part(Protocol):
    """What is ours in the text of a client's settings."""

    def owned(self, text: str) -> Any:
        """Our part as it stands in the settings; false where there is none."""

    def strip(self, text: str) -> str:
        """The settings without our part."""

    def again(self, text: str, owned: Any) -> str:
        """The settings with what `owned` gave; ``ValueError`` where there is no place for it."""

    def is_empty(self, text: str) -> bool:
        """Whether settings say nothing at all."""


@dataclass(frozen=True)
class Parts:
    """All parts of ours that one file may hold, as one: where a client keeps hooks and servers in the same file."""

    parts: tuple[Part, ...]

    def owned(self, text: str) -> list[Any] | None:
        found = [part.owned(text) for part in self.parts]
        return found if any(found) else None

    def strip(self, text: str) -> str:
        for part in self.parts:
            text = part.strip(text)
        return text

    def again(self, text: str, owned: list[Any]) -> str:
        for part, ours in zip(self.parts, owned, strict=True):
            text = part.again(text, ours) if ours else text
        return text

    def is_empty(self, text: str) -> bool:
        return any(part.is_empty(text) for part in self.parts)


@dataclass
class Look:
    """A settings file as it was found: its bytes, its text, and why it cannot be edited."""

    file: str
    decode: Callable[[str, bytes], str]
    text: str
    raw: bytes | None = None
    refused: NeosianError | None = None

    def ours(self, part: Part) -> Any:
        """Our part of it; false in a file that cannot be edited."""
        return None if self.refused else part.owned(self.text)


@dataclass(frozen=True)
class Plan:
    """A change to one settings file, not made yet.

    ``before`` and ``after`` are its bytes, None where there is no file; ``backup`` is what the file beside
    it is to hold, None for no such file. ``fragment`` is the settings that come or go, ``names`` what is in
    it. ``refused`` says why the change cannot be made. ``home`` is neosian's own folder, in which it is noted which
    folders were made for the file: these go with it. ``private``: a new file is for its owner's eyes. ``lock`` is the
    folder that whoever writes the file makes meanwhile, "" where its client has no such habit.
    """

    file: str
    before: bytes | None
    after: bytes | None
    backup: bytes | None
    fragment: Any
    names: tuple[str, ...]
    home: str
    version: str | None = None
    warnings: tuple[str, ...] = ()
    refused: NeosianError | None = None
    private: bool = False
    lock: str = ""

    @property
    def changed(self) -> bool:
        """Whether the file is to become another one."""
        return self.refused is None and self.before != self.after

    @property
    def backup_file(self) -> str:
        """Where the settings as they were without us are kept, or are to be."""
        return _backup_file(self.file, self.backup or b"")


def look(file: str, decode: Callable[[str, bytes], str] = settings.decode, empty: str = "{}\n") -> Look:
    """A settings file, whatever state it is in; ``decode`` gives its text, or says why there is none, and ``empty`` is
    the text of a file that is not there."""
    found = Look(file, decode, empty)
    try:
        found.raw = settings.read(file)
        if found.raw is not None:
            found.text = decode(file, found.raw)
    except NeosianError as error:
        found.refused = error
    return found


def checked(plan: Plan) -> Plan:
    """The plan, refused where the disk would refuse it."""
    why = settings.why_not_writable(plan.file) if plan.changed else ""
    return replace(plan, refused=NeosianError(why, settings.to_look(plan.file))) if why else plan


def carry_out(plan: Plan) -> None:
    """Make the change; raises the plan's refusal, or ``NeosianError`` when the disk says no.

    The backup is written before the file; after it goes one that says nothing that the file does not.
    """
    if plan.refused is not None:
        raise plan.refused
    if plan.changed:
        made_for_it = _folders_for(plan.file) if plan.after is not None else []
        with settings.held(plan.lock) if plan.lock else nullcontext():
            settings.check_unmoved(plan.file, plan.before)
            if plan.backup is not None:
                _save_backup(plan, plan.backup)
            settings.save(plan.file, plan.after, plan.before, private=plan.private)
        if plan.after is not None:
            made.remember(plan.file, made_for_it, plan.home)
    if plan.backup is None:
        _remove_backups(plan)
    if plan.changed and plan.after is None:
        made.leave(plan.file, plan.home)


# Where -------------------------------------------------------------------------------------------


def project_folder(wish: Wish, cwd: str) -> str:
    """The folder that the project level is for: the one named, else the git work tree around ``cwd``."""
    if wish.folder is None:
        return work_tree(cwd) or cwd
    if not os.path.isdir(wish.folder):
        raise UsageError(f"{wish.folder} is no folder.")
    return os.path.abspath(wish.folder)


def work_tree(folder: str) -> str | None:
    """The git work tree around a folder, a linked one too: clients read their project's settings there."""
    folder = os.path.abspath(folder)
    while not os.path.exists(os.path.join(folder, ".git")):
        folder, below = os.path.dirname(folder), folder
        if folder == below:
            return None
    return folder


def misplaced(wish: Wish, place: Place, cwd: str) -> NeosianError | None:
    """Why nothing may be written at the place that is meant, be the file there what it may."""
    if wish.user:
        if os.path.isdir(place.home) or os.path.isfile(place.user_file):
            return None
        said = (
            f"{place.home} is no folder: {place.title} makes it when it is first started, neosian does not."
        )
        return NoClientHome(said, f"start {place.title} once, then run {place.install} --user --write")
    if os.path.realpath(place.file) == os.path.realpath(place.user_file):
        return UsageError(
            f"{place.file} is {place.title}'s user level, no project's.", f"{place.install} --user --write"
        )
    folder = project_folder(wish, cwd)
    if is_no_project(folder):
        return UsageError(
            f"{folder} is no project: run this in one, or name its folder.", f"{place.install} --user --write"
        )
    return led_outside(wish, place.file, cwd)


def led_outside(wish: Wish, file: str, cwd: str) -> NeosianError | None:
    """Why a project's file is left alone that a link takes out of the project: what is there is not the project's, and
    the link may be a stranger's."""
    if wish.user:
        return None
    folder, real = os.path.realpath(project_folder(wish, cwd)), os.path.realpath(file)
    if os.path.commonpath([folder, real]) == folder:
        return None
    return NeosianError(
        f"{file} leads out of the project, to {real}. It was left as it is.", f"ls -ld {shlex.quote(file)}"
    )


def is_no_project(folder: str) -> bool:
    """A home, the root and the root of temporary files hold projects; they are none."""
    real = os.path.realpath(folder)
    return real == os.path.dirname(real) or real in map(
        os.path.realpath, (os.path.expanduser("~"), tempfile.gettempdir())
    )


def _folders_for(file: str) -> list[str]:
    """Make what is missing of a project's folder for the client's settings; that of a user is there, or was refused."""
    try:
        return made.folders_for(file)
    except OSError as error:
        raise NeosianError(f"{os.path.dirname(file)} cannot be made: {error.strerror}.") from None


# What a command spells out -----------------------------------------------------------------------


def home(wish: Wish) -> str:
    """Neosian's own folder, be it written down or the one of this moment."""
    return str(root(wish) or scope.home())


def root(wish: Wish) -> Path | None:
    """The home that is to be written down, None where it is told when the command runs."""
    if wish.root is None:
        return None
    if not wish.root:
        raise UsageError("--root needs the path of a folder.")
    return Path(scope.home(plain("--root", wish.root)))


def flags(wish: Wish) -> list[str]:
    """The words for scope and mounts; raises ``UsageError`` for what no command could mean."""
    words = []
    if wish.scope is not None:
        words += ["--scope", _scope("--scope", wish.scope)]
    for mount in wish.mounts:
        words += ["--mount", _mount(mount)]
    return words


def plain(flag: str, text: str) -> str:
    """A text that can stand in a command: one line, and good UTF-8."""
    if not text.isprintable():
        raise UsageError(f"{flag} {text!r}: it holds characters that cannot stand in a command.")
    return text


def _scope(flag: str, text: str) -> str:
    """A scope's text as it is, once it is known to be one that can stand behind a flag."""
    if text.startswith("-"):
        raise UsageError(f"{flag} {text}: a scope does not begin with a dash.")
    return scope.check(plain(flag, text))


def _mount(text: str) -> str:
    path, equals, shown = text.partition("=")
    if not equals or not path.startswith("/"):
        raise UsageError(f"--mount {text}: it is written /path=scope, with :ro after it for reading only.")
    _scope("--mount", shown.removesuffix(":ro"))
    return plain("--mount", text)


# The way back ------------------------------------------------------------------------------------


def without_us(look: Look, part: Part) -> bytes | None:
    """The file as ``uninstall`` leaves it; None when nothing is left of one that had not been there before.

    That is the backup, to the byte, where nothing but our part has changed since; else what is left of the
    text.
    """
    if not look.ours(part):
        return look.raw
    backups = _backups(look)
    explaining = _explaining(backups, look, part)
    if explaining is not None:
        return explaining.raw
    left = part.strip(look.text)
    return None if not backups and part.is_empty(left) else left.encode()


def taken_out(look: Look, part: Part, everything: Part) -> tuple[bytes | None, bytes | None]:
    """The file as it is to be without one part, and what the file beside it is to hold, of which a part that stays will
    have need."""
    restored = without_us(look, everything)
    if not look.ours(part):
        return look.raw, restored if look.ours(everything) else None
    left = part.strip(look.text)
    stays = everything.owned(left)
    if not stays:
        return restored, None
    # As if only the part that stays had ever been put in, so that the last one to go finds what it came to.
    backup = _explaining(_backups(look), look, everything)
    if backup is not None:
        left = everything.again(backup.text, stays)
    return left.encode(), restored


def _backups(found: Look) -> list[Look]:
    """The backups of a file that can be read, the newest first."""
    looks = (
        look(name, found.decode) for name in _backup_names(found.file)[-_MOST_BACKUPS:] if _is_plain(name)
    )
    return [each for each in looks if each.raw is not None and not each.refused][::-1]


def _explaining(backups: Sequence[Look], look: Look, part: Part) -> Look | None:
    return next((backup for backup in backups if _explains(backup, look, part)), None)


def _explains(backup: Look, look: Look, part: Part) -> bool:
    """Whether a file is its backup with our part and nothing else: then both, with a part of ours in the
    same places taken out of them, are the same."""
    try:
        merged = part.again(backup.text, part.owned(look.text))
    except ValueError:
        return False
    return not backup.ours(part) and part.strip(merged) == part.strip(look.text)


def _save_backup(plan: Plan, data: bytes) -> None:
    """Keep what the file was without us, under the file's own mode and owner: it holds the same secrets."""
    name = plan.backup_file
    try:
        if not _is_plain(name) or files.read(name) != data:
            mode = os.stat(plan.file).st_mode & 0o777
            files.write(name, data, mode=mode, owner=settings.owner(plan.file))
    except OSError as error:
        raise NeosianError(f"{name} cannot be written: {error.strerror}.") from None


def _remove_backups(plan: Plan) -> None:
    """Remove the backups whose every line the file has; what any other holds may stand nowhere else."""
    for name in _backup_names(plan.file):
        try:
            if _is_plain(name) and _is_within(files.read(name), plan.after):
                files.remove(name)
        except OSError as error:
            raise NeosianError(f"{name} cannot be removed: {error.strerror}.") from None


def _backup_file(file: str, data: bytes) -> str:
    """The name for a backup that holds ``data``: of one that holds it already or nothing else, or a free one."""
    names = _backup_names(file)
    held = {name: files.readable(name) for name in reversed(names) if _is_plain(name)}
    for name, old in held.items():
        if old == data:
            return name
    for name, old in held.items():
        if _is_within(old, data):
            return name
    number, free = 1, file + BACKUP
    while free in names:
        number, free = number + 1, f"{file}{BACKUP}-{number + 1}"
    return free


def _backup_names(file: str) -> list[str]:
    """Whatever has the name of a backup of a file, the oldest first: ``s.json.neosian-backup``, then ``…-2``."""
    folder, base = os.path.split(file + BACKUP)
    numbered = re.compile(rf"{re.escape(base)}(?:-([1-9]\d{{0,8}}))?")
    found = [
        (int(match[1] or 1), name) for name in files.names(folder) if (match := numbered.fullmatch(name))
    ]
    return [os.path.join(folder, name) for _, name in sorted(found)]


def _is_plain(name: str) -> bool:
    """Whether a file is one that a backup of ours can be: no link, nothing too large to be settings."""
    return not os.path.islink(name) and os.path.isfile(name) and os.path.getsize(name) <= settings.MOST


def _is_within(old: bytes | None, new: bytes | None) -> bool:
    """Whether all that ``old`` says stands in ``new``, however it is laid out there."""
    return old is not None and _says(old) <= _says(new or b"")


def _says(data: bytes) -> set[tuple[str, str]]:
    """What settings say: of JSON each value with the keys that lead to it, of any other text the lines."""
    text = data.decode("utf-8", "surrogateescape")
    try:
        values = list(settings.walk(settings.parse(text)))
    except ValueError:
        return {("", line.strip()) for line in text.splitlines() if line.strip()}
    return {
        (_POSITION.sub("[]", path), repr(value))
        for path, value in values
        if not isinstance(value, (dict, list))
    }
