"""What goes where when a client is told of our MCP server, and when it is to forget it."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from neosian import merging, projects, scope, settings, vetoes
from neosian.clients.installers import SERVED, installer
from neosian.clients.mcp_clients import SERVER, Client, Entry, Environ, servers
from neosian.errors import NeosianError, UsageError
from neosian.merging import Look, Place, Plan

_BY_NAME = "neosian"
_PROGRAM = re.compile(r"neosian(\.exe)?", re.I)
_PYTHON = re.compile(r"py(thon|py)?[\d.]*w?(\.exe)?", re.I)


@dataclass(frozen=True)
class Wish(merging.Wish):
    """``project`` is the name of the one project that the server is to serve, None for that of its folder."""

    project: str | None = None


@dataclass(frozen=True)
class _Server:
    """Our server as a part of a client's JSON settings: its whole entry."""

    client: Client

    def owned(self, text: str) -> Entry | None:
        found = servers(self.client, settings.parse(text)).get(SERVER)
        return found if _is_ours(self.client, found) else None

    def strip(self, text: str) -> str:
        if self.owned(text) is None:
            return text
        text = settings.remove(text, (self.client.key, SERVER))
        return (
            text if servers(self.client, settings.parse(text)) else settings.remove(text, (self.client.key,))
        )

    def is_empty(self, text: str) -> bool:
        return bool(settings.parse(text) == {})

    def again(self, text: str, owned: Entry) -> str:
        value = settings.parse(text)
        if not isinstance(value.get(self.client.key, {}), dict) or _taken(self.client, value):
            raise ValueError("there is no place for a server")
        if self.client.key not in value:
            text = settings.insert(text, (self.client.key,), {})
        path = (self.client.key, SERVER)
        if SERVER in servers(self.client, settings.parse(text)):
            return settings.replace(text, path, owned)
        return settings.insert(text, path, owned)


@dataclass
class _Found:
    """A client's file, what it holds as far as it can be read, and our entry in it."""

    client: Client
    look: Look
    value: dict[str, Any]

    @property
    def named(self) -> Any:
        """The entry under our server's name, whosever it is."""
        return servers(self.client, self.value).get(SERVER)

    @property
    def ours(self) -> Entry | None:
        return self.named if _is_ours(self.client, self.named) else None


def parts_in(name: str, file: str, environ: Environ, folder: str) -> merging.Parts:
    """All that may stand in a client's file of ours, the client's user's or that of the project in a folder."""
    client, hooks = installer(name).MCP, installer(name).HOOKS
    parts: list[merging.Part] = []
    if hooks and file in (hooks.user_file(environ), hooks.project_file and hooks.project_file(folder)):
        parts.append(hooks.shape)
    if not client.adds and file in (
        *client.user_files(environ),
        *(client.project_files(folder) if client.project_files else ()),
    ):
        parts.append(_Server(client))
    return merging.Parts(tuple(parts))


def plan_install(wish: Wish, environ: Environ, cwd: str) -> Plan:
    """What ``mcp install`` would do; raises ``UsageError`` for flags that make no sense."""
    client, wish = _levelled(wish)
    ours = client.entry(_command(wish))
    places = _places(client, wish, environ, cwd)
    found = _chosen(client, places)
    wanted = {**(found.ours or {}), **ours}
    refused = (
        _misplaced(client, wish, environ, found.look.file, cwd)
        or _no_room(found)
        or _refusal(found, wanted, _theirs(client, client.adds, "--", *_command(wish)))
    )
    part = _Server(client)
    right = found.ours == wanted
    edit = refused is None and not right
    plan = Plan(
        file=found.look.file,
        before=found.look.raw,
        after=part.again(found.look.text, wanted).encode() if edit else found.look.raw,
        backup=_backup(found, wish, environ, cwd) if refused is None else None,
        fragment={client.key: {SERVER: ours}},
        names=(SERVER,),
        warnings=(
            *_about_file(found, ours),
            *map(str, _vetoes(wish, environ, cwd)),
            *_about_others(found, places),
            *_about_place(client, wish, environ),
        ),
        refused=refused,
        home=merging.home(wish),
        private=wish.user,
        lock=_lock(client, wish, found),
    )
    return merging.checked(plan)


