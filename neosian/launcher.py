"""The launcher: the one program that every client's hook line names, and the line itself."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import stat
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from neosian import files, resources
from neosian.errors import NeosianError

NAME = "neosian-hook"
_MODE = 0o700
_PROGRAM_LINES = ("python=", "stub=", "NEOSIAN_GIT=")
"""How the lines of a launcher begin that name a program."""
_PROGRAMS = {"python": "python", "stub": "stub", "NEOSIAN_GIT": "git"}
"""What a launcher names, by the variable that holds it."""
_STARTS = 20.0  # seconds that its Python has to start
_ANY_HOME = f'"${{NEOSIAN_HOME:-$HOME/.neosian}}/bin/{NAME}"'

# One word of shell, quoted or bare, that runs nothing; a call's words, a client and a verb at least; and the two shapes
# in which a line of ours names the launcher. A line break ends a command as a semicolon does.
_WORD = r"""(?:'[^']*+'|"(?:[^"`$]|\$(?!\())*+"|[^\s'"`()|&;<>])++"""
_CALL = rf"(?P<call>(?:[ \t]++{_WORD}){{2,}})\s*"
_SHAPES = tuple(
    re.compile(shape)
    for shape in (
        rf"""\s*h=(?P<launcher>{_WORD}); \[ -x "\$h" \] \|\| exit 0; exec "\$h"{_CALL}""",
        rf"\s*(?:exec[ \t]+)?(?P<launcher>{_WORD}){_CALL}",
    )
)


def launcher_path(home: Path) -> Path:
    """Where the launcher of a home stands."""
    return home / "bin" / NAME


def hook_line(client: str, verb: str, flags: str = "", root: Path | None = None) -> str:
    """The shell command that goes into a client's settings.

    The text is the same between releases (some clients trust a hook by its exact text) and does nothing
    where neosian is not installed. Without ``root`` the home is told when the hook runs.
    """
    where = shlex.quote(str(launcher_path(root))) if root else _ANY_HOME
    call = " ".join(part for part in ('exec "$h"', client, verb, flags) if part)
    return f'h={where}; [ -x "$h" ] || exit 0; {call}'


def is_hook_line(command: str) -> bool:
    """Whether a command is a hook line of ours, in one of the shapes that a release wrote.

    A person's own command that calls the launcher among other things is not: it would be lost.
    """
    return _read(command) is not None


def _read(command: str) -> tuple[str, str] | None:
    """The word of a hook line that names the launcher, and what stands behind it; None for any other command."""
    for shape in _SHAPES:
        found = shape.fullmatch(command)
        if found and is_launcher(found["launcher"]):
            return found["launcher"], found["call"]
    return None


def is_launcher(word: str) -> bool:
    """Whether one word of shell is a path to a launcher."""
    return re.split(r"[/\\]", word.rstrip("\"'"))[-1] == NAME


def read_line(command: str, environ: Mapping[str, str]) -> tuple[str, bool, list[str]] | None:
    """What a hook line of ours names: the launcher's path as it is found under ``environ``, whether the line spells
    that out, and the words behind it (client, verb, flags). None where that cannot be told."""
    found = _read(command)
    if found is None:
        return None
    word, call = found
    try:
        words = shlex.split(call)
        spelled = shlex.split(word)[0]
    except ValueError:
        return None
    if word == _ANY_HOME:
        home = environ.get("NEOSIAN_HOME") or os.path.join(
            environ.get("HOME") or os.path.expanduser("~"), ".neosian"
        )
        return str(launcher_path(Path(home))), False, words
    return None if "$" in spelled else (spelled, True, words)


def is_launcher_file(path: Path) -> bool:
    """Whether a file is a launcher that a release of neosian wrote: its second line says so."""
    lines = (files.readable(str(path)) or b"")[:200].split(b"\n")
    return len(lines) > 1 and lines[1].startswith(f"# {NAME} <client> <verb> [flags]: ".encode())


def is_of_this_release(home: Path) -> bool:
    """Whether the launcher of a home says what this release would write, but for the programs that it names."""
    said = (files.read(str(launcher_path(home))) or b"").decode("utf-8", "replace")
    return _without_programs(said) == _without_programs(resources.text("hooks", NAME))


