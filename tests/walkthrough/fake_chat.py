"""A scripted stand-in for the chat completions API, on this machine only; see `fake_model`."""

from __future__ import annotations

import json
import uuid
from typing import Any

from tests.walkthrough.fake_model import FakeModel, Handler, Json, Request, Step


class ChatModel(FakeModel):
    """The server: ``with ChatModel(script) as model: ... model.url + "/v1" ... model.requests``."""

    def handler(self) -> type[Handler]:
        return _Chat


class _Chat(Handler):
    def answer(self, request: Request, body: Json) -> None:
        if not request.path.endswith("/chat/completions"):
            self.send_json(404, {"error": {"message": f"nothing is at {self.path}"}})
            return
        step = self.server.model.script.pick(as_messages(body))
        message = message_of(step)
        usage = {"prompt_tokens": step.tokens, "completion_tokens": 10, "total_tokens": step.tokens + 10}
        ends = "tool_calls" if "tool_calls" in message else "stop"
        reply = {"id": f"chatcmpl-{uuid.uuid4().hex}", "created": 0, "model": body.get("model", "scripted")}
        if body.get("stream"):
            reply["object"] = "chat.completion.chunk"
            chunks: list[Json] = [
                {**reply, "choices": [{"index": 0, "delta": message, "finish_reason": None}]},
                {**reply, "choices": [{"index": 0, "delta": {}, "finish_reason": ends}]},
                {**reply, "choices": [], "usage": usage},
            ]
            self.stream([*(f"data: {json.dumps(chunk)}" for chunk in chunks), "data: [DONE]"])
        else:
            choice = {"index": 0, "message": message, "finish_reason": ends}
            self.send_json(200, {**reply, "object": "chat.completion", "choices": [choice], "usage": usage})


def as_messages(body: Json) -> Json:
    """A request in the shape that a script picks from: who said what in which message."""
    messages = [
        {"role": message.get("role"), "content": _words(message.get("content"))}
        for message in body.get("messages") or []
    ]
    return {"tools": body.get("tools"), "messages": messages}


def _words(content: Any) -> list[Json]:
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [part for part in content or [] if part.get("type") == "text"]


def message_of(step: Step) -> Json:
    message: Json = {"role": "assistant", "content": step.text or None}
    if step.calls:
        message["tool_calls"] = [
            {
                "index": at,
                "id": f"call_{uuid.uuid4().hex[:24]}",
                "type": "function",
                "function": {"name": call.tool, "arguments": json.dumps(call.input)},
            }
            for at, call in enumerate(step.calls)
        ]
    return message
