"""How the clients of this machine are wired to neosian: which are here, and what of ours stands in their settings.

Nothing here changes a client's file. What stands in a file is read back into the wish it was written for, so that it
can be compared whole with what this release would write for the same wish.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from neosian import fastjson, files, install, mcp_install, merging
from neosian.clients import adapter
from neosian.clients.hook_files import Environ
from neosian.clients.installers import hooks_of, installer
from neosian.clients.mcp_clients import PROJECT, USER
from neosian.errors import NeosianError
from neosian.launcher import launcher_path, read_line, why_it_fails
from neosian.merging import Plan
from neosian.vetoes import vetoes

_FIX = "neosian doctor --fix"
HOOKS, SERVER = "hooks", "server"


@dataclass(frozen=True)
class Wire:
    """One file of a client in which something of ours stands: hooks (for so many ``events``) or the MCP server.

    ``wish`` is what it was written for, None where it is of no wish that could be said today. ``launchers`` are the
    programs that the hooks find, ``command`` the words that start the server.
    """

    client: str
    kind: str
    level: str
    file: str
    wish: install.Wish | mcp_install.Wish | None
    events: int = 0
    launchers: tuple[str, ...] = ()
    command: tuple[str, ...] = ()

    @property
    def again(self) -> str:
        """The command that writes it anew."""
        verb = "record" if self.kind == HOOKS else "mcp"
        level = " --user" if self.level == USER else ""
        return f"neosian {verb} install --client {self.client}{level} --write"


def is_here(client: str, environ: Environ) -> bool:
    """Whether a client is installed: its program is on the PATH, or it has made its own folder."""
    return bool(program(client, environ)) or is_at_home(client, environ)


def program(client: str, environ: Environ) -> str:
    """The path of a client's program, "" where the PATH has none."""
    named = installer(client).PROGRAM
    return (shutil.which(named, path=environ.get("PATH")) or "") if named else ""


def is_at_home(client: str, environ: Environ) -> bool:
    """Whether a client's own folder is there, which it makes when it is first started."""
    known = installer(client)
    homes = {known.MCP.home(environ), *([known.HOOKS.home(environ)] if known.HOOKS else [])}
    return any(os.path.isdir(home) for home in homes)


def versions(home: str) -> dict[str, str]:
    """The version of each client when it was last asked."""
    try:
        said = fastjson.loads((files.readable(_versions_file(home)) or b"{}").decode("utf-8"))
    except ValueError:
        return {}
    return {str(name): str(version) for name, version in said.items()} if isinstance(said, dict) else {}


def remember(home: str, asked: Mapping[str, str]) -> None:
    """Keep the versions that clients told; where they cannot be kept they are let go."""
    known = versions(home)
    if asked and {**known, **asked} != known:
        try:
            files.make_dir(os.path.dirname(_versions_file(home)))
            files.write(_versions_file(home), json.dumps({**known, **asked}).encode())
        except OSError:
            return


def _versions_file(home: str) -> str:
    return os.path.join(home, "cache", "clients.json")


def wires(environ: Environ, directory: str) -> list[Wire]:
    """All that is wired, for the user and for the project around a directory."""
    return [*_hooks(environ, directory), *_servers(environ, directory)]


def plan(wire: Wire, environ: Environ, directory: str, version: str | None = None) -> Plan | None:
    """What installing the same anew would change; None where nobody can tell for what it was written. The client is
    asked for its ``version`` unless that is known."""
    if isinstance(wire.wish, install.Wish):
        return install.plan_install(wire.wish, environ, directory, version)
    return mcp_install.plan_install(wire.wish, environ, directory) if wire.wish else None


# What is wrong -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Fault:
    """Why something of ours does not work: what it is ``about`` (launcher, client), a sentence, the next thing to try.

    Writing anew the ``launcher`` of this path, or what stands at a ``wire``, mends it; neither: only a person can.
    """

    about: str
    what: str
    hint: str
    launcher: str = ""
    wire: Wire | None = None


