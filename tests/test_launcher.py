"""The launcher as a process, under every shell that is here: what it keeps, what it says, how it ends."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from neosian import hook, resources
from neosian.events import FLAG_SEPARATOR
from neosian.launcher import install_launcher
from neosian.spool import Entry, Spool
from tests.hooking import CLIENT, SESSION, Done, Hooks, environment, eventually, one_line, quiet, run

SHELLS = {
    "sh": ["sh"],
    "dash": ["dash"],
    "bash": ["bash", "--posix"],
    "busybox": ["busybox", "sh"],
    "mksh": ["mksh"],
    "zsh": ["zsh", "--emulate", "sh"],
}
FOUND = {os.path.realpath(path): name for name, words in SHELLS.items() if (path := shutil.which(words[0]))}
HERE = list(FOUND.values())
ODD_FOLDERS = ["a b", "it's", 'say "so"', "two\nlines", "naïve 项目", "$HOME `id` \\n", "-rf", "*"]


@pytest.fixture(params=HERE)
def hooks(request: pytest.FixtureRequest, tmp_path: Path) -> Hooks:
    """A home whose launcher is run by one of the shells."""
    return Hooks(tmp_path, shell=SHELLS[request.param])


@pytest.fixture
def plain(tmp_path: Path) -> Hooks:
    """A home whose launcher is run as a client runs it."""
    return Hooks(tmp_path)


def waiting(hooks: Hooks) -> list[Entry]:
    """What is in the spool, read as the lander reads it."""
    return list(Spool(str(hooks.home)).take())


# What is kept


def test_an_event_is_kept_byte_for_byte_without_a_word(hooks: Hooks) -> None:
    said = b' {"session_id": "s", "odd": "\\u0000 \\ud800 \xff\xfe \r\n"}\n\n'
    assert quiet(hooks.fire(said, "note"))
    (spooled,) = hooks.spooled()
    assert spooled.read_bytes().endswith(b"\0\n" + said)


def test_a_payload_with_nul_bytes_is_kept_whole(hooks: Hooks) -> None:
    said = b'{"session_id": "a\0b"}\0\0\n'
    assert quiet(hooks.fire(said, "note"))
    (spooled,) = hooks.spooled()
    assert spooled.read_bytes().endswith(b"\0\n" + said)


def test_the_header_says_who_what_where_and_when(hooks: Hooks) -> None:
    hooks.fire({"session_id": "s"}, "note", flags=["--scope", "user:a b", "--mount", "/x=user:é\nz:ro", ""])
    (entry,) = waiting(hooks)
    spooled = entry.spooled
    assert (spooled.client, spooled.event, spooled.cwd) == (CLIENT, "note", str(hooks.project))
    assert spooled.level.split(FLAG_SEPARATOR) == ["--scope", "user:a b", "--mount", "/x=user:é\nz:ro", ""]
    assert spooled.tick is None or spooled.tick > 0


@pytest.mark.parametrize("name", ODD_FOLDERS)
def test_any_working_directory_is_kept_as_it_is(plain: Hooks, name: str) -> None:
    folder = plain.project / name
    folder.mkdir()
    assert quiet(plain.fire({"session_id": "s"}, "note", cwd=folder, env={"PWD": str(folder)}))
    (entry,) = waiting(plain)
    assert entry.spooled.cwd == str(folder)


@pytest.mark.parametrize("name", ODD_FOLDERS)
def test_a_turn_lands_from_any_working_directory(plain: Hooks, name: str) -> None:
    folder = plain.folder / name
    folder.mkdir()
    plain.project = folder
    assert all(map(quiet, plain.turn("from an odd place", cwd=folder)))
    plain.check(["from an odd place"])


@pytest.mark.parametrize("umask", [0o000, 0o777])
def test_the_spool_is_private_under_any_umask(hooks: Hooks, umask: int) -> None:
    shutil.rmtree(hooks.home / "spool", ignore_errors=True)
    assert quiet(hooks.fire({"session_id": "s"}, "note", umask=umask))
    (spooled,) = hooks.spooled()
    assert (spooled.stat().st_mode & 0o777, spooled.parent.stat().st_mode & 0o777) == (0o600, 0o700)


def test_only_listed_marks_of_the_environment_are_kept(hooks: Hooks) -> None:
    secret = "sk-live-0123456789"
    marks = {"CLAUDE_PROJECT_DIR": str(hooks.project), "CURSOR_VERSION": "1.2", "NEOSIAN_SCOPE": "user:b"}
    env = {"ANTHROPIC_API_KEY": secret, "AWS_SECRET_ACCESS_KEY": secret, "file": secret, **marks}
    for done in hooks.turn(env=env):
        assert quiet(done)
    hooks.fire({"session_id": "later"}, "note", env=env)
    entry = waiting(hooks)[-1]
    assert entry.spooled.marks == marks
    held = [path for path in hooks.home.rglob("*") if path.is_file() and secret.encode() in path.read_bytes()]
    assert held == []


def test_variables_of_the_environment_do_not_reach_the_script(hooks: Hooks) -> None:
    mine = hooks.folder / "mine"
    mine.write_text("keep me")
    names = ("spooled", "file", "name", "home", "python", "stub", "tick", "boot", "line", "folder", "flags")
    env = {name: str(mine) for name in names}
    assert quiet(hooks.fire({"session_id": "s"}, "note", env=env))
    assert hooks.fire(b"{}", argv=["claude-code"], env=env).status == 1
    assert mine.read_text() == "keep me"
    assert len(hooks.spooled()) == 1


@pytest.mark.parametrize("path", [None, "", "/nowhere", ".:/nowhere"])
def test_a_path_that_leads_nowhere_or_into_the_project_does_no_harm(hooks: Hooks, path: str | None) -> None:
    for name in ("cat", "mv", "mktemp", "mkdir", "date", "git"):
        trap = hooks.project / name
        trap.write_text(f"#!/bin/sh\ntouch '{hooks.folder}/trapped'\nexit 1\n")
        trap.chmod(0o755)
    hooks.shell = [shutil.which(hooks.shell[0]) or "", *hooks.shell[1:]]
    for done in hooks.turn(env={"PATH": path}):
        assert quiet(done)
    assert not (hooks.folder / "trapped").exists()
    hooks.check(["fix it"])


# What it says, and how it ends


@pytest.mark.parametrize("argv", [[], ["claude-code"], [""], ["--help"]])
def test_too_few_words_are_one_line_and_not_2(hooks: Hooks, argv: list[str]) -> None:
    assert one_line(hooks.fire(b"x" * 300_000, argv=argv))


@pytest.mark.parametrize("argv", [["", ""], ["no-such-client", "stop"], ["claude-code", "no-such-verb"],
                                  ["claude-code", "\n"], ["a/../../b", "stop"], ["-n", "-e"]])  # fmt: skip
def test_odd_words_never_end_with_2_nor_say_more_than_a_line(hooks: Hooks, argv: list[str]) -> None:
    done = hooks.fire(hooks.said("stop"), argv=argv)
    assert quiet(done) or one_line(done)


@pytest.mark.parametrize("verb", ["note", "prompt", "stop", "end", "odd"])
def test_stdout_stays_empty_for_all_but_a_start(hooks: Hooks, verb: str) -> None:
    assert quiet(hooks.fire(hooks.said("user_prompt_submit", prompt="hello"), verb))


def test_a_start_says_what_memory_knows(hooks: Hooks) -> None:
    done = hooks.start()
    assert (done.status, done.err) == (0, "")
    assert done.out.startswith("neosian ")


ASK = "How are the totals of a cart rounded?"


def knows_money(hooks: Hooks) -> None:
    """Have a note in the project's memory that answers ASK."""
    assert all(map(quiet, hooks.turn("before")))
    scope = next(path for path in hooks.scopes() if path.name.endswith("+proj.shop"))
    (scope / "money.md").write_text("# Money\n\nCart totals are rounded once, at the very end.\n")


