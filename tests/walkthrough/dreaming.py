"""Claude Code as an engine of the dream, for real: it answers with edits, and our own hooks keep nothing of it.

Seen with 2.1.332 and 2.1.197: with the flags of the engine no hook is started at all. So the second question goes to
a client without them, whose hooks have no mark in their environment either.
"""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

from neosian.dream import edits, engine, engines
from neosian.dream.claude_cli import ClaudeCli
from neosian.dream.engine import Answer, Asked, EngineError
from tests.walkthrough.fake_model import FakeModel, Script, Step
from tests.walkthrough.harness import Report, Sandbox, told

EDITS: dict[str, Any] = {
    "edits": [
        {
            "action": "create",
            "path": "/project/money/rounding.md",
            "text": "---\ndescription: 金 is rounded once\n---\nAt the end.\n",
            "reason": "decided",
            "sources": ["0670e8b9#2"],
        }
    ]
}
KEY = "dummy-key-that-no-store-may-hold"
LEFT_OFF = "where we left off"
UNREAD = "what stands in a file that only a prompt names"


class Dreams(Script):
    """A model that answers every question with the same edits, in words."""

    def __init__(self, edits: dict[str, Any]) -> None:
        super().__init__({})
        self._edits = edits

    def pick(self, body: dict[str, Any]) -> Step:
        return Step(f"Here they are:\n\n```json\n{json.dumps(self._edits, ensure_ascii=False)}\n```")


def walk_dream(box: Sandbox, report: Report, conversation: str, place: str, old: str, new: str) -> None:
    """Have the client dream what was recorded: it changes a note in the words of turn 2 of a conversation."""
    edit = {
        "action": "str_replace", "path": place, "old_str": old, "new_str": new, "reason": "it was agreed with that fix",
        "sources": [f"{conversation}#2"],
    }  # fmt: skip
    (box.memory / "config.toml").write_text("[dream]\nidle = 0\n", encoding="utf-8")
    sessions = box.neosian_json("sessions")
    with FakeModel(Dreams({"edits": [edit]})) as model:
        environ = _signed_in(model.url)
        done = box.run("neosian", "dream", "--engine", "claude-cli", "--json", **environ)
    report.need("the client dreams", done.returncode == 0, told(done))
    dreamt = json.loads(done.stdout)
    told_ = {row["conversation"]: row["edits"] for row in dreamt["sessions"]}
    report.check("each session was dreamt", told_.keys() == {row["conversation"] for row in sessions}, dreamt)
    report.check("the one that taught something gave its edit", told_.get(conversation) == 1, dreamt)
    said = box.neosian("memory", "view", place).stdout
    report.check("the note says so now", new in said, said)
    why = box.neosian_json("why", place)
    sources = [(each["conversation"], each["turn"]) for row in why for each in row["sources"]]
    report.check("the line names its turn", (conversation, 2) in sources, why)
    report.check("the dream itself was not recorded", box.neosian_json("sessions") == sessions)
    again = box.run("neosian", "dream", "--engine", "claude-cli", "--dry-run", "--json")
    report.check("nothing is left to dream", again.stdout.strip() == "[]", told(again))
    (box.memory / "config.toml").unlink()


