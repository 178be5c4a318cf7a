"""What a person asked to be remembered: the sentences of a prompt that say remember, always, never, prefer.

A sentence counts where it asks, and not where it merely tells: `always run the tests` is a wish, `the build always
fails`, `why does it never work` and `I can't remember` are none. Each language has a pattern of what asks and one of
turns that look like it and do not. Better to miss a wish than to make one up.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import NamedTuple

from neosian import speech
from neosian.dream import prose

LONGEST = 240
"""Characters of a wish."""
_LIST_MOST = 8  # lines of a list that one wish leads to
_FEW_WORDS, _FEW_DENSE = (
    4,
    8,
)  # a wish of so few words (characters of scripts without blanks) points at what it follows
_REDACTED = "[redacted:"
_QUOTED = re.compile(r"\"[^\"]*\"|“[^”]*”|„[^“”]*[“”]|«[^»]*»|「[^」]*」|『[^』]*』|(?<!\w)'[^']*'(?!\w)")
_CODE = re.compile(r"(`+)(?:(?!\1).)+\1")

_BEGIN = r"(?:^|[^\w\s'’\-/)\]\"]\s*|\s[-–—]\s)"  # where a clause begins
_HAPPENS = (  # what follows a Romance `always` where it tells and does not ask
    r"(?:fall\w*|fail\w*|falh\w*|échou\w*|fonction\w*|funcion\w*|funzion\w*|fallisc\w*|crash\w*|march\w*|d[aáà]n?|dão"
    r"|sale|es|é|è|est|eran?|era|fue|foi|está\w*|estão|hay|há|ha|hai|ho|he|había|tien\w*|tem|têm|tinha|pas[aoó]\w*"
    r"|passa\w*|tard\w*|demor\w*|ocurr\w*|ocorr\w*|suced\w*|succed\w*|acontec\w*|aparec\w*|termin\w*|devuelv\w*"
    r"|retorn\w*|torna\w*|me|se|si|va|fa|vi|sé|sei|soube|supe|más|mais|più|que|un[ea]?|pareil|vu|été|eu)\b"
)
_NO_VERB = (  # a first word that is no verb in the imperative
    r"(?:el|la|le|lo|los|las|les|il|i|gli|os?|as?|une?|una|um|uma|est[aeo]s?|ess?[aeo]|isso|ça|ca|cela|cette?|ces?|ce"
    r"|elle|ella|ele|ela|ils|elles|je|tu|on|nous|vous|quest[aoe]|quasi|quase|casi|presque|com[oe]|comme|para|per|pour"
    r"|que|che|s[ai]|ma|mes|depuis|dans|desde)\b"
)
_TOLD = (  # what follows an English `always` where it tells
    r"(?:mind|ending|again|been|was|were|had|got|saw|seen|sees?|works?|fails?|happens?|said|knew|knows?|did|does|made"
    r"|found|tried|came|comes|gets?|hits?|wrong|broken|true|(?:the )?same|the case|(?!embed\b)\w+[^e\W]ed)\b"
)
_KO_ASKS = r"(?:세요|십시오|해|줘|하자|쓰자|할\s?것|말\s?것|마|마라|말아|해라|돼|된다|한다|합니다|써|사용)[.!。~\s]*$"
_JA_ASKS = (
    r"(?:て(?:ください|下さい|ね|ほしい|欲しい|くれ|おいて)?|こと|ないで(?:ください|下さい|ね)?|[うくするつぬむぶ]な"
    r"|よう|おう|ようにしてください|ように|お願いします?|禁止|べき(?:だ|です)?|使う|使用)[。！!\s]*$"
)


class _Language(NamedTuple):
    """How one language asks for something to be kept in mind, and what only looks so.

    ``hints`` are in lower case; where none of them stands in a text, nothing is asked (a pattern costs far more).
    """

    hints: list[str]
    asks: re.Pattern[str]
    is_none: re.Pattern[str]

    def holds_wish(self, text: str, low: str) -> bool:
        if not any(hint in low for hint in self.hints):
            return False
        return self.asks.search(text) is not None and self.is_none.search(text) is None


def _language(hints: str, is_none: str, *asks: str) -> _Language:
    return _Language(
        hints.split(), re.compile("|".join(asks), re.IGNORECASE), re.compile(is_none, re.IGNORECASE)
    )


_ENGLISH = _language(
    "always never remember memori forget mind note from henceforth forward future make rule"
    " convention policy ever stop prefer rather",
    r"\bnever ?mind\b|\bnot always\b|\bno need to\b|\bas always\b|\balmost (?:always|never)\b"
    r"|\bprefer (?:the )?(?:first|second|third|last|other|former|latter|option|your|this|that (?:one|option|way))\b"
    r"|\b(?:today|tonight|right now|for now|this time|this once|just once|at the moment)\b",
    _BEGIN + r"(?:(?:please|pls|and|but|so|also|ok|okay|then|just|you|we|should|must|always)\s+)*"
    r"(?:remember|memori[sz]e)\b(?!\s+(?:when|how|the time|last|me|where|what|which|seeing|if)\b)",
    r"\b(?:don['’]?t|do not|never) forget\b|\b(?:keep|bear) (?:it |this |that )?in mind\b|\bmake a note\b",
    r"\bfrom (?:now|here) on\b|\bgoing forward\b|\bhenceforth\b|\bfor future reference\b",
    r"\bin (?:the )?future,? (?:please|always|never|do|don['’]?t|use|make|ask|you (?:should|must)|I want|let['’]s)\b",
    r"\bmake (?:it|that|this) (?:a|our|the|my) (?:new |house )?(?:rule|habit|convention|default)\b",
    r"\b(?:our|my|new|house) (?:rule|convention|policy)(?: is\b|:)|^(?:rule|convention):",
    _BEGIN + r"(?:(?:please|pls|also|then|just|ok|okay|we|I|you (?:should|must)|let['’]?s)\s+)*"
    r"(?:always|never)\b(?![-'’])\s+(?!" + _TOLD + r")\w",
    r"\b(?:please|we|I|(?:you|we|I|\w+[^s\W]s)\s+(?:should|must|shall)|to|let['’]?s|so)\s+(?:always|never)\b(?![-'’])\s+(?!"
    + _TOLD
    + r")\w",
    r"\b(?:and|or|but)\s+(?:always|never)\b(?![-'’])\s+(?!" + _TOLD + r"|\w+[^s\W]s\b)\w",
    r"\b(?:don['’]?t|do not) ever\b|"
    + _BEGIN
    + r"(?:please\s+)?stop (?:us|add|writ|ask|mak|creat|putt|do)\w*ing\b",
    r"\b(?:I|we|I['’]d|we['’]d|I would|we would)\s+(?:\w+ly\s+|much\s+|still\s+|just\s+)?(?:prefer|rather)\b",
    _BEGIN + r"(?:please\s+)?prefer\s|\bmy (?:strong |personal )?preference\b",
)
_GERMAN = _language(
    "immer nie merk vergiss vergess denk behalt jetzt sofort heute nun künftig zukunft"
    " bevorzug lieber vor grundsätz regel",
    r"\bnicht immer\b|\bimmer (?:noch|wieder|mehr|wenn|dann)\b|\bwie immer\b|\bnoch nie\b|\bfast (?:immer|nie)\b"
    r"|\bnicht (?:zu )?merken\b",
    r"\bmerk(?:e|t)? (?:dir|euch)\b|\bmerken sie sich\b|\b(?:vergiss|vergesst|vergessen sie) (?:bitte |das )?nicht\b",
    r"\bdenk(?:e|t)? (?:bitte |immer )*(?:daran|dran)\b|\bbehalte? (?:bitte )?.{0,20}im (?:hinter)?kopf\b",
    r"\bab (?:jetzt|sofort|heute|nun)\b|\bvon (?:nun|jetzt) an\b|"
    + _BEGIN
    + r"(?:künftig|zukünftig|in zukunft)\b",
    _BEGIN + r"(?:(?:und|aber|also|bitte|auch|dann)\s+)*(?:immer|niemals|nie)\s+(?!.*\bge\w+(?:en|t)[.!]*$)"
    r".*\w{3}en\b[.!\s]*$",
    _BEGIN
    + r"(?:(?:und|aber|bitte)\s+)*(?:nutz|benutz|verwend|nimm|nehmt|schreib|mach|führ|test|lass|gib|prüf|nenn"
    r"|halt|frag|setz|leg|bau|commit|push|antwort|erklär|formatier|arbeit|start|stell|zeig|sprich|bleib|lies|lösch"
    r"|änder|füg|vermeid)\w*\s+(?:\S+\s+){0,4}?(?:immer|niemals|nie)\b",
    r"\b(?:wir|ich)\s+(?!hab|hat|war|bin|sind|kann|könn|konn|weiß|wiss|wuss|bekomm|krieg|seh|sah|find)\w+\s+"
    r"(?:\S+\s+){0,2}?(?:immer|niemals|nie)\b",
    r"\b(?:sollst|sollen|sollten|musst|müssen|möchte|will|wollen)\s+.{0,40}\b(?:immer|niemals|nie)\b",
    r"\b(?:ich|wir) (?:bevorzug\w+|(?:hätten?|mag|mögen|nutzen?|nehmen?) (?:\w+ ){0,3}?lieber)\b",
    r"\bich ziehe .{1,60} vor\b",
    r"\bmir (?:ist|wäre) .{1,40} lieber\b|" + _BEGIN + r"(?:bitte )?(?:lieber|bevorzuge|grundsätzlich)\s",
    r"\b(?:unsere|meine|neue) regel\b|^regel:",
)
_FRENCH = _language(
    "toujours jamais souv rappel reti rete oubli garde mémoris désormais dorénavant maintenant"
    " avenir préf mieux règle",
    r"\bpas toujours\b|\bpresque (?:toujours|jamais)\b|\bcomme toujours\b|\b(?:pas besoin|inutile) de\b",
    r"\b(?:souviens-toi|souvenez-vous|rappelle-toi|rappelez-vous|retiens|retenez|mémorise[zs]?)\b",
    r"\bn['’]oublie[zs]?\s+(?:pas|jamais)\b|\bgarde[zs]? (?:bien )?(?:en tête|à l['’]esprit)\b",
    r"\bdésormais\b|\bdorénavant\b|\bà partir de maintenant\b|\bà l['’]avenir\b",
    _BEGIN + r"(?:(?:et|mais|donc|aussi|merci de|s['’]il (?:te|vous) pla[iî]t)\s+)*(?:ne )?(?:plus )?"
    r"(?:toujours|jamais)\s+(?!" + _HAPPENS + r")(?:\w+(?:er|ir|re)\b|de\b|d['’])",
    _BEGIN
    + r"(?:(?:et|mais|donc)\s+)*(?:n['’]|ne\s+)?(?!"
    + _NO_VERB
    + "|"
    + _HAPPENS
    + r")\w+(?:e|es|ez|s|is)\s+"
    r"(?:toujours|jamais)\b",
    r"\bil (?:ne )?faut (?:toujours|jamais)\b|\b(?:tu dois|vous devez|on doit|nous devons|je veux que tu) .{0,20}"
    r"(?:toujours|jamais)\b",
    r"\bon (?:ne |n['’])?(?!" + _HAPPENS + r"|a\b|avait\b)\w+ (?:toujours|jamais)\b",
    r"\b(?:je|on|nous) (?:préf[èé]r\w+|aim\w+ mieux)\b|" + _BEGIN + r"préfère[zs]?\b|\b(?:notre|ma) règle\b",
)
_SPANISH = _language(
    "siempre nunca jamás recuerd recordad acuérd memoriza olvid cuenta presente adelante ahora"
    " hoy prefer prefier gusta regla",
    r"\bno siempre\b|\bcasi (?:siempre|nunca)\b|\bcomo siempre\b|\bno (?:me )?(?:acuerdo|recuerd\w+)\b"
    r"|\bno (?:hace falta|es necesario|tienes que) recordar\b|\bno prefier\w+\b",
    _BEGIN
    + r"(?:(?:por favor,?|y|pero|también)\s+)*(?:recuerd[ae]n?|recordad|acuérd\w+|memoriza)\b(?! cuando)",
    r"\bno (?:te |se )?olvid(?:es?|éis|en)\b|\bten(?:ga|ed)? (?:siempre )?(?:en cuenta|presente)\b",
    r"\b(?:de ahora|de aquí|de hoy) en adelante\b|\ba partir de (?:ahora|hoy)\b|\bdesde ahora\b",
    _BEGIN
    + r"(?:(?:y|pero|por favor,?|también|entonces)\s+)*(?:siempre|nunca|jamás)\s+(?!"
    + _HAPPENS
    + r")\w",
    _BEGIN
    + r"(?:(?:y|pero|por favor,?)\s+)*(?:no\s+)?(?!"
    + _NO_VERB
    + "|"
    + _HAPPENS
    + r")\w+(?:a|e|es|as|en|an|ad|ar|er|ir)"
    r"\s+(?:siempre|nunca|jamás)\b",
    r"\b(?:debes?|debemos|tienes que|tenemos que|hay que|quiero que) (?:\w+ ){0,2}?(?:siempre|nunca|jamás)\b",
    r"\b(?:siempre|nunca) (?:debes|debemos|hay que|tienes que|tenemos que|usamos)\b",
    r"\b(?:prefiero|preferimos|preferiría\w*|me gusta más)\b|\b(?:nuestra|mi) regla\b",
)
_PORTUGUESE = _language(
    "sempre nunca jamais lembr memoriz esque mente diante agora frente doravante prefir prefer gosto regra",
    r"\bnem sempre\b|\bquase (?:sempre|nunca)\b|\bcomo sempre\b|\bnão (?:me )?lembr\w+\b|\bnão prefir\w+\b"
    r"|\bnão precisa (?:se )?lembrar\b",
    _BEGIN + r"(?:(?:por favor,?|e|mas|também)\s+)*(?:lembr[ea]m?(?:-se|-te)?|memoriz[ea])\b(?! quando)",
    r"\bnão (?:se |te )?esque[çc]\w+\b|\b(?:tenha|tem) (?:sempre )?em mente\b",
    r"\bde agora em diante\b|\ba partir de agora\b|\bdaqui (?:em|pra|para|por) (?:diante|a? ?frente)\b|\bdoravante\b",
    _BEGIN + r"(?:(?:e|mas|por favor,?|também|então)\s+)*(?:sempre|nunca|jamais)\s+(?!" + _HAPPENS + r")\w",
    _BEGIN
    + r"(?:(?:e|mas|por favor,?)\s+)*(?:não\s+)?(?!"
    + _NO_VERB
    + "|"
    + _HAPPENS
    + r")\w+(?:a|e|em|am|ar|er|ir)"
    r"\s+(?:sempre|nunca|jamais)\b",
    r"\b(?:deve|devemos|tem que|temos que|precisa|precisamos|quero que) (?:\w+ ){0,2}?(?:sempre|nunca|jamais)\b",
    r"\b(?:prefiro|preferimos|preferiria\w*|gosto mais)\b|\b(?:nossa|minha) regra\b",
)
_ITALIAN = _language(
    "sempre mai ricord memorizza dimentic tieni ora adesso futuro prefer regola",
    r"\bnon sempre\b|\bquasi (?:sempre|mai)\b|\bcome sempre\b|\bnon (?:mi )?ricord[oi]\b"
    r"|\bnon (?:serve|devi|occorre) ricordare\b",
    _BEGIN + r"(?:(?:per favore,?|e|ma|anche)\s+)*(?:ricorda(?:ti|te|tevi)?|ricordi|memorizza)\b(?! quando)",
    r"\bnon (?:ti )?dimentic\w+\b|\btieni (?:sempre )?(?:presente|a mente|conto)\b",
    r"\bd(?:a |['’])(?:ora|adesso) in (?:poi|avanti)\b|" + _BEGIN + r"in futuro,? ",
    _BEGIN + r"(?:(?:e|ma|per favore,?|anche)\s+)*mai\s+\w+(?:are|ere|ire)\b",
    _BEGIN
    + r"(?:(?:e|ma|per favore,?)\s+)*(?:non\s+)?(?!"
    + _NO_VERB
    + "|"
    + _HAPPENS
    + r")\w+(?:a|i|are|ere|ire|ate|ete|ite)"
    r"\s+(?:sempre|mai)\b",
    r"\b(?:devi|dobbiamo|bisogna|voglio che) (?:\w+ ){0,2}?(?:sempre|mai)\b|\bnon si \w+ mai\b",
    r"\b(?:preferisco|preferiamo|preferire[im]\w*)\b|\b(?:nostra|mia) regola\b",
)
_DUTCH = _language(
    "altijd nooit onthoud vergeet denk vanaf voortaan aan vervolg voorkeur liever regel",
    r"\b(?:niet|zoals) altijd\b|\baltijd als\b|\bbijna (?:altijd|nooit)\b|\bnog nooit\b|\bniet (?:te )?onthouden\b",
    _BEGIN + r"(?:(?:en|graag|alsjeblieft,?)\s+)*onthoud\b|\bvergeet (?:\w+ )?niet\b|\bdenk er(?:\s?aan)\b",
    r"\bvanaf nu\b|\bvoortaan\b|\bvan nu af aan\b|\bin het vervolg\b",
    _BEGIN
    + r"(?:(?:en|maar|dus|graag|alsjeblieft,?)\s+)*(?:altijd|nooit)\s+(?!nog|meer|weer|al\b|goed|ge\w+(?:t|d|en)\b)\w",
    _BEGIN
    + r"(?:(?:en|maar|graag|alsjeblieft,?)\s+)*(?:gebruik|schrijf|maak|doe|zet|neem|test|commit|push|voer|draai"
    r"|houd?|laat|geef|noem|kies|bouw|verwijder|controleer|vraag|antwoord|start|werk|lees|sla|voeg|vermijd)\s+"
    r"(?:\S+\s+){0,4}?(?:altijd|nooit)\b",
    r"\b(?:we|wij|ik|moet|moeten)\s+(?!heb|had|was|ben|zijn|kan|kon|kun|weet|wist|krijg|zie|zag)\w+\s+"
    r"(?:\S+\s+){0,2}?(?:altijd|nooit)\b",
    r"\b(?:geef|geven|heb|hebben) (?:\w+ ){0,3}voorkeur\b",
    r"\b(?:ik|we|wij) (?:heb|hebben|wil|willen) (?:\w+ ){0,3}liever\b",
    _BEGIN + r"(?:graag\s+)?liever\s|\b(?:onze|mijn) regel\b",
)
_RUSSIAN = _language(
    "всегда никогда запомни помни учти имей забудь забывай впредь отныне будущее дальнейшем"
    " момента дня предпоч правило",
    r"\bне всегда\b|\bпочти (?:всегда|никогда)\b|\bкак всегда\b|\bне (?:помн|запомн)\w+|\bне предпочита\w+"
    r"|\bне (?:надо|нужно) (?:за)?помин\w+",
    _BEGIN + r"(?:(?:и|но|а|пожалуйста,?|также)\s+)*(?:запомни|помни|учти|имей(?:те)? в виду)(?:те)?\b",
    r"\bне (?:забудь|забывай)(?:те)?\b|\b(?:впредь|отныне|на будущее|в дальнейшем)\b|\bс этого момента\b",
    _BEGIN + r"(?:(?:и|но|а|пожалуйста,?|также)\s+)*всегда\s+(?:\S+\s+){0,2}?\w+(?:й|йте|и|ите|ь|ьте|ти)\b",
    _BEGIN + r"(?:(?:и|но|а|пожалуйста,?|также)\s+)*никогда\s+(?:больше\s+)?не\s+\w+(?:й|йте|и|ите|ь|ьте)\b",
    _BEGIN + r"\w+(?:й|йте|ите|ьте)\s+(?:\S+\s+)?всегда\b",
    r"\b(?:надо|нужно|следует|должны?) (?:\S+ )?(?:всегда|никогда)\b|\bвсегда (?:надо|нужно|следует)\b",
    r"\bмы (?:всегда|никогда не) \w+(?:ем|им)\b",
    r"\b(?:я|мы) (?:бы )?(?:\w+ )?предпоч\w+|\bпредпочита(?:ю|ем)\b|\b(?:наше|моё|мое) правило\b",
)
_CHINESE = _language(
    "记 記 忘 从 從 以后 以後 今后 今後 总 總 始 永 一律 务 務 绝 絕 千 切勿 每次 喜 偏好 倾 傾 优 優",
    r"不总是|不總是|不是总|不一定|[不没沒]用?[必需要]*[记記][得住]|[记記]不[住得]|[记記]得(?:吗|嗎|不)|不用[记記]|不喜[欢歡]|喜[欢歡][这這那]",
    r"(?<![不没沒我否法能还還])(?:[记記]住|[记記]得|[记記]下|牢[记記]|[谨謹][记記]|切[记記]|[别別]忘|不要忘|勿忘)",
    r"[从從][现現]在(?:起|[开開]始)|[从從]今以[后後]|(?:以[后後]|今[后後])(?:都|[请請]|要|就|不要|[别別]|一律|必[须須]|[务務]必|只)",
    r"(?:^|[^\w\s]\s*|\s|[请請]|要|[应應][该該當]|必[须須]|你|我[们們]|都)(?:[总總]是|始[终終]|永[远遠]|一律|[务務]必)"
    r"(?!失[败敗]|[报報][错錯]|出[错錯]|[会會]|返回|不[对對]|卡|崩|[这這那])",
    r"永[远遠]不要|永[远遠][别別]|[绝絕](?:[对對])?不(?:要|能|[许許]|可)|千[万萬](?:不要|[别別]|要)|切勿|每次都?(?:要|[请請]|必[须須]|[应應][该該])",
    r"我[们們]?(?:更|比[较較]|[还還]是)?(?:喜[欢歡]|偏好|[倾傾]向)|[优優]先(?:使用|用|考[虑慮]|[选選])|我[们們]?的偏好",
)
_JAPANESE = _language(
    "覚え 記憶 忘れ メモ 今後 これから 以後 次回 以降 常に 必ず いつも 毎回 絶対 決して 好 ほうが 方が 優先",
    r"覚えて?い?(?:ない|ません|ます)|覚えなくて|必ずしも|いつもの|いつも通り|いつも(?:失敗|動か)",
    r"覚えて(?:おいて|おけ|ください|下さい|ね|くれ|ほしい)|覚えて[。！!]*$|覚えといて|記憶して|忘れない(?:で|よう)|忘れずに|メモして",
    r"今後は|これからは|以後は|次回からは?|これ以降は?",
    r"(?:常に|必ず|いつも|毎回)(?=.*" + _JA_ASKS + ")",
    r"(?:絶対に?|決して)(?=.*(?:ない[。！!\s]*$|" + _JA_ASKS + "))",
    r"(?:ほう|方)が(?:好き|いい|良い|よい)(?!か)|を好(?:む|みます)|が好み|を優先",
)
_KOREAN = _language(
    "기억 잊지 명심 앞으로 부터 항상 언제나 늘 반드시 꼭 절대 매번 선호 좋 낫",
    r"기억(?:이)?\s?(?:안|나지|나요|못|하지\s?않)|항상\s?그런|(?:항상|자꾸|늘|매번)\s?(?:실패|오류|에러|안\s?돼|멈)",
    r"기억해(?:\s?(?:줘|주세요|둬|두세요|라|요))?[.!\s]*$|기억해\s?(?:줘|주세요|둬|두세요|라)|기억하(?:세요|십시오|자|도록)|잊지\s?(?:마|말)|명심",
    r"(?:앞으로|이제부터|지금부터|다음부터)(?:는|도)?\s(?=.*" + _KO_ASKS + ")",
    r"(?:항상|언제나|늘|반드시|꼭|절대(?:로)?|매번)\s(?=.*" + _KO_ASKS + ")",
    r"선호(?:해|합니다|한다|해요)|(?:게|것이|걸|편이|쪽이)\s?(?:더\s?)(?:좋|낫)",
)
_LANGUAGES = (
    _ENGLISH,
    _GERMAN,
    _FRENCH,
    _SPANISH,
    _PORTUGUESE,
    _ITALIAN,
    _DUTCH,
    _RUSSIAN,
    _CHINESE,
    _JAPANESE,
    _KOREAN,
)

_QUESTION = re.compile(
    r"[?？؟][\s\"')\]”’»」]*[.!]*$|[吗嗎呢][。！\s]*$|か[。\s]*$|(?:나요|까요|습니까|는지|가요)[.\s]*$|[为為]什[么麼]|怎[么麼]|是不是|能不能|是否"
    r"|^(?:(?:so|and|but|ok|okay|also)[\s,]+)*(?:(?:do|does|did|can|could|would|will|is|are|was|were|has|should|shall)\s+"
    r"(?:you|I|we|it|they|he|she|the|this|that|there)\b|(?:why|how come|what do|what did|what does|what['’]?s|how do"
    r"|how does|how did|when do|when did|where do|where did|who)\b)"
    r"|^(?:warum|wieso|weshalb|pourquoi|est-ce|por qué|por que|perché|waarom|почему|зачем|なぜ|どうして|왜)\b",
    re.IGNORECASE,
)


# A wish of nothing but such words says that something is wished, and the sentence before it what.
_POINTS = re.compile(
    r"\W*(?:(?:(?:please|pls|ok|okay|and|so|always|never|ever|remember|memori[sz]e|this|that|it|do|don|t|not|forget|keep|in"
    r"|mind|from|now|on|going|forward|make|a|our|the|rule|for|future|reference|way|i|we|prefer|bitte|immer|nie|niemals|merke?"
    r"|dir|das|dies|vergiss|nicht|machs?|es|ab|jetzt|sofort|s|il|te|plaît|toujours|jamais|souviens|toi|en|de|ça|cela"
    r"|retiens|le|n|oublie|pas|désormais|fais|comme|siempre|nunca|recuerda|recuérdalo|est[eo]|eso|lo|no|olvides|hazlo|así"
    r"|por|favor|sempre|lembre|se|lembra|disso|isso|isto|não|esqueça|faça|assim|ricorda|ricordati|ricordalo|questo|mai"
    r"|fallo|così|non|dimenticare|onthoud|dit|dat|altijd|nooit|vergeet|niet|doe|zo|vanaf|nu|пожалуйста|запомни|это|всегда"
    r"|никогда|так|делай|не|забудь)\b|[请請记記住得下这這个個点點一它吧了都别別忘]|以[后後]|[这這][样樣]|覚えて|おいて|ください|これ|それ|[をもは]"
    r"|ね|今後|こう|して|기억해|줘|주세요|이거|이걸|꼭|항상|이렇게|그렇게|해)\W*)+",
    re.IGNORECASE,
)


def of_prompt(prompt: str) -> list[str]:
    """The wishes of one prompt, in the person's own words, each on one line of at most ``LONGEST`` characters.

    A wish that ends in a colon comes with the list it leads to; one that only points (`remember that!`) with the
    sentence before it.
    """
    found: list[str] = []
    before = ""
    lines = prose.own_lines(prompt, is_wish)
    for number, line in enumerate(lines):
        said = prose.of_line(line)
        for sentence in said:
            if is_wish(sentence):
                whole = sentence
                if sentence is said[-1] and sentence.endswith((":", "：")):
                    whole = " ".join([sentence, *_listed(lines[number + 1 :])]).rstrip(";")
                elif _POINTS.fullmatch(sentence):
                    whole = f"{before} {sentence}" if before else ""
                found += [speech.snippet(whole, LONGEST)] if _is_told_whole(whole) else []
            before = sentence
        before = before if said else ""
    return list(dict.fromkeys(found))


def is_wish(text: str) -> bool:
    """Whether a sentence asks for something to be kept in mind; not by what stands in quotes or in code."""
    text = unicodedata.normalize("NFC", text[: 2 * LONGEST])
    text = _CODE.sub("code", _QUOTED.sub("quote", text)).replace("**", "").strip()
    text = re.sub(r"^[\W_]+", "", text)
    low = text.lower()
    return any(each.holds_wish(text, low) for each in _LANGUAGES) and not _QUESTION.search(text)


def _listed(lines: list[str]) -> Iterator[str]:
    """The lines of the list that a line with a colon leads to: up to a blank one, for the first may be blank."""
    start = 1 if lines and not lines[0].strip() else 0
    for line in lines[start : start + _LIST_MOST]:
        if not line.strip():
            return
        item = " ".join(prose.of_line(line))
        yield item if item.endswith((".", "!", ";", ",", "。")) else f"{item};"


def _is_told_whole(text: str) -> bool:
    return bool(text) and _REDACTED not in text and len(text) <= 4 * LONGEST
