"""What the bytes of a file say as text, whichever of Unicode's ways they are written in."""

from __future__ import annotations

_MARKS = (
    (b"\xef\xbb\xbf", "utf-8"),
    (b"\xff\xfe\x00\x00", "utf-32-le"),
    (b"\x00\x00\xfe\xff", "utf-32-be"),
    (b"\xff\xfe", "utf-16-le"),
    (b"\xfe\xff", "utf-16-be"),
)
_LOOKED_AT = 4_096  # bytes


def decoded(data: bytes) -> str:
    """The text of these bytes, without its byte order mark and without NULs; what is no text becomes U+FFFD.

    NULs go here and not where text is shown, so that a secret between them is seen by whoever looks for one.
    """
    kind = encoding(data)
    mark = next((mark for mark, of in _MARKS if of == kind and data.startswith(mark)), b"")
    text = data[len(mark) :].decode(kind, "replace")
    return text.replace("\0", "") if "\0" in text else text


def encoding(data: bytes) -> str:
    """The encoding of a text by its byte order mark, else by where its NULs stand; UTF-8 where nothing tells."""
    for mark, kind in _MARKS:
        if data.startswith(mark):
            return kind
    beginning = data[:_LOOKED_AT]
    if b"\0" not in beginning:
        return "utf-8"
    pairs = len(beginning) // 2
    first, second = beginning[::2].count(0), beginning[1::2].count(0)
    if pairs and second * 3 > pairs and not first:
        return "utf-16-le"
    return "utf-16-be" if pairs and first * 3 > pairs and not second else "utf-8"
