"""The story that most clients are played through: two sessions, and what they must leave.

Session 1 is asked for a change, with calls that work and calls that do not, and then to save a note over MCP. A person
writes a note by hand. Session 2 is a process of its own: its first request must hold where session 1 left off, and the
note that its prompt brings to mind.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from tests.walkthrough.fake_model import Call, FakeModel, Request, Script, Step
from tests.walkthrough.harness import HookRun, Report, Sandbox, status_row, told

FIX = "Please fix the rounding bug in cart.py, tests first"
AGREE = "Good. Remember: money is rounded once, at the end"
CONVERT = "At which rate are invoices in Swiss francs converted?"
FIXED = "Decision: cart totals are rounded to 2 decimals with round(), not int(). Done ✅ 完了."
AGREED = "Agreed: money is rounded once, at the end."
RATE = "At the bank's noon rate."
NOTE = "# Currency\n\nInvoices are kept in euro cents; Swiss francs are converted by the bank's noon rate.\n"
SAVED = "/project/money/rounding.md"
SAVED_TEXT = '---\ndescription: "Money is rounded once, at the end"\n---\nCart totals too.\n'
LEFT_OFF = "where we left off"
SERVER = "neosian-memory"


class Act(NamedTuple):
    """One call of session 1, and what the record must hold of it."""

    call: Call
    tool: str
    """The tool's name in the client's payloads."""
    ok: bool | None
    text: str = ""
    """Part of what came back."""


class Played(NamedTuple):
    """A session of the client: one run after another, each asked one prompt."""

    trouble: str
    """Why it did not go as scripted; "" when it did."""
    requests: list[Request]


class Client(Protocol):
    """What the story needs of a client."""

    NAME: str
    version: str

    def model(self, script: Script) -> FakeModel:
        """A model that speaks the client's API."""

    def acts(self, project: Path) -> Sequence[Act]:
        """Calls of session 1: at least one that works, one that writes a file, one that fails."""

    def saving(self, path: str, text: str) -> Sequence[Act]:
        """The call of our `memory_create` over MCP, after others where the client needs time for that."""

    def prepare(self, url: str) -> None:
        """Tell the client of a model's address, before a session."""

    def session(self, *prompts: str) -> str:
        """Have a new session, asked each prompt after the answer to the one before; what went wrong, "" for nothing."""


