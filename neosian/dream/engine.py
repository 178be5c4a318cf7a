"""What every engine that asks a model has in common: a question, an answer, and the ways in which there is none."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, Protocol

from neosian.errors import NeosianError
from neosian.redact import redact

ANTHROPIC, CLAUDE_CLI, RULES = NAMES = ("anthropic", "claude-cli", "rules")
"""Engines by the names that `--engine` and `dream.engine` take; `rules` asks no model."""

# Kinds of `EngineError`, from the person's side.
NO_KEY = "no key"  # nothing to sign in with, or no client that is signed in
KEY_REFUSED = "key refused"
NO_CLIENT = "no client"  # the program that would ask is not there, or not as we know it
QUOTA = "quota"  # what the account may spend is spent
OVERLOADED = "overloaded"
TIMEOUT = "timeout"
UNREACHABLE = "unreachable"
BROKEN_OFF = "broken off"  # the connection ended before the answer was whole
CERTIFICATE = "certificate"
REQUEST = (
    "request"  # the server takes no such request: a model it does not have, an address that is none of its
)
REFUSED = "refused"  # the model will not answer this
TRUNCATED = "truncated"  # the answer is longer than it may be
TOO_LONG = "too long"  # the question is longer than the model can read
UNREADABLE = "unreadable"

_OF_THE_QUESTION = (REFUSED, TRUNCATED, TOO_LONG, UNREADABLE)
_LONGEST_SAYING = 240  # characters of what somebody else says of an error
_QUOTED = 32  # characters in a row that two texts do not share by chance

PRICES = {  # US dollars for a million tokens read, and for a million written, by the public list of November 2026
    "claude-fable-5-2": (8.0, 40.0),
    "claude-opus-5-5": (4.0, 20.0),
    "claude-opus-5": (5.0, 25.0),
    "claude-sonnet-5-5": (2.0, 10.0),
    "claude-sonnet-5": (2.0, 10.0),
    "claude-sonnet-4-6": (3.0, 15.0),
    "claude-haiku-4-5": (1.0, 5.0),
}


class Asked(NamedTuple):
    """A question to a model; ``max_tokens`` is the most that it may write, its thinking included."""

    system: str
    prompt: str
    max_tokens: int


class Answer(NamedTuple):
    """What a model said: the input of a tool call, or a text; both are for `edits.parse`.

    Tokens are those of all requests that it took; ``cost`` is in US dollars, None where no price is known.
    """

    said: object
    input_tokens: int = 0
    output_tokens: int = 0
    model: str = ""
    stop: str = ""
    cost: float | None = None


class Tool(NamedTuple):
    """The tool that a model is to answer with: what it is called, when to call it, what it takes (a JSON schema)."""

    name: str
    description: str
    schema: Mapping[str, object]


class Engine(Protocol):
    """Something that asks a model."""

    name: str
    model: str

    def ask(self, asked: Asked, *, again: str = "") -> Answer:
        """The answer to a question. With ``again`` the question that was answered last goes on: the answer stands, and
        ``again`` says what is wrong with it. Raises `EngineError`; nothing of half an answer is given out."""

    def close(self) -> None:
        """Let go of what is held for the next question."""


class EngineError(NeosianError):
    """There is no answer; ``kind`` says of what sort the reason is. Never holds a key, nor anything of the question.

    ``wait`` is how many seconds the server asks to wait (0: it does not say); the tokens were spent all the same.
    """

    def __init__(
        self, kind: str, message: str, hint: str = "", *, wait: float = 0.0, input_tokens: int = 0,
        output_tokens: int = 0,
    ) -> None:  # fmt: skip
        super().__init__(message, hint)
        self.kind = kind
        self.wait = wait
        self.input_tokens = input_tokens
        self.output_tokens = output_tokens

    @property
    def is_of_the_question(self) -> bool:
        """Whether this question has no answer while others may have one; if not, no other need be asked now."""
        return self.kind in _OF_THE_QUESTION


def cost(model: str, input_tokens: int, output_tokens: int) -> float | None:
    """What so many tokens cost in US dollars, None where the model's price is not known."""
    name, _, day = model.rpartition("-")
    prices = PRICES.get(name if len(day) == 8 and day.isdigit() else model)
    if prices is None:
        return None
    read, written = prices
    return (input_tokens * read + output_tokens * written) / 1_000_000


def of_the_server(text: str, asked: Asked, *secrets: str) -> str:
    """What a server or client said of an error, fit for a person: one line, short, without keys; "" where it quotes
    the question."""
    line = " ".join(text.split())
    for secret in filter(None, secrets):
        line = line.replace(secret, "…")
    line = redact(line)
    if _quotes(line, asked.prompt) or _quotes(line, asked.system):
        return ""
    return line if len(line) <= _LONGEST_SAYING else line[:_LONGEST_SAYING] + "…"


def _quotes(line: str, text: str) -> bool:
    source = " ".join(text.split())
    starts = range(0, len(line) - _QUOTED + 1, _QUOTED // 2)
    return any(line[start : start + _QUOTED] in source for start in starts)
