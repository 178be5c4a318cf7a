"""What tests of landing are made of: a home with a project beside it, conversations spooled from recorded payloads,
and a person's own git.
"""

from __future__ import annotations

import itertools
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from neosian import config, projects, scope, turns
from neosian.clients import adapter
from neosian.events import FLAG_SEPARATOR
from neosian.landing import Landed, Lander
from neosian.spool import Spool, header
from neosian.store import Store
from tests.recorded import payload

SESSION = "0670e8b9-b1ce-4218-af38-aac7413a9d25"
OTHER = "4df1bd16-6b2f-4994-b69e-ab201285eb10"
NUMBERS = itertools.count(1)


def git(folder: Path | str, *args: str, check: bool = True, env: Mapping[str, str] | None = None) -> str:
    """What the git command line says to the person at this machine."""
    command = ["git", "-C", str(folder), *args]
    done = subprocess.run(command, env={**os.environ, **(env or {})}, capture_output=True)
    if check and done.returncode:
        raise AssertionError(f"git {' '.join(args)}: {os.fsdecode(done.stderr)}")
    return os.fsdecode(done.stdout).rstrip("\n")


def status(folder: Path | str) -> str:
    """`git status --porcelain`, "" when clean."""
    return git(folder, "status", "--porcelain")


def fsck(folder: Path | str) -> str:
    """What a strict check of the repository complains of; "" when all is well."""
    command = ["git", "-C", str(folder), "fsck", "--strict", "--no-dangling", "--no-progress"]
    done = subprocess.run(command, capture_output=True, text=True)
    said = [row for row in (done.stdout + done.stderr).splitlines() if not row.startswith("notice:")]
    return "\n".join(said) or ("" if done.returncode == 0 else f"it ended with {done.returncode}")


def repository(folder: Path, *, remote: str = "", commit: bool = False) -> Path:
    """A git repository of somebody else's: a project."""
    folder.mkdir(parents=True, exist_ok=True)
    git(folder, "init", "-q", "-b", "main")
    if remote:
        git(folder, "remote", "add", "origin", remote)
    if commit:
        (folder / "calc.py").write_text("def add(a, b):\n    return a - b\n")
        git(folder, "add", "-A")
        git(folder, "commit", "-qm", "Begin")
    return folder


def without_rights() -> list[str]:
    """What to put before a command for it to be refused what its user may not read; skips where root cannot do that."""
    if os.geteuid():
        return []
    if shutil.which("setpriv") is None:
        pytest.skip("root reads everything")
    return ["setpriv", "--bounding-set=-dac_override,-dac_read_search"]


def bytes_below(folder: Path) -> dict[str, bytes]:
    """Every file below a folder with its bytes."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


class Home:
    """A home, and the project `shop` beside it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.path = folder / "home"
        self.project = repository(folder / "shop")
        self.spool = Spool(str(self.path))

    # what is said to it

    def put(
        self, said: Mapping[str, Any], *, cwd: Path | str = "", flags: Sequence[str] = (),
        marks: Mapping[str, str] | None = None, client: str = "claude-code",
    ) -> str:  # fmt: skip
        """Spool one payload as its hook would; the name of its file."""
        verb = adapter(client).VERB.get(str(said.get("hook_event_name")), "note")
        where = str(cwd or said.get("cwd") or self.project)
        head = header(client, verb, FLAG_SEPARATOR.join(flags), where, dict(marks or {}))
        return self.spool.put(head, json.dumps(said).encode())

    def talk(self, session: str = SESSION, **more: Any) -> Talk:
        """A conversation in the project."""
        return Talk(self, session, **more)

    # landing

    def lander(self, **more: Any) -> Lander:
        return Lander(str(self.path), config.load(str(self.path))[0], **more)

    def land(self, **more: Any) -> list[Landed]:
        """Land the spool; an error of any scope is raised."""
        lander = self.lander(**more)
        landed = lander.land()
        if lander.failures:
            raise lander.failures[0]
        return landed

    def land_in_process(self, before: str = "") -> int:
        """Land in a process of its own that first runs ``before``; its status (-9: killed)."""
        code = f"from neosian import gitlocks, hook, journal, landing, publish, recent, store, draft, spool, files\nimport os\n{before}\n"
        code += f"hook.land({str(self.path)!r})\n"
        return subprocess.run([sys.executable, "-c", code], capture_output=True).returncode

    # what is there

    def store(self, text: str = "") -> Store:
        """A scope's store, the project's where none is named."""
        return projects.open_store(str(self.path), text or f"{scope.user_scope()}/proj:shop")

    @property
    def shop(self) -> Path:
        """The folder of the project's scope."""
        return Path(self.store().path)

    @property
    def user(self) -> Path:
        """The folder of the user scope."""
        return Path(self.store(scope.user_scope()).path)

    def write(self, path: str, text: str, *, age: float = 10.0, below: Path | None = None) -> Path:
        """A person saves a file in the project's scope, ``age`` seconds ago."""
        full = (below or self.shop) / path
        full.parent.mkdir(parents=True, exist_ok=True)
        full.write_text(text, encoding="utf-8")
        aged(full, age)
        return full

    def committed(self, path: str, text: str, *, below: Path | None = None) -> Path:
        """A document that a person has committed already."""
        full = self.write(path, text, below=below)
        git(below or self.shop, "add", path)
        git(below or self.shop, "commit", "-qm", f"Write {path}", "--", path)
        return full


