"""Commits as records: who acted, when, on which paths; trailers say the act to a machine. And a commit by its name."""

from __future__ import annotations

from neosian.errors import BrokenStoreError, GitError, NeosianError
from neosian.plumbing import commit_header

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from neosian.plumbing import Repo

OURS = "@neosian.invalid"  # the e-mail of agents and of neosian; any other is a person's
_FORMAT = "%H%x00%P%x00%at%x00%an%x00%ae%x00%B"
_ALL_OF_IT = 600.0  # seconds that reading a whole history may take
_NAMED = 4  # candidates named in an error
_NEAR = 3  # commits that are read one by one before git is asked for all of them


class Commit:
    """One commit: ``at`` in seconds since 1970, ``changes`` (status letter, path, blob id) against its first parent."""

    __slots__ = ("at", "author", "changes", "email", "id", "parents", "subject", "trailers")

    def __init__(self, id: str, parents: list[str], at: float, author: str, email: str, message: str) -> None:
        self.id = id
        self.parents = parents
        self.at = at
        self.author = author
        self.email = email
        self.subject = message.partition("\n")[0]
        self.trailers = trailers(message)
        self.changes: list[tuple[str, str, str]] = []

    @property
    def actor(self) -> str:
        """Who wrote: the trailer's actor, else the author's name."""
        return self._said("Neosian-Actor") or self.author

    @property
    def act(self) -> str:
        """The act, as its trailer says it; a plain commit is an edit."""
        return self._said("Neosian-Act") or "edit"

    @property
    def conversation(self) -> str:
        """The conversation it belongs to, "" for none."""
        return self._said("Conversation")

    @property
    def turn(self) -> int | None:
        """The turn it belongs to."""
        said = self._said("Turn")
        return int(said) if said.isascii() and said.isdigit() and len(said) < 16 else None

    @property
    def client(self) -> str:
        """The client through which an agent wrote, "" for a person's commit."""
        by_agent = self.email.endswith(OURS) and self.actor != "neosian"
        return self._said("Client") or (self.email.removesuffix(OURS) if by_agent else "")

    @property
    def sources(self) -> list[str]:
        """The turns that it came of, as `conversation#turn`: those it names, else its own turn, else its actor's."""
        if said := self.trailers.get("Source"):
            return list(dict.fromkeys(said))
        if self.conversation:
            return [f"{self.conversation}#{self.turn}" if self.turn else self.conversation]
        session = self.actor.partition(":")[2]
        return [session] if "#" in session else []

    def _said(self, key: str) -> str:
        """What the first trailer of this key says; "" without one."""
        return self.trailers.get(key, [""])[0]


def trailers(message: str) -> dict[str, list[str]]:
    """The `Key: value` lines of a message's last paragraph, as git trailers are written: the values of each key."""
    paragraph = message.strip().rpartition("\n\n")[2]
    found: dict[str, list[str]] = {}
    for line in paragraph.split("\n"):
        key, colon, value = line.partition(":")
        if colon and key and " " not in key:
            found.setdefault(key, []).append(value.strip())
    return found


def body(repo: Repo, id: str) -> str:
    """What a commit's message says between its subject and its trailers."""
    message = (repo.object(id) or ("", b""))[1].partition(b"\n\n")[2].decode("utf-8", "replace")
    said = message.strip().partition("\n\n")[2]
    before, _, last = said.rpartition("\n\n")
    return (before if trailers(last) else said).strip()


class UnknownRevision(NeosianError):
    """No commit of a scope goes by this name, or more than one: ``candidates`` are those."""

    def __init__(self, name: str, candidates: Sequence[str] = ()) -> None:
        self.candidates = list(candidates)
        if not candidates:
            super().__init__(f"No commit here is named {name!r}.", "neosian log")
            return
        named = ", ".join(id[:12] for id in self.candidates[:_NAMED])
        super().__init__(
            f"{name!r} names {len(candidates)} commits: {named}; give more digits.", "neosian log"
        )


def revision(repo: Repo, name: str) -> str:
    """The id of the commit that git knows by a name: an id or its beginning, a branch, `main~3`."""
    if name.startswith("-") or not name.isprintable():  # git would take the first for an option
        raise UnknownRevision(name)
    try:
        return repo.git("rev-parse", "--verify", "--quiet", f"{name}^{{commit}}").decode().strip()
    except GitError as error:
        if error.status not in (1, 128):  # git itself did not run, or not to its end
            raise
        raise UnknownRevision(name, _beginning_with(repo, name)) from None