def plan_uninstall(wish: Wish, environ: Environ, cwd: str) -> Plan:
    """What ``mcp uninstall`` would do: our entry goes, whatever it spells out."""
    client, wish = _levelled(wish)
    places = _places(client, wish, environ, cwd)
    found = _chosen(client, places)
    refused = _refusal(found, None, _theirs(client, client.removes))
    if found.ours and not refused:
        refused = merging.led_outside(wish, found.look.file, cwd)
    names = (SERVER,) if found.ours else ()
    after, backup = found.look.raw, None
    if not refused and not client.adds:
        after, backup = merging.taken_out(found.look, _Server(client), _everything(found, wish, environ, cwd))
    plan = Plan(
        file=found.look.file,
        before=found.look.raw,
        after=after,
        backup=backup,
        fragment={client.key: {SERVER: found.ours}} if names else {},
        names=names,
        warnings=(*_about_others(found, places), *(_about_readers(found, wish, cwd) if names else ())),
        refused=refused,
        home=merging.home(wish),
        lock=_lock(client, wish, found),
    )
    return merging.checked(plan)


def readers(file: str, folder: str) -> list[str]:
    """The clients that are told of servers by a file of the project in a folder."""
    rows = (installer(name).MCP for name in SERVED)
    return [row.name for row in rows if row.project_files and file in row.project_files(folder)]


def command_for(name: str) -> str:
    """The command that tells a client of our server for every project: its own where it edits its file itself."""
    client = installer(name).MCP
    if client.adds:
        return _theirs(client, client.adds, "--", *_command(Wish(name, user=True)))
    return f"neosian mcp install --client {name} --user --write"


def registered(environ: Environ, directory: str) -> list[dict[str, Any]]:
    """Every file, of the user's and of the project around a directory, that tells a client of our server."""
    tree = merging.work_tree(directory)
    rows = []
    for name in SERVED:
        client = installer(name).MCP
        mine = client.user_files(environ)
        theirs = client.project_files(tree) if tree and client.project_files else ()
        places = [("user", file) for file in mine]
        for level, file in [*places, *(("project", file) for file in theirs if file not in mine)]:
            if entry := _find(client, file).ours:
                row = {"client": client.name, "level": level, "file": file, "command": client.words(entry)}
                rows.append(row)
    return rows


# The entry ---------------------------------------------------------------------------------------


def _command(wish: Wish) -> list[str]:
    """The words that start the server.

    A user's file names this installation by its path: a client started from a desktop has no PATH. A
    project's file is shared, and another person's path is another one: there it is the name.
    """
    words = [*(_installed() if wish.user else [_BY_NAME]), "mcp"]
    if home := merging.root(wish):
        words += ["--root", str(home)]
    if wish.project is not None:
        words += ["--project", _named(wish.project, wish)]
    return [*words, *merging.flags(wish)]


def _installed() -> list[str]:
    """The program of this installation; without one beside Python, its module.

    ``-P`` keeps Python from importing what lies in the folder that the client works in.
    """
    python = os.path.abspath(sys.executable)
    program = os.path.join(os.path.dirname(python), "neosian.exe" if os.name == "nt" else "neosian")
    return [program] if os.access(program, os.X_OK) else [python, "-P", "-m", "neosian"]


def _named(project: str, wish: Wish) -> str:
    """A project's name that can stand behind its flag."""
    if not project.strip():
        raise UsageError(f"--project needs the name of a project. {_there_are(wish)}", "neosian status")
    if project.startswith("-"):
        raise UsageError(f"--project {project}: a project's name does not begin with a dash.")
    return merging.plain("--project", project)


def _there_are(wish: Wish) -> str:
    known = _projects(wish)
    return f"There are: {', '.join(known)}." if known else "There is none yet."


def _projects(wish: Wish) -> list[str]:
    """The names of the projects that the home has a memory of."""
    home = scope.home(str(merging.root(wish) or ""))
    mine = f"{scope.user_scope()}/proj:"
    return [store.scope.removeprefix(mine) for store in projects.stores(home) if store.scope.startswith(mine)]


