"""What every walkthrough needs: a throwaway machine, a client from npm, and a report.

Nothing of the person who runs it can be reached: each process gets an environment that is
written out here, with a home of its own, and every wait has an end.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Protocol

PACKAGE_ROOT = Path(__file__).resolve().parents[2]  # where `import neosian` works
NODE = "22"  # the newest that a client here asks for
TRIES = 3  # of an install: registries fail now and then
PAUSE_SECONDS = 2  # and more before each further try
INSTALL_SECONDS = 300
COMMAND_SECONDS = 240  # after which a command hangs


class UnavailableError(Exception):
    """The client cannot be installed here: nothing was shown, good or bad."""


class BrokenOffError(Exception):
    """The rest of the walkthrough would make no sense; the report already says why."""


class Row(NamedTuple):
    """What a client can be told and can tell, in the words of the table in docs/clients.md."""

    start: str
    """How a session is told what it begins with."""
    prompt: str
    """How it is told what a prompt brings to mind."""
    results: str
    """What it tells of a call that went well."""
    failures: str
    """What it tells of one that failed."""
    answer: str
    """Where the answer comes from."""
    mcp: str
    """Whether its model has our tools."""


class Scenario(Protocol):
    """One client's module: how to get it, and the story that is played with it."""

    VERSION: str
    ROW: Row | None
    """What the story shows of the client when every check holds; None where it is about no single one."""

    def obtain(self, version: str, cache: Path) -> Path:
        """The client's executable. Raises UnavailableError."""

    def walk(self, client: Path, version: str, box: Sandbox, report: Report) -> None:
        """Play the story and check what it left. Raises BrokenOffError."""


class Report:
    """The checks so far, each printed as it is made."""

    def __init__(self) -> None:
        self.passed = 0
        self.failed = 0

    def check(self, what: str, good: bool, otherwise: object = "") -> bool:
        """Count one check; ``otherwise`` is what was seen instead."""
        self.passed += good
        self.failed += not good
        print(f"  {'ok  ' if good else 'FAIL'}  {what}", flush=True)
        if not good and str(otherwise):
            print("        " + str(otherwise).rstrip().replace("\n", "\n        "), flush=True)
        return good

    def need(self, what: str, good: bool, otherwise: object = "") -> None:
        """A check without which the later ones mean nothing."""
        if not self.check(what, good, otherwise):
            raise BrokenOffError(what)

    @property
    def good(self) -> bool:
        return self.passed > 0 and not self.failed

    def __add__(self, other: Report) -> Report:
        both = Report()
        both.passed, both.failed = self.passed + other.passed, self.failed + other.failed
        return both

    def __str__(self) -> str:
        return f"{self.passed} passed, {self.failed} failed"


class Sandbox:
    """A throwaway home and git project, gone at the end unless it is to be kept."""

    def __init__(self, keep: bool = False) -> None:
        self.keep = keep
        self.root = Path(tempfile.mkdtemp(prefix="neosian-walk-")).resolve()
        self.home = self.root / "home"
        self.project = self.root / "shop"
        self.bin = self.root / "bin"  # first in PATH: the client by its usual name
        self.logs = self.root / "logs"
        for folder in (self.home, self.project, self.bin, self.logs):
            folder.mkdir()
        identity = "[user]\n\tname = Sam Keeper\n\temail = sam@example.com\n[init]\n\tdefaultBranch = main\n"
        (self.home / ".gitconfig").write_text(identity, encoding="utf-8")
        self.git("init", "--quiet")
        # A client starts our command by name, as where it is installed.
        command = f'#!/bin/sh\nPYTHONPATH={shlex.quote(str(PACKAGE_ROOT))} exec {shlex.quote(sys.executable)} -m neosian "$@"\n'
        (self.bin / "neosian").write_text(command, encoding="utf-8")
        (self.bin / "neosian").chmod(0o755)

    def __enter__(self) -> Sandbox:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.keep:
            print(f"kept {self.root}")
        else:
            shutil.rmtree(self.root, ignore_errors=True)

    @property
    def memory(self) -> Path:
        """The neosian home that our hooks use by themselves."""
        return self.home / ".neosian"

    @property
    def store(self) -> Path:
        """The folder of the project's scope."""
        return Path(self.neosian("path").stdout.strip())

    def env(self, **more: str) -> dict[str, str]:
        """The whole environment of a process in here."""
        return {
            "PATH": f"{self.bin}{os.pathsep}{os.environ.get('PATH', os.defpath)}",
            "HOME": str(self.home),
            "TMPDIR": tempfile.gettempdir(),
            "LANG": "C.UTF-8",
            "TERM": "dumb",
            "SHELL": "/bin/sh",
            **more,
        }

    def run(self, *command: str, **more: str) -> subprocess.CompletedProcess[str]:
        """Run a command in the project; ``more`` goes into its environment."""
        try:
            return subprocess.run(
                command,
                cwd=self.project,
                env=self.env(**more),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                encoding="utf-8",
                errors="replace",
                timeout=COMMAND_SECONDS,
            )
        except subprocess.TimeoutExpired:
            return subprocess.CompletedProcess(command, 124, "", f"no end after {COMMAND_SECONDS} s")

    def listen(self) -> None:
        """Have each hook from now on leave what it was given and gave back, for `hook_runs`."""
        launcher = self.memory / "bin" / "neosian-hook"
        launcher.rename(launcher.with_name("listened-to"))
        kept = shlex.quote(str(self.logs))
        launcher.write_text(LISTENER.replace("@LOGS@", kept), encoding="utf-8")
        launcher.chmod(0o700)

    def hook_runs(self) -> list[HookRun]:
        """The hooks so far, in the order in which they began."""
        return [_hook_run(path) for path in sorted(self.logs.glob("hook-*")) if (path / "status").exists()]

    def save_payloads(self, file: Path) -> None:
        """Write what the hooks were given so far, a line each, as if it had been in a home of everybody's."""
        file.parent.mkdir(parents=True, exist_ok=True)
        lines = (json.dumps(run.payload, ensure_ascii=False) for run in self.hook_runs())
        text = "".join(f"{line}\n" for line in lines)
        for here, there in ((self.project, "/home/dev/shop"), (self.home, "/home/dev")):
            for shape in (str(here), "-".join(re.split(r"\W", str(here)))):
                text = text.replace(shape, there if shape == str(here) else there.replace("/", "-"))
        file.write_text(text, encoding="utf-8")

    def git(self, *args: str, folder: Path | None = None) -> subprocess.CompletedProcess[str]:
        return self.run("git", "-C", str(folder or self.project), *args)

    def neosian(self, *args: str) -> subprocess.CompletedProcess[str]:
        """Our own command, as somebody with a terminal in the project would type it."""
        return self.run(sys.executable, "-m", "neosian", *args, PYTHONPATH=str(PACKAGE_ROOT))

    def neosian_json(self, *args: str) -> Any:
        """What a verb prints with ``--json``; None when it failed or printed something else."""
        done = self.neosian(*args, "--json")
        try:
            return json.loads(done.stdout) if done.returncode == 0 else None
        except ValueError:
            return None


