"""What every test gets: a home of its own, and no way to the real one."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

# Read before any test can change it: what must stay out of reach.
REAL_HOME = os.path.expanduser("~")

# Variables by which a person, a client or git would reach into a test. CLAUDECODE and AI_AGENT are set
# where the tests run inside an agent; a test that wants a client's mark sets it itself.
_FOREIGN_PREFIXES = (
    "NEOSIAN_",
    "GIT_",
    "XDG_",
    "CLAUDE",
    "ANTHROPIC_",
    "CODEX_",
    "CURSOR_",
    "GEMINI_",
    "QWEN_",
    "OPENCODE_",
    "PI_",
    "AI_AGENT",
)

_GIT_CONFIG = """\
[user]
\tname = Ada Person
\temail = ada@example.org
[init]
\tdefaultBranch = main
"""


@pytest.fixture(autouse=True)
def private_home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty home directory with a git identity, which this test's environment calls HOME."""
    home = tmp_path_factory.mktemp("home")
    gitconfig = home / ".gitconfig"
    gitconfig.write_text(_GIT_CONFIG, encoding="utf-8")
    for name in [name for name in os.environ if name.startswith(_FOREIGN_PREFIXES)]:
        monkeypatch.delenv(name)
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, str(home))
    for name, folder in (
        ("XDG_CONFIG_HOME", ".config"),
        ("XDG_CACHE_HOME", ".cache"),
        ("XDG_DATA_HOME", ".local/share"),
        ("XDG_STATE_HOME", ".local/state"),
    ):
        monkeypatch.setenv(name, str(home / folder))
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(gitconfig))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    return home