def _without_programs(text: str) -> list[str]:
    return [line for line in text.splitlines() if not line.startswith(_PROGRAM_LINES)]


def install_launcher(home: Path) -> Path:
    """Write the launcher of ``home``, whole, and only where its text or mode is not right already.

    The paths of python and git are written down in it: a client started from a desktop has no PATH.
    Raises ``NeosianError`` for a home that cannot be ours, and where git is missing.
    """
    target = launcher_path(home)
    text = _render(resources.text("hooks", NAME)).encode()
    try:
        _own_folder(home)
        _own_folder(target.parent)
        if files.read(str(target)) != text or stat.S_IMODE(target.stat().st_mode) != _MODE:
            files.write(str(target), text, mode=_MODE)
    except OSError as error:
        raise NeosianError(f"The launcher cannot be written to {target}: {error.strerror}.") from None
    return target


def _render(template: str) -> str:
    """The template with every ``@NAME@`` filled in, each as one shell word, its own quotes replaced."""
    git = shutil.which("git")
    if not git:
        raise NeosianError("There is no git on the PATH, and neosian keeps everything in git.")
    words = {
        "PYTHON": os.path.abspath(sys.executable),
        "GIT": os.path.abspath(git),
        "STUB": os.path.join(os.path.dirname(os.path.abspath(__file__)), "hook.py"),
    }
    return re.sub("('?)@(PYTHON|GIT|STUB)@\\1", lambda found: shlex.quote(words[found[2]]), template)


def _own_folder(folder: Path) -> None:
    """Make ``folder`` 0700, or see that it is a folder of this user that can be written."""
    try:
        files.make_dir(str(folder))
    except OSError as error:
        raise NeosianError(f"{folder} cannot be made: {error.strerror}.") from None
    about = folder.stat()
    if not stat.S_ISDIR(about.st_mode):
        raise NeosianError(f"{folder} is a file, so neosian cannot keep anything there.")
    if hasattr(os, "getuid") and about.st_uid != os.getuid():
        raise NeosianError(f"{folder} belongs to another user, so neosian keeps nothing there.")
    if not about.st_mode & stat.S_IWUSR or not os.access(folder, os.W_OK | os.X_OK):
        raise NeosianError(f"{folder} is read-only, so neosian cannot keep anything there.")


def why_it_fails(path: str) -> str:
    """Why the launcher cannot do its work, "" when it can: hooks pass over one that is not there, and say nothing."""
    try:
        launcher = files.read(path)
    except OSError as error:
        return f"The launcher {path} cannot be read: {error.strerror}."
    if launcher is None:
        return "No launcher is installed."
    if not os.access(path, os.X_OK):
        return f"The launcher {path} may not be run, so hooks do nothing."
    try:
        programs = _programs(launcher.decode("utf-8", "replace"))
    except ValueError as error:
        return f"The launcher {path} is not as neosian writes it: {error}."
    for name, program in programs.items():
        if not os.path.exists(program):
            return f"The launcher's {name} is gone: {program}."
        if not os.access(program, os.R_OK if name == "stub" else os.X_OK):
            return f"The launcher's {name} cannot be used: {program}."
    return _why_no_start(programs) if {"python", "stub"} <= programs.keys() else ""


def _programs(text: str) -> dict[str, str]:
    """The programs that a launcher names, by what they are; ``ValueError`` where a quote never ends."""
    programs = {}
    for row in text.splitlines():
        name, equals, value = row.partition("=")
        if equals and name in _PROGRAMS and (words := shlex.split(value)):
            programs[_PROGRAMS[name]] = words[0]
    return programs


def _why_no_start(programs: dict[str, str]) -> str:
    """Why the launcher's Python does not run its stub, "" when it does: without words the stub only says so."""
    command = [programs["python"], "-I", "-S", "-X", "utf8", programs["stub"]]
    said = last_line(command)
    return (
        ""
        if said.startswith("neosian: ")
        else f"The launcher's python cannot run its stub: {' '.join(command)}: {said}."
    )


def last_line(command: list[str]) -> str:
    """The last line that a program says, on stderr where it says anything there."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_STARTS, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    said = done.stderr.strip() or done.stdout.strip()
    return (said.splitlines() or [f"it ended with {done.returncode}"])[-1]
