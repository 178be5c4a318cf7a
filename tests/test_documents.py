"""Documents are read whatever state they are in: what is not understood is skipped, the body is always there."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from neosian.documents import is_document, read, sections, walk


def test_plain_scalars_and_the_body() -> None:
    page = read(b"---\ntitle: Deploys\npinned: true\nwhen: 2026-11-29\nstatus: open\n---\nBody.\n")
    assert (page.title, page.pinned, page.when, page.status) == ("Deploys", True, "2026-11-29", "open")
    assert page.body == "Body.\n"


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ('"a: b # c"', "a: b # c"),
        (r'"say \"hi\""', 'say "hi"'),
        ("'it''s'", "it's"),
        ("plain # a comment", "plain"),
        ("C# and F#", "C# and F#"),
        ("# only a comment", ""),
        ('"never closed', '"never closed'),
        ("", ""),
        (">-\n  two\n  lines\nname: x", "two lines"),
    ],
)
def test_a_value_without_its_quotes_and_comment(written: str, meant: str) -> None:
    assert read(f"---\ndescription: {written}\n---\n".encode()).description == meant


@pytest.mark.parametrize(
    "data",
    [
        b"\xef\xbb\xbf---\r\ntitle: T\r\n---\r\nBody\r\n",
        b"---\ntitle: T\n---\nBody\n",
        b"---\ntitle: T\n...\nBody\n",
        b"---  \ntitle: T\n---\t\nBody\n",
    ],
)
def test_fences_as_editors_write_them(data: bytes) -> None:
    page = read(data)
    assert (page.title, page.body) == ("T", "Body\n")


@pytest.mark.parametrize(
    ("data", "body"),
    [
        (b"", ""),
        (b"No front matter", "No front matter"),
        (b"---", "---"),
        (b"---\ntitle: never closed\n", "---\ntitle: never closed\n"),
        (b"----\na rule, no fence\n", "----\na rule, no fence\n"),
        (b"---\ntitle: T\n---", ""),
        (b"---\n{: [broken\n\t- yaml\n---\nBody", "Body"),
        (b"\xff\xfe\x00", "\ufffd"),
    ],
)
def test_no_bytes_are_too_bad_for_a_body(data: bytes, body: str) -> None:
    assert read(data).body == body


def test_a_header_of_megabytes_costs_no_body() -> None:
    page = read(b"---\ntitle: T\n" + b"key: value\n" * 500_000 + b"---\nBody")
    assert (page.title, page.body) == ("T", "Body")
    assert len(page.header) < 100_000


@pytest.mark.parametrize(
    ("written", "flagged"),
    [("true", "yes"), ("false", ""), ("no", ""), ("wrong since May", "wrong since May")],
)
def test_a_flag_is_a_reason(written: str, flagged: str) -> None:
    assert read(f"---\nflagged: {written}\n---\n".encode()).flagged == flagged


def test_sections_by_heading_but_not_inside_code() -> None:
    page = read(b"before\n# One\ntext\n```\n# no heading\n```\n## Two ##\n\n# Empty\n")
    assert sections(page) == [
        ("", "before"),
        ("One", "text\n```\n# no heading\n```"),
        ("Two", ""),
        ("Empty", ""),
    ]


@pytest.mark.parametrize(
    "path", ["a.md", "tools/bash/flags.md", "skills/x/SKILL.md", "UPPER.MD", "a/README.md"]
)
def test_markdown_is_a_document(path: str) -> None:
    assert is_document(path)


@pytest.mark.parametrize(
    "path", ["README.md", "record/x.md", "sessions/a/b.md", ".git/x.md", "a/.b.md", "a.txt"]
)
def test_what_is_no_document(path: str) -> None:
    assert not is_document(path)


def test_walk_finds_documents_and_follows_no_link(tmp_path: Path) -> None:
    for name in ("b.md", "tools/a.md", ".git/x.md", "record/y.md", "README.md"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("x")
    (tmp_path / "link.md").symlink_to(tmp_path / "b.md")
    (tmp_path / "folder").symlink_to(tmp_path / "tools")
    os.mkfifo(tmp_path / "pipe.md")
    assert [path for path, _ in walk(str(tmp_path))] == ["b.md", "tools/a.md"]


@pytest.mark.parametrize(
    "line", ["# " + "#" * 20_000 + "x", "#" * 20_000, "# " + "# " * 10_000, "# x" + " #" * 10_000]
)
def test_a_line_of_marks_alone_is_done_with(line: str) -> None:
    parts = sections(read(f"before\n{line}\nafter\n".encode()))
    assert parts[0][1].startswith("before")
    assert parts[-1][1].endswith("after")
