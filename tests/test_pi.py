"""Pi's extension under node, with our launcher below it: what it tells neosian, and what it tells the agent."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.hooking import Hooks
from tests.plugins import play

SESSION = "01a22901-26d9-7292-b00e-9f677510b7ba"

Call = list[Any]


@pytest.fixture
def hooks(tmp_path: Path) -> Hooks:
    return Hooks(tmp_path)


def call(name: str, entries: int = 0, **fields: Any) -> Call:
    """An event in a session of so many entries."""
    kept = [{"type": "message"}] * entries
    return [name, {"type": name, **fields}, {"id": SESSION, "entries": kept}]


def begun(reason: str = "startup", entries: int = 0) -> Call:
    return call("session_start", entries, reason=reason)


def ended(reason: str = "quit") -> Call:
    return call("session_shutdown", reason=reason)


def ask(text: str, entries: int = 0, **fields: Any) -> list[Call]:
    """A prompt that starts a run."""
    return [
        call("before_agent_start", entries, prompt=text, messageType="user", **fields),
        said("user", text, entries),
    ]


def said(role: str, text: str, entries: int = 0, **fields: Any) -> Call:
    content = [{"type": "text", "text": text}]
    return call("message_end", entries, message={"role": role, "content": content, **fields})


def tool(failed: bool = False, name: str = "bash") -> list[Call]:
    about: dict[str, Any] = {"toolCallId": "call_0", "toolName": name}
    result = {"content": [{"type": "text", "text": "no" if failed else "ok"}]}
    return [
        call("tool_execution_start", args={"command": "make"}, **about),
        call("tool_execution_end", result=result, isError=failed, durationMs=7, **about),
    ]


def settled(aborted: bool = False) -> Call:
    return call("agent_settled", aborted=aborted)


def turn(text: str = "fix it", answer: str = "Done.", entries: int = 0) -> list[Call]:
    return [*ask(text, entries), said("assistant", "", stopReason="toolUse"), *tool(),
            said("assistant", answer, stopReason="stop"), settled()]  # fmt: skip


def states(hooks: Hooks) -> list[str]:
    return [line["state"] for line in hooks.lines() if line["kind"] == "turn"]


def begins(hooks: Hooks) -> list[str]:
    return [line["event"] for line in hooks.lines() if line["kind"] == "session" and line["event"] != "end"]


def test_a_turn_lands_with_its_call_and_its_answer(hooks: Hooks) -> None:
    play("pi", hooks, begun(), *turn(), ended())
    hooks.check(["fix it"])
    header, session, _, _, asked, result, answer = hooks.lines()
    assert (header["state"], header["client"], header["model"], header["cwd"]) == (
        "done", "pi", "fake/one", str(hooks.project),
    )  # fmt: skip
    assert (session["event"], asked["tool"], asked["input"]) == ("start", "bash", {"command": "make"})
    assert (result["text"], result["ok"], result["ms"], answer["text"]) == ("ok", True, 7, "Done.")


def test_the_start_block_comes_with_the_first_prompt_alone(hooks: Hooks) -> None:
    replies = play("pi", hooks, begun(), *turn(), *ask("go on", 5))
    (first,) = replies[1].value
    assert "memory" in first["message"]["content"]
    assert (first["message"]["customType"], first["message"]["display"]) == ("neosian", False)
    assert replies[-2].value == []


def test_a_failed_call_is_one(hooks: Hooks) -> None:
    play("pi", hooks, begun(), *ask("go"), *tool(failed=True), settled(), ended())
    result = next(line for line in hooks.lines() if line["kind"] == "tool_result")
    assert (result["ok"], result["text"]) == (False, "no")


def test_calls_of_the_same_id_are_different_calls(hooks: Hooks) -> None:
    play(
        "pi",
        hooks,
        begun(),
        *ask("one"),
        *tool(),
        *tool(),
        settled(),
        *ask("two", 6),
        *tool(),
        settled(),
        ended(),
    )
    assert len([line for line in hooks.lines() if line["kind"] == "tool_result"]) == 3
    assert states(hooks) == ["done", "done"]


@pytest.mark.parametrize(
    ("reason", "entries", "event"),
    [
        ("startup", 0, "start"),
        ("new", 0, "start"),
        ("startup", 3, "resume"),
        ("resume", 3, "resume"),
        ("fork", 3, "fork"),
    ],
)
def test_how_a_session_began_is_told(hooks: Hooks, reason: str, entries: int, event: str) -> None:
    play("pi", hooks, begun(reason, entries), *turn(entries=entries), ended())
    assert begins(hooks) == [event]


def test_a_reload_is_neither_end_nor_start(hooks: Hooks) -> None:
    replies = play(
        "pi",
        hooks,
        begun(),
        *turn("one"),
        ended("reload"),
        ["load"],
        begun("reload", 5),
        *turn("two", entries=5),
        ended(),
    )
    assert begins(hooks) == ["start"]
    assert states(hooks) == ["done", "done"]
    asked = [each.value for each in replies if each.value and each.value]
    assert len(asked) == 1


def test_a_skill_is_recorded_as_it_was_typed(hooks: Hooks) -> None:
    typed = call("input", text="/skill:release v2", source="interactive")
    play("pi", hooks, begun(), typed, *turn("Tag v2 in git, then tell Sam."), ended())
    assert hooks.texts() == ["/skill:release v2"]


def test_a_run_that_an_extension_starts_has_no_prompt(hooks: Hooks) -> None:
    start = call("before_agent_start", messageType="custom", message={"content": "wake up"})
    replies = play(
        "pi",
        hooks,
        begun(),
        start,
        said("custom", "wake up"),
        *tool(),
        said("assistant", "Awake."),
        settled(),
        ended(),
    )
    assert replies[1].value == []
    assert (hooks.texts(), hooks.texts("answer"), states(hooks)) == ([], ["Awake."], ["done"])


def test_a_message_typed_during_the_run_is_a_turn_of_its_own(hooks: Hooks) -> None:
    play("pi", hooks, begun(), *ask("one"), said("assistant", "", stopReason="toolUse"), *tool(), said("user", "two", 3),
         said("assistant", "Both.", stopReason="stop"), settled(), ended())  # fmt: skip
    assert hooks.texts() == ["one", "two"]
    assert states(hooks) == ["interrupted", "done"]


def test_a_message_for_afterwards_leaves_the_answer_whole(hooks: Hooks) -> None:
    play("pi", hooks, begun(), *ask("one"), said("assistant", "First.", stopReason="stop"), said("user", "two", 3),
         said("assistant", "Second.", stopReason="stop"), settled(), ended())  # fmt: skip
    assert list(zip(hooks.texts(), hooks.texts("answer"), states(hooks), strict=True)) == [
        ("one", "First.", "done"), ("two", "Second.", "done"),
    ]  # fmt: skip


def test_a_run_that_the_person_stopped_is_interrupted(hooks: Hooks) -> None:
    play(
        "pi",
        hooks,
        begun(),
        *ask("go"),
        said("assistant", "I beg", stopReason="aborted"),
        settled(aborted=True),
        ended(),
    )
    assert states(hooks) == ["interrupted"]
    assert hooks.texts("answer") == ["I beg"]


def test_an_error_of_the_model_fails_the_turn(hooks: Hooks) -> None:
    error = said("assistant", "", stopReason="error", errorMessage="no credit")
    play("pi", hooks, begun(), *ask("go"), error, settled(), *turn("again", entries=3), ended())
    assert states(hooks) == ["failed", "done"]
    assert next(line for line in hooks.lines() if line["kind"] == "answer")["error"] == "no credit"


def compacted(reason: str = "threshold") -> Call:
    return call("session_compact", reason=reason, compactionEntry={"summary": "So far: money."})


def request(*roles: str) -> Call:
    """What the next request to the model would hold."""
    return call("context", messages=[{"role": role} for role in roles])


def test_after_a_compaction_the_next_prompt_brings_the_start_block(hooks: Hooks) -> None:
    asked = [*ask("two", 5), request("compactionSummary", "user", "custom"), settled(), ended()]
    replies = play("pi", hooks, begun(), *turn("one"), compacted("manual"), *asked)
    assert ["memory" in each.value[0]["message"]["content"] for each in replies if each.value] == [True, True]
    lines = [
        (line["event"], line["trigger"], line.get("text"))
        for line in hooks.lines()
        if line["kind"] == "compact"
    ]
    assert lines == [("before", "manual", None), ("after", "manual", "So far: money.")]


def test_after_a_compaction_in_a_run_the_start_block_goes_with_each_request(hooks: Hooks) -> None:
    before, after = request("user", "assistant"), request("compactionSummary", "assistant", "toolResult")
    rest = [said("assistant", "On.", stopReason="stop"), settled(), ended()]
    replies = play("pi", hooks, begun(), *ask("one"), before, *tool(), compacted(), after, after, *rest)
    first, again = [
        each.value[0]["messages"] for each in replies if each.value and "messages" in each.value[0]
    ]
    assert [message["role"] for message in first] == [
        "compactionSummary",
        "custom",
        "assistant",
        "toolResult",
    ]
    assert "memory" in first[1]["content"]
    assert again[1]["content"] == first[1]["content"]
    assert states(hooks) == ["done"]


def test_two_copies_of_the_extension_record_once(hooks: Hooks) -> None:
    replies = play("pi", hooks, ["load"], begun(), *turn(), ended())
    hooks.check(["fix it"])
    assert len(replies[2].value) == 1


def test_a_session_that_ends_in_mid_turn_is_interrupted(hooks: Hooks) -> None:
    play("pi", hooks, begun(), *ask("go"), *tool()[:1], ended())
    assert states(hooks) == ["interrupted"]


@pytest.mark.parametrize("gone", ["launcher", "switched off"])
def test_without_neosian_nothing_happens(hooks: Hooks, gone: str) -> None:
    if gone == "launcher":
        hooks.launcher.unlink()
    else:
        (hooks.home / "off").touch()
    replies = play("pi", hooks, begun(), *turn("x" * 1_000_000), ended())
    assert not any(each.threw or each.value for each in replies)
    assert hooks.spooled() == []


NAMES = ("input", "before_agent_start", "message_end", "tool_execution_start", "tool_execution_end", "session_compact",
         "context", "agent_settled", "session_start", "session_shutdown")  # fmt: skip


@pytest.mark.parametrize(
    "junk",
    [
        None,
        7,
        "x",
        [],
        {},
        {"message": None},
        {"messages": 3},
        {"result": 3},
        {"message": {"role": "assistant", "content": 5}},
    ],
)
def test_whatever_a_client_says_no_handler_throws(hooks: Hooks, junk: object) -> None:
    about = {"id": SESSION}
    replies = play("pi", hooks, begun(), *([name, junk, about] for name in NAMES))
    assert [each.threw for each in replies if each.threw] == []
