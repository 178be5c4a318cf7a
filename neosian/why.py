"""Why a document says what it says: for each line who wrote it, when, through what, and from which turns it came."""

from __future__ import annotations

from neosian import commits, conversations, history, speech, turns
from neosian.errors import NeosianError, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from neosian.commits import Commit
    from neosian.plumbing import Repo
    from neosian.store import Store

_PROMPT_MOST = 160
"""Characters of a prompt that are shown."""


class Source:
    """A turn that a commit names: ``turn`` None where only its conversation is named, ``prompt`` what was asked in it,
    on one line ("" where that turn cannot be read here)."""

    __slots__ = ("conversation", "prompt", "turn")

    def __init__(self, conversation: str, turn: int | None, prompt: str) -> None:
        self.conversation = conversation
        self.turn = turn
        self.prompt = prompt


class Passage:
    """Lines that one commit wrote, ``first`` the number of the first of them; ``commit`` None: not landed yet."""

    __slots__ = ("commit", "first", "lines", "sources")

    def __init__(self, first: int, commit: Commit | None, sources: list[Source]) -> None:
        self.first = first
        self.commit = commit
        self.sources = sources
        self.lines: list[str] = []


def explain(
    store: Store, path: str, line: int | None = None, elsewhere: Sequence[Store] = ()
) -> list[Passage]:
    """The passages of a document as it lies in the folder, or the one of a line (that line alone).

    Prompts are read from the scope's own turn logs, else from those of the scopes ``elsewhere``.
    """
    lines = history.blame(store, path)
    if line is not None and not 1 <= line <= len(lines):
        raise UsageError(
            f"{path} has {len(lines)} lines; there is no line {line}.", history.command(store, "why", path)
        )
    first = 1 if line is None else line
    wanted = lines if line is None else lines[line - 1 : line]
    wrote = _commits(store.repo, {each.commit for each in wanted if each.commit})
    repos = [store.repo, *(other.repo for other in elsewhere if other.path != store.path)]
    known: dict[tuple[str, float | None], Source] = {}
    sources: dict[str, list[Source]] = {}
    for commit in wrote.values():
        # A conversation alone is named by what was written while a turn ran: which one, its time tells.
        at = None if "Source" in commit.trailers else commit.at
        keys = [(name, None if "#" in name else at) for name in commit.sources]
        known |= {key: _source(repos, *key) for key in keys if key not in known}
        sources[commit.id] = [known[key] for key in keys]
    found: list[Passage] = []
    before: str | None = ""  # no commit is named so
    for number, each in enumerate(wanted, first):
        if each.commit != before:
            id = before = each.commit
            found.append(Passage(number, wrote[id] if id else None, sources[id] if id else []))
        found[-1].lines.append(each.text)
    return found


def _commits(repo: Repo, ids: set[str]) -> dict[str, Commit]:
    found = commits.log(repo, "--no-walk=unsorted", *sorted(ids)) if ids else []
    return {commit.id: commit for commit in found}


def _source(repos: Sequence[Repo], name: str, at: float | None) -> Source:
    """A source with its prompt, from the first repository that has its turn; of a conversation the turn that ran at
    ``at``."""
    conversation, turn = conversations.split(name)
    for repo in repos if turn is not None or at is not None else ():
        try:
            found = (
                _running(repo, conversation, at or 0)
                if turn is None
                else conversations.turn(repo, conversation, turn)
            )
        except NeosianError:
            continue
        if found is not None:
            said = [*found.prompts, *found.machine_prompts]
            prompt = speech.snippet(speech.spoken(said[0]) or said[0], _PROMPT_MOST) if said else ""
            return Source(conversation, found.number, prompt)
    return Source(conversation, turn, "")


def _running(repo: Repo, conversation: str, at: float) -> turns.Turn | None:
    """The turn of a conversation that ran at a time; None where none did, or it has not landed yet."""
    for turn in conversations.turns_of(repo, conversation):
        times = [turns.seconds(str(line["at"])) for line in turn.lines]
        if int(min(times)) <= at <= max(times) + 1:  # git keeps whole seconds
            return turn
    return None
