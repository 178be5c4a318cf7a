"""Documents are changed byte for byte: an edit touches what it means to change, whatever is written around it."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neosian import documents, editing
from neosian.editing import EditError, HeaderError

BODY = b"# Deploy\n\nWe deploy on Fridays.\n"

# Front matter of every kind that people write or break: fence, lines and fence, as bytes.
NASTY = {
    "none": b"",
    "one key": b"---\ntitle: Deploy\n---\n",
    "order of keys": b"---\nzebra: 1\nalpha: 2\ntitle: Deploy\n---\n",
    "own keys": b"---\nowner: ada\nseverity: 3\n---\n",
    "comments": b"# none\n---\n".join([b"", b""]) + b"---\n# on top\ntitle: Deploy # beside\n  # indented\n# last\n---\n",
    "only comments": b"---\n# nothing is set yet\n---\n",
    "only an empty line": b"---\n\n---\n",
    "empty lines": b"---\n\ntitle: Deploy\n\n\nwhen: deploying\n\n---\n",
    "trailing spaces": b"---  \ntitle: Deploy   \nwhen: \t\n---\t\n",
    "single quotes": b"---\ntitle: 'it''s: # here'\n---\n",
    "double quotes": b'---\ntitle: "say \\"hi\\": # \\u00e9 \\t"\n---\n',
    "bad escape": b'---\ntitle: "C:\\path\\x"\n---\n',
    "open quote": b'---\ntitle: "never closed\nwhen: now\n---\n',
    "open single quote": b"---\ntitle: 'never closed # really\n---\n",
    "dates": b"---\ncreated: 2026-11-29\nat: 2026-11-29T20:41:07+01:00\ntime: 20:41:07\n---\n",
    "octal and others": b"---\nmode: 0644\nversion: 1.10\nno: no\nnull: ~\ninf: .inf\nnan: .nan\n---\n",
    "literal block": b"---\ndescription: |\n  one\n\n  two\n\nwhen: now\n---\n",
    "literal block last": b"---\ndescription: |+\n  one\n\n\n---\n",
    "folded block": b"---\ndescription: >-\n  one\n  two\n\n  # no comment\nwhen: now\n---\n",
    "block with a fence": b"---\ndescription: |\n  ---\n  pinned: maybe\n---\n",
    "plain over lines": b"---\ndescription: one\n  two\n  three\nwhen: now\n---\n",
    "quoted over lines": b'---\ndescription: "one\n  two # three\n\n  four"\n---\n',
    "anchors": b"---\nbase: &base\n  a: 1\ncopy: *base\nmore:\n  <<: *base\n---\n",
    "alias of nothing": b"---\ncopy: *base\n---\n",
    "a bomb": b"---\na: &a [x, x, x, x]\nb: &b [*a, *a, *a, *a]\nc: &c [*b, *b, *b, *b]\nd: [*c, *c, *c, *c]\n---\n",
    "duplicate keys": b"---\ntitle: One\ntitle: Two\n---\n",
    "nested like ours": b"---\na:\n  pinned: true\n  flagged: wrong\nb:\n- pinned: true\n---\n",
    "list at the margin": b"---\ntags:\n- a\n- b: c\n-\nwhen: now\n---\n",
    "flow values": b"---\ntags: [a, 'b, c', {d: e}]\nmap: {a: 1, pinned: true}\n---\n",
    "flow over lines": b"---\ntags: [a,\nb,\nc]\n---\n",
    "tabs": b"---\ntitle:\tDeploy\n\twhen: now\n---\n",
    "no value": b"---\ntitle:\nwhen:\n---\n",
    "space before the colon": b"---\ntitle : Deploy\n---\n",
    "colon in a value": b"---\ntitle: Deploy: how and when\n---\n",
    "python tag": b"---\ntitle: !!python/object/apply:os.system ['touch owned']\n---\n",
    "own tag": b"---\ntitle: !mine {a: 1}\n---\n",
    "question mark keys": b"---\n? title\n: Deploy\n? [a, b]\n: c\n---\n",
    "quoted keys": b"---\n\"title\": Deploy\n'when': now\n---\n",
    "unicode keys": "---\nключ: значение\n名前: 値\n🎉: yes\n---\n".encode(),
    "upper case keys": b"---\nTitle: Deploy\nWHEN: now\n---\n",
    "other marks first": b"---\n%x: 1\n@y: 2\n`z`: 3\n---\n",
    "dots for a fence": b"---\ntitle: Deploy\n...\n",
    "windows ends": b"---\r\ntitle: Deploy\r\n# c\r\n---\r\n",
    "old mac ends": b"---\rtitle: Deploy\r---\r",
    "mixed ends": b"---\r\ntitle: Deploy\nwhen: now\rx: 1\r\n---\n",
    "byte order mark": b"\xef\xbb\xbf---\ntitle: Deploy\n---\n",
    "byte order mark alone": b"\xef\xbb\xbf",
    "bytes that are no text": b"---\ntitle: caf\xe9 \xff\xfe\n---\n",
    "zero bytes": b"---\ntitle: a\0b\x07\n---\n",
    "line ends of yaml": "---\ntitle: a\u2028b\u0085c\n---\n".encode(),
    "no yaml at all": b"---\n: : :\n}{\n@@@\n---\n",
    "never closed": b"---\ntitle: Deploy\n",
    "four dashes": b"----\ntitle: Deploy\n----\n",
    "not on the first line": b"\n---\ntitle: Deploy\n---\n",
    "a second one": b"---\ntitle: Deploy\n---\n---\ntitle: Other\n---\n",
    "a long line": b"---\ntitle: " + b"x " * 30_000 + b"\n---\n",
}  # fmt: skip
# To these no key can be added without rewriting them.
CLOSED = {
    "flow mapping": b"---\n{title: Deploy, pinned: false}\n---\n",
    "flow mapping over lines": b"---\n{\ntitle: Deploy,\npinned: false\n}\n---\n",
    "a list": b"---\n- a\n- b\n---\n",
    "a flow list": b"---\n[a, b]\n---\n",
    "no space after the colon": b"---\ntitle:Deploy\nwhen: now\n---\n",
    "a sentence": b"---\njust a sentence\n---\n",
    "indented": b"---\n  title: Deploy\n  pinned: false\n---\n",
    "a block alone": b"---\n|\n  title: Deploy\n---\n",
    "too long to be read": b"---\ntitle: Deploy\n" + b"# " + b"x" * 70_000 + b"\n---\n",
}  # fmt: skip
EMPTY = {"empty": b"---\n---\n", "empty and marked": b"\xef\xbb\xbf---\r\n---\r\n", "dots": b"---\n...\n"}
EVERY = NASTY | CLOSED | EMPTY


def every(table: dict[str, bytes]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("header", table.values(), ids=table)


def test_there_are_fifty_nasty_ones() -> None:
    assert len(NASTY) >= 50


# -- the body


@every(EVERY)
def test_an_edit_of_the_body_leaves_every_other_byte(header: bytes) -> None:
    changed = editing.str_replace(header + BODY, "Fridays", "Mondays")
    assert changed == header + BODY.replace(b"Fridays", b"Mondays")


@every(EVERY)
def test_an_edit_and_its_opposite_give_the_same_bytes(header: bytes) -> None:
    data = header + BODY
    there = editing.str_replace(data, "We deploy", "They\nship")
    assert editing.str_replace(there, "They\nship", "We deploy") == data


@every(EVERY)
def test_a_line_added_at_the_end_leaves_every_other_byte(header: bytes) -> None:
    data = header + BODY
    last = editing.shown(data).count("\n")
    added = editing.insert(data, last, "Never on holidays.")
    assert added.startswith(data)
    assert editing.shown(added[len(data) :]) == "Never on holidays.\n"


@pytest.mark.parametrize("end", [b"\r\n", b"\r", b"\n"])
def test_new_lines_end_as_the_documents_do(end: bytes) -> None:
    data = end.join([b"one", b"two", b"three", b""])
    assert editing.str_replace(data, "two", "2\n2") == data.replace(b"two", b"2" + end + b"2")
    assert editing.insert(data, 1, "new") == data.replace(b"two", b"new" + end + b"two")
    assert editing.str_replace(data, "one\ntwo", "one\nTWO") == data.replace(b"two", b"TWO")


def test_what_is_replaced_may_have_the_callers_line_ends() -> None:
    assert editing.str_replace(b"one\ntwo\n", "one\r\ntwo", "1\r\n2\r") == b"1\n2\n\n"


def test_bytes_that_are_no_text_are_shown_as_such_and_stay() -> None:
    data = b"caf\xe9 \xff here\n"
    assert editing.shown(data) == "caf\ufffd \ufffd here\n"
    assert editing.str_replace(data, "here", "there") == b"caf\xe9 \xff there\n"


def test_a_callers_byte_order_mark_is_no_text() -> None:
    assert editing.str_replace(b"one\n", "\ufeffone", "\ufefftwo") == b"two\n"
    assert editing.insert(b"one\n", 0, "\ufefftwo") == b"two\none\n"


def test_half_a_character_from_a_caller_never_reaches_a_document() -> None:
    assert (
        editing.str_replace(b"caf\xe9 one", "one", "\udce9two\ud83d")
        == "caf\xe9 ".encode("latin-1") + "\ufffdtwo\ufffd".encode()
    )
    with pytest.raises(EditError):
        editing.str_replace(b"caf\xe9", "\udce9", "e")


def test_a_last_line_without_an_end_keeps_it_off() -> None:
    assert editing.str_replace(b"one\ntwo", "two", "2") == b"one\n2"
    assert editing.insert(b"one\ntwo", 2, "three") == b"one\ntwo\nthree"
    assert editing.insert(b"one\r\ntwo", 2, "three\n") == b"one\r\ntwo\r\nthree\r\n"


@pytest.mark.parametrize("data", [b"", b"\xef\xbb\xbf"])
def test_an_empty_document_takes_lines(data: bytes) -> None:
    assert editing.insert(data, 0, "one") == data + b"one\n"


@pytest.mark.parametrize(("line", "most"), [(-1, 2), (3, 2), (99, 2)])
def test_a_line_that_is_not_there_is_said_with_those_that_are(line: int, most: int) -> None:
    with pytest.raises(EditError, match=f"must be 0 to {most}"):
        editing.insert(b"one\ntwo\n", line, "x")


def test_a_text_that_stands_more_than_once_is_named_by_its_lines() -> None:
    with pytest.raises(EditError, match=re.escape("3 times (lines 1, 1, 3)")):
        editing.str_replace(b"a a\nb\na", "a", "x")
    with pytest.raises(EditError, match=r"often \(lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, …\)"):
        editing.str_replace(b"a\n" * 1_000, "a", "x")


def test_texts_that_overlap_are_more_than_one() -> None:
    with pytest.raises(EditError, match="2 times"):
        editing.str_replace(b"aaa", "aa", "x")


@pytest.mark.parametrize("old", ["", "absent", "One"])
def test_a_text_that_does_not_stand_there_is_refused(old: str) -> None:
    with pytest.raises(EditError):
        editing.str_replace(b"one\n", old, "x")


@pytest.mark.parametrize("header", [b"---\na: 1\nb: 2\n---\n", b"\xef\xbb\xbf---\r\n---\r\n"])
def test_lines_that_would_take_front_matter_apart_are_refused(header: bytes) -> None:
    fence = header.count(b"\n")
    with pytest.raises(EditError, match=f"ends with line {fence}"):
        editing.insert(header + BODY, 0, "on top")
    for line in range(1, fence):
        with pytest.raises(EditError):
            editing.insert(header + BODY, line, "c: 3\n---\nbody")
        assert b"c: 3" in editing.insert(header + BODY, line, "c: 3")
    assert editing.insert(header + BODY, fence, "---\n").startswith(header)


def test_what_no_one_edits_is_not_looked_at_long() -> None:
    for data in (b"a" * 1_000_000, b"\r\n" * 100_000, b"a\r" * 100_000):
        with pytest.raises(EditError):
            editing.str_replace(data, editing.shown(data)[:2], "x")
        with pytest.raises(EditError):
            editing.str_replace(data, editing.shown(data)[: len(data) // 4], "x")


# -- front matter


@every(NASTY)
def test_pin_and_unpin_give_the_same_bytes(header: bytes) -> None:
    data = header + BODY
    pinned = editing.set_key(data, "pinned", True)
    assert documents.read(pinned).pinned
    assert editing.drop_key(pinned, "pinned") == data
    assert len(pinned) - len(data) <= len("---\r\npinned: true\r\n---\r\n")


@every(NASTY)
def test_a_pin_adds_one_line_and_changes_no_other(header: bytes) -> None:
    pinned = editing.set_key(header + BODY, "pinned", True)
    added = re.compile(rb"(?<=[\r\n])pinned: true(\r\n|\r|\n)")
    assert added.sub(b"", pinned) == header + BODY or not editing.header_lines(header + BODY)[1]


@every(NASTY)
def test_a_flag_is_set_changed_set_back_and_dropped(header: bytes) -> None:
    data = header + BODY
    flagged = editing.set_key(data, "flagged", 'stale: "no" # longer: true')
    assert documents.read(flagged).flagged == 'stale: "no" # longer: true'
    other = editing.set_key(flagged, "flagged", "wrong")
    assert documents.read(other).flagged == "wrong"
    assert editing.set_key(other, "flagged", 'stale: "no" # longer: true') == flagged
    assert editing.drop_key(flagged, "flagged") == data


@every(NASTY | EMPTY)
def test_other_keys_and_the_body_read_the_same_beside_a_new_one(header: bytes) -> None:
    before, after = (
        documents.read(data) for data in (header + BODY, editing.set_key(header + BODY, "pinned", True))
    )
    named = ("body", "description", "expires", "flagged", "name", "status", "title", "when")
    assert [getattr(after, name) for name in named] == [getattr(before, name) for name in named]


@every(CLOSED)
def test_front_matter_that_takes_no_key_is_refused_not_rewritten(header: bytes) -> None:
    with pytest.raises(HeaderError):
        editing.set_key(header + BODY, "pinned", True)


@every(EMPTY)
def test_empty_front_matter_goes_with_its_last_key_only(header: bytes) -> None:
    """The one case in which pin and unpin do not give the same bytes."""
    data = header + BODY
    pinned = editing.set_key(data, "pinned", True)
    mark = b"\xef\xbb\xbf" if data.startswith(b"\xef") else b""
    assert editing.drop_key(pinned, "pinned") == mark + BODY
    assert editing.drop_key(data, "pinned") == data


@pytest.mark.parametrize("said", ["true", "True", "yes", "on", "'true'", "true # because"])
def test_a_key_that_says_so_already_stays_as_it_is_written(said: str) -> None:
    data = f"---\nPinned : {said}\n---\n".encode()
    assert editing.set_key(data, "pinned", True) == data


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("pinned: false", "pinned: true"),
        ("pinned:", "pinned: true"),
        ("pinned: ", "pinned: true"),
        ("pinned:   no   # for now", "pinned:   true   # for now"),
        ("pinned: # not yet", "pinned: true # not yet"),
        ("pinned:    # not yet", "pinned: true    # not yet"),
        ("pinned: 'no # way' # really", "pinned: true # really"),
        ('pinned: "no # way', "pinned: true"),
        ("pinned: a#b", "pinned: true"),
        ("PINNED : false", "PINNED : true"),
        ("pinned: !!python/object/apply:os.system ['touch owned']", "pinned: true"),
        ("pinned: |\n  no\n\n  way", "pinned: true"),
        ("pinned:\n- a\n-\n- b\nx: 1", "pinned: true\nx: 1"),
        ("pinned:\n  - a\n# between\n  - b\n# after\nx: 1", "pinned: true\n# after\nx: 1"),
        ("pinned: false\nx: 1\npinned: no", "pinned: false\nx: 1\npinned: true"),
    ],
)
def test_only_the_keys_own_value_is_replaced(line: str, wanted: str) -> None:
    data = f"---\na: 1\n{line}\nz: 2\n---\nbody".encode()
    assert editing.set_key(data, "pinned", True) == f"---\na: 1\n{wanted}\nz: 2\n---\nbody".encode()


def test_a_key_that_is_there_twice_is_dropped_twice() -> None:
    assert (
        editing.drop_key(b"---\nflagged: a\nx: 1\nflagged:\n  b: 2\n---\n", "flagged") == b"---\nx: 1\n---\n"
    )


@pytest.mark.parametrize(
    "text", ["a\x00b\x7f", "a\u2028b", "a\ud800b", "tab\tand\nline", '"\\', "😀 é", "\ufffe", "#", ": -"]
)
def test_any_text_can_be_a_value(text: str) -> None:
    held = documents.read(editing.set_key(b"body", "title", text)).title
    assert held == "".join("\ufffd" if char in "\x00\x7f\u2028\ud800\ufffe" else char for char in text)


def test_long_front_matter_is_not_looked_at_long() -> None:
    size = 500_000
    for line in (
        b"flagged: x\n",
        b"\n",
        b"#\n",
        b"- a\n",
        b"a:\n",
        b"k: |\n",
        b"pinned: " + b" " * size,
        b'"' * size,
    ):
        data = b"---\n" + line * max(1, size // len(line)) + b"\n---\nbody"
        assert editing.drop_key(data, "flagged").endswith(b"body")
        with pytest.raises(HeaderError):
            editing.set_key(data, "pinned", True)
        assert editing.str_replace(data, "\nbody", "\nBODY")[:-4] == data[:-4]


# -- any text at all

LINE_ENDS = st.sampled_from(["\n", "\r\n", "\r"])
WORDS = st.text(st.sampled_from("ab \n\r\t:#-\"'|é😀"), max_size=30)
HEADERS = st.lists(
    st.sampled_from(["title: x", "pinned: no", "# c", "", "a:", "  b: 1", "- c", "t: 'x", "d: |", "flagged: y", "é: 1", "key : v", "x"])
    | st.text(st.sampled_from("ab:# -"), max_size=8),
    max_size=6,
)  # fmt: skip


@st.composite
def documents_of(draw: st.DrawFn) -> bytes:
    """Documents with and without front matter, with line ends of any kind and bytes of any kind in the body."""
    lines = draw(HEADERS)
    fenced = ["---", *lines, draw(st.sampled_from(["---", "...", "--- "]))] if draw(st.booleans()) else lines
    text = "".join(line + draw(LINE_ENDS) for line in fenced) + draw(WORDS)
    return draw(st.sampled_from([b"", b"\xef\xbb\xbf"])) + text.encode()


def unmarked(data: bytes) -> str:
    return data.decode().removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")


@given(documents_of(), st.data(), WORDS)
def test_a_replaced_text_is_what_replacing_it_in_the_shown_text_gives(
    data: bytes, draws: st.DataObject, new: str
) -> None:
    flat = editing.shown(data)
    assert flat == unmarked(data)
    start = draws.draw(st.integers(0, len(flat)))
    old = flat[start : start + draws.draw(st.integers(1, 12))]
    if not old or flat.count(old) != 1 or flat.find(old, flat.find(old) + 1) >= 0:
        return
    changed = editing.str_replace(data, old, new)
    assert editing.shown(changed) == flat.replace(old, editing.clean(new))


@given(documents_of(), st.data(), WORDS)
def test_inserted_lines_are_what_inserting_them_in_the_shown_text_gives(
    data: bytes, draws: st.DataObject, new: str
) -> None:
    flat = editing.shown(data)
    lines = flat.splitlines(keepends=True) if flat.isascii() else re.findall(r".*\n|.+\Z", flat)
    line = draws.draw(st.integers(0, len(lines)))
    try:
        changed = editing.insert(data, line, new)
    except EditError:
        return
    above, below = "".join(lines[:line]), "".join(lines[line:])
    shown = editing.shown(changed)
    assert shown.startswith(above)
    assert shown.endswith(below)
    assert editing.clean(new) in shown


@given(documents_of(), st.sampled_from(["pinned", "flagged", "title"]), WORDS | st.booleans())
def test_a_set_key_changes_nothing_else(data: bytes, key: str, value: str | bool) -> None:
    try:
        changed = editing.set_key(data, key, value)
    except HeaderError:
        return
    before, after = documents.read(data), documents.read(changed)
    assert after.body == before.body
    assert editing.set_key(changed, key, value) == changed
    for other in {"pinned", "flagged", "title", "when"} - {key}:
        assert getattr(after, other) == getattr(before, other)
    if not re.search(rf"(?im)^{key}[ \t]*:", before.header) and before.header:
        assert editing.drop_key(changed, key) == data


@given(documents_of())
def test_a_key_that_is_not_there_is_dropped_without_a_change(data: bytes) -> None:
    assert editing.drop_key(data, "absent") == data


UTF_16 = "# Title\r\n\r\nold\r\n".encode("utf-16")


@pytest.mark.parametrize(
    "edit",
    [
        lambda: editing.str_replace(UTF_16, "old", "new"),
        lambda: editing.insert(UTF_16, 1, "new"),
        lambda: editing.set_key(UTF_16, "pinned", True),
    ],
)
def test_no_other_encoding_is_written_into(edit: Callable[[], bytes]) -> None:
    with pytest.raises(EditError, match="UTF-16, and only UTF-8"):
        edit()


def test_a_text_in_another_encoding_is_shown_as_its_text() -> None:
    assert editing.shown(UTF_16) == "# Title\n\nold\n"
