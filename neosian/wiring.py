"""How the clients of this machine are wired to neosian: which are here, and what of ours stands in their settings.

Nothing here changes a file. What stands in a file is read back into the wish it was written for, so that it can be
compared whole with what this release would write for the same wish.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from neosian import fastjson, files, install, mcp_install, merging
from neosian.clients import adapter
from neosian.clients.hook_files import Environ
from neosian.clients.installers import hooks_of, installer
from neosian.clients.mcp_clients import USER
from neosian.launcher import read_line
from neosian.merging import Plan

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


def plan(wire: Wire, environ: Environ, directory: str) -> Plan | None:
    """What installing the same anew would change; None where nobody can tell for what it was written."""
    if isinstance(wire.wish, install.Wish):
        return install.plan_install(wire.wish, environ, directory)
    return mcp_install.plan_install(wire.wish, environ, directory) if wire.wish else None


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
