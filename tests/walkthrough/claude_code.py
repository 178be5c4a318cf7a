"""Claude Code, for real: two sessions with our hooks, and what they must leave.

Seen with 2.1.332: the platform package holds one native binary, which needs neither Node nor the
package's install step; ``-p`` with streamed input takes several prompts in one session; its output
stream tells of every hook process but those of SessionEnd, which come after the last result.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import threading
from pathlib import Path
from typing import Any, NamedTuple

from tests.walkthrough.dreaming import walk_dream, walk_engine
from tests.walkthrough.fake_model import Call, FakeModel, Request, Script, Step
from tests.walkthrough.harness import Report, Row, Sandbox, from_npm, status_row, told

NAME = "claude-code"
VERSION = "2.1.332"
PACKAGE = "@anthropic-ai/claude-code"
ROW = Row(
    start="told",
    prompt="told",
    results="`ok`, text, time",
    failures="`ok` is false",
    answer="with the stop",
    mcp="yes; skills are slash commands",
)
SERVER = "mcp__neosian-memory"
TOOLS = f"Bash,Read,Edit,Write,{SERVER}"
SESSION_SECONDS = 120
API_KEY = "dummy-key-that-no-store-may-hold"


def obtain(version: str, cache: Path) -> Path:
    return from_npm(PACKAGE, version, cache, _binary)


def _binary(modules: Path) -> Path | None:
    names = ("claude", "claude.exe")
    found = (path for name in names for path in modules.glob(f"@anthropic-ai/claude-code-*/{name}"))
    return next((path for path in found if os.access(path, os.X_OK)), None)


class HookRun(NamedTuple):
    """One hook process, as the client saw it."""

    event: str
    status: int
    stdout: str
    stderr: str


class Session(NamedTuple):
    """One run of the client: what it answered, and everything that a check may ask about."""

    id: str
    status: int | str  # exit status, or why there is none
    answers: list[str]
    hooks: list[HookRun]
    requests: list[Request]
    stderr: str

    def trouble(self, prompts: int) -> str:
        """Why the session did not go as scripted; "" when it did."""
        if self.status == 0 and len(self.answers) == prompts:
            return ""
        return f"exit {self.status}, {len(self.answers)} of {prompts} answers: {self.answers}\n{self.stderr}"


class ClaudeCode:
    """The client, headless, in a sandbox, with a scripted model."""

    def __init__(self, binary: Path, box: Sandbox, script: Script) -> None:
        self.binary = binary
        self.box = box
        self.script = script
        (box.bin / "claude").symlink_to(binary)  # installers ask `claude --version`

    def version(self) -> str:
        return self.box.run("claude", "--version", DISABLE_AUTOUPDATER="1").stdout.partition(" ")[0]

    def session(self, *prompts: str) -> Session:
        """A new session that is asked each prompt after the answer to the one before."""
        errors = self.box.logs / "claude.stderr"
        lines: list[dict[str, Any]] = []
        with FakeModel(self.script) as model, errors.open("w+", encoding="utf-8") as stderr:
            client = self._start(model.url, stderr.fileno())
            late = threading.Event()
            timer = threading.Timer(SESSION_SECONDS, _stop, [client, late])
            timer.start()
            try:
                _converse(client, list(prompts), lines)
                status = client.wait(SESSION_SECONDS)
            finally:
                timer.cancel()
                _stop(client)
            stderr.seek(0)
            said = stderr.read()
        return Session(
            id=next((line["session_id"] for line in lines if "session_id" in line), ""),
            status=f"none after {SESSION_SECONDS} s" if late.is_set() else status,
            answers=[line.get("result", "") for line in lines if _is_good_result(line)],
            hooks=[
                HookRun(line["hook_event"], line["exit_code"], line["stdout"], line["stderr"])
                for line in lines
                if line.get("subtype") == "hook_response"
            ],
            requests=[request for request in model.requests if request.asks_model],
            stderr=said,
        )

    def _start(self, url: str, stderr: int) -> subprocess.Popen[str]:
        stream = ["--input-format", "stream-json", "--output-format", "stream-json"]
        return subprocess.Popen(
            [self.binary, "-p", *stream, "--verbose", "--include-hook-events", "--allowedTools", TOOLS],
            cwd=self.box.project,
            env=self.box.env(
                ANTHROPIC_API_KEY=API_KEY,
                ANTHROPIC_BASE_URL=url,
                CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC="1",
                CLAUDE_CODE_MAX_RETRIES="1",
                DISABLE_AUTOUPDATER="1",
                DISABLE_ERROR_REPORTING="1",
                DISABLE_TELEMETRY="1",
            ),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=stderr,
            encoding="utf-8",
            start_new_session=True,  # so that what it started can be ended with it
        )


def _converse(client: subprocess.Popen[str], prompts: list[str], lines: list[dict[str, Any]]) -> None:
    """Ask, read to the result, ask the next; ``lines`` gets all that the client printed."""
    assert client.stdin is not None
    assert client.stdout is not None
    _ask(client, prompts.pop(0))
    for raw in client.stdout:
        line = json.loads(raw)
        lines.append(line)
        if line.get("type") == "result":
            if prompts:
                _ask(client, prompts.pop(0))
            else:
                client.stdin.close()


def _ask(client: subprocess.Popen[str], prompt: str) -> None:
    assert client.stdin is not None
    message = {"type": "user", "message": {"role": "user", "content": prompt}}
    client.stdin.write(json.dumps(message) + "\n")
    client.stdin.flush()


def _stop(client: subprocess.Popen[str], late: threading.Event | None = None) -> None:
    """End the client and its process group, if it still runs."""
    if client.poll() is None:
        if late:
            late.set()
        os.killpg(client.pid, signal.SIGKILL)


def _is_good_result(line: dict[str, Any]) -> bool:
    return line.get("type") == "result" and not line.get("is_error")


# --- the story ---------------------------------------------------------------------------------

FIX = "Please fix the rounding bug in cart.py, tests first"
AGREE = "Good. Remember: money is rounded once, at the end"
ASK = "What did we change in the cart last time?"
NOTE = "# Currency\n\nInvoices are kept in euro cents; Swiss francs are converted by the bank's noon rate.\n"
CONVERT = "At which rate are invoices in Swiss francs converted?"
AGAIN = "And who said that invoices in Swiss francs are converted at that rate?"
RATE = "At the bank's noon rate."
FIXED = "Decision: cart totals are rounded to 2 decimals with round(), not int(). Done ✅ 完了."
AGREED = "Agreed: money is rounded once, at the end."
MEMORY = "Claude Code (auto memory is on)"
SAVED = "/project/money/rounding.md"
SAVED_TEXT = '---\ndescription: "Money is rounded once, at the end"\n---\nCart totals too.\n'
DREAMT = ("Cart totals too.", "Cart totals too, since the fix of cart.py.")
SKILL = "---\nname: release\ndescription: How to release\n---\nTag $1 in git, then tell Sam.\n"
WHICH = "Which of our notes are there?"
RELEASE = f"/{SERVER}__release v2"
RELEASED = "Tag v2 in git, then tell Sam."
CALLS = [
    *(("Bash", True), ("Write", True), ("Read", True), ("Edit", True), ("Bash", False)),
    (f"{SERVER}__memory_create", True),
]

# What stands in the settings before us, unusual spacing included, and must stand there after us.
SETTINGS = """{
    "permissions": {"allow": ["Bash(ls:*)"]},
    "hooks": {
        "Stop": [{"hooks": [{"type": "command", "command": "true"}]}]
    }
}
"""


def story(project: Path) -> Script:
    cart = str(project / "cart.py")
    old, new = "int(sum(prices))", "round(sum(prices), 2)"
    source = f"def total(prices):\n    return {old}\n"
    return Script(
        {
            FIX: [
                Step("I look around first.", (Call("Bash", {"command": "echo hello; ls"}),)),
                Step(calls=(Call("Write", {"file_path": cart, "content": source}),)),
                Step(calls=(Call("Read", {"file_path": cart}),)),
                Step(calls=(Call("Edit", {"file_path": cart, "old_string": old, "new_string": new}),)),
                Step(calls=(Call("Bash", {"command": "echo '1 failed' >&2; exit 3"}),)),
                Step(FIXED),
            ],
            AGREE: [
                Step(calls=(Call(f"{SERVER}__memory_create", {"path": SAVED, "file_text": SAVED_TEXT}),)),
                Step(AGREED),
            ],
            WHICH: [
                Step(calls=(Call(f"{SERVER}__memory_view", {"path": "/project"}),)),
                Step("One about rounding, and a skill."),
            ],
            RELEASED: [Step("Released.")],
            ASK: [Step("We rounded the cart totals to 2 decimals.")],
            CONVERT: [Step(RATE)],
            AGAIN: [Step("A note in the project's memory.")],
        }
    )


def walk(client: Path, version: str, box: Sandbox, report: Report) -> None:
    claude = ClaudeCode(client, box, story(box.project))
    seen = claude.version()
    report.need(f"the client is {version}", seen == version, seen)
    settings = box.project / ".claude" / "settings.json"
    settings.parent.mkdir()
    settings.write_text(SETTINGS, encoding="utf-8")

    _install(box, settings, report)
    first = _first_session(claude, report)
    _check_record(box, first, report)
    second = _second_session(claude, report)
    _check_reading(box, first, second, report)
    _third_session(box, claude, report)
    _skill_session(box, claude, report)
    walk_engine(client, box, report)
    walk_dream(box, report, first.id, SAVED, *DREAMT)
    _check_traces(box, report)
    _uninstall(box, settings, report)


def _install(box: Sandbox, settings: Path, report: Report) -> None:
    """Hooks and server in one go; then the doctor and the row of status say that nothing was heard yet."""
    done = _setup(box)
    servers = box.project / ".mcp.json"
    report.need("setup writes hooks and server", done.returncode == 0 and servers.exists(), told(done))
    written = (settings.read_bytes(), servers.read_bytes())
    hooks = json.loads(written[0])["hooks"]
    verbs = {"SessionStart", "UserPromptSubmit", "PostToolUse", "Stop", "SessionEnd"}
    report.check("the events of a session have a hook", verbs <= hooks.keys(), sorted(hooks))
    again = _setup(box)
    same = again.returncode == 0 and (settings.read_bytes(), servers.read_bytes()) == written
    report.check("setting up twice changes no byte", same, told(again))
    report.check("setup says that the client's own memory is on", MEMORY in done.stderr, told(done))
    doctor = box.neosian("doctor")
    report.check("the doctor finds nothing wrong", doctor.returncode == 0, told(doctor))
    row = status_row(box, NAME)
    seen = (row.get("installed"), row.get("state"), bool(row.get("hooks")), bool(row.get("mcp")))
    report.check("status: installed, never fired", seen == (True, "never fired", True, True), row)


def _setup(box: Sandbox, *words: str) -> subprocess.CompletedProcess[str]:
    return box.neosian("setup", "--project", "--client", NAME, *words, "--write")


def _first_session(claude: ClaudeCode, report: Report) -> Session:
    session = claude.session(FIX, AGREE)
    report.need("session 1 ran to its end", not session.trouble(2), session.trouble(2))
    _check_hooks("session 1", session, report)
    # Not in the first request: the client does not always wait for a server that is starting.
    tools = {tool["name"]: tool for tool in (session.requests[-1].body or {})["tools"]}
    held = "input_schema" in tools.get(f"{SERVER}__memory_search", {})
    report.check("the model has the core tools at hand", held, sorted(tools))
    return session


def _second_session(claude: ClaudeCode, report: Report) -> Session:
    session = claude.session(ASK)
    report.need("session 2 ran to its end", not session.trouble(1), session.trouble(1))
    _check_hooks("session 2", session, report)
    text = session.requests[0].text()
    start = "\n".join(run.stdout for run in session.hooks if run.event == "SessionStart")
    listed = f"- {SAVED}: Money is rounded once, at the end" in start
    report.check("session 2's start tells of the note saved in session 1", listed, start)
    for what, words in (
        ("the heading", "where we left off"),
        ("session 1's prompt", FIX),
        ("its answer", FIXED),
    ):
        held = words.casefold() in text.casefold()
        told_at_start = [run.stdout for run in session.hooks if run.event == "SessionStart"]
        report.check(f"session 2's first request holds {what}", held, "\n".join(told_at_start))
    return session


def _third_session(box: Sandbox, claude: ClaudeCode, report: Report) -> None:
    """A person writes a note; a prompt that it answers brings it to the model, and only once."""
    note = Path(box.neosian("path").stdout.strip()) / "project" / "currency.md"
    note.parent.mkdir(exist_ok=True)
    note.write_text(NOTE, encoding="utf-8")
    session = claude.session(CONVERT, AGAIN, "ok, go on")
    report.need("session 3 ran to its end", not session.trouble(3), session.trouble(3))
    _check_hooks("session 3", session, report)
    told_with_prompts = [run.stdout for run in session.hooks if run.event == "UserPromptSubmit"]
    held = (
        "/project/project/currency.md (" in session.requests[0].text()
        and "noon rate" in session.requests[0].text()
    )
    report.check("what is recalled with a prompt reaches the model", held, told_with_prompts)
    said = [bool(text) for text in told_with_prompts]
    report.check(
        "a later prompt does not repeat it, small talk brings nothing", said == [True, False, False], said
    )
    once = session.requests[-1].text().count("converted by the bank's noon rate")
    report.check("the last request holds it once", once == 1, once)
    given = box.neosian_json("replay", f"{session.id}#1") or []
    events = [line["event"] for line in given]
    report.check("replay tells what the agent was given", events == ["start", "prompt"], given)
    same = bool(given) and given[-1]["text"].strip() == told_with_prompts[0].strip()
    report.check("word for word", same, given)


def _skill_session(box: Sandbox, claude: ClaudeCode, report: Report) -> None:
    """A skill of the memory is a slash command of the client."""
    done = box.neosian("memory", "create", "skills/release/SKILL.md", SKILL)
    report.need("a skill is written", done.returncode == 0, told(done))
    # a busy client takes the first prompt before the server has answered, and knows no skill by then
    session = claude.session(WHICH, RELEASE)
    report.need("session 4 ran to its end", not session.trouble(2), session.trouble(2))
    held = any(RELEASED in request.text() for request in session.requests)
    report.check("the skill runs as a slash command, its argument in place", held, session.answers)


def _check_hooks(name: str, session: Session, report: Report) -> None:
    bad = [run for run in session.hooks if run.status != 0]
    report.check(f"{name}: all {len(session.hooks)} hooks ended with 0", bool(session.hooks) and not bad, bad)


def _check_record(box: Sandbox, session: Session, report: Report) -> None:
    """What session 1 left in git: turns, tools, failure, answers; and a clean repository."""
    place = box.neosian("path")
    store = Path(place.stdout.strip())
    report.need("the project has a store", place.returncode == 0 and (store / ".git").is_dir(), told(place))
    lines = [json.loads(line) for path in sorted(store.glob("record/**/*.jsonl")) for line in path.open("rb")]
    prompts = [(line["turn"], line["text"]) for line in lines if line["kind"] == "prompt"]
    report.check("session 1 landed as two turns", prompts == [(1, FIX), (2, AGREE)], prompts)
    states = [(line["turn"], line["state"]) for line in lines if line["kind"] == "turn"]
    report.check("both turns are done", states == [(1, "done"), (2, "done")], states)
    calls = [(line["call"], line["tool"]) for line in lines if line["kind"] == "tool_call"]
    report.check(
        "its tools are there, in order", [tool for _, tool in calls] == [tool for tool, _ in CALLS], calls
    )
    ends = {line["call"]: line["ok"] for line in lines if line["kind"] == "tool_result"}
    seen = [(tool, ends.get(call)) for call, tool in calls]
    report.check("the failed call, and only that, is ok: false", seen == CALLS, seen)
    answers = [line["text"] for line in lines if line["kind"] == "answer"]
    report.check("the answers are whole", answers == [FIXED, AGREED], answers)
    _check_git(box, store, session, report)
    saved = box.git("log", "-1", "--format=%an", "--", SAVED.removeprefix("/project/"), folder=store)
    by = saved.stdout.strip()
    report.check("the note it saved over MCP is its own commit", by == f"claude-code:{session.id}", by)


def _check_git(box: Sandbox, store: Path, session: Session, report: Report) -> None:
    trailers = "--format=%(trailers:key=Conversation,key=Turn,valueonly,separator=%x20)"
    log = box.git("log", "--reverse", trailers, folder=store)
    rows = log.stdout.splitlines()
    booked = [row for row in rows if row in (f"{session.id} 1", f"{session.id} 2")]
    report.check("each turn has its commit", len(booked) == 2, told(log))
    fsck = box.git("fsck", "--strict", folder=store)
    report.check("git fsck --strict has nothing to say", fsck.returncode == 0 and not fsck.stdout, told(fsck))
    status = box.git("status", "--porcelain", folder=store)
    report.check("git status is clean", status.returncode == 0 and not status.stdout, told(status))


def _check_reading(box: Sandbox, first: Session, second: Session, report: Report) -> None:
    """The verbs by which a person or a program reads it back."""
    audit = box.neosian_json("audit", "--act", "record") or []
    booked = [(entry.get("conversation"), entry.get("turn"), entry.get("actor")) for entry in audit]
    expected = [(second.id, 1), (first.id, 2), (first.id, 1)]
    named = [entry[:2] for entry in booked] == expected
    report.check("audit names the three turns, newest first", named, booked)
    actors = all(str(actor).startswith(f"claude-code:{conversation}") for conversation, _, actor in booked)
    report.check("audit says who acted", bool(booked) and actors, booked)
    hits = box.neosian_json("search", "rounding bug cart") or []
    found = any(hit.get("kind") == "turn" and hit.get("conversation") == first.id for hit in hits)
    report.check("search finds the turn", found, hits)
    recall = box.neosian("recall", "1", "--conversation", first.id)
    whole = all(part in recall.stdout for part in (FIX, "1 failed", FIXED))
    report.check("recall tells the whole turn", recall.returncode == 0 and whole, told(recall))


def _check_traces(box: Sandbox, report: Report) -> None:
    """Nothing waits, nothing went wrong unseen, and the client's key is nowhere."""
    waiting = list((box.memory / "spool" / "new").glob("*"))
    report.check("no event waits in the spool", not waiting, waiting)
    log = box.memory / "log" / "neosian.log"
    said = log.read_text(encoding="utf-8", errors="replace") if log.exists() else ""
    report.check("the hooks logged no trouble", not said, said[-2000:])
    files = (path for path in box.memory.rglob("*") if path.is_file())
    holding = [path for path in files if API_KEY.encode() in path.read_bytes()]
    report.check("the client's key is in no file", not holding, holding)
    row = status_row(box, NAME)
    report.check("status: heard, and its last turn landed", str(row.get("last")).endswith(", landed"), row)


def _uninstall(box: Sandbox, settings: Path, report: Report) -> None:
    done = _setup(box, "--uninstall")
    now = settings.read_text(encoding="utf-8")
    report.check("uninstall gives the settings back as they were", now == SETTINGS, told(done) + now)
    left = [
        *settings.parent.glob("*neosian*"),
        *box.project.glob("*neosian*"),
        *box.project.glob(".mcp.json*"),
    ]
    report.check("and leaves no file of ours", not left, left)
    row = status_row(box, NAME)
    report.check("status: nothing of ours is there", not row.get("hooks") and not row.get("mcp"), row)
