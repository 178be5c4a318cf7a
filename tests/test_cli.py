"""The command line: what an error becomes, which status a person's script sees, and that it starts at all."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from neosian import __version__, cli
from neosian.commands import path as command
from neosian.errors import NeosianError, UsageError

Said = pytest.CaptureFixture[str]


def failing(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> int:
    """The status of a command that ends with this error."""

    def run(args: object) -> int:
        raise error

    monkeypatch.setattr(command, "run", run)
    return cli.main(["path"])


@pytest.mark.parametrize("name", cli.COMMANDS)
def test_every_command_explains_itself(name: str, capsys: Said) -> None:
    with pytest.raises(SystemExit) as caught:
        cli.main([name, "--help"])
    assert caught.value.code == 0
    assert f"neosian {name}" in capsys.readouterr().out


def test_the_whole_command_line_names_every_command(capsys: Said) -> None:
    with pytest.raises(SystemExit):
        cli.main(["--help"])
    said = capsys.readouterr().out
    assert all(name in said and about in " ".join(said.split()) for name, about in cli.COMMANDS.items())


@pytest.mark.parametrize(
    "words",
    [
        ["audit", "--limit", "0"],
        ["recall"],
        ["context", "--client", "x"],
        ["path", "--nonsense"],
        ["path", "a", "--scope"],
    ],
)
def test_a_bad_invocation_ends_with_2(words: list[str], capsys: Said) -> None:
    with pytest.raises(SystemExit) as caught:
        cli.main(words)
    assert caught.value.code == 2
    assert "neosian" in capsys.readouterr().err


def test_without_a_command_the_way_in_is_told(capsys: Said) -> None:
    assert cli.main([]) == 2
    said = capsys.readouterr().err
    assert "usage: neosian COMMAND" in said
    assert "try: neosian --help, or neosian docs quickstart" in said


@pytest.mark.parametrize(
    ("word", "near"), [("serach", " Did you mean search?"), ("stats", " Did you mean status?"), ("xyzzy", "")]
)
def test_an_unknown_command_is_told_with_the_nearest_one(word: str, near: str, capsys: Said) -> None:
    assert cli.main([word]) == 2
    assert capsys.readouterr().err == f"neosian: There is no command '{word}'.{near}\n  try: neosian --help\n"


@pytest.mark.parametrize("words", [["log", "x.md", "--nonsense"], ["memory", "view", "--nonsense"]])
def test_what_a_command_does_not_know_is_told_with_its_own_usage(words: list[str], capsys: Said) -> None:
    with pytest.raises(SystemExit):
        cli.main(words)
    said = capsys.readouterr().err
    assert said.startswith(f"usage: neosian {' '.join(words[:-2] or words[:1])}")
    assert "unrecognized arguments: --nonsense" in said


@pytest.mark.parametrize(
    "words",
    [
        "add --json --scope user:ada Ship it", "--json add Ship --scope user:ada it", "add Ship it --scope=user:ada --json",
        "add Ship --js it --sc user:ada", "--json --scope user:ada -- add Ship it",
    ],
)  # fmt: skip
def test_options_may_stand_between_the_arguments(words: str) -> None:
    found = cli.build_parser("board").parse_args(["board", *words.split()])
    assert (found.verb, found.item, found.json, found.scope) == ("add", ["Ship", "it"], True, "user:ada")


def test_words_behind_two_dashes_are_arguments(capsys: Said) -> None:
    found = cli.build_parser("board").parse_args(["board", "add", "--", "Drop", "--json"])
    assert (found.item, found.json) == (["Drop", "--json"], False)


def test_an_option_without_its_value_takes_no_argument_for_it(capsys: Said) -> None:
    with pytest.raises(SystemExit):
        cli.build_parser("board").parse_args(["board", "add", "Ship", "--scope"])
    assert "--scope: expected one argument" in capsys.readouterr().err


def test_a_search_for_nothing_is_a_bad_invocation(capsys: Said) -> None:
    assert cli.main(["search"]) == 2
    assert "neosian search WORDS" in capsys.readouterr().err


def test_the_version_is_told(capsys: Said) -> None:
    with pytest.raises(SystemExit):
        cli.main(["--version"])
    assert capsys.readouterr().out == f"neosian {__version__}\n"


@pytest.mark.parametrize(
    ("error", "status", "said"),
    [
        (NeosianError("It broke.", "neosian status"), 1, "neosian: It broke.\n  try: neosian status\n"),
        (NeosianError("It broke."), 1, "neosian: It broke.\n"),
        (UsageError("Not so.", "neosian path --help"), 2, "neosian: Not so.\n  try: neosian path --help\n"),
        (
            PermissionError(13, "Permission denied", "/x/y"),
            1,
            "neosian: Permission denied (/x/y).\n  try: neosian status\n",
        ),
    ],
)
def test_an_expected_error_is_a_sentence_and_the_next_command(
    error: Exception, status: int, said: str, capsys: Said, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert failing(monkeypatch, error) == status
    assert capsys.readouterr() == ("", said)


def test_an_unexpected_error_is_one_line_and_its_traceback_is_in_the_log(
    private_home: Path, capsys: Said, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert failing(monkeypatch, ZeroDivisionError("by nothing")) == 1
    said = capsys.readouterr().err
    assert "ZeroDivisionError: by nothing" in said
    assert "Traceback" not in said
    assert "Traceback" in (private_home / ".neosian/log/neosian.log").read_text()


def test_control_c_ends_with_130(monkeypatch: pytest.MonkeyPatch) -> None:
    assert failing(monkeypatch, KeyboardInterrupt()) == 130


def test_a_reader_that_has_seen_enough_is_no_error() -> None:
    run = f"{sys.executable} -m neosian docs formats | head -c 1; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", run], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("words", ["docs", "path", "status --json", "demo", "docs --help", "--version"])
@pytest.mark.parametrize("stdout", [">&-", "> /dev/full"])
def test_a_stdout_that_cannot_be_written_is_one_line_and_no_traceback(
    words: str, stdout: str, private_home: Path
) -> None:
    run = f"env -u PYTHONUNBUFFERED {sys.executable} -m neosian {words} {stdout}"
    done = subprocess.run(["bash", "-c", run], capture_output=True, text=True)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr
    assert not (private_home / ".neosian/log").exists()


def test_closed_streams_keep_their_numbers_from_files_of_ours() -> None:
    run = f"env -u PYTHONUNBUFFERED {sys.executable} -m neosian path <&- >&- 2>&-"
    assert subprocess.run(["bash", "-c", run]).returncode == 1


def test_it_runs_as_a_module() -> None:
    done = subprocess.run([sys.executable, "-m", "neosian", "--version"], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, f"neosian {__version__}\n")


def test_one_command_does_not_import_the_others() -> None:
    code = "import sys; from neosian import cli; cli.main(['path']); print([m for m in sys.modules if 'commands.' in m and '._' not in m])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.splitlines()[-1] == "['neosian.commands.path']"
