"""For each line of a document who wrote it, and the turns it came of with their prompts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from neosian import why
from neosian.errors import UsageError
from tests.scopes import ADA, BOB, NOW, Scope

AGENT = "codex <codex@neosian.invalid>"


@pytest.fixture
def scope(tmp_path: Path) -> Iterator[Scope]:
    scope = Scope(tmp_path)
    yield scope
    scope.store.repo.close()


def write(scope: Scope, text: str, trailers: str = "", author: str = "Ada Person <ada@example.org>") -> str:
    scope.write("a.md", text)
    return scope.commit(f"Write it\n\n{trailers}", author=author)


def sources(passage: why.Passage) -> list[tuple[str, int | None, str]]:
    return [(each.conversation, each.turn, each.prompt) for each in passage.sources]


def test_lines_of_one_commit_are_one_passage(scope: Scope) -> None:
    first = write(scope, "one\ntwo\nthree\nfour\n")
    second = write(scope, "one\ntwo\n3\nfour\n")
    scope.write("a.md", "one\ntwo\n3\nfour\nfive\nsix\n")
    found = why.explain(scope.store, "a.md")
    assert [(each.first, each.lines, each.commit and each.commit.id) for each in found] == [
        (1, ["one", "two"], first), (3, ["3"], second), (4, ["four"], first), (5, ["five", "six"], None),
    ]  # fmt: skip


def test_every_turn_that_a_commit_names_is_told_with_its_prompt(scope: Scope) -> None:
    scope.land(ADA, 1, "Never deploy on\na Friday")
    scope.land(BOB, 2, "And why not?")
    said = f"Neosian-Actor: dream\nSource: {ADA}#1\nSource: {BOB}#2\nSource: {ADA}#1\nSource: gone#7\nSource: {BOB}"
    write(scope, "No Fridays.\n", said, "dream <dream@neosian.invalid>")
    (passage,) = why.explain(scope.store, "a.md")
    assert sources(passage) == [
        (ADA, 1, "Never deploy on a Friday"), (BOB, 2, "And why not?"), ("gone", 7, ""), (BOB, None, ""),
    ]  # fmt: skip
    assert passage.commit is not None
    assert (passage.commit.actor, passage.commit.client) == ("dream", "dream")


@pytest.mark.parametrize(
    ("trailers", "client"),
    [
        (f"Conversation: {ADA}\nTurn: 1\nClient: claude-code", "claude-code"),
        (f"Neosian-Actor: codex:{ADA}#1", "codex"),
    ],
)
def test_without_sources_the_commit_s_own_turn_stands_for_them(
    trailers: str, client: str, scope: Scope
) -> None:
    scope.land(ADA, 1, "Remember it")
    write(scope, "x\n", trailers, AGENT)
    (passage,) = why.explain(scope.store, "a.md")
    assert sources(passage) == [(ADA, 1, "Remember it")]
    assert passage.commit is not None
    assert passage.commit.client == client


def test_a_conversation_alone_means_the_turn_that_ran_then(scope: Scope) -> None:
    scope.land(ADA, 1, "Look around", at=NOW - 600)
    scope.land(ADA, 2, "Save that", at=NOW)
    scope.write("a.md", "saved\n")
    scope.commit(f"Create a.md\n\nConversation: {ADA}\nClient: claude-code", author=AGENT, at=NOW)
    (passage,) = why.explain(scope.store, "a.md")
    assert sources(passage) == [(ADA, 2, "Save that")]
    scope.write("a.md", "later\n")
    scope.commit(f"Edit a.md\n\nConversation: {ADA}\nClient: claude-code", author=AGENT, at=NOW + 600)
    (passage,) = why.explain(scope.store, "a.md")
    assert sources(passage) == [(ADA, None, "")]


def test_a_person_s_lines_have_neither_client_nor_source(scope: Scope) -> None:
    write(scope, "x\n")
    (passage,) = why.explain(scope.store, "a.md")
    assert passage.commit is not None
    assert (passage.commit.actor, passage.commit.client, passage.sources) == ("Ada Person", "", [])


def test_a_turn_of_another_scope_is_read_there(scope: Scope, tmp_path: Path) -> None:
    other = Scope(tmp_path, "user:ada")
    other.land(ADA, 1, "Remember it")
    write(scope, "x\n", f"Source: {ADA}#1")
    (passage,) = why.explain(scope.store, "a.md", 1, [scope.store, other.store])
    assert sources(passage) == [(ADA, 1, "Remember it")]
    other.store.repo.close()


def test_one_line_alone(scope: Scope) -> None:
    write(scope, "one\ntwo\n")
    (passage,) = why.explain(scope.store, "a.md", 2)
    assert (passage.first, passage.lines) == (2, ["two"])


@pytest.mark.parametrize("line", [0, 3, 10**8])
def test_a_line_that_is_not_there(line: int, scope: Scope) -> None:
    write(scope, "one\ntwo\n")
    with pytest.raises(UsageError, match=f"a.md has 2 lines; there is no line {line}"):
        why.explain(scope.store, "a.md", line)


def test_an_empty_document_has_no_passage(scope: Scope) -> None:
    write(scope, "")
    assert why.explain(scope.store, "a.md") == []
