"""Git's own plumbing: what a repository's refs and objects say, each through git's documented formats.

Objects are read through one `git cat-file --batch` child. The formats of trees, commits and loose objects are
those of gitformat-pack and git-mktree.
"""

from __future__ import annotations

import os
import zlib

from neosian import files
from neosian.child import Child, clean_environment, git_program, spawn
from neosian.errors import BrokenStoreError, GitError

try:
    from _sha1 import sha1  # `hashlib` costs a third of a start
except ImportError:  # pragma: no cover - an interpreter without the private module
    from hashlib import sha1

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Mapping

MAIN = "refs/heads/main"
NEXT = "refs/neosian/next"
NOTHING = "0" * 40
EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
FILE, PROGRAM, LINK, FOLDER = "100644", "100755", "120000", "40000"


def object_id(kind: str, body: bytes) -> str:
    """The name git gives an object, 40 hex digits."""
    digest = sha1(b"%s %d\0" % (kind.encode(), len(body)))
    digest.update(body)
    return str(digest.hexdigest())


class Entry:
    """One name in a tree: ``mode`` as git writes it, ``id`` of the blob or tree."""

    __slots__ = ("id", "mode")

    def __init__(self, mode: str, id: str) -> None:
        self.mode = mode
        self.id = id


_MODES = {mode.encode(): mode for mode in (FILE, LINK, FOLDER)}


def parse_tree(body: bytes) -> dict[str, Entry]:
    """Entries of a tree object by name; names that are not UTF-8 keep their bytes as surrogates."""
    import re  # a session start reads no tree

    rows = re.findall(rb"([0-7]+) ([^\0]+)\0(.{20})", body, re.DOTALL)
    return {
        name.decode("utf-8", "surrogateescape"): Entry(_MODES.get(mode) or mode.decode(), id.hex())
        for mode, name, id in rows
    }


def format_tree(entries: Mapping[str, Entry]) -> bytes:
    """The tree object of these entries, in git's order (a folder sorts as if it ended in a slash)."""
    rows = []
    for name, entry in entries.items():
        raw = name.encode("utf-8", "surrogateescape")
        key = raw + b"/" if entry.mode == FOLDER else raw
        rows.append((key, b"%s %s\0" % (entry.mode.encode(), raw) + bytes.fromhex(entry.id)))
    return b"".join(row for _, row in sorted(rows))


def commit_header(body: bytes, name: str) -> list[str]:
    """Values of one header of a commit object, such as `tree` or `parent`."""
    head = body.split(b"\n\n", 1)[0].decode("utf-8", "replace")
    return [line[len(name) + 1 :] for line in head.split("\n") if line.startswith(name + " ")]


