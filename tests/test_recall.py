"""Search finds what is there by any string; a turn is read again whole, from git, at any revision."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from neosian import conversations, recall
from neosian.conversations import split
from neosian.errors import BusyError, NeosianError
from neosian.index import Index
from neosian.recall import Hit, search, search_mounts, snippet
from neosian.scope import disk_name
from tests.scopes import ADA, BOB, NOW, Scope, turn_lines

SAID = (
    "Why does the tokenizer fail on empty input?",
    "Please run git commit --no-verify once",
    "rename parseHeaderLines in src/mail_parser.py",
    "修复登录页面的bug，然后部署",
    "naïve café résumé handling",
    "what does && mean, and 🎉?",
    "authentication of the deploy user",
    "Привет, обнови зависимости",
    "to be or not to be",
    "한국어 문서를 고쳐줘",
)


@pytest.fixture(scope="module")
def spoken(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scope]:
    """One conversation in which `SAID` was said, a turn each."""
    scope = Scope(tmp_path_factory.mktemp("spoken"))
    lines = [
        line
        for n, text in enumerate(SAID, 1)
        for line in turn_lines(ADA, n, text, f"Answer number {n}.", at=NOW + n)
    ]
    scope.append(scope.log(ADA), lines)
    scope.git("add", "-A")
    scope.git("-c", "user.name=x", "-c", "user.email=x@example.org", "commit", "-q", "-m", "all")
    yield scope
    scope.store.repo.close()


@pytest.fixture
def scope(tmp_path: Path) -> Iterator[Scope]:
    scope = Scope(tmp_path)
    yield scope
    scope.store.repo.close()


def numbers(hits: list[Hit]) -> list[int]:
    return [hit.turn for hit in hits]


# -- any string is a query


@pytest.mark.parametrize(
    ("query", "turn"),
    [
        ("tokenizer", 1),
        ("Why did the TOKENIZERS fail?", 1),
        ("tokenzier", 1),
        ("tokenize", 1),
        ("okeniz", 1),
        ("--no-verify", 2),
        ('"no verify" AND (', 2),
        ("parse header", 3),
        ("parseHeaderLines", 3),
        ("mail_parser", 3),
        ("src/mail_parser.py", 3),
        ("登录", 4),
        ("登", 4),
        ("面", 4),
        ("修复bug", 4),
        ("cafe", 5),
        ("NAÏVE", 5),
        ("&&", 6),
        ("🎉", 6),
        ("autentication", 7),
        ("привет", 8),
        ("to be or not", 9),
        ("문서", 10),
        ("tokenizer\0", 1),
        ("tokenizer* NEAR( ^", 1),
        ("tokenizer " * 2_000, 1),
        ("; DROP TABLE words; -- tokenizer", 1),
    ],
)
def test_the_text_is_found(spoken: Scope, query: str, turn: int) -> None:
    assert numbers(search(spoken.store, query))[:1] == [turn]


@pytest.mark.parametrize("query", ["", " ", "\0", '"', "'", "(", "*", "zzzzqqq", "\ud800", "a" * 10_000, "%"])
def test_no_query_is_an_error(spoken: Scope, query: str) -> None:
    assert search(spoken.store, query) == []


@pytest.mark.parametrize("find", [recall.find, recall.find_sure])
def test_an_index_that_is_being_written_is_busy_and_not_thrown_away(
    find: Callable[[Index, str], list[Hit]], scope: Scope
) -> None:
    scope.land(ADA, 1, "about the walrus script")
    with Index.open(str(scope.cache), patience=0.01) as index:
        index.catch_up(scope.store.repo)
        holder = sqlite3.connect(str(scope.cache), isolation_level=None)
        holder.execute("BEGIN EXCLUSIVE")
        with pytest.raises(BusyError, match="being written"):
            find(index, "the walrus script of the deploy")
        holder.execute("ROLLBACK")
        assert numbers(recall.find(index, "walrus")) == [1]


# -- ranking


def test_an_expired_document_ranks_below_all_others(scope: Scope) -> None:
    scope.write(
        "tools/old.md", "---\nexpires: 2020-01-01\n---\n# Walrus script\n\nwalrus script, walrus script\n"
    )
    scope.write(
        "tools/new.md", "---\nexpires: 2999-01-01\n---\nThe walrus, and many more words about other things.\n"
    )
    scope.land(ADA, 1, "walrus", "")
    hits = search_mounts([("/project", scope.store)], "walrus script")
    assert len(hits) == 3
    assert hits[-1].path == "/project/tools/old.md"


def test_a_document_outranks_a_turn_that_says_the_same(scope: Scope) -> None:
    scope.write("tools/deploy.md", "Deploy with the walrus script.")
    scope.land(ADA, 1, "Deploy with the walrus script.", "")
    scope.land(BOB, 1, "something else", "")
    assert [hit.kind for hit in search(scope.store, "walrus script")] == ["document", "turn"]


def test_a_turn_among_turns_on_the_matter_comes_first(scope: Scope) -> None:
    scope.land(BOB, 1, "about the walrus")
    for n in range(1, 4):
        scope.land(ADA, n, "about the walrus")
    for n in range(4, 9):
        scope.land(ADA, n, f"quite another thing {n}")
    first, *_, last = search(scope.store, "walrus")
    assert (first.conversation, first.turn, last.conversation) == (ADA, 2, BOB)


def test_a_session_with_more_on_the_matter_comes_first(scope: Scope) -> None:
    scope.land(ADA, 1, "about the walrus", at=NOW - 60)
    scope.land(ADA, 9, "about the walrus", at=NOW - 50)
    scope.land(BOB, 1, "about the walrus")
    scope.land(BOB, 2, "quite another thing")
    assert search(scope.store, "walrus")[-1].conversation == BOB


def test_words_side_by_side_count_more(scope: Scope) -> None:
    scope.land(ADA, 1, "the pipe was old and everything seemed broken here", "")
    scope.land(BOB, 1, "it says broken pipe and then everything seemed old", "")
    for n in range(2, 8):
        scope.land(ADA, n, f"filler {n}", "")
    assert search(scope.store, "broken pipe")[0].conversation == BOB


def test_common_words_are_dropped_while_rarer_are_left(scope: Scope, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recall, "_COMMON", 3)
    for n in range(1, 6):
        scope.land(ADA, n, f"error {n}")
    scope.land(ADA, 6, "a walrus error")
    assert numbers(search(scope.store, "walrus error")) == [6]
    assert sorted(numbers(search(scope.store, "error"))) == [1, 2, 3, 4, 5, 6]
    assert numbers(search(scope.store, "walrus error", conversation=ADA, since=NOW)) == [6]


def test_a_phrase_of_common_words_still_counts(scope: Scope, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recall, "_COMMON", 2)
    scope.land(ADA, 1, "walrus: the pipe is old and seems broken", "")
    scope.land(BOB, 1, "walrus: seems an old and broken pipe is the", "")
    for n in range(2, 8):
        scope.land(ADA, n, f"pipe {n} broken", "")
    assert search(scope.store, "walrus broken pipe")[0].conversation == BOB


def test_common_words_are_found_in_documents_too(scope: Scope, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recall, "_COMMON", 0)
    scope.land(ADA, 1, "a walrus script")
    scope.write("x.md", "walrus script")
    assert {hit.kind for hit in search(scope.store, "walrus script")} == {"turn", "document"}


def test_one_hit_for_a_document(scope: Scope) -> None:
    scope.write("x.md", "# One\nwalrus\n# Two\nwalrus walrus\n")
    (hit,) = search(scope.store, "walrus")
    assert hit.json() == {
        "kind": "document", "path": "x.md", "section": "Two", "score": hit.json()["score"],
        "snippet": "One Two walrus walrus",
    }  # fmt: skip


# -- filters


def test_filters(scope: Scope) -> None:
    scope.write("x.md", "walrus")
    scope.land(ADA, 1, "walrus", at=NOW - 900)
    scope.land(BOB, 1, "walrus", at=NOW)
    store = scope.store
    assert [hit.kind for hit in search(store, "walrus", kind="turn")] == ["turn", "turn"]
    assert [hit.path for hit in search(store, "walrus", kind="document")] == ["x.md"]
    assert [hit.conversation for hit in search(store, "walrus", conversation="1111")] == [ADA]
    assert [hit.conversation for hit in search(store, "walrus", kind="turn", since=NOW - 60)] == [BOB]
    assert len(search(store, "walrus", limit=1)) == 1
    with pytest.raises(NeosianError, match="named 'nobody'"):
        search(store, "walrus", conversation="nobody")


def test_mounts_are_searched_as_one(scope: Scope, tmp_path: Path) -> None:
    user = Scope(tmp_path, "user:ada")
    user.write("profile/me.md", "walrus")
    scope.land(ADA, 1, "walrus")
    mounts = [("/project", scope.store), ("/user", user.store)]
    assert {hit.path or hit.conversation for hit in recall.search_mounts(mounts, "walrus")} == {
        "/user/profile/me.md",
        ADA,
    }
    assert numbers(recall.search_mounts(mounts, "walrus", conversation=ADA)) == [1]
    with pytest.raises(NeosianError, match="nobody"):
        recall.search_mounts(mounts, "walrus", conversation="nobody")


def test_a_turn_hit_in_json(spoken: Scope) -> None:
    hit = search(spoken.store, "tokenizer")[0].json()
    assert (hit["kind"], hit["conversation"], hit["turn"]) == ("turn", ADA, 1)
    assert hit["snippet"] == "Why does the tokenizer fail on empty input? Answer number 1."
    assert set(hit) == {"kind", "conversation", "turn", "at", "score", "snippet", "client"}


def test_an_index_damaged_while_it_is_read(scope: Scope, monkeypatch: pytest.MonkeyPatch) -> None:
    scope.land(ADA, 1, "walrus")
    search(scope.store, "x")
    with Index.open(str(scope.cache)) as index:
        index.db.execute("UPDATE words_data SET block = x'ff' WHERE id > 1")
    assert numbers(search(scope.store, "walrus")) == [1]


def test_a_snippet_is_one_line_around_the_words() -> None:
    text = "filler " * 60 + "the walrus\n\tscript is here " + "filler " * 60
    line = snippet(text, ["walrus", "scripts"])
    assert "the walrus script is here" in line
    assert (line[0], line[-1], len(line) < 180) == ("…", "…", True)


def test_a_snippet_without_a_match_begins_at_the_beginning() -> None:
    assert snippet("one two", ["three"]) == "one two"


# -- reading again


@pytest.mark.parametrize(
    ("text", "parts"), [("abc#12", ("abc", 12)), ("abc", ("abc", None)), ("abc#x", ("abc#x", None))]
)
def test_split(text: str, parts: tuple[str, int | None]) -> None:
    assert split(text) == parts


@pytest.mark.parametrize("name", [ADA, "1111", f"claude-code:{ADA}", "claude-code:111"])
def test_a_turn_by_any_unique_name(scope: Scope, name: str) -> None:
    scope.land(ADA, 1, "first")
    scope.land(ADA, 2, "second", "answered", first=2)
    scope.land(BOB, 1, "other")
    turn = conversations.turn(scope.store.repo, name, 2)
    assert (turn.prompts, turn.answer) == (["second"], "answered")


def test_a_turn_as_it_was(scope: Scope) -> None:
    then = scope.land(ADA, 1, "build", "", state="interrupted")
    late = turn_lines(ADA, 1, "", "late answer")[2:]
    scope.append(scope.log(ADA), [{**line, "n": 9} for line in late])
    scope.commit()
    assert conversations.turn(scope.store.repo, ADA, 1).answer == "late answer"
    assert conversations.turn(scope.store.repo, ADA, 1, at=then).answer == ""
    assert not scope.cache.exists()


def test_all_turns_of_a_conversation(scope: Scope) -> None:
    for n in (1, 2, 3):
        scope.land(ADA, n, f"number {n}", first=n)
    assert [turn.number for turn in conversations.turns_of(scope.store.repo, ADA)] == [1, 2, 3]


@pytest.mark.parametrize(
    ("name", "n", "at", "said"),
    [
        (ADA, 7, None, "has turns 1 to 1; there is no turn 7"),
        ("nobody", 1, None, "No conversation here is named 'nobody'"),
        ("", 1, None, "No conversation here is named ''"),
        ("claude-code", 1, None, "names 2 conversations: claude-code:1111"),
        (ADA, 1, "nonsense", "No commit here is named 'nonsense'"),
        (ADA, 1, "--output=x", "No commit here is named '--output=x'"),
    ],
)
def test_an_error_says_what_there_is(scope: Scope, name: str, n: int, at: str | None, said: str) -> None:
    scope.land(ADA, 1, "first")
    scope.land(BOB, 1, "other")
    with pytest.raises(NeosianError, match=said) as error:
        conversations.turn(scope.store.repo, name, n, at)
    assert error.value.hint.startswith("neosian ")


def test_an_empty_scope_has_no_conversation(scope: Scope) -> None:
    with pytest.raises(NeosianError, match="No conversation"):
        conversations.turn(scope.store.repo, ADA, 1)


@pytest.mark.parametrize("id", ["../x y", "ABC-9", "a/b", "C:\\x", "CON", "x" * 300, ".git", "a#b"])
def test_an_id_that_is_no_file_name(scope: Scope, id: str) -> None:
    scope.append(scope.log(disk_name(id)), turn_lines(id, 1, "odd", "id"))
    scope.land(BOB, 1, "other")
    assert conversations.turn(scope.store.repo, id, 1).prompts == ["odd"]
    assert conversations.turn(scope.store.repo, f"claude-code:{id}", 1).prompts == ["odd"]


def test_sessions_of_a_store(scope: Scope) -> None:
    scope.land(ADA, 1, "first", at=NOW - 9)
    scope.land(BOB, 1, "second", at=NOW)
    assert [session.conversation for session in recall.sessions(scope.store)] == [BOB, ADA]
    assert len(recall.sessions(scope.store, 1)) == 1
