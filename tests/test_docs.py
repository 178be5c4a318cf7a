"""The manual travels with the program, and what it says of commands, formats and files is true."""

from __future__ import annotations

import argparse
import json
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from neosian import docs, turns
from neosian.cli import COMMANDS, build_parser
from neosian.config import Config
from neosian.errors import NeosianError
from tests import manpage, reference

TOP = Path(__file__).parent.parent
PAGES = sorted((TOP / "docs").glob("*.md"))
README = TOP / "README.md"

PROMISED = [
    "quickstart", "architecture", "formats", "hooks", "topology", "guards", "agents", "glossary",
    "contributing", "settings", "redaction", "changelog", "cli", "wiki", "dream", "engines", "gate", "clients",
    "upkeep",
]  # fmt: skip

# Names of notes that only those who wrote the program have. Spelled in two parts, so that this file passes too.
INTERNAL = re.compile(
    "|".join(
        [r"(?<!\w)/" + "work/", r"\.\./" + "shared", "DESIGN" + r"\.md", "STYLE" + r"\.md", "DEPS" + r"\.md"]
    )
)


def texts() -> list[Path]:
    """Every text of the project that a reader of it sees."""
    folders = ["neosian", "tests", "docs", "templates", "hooks", ".ci"]
    found = [path for folder in folders for path in (TOP / folder).rglob("*")]
    found += [TOP / "Makefile", TOP / "pyproject.toml", README]
    return [path for path in found if path.is_file() and "__pycache__" not in path.parts]


def indented(page: Path) -> Iterator[str]:
    """The lines of a page's indented code blocks."""
    lines = page.read_text(encoding="utf-8").splitlines()
    return (line.strip() for line in lines if line.startswith("    "))


def fenced(topic: str, language: str) -> list[str]:
    """The code blocks of a page that name their language."""
    return re.findall(rf"```{language}\n(.*?)```", docs.page(topic), re.S)


def typed_commands() -> list[str]:
    """Every `neosian ...` that a page tells its reader to type, without redirections and comments."""
    found = (
        line for page in [*PAGES, README] for line in indented(page) if re.match(r"neosian [a-z-]", line)
    )
    return sorted({re.sub(r"(\s[<|]\s.*|\s+#\s.*)$", "", line) for line in found})


def test_every_promised_page_is_there() -> None:
    assert set(PROMISED) <= {topic.name for topic in docs.topics()}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_begins_with_its_title_and_one_line_of_purpose(page: Path) -> None:
    title, blank, purpose, end, *_ = [*page.read_text(encoding="utf-8").splitlines(), ""]
    assert title.startswith("# ")
    assert (blank, end) == ("", "")
    assert purpose.endswith(".")


def test_topics_carry_the_purpose_line() -> None:
    purposes = {topic.name: topic.purpose for topic in docs.topics()}
    assert purposes["quickstart"] == "From nothing to a recorded session and back, in five minutes."


@pytest.mark.parametrize("name", ["changelog", "CHANGELOG", "Changelog", "changelog.md", "docs/CHANGELOG.md"])
def test_a_topic_is_found_in_any_case(name: str) -> None:
    assert docs.page(name).startswith("# Changelog")


@pytest.mark.parametrize("name", ["nonsense", "", "../README", "quickstart.md.md"])
def test_an_unknown_topic_names_the_command_that_lists_them(name: str) -> None:
    with pytest.raises(NeosianError) as caught:
        docs.page(name)
    assert caught.value.hint == "neosian docs"


def test_nothing_refers_to_what_a_reader_does_not_have() -> None:
    found = [path for path in texts() if INTERNAL.search(path.read_text(encoding="utf-8", errors="replace"))]
    assert [str(path.relative_to(TOP)) for path in found] == []


@pytest.mark.parametrize("page", [*PAGES, README], ids=lambda page: page.stem)
def test_links_lead_somewhere(page: Path) -> None:
    links = re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8"))
    assert [link for link in links if not (page.parent / link).exists()] == []


