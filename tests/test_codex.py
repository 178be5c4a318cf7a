"""Codex's payloads, as recorded, become events; its own ways of leaving things out."""

from __future__ import annotations

import json
from typing import Any

import pytest

from neosian.clients import codex
from neosian.events import Event
from neosian.turns import Turn
from tests.expected import DATA, event
from tests.recorded import landed

CHILD = "01a228f6-bcfd-7eb2-a5ab-93e1bd3c3f65"


def payload(name: str, **fields: Any) -> dict[str, Any]:
    value: dict[str, Any] = json.loads((DATA / "codex" / f"{name}.json").read_text("utf-8"))
    return value | fields


def parsed(name: str, **fields: Any) -> Event:
    return event("codex", payload(name, **fields))


def turns(*names: str | dict[str, Any]) -> list[Turn]:
    """The turns of one session, its payloads a second apart."""
    said = [payload(name) if isinstance(name, str) else name for name in names]
    session = said[0]["session_id"]
    return landed([event("codex", one | {"session_id": session}, at) for at, one in enumerate(said)]).turns()


@pytest.mark.parametrize(
    ("name", "text", "ok"),
    [
        ("post_tool_use.bash", "hello-shop\n", None),
        ("post_tool_use.bash_failed", "ls: cannot access '/no-such-dir': No such file or directory\n", None),
        ("post_tool_use.mcp", "MCP-WROTE a.md", True),
        ("post_tool_use.mcp_code_mode", "MCP-RESULT: page about basket", True),
    ],
)
def test_a_result_is_what_came_back(name: str, text: str, ok: bool | None) -> None:
    data = parsed(name).data
    assert (data["text"], data["ok"]) == (text, ok)


def test_a_patch_tells_of_its_files() -> None:
    data = parsed("post_tool_use.apply_patch").data
    assert data["text"].endswith("A notes.md\n")
    assert data["ok"] is True


@pytest.mark.parametrize(
    ("name", "agent"),
    [
        ("post_tool_use.agent", CHILD),
        ("post_tool_use.agent_by_name", None),
        ("post_tool_use.agent_awaited", None),
    ],
)
def test_a_call_that_starts_a_child_names_it(name: str, agent: str | None) -> None:
    data = parsed(name).data
    assert (data["agent"], data["background"]) == (agent, agent)


@pytest.mark.parametrize(
    "response", ["{", "[1]", "7", '{"agent_id": 5}', None, {"agent_id": "x"}, "[" * 9000]
)
def test_an_answer_of_another_shape_names_no_child(response: object) -> None:
    assert parsed("post_tool_use.agent", tool_response=response).data["agent"] is None


@pytest.mark.parametrize(
    "name",
    [
        "user_prompt_submit.in_subagent",
        "pre_tool_use.in_subagent",
        "post_tool_use.in_subagent",
        "subagent_stop",
    ],
)
def test_an_event_of_a_child_is_none_of_the_sessions_turns(name: str) -> None:
    found = parsed(name)
    assert (found.agent, found.prompt_id) == (CHILD, None)


def test_a_child_leaves_its_last_words_and_no_prompt() -> None:
    turn_id = payload("pre_tool_use.agent")["turn_id"]
    (turn,) = turns(
        payload("user_prompt_submit", turn_id=turn_id), "pre_tool_use.agent", "post_tool_use.agent", "subagent_start",
        "user_prompt_submit.in_subagent", "pre_tool_use.in_subagent", "post_tool_use.in_subagent", "subagent_stop",
        payload("stop", turn_id=turn_id),
    )  # fmt: skip
    assert turn.prompts == ["MARK-OK go"]
    assert [(call.tool, call.ok) for call in turn.calls] == [("spawn_agent", True)]
    (words,) = [line for line in turn.lines if line["kind"] == "subagent"]
    assert (words["text"], words["call"]) == ("Child answer: hi.", "call_0001")


@pytest.mark.parametrize("last", [False, True])
def test_the_last_words_of_a_child_that_no_call_named_go_to_the_newest_turn(last: bool) -> None:
    said = ["user_prompt_submit", "stop"]
    said.insert(2 if last else 1, "subagent_stop")
    (turn,) = turns(*said)
    assert [line["text"] for line in turn.lines if line["kind"] == "subagent"] == ["Child answer: hi."]


def test_a_call_that_failed_as_a_tool_is_closed_by_the_stop_and_its_outcome_unknown() -> None:
    call = payload("pre_tool_use.apply_patch_that_fails", turn_id=payload("stop")["turn_id"])
    (turn,) = turns("user_prompt_submit", call, "stop")
    (only,) = turn.calls
    assert (only.ok, only.ended, turn.state) == (None, False, "done")


def test_after_a_stop_that_a_hook_refused_the_turn_goes_on() -> None:
    again = payload(
        "stop.hook_active", turn_id=payload("stop")["turn_id"], last_assistant_message="Now it is done."
    )
    (turn,) = turns("user_prompt_submit", "stop", again)
    assert (turn.prompts, turn.answer) == (["MARK-OK go"], "Now it is done.")


def test_a_compaction_begins_no_session_anew() -> None:
    turn_id = payload("pre_compact.auto")["turn_id"]
    prompt, stop = payload("user_prompt_submit", turn_id=turn_id), payload("stop", turn_id=turn_id)
    (turn,) = turns(prompt, "pre_compact.auto", "post_compact.auto", "session_start.compact", stop)
    assert [line["kind"] for line in turn.lines] == ["turn", "prompt", "compact", "compact", "answer"]


@pytest.mark.parametrize(("text", "cost"), [("abc", 3), ("金", 3), ("✅ ü", 6), ("\udcff", 3)])
def test_what_is_told_is_counted_in_bytes(text: str, cost: int) -> None:
    assert codex.cost(text) == cost


def test_its_shell_knows_its_session() -> None:
    assert codex.session_of({"CODEX_SESSION_ID": "s"}) == "s"
