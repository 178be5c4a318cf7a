"""A scripted stand-in for the Gemini API, on this machine only; see `fake_model`.

Clients of this API give a tool's result back as a message of the person's, and ask for answers in the shape of a
schema beside the conversation.
"""

from __future__ import annotations

import json
from typing import Any

from tests.walkthrough.fake_model import FakeModel, Handler, Json, Request, Step


class GeminiModel(FakeModel):
    """The server: ``with GeminiModel(script) as model: ... model.url ... model.requests``."""

    def handler(self) -> type[Handler]:
        return _Gemini


class _Gemini(Handler):
    def answer(self, request: Request, body: Json) -> None:
        act = request.path.rpartition(":")[2]
        if act == "countTokens":
            self.send_json(200, {"totalTokens": 100})
        elif act == "generateContent":
            self.send_json(200, self._reply(body))
        elif act == "streamGenerateContent":
            self.stream([f"data: {json.dumps(self._reply(body))}"])
        else:
            self.send_json(404, {"error": {"code": 404, "message": f"nothing is at {self.path}"}})

    def _reply(self, body: Json) -> Json:
        return reply_of(_shaped(body) or self.server.model.script.pick(as_messages(body)))


def as_messages(body: Json) -> Json:
    """A request in the shape that a script picks from: who said what in which message."""
    contents = body.get("contents") or []
    messages = [
        {"role": "assistant" if content.get("role") == "model" else "user", "content": _words(content)}
        for content in (contents if isinstance(contents, list) else [contents])
    ]
    return {"tools": body.get("tools"), "messages": messages}


def _words(content: Json) -> list[Json]:
    return [{"type": "text", "text": part["text"]} for part in content.get("parts") or [] if "text" in part]


def _shaped(body: Json) -> Step | None:
    """The smallest answer of the shape that was asked for; None where a text is wanted."""
    config = body.get("generationConfig") or {}
    if config.get("responseMimeType") != "application/json":
        return None
    return Step(json.dumps(_least(config.get("responseJsonSchema") or config.get("responseSchema") or {})))


def _least(schema: Json) -> Any:
    if schema.get("enum"):
        return schema["enum"][0]
    kind = str(schema.get("type", "object")).lower()
    if kind == "object":
        return {key: _least(value) for key, value in (schema.get("properties") or {}).items()}
    return {"array": [], "boolean": False, "integer": 0, "number": 0}.get(kind, "")


def reply_of(step: Step) -> Json:
    parts: list[Json] = [{"text": step.text}] if step.text else []
    parts += [{"functionCall": {"name": call.tool, "args": call.input}} for call in step.calls]
    usage = {"promptTokenCount": 100, "candidatesTokenCount": 10, "totalTokenCount": 110}
    return {
        "candidates": [{"index": 0, "content": {"role": "model", "parts": parts}, "finishReason": "STOP"}],
        "usageMetadata": usage,
    }
