from __future__ import annotations

import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest

from neosian import own
from neosian.dream import edits, engine, engines
from neosian.dream.claude_cli import ClaudeCli
from neosian.dream.engine import Asked, EngineError
from tests.hooking import Hooks, eventually
from tests.recorded import payload

ASKED = Asked(
    "Keep the notes of the person.", "What the person said about money: 金 💰, see @/etc/passwd.", 4000
)
EDITS = {
    "edits": [{"action": "delete", "path": "/project/a.md", "reason": "gone", "sources": ["0670e8b9#1"]}]
}
SESSION = "4df1bd16-6b2f-4994-b69e-ab201285eb10"


def result(**more: Any) -> dict[str, Any]:
    """What the client prints at its end, as versions 2.1.197 and 2.1.332 do."""
    usage = {
        "input_tokens": 600,
        "cache_read_input_tokens": 70,
        "cache_creation_input_tokens": 2,
        "output_tokens": 20,
    }
    return {
        "type": "result", "subtype": "success", "is_error": False, "api_error_status": None, "stop_reason": "end_turn",
        "result": json.dumps(EDITS), "usage": usage, "modelUsage": {"claude-sonnet-5-5": {}}, "total_cost_usd": 0.1,
    } | more  # fmt: skip


def failed(text: str, status: int | None = None, **more: Any) -> dict[str, Any]:
    """The same for an error."""
    return result(is_error=True, result=text, api_error_status=status, stop_reason="stop_sequence") | more


