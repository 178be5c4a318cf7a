"""What goes where when hooks are installed in a client's settings, and taken out of them."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from neosian import mcp_install, merging, resources, scope, settings, vetoes
from neosian.clients import adapter
from neosian.clients.hook_files import HookFile, Line, Problem, Version, lines_in
from neosian.clients.installers import RECORDED, Installer, hooks_of, installer
from neosian.clients.mcp_clients import JSON_WITH_COMMENTS
from neosian.errors import NeosianError, UsageError
from neosian.launcher import hook_line, install_launcher
from neosian.merging import Look, Place, Plan

_ASKING = 5.0  # seconds a client has to tell its version


@dataclass(frozen=True)
class Wish(merging.Wish):
    """What was asked for. Without ``recall`` a prompt is only recorded: its hook line says so to the launcher, which
    then starts nothing."""

    recall: bool = True


def plan_install(wish: Wish, environ: Mapping[str, str], cwd: str, version: str | None = None) -> Plan:
    """What ``record install`` would do; raises ``UsageError`` for flags that make no sense.

    The client is asked for its ``version`` unless that is known.
    """
    wish = levelled(wish)
    client, hooks = installer(wish.client), hooks_of(wish.client)
    installed = client.version(ask_version(client.PROGRAM) if version is None else version)
    wanted = _wanted(wish, hooks, installed)
    place = _place(client, hooks, wish, environ, cwd)
    look = _look(hooks, place.file)
    is_right = _holds_with_comments(client, hooks, look, wanted)
    found = [] if look.refused else _problems(hooks, look, wanted, installed)
    look.refused = merging.misplaced(wish, place, cwd) or look.refused or _refusal(look, found)
    plan = Plan(
        file=look.file,
        before=look.raw,
        after=look.raw if look.refused or is_right else hooks.shape.merge(look.text, wanted).encode(),
        backup=None if look.refused else merging.without_us(look, _everything(wish, look, environ, cwd)),
        fragment=hooks.shape.fragment(wanted),
        names=hooks.shape.names(wanted),
        version=".".join(map(str, installed)) if installed else None,
        warnings=(
            *(f"{look.file}: {problem}" for problem in found),
            *map(str, _vetoes(wish, environ, cwd)),
            *_about_client(client, installed),
            *_about_place(hooks, wish, environ, look),
        ),
        refused=look.refused,
        home=merging.home(wish),
        private=wish.user,
    )
    return merging.checked(plan)


def plan_uninstall(wish: Wish, environ: Mapping[str, str], cwd: str) -> Plan:
    """What ``record uninstall`` would do: every hook of ours goes, whatever it spells out."""
    wish = levelled(wish)
    client, hooks = installer(wish.client), hooks_of(wish.client)
    place = _place(client, hooks, wish, environ, cwd)
    look = _look(hooks, place.file)
    ours = look.ours(hooks.shape)
    if ours:
        look.refused = merging.led_outside(wish, look.file, cwd)
    after, backup = merging.taken_out(look, hooks.shape, _everything(wish, look, environ, cwd))
    plan = Plan(
        file=look.file,
        before=look.raw,
        after=after,
        backup=backup,
        fragment=hooks.shape.fragment(ours) if ours else {},
        names=hooks.shape.names(ours) if ours else (),
        warnings=tuple(_strange(hooks, look)),
        refused=look.refused,
        home=merging.home(wish),
    )
    return merging.checked(plan)


def installed_hooks(environ: Mapping[str, str], directory: str) -> list[dict[str, Any]]:
    """Every file, of the user's and of the project around a directory, that holds hooks of ours: client, level, file,
    for how many events, and which hook lines. A file that a careful edit cannot touch is looked through as text: its
    client may read it all the same."""
    tree = merging.work_tree(directory)
    found = []
    for name in RECORDED:
        hooks = hooks_of(name)
        places = [("user", hooks.user_file(environ))]
        if tree and hooks.project_file:
            theirs = hooks.project_file(tree)
            if os.path.realpath(theirs) != os.path.realpath(places[0][1]):  # a home that is under git
                places.append(("project", theirs))
        for level, file in places:
            look = _look(hooks, file)
            if ours := look.ours(hooks.shape):
                lines = list(lines_in(hooks.shape.show(hooks.shape.fragment(ours))))
                events = len(hooks.shape.names(ours))
            else:
                lines = list(lines_in((look.raw or b"").decode("utf-8", "replace"))) if look.refused else []
                events = len(lines)
            if events:
                found.append({"client": name, "level": level, "file": file, "events": events, "lines": lines})
    return found


def levelled(wish: Wish) -> Wish:
    """The wish for the one level that a client has where it has only one."""
    if wish.user or hooks_of(wish.client).project_file:
        return wish
    if wish.folder is not None:
        title = installer(wish.client).TITLE
        raise UsageError(
            f"{title} takes hooks from its user's settings only, not from a project's.",
            f"neosian record install --client {wish.client} --user",
        )
    return replace(wish, user=True)


def _wanted(wish: Wish, hooks: HookFile, installed: Version | None) -> Any:
    """Our hooks for the events that the installed client knows: one that it does not know may spoil the file for it."""
    program = adapter(wish.client)
    oldest = tuple(program.OLDEST)
    known = [
        event
        for event, since in program.EVENTS.items()
        if since <= (installed or oldest) or event in hooks.early
    ]
    return hooks.shape.filled(resources.hook_file(hooks.template), known, _line(wish, hooks))


def _line(wish: Wish, hooks: HookFile) -> Line:
    """What makes a verb's hook line."""
    words = [] if wish.user or not hooks.project_words else [hooks.project_words]
    flags, root = shlex.join([*words, *merging.flags(wish)]), merging.root(wish)
    verbs = {} if wish.recall else {"prompt": "note"}
    return lambda verb: hook_line(wish.client, verbs.get(verb, verb), flags, root)