def _beginning_with(repo: Repo, name: str) -> list[str]:
    """The commits whose ids begin so, where that may be the beginning of one."""
    if not 4 <= len(name) < 40 or name.strip("0123456789abcdefABCDEF"):
        return []
    found = repo.git("rev-parse", f"--disambiguate={name}").decode().split()
    return [id for id in found if (repo.object(id) or ("",))[0] == "commit"]


def undo_command(commit: str) -> str:
    """What is typed to take a commit back."""
    return f"neosian revert {commit[:10]}"


def log(repo: Repo, *args: str) -> list[Commit]:
    """What `git log ARGS` lists, newest first, each with its changes."""
    said = repo.git(
        "log", "-z", "-m", "--raw", "--no-abbrev", "--no-renames", "--no-notes", "--encoding=UTF-8",
        f"--format={_FORMAT}", *args, timeout=_ALL_OF_IT,
    )  # fmt: skip
    return list(_parse(said))


def _parse(said: bytes) -> Iterator[Commit]:
    """Six cells a commit, then two a change; a merge comes once for each parent, of which the first is kept."""
    cells = said.decode("utf-8", "replace").split("\0")
    at, before = 0, ""
    while at + 5 < len(cells):
        id, parents, when, author, email, message = cells[at : at + 6]
        commit = Commit(id, parents.split(), float(when or 0), author, email, message)
        at += 6
        while at + 1 < len(cells) and cells[at].lstrip("\n").startswith(":"):
            _, _, _, blob, status = cells[at].lstrip("\n").split(" ")
            commit.changes.append((status[0], cells[at + 1], blob))
            at += 2
        if id != before:
            yield commit
        before = id


def since(repo: Repo, old: str | None, new: str, limit: int | None) -> list[Commit] | None:
    """Commits reachable from ``new`` and not from ``old``, newest first; None when there are more than ``limit``.

    A ``GitError`` says that ``old`` is not there any more.
    """
    near = _line(repo, old, new) if old and (limit is None or limit >= _NEAR) else None
    if near is not None:
        return near
    bound = (f"-n{limit + 1}",) if limit is not None else ()
    found = log(repo, *bound, f"{old}..{new}" if old else new)
    return None if limit is not None and len(found) > limit else found


def _line(repo: Repo, old: str, new: str) -> list[Commit] | None:
    """The few commits from ``new`` down to ``old``, newest first; None where git has to tell.

    After a landing they are the ones just made: the reader and the trees are at hand, and `git log` would be one child
    more, a fifth of an empty Python.
    """
    found: list[Commit] = []
    while new != old:
        commit = _near(repo, new) if len(found) < _NEAR else None
        if commit is None:
            return None
        found.append(commit)
        new = commit.parents[0]
    return found


def _near(repo: Repo, id: str) -> Commit | None:
    """A plain commit upon one other; None for one that is signed, encoded, merged, odd or not to be read."""
    kind, body = repo.object(id) or ("", b"")
    head, _, message = body.partition(b"\n\n")
    names = [line.partition(b" ")[0] for line in head.split(b"\n")]
    if (
        kind != "commit"
        or names != [b"tree", b"parent", b"author", b"committer"]
        or message.startswith(b"\n")
    ):
        return None
    (parent,), (author,) = commit_header(body, "parent"), commit_header(body, "author")
    name, _, rest = author.partition(" <")
    email, _, when = rest.partition("> ")
    at = when.partition(" ")[0]
    if not at.isdigit() or "<" in rest:
        return None
    commit = Commit(id, [parent], float(at), name, email, message.decode("utf-8", "replace"))
    try:
        changes = repo.diff(parent, id)
    except BrokenStoreError:
        return None
    for change in changes:
        path = change.path.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
        commit.changes.append((change.status, path, change.after))
    return commit


def is_ancestor(repo: Repo, old: str, new: str, between: list[Commit]) -> bool:
    """Whether ``old`` is an ancestor of ``new``; ``between`` (as `since` gives it) mostly tells without asking git."""
    if is_line(old, between):
        return True
    try:
        return bool(between) and repo.succeeds("merge-base", "--is-ancestor", old, new)
    except GitError:
        return False


def is_line(old: str | None, between: list[Commit]) -> bool:
    """Whether the commits follow each other one by one, the last of them upon ``old``."""
    parents = [commit.parents for commit in between]
    expected = [[commit.id] for commit in between[1:]] + [[old] if old else []]
    return bool(between) and parents == expected
