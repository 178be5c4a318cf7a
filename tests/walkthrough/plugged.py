"""The story of clients that load a plugin of ours: what it takes to play it, and what it must leave.

Each prompt is a process of its own, which goes on with the session of the one before; the model behind them speaks the
chat completions API.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from tests.walkthrough.fake_chat import ChatModel
from tests.walkthrough.fake_model import Call, Json, Request, Script, Step
from tests.walkthrough.harness import Report, Sandbox, told

API_KEY = "dummy-key-that-no-store-may-hold"
SESSION_SECONDS = 240


class Act(NamedTuple):
    """A call that the model makes in session 1, and what the record is to say of its end."""

    tool: str
    input: Json
    ok: bool = True


class Client(Protocol):
    """What a client's module says of it."""

    NAME: str
    PROGRAM: str
    HOOKS: str
    """Our plugin in the project."""
    SERVERS: str
    """The project's file that tells of MCP servers."""
    SERVER: str
    """What the names of our tools begin with."""

    def prepare(self, box: Sandbox, url: str) -> dict[str, str]:
        """Make the client ask the model at ``url``; what goes into its environment."""

    def ask(self, prompt: str, session: str) -> list[str]:
        """The command that asks a prompt, in a new session or in one that goes on."""

    def acts(self, project: Path) -> list[Act]:
        """The calls of the first prompt."""

    def more(self) -> Mapping[str, Sequence[Step]]:
        """What else the model says, in prompts of the client's own."""


class Run(NamedTuple):
    """One process of the client."""

    status: int | str  # exit status, or why there is none
    out: str
    err: str
    requests: list[Request]

    @property
    def trouble(self) -> str:
        return "" if self.status == 0 else f"exit {self.status}\n{self.out}\n{self.err}"


class Player:
    """The client, headless, in a sandbox."""

    def __init__(self, client: Client, binary: Path, box: Sandbox) -> None:
        self.client = client
        self.box = box
        self.script = story(client, box.project)
        (box.bin / client.PROGRAM).symlink_to(binary)  # installers ask for its version

    def run(self, prompt: str, session: str = "", command: Sequence[str] = ()) -> Run:
        """Ask one prompt; ``command`` is said instead of the client's own way to ask it."""
        with ChatModel(self.script) as model:
            more = self.client.prepare(self.box, f"{model.url}/v1")
            process = subprocess.Popen(
                [self.client.PROGRAM, *(command or self.client.ask(prompt, session))],
                executable=self.box.bin / self.client.PROGRAM,
                cwd=self.box.project,
                env=self.box.env(**more),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                encoding="utf-8",
                errors="replace",
                start_new_session=True,  # so that what it started can be ended with it
            )
            try:
                out, err = process.communicate(timeout=SESSION_SECONDS)
                status: int | str = process.returncode
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                out, err = process.communicate()
                status = f"none after {SESSION_SECONDS} s"
        return Run(status, out, err, [request for request in model.requests if request.asks_model])


class Exact(Script):
    """A model that goes by the whole of what was typed: what is told beside it may quote every other prompt."""

    def pick(self, body: Json) -> Step:
        if not body.get("tools"):
            return self.side
        messages = body.get("messages", [])
        for place in range(len(messages) - 1, -1, -1):
            if messages[place].get("role") != "user":
                continue
            for said in messages[place]["content"]:
                steps = self.replies.get(said["text"].strip())
                if steps is not None:
                    done = sum(1 for later in messages[place + 1 :] if later.get("role") == "assistant")
                    return steps[done] if done < len(steps) else self.fallback
        return self.fallback


# --- the story ---------------------------------------------------------------------------------

FIX = "Please fix the rounding bug in cart.py, tests first"
AGREE = "Good. Remember: money is rounded once, at the end"
ASK = "What did we change in the cart last time?"
CONVERT = "At which rate are invoices in Swiss francs converted?"
AGAIN = "And who said that invoices in Swiss francs are converted at that rate?"
THANKS = "ok, go on"
FIXED = "Decision: cart totals are rounded to 2 decimals with round(), not int(). Done ✅ 完了."
AGREED = "Agreed: money is rounded once, at the end."
ROUNDED = "We rounded the cart totals to 2 decimals."
RATE = "At the bank's noon rate."
NOTE = "# Currency\n\nInvoices are kept in euro cents; Swiss francs are converted by the bank's noon rate.\n"
SAVED = "/project/money/rounding.md"
SAVED_TEXT = '---\ndescription: "Money is rounded once, at the end"\n---\nCart totals too.\n'
LEFT_OFF = "where we left off"
SOURCE = "def total(prices):\n    return int(sum(prices))\n"