class Talk:
    """One conversation: what is said in it goes into the spool, as Claude Code's hooks would put it there."""

    def __init__(
        self, home: Home, session: str = SESSION, *, cwd: Path | str = "", flags: Sequence[str] = (),
        marks: Mapping[str, str] | None = None,
    ) -> None:  # fmt: skip
        self.home = home
        self.session = session
        self.cwd = str(cwd or home.project)
        self.flags = flags
        self.marks = marks
        self.prompt_id = ""

    def put(self, name: str, **fields: Any) -> str:
        """A recorded payload with some fields changed."""
        common = {"session_id": self.session, "cwd": self.cwd}
        ids = {"prompt_id": self.prompt_id} if "prompt_id" in payload(name) else {}
        return self.home.put(payload(name) | common | ids | fields, flags=self.flags, marks=self.marks)

    def start(self, source: str = "startup") -> str:
        return self.put("session_start.startup", source=source)

    def ask(self, text: str) -> str:
        """A person's prompt, which opens a turn."""
        self.prompt_id = f"prompt-{next(NUMBERS):08}"
        return self.put("user_prompt_submit", prompt=text)

    def call(self, tool: str, **given: Any) -> None:
        """A tool call and its result."""
        name, call = tool.lower(), f"toolu_{next(NUMBERS):08}"
        before = payload(f"pre_tool_use.{name}")["tool_input"] | given
        self.put(f"pre_tool_use.{name}", tool_input=before, tool_use_id=call)
        self.put(f"post_tool_use.{name}", tool_input=before, tool_use_id=call)

    def answer(self, text: str = "Done.") -> str:
        """The stop that closes the turn."""
        return self.put("stop", last_assistant_message=text)

    def turn(self, prompt: str, answer: str = "Done.") -> None:
        """A whole turn without calls."""
        self.ask(prompt)
        self.answer(answer)

    def land(self, prompt: str, answer: str = "Done.") -> str:
        """A whole turn, landed; its commit."""
        self.turn(prompt, answer)
        return self.home.land()[-1].commit


def aged(path: Path, age: float = 10.0) -> None:
    """Let a file, or a folder, have been changed some seconds ago."""
    then = time.time() - age
    os.utime(path, (then, then))


def log_of(folder: Path, rev: str = "HEAD") -> list[dict[str, Any]]:
    """Every line of every turn log at a revision, with the segments in order of their names."""
    names = git(folder, "ls-tree", "-r", "--name-only", "-z", rev, "record/").split("\0")
    data = "\n".join(git(folder, "show", f"{rev}:{name}") for name in sorted(names) if name)
    return turns.parse_lines(os.fsencode(data))[0]


def prompts_of(folder: Path, rev: str = "HEAD") -> list[str]:
    """What persons asked in every turn of a scope at a revision, in order."""
    return [line["text"] for line in log_of(folder, rev) if line["kind"] == "prompt"]


def subjects(folder: Path, rev: str = "HEAD") -> list[str]:
    """Subjects of all commits, newest first."""
    return git(folder, "log", "--format=%s", rev).splitlines()


def trailers(folder: Path, rev: str = "HEAD") -> dict[str, str]:
    """The trailers of a commit, as git reads them."""
    said = git(folder, "log", "-1", "--format=%(trailers:only,unfold)", rev)
    return dict(row.split(": ", 1) for row in said.splitlines() if row)


def segments(folder: Path) -> list[Path]:
    """The turn logs in a scope's folder."""
    return sorted(folder.glob("record/*/*/*.jsonl"))


def page_fields(folder: Path, session: str = SESSION) -> dict[str, str]:
    """The front matter of a session's page."""
    (page,) = folder.glob(f"sessions/*/*/{session}.md")
    head = page.read_text("utf-8").split("---\n")[1]
    return dict(row.split(": ", 1) for row in head.splitlines())
