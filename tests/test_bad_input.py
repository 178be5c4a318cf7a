"""Payloads that no client should send, through the launcher and through `neosian record`: a clear word, nothing lost."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from neosian import hook
from neosian.commands.record import received
from neosian.errors import NeosianError
from neosian.scope import disk_name
from neosian.spool import Spool
from neosian.store import Lock
from tests.factories import git
from tests.hooking import CLIENT, Hooks, environment, eventually, one_line, quiet

NO_OBJECTS = {
    "empty": b"",
    "spaces": b" \n\t ",
    "torn": b"{",
    "torn in a string": b'{"session_id": "a',
    "array": b"[]",
    "null": b"null",
    "number": b"1",
    "text": b'"{}"',
    "two": b"{}{}",
    "junk behind": b'{"session_id": "a"} x',
    "no JSON": b"hello",
    "NUL bytes": b"\0\0\0\0",
    "UTF-16": '{"session_id": "a"}'.encode("utf-16"),
    "not UTF-8": b"\xff\xfe\xfd",
    "deep": b"[" * 100_000,
    "deep objects": b'{"a":' * 100_000,
    "torn and large": b'{"session_id": "' + b"x" * 2_000_000,
}


@pytest.fixture
def hooks(tmp_path: Path) -> Hooks:
    return Hooks(tmp_path)


def land(hooks: Hooks) -> None:
    """Have the next hook of another session land what waits."""
    assert quiet(hooks.fire(hooks.said("session_end.other", "another")))


# What is no JSON object


def test_what_is_no_object_is_set_aside_with_the_reason_and_stops_nothing(hooks: Hooks) -> None:
    hooks.turn("before")
    for data in NO_OBJECTS.values():
        assert quiet(hooks.fire(data, "note"))
    assert all(map(quiet, hooks.turn("after", number=2)))
    reasons = hooks.aside()
    assert len(reasons) == len(NO_OBJECTS)
    for reason in reasons:
        assert reason.startswith("The payload is not one JSON object: ")
        assert reason in hooks.log()
    hooks.check(["before", "after"])


@pytest.mark.parametrize("verb", ["start", "stop", "end"])
@pytest.mark.parametrize(
    "name", ["empty", "torn", "null", "junk behind", "not UTF-8", "deep", "torn and large"]
)
def test_a_hook_that_runs_python_tells_in_one_line_what_is_wrong_with_it(
    hooks: Hooks, name: str, verb: str
) -> None:
    done = hooks.fire(NO_OBJECTS[name], verb)
    assert one_line(done)
    assert "not one JSON object" in done.err
    assert len(hooks.aside()) == 1


@pytest.mark.parametrize("data", NO_OBJECTS.values(), ids=NO_OBJECTS)
def test_record_tells_what_is_wrong_with_it_and_keeps_nothing(hooks: Hooks, data: bytes) -> None:
    done = hooks.record(data)
    assert (done.status, done.out) == (1, "")
    assert done.err.startswith("neosian: The payload is not one JSON object: ")
    assert [path for path in (hooks.home / "spool").rglob("*") if path.is_file()] == []


ODD_OBJECTS = [
    {},
    {"hook_event_name": None},
    {"hook_event_name": ["Stop"], "session_id": {"a": 1}},
    {"hook_event_name": "Stop", "session_id": 7, "last_assistant_message": [1], "background_tasks": "x"},
    {
        "hook_event_name": "PostToolUse",
        "session_id": "s",
        "tool_name": 3,
        "tool_input": [],
        "tool_response": 1e400,
    },
    {"hook_event_name": "PostToolBatch", "session_id": "s", "tool_calls": [None, 1, {"tool_use_id": []}]},
    {"hook_event_name": "UserPromptSubmit", "session_id": "s", "prompt": {"text": "x"}, "prompt_id": 12},
    {"hook_event_name": "Never Heard Of", "session_id": "s", "payload": [1, [2, {"x": None}]]},
    {"hook_event_name": "SessionStart", "source": 5, "cwd": 9, "model": {}},
    {"hook_event_name": "Stop", "cwd": "\0", "session_id": "s\0", "prompt_id": "\0"},
]


@pytest.mark.parametrize("said", ODD_OBJECTS, ids=str)
def test_wrong_types_in_an_object_are_never_an_error(hooks: Hooks, said: dict[str, object]) -> None:
    for verb in ("note", "stop", "end"):
        assert quiet(hooks.fire(said, verb))
    assert hooks.record(said).status == 0
    assert hooks.aside() == []
    assert all(map(quiet, hooks.turn("after")))
    assert "after" in hooks.texts()


# Text


def text_after(hooks: Hooks, raw: bytes) -> str:
    """What becomes of a prompt whose text is these bytes within a JSON string."""
    said = json.dumps(hooks.said("user_prompt_submit", prompt="@")).encode().replace(b'"@"', b'"%s"' % raw)
    assert quiet(hooks.fire(said, "prompt"))
    assert quiet(hooks.fire(hooks.said("stop")))
    (text,) = hooks.texts()
    return text


TEXTS = {
    rb"a \udc88 b": "a \ufffd b",
    rb"a \ud83d b": "a \ufffd b",
    rb"\ud83d\ude00 is a pair": "\U0001f600 is a pair",
    rb"\ude00\ud83d is none": "\ufffd\ufffd is none",
    b"caf\xe9 and \xff\xfe": "caf\ufffd and \ufffd\ufffd",
    b"ok \xf0\x9f\x98\x80": "ok \U0001f600",
    b"\xed\xa0\x80 raw surrogate": "\ufffd\ufffd\ufffd raw surrogate",
    rb"\u0000 nul": "\0 nul",
    b"a raw\ttab and\x01": "a raw\ttab and\x01",
    rb"line\u2028ends\u0085here\r\nand": "line\u2028ends\x85here\r\nand",
    rb"\ufeff mark": "\ufeff mark",
}


@pytest.mark.parametrize(("raw", "text"), TEXTS.items(), ids=map(repr, TEXTS))
def test_text_that_is_not_quite_unicode_is_mended_and_the_rest_stays(
    hooks: Hooks, raw: bytes, text: str
) -> None:
    assert text_after(hooks, raw) == text
    hooks.check([text])


def test_surrogates_in_keys_ids_and_paths_land_too(hooks: Hooks) -> None:
    odd = "a\udc88"
    hooks.fire(hooks.said("user_prompt_submit", odd, prompt="odd", cwd=f"/nowhere/{odd}"))
    hooks.fire(hooks.said("pre_tool_use.bash", odd, tool_use_id=odd, tool_input={odd: {odd: [odd]}}))
    assert quiet(hooks.fire(hooks.said("stop", odd)))
    hooks.check(["odd"])


# Sessions

SESSIONS = ["../../x", "a/b", "C:\\x", "CON", "con.txt", "", "x" * 300, "é" * 300, "two\nlines", ".git", "..", ".",
            "-rf", "$(id)", "*", "A", "a", "trailing.", "trailing ", "\0", "a\tb", "%2e", "NUL", "😀" * 80]  # fmt: skip


def short_turn(hooks: Hooks, prompt: str, session: str, number: int = 1) -> None:
    """A turn without calls."""
    assert quiet(hooks.fire(hooks.said("user_prompt_submit", session, number, prompt=prompt)))
    assert quiet(hooks.fire(hooks.said("stop", session, number)))


@pytest.mark.parametrize("session", SESSIONS, ids=lambda text: repr(text[:12]))
def test_any_session_id_lands_and_stays_inside_the_record(hooks: Hooks, session: str) -> None:
    outside = {path for path in hooks.folder.rglob("*") if "home" not in path.parts}
    done = hooks.start(session)
    assert (done.status, done.err, hooks.scopes()) == (0, "", [])
    short_turn(hooks, "one", session)
    short_turn(hooks, "two", session, 2)
    hooks.check(["one", "two"])
    assert {path for path in hooks.folder.rglob("*") if "home" not in path.parts} == outside
    headers = [line for line in hooks.lines() if line["kind"] == "turn"]
    assert {line["session"] for line in headers} == {session or "unknown"}
    assert sorted(line["turn"] for line in headers) == [1, 2]


def test_sessions_that_differ_in_case_or_signs_only_have_files_of_their_own(hooks: Hooks) -> None:
    for session in SESSIONS:
        short_turn(hooks, f"in {session!r}", session)
    hooks.check([f"in {session!r}" for session in SESSIONS])
    names = [path.name for path in hooks.home.glob("scopes/*/record/*/*/*.jsonl")]
    assert len({name.lower() for name in names}) == len(SESSIONS)
    assert all(len(name.encode()) <= 255 for name in names)
    assert len({disk_name(session) for session in SESSIONS}) == len(SESSIONS)


# Directories and flags


def test_a_directory_that_is_gone_still_lands(hooks: Hooks) -> None:
    gone = hooks.folder / "gone"
    gone.mkdir()
    line = 'cd "$1" && rmdir "$1" && shift && exec "$@"'
    said = hooks.said("user_prompt_submit", prompt="in a gone place", cwd=str(gone))
    done = subprocess.run(
        ["sh", "-c", line, "sh", gone, hooks.launcher, CLIENT, "prompt"], input=json.dumps(said).encode(),
        env=environment(), capture_output=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, b"")
    assert done.stderr.count(b"\n") <= 1  # the shell itself may say that it cannot tell where it is
    assert quiet(hooks.fire(hooks.said("stop", cwd=str(gone)), cwd="/"))
    hooks.check(["in a gone place"])


def test_record_works_in_a_directory_that_is_gone(hooks: Hooks) -> None:
    gone = hooks.folder / "gone"
    gone.mkdir()
    line = 'cd "$1" && rmdir "$1" && shift && exec "$@"'
    command = [sys.executable, "-m", "neosian", "record", "--root", str(hooks.home)]
    done = subprocess.run(
        ["sh", "-c", line, "sh", gone, *command], input=json.dumps(hooks.said("pre_tool_use.bash")).encode(),
        env=environment(), capture_output=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, b"")
    assert len(hooks.spooled()) == 1


@pytest.mark.parametrize("flags", [["--scope", "user:a b"], ["--scope", "user:ünï/proj:x y"], ["--scope=user:a b"],
                                   ["--mount", "/project=user:a b"]], ids=str)  # fmt: skip
def test_a_scope_with_spaces_in_the_hook_line_is_the_scope(hooks: Hooks, flags: Sequence[str]) -> None:
    assert all(map(quiet, hooks.turn(flags=flags)))
    hooks.check(["fix it"])
    (scope,) = [path for path in hooks.scopes() if list(path.glob("record/*/*/*.jsonl"))]
    text = (scope / ".git" / "neosian" / "scope").read_text().strip()
    assert text == flags[-1].rpartition("=")[2]


@pytest.mark.parametrize("flags", [["--scope", "no scope"], ["--scope"], ["--mount", "nonsense"], ["--what"],
                                   ["--scope", "user:" + "x" * 400], ["--scope", "../../x:y"]], ids=str)  # fmt: skip
def test_flags_that_make_no_sense_lose_nothing(hooks: Hooks, flags: Sequence[str]) -> None:
    for session, prompt, words in (("one", "under odd flags", flags), ("two", "after", ())):
        for done in hooks.turn(prompt, session=session, flags=words):
            assert quiet(done) or one_line(done)
    kept = [
        path
        for path in (hooks.home / "spool").rglob("*")
        if path.is_file() and b"odd flags" in path.read_bytes()
    ]
    assert "after" in hooks.texts()
    assert "under odd flags" in hooks.texts() or kept


# Large


def big_result(hooks: Hooks, size: int) -> tuple[bytes, int]:
    """The payload of a tool result of about ``size`` bytes, and how many characters its output has."""
    piece = 'x é \\ " \n 😀 '
    text = piece * (size // len(json.dumps(piece)))
    said = hooks.said("post_tool_use.bash", tool_use_id="toolu_big")
    return json.dumps(said | {"tool_response": {"stdout": text, "stderr": ""}}).encode(), len(text)


def test_a_result_of_50_mb_lands_in_bounded_memory_with_its_true_length(hooks: Hooks) -> None:
    said, chars = big_result(hooks, 50 << 20)
    hooks.fire(hooks.said("user_prompt_submit", prompt="much"))
    hooks.fire(hooks.said("pre_tool_use.bash", tool_use_id="toolu_big"))
    assert quiet(hooks.fire(said, "note"))
    hooks.fire(hooks.said("stop"), "note")
    peak = peak_of([sys.executable, "-I", "-S", hook.__file__, "land", str(hooks.home)])
    # The file itself is mapped, and its pages are the system's to take back; the rest must not grow with it.
    assert peak < len(said) + (64 << 20)
    (line,) = [line for line in hooks.lines() if line["kind"] == "tool_result"]
    assert line["chars"] == chars
    assert len(line["text"]) <= 5000
    hooks.check(["much"])


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux bounds the data of a process")
def test_memory_of_its_own_does_not_follow_a_payload(hooks: Hooks) -> None:
    """With 48 MiB of private memory allowed, a payload of 100 MB still lands."""
    said, chars = big_result(hooks, 100 << 20)
    hooks.fire(hooks.said("user_prompt_submit", prompt="much"))
    hooks.fire(said, "note")
    hooks.fire(hooks.said("stop"), "note")
    done = subprocess.run(
        [sys.executable, "-I", "-S", hook.__file__, "land", str(hooks.home)], env=environment(), check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_DATA, (48 << 20, 48 << 20)),
    )  # fmt: skip
    assert done.returncode == 0
    assert [line["chars"] for line in hooks.lines() if line["kind"] == "tool_result"] == [chars]


def test_a_large_backlog_is_left_to_a_child_that_nobody_waits_for(hooks: Hooks) -> None:
    said, chars = big_result(hooks, 9 << 20)
    hooks.fire(hooks.said("user_prompt_submit", prompt="much"))
    hooks.fire(said, "note")
    with Lock(str(hooks.home / "spool" / "lock"), 1.0):  # a hook that landed by itself would give up here
        assert quiet(hooks.fire(hooks.said("stop")))
    eventually(lambda: hooks.spooled() == [], "the child lands the turn and clears the spool")
    assert [line["chars"] for line in hooks.lines() if line["kind"] == "tool_result"] == [chars]
    hooks.check(["much"])


def test_record_leaves_a_large_backlog_to_a_child_too(hooks: Hooks) -> None:
    said, chars = big_result(hooks, 9 << 20)
    hooks.record(hooks.said("user_prompt_submit", prompt="much"))
    hooks.record(said)
    with Lock(str(hooks.home / "spool" / "lock"), 1.0):  # one that landed by itself would give up here
        assert quiet(hooks.record(hooks.said("stop")))
    eventually(lambda: hooks.spooled() == [], "the child lands the turn and clears the spool")
    assert [line["chars"] for line in hooks.lines() if line["kind"] == "tool_result"] == [chars]
    hooks.check(["much"])


def test_record_takes_a_large_payload_in_bounded_memory(hooks: Hooks) -> None:
    said, _ = big_result(hooks, 50 << 20)
    source = hooks.folder / "payload"
    source.write_bytes(said)
    command = [sys.executable, "-m", "neosian", "record", "--root", str(hooks.home)]
    small = hooks.folder / "small"
    small.write_bytes(json.dumps(hooks.said("pre_tool_use.bash")).encode())
    base = peak_of(command, stdin=small)
    # Mapped once to be read and once to be copied; nothing of it is held.
    assert peak_of(command, stdin=source) < base + len(said) + (32 << 20)
    assert max(path.stat().st_size for path in hooks.spooled()) > len(said)


def peak_of(command: list[str], stdin: Path | None = None) -> int:
    """Bytes of memory that a process had at most; a small one starts it, for a fork begins with its parent's peak."""
    code = (
        "import os, sys; pid = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ);"
        "_, status, usage = os.wait4(pid, 0); print(status, usage.ru_maxrss)"
    )
    with open(stdin or os.devnull, "rb") as stream:
        told = subprocess.run(
            [sys.executable, "-I", "-S", "-c", code, *command], stdin=stream, env=environment(),
            check=True, capture_output=True, text=True,
        ).stdout  # fmt: skip
    status, peak = map(int, told.split())
    assert status == 0
    return peak * (1 if sys.platform == "darwin" else 1024)


