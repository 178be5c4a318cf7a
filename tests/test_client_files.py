"""Hooks go into every client's own file and out of it again, whatever stood there before; or the file is left alone."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from neosian import cli, resources
from neosian.clients import adapter
from neosian.clients.hook_files import FLAT, GROUPS, OWN, TOML, HookFile, Shape
from neosian.clients.installers import RECORDED, hooks_of, installer, trust
from neosian.clients.mcp_clients import PROJECT, USER
from neosian.launcher import hook_line

LEVELS = [
    (client, level)
    for client in RECORDED
    for level in ("user", "project")
    if level == "user" or hooks_of(client).project_file
]


class Result(NamedTuple):
    """How a command ended, and what it said."""

    code: int
    out: str
    err: str


class Place:
    """One client's file of hooks at one level."""

    def __init__(self, client: str, level: str, project: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.client = client
        self.hooks: HookFile = hooks_of(client)
        self.capsys = capsys
        self.flags = ["--user"] if level == "user" else []
        Path(self.hooks.home(os.environ)).mkdir(parents=True, exist_ok=True)
        theirs = self.hooks.project_file
        self.file = Path(
            theirs(str(project)) if theirs and level == "project" else self.hooks.user_file(os.environ)
        )

    def put(self, raw: bytes | None) -> None:
        if raw is not None:
            self.file.parent.mkdir(parents=True, exist_ok=True)
            self.file.write_bytes(raw)

    @property
    def raw(self) -> bytes | None:
        return self.file.read_bytes() if self.file.exists() else None

    def say(self, verb: str, *words: str) -> Result:
        self.capsys.readouterr()
        try:
            code = cli.main(["record", verb, "--client", self.client, *self.flags, *words])
        except SystemExit as left:
            code = int(left.code or 0)
        said = self.capsys.readouterr()
        return Result(code, said.out, said.err)

    def wanted(self, line: Callable[[str], str]) -> Any:
        template = resources.hook_file(self.hooks.template)
        return self.hooks.shape.filled(template, adapter(self.client).EVENTS, line)


@pytest.fixture
def project(tmp_path: Path, private_home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A git work tree; the tests run in a folder of it, and no client is on the PATH."""
    folder = tmp_path / "shop"
    (folder / ".git").mkdir(parents=True)
    (folder / "src").mkdir()
    monkeypatch.chdir(folder / "src")
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    return folder


@pytest.fixture(params=LEVELS, ids="-".join)
def place(request: pytest.FixtureRequest, project: Path, capsys: pytest.CaptureFixture[str]) -> Place:
    client, level = request.param
    return Place(client, level, project, capsys)


def foreign(shape: Shape, events: tuple[str, ...]) -> list[bytes | None]:
    """Files of a person that take our hooks beside what they hold."""
    first = events[0]
    if shape is OWN:
        return [None, b"", b"\n"]
    if shape is TOML:
        return [
            None,
            b"",
            b'# mine\nmodel   =  "x"\n',
            b'[[hooks]]\nevent = "Stop"\ncommand = "true"  # mine\n',
            b"a = 1\r\n\r\n[b]\r\nc = 2\r\n",
            b'no = "end of line"',
        ]
    hook: dict[str, Any] = {"command": "true"}
    item = {"hooks": [{"type": "command", **hook}]} if shape is GROUPS else hook
    top = {} if shape is GROUPS else {"version": 1}
    mine = {**top, "hooks": {first: [item], "Mine": [item]}}
    return [
        None,
        b"{}",
        b'{\n\t"theirs":   [1,2 ]\n}\n',
        json.dumps(mine).encode(),
        json.dumps(mine, indent=7, ensure_ascii=False).encode(),
        json.dumps({"x": "\u91d1", **mine}, indent=2, ensure_ascii=False).replace("\n", "\r\n").encode(),
    ]  # fmt: skip


def broken(shape: Shape) -> list[bytes]:
    """Files that a careful edit cannot touch, or in which our hooks would be lost."""
    if shape is OWN:
        return [b"somebody else's\n", b"\xff\xfe", b"{}"]
    if shape is TOML:
        return [b"a = [", b"\xff", b'hooks = "mine"\n', b"[hooks]\na = 1\n"]
    return [
        b'// a comment\n{"hooks": {}}',
        b'{"hooks": {},}',
        b"\xff\xfe{}",
        b"[]",
        b'{"hooks": []}',
        b'{"hooks": {}, "hooks": {}}',
        b"",
    ]


def test_what_is_printed_is_what_would_be_written(place: Place) -> None:
    result = place.say("install")
    assert (result.code, place.raw) == (0, None)
    assert (
        result.out.count("neosian-hook") == len(set(adapter(place.client).EVENTS)) or place.hooks.shape is OWN
    )
    assert all(f"{place.client} {verb}" in result.out for verb in set(adapter(place.client).VERB.values()))
    assert "--write" in result.err


def test_every_file_comes_back_to_the_byte(place: Place) -> None:
    events = tuple(adapter(place.client).EVENTS)
    for raw in foreign(place.hooks.shape, events):
        place.put(raw)
        done = place.say("install", "--write")
        assert done.code == 0, done
        assert place.hooks.shape.owned(place.file.read_bytes().decode())
        written = place.raw
        assert place.say("install", "--write").code == 0
        assert place.raw == written
        done = place.say("uninstall", "--write")
        assert (done.code, place.raw) == (0, raw), done
        assert set(place.file.parent.glob("*neosian*")) <= {place.file}
        place.file.unlink(missing_ok=True)


def test_what_cannot_be_edited_is_left_alone_and_what_belongs_there_printed(place: Place) -> None:
    for raw in broken(place.hooks.shape):
        place.put(raw)
        done = place.say("install", "--write")
        assert (done.code, place.raw) == (1, raw), (raw, done)
        assert f"{place.client} start" in done.out or f"{place.client} note" in done.out
        assert str(place.file) in done.err
        assert "Traceback" not in done.err


def test_an_older_line_of_ours_is_replaced(place: Place) -> None:
    shape = place.hooks.shape
    older = place.wanted(lambda verb: hook_line(place.client, verb, "--older", Path("/elsewhere")))
    place.put(shape.merge(shape.empty, older).encode())
    assert place.say("install", "--write").code == 0
    assert b"--older" not in (place.raw or b"")
    assert place.say("uninstall", "--write").code == 0
    assert b"neosian" not in (place.raw or b"")


def test_a_byte_order_mark_is_kept_or_refused(place: Place) -> None:
    raw = b"\xef\xbb\xbf" + (b"{}" if place.hooks.shape in (GROUPS, FLAT) else b"# mine\n")
    place.put(raw)
    done = place.say("install", "--write")
    if done.code == 0:
        assert (place.raw or b"").startswith(b"\xef\xbb\xbf")
        assert place.say("uninstall", "--write").code == 0
    assert place.raw == raw


def test_a_link_is_written_through(place: Place, tmp_path: Path) -> None:
    if place.hooks.shape is OWN:
        pytest.skip("a file of ours is none of a person's")
    # A person's links lead anywhere; a project may be a stranger's, and its links stay within it.
    kept = (tmp_path if place.flags else place.file.parent) / "dotfiles"
    kept.parent.mkdir(parents=True, exist_ok=True)
    kept.write_bytes(b"# mine\n" if place.hooks.shape is TOML else b"{}\n")
    before = kept.read_bytes()
    place.file.parent.mkdir(parents=True, exist_ok=True)
    place.file.symlink_to(kept)
    assert place.say("install", "--write").code == 0
    assert place.file.is_symlink()
    assert b"neosian-hook" in kept.read_bytes()
    assert place.say("uninstall", "--write").code == 0
    assert (place.file.is_symlink(), kept.read_bytes()) == (True, before)


def test_another_programs_home_is_never_made(place: Place) -> None:
    if not place.flags:
        pytest.skip("a project is there")
    home = Path(place.hooks.home(os.environ))
    home.rmdir()
    done = place.say("install", "--write")
    assert (done.code, home.exists()) == (1, False)
    assert installer(place.client).TITLE in done.err


def test_the_step_before_hooks_run_is_told(place: Place) -> None:
    levels = (USER, PROJECT) if place.flags or not place.hooks.project_file else (PROJECT, USER)
    here, other = (trust(place.client, level) for level in levels)
    for words in ([], ["--write"]):
        said = place.say("install", *words).err
        assert here in said
        assert other in ("", here) or other not in said


def test_thousands_of_our_hooks_are_taken_out_at_once() -> None:
    """One by one, each would have the whole file read again."""
    ours = {"type": "command", "command": hook_line("claude-code", "note")}
    mine = {"type": "command", "command": "mine"}
    hooks: dict[str, Any] = {f"E{n}": [{"hooks": [ours, mine]}] for n in range(4000)}
    text = json.dumps({"hooks": {**hooks, "Stop": [{"hooks": [ours]}] * 8000}})
    left = {name: [{"hooks": [mine]}] for name in hooks}
    assert json.loads(GROUPS.strip(text)) == {"hooks": left}
    with pytest.raises(ValueError):
        GROUPS.again("{}", GROUPS.owned(text))
