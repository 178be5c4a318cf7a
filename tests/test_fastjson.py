"""JSON as Python has it, also in a process that has not loaded `json`."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from neosian import fastjson

BAD = [
    "", "  ", "{", "[1", "nul", "[1] x", '{"a":1,}', '{"a" 1}', '"\n"', '"\\x"', "\ufeff[1]", "[1]\x0b", "[" * 100_000,
    b"\xff", b"\0",
]  # fmt: skip


def answer(function: Any, *given: Any, **options: Any) -> tuple[str, str]:
    """What comes of a call: the value as Python writes it, or the error."""
    try:
        return "", repr(function(*given, **options))
    except (ValueError, TypeError, RecursionError) as error:
        return type(error).__name__, str(error)


@pytest.fixture(params=[True, False], ids=["private parts", "json itself"])
def either(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fastjson, "_IS_USABLE", request.param)


def test_the_private_parts_are_there_in_this_python() -> None:
    assert fastjson._IS_USABLE


@pytest.mark.parametrize(
    "text",
    [
        '{"a": [1, 2.5, null, true], "b": {}}', " [1]\r\n", "NaN", "-Infinity", '"\\ud83d\\ude00 é"', '"\\ud800"', "1e400",
        b'"\xc3\xa9"', b'"\xed\xa0\x80"', b"\xef\xbb\xbf[1]", "[1]".encode("utf-16"), "1" * 5000, *BAD,
    ],
)  # fmt: skip
@pytest.mark.usefixtures("either")
def test_a_text_is_read_as_json_reads_it(text: str | bytes) -> None:
    assert answer(fastjson.loads, text) == answer(json.loads, text)


def test_options_of_reading() -> None:
    assert fastjson.loads('["a\nb", 12]', strict=False, parse_int=str) == ["a\nb", "12"]


@pytest.mark.parametrize(
    "value", [{"b": "é\u2028\x7f\ud800", "a": [1, 1.5, None]}, "x", 1.0, [], {1: (2,)}, object()]
)
@pytest.mark.parametrize(
    "options",
    [
        {}, {"ensure_ascii": False}, {"separators": (",", ":")}, {"default": lambda value: "other"}, {"allow_nan": False},
    ],
)  # fmt: skip
@pytest.mark.usefixtures("either")
def test_a_value_is_written_as_json_writes_it(value: object, options: dict[str, Any]) -> None:
    assert answer(fastjson.dumps, value, **options) == answer(json.dumps, value, **options)


@pytest.mark.usefixtures("either")
def test_keys_are_sorted_and_numbers_that_json_lacks_are_refused_when_asked() -> None:
    assert fastjson.dumps({"b": 1, "a": 2}, sort_keys=True) == '{"a": 2, "b": 1}'
    with pytest.raises(ValueError, match="JSON compliant"):
        fastjson.dumps(float("nan"), allow_nan=False)


@pytest.mark.usefixtures("either")
def test_a_value_in_itself_is_refused() -> None:
    round_and_round: list[object] = []
    round_and_round.append(round_and_round)
    with pytest.raises(ValueError, match="Circular"):
        fastjson.dumps(round_and_round)


@pytest.mark.parametrize("text", [text for text in BAD if isinstance(text, str) and len(text) < 100])
def test_errors_are_those_of_json_where_it_was_never_imported(text: str) -> None:
    program = (
        f"import sys; sys.path.insert(0, {str(Path(fastjson.__file__).parents[1])!r}); from neosian import fastjson\n"
        "assert fastjson.loads('[1]') == [1] and 'json' not in sys.modules and 're' not in sys.modules\n"
        f"try: fastjson.loads({text!r})\n"
        "except ValueError as error: print(type(error).__name__, error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.rstrip("\n") == " ".join(answer(json.loads, text))
