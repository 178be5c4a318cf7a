"""What memory surely knows of a text, and what only happens to share some words with it.

Small talk shares words with everything. So a row counts only when it holds more of the text's words than chance would
have brought together, given how rare each word is, how many rows there are and how many words the text has; or when
the text names a thing (a path, an option, a document) that few rows are about.

A word's weight is in bits: the logarithm of how few rows hold it. Where there are few rows to count in, the length of
a word stands in for that (the words used most are the shortest, in every language); the more rows, the less.
"""

from __future__ import annotations

from math import log2

from neosian import query

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from neosian.index import Index

_BY_LENGTH = (0.0, 1.0, 1.0, 2.0, 3.0, 4.5, 6.0, 7.0, 8.0, 9.0)  # bits of a word of so many letters
_PAIR = (3.0, 2.5, 1.0, 0.7)  # bits of a pair of: Han; Hangul or katakana; other dense scripts; with hiragana
_MORE = 0.66  # of its bits for each further pair of one run: neighbours share a character
_GUESSED = 16.0  # rows that the guess by length weighs as much as
_FEWEST = 8.0  # rows that there are at least taken to be
_LISTED = 300  # rows; what stands in more of them says too little to be looked at
_FIRST, _LAST = 40, 20  # words of a long text: a question stands before or behind what is pasted
_SENTENCES, _BEFORE = 12, 8  # of a text, that may have evidence of their own; so many of them its first ones
_INFORMS = 2.0  # bits that a word must have to be one of two

# Bits beyond chance that are evidence.
_ABOUT = 2.5  # of a document with three of the words, or with one of them in its name or heading
_DOCUMENT = 4.0  # of another one
_TURN = 4.0  # of a turn with three of the words
_TURN_OF_TWO = 6.0  # of another one
_TURN_WORDS = 3  # that a text must have before turns are looked for: `commit and push` is said in many

# A name written as code is: by its length, and by how few rows hold it.
_NAME_BITS, _IN_ORDER, _NAMED_ROWS = 8.0, 3.0, 10
_NAMES = 8  # of a text that are looked for
# A word is a name too if of so many rows so few hold it; of a turn it must be a long one.
_RARE_AMONG, _RARE_ROWS, _RARE_BITS, _RARE_BITS_OF_TURN = 500, 3, 4.5, 8.0
# A document's own name is one if a word of it is that long, or has so many dense characters, and few have that name.
_TITLE_BITS, _TITLE_DENSE, _TITLE_DOCUMENTS = 6.0, 2, 3

_DOCUMENTS, _TURNS = 60, 16  # rows that are looked at closely
_SHORT = 4  # words; a shorter prompt is small talk itself, and says nothing of its turn
_SHORT_DENSE = 10  # characters, of one without spaces
_CLOSE = 0.45  # of the best row's bits, that another one of its kind must have


