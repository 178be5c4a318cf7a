"""Whether a session takes a note back: a person wants it forgotten, or somebody says that what it tells is over.

Only words that bear on this very note count: those of its name, or a good part of those in it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from neosian.dream import claims
from neosian.dream.heard import Heard

_AROUND = 160  # characters before and after the word that ends something
_BEARS = 0.3  # of a note's words, beside such a word
_OF_A_RULE = 0.5  # of a rule's
_MOST_BY_NAME = 3  # facts that go with a note of which only the name was said

_NOTES = (
    r"(?:notes?\b|memories|(?:from|your) memory|wiki|notiz\w*|souvenirs?|notas?\b|recuerdos?|memórias?|appunt\w+"
    r"|notities?|замет\w+|笔记|筆記|记忆|メモ|記憶|메모|노트|기억)"
)
_FORGET = re.compile(
    r"(?<!n['’]t )(?<!not )(?<!never )(?<!I )\bforget\b|\bvergiss\b(?! nicht)|(?<!n['’])\boublie[zr]?\b"
    r"|(?<!no )\bolvid[ae]\w*|(?<!não )\besque[çc]\w+|(?<!non )\bdimentica\w*|\bvergeet\b(?! niet)|(?<!не )\bзабудь\w*"
    r"|忘れて(?:くだ|いい|ほし)|(?<!不要)(?<!别)(?:忘记|忘掉)|잊어|"
    r"\b(?:delete|remove|drop|erase|discard|lösch\w*|entfern\w*|supprime[zr]?|efface[zr]?|borra\w*|elimina\w*|apag\w+"
    rf"|cancella\w*|verwijder\w*|удали\w*)\b[^.!?\n]{{0,60}}\b{_NOTES}"
    rf"|(?:删除|刪除|削除|삭제)[^。！？\n]{{0,30}}{_NOTES}|{_NOTES}[^。！？\n]{{0,30}}(?:删除|刪除|削除|삭제)",
    re.IGNORECASE,
)
"""A note itself is to go."""
_OVER = re.compile(
    r"\b(?:no longer|any ?more|from now on|obsolete|outdated|out of date|abandoned|used to|instead of|may now"
    r"|(?:not|n['’]t) (?:use|need|do|true|necessary)|changed (?:my|our) mind|switch(?:ed)? (?:from|over|away)"
    r"|may\b.{1,60}\bagain|(?:is|are) (?:fine|ok(?:ay)?|allowed)"
    r"|nicht mehr|kein\w*\b.{1,40}\bmehr|ab (?:jetzt|sofort)|künftig|veraltet\w*|überholt|abgeschafft|(?:an)?statt"
    r"|umgestiegen|dürf\w+\b.{1,60}\bwieder|n(?:e |['’]).{1,40}\bplus|désormais|obsolète\w*|périmé\w*|au lieu"
    r"|abandonné\w*|ya no|a partir de (?:ahora|agora)|obsolet\w+|en (?:lugar|vez) de|dejamos de|já não"
    r"|não\b.{1,40}\bmais|em vez de|deixamos de|non\b.{1,40}\bpiù|d['’]ora in|invece di|abbandonat\w+|niet meer"
    r"|geen\b.{1,40}\bmeer|voortaan|verouderd\w*|in plaats van|overgestapt"
    r"|больше не|уже не|отныне|впредь|устарел\w*|вместо|отказались|перешли)\b"
    r"|不再|已不|已经不|从现在|今后|以后|过时|過時|改用|废弃|作废|不需要|もう|これから|今後|やめ|廃止|不要|代わりに"
    r"|더 이상|앞으로|폐지|대신|필요 없",
    re.IGNORECASE,
)
"""What was so is not so now: a rule may go by it, too."""
_GONE = re.compile(
    r"\b(?:stale|retired|cancell?ed|decommissioned|shut down|(?:switched|turned) off|gone|(?:get|got) rid of|stopped"
    r"|wrong|replaced|mov(?:e|ed) (?:away|from|off|to)|switch(?:ed)? to|migrated|dropped|removed|deleted|uninstalled"
    r"|does(?:n['’]t| not) exist|abgeschaltet|ersetzt|gewechselt|entfernt|gelöscht|falsch|remplacé\w*|supprimé\w*|faux"
    r"|reempla\w+|cambiamos|eliminad\w+|substitu\w+|trocamos|removid\w+|sostituit\w+|rimoss\w+|vervangen|verwijderd"
    r"|замен\w+|удал[её]н\w*)\b|取消|错了|已删除|間違|削除しました|틀렸|삭제했",
    re.IGNORECASE,
)
"""Something was taken away or changed."""
_REMOVING = re.compile(r"\b(?:rm|uninstall|unset|drop)\b", re.IGNORECASE)


def is_taken_back(name: str, told: str, facts: int, rules: Sequence[str], heard: Heard) -> bool:
    """Whether persons take a note back, so that what only it knows may go: so many ``facts``, and these ``rules``.

    ``name`` says what it is about, ``told`` is all that it tells.
    """
    topic, words = set(claims.content(name.replace("-", " "))), set(claims.content(told))
    for around in _around(_FORGET, heard.persons_own):
        near = set(claims.content(around))
        if _is_named(topic, near) or _bears(words, near, _BEARS) or _names_one(told, around):
            return True
    patterns = (_OVER,) if rules else (_OVER, _GONE)
    for around in (each for pattern in patterns for each in _around(pattern, heard.persons_own)):
        near = set(claims.content(around))
        is_meant = _bears(words, near, _BEARS) or (_is_named(topic, near) and facts <= _MOST_BY_NAME)
        if is_meant and all(_bears(set(claims.content(rule)), near, _OF_A_RULE) for rule in rules):
            return True
    return False


def is_rule_over(rule: str, heard: Heard) -> bool:
    """Whether persons say that a rule holds no longer."""
    words = set(claims.content(rule))
    said = (each for pattern in (_FORGET, _OVER) for each in _around(pattern, heard.persons_own))
    return any(_bears(words, set(claims.content(around)), _OF_A_RULE) for around in said)


def is_found_over(told: str, heard: Heard) -> bool:
    """Whether the agent found, or made, that what a note tells is over: it said so of most that the note names."""
    ended = (each for pattern in (_OVER, _GONE) for each in _around(pattern, heard.agent))
    said = "\n".join([*ended, *filter(_REMOVING.search, heard.commands.split("\n"))])
    named = claims.identifiers(told).values()
    if named:
        folded = claims.folded(said)
        return 2 * sum(claims.stands(each, folded) for each in named) >= len(named)
    return _bears(set(claims.content(told)), set(claims.content(said)), 0.5)


def _around(pattern: re.Pattern[str], text: str) -> Iterator[str]:
    """What stands around each place of a text that a pattern finds, in its own paragraph."""
    for paragraph in text.split("\n\n"):
        for match in pattern.finditer(paragraph):
            yield paragraph[max(0, match.start() - _AROUND) : match.end() + _AROUND]


def _bears(words: set[str], near: set[str], share: float) -> bool:
    """Whether a good part of some words stands there: one alone may do so by chance."""
    return bool(words) and len(words & near) >= max(min(2, len(words)), share * len(words))


def _is_named(topic: set[str], near: set[str]) -> bool:
    return bool(topic) and topic <= near


def _names_one(told: str, around: str) -> bool:
    """Whether something that the note names as code stands there."""
    folded = claims.folded(around)
    return any(claims.stands(each, folded) for each in claims.identifiers(told).values())
