"""Which files a tool call names."""

from __future__ import annotations

from typing import Any

import pytest

from neosian.calls import Globs, named_paths, touched_by, touched_paths
from tests.recorded import event, payload

HOME = "/home/dev/shop"


@pytest.mark.parametrize(
    ("glob", "path", "matches"),
    [
        ("**/.env*", ".env", True),
        ("**/.env*", "/home/dev/shop/.env.local", True),
        ("**/.env*", ".ENV", True),
        ("**/.env*", "process.env", False),
        ("**/.env*", "src/environment.py", False),
        (".env", "a/b/.env", True),
        ("*.pem", "certs/key.pem", True),
        ("*.pem", "key.pem.txt", False),
        ("/etc/shadow", "/etc/shadow", True),
        ("/etc/shadow", "/srv/etc/shadow", False),
        ("**/secrets/**", "a/secrets/b/c", True),
        ("**/secrets", "a/secrets/b/c", True),
        ("secrets/", "a/secrets/b", True),
        ("src/*/x", "src/a/x", True),
        ("src/*/x", "src/a/b/x", False),
        ("src/**/x", "src/x", True),
        ("id_[rd]sa", "id_rsa", True),
        ("id_[!rd]sa", "id_rsa", False),
        ("file?.txt", "file1.txt", True),
        ("a+b(c).txt", "a+b(c).txt", True),
        ("**/.env*", r"C:\work\.env", True),
    ],
)
def test_globs(glob: str, path: str, matches: bool) -> None:
    assert Globs([glob]).match([path]) == (glob if matches else None)


def test_no_globs_match_nothing() -> None:
    assert Globs([]).match([".env"]) is None


@pytest.mark.parametrize(
    "fields",
    [
        {"file_path": ".env"},
        {"file_path": "/home/dev/shop/.env"},
        {"notebook_path": "sub/.env"},
        {"path": ".env", "pattern": "KEY"},
        {"paths": ["a", ".env"]},
        {"edits": [{"file_path": ".env"}]},
        {"options": {"envFile": ".env"}},
        {"command": "cat .env"},
        {"command": "cat<.env"},
        {"command": "grep KEY './.env' | head"},
        {"command": "docker run --env-file=.env image"},
        {"command": "cd /srv && source ../x/.env; true"},
        {"command": ["sh", "-c", "cat .env"]},
        {"cmd": "cat ${HOME}/.env"},
    ],
)
def test_a_call_on_a_file_to_ignore_is_found(fields: dict[str, Any]) -> None:
    assert Globs(["**/.env*"]).match(named_paths(fields, HOME)) == "**/.env*"


@pytest.mark.parametrize(
    "fields",
    [
        {"file_path": "src/env.py"},
        {"command": "echo $PATH; make env"},
        {"content": "see .env"},
        {"file_path": 7, "command": None, "paths": [None]},
        {},
    ],
)
def test_other_calls_are_left_alone(fields: dict[str, Any]) -> None:
    assert Globs(["**/.env*"]).match(named_paths(fields, HOME)) is None


def test_a_path_is_named_as_it_stands_absolute_and_relative() -> None:
    assert named_paths({"file_path": "/home/dev/shop/a/b"}, HOME) == {"/home/dev/shop/a/b", "a/b"}
    assert named_paths({"file_path": "a/../b"}, HOME) == {"a/../b", "/home/dev/shop/b", "b"}


@pytest.mark.parametrize(
    ("tool", "fields", "path"),
    [
        ("Edit", {"file_path": "/home/dev/shop/notes.md"}, "/home/dev/shop/notes.md"),
        ("Write", {"file_path": "notes.md"}, "/home/dev/shop/notes.md"),
        ("NotebookEdit", {"notebook_path": "n.ipynb"}, "/home/dev/shop/n.ipynb"),
        ("Bash", {"command": "echo hi >> ./notes.md"}, "/home/dev/shop/notes.md"),
        ("Bash", {"command": "sed -i s/a/b/ notes.md"}, "/home/dev/shop/notes.md"),
        ("Bash", {"command": "cd docs && echo hi>notes.md"}, "/home/dev/shop/docs/notes.md"),
        ("Bash", {"command": "tee '/srv/x.md'"}, "/srv/x.md"),
    ],
)
def test_a_call_may_have_written_what_it_names(tool: str, fields: dict[str, Any], path: str) -> None:
    assert path in touched_paths({"tool": tool, "input": fields}, HOME)


@pytest.mark.parametrize(
    ("tool", "fields"),
    [("Read", {"file_path": "a.md"}), ("Grep", {"path": "a.md"}), ("Edit", "odd"), ("Edit", {})],
)
def test_reading_touches_nothing(tool: str, fields: object) -> None:
    assert touched_paths({"tool": tool, "input": fields}, HOME) == set()


def test_a_call_that_keeps_its_own_directory_is_resolved_there() -> None:
    line = {"tool": "Write", "input": {"file_path": "a.md"}, "cwd": "/srv"}
    assert touched_paths(line, HOME) == {"/srv/a.md"}


def test_events_tell_what_they_touch() -> None:
    assert touched_by(event(payload("pre_tool_use.edit"))) == {"/home/dev/shop/calc.py"}
    assert touched_by(event(payload("post_tool_batch.edit_rejected"))) == {"/home/dev/shop/calc.py"}
    assert touched_by(event(payload("stop"))) == set()
