"""Takes secrets out of a text before it reaches git: the kind is kept, the value goes.

Two sorts of rule stand in one table, ``RULES``:

- a `Token` is known by how it begins (``ghp_``, ``AKIA``): vendors chose such beginnings to be found;
- a `Shape` is known by what stands around it (``password=``, ``Cookie:``, ``-----BEGIN``).

Speed decides the form. A text is first asked whether it holds any rule's literal at all, with plain substring
searches; only then a pattern is compiled, and it is tried only where its literal stands. So nothing is compiled at
import, a text without literals costs almost nothing, and no pattern scans: every repeat is bounded, which keeps
hostile input linear.
"""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Found = Iterator[tuple[int, int, str]]  # start, end and kind of one secret

# A secret that is gone can show the end of another one, which then is found; more than two rounds were never seen.
ROUNDS = 5
SHORTEST_TOKEN = 16  # no token of the table is shorter, so shorter words need no look


def marker(kind: str) -> str:
    """Return what stands in the place of a secret of ``kind``."""
    return f"[redacted:{kind}]"


class Token:
    """A secret that tells its vendor by its first characters.

    ``starts`` are the literals to look for, in exact case. ``pattern`` must match from ``back`` characters before such
    a literal; its group 1, or all of it, is the secret. ``source`` names who published the format.
    """

    __slots__ = ("_ready", "back", "kind", "pattern", "source", "starts")

    def __init__(self, kind: str, starts: str, pattern: str, source: str, back: int = 0) -> None:
        self.kind = kind
        self.starts = tuple(starts.split())
        self.pattern = pattern
        self.source = source
        self.back = back
        self._ready: re.Pattern[str] | None = None

    def hinted(self, words: str) -> bool:
        """Tell whether one of the literals stands in ``words`` (the long words of a text)."""
        return any(start in words for start in self.starts)

    def find(self, text: str) -> Found:
        """Yield where such tokens stand in ``text``."""
        if self._ready is None:
            self._ready = re.compile(self.pattern, re.ASCII)
        for start in self.starts:
            for at in _places(text, start):
                begin = at - self.back
                if begin < 0 or (text[begin].isalnum() and not _begins_word(text, begin)):
                    continue
                if match := self._ready.match(text, begin):
                    group = 1 if self._ready.groups else 0
                    yield match.start(group), match.end(group), self.kind


class Shape:
    """A secret known by its surroundings; ``hints`` are lower-case literals without which it cannot occur."""

    __slots__ = ("find", "hints", "kind", "source")

    def __init__(self, kind: str, hints: str, find: Callable[[str, str], Found], source: str) -> None:
        self.kind = kind
        self.hints = tuple(hints.split())
        self.find = find
        self.source = source

    def hinted(self, low: str) -> bool:
        """Tell whether one of the hints stands in ``low``, the folded text."""
        return any(hint in low for hint in self.hints)


# --- what other modules call --------------------------------------------------------------------------------


def redact(text: str) -> str:
    """Return ``text`` with each secret replaced by its `marker`; the very same object where there is none.

    Doing it twice changes nothing more. The result is an ordinary ``str`` when something was replaced.
    """
    for _ in range(ROUNDS):
        spans = _spans(text)
        if not spans:
            break
        text = _replaced(text, spans)
    return text


def redact_value(value: object) -> object:
    """Return a JSON value with secrets replaced in strings and keys.

    A key can make a harmless looking value a secret: ``{"password": "hunter22"}``. Values that are neither ``str``,
    ``dict`` nor ``list`` come back as they are, but for a number under a password's name.
    """
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, list):
        return [redact_value(item) for item in value]
    if not isinstance(value, dict):
        return value
    named = _named_pair(value)
    return {
        redact(key) if isinstance(key, str) else key: _redact_member(
            named if key == "value" and named else key, item
        )
        for key, item in value.items()
    }