def _vetoes(wish: Wish, environ: Environ, cwd: str) -> list[vetoes.Veto]:
    folder = merging.project_folder(wish, cwd)
    return vetoes.vetoes(wish.client, "server", environ, folder, is_project=not wish.user)


def _is_ours(client: Client, entry: Any) -> bool:
    """Whether an entry starts our server, of this installation or another."""
    words = client.words(entry) if isinstance(entry, dict) else []
    if len(words) < 2 or not all(isinstance(word, str) for word in words):
        return False
    program, rest = re.split(r"[/\\]", words[0])[-1], words[1:]
    if _PROGRAM.fullmatch(program):
        return bool(rest[0] == "mcp")
    while rest and re.fullmatch(r"-[A-Zabs]+", rest[0]):
        rest.pop(0)
    return _PYTHON.fullmatch(program) is not None and rest[:3] == ["-m", "neosian", "mcp"]


# The file ----------------------------------------------------------------------------------------


def _levelled(wish: Wish) -> tuple[Client, Wish]:
    """The client, and the wish for the one level that it has where it has only one."""
    client = installer(wish.client).MCP
    if client.project_files or wish.user:
        return client, wish
    if wish.folder is not None:
        raise UsageError(
            f"{client.title} is told of servers by its user's settings only, not by a project's.",
            f"neosian mcp install --client {client.name} --user",
        )
    return client, Wish(client.name, True, None, wish.root, wish.scope, wish.mounts, wish.project)


def _places(client: Client, wish: Wish, environ: Environ, cwd: str) -> list[_Found]:
    if wish.user or not client.project_files:
        return [_find(client, file) for file in client.user_files(environ)]
    return [_find(client, file) for file in client.project_files(merging.project_folder(wish, cwd))]


def _find(client: Client, file: str) -> _Found:
    look = merging.look(file, client.format.decode)
    if look.raw is None or (look.refused and not isinstance(look.refused, settings.NotPlain)):
        return _Found(client, look, {})
    try:
        value = client.format.parse(look.raw.decode("utf-8"))
    except ValueError:
        value = {}
    return _Found(client, look, value if isinstance(value, dict) else {})


def _chosen(client: Client, places: Sequence[_Found]) -> _Found:
    """The file that is meant: where our name stands already, else the first that is there, else the first."""
    named = [found for found in places if found.named is not None]
    there = [found for found in places if found.look.raw is not None or found.look.refused]
    return (named or there or list(places))[0]


def _misplaced(client: Client, wish: Wish, environ: Environ, file: str, cwd: str) -> NeosianError | None:
    """Why nothing may be written there; what the client writes itself, it writes where it likes."""
    if client.adds:
        return None
    user_files = client.user_files(environ)
    place = Place(
        title=client.title,
        install=f"neosian mcp install --client {client.name}",
        home=client.home(environ),
        user_file=file if file in user_files else user_files[0],
        file=file,
    )
    return merging.misplaced(wish, place, cwd)


def _lock(client: Client, wish: Wish, found: _Found) -> str:
    """The folder by which the client's own writers keep out of each other's way, for the file it writes itself."""
    return found.look.file + client.lock if client.lock and wish.user else ""


def _backup(found: _Found, wish: Wish, environ: Environ, cwd: str) -> bytes | None:
    """What the file beside is to hold; nothing where the file itself is left to the client or to a person."""
    if found.look.refused or found.client.adds:
        return None
    return merging.without_us(found.look, _everything(found, wish, environ, cwd))


def _everything(found: _Found, wish: Wish, environ: Environ, cwd: str) -> merging.Parts:
    folder = "" if wish.user else merging.project_folder(wish, cwd)
    return parts_in(found.client.name, found.look.file, environ, folder)


def _refusal(found: _Found, wanted: Entry | None, command: str) -> NeosianError | None:
    """Why our entry cannot become what is wanted (None: gone); ``command`` is the client's own for it."""
    client, file = found.client, found.look.file
    unread = found.look.refused
    readable = isinstance(unread, settings.NotPlain) and found.value
    if unread and not readable:
        return unread
    if why := _taken(client, found.value):
        return NeosianError(f"{file} was left as it is: {why}.", settings.in_an_editor(file))
    if unread or found.ours == wanted:
        return None if found.ours == wanted else unread
    if client.adds:
        return NeosianError(f"{client.title} edits {file} itself; neosian left it as it is.", command)
    return None


