"""A scope made by hand for tests: turn logs and documents in a real repository, committed with git itself."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from neosian.store import Store

NOW = 1_795_982_400.0  # 2026-11-29T20:00:00Z: when the tests take place
ADA = "11111111-aaaa-4000-8000-000000000001"
BOB = "22222222-bbbb-4000-8000-000000000002"


def stamp(at: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S.000+00:00", time.gmtime(at))


def turn_lines(
    conversation: str, n: int, prompt: str, answer: str, *, at: float = NOW, client: str = "claude-code",
    state: str = "done", tools: Sequence[tuple[str, Mapping[str, Any], str]] = (), **header: object,
) -> list[dict[str, Any]]:  # fmt: skip
    """The lines of one turn as the format has them; ``tools`` as (tool, input, result)."""
    said: list[dict[str, Any]] = [
        {
            "kind": "turn",
            "state": state,
            "client": client,
            "session": conversation,
            "branch": "main",
            **header,
        },
        {"kind": "prompt", "text": prompt},
    ]
    for number, (tool, given, result) in enumerate(tools):
        call = f"call_{n}_{number}"
        said.append({"kind": "tool_call", "call": call, "tool": tool, "input": given})
        said.append({"kind": "tool_result", "call": call, "ok": True, "text": result})
    if answer:
        said.append({"kind": "answer", "text": answer})
    return [{"v": 1, "turn": n, "n": place, "at": stamp(at), **line} for place, line in enumerate(said)]


class Scope:
    """A scope's repository below ``folder``, and the places a store has beside it."""

    def __init__(self, folder: Path, name: str = "user:ada/proj:shop") -> None:
        self.root = folder / name.replace(":", ".").replace("/", "+")
        self.root.mkdir(parents=True)
        self.cache = folder / "cache" / f"{self.root.name}.sqlite"
        self.git("init", "-q", "-b", "main")
        self.store = Store(str(folder), name, str(self.root), str(self.cache))

    def git(self, *args: str, env: Mapping[str, str] | None = None) -> str:
        done = subprocess.run(
            ["git", "-C", str(self.root), *args], check=True, capture_output=True, text=True,
            env={**os.environ, **(env or {})},
        )  # fmt: skip
        return done.stdout.strip()

    def commit(
        self, message: str = "edit", *, author: str = "Ada Person <ada@example.org>", at: float = NOW
    ) -> str:
        """Commit all there is; the new commit's id."""
        self.git("add", "-A")
        self.git(
            "commit", "-q", "--allow-empty", "--author", author, "-m", message,
            env={"GIT_AUTHOR_DATE": f"{int(at)} +0000", "GIT_COMMITTER_DATE": f"{int(at)} +0000"},
        )  # fmt: skip
        return self.git("rev-parse", "HEAD")

    def write(self, path: str, text: str) -> Path:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode())
        return file

    def log(self, conversation: str, *, first: int = 1, client: str = "claude-code") -> Path:
        """Where a segment of this conversation is."""
        path = self.root / "record/2026-11/29" / f"{first:05}-ab12-{client}-{conversation}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    def append(self, path: Path, lines: Sequence[Mapping[str, Any]]) -> None:
        with path.open("ab") as file:
            for line in lines:
                file.write(json.dumps(line, ensure_ascii=False, separators=(",", ":")).encode() + b"\n")

    def land(
        self, conversation: str, n: int, prompt: str, answer: str = "Done.", *, at: float = NOW, first: int = 1,
        client: str = "claude-code", **more: Any,
    ) -> str:  # fmt: skip
        """One turn, one commit, as a landing does it."""
        self.append(
            self.log(conversation, first=first, client=client),
            turn_lines(conversation, n, prompt, answer, at=at, client=client, **more),
        )
        trailers = (
            f"Neosian-Act: record\nNeosian-Actor: {client}:{conversation}#{n}\n"
            f"Conversation: {conversation}\nTurn: {n}\nClient: {client}"
        )
        return self.commit(
            f"Record turn {n}: {prompt[:40]}\n\n{trailers}",
            author=f"{client} <{client}@neosian.invalid>",
            at=at,
        )
