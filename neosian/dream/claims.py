"""What a text claims: its sentences, the words that matter, the facts in it, and which sentences tell what to do.

Pure functions of text, in any language that people write notes in; none of them knows of notes or sessions.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from neosian import query

DATE, NUMBER, PATH, NAME = "date", "number", "path", "name"


class Fact(NamedTuple):
    """One thing that a text says for sure: what it is, how it is compared (``key``), and how it is written."""

    kind: str
    key: str
    said: str


# -- sentences and words

_FENCE = re.compile(r"\s*(?:```|~~~)")
_MARKS = re.compile(r"[\s>]*(?:(?:[-*+•]|\d{1,3}[.)]|#{1,6})\s+)?(?:\[[ xX]\]\s+)?")
_ENDS = re.compile(r"(?<=[.!?;])[\"'”’)*_]*\s+|(?<=[。！？；])")
_RULERS = ("", "---", "...")
_KEY = re.compile(r"[A-Za-z][\w-]*\s*:\s+")


class Sentence(NamedTuple):
    """A sentence, without the marks of Markdown around it; ``is_code``: a line of a code block."""

    text: str
    is_code: bool = False


def sentences(text: str) -> list[Sentence]:
    """The sentences of a note, its front matter's values among them. Lines of one paragraph are read as one."""
    found: list[Sentence] = []
    lines: list[str] = []
    fenced = False
    for line in [*text.split("\n"), ""]:
        if _FENCE.match(line):
            fenced = not fenced
        elif fenced:
            found += [Sentence(line.strip(), True)] if line.strip() else []
            continue
        if lines and _begins(line):
            found += [Sentence(part.strip()) for part in _ENDS.split(" ".join(lines)) if part.strip()]
            lines = []
        if not (_FENCE.match(line) or line.strip() in _RULERS):
            lines.append(_bare(line))
        if line.startswith("#"):
            found += [Sentence(each) for each in lines]
            lines = []
    return found


def _begins(line: str) -> bool:
    """Whether a line does not go on with the paragraph above it."""
    is_row = line.lstrip().startswith("|")
    return (
        is_row
        or line.strip() in _RULERS
        or bool(_FENCE.match(line) or _mark(line).strip() or _KEY.match(line))
    )


def _mark(line: str) -> str:
    """What stands before a line's text: of a list, a heading, a quotation."""
    match = _MARKS.match(line)
    return match[0] if match else ""


def _bare(line: str) -> str:
    """A line without its mark; of a key of front matter the value."""
    line = line[len(_mark(line)) :]
    key = _KEY.match(line)
    return line[key.end() if key else 0 :].strip().strip("\"'")


_SMALL = frozenset(
    (
        "der die das den dem des ein eine einen einem einer und oder ist sind war wird werden mit von vom zu zum zur "
        "im in am an auf für als auch wie wir ihr sie er es ich nicht bei nach aus dass "
        "le la les un une des du et ou est sont pour par sur avec dans que qui ce cette nous vous il elle au aux ne "
        "pas se en el los las una y son para por con del al lo su um uma os e do da dos das no na em com "
        "il gli i di che per della nel è de het een of zijn voor met van op te dat "
        "и в на с по не что это как для из от к у мы вы они "
        "always never must should prefer prefers please ensure immer nie niemals muss toujours jamais siempre nunca "
        "sempre altijd nooit why how apply description title name when note notes"
    ).split()
)
"""Words that stand in every text of their language, or in every note and every rule."""


def bare_letters(text: str) -> str:
    """A text in lower case and everyday letters, without the signs above, below and through them."""
    if text.isascii():
        return text.casefold()
    text = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", text).casefold())
    signs = {ord(char): None for char in set(text) if unicodedata.category(char) == "Mn"}
    return unicodedata.normalize("NFC", text.translate(signs))


_BARE_SMALL = frozenset(map(bare_letters, _SMALL))


@lru_cache(maxsize=50_000)
def _counted(word: str) -> str:
    """A word as it is compared, "" for one that says nothing."""
    if len(word) == 1 or word in _BARE_SMALL or query.is_everyday(word):
        return ""
    return "" if query.dense(word) > 2 else query.base(word)


def content(text: str) -> list[str]:
    """The words that matter, in order and without their endings; of scripts without spaces the pairs of characters."""
    words = query.words_of(query.expand(bare_letters(text)))
    return [counted for word in words if (counted := _counted(word))]


def overlap(wanted: Iterable[str], held: Iterable[str]) -> float:
    """Which share of the words ``wanted`` is among those ``held``; 0 for none wanted."""
    wanted = set(wanted)
    return len(wanted & set(held)) / len(wanted) if wanted else 0.0


