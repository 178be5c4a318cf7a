"""The story of a client that takes one prompt a process: two prompts in one session, then a new session.

What differs between clients stands in a `Walked`: how it is run, what its tools are called, what it can tell.
"""

from __future__ import annotations

import json
import re
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from tests.walkthrough.fake_model import Call, FakeModel, Request, Script, Step
from tests.walkthrough.harness import Report, Sandbox, from_npm, told

SERVER = "neosian-memory"
API_KEY = "dummy-key-that-no-store-may-hold"
NODE = "22"  # what the newest clients ask for
SECONDS = 120

FIX = "Please fix the rounding bug in cart.py, tests first"
AGREE = "Good. Remember: money is rounded once, at the end"
ASK = "At which rate are invoices in Swiss francs converted?"
LOOK = "I look around first."
FIXED = "Decision: cart totals are rounded to 2 decimals with round(), not int(). Done ✅ 完了."
AGREED = "Agreed: money is rounded once, at the end."
RATE = "At the bank's noon rate."
SAVED = "/project/money/rounding.md"
SAVED_TEXT = '---\ndescription: "Money is rounded once, at the end"\n---\nCart totals too.\n'
NOTE = "# Currency\n\nInvoices are kept in euro cents; Swiss francs are converted by the bank's noon rate.\n"
SOURCE = "def total(prices):\n    return int(sum(prices))\n"
# What stands in the settings before us, unusual spacing included, and must stand there after us.
SETTINGS = """{
    "hooks": {
        "SessionEnd": [{"hooks": [{"type": "command", "command": "true"}]}]
    }
}
"""
EDITED = {"old_string": "int(sum(prices))", "new_string": "round(sum(prices), 2)"}


class Walked(NamedTuple):
    """One client as the story needs it. ``fixed`` and ``agreed`` are the answers as they are told to hooks."""

    name: str
    title: str
    version_words: Sequence[str]
    prompt: Sequence[str]
    """What a process is started with, before the words of the prompt."""
    again: Sequence[str]
    """What goes on with the last session."""
    settings: str
    """The file of hooks and servers, in a project."""
    calls: Sequence[Call]
    """Of the first prompt: look, write, read, edit, and a command that fails with 3; each goes well but the last."""
    saves: Sequence[Call]
    """Of the second prompt: the note is saved with the last of them."""
    fixed: str
    model: type[FakeModel]
    environment: Mapping[str, str]
    url: str
    """The variable that holds the address of the model."""
    below: str = ""
    """What goes behind that address."""


class Round(NamedTuple):
    """One process of the client: how it ended, and what it asked the model."""

    done: subprocess.CompletedProcess[str]
    requests: list[Request]


def with_node(package: str, version: str, cache: Path, command: str) -> Path:
    """A client from npm whose command runs on a node that is fetched as well."""
    _node(cache)
    return from_npm(package, version, cache, lambda modules: _there(modules / ".bin" / command))


def node_beside(client: Path) -> Path:
    """The node that was fetched for a client below ``cache/client/version/node_modules/.bin``."""
    return _node(client.absolute().parents[3])


def _node(cache: Path) -> Path:
    return from_npm("node", NODE, cache.parent / "node", lambda modules: _there(modules / "node/bin/node"))


def _there(path: Path) -> Path | None:
    return path if path.exists() else None


def walk(client: Path, version: str, box: Sandbox, report: Report, walked: Walked) -> None:
    """Play the story and check what it left."""
    (box.bin / "node").symlink_to(node_beside(client))
    (box.bin / walked.version_words[0]).symlink_to(client)
    seen = re.search(r"\d+\.\d+\.\d+", box.run(*walked.version_words).stdout)
    report.need(f"the client is {version}", bool(seen) and seen[0] == version, seen)
    settings = box.project / walked.settings
    settings.parent.mkdir()
    settings.write_text(SETTINGS, encoding="utf-8")

    _install(box, walked, settings, report)
    first = [_round(box, walked, FIX), _round(box, walked, AGREE, again=True)]
    for what, one in zip(("session 1", "session 1, gone on with"), first, strict=True):
        report.need(f"{what} ran to its end", one.done.returncode == 0, told(one.done))
        _check_quiet(what, one, report)
    session = _check_record(box, walked, report)
    _second_session(box, walked, report)
    _check_traces(box, session, walked, report)
    _uninstall(box, walked, settings, report)


def _install(box: Sandbox, walked: Walked, settings: Path, report: Report) -> None:
    for act in ("record", "mcp"):
        words = (act, "install", "--client", walked.name, "--write")
        done = box.neosian(*words)
        report.need(f"{act} install writes the settings", done.returncode == 0, told(done))
        written = settings.read_bytes()
        again = box.neosian(*words)
        same = again.returncode == 0 and settings.read_bytes() == written
        report.check(f"{act} install twice changes no byte", same, told(again))
    held = json.loads(settings.read_bytes())
    report.check("hooks and server are in one file", {"hooks", "mcpServers"} <= held.keys(), sorted(held))


def _round(box: Sandbox, walked: Walked, prompt: str, *, again: bool = False) -> Round:
    """One process that is asked one prompt."""
    script = Script(
        {
            FIX: [*(Step(LOOK if not at else "", (call,)) for at, call in enumerate(walked.calls)), Step(FIXED)],
            AGREE: [*(Step("", (call,)) for call in walked.saves), Step(AGREED)],
            ASK: [Step(RATE)],
        }
    )
    with walked.model(script) as model:
        environment = {**walked.environment, walked.url: model.url + walked.below}
        done = box.run(*walked.prompt, *(walked.again if again else ()), "-p", prompt, **environment)
    _settle(box)
    return Round(done, [request for request in model.requests if request.asks_model])


