"""Asking a model over the Messages API, Anthropic's own or any other server's: the only user of `anthropic`.

What the SDK does and does not do (seen in 2.14): it tries a request again twice, after as long a wait as the server
asks for; an answer that breaks off while it is read is not tried again. With no key only the first request fails, with
a TypeError. Its own reader of streams completes a tool call that is cut short to JSON that looks whole, and reads all
of it anew with each piece: minutes for a long one; so the pieces are put together here. Some models, the current Sonnet
among them, refuse a forced tool call, and say so with 400.
"""

from __future__ import annotations

import logging
import ssl
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any, cast
from urllib.parse import urlsplit

import anthropic
import httpx2
from anthropic import APIResponse
from anthropic.types import MessageParam, RawMessageStreamEvent, ToolChoiceParam, ToolParam

from neosian.dream import engine, kept
from neosian.dream.engine import Answer, Asked, EngineError, Tool

DEFAULT_MODEL = "claude-sonnet-5-5"
"""The current Sonnet, by its alias in the SDK's list of models."""

KEYS = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN")
_HOME_URL = "https://api.anthropic.com"
_TIMEOUT = 600.0  # seconds without a byte; a local model may think long before its first
_CONNECT = 10.0
_LONGEST_WAIT = 30.0  # seconds that the SDK may wait within one of its retries
_PATIENCE = 90.0  # seconds in all that we wait after the SDK has given up
_LONGEST = 2_000_000  # characters of an answer: a server that never ends is not waited for
_PAUSE = 5.0  # the first of those waits; each further one is three times as long
_PASSING = ("overloaded_error", "rate_limit_error", "api_error", "timeout_error")
_SPENT = ("credit balance", "spend limit", "billing")
_LONG = ("too long", "too large", "context length", "context window", "maximum context", "too many tokens")


