"""A throwaway machine: one home with the real launcher in it, one project, and events of a client played to it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from neosian import projects, scope
from neosian.launcher import install_launcher, launcher_path
from neosian.store import Store
from tests.bench.errors import BenchError

CLIENT = "claude-code"
PACKAGE = Path(__file__).resolve().parents[2]
_PASSED_ON = ("PATH", "LANG", "LC_ALL")


class Event(NamedTuple):
    """One event of a client: the verb of its hook line, and the payload as it goes to stdin."""

    verb: str
    payload: bytes


class Said(NamedTuple):
    """The texts of one turn: what was asked, what three calls gave and took, and the answer."""

    prompt: str
    read: str
    output: str
    edit: str
    answer: str


class Stage:
    """A home and a project in one folder. Its processes know no other, and no settings of the person's."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.home = folder / "home" / ".neosian"
        self.project = folder / "shop"
        self.launcher = str(launcher_path(self.home))
        self.environment = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
        self.environment |= {
            "HOME": str(folder / "home"), "NEOSIAN_HOME": str(self.home), "TZ": "UTC",
            "CLAUDE_PROJECT_DIR": str(self.project), "PYTHONPATH": str(PACKAGE),
        }  # fmt: skip

    def make(self) -> None:
        """Make the folders, a project that is a git repository, and the launcher."""
        self.home.parent.mkdir(parents=True)
        self.project.mkdir()
        self.run([_git(), "init", "--quiet"])
        self.install()

    def install(self) -> None:
        """Put the launcher of this checkout into the home."""
        install_launcher(self.home)

    @property
    def store(self) -> Store:
        """The project's scope."""
        return projects.open_store(
            str(self.home), f"{scope.user_scope()}/proj:{scope.slug(self.project.name)}"
        )

    def run(self, argv: list[str], given: bytes = b"") -> bytes:
        """The standard output of a process in the project; BenchError unless it ends with 0."""
        done = subprocess.run(argv, cwd=self.project, env=self.environment, input=given, capture_output=True)
        if done.returncode:
            said = done.stderr.decode("utf-8", "replace").strip()
            raise BenchError(f"{' '.join(argv)} ended with {done.returncode}: {said}")
        return done.stdout

    def git(self, *args: str, given: bytes = b"") -> bytes:
        """What git prints in the scope's repository."""
        return self.run([_git(), "-C", self.store.path, *args], given)

    def hook(self, verb: str) -> list[str]:
        """The command that a client runs for an event."""
        return [self.launcher, CLIENT, verb]

    def play(self, events: Iterator[Event]) -> None:
        """Give events to the launcher, as the client would."""
        for event in events:
            self.run(self.hook(event.verb), event.payload)

    def waiting(self) -> list[Path]:
        """The spooled events that have not landed."""
        folder = self.home / "spool" / "new"
        return sorted(folder.iterdir()) if folder.is_dir() else []

    # events

    def start(self, session: str) -> Event:
        """The beginning of a session."""
        return self._event("start", "SessionStart", session, source="startup")

    def turn(self, session: str, prompt_id: str, said: Said) -> Iterator[Event]:
        """A turn with three calls, from its prompt up to, and without, its stop."""
        common: dict[str, Any] = {"prompt_id": prompt_id, "permission_mode": "default"}
        yield self.prompt(session, prompt_id, said.prompt)
        common["effort"] = {"level": "medium"}
        calls = self._calls(prompt_id, said)
        for call in calls:
            asked = {name: value for name, value in call.items() if name != "tool_response"}
            yield self._event("note", "PreToolUse", session, **common, **asked)
            yield self._event("note", "PostToolUse", session, **common, **call, duration_ms=120)
        yield self._event("note", "PostToolBatch", session, **common, tool_calls=calls)

    def prompt(self, session: str, prompt_id: str, text: str) -> Event:
        """What a person typed."""
        common = {"prompt_id": prompt_id, "permission_mode": "default"}
        return self._event("prompt", "UserPromptSubmit", session, **common, prompt=text)

    def stop(self, session: str, prompt_id: str, said: Said) -> Event:
        """The end of a turn."""
        return self._event(
            "stop", "Stop", session, prompt_id=prompt_id, permission_mode="default", stop_hook_active=False,
            last_assistant_message=said.answer, background_tasks=[], session_crons=[],
        )  # fmt: skip

    def tool_event(self, session: str, prompt_id: str, said: Said) -> Event:
        """The result of one call, the most frequent of all events."""
        call = self._calls(prompt_id, said)[1]
        return self._event("note", "PostToolUse", session, prompt_id=prompt_id, **call, duration_ms=120)

    def _calls(self, prompt_id: str, said: Said) -> list[dict[str, Any]]:
        file = str(self.project / "cart.py")
        shown = {"filePath": file, "content": said.read, "numLines": 40, "startLine": 1, "totalLines": 40}
        edit = {"old_string": "total = 0", "new_string": said.edit, "replace_all": False}
        patched = {"filePath": file, "oldString": "total = 0", "newString": said.edit, "structuredPatch": []}
        calls = (
            ("Read", {"file_path": file}, {"type": "text", "file": shown}),
            ("Bash", {"command": "make test"}, {"stdout": said.output, "stderr": "", "interrupted": False}),
            ("Edit", {"file_path": file, **edit}, patched),
        )
        return [
            {"tool_name": tool, "tool_input": asked, "tool_response": given, "tool_use_id": call_id(prompt_id, at)}
            for at, (tool, asked, given) in enumerate(calls)
        ]  # fmt: skip

    def _event(self, verb: str, name: str, session: str, **more: object) -> Event:
        log = f"{self.environment['HOME']}/.claude/projects/-shop/{session}.jsonl"
        head = {
            "session_id": session,
            "transcript_path": log,
            "cwd": str(self.project),
            "hook_event_name": name,
        }
        return Event(verb, json.dumps({**head, **more}, ensure_ascii=False).encode("utf-8", "replace"))


def call_id(prompt_id: str, number: int) -> str:
    """The id of one of a turn's calls."""
    return f"toolu_{prompt_id.replace('-', '')[:23]}{number}"


def _git() -> str:
    return os.environ.get("NEOSIAN_GIT") or "git"


def python(*args: str) -> list[str]:
    """A command line of the interpreter that runs this."""
    return [sys.executable, *args]
