"""What the stories of clients that load a plugin of ours have besides: see `story`."""

from __future__ import annotations

import json

from tests.walkthrough.fake_model import Json, Request, Script, Step
from tests.walkthrough.story import CONVERT, LEFT_OFF, RATE, Story

SECRET = "dummy-key-that-no-store-may-hold"
STARTS = "neosian keeps the memory of"
LONG = "Read everything that there is"
WINDOW = 200_000  # tokens that the model is said to hold
FULL = 199_000


class Exact(Script):
    """A model that goes by the whole of what was typed: what is told beside it may quote every other prompt."""

    def pick(self, body: Json) -> Step:
        if not body.get("tools"):
            return self.side
        messages = body.get("messages", [])
        for place in range(len(messages) - 1, -1, -1):
            if messages[place].get("role") != "user":
                continue
            for said in messages[place]["content"]:
                steps = self.replies.get(said["text"].strip())
                if steps is not None:
                    done = sum(1 for later in messages[place + 1 :] if later.get("role") == "assistant")
                    return steps[done] if done < len(steps) else self.fallback
        return self.fallback


class PluggedStory(Story):
    """The story, and that a plugin tells once, is silent when it is switched off, and keeps no key of the client's."""

    def play(self) -> None:
        self.install()
        self.box.listen()
        self.first()
        self.second()
        self.compacted()
        self.more()
        self.off()
        self.traces()
        self.uninstall()

    def more(self) -> None:
        """What else a client's own story has."""

    def played(self, name: str, script: Script, *prompts: str) -> list[Request]:
        requests = super().played(name, script, *prompts)
        texts = [request.text() for request in requests]
        twice = [text for text in texts[:1] if text.count(STARTS) > 1]
        self.report.check(f"{name}: a start is told once", not twice, "\n".join(twice))
        return requests

    def compacted(self) -> None:
        """The window fills up in a run: what is left of it is told the start anew, and nothing more is asked of it."""
        full = Step(calls=(self.acts[0].call,), tokens=FULL)
        requests = self.played("a long session", Script({LONG: [full]}), LONG)
        self.report.check("it was compacted once, and not disturbed", len(requests) == 2, len(requests))
        text = requests[-1].text()
        self.report.check(
            "its start is told anew after that", text.count(STARTS) == 1 and LONG not in text, text
        )
        logs = [log.read_text("utf-8") for log in self.box.store.glob("record/**/*.jsonl")]
        lines = [json.loads(line) for log in logs if LONG in log for line in log.splitlines()]
        seen = [
            (line["kind"], line.get("event"), line.get("text"))
            for line in lines
            if line["kind"] in ("compact", "answer")
        ]
        wanted = [
            ("compact", "before", None),
            ("compact", "after", seen[1][2]),
            ("answer", None, Script.fallback.text),
        ]
        self.report.check("the turn holds the compaction and the answer", seen == wanted, seen)

    def off(self) -> None:
        """The client works on, is told nothing, and nothing is kept."""
        switch = self.box.memory / "off"
        switch.touch()
        before = sorted(self.box.memory.rglob("*"))
        requests = self.played("switched off", Script({CONVERT: [Step(RATE)]}), CONVERT)
        silent = bool(requests) and LEFT_OFF not in requests[0].text()
        self.report.check("switched off, nothing is told", silent)
        new = sorted(set(self.box.memory.rglob("*")) - set(before))
        self.report.check("and nothing is kept", not new, new)
        switch.unlink()

    def traces(self) -> None:
        super().traces()
        files = (path for path in self.box.memory.rglob("*") if path.is_file())
        holding = [path for path in files if SECRET.encode() in path.read_bytes()]
        self.report.check("the client's key is in no file", not holding, holding)