class _Terms:
    """The words of a text that are looked for, each once whatever its ending; ``guesses`` has their bits by length.

    ``parts``: the text whole, and each of its sentences, as the terms in it and for how many words they count. What
    bears on one sentence may have nothing to do with the others, or with what was pasted below it.
    """

    def __init__(self, wanted: query.Query) -> None:
        words = wanted.words
        if len(words) > _FIRST + _LAST:
            words = words[:_FIRST] + words[-_LAST:]
        pairs = _pairs(wanted.runs)
        stems: dict[str, str] = {}
        for word in words:
            if word not in pairs and not word.endswith("*") and not query.is_everyday(word):
                stems.setdefault(query.stem(word), word)
        self.stems = {word: stem for stem, word in stems.items()}
        self.runs = [run for run in wanted.runs if len(run) > 1]
        self.guesses = {word: _BY_LENGTH[min(len(query.base(word)), 9)] for word in self.stems}
        self.guesses |= {pair: _pair_bits(pair) for pair in words if pair in pairs}
        self.names = wanted.names[:_NAMES]
        self._bases = set(map(query.base, self.stems))
        self._low = wanted.text.lower() if self.runs else ""
        self.parts = [(set(self.guesses), _count(len(self.stems), self.runs))]
        sentences = query.sentences(wanted.text)
        if len(sentences) > 1:
            some = (
                sentences
                if len(sentences) <= _SENTENCES
                else sentences[:_BEFORE] + sentences[_BEFORE - _SENTENCES :]
            )
            self.parts += [self._part(sentence, stems) for sentence in some]

    def _part(self, sentence: str, stems: dict[str, str]) -> tuple[set[str], int]:
        wanted = query.parse(sentence)
        mine = {stems[stem] for word in wanted.words if (stem := query.stem(word)) in stems}
        return mine | (_pairs(wanted.runs) & self.guesses.keys()), _count(len(mine), wanted.runs)

    @property
    def many(self) -> int:
        """For how many words the text counts."""
        return self.parts[0][1]

    def holds_all(self, words: Iterable[str]) -> bool:
        """Whether the text holds all words of a name, one of which says something."""
        missing = [word for word in words if word not in self._bases]
        if any(not query.dense(word) or word not in self._low for word in missing):
            return False
        return any(
            _BY_LENGTH[min(len(word), 9)] >= _TITLE_BITS or query.dense(word) >= _TITLE_DENSE
            for word in words
        )

    def bits_of_name(self, name: str) -> float:
        """What a name weighs by the length of its parts."""
        return _IN_ORDER + sum(_BY_LENGTH[min(len(part), 9)] for part in name.split())

    def stands_in(self, term: str, low: str) -> bool:
        """Whether a word, in any of its forms, stands in a text in lower case."""
        return self.stems.get(term, term) in low


class _Side:
    """The rows of one kind, documents' sections or turns: which of them hold which terms, and what each term weighs."""

    def __init__(self, index: Index, terms: _Terms, condition: str, size: int) -> None:
        self.index = index
        self.terms = terms
        self.size = size
        self._condition = condition
        self.bits: dict[str, float] = {}
        self.rows: dict[str, list[int]] = {}
        for term, guess in terms.guesses.items():
            held = self._holding(term, _LISTED)
            if held:
                others = len(held) - 1 + _GUESSED / 2**guess
                self.bits[term] = log2((size + _GUESSED) / others)
                self.rows[term] = held
        self.rare = self._rare_words(_RARE_BITS if condition == "<" else _RARE_BITS_OF_TURN)

    def _holding(self, words: str, most: int) -> list[int]:
        """The rows that hold these words side by side; none where there are more than ``most``."""
        found = self.index.db.execute(
            f"SELECT rowid FROM words WHERE words MATCH ? AND rowid {self._condition} 0 LIMIT {most + 1}",
            (query.quoted([words]),),
        ).fetchall()
        return [id for (id,) in found] if len(found) <= most else []

    def terms_by_row(self, most: int) -> dict[int, list[str]]:
        """The rows with the heaviest terms, and those terms."""
        weights: dict[int, float] = {}
        for term, rows in self.rows.items():
            bits = self.bits[term]
            for row in rows:
                weights[row] = weights.get(row, 0.0) + bits
        best = sorted(weights, key=weights.__getitem__, reverse=True)[:most]
        held: dict[int, list[str]] = {row: [] for row in best}
        for term, rows in self.rows.items():
            for row in held.keys() & rows:
                held[row].append(term)
        return held

    def named(self) -> dict[int, float]:
        """The few rows that hold a name of the text, with what it weighs."""
        found: dict[int, float] = {}
        for name in self.terms.names:
            bits = self.terms.bits_of_name(name)
            rare = any(part.lower() in self.rows for part in name.split())  # else it is dear to look for
            if bits >= _NAME_BITS and (rare or self._condition == "<"):
                for row in self._holding(name, _NAMED_ROWS):
                    found[row] = max(bits, found.get(row, 0.0))
        for word in self.rare:
            for row in self.rows[word]:
                found[row] = max(self.bits[word], found.get(row, 0.0))
        return found

    def _rare_words(self, bits: float) -> list[str]:
        """Words that so few of many rows hold that they name a thing."""
        if self.size < _RARE_AMONG:
            return []
        return [
            word
            for word, rows in self.rows.items()
            if word in self.terms.stems and len(rows) <= _RARE_ROWS and self.terms.guesses[word] >= bits
        ]

    def weighed(self, terms: Iterable[str]) -> tuple[float, float, int]:
        """What these terms weigh together, how far that is beyond chance (below 0 for a single one), how many count.

        The sentence that goes furthest beyond chance decides; that there were several to choose from is part of chance.
        """
        present = set(terms)
        whole, count = self._weight(present)
        best, many = self._beyond(whole, count, self.terms.many), count
        for part, words in self.terms.parts[1:]:
            bits, count = self._weight(present & part)
            beyond = self._beyond(bits, count, words) - log2(len(self.terms.parts))
            if beyond > best:
                best, many = beyond, count
        return whole, best, many

    def _weight(self, present: set[str]) -> tuple[float, int]:
        """The bits of these terms, and for how many words they count."""
        bits, many = 0.0, 0
        for term in present & self.terms.stems.keys():
            if self.bits[term] >= _INFORMS:
                bits, many = bits + self.bits[term], many + 1
        for stretch in self._stretches(present) if self.terms.runs else ():
            more = sum(self.terms.guesses.get(pair, 0.0) for pair in stretch[1:])
            bits += max(self.bits[pair] for pair in stretch) + _MORE * more
            many += _words_in(len(stretch) + 1)
        return bits, many

    def _beyond(self, bits: float, count: int, words: int) -> float:
        """How far the bits of ``count`` out of so many words are beyond what chance brings together in some row."""
        if count < 2:
            return -1.0
        return bits - log2(self.size + _FEWEST) - _choices(max(words, count), count)

    def _stretches(self, present: set[str]) -> Iterator[list[str]]:
        """Pairs that follow each other in the text and are present, each once."""
        seen: set[str] = set()
        for run in self.terms.runs:
            stretch: list[str] = []
            for at in range(len(run) - 1):
                pair = run[at : at + 2]
                if pair in present and pair in self.bits and pair not in seen:
                    stretch.append(pair)
                    seen.add(pair)
                elif stretch:
                    yield stretch
                    stretch = []
            if stretch:
                yield stretch


