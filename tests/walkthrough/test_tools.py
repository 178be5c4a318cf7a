"""The walkthrough's own tools: the scripted model, the install that retries, and how a run ends."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.walkthrough import claude_code, fake_responses, harness, run, table
from tests.walkthrough.fake_model import Call, FakeModel, Script, Step
from tests.walkthrough.harness import BrokenOffError, Report, Row, Sandbox, UnavailableError

SCRIPT = Script({"fix it": [Step("I look.", (Call("Read", {"file_path": "a"}),)), Step("Fixed.")]})

Npm = Callable[[str], None]


def request(*messages: dict[str, Any], tools: bool = True) -> dict[str, Any]:
    return {"messages": list(messages), "tools": [{"name": "Read"}] if tools else []}


def user(content: Any) -> dict[str, Any]:
    return {"role": "user", "content": content}


def replied() -> dict[str, Any]:
    return {"role": "assistant", "content": []}


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (request(user("please fix it")), "I look."),
        (request(user("please fix it"), replied(), user([{"type": "tool_result"}])), "Fixed."),
        (request(user("fix it"), replied(), user("a remark of the client")), "Fixed."),
        (request(user("fix it"), replied(), replied()), Script.fallback.text),
        (request(user("<system-reminder>fix it</system-reminder>")), Script.fallback.text),
        (request(user("fix it"), tools=False), Script.side.text),
    ],
)
def test_the_reply_follows_from_the_request_alone(body: dict[str, Any], text: str) -> None:
    assert SCRIPT.pick(body).text == text


def test_a_streamed_reply_holds_the_text_and_the_call() -> None:
    with FakeModel(SCRIPT) as model:
        body = json.dumps({**request(user("fix it")), "stream": True}).encode()
        with urllib.request.urlopen(f"{model.url}/v1/messages?beta=true", body, timeout=5) as answer:
            streamed = answer.read().decode()
    events = [json.loads(line[6:]) for line in streamed.splitlines() if line.startswith("data: ")]
    deltas = [event["delta"] for event in events if event["type"] == "content_block_delta"]
    assert deltas[0]["text"] == "I look."
    assert json.loads(deltas[1]["partial_json"]) == {"file_path": "a"}


def test_requests_are_kept_and_readable() -> None:
    with FakeModel(SCRIPT) as model:
        body = json.dumps(request(user("fix it: Größe"))).encode()
        urllib.request.urlopen(f"{model.url}/v1/messages", body, timeout=5).close()
    assert model.requests[0].asks_model
    assert "fix it: Größe" in model.requests[0].text()


@pytest.fixture
def npm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Npm:
    """Puts an ``npm`` of the given lines of sh first in PATH; it counts its calls in ``calls``."""
    monkeypatch.setattr(harness, "PAUSE_SECONDS", 0)

    def replace(script: str) -> None:
        program = tmp_path / "bin" / "npm"
        program.parent.mkdir()
        program.write_text(f'#!/bin/sh\necho once >> "{tmp_path}/calls"\n{script}\n', encoding="utf-8")
        program.chmod(0o700)
        monkeypatch.setenv("PATH", str(program.parent), prepend=":")

    return replace


def calls(tmp_path: Path) -> int:
    return len((tmp_path / "calls").read_text().splitlines())


def tool(modules: Path) -> Path | None:
    return modules / "tool" if (modules / "tool").exists() else None


MAKE_TOOL = "mkdir node_modules && touch node_modules/tool"


def test_a_client_is_installed_once(tmp_path: Path, npm: Npm) -> None:
    npm(MAKE_TOOL)
    paths = {harness.from_npm("tool", "1.0", tmp_path / "cache", tool) for _ in range(2)}
    assert paths == {tmp_path / "cache" / "1.0" / "node_modules" / "tool"}
    assert calls(tmp_path) == 1


def test_an_install_that_fails_is_tried_again(tmp_path: Path, npm: Npm) -> None:
    npm(f'[ "$(grep -c once "{tmp_path}/calls")" -lt 3 ] && exit 1; {MAKE_TOOL}')
    assert harness.from_npm("tool", "1.0", tmp_path / "cache", tool).exists()
    assert calls(tmp_path) == 3


def test_an_install_that_never_works_leaves_nothing_and_says_why(tmp_path: Path, npm: Npm) -> None:
    npm("echo 'no such host' >&2; exit 1")
    with pytest.raises(UnavailableError, match="no such host"):
        harness.from_npm("tool", "1.0", tmp_path / "cache", tool)
    assert list((tmp_path / "cache").iterdir()) == []


def test_a_client_that_cannot_be_installed_is_skipped_loudly(
    tmp_path: Path, npm: Npm, capsys: pytest.CaptureFixture[str]
) -> None:
    npm("exit 1")
    assert run.main(["claude-code", "--version", "1.0", "--cache", str(tmp_path / "cache")]) == 0
    shown = capsys.readouterr().out
    assert "SKIPPED: claude-code 1.0 could not be installed" in shown
    assert shown.endswith("walkthrough claude-code 1.0: SKIPPED\n")


@pytest.mark.parametrize(("good", "status"), [(True, 0), (False, 1)])
def test_a_failed_check_is_red(
    good: bool, status: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def walk(client: Path, version: str, box: Sandbox, report: Report) -> None:
        report.need("a check", good, "something else")

    monkeypatch.setattr(claude_code, "obtain", lambda version, cache: Path("claude"))
    monkeypatch.setattr(claude_code, "walk", walk)
    assert run.main(["--client", "claude-code", "--version", "1.0"]) == status
    closing = f"walkthrough claude-code 1.0: {int(good)} passed, {int(not good)} failed\n"
    assert capsys.readouterr().out.endswith(closing)


def test_several_clients_have_a_closing_line_of_their_own(
    tmp_path: Path, npm: Npm, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def walk(client: Path, version: str, box: Sandbox, report: Report) -> None:
        report.check("a check", True)

    npm("exit 1")
    monkeypatch.setattr(claude_code, "obtain", lambda version, cache: Path("claude"))
    monkeypatch.setattr(claude_code, "walk", walk)
    assert run.main(["claude-code", "codex", "claude-code", "--cache", str(tmp_path / "cache")]) == 0
    assert capsys.readouterr().out.endswith("walkthrough of 3: 2 passed, 0 failed, 1 SKIPPED\n")


def test_the_tables_keep_the_rows_of_others(tmp_path: Path) -> None:
    page, readme = tmp_path / "clients.md", tmp_path / "README.md"
    for file in (page, readme):
        file.write_text(f"before\n{table.BEGINS}{table.ENDS}after\n", encoding="utf-8")
    row = Row("told", "told", "all", "all", "yes", "yes")
    for client, version in (("codex", "0.1.0"), ("claude-code", "2.0.0"), ("codex", "0.2.0")):
        table.write(client, version, row, page, readme)
    for file, place in ((page, 1), (readme, 4)):
        text = file.read_text("utf-8")
        assert text.startswith("before\n")
        assert text.endswith("after\n")
        rows = {line.split(" | ")[0]: line.split(" | ")[place] for line in text.splitlines() if "|" in line}
        assert rows["| Claude Code"].startswith("2.0.0")
        assert rows["| Codex"].startswith("0.2.0")
        assert rows["| Cursor"].startswith("*unverified*")


def test_what_hooks_were_given_and_gave_back_is_kept() -> None:
    with Sandbox() as box:
        assert box.neosian("record", "install", "--client", "codex", "--write").returncode == 0
        box.listen()
        payload = json.dumps({"hook_event_name": "Stop", "session_id": "s", "cwd": str(box.project)})
        launcher = str(box.memory / "bin" / "neosian-hook")
        box.run("sh", "-c", f"printf %s '{payload}' | {launcher} codex stop --project")
        (kept,) = box.hook_runs()
        assert (kept.words, kept.status, kept.stdout) == (["codex", "stop", "--project"], 0, "")
        assert kept.payload["session_id"] == "s"
        box.save_payloads(box.root / "saved.jsonl")
        assert json.loads((box.root / "saved.jsonl").read_text("utf-8"))["cwd"] == "/home/dev/shop"


@pytest.mark.parametrize(
    ("items", "text"),
    [
        ([{"role": "user", "content": [{"type": "input_text", "text": "fix it"}]}], "I look."),
        (
            [
                {"type": "message", "role": "user", "content": "fix it"},
                {
                    "type": "message",
                    "role": "assistant",
                    "content": [{"type": "output_text", "text": "I look."}],
                },
                {"type": "function_call", "name": "Read", "arguments": "{}"},
                {"type": "function_call_output", "output": "x"},
            ],
            "Fixed.",
        ),
        ([{"role": "developer", "content": "fix it"}], Script.fallback.text),
    ],
)
def test_a_request_of_the_responses_api_is_understood(items: list[dict[str, Any]], text: str) -> None:
    assert SCRIPT.pick(fake_responses.as_messages({"tools": [{}], "input": items})).text == text


def test_a_needed_check_breaks_the_walk_off() -> None:
    with pytest.raises(BrokenOffError):
        Report().need("the client", False)


def test_a_sandbox_reaches_no_real_home_and_is_gone_at_the_end() -> None:
    with Sandbox() as box:
        assert box.run("sh", "-c", "echo ~").stdout.strip() == str(box.home)
        assert "ANTHROPIC_API_KEY" not in box.env()
    assert not box.root.exists()