def walk_engine(binary: Path, box: Sandbox, report: Report) -> None:
    """Ask the client as the dream does, with our hooks in the user's own settings."""
    named = box.home / "named.txt"
    named.write_text(UNREAD, encoding="utf-8")
    (box.home / ".claude").mkdir(exist_ok=True)
    (box.home / ".claude" / "CLAUDE.md").write_text(f"Say hello. {UNREAD}", encoding="utf-8")
    install = ("record", "install", "--client", "claude-code", "--user", "--write")
    done = box.neosian(*install)
    report.need("our hooks are in the user's settings", done.returncode == 0, told(done))
    before = _kept(box)
    asked = Asked(
        "Keep the notes.", f"The person said: 金 is rounded once, see @{named} and @~/named.txt", 8000
    )

    answer, sent = _ask(box, asked, KEY)
    report.need("the client answers as an engine", isinstance(answer, Answer), answer)
    found = edits.parse(answer.said) if isinstance(answer, Answer) else None
    report.check("its answer is read as the edits", found == edits.parse(EDITS), answer)
    report.check("the question reached the model whole", asked.prompt in sent and asked.system in sent, sent)
    report.check("no file that the question names was sent along, nor CLAUDE.md", UNREAD not in sent, sent)
    transcripts = [path for path in box.home.glob(".claude/projects/*dream*/**/*") if path.is_file()]
    report.check("the client kept no transcript of it", not transcripts, transcripts)

    _let_hooks_run(binary, box)
    answer, sent = _ask(box, asked, KEY)
    report.check("the client answers with hooks running", isinstance(answer, Answer), answer)
    fired = (box.logs / "fired").exists()
    report.check("this time hooks did run", fired)
    report.check("the client was told nothing of ours", LEFT_OFF not in sent.casefold(), sent)
    after = _kept(box)
    report.check("nothing of either question was recorded", after == before, (before, after))

    answer, _ = _ask(box, asked, "")
    kind = answer.kind if isinstance(answer, EngineError) else answer
    report.check("a client that is not signed in is said to be", kind == engine.NO_KEY, answer)
    (box.bin / "claude").unlink()
    (box.bin / "claude").symlink_to(binary)
    done = box.neosian("record", "uninstall", "--client", "claude-code", "--user", "--write")
    report.check("our hooks are out of the user's settings", done.returncode == 0, told(done))


def _ask(box: Sandbox, asked: Asked, key: str) -> tuple[Answer | EngineError, str]:
    """What the client answers, or why not; and all that the model could read."""
    with FakeModel(Dreams(EDITS)) as model:
        environ = box.env(**_signed_in(model.url, key))
        asking = ClaudeCli(engines.REMEMBER, str(box.memory), environ, deadline=120.0)
        try:
            answer: Answer | EngineError = asking.ask(asked)
        except EngineError as error:
            answer = error
        return answer, "\n".join(request.text() for request in model.requests)


def _signed_in(url: str, key: str = KEY) -> dict[str, str]:
    """What the client needs to ask a model there; without a key it is not signed in."""
    quiet = {"CLAUDE_CODE_MAX_RETRIES": "1", "DISABLE_ERROR_REPORTING": "1", "DISABLE_TELEMETRY": "1"}
    return {"ANTHROPIC_BASE_URL": url, **({"ANTHROPIC_API_KEY": key} if key else {}), **quiet}


def _let_hooks_run(binary: Path, box: Sandbox) -> None:
    """Put a client in place that reads the user's settings, and whose hooks do not know from the environment."""
    settings = box.home / ".claude" / "settings.json"
    said = json.loads(settings.read_text(encoding="utf-8"))
    probe = f"echo fired >> {shlex.quote(str(box.logs / 'fired'))}"
    said["hooks"]["UserPromptSubmit"].append({"hooks": [{"type": "command", "command": probe}]})
    settings.write_text(json.dumps(said), encoding="utf-8")
    client = box.bin / "claude"
    client.unlink()
    client.write_text(
        "#!/bin/sh\nunset NEOSIAN_OFF\n"
        'for word do shift; case $word in --safe-mode) ;; --setting-sources) set -- "$@" "$word" user; skip=1 ;;\n'
        '*) [ -z "$skip" ] && set -- "$@" "$word"; skip= ;; esac; done\n'
        f'exec {shlex.quote(str(binary))} "$@"\n',
        encoding="utf-8",
    )
    client.chmod(0o755)


def _kept(box: Sandbox) -> list[str]:
    """What the recorder has: events that wait, and the commits of every scope."""
    waiting = sorted(path.name for path in (box.memory / "spool").glob("new/*"))
    tips = [
        box.git("rev-parse", "main", folder=scope).stdout.strip()
        for scope in sorted(box.memory.glob("scopes/*"))
    ]
    return [*waiting, *tips]
