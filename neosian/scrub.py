"""What of a span may reach git: secrets and private parts taken out, files to ignore left out, long texts cut.

Secrets go before anything is cut, so that none is cut in two and missed, but only in a window that is a little larger
than what is kept: a result of 50 MB costs no more than one of 10 KB.
"""

from __future__ import annotations

import re

from neosian.calls import Globs, named_paths, without_ignored
from neosian.payload import Cut, compact, left_out, length
from neosian.turns import PERSON

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any, Protocol

    from neosian.turns import Line

    class HidePrivate(Protocol):
        def __call__(self, text: str, *, whole: bool) -> str: ...


WINDOW = 4096  # characters beyond a cut that are looked at for a secret that lies across it
MEMBERS = 5000  # of a value: one with more is kept as its compact JSON, cut like any text
PLAIN = ("text", "reason", "error")  # fields that hold text
VALUES = ("input", "payload")  # fields that hold any JSON
TYPED = ("compact", "event")  # kinds that may hold what a person typed, beside prompts
# Fields that name or pair things: with a secret taken out of one, what belongs together would come apart.
NAMES = (
    "kind",
    "at",
    "id",
    "state",
    "client",
    "session",
    "actor",
    "prompt_id",
    "call",
    "event",
    "from",
    "commit",
)


# The end of a key whose beginning was cut away.
_ORPHAN = r"(?s)\A(?:(?!-----BEGIN).)*-----END [A-Z ]*PRIVATE KEY[A-Z ]*-----"


class Policy:
    """How much to keep, which files to leave out, and what takes secrets out.

    The functions are those of `neosian.redact` unless others are given.
    """

    __slots__ = ("hide_private", "ignore", "input_chars", "output_chars", "redact", "redact_value")

    def __init__(
        self,
        output_chars: int = 4096,
        input_chars: int = 16384,
        ignore: Iterable[str] = (),
        redact: Callable[[str], str] | None = None,
        redact_value: Callable[[object], object] | None = None,
        hide_private: HidePrivate | None = None,
    ) -> None:
        from neosian import redact as ours

        self.output_chars = output_chars
        self.input_chars = input_chars
        self.ignore = Globs(ignore)
        self.redact = redact or ours.redact
        self.redact_value = redact_value or ours.redact_value
        self.hide_private: HidePrivate = hide_private or ours.hide_private


def render(lines: Iterable[Line], policy: Policy, about: Mapping[str, object]) -> list[Line]:
    """The lines of a span as they go into the log. ``about`` (actor, branch, host, ...) goes into its ``turn`` line.

    What is cut tells its true length: a text in ``chars``, and strings of a call's input or of an unknown event's
    payload there too, as an object from JSON pointer (RFC 6901) to length: ``{"/content": 119000}``. A call on a file
    to ignore keeps neither input nor output and names the pattern in ``dropped``.
    """
    header: Line = {}
    rendered = []
    for line in lines:
        header = line if line["kind"] == "turn" else header
        cwd = line.get("cwd") or line.get("_cwd") or header.get("cwd")
        rendered.append(_rendered(line, policy, about, str(cwd or "")))
    return rendered


def _rendered(line: Line, policy: Policy, about: Mapping[str, object], cwd: str) -> Line:
    kind = line["kind"]
    asked = line.get("input", line.get("_input"))
    line = {name: value for name, value in line.items() if not name.startswith("_")}
    if kind == "turn":
        return _named(line | {name: value for name, value in about.items() if name not in line}, policy)
    pattern = policy.ignore.match(named_paths(asked, cwd)) if isinstance(asked, dict) else None
    if pattern is not None:
        return _dropped(line, pattern)
    for name in PLAIN:
        if isinstance(line.get(name), str):
            line |= _text(line, name, policy, cwd)
    for name in VALUES:
        if name in line:
            line |= _value(line[name], name, policy, kind in TYPED)
    return _named(line, policy)


def _named(line: Line, policy: Policy) -> Line:
    """A line with what is neither text nor value, such as its directory and branch, without secrets."""
    for name, value in line.items():
        if isinstance(value, str) and name not in (*PLAIN, *NAMES):
            line[name] = policy.redact(value)
    return line


def _dropped(line: Line, pattern: str) -> Line:
    kept = {name: value for name, value in line.items() if name not in ("input", "text", "reason")}
    return {**kept, "dropped": pattern}


def _text(line: Line, name: str, policy: Policy, cwd: str) -> Line:
    """One text of a line without secrets, and its true length where it is cut."""
    text = line[name]
    said = "from" not in line if line["kind"] == "prompt" else line.get("from") == PERSON
    output = line["kind"] == "tool_result" and name == "text" and not said
    if output and length(text) > policy.output_chars:
        return {name: _cut(text, policy, line.get("ok") is False, cwd), "chars": length(text)}
    left = without_ignored(text, policy.ignore, cwd) if output else text
    kept = policy.redact(policy.hide_private(left, whole=said or line["kind"] in TYPED))
    if isinstance(text, Cut):
        head, mark, tail = kept.partition(" left out …]\n")
        kept = head + mark + re.sub(_ORPHAN, "[redacted:private-key]", tail)
    return {name: str(kept), **({"chars": length(text)} if length(text) > len(text) else {})}


