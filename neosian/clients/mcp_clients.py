"""Which file tells a client of its MCP servers, and how one is written there: what the rows of clients are made of.

Nothing here reads or writes a file.
"""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from neosian import settings

SERVER = "neosian-memory"
"""The name under which every client knows our server."""
FOLDER = "<folder>"
"""In the path of a switch: the project's folder."""

USER, PROJECT = "user", "project"
"""The levels of a client's settings."""

Environ = Mapping[str, str]
Entry = dict[str, Any]


@dataclass(frozen=True)
class Format:
    """How a client's file is read, and how a part of it is shown to be pasted."""

    decode: Callable[[str, bytes], str]
    parse: Callable[[str], Any]
    show: Callable[[Mapping[str, Any]], str]


@dataclass(frozen=True)
class Switch:
    """A setting by which a person keeps hooks or server of ours (``kind``) from running in a client: where it stands in
    a file, which values mean ours, and what to say then."""

    kind: str
    path: tuple[str, ...]
    is_off: Callable[[Any], bool]
    says: str
    project_only: bool = False
    """Whether it is for what stands in a project's file."""


@dataclass(frozen=True)
class Switches:
    """The switches of a client, and the files that it looks into for them, weakest first, under a project's folder."""

    files: Callable[[Environ, str], tuple[str, ...]]
    all: tuple[Switch, ...]


def is_true(value: Any) -> bool:
    return value is True


def is_false(value: Any) -> bool:
    return value is False


def names_server(value: Any) -> bool:
    """Whether a list names our server."""
    return isinstance(value, list) and SERVER in value


def names_others(value: Any) -> bool:
    """Whether a list of all that may run leaves our server out."""
    return isinstance(value, list) and bool(value) and SERVER not in value


@dataclass(frozen=True)
class Client:
    """One client. Of several files of a level all are read by it; a new entry goes into the first that is there."""

    name: str
    title: str
    key: str
    """The member of the file that holds the servers by name."""
    home: Callable[[Environ], str]
    """The client's own folder, which neosian never makes."""
    user_files: Callable[[Environ], tuple[str, ...]]
    project_files: Callable[[str], tuple[str, ...]] | None
    """The files of a project in a folder; None where only the user has one."""
    format: Format
    entry: Callable[[Sequence[str]], Entry]
    """The words of a command as an entry."""
    words: Callable[[Entry], list[Any]]
    """The words of the command in an entry, whatever a person wrote there."""
    note: str = ""
    """What is said wherever the row is shown."""
    project_note: str = ""
    """What is said beside it of a project's file."""
    adds: str = ""
    removes: str = ""
    """The client's own commands for an entry, where its file is better left to them."""
    asks: bool = False
    """Whether these commands ask for what they need, and take no words behind them."""
    lock: str = ""
    """What follows the file's name in that of the folder that a writer of the file makes and takes away again."""
    calls_itself: str = ""
    """How the name begins that it tells a server, where that is not its own."""
    has_folder: bool = True
    """Whether its servers are started in the folder of the project."""
    switches: Switches | None = None
    """How a person switches hooks and servers off in it."""


def servers(client: Client, value: Mapping[str, Any]) -> dict[str, Any]:
    """The servers by name in what a client's file holds; none where they have no place."""
    found = value.get(client.key)
    return found if isinstance(found, dict) else {}


# Formats -----------------------------------------------------------------------------------------


def _show_json(part: Mapping[str, Any]) -> str:
    return json.dumps(part, indent=2, ensure_ascii=False)


def _decode_toml(file: str, raw: bytes) -> str:
    try:
        text = raw.decode("utf-8")
        tomllib.loads(text)
    except UnicodeDecodeError as error:
        raise settings.NotPlain(file, f"byte {error.start + 1} is not UTF-8") from None
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise settings.NotPlain(file, f"it is not TOML ({error})") from None
    return text


def _show_toml(part: Mapping[str, Any]) -> str:
    """Tables of tables, each value a text or a list of texts: of both a JSON spelling is TOML as well."""
    return "\n".join(
        "\n".join(
            [
                f"[{key}.{name}]",
                *(f"{field} = {json.dumps(value, ensure_ascii=False)}" for field, value in entry.items()),
            ]
        )
        for key, table in part.items()
        for name, entry in table.items()
    )


def _decode_yaml(file: str, raw: bytes) -> str:
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise settings.NotPlain(file, f"byte {error.start + 1} is not UTF-8") from None
    values, wrong = _values(text)
    if wrong and not values:
        raise settings.NotPlain(file, f"it is not YAML ({wrong})")
    return text


def _values(text: str) -> tuple[dict[str, Any], str]:
    """What YAML says, and what is wrong with it."""
    from neosian import matter  # slow to load, and for one client

    values, wrong = matter.read(text)
    return values, wrong.partition(": ")[2]  # its lines count from a fence


def _show_yaml(part: Mapping[str, Any]) -> str:
    """Tables of tables, block by block; a JSON spelling of what they hold is YAML as well."""
    return "\n".join(
        "\n".join(
            [
                f"{key}:",
                f"  {name}:",
                *(f"    {field}: {json.dumps(value, ensure_ascii=False)}" for field, value in entry.items()),
            ]
        )
        for key, table in part.items()
        for name, entry in table.items()
    )


JSON = Format(settings.decode, settings.parse, _show_json)
JSON_WITH_COMMENTS = Format(settings.decode, settings.parse_with_comments, _show_json)
TOML = Format(_decode_toml, lambda text: tomllib.loads(text), _show_toml)
YAML = Format(_decode_yaml, lambda text: _values(text)[0], _show_yaml)


# Entries -----------------------------------------------------------------------------------------


def program_and_arguments(words: Sequence[str]) -> Entry:
    return {"command": words[0], "args": list(words[1:])}


def of_program_and_arguments(entry: Entry) -> list[Any]:
    arguments = entry.get("args")
    return [entry.get("command"), *(arguments if isinstance(arguments, list) else ())]


def below_home(*names: str) -> str:
    """A path in the user's home."""
    return os.path.join(os.path.expanduser("~"), *names)


def app_folder(environ: Environ, name: str, platform: str) -> str:
    """Where an app of the desktop keeps its settings."""
    if platform == "darwin":
        return below_home("Library", "Application Support", name)
    if platform == "win32":
        return os.path.join(environ.get("APPDATA") or below_home("AppData", "Roaming"), name)
    return os.path.join(config_folder(environ), name)


def unverified(title: str, *more: str, source: str = "its documentation") -> str:
    """What is said wherever a row is shown that nobody has tried."""
    return " ".join([f"Not verified: what is known of {title} here comes from {source}.", *more])


def config_folder(environ: Environ) -> str:
    """Where programs keep their settings by the desktop's convention."""
    return environ.get("XDG_CONFIG_HOME") or below_home(".config")
