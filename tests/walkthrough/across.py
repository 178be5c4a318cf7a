"""Two clients, one memory: Claude Code records a session, and Codex is told of it."""

from __future__ import annotations

from pathlib import Path

from tests.walkthrough import claude_code, codex
from tests.walkthrough.claude_code import ClaudeCode
from tests.walkthrough.codex import Codex
from tests.walkthrough.fake_model import Call, Script, Step
from tests.walkthrough.harness import Report, Sandbox, told
from tests.walkthrough.story import CONVERT, FIX, FIXED, LEFT_OFF, RATE

VERSION = f"{claude_code.VERSION}-{codex.VERSION}"
ROW = None


def obtain(version: str, cache: Path) -> Path:
    """The second of the two; both are installed where their own walkthroughs have them."""
    _claude(cache.parent)
    return codex.obtain(codex.VERSION, cache.parent / codex.Codex.NAME)


def _claude(caches: Path) -> Path:
    return claude_code.obtain(claude_code.VERSION, caches / "claude-code")


def walk(client: Path, version: str, box: Sandbox, report: Report) -> None:
    caches = next(folder.parent for folder in client.parents if folder.name == codex.Codex.NAME)
    second = Codex(client, box)
    for name in ("claude-code", "codex"):
        done = box.neosian("record", "install", "--client", name, "--write")
        report.need(f"the hooks of {name} are installed", done.returncode == 0, told(done))
    looks = Step(calls=(Call("Bash", {"command": "ls"}),))
    begun = ClaudeCode(_claude(caches), box, Script({FIX: [looks, Step(FIXED)]})).session(FIX)
    report.need("Claude Code's session ran to its end", not begun.trouble(1), begun.trouble(1))
    box.listen()
    with second.model(Script({CONVERT: [Step(RATE)]})) as model:
        second.prepare(model.url)
        trouble = second.session(CONVERT)
    report.need("Codex's session ran to its end", not trouble, trouble)
    (first, *_) = [request.text() for request in model.requests if request.asks_model]
    for words in (LEFT_OFF, f"claude-code {begun.id}", FIX, FIXED):
        said = "\n".join(run.stdout for run in box.hook_runs())
        report.check(f"Codex's first request holds {words!r}", words.casefold() in first.casefold(), said)
    rows = box.neosian_json("sessions") or []
    clients = sorted(str(row.get("client")) for row in rows)
    report.check("one record holds both, each under its name", clients == ["claude-code", "codex"], rows)