class Messages:
    """An engine that speaks the Messages API. ``environ`` has the key or token, and the address if it is another."""

    name = engine.ANTHROPIC

    def __init__(
        self, tool: Tool, environ: Mapping[str, str], *, model: str = "", timeout: float = _TIMEOUT,
        patience: float = _PATIENCE, pause: float = _PAUSE,
    ) -> None:  # fmt: skip
        self.model = model or DEFAULT_MODEL
        self._tool = tool
        self._patience = patience
        self._pause = pause
        self._url = environ.get("ANTHROPIC_BASE_URL", "").strip() or _HOME_URL
        self._variable, self._key = _key(environ)
        _check_certificates(environ.get("SSL_CERT_FILE", ""))
        self._client = self._connected(timeout)
        self._forces = True  # the tool call, until the model turns out to refuse that
        self._said: list[MessageParam] = []  # the question that was answered last, and the answer

    def ask(self, asked: Asked, *, again: str = "") -> Answer:
        """The answer to a question, or a better one: see `engine.Engine`."""
        messages = [*self._said, self._objection(again)] if again else [_of("user", asked.prompt)]
        reply = self._patiently(lambda: self._send(asked, messages))
        answer = self._read(reply)
        self._said = [*messages, _of("assistant", reply.blocks)]
        return answer

    def close(self) -> None:
        """Let go of the connection."""
        self._client.close()

    # asking

    def _connected(self, timeout: float) -> anthropic.Anthropic:
        if not _is_address(self._url):
            raise EngineError(
                engine.REQUEST, "ANTHROPIC_BASE_URL is no address that begins with http:// or https://.",
                "neosian docs engines",
            )  # fmt: skip
        # Whoever has the SDK log at a level where requests are shown would find the questions there.
        for logger in ("anthropic", "httpx2", "httpcore2"):
            logging.getLogger(logger).setLevel(logging.WARNING)
        is_token = self._variable == KEYS[1]
        return anthropic.Anthropic(
            api_key=None if is_token else self._key,
            auth_token=self._key if is_token else None,
            base_url=self._url,
            timeout=httpx2.Timeout(timeout, connect=min(_CONNECT, timeout)),
            middleware=[_never_long],
        )

    def _objection(self, again: str) -> MessageParam:
        """What is wrong with the last answer, as the result of the tool call that it was, if it was one."""
        calls = [block["id"] for block in _blocks(self._said[-1]) if block.get("type") == "tool_use"]
        results = [
            {"type": "tool_result", "tool_use_id": call, "content": again, "is_error": True} for call in calls
        ]
        return _of("user", results or again)

    def _patiently(self, send: Callable[[], _Reply]) -> _Reply:
        """A reply, waited for as long as the trouble is one that passes."""
        until, pause = time.monotonic() + self._patience, self._pause
        while True:
            try:
                return send()
            except EngineError as trouble:
                wait = max(trouble.wait, pause)
                passes = trouble.kind in (engine.OVERLOADED, engine.BROKEN_OFF)
                if not passes or time.monotonic() + wait > until:
                    raise
                time.sleep(wait)
                pause *= 3

    def _send(self, asked: Asked, messages: list[MessageParam]) -> _Reply:
        """One request, streamed: no answer is too long for that, and no proxy ends it for being silent."""
        try:
            return self._streamed(asked, messages)
        except anthropic.BadRequestError as error:
            if not self._forces or "tool_choice" not in (error.api_message or ""):
                raise self._trouble(error, asked) from None
            self._forces = False
            return self._send(asked, messages)
        except EngineError:
            raise
        except Exception as error:  # of a garbled answer the SDK makes errors of many sorts
            raise self._trouble(error, asked) from None

    def _streamed(self, asked: Asked, messages: list[MessageParam]) -> _Reply:
        name = self._tool.name
        tool = {
            "name": name,
            "description": self._tool.description,
            "input_schema": dict(self._tool.schema),
        }
        choice = {"type": "tool", "name": name} if self._forces else {"type": "auto"}
        system = asked.system
        if not self._forces:
            system += f"\n\nAnswer with one call of the tool `{name}` and with nothing else."
        reply = _Reply()
        with self._client.messages.create(
            model=self.model, max_tokens=asked.max_tokens, system=system, messages=messages, stream=True,
            tools=[cast(ToolParam, tool)], tool_choice=cast(ToolChoiceParam, choice),
        ) as stream:  # fmt: skip
            for event in stream:
                reply.take(event)
                if reply.length > _LONGEST:
                    raise reply.unusable(
                        engine.UNREADABLE, f"The answer of {self.model} has no end; nothing of it is used."
                    )
        if not reply.is_begun:
            raise EngineError(engine.UNREADABLE, f"{self._server} answered with no message.", _HINT)
        if not reply.stop:
            raise self._broken_off()
        return reply

    # reading

    def _read(self, reply: _Reply) -> Answer:
        """What a reply says, if it says all that it was going to."""
        if reply.stop == "refusal":
            raise reply.unusable(engine.REFUSED, f"{self.model} refused to answer.")
        if reply.stop == "max_tokens":
            raise reply.unusable(
                engine.TRUNCATED,
                f"The answer of {self.model} was longer than it may be; nothing of it is used.",
            )
        if reply.stop == "model_context_window_exceeded":
            raise reply.unusable(engine.TOO_LONG, f"The question is longer than {self.model} can read.")
        if not reply.is_whole:
            raise reply.unusable(engine.UNREADABLE, f"What {self.model} called its tool with is no JSON.")
        called = _calls(reply.blocks)
        said = _text(reply.blocks) if called is None else called
        if said == "":
            raise reply.unusable(engine.UNREADABLE, f"The answer of {self.model} is empty.")
        is_home = urlsplit(self._url).hostname == urlsplit(_HOME_URL).hostname
        money = engine.cost(reply.model, reply.input_tokens, reply.output_tokens) if is_home else None
        return Answer(said, reply.input_tokens, reply.output_tokens, reply.model, reply.stop, money)

    # trouble

    @property
    def _server(self) -> str:
        """The server, without what a person may have put into its address beside the name."""
        address = urlsplit(self._url)
        return f"{address.hostname}:{address.port}" if address.port else str(address.hostname)

    def _broken_off(self) -> EngineError:
        return EngineError(
            engine.BROKEN_OFF,
            f"The connection to {self._server} ended in the middle of the answer; nothing of it is used.",
            _HINT,
        )

    def _trouble(self, error: Exception, asked: Asked) -> EngineError:
        """An error of the SDK, or of what it is built on, in our own words."""
        if isinstance(error, anthropic.APIStatusError):
            return self._refusal(error, asked)
        if isinstance(error, (_SilentError, anthropic.APITimeoutError, httpx2.TimeoutException)):
            return EngineError(engine.TIMEOUT, f"{self._server} did not answer in time.", _HINT)
        if isinstance(error, anthropic.APIConnectionError):
            return self._unreachable(error)
        if isinstance(error, httpx2.TransportError):
            return self._broken_off()
        return EngineError(
            engine.UNREADABLE, f"The answer of {self._server} cannot be read ({type(error).__name__}).", _HINT
        )

    def _unreachable(self, error: Exception) -> EngineError:
        for cause in _causes(error):
            if isinstance(cause, ssl.SSLError):
                why = getattr(cause, "verify_message", "") or cause.reason or "it is refused"
                return EngineError(
                    engine.CERTIFICATE,
                    f"The certificate of {self._server} cannot be trusted: {why}. A private authority's certificates go"
                    " into the system's store, or into a file that SSL_CERT_FILE names.",
                    "neosian docs engines",
                )
        why = next(
            (each.strerror for each in _causes(error) if isinstance(each, OSError) and each.strerror), ""
        )
        said = f": {why}" if why else ""
        return EngineError(engine.UNREACHABLE, f"{self._server} cannot be reached{said}.", _HINT)

    def _refusal(self, error: anthropic.APIStatusError, asked: Asked) -> EngineError:
        """What a status means for the person."""
        status, server = error.status_code, self._server
        told = engine.of_the_server(error.api_message or "", asked, self._key)
        said = f": {told}" if told else "."
        low = (error.api_message or "").lower()
        wait = _seconds(error.response.headers)
        if status == 402 or _has(low, _SPENT) or "spend_limit" in (error.error_code or ""):
            return EngineError(
                engine.QUOTA, f"The account of {self._variable} has nothing left to spend{said}", _HINT
            )
        if status in (401, 403):
            return EngineError(
                engine.KEY_REFUSED, f"{server} refused the key in {self._variable} ({status}){said}",
                "neosian docs engines",
            )  # fmt: skip
        if status == 413 or (status == 400 and _has(low, _LONG)):
            return EngineError(engine.TOO_LONG, f"The question is longer than {self.model} can read{said}")
        if status in (408, 409, 429) or status >= 500 or error.type in _PASSING:
            asks = f" and asks to wait {wait:.0f} s" if wait else ""
            return EngineError(
                engine.OVERLOADED,
                f"{server} is overloaded or out of order ({status}){asks}{said}",
                _HINT,
                wait=wait,
            )
        if status == 404:
            return EngineError(
                engine.REQUEST, f"{server} has no model {self.model}, or no Messages API (404){said}",
                "neosian docs engines",
            )  # fmt: skip
        return EngineError(
            engine.REQUEST, f"{server} takes no such request ({status}){said}", "neosian docs engines"
        )


