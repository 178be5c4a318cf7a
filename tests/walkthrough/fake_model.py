"""A scripted stand-in for the Anthropic Messages API, on this machine only.

A real client runs its whole loop against it: the client asks, the script answers, and
every request is kept, so that a check can say what reached the model. The answer is
chosen from the request alone (the newest prompt of the person, and how many replies
came after it), so that retries, resumed and parallel sessions need no bookkeeping.
"""

from __future__ import annotations

import json
import re
import threading
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, NamedTuple

Json = dict[str, Any]

# What clients and their hooks write around a person's words.
CONTEXT = re.compile(
    r"<(system-reminder|hook_context|qwen:user-prompt-submit-context)\b[^>]*>.*?</\1>", re.DOTALL
)
TEXT_PIECE = 200  # characters a text delta
INPUT_PIECE = 400  # characters a tool input delta
# How the paths end under which a model is asked, in this and the other APIs that stand-ins speak.
ROUNDS = ("/v1/messages", "/chat/completions", "/responses", ":generateContent", ":streamGenerateContent")


class Call(NamedTuple):
    """One tool call the scripted model asks for."""

    tool: str
    input: Json


class Step(NamedTuple):
    """One reply: a text, then tool calls; without calls it ends the turn."""

    text: str = ""
    calls: tuple[Call, ...] = ()
    tokens: int = 100  # that the request held, as clients of the chat completions are told


class Script:
    """What the model says: for each prompt (a part of what the person typed) its replies in order."""

    fallback = Step("Nothing is scripted for this.")
    side = Step("Shop work")  # requests that offer no tools: titles, summaries

    def __init__(self, replies: Mapping[str, Sequence[Step]]) -> None:
        self.replies = replies

    def pick(self, body: Json) -> Step:
        """The reply to one request body of ``POST /v1/messages``."""
        if not body.get("tools"):
            return self.side
        messages = body.get("messages", [])
        for place in range(len(messages) - 1, -1, -1):
            said = _said(messages[place])
            steps = next((s for prompt, s in self.replies.items() if prompt in said), None)
            if steps is not None:
                done = sum(1 for later in messages[place + 1 :] if later.get("role") == "assistant")
                return steps[done] if done < len(steps) else self.fallback
        return self.fallback


class Request(NamedTuple):
    """One request as it came in; ``body`` is None where there was none."""

    method: str
    path: str
    body: Json | None

    @property
    def asks_model(self) -> bool:
        """Whether this is a round of a conversation, not a probe or a side question."""
        return self.path.endswith(ROUNDS) and bool((self.body or {}).get("tools"))

    def text(self) -> str:
        """All strings of the body, decoded, one a line: what the model could read."""
        return "\n".join(_strings(self.body))


class FakeModel:
    """The server: ``with FakeModel(script) as model: ... model.url ... model.requests``."""

    def __init__(self, script: Script) -> None:
        self.script = script
        self.requests: list[Request] = []
        self._server = _Server(self)

    def handler(self) -> type[Handler]:
        """What answers the requests; a stand-in for another API has its own."""
        return _Messages

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> FakeModel:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, model: FakeModel) -> None:
        super().__init__(("127.0.0.1", 0), model.handler())
        self.model = model

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing: a client that goes away in mid-request is normal here."""


class Handler(BaseHTTPRequestHandler):
    """What the stand-ins have in common: requests are kept, answers are JSON or a stream of events."""

    protocol_version = "HTTP/1.1"  # clients keep their connection
    server: _Server

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing: the requests are kept, not printed."""

    def do_HEAD(self) -> None:  # some clients first look whether the address answers at all
        self.keep(None)
        self.send_json(200, {})

    def do_GET(self) -> None:
        self.keep(None)
        self.send_json(404, {"error": {"message": f"nothing is at {self.path}"}})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers.get("content-length") or 0)) or b"{}")
        self.answer(self.keep(body), body)

    def answer(self, request: Request, body: Json) -> None:
        """Answer one POST."""
        raise NotImplementedError

    def keep(self, body: Json | None) -> Request:
        request = Request(self.command, self.path.partition("?")[0], body)
        self.server.model.requests.append(request)
        return request

    def send_json(self, status: int, value: Json) -> None:
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def stream(self, events: Iterable[str]) -> None:
        """Send server-sent events, each of them whole lines of its own."""
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        for event in events:
            raw = f"{event}\n\n".encode()
            self.wfile.write(b"%x\r\n%s\r\n" % (len(raw), raw))
            self.wfile.flush()
        self.wfile.write(b"0\r\n\r\n")


class _Messages(Handler):
    """The Messages API."""

    def answer(self, request: Request, body: Json) -> None:
        if request.path == "/v1/messages":
            message = message_of(body, self.server.model.script.pick(body))
            if body.get("stream"):
                self.stream(
                    f"event: {event['type']}\ndata: {json.dumps(event)}" for event in events_of(message)
                )
            else:
                self.send_json(200, message)
        elif request.path == "/v1/messages/count_tokens":
            self.send_json(200, {"input_tokens": _tokens(body)})
        else:
            self.send_json(404, _error("not_found_error", self.path))


def _said(message: Json) -> str:
    """What a person said in a message: no tool results, no reminders of the client."""
    if message.get("role") != "user":
        return ""
    content = message.get("content") or ""
    if not isinstance(content, str):
        content = "\n".join(block["text"] for block in content if block.get("type") == "text")
    return CONTEXT.sub("", content)


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for part in value.values():
            yield from _strings(part)
    elif isinstance(value, list):
        for part in value:
            yield from _strings(part)


def _tokens(body: Json) -> int:
    return max(1, len(json.dumps(body)) // 4)  # about four characters a token


def _error(kind: str, message: str) -> Json:
    return {"type": "error", "error": {"type": kind, "message": message}}


def message_of(body: Json, step: Step) -> Json:
    content: list[Json] = [{"type": "text", "text": step.text}] if step.text else []
    content += [
        {"type": "tool_use", "id": f"toolu_{uuid.uuid4().hex[:24]}", "name": call.tool, "input": call.input}
        for call in step.calls
    ]
    return {
        "id": f"msg_{uuid.uuid4().hex[:24]}",
        "type": "message",
        "role": "assistant",
        "model": body.get("model", "scripted"),
        "content": content,
        "stop_reason": "tool_use" if step.calls else "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": _tokens(body), "output_tokens": 20},
    }


def events_of(message: Json) -> Iterator[Json]:
    """A message as the server-sent events of a streamed reply."""
    yield {"type": "message_start", "message": {**message, "content": [], "stop_reason": None}}
    for index, block in enumerate(message["content"]):
        yield from _block_events(index, block)
    delta = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    yield {"type": "message_delta", "delta": delta, "usage": message["usage"]}
    yield {"type": "message_stop"}


def _block_events(index: int, block: Json) -> Iterator[Json]:
    opened: Json
    if block["type"] == "text":
        opened, kind, key = {"type": "text", "text": ""}, "text_delta", "text"
        whole, size = block["text"], TEXT_PIECE
    elif block["type"] == "tool_use":
        opened, kind, key = {**block, "input": {}}, "input_json_delta", "partial_json"
        whole, size = json.dumps(block["input"]), INPUT_PIECE
    else:
        opened, kind, key, whole, size = block, "", "", "", 1
    yield {"type": "content_block_start", "index": index, "content_block": opened}
    for start in range(0, len(whole), size):
        delta = {"type": kind, key: whole[start : start + size]}
        yield {"type": "content_block_delta", "index": index, "delta": delta}
    yield {"type": "content_block_stop", "index": index}
