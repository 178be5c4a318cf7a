"""Histories of any length, made in minutes: one `git fast-import` stream in exactly the layout of the store.

The ones that take long to make are kept in a folder of the temporary directory and grow by what is landed in them.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
import time
import zlib
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from neosian import cache, index, packing, query, scope, turns
from neosian.plumbing import object_id
from neosian.recording import SEGMENT_BYTES
from tests.bench import stage, template, texts
from tests.bench.errors import BenchError
from tests.bench.progress import Progress
from tests.bench.stage import CLIENT, Said, Stage
from tests.bench.template import Place, Template
from tests.bench.texts import Texts

SESSION_TURNS = 30
PACKED_BY = 200  # landings from pack to pack, as in use
_KEPT_FROM = 5_000  # turns; a smaller history is made anew in each run
_GROWN = 0.02  # of its turns
_ONE_BY_ONE = (
    1_000  # last turns of one long session; older ones share a commit a segment, as its folder is long
)
_MADE = "made.json"
_MINUTES = 6  # from turn to turn


class Plan(NamedTuple):
    """What to make: how many turns, in sessions of ``SESSION_TURNS`` or in one; each landed, or (for what only the
    index sees) a session in one commit."""

    turns: int
    one_session: bool = False
    landed: bool = True

    @property
    def name(self) -> str:
        """The folder it is kept in."""
        return f"{self.turns}-{'one' if self.one_session else 'many'}{'' if self.landed else '-read'}"

    def __str__(self) -> str:
        return f"{self.turns:,} turns in {'one session' if self.one_session else 'sessions of 30'}"


class History:
    """A made history: the stage it lies on, its turns, and words for more."""

    def __init__(self, plan: Plan, stage: Stage, words: Texts, session: str) -> None:
        self.plan = plan
        self.stage = stage
        self.words = words
        self.session = session


class Landing(NamedTuple):
    """One commit of the stream: its message, author and time, the session's page, its logs."""

    message: bytes
    author: str
    at: int
    page: tuple[str, bytes]
    logs: list[tuple[str, bytes]]


class Maker:
    """Makes histories, all from one pool of text; ``passing`` is where those go that are made for one run."""

    def __init__(self, kept: Path, passing: Path, progress: Progress) -> None:
        self._kept = kept
        self._passing = passing
        self._progress = progress
        self._pool = ""

    def words(self, seed: int) -> Texts:
        """A source of text of its own."""
        self._pool = self._pool or texts.sources()
        return Texts(self._pool, seed)

    def history(self, plan: Plan) -> History:
        """A history that was made ready."""
        here = self._stage(plan)
        session = json.loads((here.folder / _MADE).read_text())["session"]
        return History(plan, here, self.words(time.time_ns()), session)

    def ready(self, plan: Plan) -> None:
        """Have a history on the disk: the kept one if it serves, else a new one."""
        here = self._stage(plan)
        if not _serves(here, plan):
            shutil.rmtree(here.folder, ignore_errors=True)
            with self._progress.step(f"making {plan}"):
                session = self._make(plan, here)
            (here.folder / _MADE).write_text(
                json.dumps({"of": _stamp(), "session": session, "commits": _commits(here)})
            )
        here.install()
        if not plan.landed:
            _write_notes(here)
        packing.pack(str(here.home), here.store.scope)
        self._index(plan, here)

    def _stage(self, plan: Plan) -> Stage:
        return Stage((self._kept if plan.turns >= _KEPT_FROM else self._passing) / plan.name)

    def _make(self, plan: Plan, here: Stage) -> str:
        here.make()
        cut = template.land(here)
        real = here.git("rev-parse", "main").decode().strip()
        made = Turns(plan, cut, self.words(plan.turns))
        landings = made.landings()
        for _ in range(0, plan.turns, PACKED_BY) if plan.turns < _KEPT_FROM else ():
            _fast_import(here, islice(landings, PACKED_BY), loose=True)
            packing.pack(str(here.home), here.store.scope)
        _fast_import(here, landings, loose=False)
        here.git("reset", "--quiet", "--hard", "main")
        _check(here, plan, real)
        return made.session

    def _index(self, plan: Plan, here: Stage) -> None:
        """Have the real index catch up; one that another version of the code made is made anew."""
        stamp, store = here.folder / "index.made", here.store
        code = "".join(Path(str(module.__file__)).read_text() for module in (cache, index, query))
        if not stamp.exists() or stamp.read_text() != code:
            Path(store.cache).unlink(missing_ok=True)
        with self._progress.step(f"indexing {plan}"), index.Index.open(store.cache) as shown:
            if not shown.catch_up(store.repo, None):
                raise BenchError(f"The index of {plan} could not be made.")
            if shown.counts()["turns"] < plan.turns:
                raise BenchError(f"The index of {plan} has {shown.counts()['turns']} turns.")
        store.repo.close()
        stamp.write_text(code)


