"""Front matter as YAML: what can be read is read, what cannot is told with its line, and nothing is ever run."""

from __future__ import annotations

import datetime
import json
import string
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neosian import matter

ALIASES = "a: &a [x, x]\n" + "".join(
    f"{name}: &{name} [{', '.join([f'*{before}'] * 9)}]\n"
    for before, name in zip("abcdefgh", "bcdefghi", strict=True)
)


@pytest.mark.parametrize(
    ("header", "values"),
    [
        ("", {}),
        ("# a comment only\n", {}),
        ("title: Deploy\npinned: true\n", {"title": "Deploy", "pinned": True}),
        ("\ufefftitle: Deploy\r\nname: x\r\n", {"title": "Deploy", "name": "x"}),
        ("expires: 2026-11-29\n", {"expires": datetime.date(2026, 11, 29)}),
        ("tags: [a, b]\nmore:\n  deep: 1\n", {"tags": ["a", "b"], "more": {"deep": 1}}),
        ("text: |\n  one\n  two\n", {"text": "one\ntwo\n"}),
        ("a: &x {k: 1}\nb:\n  <<: *x\n", {"a": {"k": 1}, "b": {"k": 1}}),
        ("1: one\n~: none\n", {"1": "one", "None": "none"}),
        ("título: 日本語 🎉\n", {"título": "日本語 🎉"}),
    ],
)
def test_values_have_the_types_of_yaml(header: str, values: dict[str, Any]) -> None:
    assert matter.read(header) == (values, "")


@pytest.mark.parametrize(
    ("header", "line", "said"),
    [
        ("title: Use a: b\n", 2, "mapping values are not allowed"),
        ("title: x\n  name: y\n", 3, "mapping values are not allowed"),
        ("title:\n\tname: y\n", 3, "cannot start any token"),
        ("title: x\nwhen: @home\n", 3, "cannot start any token"),
        ("title: 'x\n", 2, "unexpected end of stream"),
        ("tags: [a, b\n", 2, "did not find expected"),
        ("a: 1\nb: *nothing\n", 3, "undefined alias"),
        ("a: \x01\n", 2, "unacceptable character"),
        ("one: é\ntwo: \x07\n", 3, "unacceptable character"),
        ("- a\n- b\n", 2, "no lines of the form `key: value`"),
        ("just text\n", 2, "no lines of the form `key: value`"),
        ("a: 1\n--- b\n", 3, "another document"),
        ("a: \ud800\n", 2, "surrogates"),
    ],
)
def test_what_is_no_yaml_is_told_with_its_line(header: str, line: int, said: str) -> None:
    values, problem = matter.read(header)
    assert values == {}
    assert problem.startswith(f"line {line}: ")
    assert said in problem
    assert "\n" not in problem


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("2026-02-30", "day is out of range"),
        ("2026-11-29T99:00:00Z", "hour must be in"),
        ("9" * 5000, "Exceeds the limit"),
        ("!!int x", "invalid literal"),
        ("!!timestamp x", "this value cannot be read"),
        ("!!binary x=", "base64"),
        ("!ansible secret", "could not determine a constructor"),
        ("!!python/object/apply:os._exit [1]", "could not determine a constructor"),
        ("!!python/name:os.system", "could not determine a constructor"),
    ],
)
def test_a_value_that_cannot_be_read_is_told_and_the_others_are_there(value: str, said: str) -> None:
    values, problem = matter.read(f"title: Deploy\nbad: {value}\nname: x\n")
    assert values == {"title": "Deploy", "name": "x"}
    assert problem.startswith("line 3: ")
    assert said in problem


def test_of_a_key_that_stands_twice_the_last_counts_and_it_is_told() -> None:
    assert matter.read("title: a\nname: x\ntitle: b\n") == (
        {"title": "b", "name": "x"}, "line 4: the key 'title' stands here a second time",
    )  # fmt: skip
    assert matter.read("title: a\nmore: {title: b}\n")[1] == ""


@pytest.mark.parametrize(
    ("header", "said"),
    [
        ("[" * 60_000, "nesting depth"),
        ("a: " + "[" * 60 + "]" * 60, "more than 50 levels"),
        ("{a: " * 10_000, "more than 50 levels"),
        ("- " * 30_000, "more than 50 levels"),
        (ALIASES, "more than 20 aliases"),
        ("a: &a [*a]\n", "inside of what it stands for"),
        ("a: &a {b: {c: *a}}\n", "inside of what it stands for"),
        ("a: " + "x" * 5_000_000, "5,000,003 characters long"),
    ],
)
def test_what_would_take_memory_or_time_without_end_is_refused(header: str, said: str) -> None:
    values, problem = matter.read(header)
    assert values == {}
    assert said in problem


@given(st.text(alphabet=string.printable + "é\x85\u2028\ufeff\x00", max_size=80) | st.text(max_size=80))
def test_any_text_is_read_without_an_error(header: str) -> None:
    values, problem = matter.read(header)
    assert all(isinstance(key, str) for key in values)
    assert "\n" not in problem
    json.dumps(values, default=str)
