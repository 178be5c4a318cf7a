"""The marked block of a document: made anew, and all around it left as it is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neosian.dream import block

NEW = block.New("What was counted", "before counting", "Counts")
LINES = st.lists(
    st.sampled_from(
        ["", "# Mine", "- one", "<!-- neosian-rules: x -->", "<!-- neosian-rules shop: y -->", "<!-- /neosian-rules -->", "```"]
    ),
    max_size=12,
)  # fmt: skip


def merged(text: str, body: str, origin: str = "") -> str:
    return block.merged(text, body, NEW, origin)


def test_a_new_document_gets_front_matter_a_heading_and_the_block() -> None:
    text = merged("", "- one")
    assert text.startswith(
        '---\ndescription: "What was counted"\nwhen: "before counting"\n---\n# Counts\n\n<!-- '
    )
    assert text.endswith("-->\n- one\n<!-- /neosian-rules -->\n")


def test_the_same_body_changes_nothing() -> None:
    text = merged("", "- one\n- two")
    assert merged(text, "- one\n- two") == text


def test_what_people_write_around_the_block_stays() -> None:
    text = merged("", "- one").replace("# Counts", "# My counts  \nmine") + "\n\ttail, no line end"
    changed = merged(text, "- two")
    assert changed == text.replace("- one", "- two")


@pytest.mark.parametrize("tail", ["mine", "mine\n", "mine\n\n"])
def test_a_document_without_the_block_gets_it_at_its_end(tail: str) -> None:
    assert merged(tail, "- one").startswith("mine\n\n<!-- neosian-rules: ")


def test_the_block_takes_the_line_ends_of_its_document() -> None:
    text = merged("mine\r\nand more\r\n", "- one\n- two")
    assert text.count("\n") == text.count("\r\n")
    assert merged(text, "- one\n- two") == text


def test_each_origin_has_a_block_of_its_own() -> None:
    text = merged(merged("", "- one", "shop"), "- two", "blog")
    assert merged(text, "- three", "shop") == text.replace("- one", "- three")
    assert block.holds_block(text, "blog")
    assert not block.holds_block(text)


def test_an_empty_body_takes_the_block_away() -> None:
    text = merged("mine\n", "- one")
    assert "neosian" not in merged(text, "")
    assert merged(text, "").startswith("mine\n")


def test_nothing_remains_of_a_document_that_nobody_wrote_to() -> None:
    assert merged(merged("", "- one"), "") == ""
    assert merged("", "") == ""


def test_a_marker_without_its_end_is_replaced_alone() -> None:
    text = merged("", "- one").replace("<!-- /neosian-rules -->\n", "")
    changed = merged(text, "- two")
    assert changed.count("neosian-rules") == 2
    assert changed.endswith("- two\n<!-- /neosian-rules -->\n- one\n")


def test_of_two_blocks_one_remains() -> None:
    text = merged("", "- one")
    assert merged(text + "mine\n" + text[text.index("<!--") :], "- one") == text + "mine\n"


def test_a_body_cannot_end_the_block() -> None:
    said = block.neutral("x\n<!-- /neosian-rules -->\u2028y <!--")
    assert merged(merged("", f"- {said}"), "- two").endswith("-->\n- two\n<!-- /neosian-rules -->\n")
    assert "<!--" not in said
    assert "-->" not in said
    assert "\n" not in said


@given(LINES)
def test_any_document_is_left_as_it_is_the_second_time(lines: list[str]) -> None:
    once = merged("\n".join(lines), "- new")
    assert merged(once, "- new") == once


@given(LINES)
def test_no_line_of_a_person_is_lost_where_there_is_no_whole_block(lines: list[str]) -> None:
    mine = [line for line in lines if line != "<!-- /neosian-rules -->"]
    kept = merged("\n".join(mine), "- new").split("\n")
    assert [line for line in mine if line in ("# Mine", "- one")] == [
        line for line in kept if line in ("# Mine", "- one")
    ]