class Turns:
    """The turns of a plan one after the other, as the commits that landing them would have made."""

    def __init__(self, plan: Plan, cut: Template, words: Texts) -> None:
        self.plan = plan
        self.session = ""
        self._cut = cut
        self._words = words
        self._path = ""
        self._segment = bytearray()
        self._closed: list[tuple[str, bytes]] = []
        self._place = Place("", "", 0, 0.0, 0.0)
        self._now = time.time() - 3600.0

    def landings(self) -> Iterator[Landing]:
        """One commit a turn, or one a session."""
        for number in range(self.plan.turns):
            said = self._said()
            begins = number == 0 or (number % SESSION_TURNS == 0 and not self.plan.one_session)
            at = self._now - (self.plan.turns - number) * _MINUTES * 60
            self._go_to(self._begin(said, at) if begins else self._next(at))
            self._segment += self._cut.log(self._place, said, self._words.id())
            if self._commits(number):
                yield self._landing(said)

    def _commits(self, number: int) -> bool:
        """Whether a commit is made after this turn, the ``number``-th from 0."""
        if number + 1 == self.plan.turns or (
            not self.plan.one_session and self._place.number == SESSION_TURNS
        ):
            return True
        if self.plan.one_session and number < self.plan.turns - _ONE_BY_ONE:
            return len(self._segment) >= SEGMENT_BYTES
        return self.plan.landed

    def _said(self) -> Said:
        sizes = {
            name: int(size * self._words.dice.uniform(0.6, 1.4)) for name, size in self._cut.sizes.items()
        }
        return said(self._words, sizes)

    def _begin(self, said: Said, at: float) -> Place:
        self.session = self._words.id()
        return Place(self.session, said.prompt, 1, at, at)

    def _next(self, at: float) -> Place:
        return self._place._replace(number=self._place.number + 1, at=at)

    def _go_to(self, place: Place) -> None:
        """Close the segment where a landing would."""
        self._place = place
        if place.number == 1 or len(self._segment) >= SEGMENT_BYTES:
            if place.number > 1 and not self.plan.landed:
                self._closed.append((self._path, bytes(self._segment)))
            self._segment.clear()
            name = f"{place.number:05}-{self._cut.machine}-{CLIENT}-{place.session}.jsonl"
            self._path = f"record/{self._day()}/{name}"

    def _day(self) -> str:
        return time.strftime("%Y-%m/%d", time.gmtime(self._place.started))

    def _landing(self, said: Said) -> Landing:
        place = self._place
        page = (f"sessions/{self._day()}/{scope.disk_name(place.session)}.md", self._cut.page(place, said))
        logs = [*self._closed, (self._path, bytes(self._segment))]
        self._closed.clear()
        author = f"{CLIENT}:{place.session} <{CLIENT}@neosian.invalid>"
        return Landing(self._cut.message(place, said), author, int(place.at), page, logs)


def said(words: Texts, sizes: dict[str, int]) -> Said:
    """New texts of these sizes."""
    code = {name: words.lines(sizes[name]) for name in ("read", "output", "edit", "answer")}
    return Said(prompt="Look into " + words.sentence(sizes["prompt"]), **code)


def _write_notes(here: Stage) -> None:
    """Have documents among the turns: what some modules of the standard library are about, one note each."""
    wanted = {Path(here.store.path) / "tools" / f"{name}.md": text for name, text in texts.notes()}
    new = {path: text for path, text in wanted.items() if not path.exists()}
    for path, text in new.items():
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    if new:
        person = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org")
        here.git("add", "tools")
        here.git(*person, "commit", "--quiet", "-m", "Write notes")


def default_folder() -> Path:
    """Where histories are kept between runs."""
    return Path(tempfile.gettempdir()).resolve() / f"neosian-bench-{os.getuid()}"


def _stamp() -> str:
    """What a kept history depends on: the format, and the code here that made it."""
    code = "".join(Path(str(module.__file__)).read_text() for module in (stage, template, texts))
    code += Path(__file__).read_text()
    return f"{turns.VERSION} {SEGMENT_BYTES} {zlib.crc32(code.encode()):08x}"


def _serves(here: Stage, plan: Plan) -> bool:
    """Whether a kept history is whole, of this code, and has not grown by more than a little."""
    path = here.folder / _MADE
    made = json.loads(path.read_text()) if path.exists() else {}
    return made.get("of") == _stamp() and _commits(here) - made["commits"] <= plan.turns * _GROWN


def _commits(here: Stage) -> int:
    return int(here.git("rev-list", "--count", "main"))


def _fast_import(here: Stage, landings: Iterable[Landing], *, loose: bool) -> None:
    """Write these commits on top of main; ``loose``: as single objects, as landings leave them."""
    limit = 1_000_000 if loose else 1
    quickly = ("-c", "core.compression=1", "-c", f"fastimport.unpackLimit={limit}")
    argv = ["git", "-C", here.store.path, *quickly, "fast-import", "--quiet"]
    parent = here.git("rev-parse", "main").decode().strip()
    child = subprocess.Popen(argv, stdin=subprocess.PIPE, env=here.environment)
    assert child.stdin is not None
    while some := list(islice(landings, PACKED_BY)):
        # Each blob is stored as its difference from the one before: so all pages come before the logs.
        child.stdin.writelines(b"blob\n" + _data(landing.page[1]) for landing in some)
        for landing in some:
            child.stdin.writelines(_commit(landing, parent))
            parent = ""
    child.stdin.close()
    if child.wait():
        raise BenchError("git fast-import failed.")


def _commit(landing: Landing, parent: str) -> Iterator[bytes]:
    yield f"commit refs/heads/main\nauthor {landing.author} {landing.at} +0000\n".encode()
    yield f"committer neosian <neosian@neosian.invalid> {landing.at} +0000\n".encode()
    yield _data(landing.message)
    if parent:
        yield f"from {parent}\n".encode()
    path, page = landing.page
    yield f"M 100644 {object_id('blob', page)} {path}\n".encode()
    for path, data in landing.logs:
        yield f"M 100644 inline {path}\n".encode() + _data(data)


def _data(data: bytes) -> bytes:
    return b"data %d\n%s\n" % (len(data), data)


def _check(here: Stage, plan: Plan, real: str) -> None:
    """See to it that the made history has the shape of the landed turn, and lies in the folder as git has it."""
    if plan.landed and (made := template.shape(here, "main")) != (landed := template.shape(here, real)):
        raise BenchError(f"What was made is shaped otherwise than what lands: {made} is not {landed}.")
    if here.git("status", "--porcelain"):
        raise BenchError(f"The folder of {plan} is not what git has.")
