"""Settings: `config.toml` of the home over the defaults, as one record nobody changes.

`tomllib` costs an interpreter start and a half, so what a file said is kept beside it as JSON until it changes.
"""

from __future__ import annotations

import os

from neosian import fastjson, files
from neosian.errors import NeosianError, did_you_mean

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

IGNORED_FILES = (
    "**/.env*", "**/.netrc", "**/.npmrc", "**/.pypirc", "**/.git-credentials", "**/.htpasswd",
    "**/id_rsa*", "**/id_ed25519*", "**/id_ecdsa*", "**/*.pem", "**/*.key", "**/*.p12", "**/*.pfx", "**/*.keystore",
    "**/.aws/credentials", "**/.docker/config.json", "**/.kube/config", "**/.config/gh/hosts.yml",
    "**/secrets.y*ml", "**/credentials.json", "**/*service-account*.json", "**/.ssh/*",
)  # fmt: skip
"""Files whose reading or writing by an agent leaves no content in memory (`record.ignore`)."""

THROWAWAY = ("/tmp/claude-*/**", "/private/tmp/claude-*/**")
"""Folders that clients make for a moment (`project.throwaway`): what happens there goes to the user scope."""


class Config:
    """Every setting with its default; names are those of `config.toml`, the section in front.

    A setting that cannot be meant as it stands keeps its default, the others count; ``wrong`` has a sentence each, and
    one for each name that no setting has.
    """

    __slots__ = (
        "context_budget", "context_recall", "context_start", "dream_engine", "dream_idle", "dream_max_tokens_per_day",
        "dream_max_tokens_per_run", "dream_model", "dream_review", "project_throwaway", "record_capture",
        "record_ignore", "record_input_chars", "record_output_chars", "record_silence", "record_transcript",
        "wrong",
    )  # fmt: skip

    def __init__(self, said: Mapping[str, Any] | None = None) -> None:
        self.wrong: list[str] = []
        table = _Table(said or {}, self.wrong)
        self.record_output_chars = table.number("record", "output_chars", 4096)
        self.record_input_chars = table.number("record", "input_chars", 16_384)
        self.record_silence = table.number("record", "silence", 6 * 3600)
        self.record_ignore = table.texts("record", "ignore", IGNORED_FILES)
        # What is no choice counts as the narrower one: a slip must not record what was meant to stay out, nor ask a
        # model, nor land what was to wait.
        self.record_transcript = table.switch("record", "transcript", True, otherwise=False)
        self.record_capture = table.text("record", "capture", "all", ("all", "marked"), otherwise="marked")
        self.context_start = table.switch("context", "start", True)
        self.context_recall = table.switch("context", "recall", True)
        self.context_budget = table.number("context", "budget", 9500)
        self.dream_engine = table.text(
            "dream", "engine", "", ("", "anthropic", "claude-cli", "rules"), otherwise="rules"
        )
        self.dream_model = table.any_text("dream", "model", "")
        self.dream_idle = table.number("dream", "idle", 1800)
        self.dream_max_tokens_per_run = table.number("dream", "max_tokens_per_run", 1_000_000)
        self.dream_max_tokens_per_day = table.number("dream", "max_tokens_per_day", 3_000_000)
        self.dream_review = table.switch("dream", "review", False, otherwise=True)
        self.project_throwaway = table.texts("project", "throwaway", THROWAWAY)
        for name, value in table.complain_of_the_rest():
            # A slip in the name, too. The launcher goes by the same two signs.
            if value != "all" and ("capture" in name or value == "marked") and self.record_capture == "all":
                self.record_capture = "marked"
                self.wrong.append("Until that is mended, record.capture counts as marked.")


