"""Turn keeping, against recorded sessions of Claude Code and against what can go wrong around them."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

import pytest

from neosian.events import Event
from neosian.spans import assemble
from neosian.turns import Memory, Turn
from tests.recorded import BEGAN, INDEX, Record, event, landed, payload, session, told

HIDDEN = "notifications_of_calls_made_in"
HOUR = 3600.0


def expected(name: str) -> list[dict[str, Any]]:
    """The turns of a recording as its index has them, but for the launches of notifications."""
    return [{key: value for key, value in turn.items() if key != HIDDEN} for turn in INDEX[name]["turns"]]


def is_boundary(one: Event) -> bool:
    return one.kind in ("stop", "failure", "end", "start")


def is_landing(one: Event) -> bool:
    return is_boundary(one) or one.kind == "prompt"


def played(*steps: tuple[str, str] | tuple[str, str, dict[str, Any]]) -> list[Event]:
    """A made-up session: (event name, prompt id, more fields), a second apart."""
    events = []
    for second, (name, prompt_id, *more) in enumerate(steps):
        value: dict[str, Any] = {"hook_event_name": name, "session_id": "s", "cwd": "/home/dev/shop"}
        events.append(event(value | {"prompt_id": prompt_id} | (more[0] if more else {}), second))
    return events


def said(text: str) -> dict[str, Any]:
    return {"prompt": text}


def answered(text: str) -> dict[str, Any]:
    return {"last_assistant_message": text}


def bash(call: str, output: str | None = None) -> dict[str, Any]:
    response = {} if output is None else {"tool_response": {"stdout": output}}
    return {"tool_name": "Bash", "tool_use_id": call, "tool_input": {"command": "make"}} | response


def kinds(turn: Turn) -> list[str]:
    return [line["kind"] for line in turn.lines]


def lines(turn: Turn, kind: str) -> list[dict[str, Any]]:
    return [line for line in turn.lines if line["kind"] == kind]


# Recorded sessions


@pytest.mark.parametrize("name", INDEX)
def test_a_recorded_session_makes_the_turns_that_its_transcript_shows(name: str) -> None:
    assert [told(turn) for turn in landed(session(name)).turns()] == expected(name)


@pytest.mark.parametrize("name", INDEX)
def test_landing_at_every_boundary_makes_the_same_lines(name: str) -> None:
    assert landed(session(name), is_boundary).lines == landed(session(name)).lines


@pytest.mark.parametrize("name", INDEX)
def test_landing_after_every_event_makes_the_same_lines(name: str) -> None:
    assert landed(session(name), lambda one: True).lines == landed(session(name)).lines


@pytest.mark.parametrize("name", INDEX)
def test_two_hook_lines_make_the_same_turns(name: str) -> None:
    both = sorted([*session(name), *session(name, level="--project")], key=lambda one: one.at)
    whole, pieces = landed(both), landed(both, is_landing)
    assert [told(turn) for turn in whole.turns()] == expected(name)
    assert pieces.lines == whole.lines == landed(session(name)).lines


@pytest.mark.parametrize("name", INDEX)
def test_every_event_is_in_one_place(name: str) -> None:
    record = landed(session(name), is_landing)
    used = [one.spooled for span in record.spans for one in span.events]
    rest = [one.spooled for one in record.dropped + record.spool]
    assert sorted(used + rest) == sorted(one.spooled for one in session(name))


@pytest.mark.parametrize("name", INDEX)
def test_events_that_come_again_after_a_crash_change_nothing(name: str) -> None:
    record = landed(session(name))
    before = json.dumps(record.lines)
    record.land(session(name))
    assert (json.dumps(record.lines), record.spool) == (before, [])


@pytest.mark.parametrize("name", INDEX)
def test_the_order_in_which_the_spool_is_read_does_not_matter(name: str) -> None:
    events = session(name)
    random.Random(name).shuffle(events)
    assert landed(events).lines == landed(session(name)).lines


@pytest.mark.parametrize(
    "name", ["queued_then_esc.jsonl", "background_agent_clear.jsonl", "stream_json.jsonl"]
)
def test_a_wall_clock_set_back_does_not_matter_where_ticks_are_known(name: str) -> None:
    for place in range(1, len(session(name))):
        events = session(name, ticking=True)
        for one in events[place:]:
            one.at -= HOUR
        assert [told(turn) for turn in landed(events).turns()] == expected(name)


@pytest.mark.parametrize("place", [1, 2, 3])
def test_a_wall_clock_set_back_within_a_turn_does_not_matter_at_all(place: int) -> None:
    events = played(
        ("UserPromptSubmit", "A", said("go")),
        ("PreToolUse", "A", bash("c1")),
        ("PostToolUse", "A", bash("c1", "out")),
        ("Stop", "A", answered("done")),
        ("UserPromptSubmit", "B", said("more")),
        ("Stop", "B", answered("done again")),
    )
    for one in events[place:]:
        one.at -= HOUR
    first, second = landed(events).turns()
    assert kinds(first) == ["turn", "prompt", "tool_call", "tool_result", "answer"]
    assert (first.prompts, second.prompts) == (["go"], ["more"])


@pytest.mark.parametrize("name", [name for name, story in INDEX.items() if HIDDEN in str(story)])
def test_a_notification_names_the_turn_that_launched_the_work(name: str) -> None:
    wanted = [made for turn in INDEX[name]["turns"] for made in turn.get(HIDDEN, [])]
    for record in (landed(session(name)), landed(session(name), is_boundary)):
        turns = {(turn.header["session"], turn.number): turn for turn in record.turns()}
        notes = [line for turn in turns.values() for line in lines(turn, "prompt") if "from" in line]
        found = [(line["launched_by"]["conversation"], line["launched_by"]["turn"]) for line in notes]
        assert [turns[key].header["prompt_id"] for key in found] == wanted


def test_a_notification_while_nothing_runs_opens_a_machine_turn() -> None:
    launch, note = landed(session("background_agent_idle.jsonl")).turns()
    call = launch.calls[0].id
    assert (launch.machine, note.machine, note.prompts) == (False, True, [])
    assert note.header["launched_by"] == {"conversation": launch.header["session"], "turn": 1, "call": call}


def test_the_last_words_of_a_background_agent_go_to_the_turn_that_launched_it() -> None:
    launch, during = landed(session("background_agent_next_turn.jsonl"), is_boundary).turns()
    assert [line["text"] for line in lines(launch, "subagent")] == ["Sub done."]
    assert lines(launch, "subagent")[0]["call"] == launch.calls[0].id
    assert "subagent" not in kinds(during)


def test_they_find_it_in_the_conversation_before_clear() -> None:
    record = landed(session("background_agent_clear.jsonl"), is_boundary)
    turn = record.turns()[0]
    assert [line["text"] for line in lines(turn, "subagent")] == ["Sub done."]
    assert [span.late for span in record.spans if span.session == turn.header["session"]] == [False, True]


def test_no_tool_of_a_subagent_is_in_any_turn() -> None:
    turns = landed(session("background_agent_idle.jsonl")).turns()
    assert [call.tool for turn in turns for call in turn.calls] == ["Agent"]


def test_background_work_that_died_with_its_client_is_lost_once_the_session_goes_on() -> None:
    launch, _ = landed(session("background_agent_killed.jsonl"), is_boundary).turns()
    assert (launch.calls[0].ended, launch.calls[0].ok) == (False, None)
    assert launch.calls[0].results[-1]["background"] == launch.calls[0].results[0]["background"]


def test_a_resume_without_a_prompt_changes_nothing() -> None:
    events = [one for one in session("background_agent_killed.jsonl") if one.kind not in ("prompt", "stop")]
    record = landed(session("background_agent_killed.jsonl")[:8])
    before = json.dumps(record.lines)
    record.land([one for one in events if one.at > BEGAN + 7])
    assert (json.dumps(record.lines), record.spool) == (before, [])


# Prompts


def test_a_prompt_that_waits_stays_in_the_spool_until_its_turn_opens() -> None:
    record = landed(session("queued_in_text.jsonl")[:4])
    assert [one.data["text"] for one in record.spool] == ["QONE queued"]
    assert [turn.prompts for turn in record.turns()] == [["TEXTQ go"]]


def test_a_prompt_that_nobody_answered_is_kept_under_the_turn_it_was_typed_in() -> None:
    record = landed(session("queued_then_killed.jsonl"), is_boundary)
    turn = record.turns()[0]
    assert [span.late for span in record.spans] == [False, False]
    assert [(line["text"], line.get("answered")) for line in lines(turn, "prompt")] == [
        ("TOOLONG go", None),
        ("QONE queued", False),
    ]


def test_a_prompt_that_waits_when_the_session_ends_is_kept_and_nothing_is_claimed_of_it() -> None:
    events = played(
        ("UserPromptSubmit", "A", said("go")),
        ("UserPromptSubmit", "A", said("and this")),
        ("Stop", "A", answered("done")),
        ("SessionEnd", "B", {"reason": "other"}),
    )
    turn = landed(events, is_boundary).turns()[0]
    assert turn.prompts == ["go", "and this"]
    assert lines(turn, "prompt")[1]["answered"] is None


def test_the_same_words_twice_through_one_hook_line_are_two_prompts() -> None:
    steps = [("UserPromptSubmit", "A", said("continue")), ("UserPromptSubmit", "A", said("continue"))]
    events = played(*steps, ("PostToolBatch", "A", {"tool_calls": []}), ("Stop", "A", answered("done")))
    assert landed(events).turns()[0].prompts == ["continue", "continue"]


# Calls


def test_a_call_that_never_ended_says_so() -> None:
    turn = landed(session("esc_in_tool.jsonl")).turns()[0]
    result = turn.calls[0].results[0]
    assert (result["ended"], result["ok"], turn.state) == (False, None, "interrupted")


def test_a_result_that_comes_late_is_added_to_its_turn() -> None:
    events = played(
        ("UserPromptSubmit", "A", said("go")),
        ("PreToolUse", "A", bash("c1")),
        ("UserPromptSubmit", "B", said("no, that")),
        ("PostToolUse", "A", bash("c1", "out")),
        ("Stop", "B", answered("done")),
    )
    first, second = landed(events, is_landing).turns()
    assert (first.calls[0].ended, first.calls[0].text, first.state) == (True, "out", "interrupted")
    assert (second.calls, second.state) == ([], "done")


def test_a_refused_call_is_taken_from_the_batch() -> None:
    value = payload("post_tool_batch.edit_rejected")
    prompt = value | {"hook_event_name": "UserPromptSubmit", "prompt": "go"}
    turn = landed([event(prompt), event(value, 1), event(prompt | {"hook_event_name": "Stop"}, 2)]).turns()[0]
    assert (turn.calls[0].tool, turn.calls[0].ok, len(turn.calls[0].results)) == ("Edit", False, 1)


def test_a_call_that_was_asked_for_and_never_ran_has_failed() -> None:
    request, batch = payload("permission_request.bash"), payload("post_tool_batch.permission_denied")
    call = batch["tool_calls"][0]
    before = request | {"hook_event_name": "PreToolUse", "tool_use_id": call["tool_use_id"]}
    events = [event(value, second) for second, value in enumerate((before, request, batch))]
    turn = landed([*events, event(batch | {"hook_event_name": "Stop"}, 3)]).turns()[0]
    assert turn.calls[0].ok is False
    assert lines(turn, "permission")[0]["call"] == call["tool_use_id"]


def test_a_persons_reason_for_no_is_theirs() -> None:
    value = payload("post_tool_batch.permission_no_with_reason")
    turn = landed([event(value), event(value | {"hook_event_name": "Stop"}, 1)]).turns()[0]
    assert turn.calls[0].results[0]["from"] == "person"
    assert (turn.calls[0].text, turn.calls[0].ok) == ("use another name", False)


# Ends


def test_another_round_asked_for_by_a_stop_hook_opens_the_turn_again() -> None:
    events = played(
        ("UserPromptSubmit", "A", said("go")),
        ("Stop", "A", answered("done")),
        ("PreToolUse", "A", bash("c1")),
        ("PostToolUse", "A", bash("c1", "out")),
        ("Stop", "A", answered("really done") | {"stop_hook_active": True}),
    )
    for record in (landed(events), landed(events, is_landing), landed(events, lambda one: True)):
        (turn,) = record.turns()
        assert (turn.state, turn.answer, len(turn.calls)) == ("done", "really done", 1)
        assert [line["n"] for line in turn.lines] == list(range(len(turn.lines)))


def test_a_stop_that_comes_after_the_next_prompt_settles_its_turn() -> None:
    events = played(
        ("UserPromptSubmit", "A", said("go")),
        ("UserPromptSubmit", "B", said("next")),
        ("Stop", "A", answered("done")),
        ("Stop", "B", answered("next done")),
    )
    first, second = landed(events, is_landing).turns()
    assert (first.state, first.answer) == ("done", "done")
    assert (second.state, second.answer) == ("done", "next done")


def test_a_stop_that_says_nothing_new_is_dropped() -> None:
    record = landed(session("queued_in_tool.jsonl"))
    stop = next(one for one in session("queued_in_tool.jsonl") if one.kind == "stop")
    stop.at, stop.spooled = BEGAN + 60, "late"
    assert record.land([stop]).spans == []


def test_an_api_error_fails_the_turn() -> None:
    turn = landed(session("api_error.jsonl")).turns()[0]
    assert (turn.state, lines(turn, "answer")[0]["error"]) == ("failed", "unknown")


def test_a_session_without_a_prompt_leaves_nothing() -> None:
    record = landed(played(("SessionStart", ""), ("CwdChanged", ""), ("SessionEnd", "")), is_boundary)
    assert (record.lines, record.spool, len(record.dropped)) == ({}, [], 3)


def test_a_session_start_waits_for_its_prompt() -> None:
    record = landed(session("esc_in_text.jsonl")[:1])
    assert [one.kind for one in record.spool] == ["start"]


def test_what_is_injected_stands_before_the_prompt() -> None:
    start, prompt, *rest = session("btw.jsonl")[:3]
    told_at_start = Event(
        client="claude-code", session=start.session, name="", kind="context", at=start.at + 0.1, spooled="own",
        data={"event": "start", "commit": "c", "shown": [], "text": "where we left off"},
    )  # fmt: skip
    turn = landed([start, told_at_start, prompt, *rest], is_boundary).turns()[0]
    assert kinds(turn) == ["turn", "session", "context", "prompt", "answer"]


def test_a_compaction_between_turns_goes_with_the_next() -> None:
    record = landed(session("clear_and_compact.jsonl"), is_boundary)
    assert kinds(record.turns()[-1]) == ["turn", "compact", "compact", "prompt", "answer"]


def test_a_compaction_before_the_end_goes_with_the_last() -> None:
    events = [one for one in session("clear_and_compact.jsonl") if one.at < BEGAN + 16]
    ended = session("clear_and_compact.jsonl")[-1]
    turn = landed([*events, ended], is_boundary).turns()[-1]
    assert kinds(turn)[-3:] == ["turn", "compact", "compact"]


def test_an_unknown_event_is_kept_as_it_is() -> None:
    odd = {"hook_event_name": "Surprise", "session_id": "s", "prompt_id": "A", "x": [1, {"y": None}]}
    events = played(("UserPromptSubmit", "A", said("go")), ("Stop", "A", answered("ok")))
    turn = landed([*events, event(odd, 0.5)]).turns()[0]
    assert (lines(turn, "event")[0]["name"], lines(turn, "event")[0]["payload"]) == ("Surprise", odd)


# Silence


def test_a_turn_that_went_silent_lands_as_unfinished() -> None:
    record = landed(session("esc_in_tool.jsonl")[:3])
    assert record.land([], now=BEGAN + 5 * HOUR).spans == []
    record.land([], now=BEGAN + 7 * HOUR)
    assert [(turn.state, turn.calls[0].ended) for turn in record.turns()] == [("unfinished", False)]
    assert record.spool == []


def test_leftovers_without_a_prompt_are_swept_away() -> None:
    record = landed(session("esc_in_tool.jsonl")[:1])
    record.land([], now=BEGAN + 7 * HOUR)
    assert (record.lines, record.spool) == ({}, [])


def test_a_turn_that_was_swept_goes_on_when_its_client_does() -> None:
    record = landed(session("esc_in_tool.jsonl")[:3])
    record.land([], now=BEGAN + 7 * HOUR)
    call = session("esc_in_tool.jsonl")[2]
    value = {"session_id": call.session, "prompt_id": call.prompt_id}
    record.land([event(value | {"hook_event_name": "PostToolUse"} | bash(call.call or "", "out"), 8 * HOUR)])
    record.land([event(value | {"hook_event_name": "Stop"} | answered("done"), 8 * HOUR + 1)])
    (turn,) = record.turns()
    assert (turn.state, turn.answer, turn.calls[0].text) == ("done", "done", "out")


# Names


def test_a_span_has_the_same_id_however_it_is_assembled() -> None:
    whole, pieces = (
        landed(session("queued_then_esc.jsonl"), cut) for cut in (lambda one: False, is_boundary)
    )
    assert [span.id for span in whole.spans] == [span.id for span in pieces.spans]
    assert len({span.id for span in whole.spans}) == 3
    assert all(len(span.id) == 16 and span.lines[0]["id"] == span.id for span in whole.spans)


def test_a_turn_belongs_where_its_first_event_was() -> None:
    events = session("esc_in_tool.jsonl")
    events[-2].cwd = "/home/dev/elsewhere"
    span = landed(events).spans[-1]
    assert (span.cwd, span.root) == ("/home/dev/shop", "/home/dev/shop")


def test_a_call_keeps_its_own_directory() -> None:
    events = session("esc_in_tool.jsonl")
    events[2].cwd = "/home/dev/shop/sub"
    assert [call.line.get("cwd") for turn in landed(events).turns() for call in turn.calls] == [
        "/home/dev/shop/sub",
        None,
    ]


def test_events_of_many_sessions_at_once_do_not_mix() -> None:
    names = ["queued_then_esc.jsonl", "esc_in_tool.jsonl", "background_bash_idle.jsonl"]
    mixed = sorted((one for name in names for one in session(name)), key=lambda one: one.at)
    for number, one in enumerate(mixed):
        one.spooled = str(number)
    record = landed(mixed, is_landing)
    assert [told(turn) for turn in landed(session(names[0])).turns()] == [
        told(turn) for turn in record.turns() if turn.header["session"] == session(names[0])[0].session
    ]
    assert isinstance(record, Record)


def test_a_command_whose_end_is_told_after_clear_is_not_lost_when_its_session_comes_back() -> None:
    old = session("background_bash_idle.jsonl")[:6]
    note, stop = session("background_bash_idle.jsonl")[6:8]
    note.session = stop.session = "after-clear"
    again = played(("SessionStart", "", {"source": "resume"}), ("UserPromptSubmit", "Z", said("back")))
    for one in again:
        one.at, one.session = one.at + 60, old[0].session
    record = landed([*old, note, stop, *again], is_boundary)
    launch = record.turns()[0].calls[0]
    assert (launch.ok, launch.ended, len(launch.results)) == (True, True, 2)
    machine = next(turn for turn in record.turns() if turn.header["session"] == "after-clear")
    assert machine.header["launched_by"]["conversation"] == old[0].session


def test_a_prompt_that_waited_when_the_client_was_killed_does_not_move_to_a_later_turn() -> None:
    events = played(
        ("UserPromptSubmit", "A", said("go")),
        ("UserPromptSubmit", "A", said("lost")),
        ("Stop", "A", answered("done")),
        ("SessionStart", "", {"source": "resume"}),
        ("Stop", "B", answered("of a ! line")),
    )
    first, second = landed(events, is_boundary).turns()
    assert (first.prompts, second.prompts) == (["go", "lost"], [])
    assert lines(first, "prompt")[1]["answered"] is False


@pytest.mark.parametrize("name", ["auto_compact_in_turn.jsonl", "clear_and_compact.jsonl", "btw.jsonl"])
def test_the_words_of_the_clients_own_helpers_are_no_subagents(name: str) -> None:
    assert not [turn for turn in landed(session(name)).turns() if "subagent" in kinds(turn)]


def test_another_round_that_is_cut_off_leaves_its_turn_interrupted() -> None:
    events = played(
        ("UserPromptSubmit", "A", said("go")),
        ("Stop", "A", answered("done")),
        ("PreToolUse", "A", bash("c1")),
        ("UserPromptSubmit", "B", said("no")),
    )
    turn = landed(events, is_landing).turns()[0]
    assert (turn.state, turn.answer, turn.calls[0].ended) == ("interrupted", "done", False)


def test_a_late_result_without_a_prompt_id_finds_its_call() -> None:
    steps = [("UserPromptSubmit", "A", said("go")), ("PreToolUse", "A", bash("c1")), ("SessionEnd", "A", {})]
    first, *_ = landed(played(*steps, ("PostToolUse", "", bash("c1", "out"))), is_boundary).turns()
    assert first.calls[0].text == "out"


def test_a_stop_that_says_nothing_to_nobody_leaves_nothing() -> None:
    record = landed(played(("Stop", "A", answered(""))))
    assert (record.lines, record.spool) == ({}, [])


def test_last_words_that_come_again_through_another_line_are_told_once() -> None:
    record = landed(session("background_agent_idle.jsonl"))
    words = next(
        one
        for one in session("background_agent_idle.jsonl", level="--x")
        if one.kind == "subagent" and one.data["text"]
    )
    assert record.land([words]).spans == []


def test_an_agent_that_ends_before_its_call_is_not_looked_for_elsewhere() -> None:
    def nowhere(client: str, name: str) -> None:
        raise AssertionError(name)

    post, stop = payload("post_tool_use.agent_foreground"), payload("subagent_stop")
    values = [
        post | {"hook_event_name": "UserPromptSubmit", "prompt": "go"},
        post | {"hook_event_name": "PreToolUse"},
        stop,
        post,
        post | {"hook_event_name": "Stop", "last_assistant_message": "done"},
    ]
    events = [event(value, second) for second, value in enumerate(values)]
    (span,) = assemble(events, lambda client, session: Memory(), nowhere).spans
    words = next(line for line in span.lines if line["kind"] == "subagent")
    assert (words["call"], words["text"]) == (post["tool_use_id"], stop["last_assistant_message"])


@pytest.mark.parametrize("seed", range(40))
def test_whatever_comes_in_whatever_order_nothing_is_lost_and_no_line_is_there_twice(seed: int) -> None:
    chance = random.Random(seed)
    everything = [one for name in chance.sample(list(INDEX), 3) for one in session(name)]
    events = chance.sample(everything, len(everything) * 2 // 3)
    for number, one in enumerate(events):
        one.spooled = f"{number}"
        one.at += chance.choice([0.0, 0.0, 3.0, -3.0])
        one.prompt_id = chance.choice([one.prompt_id] * 9 + [None])
    record = landed(events, lambda one: chance.random() < 0.3)
    record.land([], now=BEGAN + 10 * HOUR)
    used = [one.spooled for span in record.spans for one in span.events] + [
        one.spooled for one in record.dropped
    ]
    assert (sorted(used), record.spool) == (sorted(one.spooled for one in events), [])
    for lines_of_one in record.lines.values():
        places = [(line["turn"], line["n"]) for line in lines_of_one]
        assert len(places) == len(set(places))
        numbers = sorted({turn for turn, _ in places})
        assert numbers == list(range(1, len(numbers) + 1))


def test_a_span_that_another_turn_caused_uses_no_event_up() -> None:
    record = landed(session("background_agent_killed.jsonl"), is_boundary)
    lost = record.spans[1]
    assert (lost.late, lost.turn, lost.events, lost.first.kind) == (True, 1, [], "start")


def test_a_result_whose_call_was_never_told_tells_of_the_call_too() -> None:
    steps = [
        ("UserPromptSubmit", "A", said("go")),
        ("PostToolUse", "A", bash("c1", "out")),
        ("Stop", "A", answered("ok")),
    ]
    (turn,) = landed(played(*steps)).turns()
    assert kinds(turn) == ["turn", "prompt", "tool_call", "tool_result", "answer"]
    (call,) = turn.calls
    assert (call.id, call.tool, call.text) == ("c1", "Bash", "out")
    assert lines(turn, "tool_call")[0]["input"] == {"command": "make"}


@pytest.mark.parametrize("cut", [is_boundary, lambda one: True], ids=["at its end", "after each event"])
def test_a_call_that_comes_after_its_result_is_told_once(cut: Callable[[Event], bool]) -> None:
    steps = [
        ("UserPromptSubmit", "A", said("go")),
        ("PostToolUse", "A", bash("c1", "out")),
        ("PreToolUse", "A", bash("c1")),
    ]
    (turn,) = landed(played(*steps, ("Stop", "A", answered("ok"))), cut).turns()
    assert sorted(kinds(turn)) == ["answer", "prompt", "tool_call", "tool_result", "turn"]
    assert [call.id for call in turn.calls] == ["c1"]


def test_a_result_of_a_session_whose_hooks_came_in_mid_turn_is_kept_with_its_call() -> None:
    (turn,) = landed(played(("PostToolUse", "A", bash("c1", "out")), ("Stop", "A", answered("ok")))).turns()
    assert [(call.tool, call.text) for call in turn.calls] == [("Bash", "out")]


def test_a_batch_without_an_id_that_comes_again_opens_no_turn() -> None:
    call = {**bash("c1"), "tool_response": "out"}
    events = played(
        ("UserPromptSubmit", "A", said("go")),
        ("PreToolUse", "", bash("c1")),
        ("PostToolUse", "", bash("c1", "out")),
        ("PostToolBatch", "", {"tool_calls": [call]}),
        ("Stop", "A", answered("done")),
    )
    record = landed(events)
    record.land([events[3]])
    (turn,) = record.turns()
    assert (kinds(turn), record.spool) == (["turn", "prompt", "tool_call", "tool_result", "answer"], [])