# A stream that nobody closes


@pytest.mark.parametrize("came", [b"", b'{"session_id"'])
def test_a_stream_that_is_never_closed_is_an_error_after_a_while(tmp_path: Path, came: bytes) -> None:
    reading, writing = os.pipe()
    os.write(writing, came)
    try:
        with (
            pytest.raises(NeosianError, match="not closed" if came else "Nothing came"),
            received(str(tmp_path), reading, silence=0.05),
        ):
            pass
    finally:
        os.close(reading)
        os.close(writing)
    assert list(tmp_path.iterdir()) == []


def test_a_slow_writer_is_waited_for(hooks: Hooks) -> None:
    command = [sys.executable, "-m", "neosian", "record", "--root", str(hooks.home)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, env=environment())
    assert process.stdin is not None
    for piece in (b'{"session_id":', b' "s"', b"}"):
        time.sleep(0.1)
        process.stdin.write(piece)
        process.stdin.flush()
    process.stdin.close()
    assert process.wait() == 0
    assert [entry.payload for entry in Spool(str(hooks.home)).take()] == [{"session_id": "s"}]


def test_record_without_a_stdin_is_a_clear_error(hooks: Hooks) -> None:
    line = 'exec "$@" <&-'
    command = ["sh", "-c", line, "sh", sys.executable, "-m", "neosian", "record", "--root", str(hooks.home)]
    done = subprocess.run(command, env=environment(), capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith("neosian: ")


# The spool itself


def test_files_that_are_no_events_are_set_aside(hooks: Hooks) -> None:
    new = hooks.home / "spool" / "new"
    new.mkdir(parents=True)
    for name, data in {
        "a": b"", "b": b"neosian1\0claude-code\0note", "c": b"neosian1\0\n{}", "d": b"\0" * 500,
        "e": b"neosian1\0no-such-client\0stop\0\0\0\0/\0\n{}", "f": b"neosian1\0claude-code\0note\0\0x\0\0\0=\0\n[]",
    }.items():  # fmt: skip
        (new / name).write_bytes(data)
    (new / "folder").mkdir()
    assert all(map(quiet, hooks.turn("after")))
    assert len(hooks.aside()) >= 6
    hooks.check(["after"])


def test_a_clock_that_goes_back_changes_no_order(hooks: Hooks) -> None:
    for number in (1, 2):
        for name in ("user_prompt_submit", "pre_tool_use.bash", "post_tool_use.bash", "stop"):
            fields = {"prompt": f"turn {number}"} if name == "user_prompt_submit" else {}
            hooks.fire(hooks.said(name, number=number, **fields), "note")
            time.sleep(0.02)  # the uptime is told in hundredths of a second
    spooled = sorted(hooks.spooled(), key=lambda path: path.stat().st_mtime_ns)
    for place, path in enumerate(spooled):
        os.utime(path, (1_700_000_000 - place * 100,) * 2)
    land(hooks)
    assert [(line["turn"], line["text"]) for line in hooks.lines() if line["kind"] == "prompt"] == [
        (1, "turn 1"), (2, "turn 2"),
    ]  # fmt: skip
    kinds = [line["kind"] for line in hooks.lines() if line["turn"] == 1]
    assert kinds.index("tool_call") < kinds.index("tool_result") < kinds.index("answer")


def test_the_same_turn_again_after_a_crash_changes_nothing(hooks: Hooks) -> None:
    for name in ("user_prompt_submit", "stop"):
        hooks.fire(hooks.said(name), "note")
    held = {path.name: path.read_bytes() for path in hooks.spooled()}
    land(hooks)
    before = [git(scope, "rev-parse", "main") for scope in hooks.scopes()]
    for name, data in held.items():
        (hooks.home / "spool" / "new" / name).write_bytes(data)
    land(hooks)
    assert [git(scope, "rev-parse", "main") for scope in hooks.scopes()] == before


@pytest.mark.parametrize("levels", [200, 600, 900])
def test_a_payload_that_is_nested_deeply_stops_no_hook(hooks: Hooks, levels: int) -> None:
    deep = b'{"x":' + b"[" * levels + b"1" + b"]" * levels + b"}"
    call = json.dumps(hooks.said("pre_tool_use.bash", tool_input="DEEP")).encode().replace(b'"DEEP"', deep)
    assert quiet(hooks.fire(hooks.said("user_prompt_submit", prompt="deep")))
    assert quiet(hooks.fire(call, "note"))
    assert quiet(hooks.fire(hooks.said("stop")))
    assert all(map(quiet, hooks.turn("after", session="another")))
    told = hooks.start("third")
    assert (told.status, told.err) == (0, "")
    assert "after" in told.out
    hooks.check(["deep", "after"])


@pytest.mark.parametrize("where", ["/" + "a/" * 3000, "/" + "a" * 5000])
def test_a_directory_longer_than_any_path_stops_no_hook(hooks: Hooks, where: str) -> None:
    mark = {"CLAUDE_PROJECT_DIR": None}
    assert quiet(hooks.fire(hooks.said("user_prompt_submit", prompt="far away", cwd=where), env=mark))
    assert quiet(hooks.fire(hooks.said("stop", cwd=where), env=mark))
    assert hooks.fire(hooks.said("session_start.startup", "next", cwd=where), env=mark).status == 0
    assert all(map(quiet, hooks.turn("after", session="another")))
    assert sorted(hooks.texts()) == ["after", "far away"]


def test_every_hook_works_in_a_directory_that_is_gone(hooks: Hooks) -> None:
    gone = hooks.folder / "gone"
    line = 'mkdir "$1" && cd "$1" && rmdir "$1" && shift && exec "$@"'
    for name, verb in (("session_start.startup", "start"), ("user_prompt_submit", "prompt"), ("stop", "stop"), ("session_end.other", "end")):  # fmt: skip
        done = subprocess.run(
            ["sh", "-c", line, "sh", gone, hooks.launcher, CLIENT, verb],
            input=json.dumps(hooks.said(name, cwd=str(gone))).encode(), env=environment(), capture_output=True,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        assert b"Traceback" not in done.stderr
    assert hooks.spooled() == []
    assert len(hooks.texts()) == 1