class Claude:
    """A `claude` on the PATH that keeps what it was given and then runs some lines of Python."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.home = folder / "home"
        self.bin = folder / "bin"
        self.bin.mkdir()
        self.environ = dict(os.environ) | {"PATH": f"{self.bin}{os.pathsep}{os.environ['PATH']}"}

    def does(self, code: str) -> None:
        keeps = "{'argv': sys.argv, 'env': dict(os.environ), 'cwd': os.getcwd(), 'files': os.listdir(), 'stdin': said}"
        program = self.bin / "claude"
        program.write_text(
            f"#!{sys.executable}\nimport json, os, subprocess, sys, time\n"
            "said = sys.stdin.buffer.read().decode()\n"
            f"with open({str(self.folder / 'seen')!r}, 'a') as out:\n    print(json.dumps({keeps}), file=out)\n{code}\n",
            "utf-8",
        )
        program.chmod(0o700)

    def says(self, said: object, status: int = 0) -> None:
        self.does(f"print({said if isinstance(said, str) else json.dumps(said)!r})\nsys.exit({status})")

    def engine(self, **more: Any) -> ClaudeCli:
        return ClaudeCli(engines.REMEMBER, str(self.home), self.environ, **more)

    def trouble(self, **more: Any) -> EngineError:
        with pytest.raises(EngineError) as raised:
            self.engine(**more).ask(ASKED)
        return raised.value

    @property
    def seen(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in (self.folder / "seen").read_text("utf-8").splitlines()]


@pytest.fixture
def claude(tmp_path: Path) -> Claude:
    return Claude(tmp_path)


def test_the_answer_is_the_client_s_text(claude: Claude) -> None:
    claude.says(result())
    answer = claude.engine().ask(ASKED)
    assert edits.parse(answer.said) == edits.parse(EDITS)
    assert (answer.input_tokens, answer.output_tokens) == (672, 20)
    assert (answer.model, answer.stop, answer.cost) == ("claude-sonnet-5-5", "end_turn", None)


def test_the_question_comes_by_stdin_and_nowhere_else(claude: Claude) -> None:
    claude.says(result())
    claude.engine(model="opus").ask(ASKED)
    (seen,) = claude.seen
    secret = own.secret(str(claude.home))
    arguments = " ".join(seen["argv"])
    for text in (secret, ASKED.system, ASKED.prompt):
        assert text in seen["stdin"]
        assert text not in arguments
    assert json.dumps(edits.SCHEMA) in seen["stdin"]
    assert "--model opus" in arguments


def test_the_client_is_started_in_an_empty_folder_that_goes_away(claude: Claude) -> None:
    claude.says(result())
    claude.engine().ask(ASKED)
    (seen,) = claude.seen
    assert seen["files"] == []
    assert os.path.dirname(seen["cwd"]) == os.path.realpath(tempfile.gettempdir())
    assert not os.path.exists(seen["cwd"])


def test_the_client_has_the_person_s_environment_with_our_hooks_off(claude: Claude) -> None:
    claude.environ |= {"CLAUDE_CODE_OAUTH_TOKEN": "t", "CLAUDECODE": "1", "CLAUDE_CODE_SESSION_ID": SESSION}
    claude.says(result())
    claude.engine().ask(ASKED)
    seen = claude.seen[0]["env"]
    wanted = {"NEOSIAN_OFF": "1", "CLAUDE_CODE_DISABLE_ATTACHMENTS": "1", "CLAUDE_CODE_OAUTH_TOKEN": "t"}
    assert {name: seen.get(name) for name in wanted} == wanted
    assert seen["CLAUDE_CODE_MAX_OUTPUT_TOKENS"] == "4000"
    assert not {"CLAUDECODE", "CLAUDE_CODE_SESSION_ID"} & seen.keys()


def test_the_second_round_has_the_first_answer_in_its_place(claude: Claude) -> None:
    claude.says(result(result="Nothing lasts."))
    asking = claude.engine()
    asking.ask(ASKED)
    asking.ask(ASKED, again="The answer holds no edits.")
    first, second = (seen["stdin"] for seen in claude.seen)
    assert second.startswith(first)
    assert "Nothing lasts.\n\nThe answer holds no edits." in second


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        (failed("Not logged in · Please run /login"), engine.NO_KEY),
        (failed("Invalid API key · Fix external API key", 401), engine.KEY_REFUSED),
        (failed("OAuth token revoked · Please run /login", 403), engine.KEY_REFUSED),
        (failed("You've hit your session limit · resets 3pm", 429), engine.QUOTA),
        (failed("Claude AI usage limit reached|1760000000"), engine.QUOTA),
        (failed("Credit balance is too low", 400), engine.QUOTA),
        (failed("API Error: Request rejected (429) · slow down", 429), engine.OVERLOADED),
        (failed("API Error: 529 Overloaded. This is a server-side issue.", 529), engine.OVERLOADED),
        (failed("There's an issue with the selected model (m).", 404), engine.REQUEST),
        (failed("Prompt is too long · 300000 tokens", 400, terminal_reason="prompt_too_long"), engine.TOO_LONG),
        (failed("Claude's response exceeded the 4000 output token maximum."), engine.TRUNCATED),
        (failed("Unable to connect to API (ECONNREFUSED)"), engine.UNREACHABLE),
        (failed("Something else"), engine.UNREADABLE),
        (failed("", subtype="error_during_execution", errors=["boom"]), engine.UNREADABLE),
    ],
)  # fmt: skip
def test_each_trouble_of_the_client_is_said_in_a_sentence(
    claude: Claude, said: dict[str, Any], kind: str
) -> None:
    claude.says(said, status=1)
    error = claude.trouble()
    assert error.kind == kind
    assert str(said["result"] or said.get("errors"))[:20] in str(error)
    assert str(error).endswith(".")


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        (result(stop_reason="max_tokens"), engine.TRUNCATED),
        (result(stop_reason="refusal"), engine.REFUSED),
        (result(result=" \n"), engine.UNREADABLE),
        (result(result=None, usage=None, modelUsage=None), engine.UNREADABLE),
    ],
)  # fmt: skip
def test_an_answer_that_is_none_is_not_used(claude: Claude, said: dict[str, Any], kind: str) -> None:
    claude.says(said)
    error = claude.trouble()
    assert (error.kind, error.is_of_the_question) == (kind, True)


@pytest.mark.parametrize(
    ("code", "kind", "words"),
    [
        ("print('Welcome!')", engine.UNREADABLE, "not the JSON it should be: Welcome!"),
        ("print('[1, 2]')", engine.UNREADABLE, "not the JSON it should be"),
        ("", engine.UNREADABLE, "not the JSON it should be."),
        ("sys.stdout.buffer.write(b'\\xff\\xfe{')", engine.UNREADABLE, "not the JSON it should be"),
        ("sys.exit('boom')", engine.NO_CLIENT, "ended with 1: boom"),
        ("sys.exit(\"error: unknown option '--safe-mode'\")", engine.NO_CLIENT, "is too old for the dream"),
        ("os.kill(os.getpid(), 9)", engine.NO_CLIENT, "was ended by signal 9"),
        ("sys.exit('cannot use: ' + said)", engine.NO_CLIENT, "ended with 1."),
    ],
)
def test_a_client_that_is_broken_is_said_to_be(claude: Claude, code: str, kind: str, words: str) -> None:
    claude.does(code)
    error = claude.trouble()
    assert (error.kind, words in str(error)) == (kind, True), str(error)


def test_no_key_and_no_secret_is_shown(claude: Claude) -> None:
    claude.environ["ANTHROPIC_API_KEY"] = "a-key-that-nobody-may-see"
    claude.does("sys.exit(os.environ['ANTHROPIC_API_KEY'] + ' and ' + said.split()[1] + ' are no good')")
    assert "ended with 1: … and … are no good." in str(claude.trouble())


def test_a_client_in_the_folder_where_we_are_is_none(claude: Claude, monkeypatch: pytest.MonkeyPatch) -> None:
    claude.says(result())
    monkeypatch.chdir(claude.bin)
    claude.environ["PATH"] = f".{os.pathsep}{claude.folder}"
    with pytest.raises(EngineError, match="no `claude` on the PATH") as raised:
        claude.engine()
    assert raised.value.kind == engine.NO_CLIENT


def test_a_client_that_cannot_be_run_is_named(claude: Claude) -> None:
    (claude.bin / "claude").write_text("#!/no/such/interpreter\n")
    (claude.bin / "claude").chmod(0o700)
    error = claude.trouble()
    assert (error.kind, f"{claude.bin / 'claude'} cannot be run" in str(error)) == (engine.NO_CLIENT, True)


CHILD = "child = subprocess.Popen(['sleep', '600'])\nprint(child.pid, file=open({!r}, 'w'), flush=True)\n"


@pytest.mark.parametrize("ending", ["time.sleep(600)", f"print({json.dumps(result())!r})"])
def test_a_client_and_its_children_do_not_outlive_the_question(claude: Claude, ending: str) -> None:
    claude.does(CHILD.format(str(claude.folder / "pid")) + ending)
    if ending.startswith("time"):
        error = claude.trouble(deadline=1.0)
        assert (error.kind, "within 1 s" in str(error)) == (engine.TIMEOUT, True)
    else:
        claude.engine(deadline=60.0).ask(ASKED)
    pid = int((claude.folder / "pid").read_text())
    eventually(lambda: not is_running(pid), "the child ended")


def is_running(pid: int) -> bool:
    """Whether a process runs; one that has ended and that nobody has asked after does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