def alike(one: str, other: str) -> float:
    """How much of the shorter of two texts the longer one says too, 0 to 1."""
    (few, in_few), (many, in_many) = sorted(map(_bag, (one, other)), key=lambda bag: len(bag[0]))
    if len(few) > 2 and len(many) <= 4 * len(few):
        return len(few & many) / len(few)
    # A long text has all words of a short one by chance, not their order.
    return len(in_few & in_many) / len(in_few) if in_few else 0.0


@lru_cache(maxsize=4096)
def _bag(text: str) -> tuple[frozenset[str], frozenset[str]]:
    """The words of a text, and each three of them in a row."""
    words = content(text)
    threes = (" ".join(words[at : at + 3]) for at in range(max(1, len(words) - 2)) if words)
    return frozenset(words), frozenset(threes)


# -- facts

_MONTHS = {
    name: number
    for number, names in enumerate(
        (
            "january jan januar janvier enero janeiro gennaio januari января",
            "february feb februar février febrero fevereiro febbraio februari февраля",
            "march mar märz mars marzo março maart марта", "april apr avril abril aprile апреля",
            "may mai mayo maio maggio mei мая", "june jun juni juin junio junho giugno июня",
            "july jul juli juillet julio julho luglio июля", "august aug août agosto augustus августа",
            "september sep sept septembre septiembre setembro settembre сентября",
            "october oct oktober octobre octubre outubro ottobre октября",
            "november nov novembre noviembre novembro ноября",
            "december dec dezember décembre diciembre dezembro dicembre декабря",
        ),
        1,
    )
    for name in names.split()
}  # fmt: skip
_MONTH = "|".join(sorted(_MONTHS, key=len, reverse=True))
_DATES = (
    re.compile(r"(?<!\d)(?P<y>\d{4})[-/.年](?P<m>\d{1,2})[-/.月](?P<d>\d{1,2})日?(?!\d)"),
    re.compile(r"(?<!\d)(?P<d>\d{1,2})\.\s?(?P<m>\d{1,2})\.\s?(?P<y>\d{4})(?!\d)"),
    re.compile(
        rf"(?<!\w)(?P<d>\d{{1,2}})(?:st|nd|rd|th|\.)?\s(?:de\s)?(?P<n>{_MONTH})\.?,?\s(?:de\s)?(?P<y>\d{{4}})(?!\d)",
        re.IGNORECASE,
    ),
    re.compile(rf"(?<!\w)(?P<n>{_MONTH})\.?\s(?P<d>\d{{1,2}})(?:st|nd|rd|th)?,?\s(?P<y>\d{{4}})(?!\d)", re.IGNORECASE),
)  # fmt: skip
_EDGES = ".,;:!?…\"'`()[]{}<>*|“”„‘’«»、。，；：！？（）「」『』【】"
_NUMBER = re.compile(r"(?<![\w.#-])\d+(?:[.,_'’]\d+)*")
_ITEM = re.compile(r"^\s*\d{1,3}[.)]\s", re.MULTILINE)
_CODE = re.compile(r"(`+)(?!`)(.+?)(?<!`)\1(?!`)")
_BLOCK = re.compile(r"^[ \t]*(?:```|~~~).*$", re.MULTILINE)
_GROUPED = re.compile(r"(?<=\d)[,_'’](?=\d{3}(?!\d))")
_COMMON = frozenset(
    (
        "the this that these those there then they when what where who why how and but not for with from into are was"
        " were has have had can could will would may might our your their its his her she you all any each some most"
        " more one two three new now only also see note yes if"
    ).split()
)
_HEADING = re.compile(r"^#{1,6} .*$", re.MULTILINE)
_NAMED = re.compile(r"[^\W\d_][^\W_]{2,}(?:-[^\W_]+)*")
_IDENTIFIER = re.compile(
    "|".join((
        r"[a-z][a-z0-9+.-]*://\S+",  # an address
        r"[^\s@/]+@[^\s@]+\.[^\s@]+",  # of mail, or of a remote
        r"(?:~|\.{1,2})?/?[^\s/:]+(?:/[^\s/:]+)+/?|(?:~|\.{1,2})?/[^\s/:]+/?",  # a path
        r"[\w.-]+\.(?:[a-z][a-z0-9]{0,9})",  # a file, a domain, a dotted name
        r"--?[A-Za-z][\w-]*(?:=\S*)?",  # a flag
        r"[vV]?\d+(?:\.\d+)+(?:[-+.]?[\w.]+)?",  # a version
        r"[A-Z][A-Z0-9]+-\d+|#\d+",  # a ticket
        r":\d{2,5}",  # a port
        r"(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,40}",  # a commit
        r"\w*[A-Za-z0-9]_\w+|_+\w+",  # a_name, A_NAME
        r"[a-z]+[A-Z]\w*|(?:[A-Z][a-z0-9]+){2,}",  # aName, AName
        r"[\w.-]+::?[\w:]+\(?\)?|\w+\(\)",  # a::name, a call
        r"\d+[a-z]\w*\d\w*",  # ids that begin with a digit
    ))
)  # fmt: skip
_PLAIN = frozenset(
    (
        "github gitlab javascript typescript postgresql mysql macos ios openai youtube linkedin graphql nosql mongodb"
        " devops utf-8 utf-16 iso-8601 sha-1 sha-256 node.js next.js e.g i.e z.b u.a and/or"
    ).split()
)  # fmt: skip
"""Written like code, and known to everybody: no session has to say them first."""
_HYPHENED = re.compile(r"(?<![\w./-])[A-Za-z][A-Za-z0-9]+(?:-[A-Za-z0-9]+)+(?![\w/-])")
_LONGEST = 200  # characters of a word that are looked at one by one
_SEAMS = re.compile(
    r"[\s—–|\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3000-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef"
    r"\U00020000-\U0003ffff]+|\]\("
)
"""What stands between words that may be code: blanks, dashes, a link's middle, scripts written without blanks."""
_PLACEHOLDER = re.compile(r"[<>$…%{}*]|\.\.\.|^\W*$|^(?:xxx+|foo|bar|example)$", re.IGNORECASE)


