"""What a model answers, in whatever shape, read as edits; and what cannot be read said in a sentence."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neosian.dream import edits
from neosian.dream.edits import Edit, parse

NOTE = '---\ndescription: "How we deploy"\n---\nOn Tuesdays.\n'
PATH = "/project/tools/deploy.md"
ASKED: dict[str, Any] = {
    "action": "create", "path": PATH, "text": NOTE, "reason": "it was said", "sources": ["s-1#3"],
}  # fmt: skip
MEANT = Edit("create", PATH, text=NOTE, reason="it was said", sources=("s-1#3",))


def read(**fields: object) -> Edit:
    """The one edit that these fields are."""
    found, problems = parse({"edits": [{"path": PATH, **fields}]})
    assert problems == []
    return found[0]


def problem(**fields: object) -> str:
    """What is wrong with the one edit that these fields are."""
    found, (said,) = parse({"edits": [fields]})
    assert found == []
    return said


WHOLE = json.dumps({"edits": [ASKED]})
SHAPES: dict[str, object] = {
    "a tool's input": {"edits": [ASKED]},
    "a list": [ASKED],
    "one edit": ASKED,
    "a call": {"type": "tool_use", "name": "remember", "input": {"edits": [ASKED]}},
    "a list in a text in an object": {"edits": json.dumps([ASKED])},
    "a text": WHOLE,
    "a code fence": f"```json\n{WHOLE}\n```",
    "chat around it": f"I looked at {{everything}} and foo[] too.\n\n```\n{WHOLE}\n```\nThat is [all].",
    "a draft before it": f'First {{"edits": []}}, or rather:\n{WHOLE}',
    "nothing behind it": f'{WHOLE}\nAnything else? {{"edits": []}}',
    "line ends as they are in strings": WHOLE.replace("\\n", "\n"),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_edits_are_found_in_whatever_shape_they_come(shape: str) -> None:
    assert parse(SHAPES[shape]) == ([MEANT], [])


@pytest.mark.parametrize("said", [{"edits": []}, [], "[]", 'Nothing lasts.\n```json\n{"edits": []}\n```'])
def test_nothing_to_remember_is_no_problem(said: object) -> None:
    assert parse(said) == ([], [])


@pytest.mark.parametrize(
    "said", [None, 7, "", "I could not do it, foo[] is empty.", "{}", {"a": 1}, ["x"], b"[]"]
)
def test_an_answer_without_edits_is_one_problem(said: object) -> None:
    found, (sentence,) = parse(said)
    assert found == []
    assert "no edits" in sentence


@pytest.mark.parametrize("cut", range(2, len(WHOLE), 7))
def test_an_answer_that_was_cut_off_is_never_used_half(cut: int) -> None:
    two = json.dumps({"edits": [ASKED, ASKED]})
    assert parse(two[: len(two) - cut])[0] == []


VERBS = [
    ("upsert", {"content": NOTE}, ("rewrite", NOTE, "", "")),
    ("write", {"file_text": NOTE}, ("rewrite", NOTE, "", "")),
    ("update", {"text": NOTE}, ("rewrite", NOTE, "", "")),
    ("Update", {"old_str": "a", "new_str": "b"}, ("str_replace", "", "a", "b")),
    ("replace", {"find": "a", "replacement": "b"}, ("str_replace", "", "a", "b")),
    ("str-replace", {"old_string": "a", "new_string": ""}, ("str_replace", "", "a", "")),
    ("add", {"text": NOTE}, ("create", NOTE, "", "")),
    ("new", {"body": NOTE}, ("create", NOTE, "", "")),
    ("insert", {"insert_line": 4, "insert_text": "More."}, ("str_replace", "", "", "More.")),
    ("append", {"content": "More."}, ("str_replace", "", "", "More.")),
    ("remove", {"text": "left over"}, ("delete", "", "", "")),
    ("", {"old": "a", "new": "b"}, ("str_replace", "", "a", "b")),
    ("", {"text": NOTE}, ("rewrite", NOTE, "", "")),
]  # fmt: skip


@pytest.mark.parametrize(("verb", "fields", "meant"), VERBS)
def test_other_words_for_our_verbs_are_understood(
    verb: str, fields: dict[str, object], meant: tuple[str, ...]
) -> None:
    found = read(action=verb, **fields)
    assert (found.action, found.text, found.old, found.new) == meant


def test_a_renaming_has_both_its_paths() -> None:
    assert parse([{"op": "move", "from": PATH, "to": "/project/x.md"}])[0] == [
        Edit("rename", PATH, new_path="/project/x.md")
    ]


@pytest.mark.parametrize(
    "said", [["s-1#3", "s-1#4"], "s-1#3, s-1#4", [{"conversation": "s-1", "turn": 3}, "`s-1#4`", "s-1#3"]]
)
def test_sources_are_listed_in_many_ways(said: object) -> None:
    assert read(action="delete", sources=said).sources == ("s-1#3", "s-1#4")


def test_text_is_made_fit_to_be_written() -> None:
    assert read(action="create", text="\ufeffa\r\nb\ud800").text == "a\nb\ufffd"


WRONG = [
    ({"action": "frobnicate", "path": PATH}, "'frobnicate' is no action"),
    ({"action": "create", "text": NOTE}, "needs the path"),
    ({"action": "create", "path": PATH}, "needs the whole note"),
    ({"action": "rename", "path": PATH}, "needs new_path"),
    ({"action": "delete", "path": ["a"]}, "path must be a text"),
    ({"path": PATH}, "names no action"),
]


@pytest.mark.parametrize(("fields", "said"), WRONG)
def test_an_edit_that_cannot_be_read_is_named(fields: dict[str, object], said: str) -> None:
    assert problem(**fields).startswith("Edit 1: ")
    assert said in problem(**fields)


def test_one_bad_edit_does_not_take_the_others_with_it() -> None:
    found, problems = parse({"edits": [{"action": "create"}, ASKED, 7]})
    assert (found, len(problems)) == ([MEANT], 2)


def test_thousands_of_bad_edits_are_a_few_sentences() -> None:
    found, problems = parse({"edits": [ASKED, *[{"action": "create"}] * 4000]})
    assert (len(found), len(problems), problems[-1]) == (1, 21, "3980 more edits cannot be read.")


def test_an_edit_as_json_reads_back_the_same() -> None:
    assert parse(json.loads(json.dumps([MEANT.json()])))[0] == [MEANT]


def test_the_schema_keeps_to_what_every_provider_takes() -> None:
    said = json.dumps(edits.SCHEMA)
    assert edits.SCHEMA["type"] == "object"
    assert not {"anyOf", "oneOf", "allOf", "$ref", "null"} & set(said.replace('"', " ").split())


ANYTHING = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.sampled_from([PATH, "create", "edits", "s#1"]),
    lambda inner: (
        st.lists(inner)
        | st.dictionaries(
            st.sampled_from(["edits", "input", "path", "action", "text", "old", "sources", "turn"])
            | st.text(),
            inner,
        )
    ),
    max_leaves=20,
)


@given(ANYTHING)
def test_nothing_that_is_said_raises(said: object) -> None:
    for shape in (said, json.dumps(said), f"```{said}", {"edits": said}, [said]):
        found, problems = parse(shape)
        assert all(isinstance(edit, Edit) and edit.action in edits.ACTIONS for edit in found)
        assert all(isinstance(each, str) for each in problems)


@pytest.mark.parametrize(
    "said", ["[" * 100_000, "{" * 100_000, '{"a":' * 100_000, '{"a":"' * 100_000, "```\n" * 100_000]
)
def test_hostile_text_is_read_in_bounded_time(said: str) -> None:
    assert parse(said)[0] == []
