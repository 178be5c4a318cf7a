"""Settings: `config.toml` of the home over the defaults, as one record nobody changes.

`tomllib` costs an interpreter start and a half, so what a file said is kept beside it as JSON until it changes.
"""

from __future__ import annotations

import json
import os

from neosian import files
from neosian.errors import NeosianError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

IGNORED_FILES = (
    "**/.env", "**/.env.*", "**/.netrc", "**/.npmrc", "**/.pypirc", "**/.git-credentials", "**/.htpasswd",
    "**/id_rsa*", "**/id_ed25519*", "**/id_ecdsa*", "**/*.pem", "**/*.key", "**/*.p12", "**/*.pfx", "**/*.keystore",
    "**/.aws/credentials", "**/.docker/config.json", "**/.kube/config", "**/.config/gh/hosts.yml",
    "**/secrets.y*ml", "**/credentials.json", "**/*service-account*.json", "**/.ssh/*",
)  # fmt: skip
"""Files whose reading or writing by an agent leaves no content in memory (`record.ignore`)."""

THROWAWAY = ("/tmp/claude-*/**", "/private/tmp/claude-*/**")
"""Folders that clients make for a moment (`project.throwaway`): what happens there goes to the user scope."""


class Config:
    """Every setting with its default; names are those of `config.toml`, the section in front."""

    __slots__ = (
        "context_budget", "context_enabled", "project_throwaway", "record_capture", "record_ignore",
        "record_input_chars", "record_output_chars", "record_silence",
    )  # fmt: skip

    def __init__(self, said: Mapping[str, Any] | None = None) -> None:
        said = said or {}
        record, context, project = (_section(said, name) for name in ("record", "context", "project"))
        self.record_output_chars = _number(record, "output_chars", 4096)
        self.record_input_chars = _number(record, "input_chars", 16_384)
        self.record_silence = _number(record, "silence", 6 * 3600)
        self.record_ignore = _texts(record, "ignore", IGNORED_FILES)
        self.record_capture = _choice(record, "capture", ("all", "marked"))
        self.context_enabled = _choice(context, "start", (True, False))
        self.context_budget = _number(context, "budget", 9500)
        self.project_throwaway = _texts(project, "throwaway", THROWAWAY)


class ConfigError(NeosianError):
    """A setting that cannot be meant as it stands."""

    def __init__(self, what: str) -> None:
        super().__init__(f"config.toml: {what}. The default is used until it is mended.", "neosian status")


def load(home: str) -> tuple[Config, str]:
    """The settings of a home, and what is wrong with its file ("" when nothing is)."""
    path = os.path.join(home, "config.toml")
    try:
        found = os.stat(path)
    except OSError:
        return Config(), ""
    try:
        return Config(_parsed(home, path, f"{found.st_mtime_ns}-{found.st_size}")), ""
    except (ConfigError, OSError) as error:
        return Config(), str(error)


def parsed_toml(path: str, cache: str) -> dict[str, Any]:
    """A TOML file by way of its JSON copy at ``cache``; ConfigError when it cannot be read as TOML."""
    try:
        found = os.stat(path)
    except OSError:
        return {}
    return _through_cache(path, cache, f"{found.st_mtime_ns}-{found.st_size}-{found.st_ino}")


def _parsed(home: str, path: str, stamp: str) -> dict[str, Any]:
    return _through_cache(path, os.path.join(home, "cache", "config.json"), stamp)


def _through_cache(path: str, cache: str, stamp: str) -> dict[str, Any]:
    try:
        held = json.loads(files.read(cache) or b"{}")
        if isinstance(held, dict) and held.get("of") == stamp and isinstance(held.get("said"), dict):
            said: dict[str, Any] = held["said"]
            return said
    except ValueError:
        pass
    import tomllib

    try:
        said = tomllib.loads((files.read(path) or b"").decode("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{os.path.basename(path)} is not TOML: {error}") from None
    try:
        files.make_dir(os.path.dirname(cache))
        files.write(cache, json.dumps({"of": stamp, "said": said}, default=str).encode())
    except OSError:
        pass  # a cache that cannot be written only costs time
    return said


def _section(said: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = said.get(name, {})
    if not isinstance(found, dict):
        raise ConfigError(f"[{name}] is not a table")
    return found


def _number(section: Mapping[str, Any], key: str, default: int) -> int:
    found = section.get(key, default)
    if isinstance(found, bool) or not isinstance(found, int) or found < 0:
        raise ConfigError(f"{key} must be a whole number of at least 0, not {found!r}")
    return found


def _texts(section: Mapping[str, Any], key: str, default: tuple[str, ...]) -> tuple[str, ...]:
    found = section.get(key, default)
    if not isinstance(found, (list, tuple)) or not all(isinstance(each, str) for each in found):
        raise ConfigError(f"{key} must be a list of texts, not {found!r}")
    return tuple(found)


def _choice(section: Mapping[str, Any], key: str, choices: tuple[Any, ...]) -> Any:
    found = section.get(key, choices[0])
    if found not in choices or isinstance(found, bool) != isinstance(choices[0], bool):
        raise ConfigError(f"{key} must be one of {', '.join(map(repr, choices))}, not {found!r}")
    return found