@lru_cache(maxsize=512)
def facts(text: str) -> Mapping[str, Fact]:
    """The dates, numbers, paths and names that a text says, by key."""
    found: dict[str, Fact] = {}
    for fact in (*_dates(text), *identifiers(text).values(), *_numbers(text), *_names(text)):
        found.setdefault(fact.key, fact)
    return found


@lru_cache(maxsize=512)
def identifiers(text: str) -> Mapping[str, Fact]:
    """What is written as code is: paths, flags, versions, ports, addresses, tickets, names; by key."""
    text = _without_dates(text)
    found: dict[str, Fact] = {}
    for token in (*_code_words(text), *filter(_is_code, map(_word, _SEAMS.split(text)))):
        key = folded(token)
        if key not in _PLAIN and not _PLACEHOLDER.search(token):
            found.setdefault(key, Fact(PATH if "/" in token or "." in token else NAME, key, token))
    return found


def tokens(text: str) -> list[Fact]:
    """What a text names so that it can be found again: what is written as code, and words with a hyphen."""
    found = dict(identifiers(text))
    for word in _HYPHENED.findall(text):
        found.setdefault(folded(word), Fact(NAME, folded(word), word))
    return list(found.values())


def is_year(key: str) -> bool:
    """Whether a number is a year, which means nothing by itself."""
    return len(key) == 4 and key.startswith(("19", "20"))


def _word(token: str) -> str:
    """A word without the signs of prose around it; a point or a colon in front may be of a path or a port."""
    bare = token.lstrip(_EDGES.replace(".", "").replace(":", ""))
    return bare.rstrip(_EDGES) + ("()" if bare.rstrip(".,;:!?").endswith("()") else "")


def _code_words(text: str) -> Iterator[str]:
    """The words of code spans; a name needs no other sign there."""
    for span in _CODE.findall(_BLOCK.sub("", text)):
        for word in _SEAMS.split(span[1]):
            word = word.strip(_EDGES.replace(".", "").replace("<", "").replace(">", "") + "=")
            if len(word) > 1 and not word.isdigit():
                yield word


def _is_code(word: str) -> bool:
    if len(word) > _LONGEST:
        return "/" in word or "_" in word
    is_plain = word.isalpha() and (word.islower() or word[1:].islower())
    is_number = word.count(".") < 2 and _NUMBER.fullmatch(word)
    return not (is_plain or is_number) and _IDENTIFIER.fullmatch(word) is not None


def dates(text: str) -> set[str]:
    """The days that a text names with their year, as `2026-11-29`."""
    return {fact.key for fact in _dates(text)}


def names_day(text: str, month: int, day: int) -> bool:
    """Whether a text names a day of the year without the year: by two numbers, or with the month's name near."""
    names = "|".join(re.escape(name) for name, number in _MONTHS.items() if number == month)
    one, two = rf"(?<!\d)0?{day}(?!\d)", rf"(?<!\d)0?{month}(?!\d)"
    return any(
        re.search(pattern, text, re.IGNORECASE)
        for pattern in (
            rf"{one}[./-]\s?{two}|{two}[/-]{one}|{two}月{one}|{two}월\s?{one}",
            rf"{one}\D{{0,20}}?\b(?:{names})\b|\b(?:{names})\b.{{0,20}}?{one}",
        )
    )


