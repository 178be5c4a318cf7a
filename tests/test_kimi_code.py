"""Kimi Code's payloads, as recorded, become events; and turns, though a subagent's events look like the session's."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from neosian import errands
from neosian.clients import kimi_code, true_client
from tests.expected import event
from tests.factories import Home
from tests.played import payloads, sequence, told

NAME = "kimi-code"
PAYLOADS = payloads(NAME)
KIND = {
    "SessionStart": "start", "UserPromptSubmit": "prompt", "PreToolUse": "call", "PostToolUse": "result",
    "PostToolUseFailure": "result", "PermissionRequest": "permission", "PermissionResult": "permission",
    "SubagentStart": "subagent", "SubagentStop": "subagent", "PreCompact": "compact", "PostCompact": "compact",
    "Stop": "stop", "StopFailure": "failure", "Interrupt": "interrupt", "SessionEnd": "end",
}  # fmt: skip


def data(name: str, **fields: Any) -> dict[str, Any]:
    return event(NAME, PAYLOADS[name] | fields).data


@pytest.mark.parametrize("name", PAYLOADS)
def test_every_recorded_payload_has_its_kind_and_ids(name: str) -> None:
    value, found = PAYLOADS[name], event(NAME, PAYLOADS[name])
    assert found.kind == KIND.get(value["hook_event_name"], "event")
    assert (found.session, found.cwd) == (value["session_id"], "/home/dev/shop")
    assert (found.call, found.agent, found.prompt_id) == (value.get("tool_call_id"), None, None)


@pytest.mark.parametrize("name", PAYLOADS)
def test_the_client_is_known_by_its_payload(name: str) -> None:
    assert true_client("claude-code", PAYLOADS[name]) == NAME


@pytest.mark.parametrize(
    ("prompt", "text"),
    [
        ([{"type": "text", "text": "one"}, {"type": "text", "text": "two"}], "one\ntwo"),
        ([{"type": "text", "text": "see"}, {"type": "image_url", "image_url": {"url": "data:"}}], "see\n(image_url)"),
        ([{"type": "text"}, 7, None, {"text": "x"}, {"type": ["a"]}], "(something)\n(something)"),
        ("words", "words"),
        ([], ""),
        (None, ""),
        ({"a": 1}, '{"a":1}'),
    ],
)  # fmt: skip
def test_a_prompts_parts_are_one_text(prompt: object, text: str) -> None:
    assert data("user_prompt_submit", prompt=prompt)["text"] == text


def test_results_say_how_they_ended() -> None:
    assert (data("post_tool_use.bash")["ok"], data("post_tool_use.bash")["text"]) == (True, "README.md\n")
    failed = data("post_tool_use_failure.bash")
    assert (failed["ok"], failed["text"]) == (False, "bad\nCommand failed with exit code: 3.")
    assert data("post_tool_use_failure.bash", error="plain")["text"] == "plain"


@pytest.mark.parametrize(
    ("decision", "state"), [("approved", "asked"), ("rejected", "denied"), (None, "asked"), (7, "asked")]
)
def test_a_permission_is_told_with_what_came_of_it(decision: object, state: str) -> None:
    assert data("permission_result.bash", decision=decision)["state"] == state


def test_another_agents_permission_is_its_own() -> None:
    assert event(NAME, PAYLOADS["permission_result.bash"] | {"agent_id": "agent-0"}).agent == "agent-0"


def test_failures_and_interruptions_say_why() -> None:
    assert data("stop_failure") == {"error": "400 boom", "text": ""}
    assert data("stop_failure", error_message=None)["error"] == "APIStatusError"
    assert data("interrupt.cancelled") == {"reason": "cancelled"}


def test_a_stop_tells_no_answer() -> None:
    assert data("stop")["text"] == ""


def test_what_is_told_is_plain_text_and_goes_with_a_prompt() -> None:
    assert kimi_code.STARTS_WITH_PROMPT
    assert kimi_code.shown("prompt", "a\nb") == "a\nb"


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """A home that has something to tell."""
    found = Home(tmp_path)
    found.talk("4df1bd16-6b2f-4994-b69e-ab201285eb10").land("Paint the door", "Painted.")
    return found


def test_the_start_is_told_with_the_first_prompt_and_again_after_a_compaction(
    home: Home, capsys: pytest.CaptureFixture[str]
) -> None:
    def said(name: str, **fields: Any) -> str:
        payload = PAYLOADS[name] | {"session_id": "session_1", "cwd": str(home.project)} | fields
        verb = kimi_code.VERB[payload["hook_event_name"]]
        assert errands.main([verb, str(home.path), NAME, home.put(payload, client=NAME)]) == 0
        return capsys.readouterr().out

    small_talk = [{"type": "text", "text": "go on"}]
    assert said("session_start") == ""
    assert "Paint the door" in said("user_prompt_submit", prompt=small_talk)
    assert said("user_prompt_submit", prompt=small_talk) == ""
    assert said("stop") == ""
    assert said("post_compact.manual") == ""
    assert "neosian keeps the memory of" in said("user_prompt_submit", prompt=small_talk)
    assert said("session_start.resume") == ""
    assert "neosian keeps the memory of" in said("user_prompt_submit", prompt=small_talk)


# Turns --------------------------------------------------------------------------------------------


def turns(name: str, at_each_stop: bool = True) -> list[str]:
    return told(sequence(NAME, name), at_each_stop=at_each_stop)


@pytest.mark.parametrize("at_each_stop", [True, False])
def test_a_subagents_stop_is_not_the_turns(at_each_stop: bool) -> None:
    found = turns("tools_and_subagent", at_each_stop)
    assert found[found.index("  asked: SUBAGENT please") - 1 :] == [
        "done:", "  asked: SUBAGENT please", "  Agent: good", "  Bash: unknown", "  subagent stop", "  Bash: unknown",
    ]  # fmt: skip


def test_a_subagent_whose_end_was_never_told_holds_nothing_up() -> None:
    events = [one for one in sequence(NAME, "tools_and_subagent") if one.name != "SubagentStop"]
    assert told(events)[-5:] == [
        "done:",
        "  asked: SUBAGENT please",
        "  Agent: good",
        "  Bash: unknown",
        "  Bash: unknown",
    ]


def test_a_subagent_that_was_broken_off_brings_no_stop() -> None:
    mine = sequence(NAME, "tools_and_subagent")
    child = next(at for at, one in enumerate(mine) if one.name == "SubagentStart")
    stop = next(at for at in range(child, len(mine)) if mine[at].name == "Stop")
    assert told(mine[:stop] + mine[stop + 1 :])[-6] == "done:"


def test_one_that_runs_in_the_background_does_not_take_the_turns_stop() -> None:
    mine = sequence(NAME, "tools_and_subagent")
    at = {one.name: place for place, one in enumerate(mine)}
    began = mine[: at["SubagentStart"] + 1]
    launched = next(
        one
        for one in mine[at["SubagentStart"] :]
        if one.name == "PostToolUse" and one.data["tool"] == "Agent"
    )
    stops = [one for one in mine if one.name == "Stop"]
    assert told([*began, launched, *stops[-1:]])[-3:] == [
        "done:",
        "  asked: SUBAGENT please",
        "  Agent: good",
    ]


@pytest.mark.parametrize("at_each_stop", [True, False])
def test_an_interrupted_turn_ends_at_once(at_each_stop: bool) -> None:
    assert turns("esc", at_each_stop) == [
        "interrupted:", "  asked: First SLEEP", "  Bash: unknown", "done:", "  asked: Then BETA", "  Bash: good",
        "interrupted:", "  asked: First THINK", "done:", "  asked: Then ALPHA", "  Bash: unknown",
    ]  # fmt: skip


def test_prompts_that_waited_have_turns_of_their_own() -> None:
    prompts = [line for line in turns("queued") if line.startswith("  asked")]
    assert prompts == [
        f"  asked: {text}" for text in ("First SLEEP", "Queued BETA", "First THINK", "Queued ALPHA")
    ]
    assert turns("queued").count("done:") == 4


@pytest.mark.parametrize(("steers", "count"), [(True, 1), (False, 2)])
def test_a_prompt_that_steers_belongs_to_the_turn_that_runs(steers: bool, count: int) -> None:
    first, second = PAYLOADS["user_prompt_submit"], PAYLOADS["user_prompt_submit"] | {"is_steer": steers}
    found = told([event(NAME, first), event(NAME, second, 1.0), event(NAME, PAYLOADS["stop"], 2.0)])
    assert len([line for line in found if line.endswith(":")]) == count
    assert len([line for line in found if line.startswith("  asked")]) == 2


def test_refused_and_unanswered_calls_are_unknown() -> None:
    assert turns("denied")[:4] == ["done:", "  asked: Do DENY", "  Bash: unknown", "  permission denied"]


def test_a_session_that_failed() -> None:
    assert turns("headless")[-3:] == ["failed:", "  asked: Do BOOM", "  answered: 400 boom"]
