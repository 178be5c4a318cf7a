"""What a sentence of a note rests on, where nobody said it and nothing was done about it: a file or page that was read.

Such a thing has its own place and may change there, or somebody may have put it there to be believed. So a note points
to it, or says who says so.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from neosian.dream import claims, clauses
from neosian.dream.claims import Fact, Sentence
from neosian.dream.heard import Heard

POINTED_MOST = 3
"""Facts of one file that a pointer to it may tell."""
_NEAR = 0.5  # of a sentence's words that stand close together in what was read
_SAME = 0.8
_WORDS_LEAST = 8  # words of a sentence that tells of a file without naming anything in it
_SAID = 0.5
_PRECISE = 3  # digits of a number that means one thing
_BROUGHT = 0.6  # of a sentence's words that stand close together in what others wrote
_PRINTED = 0.75  # the same in what a command printed, of a sentence that names what it found
_LEAST = 2  # words of a sentence of which that can be told
_LEAST_OF_TOPIC = 3  # of a heading or a name
_TOPIC_MOST = 3  # words, small ones too, of one that says no more than what it is about
_LONGEST = 1_000  # characters of a sentence that says who says so
_PIECE_LEAST = 3  # words of a piece of a sentence that is looked at by itself
_PIECES = re.compile(r"[,;:—–|()，；：、]+(?:\s|$)|\s(?:and|und|et|y|e|en|и)\s")
_NAME_OF_FILE = re.compile(r"\.|file$")  # what no word of prose is taken for
_SPAN = re.compile(r"`([^`]+)`")
_WHERE = frozenset(
    ("page", "file", "doc", "docs", "readme", "news", "site", "guide", "manual", "output", "command")
)

_OURS = re.compile(
    r"^\W*(?:(?:we|our|everyone|everybody|all|the (?:team|project|person|people|user|owner|company|group)s?"
    r"|this project|wir|unser\w*|das (?:team|projekt)|alle|nous|notre|toute?s?|l['’]équipe|le projet|nosotros|nuestr\w+"
    r"|tod[ao]s|el (?:equipo|proyecto)|nossa?|a equipe|o projeto|tutti|il (?:team|progetto)|ons|het (?:team|project)"
    r"|мы|наш\w*|команда|проект|все)\b"
    r"|我们|我們|团队|項目|项目|所有|全员|私たち|チーム|プロジェクト|すべて|우리|팀|프로젝트|모든)",
    re.IGNORECASE,
)


class Restated(NamedTuple):
    """A sentence that tells what stands in a file: the facts of it, and the paths by which the file was named."""

    text: str
    facts: tuple[str, ...]
    paths: frozenset[str]


def restated(sentences: Iterable[Sentence], heard: Heard, held: str) -> Iterator[Restated]:
    """Those sentences whose facts were merely read in a file; ``held`` is what notes said before, folded."""
    for sentence in sentences if heard.reads else ():
        words = set(claims.content(sentence.text))
        is_near = heard.read_words.share(words) >= _NEAR
        near = [each for each in heard.reads if is_near and each.words.near(words, _NEAR)]
        facts, paths = list[str](), set[str]()
        for fact in claims.facts(sentence.text).values():
            if claims.stands(fact, heard.own) or claims.stands(fact, held) or _is_place(fact, heard):
                continue
            at = [each for each in heard.reads if claims.stands(fact, each.folded)]
            is_told = claims.stands(fact, heard.worked_answers)
            if any(each in near for each in at) or (at and _is_precise(fact) and not is_told):
                facts.append(fact.key)
                paths.update(path for each in at for path in each.paths)
        same = [each for each in near if len(words) >= _WORDS_LEAST and each.words.near(words, _SAME)]
        if same and not facts and heard.persons_words.share(words) < _SAID:
            paths.update(path for each in same for path in each.paths)
        if facts or (same and heard.persons_words.share(words) < _SAID):
            yield Restated(sentence.text, tuple(facts), frozenset(paths))


def _is_precise(fact: Fact) -> bool:
    is_long = fact.kind == claims.NUMBER and len(fact.key) >= _PRECISE and not claims.is_year(fact.key)
    return is_long or fact.key in claims.identifiers(fact.said) or fact.kind == claims.PATH


def _is_place(fact: Fact, heard: Heard) -> bool:
    """Whether a fact is the path of a file that was read: a pointer."""
    return any(path.endswith(fact.key.lstrip("./")) for path in heard.read_paths)


def names_one(text: str, paths: Iterable[str]) -> bool:
    """Whether a text names one of some files, by the last part of its path at least."""
    folded = claims.folded(text)
    names = {path.rstrip("/").rpartition("/")[2].casefold() for path in paths}
    return any(claims.stands(Fact(claims.NAME, name, name), folded) for name in names if name)


def is_merely_shown(sentence: Sentence, heard: Heard, *, is_topic: bool = False) -> bool:
    """Whether a sentence, or a piece of it, tells what tools alone showed, and does not say so.

    In whatever language or form: most of its words stand close together in what others wrote, or in what a command
    printed, and neither a person nor the agent said or did as much. ``is_topic``: it is a heading or a name.
    """
    text = claims.shown(sentence.text)
    if is_cited(text, heard):
        return False
    least = _LEAST_OF_TOPIC if is_topic and len(text.split()) <= _TOPIC_MOST else _LEAST
    pieces = [piece for piece in _PIECES.split(text) if len(claims.told(piece)) >= _PIECE_LEAST]
    return any(_rests_on_tools(each, least, heard) for each in (text, *pieces))


def _rests_on_tools(text: str, least: int, heard: Heard) -> bool:
    words = claims.told(text)
    if len(words) < least:
        return False
    plain = _plain(text, words)
    is_precise = plain != words
    share = _PRINTED if is_precise else _BROUGHT
    is_printed = heard.printed_words.near(plain - heard.used_words.among(plain), share, least)
    is_found = is_precise and heard.printed_words.near(plain, _BROUGHT, least)
    is_brought = not is_found and heard.brought_words.near(plain, _BROUGHT, least)
    if not (is_printed or is_brought):
        return False
    is_done = heard.used_words.near(words, _BROUGHT, least)
    return not (is_done or heard.is_told(text, _BROUGHT))


def _plain(text: str, words: set[str]) -> set[str]:
    """Those of a text's words that are no part of a path, a flag or a number; back quotes do not make one."""
    named = claims.identifiers(text.replace("`", " ")).values()
    precise = {word for each in named for word in claims.content(each.said)}
    return {word for word in words - precise if not word.isdigit()}


