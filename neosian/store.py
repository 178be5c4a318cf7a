"""A scope's repository: made once, locked for each act, changed by whole commits."""

from __future__ import annotations

import os
import time

from neosian import __version__, files, publish
from neosian.draft import Draft, Signature
from neosian.errors import BrokenStoreError, BusyError, DamagedError, GitError, NeosianError, NoGitError
from neosian.gitlocks import MovedError
from neosian.plumbing import MAIN, Repo
from neosian.resources import text as resource

try:
    import fcntl
except ImportError:  # pragma: no cover - Windows
    fcntl = None  # type: ignore[assignment]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

MACHINE_EMAIL = "neosian.invalid"
_ROOT_AUTHOR = Signature("neosian", f"neosian@{MACHINE_EMAIL}", 0)
ATTRIBUTES = b"* -text\n*.jsonl -text merge=union\n"
# sharedrepository: git too keeps to 0600 here, whatever the umask of who runs it.
_SETTINGS = f"""[core]
\trepositoryformatversion = 0
\tfilemode = true
\tbare = false
\tlogallrefupdates = true
\tautocrlf = false
\tquotepath = false
\tsharedrepository = 0600
[index]
\tversion = 4
[gc]
\tauto = 0
\tpruneExpire = 2.weeks.ago
[neosian]
\tversion = {__version__}
"""


class Lock:
    """An exclusive lock on a file: `flock`, elsewhere filelock; freed when its owner dies."""

    def __init__(self, path: str, patience: float) -> None:
        self._path = path
        self._patience = patience
        self._handle = -1
        self._other: object = None

    def __enter__(self) -> Lock:
        if fcntl is None:  # pragma: no cover - Windows
            return self._enter_elsewhere()
        files.make_dir(os.path.dirname(self._path))
        handle = os.open(self._path, os.O_RDWR | os.O_CREAT, files.PRIVATE_FILE)
        until = time.monotonic() + self._patience
        while True:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                self._handle = handle
                return self
            except OSError:
                if time.monotonic() > until:
                    os.close(handle)
                    raise BusyError(f"{self._path} is held by another process.", "try again") from None
            time.sleep(0.005)

    def _enter_elsewhere(self) -> Lock:  # pragma: no cover - Windows
        import filelock

        self._other = filelock.FileLock(self._path, timeout=self._patience, fallback_to_soft=False)
        try:
            self._other.acquire(poll_interval=0.01)
        except filelock.Timeout:
            raise BusyError(f"{self._path} is held by another process.", "try again") from None
        return self

    def __exit__(self, *_: object) -> None:
        self.release()

    def release(self) -> None:
        """Let go of it, before its block ends or again."""
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1
        elif self._other is not None:  # pragma: no cover - Windows
            self._other.release()  # type: ignore[attr-defined]


def message(subject: str, trailers: Mapping[str, str | Sequence[str]], body: str = "") -> str:
    """A commit message: a plain line, an optional body, git trailers for machines (of several values a line each)."""
    line = _one_line(subject) or "(no subject)"
    rows = [
        f"{key}: {_one_line(value)}"
        for key, values in trailers.items()
        for value in ([values] if isinstance(values, str) else values)
        if value
    ]
    return "\n\n".join(part for part in (line, body.strip(), "\n".join(rows)) if part) + "\n"


def _one_line(words: str) -> str:
    """Words on one line, without the control characters that git refuses or a terminal obeys."""
    return "".join(char if char >= " " else "\N{REPLACEMENT CHARACTER}" for char in " ".join(words.split()))


def agent(client: str, at: float) -> Signature:
    """The author line of an act by a program: any other e-mail is a person's."""
    return Signature(client, f"{client.split(':')[0] or 'agent'}@{MACHINE_EMAIL}", at)


def committer(at: float | None = None) -> Signature:
    """The committer of everything neosian writes."""
    return Signature("neosian", f"neosian@{MACHINE_EMAIL}", time.time() if at is None else at)


