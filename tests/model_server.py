"""A server that speaks the Messages API as it is told to, faults included: real sockets for the real SDK.

    with ModelServer(status(529), calls(EDITS)) as model: ... model.url ... model.bodies

Each request gets the next reply, the last one for ever. A reply is a function of the request.
"""

from __future__ import annotations

import json
import ssl
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any

from tests.walkthrough.fake_model import Call, Step, events_of, message_of

Json = dict[str, Any]
Reply = Callable[["Request"], None]


class ModelServer:
    """The server; ``bodies`` and ``headers`` are those of the requests so far."""

    def __init__(self, *replies: Reply, tls: ssl.SSLContext | None = None) -> None:
        self.replies = list(replies)
        self.bodies: list[Json] = []
        self.headers: list[dict[str, str]] = []
        self.over = threading.Event()  # set when the test is: nobody hangs longer
        self._server = _Server(self, tls)
        self._scheme = "https" if tls else "http"

    @property
    def url(self) -> str:
        return f"{self._scheme}://localhost:{self._server.server_address[1]}"

    def __enter__(self) -> ModelServer:
        threading.Thread(target=self._server.serve_forever, args=[0.05], daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.over.set()
        self._server.shutdown()
        self._server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, model: ModelServer, tls: ssl.SSLContext | None) -> None:
        super().__init__(("127.0.0.1", 0), Request)
        self.model = model
        if tls:
            # The handshake is left to the thread of the request: one that fails must not end the server.
            self.socket = tls.wrap_socket(self.socket, server_side=True, do_handshake_on_connect=False)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing: connections that break off are what is tested."""


class Request(BaseHTTPRequestHandler):
    """One request, and what a reply may do with it."""

    server: _Server
    body: Json

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""

    def do_POST(self) -> None:
        model = self.server.model
        self.body = json.loads(self.rfile.read(int(self.headers.get("content-length") or 0)) or b"{}")
        model.bodies.append(self.body)
        model.headers.append({name.lower(): value for name, value in self.headers.items()})
        reply = model.replies.pop(0) if len(model.replies) > 1 else model.replies[0]
        reply(self)

    def send(self, status: int, data: bytes, kind: str, **headers: str) -> None:
        """A whole response."""
        self.begin(status, kind, content_length=str(len(data)), **headers)
        self.wfile.write(data)

    def begin(self, status: int, kind: str, **headers: str) -> None:
        """The head of a response."""
        self.send_response(status)
        for name, value in {"content-type": kind, **headers}.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()


def _stream(message: Json) -> bytes:
    parts = (f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events_of(message))
    return "".join(parts).encode()


def _whole(request: Request, message: Json) -> None:
    if request.body.get("stream"):
        request.send(200, _stream(message), "text/event-stream")
    else:
        request.send(200, json.dumps(message).encode(), "application/json")


def calls(
    *inputs: object,
    text: str = "",
    stop: str = "tool_use",
    model: str = "",
    thinking: str = "",
    usage: tuple[int, int] | None = None,
) -> Reply:
    """A call of the request's tool with each of these inputs; ``usage``: the tokens that were read and written."""

    def reply(request: Request) -> None:
        name = (request.body.get("tools") or [{"name": "none"}])[0]["name"]
        step = Step(text, tuple(Call(name, each) for each in inputs))  # type: ignore[arg-type]
        message = message_of(request.body, step) | {"stop_reason": stop}
        if thinking:
            message["content"].insert(0, {"type": "thinking", "thinking": thinking, "signature": "c2ln"})
        if usage:
            message["usage"] = {"input_tokens": usage[0], "output_tokens": usage[1]}
        _whole(request, message | ({"model": model} if model else {}))

    return reply


def says(text: str, stop: str = "end_turn") -> Reply:
    """A text and no call."""
    return lambda request: _whole(request, message_of(request.body, Step(text)) | {"stop_reason": stop})


def status(code: int, kind: str = "api_error", message: str = "no", **headers: str) -> Reply:
    """An error as the API has it."""
    body = {"type": "error", "error": {"type": kind, "message": message}}
    return lambda request: request.send(code, json.dumps(body).encode(), "application/json", **headers)


def raw(data: bytes, kind: str = "text/event-stream") -> Reply:
    """These bytes."""
    return lambda request: request.send(200, data, kind)


def fails_midway(kind: str = "overloaded_error") -> Reply:
    """The first events of an answer, then an error among them."""

    def reply(request: Request) -> None:
        error = {"type": "error", "error": {"type": kind, "message": "no more"}}
        half = _stream(message_of(request.body, Step("Half an answer"))).split(b"event: content_block_stop")[
            0
        ]
        request.send(200, half + f"event: error\ndata: {json.dumps(error)}\n\n".encode(), "text/event-stream")

    return reply


def cuts(tool_input: object, at: float | bytes, *, silently: bool = False) -> Reply:
    """A share of a call, or all before some bytes, then the end of the connection: without a word, or against what was
    promised."""

    def reply(request: Request) -> None:
        name = request.body["tools"][0]["name"]
        data = _stream(message_of(request.body, Step("", (Call(name, tool_input),))))  # type: ignore[arg-type]
        promised = {} if silently else {"content_length": str(len(data))}
        request.begin(200, "text/event-stream", connection="close", **promised)
        end = data.index(at) if isinstance(at, bytes) else int(at * len(data))
        request.wfile.write(data[:end])
        request.close_connection = True

    return reply


def never_ends(request: Request) -> None:
    """Text, for as long as it is read."""
    begin = _stream(message_of(request.body, Step("It is. "))).split(b"event: content_block_stop")[0]
    head, _, piece = begin.partition(b"event: content_block_delta")
    request.begin(200, "text/event-stream", connection="close")
    request.wfile.write(head)
    while True:
        request.wfile.write((b"event: content_block_delta" + piece).replace(b"It is. ", b"It is. " * 10_000))


def hangs(request: Request) -> None:
    """Nothing, until the test is over."""
    request.server.model.over.wait()
