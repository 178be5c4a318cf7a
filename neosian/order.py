"""Events in the order in which they happened, each of them once, and each call with a name."""

from __future__ import annotations

from neosian import fastjson

try:
    from _sha1 import sha1
except ImportError:  # a Python built without its own
    from hashlib import sha1

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from neosian.events import Event

    Clock = Callable[[Event], tuple[float, str, float, float, str]]
    Places = dict[str | None, list[int]]

# The hook lines of one event run side by side; their files may be this many seconds apart.
TWIN_SECONDS = 5.0
MADE = "neosian-"  # how the names begin that are given here
ENDS = ("start", "stop", "failure", "end")  # kinds of events after which no call of the turn before ends
# Starts that give a session its id: nothing of the session can be older.
NEW_SESSION = ("startup", "clear", "fork")


def in_order(events: Iterable[Event]) -> list[Event]:
    """The events of one conversation as they happened.

    The time since boot decides where there is one. Else, and within one tick of it, a call comes before its
    result, a result before the batch that tells of it, a prompt before what carries its id, and only then count
    file time and name: the wall clock may have been set back in between.
    """
    found = by_clock(events)
    causes = _causes(found)
    placed: set[int] = set()
    ordered: list[int] = []
    for place in range(len(found)):
        _place(place, causes, placed, ordered)
    return [found[place] for place in ordered]


def by_clock(events: Iterable[Event]) -> list[Event]:
    """The events of any conversations by their ticks, or by wall time where some have none."""
    found = list(events)
    found.sort(key=_clock(found))
    return found


def without_twins(events: Iterable[Event]) -> list[Event]:
    """Each event once, where several hook lines (told apart by ``level``) brought the same one.

    The same payload twice through one line stays twice: somebody said "continue" and said it again.
    """
    kept: list[Event] = []
    heard: dict[tuple[object, ...], list[tuple[Event, set[str]]]] = {}
    for event in events:
        alike = heard.setdefault(
            (event.session, event.name, event.prompt_id, event.agent, event.call, event.cwd), []
        )
        for first, levels in alike:
            if event.level not in levels and _together(first, event) and first.data == event.data:
                levels.add(event.level)
                break
        else:
            alike.append((event, {event.level}))
            kept.append(event)
    return kept


def without_echoes(events: Iterable[Event]) -> list[Event]:
    """The events without those that tell of a call a second time: they count only in a turn that nothing else tells of
    calls."""
    found = list(events)
    told = {event.prompt_id for event in found if event.kind in ("call", "result") and not _is_echo(event)}
    return [event for event in found if not (_is_echo(event) and event.prompt_id in told)]


def _is_echo(event: Event) -> bool:
    return event.data.get("echo") is True


def with_calls(events: Iterable[Event]) -> list[Event]:
    """The events of one conversation, in order, with names for calls to which their client gives none.

    A result belongs to the oldest call of its turn, of the same tool with the same input, that has none yet. A name is
    made of the event that came first, so that it is the same whenever the same events come, named before or not.
    """
    found = list(events)
    open_calls: dict[str, list[str]] = {}
    for event in found:
        if not event.agent and (event.kind in ENDS or _opens_a_turn(event)):
            open_calls.clear()
        if event.kind not in ("call", "result") or not (event.call or MADE).startswith(MADE):
            continue
        asked = f"{event.agent} {event.data['tool']} {fastjson.dumps(event.data['input'], sort_keys=True)}"
        waiting = open_calls.setdefault(asked, [])
        if event.kind == "result" and waiting:
            event.call = waiting.pop(0)
            continue
        name = sha1(f"{event.session} {event.spooled}".encode("utf-8", "surrogatepass")).hexdigest()[:16]
        event.call = MADE + name
        if event.kind == "call":
            waiting.append(event.call)
    return found


def _opens_a_turn(event: Event) -> bool:
    return event.kind == "prompt" and (event.prompt_id is not None or event.data.get("steers") is False)


def _together(one: Event, other: Event) -> bool:
    if one.tick is not None and other.tick is not None and one.boot == other.boot:
        return abs(one.tick - other.tick) <= TWIN_SECONDS
    return abs(one.at - other.at) <= TWIN_SECONDS


def _clock(events: Sequence[Event]) -> Clock:
    """What to sort by. Boots follow each other by the earliest wall time of each."""
    if any(event.tick is None for event in events):
        return lambda event: (0.0, "", 0.0, event.at, event.spooled)
    boots: dict[str, float] = {}
    for event in events:
        boots[event.boot] = min(event.at, boots.get(event.boot, event.at))
    return lambda event: (boots[event.boot], event.boot, event.tick or 0.0, event.at, event.spooled)


def _place(place: int, causes: dict[int, list[int]], placed: set[int], ordered: list[int]) -> None:
    """Put one event in line, after the causes that are not in line yet; a circle of causes is cut."""
    path = [place]
    while path:
        waits = next((at for at in causes.get(path[-1], ()) if at not in placed and at not in path), None)
        if waits is not None:
            path.append(waits)
            continue
        done = path.pop()
        if done not in placed:
            placed.add(done)
            ordered.append(done)


def _causes(events: Sequence[Event]) -> dict[int, list[int]]:
    """For the place of each event, the places of those that must precede it though no tick says so."""
    starts = [at for at, event in enumerate(events) if _is_new_session(event)]
    calls, results = _places(events, "call"), _places(events, "result")
    prompts = _prompts(events)
    causes: dict[int, list[int]] = {}
    for at, event in enumerate(events):
        before = [] if at in starts else [*starts, *_calls_before(event, calls, results)]
        if event.prompt_id in prompts and not event.agent and event.kind != "end":
            before.append(prompts[event.prompt_id])
        causes[at] = [cause for cause in before if cause != at and _unsure(events[cause], event)]
    for stop, early in _early_stops(events, prompts):
        causes[stop] += early
    return causes


def _is_new_session(event: Event) -> bool:
    return event.kind == "start" and event.data["source"] in NEW_SESSION


def _calls_before(event: Event, calls: Places, results: Places) -> list[int]:
    if event.kind == "result":
        return calls.get(event.call, [])
    if event.kind == "batch":
        ids = [call["call"] for call in event.data["calls"]]
        return [at for call in ids for at in calls.get(call, []) + results.get(call, [])]
    return []


def _early_stops(events: Sequence[Event], prompts: dict[str | None, int]) -> Iterable[tuple[int, list[int]]]:
    """Stops that stand before their own prompt, so that the clock must have been set back, with what they end."""
    for at, event in enumerate(events):
        if event.kind == "stop" and not event.agent and at < prompts.get(event.prompt_id, -1):
            mine = [
                place
                for place, other in enumerate(events)
                if other.kind in ("call", "result", "batch", "permission")
                and other.prompt_id == event.prompt_id
                and not other.agent
                and place > at
                and _unsure(other, event)
            ]
            yield at, mine


def _unsure(one: Event, other: Event) -> bool:
    """Whether the ticks leave open which of the two was first."""
    return one.tick is None or other.tick is None or one.boot != other.boot or one.tick == other.tick


def _prompts(events: Sequence[Event]) -> dict[str | None, int]:
    """The place of the first prompt with each id."""
    found: dict[str | None, int] = {}
    for at, event in enumerate(events):
        if event.kind == "prompt" and event.prompt_id and not event.agent:
            found.setdefault(event.prompt_id, at)
    return found


def _places(events: Sequence[Event], kind: str) -> Places:
    """The places of the events of one kind, by call."""
    found: Places = {}
    for at, event in enumerate(events):
        if event.kind == kind and event.call:
            found.setdefault(event.call, []).append(at)
    return found
