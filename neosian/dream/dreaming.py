"""A dream: what is due is read, an engine asked, the gate asked, and what passes lands; session by session."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence

from neosian import documents, query, turns
from neosian.context import one_line
from neosian.dream import edits, gate, landing, past, prompt, review, rules, spend
from neosian.dream.alone import alone
from neosian.dream.edits import Edit
from neosian.dream.engine import TOO_LONG, TRUNCATED, UNREADABLE, Answer, Asked, Engine, EngineError, cost
from neosian.dream.notes import Notes
from neosian.dream.run import Change, Made, Run, RunError, begin, new_id, unfinished
from neosian.dream.sessions import Due, Session, Sources, Waiting, due, everything
from neosian.dream.spend import Spend
from neosian.dream.tries import Tries
from neosian.errors import BrokenStoreError, BusyError, DamagedError, GitError, NeosianError, UsageError
from neosian.history import tip_of
from neosian.redact import redact
from neosian.store import Store
from neosian.wiki import Wiki

_BODIES_MOST = 12  # notes that are shown whole
_SOURCES_MOST = 8  # of them that are named
_ROUNDS = 2  # of question and answer: what the gate refuses goes back once


class Report:
    """What a dream came to: how it went for each session, tokens and money spent, what landed.

    ``total``: sessions that it set out to dream; ``ready``: when the first of those that are ``warm`` may be dreamt.
    ``stopped``: why it went no further, "" where it came to its end.
    """

    def __init__(self, scope: str, engine: str) -> None:
        self.scope = scope
        self.engine = engine
        self.run = ""
        self.total = 0
        self.sessions: list[dict[str, object]] = []
        self.failed: list[tuple[str, str]] = []
        self.aside: list[str] = []
        self.stopped = ""
        self.warm = 0
        self.ready = 0.0
        self.left = 0
        self.input_tokens = 0
        self.output_tokens = 0
        self.cost: float | None = 0.0
        self.landed: list[landing.Landed] = []

    @property
    def done(self) -> int:
        """Sessions that it is through with."""
        return len(self.sessions) + len(self.failed)

    def spend(self, answer: Answer) -> None:
        """Count what an answer cost."""
        self.input_tokens += answer.input_tokens
        self.output_tokens += answer.output_tokens
        self.cost = None if self.cost is None or answer.cost is None else self.cost + answer.cost

    def json(self) -> dict[str, object]:
        """The fields that `--json` prints."""
        failed = [{"conversation": name, "why": why} for name, why in self.failed]
        run = {"scope": self.scope, "engine": self.engine, "run": self.run or None}
        went = {
            "sessions": self.sessions,
            "failed": failed,
            "set_aside": self.aside,
            "stopped": self.stopped or None,
        }
        counts = {"total": self.total, "warm": self.warm, "left": self.left}
        spent = {"input_tokens": self.input_tokens, "output_tokens": self.output_tokens, "cost": self.cost}
        return {**run, **went, **counts, **spent, "landed": [each.json() for each in self.landed]}


class _Asked:
    """What a model's answers about one session came to: the notes with the edits that were made, those that a person is
    to look at, those refused in the end."""

    def __init__(self, notes: Notes) -> None:
        self.notes = notes
        self.made: list[Edit] = []
        self.waits: list[Edit] = []
        self.refused: list[gate.Refusal] = []

    def for_review(self) -> dict[str, bytes | None]:
        """What the notes would be with the edits that wait, by place."""
        after = self.notes.copy()
        for edit in self.waits:
            try:
                after.apply(edit)
            except NeosianError:
                continue  # another one that waits was made from the same text
        return after.changes_since(self.notes)

    def is_done(self, edit: Edit) -> bool:
        """Whether an edit that comes again in a second round was made, or waits, already."""
        bare = edit._replace(reason="", sources=())
        return any(bare == each._replace(reason="", sources=()) for each in (*self.made, *self.waits))


def waiting(store: Store, *, now: float, idle: float, is_counted: bool) -> Due:
    """What there is to dream in a scope: what no model has read, or with ``is_counted`` no rule either."""
    if not store.exists:
        return Due()
    far = past.checkpoint(store)
    return due(store, far.counted if is_counted else far.turns, now=now, idle=idle)


class _Stop(Exception):
    """Nothing more is asked in this run; says why."""


class Dreamer:
    """Dreams for the mounts of one session's view; ``engine`` None counts without a model.

    ``told`` hears a sentence, and the report as it is by then, whenever something begins.
    """

    def __init__(
        self,
        wiki: Wiki,
        engine: Engine | None,
        *,
        now: float,
        idle: float,
        named_by: Callable[[str, float], str | None],
        spend: Spend,
        told: Callable[[str, Report], None] = lambda said, report: None,
    ) -> None:
        self._wiki = wiki
        self._engine = engine
        self._now = now
        self._idle = idle
        self._named_by = named_by
        self._spend = spend
        self._told = told
        writable = [
            mount for mount in wiki.mounts if mount.writable and mount.store.scope != wiki.turns.store.scope
        ]
        self.stores: list[Store] = [*(mount.store for mount in writable), wiki.turns.store]
        self._tries = Tries(self.stores[-1])
        self._sources = Sources(self.stores[-1])

    def dream(self, *, most: int | None = None, apart: bool = False, again: bool = False) -> Report:
        """One run over what is due, oldest first; ``most`` sessions. Raises BusyError while another dream runs.

        ``apart``: nothing lands, all of it waits for review. ``again``: sessions that were set aside, too.
        """
        store = self.stores[-1]
        report = Report(store.scope, self._engine.name if self._engine else "rules")
        if not self._wiki.turns.writable:
            raise UsageError(f"{self._wiki.turns.mount} is mounted read-only, so no dream can land there.")
        if store.exists:
            with alone(self._wiki.home):
                self._dream(report, most, apart, again)
        return report

    def _dream(self, report: Report, most: int | None, apart: bool, again: bool) -> None:
        for store in self.stores:
            if store.exists and not store.is_sound():
                raise DamagedError(store.path)
        self._finish_others(report)
        is_counted = self._engine is None
        found = waiting(self.stores[-1], now=self._now, idle=self._idle, is_counted=is_counted)
        report.warm = len(found.warm)
        report.ready = found.ready(self._idle)
        trying = [each for each in found.sessions if again or not self._tries.is_aside(each)]
        report.aside = [each.conversation for each in found.sessions if each not in trying]
        chosen = trying[:most]
        report.total = len(chosen)
        report.left = len(trying) - len(chosen)
        if not chosen:
            return
        bases = {store.scope: tip_of(store) for store in self.stores if store.exists}
        id = new_id(self._wiki.home, self._now)
        run = begin(self.stores, id, bases, apart=apart, is_counted=is_counted)
        report.run = run.id
        notes = Notes.read(self._wiki, bases)
        for session in found.skipped:
            run.add(session.conversation, session.client, session.number)
        if self._engine is None:
            self._count(run, report, notes, chosen)
        else:
            self._ask_all(run, report, notes, chosen, self._engine)
        if run.dreamt:
            self._told("merging what the sessions gave", report)
            report.landed.append(landing.land(run, self._named_by, apart=apart))
        else:
            run.drop()

    def _finish_others(self, report: Report) -> None:
        """Land what a dream that was stopped had finished: each of its sessions is whole."""
        for old in unfinished(self.stores):
            if not old.dreamt:
                old.drop()
                continue
            self._told(f"landing the dream {old.id}, which was stopped", report)
            try:
                report.landed.append(landing.land(old, self._named_by))
            except RunError as error:
                self._told(str(error), report)

    # -- with a model

    def _ask_all(
        self, run: Run, report: Report, notes: Notes, chosen: Sequence[Waiting], engine: Engine
    ) -> None:
        """Ask about one session after the other. What stops it leaves the sessions before it as they are."""
        for one in chosen:
            said = f"session {report.done + 1} of {report.total}: {one_line(one.prompt, 60)}"
            self._told(said, report)
            try:
                notes = self._dream_one(run, report, notes, one, engine)
            except (_Stop, KeyboardInterrupt) as stop:
                report.stopped = str(stop) or "it was interrupted"
                break
            except (BusyError, BrokenStoreError, GitError):
                raise  # it is not the session's
            except NeosianError as error:
                report.failed.append((one.conversation, redact(str(error))))
                if isinstance(error, EngineError) and not error.is_of_the_question:
                    report.stopped = str(error)  # nor would the others be answered now
                    break
                if self._tries.failed(one, str(error)):
                    report.aside.append(one.conversation)
        report.left += report.total - report.done

    def _dream_one(self, run: Run, report: Report, notes: Notes, one: Waiting, engine: Engine) -> Notes:
        """Ask about one session and add what it gives to the run; the notes after it."""
        session = one.read(self.stores[-1], run.bases[self.stores[-1].scope])
        if not session.turns:  # they came in after the commit that is read
            return notes
        asked = self._ask(report, notes, session, engine)
        made = self._made(asked.notes.changes_since(notes), asked.for_review(), [*asked.made, *asked.waits])
        run.add(session.conversation, session.client, session.turns[-1].number, made)
        self._tries.forget(session.conversation)
        self._keep_refused(run, session, asked.refused)
        counts = {"edits": len(asked.made), "review": len(asked.waits), "refused": len(asked.refused)}
        report.sessions.append({"conversation": session.conversation, **counts})
        return asked.notes

    def _ask(self, report: Report, notes: Notes, session: Session, engine: Engine) -> _Asked:
        """What a session gives; in smaller windows where a model cannot take it, or answer it, at once."""
        room = prompt.WINDOWS[0]
        while True:
            found = _Asked(notes.copy())
            try:
                for said in prompt.windows(session, room):
                    self._ask_window(report, found, session, said, engine, room)
                return found
            except EngineError as error:
                smaller = _smaller(error, session, room)
                if not smaller:
                    raise
                room = smaller

    def _ask_window(
        self, report: Report, found: _Asked, session: Session, said: str, engine: Engine, room: int
    ) -> None:
        """Ask about one window, and again about what the gate refused."""
        question = self._question(found.notes, session, said, room)
        again, refused, problems, answered = "", list[gate.Refusal](), list[str](), 0
        for _round in range(_ROUNDS):
            answer = self._answer(report, session, question, engine, again, answered)
            answered = answer.output_tokens
            wanted, problems = edits.parse(answer.said)
            new = [edit for edit in wanted if not found.is_done(edit)]
            accepted, waits, refused = gate.judge(new, found.notes, session, self._sources, made=found.made)
            for edit in accepted:
                found.notes.apply(edit)
            found.made += accepted
            found.waits += waits
            again = "\n".join([*problems, *map(str, refused)])
            if not again:
                return
        if problems and not wanted:
            why = redact(problems[0])
            raise EngineError(UNREADABLE, f"{engine.name} gave no answer that can be read: {why}")
        found.refused += refused

    def _question(self, notes: Notes, session: Session, said: str, room: int) -> Asked:
        """What is asked about one window."""
        likely = _likely(notes, said)
        return prompt.asked(
            self._wiki.home,
            session,
            said,
            mounts={mount.mount: mount.writable for mount in self._wiki.mounts},
            index=_index(notes, likely, self._wiki.turns.mount),
            bodies={_with_sources(place, notes): notes.texts[place] for place in likely[:_BODIES_MOST]},
            rules=self._rules(),
            now=self._now,
            room=room,
        )

    def _answer(
        self, report: Report, session: Session, question: Asked, engine: Engine, again: str, answered: int
    ) -> Answer:
        """One answer, asked for within the caps. What it took is booked, also where it is of no use."""
        if why := self._spend.refuses(spend.estimate(question, again, answered)):
            raise _Stop(why)
        try:
            answer = engine.ask(question, again=again)
        except EngineError as error:
            used = error.input_tokens, error.output_tokens
            if any(used):
                self._book(report, session, engine, Answer(None, *used, cost=cost(engine.model, *used)))
            raise
        self._book(report, session, engine, answer)
        return answer

    def _book(self, report: Report, session: Session, engine: Engine, answer: Answer) -> None:
        report.spend(answer)
        try:
            self._spend.book(engine, answer, self.stores[-1].scope, session.conversation)
        except OSError as error:
            raise _Stop(f"what it spends cannot be written down ({error.strerror})") from None

    def _rules(self) -> Iterable[str]:
        """What persons said when they rejected an edit, newest first."""
        found = [
            (mount, each)
            for mount in self._wiki.mounts
            if mount.writable and mount.store.exists
            for each in review.rejections(mount.store, by=review.PERSON)
        ]
        found.sort(key=lambda pair: -pair[1].at)
        return dict.fromkeys(f"{mount.at(each.path)}: {each.reason}" for mount, each in found if each.reason)

    def _keep_refused(self, run: Run, session: Session, refused: Sequence[gate.Refusal]) -> None:
        """Keep what the gate refused where `neosian status` counts it."""
        for number, refusal in enumerate(refused, 1):
            edit = refusal.edit
            rejection = review.Rejection(
                f"{run.id}-{session.conversation}-{number}",
                review.GATE,
                edit.path,
                refusal.why,
                run=run.id,
                conversation=session.conversation,
                sources=edit.sources,
                text=edit.text or edit.new,
            )
            review.keep(self.stores[-1], rejection)

    # -- without one

    def _count(self, run: Run, report: Report, notes: Notes, chosen: Sequence[Waiting]) -> None:
        """The notes that need no model: counted from all turns of the scope, the same for the same turns."""
        store = self.stores[-1]
        base, origin = run.bases[store.scope], store.scope.rpartition(":")[2]
        self._told("counting what the sessions did", report)
        told = {each.conversation: each.turns for each in everything(store, base)}
        counted = rules.notes_of(
            told,
            mount=self._wiki.turns.mount,
            personal=self._personal(),
            origin=origin,
            forgotten={place: _until(told, gone.at) for place, gone in notes.gone.items()},
        )
        changes: dict[str, bytes | None] = {}
        wanted: list[Edit] = []
        for place, body in counted.items():
            held = notes.texts.get(place, "")
            if notes.pinned(place) or place in notes.withheld:
                continue
            if not notes.is_utf8(place):
                self._told(f"leaving {place} alone, which is not UTF-8", report)
                continue
            personal = place.startswith(f"{self._personal()}/")
            text = rules.merged(place, held, body, origin if personal else "")
            if text and text != held:
                changes[place] = text.encode()
                wanted.append(_reasoned(place, "counted from the turns", rules.sources_of(body, told)))
        *others, last = [each for each in chosen if each.conversation in told]
        for session in others:
            run.add(session.conversation, session.client, told[session.conversation][-1].number)
        made = self._made(changes, {}, wanted)
        run.add(last.conversation, last.client, told[last.conversation][-1].number, made)
        report.sessions = [
            {"conversation": each.conversation, "edits": 0, "review": 0, "refused": 0}
            for each in (*others, last)
        ]
        report.sessions[-1]["edits"] = len(changes)

    def _personal(self) -> str:
        return next(
            (mount.mount for mount in self._wiki.mounts if mount.mount == "/user"), self._wiki.turns.mount
        )

    # -- both

    def _made(
        self, changes: dict[str, bytes | None], waits: dict[str, bytes | None], asked: Sequence[Edit]
    ) -> list[Made]:
        """Changes by scope, each with the reason and the sources of the edits that made it."""
        found: dict[str, Made] = {}
        for place, data, is_made in (
            *((p, d, True) for p, d in changes.items()),
            *((p, d, False) for p, d in waits.items()),
        ):
            where = self._wiki.place(place)
            mine = [edit for edit in asked if place in (edit.path, edit.new_path)]
            reason = "; ".join(dict.fromkeys(edit.reason for edit in mine if edit.reason))
            change = Change(data, reason, dict.fromkeys(source for edit in mine for source in edit.sources))
            made = found.setdefault(where.store.scope, Made(where.store.scope))
            (made.changes if is_made else made.to_review)[where.path] = change
        return list(found.values())


def _smaller(error: EngineError, session: Session, room: int) -> int:
    """The next smaller window in which there may be an answer where ``room`` had none, 0 for none."""
    smaller = [each for each in prompt.WINDOWS if each < room]
    if error.kind == TRUNCATED:  # each answer has less to say only where there are more of them
        pieces = len(prompt.windows(session, room))
        smaller = [each for each in smaller if len(prompt.windows(session, each)) > pieces]
    return next(iter(smaller), 0) if error.kind in (TOO_LONG, TRUNCATED) else 0


def _index(notes: Notes, likely: Sequence[str], last: str) -> dict[str, str]:
    """A line for each note by its place: what it says of itself. The likely ones come first, those of the mount that
    has most ``last``."""
    rest = sorted(notes.texts, key=lambda place: (place.startswith(f"{last}/"), place))
    return {place: _row(place, notes.texts[place]) for place in dict.fromkeys((*likely, *rest))}


def _row(place: str, text: str) -> str:
    page = documents.read(text.encode())
    mark = " (pinned)" if page.pinned else ""
    flag = f" (flagged {one_line(page.flagged, 80)})" if page.flagged else ""
    return f"- {place}{mark}: {one_line(page.description or page.title, 140)}{flag}"


def _likely(notes: Notes, said: str) -> list[str]:
    """The notes that a session's words point at, the likeliest first: a word counts the more, the fewer have it."""
    texts = {place: text for place, text in notes.texts.items() if place.rpartition("/")[2] != "README.md"}
    words = {place: set(query.parse(f"{place}\n{text}").words) for place, text in texts.items()}
    having: dict[str, int] = {}
    for each in words.values():
        for word in each:
            having[word] = having.get(word, 0) + 1
    asked = set(query.parse(said).words)
    weights = {
        place: sum(math.log1p(len(texts) / having[word]) for word in mine & asked)
        for place, mine in words.items()
    }
    return sorted((place for place in texts if weights[place]), key=lambda place: (-weights[place], place))


def _with_sources(place: str, notes: Notes) -> str:
    """A note's place, and the turns that taught it: a rule or a skill needs those of two sessions."""
    known = sorted(notes.sources(place))
    return f"{place} (taught by {', '.join(known[-_SOURCES_MOST:])})" if known else place


def _until(told: Mapping[str, Sequence[turns.Turn]], at: float) -> list[str]:
    """The sources that stood in the record at a time."""
    return [
        f"{name}#{turn.number}"
        for name, mine in told.items()
        for turn in mine
        if turns.seconds(turn.at) <= at
    ]


def _reasoned(place: str, reason: str, sources: Iterable[str]) -> Edit:
    return Edit(edits.REWRITE, place, reason=reason, sources=tuple(sources))
