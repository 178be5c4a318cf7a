"""Landing: what waits in the spool becomes turns, each one commit in the scope of its conversation.

Nothing is lost or doubled when a lander is killed: the journal knows what was on the way, and whoever lands next
either removes the raw events (main has the commit) or the journal's note (it has not).
"""

from __future__ import annotations

import os
import time

from neosian import adopt, clients, fastjson, files, projects, recording, scope, switch, turns
from neosian.adopting import adopt_edits
from neosian.config import Config
from neosian.draft import Draft
from neosian.errors import BrokenStoreError, DamagedError, GitError, NeosianError, UsageError
from neosian.events import Event
from neosian.journal import Journal, Note
from neosian.own import own_sessions
from neosian.places import Place, find_place, layout_of, machine, new_place
from neosian.scrub import Policy, render
from neosian.spans import Batch, Span, assemble
from neosian.spool import CONTEXT, Entry, Spool
from neosian.store import Lock, Store
from neosian.touches import Touches, actor

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import TypeVar

    T = TypeVar("T")

_LOOKED_BACK = 200
"""Segments, newest first, in which a background launch of another conversation is looked for."""

_ANSWERS = 0.5
"""Seconds for which a landing waits in all for answers that their clients are still writing."""


class Landed:
    """One turn, or late lines of one, in main: ``commit`` is its id."""

    __slots__ = ("commit", "scope", "span")

    def __init__(self, span: Span, scope: str, commit: str) -> None:
        self.span = span
        self.scope = scope
        self.commit = commit


