"""Words for the index and words from a query: one idea of what a word is, for both.

SQLite's `unicode61` takes a run of Chinese or Japanese for one word, a camelCase name for another. So text is widened
before it is indexed (`expand`) with the parts of such words, and a query (`parse`) asks for the same parts.

Nothing here needs `re`: a hook has no time for it, and running through a text by its characters' kinds is no slower.
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
_WORD_RANGES = (*_DENSE_RANGES, *_MARK_RANGES)
_NOT_ASCII_WORD = bytes(code if chr(code).isalnum() and code < 0x80 else 0x20 for code in range(256))
_CODE_SIGNS = frozenset("_./\\:@=")  # what joins the parts of names and paths, as no prose does
_SENTENCE_ENDS = (". ", "? ", "! ", "; ", "。", "？", "！", "；")
_EDGES = ".,;:!?…\"'`()[]{}<>*"
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

# Words of every conversation, whatever it is about. They are no stop words, since somebody may search for them.
_EVERYDAY = frozenset(
    (
        "actually again ahead already another answer anything apply approach ask away back bad best better bit both "
        "bring carry case change check clean clear come complete continue cool correct course current detail "
        "different directly each easy either else end enough even ever every everything exactly example exist expect "
        "explain far fast find fine finish first fix follow full further give good got great handle happen hard hello "
        "help hey hi hold hope idea improve include instead issue keep kind know last late later least leave left "
        "less little long look lot made main make many matter maybe mean mind moment move much must necessary need "
        "never new next nice no nope nothing obvious ok okay old once one open opinion option other otherwise part "
        "perfect place plan point possible previous probably problem proceed properly put question quick quite rather "
        "ready real really reason remain remove rest result right said same say second see seem several short show "
        "similar simple simply since single small something soon sorry sort start step still stop stuff suggest sum "
        "summarize sure take talk tell than thank thing think third though thought through time today together "
        "tomorrow tried tries true try trying turn two understand undo until usual wait want way well while whole "
        "without wonder work worry worse write wrong yeah yes yesterday yet"
    ).split(" ")
)


class Query:
    """What a text asks for: ``words`` of it, ``phrases`` (words that stand side by side in it), and ``text`` itself.

    Each word or phrase is text for one quoted FTS5 string; a word that ends in ``*`` is a prefix. ``names`` are those
    phrases that are written as code is (`src/a_b.py`, `--no-verify`, `parseLines`), ``runs`` the parts of the text in
    scripts without spaces, whose pairs are among the words.
    """

    __slots__ = ("names", "phrases", "runs", "text", "words")

    def __init__(
        self, text: str, words: list[str], phrases: list[str], names: list[str], runs: list[str]
    ) -> None:
        self.text = text
        self.words = words
        self.phrases = phrases
        self.names = names
        self.runs = runs


def expand(text: str) -> str:
    """The text as it is indexed: spaces at seams between scripts, then the parts of camelCase names and dense runs."""
    extra = camel_parts(text)
    if _holds(text, _DENSE_RANGES):
        text = _seamed(text)
        extra.extend(pairs(run) for run in dict.fromkeys(_split(text, _dense_only(text))))
    return text + "\n" + " ".join(extra) if extra else text


def _holds(text: str, ranges: Ranges) -> bool:
    """Whether a character of these ranges is in a text."""
    return not text.isascii() and any(_within(char, ranges) for char in set(text))


def _within(char: str, ranges: Ranges) -> bool:
    return char > "\x7f" and any(first <= char <= last for first, last in ranges)


def _seamed(text: str) -> str:
    """The text with a space at each seam between a dense script and Latin letters or digits."""
    dense = {char for char in set(text) if _within(char, _DENSE_RANGES)}
    out = []
    before = ""
    for char in text:
        if (char in dense and _is_latin(before)) or (before in dense and _is_latin(char)):
            out.append(" ")
        out.append(char)
        before = char
    return "".join(out)


def _is_latin(char: str) -> bool:
    return char.isascii() and char.isalnum()


def _split(text: str, gaps: dict[int, str]) -> list[str]:
    """The parts of a text between characters that are gaps."""
    return text.translate(gaps).split()


def _between_words(text: str) -> dict[int, str]:
    """What of a text stands between words, for `_split`: signs that stand inside words of some scripts do not."""
    return {ord(char): " " for char in set(text) if not char.isalnum() and not _within(char, _WORD_RANGES)}


def sentences(text: str) -> list[str]:
    """The lines of a text, each cut where a sentence ends."""
    for end in _SENTENCE_ENDS:
        text = text.replace(end, f"{end}\n")
    return [line for line in map(str.strip, text.split("\n")) if line]


def is_everyday(word: str) -> bool:
    """Whether a word, in lower case, stands in every text or in every conversation."""
    bare = base(word)
    return word in _STOP_WORDS or not _EVERYDAY.isdisjoint((word, bare, f"{bare}e"))


def base(word: str) -> str:
    """A word without the commonest endings: less than a stem, as `implementation` is not what `implement it` names."""
    for ending in ("ing", "ed", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 4:
            return word[: -len(ending)]
    return word


def words_of(text: str) -> list[str]:
    """The words of a text as they stand in it, stop words too; a dense run counts as one."""
    return _split(text, _between_words(text))


def dense(text: str) -> int:
    """How many characters of a text are of a script without spaces."""
    return sum(map(len, _split(text, _dense_only(text))))


def _dense_only(text: str) -> dict[int, str]:
    return {ord(char): " " for char in set(text) if not _within(char, _DENSE_RANGES)}


def camel_parts(text: str) -> list[str]:
    """For each camelCase name its parts, spaced: `parseLines` gives `parse Lines`."""
    if text.islower():
        return []
    found = dict.fromkeys(text.encode("ascii", "replace").translate(_NOT_ASCII_WORD).split())
    names = [
        name.decode()
        for name in found
        if not (name.islower() or name.isupper() or name[1:].islower() or name.isdigit())
    ]
    short = [name for name in names if len(name) <= _CAMEL_LONGEST]
    parts = [_parts_of(name) for name in short[:_CAMEL_MOST]]
    return [spaced for spaced in parts if " " in spaced]


def _parts_of(name: str) -> str:
    """A name with a space before each hump and between letters and digits: `HTTPServer2` gives `HTTP Server 2`."""
    out = [name[0]]
    for at in range(1, len(name)):
        before, char = name[at - 1], name[at]
        hump = char.isupper() and (before.islower() or name[at + 1 : at + 2].islower())
        out.append(f" {char}" if hump or before.isdigit() != char.isdigit() else char)
    return "".join(out)


def pairs(run: str) -> str:
    """Pairs of neighbours in a run of characters, and its last one alone, so that each character begins some word."""
    return " ".join([run[at : at + 2] for at in range(len(run))])


def parse(text: str) -> Query:
    """A query from any string. Stop words count only when there is nothing else."""
    text = (
        text[:_TEXT_LIMIT]
        .encode("utf-16-le", "surrogatepass")
        .decode("utf-16-le", "replace")
        .replace("\0", " ")
    )
    words: list[str] = []
    phrases: list[str] = []
    names: list[str] = []
    runs: list[str] = []
    small: list[str] = []
    before = ""
    plain = not _holds(text, _DENSE_RANGES)
    gaps = _between_words(text)
    for chunk in (text if plain else _seamed(text)).split():
        found = [chunk] if plain and chunk.isalnum() else _split(chunk, gaps)
        humps = camel_parts(chunk)
        joined = [" ".join(found)] if 1 < len(found) <= _CHUNK_MOST else []  # `--no-verify`, `src/a_b.py`
        phrases += joined + humps
        names += [*(joined if _is_code(chunk) else ()), *humps]
        for word in found:
            dense = not plain and all(_within(char, _DENSE_RANGES) for char in word)
            if dense:
                runs.append(word)
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
    beside = [phrase for phrase in dict.fromkeys(phrases) if " " in phrase]
    return Query(text.strip(), kept, beside[:_WORDS_MOST], list(dict.fromkeys(names)), runs)


def _is_code(chunk: str) -> bool:
    return chunk.startswith("--") or not _CODE_SIGNS.isdisjoint(chunk.strip(_EDGES))


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
