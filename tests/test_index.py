"""The index shows what git and the folder hold, whoever changed them, and can be deleted at any time."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import pytest

from neosian import commits, turns
from neosian.errors import GitError
from neosian.index import Index, turn_text
from neosian.recall import Hit, find, search
from tests.scopes import ADA, BOB, NOW, Scope, turn_lines


@pytest.fixture
def scope(tmp_path: Path) -> Iterator[Scope]:
    scope = Scope(tmp_path)
    yield scope
    scope.store.repo.close()


def look(scope: Scope, text: str, limit: int | None = 50) -> list[str]:
    """What a search says now: `conversation#turn` or the path of each hit."""
    with Index.open(str(scope.cache)) as index:
        index.catch_up(scope.store.repo, limit)
        return [named(hit) for hit in find(index, text)]


def named(hit: Hit) -> str:
    return hit.path or f"{hit.conversation[0]}#{hit.turn}"


def counts(scope: Scope) -> dict[str, int]:
    with Index.open(str(scope.cache)) as index:
        index.catch_up(scope.store.repo, None)
        return index.counts()


# -- turns


def test_a_landed_turn_is_found_with_the_next_look(scope: Scope) -> None:
    scope.land(ADA, 1, "Why does the parser fail?")
    assert look(scope, "parser") == ["1#1"]
    scope.land(ADA, 2, "And the lexer?")
    assert look(scope, "lexer") == ["1#2"]
    assert look(scope, "parser") == ["1#1"]


def test_a_longer_segment_is_read_from_where_it_grew(scope: Scope, monkeypatch: pytest.MonkeyPatch) -> None:
    scope.land(ADA, 1, "one parser")
    look(scope, "x")
    scope.land(ADA, 2, "two parser")
    read: list[bytes] = []
    parse = turns.parse_lines

    def noted(data: bytes) -> tuple[list[turns.Line], list[bytes]]:
        read.append(data)
        return parse(data)

    monkeypatch.setattr(turns, "parse_lines", noted)
    assert sorted(look(scope, "parser")) == ["1#1", "1#2"]
    assert b"two parser" in b"".join(read)
    assert b"one parser" not in b"".join(read)


def test_late_lines_renew_their_turn(scope: Scope) -> None:
    scope.land(ADA, 1, "start the build", "", state="interrupted")
    look(scope, "x")
    late = turn_lines(ADA, 1, "", "The walrus build passed.", state="done")
    scope.append(scope.log(ADA), [{**line, "n": line["n"] + 5} for line in late if line["kind"] != "prompt"])
    scope.commit("late")
    assert look(scope, "walrus") == ["1#1"]
    assert look(scope, "start build") == ["1#1"]
    with Index.open(str(scope.cache)) as index:
        assert [(turn.n, turn.state) for turn in index.turns(ADA)] == [(1, "done")]


def test_late_lines_in_a_later_segment(scope: Scope) -> None:
    scope.land(ADA, 1, "start the build", "")
    look(scope, "x")
    late = [{**line, "n": line["n"] + 5} for line in turn_lines(ADA, 1, "", "The walrus passed.")]
    scope.append(scope.log(ADA, first=2), [*late, *turn_lines(ADA, 2, "next", "ok")])
    scope.commit("late")
    assert look(scope, "walrus") == ["1#1"]
    assert counts(scope)["turns"] == 2


def test_a_bad_line_costs_only_itself(scope: Scope) -> None:
    path = scope.log(ADA)
    path.write_bytes(b"<<<<<<< HEAD\n\0\0\0\n{torn\n[]\n")
    scope.land(ADA, 1, "good parser")
    assert look(scope, "parser") == ["1#1"]


def test_a_segment_that_began_with_rubbish_alone(scope: Scope) -> None:
    scope.log(ADA).write_bytes(b"{torn\n")
    scope.commit()
    scope.land(BOB, 1, "lexer")
    assert look(scope, "lexer") == ["2#1"]
    scope.land(ADA, 1, "parser")
    assert look(scope, "parser") == ["1#1"]


def test_a_line_without_a_time_does_not_set_a_turn_back(scope: Scope) -> None:
    first, *rest = turn_lines(ADA, 1, "parser", "x")
    scope.append(scope.log(ADA), [first, *({**line, "at": "?"} for line in rest)])
    scope.commit()
    look(scope, "x")
    with Index.open(str(scope.cache)) as index:
        assert index.turns(ADA)[0].at == NOW


def test_a_git_that_fails_costs_no_index(scope: Scope, monkeypatch: pytest.MonkeyPatch) -> None:
    scope.land(ADA, 1, "parser")
    look(scope, "x")
    scope.land(ADA, 2, "walrus")

    def fail(*_: object) -> None:
        raise GitError(("log",), 128, "out of memory")

    with Index.open(str(scope.cache)) as index:
        monkeypatch.setattr(commits, "since", fail)
        with pytest.raises(GitError):
            index.catch_up(scope.store.repo)
        assert index.counts()["turns"] == 1


def test_numbers_and_characters_that_no_database_takes(scope: Scope) -> None:
    scope.append(scope.log(ADA), [{**line, "turn": 10**30} for line in turn_lines(ADA, 1, "huge", "x")])
    with scope.log(ADA).open("ab") as file:
        file.write(b'{"v":1,"turn":1,"n":0,"kind":"prompt","at":"","text":"half \\udc88 walrus"}\n')
    scope.commit("odd\n\nTurn: 999999999999999999999")
    assert look(scope, "walrus") == ["1#1"]


def test_two_clients_may_use_one_session_id(scope: Scope) -> None:
    scope.land(ADA, 1, "from claude")
    scope.land(ADA, 1, "from codex", client="codex")
    with Index.open(str(scope.cache)) as index:
        index.catch_up(scope.store.repo)
        assert {session.client for session in index.sessions(conversation=ADA)} == {"claude-code", "codex"}


def test_a_removed_segment_takes_its_turns_along(scope: Scope) -> None:
    scope.land(ADA, 1, "parser")
    scope.land(BOB, 1, "lexer")
    look(scope, "x")
    scope.git("rm", "-q", str(scope.log(BOB)))
    scope.commit("forget")
    assert look(scope, "lexer") == []
    assert counts(scope)["conversations"] == 1


def test_sessions_and_their_turns_newest_first(scope: Scope) -> None:
    scope.land(ADA, 1, "first words", "one", at=NOW - 900)
    scope.land(BOB, 1, "other", at=NOW - 600)
    scope.land(ADA, 2, "last words", "two", at=NOW - 300)
    with Index.open(str(scope.cache)) as index:
        index.catch_up(scope.store.repo)
        ada, bob = index.sessions()
        assert (ada.conversation, ada.turns, ada.first, ada.prompt) == (ADA, 2, "first words", "last words")
        assert (ada.started, ada.last, bob.last) == (NOW - 900, NOW - 300, NOW - 600)
        assert [(turn.n, turn.answer) for turn in index.turns(ADA, limit=1)] == [(2, "two")]


# -- git's history


def test_a_way_longer_than_the_limit_is_left_for_later(scope: Scope) -> None:
    scope.land(ADA, 1, "parser")
    look(scope, "x")
    for n in range(2, 6):
        scope.land(ADA, n, "walrus")
    with Index.open(str(scope.cache)) as index:
        assert not index.catch_up(scope.store.repo, 3)
        assert index.counts()["turns"] == 1
        assert index.catch_up(scope.store.repo, None)
        assert index.counts() == {"turns": 5, "conversations": 1, "documents": 0, "commits": 5}


def test_an_empty_index_far_behind_knows_the_newest_turns(scope: Scope) -> None:
    for number in range(9):
        path = scope.root / f"record/2026-11/{number + 10}" / f"00001-ab12-claude-code-session-{number}.jsonl"
        path.parent.mkdir(parents=True)
        scope.append(path, turn_lines(f"session-{number}", 1, f"walrus {number}", "x", at=NOW + number))
        scope.commit()
    with Index.open(str(scope.cache)) as index:
        assert not index.catch_up(scope.store.repo, 3)
        assert [session.prompt for session in index.sessions(2)] == ["walrus 8", "walrus 7"]
        assert index.commit is None
        assert index.catch_up(scope.store.repo, None)
        assert index.counts()["turns"] == 9


def test_a_merge_brings_the_other_side(scope: Scope) -> None:
    scope.land(ADA, 1, "parser")
    look(scope, "x")
    scope.git("checkout", "-q", "-b", "side")
    scope.land(BOB, 1, "walrus")
    scope.git("checkout", "-q", "main")
    scope.land(ADA, 2, "lexer")
    scope.git("merge", "-q", "--no-edit", "side")
    assert look(scope, "walrus lexer") == ["2#1", "1#2"] or sorted(look(scope, "walrus lexer")) == [
        "1#2",
        "2#1",
    ]
    assert counts(scope)["commits"] == 4


def test_what_a_rewritten_history_dropped_is_not_found(scope: Scope) -> None:
    scope.land(ADA, 1, "parser")
    scope.land(ADA, 2, "a secret walrus")
    assert look(scope, "walrus") == ["1#2"]
    scope.git("reset", "-q", "--hard", "HEAD~1")
    assert look(scope, "walrus") == []
    assert b"walrus" not in scope.cache.read_bytes()
    assert look(scope, "parser") == ["1#1"]


@pytest.mark.parametrize("kind", ["utf-16", "utf-16-be", "utf-8-sig"])
def test_a_document_is_found_in_whatever_way_its_text_is_written(kind: str, scope: Scope) -> None:
    scope.write("tools/x.md", "").write_bytes("---\ntitle: Größe\n---\nA walrus.\n".encode(kind))
    assert look(scope, "walrus") == look(scope, "größe") == ["tools/x.md"]


@pytest.mark.parametrize("data", ["A walrus, password=hunter2222x\n".encode("utf-16"), b"A walrus"])
def test_what_must_not_be_told_is_marked_and_not_held(data: bytes, scope: Scope) -> None:
    name = "ghp_MTX6T5bC6O3hDpHJanr4VjXiMha2mn82r7HQ.md" if data.isascii() else "x.md"
    scope.write(name, "").write_bytes(data)
    with Index.open(str(scope.cache)) as index:
        assert index.catch_up(scope.store.repo)
        assert [entry.secret for entry in index.documents()] == [True]
        texts = " ".join(index.texts(range(-9, 0)).values())
    assert "walrus" in texts
    assert "hunter" not in texts
    assert "ghp_" not in texts


def test_an_index_that_somebody_keeps_to_himself_is_waited_for_once(
    scope: Scope, monkeypatch: pytest.MonkeyPatch
) -> None:
    scope.land(ADA, 1, "parser")
    look(scope, "parser")
    waits = []
    real = Index._connect

    def connect(index: Index, name: str, uri: bool = False) -> object:
        waits.append(name)
        return real(index, name, uri)

    monkeypatch.setattr(Index, "_connect", connect)
    other = sqlite3.connect(scope.cache, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    try:
        assert look(scope, "parser") == ["1#1"]
    finally:
        other.close()
    assert waits == [str(scope.cache), ":memory:"]


def test_the_same_answers_after_deletion(scope: Scope) -> None:
    for n in range(1, 5):
        scope.land(ADA, n, f"parser number {n}")
    scope.write("tools/x.md", "# Parser\nA parser tool.")
    before = look(scope, "parser")
    scope.cache.unlink()
    assert look(scope, "parser", None) == before
    assert len(before) == 5


def test_an_ended_rebuild_goes_on(scope: Scope, monkeypatch: pytest.MonkeyPatch) -> None:
    scope.land(ADA, 1, "parser")
    scope.land(BOB, 1, "parser")
    monkeypatch.setattr("neosian.index._SEGMENTS_AT_ONCE", 1)
    index = Index.open(str(scope.cache))
    with monkeypatch.context() as patch:
        patch.setattr(Index, "_show", stop)
        with pytest.raises(KeyboardInterrupt):
            index.catch_up(scope.store.repo, None)
    index.close()
    assert counts(scope)["turns"] == 2


def stop(*_: object) -> None:
    raise KeyboardInterrupt


def test_commits_by_what_they_did(scope: Scope) -> None:
    first = scope.land(ADA, 1, "parser", at=NOW - 60)
    scope.write("tools/x.md", "x")
    second = scope.commit("A person's edit")
    with Index.open(str(scope.cache)) as index:
        index.catch_up(scope.store.repo)

        def ids(**conditions: object) -> list[str]:
            return [act.id for act in index.commits(**conditions)]  # type: ignore[arg-type]

        assert ids() == [second, first]
        assert ids(limit=1) == [second]
        assert ids(path="tools") == ids(path="tools/x.md") == ids(act="edit") == ids(actor="Ada") == [second]
        assert (
            ids(conversation=ADA) == ids(turn=1) == ids(actor="claude-code:") == ids(path="record") == [first]
        )
        assert ids(since=NOW - 30) == [second]
        assert ids(until=NOW - 30) == [first]
        assert ids(path="tool") == []
        assert index.commits(turn=1)[0].paths == [str(scope.log(ADA).relative_to(scope.root))]


# -- documents


def test_an_edit_by_any_tool_is_seen_with_the_next_look(scope: Scope) -> None:
    scope.write("tools/x.md", "walrus")
    assert look(scope, "walrus") == ["tools/x.md"]
    scope.write("tools/x.md", "lobster")
    assert look(scope, "walrus") == []
    assert look(scope, "lobster") == ["tools/x.md"]


def test_an_edit_that_stat_data_do_not_tell_is_seen_while_it_may_just_have_happened(
    scope: Scope, monkeypatch: pytest.MonkeyPatch
) -> None:
    # a clock of coarse grain
    monkeypatch.setattr("neosian.index_documents._mark", lambda stat: str(stat.st_size))
    file = scope.write("x.md", "walrus")
    look(scope, "x")
    file.write_text("turtle")
    assert look(scope, "turtle") == ["x.md"]


def test_what_was_added_for_the_index_goes_with_the_text(scope: Scope) -> None:
    scope.write("x.md", "call parseHeaderLines, 修复登录")
    assert look(scope, "header lines") == ["x.md"]
    scope.write("x.md", "walrus")
    assert look(scope, "header lines") == []
    assert look(scope, "登录") == []


def test_a_change_of_the_header_alone(scope: Scope) -> None:
    scope.write("x.md", "---\ndescription: walrus\n---\nbody")
    assert look(scope, "walrus") == ["x.md"]
    scope.write("x.md", "---\ndescription: lobster\npinned: true\n---\nbody")
    assert (look(scope, "walrus"), look(scope, "lobster")) == ([], ["x.md"])
    with Index.open(str(scope.cache)) as index:
        (entry,) = index.documents()
        assert (entry.pinned, entry.description) == (True, "lobster")


def test_a_rename_and_a_checkout(scope: Scope) -> None:
    scope.write("x.md", "walrus")
    old = scope.commit()
    scope.git("mv", "x.md", "y.md")
    assert look(scope, "walrus") == ["y.md"]
    scope.commit()
    scope.git("checkout", "-q", old)
    assert look(scope, "walrus") == ["x.md"]


def test_who_changed_a_document_last_and_when(scope: Scope) -> None:
    scope.write("mine.md", "x")
    scope.commit(at=NOW - 60)
    scope.write("its.md", "x")
    scope.commit("note", author="claude-code <claude-code@neosian.invalid>")
    scope.write("new.md", "x")
    with Index.open(str(scope.cache)) as index:
        index.catch_up(scope.store.repo)
        sources = {entry.path: entry.source for entry in index.documents()}
        assert sources == {"its.md": "agent", "mine.md": "person", "new.md": "person"}
        assert {entry.path: entry.changed for entry in index.documents()}["mine.md"] == NOW - 60


def test_nothing_new_writes_nothing(scope: Scope) -> None:
    scope.land(ADA, 1, "parser")
    file = scope.write("x.md", "walrus")
    os.utime(file, (NOW - 900, NOW - 900))
    look(scope, "x")
    before = scope.cache.read_bytes()
    look(scope, "walrus")
    assert scope.cache.read_bytes() == before


# -- the file


@pytest.mark.parametrize("umask", [0, 0o777])
def test_only_its_owner_reads_it(scope: Scope, umask: int) -> None:
    scope.land(ADA, 1, "parser")
    scope.cache.parent.mkdir()
    old = os.umask(umask)
    try:
        Index.open(str(scope.cache)).close()
    finally:
        os.umask(old)
    assert scope.cache.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("spoil", ["rubbish", "half", "foreign", "old"])
def test_a_file_that_is_not_ours_or_not_whole_is_replaced(scope: Scope, spoil: str) -> None:
    scope.land(ADA, 1, "parser")
    look(scope, "x")
    if spoil == "rubbish":
        scope.cache.write_bytes(b"rubbish" * 1000)
    elif spoil == "half":
        data = scope.cache.read_bytes()
        scope.cache.write_bytes(data[:4096] + b"\xff" * (len(data) - 4096))
    else:
        scope.cache.unlink()
        other = sqlite3.connect(scope.cache)
        other.execute("CREATE TABLE other(x)")
        if spoil == "old":
            other.execute(f"PRAGMA application_id = {0x6E656F73}")
            other.execute("PRAGMA user_version = 1")
        other.commit()
        other.close()
    assert look(scope, "parser") == ["1#1"]
    with Index.open(str(scope.cache)) as index:
        assert index.counts()["turns"] == 1


@pytest.mark.parametrize("there", [True, False])
def test_a_read_only_home_still_answers(scope: Scope, monkeypatch: pytest.MonkeyPatch, there: bool) -> None:
    scope.land(ADA, 1, "parser")
    if there:
        look(scope, "x")
    scope.land(ADA, 2, "walrus")
    before = scope.cache.read_bytes() if there else b""
    monkeypatch.setattr("neosian.cache.os.access", lambda *_: False)
    assert look(scope, "walrus") == ["1#2"]
    assert look(scope, "parser") == ["1#1"]
    assert (scope.cache.read_bytes() if there else b"") == before


def test_a_full_disk_still_answers(scope: Scope, tmp_path: Path) -> None:
    scope.land(ADA, 1, "parser")
    (tmp_path / "cache").write_text("a file where the folder should be")
    assert look(scope, "parser") == ["1#1"]


def test_without_fts5_the_answers_are_the_same(scope: Scope, monkeypatch: pytest.MonkeyPatch) -> None:
    scope.land(ADA, 1, "Why does the Parser fail?")
    scope.land(ADA, 2, "ПРИВЕТ walrus")
    assert look(scope, "parsers") == ["1#1"]
    monkeypatch.setattr(Index, "_has_fts", staticmethod(lambda _: False))
    assert look(scope, "parsers") == ["1#1"]
    assert look(scope, "привет") == ["1#2"]


def test_a_writer_that_does_not_give_way_is_not_waited_for(scope: Scope) -> None:
    scope.land(ADA, 1, "parser")
    look(scope, "x")
    scope.land(ADA, 2, "walrus")
    other = sqlite3.connect(scope.cache, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with Index.open(str(scope.cache), patience=0.05) as index:
        assert not index.catch_up(scope.store.repo)
        assert [named(hit) for hit in find(index, "parser")] == ["1#1"]
    other.close()
    assert look(scope, "walrus") == ["1#2"]


def test_another_that_was_faster_is_not_set_back(scope: Scope, monkeypatch: pytest.MonkeyPatch) -> None:
    scope.land(ADA, 1, "parser")
    look(scope, "x")
    scope.land(ADA, 2, "walrus")
    is_line = commits.is_line

    def overtaken(old: str | None, between: list[commits.Commit]) -> bool:
        monkeypatch.setattr(commits, "is_line", is_line)
        scope.land(ADA, 3, "lexer")
        look(scope, "x")
        return is_line(old, between)

    monkeypatch.setattr(commits, "is_line", overtaken)
    with Index.open(str(scope.cache)) as index:
        index.catch_up(scope.store.repo)
        assert index.commit == scope.git("rev-parse", "HEAD")
    assert counts(scope)["turns"] == 3


def test_many_at_once(scope: Scope) -> None:
    for n in range(1, 7):
        scope.land(ADA, n, f"parser {n}")
    code = (
        "import sys; from neosian.index import Index; from neosian.plumbing import Repo\n"
        "repo = Repo(sys.argv[1])\n"
        "with Index.open(sys.argv[2], 20) as index: assert index.catch_up(repo, None)\n"
        "repo.close()"
    )
    command = [sys.executable, "-c", code, str(scope.root), str(scope.cache)]
    children = [subprocess.Popen(command) for _ in range(4)]
    assert [child.wait() for child in children] == [0, 0, 0, 0]
    assert counts(scope) == {"turns": 6, "conversations": 1, "documents": 0, "commits": 6}
    assert len(look(scope, "parser")) == 6


def test_a_store_without_a_commit(tmp_path: Path) -> None:
    scope = Scope(tmp_path)
    scope.write("x.md", "walrus")
    assert look(scope, "walrus") == ["x.md"]
    shutil.rmtree(scope.root)
    assert look(scope, "walrus") == []


# -- text


def test_what_of_a_turn_is_indexed() -> None:
    lines = turn_lines(
        ADA, 1, "p" * 9000, "a" * 9000, tools=[("Bash", {"command": "make", "n": [1, True]}, "r" * 900)]
    )
    lines.append({"kind": "context", "text": "what was injected"})
    prompt, call, result, answer = turn_text(lines).split("\n")
    assert (len(prompt), call, len(result), len(answer)) == (4000, "Bash make 1", 500, 4000)


@pytest.mark.parametrize(
    "stamp",
    [
        "2026-11-29T20:41:07.123+01:00",
        "2024-02-29T23:59:59-05:30",
        "2000-03-01T00:00:00+00:00",
        "1999-12-31T23:59:59.999+14:00",
        "2100-03-01T00:00:00Z",
    ],
)
def test_seconds_are_those_of_the_calendar(stamp: str) -> None:
    assert turns.seconds(stamp) == pytest.approx(datetime.fromisoformat(stamp).timestamp())


@pytest.mark.parametrize("stamp", ["", "yesterday", "2026-11-29"])
def test_a_time_that_is_none(stamp: str) -> None:
    assert turns.seconds(stamp) == 0.0


def test_a_text_that_cannot_be_unpacked_has_the_index_made_anew(scope: Scope) -> None:
    scope.land(ADA, 1, "parser")
    look(scope, "parser")
    with sqlite3.connect(scope.cache) as db:
        db.execute("UPDATE body SET packed = x'00'")
    assert [named(hit) for hit in search(scope.store, "parser")] == ["1#1"]


def test_texts_come_back_as_they_were_put_in_the_order_asked_for(tmp_path: Path) -> None:
    with Index.open(str(tmp_path / "index.sqlite")) as index:
        for id, text in ((1, "plain"), (2, "größer, 修复, \ud800"), (-1, "")):
            index.put_text(id, text)
        assert list(index.texts([2, 7, -1, 1]).items()) == [
            (2, "größer, 修复, \ufffd"),
            (-1, ""),
            (1, "plain"),
        ]