class Store:
    """One scope: its text (`user:alice/proj:shop`), its repository, its index cache.

    With ``stays_open`` the repository's object reader outlives an act; whoever sets it closes the repository.
    """

    def __init__(self, home: str, scope: str, path: str, cache: str) -> None:
        self.home = home
        self.scope = scope
        self.path = path
        self.cache = cache
        self.repo = Repo(path)
        self.stays_open = False

    @property
    def exists(self) -> bool:
        """Whether the repository was made already."""
        return os.path.isdir(self.repo.git_dir)

    @property
    def is_elsewhere(self) -> bool:
        """Whether a file lies where the repository would be: git follows one to a repository elsewhere, we do not."""
        places = (self.path, self.repo.git_dir)
        return any(os.path.lexists(place) and not os.path.isdir(place) for place in places)

    @property
    def was_made(self) -> bool:
        """Whether main ever had a commit: before that a missing one is no damage."""
        traces = ("logs/refs/heads/main", "packed-refs", "refs/heads/main")
        return any(os.path.exists(os.path.join(self.repo.git_dir, trace)) for trace in traces)

    def lock(self, patience: float = 0.8) -> Lock:
        """The scope's lock; held around each act and never longer. ElsewhereError where it has no place to be."""
        if self.is_elsewhere:
            raise ElsewhereError(self.path)
        return Lock(os.path.join(self.repo.private, "lock"), patience)

    def make(self) -> None:
        """Make the repository, or mend what a killed maker or a crash left of it; under the scope's lock."""
        self.frame()
        self.note_scope()
        if self.repo.tip() is None:
            if self.was_made:  # a second beginning would hide all that there was
                raise DamagedError(self.path)
            draft = Draft(self.repo, None)
            # Fixed bytes: two machines that never met still share this commit, so their histories can merge.
            draft.commit("Begin\n", _ROOT_AUTHOR, _ROOT_AUTHOR)
            draft.put("README.md", scope_page(self.scope))
            draft.put(".gitattributes", ATTRIBUTES)
            tip = draft.commit(
                message("Say what this folder is", {"Neosian-Act": "edit", "Neosian-Actor": "neosian"}),
                committer(),
                committer(),
            )
            draft.write()
            publish.publish(self.repo, None, tip)

    def frame(self) -> None:
        """Have what git must find to see a repository at all: its folders, its settings, a HEAD."""
        git_dir = self.repo.git_dir
        for folder in ("objects/info", "objects/pack", "refs/heads", "refs/tags", "info", "neosian"):
            files.make_dir(os.path.join(git_dir, folder))
        if not os.path.exists(os.path.join(git_dir, "config")):
            files.write(os.path.join(git_dir, "config"), _SETTINGS.encode(), scratch=self.repo.private)
        if self.head_is_torn:
            files.write(os.path.join(git_dir, "HEAD"), f"ref: {MAIN}\n".encode(), scratch=self.repo.private)

    def note_scope(self) -> None:
        """Write the scope's text beside the repository: a folder's name may hold only a part of it."""
        files.write(os.path.join(self.repo.private, "scope"), self.scope.encode() + b"\n")

    def is_sound(self) -> bool:
        """A look that finds what a crash leaves: refs, the newest commit and its tree, and the index can be read."""
        repo = self.repo
        try:
            tip = repo.tip()
            whole = tip is not None and not self.head_is_torn and publish.index_is_sound(repo)
            return whole and tip is not None and bool(repo.tree(repo.tree_of(tip)))
        except NoGitError:
            raise  # which says nothing of the repository
        except (BrokenStoreError, GitError):
            return False

    def ready(self) -> bool:
        """Whether the repository can be worked in without `make` (a cheap look)."""
        return self.exists and not self.head_is_torn and self.repo.tip() is not None

    @property
    def head_is_torn(self) -> bool:
        """Whether HEAD is less than a whole line, as a crash leaves it, or names neither a ref nor a commit: then git
        sees no repository at all."""
        said = (files.read(os.path.join(self.repo.git_dir, "HEAD")) or b"").strip(b"\0 \n")
        whole = f"ref: {MAIN}".encode()
        if said != whole and whole.startswith(said):
            return True
        is_ref = said.startswith(b"ref:") and said[4:].strip().startswith(b"refs/")
        return not is_ref and not (len(said) == 40 and all(sign in b"0123456789abcdef" for sign in said))

    def write(
        self,
        change: Callable[[Draft], object],
        *,
        patience: float = 0.8,
        before: Callable[[Draft], None] | None = None,
    ) -> str | None:
        """One act: lock, recover, let ``change`` make commits in a draft, publish; the new tip.

        A ``change`` that makes no commit is "nothing to do": None is given back. When main moved meanwhile
        it is called again on the new tip, so it must not have effects of its own. ``before`` is called with
        the finished draft just before its objects are written.
        """
        with self.lock(patience):
            try:
                if not self.ready():
                    self.make()
                until = time.monotonic() + patience
                while True:
                    try:
                        base, lost = publish.recover(self.repo, patience=patience, tell=self._log)
                    except MovedError:
                        if time.monotonic() > until:
                            raise
                        continue
                    draft = Draft(self.repo, base)
                    _restore(draft, lost)
                    change(draft)
                    if draft.tip is None or draft.tip == base:
                        return None
                    if before is not None:
                        before(draft)
                    draft.write()
                    try:
                        publish.publish(self.repo, base, draft.tip, patience=patience)
                    except MovedError:
                        if time.monotonic() > until:
                            raise
                        continue
                    return draft.tip
            finally:
                if not self.stays_open:
                    self.repo.close()

    def _log(self, said: str) -> None:
        files.log(os.path.join(self.home, "log", "neosian.log"), said)