@pytest.mark.parametrize(
    "environment", ["dict(os.environ)", "{'PATH': os.environ['PATH'], 'HOME': os.environ['HOME']}"]
)
def test_our_hooks_record_nothing_of_it_even_with_the_environment_wiped(
    claude: Claude, environment: str
) -> None:
    hooks = Hooks(claude.folder, home=claude.home)
    hooks.turn("money is rounded once")
    events = [
        "session_start.startup",
        "user_prompt_submit",
        "pre_tool_use.bash",
        "post_tool_use.bash",
        "stop",
        "session_end.other",
    ]
    said = [payload(name) | {"session_id": SESSION} for name in events]
    claude.does(
        f"verbs = ['start', 'prompt', 'note', 'note', 'stop', 'end']\nfor verb, event in zip(verbs, {said!r}):\n"
        "    event['cwd'] = os.getcwd()\n    if 'prompt' in event: event['prompt'] = said\n"
        f"    done = subprocess.run([{str(hooks.launcher)!r}, 'claude-code', verb], input=json.dumps(event).encode(),"
        f" env={environment}, capture_output=True)\n"
        f"    assert (done.returncode, done.stdout, done.stderr) == (0, b'', b''), done\nprint({json.dumps(result())!r})"
    )  # fmt: skip
    claude.engine().ask(ASKED)
    hooks.check(["money is rounded once"])
    assert (hooks.spooled(), hooks.aside(), hooks.log()) == ([], [], "")
