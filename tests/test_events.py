"""`Event` and `Spooled`: light enough for the hook, safe to have many of."""

from __future__ import annotations

import pytest

from neosian.events import Event, Spooled


def test_an_event_holds_no_more_than_its_fields() -> None:
    event = Event(client="c", session="s", name="Stop", kind="stop", at=1.0, data={}, spooled="f")
    with pytest.raises(AttributeError):
        event.other = 1  # type: ignore[attr-defined]


def test_marks_are_never_shared() -> None:
    one, other = (Spooled(name=name, client="c", at=0.0) for name in "ab")
    one.marks["CLAUDE_PROJECT_DIR"] = "/x"
    assert other.marks == {}


def test_an_event_shows_what_it_is() -> None:
    event = Event(client="c", session="s1", name="Stop", kind="stop", at=1.0, data={}, spooled="file")
    assert repr(event) == "<Event Stop s1 - file>"
