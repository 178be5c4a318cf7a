"""What is to be dreamt: the turns that came into main since the checkpoint, by session, oldest first.

By commits and never by a clock: the turns of a machine whose clock is behind come in with a later commit, and are read then.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from neosian import speech, turns
from neosian.plumbing import NOTHING, Repo


class Session:
    """The turns of one conversation that have not been dreamt, in order.

    ``started`` and ``last``: seconds since 1970, of these turns. ``turns`` may be read more than once.
    """

    __slots__ = ("client", "conversation", "last", "started", "turns")

    def __init__(self, client: str, conversation: str, found: Sequence[turns.Turn]) -> None:
        self.client = client
        self.conversation = conversation
        self.turns = list(found)
        times = [turns.seconds(str(line["at"])) for turn in self.turns for line in turn.lines]
        self.started = min(times, default=0.0)
        self.last = max(times, default=0.0)

    @property
    def name(self) -> str:
        """`client:conversation`, by which a checkpoint names it."""
        return f"{self.client}:{self.conversation}"

    @property
    def asked(self) -> bool:
        """Whether a person said anything in it: what only programs did teaches nothing."""
        return any(
            prompt.strip() for turn in self.turns if not turn.machine for prompt in turn.prompts if not speech.is_machine(prompt)
        )


class Due:
    """What a run finds: sessions to dream, and those still ``warm``, which wait; ``commit`` is what was read."""

    __slots__ = ("commit", "sessions", "warm")

    def __init__(self, commit: str, sessions: list[Session], warm: list[Session]) -> None:
        self.commit = commit
        self.sessions = sessions
        self.warm = warm


def due(repo: Repo, tip: str, checkpoint: str | None, left: Mapping[str, int], *, now: float, idle: float) -> Due:
    """The sessions with turns that ``checkpoint`` had not, and those it left (`client:conversation` -> first turn)."""
    first = dict(left)
    paths: dict[str, list[str]] = {}
    for path, _ in repo.ls(tip, "record/"):
        if turns.is_segment(path):
            paths.setdefault(turns.segment_key(path), []).append(path)
    changed: set[str] = set()
    known: dict[str, int] = {}
    for change in repo.diff(checkpoint, tip):
        if turns.is_segment(change.path) and change.after != NOTHING:
            key = turns.segment_key(change.path)
            changed.add(key)
            before = repo.object(change.before) if change.before != NOTHING else None
            had = [line["turn"] for line in turns.parse_lines(before[1])[0]] if before else []
            known[key] = max([known.get(key, 0), *had])
    sessions, warm = [], []
    for key, mine in paths.items():
        lines = [line for path in sorted(mine) for line in _lines(repo, tip, path)] if key in changed or left else []
        found = turns.group(lines)
        session = _session(key, lines, found, first, known.get(key) if key in changed else None, checkpoint is None)
        if session is None or not session.asked:
            continue
        (warm if now - session.last < idle else sessions).append(session)
    return Due(tip, sorted(sessions, key=lambda each: (each.started, each.name)), warm)


def _session(
    key: str, lines: Sequence[turns.Line], found: Mapping[int, turns.Turn], left: Mapping[str, int], had: int | None, whole: bool
) -> Session | None:
    header = next((line for line in lines if line.get("kind") == "turn"), None)
    if header is None:
        return None
    client = str(header.get("client") or key.rpartition("-")[0])
    conversation = str(header.get("session") or key.removeprefix(client + "-"))
    since = left.get(f"{client}:{conversation}")
    if since is None and had is None:
        return None
    start = min(each for each in (since, had + 1 if had is not None else None) if each is not None)
    new = [turn for n, turn in sorted(found.items()) if n >= (1 if whole else start)]
    return Session(client, conversation, new) if new else None


def _lines(repo: Repo, tip: str, path: str) -> Iterable[turns.Line]:
    return turns.parse_lines(repo.read(tip, path) or b"")[0]