def _named_pair(value: dict[object, object]) -> str | None:
    """Return NAME of ``{"name": NAME, "value": …}``, the way Kubernetes and others write an environment."""
    name = value.get("name", value.get("key"))
    return name if isinstance(name, str) and "value" in value else None


def _redact_member(name: object, item: object) -> object:
    """Return what stands under ``name`` in a JSON object, redacted."""
    if isinstance(item, list):
        return [_redact_member(name, one) if isinstance(one, str) else redact_value(one) for one in item]
    kind = _member_kind(name) if isinstance(name, str) else None
    if kind is None or isinstance(item, bool) or not isinstance(item, (str, int)):
        return redact_value(item)
    if isinstance(item, int):
        return marker(kind) if kind == "password" and item > 999 else item
    if kind in ("authorization", "cookie"):
        # Read as the header it is, so that the scheme stays.
        head = f"{name}: "
        return redact(head + item)[len(head) :]
    shown = redact(item)
    told = re.fullmatch(r"\[redacted:[a-z-]+\]", shown)  # by a rule that says more than the name does
    return marker(kind) if not told and is_secret_value(item, kind, str(name)) else shown


def _member_kind(name: str) -> str | None:
    low = name.lower()
    if low.endswith("authorization"):
        return "authorization"
    return "cookie" if low in ("cookie", "set-cookie") else secret_name(name)


def hide_private(text: str, *, whole: bool) -> str:
    """Return ``text`` with each ``<private>…</private>`` replaced by ``[private]``.

    Tags may nest and span lines; case does not matter. A tag never closed hides to the end when ``whole`` is true
    (a person's prompt: better too much than too little) and is left alone otherwise (a file that holds the word).
    """
    if "<" not in text or "private" not in text.lower():
        return text
    opens: list[int] = []
    spans: list[tuple[int, int]] = []
    for tag in re.finditer(r"<(/?)private(?:\s[^<>]{0,200})?>", text, re.IGNORECASE):
        if not tag[1]:
            opens.append(tag.start())
        elif opens:
            start = opens.pop()
            spans = [span for span in spans if span[0] < start] if spans and spans[-1][0] > start else spans
            spans.append((start, tag.end()))
    if whole and opens:
        spans = [span for span in spans if span[0] < opens[0]]
        spans.append((opens[0], len(text)))
    for start, end in reversed(spans):
        text = f"{text[:start]}[private]{text[end:]}"
    return text


# --- how rules are applied ----------------------------------------------------------------------------------


def _spans(text: str) -> list[tuple[int, int, str]]:
    """Return where the secrets of ``text`` stand: sorted, apart from each other, each with its kind."""
    words = "\n".join(word for word in text.split() if len(word) >= SHORTEST_TOKEN)
    low = _folded(text)
    found: list[tuple[int, int, int, str]] = []
    for rank, rule in enumerate(RULES):
        if isinstance(rule, Token):
            places = rule.find(text) if words and rule.hinted(words) else ()
        else:
            places = rule.find(text, low) if rule.hinted(low) else ()
        found += ((start, end, rank, kind) for start, end, kind in places)
    return _merged(found)


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


# Between a header's name and its value: a quote closed and opened again where the header is a member of an object.
HEADER_GAP = r"\\{0,3}[\"'`]?\]?[ \t]{0,4}[:=,][ \t]{0,4}(?:[bfru]{0,2}\\{0,3}[\"'`])?[ \t]{0,4}"
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
    if _is_placeholder(value) or value.lower() in {
        "authentication",
        "auth",
        "scheme",
        "header",
        "tokens",
        "bearer",
    }:
        return False
    if scheme is not None:
        return len(value) >= 4
    return len(value) >= 12 and "(" not in value and any(char.isdigit() for char in value)


