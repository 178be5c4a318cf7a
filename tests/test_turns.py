"""The lines of a turn log: written, read back whatever happened to them, grouped, remembered."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

from neosian.turns import dumps, group, parse_lines, remember, seconds, stamp


def line(turn: int, n: int, kind: str, **fields: Any) -> dict[str, Any]:
    return {"v": 1, "turn": turn, "n": n, "kind": kind, "at": f"t{turn}.{n}"} | fields


@pytest.fixture
def berlin(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("TZ", "Europe/Berlin")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.usefixtures("berlin")
@pytest.mark.parametrize(
    ("at", "text"),
    [
        (1_764_445_267.1234, "2025-11-29T20:41:07.123+01:00"),
        (1_753_000_000.9999, "2025-07-20T10:26:41.000+02:00"),
        (0.0, "1970-01-01T01:00:00.000+01:00"),
    ],
)
def test_times_are_local_with_milliseconds_and_offset(at: float, text: str) -> None:
    assert stamp(at) == text


def test_a_line_is_compact_and_readable() -> None:
    assert dumps({"text": "日本語 🎉", "n": 1}) == '{"text":"日本語 🎉","n":1}\n'.encode()


@pytest.mark.parametrize("separator", ["\n", "\r", "\x0b", "\x0c", "\x1c", "\x85", "\u2028", "\u2029"])
def test_no_separator_can_split_a_line(separator: str) -> None:
    raw = dumps({"text": f"a{separator}b"})
    assert len(raw.decode().splitlines()) == 1
    assert json.loads(raw) == {"text": f"a{separator}b"}


@pytest.mark.parametrize(("value", "name"), [(float("nan"), "nan"), (float("-inf"), "-inf")])
def test_numbers_that_json_does_not_have_become_their_names(value: float, name: str) -> None:
    assert json.loads(dumps({"input": [{"x": value, "y": 1.5}]})) == {"input": [{"x": name, "y": 1.5}]}


def test_a_lone_surrogate_does_not_stop_the_writer() -> None:
    assert json.loads(dumps({"text": "a\udc88"})) == {"text": "a?"}


GOOD = dumps(line(1, 0, "turn"))


@pytest.mark.parametrize(
    ("data", "good", "bad"),
    [
        (b"", 0, 0),
        (GOOD * 2, 2, 0),
        (GOOD[:-1], 1, 0),
        (GOOD + GOOD[:20], 1, 1),
        (GOOD + b"\0" * 40, 1, 1),
        (b"\0" * 40 + GOOD, 1, 0),
        (GOOD.replace(b"\n", b"\r\n"), 1, 0),
        (b"<<<<<<< HEAD\n" + GOOD + b"=======\n" + GOOD + b">>>>>>> other\n", 2, 3),
        (b'[1]\n"x"\n7\n{}\n{"turn":"1","n":0,"kind":"turn"}\n{"turn":true,"n":0,"kind":"x"}\n', 0, 6),
        (b"\xff\xfe\n" + GOOD, 1, 1),
        (b"\n\n  \n" + GOOD, 1, 0),
        (b"[" * 100_000 + b"\n" + GOOD, 1, 1),
    ],
)
def test_bad_lines_are_put_aside_and_stop_nothing(data: bytes, good: int, bad: int) -> None:
    lines, rest = parse_lines(data)
    assert (len(lines), len(rest)) == (good, bad)
    assert b"".join(rest).replace(b"\n", b"") in data.replace(b"\n", b"") or bad > 1


def test_turns_come_out_by_number_whatever_the_order_of_lines() -> None:
    turns = group(
        [
            line(2, 0, "turn"),
            line(1, 1, "prompt", text="b"),
            line(1, 0, "turn"),
            line(1, 2, "prompt", text="c"),
        ]
    )
    assert list(turns) == [1, 2]
    assert turns[1].prompts == ["b", "c"]


def test_equal_lines_count_once_and_others_of_the_same_number_stay() -> None:
    twice = [line(1, 1, "prompt", text="a"), line(1, 1, "prompt", text="b")] * 2
    assert group(twice)[1].prompts == ["a", "b"]


def test_the_later_turn_line_wins() -> None:
    turn = group([line(1, 0, "turn", state="interrupted"), line(1, 5, "turn", state="done")])[1]
    assert (turn.state, turn.at) == ("done", "t1.5")


def test_a_turn_without_its_turn_line_is_unfinished() -> None:
    turn = group([line(1, 3, "prompt", text="a")])[1]
    assert (turn.state, turn.at, turn.answer, turn.calls, turn.machine) == (
        "unfinished",
        "t1.3",
        "",
        [],
        False,
    )


def test_prompts_of_persons_and_of_the_client_are_told_apart() -> None:
    turn = group(
        [line(1, 1, "prompt", text="a"), line(1, 2, "prompt", text="b", **{"from": "task-notification"})]
    )[1]
    assert (turn.prompts, turn.machine_prompts) == (["a"], ["b"])


def test_calls_and_results_are_paired() -> None:
    turn = group(
        [
            line(1, 1, "tool_call", call="a", tool="Bash", input={"command": "x"}),
            line(1, 2, "tool_call", call="b", tool="Read", input={}),
            line(1, 3, "tool_result", call="b", ok=False, text="no"),
            line(1, 4, "tool_result", call="a", ok=True, text="", background="t"),
            line(1, 5, "tool_result", call="a", ok=None, text="", ended=False, background="t"),
            line(1, 6, "tool_result", call="orphan", ok=True, text="found"),
        ]
    )[1]
    assert [(call.id, call.tool, call.ok, call.ended, call.text) for call in turn.calls] == [
        ("a", "Bash", None, False, ""),
        ("b", "Read", False, True, "no"),
        ("orphan", "", True, True, "found"),
    ]
    assert turn.calls[0].input == {"command": "x"}


def test_nothing_landed_is_an_empty_memory() -> None:
    memory = remember([])
    assert (memory.last, memory.turns, memory.prompts) == (0, {}, {})


def test_a_memory_knows_what_the_next_event_needs() -> None:
    memory = remember(
        [
            line(7, 0, "turn", state="done", prompt_id="A", session="s", model="m"),
            line(7, 1, "tool_call", call="a"),
            line(7, 2, "tool_result", call="a", background="task"),
            line(7, 3, "tool_call", call="b"),
            line(7, 4, "answer", text="done"),
        ]
    )
    assert (memory.last, memory.prompts, memory.model) == (7, {"A": 7}, "m")
    assert memory.calls == {"a": (7, True), "b": (7, False)}
    assert (memory.turns[7].next_n, memory.turns[7].answer, memory.turns[7].state) == (5, "done", "done")
    assert (memory.launches["task"].call, memory.launches["a"].session) == ("a", "s")
    assert ("answer", "t7.4") in memory.seen


@pytest.mark.parametrize(
    "end",
    [
        line(2, 1, "prompt", text="", task="task", **{"from": "task-notification"}),
        line(1, 9, "subagent", agent="task", text="done"),
        line(1, 9, "tool_result", call="a", ok=None, ended=False, background="task"),
        line(1, 9, "tool_result", call="a", ok=True, task="task", text="exit code 0"),
    ],
)
def test_a_launch_ends_in_several_ways(end: dict[str, Any]) -> None:
    memory = remember(
        [
            line(1, 0, "turn"),
            line(1, 1, "tool_call", call="a"),
            line(1, 2, "tool_result", call="a", background="task"),
        ]
    )
    assert memory.launches["task"].ended is False
    assert remember([end], memory).launches["task"].ended is True


def test_a_memory_grows_with_what_lands() -> None:
    memory = remember([line(1, 0, "turn", state="done", prompt_id="A")])
    assert remember([line(2, 0, "turn", state="done", prompt_id="B")], memory).prompts == {"A": 1, "B": 2}


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("1970-01-02T00:00:00Z", 86_400.0),
        ("1970-01-01T01:00:00.250+01:00", 0.25),
        ("1970-01-01 00:00:00-0130", 5_400.0),
        ("2024-02-29T12:00:00", 1_709_208_000.0),
        ("1970-01-01T00:00:01.5 or so", 1.5),
        ("1970-01-01T00:00:01+1", 1.0),
        ("1970-01-01", 0.0),
        ("1970-01-01T00.00.01", 0.0),
        ("yesterday at about noon", 0.0),
        ("", 0.0),
    ],
)
def test_seconds_of_a_time(text: str, at: float) -> None:
    assert seconds(text) == at
