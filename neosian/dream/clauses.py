"""What somebody says as their own: clause by clause, each a yes or a no, without questions, quotations and reports.

Who says `never skip it` has not said `always skip it`; nor has who asks whether to, or repeats what a page says.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from typing import NamedTuple

from neosian.dream import claims, prose


class Clause(NamedTuple):
    """A part of a sentence that says one thing: what it says, and whether it is a no.

    ``before`` is the yes whose verb a no goes on with: `we deploy on Tuesdays, never on a Friday`.
    """

    text: str
    is_no: bool
    before: str = ""


_PASTED = re.compile(
    r"^[ \t]*(`{3,}|~{3,}).*?(?:^[ \t]*\1[ \t]*$|\Z)|^[ \t]*>[^\n]*|^(?:[ ]{4,}|[ ]{0,3}\t)(?!\s*(?:[-*+•]"
    r"|\d{1,3}[.)])\s)[^\n]*",
    re.DOTALL | re.MULTILINE,
)
_QUOTED = re.compile(
    r"\"[^\"\n]*\"|“[^”\n]*”|„[^“”\n]*[“”]|«[^»\n]*»|「[^」\n]*」|『[^』\n]*』"
    r"|(?<!\w)['‘][^'’\n]*\s[^'’\n]*['’](?!\w)"
)
_KEEP = re.compile(
    r"\b(?:remember|keep in mind|note|rule|write down|merk\w*|notier\w*|regel|retiens|retene[zr]|souviens"
    r"|note[zr]|règle"
    r"|recuerda|anota|regla|lembr\w+|regra|ricorda\w*|regola|onthoud\w*|запомни\w*|правило)\b|记住|記住|規則"
    r"|规则|覚えて|기억",
    re.IGNORECASE,
)
"""What stands in quotation marks behind these is what is to be kept."""
_LISTED = re.compile(r"[ \t]*(?:[-*+•]|\d{1,3}[.)]|#{1,6}|\|)[ \t]")

_NO = (
    r"(?:(?:\b(?:never|not|no|nobody|no one|nothing|cannot|none|neither|nor|forbid\w*|forbidden|prohibit\w*"
    r"|avoid\w*|stop|refuse|disallow\w*|ban(?:ned)?"
    r"|instead of|rather than|nie|niemals|niemand|nicht|nichts|kein\w*|verboten|vermeide\w*|(?:an)?statt|jamais"
    r"|pas|interdit\w*|évite\w*|au lieu"
    r"|ne|n['’](?=\w)|non|personne|rien|nunca|jamás|nadie|ninguém|nessuno|ning[uú]n\w*|prohibid\w+|proibid\w+"
    r"|evit\w+|en (?:vez|lugar)|em vez|não|nem|mai più|vietat\w+"
    r"|invece di|nooit|niet|niemand|geen|vermijd\w*|verboden|in plaats|не|нет|никогда|никто|нельзя|запрещ\w+"
    r"|избега\w+|вместо|nigdy|nikt|zakaz\w*"
    r"|zamiast|asla|hiçbir|değil|yerine|لا|ليس|لن|لم|ممنوع|بدلا)\b|\w+n['’]t\b|नहीं|मत(?!\w)|[不别別勿没沒莫]"
    r"|禁止|而非|决不|絕不"
    r"|ない|ません|ずに|決して|代わり|않|(?<!\w)(?:안|못)\s|지 ?(?:마|말)|금지|대신))"
)
_IS_NO = re.compile(_NO, re.IGNORECASE)
_YES_AFTER_ALL = re.compile(
    r"\b(?:don['’]?t|do not|never|not) (?:forget|hesitate|miss)\b|\bnot only\b|\bno (?:matter|doubt|problem"
    r"|worries)\b"
    r"|\bnothing but\b|\bvergiss nicht\b|\bnicht (?:vergessen|nur)\b|\bn['’]oublie\w* (?:pas|jamais)\b"
    r"|\bno (?:te |se )?olvid\w+"
    r"|\bnão (?:se )?esque\w+|\bnon dimentica\w*|\bvergeet niet\b|\bне забу\w+|不要忘\w?|别忘\w?|別忘\w?|不得不"
    r"|不仅|不但"
    r"|なければ(?:なりません|ならない|いけない|いけません)|ないと(?:いけない|いけません|だめ)|忘れ(?:ないで"
    r"|ずに)|잊지 ?(?:마|말)\w*"
    r"|않으면 안",
    re.IGNORECASE,
)
"""Twice no, or none at all."""
_ANSWER = re.compile(
    r"^\W*(?:no|nope|nah|nein|nee|non|não|нет|nie|hayır|いいえ|いや|不是|不|아니요?)\s*[,.!，、。]\s*",
    re.IGNORECASE,
)
"""A no to what was said before."""
_AND = r"(?:but|and|or|und|aber|oder|et|mais|ou|y|e|pero|o|ma|en|maar|of|и|а|но|или)"
_CUT = re.compile(
    rf"[;；|]\s*|:(?=\s)\s*|：|\s[—–-]\s|—|(?:[,，、]\s*(?:{_AND}\s+)?|\s+{_AND}\s+)(?={_NO})"
    r"|\s+(?=(?:instead of|rather than|(?:an)?statt|au lieu|en (?:vez|lugar) de|em vez|invece di|in plaats van"
    r"|вместо)\b)"
    r"|[,，、]?\s+(?:but|instead(?! of)|sondern|sino)\s+|(?:而是|而要)"
    r"|[,，、]\s*(?=(?:so|because|since|weil|denn|da|donc|car|porque|pues|perché|omdat|dus|потому|поэтому)\b"
    r"|因为|所以)"
    rf"|[,，、]\s*(?:{_AND}\s+)?(?=(?:always|only|immer|nur|toujours|siempre|sempre|altijd|всегда)\b|总是|必ず|항상)",
    re.IGNORECASE,
)
_LONGEST = 600  # characters of a sentence that somebody types
_ASKED = re.compile(r"[?？؟՞][\s\"'”’»)\]*_]*$")
_REQUEST = re.compile(
    r"^\W*(?:(?:and|so|ok|okay|please|bitte)\W+)*(?:(?:can|could|will|would) you|kannst du|könntest du|würdest du"
    r"|(?:peux|pourrais)[- ]tu|pouvez[- ]vous|pourriez[- ]vous|puedes|podrías|pode(?:ria)?s?|puoi|potresti"
    r"|kun je|zou je"
    r"|можешь|не мог)\b|,\s*(?:ok(?:ay)?|please|alright|yes|bitte|ja)\s*[?？]+\s*$",
    re.IGNORECASE,
)
"""A question that is an order."""
_ASKING = re.compile(
    r"^\W*(?:(?:and|so|but|well|hm+)\W+)*(?:(?:should|shall|do|does|did|is|are|was|were|must|may|can|could"
    r"|would|will)\s+"
    r"(?:we|i|you|they|he|she|it|the|this|that|there|people|agents?)\b|(?:why|how come|what about)\b"
    r"|(?:soll(?:en|te|ten)?|muss|müssen|darf|dürfen|ist|sind)\s+(?:wir|ich|man|es|das|die|der)\b|(?:warum"
    r"|wieso|weshalb)\b"
    r"|est-ce|faut-il|pourquoi|por qu[eé]|perché|waarom|moet(?:en)? (?:we|ik|wij)\b|почему|зачем|стоит ли|нужно ли)"
    r"|\b(?:whether|wondering)\b|\b(?:ask(?:ed)?|know|tell me|check|see|find out|sure|wonder) if\b|\bob (?:wir"
    r"|man|ich)\b"
    r"|\bсто́?ит ли\b|是否|かどうか|인지\s",
    re.IGNORECASE,
)

_WHERE = (
    r"(?:pages?|(?:web)?sites?|readme|docs?|documentation|files?|articles?|posts?|blogs?|issues?|comments?"
    r"|outputs?|logs?"
    r"|results?|guides?|manual|changelog|news|seiten?|datei\w*|doku\w*|artikel|ausgabe|fichiers?|sortie|páginas?"
    r"|archivos?|arquivos?|documentación|pagin[ae]|bestand|файл\w*|страниц\w+|stron\w+|plik\w*|sayfa\w*|dosya\w*"
    r"|الصفحة|صفحة|الملف|पृष्ठ|पेज|फ़ाइल|\S+[./]\S+)"
)
_SAYS = (
    r"(?:says?|said|claims?|states?|recommends?|advises?|suggests?|asks?|tells?|instructs?|reads|writes|orders?"
    r"|demands?"
    r"|wants?|sagt|schreibt|empfiehlt|verlangt|steht|dit|indique|recommande|demande|dice|pide|indica|diz|pede|chiede"
    r"|zegt|schrijft|vraagt|говорит|пишет|просит|mówi|podaje|zaleca|diyor|söylüyor|yazıyor|öneriyor)"
)
_ATTRIBUTED = re.compile(
    rf"\b{_WHERE}\b[^.;!?]{{0,60}}?\b{_SAYS}\b|\b{_SAYS}\s+(?:\w+\s+){{0,2}}{_WHERE}\b"
    r"|\b(?:according to|as per|laut|selon|según|segundo|secondo|volgens|согласно|według|وفق[اً]?\w*|حسب)"
    rf"\s+(?:[^\s.;]+\s+){{0,6}}?{_WHERE}\b"
    r"|(?:页|頁|文件|文档|网站|ページ|ファイル|サイト|페이지|파일|문서)[^。；]{0,30}(?:说|説|称|要求|写"
    r"|によると|書|있다|따르면)"
    r"|(?:根据|据)[^。；]{0,20}(?:页|文件|文档)|(?:تقول|يقول|تنص|ينص|توصي)\s+\w*(?:صفحة|ملف)\w*|(?:पृष्ठ|पेज"
    r"|फ़ाइल)[^।]{0,40}(?:कहत|लिखा)",
    re.IGNORECASE,
)
_PERSONS = re.compile(
    r"\b(?:we|they|he|she|you|team|person|people|user|owner|project|everyone|everybody|wir|équipe|nous|equipo|equipe)"
    rf"\s+{_SAYS}\b",
    re.IGNORECASE,
)
_REPORTED = re.compile(
    rf"\b(?:it|this|that|which|there|es|das|ça|cela|esto|isso)\s+(?:also\s+|just\s+)?{_SAYS}\b"
    rf"|それによると",
    re.IGNORECASE,
)


def is_attributed(text: str) -> bool:
    """Whether a sentence says of a page, a file or the like that it says so."""
    if len(text) > _LONGEST:
        return False
    return _ATTRIBUTED.search(text) is not None and _PERSONS.search(text) is None


def without_pastes(text: str) -> str:
    """What somebody wrote without code blocks, quoted lines, and lines that are indented as code."""
    return _PASTED.sub("", textwrap.dedent(text))


def of(sentence: str) -> list[Clause]:
    """The clauses of a sentence."""
    text = _ANSWER.sub("", _YES_AFTER_ALL.sub(" ", " ".join(sentence.split())), count=1)
    found: list[Clause] = []
    for part in (part.strip() for part in _CUT.split(text) if part):
        if any(map(str.isalnum, part)):
            goes_on = bool(found) and found[-1].is_no and not claims.content(found[-1].text)
            is_no = goes_on or _IS_NO.search(part) is not None
            before = found[-1].text if found and is_no and not found[-1].is_no else ""
            found.append(Clause(part, is_no, before))
    return found


def own(text: str) -> list[Clause]:
    """The clauses in which somebody says something themselves, of all that they wrote."""
    return [
        clause
        for line in _unled(without_pastes(text))
        for sentence in prose.of_line(line)
        if len(sentence) <= _LONGEST and not (_is_question(sentence) or _reports(sentence))
        for clause in of(_unquoted(sentence))
    ]


def _is_question(sentence: str) -> bool:
    is_asked = _ASKED.search(sentence) or _ASKING.search(sentence)
    return is_asked is not None and _REQUEST.search(sentence) is None


def _reports(sentence: str) -> bool:
    return is_attributed(sentence) or (len(sentence) <= _LONGEST and _REPORTED.search(sentence) is not None)


def _unquoted(sentence: str) -> str:
    return sentence if _KEEP.search(sentence) else _QUOTED.sub(" ", sentence)


def _unled(text: str) -> Iterator[str]:
    """The paragraphs and list items of a text, without those that a line such as `the page says:` leads to."""
    is_led = False
    for lines in _paragraphs(text):
        if not is_led:
            yield from _items(lines)
        is_led = not is_led and lines[-1].endswith((":", "：")) and _reports(lines[-1])


def _paragraphs(text: str) -> Iterator[list[str]]:
    """The paragraphs of a text; a line that reports what somebody else says ends one, where it ends in a colon."""
    lines: list[str] = []
    for line in [*(" ".join(each.split()) for each in text.split("\n")), ""]:
        lines += [line] if line else []
        if lines and (not line or (line.endswith((":", "：")) and _reports(line))):
            yield lines
            lines = []


def _items(lines: list[str]) -> Iterator[str]:
    """A paragraph on one line; each item of a list by itself."""
    first = 0
    for at, line in enumerate(lines[1:], 1):
        if _LISTED.match(line):
            yield " ".join(lines[first:at])
            first = at
    yield " ".join(lines[first:])
