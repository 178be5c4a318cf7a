"""A dream: what is due is read, an engine asked, the gate asked, and what passes lands; session by session."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from neosian import documents, query, turns
from neosian.context import one_line
from neosian.dream import edits, gate, landing, past, prompt, review, rules
from neosian.dream.edits import Edit
from neosian.dream.engine import Answer, Engine, EngineError
from neosian.dream.notes import Notes
from neosian.dream.run import Change, Made, Run, begin, new_id, unfinished
from neosian.dream.sessions import Due, Session, due
from neosian.errors import BusyError, NeosianError
from neosian.history import tip_of
from neosian.store import Lock, Store
from neosian.wiki import Wiki

_BODIES_MOST = 12  # notes that are shown whole


class Report:
    """What a dream came to: how it went for each session, tokens and money spent, what landed."""

    def __init__(self, engine: str) -> None:
        self.engine = engine
        self.run = ""
        self.sessions: list[dict[str, object]] = []
        self.failed: list[tuple[str, str]] = []
        self.warm = 0
        self.left = 0
        self.input_tokens = 0
        self.output_tokens = 0
        self.cost: float | None = 0.0
        self.landed: landing.Landed | None = None

    def spend(self, answer: Answer) -> None:
        """Count what an answer cost."""
        self.input_tokens += answer.input_tokens
        self.output_tokens += answer.output_tokens
        self.cost = None if self.cost is None or answer.cost is None else self.cost + answer.cost

    def json(self) -> dict[str, object]:
        """The fields that `--json` prints."""
        failed = [{"conversation": name, "why": why} for name, why in self.failed]
        counts = {"warm": self.warm, "left": self.left}
        spent = {"input_tokens": self.input_tokens, "output_tokens": self.output_tokens, "cost": self.cost}
        landed = self.landed.json() if self.landed else None
        run = {"engine": self.engine, "run": self.run or None, "sessions": self.sessions, "failed": failed}
        return {**run, **counts, **spent, "landed": landed}


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


class Dreamer:
    """Dreams for the mounts of one session's view; ``engine`` None counts without a model."""

    def __init__(
        self,
        wiki: Wiki,
        engine: Engine | None,
        *,
        now: float,
        idle: float,
        named_by: Callable[[str, float], str | None],
        told: Callable[[str], None] = lambda said: None,
    ) -> None:
        self._wiki = wiki
        self._engine = engine
        self._now = now
        self._idle = idle
        self._named_by = named_by
        self._told = told
        writable = [
            mount for mount in wiki.mounts if mount.writable and mount.store.scope != wiki.turns.store.scope
        ]
        self.stores: list[Store] = [*(mount.store for mount in writable), wiki.turns.store]

    def waiting(self) -> Due:
        """What there is to dream."""
        store = self.stores[-1]
        if not store.exists:
            return Due()
        return due(store, tip_of(store), past.checkpoint(store).turns, now=self._now, idle=self._idle)

    def dream(self, *, most: int | None = None, apart: bool = False) -> Report:
        """One run over what is due, oldest first; ``most`` sessions. Raises BusyError while another dream runs.

        ``apart``: nothing lands, all of it waits for review.
        """
        report = Report(self._engine.name if self._engine else "rules")
        store = self.stores[-1]
        if not store.exists:
            return report
        try:
            with Lock(f"{store.repo.private}/dream.lock", 0.1):
                self._dream(report, most, apart)
        except BusyError:
            raise BusyError("Another dream of this scope is under way.", "neosian status") from None
        return report

    def _dream(self, report: Report, most: int | None, apart: bool) -> None:
        for old in unfinished(self.stores):
            if old.is_sealed:
                self._told(f"finishing the dream {old.id}, which was stopped")
                landing.land(old, self._named_by)
            else:
                old.drop()
        found = self.waiting()
        report.warm = len(found.warm)
        chosen = found.sessions[:most]
        report.left = len(found.sessions) - len(chosen)
        if not chosen:
            return
        bases = {store.scope: tip_of(store) for store in self.stores if store.exists}
        run = begin(self.stores, new_id(self._wiki.home, self._now), bases)
        report.run = run.id
        notes = Notes.read(self._wiki, bases)
        for session in found.skipped:
            run.add(session.conversation, session.client, session.turns[-1].number)
        if self._engine is None:
            self._count(run, report, notes, chosen)
        else:
            self._ask_all(run, report, notes, chosen, self._engine)
        if run.dreamt:
            report.landed = landing.land(run, self._named_by, apart=apart)
        else:
            run.drop()

    # -- with a model

    def _ask_all(
        self, run: Run, report: Report, notes: Notes, chosen: Sequence[Session], engine: Engine
    ) -> None:
        for number, session in enumerate(chosen, 1):
            self._told(
                f"session {number} of {len(chosen)}: {session.conversation}, {len(session.turns)} turns"
            )
            try:
                asked = self._ask(report, notes, session, engine)
            except EngineError as error:
                report.failed.append((session.conversation, str(error)))
                report.input_tokens += error.input_tokens
                report.output_tokens += error.output_tokens
                if not error.is_of_the_question:  # nor would the others be answered now
                    report.left += len(chosen) - number
                    return
                continue
            changes, waits = asked.notes.changes_since(notes), asked.for_review()
            edits_ = [*asked.made, *asked.waits]
            run.add(
                session.conversation,
                session.client,
                session.turns[-1].number,
                self._made(changes, waits, edits_),
            )
            notes = asked.notes
            self._keep_refused(run, session, asked.refused)
            counts = {"edits": len(asked.made), "review": len(asked.waits), "refused": len(asked.refused)}
            report.sessions.append({"conversation": session.conversation, **counts})

    def _ask(self, report: Report, notes: Notes, session: Session, engine: Engine) -> _Asked:
        """What a session gives; a second round where the gate refused something."""
        found = _Asked(notes.copy())
        for _, said in prompt.windows(session):
            question = prompt.asked(
                self._wiki.home,
                session,
                said,
                index=_index(found.notes),
                bodies=_bodies(found.notes, said),
                rules=self._rules(),
                now=self._now,
            )
            again = ""
            refused: list[gate.Refusal] = []
            for _round in range(2):
                answer = engine.ask(question, again=again)
                report.spend(answer)
                wanted, problems = edits.parse(answer.said)
                accepted, waits, refused = gate.judge(wanted, found.notes, session, made=found.made)
                for edit in accepted:
                    found.notes.apply(edit)
                found.made += accepted
                found.waits += waits
                again = "\n".join([*problems, *map(str, refused)])
                if not again:
                    break
            found.refused += refused
        return found

    def _rules(self) -> Iterable[str]:
        """Why persons rejected changes, in whichever scope these were."""
        rejected = (each for store in self.stores for each in review.rejections(store, review.PERSON))
        return dict.fromkeys(each.reason for each in rejected if each.reason)

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

    def _count(self, run: Run, report: Report, notes: Notes, chosen: Sequence[Session]) -> None:
        """The notes that need no model: counted from all turns of the scope, the same for the same turns."""
        store = self.stores[-1]
        base, origin = run.bases[store.scope], store.scope.rpartition(":")[2]
        everything = due(store, base, {}, now=self._now, idle=0).sessions
        told = {each.conversation: each.turns for each in everything}
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
            personal = place.startswith(f"{self._personal()}/")
            text = rules.merged(place, held, body, origin if personal else "")
            if text and text != held:
                changes[place] = text.encode()
                wanted.append(_reasoned(place, "counted from the turns", rules.sources_of(body, told)))
        *others, last = chosen
        for session in others:
            run.add(session.conversation, session.client, session.turns[-1].number)
        run.add(last.conversation, last.client, last.turns[-1].number, self._made(changes, {}, wanted))
        report.sessions = [
            {"conversation": each.conversation, "edits": 0, "review": 0, "refused": 0} for each in chosen
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


def _index(notes: Notes) -> Iterable[str]:
    """A line for each note: its place and what it says of itself."""
    for place, text in sorted(notes.texts.items()):
        page = documents.read(text.encode())
        mark = " (pinned)" if page.pinned else ""
        flag = f" (flagged {one_line(page.flagged, 80)})" if page.flagged else ""
        yield f"- {place}{mark}: {one_line(page.description or page.title, 140)}{flag}"


def _bodies(notes: Notes, said: str) -> dict[str, str]:
    """The notes that share most words with a session, the likeliest first."""
    words = set(query.parse(said).words)
    shares = {
        place: len(words & set(query.parse(text).words))
        for place, text in notes.texts.items()
        if place.rpartition("/")[2] != "README.md"
    }
    likely = sorted(
        (place for place, share in shares.items() if share), key=lambda place: (-shares[place], place)
    )
    return {place: notes.texts[place] for place in likely[:_BODIES_MOST]}


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