def _dates(text: str) -> Iterator[Fact]:
    for pattern in _DATES:
        for match in pattern.finditer(text):
            parts = match.groupdict()
            month = int(parts["m"]) if parts.get("m") else _MONTHS[parts["n"].lower()]
            yield Fact(DATE, f"{parts['y']}-{month:02}-{int(parts['d']):02}", match[0])


def _without_dates(text: str) -> str:
    for pattern in _DATES:
        text = pattern.sub(" ", text)
    return text


def _numbers(text: str) -> Iterator[Fact]:
    """Numbers in prose; those of lists count nothing."""
    for match in _NUMBER.finditer(_ITEM.sub("", _without_dates(text))):
        yield Fact(NUMBER, folded(match[0]), match[0])


def _names(text: str) -> Iterator[Fact]:
    """Words with a capital in the middle of a sentence; none where all nouns have one, as in German."""
    capital, count = [], 0
    for sentence in sentences(_HEADING.sub("", text)):
        words = [] if sentence.is_code else _CODE.sub(" ", sentence.text).split()
        for before, word in pairwise(words):
            word = word.strip(_EDGES).removesuffix("'s").removesuffix("’s")
            count += 1
            if word[:1].isupper() and _NAMED.fullmatch(word) and not _begins_clause(before, word):
                capital.append(word)
    if len(capital) * 4 <= max(count, 12):
        for word in capital:
            yield Fact(NAME, folded(word), word)


def _begins_clause(before: str, word: str) -> bool:
    """Whether a word may have its capital of its place, or is hardly a name."""
    ends = before.rstrip("*_`\"'”’)").endswith((":", ".", "!", "?", "—", "–", "-", "|"))
    return ends or word.lower() in _MONTHS or word.lower() in _SMALL or word.lower() in _COMMON


def folded(text: str) -> str:
    """A text as facts are looked for in it: no upper case, no marks inside of numbers."""
    return _GROUPED.sub("", text.casefold())


def stands(fact: Fact, text: str) -> bool:
    """Whether a fact stands in a text (which is `folded`), and not as a part of a longer word or number."""
    if fact.kind == DATE:
        return any(found.key == fact.key for found in _dates(text))
    return _stands(fact.key, text) or (fact.kind == PATH and _path_stands(fact.key, text))


def _path_stands(key: str, text: str) -> bool:
    """The same for a path that is written from elsewhere, an address without its scheme, words with a slash between."""
    short = re.sub(r"^(?:[a-z][a-z0-9+.-]*://|[~.]*/)", "", key).strip("/")
    parts = key.split("/")
    words = "." not in key and all(part.isalpha() for part in parts) and len(parts) == 2
    return (len(short) > 1 and _stands(short, text)) or (words and all(_stands(part, text) for part in parts))


def _stands(key: str, text: str) -> bool:
    at = text.find(key)
    while at >= 0:
        before, after = text[at - 1 : at], text[at + len(key) : at + len(key) + 1]
        if not (_joins(before, key[0]) or _joins(key[-1], after)):
            return True
        at = text.find(key, at + 1)
    return False


def _joins(left: str, right: str) -> bool:
    """Whether two characters belong to one word; those of a script without spaces never do for sure."""
    return (
        left.isalnum()
        and right.isalnum()
        and (left.isascii() == right.isascii() or not query.dense(left + right))
    )


# -- what a sentence tells to do