def test_a_prompt_brings_what_memory_knows_of_it(plain: Hooks) -> None:
    knows_money(plain)
    done = plain.fire(plain.said("user_prompt_submit", "two", prompt=ASK))
    assert (done.status, done.err) == (0, "")
    assert "/project/money.md" in done.out
    assert quiet(plain.fire(plain.said("user_prompt_submit", "two", prompt="ok, go on")))


def test_a_prompt_whose_hook_line_only_records_starts_nothing(plain: Hooks) -> None:
    knows_money(plain)
    assert quiet(plain.fire(plain.said("user_prompt_submit", "two", prompt=ASK), "note"))
    assert [path.name for path in plain.spooled() if "-told-" in path.name] == []


def test_a_prompt_in_a_store_that_cannot_be_read_is_one_line_and_kept(plain: Hooks) -> None:
    knows_money(plain)
    scope = next(path for path in plain.scopes() if path.name.endswith("+proj.shop"))
    (scope / ".git" / "refs" / "heads" / "main").write_text("nonsense\n")
    assert one_line(plain.fire(plain.said("user_prompt_submit", "two", prompt=ASK)))
    assert len(plain.spooled()) == 1
    assert "holds no commit" in plain.log()


@pytest.mark.parametrize("locale", ["C", "POSIX", "en_US.ISO-8859-1", "no_SUCH"])
def test_a_start_says_it_in_utf_8_whatever_the_locale(plain: Hooks, locale: str) -> None:
    env = {"LC_ALL": locale, "LANG": locale, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    assert all(map(quiet, plain.turn("schöne Grüße — 继续 😀", env=env)))
    done = plain.start("two", env=env)
    assert (done.status, done.err) == (0, "")
    assert "schöne Grüße — 继续 😀" in done.out
    plain.check(["schöne Grüße — 继续 😀"])


def _no_python(hooks: Hooks) -> None:
    _rewrite(hooks, f"python={sys.executable}", "python=/nowhere/python3")


def _no_stub(hooks: Hooks) -> None:
    _rewrite(hooks, "/neosian/hook.py", "/neosian/gone.py")


def _broken_stub(hooks: Hooks) -> None:
    stub = hooks.folder / "broken.py"
    stub.write_text("def broken(:\n")
    _set_stub(hooks, stub)


def _dying_stub(hooks: Hooks) -> None:
    stub = hooks.folder / "dying.py"
    stub.write_text(
        "import os, sys\nsys.stderr.write('a\\nb\\n')\nsys.stderr.flush()\nos.kill(os.getpid(), 9)\n"
    )
    _set_stub(hooks, stub)


def _stub_that_ends_with_2(hooks: Hooks) -> None:
    stub = hooks.folder / "two.py"
    stub.write_text("raise SystemExit(2)\n")
    _set_stub(hooks, stub)


def _python_that_is_none(hooks: Hooks) -> None:
    other = hooks.folder / "python"
    other.write_bytes(b"\x7fELF no program")
    other.chmod(0o755)
    _rewrite(hooks, f"python={sys.executable}", f"python={other}")


def _set_stub(hooks: Hooks, stub: Path) -> None:
    text = hooks.launcher.read_text()
    line = next(row for row in text.splitlines() if row.startswith("stub="))
    hooks.launcher.write_text(text.replace(line, f"stub='{stub}'"))


def _rewrite(hooks: Hooks, old: str, new: str) -> None:
    text = hooks.launcher.read_text()
    assert old in text
    hooks.launcher.write_text(text.replace(old, new))


@pytest.mark.parametrize("verb", ["start", "stop", "end"])
@pytest.mark.parametrize("spoil", [_no_python, _no_stub, _broken_stub, _dying_stub, _stub_that_ends_with_2,
                                   _python_that_is_none])  # fmt: skip
def test_python_that_cannot_run_is_one_line_and_the_event_is_kept(
    hooks: Hooks, spoil: Callable[[Hooks], None], verb: str
) -> None:
    spoil(hooks)
    done = hooks.fire(hooks.said("stop"), verb)
    assert one_line(done)
    assert "kept" in done.err
    assert "neosian record install" in done.err
    assert len(hooks.spooled()) == 1
    assert hooks.log().count("\n") == 1


@pytest.mark.parametrize(
    "argv", [[], ["stop"], ["stop", "/home"], ["odd", "/home"], ["index", "/home"]], ids=str
)
def test_the_program_behind_it_takes_no_odd_words(plain: Hooks, argv: list[str]) -> None:
    assert one_line(run([sys.executable, "-I", "-S", hook.__file__, *argv]))


@pytest.mark.parametrize("verb", ["start", "note", "stop"])
@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-"])
def test_a_closed_stream_never_ends_with_2(hooks: Hooks, verb: str, closed: str) -> None:
    line = f'exec "$@" {closed}'
    done = run(["sh", "-c", line, "sh", *hooks.shell, str(hooks.launcher), CLIENT, verb], hooks.said("stop"))
    assert done.status in (0, 1)


def test_a_reader_that_is_gone_never_ends_with_2(plain: Hooks) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    try:
        said = b'{"session_id": "s", "hook_event_name": "SessionStart", "source": "startup"}'
        done = subprocess.run([plain.launcher, CLIENT, "start"], input=said, stdout=writing, check=False)
    finally:
        os.close(writing)
    assert done.returncode in (0, 1)


def test_a_launcher_that_is_called_from_another_place_never_ends_with_2(hooks: Hooks) -> None:
    link = hooks.folder / "elsewhere"
    link.symlink_to(hooks.launcher)
    assert one_line(run([*hooks.shell, str(link), CLIENT, "note"], b"{}"))


# Switched off


@pytest.mark.parametrize("verb", ["start", "note", "stop"])
def test_a_home_that_is_switched_off_keeps_and_says_nothing(hooks: Hooks, verb: str) -> None:
    (hooks.home / "off").touch()
    assert quiet(hooks.fire(hooks.said("session_start.startup"), verb))
    assert quiet(hooks.record(hooks.said("session_start.startup")))
    assert hooks.spooled() == []


def test_a_process_of_our_own_is_not_recorded(hooks: Hooks) -> None:
    assert quiet(hooks.start(env={"NEOSIAN_OFF": "1"}))
    assert quiet(hooks.record(hooks.said("stop"), env={"NEOSIAN_OFF": "1"}))
    assert hooks.spooled() == []


MARKED = [
    '[record]\ncapture = "marked"\n',
    "record.capture='marked'",
    'record = { capture = "marked" }  # or "all"\r\n',
    '[record]\n  capture = "marked"  # "all" records everywhere',
    '[record]\ncaptrue = "marked"\n',
    '[recrod]\ncapture = "marked"\n',
    '[record]\ncapture = "marked"\n[torn\n',
]
UNMARKED = [
    '[record]\ncapture = "all"  # or "marked"\n',
    '# capture = "marked"\n[record]\ncapture = "all"\n',
    "  # capture = 'marked'\n",
    '[record]\ncaptrue = "all"\n',
    "",
]


@pytest.mark.parametrize("text", MARKED)
def test_where_only_marked_folders_are_recorded_others_are_not(hooks: Hooks, text: str) -> None:
    (hooks.home / "config.toml").write_text(text, newline="")
    assert quiet(hooks.start())
    assert quiet(hooks.fire(hooks.said("stop"), cwd="/"))
    assert quiet(hooks.record(hooks.said("stop")))
    assert hooks.spooled() == []


@pytest.mark.parametrize("text", MARKED)
def test_a_marker_in_or_above_the_directory_has_it_recorded(hooks: Hooks, text: str) -> None:
    (hooks.home / "config.toml").write_text(text, newline="")
    (hooks.project / ".neosian-record").touch()
    below = hooks.project / "a" / "b"
    below.mkdir(parents=True)
    hooks.fire(hooks.said("pre_tool_use.bash"), cwd=hooks.project)
    hooks.fire(hooks.said("pre_tool_use.bash"), cwd=below)
    hooks.fire(hooks.said("pre_tool_use.bash"), cwd="/", env={"CLAUDE_PROJECT_DIR": str(hooks.project)})
    hooks.record(hooks.said("pre_tool_use.bash"), cwd=below)
    assert len(hooks.spooled()) == 4


@pytest.mark.parametrize("text", UNMARKED)
def test_a_comment_switches_nothing(hooks: Hooks, text: str) -> None:
    (hooks.home / "config.toml").write_text(text)
    hooks.fire(hooks.said("pre_tool_use.bash"))
    hooks.record(hooks.said("pre_tool_use.bash"))
    assert len(hooks.spooled()) == 2


# Where it is installed


@pytest.mark.parametrize("name", ["a b", "it's", 'a "b"', "项目", "x/bin/y"])
def test_a_home_and_a_python_of_any_name_will_do(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    python = tmp_path / name / 'py thon\'s "3"'
    python.parent.mkdir(parents=True)
    python.symlink_to(sys.executable)
    monkeypatch.setattr(sys, "executable", str(python))
    hooks = Hooks(tmp_path, home=tmp_path / name / "home")
    monkeypatch.undo()
    assert all(map(quiet, hooks.turn()))
    hooks.check(["fix it"])


def test_the_script_is_plain_posix_shell() -> None:
    text = resources.text("hooks", "neosian-hook")
    for words in ("[[ ", "local ", "function ", "<<<", "echo -"):
        assert words not in text


# A client that ends its hook


def _hang(hooks: Hooks, said: bytes) -> subprocess.Popen[bytes]:
    """A hook whose client has written ``said`` and does not close the stream."""
    process = subprocess.Popen(
        [hooks.launcher, CLIENT, "note"], stdin=subprocess.PIPE, env=environment(), cwd=hooks.project,
        start_new_session=True,
    )  # fmt: skip
    assert process.stdin is not None
    process.stdin.write(said)
    process.stdin.flush()
    tmp = hooks.home / "spool" / "tmp"
    eventually(
        lambda: any(path.read_bytes().endswith(said) for path in tmp.glob("*")), "the payload is in the file"
    )
    return process


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a hook with all its children, as a client does that has waited enough."""
    os.killpg(process.pid, 9)
    process.communicate()


def test_a_hook_that_is_killed_before_its_payload_ends_leaves_nothing_torn(plain: Hooks) -> None:
    _end(_hang(plain, b'{"session_id": "s", "hook_event'))
    assert plain.spooled() == []
    (left,) = (plain.home / "spool" / "tmp").glob("*")
    _age(left)
    plain.start()
    eventually(lambda: not left.exists(), "what was left is cleared away")
    assert plain.texts() == []


def test_a_hook_that_is_killed_with_its_payload_whole_loses_nothing(plain: Hooks) -> None:
    done = plain.turn("half", session="one")
    assert all(map(quiet, done))
    said = plain.said("user_prompt_submit", "two", prompt="from the killed hook")
    _end(_hang(plain, json.dumps(said).encode()))
    (left,) = (plain.home / "spool" / "tmp").glob("*")
    _age(left)
    plain.fire(plain.said("stop", "two"), "note")
    plain.start("three")
    eventually(lambda: "from the killed hook" in plain.texts(), "the next start brings it in")
    plain.check(["half", "from the killed hook"])


def test_a_file_that_is_still_being_written_is_left_alone(plain: Hooks) -> None:
    process = _hang(plain, b'{"session_id"')
    assert Spool(str(plain.home)).recover() == 0
    assert not Spool(str(plain.home)).neglected()
    assert process.stdin is not None
    process.stdin.write(b': "s"}')
    process.stdin.close()
    assert process.wait() == 0
    assert [entry.payload for entry in waiting(plain)] == [{"session_id": "s"}]


def _age(path: Path) -> None:
    old = time.time() - 7200
    os.utime(path, (old, old))


def test_the_same_payload_twice_through_one_line_is_two_events(plain: Hooks) -> None:
    for _ in range(2):
        plain.fire(plain.said("user_prompt_submit", prompt="continue"))
    assert len(plain.spooled()) == 2


def test_names_do_not_meet_what_waits_from_an_earlier_boot(plain: Hooks, tmp_path: Path) -> None:
    """The uptime and a process id come again after a boot; a file of that name must not be replaced."""
    plain.fire({"session_id": "old"}, "note")
    (old,) = plain.spooled()
    script = plain.launcher.read_text().replace("name=$tick-$$-${boot%%-*}", f"name='{old.name}'")
    assert old.name in script
    plain.launcher.write_text(script)
    assert quiet(plain.fire({"session_id": "new"}, "note"))
    assert sorted(entry.payload["session_id"] for entry in waiting(plain)) == ["new", "old"]


def test_a_second_install_brings_back_a_broken_launcher(plain: Hooks) -> None:
    plain.launcher.write_text("exit 2\n")
    install_launcher(plain.home)
    assert plain.fire({"session_id": SESSION}, "note") == Done(0, "", "")


# What stays out of processes, and what counts as switched off


def test_no_process_has_the_payload_among_its_words_or_in_its_environment(hooks: Hooks) -> None:
    spy, seen = hooks.folder / "spy", hooks.folder / "seen"
    spy.write_text(f"#!/bin/sh\n{{ printf '%s\\n' \"$@\"; env; }} >>'{seen}'\n")
    spy.chmod(0o755)
    rows = hooks.launcher.read_text().splitlines(keepends=True)
    hooks.launcher.write_text(
        "".join(f"python='{spy}'\n" if row.startswith("python=") else row for row in rows)
    )
    for verb in ("start", "prompt", "stop", "end"):
        assert hooks.fire(hooks.said("user_prompt_submit", prompt="not for everybody"), verb).status == 0
    assert seen.read_text().splitlines().count("-I") == 4
    assert "not for everybody" not in seen.read_text()
    assert len(hooks.spooled()) == 4


@pytest.mark.parametrize(
    "line",
    ['capture = "Marked"', "capture = marked", "capture =", r'capture = "mark\u0065d"', 'capture = "ALL"'],
)
def test_a_capture_that_is_not_plainly_all_records_marked_folders_only(hooks: Hooks, line: str) -> None:
    (hooks.home / "config.toml").write_text(f"[record]\n{line}\n")
    assert quiet(hooks.fire(hooks.said("user_prompt_submit"), "prompt"))
    assert hooks.spooled() == []
    (hooks.project / ".neosian-record").touch()
    assert quiet(hooks.fire(hooks.said("user_prompt_submit"), "prompt"))
    assert len(hooks.spooled()) == 1


def test_a_home_that_is_no_absolute_path_is_refused_and_nothing_is_recorded(hooks: Hooks) -> None:
    line = 'h="${NEOSIAN_HOME:-$HOME/.neosian}/bin/neosian-hook"; [ -x "$h" ] || exit 0; exec "$h" claude-code stop'
    env = {"NEOSIAN_HOME": os.path.relpath(hooks.home, hooks.project)}
    done = run(["/bin/sh", "-c", line], hooks.said("stop"), env=env, cwd=hooks.project)
    assert (done.status, done.out) == (1, "")
    assert "is no absolute path" in done.err
    assert hooks.spooled() == []
