"""Git children: they see no environment but ours, say why they failed, and end at their deadline."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from neosian import child_windows
from neosian.child import Child, clean_environment, git_program
from neosian.errors import GitError, NoGitError
from tests.hooking import eventually

FOREIGN = (
    "GIT_DIR", "GIT_INDEX_FILE", "GIT_WORK_TREE", "GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_COMMON_DIR", "GIT_NAMESPACE", "GIT_CONFIG_COUNT", "GIT_AUTHOR_NAME", "GIT_EDITOR", "GIT_TRACE",
)  # fmt: skip


Shell = Callable[..., Child]


@pytest.fixture(params=[Child, child_windows.Child], ids=["posix", "windows"])
def program(request: pytest.FixtureRequest) -> type[Child]:
    """Both kinds of child: the one for Windows runs here too, if not on its own system."""
    kind: type[Child] = request.param
    return kind


@pytest.fixture
def shell(program: type[Child]) -> Shell:
    """Starts a shell script as a child."""
    return lambda script, timeout=10.0: program(["sh", "-c", script], dict(os.environ), timeout)


def is_gone(child: Child) -> bool:
    """Whether a child was waited for: nobody knows its process any more."""
    number = child.pid
    try:
        os.waitpid(number, os.WNOHANG)
    except ChildProcessError:
        return True
    return False


def open_handles() -> int:
    return len(os.listdir("/proc/self/fd"))


@pytest.mark.parametrize("name", FOREIGN)
def test_what_git_exports_to_its_hooks_reaches_no_child(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, "/somewhere/else")
    assert name not in clean_environment("/nowhere")


def test_a_child_has_the_path_and_a_home_without_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/opt/bin")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "secret")
    environment = clean_environment("/nowhere")
    assert environment["PATH"] == "/opt/bin"
    assert environment["HOME"] == environment["XDG_CONFIG_HOME"] == "/nowhere"
    assert environment["GIT_CONFIG_GLOBAL"] == os.devnull
    assert "secret" not in environment.values()


def test_a_desktop_without_a_path_still_finds_git(
    program: type[Child], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PATH")
    child = program(["git", "--version"], clean_environment("/nowhere"), 10.0)
    assert child.communicate(b"")[1].startswith(b"git version")


def test_the_git_that_the_launcher_wrote_down_is_run(monkeypatch: pytest.MonkeyPatch) -> None:
    assert git_program() == "git"
    monkeypatch.setenv("NEOSIAN_GIT", "/opt/git/bin/git")
    assert git_program() == "/opt/git/bin/git"


def test_more_than_a_pipe_holds_goes_in_and_comes_out(shell: Shell) -> None:
    data = os.urandom(1 << 20)
    assert shell("cat").communicate(data) == (0, data, b"")


def test_a_child_that_reads_nothing_is_no_error(shell: Shell) -> None:
    status, out, errors = shell("exec <&-; echo out; echo oops >&2; exit 3").communicate(b"x" * (1 << 20))
    assert (status, out, errors) == (3, b"out\n", b"oops\n")


def test_a_child_that_takes_too_long_is_ended(shell: Shell) -> None:
    child = shell("exec sleep 60", timeout=0.1)
    with pytest.raises(GitError, match="took too long"):
        child.communicate(b"")
    assert is_gone(child)


def test_a_silent_child_is_ended_while_a_line_is_waited_for(shell: Shell) -> None:
    child = shell("exec sleep 60", timeout=0.1)
    with pytest.raises(GitError, match="took too long"):
        child.line()
    assert is_gone(child)


def test_a_program_that_is_not_there_is_named(program: type[Child]) -> None:
    with pytest.raises(NoGitError, match="git is missing: /no/such/git cannot be run") as caught:
        program(["/no/such/git"], {}, 1.0)
    assert caught.value.hint == "install git, or set NEOSIAN_GIT to where it is"


def test_a_child_that_died_says_why(shell: Shell) -> None:
    child = shell("echo first; echo 'fatal: no such thing' >&2; exit 128")
    assert child.line() == b"first"
    with pytest.raises(GitError, match="no such thing") as caught:
        child.line()
    assert (caught.value.status, caught.value.detail) == (128, "fatal: no such thing")


@pytest.mark.parametrize("end", ["communicate", "close", "kill", "failed"])
@pytest.mark.parametrize("ask", ["write", "line", "exactly", "communicate", "failed"])
def test_a_child_that_has_ended_is_an_error_to_ask(shell: Shell, end: str, ask: str) -> None:
    child = shell("echo 'fatal: gone' >&2; exit 128")
    getattr(child, end)(*((b"",) if end == "communicate" else ()))
    for _ in range(2):
        if ask == "failed":
            assert isinstance(child.failed(), GitError)
            continue
        with pytest.raises(GitError, match="ended with") as caught:
            getattr(child, ask)(*{"line": (), "exactly": (1,)}.get(ask, (b"x",)))
        assert caught.value.status in (128, -9)


def test_lines_and_counted_bytes_follow_each_other(shell: Shell) -> None:
    child = shell("printf 'one\\nabcdefg\\n'")
    assert (child.line(), child.exactly(3), child.line()) == (b"one", b"abc", b"defg")
    assert child.close() == 0


@pytest.mark.parametrize("end", ["communicate", "close", "kill", "failed"])
def test_no_pipe_stays_open(shell: Shell, end: str) -> None:
    before = open_handles()
    child = shell("cat")
    getattr(child, end)(*((b"",) if end == "communicate" else ()))
    assert open_handles() == before


def test_no_pipe_stays_open_where_nothing_could_be_started(program: type[Child], tmp_path: Path) -> None:
    before = open_handles()
    with pytest.raises(GitError):
        program([str(tmp_path)], {}, 1.0)
    assert open_handles() == before


def test_a_child_that_was_forgotten_is_ended_and_reaped() -> None:
    before = open_handles()
    forgotten = Child(["cat"], dict(os.environ), 10.0)
    number = forgotten.pid
    del forgotten

    def is_reaped_by_the_next() -> bool:
        Child(["true"], dict(os.environ), 10.0).close()
        return not Path(f"/proc/{number}").exists()

    eventually(is_reaped_by_the_next, "the forgotten child is reaped")
    assert open_handles() == before