def scores(index: Index, wanted: query.Query) -> dict[int, float]:
    """The rows of which the text surely speaks, with their weight in bits."""
    terms = _Terms(wanted)
    if not index.fts or not (terms.guesses or terms.names):
        return {}
    return _of_documents(index, terms) | _of_turns(index, terms)


def may_tell(wanted: query.Query) -> bool:
    """Whether there can be evidence for a text at all: not for a single short word."""
    terms = _Terms(wanted)
    guesses = terms.guesses
    named = any(bits >= _TITLE_BITS or term not in terms.stems for term, bits in guesses.items())
    return named or len(guesses) > 1 or bool(terms.names)


def _pairs(runs: Iterable[str]) -> set[str]:
    return {run[at : at + 2] for run in runs for at in range(len(run) - 1)}


def _count(words: int, runs: Iterable[str]) -> int:
    """For how many words some words and runs count together."""
    return words + sum(_words_in(len(run)) for run in runs if len(run) > 1)


def _words_in(characters: int) -> int:
    """For how many words a run without spaces counts: small talk is mostly one run of up to four characters."""
    return (characters + 3) // 4


def _pair_bits(pair: str) -> float:
    if any("\u3040" <= char <= "\u309f" for char in pair):
        return _PAIR[3]
    if all("\u3400" <= char <= "\u9fff" or char >= "\U00020000" for char in pair):
        return _PAIR[0]
    alike = all("\uac00" <= char <= "\ud7af" or "\u30a0" <= char <= "\u9fff" for char in pair)
    return _PAIR[1] if alike else _PAIR[2]


def _choices(many: int, few: int) -> float:
    """Bits of the number of ways to choose ``few`` things from ``many``."""
    return sum(log2((many - at) / (at + 1)) for at in range(few))


def _near_best(found: dict[int, float]) -> dict[int, float]:
    best = max(found.values(), default=0.0)
    return {row: bits for row, bits in found.items() if bits >= _CLOSE * best}


# -- documents