def story(client: Client, project: Path) -> Script:
    save = Call(f"{client.SERVER}memory_create", {"path": SAVED, "file_text": SAVED_TEXT})
    work = [Step(calls=(Call(act.tool, act.input),)) for act in client.acts(project)]
    return Exact(
        {
            FIX: [*work, Step(FIXED)],
            AGREE: [Step(calls=(save,)), Step(AGREED)],
            ASK: [Step(ROUNDED)],
            CONVERT: [Step(RATE)],
            AGAIN: [Step("A note in the project's memory.")],
            THANKS: [Step("I go on.")],
            **client.more(),
        }
    )


def install(player: Player, report: Report) -> None:
    """Our own verbs, twice."""
    client, box = player.client, player.box
    for verb, name in (("record", client.HOOKS), ("mcp", client.SERVERS)):
        command = (verb, "install", "--client", client.NAME)
        printed = box.neosian(*command)
        file = box.project / name
        report.check(f"{verb} install prints, and writes nothing", not file.exists(), told(printed))
        done = box.neosian(*command, "--write")
        report.need(f"{verb} install writes {name}", done.returncode == 0 and file.exists(), told(done))
        written = file.read_bytes()
        again = box.neosian(*command, "--write")
        same = again.returncode == 0 and file.read_bytes() == written
        report.check(f"{verb} install changes no byte the second time", same, told(again))


def first_session(player: Player, report: Report) -> str:
    """Two prompts, tools, two failures, a note saved over MCP; the session's id."""
    fix = player.run(FIX)
    report.need("session 1 ran to its end", not fix.trouble and FIXED in fix.out, fix)
    sessions = player.box.neosian_json("sessions") or []
    report.need("session 1 is there", len(sessions) == 1, sessions)
    session = str(sessions[0]["conversation"])
    agree = player.run(AGREE, session)
    report.need("session 1 went on", not agree.trouble and AGREED in agree.out, agree)
    tools = {tool["function"]["name"] for tool in (agree.requests[0].body or {})["tools"]}
    core = f"{player.client.SERVER}memory_search"
    report.check("the model has the core tools at hand", core in tools, sorted(tools))
    return session


def second_session(player: Player, report: Report) -> None:
    """What a new session is told at its first prompt."""
    ask = player.run(ASK)
    report.need("session 2 ran to its end", not ask.trouble and ROUNDED in ask.out, ask)
    text = ask.requests[0].text()
    for what, words in (
        ("the heading", LEFT_OFF),
        ("session 1's prompt", FIX),
        ("its answer", FIXED),
        ("the note that was saved in session 1", f"- {SAVED}: Money is rounded once, at the end"),
    ):
        report.check(f"session 2's first request holds {what}", words.casefold() in text.casefold(), text)
    report.check("a start is told once", text.count("neosian keeps the memory of") == 1, text)


def third_session(player: Player, report: Report) -> None:
    """A person writes a note; a prompt that it answers brings it to the model, and only once."""
    box = player.box
    note = Path(box.neosian("path").stdout.strip()) / "project" / "currency.md"
    note.parent.mkdir(exist_ok=True)
    note.write_text(NOTE, encoding="utf-8")
    convert = player.run(CONVERT)
    report.need("session 3 ran to its end", not convert.trouble and RATE in convert.out, convert)
    text = convert.requests[0].text()
    held = "/project/project/currency.md (" in text and "noon rate" in text
    report.check("what is recalled with a prompt reaches the model", held, text)
    newest = (box.neosian_json("sessions") or [{}])[0].get("conversation", "")
    given = box.neosian_json("replay", f"{newest}#1") or []
    events = [line["event"] for line in given]
    report.check("replay tells what the agent was given", events == ["start", "prompt"], given)
    words = given[-1]["text"].strip() if given else "nothing"
    report.check("word for word", words in text, given)
    runs = [player.run(prompt, newest) for prompt in (AGAIN, THANKS)]
    trouble = [run for run in runs if run.trouble]
    report.need("session 3 went on", not trouble, trouble)
    once = runs[-1].requests[-1].text().count("converted by the bank's noon rate")
    report.check("no later prompt repeats it", once == 1, runs[-1].requests[-1].text())