@pytest.mark.parametrize("page", [*PAGES, README], ids=lambda page: page.stem)
def test_pages_and_files_of_this_project_that_a_page_names_exist(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    named = re.findall(r"[Pp]ages? `([a-z]+)`", text)
    files = re.findall(r"`((?:tests|neosian|docs|\.ci)/[\w./]+)`", text)
    assert [name for name in named if name not in PROMISED] == []
    assert [name for name in files if not (TOP / name).exists()] == []


def test_each_guard_names_a_test_that_exists() -> None:
    rows = re.findall(r"^\|.*\| `(tests/[^`]+)` \|$", (TOP / "docs" / "guards.md").read_text("utf-8"), re.M)
    named = [row.partition("::") for row in rows]
    missing = [name for file, _, name in named if f"def {name}(" not in (TOP / file).read_text("utf-8")]
    assert named
    assert missing == []


def test_the_glossary_is_in_order_and_says_each_word_once() -> None:
    words = re.findall(r"^\| ([a-z ]+) \|", (TOP / "docs" / "glossary.md").read_text("utf-8"), re.M)[1:]
    assert words == sorted(set(words))


def test_the_formats_page_passes_the_real_parser() -> None:
    parsed = [turns.parse_lines(example.encode()) for example in fenced("formats", "jsonl")]
    assert [bad for _, bad in parsed] == [[], []]
    first, second = (turns.group(lines) for lines, _ in parsed)
    assert (first[3].state, first[3].calls[0].ok, first[3].calls[0].ended) == ("done", False, True)
    assert (second[4].state, second[4].answer) == ("done", "Fixed: the cart converts once, at the edge.")


def test_the_formats_page_shows_lines_as_they_are_written() -> None:
    for example in fenced("formats", "jsonl"):
        lines, _ = turns.parse_lines(example.encode())
        assert b"".join(turns.dumps(line) for line in lines).decode() == example


def test_the_settings_page_shows_every_setting_with_its_default() -> None:
    shown = Config(tomllib.loads(fenced("settings", "toml")[0]))
    default = Config()
    names = set(Config.__slots__) - {"record_ignore"}  # that list is too long to be shown whole
    assert {name: getattr(shown, name) for name in names} == {name: getattr(default, name) for name in names}
    assert set(shown.record_ignore) < set(default.record_ignore)


def test_every_setting_stands_on_its_page() -> None:
    said = tomllib.loads(fenced("settings", "toml")[0])
    assert {f"{section}_{key}" for section, keys in said.items() for key in keys} == set(Config.__slots__) - {
        "wrong"
    }


def test_the_example_of_a_project_file_is_toml() -> None:
    (example,) = fenced("formats", "toml")
    assert tomllib.loads(example)["project"][0]["identities"][0] == "github.com/acme/shop"


def test_the_command_page_is_what_the_parser_says() -> None:
    assert docs.page("cli") == reference.reference(build_parser()), "run `make docs`"


@pytest.mark.parametrize(
    "command", list(reference.commands(build_parser())), ids=lambda command: command.prog
)
def test_every_command_and_option_has_help(command: argparse.ArgumentParser) -> None:
    assert command.description
    assert [action.dest for action in reference.shown(command) if not action.help] == []


@pytest.mark.parametrize("line", typed_commands())
def test_a_command_in_the_manual_can_be_typed(line: str) -> None:
    words = shlex.split(line, comments=False)[1:]
    if words[0].startswith("--"):
        return
    assert build_parser().parse_args(words)


def test_the_readme_shows_the_two_commands_of_a_fresh_machine() -> None:
    commands = list(indented(README))
    assert [line.split()[:2] for line in commands if line.startswith("make ")] == [
        ["make", "demo"],
        ["make", "test"],
    ]


def test_the_command_lists_all_topics(capsys: pytest.CaptureFixture[str]) -> None:
    from neosian.cli import main

    assert main(["docs", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert {topic["topic"] for topic in listed} >= set(PROMISED)


def test_the_command_prints_a_page_as_it_is_written(capsys: pytest.CaptureFixture[str]) -> None:
    from neosian.cli import main

    assert main(["docs", "glossary"]) == 0
    assert capsys.readouterr().out == (TOP / "docs" / "glossary.md").read_text(encoding="utf-8")


def test_the_man_page_has_a_section_a_command_and_each_usage_line_by_line() -> None:
    tool = Path(sys.executable).parent / "argparse-manpage"
    command = [str(tool), "--module", "neosian.cli", "--function", "build_parser", "--prog", "neosian"]
    raw = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    page = manpage.readable(raw)
    heads = [line.removeprefix(".SH ") for line in page.splitlines() if line.startswith(".SH ")]
    assert heads[:4] == ["NAME", "SYNOPSIS", "DESCRIPTION", "COMMANDS"]
    assert [head for head in heads if head.startswith("neosian ")] == [f"neosian {name}" for name in COMMANDS]
    assert heads[-5:] == ["EXAMPLES", "EXIT STATUS", "ENVIRONMENT", "FILES", "SEE ALSO"]
    assert "usage:" not in page
    assert ".SH neosian docs\n.nf\nneosian docs [" in page
    assert page.count("\n.nf\n") == page.count("\n.fi\n")
