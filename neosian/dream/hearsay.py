"""What a sentence of a note rests on, where nobody said it and nothing was done about it: a file or page that was read.

Such a thing has its own place and may change there, or somebody may have put it there to be believed. So a note points
to it, or says who says so.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from neosian.dream import claims
from neosian.dream.claims import Fact, Sentence
from neosian.dream.heard import Heard

POINTED_MOST = 3
"""Facts of one file that a pointer to it may tell."""
_NEAR = 0.5  # of a sentence's words that stand close together in what was read
_SAME = 0.8
_WORDS_LEAST = 8  # words of a sentence that tells of a file without naming anything in it
_SAID = 0.5
_PRECISE = 3  # digits of a number that means one thing

_WHERE = (
    r"(?:pages?|(?:web)?sites?|readme|docs?|documentation|files?|articles?|posts?|blogs?|issues?|comments?|outputs?|logs?"
    r"|results?|guides?|manual|changelog|news|seiten?|datei\w*|doku\w*|artikel|ausgabe|fichiers?|sortie|páginas?"
    r"|archivos?|arquivos?|documentación|pagin[ae]|bestand|файл\w*|страниц\w+|\S+[./]\S+)"
)
_SAYS = (
    r"(?:says?|said|claims?|states?|recommends?|advises?|suggests?|asks?|tells?|instructs?|reads|writes|orders?|demands?"
    r"|wants?|sagt|schreibt|empfiehlt|verlangt|steht|dit|indique|recommande|demande|dice|pide|indica|diz|pede|chiede"
    r"|zegt|schrijft|vraagt|говорит|пишет|просит)"
)
_ATTRIBUTED = re.compile(
    rf"\b{_WHERE}\b[^.;!?]{{0,60}}?\b{_SAYS}\b|\b{_SAYS}\s+(?:\w+\s+){{0,2}}{_WHERE}\b"
    r"|\b(?:according to|as per|laut|selon|según|segundo|secondo|volgens|согласно)"
    rf"\s+(?:[^\s.;]+\s+){{0,6}}?{_WHERE}\b"
    r"|(?:页|頁|文件|文档|网站|ページ|ファイル|サイト|페이지|파일|문서)[^。；]{0,30}(?:说|説|称|要求|写|によると|書|있다|따르면)"
    r"|(?:根据|据)[^。；]{0,20}(?:页|文件|文档)",
    re.IGNORECASE,
)
_PERSONS = re.compile(
    r"\b(?:we|they|he|she|you|team|person|people|user|owner|project|everyone|everybody|wir|équipe|nous|equipo|equipe)"
    rf"\s+{_SAYS}\b",
    re.IGNORECASE,
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


def is_of_others(sentence: Sentence, heard: Heard, held: str) -> bool:
    """Whether a sentence tells what only a page or a file says, and does not say so."""
    if is_attributed(sentence.text):
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


def is_attributed(text: str) -> bool:
    """Whether a sentence says of a page, a file or the like that it says so."""
    return _ATTRIBUTED.search(text) is not None and _PERSONS.search(text) is None