def _restore(draft: Draft, lost: Mapping[str, str]) -> None:
    """Put back the lines of our logs that a commit from a stale index took out of main."""
    restored = []
    for path, blob in lost.items():
        found = draft.repo.object(blob)
        if found is None:
            continue
        held = draft.read(path) or b""
        there = set(held.splitlines())
        missing = [line for line in found[1].splitlines(keepends=True) if line.rstrip(b"\n") not in there]
        if missing and path.endswith(".jsonl"):
            draft.put(path, found[1] if found[1].startswith(held) else held + b"".join(missing))
            restored.append(path)
    if restored:
        trailers = {"Neosian-Act": "edit", "Neosian-Actor": "neosian"}
        body = "A commit was made from an index that was older than main."
        draft.commit(
            message("Put back turns that a stale checkout took away", trailers, body),
            committer(),
            committer(),
        )


def scope_page(scope: str) -> bytes:
    """The README that a scope begins with."""
    return resource("templates", "scope-readme.md").replace("@SCOPE@", scope).encode()


class ElsewhereError(NeosianError):
    """A scope whose repository does not lie in its folder, such as a work tree of another repository."""

    def __init__(self, path: str) -> None:
        from shlex import quote  # a session start would pay for it

        git_dir = os.path.join(path, ".git")
        file = git_dir if os.path.isdir(path) else path
        led = files.strange(git_dir, 4096).partition("\n")[0].removeprefix("gitdir:").strip()
        real = os.path.join(path, led) if led else ""
        is_whole = os.path.isdir(os.path.join(real, "objects")) if real else False

        words = ("rm", git_dir, "&&", "mv", real, git_dir) if is_whole else ("mv", file, "SOMEWHERE-ELSE")
        super().__init__(
            f"{file} is no folder, so nothing is read or written there; what belongs there waits in the spool.",
            " ".join(word if word == "&&" else quote(word) for word in words),
        )


class NoStoreError(NeosianError):
    """A scope that has nothing yet."""

    def __init__(self, scope: str) -> None:
        super().__init__(f"Nothing has been recorded for {scope} yet.", "neosian status")
