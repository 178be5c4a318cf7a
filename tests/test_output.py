"""What reaches a terminal: aligned, UTF-8, and nothing that the terminal would obey."""

from __future__ import annotations

import io
import json
import os
import pty
import subprocess
import sys
import termios

import pytest

from neosian import output


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        ("plain\ttext\nnext", "plain\ttext\nnext"),
        ("\x1b[31mred\x1b[0m", "�[31mred�[0m"),
        ("\x1b]0;title\x07", "�]0;title�"),
        ("one\r\ntwo", "one\ntwo"),
        ("over\rwritten", "over�written"),
        ("\x9b31m", "�31m"),
        ("half \udc88", "half �"),
        ("a\0b", "a�b"),
        ("日本語 🎉", "日本語 🎉"),
    ],
)
def test_what_a_terminal_would_obey_is_shown_instead(words: str, shown: str) -> None:
    assert output.printable(words) == shown


def test_columns_are_aligned_and_the_last_is_not_padded() -> None:
    rows = [("a", "long cell", "x"), ("bbb", "c", "")]
    assert output.table(rows, ("n", "what", "end")).splitlines() == [
        "n    what       end",
        "a    long cell  x",
        "bbb  c",
    ]


def test_wide_and_combining_letters_are_aligned_by_what_they_take() -> None:
    rows = output.table([("日本", "1"), ("e\u0301te\u0301", "2"), ("abcd", "3")]).splitlines()
    assert rows == ["日本  1", "e\u0301te\u0301   2", "abcd  3"]


def test_a_cell_stays_in_its_row() -> None:
    assert output.table([("one\ntwo", "x")]) == "one two  x"


def test_a_table_without_rows_is_empty() -> None:
    assert output.table([]) == ""


def test_json_is_one_line_of_real_letters(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    output.as_json({"text": "naïve 日本\n", "half": "\udc88"})
    out = capfdbinary.readouterr().out
    assert out.count(b"\n") == 1
    assert "naïve 日本".encode() in out
    assert json.loads(out) == {"text": "naïve 日本\n", "half": "?"}


@pytest.mark.parametrize("char", ["\x9b", "\x85", "\x7f", "\u202e", "\u2066", "\u200f", "\x1b", "\0"])
def test_json_spells_out_what_a_terminal_would_obey(
    char: str, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    output.as_json({f"k{char}": f"a{char}b"})
    out = capfdbinary.readouterr().out.decode()
    assert char not in out
    assert json.loads(out) == {f"k{char}": f"a{char}b"}


@pytest.mark.parametrize("char", ["\u202e", "\u2067", "\u200e", "\x9b"])
def test_no_text_turns_the_direction_of_what_follows(
    char: str, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    output.text(f"a{char}b")
    assert capfdbinary.readouterr().out.decode() == "a\N{REPLACEMENT CHARACTER}b\n"


def test_text_is_utf_8_whatever_the_terminal_says(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr(sys, "stdout", stream)
    output.text("café")
    assert stream.buffer.getvalue() == "café\n".encode()


def test_a_stdout_without_bytes_is_written_to_as_text(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stdout", stream)
    output.text("café")
    assert stream.getvalue() == "café\n"


def test_a_note_stands_beside_the_result(capsys: pytest.CaptureFixture[str]) -> None:
    output.note("by the way\x1b")
    assert capsys.readouterr() == ("", "by the way�\n")


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(0, "just now"), (59, "just now"), (60, "1 min ago"), (7199, "1 h ago"), (200_000, "2 d ago")],
)
def test_an_age_is_told_in_its_largest_unit(seconds: float, said: str) -> None:
    assert output.ago(seconds) == said


def test_a_free_text_is_cut_to_the_terminal_and_whole_without_one() -> None:
    code = "from neosian import output; output.text(output.table([('a', 'x' * 200), ('b', '日' * 80)], free=True))"
    plain = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.splitlines()
    assert [output.width(line) for line in plain] == [203, 163]
    main, side = pty.openpty()
    termios.tcsetwinsize(side, (24, 60))
    subprocess.run([sys.executable, "-c", code], stdout=side, check=True)
    cut = os.read(main, 1 << 16).decode().splitlines()
    assert [(output.width(line), line[-1]) for line in cut] == [(60, "…"), (60, "…")]


@pytest.mark.parametrize(
    ("words", "room", "lines"),
    [
        ("one two three", 20, ["one two three"]),
        ("one two three", 7, ["one two", "three"]),
        ("一二三四五六", 5, ["一二", "三四", "五六"]),
        ("a 一二三", 6, ["a", "一二三"]),
        ("abcdefgh ij", 4, ["abcd", "efgh", "ij"]),
        ("", 4, [""]),
    ],
)
def test_a_line_is_ended_between_words(words: str, room: int, lines: list[str]) -> None:
    assert output.wrapped(words, room) == lines


def test_what_is_said_of_a_name_stands_beside_it() -> None:
    rows = [("id", "7"), ("reason", "because\nof that"), ("", "and\x1bthis")]
    assert output.fields(rows) == "  id      7\n  reason  because\n          of that\n          and�this"
    assert output.fields([]) == ""


def test_the_line_ends_of_a_difference_are_shown_where_they_differ(
    capsys: pytest.CaptureFixture[str],
) -> None:
    output.diff("@@ -1,2 +1,2 @@\n-one\r\n+one\n two\r\n")
    output.diff("@@ -1 +1 @@\n-one\r\n+two\r\n")
    assert capsys.readouterr().out == "@@ -1,2 +1,2 @@\n-one␍\n+one\n two␍\n@@ -1 +1 @@\n-one\n+two\n"


@pytest.mark.parametrize(
    ("words", "room", "kept"),
    [("abc", 3, "abc"), ("abcd", 3, "ab…"), ("ab  cd", 5, "ab…"), ("日本語", 4, "日…"), ("", 3, "")],
)
def test_a_text_is_cut_by_columns(words: str, room: int, kept: str) -> None:
    assert output.cut(words, room) == kept