class ConfigError(NeosianError):
    """A file of settings that cannot be read as TOML."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path} is not TOML: {reason}.", f"open {path} in an editor")


def load(home: str) -> tuple[Config, str]:
    """The settings of a home, and what is wrong with its file ("" when nothing is)."""
    path = os.path.join(home, "config.toml")
    try:
        found = Config(parsed_toml(path, os.path.join(home, "cache", "config.json")))
    except (ConfigError, OSError) as error:
        found = Config()
        why = files.said(error, path) if isinstance(error, OSError) else str(error)
        if "capture" in files.strange(path):
            found.record_capture = "marked"  # the launcher reads that line all the same
        return found, f"{why} Its settings do not count until it is mended."
    return found, f"{path}: {' '.join(found.wrong)}" if found.wrong else ""


def parsed_toml(path: str, cache: str) -> dict[str, Any]:
    """A TOML file by way of its JSON copy at ``cache``; {} where there is none, ConfigError where it is not TOML."""
    try:
        found = os.stat(path)
    except OSError:
        return {}
    stamp = f"{found.st_mtime_ns}-{found.st_size}-{found.st_ino}"
    try:
        held = fastjson.loads(files.read(cache) or b"{}")
        if isinstance(held, dict) and held.get("of") == stamp and isinstance(held.get("said"), dict):
            said: dict[str, Any] = held["said"]
            return said
    except ValueError:
        pass
    import tomllib

    try:
        said = tomllib.loads((files.read(path) or b"").decode("utf-8-sig", "replace"))
    except (
        ValueError,
        RecursionError,
    ) as error:  # of the syntax; a number of thousands of digits; nested too deeply
        raise ConfigError(path, str(error)) from None
    try:
        files.make_dir(os.path.dirname(cache))
        files.write(cache, fastjson.dumps({"of": stamp, "said": said}, default=str).encode())
    except OSError:
        pass  # a cache that cannot be written only costs time
    return said


class _Table:
    """What a file says, read one setting at a time; what is wrong is added to ``wrong``."""

    def __init__(self, said: Mapping[str, Any], wrong: list[str]) -> None:
        self._said = said
        self._wrong = wrong
        self._known: dict[str, list[str]] = {}

    def number(self, section: str, key: str, default: int) -> int:
        """A whole number of at least 0."""
        found = self._find(section, key, default)
        if isinstance(found, int) and not isinstance(found, bool) and found >= 0:
            return found
        self._complain(section, key, "a whole number of at least 0", found)
        return default

    def texts(self, section: str, key: str, default: tuple[str, ...]) -> tuple[str, ...]:
        """A list of texts."""
        found = self._find(section, key, default)
        if isinstance(found, (list, tuple)) and all(isinstance(each, str) for each in found):
            return tuple(found)
        self._complain(section, key, "a list of texts", found)
        return default

    def text(self, section: str, key: str, default: str, choices: tuple[str, ...], otherwise: str) -> str:
        """One of some texts; ``otherwise`` where it is none of them."""
        found = self._find(section, key, default)
        if isinstance(found, str) and found in choices:
            return found
        known = ", ".join(choice for choice in choices if choice)
        self._complain(section, key, f"one of {known}", found, otherwise)
        return otherwise

    def any_text(self, section: str, key: str, default: str) -> str:
        """A text."""
        found = self._find(section, key, default)
        if isinstance(found, str):
            return found
        self._complain(section, key, "a text", found)
        return default

    def switch(self, section: str, key: str, default: bool, otherwise: bool | None = None) -> bool:
        """true or false; ``otherwise`` (default: as where nothing is said) where it is neither."""
        found = self._find(section, key, default)
        if isinstance(found, bool):
            return found
        if otherwise is None:
            self._complain(section, key, "true or false", found)
            return default
        self._complain(section, key, "true or false", found, str(otherwise).lower())
        return otherwise

    def complain_of_the_rest(self) -> list[tuple[str, object]]:
        """Name and value of what the file says and nobody asked for; each name is added to ``wrong``."""
        rest: list[tuple[str, object]] = []
        for section, said in self._said.items():
            known = self._known.get(section)
            if known is None:
                where = "table" if isinstance(said, dict) else "setting"
                names = [
                    *self._known,
                    *(f"{name}.{key}" for name in self._known for key in self._known[name]),
                ]
                self._wrong.append(f"There is no {where} {section}.{did_you_mean(section, names)}")
                rest += said.items() if isinstance(said, dict) else [(section, said)]
            elif isinstance(said, dict):
                for key in [key for key in said if key not in known]:
                    self._wrong.append(f"There is no setting {section}.{key}.{did_you_mean(key, known)}")
                    rest.append((key, said[key]))
        return rest

    def _find(self, section: str, key: str, default: object) -> object:
        self._known.setdefault(section, []).append(key)
        found = self._said.get(section, {})
        if not isinstance(found, dict):
            self._complain(section, "", "a table", found)
            return default
        return found.get(key, default)

    def _complain(
        self, section: str, key: str, wanted: str, found: object, otherwise: str = "the default"
    ) -> None:
        said = (
            f"{section}{'.' if key else ''}{key} must be {wanted}, not {found!r}; {otherwise} counts instead."
        )
        if said not in self._wrong:
            self._wrong.append(said)