def _cookies(text: str, low: str) -> Found:
    """Find the value of ``Cookie:`` and ``Set-Cookie:`` headers and of curl's ``--cookie``."""
    start = re.compile(
        r"cookie(?:" + HEADER_GAP + r"|[ \t]{1,4}\\{0,3}[\"']?)(?=[\w!#$%&*+.^|~-]{1,200}=)", re.IGNORECASE
    )
    done = 0
    for at in _header_places(low, "cookie"):
        match = start.match(text, at) if at >= done else None
        if match is None or (
            ":" not in match[0] and "," not in match[0] and text[max(0, at - 2) : at] != "--"
        ):
            continue
        end = _line_end(text, match.end())
        pairs = (pair.partition("=")[2] for pair in text[match.end() : end].split(";"))
        if any(value and not _is_placeholder(value) for value in pairs):
            yield match.end(), (done := end), "cookie"


def _line_end(text: str, at: int) -> int:
    r"""Return where a header's value ends: at a quote, a line's end, or the ``\n`` of a string in JSON."""
    match = re.compile(r"[^\r\n\"'`\\]{0,16384}").match(text, at)
    return len(text[at : match.end()].rstrip()) + at if match else at


def _addresses(text: str, low: str) -> Found:
    """Find the password in ``scheme://user:password@host``; user and host stay."""
    pattern = re.compile(r"://[^\s/?#@:\"'`<>\\\[]{0,128}:([^\s/?\"'`<>\\]{1,256})@(?=[\w\[%$({.-])")
    for at in _places(text, "://"):
        match = pattern.match(text, at)
        if match and not _is_placeholder(match[1], names=False):
            yield match.start(1), match.end(1), "url-password"


# --- commands that take a password without naming it --------------------------------------------------------


def _commands(text: str, low: str) -> Found:
    """Find passwords given as ``curl -u user:…``, ``sshpass -p …``, ``docker login -p …``, ``mysql -p…``, in .netrc."""
    patterns = {
        "curl": r"curl\b[^\n|;]{0,400}?[ \t](?:-u|--(?:proxy-)?user)[ =]?[\"']?[^\s:\"'\[{=]{1,100}:([^\s\"']{1,200})",
        "sshpass": r"sshpass[ \t]{1,4}-p[ \t]?[\"']?([^\s\"']{1,200})",
        "docker login": r"docker login\b[^\n|;]{0,200}?[ \t]-p[ \t]{1,4}[\"']?([^\s\"']{1,200})",
        "mysql": r"mysql(?:dump|admin)?\b[^\n|;]{0,200}?[ \t]-p(?!ort|rint|rotocol|\W)([^\s\"']{4,200})",
        "machine ": r"machine[ \t]{1,8}\S{1,200}\s{1,8}login\s{1,8}\S{1,200}\s{1,8}password\s{1,8}(\S{1,200})",
    }
    for literal, pattern in patterns.items():
        if literal not in low:
            continue
        ready = re.compile(pattern, re.IGNORECASE)
        for at in _places(low, literal):
            match = ready.match(text, at)
            if match and not _is_placeholder(match[1]):
                yield match.start(1), match.end(1), "password"


# --- assignments --------------------------------------------------------------------------------------------

# Last words of a name that make what it is given a secret. The longest comes first.
NAME_ENDS = (
    ("secretaccesskey", "aws-secret-key"),
    ("password", "password"),
    ("passwd", "password"),
    ("passwort", "password"),
    ("passphrase", "password"),
    ("pwd", "password"),
    ("credential", "credential"),
    ("credentials", "credential"),
    ("secret", "secret"),
    ("secretkey", "secret"),
    ("apikey", "api-key"),
    ("accesskey", "api-key"),
    ("privatekey", "api-key"),
    ("encryptionkey", "api-key"),
    ("signingkey", "api-key"),
    ("accountkey", "api-key"),
    ("authkey", "api-key"),
    ("masterkey", "api-key"),
    ("servicekey", "api-key"),
    ("sharedkey", "api-key"),
    ("subscriptionkey", "api-key"),
    ("token", "token"),
)
# A name may end in one of these and still be that name: DB_PASSWORD_PROD, password2, SECRET_KEY_BASE.
NAME_TAILS = frozenset(
    "prod production dev test staging live base value old new confirmation confirm repeat".split()
)
# Tokens that are no secret: those of parsers, of pages and of language models.
OTHER_TOKENS = frozenset(
    "next page cancel cancellation continuation pad eos bos sep cls mask unk max min stop start end special sync "
    "per last first prev previous current input output".split()
)
GLUED_TOKENS = (
    "accesstoken",
    "apitoken",
    "authtoken",
    "bearertoken",
    "bottoken",
    "refreshtoken",
    "sessiontoken",
)
NAME_HINTS = "passw passphrase _pass -pass pwd secret token key credential"

