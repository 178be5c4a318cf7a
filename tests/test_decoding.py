"""Text is read in whichever of Unicode's ways it is written, and nothing hides between NULs."""

from __future__ import annotations

import pytest

from neosian.decoding import decoded, encoding

TEXT = "# Größe\n\nÜber 日本 und 🙂, and more in plain words.\n"


@pytest.mark.parametrize("kind", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
def test_a_text_is_read_by_its_byte_order_mark(kind: str) -> None:
    assert decoded(TEXT.encode(kind)) == TEXT


@pytest.mark.parametrize("kind", ["utf-16-be", "utf-32-be"])
def test_a_mark_may_say_that_the_greater_byte_comes_first(kind: str) -> None:
    assert decoded(("\ufeff" + TEXT).encode(kind)) == TEXT


@pytest.mark.parametrize("kind", ["utf-16-le", "utf-16-be"])
def test_without_a_mark_the_nuls_tell(kind: str) -> None:
    assert encoding(TEXT.encode(kind)) == kind
    assert decoded(TEXT.encode(kind)) == TEXT


@pytest.mark.parametrize(
    "data", [b"se\0cr\0\0et", b"\0\0secret", "secret".encode("utf-32-le"), "se\0cret".encode("utf-16")]
)
def test_what_stands_between_nuls_is_one_text(data: bytes) -> None:
    assert decoded(data) == "secret"


@pytest.mark.parametrize(
    "data", [b"", b"\xff", b"\xff\xfe\xd8", b"\xff\xfe\x00\xd8", b"\xfe\xff\x00", b"\0", bytes(range(256))]
)
def test_any_bytes_are_some_text(data: bytes) -> None:
    decoded(data).encode("utf-8")
