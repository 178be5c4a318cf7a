"""The main job shown end to end: two recorded sessions of a real agent, played through the real hooks.

All of it happens in a throwaway home and project, which are left for the person to look around in. Each step
is checked as it is made: a demo that shows less than it promises is an error, not a shorter demo.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from neosian import resources
from neosian.errors import NeosianError
from neosian.launcher import install_launcher, launcher_path

CLIENT = "claude-code"
STEP_SECONDS = 30
LESSON = "project/errors.md"
NOTES = ("/project/project/commands.md", f"/project/{LESSON}", "/user/profile/preferences.md")
"""What the dream makes of session 1, and session 2 is told of."""
SHOWN = 40  # first characters of a prompt by which it is known again
_PASSED_ON = ("PATH", "USER", "LOGNAME", "LANG", "LC_ALL", "SYSTEMROOT")
_LOG_FORMAT = "--format=%h %s%n        by %an, %ar%n%w(0,8,8)%(trailers:only)"


class DemoError(NeosianError):
    """A step did not give what it should; holds which, and what was printed."""

    def __init__(self, step: str, trouble: str, printed: str, root: Path) -> None:
        self.step = step
        said = printed.strip() or "(nothing)"
        sentence = f"The demo failed at this step: {step}. {trouble} It printed:\n{said}"
        super().__init__(sentence, f"ls {shlex.quote(str(root))}")


class Recorded(NamedTuple):
    """One event of a recording: the verb of its hook line and the payload the client wrote."""

    verb: str
    payload: dict[str, Any]


class Section(NamedTuple):
    """One thing to see: a heading, a sentence about it, and the thing itself."""

    title: str
    about: str
    text: str


def recording(session: int, project: Path, home: Path) -> list[Recorded]:
    """The events of one shipped session, as they would be had it happened in these folders."""
    text = resources.text("templates/demo", f"session-{session}.jsonl")
    for placeholder, folder in (("@PROJECT@", project), ("@HOME@", home)):
        text = text.replace(placeholder, json.dumps(str(folder))[1:-1])
    lines = [json.loads(line) for line in text.splitlines()]
    return [Recorded(line["verb"], line["payload"]) for line in lines]


def prompts(events: Sequence[Recorded]) -> list[str]:
    """What the person typed, in order."""
    return [event.payload["prompt"] for event in events if event.verb == "prompt"]


def conversation(events: Sequence[Recorded]) -> str:
    """The id of the session that the events belong to."""
    return str(events[0].payload["session_id"])


class Stage:
    """A throwaway machine in one folder: a home, a git project, and processes that know no other."""

    def __init__(self, root: Path) -> None:
        self.root = root.resolve()
        self.home = self.root / "home"
        self.memory = self.home / ".neosian"
        self.project = self.root / "shop"

    def prepare(self) -> None:
        """Make the folders and install the launcher, as ``neosian record install`` does."""
        self.home.mkdir(parents=True)
        self.project.mkdir()
        self.run("make a project", "git", "init", "--quiet")
        install_launcher(self.memory)

    def run(self, step: str, *command: str, given: str = "", **more: str) -> str:
        """The standard output of a process in the project. Raises DemoError unless it ends with 0."""
        env = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
        env |= {"HOME": str(self.home), "NEOSIAN_HOME": str(self.memory), **more}
        try:
            done = subprocess.run(
                command,
                cwd=self.project,
                env=env,
                input=given,
                capture_output=True,
                encoding="utf-8",
                errors="replace",
                timeout=STEP_SECONDS,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            trouble = f"{shlex.join(command)} could not be run to its end."
            raise DemoError(step, trouble, str(error), self.root) from error
        if done.returncode != 0:
            trouble = f"{shlex.join(command)} ended with {done.returncode}."
            raise DemoError(step, trouble, done.stdout + done.stderr, self.root)
        return done.stdout

    def neosian(self, step: str, *args: str) -> str:
        """What our own command prints, as typed in the project."""
        package = str(Path(__file__).resolve().parents[1])
        return self.run(step, sys.executable, "-m", "neosian", *args, PYTHONPATH=package)

    def play(self, session: int, events: Sequence[Recorded]) -> str:
        """Hand each event to the launcher, as the client would; what the agent was told at the start."""
        launcher, mark = str(launcher_path(self.memory)), {"CLAUDE_PROJECT_DIR": str(self.project)}
        told = ""
        for event in events:
            step = f"session {session}, hook for {event.payload['hook_event_name']}"
            payload = json.dumps(event.payload, ensure_ascii=False) + "\n"
            said = self.run(step, launcher, CLIENT, event.verb, given=payload, **mark)
            if event.verb == "start":
                told = said
            elif said and event.verb != "prompt":
                raise DemoError(step, "Only a start and a prompt may answer the agent.", said, self.root)
        return told

    def expect(self, step: str, text: str, *words: str) -> None:
        """Raise DemoError unless the text holds all the words, however its lines are broken."""
        flat = " ".join(text.split())
        missing = [word for word in words if " ".join(word.split()) not in flat]
        if missing:
            raise DemoError(step, f"It lacks: {'; '.join(missing)}.", text, self.root)


def show(root: Path) -> Iterator[Section]:
    """Play both sessions below ``root`` and yield what they left, a section at a time. Raises DemoError."""
    stage = Stage(root)
    stage.prepare()
    first, second = (recording(session, stage.project, stage.home) for session in (1, 2))
    asked = prompts(first)

    stage.play(1, first)
    store = Path(stage.neosian("find the store", "path").strip())
    yield Section(
        "A session was recorded",
        f"Claude Code once fired these {len(first)} events; they were played through the installed hook just now.",
        _story(first),
    )
    log = stage.run("git log of the store", "git", "-C", str(store), "log", "--min-parents=1", _LOG_FORMAT)
    booked = log.count(f"Conversation: {conversation(first)}")
    if booked != len(asked):
        raise DemoError("git log of the store", f"{len(asked)} turns, but {booked} commits.", log, stage.root)
    yield Section(
        "The store",
        "The turns lie in a folder of their own, outside the project: plain files that you may read and edit.",
        f"{store}\n{tree(store)}",
    )
    yield Section(
        "git log", "Each turn is one commit, with trailers that say who acted, where and in which turn.", log
    )
    yield _recalled(stage, first)
    yield _dreamt(stage, store)
    told = stage.play(2, second)
    stage.expect("what session 2 is told", told, *(prompt[:SHOWN] for prompt in asked), *NOTES)
    yield Section(
        "What the next session is told",
        "A new session of the agent began, knowing nothing. This is what our hook put before it, word for word.",
        told,
    )
    yield Section(
        "What it made of that",
        "The person asked, and the agent knew where to look.",
        _story(second),
    )
    yield _look_around(stage, store)


def _story(events: Sequence[Recorded]) -> str:
    """A session as its person saw it."""
    lines = []
    for event in events:
        payload = event.payload
        if event.verb == "prompt":
            lines.append(f"> {payload['prompt']}")
        elif payload["hook_event_name"] in ("PostToolUse", "PostToolUseFailure"):
            given = payload["tool_input"]
            failed = " (failed)" if "error" in payload else ""
            what = given.get("description") or os.path.basename(given["file_path"])
            lines.append(f"    {payload['tool_name']}: {what}{failed}")
        elif event.verb == "stop":
            lines.append(f"{payload['last_assistant_message']}\n")
    return "\n".join(lines).rstrip("\n")


def _recalled(stage: Stage, events: Sequence[Recorded]) -> Section:
    step = "recall of turn 1"
    text = stage.neosian(step, "recall", "1", "--conversation", conversation(events))
    stop = next(event for event in events if event.verb == "stop")
    answer = str(stop.payload["last_assistant_message"])
    stage.expect(step, text, prompts(events)[0][:SHOWN], answer[:SHOWN])
    return Section(
        "One turn, recalled", "Prompt, tool calls with their results, and answer come back whole.", text
    )


def _dreamt(stage: Stage, store: Path) -> Section:
    step = "the dream"
    (stage.memory / "config.toml").write_text("[dream]\nidle = 0\n")  # the session ended just now
    said = stage.neosian(step, "dream", "--engine", "rules")
    stage.expect(step, said, *(note.rpartition("/")[2] for note in NOTES))
    return Section(
        "A dream",
        "`neosian dream --engine rules` counted notes from the turns, without any model; each line names its turns. One"
        " of them:",
        f"{said}\n{(store / LESSON).read_text(encoding='utf-8')}",
    )


def _look_around(stage: Stage, store: Path) -> Section:
    beside = Path(sys.executable).with_name("neosian")
    command = shlex.quote(str(beside)) if beside.exists() else f"{shlex.quote(sys.executable)} -m neosian"
    lines = [
        f"cd {shlex.quote(str(stage.project))}",
        f"export NEOSIAN_HOME={shlex.quote(str(stage.memory))}",
        f'{command} search "rounded half up"',
        f"{command} log project/errors.md",
        f"{command} why project/errors.md",
        f"git -C {shlex.quote(str(store))} log -p",
        "unset NEOSIAN_HOME",
    ]
    about = f"All of it is left in {stage.root}; delete that folder when you have seen enough."
    return Section("Look around", about, "\n".join(lines))


def tree(folder: Path) -> str:
    """The files of a store, folders first, an indent a level; folders with one entry are joined."""
    return "\n".join(_tree(folder, "  "))


def _tree(folder: Path, indent: str) -> Iterator[str]:
    entries = [entry for entry in folder.iterdir() if entry.name != ".git"]
    for entry in sorted(entries, key=lambda entry: (entry.is_file(), entry.name)):
        name = entry.name
        while entry.is_dir() and len(inside := list(entry.iterdir())) == 1 and inside[0].is_dir():
            entry = inside[0]
            name += f"/{entry.name}"
        if entry.is_dir():
            yield f"{indent}{name}/"
            yield from _tree(entry, indent + "  ")
        else:
            yield f"{indent}{name}"
