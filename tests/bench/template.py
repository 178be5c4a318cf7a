"""A turn that really landed, with marks in the places of its words: every turn of a big history is cut to it.

So whatever a landing writes (fields of a line, trailers of a commit, the page of a session), a big history has too.
"""

from __future__ import annotations

import json
import re
from typing import NamedTuple

from neosian import speech, turns
from neosian.commits import trailers
from tests.bench.errors import BenchError
from tests.bench.stage import Said, Stage

TURN_BYTES = 6_000
"""Bytes of log that a turn has on average."""

_SESSION = "5e551000-0000-4000-8000-000000000000"
_FIRST, _PROMPT = "f1005700-0000-4000-8000-000000000000", "90090700-0000-4000-8000-000000000000"
_SAID = Said("@@prompt@@", "@@read@@", "@@output@@", "@@edit@@", "@@answer@@")
_TURN = 2  # of the marked session: its first turn also tells of the session's start
_SHARES = {"prompt": 0.04, "read": 0.34, "output": 0.32, "edit": 0.14, "answer": 0.16}
_PROMPT_SHOWN = 200
_ESCAPES = 1.045  # bytes of JSON for a character of source


class Shape(NamedTuple):
    """What two commits of turns have in common whatever their words are."""

    paths: list[str]
    trailers: list[str]
    people: list[str]
    lines: list[tuple[str, ...]]
    page: list[str]


class Place(NamedTuple):
    """Where a turn stands: its session, the session's first words, its number in it, its time."""

    session: str
    first: str
    number: int
    started: float
    at: float


class Template:
    """The landed turn as bytes to be filled in."""

    def __init__(self, log: str, page: str, message: str, path: str) -> None:
        self._log, self._page, self._message = log, page, message
        self._id = json.loads(log.partition("\n")[0])["id"]
        self.machine = path.rpartition("/")[2].split("-")[1]
        calls = f"toolu_{_PROMPT.replace('-', '')[:23]}"
        self._marks = re.compile(
            rf'(?P<turn>"turn":{_TURN},)|(?P<at>"at":"[^"]*")|@@(?P<said>\w+)@@|(?P<session>{_SESSION})'
            rf"|(?P<prompt>{_PROMPT})|(?P<call>{calls})|(?P<id>{self._id})"
        )
        frame = len(self._marks.sub("", log)) + 3 * 30 + 400
        self.sizes = {
            name: int((TURN_BYTES - frame) * share / _ESCAPES) for name, share in _SHARES.items()
        }  # fmt: skip

    def log(self, place: Place, said: Said, prompt_id: str) -> bytes:
        """The lines of one turn."""
        call = f"toolu_{prompt_id.replace('-', '')[:23]}"
        filled = {
            "turn": f'"turn":{place.number},', "at": f'"at":"{turns.stamp(place.at)}"', "session": place.session,
            "prompt": prompt_id, "call": call, "id": prompt_id.replace("-", "")[: len(self._id)],
        }  # fmt: skip
        texts = {name: _escaped(text) for name, text in said._asdict().items()}
        text = self._marks.sub(
            lambda found: texts[found["said"]] if found["said"] else filled[str(found.lastgroup)], self._log
        )
        return text.encode("utf-8", "replace")

    def page(self, place: Place, said: Said) -> bytes:
        """The page of the session after this turn."""
        text = self._page.replace("@@first@@", _escaped(speech.title(place.first)))
        text = text.replace("@@prompt@@", _escaped(speech.snippet(said.prompt, _PROMPT_SHOWN)))
        text = text.replace(_SESSION, place.session)
        text = re.sub("(?m)^started: .*", f"started: {turns.stamp(place.started)}", text, count=1)
        return text.replace(f"\nturns: {_TURN}\n", f"\nturns: {place.number}\n").encode("utf-8", "replace")

    def message(self, place: Place, said: Said) -> bytes:
        """The commit's message."""
        text = self._message.replace(
            f"Turn {_TURN}: @@prompt@@", f"Turn {place.number}: {speech.title(said.prompt)}"
        )
        text = text.replace(_SESSION, place.session).replace(f"#{_TURN}\n", f"#{place.number}\n")
        return text.replace(f"\nTurn: {_TURN}\n", f"\nTurn: {place.number}\n").encode("utf-8", "replace")


def _escaped(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)[1:-1]


def land(stage: Stage) -> Template:
    """Land the marked turn through the launcher, and read it back from git."""
    first = _SAID._replace(prompt="@@first@@")
    for prompt_id, said in ((_FIRST, first), (_PROMPT, _SAID)):
        stage.play(stage.turn(_SESSION, prompt_id, said))
        stage.play(iter([stage.stop(_SESSION, prompt_id, said)]))
    paths = stage.git("ls-tree", "-r", "--name-only", "main").decode().split()
    (log,) = [path for path in paths if path.startswith("record/")]
    (page,) = [path for path in paths if path.startswith("sessions/")]
    lines = stage.git("show", f"main:{log}").decode().splitlines(keepends=True)
    marked = "".join(line for line in lines if f'"turn":{_TURN},' in line)
    shown = stage.git("show", f"main:{page}").decode()
    message = stage.git("log", "-1", "--format=%B", "main").decode().rstrip("\n") + "\n"
    for mark, text in (("@@answer@@", marked), ("@@first@@", shown), (f"Turn {_TURN}: @@prompt@@", message)):
        if mark not in text:
            raise BenchError(f"{mark} is not in what landed: {text}")
    return Template(marked, shown, message, log)


def shape(stage: Stage, commit: str) -> Shape:
    """The shape of a landing; a turn's lines are those of the number that its commit names."""
    changed = stage.git("diff-tree", "-r", "--no-commit-id", "--name-only", commit).decode().split()
    message = stage.git("log", "-1", "--format=%B", commit).decode()
    people = stage.git("log", "-1", "--format=%ae %cn %ce %an", commit).decode().split(":")[0]
    said = trailers(message)
    logs = [path for path in changed if path.startswith("record/")]
    pages = [path for path in changed if path.startswith("sessions/")]
    data = stage.git("show", f"{commit}:{logs[0]}")
    lines, bad = turns.parse_lines(data)
    if bad or not lines:
        raise BenchError(f"{logs[0]} holds lines that cannot be read.")
    mine = [line for line in lines if str(line["turn"]) == said["Turn"][0]]
    page = stage.git("show", f"{commit}:{pages[0]}").decode().split("\n---\n")[0]
    return Shape(
        [re.sub(r"[0-9a-f]", "0", path) for path in changed], list(said), people.split(),
        [(line["kind"], *line) for line in mine], [row.partition(":")[0] for row in page.splitlines()],
    )  # fmt: skip