class Repo:
    """One scope's repository: where it lies, what its refs say, what its objects hold."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.git_dir = os.path.join(path, ".git")
        self.private = os.path.join(self.git_dir, "neosian")
        self.index_seen: tuple[int, int, int] | None = None
        self._trees: dict[str, dict[str, Entry]] = {}
        self._tree_of: dict[str, str] = {}
        self._objects: Child | None = None

    # -- children

    def _argv(self, args: Iterable[str]) -> list[str]:
        # From the scope's own folder: the caller's may be gone, and git cannot start there.
        return [
            git_program(),
            "-C",
            self.path,
            f"--git-dir={self.git_dir}",
            f"--work-tree={self.path}",
            *args,
        ]

    def start(self, *args: str, timeout: float = 5.0, index: str = "") -> Child:
        """A git child of this repository; ``index`` names another index file than its own."""
        environment = clean_environment(self.private)
        if index:
            environment["GIT_INDEX_FILE"] = index
        return spawn(self._argv(args), environment, timeout)

    def git(
        self, *args: str, input: bytes = b"", timeout: float = 5.0, check: bool = True, index: str = ""
    ) -> bytes:
        """What a git command prints; GitError when it fails and ``check`` holds."""
        status, out, errors = self.start(*args, timeout=timeout, index=index).communicate(input)
        if status and check:
            raise GitError(args, status, errors.decode("utf-8", "replace"))
        return out

    def succeeds(self, *args: str) -> bool:
        """Whether a git command ends with 0."""
        return self.start(*args).communicate(b"")[0] == 0

    # -- refs

    def ref(self, name: str) -> str | None:
        """The commit a ref names, read from its file or from packed-refs."""
        said = files.read(os.path.join(self.git_dir, name))
        if said is not None:
            text = said.decode("ascii", "replace").strip()
            if len(text) == 40:
                return text
            raise BrokenStoreError(f"{name} of {self.path} holds no commit.", "neosian status")
        wanted = f" {name}"
        for line in files.lines(os.path.join(self.git_dir, "packed-refs")):
            if line.endswith(wanted):
                return line[:40]
        return None

    def refs(self, folder: str) -> dict[str, str]:
        """The refs below a folder such as `refs/neosian/dream/`, by what follows it, with the commits they name."""
        said = os.fsdecode(self.git("for-each-ref", "--format=%(refname) %(objectname)", folder))
        rows = (row.split(" ") for row in said.split("\n") if row)  # a name may hold any other sign
        return {name[len(folder) :]: commit for name, commit in rows}

    def update_refs(self, changes: Iterable[tuple[str, str, str]]) -> None:
        """Move refs, all or none: (name, new commit, the commit it names now), NOTHING for none.

        GitError when one of them names another commit than that.
        """
        said = "".join(f"update {name} {new} {old}\n" for name, new, old in changes)
        self.git("update-ref", "--stdin", input=os.fsencode(f"start\n{said}prepare\ncommit\n"))

    def tip(self) -> str | None:
        """The commit of main, or None before the first."""
        return self.ref(MAIN)

    def index_is_whole(self) -> bool:
        """Whether the index, where there is one, ends in its own checksum (git itself reads on without a look)."""
        said = files.read(os.path.join(self.git_dir, "index"))
        if said is None:
            return True
        checksum = said[-20:]
        return said.startswith(b"DIRC") and checksum in (sha1(said[:-20]).digest(), bytes(20))

    def head(self) -> str:
        """What HEAD says: a ref's name, or a commit when it is detached."""
        said = (files.read(os.path.join(self.git_dir, "HEAD")) or b"").decode("utf-8", "replace").strip()
        return said[5:].strip() if said.startswith("ref: ") else said

    # -- objects

    def object(self, name: str) -> tuple[str, bytes] | None:
        """Kind and body of an object by id (or any name git knows without a space or newline)."""
        if self._objects is None:
            self._objects = self.start("cat-file", "--batch", timeout=30.0)
        try:
            self._objects.write(name.encode("utf-8", "surrogateescape") + b"\n")
            said = self._objects.line().decode("utf-8", "replace").split(" ")
            if len(said) < 3 or not said[-1].isdigit():
                return None
            body = self._objects.exactly(int(said[-1]))
            self._objects.exactly(1)
        except GitError:
            self._objects = None  # it has ended: whoever asks next starts another
            raise
        return said[-2], body

    def close(self) -> None:
        """Let the object reader go; it starts again when asked."""
        if self._objects is not None:
            self._objects.close()
            self._objects = None

    def tree_of(self, commit: str) -> str:
        """The tree a commit names."""
        if commit not in self._tree_of:
            found = self.object(commit)
            if found is None or found[0] != "commit":
                raise BrokenStoreError(
                    f"Commit {commit[:12]} of {self.path} cannot be read.", "neosian status"
                )
            self._tree_of[commit] = commit_header(found[1], "tree")[0]
        return self._tree_of[commit]

    def tree(self, id: str) -> dict[str, Entry]:
        """Entries of a tree by its id; not to be changed, since whoever asks next is given the same."""
        if id == EMPTY_TREE:
            return {}
        if id not in self._trees:
            found = self.object(id)
            if found is None or found[0] != "tree":
                raise BrokenStoreError(f"Tree {id[:12]} of {self.path} cannot be read.", "neosian status")
            self.keep_tree(id, parse_tree(found[1]))
        return self._trees[id]

    def keep_tree(self, id: str, entries: dict[str, Entry]) -> None:
        """Remember a tree, which is what its id says for ever; a reader of a whole history keeps only the last."""
        if len(self._trees) > 200:
            self._trees.clear()
        self._trees[id] = entries

    def keep_commit(self, id: str, tree: str) -> None:
        """Remember the tree of a commit that was just made."""
        self._tree_of[id] = tree

    def parents(self, commit: str) -> list[str]:
        """The parents of a commit."""
        found = self.object(commit)
        return commit_header(found[1], "parent") if found else []

    def entry(self, rev: str, path: str) -> Entry | None:
        """Where ``path`` is at a commit: its mode and id, or None."""
        found = Entry(FOLDER, self.tree_of(rev))
        for part in path.split("/") if path else ():
            if found.mode != FOLDER:
                return None
            below = self.tree(found.id).get(part)
            if below is None:
                return None
            found = below
        return found

    def read(self, rev: str, path: str) -> bytes | None:
        """A file's bytes at a commit, None where it has none."""
        entry = self.entry(rev, path)
        if entry is None or entry.mode == FOLDER:
            return None
        found = self.object(entry.id)
        if found is None:
            raise BrokenStoreError(f"{path} at {rev[:12]} of {self.path} cannot be read.", "neosian status")
        return found[1]

    def read_many(self, specs: Iterable[str]) -> list[bytes | None]:
        """Bodies of `rev:path` or object ids, None for the missing; all through one child."""
        bodies: list[bytes | None] = []
        for spec in specs:
            rev, colon, path = spec.partition(":")
            if colon:
                rev = self.tip() or "" if rev in ("main", MAIN) else rev
                bodies.append(self.read(rev, path) if rev else None)
            else:
                found = self.object(rev)
                bodies.append(found[1] if found else None)
        return bodies

    def diff(self, old: str | None, new: str, without: Container[str] = ()) -> list[Change]:
        """What changed from one commit to another (None: the empty tree), renames as a deletion and an addition.

        Top folders ``without`` which it is wanted are not looked into.
        """
        before = self.tree_of(old) if old else EMPTY_TREE
        return list(self._diff_trees(before, self.tree_of(new), "", without))

    def _diff_trees(self, old: str, new: str, below: str, without: Container[str] = ()) -> Iterator[Change]:
        """Changed files of two trees. Reading only the trees that differ, this needs no child of its own."""
        if old == new:
            return
        left, right = self.tree(old), self.tree(new)
        # A draft's tree shares its entries with the one it came from: what is the same object is not looked at.
        for name in sorted({name for name, _ in left.items() ^ right.items()}):
            a, b = left.get(name), right.get(name)
            if name in without or (a and b and (a.id, a.mode) == (b.id, b.mode)):
                continue
            path = below + name
            folders = [entry.id if entry and entry.mode == FOLDER else EMPTY_TREE for entry in (a, b)]
            yield from self._diff_trees(folders[0], folders[1], path + "/")
            before = a.id if a and a.mode != FOLDER else NOTHING
            after = b.id if b and b.mode != FOLDER else NOTHING
            if before != after or before != NOTHING:
                status = "A" if before == NOTHING else "D" if after == NOTHING else "M"
                yield Change(status, path, before, after, bool(b and b.mode == PROGRAM))

    def ls(self, rev: str, prefix: str = "") -> list[tuple[str, str]]:
        """(path, blob id) of every file at a commit below ``prefix``."""
        where = ("--", prefix) if prefix else ()
        said = self.git("ls-tree", "-r", "-z", "--full-tree", rev, *where, timeout=60.0)
        rows = []
        for row in said.split(b"\0")[:-1]:
            meta, _, raw = row.partition(b"\t")
            rows.append((raw.decode("utf-8", "surrogateescape"), meta.split(b" ")[2].decode()))
        return rows

    def write_object(self, kind: str, body: bytes) -> str:
        """Store a loose object, whole or not at all; its id."""
        id = object_id(kind, body)
        folder = os.path.join(self.git_dir, "objects", id[:2])
        path = os.path.join(folder, id[2:])
        if not os.path.exists(path):
            files.make_dir(folder)
            packed = zlib.compress(b"%s %d\0" % (kind.encode(), len(body)) + body, 1)
            files.write(path, packed, mode=0o400, scratch=self.private)
        return id


class Change:
    """One path between two commits: ``status`` A, M or D; ``before`` and ``after`` are blob ids.

    ``is_program``: afterwards the file may be run.
    """

    __slots__ = ("after", "before", "is_program", "path", "status")

    def __init__(self, status: str, path: str, before: str, after: str, is_program: bool = False) -> None:
        self.status = status
        self.path = path
        self.before = before
        self.after = after
        self.is_program = is_program