def _cut(text: str, policy: Policy, both: bool, cwd: str) -> str:
    """The head of a text, or ``both`` ends of it, where an error tends to say what it is."""
    limit = policy.output_chars
    if not both:
        return _head(_clean_head(text, limit + WINDOW, policy, cwd), text, limit)
    half = limit // 2
    clean = policy.redact(policy.hide_private(without_ignored(text, policy.ignore, cwd), whole=False))
    if len(clean) <= limit:
        return clean  # little was left of it when it came in
    tail = (
        re.sub(_ORPHAN, "[redacted:private-key]", clean[-half:]) if isinstance(text, Cut) else clean[-half:]
    )
    return left_out(clean[:half], tail, length(text))


def _clean_head(text: str, size: int, policy: Policy, cwd: str) -> str:
    """The first ``size`` characters without secrets and private parts, also one that ends further on."""
    ends_later = "</private" in text[size:].lower()
    head = without_ignored(text[:size], policy.ignore, cwd)
    return policy.redact(policy.hide_private(head, whole=ends_later))


def _head(redacted: str, text: str, limit: int) -> str:
    return redacted[: _room(len(redacted), text, limit)]


def _room(size: int, text: str, limit: int) -> int:
    """How much to keep of a redacted window of ``text`` that has ``size`` characters.

    The part of the window that lies across the cut may hold half a secret. Where others before it shrank, it has
    moved towards the cut and must not move past it.
    """
    return min(limit, max(0, size - WINDOW)) if len(text) > limit + WINDOW else min(limit, size)


def _value(value: Any, name: str, policy: Policy, typed: bool) -> Line:
    """A JSON value within limits, and the true lengths of the strings that were cut."""
    limit = policy.input_chars
    if _members(value) > MEMBERS:
        text = compact(value)
        ends_later = "</private" in text[limit + WINDOW :].lower()
        head = policy.redact(policy.hide_private(str(text[: limit + WINDOW]), whole=typed or ends_later))
        return {name: _head(head, text, limit), "chars": {"": length(text)}}
    shown = _without_private(_window(value, limit + WINDOW), policy, typed)
    kept = _cut_value(policy.redact_value(shown), value, limit)
    chars = dict(_lengths(value, "", limit))
    return {name: kept, **({"chars": chars} if chars else {})}


def _members(value: Any) -> int:
    """How many members a value has in all its lists and objects, counted until they are too many."""
    count, left = 0, [value]
    while left and count <= MEMBERS:
        one = left.pop()
        if isinstance(one, (dict, list)):
            count += len(one)
            left += one.values() if isinstance(one, dict) else one
    return count


def _window(value: Any, size: int) -> Any:
    """``value`` with no string longer than ``size``."""
    if isinstance(value, str):
        return str(value[:size])
    if isinstance(value, dict):
        return {str(key[:size]): _window(item, size) for key, item in value.items()}
    if isinstance(value, list):
        return [_window(item, size) for item in value]
    return value


def _without_private(value: Any, policy: Policy, typed: bool) -> Any:
    if isinstance(value, str):
        return policy.hide_private(value, whole=typed)
    if isinstance(value, dict):
        return {key: _without_private(item, policy, typed) for key, item in value.items()}
    if isinstance(value, list):
        return [_without_private(item, policy, typed) for item in value]
    return value


def _cut_value(redacted: Any, value: Any, limit: int) -> Any:
    """A redacted value with its strings cut; ``value`` is what it was, member by member in the same order."""
    if not isinstance(value, type(redacted)):  # a name was redacted into one that was there already
        value = redacted
    if isinstance(redacted, str):
        return _head(redacted, value, limit)
    if isinstance(redacted, dict):
        pairs = zip(redacted.items(), value.values(), strict=False)
        return {key[:limit]: _cut_value(item, was, limit) for (key, item), was in pairs}
    if isinstance(redacted, list):
        return [_cut_value(item, was, limit) for item, was in zip(redacted, value, strict=False)]
    return redacted


def _lengths(value: Any, pointer: str, limit: int) -> Iterable[tuple[str, int]]:
    if isinstance(value, str):
        if length(value) > limit:
            yield pointer, length(value)
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _lengths(item, f"{pointer}/{str(key).replace('~', '~0').replace('/', '~1')}", limit)
    elif isinstance(value, list):
        for place, item in enumerate(value):
            yield from _lengths(item, f"{pointer}/{place}", limit)
