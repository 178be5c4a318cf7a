"""Plugins as their clients run them: under node, with real hooks below, each call scripted."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from neosian import resources
from neosian.clients.hook_files import OWN
from neosian.launcher import hook_line
from tests.hooking import PATIENCE, Hooks, environment

DRIVER = Path(__file__).with_name("plugin_driver.mjs")
FILES = {"opencode": "opencode.js", "pi": "pi.ts"}


class Reply(NamedTuple):
    """What came of one call: its value (for OpenCode the hook's output, which it may have changed), what it threw."""

    value: Any
    threw: str
    ms: int


def rendered(client: str, home: Path | None) -> str:
    """The plugin with the hook lines of a home in it, as it is installed."""
    template = resources.hook_file(FILES[client])
    return OWN.filled(template, (), lambda verb: hook_line(client, verb, root=home))


def play(client: str, hooks: Hooks, *calls: list[Any], text: str = "", **env: str) -> list[Reply]:
    """Call a plugin's hooks one after another, in the project of ``hooks``; each reply. ``text`` is another plugin's."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("there is no node on this machine")
    file = hooks.folder / f"{client}.mjs"
    file.write_text(text or rendered(client, hooks.home), encoding="utf-8")
    done = subprocess.run(
        [node, str(DRIVER), client, str(file)],
        input="".join(json.dumps(call) + "\n" for call in calls),
        cwd=hooks.project,
        env=environment(dict(env)),
        capture_output=True,
        encoding="utf-8",
        timeout=PATIENCE,
    )
    assert done.stderr == "", done.stderr
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(lines) == len(calls), (lines, done)
    return [Reply(line.get("value"), line.get("threw", ""), line["ms"]) for line in lines]