class HookRun(NamedTuple):
    """One hook process: the words of its line, and what went in and out."""

    words: list[str]
    payload: Any
    status: int
    stdout: str
    stderr: str

    @property
    def verb(self) -> str:
        return self.words[1]


# Stands where the launcher stood, and runs it.
LISTENER = """#!/bin/sh
kept=$(mktemp -d @LOGS@/hook-$(date +%s%N)-XXXXXX)
printf '%s\\n' "$@" >"$kept/words"
[ -t 0 ] || cat >"$kept/payload"
"${0%/*}/listened-to" "$@" <"$kept/payload" >"$kept/stdout" 2>"$kept/stderr"
status=$?
cat "$kept/stdout"
cat "$kept/stderr" >&2
echo $status >"$kept/status"
exit $status
"""


def _hook_run(folder: Path) -> HookRun:
    words, said, status, out, err = (
        (folder / name).read_text(encoding="utf-8", errors="replace")
        for name in ("words", "payload", "status", "stdout", "stderr")
    )
    try:
        payload = json.loads(said)
    except ValueError:
        payload = said
    return HookRun(words.splitlines(), payload, int(status), out, err)


def told(done: subprocess.CompletedProcess[str]) -> str:
    """A finished command in words, for a failed check."""
    return f"{' '.join(map(str, done.args))}\nexit {done.returncode}\n{done.stdout}{done.stderr}"


def status_row(box: Sandbox, client: str) -> dict[str, Any]:
    """What `neosian status` says of a client; it ends with 1 where something is wrong, and is read all the same."""
    found = json.loads(box.neosian("status", "--json").stdout or "{}")
    return next((row for row in found.get("clients", ()) if row["client"] == client), {})


def from_npm(package: str, version: str, cache: Path, executable: Callable[[Path], Path | None]) -> Path:
    """Install one version of an npm package under ``cache``, once, and return its executable.

    ``executable`` looks for it below ``node_modules``. The folder gets its final name when it is
    whole, so that a run that was killed leaves nothing half for the next one.
    """
    home = cache / version
    found = executable(home / "node_modules") if home.is_dir() else None
    if found:
        return found
    npm = shutil.which("npm")
    if npm is None:
        raise UnavailableError("there is no npm on this machine")
    cache.mkdir(parents=True, exist_ok=True)
    fresh = Path(tempfile.mkdtemp(prefix=f"{version}.", dir=cache))
    try:
        (fresh / "package.json").write_text('{"private": true}\n', encoding="utf-8")
        _npm_install(
            [npm, "install", "--no-audit", "--no-fund", "--loglevel=error", f"{package}@{version}"], fresh
        )
        if executable(fresh / "node_modules") is None:
            raise UnavailableError(f"{package}@{version} came without an executable for this machine")
        shutil.rmtree(home, ignore_errors=True)
        fresh.rename(home)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
    return executable(home / "node_modules") or home


def npm_command(package: str, version: str, cache: Path, command: str) -> Path:
    """A client of npm whose command is a script for node, which is fetched beside it: what it needs may be newer than
    what is here."""
    node(from_npm(package, version, cache, lambda modules: _there(modules / ".bin" / command)))
    return cache / version / "node_modules" / ".bin" / command


def node(command: Path) -> Path:
    """The node that `npm_command` fetched for a client."""
    clients = command.parents[4]
    return from_npm("node", NODE, clients / "node", lambda modules: _there(modules / "node" / "bin" / "node"))


def _there(path: Path) -> Path | None:
    return path if path.exists() else None


def _npm_install(command: Sequence[str], folder: Path) -> None:
    said = ""
    for attempt in range(1, TRIES + 1):
        time.sleep(PAUSE_SECONDS * (attempt - 1))
        print(f"  {' '.join(command[1:])} (try {attempt} of {TRIES})", flush=True)
        try:
            done = subprocess.run(
                command,
                cwd=folder,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=INSTALL_SECONDS,
            )
        except subprocess.TimeoutExpired:
            said = f"no end after {INSTALL_SECONDS} s"
            continue
        if done.returncode == 0:
            return
        said = (done.stderr or done.stdout).strip()
    raise UnavailableError(f"npm failed {TRIES} times: {said}")