def is_cited(text: str, heard: Heard) -> bool:
    """Whether a sentence says who says so: it reports, or begins with a source, or names one beside a fact."""
    if len(text) > _LONGEST:
        return False
    if clauses.is_attributed(text):
        return True
    folded = claims.folded(text)
    files = {path.rpartition("/")[2] for path in heard.read_paths}
    named = {name for name in (*filter(_NAME_OF_FILE.search, files), *heard.pages) if name in folded}
    named |= {
        span
        for span in _SPAN.findall(folded)
        if any(f"{line} ".startswith(f"{span} ") for line in heard.ran_lines)
    }
    rest = folded
    for name in named:
        rest = re.sub(rf"\S*{re.escape(name)}\S*", " ", rest)
    words = claims.told(rest)
    if named and _plain(rest, words) != words:
        return True
    commands = {line for line in heard.ran_lines if " " in line}
    first = (folded.find(name) for name in {*named, *commands})
    return any(at >= 0 and not set(claims.content(_before(folded[:at]))) - _WHERE for at in first)


def _before(text: str) -> str:
    """What stands before a name, without the folders in which the file of that name lies."""
    return text[: max(text.rfind(" "), text.rfind("`")) + 1]


def is_of_others(sentence: Sentence, heard: Heard, held: str) -> bool:
    """Whether a sentence tells what only a page or a file says, and does not say so."""
    if clauses.is_attributed(sentence.text):
        return False
    tokens = claims.tokens(sentence.text)
    unproven = [fact for fact in tokens if not claims.stands(fact, heard.used) and not _is_place(fact, heard)]
    if any(claims.stands(fact, heard.ordered) for fact in unproven):
        return True
    if names_one(sentence.text, heard.read_paths) or any(
        page in sentence.text.casefold() for page in heard.pages
    ):
        return False
    precise = claims.identifiers(sentence.text).values()
    seen = [fact for fact in precise if not (claims.stands(fact, heard.own) or claims.stands(fact, held))]
    if any(claims.stands(fact, heard.looked) and not claims.stands(fact, heard.read_folded) for fact in seen):
        return True
    return _tells_of_us(sentence.text, heard)


def _tells_of_us(text: str, heard: Heard) -> bool:
    """Whether it says what the team does or uses, in words that only a page or a file has."""
    words = claims.told(text)
    if not _OURS.match(text) or len(words) < 2:
        return False
    is_supported = heard.persons_words.share(words) >= _SAID or heard.own_words.near(words, _SAID)
    return not is_supported and heard.read_words.near(words, _NEAR)
