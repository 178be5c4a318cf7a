"""Paths of documents: what a scope may hold on every machine, spelled in one way."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neosian import paths
from neosian.paths import PathError, Twin


@pytest.mark.parametrize(
    "path",
    [
        "a.md",
        "project/deploy.md",
        "a/b/c/d/e.md",
        "Notes.MD",
        "v1.2.md",
        "a b/c d.md",
        "skills/ship/SKILL.md",
        "docs/README.md",
        "docs/record/x.md",
        "records/x.md",
        "console.md",
        "com.md",
        "com10.md",
        "nullable/aux-2.md",
        "git.md",
        "a~1.md",
        "ключ/名前.md",
        "héllo.md",
        "straße.md",
        "🎉.md",
        "❤\ufe0f.md",
        "ٱلْعَرَبِيَّة.md",
        "a'b$c&d(e)[f]{g};h=i,j+k@l!m#n%o^p`q.md",
        "-rf.md",
        f"{'x' * 190}.md",
    ],
)
def test_a_path_that_every_machine_can_hold_stays_as_it_is(path: str) -> None:
    assert paths.check(path) == path


@pytest.mark.parametrize(
    ("path", "canonical"),
    [("a//b.md", "a/b.md"), ("a/b.md/", "a/b.md"), ("e\u0301.md", "é.md"), ("u\u0308/o\u0308.md", "ü/ö.md")],
)
def test_a_path_has_one_form(path: str, canonical: str) -> None:
    assert paths.check(path) == canonical


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("", "names nothing"),
        ("/", "begin with a slash"),
        ("/etc/passwd.md", "begin with a slash"),
        ("//a.md", "begin with a slash"),
        ("..", "leads elsewhere"),
        ("../a.md", "leads elsewhere"),
        ("a/../b.md", "leads elsewhere"),
        ("./a.md", "leads elsewhere"),
        ("a/./b.md", "leads elsewhere"),
        (".git/config.md", "hidden"),
        (".GIT/x.md", "hidden"),
        ("a/.git/x.md", "hidden"),
        (".md", "hidden"),
        ("...md", "hidden"),
        ("git~1/x.md", ".git folder"),
        ("GIT~2/x.md", ".git folder"),
        ("record/2026-11/x.md", "only landings write"),
        ("Record/x.md", "only landings write"),
        ("sessions/x.md", "only landings write"),
        ("\u017fessions/x.md", "only landings write"),
        ("README.md", "what the scope's folder is"),
        ("readme.MD", "what the scope's folder is"),
        ("a", "markdown"),
        ("a.txt", "markdown"),
        ("a.md.bak", "markdown"),
        ("con.md", "device"),
        ("CON.md", "device"),
        ("a/Aux/b.md", "device"),
        ("nul .md", "device"),
        ("com1.md", "device"),
        ("COM¹.md", "device"),
        ("lpt9.tar.md", "device"),
        ("conin$.md", "device"),
        ("a./b.md", "space or a dot"),
        ("a /b.md", "space or a dot"),
        (" a.md", "space or a dot"),
        ("a.md ", "space or a dot"),
        ("a:b.md", "holds :"),
        ("C:/a.md", "holds :"),
        ("a.md::$DATA", "holds :"),
        ("a\\b.md", "holds \\"),
        ("..\\a.md", "hidden"),
        ("what?.md", "holds ?"),
        ("a*.md", "holds *"),
        ('"a".md', 'holds "'),
        ("a|b.md", "holds |"),
        ("<a>.md", "holds <"),
        ("a\0.md", "cannot be seen"),
        ("a\n.md", "cannot be seen"),
        ("a\t.md", "cannot be seen"),
        ("a\x1b[31m.md", "cannot be seen"),
        ("a\x7f.md", "cannot be seen"),
        ("a\u0085.md", "cannot be seen"),
        ("a\u00a0.md", "cannot be seen"),
        ("a\u00ad.md", "cannot be seen"),
        ("a\u200b.md", "cannot be seen"),
        ("a\u202edm.exe.md", "cannot be seen"),
        ("\ufeffa.md", "cannot be seen"),
        ("a\u3164.md", "cannot be seen"),
        ("a\u2800.md", "cannot be seen"),
        (".g\u200cit/x.md", "hidden"),
        ("a\ud800.md", "cannot be seen"),
        ("a\ue000.md", "cannot be seen"),
        (f"{'x' * 198}.md", "200 bytes"),
        (f"{'é' * 99}.md", "200 bytes"),
        ("/".join(["x" * 99] * 9) + ".md", "800 bytes"),
        ("x/" * 100_000 + "a.md", "800 bytes"),
    ],
)
def test_any_other_path_is_refused_with_the_reason(path: str, reason: str) -> None:
    with pytest.raises(PathError) as refused:
        paths.check(path)
    assert reason in str(refused.value)
    assert len(str(refused.value)) < 600
    str(refused.value).encode()  # it can be printed


def test_a_path_without_its_ending_is_told_the_one_that_would_do() -> None:
    with pytest.raises(PathError) as refused:
        paths.check("project/deploy")
    assert refused.value.hint == "project/deploy.md"


def test_folders_and_other_files_need_no_ending() -> None:
    assert paths.clean("skills/ship/run.sh") == "skills/ship/run.sh"
    assert paths.clean("project/") == "project"


@given(st.text(max_size=40))
def test_what_is_taken_is_taken_again_and_leads_nowhere_else(path: str) -> None:
    try:
        canonical = paths.clean(path)
    except PathError:
        return
    assert paths.clean(canonical) == canonical == unicodedata.normalize("NFC", canonical)
    assert not {"", ".", "..", ".git"} & set(canonical.split("/"))


def settle(path: str, *there: str) -> str:
    """``path`` as a store spells it that holds these paths."""

    def names_in(folder: str) -> set[str]:
        below = f"{folder}/" if folder else ""
        return {each[len(below) :].split("/")[0] for each in there if each.startswith(below)}

    return paths.settle(path, names_in)


@pytest.mark.parametrize("there", ["a.md", "b/a.md", "x/y/z.md"])
def test_a_path_that_is_there_or_free_is_settled(there: str) -> None:
    assert settle(there, there) == there
    assert settle("new/a.md", there) == "new/a.md"


def test_a_name_in_another_unicode_form_is_the_one_that_is_there() -> None:
    assert settle("é/ü.md", "e\u0301/u\u0308.md") == "e\u0301/u\u0308.md"
    assert settle("é/new.md", "e\u0301/u\u0308.md") == "e\u0301/new.md"


@pytest.mark.parametrize(
    ("path", "there", "other"),
    [
        ("A.md", "a.md", "a.md"),
        ("a.MD", "a.md", "a.md"),
        ("Tools/x.md", "tools/y.md", "tools/x.md"),
        ("a/B/c.md", "a/b/d.md", "a/b/c.md"),
        ("A/B/c.md", "a/b/C.md", "a/b/C.md"),
        ("É.md", "é.md", "é.md"),
        ("É.md", "e\u0301.md", "e\u0301.md"),
        ("ΣΑΣ.md", "σας.md", "σας.md"),
        ("STRASSE.md", "straße.md", "straße.md"),
        ("straße.md", "STRASSE.md", "STRASSE.md"),
        ("İ.md", "i\u0307.md", "i\u0307.md"),
        ("\u212a.md", "k.md", "k.md"),
        ("Ǆ.md", "ǆ.md", "ǆ.md"),
        ("Ж/а.md", "ж/а.md", "ж/а.md"),
    ],
)  # fmt: skip
def test_a_twin_by_case_is_refused_and_named(path: str, there: str, other: str) -> None:
    with pytest.raises(Twin) as refused:
        settle(paths.check(path), there)
    assert refused.value.other == other
    assert there.split("/")[0] in refused.value.hint


def test_names_that_only_look_alike_are_no_twins() -> None:
    assert settle("ı.md", "i.md") == "ı.md"
    assert settle("а.md", "a.md") == "а.md"  # Cyrillic beside Latin
    assert settle("e.md", "é.md") == "e.md"