class Story:
    """One client in a sandbox, played through.

    ``settings`` are the files that the installers change, with what stands in them before (None: no file). Without
    ``answers`` the client tells none.
    """

    def __init__(
        self, client: Client, box: Sandbox, report: Report, settings: dict[Path, str | None], *, answers: bool = True
    ) -> None:  # fmt: skip
        self.client = client
        self.box = box
        self.report = report
        self.settings = settings
        self.answers = [FIXED, AGREED] if answers else []
        self.acts = client.acts(box.project)
        self.saving = client.saving(SAVED, SAVED_TEXT)

    def play(self) -> None:
        self.install()
        self.box.listen()
        self.first()
        self.second()
        self.traces()
        self.uninstall()

    # Installing and back

    def install(self, *level: str) -> None:
        for path, text in self.settings.items():
            if text is not None:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
        done = self._setup(*level)
        self.report.need("setup writes hooks and server", done.returncode == 0, told(done))
        written = self._files()
        again = self._setup(*level)
        same = again.returncode == 0 and self._files() == written
        self.report.check("setting up twice changes no byte", same, told(again))
        doctor = self.box.neosian("doctor")
        self.report.check("the doctor finds nothing wrong", doctor.returncode == 0, told(doctor))
        row = status_row(self.box, self.client.NAME)
        seen = (row.get("installed"), row.get("state"), bool(row.get("hooks")))
        self.report.check("status: installed, never fired", seen == (True, "never fired", True), row)

    def uninstall(self, *level: str) -> None:
        done = self._setup("--uninstall", *level)
        before = {path: text.encode() if text is not None else None for path, text in self.settings.items()}
        self.report.check("uninstall leaves every file as it was", self._files() == before, told(done))
        left = [path for path in self.settings for path in path.parent.glob("*neosian*")]
        self.report.check("and none of ours", not left, left)

    def _setup(self, *words: str) -> Any:
        """`neosian setup` of this client, for the project unless ``--user`` is among the words."""
        level = () if "--user" in words else ("--project",)
        more = [word for word in words if word != "--user"]
        return self.box.neosian("setup", "--client", self.client.NAME, *level, *more, "--write")

    def _files(self) -> dict[Path, bytes | None]:
        return {path: path.read_bytes() if path.exists() else None for path in self.settings}

    # The sessions

    def first(self) -> None:
        steps = [Step(calls=(act.call,)) for act in self.acts]
        script = Script(
            {
                FIX: [*steps, Step(FIXED)],
                AGREE: [*(Step(calls=(act.call,)) for act in self.saving), Step(AGREED)],
            }
        )
        self.played("session 1", script, FIX, AGREE)
        self.recorded()

    def second(self) -> None:
        note = self.box.store / "project" / "currency.md"
        note.parent.mkdir(exist_ok=True)
        note.write_text(NOTE, encoding="utf-8")
        then = note.stat().st_mtime - 10
        os.utime(note, (then, then))  # what was saved this very moment is left for the next landing
        earlier = len(self.box.hook_runs())
        requests = self.played("session 2", Script({CONVERT: [Step(RATE)]}), CONVERT)
        self.report.need("session 2 asked the model", bool(requests))
        text = requests[0].text()
        for what, words in (
            ("where session 1 left off", LEFT_OFF),
            ("its prompt", FIX),
            ("its answer", FIXED if self.answers else ""),
            ("the note that it saved", SAVED),
            ("the document that the prompt brings to mind", "/project/project/currency.md"),
            ("and what stands in it", "bank's noon rate"),
        ):
            held = words.casefold() in text.casefold()
            told_it = "\n".join(run.stdout for run in self.box.hook_runs()[earlier:])
            self.report.check(f"session 2's first request holds {what}", held, told_it)

    def played(self, name: str, script: Script, *prompts: str) -> list[Request]:
        """A session; the requests of its rounds."""
        earlier = len(self.box.hook_runs())
        with self.client.model(script) as model:
            self.client.prepare(model.url)
            trouble = self.client.session(*prompts)
        self.report.need(f"{name} ran to its end", not trouble, trouble)
        self.hooks(name, self.box.hook_runs()[earlier:])
        return [request for request in model.requests if request.asks_model]

    def hooks(self, name: str, runs: list[HookRun]) -> None:
        bad = [run for run in runs if run.status != 0 or run.stderr]
        self.report.check(f"{name}: all {len(runs)} hooks ended with 0", bool(runs) and not bad, bad)
        loud = [run for run in runs if run.stdout and run.verb not in ("start", "prompt")]
        self.report.check(f"{name}: only start and prompt print anything", not loud, loud)

    # What they left

    def recorded(self) -> None:
        report, store = self.report, self.box.store
        report.need("the project has a store", (store / ".git").is_dir(), store)
        lines = [
            json.loads(line) for path in sorted(store.glob("record/**/*.jsonl")) for line in path.open("rb")
        ]
        prompts = [(line["turn"], line["text"]) for line in lines if line["kind"] == "prompt"]
        report.check("session 1 landed as two turns", prompts == [(1, FIX), (2, AGREE)], prompts)
        turns = [(line["state"], line["client"]) for line in lines if line["kind"] == "turn"]
        report.check("both are done, and this client's", turns == [("done", self.client.NAME)] * 2, turns)
        self._calls(lines)
        answers = [line["text"] for line in lines if line["kind"] == "answer"]
        report.check("the answers are whole", answers == self.answers, answers)
        by = self.box.git(
            "log", "-1", "--format=%an", "--", SAVED.removeprefix("/project/"), folder=store
        ).stdout
        mine = by.strip().removeprefix("mcp:").startswith(self.client.NAME)
        report.check("the note that it saved over MCP is a commit of this client", mine, by)

    def _calls(self, lines: list[dict[str, Any]]) -> None:
        ends = {line["call"]: line for line in lines if line["kind"] == "tool_result"}
        calls = [
            (line["tool"], ends.get(line.get("call"), {})) for line in lines if line["kind"] == "tool_call"
        ]
        acts = [*self.acts, *self.saving]
        seen = [(tool, end.get("ok")) for tool, end in calls]
        wanted = [(act.tool, act.ok) for act in acts]
        self.report.check("its calls are there in order, each with what is told of it", seen == wanted, seen)
        texts = [end.get("text", "") for _, end in calls]
        held = len(texts) == len(acts) and all(
            act.text in text for act, text in zip(acts, texts, strict=True)
        )
        self.report.check("and with what came back", held, texts)

    def traces(self) -> None:
        """Nothing waits, nothing went wrong unseen, and the repository is whole."""
        report, box = self.report, self.box
        waiting = list((box.memory / "spool" / "new").glob("*"))
        report.check("no event waits in the spool", not waiting, waiting)
        log = box.memory / "log" / "neosian.log"
        said = log.read_text(encoding="utf-8", errors="replace") if log.exists() else ""
        report.check("the hooks logged no trouble", not said, said[-2000:])
        fsck = box.git("fsck", "--strict", folder=box.store)
        report.check(
            "git fsck --strict has nothing to say", fsck.returncode == 0 and not fsck.stdout, told(fsck)
        )
        status = box.git("status", "--porcelain", folder=box.store)
        report.check("git status is clean", not status.stdout, told(status))
        row = status_row(self.box, self.client.NAME)
        report.check(
            "status: heard, and its last turn landed", str(row.get("last")).endswith(", landed"), row
        )