def _of_documents(index: Index, terms: _Terms) -> dict[int, float]:
    (size,) = index.db.execute("SELECT count(*) FROM section").fetchone()
    if not size:
        return {}
    side = _Side(index, terms, "<", size)
    named = side.named()
    held = side.terms_by_row(_DOCUMENTS)
    about = _Names(index, [*held, *named])
    entitled = about.entitled(side, held)
    found: dict[int, float] = {}
    for row, present in held.items():
        bits, beyond, many = side.weighed(present)
        names = about.texts.get(row, "")
        sure = many > 2 or any(terms.stands_in(term, names) for term in present)
        if beyond >= (_ABOUT if sure else _DOCUMENT):
            found[row] = bits
    for row, bits in (*named.items(), *entitled.items()):
        found[row] = max(bits, found.get(row, 0.0))
    return _near_best(found)


class _Names:
    """What the documents of some sections are called: ``texts`` has the words by which each section is told."""

    def __init__(self, index: Index, rows: Iterable[int]) -> None:
        self.texts: dict[int, str] = {}
        self._sections: dict[int, list[int]] = {}
        self._names: dict[int, tuple[str, ...]] = {}
        for row, document, heading, path, title, name, description, said in index.db.execute(
            "SELECT -s.id, d.id, s.heading, d.path, d.title, d.name, d.description, d.said"
            " FROM section s JOIN document d ON s.document = d.id"
            f" WHERE s.id IN ({','.join(str(-row) for row in rows)})"
        ):
            self.texts[row] = f"{path} {title} {name} {heading} {description} {said}".lower()
            self._sections.setdefault(document, []).append(row)
            file = path.rpartition("/")[2].removesuffix(".md")
            self._names[document] = tuple({title.lower(), name.lower(), file.lower()})

    def entitled(self, side: _Side, held: dict[int, list[str]]) -> dict[int, float]:
        """The sections of documents that the text calls by their whole name, if there are but few of that name."""
        called: dict[frozenset[str], list[int]] = {}
        for document, names in self._names.items():
            for name in names:
                words = frozenset(_told_words(name))
                if words and side.terms.holds_all(words):
                    called.setdefault(words, []).append(document)
        found: dict[int, float] = {}
        for documents in called.values():
            if len(documents) <= _TITLE_DOCUMENTS:
                for row in (row for document in documents for row in self._sections[document]):
                    found[row] = side.weighed(held.get(row, ()))[0]
        return found


def _told_words(name: str) -> list[str]:
    """The words of a document's name that tell it from others."""
    return [query.base(word) for word in query.words_of(name) if not query.is_everyday(word)]


# -- turns


def _of_turns(index: Index, terms: _Terms) -> dict[int, float]:
    (size,) = index.db.execute("SELECT max(id) FROM turn").fetchone()
    if not size:
        return {}
    side = _Side(index, terms, ">", size)
    named = side.named()
    held = side.terms_by_row(_TURNS)
    likely = [row for row, present in held.items() if _is_likely(side, present)]
    found: dict[int, float] = {}
    for row, prompt, answer in index.db.execute(
        f"SELECT id, prompt, answer FROM turn WHERE id IN ({','.join(map(str, [*likely, *named]))})"
    ):
        said = f"{prompt if _says_something(prompt) else ''} {answer}".lower()
        there = [term for term in held.get(row, ()) if terms.stands_in(term, said)]
        bits = side.weighed(held.get(row, ()))[0]
        told, beyond, _ = side.weighed(there)
        if row in named and _is_named(side, there, said):
            found[row] = max(bits, named[row])
        elif beyond >= 0 and told >= bits / 2:
            found[row] = bits
    return _near_best(found)


def _says_something(prompt: str) -> bool:
    """Whether a prompt is longer than small talk: who says `go on` again does not ask for the last time it was said."""
    return prompt.count(" ") >= _SHORT or query.dense(prompt) >= _SHORT_DENSE


def _is_likely(side: _Side, present: list[str]) -> bool:
    """Whether a turn that holds these terms is worth a look at who said them."""
    _, beyond, many = side.weighed(present)
    return side.terms.many >= _TURN_WORDS and beyond >= (_TURN if many > 2 else _TURN_OF_TWO)


def _is_named(side: _Side, there: list[str], low: str) -> bool:
    """Whether what was said holds a name of the text, and not some tool's output alone."""
    words = f" {' '.join(query.words_of(low))} "
    return any(f" {name.lower()} " in words for name in side.terms.names) or any(
        word in there for word in side.rare
    )