def check_record(player: Player, session: str, report: Report, more: Sequence[str] = ()) -> None:
    """What session 1 left in git: turns, tools, failures, answers; ``more`` kinds of lines; a clean repository."""
    client, box = player.client, player.box
    store = Path(box.neosian("path").stdout.strip())
    lines = turn_lines(store, session)
    prompts = [(line["turn"], line["text"]) for line in lines if line["kind"] == "prompt"]
    report.check("session 1 landed as two turns", prompts == [(1, FIX), (2, AGREE)], prompts)
    heads = [(line["turn"], line["state"], line["client"]) for line in lines if line["kind"] == "turn"]
    done = [(1, "done", client.NAME), (2, "done", client.NAME)]
    report.check("both turns are done", heads == done, heads)
    events = [line["event"] for line in lines if line["kind"] == "session"]
    report.check("how it began is told", events[:1] == ["start"], events)
    calls = [(line["call"], line["tool"]) for line in lines if line["kind"] == "tool_call"]
    ends = {line["call"]: line["ok"] for line in lines if line["kind"] == "tool_result"}
    wanted = [(act.tool, act.ok) for act in client.acts(box.project)]
    wanted.append((f"{client.SERVER}memory_create", True))
    seen = [(tool, ends.get(call)) for call, tool in calls]
    report.check("its calls are there, in order, each with its end", seen == wanted, seen)
    answers = [line["text"] for line in lines if line["kind"] == "answer"]
    report.check("the answers are whole", answers == [FIXED, AGREED], answers)
    kinds = {line["kind"] for line in lines}
    report.check("what else it can tell is there", set(more) <= kinds, sorted(kinds))
    fsck = box.git("fsck", "--strict", folder=store)
    report.check("git fsck --strict has nothing to say", fsck.returncode == 0 and not fsck.stdout, told(fsck))
    status = box.git("status", "--porcelain", folder=store)
    report.check("git status is clean", status.returncode == 0 and not status.stdout, told(status))
    held = (store / SAVED.removeprefix("/project/")).is_file()
    report.check("the note it saved over MCP is there", held)


def turn_lines(store: Path, session: str) -> list[dict[str, Any]]:
    """The lines of one session's turns."""
    logs = [[json.loads(line) for line in log.open("rb")] for log in sorted(store.glob("record/**/*.jsonl"))]
    return [line for log in logs for line in log if log[0]["session"] == session]


def check_traces(player: Player, report: Report) -> None:
    """Nothing waits, nothing went wrong unseen, and the client's key is nowhere."""
    memory = player.box.memory
    waiting = list((memory / "spool" / "new").glob("*"))
    report.check("no event waits in the spool", not waiting, waiting)
    log = memory / "log" / "neosian.log"
    said = log.read_text(encoding="utf-8", errors="replace") if log.exists() else ""
    report.check("the hooks logged no trouble", not said, said[-2000:])
    holding = [path for path in memory.rglob("*") if path.is_file() and API_KEY.encode() in path.read_bytes()]
    report.check("the client's key is in no file", not holding, holding)


def switched_off(player: Player, report: Report) -> None:
    """Where neosian is switched off or taken away the client works on, and nothing is kept."""
    (player.box.memory / "off").touch()
    before = sorted(player.box.memory.rglob("*"))
    run = player.run(ASK)
    said = run.requests[0].text() if run.requests else ""
    report.check(
        "switched off, the client works and is told nothing", not run.trouble and LEFT_OFF not in said, run
    )
    report.check("and nothing is kept", sorted(player.box.memory.rglob("*")) == before)
    (player.box.memory / "off").unlink()


def uninstall(player: Player, report: Report) -> None:
    """Nothing of ours stays in the project or in the client's home."""
    client, box = player.client, player.box
    for verb, name in (("record", client.HOOKS), ("mcp", client.SERVERS)):
        done = box.neosian(verb, "uninstall", "--client", client.NAME, "--write")
        file = box.project / name
        gone = (
            not file.exists() or b"neosian" not in file.read_bytes()
        )  # a client may have written there since
        report.check(f"{verb} uninstall takes us out of {name}", gone, told(done))
    files = (path for path in box.project.rglob("*") if path.is_file())
    left = [path for path in files if b"neosian" in path.read_bytes()]
    report.check("no file of the project speaks of neosian", not left, left)
    run = player.run(THANKS)
    report.check("the client works as before", not run.trouble, run)
