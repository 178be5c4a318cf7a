"""Asking the person's own Claude Code, which is signed in already: `claude -p`, without tools, settings or hooks.

Seen with 2.1.197 and 2.1.332: `--safe-mode` leaves hooks, CLAUDE.md, skills and MCP servers out, `--setting-sources ""`
the settings. A file named with `@` in a prompt is read and sent along even where there is no tool to read it with, and
a session's text names files: that is switched off by a variable, and once more by a rule against reading. Errors come
as a result with exit 1, in JSON, their status in `api_error_status`.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Mapping
from typing import IO, Any

from neosian import own
from neosian.dream import engine, kept
from neosian.dream.engine import Answer, Asked, EngineError, Tool

DEFAULT_MODEL = "sonnet"

_DEADLINE = 900.0  # seconds
_GRACE = 3.0  # seconds between asking a process to end and ending it
_MOST = 32 << 20  # bytes of output that are read
_SYSTEM = "You keep the notes of a memory. You answer with one JSON object and with nothing else."
_UNREAD = {"permissions": {"deny": ["Read"]}}
# Marks of the session that started us: with them Claude Code takes itself for a child of it.
_NOT_OURS = (
    "CLAUDECODE", "CLAUDE_CODE_SESSION_ID", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_CHILD_SESSION", "CLAUDE_PID",
    "CLAUDE_CODE_MESSAGING_TOKEN", "CLAUDE_PROJECT_DIR", "CLAUDE_ENV_FILE", "CLAUDE_EFFORT", "AI_AGENT",
)  # fmt: skip
# Where the client's own installers put it: a timer's PATH mostly has none of these.
_PLACES = (
    "~/.local/bin/claude",
    "~/.claude/local/claude",
    "/usr/local/bin/claude",
    "/opt/homebrew/bin/claude",
)
_SPENT = ("usage limit", "session limit", "weekly limit", "limit reached", "credit balance", "spend limit")
_OUTSIDE = ("not logged in", "/login", "api key", "oauth token", "authentication")


class ClaudeCli:
    """An engine that is the person's own Claude Code. ``home`` has the secret by which the recorder knows it."""

    name = engine.CLAUDE_CLI

    def __init__(
        self, tool: Tool, home: str, environ: Mapping[str, str], *, model: str = "", deadline: float = _DEADLINE
    ) -> None:  # fmt: skip
        self.model = model or DEFAULT_MODEL
        self._tool = tool
        self._home = home
        self._environ = environ
        self._deadline = deadline
        self._program = _program(environ)
        self._said = ""  # the prompt that was answered last, and the answer

    def ask(self, asked: Asked, *, again: str = "") -> Answer:
        """The answer to a question, or a better one: see `engine.Engine`."""
        prompt = f"{self._said}\n\n{again}\n" if again else self._prompt(asked)
        said = self._result(asked, self._run(asked, prompt))
        answer = self._read(said)
        self._said = f"{prompt}\n\nYour answer was:\n\n{answer.said}"
        return answer

    def close(self) -> None:
        """Nothing is held: each question is a process of its own."""

    def _prompt(self, asked: Asked) -> str:
        """The whole question on stdin: an argument could be read by every user of the machine."""
        secret = own.make_secret(self._home)
        schema = json.dumps(self._tool.schema)
        return (
            f"neosian {secret}\n\n{asked.system}\n\n{asked.prompt}\n\n"
            f"{self._tool.description}\n\nYou have no tools here. Instead of calling `{self._tool.name}`, answer with"
            f" its input alone: one JSON object by this schema, without a word before or behind it.\n\n{schema}\n"
        )

    # the process

    def _run(self, asked: Asked, prompt: str) -> tuple[int, str, str]:
        """Status, stdout and stderr of one run in an empty folder, all of its processes ended."""
        prefix = own.folder_prefix(own.make_secret(self._home))
        with (
            tempfile.TemporaryDirectory(prefix=prefix, ignore_cleanup_errors=True) as folder,
            # Files, not pipes: what a child of the client holds open would keep us waiting for the end of a pipe.
            tempfile.TemporaryFile() as given,
            tempfile.TemporaryFile() as out,
            tempfile.TemporaryFile() as err,
        ):
            given.write(prompt.encode("utf-8", "replace"))
            given.seek(0)
            status = self._wait(self._start(asked, folder, given, out, err))
            return status, _contents(out), _contents(err)

    def _start(
        self, asked: Asked, folder: str, given: IO[bytes], out: IO[bytes], err: IO[bytes]
    ) -> subprocess.Popen[bytes]:
        command = [
            self._program, "-p", "--output-format", "json", "--model", self.model, "--system-prompt", _SYSTEM,
            "--tools", "", "--safe-mode", "--setting-sources", "", "--settings", json.dumps(_UNREAD),
            "--strict-mcp-config", "--disable-slash-commands", "--no-session-persistence",
        ]  # fmt: skip
        try:
            return subprocess.Popen(
                command, cwd=folder, env=_environment(self._environ, asked), stdin=given, stdout=out, stderr=err,
                start_new_session=True,
            )  # fmt: skip
        except OSError as error:
            raise EngineError(
                engine.NO_CLIENT, f"{self._program} cannot be run: {error.strerror}.", _HINT
            ) from None

    def _wait(self, client: subprocess.Popen[bytes]) -> int:
        try:
            return client.wait(self._deadline)
        except subprocess.TimeoutExpired:
            raise EngineError(
                engine.TIMEOUT, f"{self._program} did not answer within {self._deadline:.0f} s and was ended.", _HINT
            ) from None  # fmt: skip
        finally:
            _end(client)

    # its answer

    def _result(self, asked: Asked, ended: tuple[int, str, str]) -> dict[str, Any]:
        """The client's result, whose `is_error` is false."""
        status, out, err = ended
        try:
            said = kept.loads(out)
        except ValueError:
            said = None
        if not isinstance(said, dict):
            raise self._silent(asked, status, out, err)
        if said.get("is_error") or said.get("subtype") != "success" or status != 0:
            raise self._trouble(asked, said)
        return said

    def _silent(self, asked: Asked, status: int, out: str, err: str) -> EngineError:
        """Why there is no result at all."""
        told = self._told(err or out, asked)
        if "unknown option" in told:
            return EngineError(
                engine.NO_CLIENT, f"{self._program} is too old for the dream: {told}.", "claude update"
            )
        ended = f"ended with {status}" if status >= 0 else f"was ended by signal {-status}"
        said = f": {told}" if told else ""
        if status == 0:
            return EngineError(
                engine.UNREADABLE, f"The answer of {self._program} is not the JSON it should be{said}.", _HINT
            )
        return EngineError(engine.NO_CLIENT, f"{self._program} {ended}{said}.", _HINT)

    def _trouble(self, asked: Asked, said: Mapping[str, Any]) -> EngineError:
        """What an error in the client's own words means."""
        told = self._told(str(said.get("result") or said.get("errors") or said.get("subtype") or ""), asked)
        low, status = told.lower(), said.get("api_error_status")
        because = f": {told}" if told else ""
        if any(word in low for word in _SPENT):
            return EngineError(engine.QUOTA, f"Claude Code may answer no more for now{because}.", _HINT)
        if status in (401, 403):
            return EngineError(
                engine.KEY_REFUSED, f"Claude Code is not let in{because}.", "claude auth login"
            )
        if status is None and any(word in low for word in _OUTSIDE):
            return EngineError(engine.NO_KEY, f"Claude Code is not signed in{because}.", "claude auth login")
        if said.get("terminal_reason") == "prompt_too_long" or "too long" in low:
            return EngineError(
                engine.TOO_LONG, f"The question is longer than {self.model} can read{because}."
            )
        if "output token maximum" in low:
            return EngineError(engine.TRUNCATED, f"The answer was longer than it may be{because}.")
        if status in (408, 409, 429) or (isinstance(status, int) and status >= 500):
            return EngineError(engine.OVERLOADED, f"The model is overloaded or out of order{because}.", _HINT)
        if status is not None:
            return EngineError(
                engine.REQUEST,
                f"Claude Code cannot ask this ({' '.join(str(status)[:40].split())}){because}.",
                _HINT,
            )
        if "connect" in low or "timed out" in low:
            return EngineError(engine.UNREACHABLE, f"Claude Code cannot reach its model{because}.", _HINT)
        return EngineError(engine.UNREADABLE, f"Claude Code gave no answer{because}.", _HINT)

    def _told(self, text: str, asked: Asked) -> str:
        """What the client said, fit for a person."""
        secrets = (self._environ.get(name, "") for name in _SECRETS)
        return engine.of_the_server(text, asked, own.secret(self._home), *secrets)

    def _read(self, said: Mapping[str, Any]) -> Answer:
        usage = said.get("usage")
        counts = usage if isinstance(usage, dict) else {}
        read = sum(kept.count(counts.get(key)) for key in _READ)
        written = kept.count(counts.get("output_tokens"))
        stop = str(said.get("stop_reason") or "")
        text = said.get("result")
        trouble = {
            "refusal": (engine.REFUSED, f"{self.model} refused to answer."),
            "max_tokens": (engine.TRUNCATED, "The answer was longer than it may be; nothing of it is used."),
        }.get(stop)
        if trouble is None and not (isinstance(text, str) and text.strip()):
            trouble = (engine.UNREADABLE, "The answer of Claude Code is empty.")
        if trouble is not None:
            raise EngineError(*trouble, input_tokens=read, output_tokens=written)
        models = said.get("modelUsage")
        model = next(iter(models), self.model) if isinstance(models, dict) else self.model
        return Answer(text, read, written, str(model), stop)


