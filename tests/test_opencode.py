"""OpenCode's plugin under node, with our launcher below it: what it tells neosian, and what it tells the agent."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.hooking import Hooks
from tests.plugins import play, rendered

SESSION = "ses_dd5659130ffe5S54Rd9KW0WaIT"
VERBS = ("start", "prompt", "note", "stop", "end")
CHILD = "ses_dd565554effettf7utQzAsCP49"

Call = list[Any]


@pytest.fixture
def hooks(tmp_path: Path) -> Hooks:
    return Hooks(tmp_path)


def event(kind: str, **properties: Any) -> Call:
    return ["event", {"event": {"id": "evt_1", "type": kind, "properties": properties}}]


def created(session: str = SESSION, **info: Any) -> Call:
    return event("session.created", sessionID=session, info={"id": session, "title": "New session", **info})


def ask(text: str, number: int = 1, session: str = SESSION, **more: Any) -> Call:
    """A message of the person."""
    message = {"id": f"msg_{number:03}", "role": "user", "sessionID": session, "agent": "build",
               "model": {"providerID": "fake", "modelID": "one"}}  # fmt: skip
    part = {
        "id": f"prt_{number:03}",
        "messageID": message["id"],
        "sessionID": session,
        "type": "text",
        "text": text,
    }
    return ["chat.message", {"sessionID": session}, {"message": message, "parts": [part]} | more]


def reply(number: int, parent: int, session: str = SESSION, **info: Any) -> Call:
    """A message of the model, or news of it."""
    about = {
        "id": f"msg_{number:03}",
        "role": "assistant",
        "sessionID": session,
        "parentID": f"msg_{parent:03}",
    }
    return event("message.updated", sessionID=session, info=about | info)


def part(number: int, session: str = SESSION, **fields: Any) -> Call:
    about = {
        "id": f"prt_{number:03}{fields.get('type')}",
        "messageID": f"msg_{number:03}",
        "sessionID": session,
    }
    return event("message.part.updated", sessionID=session, part=about | fields)


def says(number: int, text: str, session: str = SESSION) -> Call:
    return part(number, session, type="text", text=text)


def tool(number: int, status: str, session: str = SESSION, name: str = "bash", **state: Any) -> Call:
    given = {"status": status, "input": {"command": "make"}}
    return part(number, session, type="tool", tool=name, callID="call_0", state=given | state)


def idle(session: str = SESSION) -> Call:
    return event("session.idle", sessionID=session)


def turn(text: str = "fix it", answer: str = "Done.", number: int = 1) -> list[Call]:
    """A prompt, a call that works, an answer; numbers of messages begin with ``number``."""
    return [
        ask(text, number),
        reply(number + 1, number),
        tool(number + 1, "pending", input={}),
        tool(number + 1, "running"),
        tool(number + 1, "running"),
        tool(number + 1, "completed", output="ok\n", metadata={"exit": 0}, time={"start": 5, "end": 12}),
        reply(number + 1, number, finish="tool-calls"),
        reply(number + 2, number),
        says(number + 2, ""),
        says(number + 2, answer),
        reply(number + 2, number, finish="stop"),
        idle(),
    ]


def states(hooks: Hooks) -> list[str]:
    return [line["state"] for line in hooks.lines() if line["kind"] == "turn"]


def test_a_turn_lands_with_its_call_and_its_answer(hooks: Hooks) -> None:
    play("opencode", hooks, created(), *turn(), ["dispose"])
    hooks.check(["fix it"])
    assert hooks.texts("answer") == ["Done."]
    kinds = [line["kind"] for line in hooks.lines()]
    assert kinds == ["turn", "session", "context", "prompt", "tool_call", "tool_result", "answer"]
    header, session, *_, result, _ = hooks.lines()
    assert (header["state"], header["client"], header["model"], header["cwd"]) == (
        "done", "opencode", "fake/one", str(hooks.project),
    )  # fmt: skip
    assert session["event"] == "start"
    assert (result["text"], result["ok"], result["ms"]) == ("ok\n", True, 7)


def test_the_start_block_comes_with_the_first_prompt_alone(hooks: Hooks) -> None:
    _, first, *_, second = play("opencode", hooks, created(), *turn(), ask("go on", 9))
    told = first.value["parts"][-1]
    assert told["synthetic"]
    assert "memory" in told["text"]
    assert (told["id"] > "prt_001", told["messageID"], told["sessionID"]) == (True, "msg_001", SESSION)
    assert len(second.value["parts"]) == 1


def test_what_was_told_is_never_taken_for_a_persons_words(hooks: Hooks) -> None:
    given = [{"type": "text", "text": "look"}, {"type": "text", "text": "of a file", "synthetic": True},
             {"type": "text", "text": "unsent", "ignored": True}, {"type": "file", "url": "file:///x"}]  # fmt: skip
    play("opencode", hooks, created(), ask("", parts=given), idle(), ["dispose"])
    assert hooks.texts() == ["look"]


@pytest.mark.parametrize(
    ("state", "ok", "text"),
    [
        ({"status": "completed", "output": "no", "metadata": {"exit": 3}}, False, "no"),
        ({"status": "completed", "output": "", "metadata": {"exit": None}}, True, ""),
        ({"status": "completed", "output": "found"}, True, "found"),
        ({"status": "error", "error": "File not found"}, False, "File not found"),
    ],
)
def test_a_call_says_whether_it_failed(hooks: Hooks, state: dict[str, Any], ok: bool, text: str) -> None:
    play("opencode", hooks, created(), ask("go"), reply(2, 1), tool(2, **state), idle(), ["dispose"])
    result = next(line for line in hooks.lines() if line["kind"] == "tool_result")
    assert (result["ok"], result["text"]) == (ok, text)


def test_calls_of_the_same_id_are_different_calls(hooks: Hooks) -> None:
    play("opencode", hooks, created(), *turn("one"), *turn("two", number=4), ["dispose"])
    assert len([line for line in hooks.lines() if line["kind"] == "tool_result"]) == 2
    assert states(hooks) == ["done", "done"]


def test_a_subagent_works_within_the_turn_of_its_call(hooks: Hooks) -> None:
    task: dict[str, Any] = {"name": "task", "input": {"prompt": "look around"}}
    child = [
        created(CHILD, parentID=SESSION), ask("look around", 3, CHILD), reply(4, 3, CHILD), tool(4, "running", CHILD),
        tool(4, "completed", CHILD, output="x"), reply(5, 3, CHILD), says(5, "All is well.", CHILD), idle(CHILD),
    ]  # fmt: skip
    ended = tool(2, "completed", **task, output="well", metadata={"sessionId": CHILD})
    play("opencode", hooks, created(), ask("ask somebody"), reply(2, 1), tool(2, "running", **task), *child, ended,
         reply(6, 1), says(6, "It is."), idle(), ["dispose"])  # fmt: skip
    hooks.check(["ask somebody"])
    told = {line["kind"]: line for line in hooks.lines()}
    assert [line["tool"] for line in hooks.lines() if line["kind"] == "tool_call"] == ["task"]
    words = told["subagent"]
    assert (words["text"], words["agent"], words["agent_type"], words["call"]) == (
        "All is well.", CHILD, "build", told["tool_call"]["call"],
    )  # fmt: skip


def test_a_child_of_an_earlier_process_is_known_by_asking_the_client(hooks: Hooks) -> None:
    known = ["known", {"id": CHILD, "parentID": SESSION}]
    play("opencode", hooks, known, ask("look around", 3, CHILD), idle(CHILD), ["dispose"])
    assert hooks.lines() == []


def test_a_session_of_before_is_resumed(hooks: Hooks) -> None:
    play("opencode", hooks, ask("and now?"), idle(), ["dispose"])
    assert [line["event"] for line in hooks.lines() if line["kind"] == "session"] == ["resume"]


def test_a_fork_is_one(hooks: Hooks) -> None:
    play("opencode", hooks, created(title="Cart (fork #1)"), ask("and now?"), idle(), ["dispose"])
    assert [line["event"] for line in hooks.lines() if line["kind"] == "session"] == ["fork"]


def test_an_error_of_the_model_fails_the_turn_once(hooks: Hooks) -> None:
    error = event(
        "session.error", sessionID=SESSION, error={"name": "APIError", "data": {"message": "no credit"}}
    )
    play(
        "opencode",
        hooks,
        created(),
        ask("go"),
        reply(2, 1),
        error,
        idle(),
        idle(),
        *turn("again", number=4),
        ["dispose"],
    )
    assert states(hooks) == ["failed", "done"]
    assert next(line for line in hooks.lines() if line["kind"] == "answer")["error"] == "APIError: no credit"


def test_a_run_that_the_person_stopped_is_interrupted(hooks: Hooks) -> None:
    error = event("session.error", sessionID=SESSION, error={"name": "MessageAbortedError", "data": {}})
    play("opencode", hooks, created(), ask("go"), reply(2, 1), says(2, "I beg"), error, idle(), ["dispose"])
    assert states(hooks) == ["interrupted"]
    assert hooks.texts("answer") == ["I beg"]


def test_a_prompt_typed_during_a_run_waits_for_its_turn(hooks: Hooks) -> None:
    play("opencode", hooks, created(), ask("one"), reply(2, 1), tool(2, "running"), ask("two", 3),
         tool(2, "completed", output="x"), reply(2, 1, finish="tool-calls"), reply(4, 3), says(4, "Both."), idle(),
         ["dispose"])  # fmt: skip
    assert hooks.texts() == ["one", "two"]
    assert states(hooks) == ["interrupted", "done"]


def test_a_prompt_typed_during_the_last_words_leaves_the_answer_whole(hooks: Hooks) -> None:
    play("opencode", hooks, created(), ask("one"), reply(2, 1), says(2, "First."), ask("two", 3),
         reply(2, 1, finish="stop"), reply(4, 3), says(4, "Second."), idle(), ["dispose"])  # fmt: skip
    assert list(zip(hooks.texts(), hooks.texts("answer"), states(hooks), strict=True)) == [
        ("one", "First.", "done"), ("two", "Second.", "done"),
    ]  # fmt: skip


def test_after_a_compaction_the_start_block_goes_with_each_request(hooks: Hooks) -> None:
    system: Call = ["experimental.chat.system.transform", {"sessionID": SESSION}, {"system": ["You are."]}]
    compacted = [
        part(4, type="compaction", auto=True), reply(5, 4, summary=True), says(5, "So far: money."),
        event("session.compacted", sessionID=SESSION), reply(6, 7), says(6, "I went on."), idle(),
    ]  # fmt: skip
    replies = play(
        "opencode", hooks, created(), system, ask("go"), reply(2, 1), *compacted, system, system, ["dispose"]
    )
    _, before, *_, after, again, _ = replies
    assert before.value["system"] == ["You are."]
    assert "memory" in after.value["system"][1]
    assert after.value == again.value
    lines = [
        (line["event"], line["trigger"], line.get("text"))
        for line in hooks.lines()
        if line["kind"] == "compact"
    ]
    assert lines == [("before", "auto", None), ("after", "auto", "So far: money.")]
    assert hooks.texts("answer") == ["I went on."]


def test_two_copies_of_the_plugin_tell_a_start_once_after_a_compaction(hooks: Hooks) -> None:
    system: Call = ["experimental.chat.system.transform", {"sessionID": SESSION}, {"system": ["You are."]}]
    compacted = [reply(4, 3, summary=True), says(4, "So far."), event("session.compacted", sessionID=SESSION)]
    *_, shown = play("opencode", hooks, ["load"], created(), ask("go"), *compacted, system)
    assert len(shown.value["system"]) == 2


def test_a_compaction_between_two_turns_is_part_of_the_first(hooks: Hooks) -> None:
    compacted = [
        reply(8, 7, summary=True),
        says(8, "So far."),
        event("session.compacted", sessionID=SESSION),
        idle(),
    ]
    play("opencode", hooks, created(), *turn("one"), *compacted, *turn("two", number=9), ["dispose"])
    assert states(hooks) == ["done", "done"]
    assert hooks.texts("answer") == ["Done.", "Done."]


def test_two_copies_of_the_plugin_record_once(hooks: Hooks) -> None:
    _, _, asked, *_ = play("opencode", hooks, ["load"], created(), *turn(), ["dispose"])
    hooks.check(["fix it"])
    assert states(hooks) == ["done"]
    assert len(asked.value["parts"]) == 2


def test_a_session_that_ends_in_mid_turn_is_interrupted(hooks: Hooks) -> None:
    play("opencode", hooks, created(), ask("go"), reply(2, 1), tool(2, "running"), ["dispose"])
    assert states(hooks) == ["interrupted"]


def test_a_shell_of_the_agent_knows_its_session(hooks: Hooks) -> None:
    shell: Call = ["shell.env", {"sessionID": SESSION}, {"env": {}}]
    *_, shown = play("opencode", hooks, created(), shell)
    assert shown.value == {"env": {"NEOSIAN_OPENCODE_SESSION": SESSION}}


def test_nothing_of_another_agent_is_taken_along(hooks: Hooks) -> None:
    elsewhere = {"CLAUDE_PROJECT_DIR": str(hooks.folder), "CURSOR_VERSION": "1"}
    play("opencode", hooks, created(), *turn(), ["dispose"], **elsewhere)
    assert any(scope.name.endswith("+proj.shop") for scope in hooks.scopes())
    hooks.check(["fix it"])


def test_without_neosian_nothing_happens(hooks: Hooks) -> None:
    hooks.launcher.unlink()
    replies = play("opencode", hooks, created(), *turn("x" * 1_000_000), ["dispose"])
    assert len(replies[1].value["parts"]) == 1
    assert hooks.spooled() == []
    assert not any(each.threw for each in replies)


def test_switched_off_nothing_happens(hooks: Hooks) -> None:
    (hooks.home / "off").touch()
    replies = play("opencode", hooks, created(), *turn(), ["dispose"])
    assert len(replies[1].value["parts"]) == 1
    assert hooks.spooled() == []


@pytest.mark.parametrize(
    "junk",
    [
        None,
        7,
        "x",
        [],
        {},
        {"part": None},
        {"info": 3},
        {"sessionID": []},
        {"part": {"sessionID": SESSION, "type": "tool"}},
    ],
)
def test_whatever_a_client_says_no_hook_throws(hooks: Hooks, junk: object) -> None:
    kinds = ("session.created", "message.updated", "message.part.updated", "session.error", "session.idle",
             "session.compacted", "toString", "__proto__", "new.event")  # fmt: skip
    names = ("chat.message", "experimental.chat.system.transform", "shell.env")
    calls: list[Call] = [["event", {"event": {"type": kind, "properties": junk}}] for kind in kinds]
    calls += [
        ["event", junk],
        ["event", {"event": junk}],
        *([name, junk, junk] for name in names),
        ["dispose"],
    ]
    replies = play("opencode", hooks, created(), ask("go"), *calls)
    assert [each.threw for each in replies if each.threw] == []


def told(client: str, hooks: Hooks, *calls: Call) -> list[dict[str, Any]]:
    """What the hook lines are given."""
    kept = hooks.folder / "told"
    text = rendered(client, hooks.home)
    for verb in VERBS:
        text = text.replace(f'{verb}: "', f'{verb}: "cat >>{kept}; echo >>{kept}; exit 0; ', 1)
    play(client, hooks, *calls, text=text)
    return [json.loads(line) for line in kept.read_text("utf-8").splitlines()]


def test_a_start_belongs_to_no_prompt(hooks: Hooks) -> None:
    start, prompt, *_ = told("opencode", hooks, created(), *turn(), ["dispose"])
    assert (start["hook_event_name"], start.get("prompt_id")) == ("SessionStart", None)
    assert (prompt["hook_event_name"], prompt["prompt_id"]) == ("UserPromptSubmit", "msg_001")


@pytest.mark.parametrize("client", ["opencode", "pi"])
def test_a_hook_that_hangs_is_ended_with_all_it_started(hooks: Hooks, client: str) -> None:
    mark = hooks.folder / "outlived"
    line = f"cat >/dev/null; (sleep 3; touch {mark}) & wait"
    text = (
        rendered(client, hooks.home)
        .replace("HANGS = 30_000", "HANGS = 300")
        .replace("ANSWER = 10_000", "ANSWER = 500")
    )
    for verb in VERBS:
        text = text.replace(f'{verb}: "', f'{verb}: "{line}; ', 1)
    if client == "opencode":
        calls: list[Call] = [created(), ask("go"), ["wait", 3500], ["dispose"]]
        asked = calls[1][2]
    else:
        calls = [
            ["session_start", {"reason": "startup"}],
            ["before_agent_start", {"prompt": "go"}],
            ["wait", 3500],
        ]
        asked = []
    replies = play(client, hooks, *calls, text=text)
    assert not mark.exists()
    assert replies[1].value == asked
