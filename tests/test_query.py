"""One idea of what a word is, for what is indexed and for what is asked."""

from __future__ import annotations

import pytest

from neosian.query import distance, expand, is_everyday, near, parse, quoted, stem


@pytest.mark.parametrize(
    ("text", "added"),
    [
        ("parseLines", "parse Lines"),
        ("HTTPServer", "HTTP Server"),
        ("修复登录", "修复 复登 登录 录"),
        ("plain words", ""),
        ("x" * 100 + "aB", ""),
    ],
)
def test_what_is_indexed_beside_the_text(text: str, added: str) -> None:
    assert expand(text) == (f"{text}\n{added}" if added else text)


def test_a_space_at_the_seam_of_scripts() -> None:
    assert expand("修复bug了").startswith("修复 bug 了\n")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("How does the parser fail?", ["parser", "fail"]),
        ("to be or not to be", ["to", "be", "or", "not"]),
        ("pr-477", ["pr", "477"]),
        ("继续", ["继续"]),
        ("修复登录bug", ["修复", "复登", "登录", "bug"]),
        ("继", ["继*"]),
        ('"quoted" AND (x OR y*)', ["quoted", "x", "y"]),
        ("&& 🎉", []),
        ("a\0b", ["b"]),
    ],
)
def test_words(text: str, words: list[str]) -> None:
    assert parse(text).words == words


@pytest.mark.parametrize(
    ("text", "phrase"),
    [
        ("git commit --no-verify", "no verify"),
        ("see src/a_b.py", "src a b py"),
        ("call parseLines", "parse Lines"),
        ("broken pipe", "broken pipe"),
        ("修复登录", "修复 复登 登录"),
    ],
)
def test_phrases(text: str, phrase: str) -> None:
    assert phrase in parse(text).phrases


def test_no_phrase_across_a_stop_word() -> None:
    assert parse("end of file").phrases == []


def test_a_long_paste_asks_for_its_beginning_and_its_end() -> None:
    words = parse(" ".join(f"w{number}" for number in range(3000))).words
    assert (words[0], words[-1], len(words)) == ("w0", "w2999", 160)


def test_quotes_cannot_end_a_string() -> None:
    assert quoted(['a"b', "c*"]) == '"a""b" OR "c"*'


@pytest.mark.parametrize(
    ("one", "two", "far"), [("test", "tset", 1), ("test", "tests", 1), ("test", "toast", 2), ("a", "wxyz", 3)]
)
def test_distance_up_to_one_more_than_the_limit(one: str, two: str, far: int) -> None:
    assert distance(one, two, 2) == far


def test_the_nearest_words_win() -> None:
    assert near("autentication", ["authentication", "authenticated", "automation"]) == ["authentication"]


def test_a_stem_stands_in_its_inflections() -> None:
    assert {stem(word) for word in ("handle", "handles", "handled", "handling")} == {"handl"}


@pytest.mark.parametrize("text", ["größer — schneller …", "naïve → 3 €", "🙂", "Ελληνικά и русский"])
def test_text_without_dense_scripts_is_indexed_as_it_is(text: str) -> None:
    assert expand(text) == text


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("look at src/a_b.py, please", ["src a b py"]),
        ("use --no-verify", ["no verify"]),
        ("parseLines fails in HTTPServer2", ["parse Lines", "HTTP Server 2"]),
        ("don't re-run it: step-by-step", []),
        ("Ends here. Then goes on", []),
    ],
)
def test_what_is_written_as_code_is_a_name(text: str, names: list[str]) -> None:
    assert parse(text).names == names


def test_runs_of_dense_scripts_are_told_apart() -> None:
    assert parse("登录页面 uses utf8编码").runs == ["登录页面", "编码"]


@pytest.mark.parametrize("word", ["the", "continue", "continued", "thanks", "trying"])
def test_everyday_words_are_known_in_their_forms(word: str) -> None:
    assert is_everyday(word)


@pytest.mark.parametrize("text", ["了", "ภาษา", "カ", "ｶ", "한국어", "𠀀", "x 了"])
def test_text_in_dense_scripts_is_widened(text: str) -> None:
    assert expand(text) != text


@pytest.mark.parametrize("word", ["हिन्दी", "café", "cafe\u0301", "naïve"])
def test_signs_inside_words_do_not_part_them(word: str) -> None:
    assert parse(word).words == [word]