_HINT = "neosian docs engines"
_SECRETS = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN")
_READ = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")


def _program(environ: Mapping[str, str]) -> str:
    """The client's program: the first on the PATH (a folder that depends on where we are is no place), else where its
    installers put it. Raises `EngineError`."""
    folders = [folder for folder in environ.get("PATH", "").split(os.pathsep) if os.path.isabs(folder)]
    found = shutil.which("claude", path=os.pathsep.join(folders))
    if found:
        return found
    for place in _PLACES:
        path = os.path.expanduser(place)
        if os.access(path, os.X_OK):
            return path
    raise EngineError(
        engine.NO_CLIENT, "There is no `claude` on the PATH, which the engine claude-cli asks.",
        "neosian dream --engine rules",
    )  # fmt: skip


def _environment(environ: Mapping[str, str], asked: Asked) -> dict[str, str]:
    """The person's environment with our hooks off and nothing that would come between question and answer."""
    kept = {name: value for name, value in environ.items() if name not in _NOT_OURS}
    return kept | {
        "NEOSIAN_OFF": "1",
        "CLAUDE_CODE_DISABLE_ATTACHMENTS": "1",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "CLAUDE_CODE_MAX_OUTPUT_TOKENS": str(asked.max_tokens),
        "CLAUDE_CODE_MAX_RETRIES": environ.get("CLAUDE_CODE_MAX_RETRIES", "3"),
        "DISABLE_AUTOUPDATER": "1",
    }


def _end(client: subprocess.Popen[bytes]) -> None:
    """End the client and all that it left behind, which is in a process group of its own."""
    if not hasattr(os, "killpg"):  # pragma: no cover - Windows, not verified
        client.kill()
        client.wait()
        return
    running = client.poll() is None
    _signal(client, signal.SIGTERM)
    if running:
        try:
            client.wait(_GRACE)
        except subprocess.TimeoutExpired:
            pass
    _signal(client, signal.SIGKILL)
    client.wait()


def _signal(client: subprocess.Popen[bytes], number: int) -> None:
    try:
        os.killpg(client.pid, number)
    except (ProcessLookupError, PermissionError):  # the group is gone, or all that is left of it has ended
        pass


def _contents(stream: IO[bytes]) -> str:
    stream.seek(0)
    return stream.read(_MOST).decode("utf-8", "replace")