class Lander:
    """Lands one home's spool. One at a time a home: the spool's lock is held from reading to removing.

    ``patience`` is how long it may wait for others in all, in seconds; ``mends`` whether it has the time to mend a
    large damaged repository.
    """

    def __init__(
        self,
        home: str,
        settings: Config,
        *,
        spool: Spool | None = None,
        patience: float = 0.5,
        mends: bool = False,
    ) -> None:
        self.home = home
        self.settings = settings
        self.spool = spool or Spool(home)
        self.journal = Journal(self.spool.folder, home)
        self._until = time.monotonic() + patience
        self._waits = _ANSWERS
        self.stores: dict[str, Store] = {}
        self.failures: list[NeosianError] = []
        self._mends = mends
        self._places: dict[tuple[str, str], Place] = {}
        self._new: set[tuple[str, str]] = set()
        self._touches = Touches((), self.journal)
        self._machine = machine(home)

    def land(self, *, sweep: bool = True, turn: Lock | None = None) -> list[Landed]:
        """Land all that is complete, in order. What fails in one scope waits and is told in ``failures``.

        ``turn`` is the place of one who waits for the spool, which is free for the next once this one has it.
        """
        with Lock(os.path.join(self.spool.folder, "lock"), self.patience):
            if turn is not None:
                turn.release()
            self._settle()
            events = [event for entry in self.spool.take() if (event := self._event(entry)) is not None]
            events = self._without_off(self._without_own(events))
            self._new = {(event.client, event.session) for event in events if _begins(event)}
            events = [event for event in events if self._is_readable(event.client, event.session)]
            if not events:
                return []
            batch = self._assemble(events, sweep)
            landing = [
                (event, f"{actor(span.first)}#{span.turn}") for span in batch.spans for event in span.events
            ]
            waiting = [(event, actor(event)) for event in batch.keep]
            self._touches = Touches([*landing, *waiting], self.journal)
            landed: list[Landed] = []
            for text, spans in self._by_scope(batch.spans).items():
                try:
                    landed += self._land(self.store(text), spans)
                except Exception as error:  # one scope must not stop the others
                    self._failed(error)
            self.spool.drop(event.spooled for event in batch.drop)
            return landed

    def close(self) -> None:
        """Let go of the repositories, which stay open for whoever looks at what landed."""
        for store in self.stores.values():
            store.repo.close()

    @property
    def patience(self) -> float:
        """Seconds that are left to wait for others' locks: all waits together are bounded, not each."""
        return max(0.05, self._until - time.monotonic())

    def store(self, text: str) -> Store:
        """The store of a scope, opened once, and mended first if a crash left it damaged."""
        if text not in self.stores:
            store = projects.open_store(self.home, text)
            store.stays_open = True
            if store.exists and store.was_made and not store.is_sound():
                self._mend(store)
            self.stores[text] = store
        return self.stores[text]

    def _mend(self, store: Store) -> None:
        from neosian.healing import heal, is_quick  # hardly ever needed

        if not (self._mends or is_quick(store.repo)):
            raise DamagedError(store.path)
        self._log(heal(store, self.journal, self._machine))

    def _mending(self, store: Store, act: Callable[[], T]) -> T:
        """What ``act`` gives; where it finds the repository damaged, once more after mending."""
        try:
            return act()
        except (BrokenStoreError, GitError) as broken:
            self._log(str(broken))
            self._mend(store)
            return act()

    def _is_readable(self, client: str, session: str) -> bool:
        """Whether the scope of a conversation can be read; if not, its events wait and the others go on."""
        try:
            place = self._place(client, session)
            if place is not None:
                self.store(place.scope)
            return True
        except (NeosianError, OSError) as error:
            if str(error) not in map(str, self.failures):
                self.failures.append(_told(error))
            return False

    # events

    def _event(self, entry: Entry) -> Event | None:
        try:
            if entry.spooled.event == CONTEXT:
                return _context_event(entry)
            event = clients.read(entry.payload, entry.spooled)
            if "transcript" in event.data and self.settings.record_transcript:
                event.data["text"] = self._from_transcript(event)
            return event
        except Exception as error:  # one payload must not stop the others
            self._set_aside([entry.spooled.name], error)
            self.failures.pop()  # the hook whose event it is tells of it itself
            return None

    def _from_transcript(self, event: Event) -> str:
        """An answer that its client may still be writing; a landing waits for all of them together."""
        began = time.monotonic()
        try:
            return clients.from_transcript(event, self._waits)
        finally:
            self._waits = max(0.0, self._waits - (time.monotonic() - began))

    def _without_own(self, events: list[Event]) -> list[Event]:
        """The events without those of our own questions to a model, which leave nothing."""
        own = own_sessions(self.home, events)
        self.spool.drop(event.spooled for event in events if (event.client, event.session) in own)
        return [event for event in events if (event.client, event.session) not in own]

    def _without_off(self, events: list[Event]) -> list[Event]:
        """The events without those of sessions that began in a project which is switched off, and leave nothing.

        The launcher lets few of them in: those of a client that runs its hooks in a folder of its own.
        """
        if not os.path.exists(switch.list_file(self.home)):
            return events
        began: dict[tuple[str, str], str] = {}
        for event in sorted(events, key=lambda event: event.at):
            began.setdefault((event.client, event.session), event.root or event.cwd)
        off = {key for key, folder in began.items() if switch.is_project_off(self.home, folder)}
        off = {key for key in off if self._place(*key) is None}
        self.spool.drop(event.spooled for event in events if (event.client, event.session) in off)
        return [event for event in events if (event.client, event.session) not in off]

    def _assemble(self, events: list[Event], sweep: bool) -> Batch:
        """The spans of these events; a conversation that cannot be made sense of is set aside, the others go on."""
        try:
            return self._assembled(events, sweep)
        except Exception:
            whole = Batch()
            conversations: dict[tuple[str, str], list[Event]] = {}
            for event in events:
                conversations.setdefault((event.client, event.session), []).append(event)
            for mine in conversations.values():
                try:
                    batch = self._assembled(mine, sweep)
                except (NeosianError, OSError) as error:  # it is the store that failed: they wait
                    self.failures.append(_told(error))
                    whole.keep += mine
                    continue
                except Exception as error:
                    self._set_aside([event.spooled for event in mine], error)
                    continue
                whole.spans += batch.spans
                whole.keep += batch.keep
                whole.drop += batch.drop
            return whole

    def _assembled(self, events: list[Event], sweep: bool) -> Batch:
        now = time.time() if sweep else None
        return assemble(
            events, self._memory, self._find_launch, now=now, silence=self.settings.record_silence
        )

    def _set_aside(self, names: Iterable[str], error: Exception) -> None:
        """Keep events that stop a landing where `neosian status` shows them."""
        for name in names:
            self.spool.set_aside(name, str(error) or type(error).__name__)
        self._failed(error)

    def _failed(self, error: Exception) -> None:
        """Tell of a failure in ``failures``, and of one that nobody expected in the log."""
        self.failures.append(_told(error))
        if not isinstance(error, (NeosianError, OSError)):
            import traceback

            self._log(" | ".join(traceback.format_exception(error)))

    def _by_scope(self, spans: Iterable[Span]) -> dict[str, list[Span]]:
        found: dict[str, list[Span]] = {}
        for span in spans:
            try:
                place = self._place(span.client, span.session) or self._new_place(span)
            except UsageError as error:  # a hook line's scope or mount that is none
                self._set_aside((event.spooled for event in span.events), error)
                continue
            except (NeosianError, OSError) as error:  # such as a projects.toml that is broken: they wait
                self.failures.append(_told(error))
                continue
            found.setdefault(place.scope, []).append(span)
        return found

    # conversations

    def _place(self, client: str, session: str) -> Place | None:
        key = (client, session)
        if key not in self._places:
            place = find_place(self.home, client, session, search=key not in self._new)
            if place is None:
                return None
            self._places[key] = place
        return self._places[key]

    def _new_place(self, span: Span) -> Place:
        """Where a conversation's turns go, fixed at its first event."""
        place = new_place(self.home, self.settings, span.first)
        self._places[(span.client, span.session)] = place
        return place

    def _memory(self, client: str, session: str) -> turns.Memory:
        place = self._place(client, session)
        if place is None:
            return turns.Memory()
        store = self.store(place.scope)

        def read() -> turns.Memory:
            tip = store.repo.tip() if store.exists else None
            if tip is None:
                return turns.Memory()
            draft = Draft(store.repo, tip)
            paths = recording.segments(draft, place.day, client, session)
            # Two: just after a segment closed, what comes late belongs to the one before.
            return turns.remember(
                line for path in paths[-2:] for line in turns.parse_lines(draft.read(path) or b"")[0]
            )

        return self._mending(store, read)

    def _find_launch(self, client: str, name: str) -> turns.Launch | None:
        """Look a background task or call up in the newest segments of every scope (rare: after `/clear`)."""
        wanted = fastjson.dumps(name).encode()
        for store in projects.stores(self.home):
            try:
                for path, lines in newest_segments(store, wanted):
                    found = turns.remember(lines).launches.get(name)
                    session = next((str(line["session"]) for line in lines if line.get("session")), "")
                    if found is not None and session:
                        self._places[(client, session)] = Place(store.scope, "/".join(path.split("/")[1:3]))
                        return turns.Launch(session, found.turn, found.call, found.task)
            except (BrokenStoreError, GitError) as error:
                self._log(f"{store.scope} was not looked through: {error}")
            finally:
                store.repo.close()
        return None

    # one scope

    def _land(self, store: Store, spans: list[Span]) -> list[Landed]:
        project = None
        if root := self._places[(spans[0].client, spans[0].session)].root:
            project = projects.register(self.home, root)
        landed: list[Landed] = []
        begun: list[str] = []
        rendered = []
        for span in spans:
            try:
                rendered.append((span, self._render(span)))
            except Exception as error:
                self._set_aside((event.spooled for event in span.events), error)

        def change(draft: Draft) -> None:
            landed.clear()
            adopt.adopt(draft, self._touches.named_by)
            for span, lines in rendered:
                day = self._places[(span.client, span.session)].day
                landed.append(Landed(span, store.scope, recording.add(draft, day, self._machine, lines)))

        def before(draft: Draft) -> None:
            while begun:
                self.journal.drop(begun.pop())
            for each, (_, lines) in zip(landed, rendered, strict=True):
                self.journal.begin(each.commit, self._note(each, lines))
                begun.append(each.commit)

        self._mending(store, lambda: store.write(change, before=before, patience=self.patience))
        if project is not None and project.scope == store.scope:
            projects.note_identities(store, project)
        for each in landed:
            place = self._places[(each.span.client, each.span.session)]
            place.remember(self.home, each.span.client, each.span.session)
        self._adopt_elsewhere(store, spans)
        self._settle()
        return landed

    def _render(self, span: Span) -> recording.Span:
        policy = Policy(
            output_chars=self.settings.record_output_chars,
            input_chars=self.settings.record_input_chars,
            ignore=self.settings.record_ignore,
        )
        about = {
            "actor": actor(span.first),
            "branch": scope.branch(span.cwd) if span.cwd else "",
            "host": scope.host(),
        }
        lines = render(span.lines, policy, about)
        at = max((event.at for event in span.events), default=span.at)
        return recording.Span(
            span.client,
            span.session,
            span.turn,
            lines,
            actor=actor(span.first),
            at=at,
            began=span.at,
            state=span.state,
            late=span.late,
        )

    def _adopt_elsewhere(self, store: Store, spans: Iterable[Span]) -> None:
        """Adopt what was changed in the other scopes: in those that these sessions see, and at once what the turns'
        own calls changed anywhere."""
        named = self._touches.below(os.path.join(os.path.realpath(self.home), "scopes"))
        seen = {
            mount.scope
            for span in spans
            for mount in layout_of(self.home, self.settings, span.first).mounts
            if mount.writable
        }
        for other in projects.stores(self.home):
            is_meant = other.scope in seen or os.path.basename(other.path) in named
            if other.scope != store.scope and is_meant and adopt.is_time(other.repo):
                try:
                    adopt_edits(self.store(other.scope), self._touches.named_by, patience=self.patience)
                except (NeosianError, OSError) as error:  # the turns have landed all the same
                    self._failed(error)

    def _log(self, said: str) -> None:
        files.log(os.path.join(self.home, "log", "neosian.log"), said)

    # the journal

    def _note(self, landed: Landed, rendered: recording.Span) -> Note:
        span = landed.span
        return Note(
            scope=landed.scope, day=self._places[(span.client, span.session)].day, client=span.client,
            session=span.session, turn=span.turn, raw=(event.spooled for event in span.events),
            lines=[turns.dumps(line) for line in rendered.lines],
        )  # fmt: skip

    def _settle(self) -> None:
        """Finish what the journal holds: main has the commit, and its events may go; or it has not."""
        for commit, note in self.journal.unfinished():
            if note is None:
                self.journal.drop(commit)
                continue
            try:
                store = self.store(note.scope)
                held = store.exists and _holds(store, commit, self.patience)
            except (NeosianError, OSError) as error:
                self.failures.append(_told(error))
                continue
            if held:
                self.spool.drop(note.raw)
                self.journal.finish(commit, os.path.basename(store.path))
            else:
                self.journal.drop(commit)