_HINT = "neosian dream"


# What comes in pieces, and as which part of its block.
_GROWING = {"text": "text", "partial_json": "input", "thinking": "thinking", "signature": "signature"}


class _Reply:
    """A message, event by event: its content as the API has it, why it ended, what it cost.

    ``length`` is in characters and events. The content is there when the message is at its end; ``is_whole``: the
    input of each call was JSON.
    """

    def __init__(self) -> None:
        self.is_begun = False
        self.stop = ""
        self.model = ""
        self.length = 0
        self._usage: dict[str, object] = {}
        self._begun: dict[int, dict[str, Any]] = {}
        self._pieces: dict[int, dict[str, list[str]]] = {}

    def take(self, event: RawMessageStreamEvent) -> None:
        """The next event of the stream. An error of any sort where it comes out of turn."""
        self.length += 1  # events that say nothing must have an end, too
        if event.type == "message_start":
            self.is_begun = True
            self.model = str(event.message.model)
            self._usage = event.message.usage.to_dict()
        elif event.type == "content_block_start":
            self._begun[event.index] = event.content_block.to_dict()
            self._pieces[event.index] = {}
        elif event.type == "content_block_delta":
            pieces = self._pieces[event.index]
            for key, piece in event.delta.to_dict().items():
                if key in _GROWING and isinstance(piece, str):
                    pieces.setdefault(_GROWING[key], []).append(piece)
                    self.length += len(piece)
        elif event.type == "message_delta":
            self.stop = str(event.delta.stop_reason or "")
            told = event.usage.to_dict() if event.usage else {}
            self._usage |= {key: value for key, value in told.items() if value is not None}

    @property
    def is_whole(self) -> bool:
        """Whether the input of each call was JSON to its last character."""
        return all(_is_json("".join(pieces.get("input", ()))) for pieces in self._pieces.values())

    @property
    def blocks(self) -> list[dict[str, Any]]:
        """Its content; for a message that is whole."""
        found = []
        for index, block in sorted(self._begun.items()):
            whole = dict(block)
            for key, pieces in self._pieces[index].items():
                said = "".join(pieces)
                whole[key] = kept.loads(said or "{}") if key == "input" else (block.get(key) or "") + said
            found.append(whole)
        return found

    @property
    def input_tokens(self) -> int:
        """All that was read, from a cache or not."""
        return sum(
            map(self._count, ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"))
        )

    @property
    def output_tokens(self) -> int:
        """All that was written."""
        return self._count("output_tokens")

    def _count(self, key: str) -> int:
        return kept.count(self._usage.get(key))

    def unusable(self, kind: str, message: str) -> EngineError:
        """Why this reply cannot be used, with what it cost."""
        return EngineError(kind, message, input_tokens=self.input_tokens, output_tokens=self.output_tokens)


class _SilentError(Exception):
    """Nothing came in time. Not an error that the SDK would try again: each try costs the whole time."""


def _never_long(request: Any, call_next: Callable[[Any], APIResponse[Any]]) -> APIResponse[Any]:
    """Keep the SDK's retries short: no second wait for a silent server, none for one that asks for a long one."""
    try:
        response = call_next(request)
    except anthropic.APITimeoutError:
        raise _SilentError from None
    if _seconds(response.headers) > _LONGEST_WAIT:
        response.http_response.headers["x-should-retry"] = "false"
    return response


def _seconds(headers: Mapping[str, str]) -> float:
    """For how long a server asks to wait; 0 where it does not say so in seconds."""
    try:
        return max(0.0, float(headers.get("retry-after", "")))
    except ValueError:
        return 0.0


def _key(environ: Mapping[str, str]) -> tuple[str, str]:
    """The variable that has a key or a token, and what it holds. Raises `EngineError`."""
    for variable in KEYS:
        key = environ.get(variable, "").strip()
        if key and not (key.isascii() and key.isprintable()):
            raise EngineError(
                engine.KEY_REFUSED, f"{variable} holds no key: there are characters in it that none has.",
                "neosian docs engines",
            )  # fmt: skip
        if key:
            return variable, key
    raise EngineError(
        engine.NO_KEY, f"There is no key for a model: neither {KEYS[0]} nor {KEYS[1]} is set.",
        "neosian dream --engine rules",
    )  # fmt: skip


def _check_certificates(path: str) -> None:
    """See that the file can be read which the SDK is going to trust: a client half made complains when it goes away."""
    try:
        if path:
            ssl.create_default_context(cafile=path)
    except OSError as error:
        why = "it holds no certificate" if isinstance(error, ssl.SSLError) else error.strerror
        raise EngineError(
            engine.CERTIFICATE,
            f"SSL_CERT_FILE names {path}, which cannot be read: {why}.",
            "neosian docs engines",
        ) from None


def _is_address(url: str) -> bool:
    try:
        address = urlsplit(url)
        return address.scheme in ("http", "https") and bool(address.hostname) and address.port != 0
    except ValueError:  # half an IPv6 address, a port that is no number
        return False


def _of(role: str, content: object) -> MessageParam:
    return cast(MessageParam, {"role": role, "content": content})


def _blocks(message: MessageParam) -> list[dict[str, Any]]:
    return cast("list[dict[str, Any]]", message["content"])


def _is_json(text: str) -> bool:
    try:
        kept.loads(text or "{}")
    except ValueError:
        return False
    return True


def _calls(blocks: Iterable[Mapping[str, Any]]) -> object:
    """What the tool was called with; of several calls all that they list. None where there is no call."""
    inputs = [block.get("input") for block in blocks if block.get("type") == "tool_use"]
    if len(inputs) < 2:
        return inputs[0] if inputs else None
    listed = [value for each in inputs if isinstance(each, dict) for value in each.values()]
    return {"edits": [edit for value in listed if isinstance(value, list) for edit in value]}


def _text(blocks: Iterable[Mapping[str, Any]]) -> str:
    """What was said in words."""
    said = "\n".join(str(block.get("text", "")) for block in blocks if block.get("type") == "text")
    return said if said.strip() else ""


def _has(text: str, words: Iterable[str]) -> bool:
    return any(word in text for word in words)


def _causes(error: BaseException | None) -> Iterable[BaseException]:
    """An error and what it came of, to the first cause."""
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__