def _settle(box: Sandbox) -> None:
    """Wait for the hooks of a session's end, for which no client waits."""
    until = time.monotonic() + 10
    while any((box.memory / "spool" / "new").glob("*")) and time.monotonic() < until:
        time.sleep(0.2)


def _check_quiet(what: str, one: Round, report: Report) -> None:
    lines = (one.done.stdout + one.done.stderr).splitlines()
    said = [line for line in lines if re.search("neosian:|hook.*(fail|error)|(fail|error).*hook", line, re.I)]
    report.check(f"{what}: the client has nothing to complain of", not said, "\n".join(said))


def _store(box: Sandbox) -> Path:
    return Path(box.neosian("path").stdout.strip())


def _lines(store: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for path in sorted(store.glob("record/**/*.jsonl")) for line in path.open("rb")]


def _check_record(box: Sandbox, walked: Walked, report: Report) -> str:
    """What session 1 left in git; its id."""
    store = _store(box)
    report.need("the project has a store", (store / ".git").is_dir(), store)
    lines = _lines(store)
    prompts = [(line["turn"], line["text"]) for line in lines if line["kind"] == "prompt"]
    report.check("session 1 landed as two turns", prompts == [(1, FIX), (2, AGREE)], prompts)
    states = [(line["turn"], line["state"]) for line in lines if line["kind"] == "turn"]
    report.check("both turns are done", states == [(1, "done"), (2, "done")], states)
    clients = {(line["client"], line["session"]) for line in lines if line["kind"] == "turn"}
    report.need("both are of one session of this client", len(clients) == 1, clients)
    calls = [(line["call"], line["tool"]) for line in lines if line["kind"] == "tool_call"]
    ends = {line["call"]: line["ok"] for line in lines if line["kind"] == "tool_result"}
    seen = [(tool, ends.get(call)) for call, tool in calls]
    wanted = [*((call.tool, True) for call in (*walked.calls, *walked.saves))]
    wanted[len(walked.calls) - 1] = (walked.calls[-1].tool, False)
    report.check("its calls are there, in order; the one that failed, and only that, is ok: false", seen == wanted, seen)
    texts = [line["text"] for line in lines if line["kind"] == "tool_result"]
    report.check("what the failed command said is there", any("1 failed" in text for text in texts), texts)
    answers = [line["text"] for line in lines if line["kind"] == "answer"]
    report.check("the answers are whole", answers == [walked.fixed, AGREED], answers)
    given = [line["event"] for line in lines if line["kind"] == "context"]
    report.check("what the session was told is kept", "start" in given, given)
    [(client, session)] = clients
    report.check("the turns are this client's", client == walked.name, client)
    by = box.git("log", "-1", "--format=%an", "--", SAVED.removeprefix("/project/"), folder=store).stdout.strip()
    report.check("the note it saved over MCP is a commit of this client", by.startswith(walked.name), by)
    return str(session)


def _second_session(box: Sandbox, walked: Walked, report: Report) -> None:
    """A person writes a note; a new session is told of the one before, and of the note with its prompt."""
    note = _store(box) / "project" / "currency.md"
    note.parent.mkdir(exist_ok=True)
    note.write_text(NOTE, encoding="utf-8")
    one = _round(box, walked, ASK)
    report.need("session 2 ran to its end", one.done.returncode == 0 and RATE in one.done.stdout, told(one.done))
    _check_quiet("session 2", one, report)
    text = one.requests[0].text()
    for what, words in (
        ("the heading", "where we left off"),
        ("session 1's prompt", FIX),
        ("its answer", FIXED),
        ("the note saved in it", "Money is rounded once, at the end"),
    ):
        report.check(f"session 2's first request holds {what}", words.casefold() in text.casefold(), text[:4000])
    recalled = "/project/project/currency.md (" in text and "noon rate" in text
    report.check("and the note that its prompt is about", recalled, text[-3000:])
    prompts = [line["text"] for line in _lines(_store(box)) if line["kind"] == "prompt"]
    report.check("none of that is recorded as a person's words", prompts[-1] == ASK, prompts)


def _check_traces(box: Sandbox, session: str, walked: Walked, report: Report) -> None:
    """Nothing waits, nothing went wrong unseen, git is sound, and the client's key is nowhere."""
    waiting = list((box.memory / "spool" / "new").glob("*"))
    report.check("no event waits in the spool", not waiting, waiting)
    log = box.memory / "log" / "neosian.log"
    said = log.read_text(encoding="utf-8", errors="replace") if log.exists() else ""
    report.check("the hooks logged no trouble", not said, said[-2000:])
    store = _store(box)
    fsck = box.git("fsck", "--strict", folder=store)
    report.check("git fsck --strict has nothing to say", fsck.returncode == 0 and not fsck.stdout, told(fsck))
    recall = box.neosian("recall", "1", "--conversation", session)
    whole = all(part in recall.stdout for part in (FIX, "1 failed", FIXED))
    report.check("recall tells the whole turn", recall.returncode == 0 and whole, told(recall))
    files = (path for path in box.memory.rglob("*") if path.is_file())
    holding = [path for path in files if API_KEY.encode() in path.read_bytes()]
    report.check("the client's key is in no file", not holding, holding)


def _uninstall(box: Sandbox, walked: Walked, settings: Path, report: Report) -> None:
    done = [box.neosian(act, "uninstall", "--client", walked.name, "--write") for act in ("record", "mcp")]
    now = settings.read_text(encoding="utf-8") if settings.exists() else ""
    report.check("uninstall gives the settings back as they were", now == SETTINGS, "\n".join(map(told, done)) + now)