def faults(home: str, environ: Environ, directory: str, *, is_asking: bool = False) -> list[Fault]:
    """All that keeps hooks and servers from working, for the user and in the project around a directory.

    Of a client whose version is known from before the version counts, unless something is wrong by it or the client is
    to be asked in any case (``is_asking``).
    """
    found = sorted(wires(environ, directory), key=lambda wire: not is_here(wire.client, environ))
    known = {} if is_asking else versions(home)
    told: dict[str, str] = {}
    rows = _of_launchers(home, found)
    for wire in found:
        if all(map(_is_plain, wire.launchers)):
            rows += _of_wire(home, wire, environ, directory, known, told)
    if os.path.isdir(home):
        remember(home, told)
    return list({fault.what: fault for fault in reversed(rows)}.values())[::-1]


def _of_launchers(home: str, found: Sequence[Wire]) -> list[Fault]:
    """Launchers that cannot do their work: that of the home, and those that hooks call."""
    own = str(launcher_path(Path(home)))
    # Where no hook calls for one, as after `setup --uninstall`, none is missed.
    callers: dict[str, list[Wire]] = {own: []} if os.path.lexists(own) else {}
    for wire in found:
        for path in wire.launchers:
            callers.setdefault(path, []).append(wire)
    return [fault for path, named in callers.items() if (fault := _of_launcher(path, named, own))]


def _of_launcher(path: str, named: Sequence[Wire], own: str) -> Fault | None:
    """What is wrong with one launcher, the home's ``own`` or one that wires name.

    A project's files come from strangers: a launcher that only they name is neither looked into, for that starts the
    programs which it names, nor ever written.
    """
    in_files = f"The hooks in {', '.join(wire.file for wire in named)} call"
    is_known = path == own or any(wire.level == USER for wire in named)
    if path != own and not _is_plain(path):
        why = f"{in_files} {path!r}, which is no path that neosian writes; it is left alone."
    elif named and not os.path.exists(path):
        why = f"{in_files} {path}, which is not there, so they do nothing."
    elif is_known:
        why = why_it_fails(path)
        why = f"{path}: {why}" if why and path != own else why
    else:
        why = "" if os.access(path, os.X_OK) else f"{in_files} {path}, which may not be run."
    if not why:
        return None
    if path == own or (is_known and _is_plain(path) and _is_of_a_home(path)):
        return Fault("launcher", why, _FIX, launcher=path)
    return Fault("launcher", why, named[0].again)


def _is_plain(path: str) -> bool:
    """Whether a launcher's path could be one that we wrote: absolute, and without signs that no command may hold."""
    return os.path.isabs(path) and path.isprintable()


def _is_of_a_home(path: str) -> bool:
    """Whether a launcher's path lies in a home that was recorded into: any other folder may be another program's."""
    folder = os.path.dirname(os.path.dirname(path))
    is_home = any(os.path.isdir(os.path.join(folder, name)) for name in ("spool", "scopes"))
    return is_home and path == str(launcher_path(Path(folder)))


def _of_wire(
    home: str,
    wire: Wire,
    environ: Environ,
    directory: str,
    known: Mapping[str, str],
    told: dict[str, str],
) -> Iterator[Fault]:
    """What is wrong with what stands in one file; the version that its client tells meanwhile is put into ``told``."""
    folder = merging.work_tree(directory) or directory
    switched_off = vetoes(wire.client, wire.kind, environ, folder, is_project=wire.level == PROJECT)
    for veto in switched_off:
        yield Fault("client", str(veto), veto.hint)
    if wire.kind == SERVER and any(veto.file == wire.file for veto in switched_off):
        return  # the switch may stand in our entry, which mending would turn on again
    if wire.kind == SERVER and (missing := _missing_program(wire, environ)):
        yield missing
        return
    title = installer(wire.client).TITLE
    kind = "hooks" if wire.kind == HOOKS else "MCP server"
    try:
        wanted = plan(wire, environ, directory, known.get(wire.client))
        if wire.client in known and wanted and not _is_right(wire, wanted):
            wanted = plan(wire, environ, directory)
    except NeosianError as error:
        yield Fault("client", str(error), error.hint)
        return
    if wanted and wanted.version:
        told[wire.client] = wanted.version
    if wanted is None:
        said = f"The {kind} of neosian in {wire.file} are not as any release of neosian writes them."
        yield Fault("client", said, wire.again)
    elif wanted.refused is not None:
        yield Fault("client", str(wanted.refused), wanted.refused.hint or wire.again)
    elif not _is_right(wire, wanted):
        said = f"The {kind} in {wire.file} are not what this neosian writes for {title}."
        # What a stranger's file of a project names as launcher is not written for him.
        is_ours = wire.level == USER or set(wire.launchers) <= {str(launcher_path(Path(home)))}
        yield Fault("client", said, _FIX, wire=wire) if is_ours else Fault("client", said, wire.again)


