"""Payloads: bad bytes, and sizes that must not be held."""

from __future__ import annotations

import json
import mmap
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from neosian.payload import DEEPEST, Cut, PayloadError, compact, joined, length, loads, shallow

BIG = 2 << 20


def dumped(value: object, **options: Any) -> bytes:
    return json.dumps(value, **options).encode()


@pytest.mark.parametrize(
    ("raw", "why"),
    [
        (b"", "empty"),
        (b" \n", "empty"),
        (b"{", "property name"),
        (b"[]", "an array"),
        (b"null", "null"),
        (b"true", "true or false"),
        (b"1.5", "a number"),
        (b'"x"', "a string"),
        (b'{"a":1} x', "extra data"),
        (b'{"a":1}{"a":1}', "extra data"),
        (b'{"a":"never closed', "unterminated"),
        (b"\x00\x00", "expecting value"),
        (b"[" * 200_000, "nested too deeply"),
        (b'{"a":"' + b"x" * BIG, "never ends"),
        (b'{"a":"' + b"x" * BIG + b'\\"}', "never ends"),
        (b'{"a":"' + b"x" * BIG + b'",}', "property name"),
        (b'{"a":"' + b"\\u12" * BIG + b'"}', "an escape"),
        (b'{"a":"' + b"x" * BIG + b'\\q"}', "escape"),
    ],
)
def test_what_is_not_one_object_is_refused_with_a_sentence(raw: bytes, why: str) -> None:
    with pytest.raises(PayloadError, match=r"^The payload is not one JSON object: .*\.$") as refused:
        loads(raw)
    assert why in str(refused.value)


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        (b'{"t":"a\xffb"}', "a�b"),
        (b'{"t":"a\xe2\x82"}', "a�"),
        (rb'{"t":"x\udc88y"}', "x�y"),
        (rb'{"t":"x\ud83dy"}', "x�y"),
        (rb'{"t":"\ud83c\udf89"}', "🎉"),
        (rb'{"t":"\udf89\ud83c"}', "��"),
        (rb'{"t":"\\udc88"}', r"\udc88"),
        ('{"t":"日本語 🎉"}'.encode(), "日本語 🎉"),
        (b'\xef\xbb\xbf{"t":"bom"}', "bom"),
        (b'{"t":"raw\ttab\nline"}', "raw\ttab\nline"),
        (b'{"t":"\\u0000"}', "\0"),
    ],
)
def test_text_survives(raw: bytes, text: str) -> None:
    assert loads(raw) == {"t": text}


def test_lone_surrogates_in_names_and_lists_are_mended_too() -> None:
    assert loads(rb'{"\udc88":["\udc88",{"k":"\udc88"}]}') == {"�": ["�", {"k": "�"}]}


def test_numbers_that_python_or_json_refuses_are_no_error() -> None:
    value = loads(b'{"nan":NaN,"inf":1e999,"huge":' + b"9" * 5000 + b"}")
    assert value["nan"] != value["nan"]
    assert value["huge"] == "9" * 5000


def test_the_last_of_equal_names_counts() -> None:
    assert loads(b'{"a":1,"a":2}') == {"a": 2}