def _place(client: Installer, hooks: HookFile, wish: Wish, environ: Mapping[str, str], cwd: str) -> Place:
    """The settings file that is meant, and what else of the client counts for it."""
    user_file = hooks.user_file(environ)
    theirs = None if wish.user else hooks.project_file
    return Place(
        title=client.TITLE,
        install=f"neosian record install --client {client.NAME}",
        home=hooks.home(environ),
        user_file=user_file,
        file=theirs(merging.project_folder(wish, cwd)) if theirs else user_file,
    )


def _everything(wish: Wish, look: Look, environ: Mapping[str, str], cwd: str) -> merging.Parts:
    folder = "" if wish.user else merging.project_folder(wish, cwd)
    return mcp_install.parts_in(wish.client, look.file, environ, folder)


def _look(hooks: HookFile, file: str) -> Look:
    return merging.look(file, hooks.shape.decode, hooks.shape.empty)


def _holds_with_comments(client: Installer, hooks: HookFile, look: Look, wanted: Any) -> bool:
    """Whether a file that only its client can read, for its comments, holds what is wanted; it is read without them
    from here on then."""
    if not (
        isinstance(look.refused, settings.NotPlain) and client.MCP.format is JSON_WITH_COMMENTS and look.raw
    ):
        return False
    try:
        text = json.dumps(settings.parse_with_comments(look.raw.decode("utf-8")))
        is_right = hooks.shape.merge(text, wanted) == text
    except ValueError:
        return False
    if is_right:
        look.text, look.refused = text, None
    return is_right


def _problems(hooks: HookFile, look: Look, wanted: Any, installed: Version | None) -> Sequence[Problem]:
    if hooks.problems:
        return hooks.problems(look.text, installed)
    return hooks.shape.problems(look.text, wanted)


def _vetoes(wish: Wish, environ: Mapping[str, str], cwd: str) -> list[vetoes.Veto]:
    folder = merging.project_folder(wish, cwd)
    return vetoes.vetoes(wish.client, "hooks", environ, folder, is_project=not wish.user)


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
            why = f", our hooks would be lost in it: {problem}" if problem.path else f": {problem}"
            return NeosianError(f"{look.file} was left as it is{why}.", settings.in_an_editor(look.file))
    return None


def _about_client(client: Installer, installed: Version | None) -> list[str]:
    said = []
    if not client.VERIFIED:
        said.append(client.MCP.note)
    oldest = adapter(client.NAME).OLDEST
    named = f"{client.TITLE} {'.'.join(map(str, oldest))}"
    if installed is None:
        said.append(f"{client.PROGRAM} --version gave no answer, so the events of {named} are used.")
    elif installed < oldest:
        said.append(f"The oldest supported is {named}: only the events that every version has are used.")
    return said


def _about_place(hooks: HookFile, wish: Wish, environ: Mapping[str, str], look: Look) -> list[str]:
    """What the person should know of the surroundings, and of hooks that are nearly ours."""
    said = []
    if environ.get("NEOSIAN_HOME") and wish.root is None:
        said.append(
            "NEOSIAN_HOME is set: hooks go there only where it is set too. --root DIR writes it down."
        )
    if not wish.user:
        user = _look(hooks, hooks.user_file(environ))
        if user.ours(hooks.shape):
            said.append(f"{user.file} has our hooks already, for every project.")
    return said + _strange(hooks, look)


def _strange(hooks: HookFile, look: Look) -> list[str]:
    """What is nearly ours, and stays."""
    strange = [] if look.refused else hooks.shape.strange(look.text)
    return [
        f"{look.file}: {path} calls neosian-hook in a way of its own, and was left alone." for path in strange
    ]
