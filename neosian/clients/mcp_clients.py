"""Which file tells a client of its MCP servers, and how one is written there: a row a client.

Claude Code's row was tried on Linux with 2.1.197 and 2.1.332, those of Codex (0.171.0) and OpenCode (1.18.33) come
from runs too; a row that comes from a client's documentation alone says so. Nothing here reads or writes a file.
"""

from __future__ import annotations

import json
import os
import sys
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from neosian import settings
from neosian.clients import claude_install

SERVER = "neosian-memory"
"""The name under which every client knows our server."""

Environ = Mapping[str, str]
Entry = dict[str, Any]


@dataclass(frozen=True)
class Format:
    """How a client's file is read, and how a part of it is shown to be pasted."""

    decode: Callable[[str, bytes], str]
    parse: Callable[[str], Any]
    show: Callable[[Mapping[str, Any]], str]


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
    adds: str = ""
    removes: str = ""
    """The client's own commands for an entry, where its file is better left to them."""
    lock: str = ""
    """What follows the file's name in that of the folder that a writer of the file makes and takes away again."""
    has_folder: bool = True
    """Whether its servers are started in the folder of the project."""


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


_JSON = Format(settings.decode, settings.parse, _show_json)
_JSON_WITH_COMMENTS = Format(settings.decode, settings.parse_with_comments, _show_json)
_TOML = Format(_decode_toml, lambda text: tomllib.loads(text), _show_toml)


# Entries -----------------------------------------------------------------------------------------


def _program_and_arguments(words: Sequence[str]) -> Entry:
    return {"command": words[0], "args": list(words[1:])}


def _of_program_and_arguments(entry: Entry) -> list[Any]:
    arguments = entry.get("args")
    return [entry.get("command"), *(arguments if isinstance(arguments, list) else ())]


def _one_list(words: Sequence[str]) -> Entry:
    return {"type": "local", "command": list(words), "enabled": True}


def _of_one_list(entry: Entry) -> list[Any]:
    words = entry.get("command")
    return words if isinstance(words, list) else []


# Files -------------------------------------------------------------------------------------------


def _below_home(*names: str) -> str:
    return os.path.join(os.path.expanduser("~"), *names)


def _config_folder(environ: Environ) -> str:
    return environ.get("XDG_CONFIG_HOME") or _below_home(".config")


def _claude_files(environ: Environ) -> tuple[str, ...]:
    """Beside the client's folder, or inside where that was moved; one of an older name goes before both."""
    folder = claude_install.user_folder(environ)
    older = os.path.join(folder, ".config.json")
    if os.path.exists(older):
        return (older,)
    return (os.path.join(folder if environ.get("CLAUDE_CONFIG_DIR") else _below_home(), ".claude.json"),)


def _codex_home(environ: Environ) -> str:
    return os.path.abspath(environ.get("CODEX_HOME") or _below_home(".codex"))


def _opencode_home(environ: Environ) -> str:
    named = environ.get("OPENCODE_CONFIG")
    return (
        os.path.dirname(os.path.abspath(named))
        if named
        else os.path.join(_config_folder(environ), "opencode")
    )


def _opencode_files(environ: Environ) -> tuple[str, ...]:
    named = environ.get("OPENCODE_CONFIG")
    return (os.path.abspath(named),) if named else _both(_opencode_home(environ), "opencode")


def _both(folder: str, name: str) -> tuple[str, ...]:
    return os.path.join(folder, f"{name}.json"), os.path.join(folder, f"{name}.jsonc")


def _desktop_home(environ: Environ, platform: str = sys.platform) -> str:
    if platform == "darwin":
        return _below_home("Library", "Application Support", "Claude")
    if platform == "win32":
        return os.path.join(environ.get("APPDATA") or _below_home("AppData", "Roaming"), "Claude")
    return os.path.join(_config_folder(environ), "Claude")


# The rows ----------------------------------------------------------------------------------------

CLIENTS: dict[str, Client] = {
    row.name: row
    for row in (
        Client(
            name="claude-code",
            title=claude_install.TITLE,
            key="mcpServers",
            home=claude_install.user_folder,
            user_files=_claude_files,
            project_files=lambda folder: (os.path.join(folder, ".mcp.json"),),
            format=_JSON,
            entry=_program_and_arguments,
            words=_of_program_and_arguments,
            lock=".lock",
        ),
        Client(
            name="codex",
            title="Codex",
            key="mcp_servers",
            home=_codex_home,
            user_files=lambda environ: (os.path.join(_codex_home(environ), "config.toml"),),
            project_files=None,
            format=_TOML,
            entry=_program_and_arguments,
            words=_of_program_and_arguments,
            note="A trusted project's .codex/config.toml takes the same table.",
            adds="codex mcp add",
            removes="codex mcp remove",
        ),
        Client(
            name="opencode",
            title="OpenCode",
            key="mcp",
            home=_opencode_home,
            user_files=_opencode_files,
            project_files=lambda folder: _both(folder, "opencode"),
            format=_JSON_WITH_COMMENTS,
            entry=_one_list,
            words=_of_one_list,
        ),
        Client(
            name="cursor",
            title="Cursor",
            key="mcpServers",
            home=lambda environ: _below_home(".cursor"),
            user_files=lambda environ: (_below_home(".cursor", "mcp.json"),),
            project_files=lambda folder: (os.path.join(folder, ".cursor", "mcp.json"),),
            format=_JSON,
            entry=_program_and_arguments,
            words=_of_program_and_arguments,
            note="Not verified: what is known of Cursor here comes from its documentation.",
        ),
        Client(
            name="claude-desktop",
            title="Claude Desktop",
            key="mcpServers",
            home=_desktop_home,
            user_files=lambda environ: (os.path.join(_desktop_home(environ), "claude_desktop_config.json"),),
            project_files=None,
            format=_JSON,
            entry=_program_and_arguments,
            words=_of_program_and_arguments,
            note="Not verified: what is known of Claude Desktop here comes from its documentation.",
            has_folder=False,
        ),
    )
}
