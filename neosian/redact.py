"""Takes secrets out of a text before it reaches git: the kind is kept, the value goes.

Two sorts of rule stand in one table, ``RULES``:

- a `Token` is known by how it begins (``ghp_``, ``AKIA``): vendors chose such beginnings to be found. These, and the
  words that make a name or a value one of a secret, are data: see `neosian.redact_rules`;
- a `Shape` is known by what stands around it (``password=``, ``Cookie:``, ``-----BEGIN``), and is code.

Speed decides the form. A text is first asked whether it holds any rule's literal at all, with plain substring
searches; only then a pattern is compiled, and it is tried only where its literal stands. So nothing is compiled at
import, a text without literals costs almost nothing, and no pattern scans: every repeat is bounded, which keeps
hostile input linear.
"""

from __future__ import annotations

import re

from neosian.redact_rules import (
    AUTHORIZATION_WORDS,
    COMMAND_HINTS,
    COMMANDS,
    GIVERS,
    GLUED_TOKENS,
    LABEL_WORDS,
    NAME_ENDS,
    NAME_HINTS,
    NAME_TAILS,
    NO_VALUES,
    OTHER_TOKENS,
    PLACEHOLDER,
    PROSE,
    SHORTEST_TOKEN,
    TOKENS,
    Token,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Found = Iterator[tuple[int, int, str]]  # start, end and kind of one secret
    Near = list[tuple[int, "Token | Shape"]]

# A secret that is gone can show the end of another one, which then is found; more than two rounds were never seen.
ROUNDS = 5


# Characters of no width, which can stand inside a word and leave it looking the same.
UNSEEN = "\u200b\u200c\u200d\u200e\u200f\u2060\u2061\u2062\u2063\u2064\ufeff\u00ad\u180e\u034f"


def marker(kind: str) -> str:
    """Return what stands in the place of a secret of ``kind``."""
    return f"[redacted:{kind}]"


class Shape:
    """A secret known by its surroundings; ``hints`` are lower-case literals without which it cannot occur."""

    __slots__ = ("find", "hints", "kind", "source")

    def __init__(self, kind: str, hints: str, find: Callable[[str, str], Found], source: str) -> None:
        self.kind = kind
        self.hints = tuple(hints.split())
        self.find = find
        self.source = source


# --- what other modules call --------------------------------------------------------------------------------


def redact(text: str) -> str:
    """Return ``text`` with each secret replaced by its `marker`; the very same object where there is none.

    Doing it twice changes nothing more. The result is an ordinary ``str`` when something was replaced.
    """
    return _redacted(text, None)


def _redacted(text: str, near: Near | None) -> str:
    if len(text) < SHORTEST_TOKEN and (not text or text.isidentifier()):
        return text  # a name: too short for a token, and nothing in it joins a name to a value
    for _ in range(ROUNDS):
        spans = _spans(text, near)
        if not spans:
            break
        text = _replaced(text, spans)
    return text


def redact_value(value: object) -> object:
    """Return a JSON value with secrets replaced in strings and keys.

    A key can make a harmless looking value a secret: ``{"password": "hunter22"}``. Values that are neither ``str``,
    ``dict`` nor ``list`` come back as they are, but for a number under a password's name.
    """
    text = "\n".join(_strings(value))
    near = _near(text)  # once for all of it: a value may have thousands of members
    return _walked(value, near) if near or "pass" in text.lower() else value


def _strings(value: object) -> Iterator[str]:
    """All strings and keys of a value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield str(key)
            yield from _strings(item)
    elif isinstance(value, list):
        for item in value:
            yield from _strings(item)


def _walked(value: object, near: Near) -> object:
    if isinstance(value, str):
        return _redacted(value, near)
    if isinstance(value, list):
        return [_walked(item, near) for item in value]
    if not isinstance(value, dict):
        return value
    named = _named_pair(value)
    return {
        _redacted(key, near) if isinstance(key, str) else key: _redact_member(
            named if key == "value" and named else key, item, near
        )
        for key, item in value.items()
    }


def _named_pair(value: dict[object, object]) -> str | None:
    """Return NAME of ``{"name": NAME, "value": …}``, the way Kubernetes and others write an environment."""
    name = value.get("name", value.get("key"))
    return name if isinstance(name, str) and "value" in value else None


def _redact_member(name: object, item: object, near: Near) -> object:
    """Return what stands under ``name`` in a JSON object, redacted."""
    if isinstance(item, list):
        if str(name).lower() == "cookies":  # of HAR files and browser drivers
            return [_redact_cookie(one, near) for one in item]
        return [
            _redact_member(name, one, near) if isinstance(one, str) else _walked(one, near) for one in item
        ]
    kind = _member_kind(name) if isinstance(name, str) else None
    if kind is None or isinstance(item, bool) or not isinstance(item, (str, int)):
        return _walked(item, near)
    if isinstance(item, int):
        return marker(kind) if kind == "password" and item > 999 else item
    if kind in ("authorization", "cookie"):
        # Read as the header it is, so that the scheme stays.
        head = f"{name}: "
        return _redacted(head + item, near)[len(head) :]
    shown = _redacted(item, near)
    told = re.fullmatch(r"\[redacted:[a-z-]+\]", shown)  # by a rule that says more than the name does
    return marker(kind) if not told and is_secret_value(item, kind, str(name)) else shown


def _redact_cookie(item: object, near: Near) -> object:
    """Return ``{"name": "sid", "value": "x"}`` without the value."""
    value = item.get("value") if isinstance(item, dict) else None
    if not isinstance(item, dict) or not isinstance(value, str) or _is_placeholder(value) or len(value) < 8:
        return _walked(item, near)
    shown = _walked({**item, "value": ""}, near)
    return {**shown, "value": marker("cookie")} if isinstance(shown, dict) else shown


def _member_kind(name: str) -> str | None:
    low = name.lower()
    if low.endswith("authorization"):
        return "authorization"
    return "cookie" if low in ("cookie", "set-cookie") else secret_name(name)


def hide_private(text: str, *, whole: bool) -> str:
    """Return ``text`` with each ``<private>…</private>`` replaced by ``[private]``.

    Tags may nest and span lines; case and characters that nobody sees do not matter. With ``whole`` (a person's
    prompt: better too much than too little) a tag never closed hides to the end, and a closing tag too many tells
    that one before it was only quoted: everything from the first tag on goes. Without it (a file that holds the word)
    such tags are left alone.
    """
    seen, places = _seen(text)
    if "<" not in seen or "private" not in seen.lower():
        return text
    for start, end in reversed(_private_spans(seen, whole)):
        if places is not None:
            start, end = places[start], places[end - 1] + 1 if end < len(seen) else len(text)
        text = f"{text[:start]}[private]{text[end:]}"
    return text


def redact_document(text: str) -> str:
    """Return a document's text without its secrets and its `<private>` parts; in code that tag is only spoken of."""
    text = redact(text)
    return hide_private(text, whole=False) if _says_private(text) else text


def found_in_document(text: str) -> list[tuple[int, str]]:
    """Line (from 1) and kind of all that `redact_document` would take out of a text, so that a person can find it."""
    found = [(start, kind) for start, _, kind in _spans(text)]
    if _says_private(text):
        seen, places = _seen(text)
        spans = _private_spans(seen, whole=False)
        found += [(places[start] if places else start, "private") for start, _ in spans]
    return [(text.count("\n", 0, start) + 1, kind) for start, kind in sorted(found)]


def _says_private(text: str) -> bool:
    """Whether a document hides a part of it; in code the tag is only spoken of."""
    if "private" not in text.lower():
        return False
    prose = _without_code(text)
    return hide_private(prose, whole=False) != prose


def redact_path(path: str) -> str:
    """Return the path of a document as it may be shown: without secrets and without what is private."""
    return hide_private(redact(path), whole=True)


def path_is_clean(path: str) -> bool:
    """Tell whether a path holds nothing that must not reach git, or be shown."""
    return redact_path(path) == path


def _without_code(text: str) -> str:
    """Return the prose of a Markdown text: without fenced blocks and code spans (CommonMark 4.5 and 6.1).

    Where a reader could see prose in it, it is prose: a fence that is never closed, or a span across the edge of a
    paragraph, an item or a heading, hides nothing.
    """
    prose: list[str] = []
    block: list[str] = []  # a fenced one, as long as it is open
    fence = ""
    for line in text.splitlines():
        mark = re.match(r" {0,3}(`{3,}(?=[^`]*$)|~{3,})(.*)", line)
        if fence:
            block.append(line)
            if mark and mark[1].startswith(fence) and not mark[2].strip():
                fence, block = "", []
        elif mark:
            fence, block = mark[1], [line]
        else:
            prose.append(line)
    return _without_spans("\n".join(prose + block))


def _without_spans(text: str) -> str:
    edge = r"\n[ \t>]*(?=\n|\Z|(?:[-*+]|\d{1,9}[.)]|#{1,6})[ \t]|[|>~<]|```)"
    return "\n".join(_without_spans_in(paragraph) for paragraph in re.split(edge, text))


def _without_spans_in(paragraph: str) -> str:
    """Return one paragraph without its code spans: a run of backticks to the next one of just that length."""
    runs = list(re.finditer(r"(\\*)(`+)", paragraph))
    later: dict[int, list[int]] = {}
    for number in range(len(runs) - 1, -1, -1):
        later.setdefault(len(runs[number][2]), []).append(number)
    parts: list[str] = []
    done = number = 0
    while number < len(runs):
        start, end = runs[number].span(2)
        start += (
            len(runs[number][1]) % 2
        )  # after an odd number of backslashes the first backtick is a plain one
        closing = later.get(end - start, [])
        while closing and closing[-1] <= number:
            closing.pop()
        if start < end and closing:
            parts.append(paragraph[done:start])
            number = closing[-1]
            done = runs[number].end()
        number += 1
    parts.append(paragraph[done:])
    return "`".join(parts)


def _private_spans(text: str, whole: bool) -> list[tuple[int, int]]:
    first: int | None = None
    opens: list[int] = []
    spans: list[tuple[int, int]] = []
    for tag in re.finditer(r"<\s{0,9}(/?)\s{0,9}private(?:\s[^>]{0,999})?\s{0,9}/?>", text, re.IGNORECASE):
        if not tag[1]:
            opens.append(tag.start())
            first = tag.start() if first is None else first
        elif whole and _is_quoted(text, *tag.span()):
            continue
        elif opens:
            start = opens.pop()
            spans = [span for span in spans if span[0] < start] if spans and spans[-1][0] > start else spans
            spans.append((start, tag.end()))
        elif whole and first is not None:
            spans = [(first, tag.end())]
    if whole and opens:
        spans = [span for span in spans if span[0] < opens[0]]
        spans.append((opens[0], len(text)))
    return spans


def _is_quoted(text: str, start: int, end: int) -> bool:
    around = text[max(0, start - 1) : start], text[end : end + 1]
    return around in (('"', '"'), ("'", "'"), ("`", "`"), ("“", "”"), ("«", "»"))


def _seen(text: str) -> tuple[str, list[int] | None]:
    """Return ``text`` as it looks, and the place of each of its characters in ``text``; None where that is its own."""
    if text.isascii() or not any(char in text for char in UNSEEN):
        return text, None
    places = [at for at, char in enumerate(text) if char not in UNSEEN]
    return "".join(text[at] for at in places), places


# --- how rules are applied ----------------------------------------------------------------------------------


def _near(text: str) -> Near:
    """Return the rules, each with its rank, of which a literal stands in ``text``: no other can find anything there."""
    words = "\n".join(word for word in text.split() if len(word) >= SHORTEST_TOKEN)
    low = _folded(text)
    near: Near = []
    for rank, rule in enumerate(RULES):
        if isinstance(rule, Token):
            if words and any(start in words for start in rule.starts):
                near.append((rank, rule))
        elif any(hint in low for hint in rule.hints):
            near.append((rank, rule))
    return near


def _spans(text: str, near: Near | None = None) -> list[tuple[int, int, str]]:
    """Return where the secrets of ``text`` stand: sorted, apart from each other, each with its kind."""
    near = _near(text) if near is None else near
    low = _folded(text) if near else text
    found: list[tuple[int, int, int, str]] = []
    for rank, rule in near:
        places = _tokens(rule, text) if isinstance(rule, Token) else rule.find(text, low)
        found += ((start, end, rank, kind) for start, end, kind in places)
    return _merged(found)


def _tokens(rule: Token, text: str) -> Found:
    for start in rule.starts:
        for at in _places(text, start):
            begin = at - rule.back
            if begin < 0 or (text[begin].isalnum() and not _begins_word(text, begin)):
                continue
            # `re` keeps what it compiled; a literal in the middle of words (`risk-based`) costs no compiling.
            if match := re.compile(rule.pattern, re.ASCII).match(text, begin):
                yield *match.span(1 if match.re.groups else 0), rule.kind


def _replaced(text: str, spans: list[tuple[int, int, str]]) -> str:
    parts: list[str] = []
    done = 0
    for start, end, kind in spans:
        parts += (text[done:start], marker(kind))
        done = end
    parts.append(text[done:])
    return "".join(parts)


def _merged(found: list[tuple[int, int, int, str]]) -> list[tuple[int, int, str]]:
    """Join what overlaps; the rule that stands first in the table gives the kind, as it says the most."""
    merged: list[tuple[int, int, int, str]] = []
    for start, end, rank, kind in sorted(found):
        if merged and start < merged[-1][1]:
            first, last, best, name = merged[-1]
            if rank < best:
                best, name = rank, kind
            merged[-1] = (first, max(last, end), best, name)
        else:
            merged.append((start, end, rank, kind))
    return [(start, end, kind) for start, end, _, kind in merged]


def _folded(text: str) -> str:
    """Return ``text`` in lower case, each character still at its place."""
    low = text.lower()
    if len(low) == len(text):
        return low
    # Some characters (U+0130) become two in lower case and would shift all that follows.
    return "".join(small if len(small := char.lower()) == 1 else char for char in text)


def _places(text: str, literal: str, start: int = 0) -> Iterator[int]:
    at = text.find(literal, start)
    while at >= 0:
        yield at
        at = text.find(literal, at + len(literal))


def _begins_word(text: str, at: int) -> bool:
    r"""Tell whether a word may begin at ``at``: ``sk-`` does in ``key=sk-…`` and ``\nsk-…``, not in ``risk-…``."""
    before = text[at - 1 : at]
    if not before.isalnum() or not before.isascii():  # Chinese, say, is written without blanks
        return True
    # Escapes end in a letter or digit, yet what follows them is a new word: JSON, URL and colour codes.
    escape = r"(?:\\[nrtbf]|\\u[0-9A-Fa-f]{4}|\\x[0-9A-Fa-f]{2}|%[0-9A-Fa-f]{2}|\[[0-9;]{0,12}m)\Z"
    return re.search(escape, text[max(0, at - 16) : at]) is not None


# --- blocks, headers, addresses -----------------------------------------------------------------------------

KEY_LINE = r"-----{} [A-Z0-9 ]{{0,40}}PRIVATE KEY(?: BLOCK)?-----"


def _private_keys(text: str, low: str) -> Found:
    """Find key blocks, armour included; one that is never closed goes on to the end of the text."""
    opening, closing = re.compile(KEY_LINE.format("BEGIN")), re.compile(KEY_LINE.format("END"))
    done = 0
    for at in _places(text, "-----BEGIN"):
        begin = opening.match(text, at) if at >= done else None
        if begin is None or _is_mention(text, begin.end()):
            continue
        end = next((m for e in _places(text, "-----END", begin.end()) if (m := closing.match(text, e))), None)
        done = end.end() if end else len(text)
        yield at, done, "private-key"


def _is_mention(text: str, at: int) -> bool:
    """Tell whether an armour line is only talked about: its quote closes at once, or a sentence goes on."""
    return re.match(r"\\?[\"'`)*$|/?]|[ \t]+[a-z]", text[at : at + 8]) is not None


def _putty_keys(text: str, low: str) -> Found:
    pattern = re.compile(r"Private-Lines: \d{1,4}\s{1,4}([A-Za-z0-9+/=\s]{16,20000})(?=Private|\Z)")
    for at in _places(text, "Private-Lines:"):
        if match := pattern.match(text, at):
            yield match.start(1), len(text[: match.end(1)].rstrip()), "private-key"


# JSON that is a string in JSON escapes its quotes anew at each level: none, 1, 3, 7, 15 of them.
QUOTE = r"\\{0,15}[\"'`]"
BLANKS = r"(?:\s|\\{1,15}[nrt]){0,40}"  # between members of an object, also where it is a string
# Between a header's name and its value: a quote closed and opened again where the header is a member of an object.
HEADER_GAP = (
    rf"(?:{QUOTE})?\]?[ \t]{{0,4}}"
    rf"(?:[:=]|,(?:{BLANKS}{QUOTE}value{QUOTE}[ \t]{{0,4}}:)?)[ \t]{{0,4}}"
    rf"(?:\[{BLANKS})?(?:[bfru]{{0,2}}{QUOTE})?[ \t]{{0,4}}"
)
SCHEMES = r"(?:bearer|basic|token|digest|negotiate|apikey|api-key|hawk|aws4-hmac-sha256|ntlm|key|dpop|oauth|signature)"


def _header_places(low: str, name: str) -> Iterator[int]:
    return (at for at in _places(low, name) if not low.startswith("[redacted:", max(0, at - 10)))


def _authorizations(text: str, low: str) -> Found:
    """Find what an ``Authorization`` header carries; its scheme (Bearer, Basic) stays."""
    pattern = re.compile(
        r"authorization" + HEADER_GAP + r"(?:(" + SCHEMES + r")[ \t]{1,4})?([^\s\"'`\\<>{}$,;]{1,8192})",
        re.IGNORECASE,
    )
    done = 0
    for at in _header_places(low, "authorization"):
        match = pattern.match(text, at) if at >= done else None
        value = match[2][:256] if match else ""  # enough to judge by
        if match is None or not _is_credential(value, scheme=match[1]):
            continue
        end = match.end(2)
        if "=" in value and re.match(r",[ \t]?\w|\\?\"[^\s:,}\])]", text[end : end + 3]):
            quoted = text[match.start(1 if match[1] else 2) - 1] == '"'
            end = _parameters_end(text, end, escaped=quoted)
        elif _is_plain_word(value) and re.match(r"[ \t]+[a-z]", text[end : end + 4]):
            continue  # a sentence: "Authorization: Bearer tokens are checked first"
        yield match.start(2), (done := end), "authorization"


def _parameters_end(text: str, at: int, *, escaped: bool) -> int:
    """Return where the name="value" list of a Digest, OAuth or AWS4 header ends; in a string its quotes are escaped."""
    quote = r"\\\"" if escaped else r"\\?\""
    pattern = re.compile(r"(?:[^\r\n\"'\\]|" + quote + r"[^\"\r\n\\]{0,1024}" + quote + "){0,4096}")
    match = pattern.match(text, at)
    return match.end() if match else at


def _is_credential(value: str, scheme: str | None) -> bool:
    if _is_placeholder(value) or value.lower() in AUTHORIZATION_WORDS:
        return False
    if scheme is not None:
        return len(value) >= 4
    return len(value) >= 12 and "(" not in value and any(char.isdigit() for char in value)


def _cookies(text: str, low: str) -> Found:
    """Find the value of ``Cookie:`` and ``Set-Cookie:`` headers, of curl's ``--cookie``, and of cookies in JSON."""
    pair = r"(?=[\w!#$%&*+.^|~-]{1,200}=)"
    start = re.compile(rf"cookie(?:{HEADER_GAP}|[ \t]{{1,4}}(?:{QUOTE})?){pair}", re.IGNORECASE)
    another = re.compile(rf"[^\r\n\"'`\\]{{0,4096}}{QUOTE}{BLANKS},{BLANKS}{QUOTE}{pair}")
    done = 0
    for at in _header_places(low, "cookie"):
        match = start.match(text, at) if at >= done else None
        if match is None or (
            ":" not in match[0] and "," not in match[0] and text[max(0, at - 2) : at] != "--"
        ):
            continue
        end = _line_end(text, match.end())
        while match:
            pairs = (pair.partition("=")[2] for pair in text[match.end() : end].split(";"))
            if any(value and not _is_placeholder(value) for value in pairs):
                yield match.end(), (done := end), "cookie"
            # The next string of a list: "set-cookie": ["a=1", "b=2"]
            match = another.match(text, end) if "[" in match[0] or match.re is another else None
            end = _line_end(text, match.end()) if match else end
    yield from _cookie_members(text, low)


def _cookie_members(text: str, low: str) -> Found:
    """Find the values in ``"cookies": [{"name": "sid", "value": "x"}]``, as HAR files and browser drivers have it."""
    opening = re.compile(rf"cookies{QUOTE}[ \t]{{0,4}}:[ \t]{{0,4}}\[{BLANKS}\{{", re.IGNORECASE)
    member = re.compile(rf"value{QUOTE}[ \t]{{0,4}}:[ \t]{{0,4}}{QUOTE}([^\"'`\\\r\n]{{8,4096}})")
    done = 0
    for at in _places(low, "cookies"):
        match = opening.match(text, at) if at >= done else None
        if match:
            end = text.find("]", match.end(), match.end() + 65536)
            done = end if end >= 0 else min(len(text), match.end() + 65536)
            for found in member.finditer(text, match.end(), done):
                if not _is_placeholder(found[1][:256]):
                    yield *found.span(1), "cookie"


def _line_end(text: str, at: int) -> int:
    r"""Return where a header's value ends: at a quote, a line's end, or the ``\n`` of a string in JSON."""
    match = re.compile(r"[^\r\n\"'`\\]{0,16384}").match(text, at)
    return len(text[at : match.end()].rstrip()) + at if match else at


def _addresses(text: str, low: str) -> Found:
    """Find the password in ``scheme://user:password@host``; user and host stay."""
    user, char = r"://[^\s/?#@:\"'`<>\\\[]{0,128}:", r"[^\s/?\"'`<>\\]"
    pattern = re.compile(
        # A slash belongs in no password, yet people write it; what stands before it then must not be a port.
        rf"{user}({char}{{1,256}}|(?!\d{{1,5}}/){char}{{1,128}}/(?!/)(?:(?!://)[^\s?#\"'`<>\\]){{1,256}})"
        r"@(?=[\w\[%$({.-])"
    )
    for at in _places(text, "://"):
        match = pattern.match(text, at)
        if match and not _is_placeholder(match[1], names=False):
            yield match.start(1), match.end(1), "url-password"


# --- commands that take a password without naming it --------------------------------------------------------


def _commands(text: str, low: str) -> Found:
    """Find passwords that commands, SQL and files of passwords hold at a place of their own: see `COMMANDS`."""
    for hint, start, pattern in COMMANDS:
        if hint not in low or start not in low:
            continue
        ready = re.compile(pattern, re.IGNORECASE)
        for at in _places(low, start):
            match = ready.match(text, at)
            if match and not _is_placeholder(match[1]):
                yield match.start(1), match.end(1), "password"


# --- assignments --------------------------------------------------------------------------------------------

_NAME_SIDE = frozenset("abcdefghijklmnopqrstuvwxyz0123456789_-")
_LONGEST_NAME = 64


COLOURS = r"(?:(?:\x1b|\\{1,15}(?:u001[bB]|x1[bB]|033|e))\[[0-9;]{0,12}[mK]){0,4}"
# From the end of a name to its value: 1 is what joins them, 2 the quote that opens.
GIVING = (
    rf"{COLOURS}(?:{QUOTE}|&quot;|&\#3[49];)?\]?[ \t]{{0,8}}"
    r"(?::[ \t]{0,4}[A-Za-z_][\w.\[\]| ]{0,40}(?==[^=]))?"  # a type: password: str | None = …
    rf"(:=|=>|\?=|={{1,3}}|:(?![:=])|>|)(?:\*\*(?=[ \t]))?[ \t]{{0,8}}{COLOURS}"
    r"(?:[bfruBFRU]{0,2}(\\{0,15}(?:\"\"\"|'''|[\"'`])|&quot;|&\#3[49];))?"
)
BARE = r"[^\s\"'`<>{}()\[\],;&|\\。，；、）」\x1b]{1,4096}"
# The same where a URL has both encoded, once or more often: password%3Dx, %22password%22%3A%20%22x%22.
ENCODED = (
    r"(?:%(?:25){0,3}(?:22|27|5[Dd]))?%(?:25){0,3}3([AaDd])(?:%(?:25){0,3}20|\+){0,4}(?:%(?:25){0,3}2[27])?"
    r"((?:[^\s\"'`<>&%;,\\]|%(?!(?:25){0,3}(?:0[AaDd]|2[0267CcFf]|3[BbCcEeFf]|5[Dd]|7[Dd]))){1,1024})"
)
# A pair's other half: {"name": "DB_PASSWORD", "value": "x"}, - name: DB_PASSWORD / value: x, <add key="…" value="x"/>
PAIRED = (
    rf"(?:{QUOTE})?{BLANKS},?{BLANKS}(?:{QUOTE})?value(?:{QUOTE})?[ \t]{{0,4}}([:=])[ \t]{{0,4}}({QUOTE})?"
)
# Types and algorithms that stand in a cell beside a name.
TYPES = (
    r"(?i:(?:n?var)?char|string|str|text|u?int|float|bytes?|binary|bits?|sha|md|hex|base|uuid|utf|aes|rsa|hmac|ed|v)"
    r"[-_]?\d{1,4}(?:\(\d*\))?|\w{1,20}\(.*\)|\w{1,12}\[\d*\]"
)
# Calls: setPassword("x"), define('DB_PASSWORD', 'x')
CALLED = rf"(?:({QUOTE})[ \t]{{0,4}},|\()[ \t]{{0,4}}({QUOTE})"


def secret_name(name: str) -> str | None:
    """Return the kind of secret that a variable, key, header or flag of this name holds, or None.

    ``DB_PASSWORD`` gives "password", ``clientSecret`` "secret", ``token_count`` None.
    """
    words = [word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", name)]
    while len(words) > 1 and (words[-1] in NAME_TAILS or words[-1].isdigit()):
        words.pop()
    if not words:
        return None
    if words[-1] == "pass" and (len(words) > 1 or name.startswith("--")):
        return "password"
    joined = "".join(words)
    kind = next((kind for end, kind in NAME_ENDS.items() if joined.endswith(end)), None)
    if kind != "token":
        return kind
    known = words[-1] == "token" and OTHER_TOKENS.isdisjoint(words[-2:-1])
    return kind if known or joined.endswith(GLUED_TOKENS) else None


def _assignments(text: str, low: str) -> Found:
    """Find values given to a secret's name: in env files, YAML, JSON, TOML, XML, code and as flags."""
    ends: set[int] = set()
    for hint in NAME_HINTS.split():
        done = 0  # where the last name or value ended: what it holds is not looked at again
        for at in _places(low, hint):
            if at < done:
                continue
            start, end = _name_around(low, at, len(hint))
            done = end
            if end in ends:
                continue
            ends.add(end)
            start += _escape_width(text, start)
            kind = secret_name(text[start:end])
            match = re.compile(GIVING).match(text, end) if kind else None
            if kind is None or match is None:
                continue
            given = _Given(text, start, end, match)
            span = given.quoted_value(kind) if match[2] else given.bare_value(kind)
            span = span or _elsewhere(text, start, end, kind)
            if span:
                yield *span, kind
                done = span[1]


def _name_around(low: str, at: int, width: int) -> tuple[int, int]:
    """Return start and end of the name that holds the hint at ``at``."""
    start, end = at, at + width
    while start > 0 and at - start < _LONGEST_NAME and low[start - 1] in _NAME_SIDE:
        start -= 1
    while end < len(low) and end - at < _LONGEST_NAME and low[end] in _NAME_SIDE:
        end += 1
    while end > at + width and low[end - 1] in "-_":
        end -= 1
    return start, end


def _escape_width(text: str, start: int) -> int:
    r"""Return how many letters that seem to begin a name end what stands before: ``\n``, ``%22``, ``ESC[31m``."""
    before = text[start - 1 : start]
    if before == "\\":
        return 1 if text[start] in "nrt" else 0
    if before == "%":
        found = re.compile(r"(?:25){0,3}[0-9A-Fa-f]{2}").match(text, start)
    elif before in ("[", ";") and "[" in text[max(0, start - 12) : start]:
        found = re.compile(r"(?:[0-9]{0,3}m|K)").match(text, start)
    else:
        return 0
    return len(found[0]) if found else 0


def _elsewhere(text: str, start: int, end: int, kind: str) -> tuple[int, int] | None:
    """Return the value of a name that is joined to it by no sign of its own: encoded, paired, called, in a table."""
    name = text[start:end]
    follows = text[end : end + 24]
    if "%" in follows[:4]:
        match = re.compile(ENCODED).match(text, end)
        if match and is_secret_value(_decoded(match[2][:256]), kind, name):
            return match.span(2)
    if "|" in follows:
        return _table_cell(text, start, end, kind)
    if ("(" in follows[:1] or "," in follows) and (value := _called_value(text, start, end, kind)):
        return value
    return _paired_value(text, start, end, kind)


def _decoded(value: str) -> str:
    for _ in range(3):
        value = re.sub(r"%([0-7][0-9A-Fa-f])", lambda code: chr(int(code[1], 16)), value)
    return value


def _paired_value(text: str, start: int, end: int, kind: str) -> tuple[int, int] | None:
    before = text[max(0, start - 32) : start]
    if "name" not in before.lower() and "key" not in before.lower():
        return None
    if not re.search(
        rf"(?:name|key)(?:{QUOTE})?[ \t]{{0,8}}[:=][ \t]{{0,8}}(?:{QUOTE})?\Z", before, re.IGNORECASE
    ):
        return None
    match = re.compile(PAIRED, re.IGNORECASE).match(text, end)
    if match is None:
        return None
    if match[2]:
        last = _closing_quote(text, match.end(), match[2])
    else:
        word = re.compile(BARE).match(text, match.end())
        last = word.end() if word and (match[1] == ":" or word[0][-1:].isalnum()) else None
    ok = last is not None and is_secret_value(text[match.end() : last], kind, text[start:end])
    return (match.end(), last) if last is not None and ok else None


def _called_value(text: str, start: int, end: int, kind: str) -> tuple[int, int] | None:
    """Return what ``setPassword("x")`` or ``define('DB_PASSWORD', 'x')`` gives."""
    match = re.compile(CALLED).match(text, end)
    if match is None:
        return None
    if match[1]:
        ok = re.search(
            rf"(?<![A-Za-z]){GIVERS}\([ \t]{{0,4}}{QUOTE}\Z", text[max(0, start - 40) : start], re.IGNORECASE
        )
    else:
        ok = re.match(r"(?:set|with)_?[A-Z]|(?:set|with)_", text[start:end])
    last = _closing_quote(text, match.end(), match[2]) if ok else None
    if last is None or not is_secret_value(text[match.end() : last], kind, text[start:end]):
        return None
    return match.end(), last


def _table_cell(text: str, start: int, end: int, kind: str) -> tuple[int, int] | None:
    """Return the second of two cells in a row of Markdown, ``| password | hunter22 |``, where it is no type."""
    match = re.compile(
        r"[`* ]{0,4}[ \t]{0,40}\|[ \t]{0,4}`?([^\s|`]{8,200})`?[ \t]{0,40}\|[ \t]{0,4}(?=[\r\n]|\Z)"
    ).match(text, end)
    if match is None or not re.search(
        r"(?:\A|\n)[ \t]{0,8}\|[ \t]{0,4}[`*]{0,2}[\w-]{0,64}\Z", text[max(0, start - 96) : start]
    ):
        return None
    value = match[1]
    mixed = any(char.isdigit() for char in value) and any(char.isalpha() for char in value)
    typed = re.fullmatch(TYPES, value)
    ok = mixed and not typed and is_secret_value(value, kind, text[start:end])
    return match.span(1) if ok else None


class _Given:
    """One ``name = value`` in a text: what stands around it says whether the value is a word of code or a secret."""

    __slots__ = ("end", "match", "separator", "start", "text")

    def __init__(self, text: str, start: int, end: int, match: re.Match[str]) -> None:
        self.text = text
        self.start = start
        self.end = end
        self.match = match
        self.separator = match[1]

    def quoted_value(self, kind: str) -> tuple[int, int] | None:
        if not self._separated(kind):
            return None
        start = self.match.end()
        end = _closing_quote(self.text, start, self.match[2])
        if end is None or not is_secret_value(self.text[start:end], kind, self.name):
            return None
        return start, end

    def bare_value(self, kind: str) -> tuple[int, int] | None:
        found = re.compile(BARE).match(self.text, self.match.end())
        if found is None or not self._separated(kind) or self.separator in {"=>", "==", "==="}:
            return None
        value, end = found[0][:256], found.end()  # enough to judge by
        follows = self.text[end : end + 1]
        if self.separator == ">" and self.text[end : end + 2] != "</":
            return None
        if self._is_loose(value, end):
            ok = is_secret_value(value, kind, self.name) and value.lower() not in PROSE and value[0] != "-"
            ok = ok and not (follows == "(" and value.replace(".", "_").isidentifier())
            if ok and self.name.isupper() and self.separator == "=":
                # What a shell or an .env file would take whole is hidden whole.
                end = max(end, _word_end(self.text, end))
        else:
            ok = (
                follows not in ("(", "[", "{")
                and is_secret_value(value, kind, self.name)
                and not _is_code(value)
            )
        return (found.start(), end) if ok else None

    @property
    def name(self) -> str:
        return self.text[self.start : self.end]

    def _separated(self, kind: str) -> bool:
        """Tell whether name and value belong together."""
        if self.separator == ">":
            return self.text[self.start - 1 : self.start] == "<"  # <password>…</password>
        if self.text[self.start - 3 : self.start] == "://":
            return False  # user:password@host has a rule of its own
        if self.text[max(0, self.start - 10) : self.start] == "[redacted:":
            return False  # our own marker
        if self.separator:
            return True
        blank = self.match[0][:1] in (" ", "\t")
        return blank and (self._is_flag() or (bool(self.match[2]) and kind == "password"))

    def _is_flag(self) -> bool:
        """Tell whether a blank is enough: ``--password x``, ``npm config set …:_authToken x``."""
        before = self.text[max(0, self.start - 120) : self.start]
        return (
            self.name.startswith("--") or re.search(r"\bconfig(?:ure)? set \S{0,100}\Z", before) is not None
        )

    def _is_loose(self, value: str, end: int) -> bool:
        """Tell whether a bare word here is a value and not a variable: env files, flags, query strings, lines."""
        if self._is_flag() or self.separator == ">":
            return True
        joint = re.sub(COLOURS, "", self.match[0]) if "[" in self.match[0] else self.match[0]
        tight = self.separator == joint == "="
        if tight and (self.name.isupper() or self.text[self.start - 1 : self.start] in ("?", "&", ";")):
            return True
        alone = re.compile(r"\Z|[\n\r\x1b]|\\{1,15}[nrux]").match(self.text, end) is not None
        line = self.text.rfind("\n", 0, self.start) + 1
        if not alone or self.start - line > 80:
            return False
        head = self.text[line : self.start].strip()
        leads = head in ("", "-", "export", "set") or re.fullmatch(r"[\w.:/-]{1,80}[.:]", head) is not None
        yaml = self.separator == ":" and value.islower() and " " in self.match[0]
        return leads and not _is_chain(value) and (tight or yaml)


def _closing_quote(text: str, start: int, quote: str) -> int | None:
    """Return where the string opened by ``quote`` ends; a string that a cut left open ends at its line's end."""
    limit = min(len(text), start + 4096)
    if len(quote) < 3 or quote[0] == "\\":
        line = text.find("\n", start, limit)
        limit = line if line >= 0 else limit
    at = text.find(quote, start, limit)
    while at > start and text[at - 1] == "\\":
        at = text.find(quote, at + len(quote), limit)
    if at >= 0:
        return at
    return _word_end(text, start) if start < limit else None


def _word_end(text: str, at: int) -> int:
    match = re.compile(r"[^\s\"'`\\\x1b]{0,4096}").match(text, at)
    return match.end() if match else at


# --- is it a value at all? ----------------------------------------------------------------------------------


def is_secret_value(value: str, kind: str, name: str = "") -> bool:
    """Tell whether ``value``, given to a name of ``kind``, is a real one: no placeholder, path, type or label."""
    if _is_placeholder(value) or _is_label(value) or _letters(value) == _letters(name):
        return False
    if kind == "aws-secret-key":
        return len(value) >= 16
    if re.match(r"(?:~|\.{1,2})?/[\w.-]+(?:/[\w.-]+)*/?$|[A-Za-z]:\\|[a-z][a-z0-9+]{1,15}://", value):
        return False
    if kind == "password":
        counted = value.isdigit() and name.lower().endswith("pass")  # tests_pass=1200
        return len(value) >= (8 if counted else 4)
    if kind == "token":
        return _is_token_value(value, alone=name.strip("-").lower() == "token")
    if re.fullmatch(r"(?:\w+\.)?[A-Z]\w*Key(?:Types?)?", value) and _letters(name).endswith("privatekey"):
        return False  # a type: private_key: ed25519.Ed25519PrivateKey
    words = re.fullmatch(r"[a-z]+(?:[-_.][a-z]+)*", value)  # the name of a secret: secret: db-login
    return len(value) >= 6 and not (
        words and name.strip("-").lower() in {"secret", "credential", "credentials"}
    )


def _is_token_value(value: str, alone: bool) -> bool:
    if value.isdigit() or not re.fullmatch(r"[\w.~+/=:@%|!#$^*-]+", value):
        return False  # a count, or a lexer's pattern
    if any(char.isdigit() for char in value):
        return len(value) >= 8
    if alone:
        return len(value) >= 24
    return len(value) >= (12 if _is_plain_word(value) else 8)


def _is_placeholder(value: str, names: bool = True) -> bool:
    """Tell whether a value only keeps a place: ``<password>``, ``$PASSWORD``, ``${x}``, ``{{ x }}``, ``xxx``, ``None``.

    Without ``names`` words such as "password" count as values: in ``postgres://postgres:password@db`` they are.
    """
    value = value.strip()
    low = value.lower().rstrip(".,;:)")
    if len(set(low)) < 2 or re.match(PLACEHOLDER, value, re.IGNORECASE):
        return True
    return names and (
        low in NO_VALUES or re.match(r"your[-_]|<?insert[-_]|op://|vault:|env:", low) is not None
    )


def _is_label(value: str) -> bool:
    """Tell whether a string with blanks is a sentence or a form's label, not a passphrase."""
    if " " not in value.strip():
        return False
    words = value.lower().replace(".", " ").replace(":", " ").split()
    return (value[0].isupper() and all(w.isalpha() for w in words)) or not LABEL_WORDS.isdisjoint(words)


def _letters(name: str) -> str:
    return name.lower().replace("_", "").replace("-", "")


def _is_plain_word(value: str) -> bool:
    return value.isalpha() and value[1:].islower()


def _is_chain(value: str) -> bool:
    return re.fullmatch(r"[A-Za-z_$][\w$]*(?:\.[A-Za-z_$][\w$]*)+", value) is not None


def _is_code(value: str) -> bool:
    """Tell whether a bare word reads as code: a variable, ``a.b``, an operator."""
    if value.isdigit():
        return len(value) < 4
    operators = len(value) < 24 and not set(value).isdisjoint("?=:+$")
    return len(value) < 6 or operators or _is_chain(value) or not any(char.isdigit() for char in value)


# --- the table ----------------------------------------------------------------------------------------------

_BLOCKS = (
    Shape(
        "private-key", "-----begin", _private_keys, "RFC 7468 (PEM), RFC 9580 section 6.2 (OpenPGP armour)"
    ),
    Shape("private-key", "private-lines:", _putty_keys, "PuTTY manual, appendix C: PPK file format"),
)
_SURROUNDED = (
    Shape("authorization", "authorization", _authorizations, "RFC 9110 section 11.6.2"),
    Shape("cookie", "cookie", _cookies, "RFC 6265 sections 4.1 and 4.2"),
    Shape("url-password", "://", _addresses, "RFC 3986 section 3.2.1"),
    Shape("password", COMMAND_HINTS, _commands,
        "manual pages of curl, sshpass, docker, mysql, netrc, openssl, sudo; MySQL and PostgreSQL manuals (pgpass)"),
    Shape("password", NAME_HINTS, _assignments,
        "our own: secret_name() and is_secret_value(); RFC 3986 section 2.1 for what is encoded"),
)  # fmt: skip
# In the order of what a kind tells: where two rules overlap, the first one names the secret.
RULES: tuple[Token | Shape, ...] = (*_BLOCKS, *TOKENS, *_SURROUNDED)
