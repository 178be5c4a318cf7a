"""The acts that are measured, each on a history: a client's hooks through the launcher, and searches."""

from __future__ import annotations

import json
from collections.abc import Sequence

from tests.bench.errors import BenchError
from tests.bench.histories import History, said
from tests.bench.measure import Act, Command
from tests.bench.stage import PACKAGE, Event, Said, python

SPOOL, START, STOP, PROMPT, SERVER = 0.6, 4.0, 7.0, 5.0, 1.2
SEARCH = {2_000: 6.0, 20_000: 6.0, 100_000: 10.0}
START_GROWTH, STOP_GROWTH = 1.3, 1.5

QUERIES = (
    "how does the http client read a chunked response",
    "surrogateescape",
    "thread lock acquire timeout",
    "ValueError: invalid literal",
    "parse a date in an email header",
    "os.path.join",
    "where do we close the selector of the event loop",
    "def _check_closed",
)
PROMPTS = (
    (
        "The email header parser fails on dates without a timezone. Please parse the date with the fallback that we agreed"
        " on before, and add a test for surrogateescape input."
    ),
    (
        "I think the http client still reads a chunked response wrongly when the last chunk is empty. Can you look at how"
        " we handled the trailer headers? I want the connection closed as well."
    ),
    (
        "Threads hang in queue.get when the worker dies. What did we decide about lock timeouts and daemon threads? Fix it"
        " the same way in concurrent.futures."
    ),
    (
        "Write a small command line tool that walks a directory tree and prints the size of every zipfile. Use argparse,"
        " and keep symbolic links out of it."
    ),
)
SMALL_TALK = ("ok, go on", "yes, please do it", "run the tests", "looks good, thanks")
_SIZES = {"prompt": 150, "read": 1400, "output": 1300, "edit": 550, "answer": 650}

# What a hook that searches would run: no site, no argparse, the answers' places on stdout.
_HOOK_SEARCH = """\
import sys
sys.path.append(sys.argv[1])
from neosian import projects, recall
store = projects.open_store(sys.argv[2], sys.argv[3])
for hit in recall.search(store, sys.argv[4], limit=20):
    print(hit.conversation, hit.turn, hit.snippet)
"""


class Hooks:
    """The hooks of a client on one history. Each leaves the spool empty, as it was found."""

    def __init__(self, history: History) -> None:
        self.history = history
        self.stage = history.stage
        # A session of our own for each run; the one long session goes on for ever.
        self.session = history.session if history.plan.one_session else history.words.id()

    def spool(self) -> Act:
        """A tool's result, which only needs to be safe."""

        def ready(_: int) -> Command:
            prompt_id = self.history.words.id()
            return self._command(self.stage.tool_event(self.session, prompt_id, self._said()))

        def check(_: bytes) -> None:
            if not self._emptied():
                raise BenchError("The launcher spooled nothing.")

        return Act("spool", "tool event into the spool", self.history.plan, SPOOL, ready, check)

    def start(self) -> Act:
        """The start of a session, which is told where the ones before it left off."""

        def check(told: bytes) -> None:
            if b"neosian" not in told or len(told) < 500:
                raise BenchError(f"The session was told: {told.decode('utf-8', 'replace')!r}")
            self._emptied()

        return Act(
            "start", "session start", self.history.plan, START,
            lambda _: self._command(self.stage.start(self.history.words.id())), check,
        )  # fmt: skip

    def prompt(self, name: str, prompts: Sequence[str], tells: bool) -> Act:
        """A person's prompt in a new session; ``tells``: whether memory has something to say to it."""

        def ready(number: int) -> Command:
            text = prompts[number % len(prompts)]
            return self._command(self.stage.prompt(self.history.words.id(), self.history.words.id(), text))

        def check(told: bytes) -> None:
            if (b"neosian" in told) is not tells:
                raise BenchError(f"With a prompt was told: {told.decode('utf-8', 'replace')!r}")
            self._emptied()

        return Act("prompt", name, self.history.plan, PROMPT, ready, check)

    def stop(self) -> Act:
        """The end of a turn whose other events are in the spool: one commit, and the index after it."""

        def ready(_: int) -> Command:
            prompt_id, words = self.history.words.id(), self._said()
            self.stage.play(self.stage.turn(self.session, prompt_id, words))
            return self._command(self.stage.stop(self.session, prompt_id, words))

        def check(_: bytes) -> None:
            if self._emptied():
                raise BenchError("A turn did not land.")

        return Act("stop", "stop", self.history.plan, STOP, ready, check)

    def _command(self, event: Event) -> Command:
        return Command(self.stage.hook(event.verb), self.stage.project, self.stage.environment, event.payload)

    def _said(self) -> Said:
        return said(self.history.words, _SIZES)

    def _emptied(self) -> int:
        waiting = self.stage.waiting()
        for path in waiting:
            path.unlink()
        return len(waiting)


class Searches:
    """Searches of one history by processes that begin with nothing in memory."""

    def __init__(self, history: History) -> None:
        self.history = history
        self.stage = history.stage
        self._found = 0

    def as_hook(self) -> Act:
        """What a hook would run."""
        store = self.stage.store
        argv = python("-I", "-S", "-c", _HOOK_SEARCH, str(PACKAGE), store.home, store.scope)
        return self._act("search, as a hook", argv)

    def as_command(self) -> Act:
        """What a person types."""
        argv = python("-m", "neosian", "search", "--scope", self.stage.store.scope)
        return self._act("neosian search", argv)

    def _act(self, name: str, argv: list[str]) -> Act:
        plan = self.history.plan
        return Act(
            "search", name, plan, SEARCH[plan.turns],
            lambda number: Command(
                [*argv, QUERIES[number % len(QUERIES)]], self.stage.project, self.stage.environment
            ),
            self._check,
        )  # fmt: skip

    def _check(self, said: bytes) -> None:
        if not said.strip():
            raise BenchError("A search found nothing.")


class Server:
    """The MCP server on one history, from its start to its first answer: what a client waits for."""

    def __init__(self, history: History) -> None:
        self.history = history

    def start(self) -> Act:
        """A handshake and a list of tools; then the client goes. Compared with importing the SDK alone."""
        stage = self.history.stage
        about = {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "bench", "version": "1"},
        }
        said = [
            {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": about},
            {"jsonrpc": "2.0", "method": "notifications/initialized"},
        ]
        given = b"".join(json.dumps(each).encode() + b"\n" for each in said)
        serve = Command(
            python("-m", "neosian", "mcp", "--scope", stage.store.scope),
            stage.project,
            stage.environment,
            given,
        )
        sdk = Command(python("-c", "import mcp.server.mcpserver"), stage.project, stage.environment)

        def check(answered: bytes) -> None:
            if b'"serverInfo"' not in answered:
                raise BenchError(f"The server answered: {answered.decode('utf-8', 'replace')!r}")

        return Act("mcp", "MCP server, start to first answer (in SDK imports)", self.history.plan, SERVER,
                   lambda _: serve, check, sdk)  # fmt: skip