def _context_event(entry: Entry) -> Event:
    """What a session was told, spooled by ourselves."""
    said, spooled = entry.payload, entry.spooled
    data: dict[str, object] = {
        "event": str(said.get("event", "start")),
        "commit": said.get("commit"),
        "shown": said.get("shown") or [],
        "listed": said.get("listed") or None,
        "source": said.get("source") or None,
    }
    return Event(
        client=spooled.client, session=str(said.get("session_id", "")), name="", kind="context", at=spooled.at,
        data={**data, "text": str(said.get("text", ""))}, spooled=spooled.name, cwd=spooled.cwd,
        prompt_id=said.get("prompt_id"), root=spooled.marks.get("CLAUDE_PROJECT_DIR"), level=spooled.level,
        tick=spooled.tick, boot=spooled.boot,
    )  # fmt: skip


def newest_segments(store: Store, wanted: bytes) -> Iterator[tuple[str, list[turns.Line]]]:
    """Path and lines of the newest segments of a scope that hold some bytes."""
    tip = store.repo.tip()
    paths = sorted((path for path, _ in store.repo.ls(tip, "record/")), reverse=True) if tip else []
    for path in paths[:_LOOKED_BACK]:
        data = store.repo.read(tip or "", path) or b""
        if wanted in data:
            yield path, turns.parse_lines(data)[0]


def _begins(event: Event) -> bool:
    """Whether an event tells of a session that did not exist before."""
    return event.kind == "start" and event.data.get("source") in ("startup", "clear", "fork")


def _holds(store: Store, commit: str, patience: float) -> bool:
    """Whether main has a commit, once what a killed writer left is finished."""
    if store.repo.tip() == commit:
        return True
    store.write(lambda draft: None, patience=patience)
    tip = store.repo.tip()
    return tip == commit or (
        tip is not None and store.repo.succeeds("merge-base", "--is-ancestor", commit, tip)
    )


def _told(error: Exception) -> NeosianError:
    if isinstance(error, NeosianError):
        return error
    said = error.strerror if isinstance(error, OSError) else f"{type(error).__name__}: {error}"
    return NeosianError(f"{said}.", "neosian status")
