"""The contract that every client's adapter and installer keep, over all that was recorded of them."""

from __future__ import annotations

import copy
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from neosian import clients, errands, resources
from neosian.clients import CLIENTS, INSTALLERS, MODULES, adapter, calling
from neosian.clients.installers import RECORDED, hooks_of, installer
from neosian.clients.mcp_clients import PROJECT, USER
from neosian.launcher import hook_line
from neosian.spans import assemble
from neosian.spool import CONTEXT, header
from neosian.turns import Memory
from tests.expected import event, events, payloads, sequences, told, verb_of
from tests.factories import Home
from tests.recorded import BEGAN, landed

KINDS = {
    "start", "prompt", "call", "result", "batch", "permission", "subagent", "compact", "stop", "failure", "end", "cwd",
    "event", "nothing", "interrupt", "error", "said",
}  # fmt: skip
SESSIONS = ("session_id", "sessionId", "conversation_id", "session")  # keys under which a session stands
SINGLE = [(client, path) for client in CLIENTS for path in payloads(client)]
WHOLE = [(client, path) for client in CLIENTS for path in sequences(client)]
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=10), inner, max_size=3),
    max_leaves=6,
)
OUR_WORDS = ("neosian keeps the memory of", "neosian found this in its memory", "Between the two lines")


def name_of(value: object) -> str:
    return value.stem if isinstance(value, Path) else str(value)


def payload_of(path: Path) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(path.read_text("utf-8"))
    return value


def of_verb(client: str, verb: str) -> dict[str, Any]:
    """A recorded payload that comes through the hook line of a verb, of no child's."""
    lines = (line for path in sequences(client) for line in path.read_text("utf-8").splitlines())
    for line in [*lines, *(path.read_text("utf-8") for path in payloads(client))]:
        payload: dict[str, Any] = json.loads(line)
        found = event(client, payload)
        kinds = {"start": ("start",), "prompt": ("prompt",)}.get(verb, tuple(KINDS))
        if verb_of(client, payload) == verb and found.kind in kinds and not found.agent:
            return payload
    pytest.fail(f"nothing recorded of {client} comes through {verb}")


# Payloads ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("client", "path"), SINGLE, ids=name_of)
def test_a_payload_becomes_an_event_of_its_session(client: str, path: Path) -> None:
    payload = payload_of(path)
    found = event(client, payload)
    assert found.client == client
    assert found.kind in KINDS
    named = [payload[key] for key in SESSIONS if isinstance(payload.get(key), str)]
    assert found.session in named or found.agent


@pytest.mark.parametrize(("client", "path"), SINGLE, ids=name_of)
@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_fields_that_are_missing_renamed_or_of_a_wrong_type_are_never_an_error(
    client: str, path: Path, data: st.DataObject
) -> None:
    payload = payload_of(path)
    for fields in data.draw(st.permutations(list(_objects(payload)))):
        for key in data.draw(st.lists(st.sampled_from(sorted(fields)), max_size=3)) if fields else ():
            value = fields.pop(key, None)
            change = data.draw(st.sampled_from(("missing", "renamed", "wrong")))
            if change == "renamed":
                fields[data.draw(st.text(max_size=10))] = value
            elif change == "wrong":
                fields[key] = data.draw(VALUES)
    found = event(client, copy.deepcopy(payload))
    assert found.session
    assert found.kind in KINDS
    batch = assemble([found], lambda client, session: Memory(), now=BEGAN + 1e6)
    assert not batch.keep