def _missing_program(wire: Wire, environ: Environ) -> Fault | None:
    """The fault of an entry whose program is not there."""
    program = wire.command[0]
    if os.path.isabs(program):
        said = f"{wire.file} starts {program}, which is gone."
        return None if os.path.exists(program) else Fault("client", said, wire.again, wire=wire)
    if shutil.which(program, path=environ.get("PATH")):
        return None
    said = f"{wire.file} starts {program} by name, which is not on the PATH here, so no MCP server starts."
    hint = f"put {program} on the PATH, or: {mcp_install.command_for(wire.client)}"
    return Fault("client", said, hint)


def _is_right(wire: Wire, wanted: Plan) -> bool:
    """Whether nothing is to change. Hooks that were written when the client told its version, which it does not do now,
    are right: then more events were known to be safe, and there is nothing to compare with."""
    is_for_a_newer = wire.kind == HOOKS and wanted.version is None and wire.events > len(wanted.names)
    return wanted.refused is None and (not wanted.changed or is_for_a_newer)


# What stands there -------------------------------------------------------------------------------


def _hooks(environ: Environ, directory: str) -> list[Wire]:
    found = []
    for row in install.installed_hooks(environ, directory):
        lines = [read for line in row["lines"] if (read := read_line(line, environ)) is not None]
        launchers = tuple(sorted({launcher for launcher, _, _ in lines}))
        wish = _hook_wish(row, lines, directory) if len(lines) == len(row["lines"]) else None
        found.append(Wire(row["client"], HOOKS, row["level"], row["file"], wish, row["events"], launchers))
    return found


def _hook_wish(
    row: dict[str, Any], lines: Sequence[tuple[str, bool, list[str]]], directory: str
) -> install.Wish | None:
    """The one wish that all hook lines of a file were written for."""
    said = {
        (launcher if spelled else "", tuple(words[2:]))
        for launcher, spelled, words in lines
        if len(words) > 1
    }
    clients = {words[0] for _, _, words in lines if words}
    if len(said) != 1 or clients != {row["client"]}:
        return None
    launcher, flags = said.pop()
    marks = hooks_of(row["client"]).project_words.split()
    given = _flags(flags[len(marks) :] if marks and list(flags[: len(marks)]) == marks else flags)
    if given is None or given["project"]:
        return None
    verbs = {words[1] for _, _, words in lines}
    return install.Wish(
        row["client"], row["level"] == USER, _folder(row, directory),
        os.path.dirname(os.path.dirname(launcher)) or None, given["scope"], given["mounts"],
        recall="prompt" in verbs or "prompt" not in adapter(row["client"]).VERB.values(),
    )  # fmt: skip


def _servers(environ: Environ, directory: str) -> list[Wire]:
    return [
        Wire(
            row["client"], SERVER, row["level"], row["file"], _server_wish(row, directory),
            command=tuple(map(str, row["command"])),
        )
        for row in mcp_install.registered(environ, directory)
    ]  # fmt: skip


def _server_wish(row: dict[str, Any], directory: str) -> mcp_install.Wish | None:
    words = [str(word) for word in row["command"]]
    given = _flags(words[words.index("mcp") + 1 :])
    if given is None:
        return None
    return mcp_install.Wish(
        row["client"], row["level"] == USER, _folder(row, directory),
        given["root"], given["scope"], given["mounts"], given["project"],
    )  # fmt: skip


def _folder(row: dict[str, Any], directory: str) -> str | None:
    return None if row["level"] == USER else merging.work_tree(directory)


def _flags(words: Sequence[str]) -> dict[str, Any] | None:
    """The flags that a command of ours spells out; None where one is none of ours."""
    given: dict[str, Any] = {"root": None, "project": None, "scope": None, "mounts": ()}
    rest = list(words)
    while rest:
        name, value = rest.pop(0).removeprefix("--"), rest.pop(0) if rest else None
        if value is None or name not in ("root", "project", "scope", "mount"):
            return None
        if name == "mount":
            given["mounts"] += (value,)
        else:
            given[name] = value
    return given
