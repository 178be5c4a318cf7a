"""The spool: an event is whole or not there, nothing secret is kept beside it, and a bad one stops no other."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Mapping
from pathlib import Path

import pytest

from neosian.events import FLAG_SEPARATOR
from neosian.spool import MARKS, Entry, Spool, header, tick

PAYLOAD = b'{"session_id": "x", "hook_event_name": "Stop"}'


@pytest.fixture
def spool(tmp_path: Path) -> Spool:
    return Spool(str(tmp_path / "home"))


def put(
    spool: Spool,
    payload: bytes = PAYLOAD,
    *,
    flags: str = "",
    cwd: str = "/src",
    marks: Mapping[str, str] | None = None,
) -> str:
    return spool.put(header("claude-code", "stop", flags, cwd, dict(marks or {})), payload)


def taken(spool: Spool) -> list[Entry]:
    return list(spool.take())


def bad(spool: Spool) -> dict[str, str]:
    """What was set aside, with the reason."""
    names = [name for name in os.listdir(spool.bad) if not name.endswith(".why")]
    return {name: Path(spool.bad, name + ".why").read_text() for name in names}


def test_what_was_put_is_taken_as_it_was(spool: Spool) -> None:
    flags = FLAG_SEPARATOR.join(("--agent", "a b", "--scope", "team:x"))
    name = put(spool, flags=flags, cwd="/src/日本 x\n", marks={"CLAUDE_PROJECT_DIR": "/src=1"})
    (entry,) = taken(spool)
    said = entry.spooled
    assert (said.name, said.client, said.event, said.level) == (name, "claude-code", "stop", flags)
    assert (said.cwd, said.marks) == ("/src/日本 x\n", {"CLAUDE_PROJECT_DIR": "/src=1"})
    assert entry.payload == json.loads(PAYLOAD)


def test_an_event_carries_uptime_and_boot(spool: Spool) -> None:
    before = float(tick()[0])
    put(spool)
    said = taken(spool)[0].spooled
    assert said.tick is not None
    assert before <= said.tick <= float(tick()[0])
    assert said.boot == tick()[1] != ""


def test_a_directory_that_is_not_utf_8_keeps_its_bytes(spool: Spool) -> None:
    put(spool, cwd=os.fsdecode(b"/src/caf\xe9"))
    assert os.fsencode(taken(spool)[0].spooled.cwd) == b"/src/caf\xe9"


def test_only_the_named_marks_of_the_environment_are_kept(spool: Spool) -> None:
    secret = {"ANTHROPIC_API_KEY": "sk-secret", "AWS_SECRET_ACCESS_KEY": "secret", "PATH": "/secret"}
    name = put(spool, marks=secret | dict.fromkeys(MARKS, "a:b"))
    assert b"secret" not in Path(spool.new, name).read_bytes()
    assert set(taken(spool)[0].spooled.marks) == {"CLAUDE_PROJECT_DIR", "CURSOR_VERSION", "NEOSIAN_SCOPE"}


@pytest.mark.parametrize(
    ("flags", "level"),
    [
        ("", "--scope\x1fteam:x"),
        ("--agent\x1fada", "--agent\x1fada\x1f--scope\x1fteam:x"),
        ("--scope\x1fteam:y", "--scope\x1fteam:y"),
        ("--mount\x1f/a=team:y", "--mount\x1f/a=team:y"),
    ],
)
def test_the_scope_of_the_environment_counts_where_no_flag_names_one(
    flags: str, level: str, spool: Spool
) -> None:
    put(spool, flags=flags, marks={"NEOSIAN_SCOPE": "team:x"})
    assert taken(spool)[0].spooled.level == level


def test_a_nul_cannot_forge_a_field(spool: Spool) -> None:
    put(spool, cwd="/src\0CURSOR_VERSION=9\0\n{}")
    said = taken(spool)[0].spooled
    assert (said.cwd, said.marks) == ("/srcCURSOR_VERSION=9\n{}", {})


def test_events_come_in_the_order_they_were_put(spool: Spool) -> None:
    names = [put(spool, b'{"number": %d}' % number) for number in range(20)]
    assert sorted(entry.payload["number"] for entry in taken(spool)) == list(range(20))
    assert len(set(names)) == 20
    assert spool.names() == sorted(names)


def test_an_event_is_private(spool: Spool) -> None:
    before = os.umask(0)
    name = put(spool)
    os.umask(before)
    modes = [
        stat.S_IMODE(os.stat(path).st_mode)
        for path in (spool.folder, spool.new, os.path.join(spool.new, name))
    ]
    assert modes == [0o700, 0o700, 0o600]


def test_a_large_event_is_read_like_a_small_one(spool: Spool) -> None:
    put(spool, json.dumps({"text": "x" * (3 << 20)}).encode())
    (entry,) = taken(spool)
    assert entry.size > 3 << 20
    assert entry.payload["text"].startswith("xxx")


@pytest.mark.parametrize("payload", [b"", b"{", b"[]", b"null", b'{"a": 1} trailing', b"\xff\xfe"])
def test_a_payload_that_is_no_object_is_set_aside_with_the_reason(payload: bytes, spool: Spool) -> None:
    name = put(spool, payload)
    good = put(spool)
    assert [entry.spooled.name for entry in taken(spool)] == [good]
    assert list(bad(spool)) == [name]
    assert bad(spool)[name] != ""
    assert Path(spool.bad, name).read_bytes().endswith(b"\0\n" + payload)


@pytest.mark.parametrize(
    ("raw", "why"),
    [
        (b"", "no header of ours"),
        (b"neosian1\0claude-code\0st", "no header of ours"),
        (b"somebody else's file\0\n{}", "no header of ours"),
        (b"neosian1\0claude-code\0stop\0\n{}", "header is cut"),
        (b"\0" * 4096, "no header of ours"),
    ],
)
def test_a_torn_file_is_set_aside_with_the_reason(raw: bytes, why: str, spool: Spool) -> None:
    spool.make()
    Path(spool.new, "1-torn").write_bytes(raw)
    good = put(spool)
    assert [entry.spooled.name for entry in taken(spool)] == [good]
    assert why in bad(spool)["1-torn"]


def test_an_event_that_another_took_away_is_no_error(spool: Spool) -> None:
    name = put(spool)
    assert [entry.spooled.name for entry in spool.take(["gone", name])] == [name]
    spool.set_aside("gone", "because")
    assert bad(spool) == {}


def test_what_has_landed_is_dropped(spool: Spool) -> None:
    first, second = put(spool), put(spool)
    spool.drop([first, "gone"])
    assert spool.names() == [second]


def test_the_backlog_is_counted_in_bytes(spool: Spool) -> None:
    assert (spool.backlog(), spool.names()) == (0, [])
    name = put(spool)
    assert spool.backlog() == os.path.getsize(os.path.join(spool.new, name))


def test_nothing_half_written_is_ever_seen(spool: Spool) -> None:
    spool.make()
    Path(spool.folder, "tmp", "half").write_bytes(b"neosian1\0clau")
    assert taken(spool) == []


def test_another_folder_may_be_the_spool(tmp_path: Path) -> None:
    spool = Spool(str(tmp_path / "home"), str(tmp_path / "elsewhere"))
    name = put(spool)
    assert (tmp_path / "elsewhere" / "new" / name).exists()
    assert not (tmp_path / "home").exists()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names here")
def test_a_pipe_among_the_events_is_set_aside(spool: Spool) -> None:
    name = put(spool)
    os.mkfifo(os.path.join(spool.new, "0-pipe"))
    assert [entry.spooled.name for entry in spool.take()] == [name]
    assert bad(spool) == {"0-pipe": "it is no regular file"}
    assert [spooled.name for spooled in spool.peek()] == [name]
