"""The order of events, and twins."""

from __future__ import annotations

from typing import Any

import pytest

from neosian.events import Event
from neosian.order import in_order, with_calls, without_twins


def made(name: str, kind: str, at: float, **more: Any) -> Event:
    """An event of one session, named for the test."""
    empty: dict[str, Any] = {"source": "startup"} if kind == "start" else {}
    fields = {
        "data": {"calls": []} if kind == "batch" else empty,
        "prompt_id": None if kind == "start" else "A",
    }
    return Event(client="c", session="s", name=kind, kind=kind, at=at, spooled=name, **fields | more)


def names(events: list[Event]) -> list[str]:
    return [event.spooled for event in in_order(events)]


def test_ticks_beat_the_wall_clock() -> None:
    events = [made("late", "stop", 1, tick=9.0, boot="b"), made("early", "prompt", 99, tick=8.0, boot="b")]
    assert names(events) == ["early", "late"]


def test_boots_follow_each_other_by_wall_time() -> None:
    events = [
        made("second", "stop", 50, tick=1.0, boot="y"),
        made("first", "prompt", 10, tick=500.0, boot="x"),
    ]
    assert names(events) == ["first", "second"]


def test_one_event_without_a_tick_makes_all_go_by_the_wall_clock() -> None:
    events = [made("b", "note", 2, tick=1.0, boot="b"), made("a", "note", 1)]
    assert names(events) == ["a", "b"]


@pytest.mark.parametrize("tick", [None, 5.0])
def test_a_call_comes_before_its_result_and_that_before_its_batch(tick: float | None) -> None:
    batch = {"calls": [{"call": "c"}]}
    events = [
        made("batch", "batch", 1, tick=tick, data=batch),
        made("result", "result", 2, tick=tick, call="c"),
        made("call", "call", 3, tick=tick, call="c"),
        made("prompt", "prompt", 4, tick=tick),
    ]
    assert names(events) == ["prompt", "call", "result", "batch"]


def test_what_the_ticks_say_is_not_mended() -> None:
    events = [made("unannounced", "call", 9, tick=1.0, call="c"), made("further", "prompt", 1, tick=2.0)]
    assert names(events) == ["unannounced", "further"]


def test_a_new_session_begins_with_its_start() -> None:
    assert names([made("prompt", "prompt", 1), made("start", "start", 2)]) == ["start", "prompt"]


def test_a_stop_before_its_own_prompt_comes_after_all_that_it_ends() -> None:
    events = [made("stop", "stop", 1), made("prompt", "prompt", 5), made("call", "call", 6, call="c")]
    assert names(events) == ["prompt", "call", "stop"]


def test_a_stop_that_another_round_follows_stays_where_it_is() -> None:
    events = [made("prompt", "prompt", 1), made("stop", "stop", 2), made("call", "call", 3, call="c")]
    assert names(events) == ["prompt", "stop", "call"]


def test_equal_times_go_by_name() -> None:
    assert names([made("b", "event", 1), made("a", "event", 1)]) == ["a", "b"]


@pytest.mark.parametrize(
    ("second", "kept"),
    [
        ({"level": "project", "at": 1.1}, 1),
        ({"level": "user", "at": 1.1}, 2),  # one line, twice: somebody said it twice
        ({"level": "project", "at": 9.0}, 2),  # too far apart to be one event
        ({"level": "project", "at": 9.0, "tick": 0.1, "boot": "b"}, 2),  # only one of them has a tick
        ({"level": "project", "at": 1.1, "data": {"text": "else"}}, 2),
        ({"level": "project", "at": 1.1, "agent": "a"}, 2),
    ],
)
def test_twins(second: dict[str, Any], kept: int) -> None:
    first = made("first", "prompt", 1, level="user", data={"text": "continue"})
    other = made("second", "prompt", **{"data": {"text": "continue"}} | second)
    assert len(without_twins([first, other])) == kept


def test_two_prompts_through_two_lines_are_two() -> None:
    said = [("user", 1.0), ("project", 1.1), ("user", 2.0), ("project", 2.1)]
    events = [made(str(at), "prompt", at, level=level) for level, at in said]
    assert [event.spooled for event in without_twins(events)] == ["1.0", "2.0"]


def test_ticks_tell_twins_whatever_the_wall_clock_does() -> None:
    first = made("first", "prompt", 5000, level="user", tick=7.0, boot="b")
    other = made("second", "prompt", 1, level="project", tick=7.1, boot="b")
    assert len(without_twins([first, other])) == 1


def act(name: str, kind: str, command: str = "make", **more: Any) -> Event:
    """A call or its result, by a client that gives calls no name."""
    return made(
        name, kind, float(name), data={"tool": "sh", "input": {"command": command}}, prompt_id=None, **more
    )


def calls(*events: Event) -> dict[str, str]:
    """Result -> the call that it belongs to, by the names of their events."""
    named = with_calls(events)
    asked = {event.call: event.spooled for event in named if event.kind == "call"}
    return {event.spooled: asked.get(event.call, "") for event in named if event.kind == "result"}


def test_a_result_belongs_to_the_oldest_call_like_it_that_has_none() -> None:
    events = [act("1", "call"), act("2", "call", "ls"), act("3", "call"), act("4", "result"), act("5", "result", "ls"),
              act("6", "result")]  # fmt: skip
    assert calls(*events) == {"4": "1", "5": "2", "6": "3"}
    assert calls(*events) == {"4": "1", "5": "2", "6": "3"}  # named already


@pytest.mark.parametrize("kind", ["stop", "failure", "end", "start", "prompt"])
def test_a_call_of_an_earlier_turn_gets_no_result(kind: str) -> None:
    between = made("2", kind, 2, prompt_id="B" if kind == "prompt" else None)
    assert calls(act("1", "call"), between, act("3", "call"), act("4", "result")) == {"4": "3"}
    assert calls(act("1", "call"), between, act("4", "result")) == {"4": ""}


def test_a_prompt_without_an_id_may_wait_while_a_call_runs() -> None:
    assert calls(act("1", "call"), made("2", "prompt", 2, prompt_id=None), act("3", "result")) == {"3": "1"}


def test_a_childs_calls_are_its_own() -> None:
    assert calls(act("1", "call", agent="a"), act("2", "result")) == {"2": ""}


def test_a_name_that_the_client_gives_stays() -> None:
    assert [
        event.call for event in with_calls([act("1", "call", call="c"), act("2", "result", call="c")])
    ] == ["c", "c"]
