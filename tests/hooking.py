"""Hooks as a client runs them: a throwaway home with the installed launcher, a project, and real processes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from neosian.clients.claude_code import VERB
from neosian.launcher import install_launcher
from tests.factories import fsck, git, log_of, status
from tests.recorded import payload

SESSION = "0670e8b9-b1ce-4218-af38-aac7413a9d25"
CLIENT = "claude-code"
PATIENCE = 60  # seconds after which a process of a test counts as hung: it is killed, and the test fails


class Done(NamedTuple):
    """How a process ended."""

    status: int
    out: str
    err: str


class Hooks:
    """A home, a project beside it, and the launcher through which events come in."""

    def __init__(self, folder: Path, home: Path | None = None, shell: Sequence[str] = ()) -> None:
        self.folder = folder
        self.home = home or folder / "home"
        self.project = folder / "shop"
        self.shell = list(shell)  # runs the launcher; none: the kernel does, by its first line
        self.launcher = install_launcher(self.home)
        self.project.mkdir(parents=True, exist_ok=True)
        if not (self.project / ".git").exists():
            git(self.project, "init", "-q", "-b", "main")

    # events

    def said(self, name: str, session: str = SESSION, number: int = 1, **fields: Any) -> dict[str, Any]:
        """A recorded payload as this session in this project would send it in its turn ``number``."""
        held = payload(name)
        ids = {"prompt_id": f"{number:08}-{session}"} if "prompt_id" in held else {}
        return held | {"session_id": session, "cwd": str(self.project)} | ids | fields

    def fire(
        self, said: Mapping[str, Any] | bytes, verb: str = "", *, env: Mapping[str, str | None] | None = None,
        cwd: Path | str | None = None, flags: Sequence[str] = (), argv: Sequence[str] | None = None, **more: Any,
    ) -> Done:  # fmt: skip
        """One event through the launcher; ``env`` changes the environment, None takes a variable away."""
        name = str(said.get("hook_event_name")) if isinstance(said, Mapping) else ""
        words = [CLIENT, verb or VERB.get(name, "note"), *flags] if argv is None else argv
        return run([*self.shell, str(self.launcher), *words], said, env=env, cwd=cwd or self.project, **more)

    def record(
        self, said: Mapping[str, Any] | bytes, *flags: str, env: Mapping[str, str | None] | None = None,
        cwd: Path | None = None, **more: Any,
    ) -> Done:  # fmt: skip
        """One event through `neosian record`."""
        command = [
            sys.executable,
            "-m",
            "neosian",
            "record",
            "--client",
            CLIENT,
            "--root",
            str(self.home),
            *flags,
        ]
        return run(command, said, env=env, cwd=cwd or self.project, **more)

    def turn(
        self,
        prompt: str = "fix it",
        answer: str = "Done.",
        session: str = SESSION,
        number: int = 1,
        **more: Any,
    ) -> list[Done]:
        """A prompt, a call, its result, and the stop that lands them: how each hook ended."""
        call = {"tool_use_id": f"toolu_{session[-12:]}_{number}"}
        return [
            self.fire(self.said("user_prompt_submit", session, number, prompt=prompt), **more),
            self.fire(self.said("pre_tool_use.bash", session, number, **call), **more),
            self.fire(self.said("post_tool_use.bash", session, number, **call), **more),
            self.fire(self.said("stop", session, number, last_assistant_message=answer), **more),
        ]

    def start(self, session: str = SESSION, **more: Any) -> Done:
        """A session's start."""
        return self.fire(self.said("session_start.startup", session), **more)

    # what became of them

    def spooled(self) -> list[Path]:
        """Events that wait."""
        return sorted((self.home / "spool" / "new").glob("*"))

    def aside(self) -> list[str]:
        """Reasons for which events were set aside."""
        return [path.read_text("utf-8") for path in sorted((self.home / "spool" / "bad").glob("*.why"))]

    def log(self) -> str:
        """What went wrong in hooks."""
        path = self.home / "log" / "neosian.log"
        return path.read_text("utf-8", "replace") if path.exists() else ""

    def scopes(self) -> list[Path]:
        """Folders of the scopes."""
        return sorted((self.home / "scopes").glob("*"))

    def lines(self) -> list[dict[str, Any]]:
        """Every line of every turn log at the tip of main of every scope."""
        return [line for scope in self.scopes() for line in log_of(scope, "main")]

    def texts(self, kind: str = "prompt") -> list[str]:
        """The texts of all lines of a kind."""
        return [str(line["text"]) for line in self.lines() if line["kind"] == kind]

    def check(self, prompts: Sequence[str]) -> None:
        """Each of these turns is there once, whole and nothing else is; every repository is clean and sound."""
        assert Counter(found := self.texts()) == Counter(prompts), found
        calls = Counter(line["call"] for line in self.lines() if line["kind"] == "tool_result")
        assert [call for call, times in calls.items() if times > 1] == []
        unsound = {scope.name: said for scope in self.scopes() if (said := status(scope) + fsck(scope))}
        assert unsound == {}, unsound


def run(
    command: Sequence[str], said: Mapping[str, Any] | bytes = b"", *,
    env: Mapping[str, str | None] | None = None, cwd: Path | str | None = None, **more: Any,
) -> Done:  # fmt: skip
    """A process with ``said`` on its stdin."""
    data = said if isinstance(said, bytes) else json.dumps(said).encode()
    done = subprocess.run(
        command, input=data, env=environment(env), cwd=cwd, capture_output=True, timeout=PATIENCE, **more
    )
    return Done(
        done.returncode, done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace")
    )


def environment(changes: Mapping[str, str | None] | None = None) -> dict[str, str]:
    """The environment of this test with changes; None takes a variable away."""
    wanted: dict[str, str | None] = {**os.environ, **(changes or {})}
    return {name: value for name, value in wanted.items() if value is not None}


def eventually(true: Callable[[], object], what: str) -> None:
    """Wait until something is so that a detached child brings about."""
    until = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < until, f"it never came about that {what}"
        time.sleep(0.05)


def quiet(done: Done) -> bool:
    """Whether a hook ended well and said nothing."""
    return done == Done(0, "", "")


def one_line(done: Done) -> bool:
    """Whether a hook ended with 1, said one line on stderr and nothing on stdout."""
    return (
        done.status == 1 and done.out == "" and done.err.count("\n") == 1 and done.err.startswith("neosian: ")
    )
