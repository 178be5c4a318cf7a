"""Record the two sessions that ``neosian demo`` plays: a real client, offline, with probe hooks.

    python tests/walkthrough/record_demo.py [--version V] [--cache DIR] [--out DIR]

What depends on the machine becomes a placeholder: ``@PROJECT@`` the project, ``@HOME@`` the home.
Ids are kept. One JSON line an event: the verb of its hook line, its name, its payload.
"""

from __future__ import annotations

import argparse
import json
import re
import shlex
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.walkthrough import claude_code
from tests.walkthrough.claude_code import ClaudeCode
from tests.walkthrough.fake_model import Call, Script, Step
from tests.walkthrough.harness import Sandbox
from tests.walkthrough.run import default_cache

OUT = Path(__file__).resolve().parents[2] / "templates" / "demo"
VERBS = {"SessionStart": "start", "UserPromptSubmit": "prompt", "Stop": "stop", "SessionEnd": "end"}
NOTED = [
    "PreToolUse", "PostToolUse", "PostToolUseFailure", "PostToolBatch", "PermissionRequest", "PermissionDenied",
    "SubagentStart", "SubagentStop", "PreCompact", "PostCompact", "StopFailure", "CwdChanged",
]  # fmt: skip

CART = '''\
def total(prices):
    """What the customer pays."""
    return round(sum(prices), 2)
'''
CART_FIXED = '''\
from decimal import ROUND_HALF_UP, Decimal


def total(prices):
    """What the customer pays: exact sums, rounded once, at the end."""
    exact = sum((Decimal(str(price)) for price in prices), Decimal(0))
    return exact.quantize(Decimal("0.01"), ROUND_HALF_UP)
'''
TEST = """\
import unittest

from cart import total


class TotalTest(unittest.TestCase):
    def test_half_a_cent_is_rounded_up(self):
        self.assertEqual(str(total([0.145, 0.145, 0.145])), "0.44")


unittest.main()
"""
RULES = """\
# Contributing

- Money is `Decimal`, never `float`: convert a price where it comes in.
- Sums are rounded once, in `total()`, half up.
- A bug fix begins with a test that fails.
"""

COMPLAINT = (
    "A customer paid 0.43 for three stickers at 0.145 each; it should have been 0.44. "
    "Write a test that fails first, then fix total() in cart.py."
)
REPAIRED = """\
Fixed. `total()` added floats: 0.145 three times is 0.43499..., so `round` went down.

- `test_cart.py` holds the customer's case: red before the change, green after it.
- `cart.py` adds `Decimal` values and rounds once, at the end, half up.

Prices still come in as floats, and each is converted by way of its text. Better to hold them as `Decimal`."""
RULE = "Good. Make that our rule: money is Decimal, never float. Put it into CONTRIBUTING.md and commit all of it."
RULED = """\
Decision: money is `Decimal`, never `float`; sums are rounded once, in `total()`, half up.
It stands in `CONTRIBUTING.md`, committed together with the fix and its test."""
QUESTION = "What did we decide about money last time, and where is it written down?"
RECALLED = """\
Money is `Decimal`, never `float`, rounded once in `total()`, half up: decided after the order that was a cent short.
It is written down in `CONTRIBUTING.md`."""

RUN_TEST = "python3 -B test_cart.py"  # -B: no cache folder that would end up in the commit
COMMIT = "git add -A && git commit -q -m 'Sum money as Decimal, round once' && git log --oneline -1 --stat"


def story(project: Path) -> Script:
    """Session 1 repairs and decides, session 2 asks."""

    def bash(command: str, description: str) -> Call:
        return Call("Bash", {"command": command, "description": description})

    def write(name: str, content: str) -> Call:
        return Call("Write", {"file_path": str(project / name), "content": content})

    cart = {"file_path": str(project / "cart.py")}
    old, new = CART, CART_FIXED
    return Script(
        {
            COMPLAINT: [
                Step("I read the code first.", (Call("Read", cart),)),
                Step("The customer's case as a test:", (write("test_cart.py", TEST),)),
                Step(calls=(bash(RUN_TEST, "Run the new test, which must fail"),)),
                Step(
                    "Red, as it should be. Now the fix.",
                    (Call("Edit", {**cart, "old_string": old, "new_string": new}),),
                ),
                Step(calls=(bash(RUN_TEST, "Run the test again"),)),
                Step(REPAIRED),
            ],
            RULE: [
                Step(calls=(write("CONTRIBUTING.md", RULES),)),
                Step(calls=(bash(COMMIT, "Commit the fix, its test and the rule"),)),
                Step(RULED),
            ],
            QUESTION: [
                Step(calls=(Call("Read", {"file_path": str(project / "CONTRIBUTING.md")}),)),
                Step(RECALLED),
            ],
        }
    )


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--version", default=claude_code.VERSION)
    parser.add_argument("--cache", type=Path, default=default_cache())
    parser.add_argument("--out", type=Path, default=OUT)
    args = parser.parse_args(argv)
    binary = claude_code.obtain(args.version, args.cache / "claude-code")
    args.out.mkdir(parents=True, exist_ok=True)
    with Sandbox() as box:
        prepare(box)
        client = ClaudeCode(binary, box, story(box.project))
        record(client, args.out / "session-1.jsonl", COMPLAINT, RULE)
        record(client, args.out / "session-2.jsonl", QUESTION)
    return 0


def prepare(box: Sandbox) -> None:
    """A small shop under git, with a probe on every event that tells what happened."""
    (box.project / "cart.py").write_text(CART, encoding="utf-8")
    box.git("add", "--all")
    box.git("commit", "--quiet", "--message", "A shop that sells stickers")
    probe = Path(__file__).with_name("probe_hook.py")
    hooks: dict[str, Any] = {}
    for event, verb in {**VERBS, **dict.fromkeys(NOTED, "note")}.items():
        command = shlex.join([sys.executable, "-I", str(probe), str(box.logs), verb])
        hooks[event] = [{"hooks": [{"type": "command", "command": command}]}]
    settings = box.home / ".claude" / "settings.json"  # the user's: nothing of it gets into the project
    settings.parent.mkdir()
    settings.write_text(json.dumps({"hooks": hooks}), encoding="utf-8")


def record(client: ClaudeCode, target: Path, *prompts: str) -> None:
    """One session, into one file."""
    session = client.session(*prompts)
    if trouble := session.trouble(len(prompts)):
        raise SystemExit(trouble)
    kept = sorted(client.box.logs.glob("*.json"))
    lines = [json.loads(path.read_text(encoding="utf-8")) for path in kept]
    for path in kept:
        path.unlink()
    with target.open("w", encoding="utf-8", newline="\n") as out:
        for line in lines:
            if line["root"] != str(client.box.project):
                raise SystemExit(f"an event from elsewhere: {line}")
            event = line["payload"]["hook_event_name"]
            shipped = {"verb": line["verb"], "event": event, "payload": line["payload"]}
            out.write(impersonal(json.dumps(shipped, ensure_ascii=False), client.box) + "\n")
    print(f"{target}: {len(lines)} events, said {session.answers[-1]!r}")


def impersonal(text: str, box: Sandbox) -> str:
    """The text with placeholders for the folders, also where the client made a name of one."""
    as_name = re.sub(r"[^A-Za-z0-9]", "-", str(box.project))  # of its transcript folder
    text = (
        text.replace(as_name, "-shop").replace(str(box.project), "@PROJECT@").replace(str(box.home), "@HOME@")
    )
    if str(box.root) in text:
        raise SystemExit(f"a folder of this machine is left in: {text}")
    return text


if __name__ == "__main__":
    sys.exit(main())