_NAME_SIDE = frozenset("abcdefghijklmnopqrstuvwxyz0123456789_-")
_LONGEST_NAME = 64


def secret_name(name: str) -> str | None:
    """Return the kind of secret that a variable, key, header or flag of this name holds, or None.

    ``DB_PASSWORD`` gives "password", ``clientSecret`` "secret", ``token_count`` None.
    """
    words = [word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", name)]
    while len(words) > 1 and (words[-1] in NAME_TAILS or words[-1].isdigit()):
        words.pop()
    if not words:
        return None
    if words[-1] == "pass" and len(words) > 1:
        return "password"
    joined = "".join(words)
    kind = next((kind for end, kind in NAME_ENDS if joined.endswith(end)), None)
    if kind != "token":
        return kind
    known = words[-1] == "token" and OTHER_TOKENS.isdisjoint(words[-2:-1])
    return kind if known or joined.endswith(GLUED_TOKENS) else None


def _assignments(text: str, low: str) -> Found:
    """Find values given to a secret's name: in env files, YAML, JSON, TOML, XML, code and as flags."""
    pattern = re.compile(
        r"(?:\\{0,3}[\"'`])?\]?[ \t]{0,8}"
        r"(?::[ \t]{0,4}[A-Za-z_][\w.\[\]| ]{0,40}(?==[^=]))?"  # a type: password: str | None = …
        r"(:=|=>|\?=|={1,3}|:(?![:=])|>|)[ \t]{0,8}"
        r"(?:[bfruBFRU]{0,2}(\\{0,3}(?:\"\"\"|'''|[\"'`])))?"
    )
    bare = re.compile(r"[^\s\"'`<>{}()\[\],;&|\\。，；、）」]{1,4096}")
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
            if text[start - 1 : start] == "\\" and text[start] in "nrt":
                start += 1
            kind = secret_name(text[start:end])
            match = pattern.match(text, end) if kind else None
            if kind is None or match is None:
                continue
            given = _Given(text, start, end, match)
            span = given.quoted_value(kind) if match[2] else given.bare_value(kind, bare)
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

    def bare_value(self, kind: str, bare: re.Pattern[str]) -> tuple[int, int] | None:
        found = bare.match(self.text, self.match.end())
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
        tight = self.separator == "=" and self.match[0] == "="
        if tight and (self.name.isupper() or self.text[self.start - 1 : self.start] in ("?", "&", ";")):
            return True
        alone = self.text[end : end + 1] in ("", "\n", "\r") or self.text[end : end + 2] in ("\\n", "\\r")
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
    match = re.compile(r"[^\s\"'`\\]{0,4096}").match(text, at)
    return match.end() if match else at


# --- is it a value at all? ----------------------------------------------------------------------------------

PLACEHOLDER = (
    r"\$(?:[({]|\w*$)|<[^<>]*>?$|:?\*+\w*$|[•…]|\.{3}|#?\{|%\(|%\w+%|%[sdrv]$|\[redacted|ENC\[|@\w+@$|x{3,}[\w-]*$"
    r"|!(?:vault|secret|ref|sub|env)\b|os\.(?:environ|getenv)|process\.env|env[\[.(]|getpass|secrets\.|var\.|data\."
)
# Words that stand where a value would, and say that there is none.
NO_VALUES = frozenset(
    "none null nil undefined true false yes no empty string str text bytes int bool any object optional unknown "
    "password passwd passphrase secret token key apikey api_key value required hidden masked redacted private todo "
    "tbd changeme change-me change_me replaceme placeholder example dummy foobar inherit default prompt ask "
    "number boolean varchar secretstr self this input stdin invalid incorrect wrong missing expired".split()
)
# Words that follow a flag or a colon in a sentence.
PROSE = frozenset(
    "to is are was be for and or with from in on at the a an of not must should can will may if when then that "
    "this it as by option options flag flags argument arguments field fields your my their its instead".split()
)
LABEL_WORDS = frozenset(
    "password passwort secret key token must enter your is the required invalid please not".split()
)


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

_WORD = "[A-Za-z0-9]"
_END = "(?![A-Za-z0-9])"

RULES: tuple[Token | Shape, ...] = (
    Shape(
        "private-key", "-----begin", _private_keys, "RFC 7468 (PEM), RFC 9580 section 6.2 (OpenPGP armour)"
    ),
    Shape("private-key", "private-lines:", _putty_keys, "PuTTY manual, appendix C: PPK file format"),
    # Clouds
    Token(
        "aws-access-key",
        "AKIA ASIA ABIA ACCA",
        r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}" + _END,
        "AWS IAM user guide, reference_identifiers: https://docs.aws.amazon.com/IAM/latest/UserGuide/",
    ),
    Token(
        "aws-secret-key",
        "AKIA ASIA",
        r"A[KS]IA[A-Z0-9]{16}[\"']?[\s,:;|]{1,3}[\"']?([A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])",
        "AWS IAM user guide, access keys as downloaded: id, comma, secret",
    ),
    Token("aws-bedrock-key", "ABSK", r"ABSK[A-Za-z0-9+/]{100,}={0,2}", "AWS Bedrock user guide, API keys"),
    Token(
        "google-api-key",
        "AIza",
        r"AIza[\w-]{35}",
        "Google Cloud docs, API keys: https://cloud.google.com/docs/authentication",
    ),
    Token(
        "google-oauth-secret",
        "GOCSPX-",
        r"GOCSPX-[\w-]{20,64}",
        "GitHub secret scanning: google_oauth_client_secret",
    ),
    Token(
        "google-oauth-token",
        "ya29. 1//0",
        r"(?:ya29\.|1//0)[\w-]{20,1024}",
        "Google identity docs, OAuth 2.0 tokens",
    ),
    Token(
        "azure-client-secret",
        "Q~",
        r"[\w~.]{3}\dQ~[\w~.-]{31,34}",
        "GitHub secret scanning: azure_active_directory_application_secret",
        4,
    ),
    Token(
        "azure-key",
        "JQQJ9",
        _WORD + r"{52}JQQJ9[9D]" + _WORD + "{20,40}(?:==)?",
        "Microsoft security-utilities: common annotated key",
        52,
    ),
    Token(
        "azure-storage-key",
        "AccountKey= SharedAccessKey=",
        r"(?:AccountKey|SharedAccessKey)=([A-Za-z0-9+/]{40,88}={0,2})",
        "Azure storage docs, connection strings",
    ),
    Token(
        "azure-sas",
        "sig=",
        r"sig=((?:[A-Za-z0-9+/]|%[0-9A-Fa-f]{2}){40,90}(?:=|%3[Dd]))",
        "Azure storage docs, shared access signatures",
    ),
    Token(
        "digitalocean-token",
        "dop_v1_ doo_v1_ dor_v1_",
        r"do[opr]_v1_[a-f0-9]{40,64}",
        "DigitalOcean API reference, authentication",
    ),
    Token(
        "alibaba-access-key",
        "LTAI",
        r"LTAI" + _WORD + "{12,26}" + _END,
        "GitHub secret scanning: alibaba_cloud_access_key_id",
    ),
    Token(
        "tencent-secret-id",
        "AKID",
        r"AKID" + _WORD + "{32}" + _END,
        "GitHub secret scanning: tencent_cloud_secret_id",
    ),
    Token("heroku-key", "HRKU-", r"HRKU-[\w-]{30,80}", "Heroku dev center, platform API tokens"),
    Token(
        "fly-token",
        "fm1a_ fm1r_ fm2_ fo1_",
        r"(?:fm1[ar]_|fm2_|fo1_)[\w+/=-]{40,2048}",
        "Fly.io docs, access tokens",
    ),
    Token("vault-token", "hvs. hvb. hvr.", r"hv[sbr]\.[\w-]{20,512}", "HashiCorp Vault docs, tokens"),
    Token(
        "terraform-token",
        ".atlasv1.",
        _WORD + r"{14}\.atlasv1\.[\w-]{40,100}",
        "HCP Terraform docs, API tokens",
        14,
    ),
    Token(
        "databricks-token",
        "dapi",
        r"dapi[a-f0-9]{32}(?:-\d)?" + _END,
        "Databricks docs, personal access tokens",
    ),
    Token("pulumi-token", "pul-", r"pul-[a-f0-9]{40}" + _END, "Pulumi docs, access tokens"),
    Token(
        "doppler-token",
        "dp.pt. dp.st. dp.ct. dp.sa.",
        r"dp\.(?:pt|st|ct|sa)\.[\w.-]{36,100}",
        "Doppler docs, token formats",
    ),
    Token(
        "planetscale-token",
        "pscale_",
        r"pscale_(?:tkn|pw|oauth)_[\w.=-]{30,64}",
        "PlanetScale docs, service tokens",
    ),
    Token(
        "supabase-key",
        "sbp_ sb_secret_",
        r"sb(?:p_[a-f0-9]{40}|_secret_[\w-]{20,64})",
        "Supabase docs, API keys",
    ),
    Token("netlify-token", "nfp_", r"nfp_" + _WORD + "{32,64}", "Netlify docs, personal access tokens"),
    # Model makers
    Token(
        "anthropic-key",
        "sk-ant-",
        r"sk-ant-[a-z]{2,10}\d{0,2}-[\w-]{16,256}",
        "Anthropic console; GitHub secret scanning: anthropic_api_key",
    ),
    Token("openrouter-key", "sk-or-", r"sk-or-v1-[a-f0-9]{32,64}", "OpenRouter docs, authentication"),
    Token("langfuse-key", "sk-lf-", r"sk-lf-[a-f0-9-]{36}", "Langfuse docs, API keys"),
    Token(
        "openai-key",
        "sk-",
        r"sk-(?:(?:proj|svcacct|admin|None)-(?=[\w-]{0,200}(?:\d|[A-Za-z0-9_]{20}))[\w-]{20,256}|"
        + _WORD
        + "{20,128}"
        + _END
        + ")",
        "OpenAI docs, API keys; the plain form is shared by DeepSeek, Moonshot and others",
    ),
    Token(
        "huggingface-token",
        "hf_ api_org_",
        r"(?:hf|api_org)_" + _WORD + "{30,64}",
        "Hugging Face docs, user access tokens",
    ),
    Token("groq-key", "gsk_", r"gsk_" + _WORD + "{30,80}", "Groq docs, API keys"),
    Token("xai-key", "xai-", r"xai-" + _WORD + "{40,120}", "xAI docs, API keys"),
    Token("replicate-token", "r8_", r"r8_" + _WORD + "{30,50}", "Replicate docs, API tokens"),
    Token("perplexity-key", "pplx-", r"pplx-" + _WORD + "{32,64}", "Perplexity docs, API keys"),
    Token("nvidia-key", "nvapi-", r"nvapi-[\w-]{40,100}", "NVIDIA NIM docs, API keys"),
    Token("together-key", "tgp_v1_", r"tgp_v1_[\w-]{30,64}", "Together docs, API keys"),
    Token("cerebras-key", "csk-", r"csk-[a-z0-9]{40,64}", "Cerebras inference docs, API keys"),
    Token(
        "langsmith-key", "lsv2_", r"lsv2_(?:pt|sk)_[a-f0-9]{32}_[a-f0-9]{8,12}", "LangSmith docs, API keys"
    ),
    Token("pinecone-key", "pcsk_", r"pcsk_\w{30,100}", "Pinecone docs, API keys"),
    Token("elevenlabs-key", "sk_", r"sk_[a-f0-9]{48}" + _END, "ElevenLabs docs, authentication"),
    Token("tavily-key", "tvly-", r"tvly-[\w-]{20,64}", "Tavily docs, API keys"),
    # Code hosts
    Token(
        "github-token",
        "ghp_ gho_ ghu_ ghs_ ghr_",
        r"gh[pousr]_" + _WORD + "{30,255}",
        "GitHub docs, token formats: https://docs.github.com/en/authentication",
    ),
    Token(
        "github-token",
        "github_pat_",
        r"github_pat_\w{22,255}",
        "GitHub docs, fine-grained personal access tokens",
    ),
    Token(
        "gitlab-token",
        "glpat- gldt- glrt- glptt- glcbt- glft- glimt- glagent- glsoat- gloas- glffct- glrtr- GR1348941",
        r"(?:gl(?:pat|dt|rt|ptt|cbt|ft|imt|agent|soat|oas|ffct|rtr)-|GR1348941)[\w=-]{20,300}(?:\.[\w-]{2,32}){0,3}",
        "GitLab docs, token prefixes: https://docs.gitlab.com/security/tokens/",
    ),
    Token(
        "atlassian-token",
        "ATATT3 ATCTT3 ATBB",
        r"(?:AT[AC]TT3[\w=-]{50,300}|ATBB" + _WORD + "{24,64})",
        "Atlassian docs, API tokens and Bitbucket app passwords",
    ),
    # Package registries
    Token("npm-token", "npm_", r"npm_" + _WORD + "{30,64}", "npm docs, access tokens"),
    Token(
        "pypi-token", "pypi-Ag", r"pypi-Ag[\w-]{40,1024}", "PyPI help, API tokens; the prefix of a macaroon"
    ),
    Token("rubygems-key", "rubygems_", r"rubygems_[a-f0-9]{48}", "RubyGems guides, API keys"),
    Token(
        "crates-token", "cio", r"cio" + _WORD + "{32}" + _END, "GitHub secret scanning: crates_io_api_token"
    ),
    Token("docker-token", "dckr_pat_ dckr_oat_", r"dckr_[po]at_[\w-]{20,64}", "Docker docs, access tokens"),
    Token(
        "docker-login",
        '"auth"',
        r"\"auth\"\s{0,4}:\s{0,4}\"([A-Za-z0-9+/]{12,512}={0,2})\"",
        "Docker docs, config.json: auths",
    ),
    Token("nuget-key", "oy2", r"oy2[a-z0-9]{43}" + _END, "GitHub secret scanning: nuget_api_key"),
    Token("clojars-token", "CLOJARS_", r"CLOJARS_[a-f0-9]{60}", "Clojars wiki, deploy tokens"),
    Token(
        "jfrog-token",
        "AKCp cmVmd",
        r"(?:AKCp" + _WORD + "{69}|cmVmd" + _WORD + "{59})" + _END,
        "JFrog docs, API keys and reference tokens",
    ),
    # Talk, mail, money, monitoring
    Token(
        "slack-token",
        "xox xapp- xoxe.",
        r"(?:xox[abcdeoprs](?:\.xox[bp])?-[\w%-]{10,400}|xapp-\d-[\w-]{10,400})",
        "Slack docs, token types",
    ),
    Token(
        "slack-webhook",
        "hooks.slack.com/",
        r"hooks\.slack\.com/(?:services|workflows|triggers)/([\w/-]{20,200})",
        "Slack docs, incoming webhooks",
    ),
    Token(
        "discord-webhook",
        "/api/webhooks/",
        r"/api/webhooks/\d{15,22}/([\w-]{50,100})",
        "Discord docs, webhooks",
    ),
    Token("telegram-token", ":AA", r"(?<=\d{8}):(AA[\w-]{32,36})", "Telegram bot API, authorizing your bot"),
    Token(
        "stripe-key",
        "sk_live_ sk_test_ rk_live_ rk_test_",
        r"[sr]k_(?:live|test)_" + _WORD + "{10,255}",
        "Stripe docs, API keys",
    ),
    Token(
        "stripe-webhook-secret",
        "whsec_",
        r"whsec_[A-Za-z0-9+/]{24,100}={0,2}",
        "Stripe docs, webhook signatures",
    ),
    Token("twilio-key", "SK", r"SK[a-f0-9]{32}" + _END, "Twilio docs, API keys"),
    Token("sendgrid-key", "SG.", r"SG\.[\w-]{16,32}\.[\w-]{16,64}", "SendGrid docs, API keys"),
    Token(
        "shopify-token",
        "shpat_ shpca_ shppa_ shpss_",
        r"shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}",
        "Shopify docs, access tokens",
    ),
    Token(
        "square-token",
        "sq0atp- sq0csp- EAAA",
        r"(?:sq0[ac][ts]p-[\w-]{22,43}|EAAA[\w-]{56,64}" + _END + ")",
        "Square docs, access tokens",
    ),
    Token("notion-token", "ntn_", r"ntn_" + _WORD + "{40,64}", "Notion docs, authorization"),
    Token(
        "linear-key",
        "lin_api_ lin_oauth_",
        r"lin_(?:api|oauth)_" + _WORD + "{32,80}",
        "Linear docs, API keys",
    ),
    Token("figma-token", "figd_", r"figd_[\w-]{32,64}", "Figma docs, personal access tokens"),
    Token("postman-key", "PMAK-", r"PMAK-[a-f0-9]{24}-[a-f0-9]{34}", "Postman docs, API keys"),
    Token("newrelic-key", "NRAK- NRRA-", r"NR(?:AK|RA)-[A-Za-z0-9]{27,42}", "New Relic docs, API keys"),
    Token(
        "grafana-token",
        "glsa_ glc_",
        r"gl(?:sa_" + _WORD + "{32}_[a-fA-F0-9]{8}|c_[A-Za-z0-9+/]{32,400}={0,2})",
        "Grafana docs, service accounts",
    ),
    Token("sentry-token", "sntrys_ sntryu_", r"sntry[su]_[\w+/=-]{40,400}", "Sentry docs, auth tokens"),
    Token(
        "onepassword-token",
        "ops_eyJ",
        r"ops_eyJ[A-Za-z0-9+/]{100,2048}={0,3}",
        "1Password docs, service accounts",
    ),
    Token("age-key", "AGE-SECRET-KEY-1", r"AGE-SECRET-KEY-1[A-Z0-9]{50,64}", "age specification"),
    Token(
        "jwt", "eyJ", r"eyJ[\w-]{8,4096}\.eyJ[\w-]{8,16384}\.[\w-]{0,4096}", "RFC 7519; RFC 7515 section 3.1"
    ),
    # What is known by its surroundings
    Shape("authorization", "authorization", _authorizations, "RFC 9110 section 11.6.2"),
    Shape("cookie", "cookie", _cookies, "RFC 6265 sections 4.1 and 4.2"),
    Shape("url-password", "://", _addresses, "RFC 3986 section 3.2.1"),
    Shape(
        "password",
        "curl sshpass mysql machine docker",
        _commands,
        "manual pages of curl, sshpass, docker, mysql, netrc",
    ),
    Shape("password", NAME_HINTS, _assignments, "our own: secret_name() and is_secret_value()"),
)
