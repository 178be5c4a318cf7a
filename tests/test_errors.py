"""What is added to a sentence about a word that nothing is called by."""

from __future__ import annotations

import pytest

from neosian.errors import did_you_mean

KNOWN = ("capture", "ignore", "silence", "start")


@pytest.mark.parametrize(
    ("word", "near"),
    [
        ("captrue", "capture"),
        ("ignor", "ignore"),
        ("Capture", "capture"),
        ("slience", "silence"),
        ("strat", "start"),
    ],
)
def test_the_nearest_name_is_asked_for(word: str, near: str) -> None:
    assert did_you_mean(word, KNOWN) == f" Did you mean {near}?"


@pytest.mark.parametrize("word", ["", "x", "budget", "start_of_it_all"])
def test_what_is_near_to_nothing_brings_no_question(word: str) -> None:
    assert did_you_mean(word, KNOWN) == ""


def test_where_nothing_is_known_nothing_is_asked() -> None:
    assert did_you_mean("capture", ()) == ""
