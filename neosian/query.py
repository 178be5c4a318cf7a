"""Words for the index and words from a query: one idea of what a word is, for both.

SQLite's `unicode61` takes a run of Chinese or Japanese for one word, a camelCase name for another. So text is widened
before it is indexed (`expand`) with the parts of such words, and a query (`parse`) asks for the same parts.

`re` is imported by the functions that use it: a session start loads this module and has no time for it.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    Ranges = Sequence[tuple[str, str]]

# Scripts written without spaces: kana, Han, Hangul, half-width kana, the supplementary Han planes; Thai to Khmer.
_DENSE_RANGES = (
    ("\u0e00", "\u0eff"), ("\u1000", "\u109f"), ("\u1780", "\u17ff"), ("\u3040", "\u30ff"), ("\u3400", "\u9fff"),
    ("\uac00", "\ud7af"), ("\uf900", "\ufaff"), ("\uff66", "\uff9f"), ("\U00020000", "\U0003ffff"),
)  # fmt: skip
# Signs that stand inside words of Indic and other scripts, which `\w` leaves out.
_MARK_RANGES = (
    ("\u0300", "\u036f"), ("\u0591", "\u05c7"), ("\u064b", "\u0655"), ("\u0900", "\u0d7f"), ("\u200d", "\u200d"),
)  # fmt: skip
_DENSE, _MARKS = ("".join(f"{a}-{b}" for a, b in ranges) for ranges in (_DENSE_RANGES, _MARK_RANGES))
_WORD = rf"(?:[^\W_]|[{_MARKS}{_DENSE}])+"
_PLAIN_WORD = r"[^\W_]+"
_RUN = rf"[{_DENSE}]+"
_SEAM = rf"(?<=[{_DENSE}])(?=[A-Za-z0-9])|(?<=[A-Za-z0-9])(?=[{_DENSE}])"
_CAMEL = r"\b_*[A-Za-z0-9]*(?:[a-z0-9][A-Z]|[A-Z]{2}[a-z])[A-Za-z0-9]*"
_CAMEL_PART = r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+"
_CAMEL_LONGEST, _CAMEL_MOST = 60, 200  # base64 and minified code are not names
_TEXT_LIMIT, _WORDS_MOST = 20_000, 160
_CHUNK_MOST = 8

_STOP_WORDS = frozenset(
    (
        "a about after all also am an and any are as at be because been before being but by can could did do does "
        "doing done for from get had has have he her here him his how i if in into is it its just let like may me "
        "might more most my no not now of off on or our out please s she should so some such t than that the their "
        "them then there these they this those to too up us use very was we were what when where which who why will "
        "with would you your"
    ).split(" ")
)


class Query:
    """What a text asks for: ``words`` of it, ``phrases`` (words that stand side by side in it), and ``text`` itself.

    Each word or phrase is text for one quoted FTS5 string; a word that ends in ``*`` is a prefix.
    """

    __slots__ = ("phrases", "text", "words")

    def __init__(self, text: str, words: list[str], phrases: list[str]) -> None:
        self.text = text
        self.words = words
        self.phrases = phrases


def expand(text: str) -> str:
    """The text as it is indexed: spaces at seams between scripts, then the parts of camelCase names and dense runs."""
    extra = camel_parts(text)
    if _holds(text, _DENSE_RANGES):
        import re

        text = re.sub(_SEAM, " ", text)
        extra.extend(pairs(run) for run in dict.fromkeys(re.findall(_RUN, text)))
    return text + "\n" + " ".join(extra) if extra else text


def _holds(text: str, ranges: Ranges) -> bool:
    """Whether a character of these ranges is in a text. Without one the dear patterns need not be compiled."""
    if text.isascii():
        return False
    foreign = [char for char in set(text) if char > "\x7f"]
    return any(first <= char <= last for char in foreign for first, last in ranges)


def camel_parts(text: str) -> list[str]:
    """For each camelCase name its parts, spaced: `parseLines` gives `parse Lines`."""
    if text.islower():
        return []
    import re

    names = dict.fromkeys(re.findall(_CAMEL, text))
    short = [name for name in names if len(name) <= _CAMEL_LONGEST][:_CAMEL_MOST]
    return [" ".join(re.findall(_CAMEL_PART, name)) for name in short]


def pairs(run: str) -> str:
    """Pairs of neighbours in a run of characters, and its last one alone, so that each character begins some word."""
    return " ".join([run[at : at + 2] for at in range(len(run))])


def parse(text: str) -> Query:
    """A query from any string. Stop words count only when there is nothing else."""
    import re

    text = (
        text[:_TEXT_LIMIT]
        .encode("utf-16-le", "surrogatepass")
        .decode("utf-16-le", "replace")
        .replace("\0", " ")
    )
    words: list[str] = []
    phrases: list[str] = []
    small: list[str] = []
    before = ""
    plain = not _holds(
        text, (*_DENSE_RANGES, *_MARK_RANGES)
    )  # most text is; the pattern for all scripts takes half a floor to compile
    for chunk in (text if plain else re.sub(_SEAM, " ", text)).split():
        found = re.findall(_PLAIN_WORD if plain else _WORD, chunk)
        if 1 < len(found) <= _CHUNK_MOST:  # `--no-verify`, `src/a_b.py`
            phrases.append(" ".join(found))
        phrases.extend(camel_parts(chunk))
        for word in found:
            dense = not plain and re.fullmatch(_RUN, word)
            if dense:
                words.extend(_dense_words(word))
                if len(word) > 2:
                    phrases.append(pairs(word)[:-2])
            elif word.lower() in _STOP_WORDS:
                small.append(word.lower())
            else:
                words.append(word.lower())
                if before:
                    phrases.append(f"{before} {word.lower()}")
            before = "" if dense or word.lower() in _STOP_WORDS else word.lower()
    kept = list(dict.fromkeys(words or small))
    if len(kept) > _WORDS_MOST:  # a long paste: its beginning and its end say what is wanted
        kept = kept[: _WORDS_MOST // 2] + kept[-_WORDS_MOST // 2 :]
    return Query(text.strip(), kept, [p for p in dict.fromkeys(phrases) if " " in p][:_WORDS_MOST])


def _dense_words(run: str) -> list[str]:
    """A single character is a prefix of the pairs it begins; a longer run is its pairs."""
    return [run + "*"] if len(run) == 1 else [run[at : at + 2] for at in range(len(run) - 1)]


def quoted(words: Iterable[str], joint: str = " OR ") -> str:
    """An FTS5 expression of words and phrases; nothing in them can be syntax."""
    strings = []
    for word in words:
        star = "*" if word.endswith("*") else ""
        bare = word.removesuffix("*") if star else word
        strings.append('"' + bare.replace('"', '""') + '"' + star)
    return joint.join(strings)


def near(word: str, known: Iterable[str], most: int = 3) -> list[str]:
    """The words of ``known`` that a slip of the fingers turns into ``word``: one edit, two from eight letters on.

    An edit is a letter added, dropped, changed, or swapped with its neighbour.
    """
    allowed = 1 if len(word) < 8 else 2
    letters = set(word)
    found = []
    for other in known:
        if abs(len(other) - len(word)) <= allowed and len(letters.symmetric_difference(other)) <= 2 * allowed:
            far = distance(word, other, allowed)
            if 0 < far <= allowed:
                found.append((far, other))
    best = min(found)[0] if found else 0
    return [other for far, other in sorted(found) if far == best][:most]


def distance(one: str, two: str, limit: int) -> int:
    """Edits between two words (Damerau, neighbours swapped once); ``limit + 1`` when there are more."""
    older: list[int] = []
    old = list(range(len(two) + 1))
    for i, letter in enumerate(one, 1):
        new = [i]
        for j, other in enumerate(two, 1):
            cost = min(old[j] + 1, new[-1] + 1, old[j - 1] + (letter != other))
            if i > 1 and j > 1 and letter == two[j - 2] and one[i - 2] == other:
                cost = min(cost, older[j - 2] + 1)
            new.append(cost)
        if min(new) > limit:
            return limit + 1
        older, old = old, new
    return min(old[-1], limit + 1)


def stem(word: str) -> str:
    """The part of a word that its inflections share, roughly; for finding where in a text it matched."""
    word = word.removesuffix("*")
    for ending in (
        "ations",
        "ation",
        "ings",
        "ing",
        "ies",
        "ied",
        "ers",
        "er",
        "ed",
        "es",
        "ly",
        "s",
        "e",
        "y",
    ):
        if word.endswith(ending) and len(word) - len(ending) >= 4:
            return word[: -len(ending)]
    return word
