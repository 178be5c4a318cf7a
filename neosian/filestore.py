"""The memory for a Python program: `from neosian import FileStore, home, project_scope`."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Mapping
from typing import Any

from neosian import audit, config, conversations, places, projects, recall, recording, scope, turns
from neosian.commits import Commit
from neosian.context import Block, Mount, start_block, utf16
from neosian.draft import Draft
from neosian.errors import UsageError
from neosian.index import Index
from neosian.mounts import layout
from neosian.recall import Hit
from neosian.scrub import Policy, render

_ROLES = ("user", "assistant", "tool")


def home(root: str | None = None) -> str:
    """The folder of everything: ``root``, else `$NEOSIAN_HOME`, else `~/.neosian`."""
    return scope.home(root)


def project_scope(directory: str | None = None) -> str:
    """The scope of the project of a directory (default: the working one), as text such as `user:alice/proj:shop`.

    The user's own scope where the directory belongs to no project.
    """
    where = home()
    settings, _ = config.load(where)
    return layout(where, os.path.abspath(directory or scope.working_directory()), settings).turns


class FileStore:
    """A home and its scopes."""

    def __init__(self, home: str) -> None:
        self.home = os.path.abspath(home)

    def scope(self, text: str) -> Scope:
        """One scope; nothing is made before something is written."""
        return Scope(self.home, scope.check(text))


class Scope:
    """One scope's turns: append, read, search, tell who changed what."""

    def __init__(self, home: str, text: str) -> None:
        self.home = home
        self.text = text
        self._store = projects.open_store(home, text)

    def append_turn(
        self,
        conversation: str,
        messages: Iterable[Mapping[str, Any]],
        *,
        actor: str,
        at: float | None = None,
        span: str | None = None,
    ) -> int:
        """Land one turn and give back its number.

        ``messages`` are ``{role: user | assistant | tool, text, call, tool, input, ok}``: an assistant's message
        with ``tool`` is a call, a tool's message the result of ``call``. ``actor`` is `client:session` or any
        name, ``at`` seconds since 1970. A ``span`` that was appended before changes nothing and gives back the
        number it got then.
        """
        at = time.time() if at is None else at
        client = scope.slug(actor.partition(":")[0]) or "program"
        settings, _ = config.load(self.home)
        policy = Policy(settings.record_output_chars, settings.record_input_chars, settings.record_ignore)
        actor = policy.redact(actor)  # it goes into trailers, too
        said = [_line(message) for message in messages]
        id = span or os.urandom(8).hex()
        machine = places.machine(self.home)
        day = places.day_in(self._store, client, conversation) if self._store.exists else None
        day = day or time.strftime("%Y-%m/%d", time.localtime(at))
        number = 0

        def change(draft: Draft) -> None:
            nonlocal number
            paths = recording.segments(draft, day, client, conversation)
            lines = [line for path in paths for line in turns.parse_lines(draft.read(path) or b"")[0]]
            known = next((line for line in lines if line["kind"] == "turn" and line.get("id") == id), None)
            if known is not None:
                number = known["turn"]
                return
            number = max((line["turn"] for line in lines), default=0) + 1
            header = {
                "kind": "turn",
                "state": turns.DONE,
                "id": id,
                "client": client,
                "session": conversation,
            }
            numbered = [
                {
                    "v": turns.VERSION,
                    "turn": number,
                    "n": n,
                    "kind": line.pop("kind"),
                    "at": turns.stamp(at),
                    **line,
                }
                for n, line in enumerate(map(dict, (header, *said)))
            ]
            rendered = render(numbered, policy, {"actor": actor, "host": scope.host()})
            recording.add(
                draft,
                day,
                machine,
                recording.Span(client, conversation, number, rendered, actor=actor, at=at),
            )

        project = self._project()
        self._store.write(change, patience=10.0)
        if project is not None:
            projects.note_identities(self._store, project)
        places.Place(self.text, day).remember(self.home, client, conversation)
        return number

    def _project(self) -> projects.Project | None:
        """The project of the directory that the program runs in, written down, when this is its scope."""
        settings, _ = config.load(self.home)
        seen = layout(self.home, scope.working_directory(), settings)
        return projects.register(self.home, seen.root) if seen.root and seen.turns == self.text else None

    def turn(self, conversation: str, n: int, at: str | None = None) -> turns.Turn:
        """Turn ``n`` whole, as it stands now or stood at a revision."""
        return conversations.turn(self._store.repo, conversation, n, at)

    def search(self, query: str, limit: int = 20) -> list[Hit]:
        """Turns and documents that fit any text, best first."""
        return recall.search(self._store, query, limit=limit, behind=None) if self._store.exists else []

    def history(self, limit: int = 50, **wanted: Any) -> list[Commit]:
        """Who changed what, newest first; ``wanted`` as in `neosian.audit.Wanted`."""
        return audit.history(self._store, audit.Wanted(**wanted), limit)

    def context(self, conversation: str = "", *, budget: int = 9500, source: str = "startup") -> Block:
        """What a session that sees only this scope would be told at its start."""
        with Index.open(self._store.cache) as index:
            if self._store.exists:
                index.catch_up(self._store.repo, None)
            mount = Mount("/project", self._store, index)
            return start_block(
                [mount], source=source, conversation=conversation, client="program", now=time.time(), budget=budget,
                cost=utf16,
            )  # fmt: skip


def _line(message: Mapping[str, Any]) -> dict[str, Any]:
    """A message as a log line without its number."""
    role = message.get("role")
    if role not in _ROLES:
        raise UsageError(f"A message's role is one of {', '.join(_ROLES)}, not {role!r}.")
    text = str(message.get("text") or "")
    if role == "tool":
        return {"kind": "tool_result", "call": message.get("call"), "ok": message.get("ok"), "text": text}
    if message.get("tool"):
        asked = message.get("input")
        call = {"call": message.get("call"), "tool": str(message["tool"])}
        return {"kind": "tool_call", **call, "input": asked if isinstance(asked, dict) else {}}
    return {"kind": "prompt" if role == "user" else "answer", "text": text}