def _theirs(client: Client, command: str, *words: str) -> str:
    """A client's own command for our entry."""
    return command if client.asks else shlex.join([*command.split(), SERVER, *words])


def _no_room(found: _Found) -> NeosianError | None:
    key = found.client.key
    if isinstance(found.value.get(key, {}), dict):
        return None
    file = found.look.file
    said = f"{file} was left as it is: {key} is no object, so it can hold no server."
    return NeosianError(said, settings.in_an_editor(file))


def _taken(client: Client, value: dict[str, Any]) -> str:
    """Why the name of our server is not ours to change in what a file holds; "" when it is."""
    path = settings.step(client.key, SERVER)
    for double in settings.twice(value):
        if double in (client.key, path) or double.startswith(f"{path}."):
            return f"{double} stands there twice"
    if SERVER not in servers(client, value) or _is_ours(client, servers(client, value)[SERVER]):
        return ""
    named = servers(client, value)[SERVER]
    words = client.words(named) if isinstance(named, dict) else []
    said = shlex.join(map(str, words)) if any(words) else "something else"
    return f"{path} there is not ours, it starts {said}"


# What a person should know -----------------------------------------------------------------------


def _about_file(found: _Found, ours: Entry) -> list[str]:
    client, file = found.client, found.look.file
    said = []
    extra = [key for key in found.ours or () if key not in ours]
    if extra:
        said.append(f"{file}: {settings.step(client.key, SERVER)} also says {', '.join(extra)}, which stays.")
    for name, entry in servers(client, found.value).items():
        if name != SERVER and _is_ours(client, entry):
            said.append(
                f"{file}: {settings.step(client.key, name)} starts the same server under another name."
            )
    return said


def _about_others(found: _Found, places: Sequence[_Found]) -> list[str]:
    return [
        f"{each.look.file} names {SERVER} too, and {found.client.title} reads both files."
        for each in places
        if each is not found and each.named is not None
    ]


def _about_readers(found: _Found, wish: Wish, cwd: str) -> list[str]:
    """Which other clients lose the server with a project's entry."""
    others = [] if wish.user else readers(found.look.file, merging.project_folder(wish, cwd))
    titles = [installer(name).TITLE for name in others if name != found.client.name]
    return (
        [f"{' and '.join(titles)} reads {found.look.file} too, and is told of the server no more."]
        if titles
        else []
    )


def _about_place(client: Client, wish: Wish, environ: Environ) -> list[str]:
    said = [note for note in (client.note, "" if wish.user else client.project_note) if note]
    if wish.project is not None and wish.project not in _projects(wish):
        said.append(
            f"No project is called {wish.project} yet, and the server refuses such a name. {_there_are(wish)}"
        )
    if not (client.has_folder or wish.project or wish.scope or wish.mounts):
        said.append(
            f"{client.title} works in no folder, so the server serves the user's memory only; --project NAME adds one."
        )
    if environ.get("NEOSIAN_HOME") and wish.root is None:
        said.append(
            "NEOSIAN_HOME is set: the server goes there only where it is set too. --root DIR writes it down."
        )
    if not wish.user:
        said += _about_sharing(client, wish, environ)
    return said


def _about_sharing(client: Client, wish: Wish, environ: Environ) -> list[str]:
    """What a project's file means for those who share it."""
    said = []
    said.append(
        f"The file is shared with the project, so it says {_BY_NAME} by name: a client that does not find that on "
        "the PATH tells that this server failed, and works on without it."
    )
    if not shutil.which(_BY_NAME, path=environ.get("PATH")):
        said.append(f"Here {_BY_NAME} is not on the PATH: put it there, or use --user.")
    if wish.root is not None:
        said.append("--root is a path of this machine, and goes into the shared file.")
    said += [
        f"{file} names {SERVER} already, for every project."
        for file in client.user_files(environ)
        if _find(client, file).ours
    ]
    return said
