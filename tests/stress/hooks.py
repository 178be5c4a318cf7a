"""Hooks through the installed launcher, many at once and killed at random moments.

    python tests/stress/hooks.py [--processes 8] [--turns 50] [--kills 500] [--seed 1] [--keep]

Passes when every event whose launcher returned is in a turn exactly once, events of one conversation are in the order
in which they were fired, `git status` is empty and `git fsck --strict` has nothing to say. A launcher that was killed
may or may not have kept its event; then the event is there once or not at all.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.factories import fsck, status
from tests.hooking import CLIENT, Done, Hooks, environment

EVENTS = ("user_prompt_submit", "pre_tool_use.bash", "post_tool_use.bash", "stop")
VERBS = ("prompt", "note", "note", "stop")
TRIES = 50


def play_at_once(hooks: Hooks, processes: int, turns: int) -> list[str]:
    """Sessions side by side, each firing the hooks of its turns one after the other; what went wrong."""
    with ThreadPoolExecutor(processes) as pool:
        ended = list(pool.map(lambda number: _session(hooks, f"session-{number}", turns), range(processes)))
    wrong = [f"{done}" for each in ended for done in each if not _fine(done)]
    _land_rest(hooks)
    prompts = [
        _words(f"session-{number}", turn) for number in range(processes) for turn in range(1, turns + 1)
    ]
    return wrong + complaints(hooks, prompts)


def _session(hooks: Hooks, session: str, turns: int) -> list[Done]:
    return [
        done
        for turn in range(1, turns + 1)
        for done in hooks.turn(_words(session, turn), session=session, number=turn)
    ]


def _words(session: str, turn: int) -> str:
    return f"prompt {turn} of {session}"


def _fine(done: Done) -> bool:
    """Whether a hook landed, or said in a line that it could not yet."""
    return done == Done(0, "", "") or (done.status == 1 and "kept" in done.err and done.err.count("\n") == 1)


def kill_hooks(hooks: Hooks, kills: int, dice: random.Random) -> list[str]:
    """Turns of which one hook each is killed with all its children at a random moment; what went wrong."""
    kept: list[str] = []
    perhaps: set[str] = set()
    span = _stop_seconds(hooks)
    for number in range(1, kills + 1):
        prompt = f"prompt {number}"
        victim = dice.randrange(len(EVENTS)) if dice.random() < 0.4 else len(EVENTS) - 1
        moment = dice.random() * (span if victim == len(EVENTS) - 1 else span / 20)
        for place, (name, verb) in enumerate(zip(EVENTS, VERBS, strict=True)):
            said = _said(hooks, name, number, prompt)
            returned = _fire(hooks, verb, said, moment if place == victim else None)
            if place == 0:
                (perhaps.add if returned is None else kept.append)(prompt)
            if returned is not None and returned not in (0, 1):
                return [f"a hook ended with {returned}"]
    _land_rest(hooks)
    found = Counter(hooks.texts())
    return complaints(hooks, [*kept, *(prompt for prompt in perhaps if found[prompt] == 1), "measured"])


def _said(hooks: Hooks, name: str, number: int, prompt: str) -> dict[str, Any]:
    fields: dict[str, Any] = {"prompt": prompt} if name == EVENTS[0] else {}
    if "tool_use" in name:
        fields["tool_use_id"] = f"toolu_{number}"
    if name == "stop":
        fields["last_assistant_message"] = f"answer {number}"
    return hooks.said(name, "killed", number, **fields)


def _fire(hooks: Hooks, verb: str, said: dict[str, Any], moment: float | None) -> int | None:
    """One hook; None when it was killed after ``moment`` seconds, before it had ended by itself."""
    process = subprocess.Popen(
        [hooks.launcher, CLIENT, verb], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        env=environment(), cwd=hooks.project, start_new_session=True,
    )  # fmt: skip
    assert process.stdin is not None
    began = time.monotonic()
    process.stdin.write(json.dumps(said).encode())
    process.stdin.close()
    if moment is None:
        return process.wait()
    try:
        return process.wait(max(0.0, moment - (time.monotonic() - began)))
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        return None


def _stop_seconds(hooks: Hooks) -> float:
    """How long a hook that lands takes here: kills are spread over that time."""
    hooks.fire(hooks.said("user_prompt_submit", "measured", prompt="measured"))
    began = time.monotonic()
    hooks.fire(hooks.said("stop", "measured"))
    return (time.monotonic() - began) * 1.1


def _land_rest(hooks: Hooks) -> None:
    """Have what waits landed by a hook of another session; the last prompt may still be open, and is ended."""
    for _ in range(TRIES):
        done = hooks.fire(hooks.said("session_end.other", "killed"))
        if done.status == 0:
            return
        time.sleep(0.1)


def complaints(hooks: Hooks, prompts: list[str]) -> list[str]:
    """What is not as it should be: turns lost or doubled, out of order, a repository unclean or unsound."""
    wrong = []
    found = Counter(hooks.texts())
    if lost := Counter(prompts) - found:
        wrong.append(f"lost: {sorted(lost)}")
    if more := found - Counter(prompts):
        wrong.append(f"too many: {sorted(more.elements())}")
    for kind in ("tool_call", "tool_result"):
        calls = Counter(
            (line["session"], line["call"]) for line in _with_session(hooks) if line["kind"] == kind
        )
        wrong += [f"{kind} {call} stands {times} times" for call, times in calls.items() if times > 1]
    wrong += _disordered(hooks)
    for scope in hooks.scopes():
        if said := status(scope) + fsck(scope):
            wrong.append(f"{scope.name}: {said}")
    if hooks.spooled():
        wrong.append(f"left in the spool: {len(hooks.spooled())}")
    return wrong


def _with_session(hooks: Hooks) -> list[dict[str, Any]]:
    """All lines, each with the session of its turn."""
    lines: list[dict[str, Any]] = []
    session = ""
    for line in hooks.lines():
        session = line.get("session", session)
        lines.append({**line, "session": session})
    return lines


def _disordered(hooks: Hooks) -> list[str]:
    """Conversations whose turns are not numbered in the order of their prompts."""
    orders: dict[str, list[int]] = {}
    rows = [line for line in _with_session(hooks) if line["kind"] == "prompt"]
    for line in sorted(rows, key=lambda row: (row["session"], row["turn"], row["n"])):
        words = str(line["text"]).split()
        if len(words) > 1 and words[1].isdigit():
            orders.setdefault(line["session"], []).append(int(words[1]))
    return [
        f"{session}: prompts in the order {order}"
        for session, order in orders.items()
        if order != sorted(order)
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--processes", type=int, default=8)
    parser.add_argument("--turns", type=int, default=50)
    parser.add_argument("--kills", type=int, default=500)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 30))
    parser.add_argument("--keep", action="store_true", help="leave the folder")
    args = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="neosian-hooks-"))
    print(f"seed {args.seed}, in {folder}", flush=True)
    plays: dict[str, Callable[[Hooks], list[str]]] = {
        f"{args.processes} processes, {args.turns} turns each": lambda hooks: play_at_once(
            hooks, args.processes, args.turns
        ),
        f"{args.kills} kills": lambda hooks: kill_hooks(hooks, args.kills, random.Random(args.seed)),
    }
    wrong = []
    for number, (name, play) in enumerate(plays.items()):
        began = time.monotonic()
        found = play(Hooks(folder / str(number)))
        took = time.monotonic() - began
        print(f"{name}: {'; '.join(found) or 'all there, once, in order'} ({took:.0f} s)", flush=True)
        wrong += found
    if not (wrong or args.keep):
        shutil.rmtree(folder)
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