@pytest.mark.parametrize("unit", ["x", "é", "日", "🎉", "\n", '"', "\\", "\x01", "a\\nb", "日\\u0041\t🎉"])
@pytest.mark.parametrize("ascii_only", [True, False])
def test_a_long_string_is_cut_between_characters_and_tells_its_length(unit: str, ascii_only: bool) -> None:
    for shift in range(3):
        text = "s" * shift + unit * (BIG // len(unit.encode())) + "the end"
        cut = loads(dumped({"a": 1, "t": text, "z": "after"}, ensure_ascii=ascii_only))["t"]
        assert isinstance(cut, Cut)
        assert (length(cut), len(cut) < 70_000) == (len(text), True)
        head, _, rest = cut.partition("\n[… ")
        tail = rest.partition(" left out …]\n")[2]
        if unit != "\n":
            assert text.startswith(head)
        assert text.endswith(tail)
        assert (len(tail) > 500, len(head) > 3000) == (True, True)


def test_strings_that_fit_stay_whole_beside_a_long_one() -> None:
    value = loads(dumped({"t": "x" * BIG, "kept": "y" * 60_000}))
    assert (value["kept"], length(value["t"])) == ("y" * 60_000, BIG)


def test_many_strings_are_shortened_until_they_fit() -> None:
    value = loads(dumped({"l": ["z" * 60_000] * 400}))
    assert len(value["l"]) == 400
    assert sum(map(len, value["l"])) < 8 << 20
    assert all(length(text) == 60_000 for text in value["l"])


def test_a_payload_can_be_mapped_instead_of_read(tmp_path: Path) -> None:
    path = tmp_path / "payload"
    path.write_bytes(dumped({"t": "x" * BIG}))
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
        assert length(loads(mapped)["t"]) == BIG


def test_a_payload_cannot_forge_a_cut() -> None:
    value = loads(dumped({"a": "cut 0000000000000000 0", "t": "x" * BIG}))
    assert value["a"] == "cut 0000000000000000 0"


@pytest.mark.skipif(sys.platform != "linux", reason="the peak is read from /proc")
@pytest.mark.parametrize("text", ['"x" * 50_000_000', r'"\n" * 25_000_000', '"日本語🎉" * 2_000_000'])
def test_fifty_megabytes_take_little_memory_beyond_themselves(text: str) -> None:
    program = f"""if True:
        import json, sys
        sys.path.insert(0, {str(Path(__file__).parent.parent)!r})
        from neosian.payload import loads, length
        raw = json.dumps({{"t": {text}, "z": 1}}).encode()
        def peak():
            with open("/proc/self/status") as status:
                return next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))
        open("/proc/self/clear_refs", "w").write("5")
        before = peak()
        value = loads(raw)
        print(peak() - before, length(value["t"]) == len({text}))
    """
    shown = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout
    grown, right = shown.split()
    assert (int(grown) < 20_000, right) == (True, "True")


def test_texts_put_together_know_their_true_length() -> None:
    cut = Cut("ab", 1000)
    assert length(joined(["x", cut])) == 1002
    assert joined(["x", "y"]) == "x\ny"
    assert joined([cut]) is cut
    assert length(compact({"k": [cut]})) == len('{"k":["ab"]}') + 998


# nesting


def nested(levels: int, inner: object = "core") -> object:
    value = inner
    for number in range(levels):
        value = [value] if number % 2 else {"x": value}
    return value


def depth(value: object) -> int:
    """How many lists and objects stand around the innermost value."""
    if isinstance(value, dict):
        value = list(value.values())
    return 1 + max(map(depth, value), default=0) if isinstance(value, list) else 0


@pytest.mark.parametrize("levels", [0, 1, DEEPEST - 1, DEEPEST])
def test_what_is_nested_as_payloads_are_stays_as_it_is(levels: int) -> None:
    value = nested(levels)
    assert shallow(value) == value
    assert loads(dumped({"a": value})) == {"a": value}


@pytest.mark.parametrize("levels", [DEEPEST + 1, 200, 600])
@pytest.mark.parametrize("padding", ["", "x" * BIG], ids=["small", "large"])
def test_what_is_nested_deeper_becomes_its_json_text(levels: int, padding: str) -> None:
    value = loads(dumped({"a": nested(levels), "b": [1], "p": padding}))
    assert depth(value["a"]) <= DEEPEST
    assert "core" in str(value["a"])
    assert value["b"] == [1]


def test_wide_values_are_no_deep_ones() -> None:
    wide = [{"x": [number]} for number in range(3 * DEEPEST)]
    assert loads(dumped({"a": wide})) == {"a": wide}