def _objects(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
    for part in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _objects(part)


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("payload", [{}, {"hook_event_name": 7}, {"hook_event_name": "Later", "x": [1]}])
def test_an_event_that_nobody_knows_is_kept_as_it_came(client: str, payload: dict[str, Any]) -> None:
    found = event(client, payload)
    assert (found.session, found.kind) == ("unknown", "event")
    assert found.data["payload"] == payload


# Sequences ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("client", CLIENTS)
def test_there_is_a_recorded_session(client: str) -> None:
    assert sequences(client)


@pytest.mark.parametrize(("client", "path"), WHOLE, ids=name_of)
def test_a_recorded_session_makes_the_turns_beside_it(client: str, path: Path) -> None:
    assert told(landed(events(client, path))) == path.with_suffix(".turns").read_text("utf-8")


@pytest.mark.parametrize(("client", "path"), WHOLE, ids=name_of)
def test_landing_after_every_event_makes_the_same_lines(client: str, path: Path) -> None:
    assert landed(events(client, path), lambda one: True).lines == landed(events(client, path)).lines


@pytest.mark.parametrize(("client", "path"), WHOLE, ids=name_of)
def test_any_event_that_comes_again_after_a_crash_changes_nothing(client: str, path: Path) -> None:
    record = landed(events(client, path))
    before = told(record)
    for one in events(client, path):
        if one.spooled not in {kept.spooled for kept in record.spool}:
            record.land([one])
    assert told(record) == before


@pytest.mark.parametrize(("client", "path"), WHOLE, ids=name_of)
def test_two_hook_lines_make_the_same_turns(client: str, path: Path) -> None:
    both = sorted([*events(client, path), *events(client, path, level="--project")], key=lambda one: one.at)
    assert landed(both).lines == landed(events(client, path)).lines


@pytest.mark.parametrize(("client", "path"), WHOLE, ids=name_of)
def test_what_we_told_never_comes_back_as_somebodys_words(client: str, path: Path) -> None:
    for turn in landed(events(client, path)).turns():
        for text in (*turn.prompts, turn.answer):
            assert not any(words in text for words in OUR_WORDS)


# Answers -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("verb", ["start", "prompt"])
@pytest.mark.parametrize("text", ['{"a": "b"}\n[x] <tag>', "金 ✅ Größe", "half of a pair: \udcff"])
def test_what_is_shown_is_one_answer_of_the_clients_own(client: str, verb: str, text: str) -> None:
    shown = adapter(client).shown(verb, text)
    shown.encode("utf-8", "replace")
    assert adapter(client).shown(verb, "") == ""
    whole = [text, text.encode("utf-8", "replace").decode()]
    assert shown in whole or any(words in _strings(json.loads(shown)) for words in whole)


def _strings(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [text for part in parts for text in _strings(part)]


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """A home that has something to tell."""
    found = Home(tmp_path)
    found.talk("4df1bd16-6b2f-4994-b69e-ab201285eb10").land("Paint the door", "Painted.")
    found.committed("project/money.md", "# Money\n\nCart totals are rounded once, at the end.\n")
    return found


def asked(client: str, home: Home, verb: str) -> dict[str, Any]:
    """A recorded payload, moved into the project of a home; a prompt asks for something that memory knows."""
    text = json.dumps(of_verb(client, verb)).replace("/home/dev/shop", str(home.project))
    payload: dict[str, Any] = json.loads(text)
    if verb == "prompt":
        said = event(client, payload).data["text"]
        payload = json.loads(
            json.dumps(payload).replace(json.dumps(said)[1:-1], "How are cart totals rounded?")
        )
    return payload


def run(
    client: str, home: Home, verb: str, payload: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> str:
    """What the hook of a verb prints for a payload."""
    name = home.spool.put(header(client, verb, "", str(home.project), {}), json.dumps(payload).encode())
    assert errands.main([verb, str(home.path), client, name]) == 0
    return capsys.readouterr().out


def kept(client: str, home: Home) -> list[str]:
    """What the spool holds of texts that this client's sessions were told."""
    return [
        str(entry.payload["text"])
        for entry in home.spool.take()
        if entry.spooled.event == CONTEXT and entry.spooled.client == client
    ]


@pytest.mark.parametrize("client", CLIENTS)
def test_a_start_and_a_prompt_are_answered_in_the_clients_way(
    client: str, home: Home, capsys: pytest.CaptureFixture[str]
) -> None:
    program = adapter(client)
    said = run(client, home, "start", asked(client, home, "start"), capsys)
    texts = kept(client, home)
    if program.STARTS_WITH_PROMPT:
        assert (said, texts) == ("", [])
    else:
        assert said == program.shown("start", texts[0])
        assert "Paint the door" in texts[0]
        assert program.cost(texts[0]) <= program.START_LIMIT
    answer = run(client, home, "prompt", asked(client, home, "prompt"), capsys)
    told_now = kept(client, home)[len(texts) :]
    assert answer == program.shown("prompt", "\n\n".join(told_now))
    assert "rounded once" in told_now[-1]
    assert ("Paint the door" in answer) == program.STARTS_WITH_PROMPT
    assert program.cost("\n\n".join(told_now)) <= program.START_LIMIT


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("verb", ["stop", "end"])
def test_a_stop_and_an_end_print_nothing(
    client: str, verb: str, home: Home, capsys: pytest.CaptureFixture[str]
) -> None:
    if verb not in adapter(client).VERB.values():
        pytest.skip("the client has no such event")
    assert run(client, home, "prompt", asked(client, home, "prompt"), capsys)
    assert run(client, home, verb, asked(client, home, verb), capsys) == ""


# Its own facts, and where it is installed --------------------------------------------------------


@pytest.mark.parametrize("client", CLIENTS)
def test_the_adapter_says_who_it_is(client: str) -> None:
    program = adapter(client)
    assert client == program.NAME
    assert program.TITLE == installer(client).TITLE
    assert set(program.VERB) == set(program.EVENTS)
    assert set(program.VERB.values()) <= {"start", "prompt", "stop", "end", "note"}
    assert all(since >= program.OLDEST for since in program.EVENTS.values())
    assert program.START_LIMIT > 0
    assert (program.cost(""), program.cost("ab") > 0) == (0, True)
    assert program.session_of({}) == ""


@pytest.mark.parametrize("client", RECORDED)
def test_what_is_installed_has_a_hook_line_for_each_event(client: str) -> None:
    hooks, program = hooks_of(client), adapter(client)
    template = resources.hook_file(hooks.template)
    wanted = hooks.shape.filled(template, program.EVENTS, lambda verb: hook_line(client, verb))
    names = set(hooks.shape.names(wanted))
    assert names == set(program.EVENTS) or names == set(program.VERB.values())
    text = hooks.shape.merge(hooks.shape.empty, wanted)
    assert hooks.shape.merge(text, wanted) == text
    assert hooks.shape.names(hooks.shape.owned(text)) == hooks.shape.names(wanted)
    assert hooks.shape.is_empty(hooks.shape.strip(text))
    assert hooks.shape.problems(hooks.shape.empty, wanted) == []


@pytest.mark.parametrize("client", INSTALLERS)
def test_the_installer_says_what_a_person_has_to_know(client: str) -> None:
    module = installer(client)
    assert (module.NAME, module.MCP.name) == (client, client)
    assert module.MCP.title == module.TITLE
    assert (module.HOOKS is not None) == (client in RECORDED)
    assert set(module.TRUST) <= {USER, PROJECT}
    assert all(said.endswith(".") for said in module.TRUST.values())
    assert module.version("no version here") is None


def test_no_two_clients_claim_the_same_caller() -> None:
    assert calling({}) is None
    assert len(set(CLIENTS)) == len({adapter(client).TITLE for client in CLIENTS})


def test_every_client_is_in_both_registries() -> None:
    assert set(MODULES) <= set(INSTALLERS)
    assert tuple(MODULES) == clients.CLIENTS


@pytest.mark.skipif(not os.path.exists("/proc/self/environ"), reason="the system does not tell it")
@pytest.mark.parametrize(
    ("outer", "inner", "client"),
    [
        ("CLAUDE_CODE_SESSION_ID", "CODEX_SESSION_ID", "codex"),
        ("CODEX_SESSION_ID", "CLAUDE_CODE_SESSION_ID", "claude-code"),
    ],
)
def test_of_agents_within_each_other_the_inner_one_calls(outer: str, inner: str, client: str) -> None:
    says = "import os; from neosian.clients import calling; print(*calling(os.environ))"
    within = f'{inner}=inner "{sys.executable}" -c "{says}"; true'
    shell = ["/bin/sh", "-c", f"/bin/sh -c '{within}'; true"]
    done = subprocess.run(shell, env={outer: "outer"}, capture_output=True, text=True, check=True)
    assert done.stdout == f"{client} inner\n"


def test_every_template_is_of_a_client() -> None:
    folder = Path(__file__).parents[1] / "hooks"
    assert {path.name for path in folder.iterdir()} == {
        "neosian-hook",
        "pipe.js",  # which both plugins hold
        *(hooks_of(client).template for client in RECORDED),
    }