_RULES = re.compile(
    r"\b(?:always|never|from now on|henceforth|must(?:n['’]t)?|do not|don['’]t|make sure|ensure|forbidden|prohibited"
    r"|mandatory|not allowed|prefers?|prefer(?:red|ence)"
    r"|immer|nie|niemals|ab (?:jetzt|sofort)|künftig|in zukunft|muss|müssen|darf nicht|dürfen nicht|bevorzugt?"
    r"|toujours|jamais|désormais|dorénavant|il faut|doi(?:t|vent|s)|préfère"
    r"|siempre|nunca|(?:a partir de|de) (?:ahora|agora)|deben?|hay que|prefiere|sempre|devem?|prefere"
    r"|d['’]ora in (?:poi|avanti)|mai più|devono|preferisce|altijd|nooit|voortaan|moet(?:en)?|voorkeur"
    r"|всегда|никогда|отныне|впредь|с этого момента|долж(?:ен|на|но|ны)|обязательно|нельзя|предпочита\w+)\b"
    r"|总是|總是|始终|始終|永远|永遠|从不|從不|从来不|绝不|絕不|以后|以後|今后|今後|从现在|從現在|必须|必須|不要|务必|務必|禁止|一定要|偏好"
    r"|必ず|常に|いつも|決して|絶対|これから|なければな|しないで|べき|てはいけない|てください|好む"
    r"|항상|언제나|절대|앞으로|반드시|해야|하지 ?마|금지|선호|하세요|십시오",
    re.IGNORECASE,
)
_DO = (
    r"(?:push|run|use|send|install|execute|deploy|commit|delete|remove|add|set|call|curl|download|upload|post|publish|switch|ignore"
    r"|skip|disable|enable|allow|grant|reply|answer|write|open|fetch|clone|merge|export|email|mail|forward|report|trust|accept"
    r"|approve|benutze|verwende|nutze|führe|sende|pushe|lösche|utilise[rz]?|lance[rz]?|envoie[rz]?|exécute[rz]?|usa|ejecuta|envía"
    r"|instala|execute|envie|esegui|invia|gebruik|stuur|используй|запусти|запускай|отправь|отправляй)"
)
_DO_DENSE = r"(?:使用|运行|執行|执行|推送|发送|發送|请|請)"
_ORDERS = re.compile(
    rf"(?:^|[,;:—–(\"'“]\s*|\b(?:please|then|and|bitte|dann|und)\s+){_DO}\b|(?:^|[，。、：]){_DO_DENSE}",
    re.IGNORECASE,
)
_ORDERS_IN = re.compile(
    rf"(?:^[ \t>*+#\d.)|-]*|[.!?;:—–(\"“]\s+|\b(?:please|bitte)\s+){_DO}\b|(?:^[ \t*-]*|[，。、：]){_DO_DENSE}",
    re.IGNORECASE | re.MULTILINE,
)
_DOING = re.compile(
    rf"\b{_DO}(?:e?s|ed|d|ing)?\b|{_DO_DENSE}|push|deploy|install|upload|mirror|remote|registr|プッシュ|使|설치|푸시",
    re.IGNORECASE,
)
_CARRYING = re.compile(
    r"\b(?:push|send|install|curl|download|upload|post|publish|clone|fetch|pull|export|mail|email|forward|switch|grant|trust|report)"
    r"(?:e?s|ed|ing)?\b|推送|发送|安装|プッシュ|설치|푸시",
    re.IGNORECASE,
)


def shown(text: str) -> str:
    """A sentence as it is shown: without the marks of Markdown that may stand inside of words."""
    return re.sub(r"\\\s*|[*~]+|(?<=\w)_+(?=\W|$)|(?<!\w)_+(?=\w)", "", html.unescape(text))


def _has(pattern: re.Pattern[str], text: str) -> bool:
    """Whether a pattern stands in a text, also where its letters are wide, ornamental or struck through."""
    plain = unicodedata.normalize("NFKC", text)
    return pattern.search(plain) is not None or pattern.search(bare_letters(plain)) is not None


def rules_in(text: str) -> Iterator[int]:
    """Where in a text there is a word that makes a rule of its sentence: always, never, must, from now on."""
    return (match.start() for match in _RULES.finditer(text))


def orders_in(text: str) -> Iterator[int]:
    """Where in a text a line or a sentence begins with an imperative."""
    return (match.end() for match in _ORDERS_IN.finditer(text))


def is_doing(text: str, *, only_carrying: bool = False) -> bool:
    """Whether a text speaks of what an agent could do; ``only_carrying``: of bringing something in or out."""
    return (_CARRYING if only_carrying else _DOING).search(text) is not None


def is_rule(sentence: Sentence) -> bool:
    """Whether a sentence says what holds from now on: a rule, a preference, a ban."""
    return not sentence.is_code and _has(_RULES, sentence.text)


def orders(sentence: Sentence) -> list[str]:
    """What of a sentence tells to do something: all of it where it is an imperative, else the commands in it."""
    if sentence.is_code or _has(_ORDERS, sentence.text):
        return [sentence.text]
    return [span[1] for span in _CODE.findall(sentence.text) if " " in span[1].strip()]


_ASCRIBING = frozenset(
    map(
        _counted,
        (
            "person user owner team agent project want ask wish say tell decide agree demand request convention"
            " practice policy way habit default go"
        ).split(),
    )
)


def told(text: str) -> set[str]:
    """The words of a sentence that say what is done, without those that say only who wants it so."""
    return set(content(text)) - _ASCRIBING
