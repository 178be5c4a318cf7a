"""A scripted stand-in for the Responses API, on this machine only; see `fake_model`.

A tool is named as the client offers it, one in a name space as ``SPACE/NAME``.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator
from itertools import groupby
from typing import Any

from tests.walkthrough.fake_model import Call, FakeModel, Handler, Json, Request, Step

FREE_TEXT = ("apply_patch",)  # tools whose input is one text, under the key of that name
USAGE = {
    "input_tokens": 100, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 10,
    "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 110,
}  # fmt: skip


class ResponsesModel(FakeModel):
    """The server: ``with ResponsesModel(script) as model: ... model.url + "/v1" ... model.requests``."""

    def handler(self) -> type[Handler]:
        return _Responses


class _Responses(Handler):
    def answer(self, request: Request, body: Json) -> None:
        if not request.path.endswith("/responses"):
            self.send_json(404, {"error": {"message": f"nothing is at {self.path}"}})
            return
        items = items_of(self.server.model.script.pick(as_messages(body)))
        events = events_of(items, body.get("model", "scripted"))
        self.stream(f"event: {event['type']}\ndata: {json.dumps(event)}" for event in events)


def as_messages(body: Json) -> Json:
    """A request in the shape that a script picks from: who said what in which message.

    What the model said and asked for in one reply is one message.
    """
    messages: list[Json] = []
    for role, items in groupby(body.get("input") or [], _role):
        if role == "assistant":
            messages.append({"role": role, "content": []})
        else:
            messages += [{"role": role, "content": _words(item.get("content"))} for item in items]
    return {"tools": body.get("tools"), "messages": messages}


def _role(item: Json) -> str:
    if item.get("type", "message") == "message":
        return str(item.get("role"))
    return "tool" if str(item.get("type")).endswith("_output") else "assistant"


def _words(content: Any) -> list[Json]:
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [{"type": "text", "text": part["text"]} for part in content or [] if "text" in part]


def items_of(step: Step) -> list[Json]:
    """A reply as the items of its output."""
    said: Json = {
        "type": "message", "id": f"msg_{uuid.uuid4().hex}", "role": "assistant", "status": "completed",
        "content": [{"type": "output_text", "text": step.text, "annotations": []}],
    }  # fmt: skip
    return [*([said] if step.text else []), *map(_call, step.calls)]


def _call(call: Call) -> Json:
    space, _, name = call.tool.rpartition("/")
    key = uuid.uuid4().hex[:24]
    item: Json = {"id": f"fc_{key}", "call_id": f"call_{key}", "name": name, "status": "completed"}
    if space:
        item["namespace"] = space
    if name in FREE_TEXT:
        return {"type": "custom_tool_call", **item, "input": call.input[name]}
    return {"type": "function_call", **item, "arguments": json.dumps(call.input)}


def events_of(items: list[Json], model: str) -> Iterator[Json]:
    """A reply as the server-sent events of its stream."""
    reply: Json = {"id": f"resp_{uuid.uuid4().hex}", "object": "response", "created_at": 0, "model": model}
    yield {"type": "response.created", "response": {**reply, "status": "in_progress", "output": []}}
    for index, item in enumerate(items):
        opened = {**item, "status": "in_progress"}
        yield {"type": "response.output_item.added", "output_index": index, "item": opened}
        if item["type"] == "message":
            place = {"output_index": index, "content_index": 0, "item_id": item["id"]}
            yield {"type": "response.output_text.delta", **place, "delta": item["content"][0]["text"]}
        yield {"type": "response.output_item.done", "output_index": index, "item": item}
    whole = {**reply, "status": "completed", "output": items, "usage": USAGE}
    yield {"type": "response.completed", "response": whole}
