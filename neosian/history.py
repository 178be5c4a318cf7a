"""History of documents, read from git: the commits of a path through its renames, differences, whose each line is.

Path-limited history is asked of the index and of the git command line, whose changed-path filters libgit2 lacks;
texts are compared by pygit2. Git's index is never opened by it: ours is of a version that it writes back as another.
"""

from __future__ import annotations

import os
import re
import time
from collections import Counter
from shlex import quote

from neosian import adopt, audit, commits, documents, editing, files, publish
from neosian.draft import Draft
from neosian.errors import BrokenStoreError, GitError, NeosianError
from neosian.plumbing import FOLDER, NOTHING, object_id
from neosian.publish import LOGS, in_log
from neosian.store import NoStoreError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import pygit2

    from neosian.commits import Commit
    from neosian.plumbing import Repo
    from neosian.store import Store

_ALL = 1_000_000
_ALIKE = 0.5  # of their bytes two texts share, for one to be the other under a new name
_PAIRS = 2_500  # of texts that are compared line by line for that
_LONG = 120.0  # seconds that git may take for a text of megabytes
_KEY = re.compile(r"([A-Za-z][\w-]*)[ \t]*:(?=[ \t\r\n]|\Z)")
_MARKS = 97  # signs in git's conflict marks: hardly a text holds such a line


class Move:
    """One path between two commits: its name and blob id before (``was`` None: added) and after (``path`` None: gone).

    ``status``: A, D, M, or R for one that has another name.
    """

    __slots__ = ("after", "before", "path", "was")

    def __init__(self, was: str | None, path: str | None, before: str, after: str) -> None:
        self.was = was
        self.path = path
        self.before = before
        self.after = after

    @property
    def status(self) -> str:
        if self.was is None:
            return "A"
        return "D" if self.path is None else "M" if self.path == self.was else "R"


class Difference:
    """One document of a comparison: ``status`` and names as in `Move`, and its unified diff, as git would print it."""

    __slots__ = ("path", "status", "text", "was")

    def __init__(self, move: Move, text: str) -> None:
        self.path = move.path or move.was or ""
        self.was = move.was
        self.status = move.status
        self.text = text


class Comparison:
    """What differs between ``old`` and ``new`` (commit ids; ``old`` None: before the first commit, ``new`` None: the
    folder as it is now)."""

    __slots__ = ("differences", "new", "old")

    def __init__(self, old: str | None, new: str | None, differences: list[Difference]) -> None:
        self.old = old
        self.new = new
        self.differences = differences

    @property
    def text(self) -> str:
        """The unified diffs of all documents."""
        return "".join(difference.text for difference in self.differences)


class NoText(NeosianError):
    """A path that holds no text, or nothing at all."""


# commits


def log(store: Store, path: str = "", limit: int = 50) -> list[Commit]:
    """The newest ``limit`` commits of a scope, a folder or a document, newest first; a document's renames followed."""
    found: list[Commit] = []
    name: str | None = path
    while name is not None and len(found) < limit:
        rest = audit.history(store, audit.Wanted(path=_shown(name) or None), _ALL if found else limit)
        if found:  # under its older name only what lies behind the renaming
            ids = [commit.id for commit in rest]
            rest = rest[ids.index(found[-1].id) + 1 :] if found[-1].id in ids else []
        taken, name = _under_one_name(store.repo, rest, name)
        found += taken
    return found[:limit]


def _under_one_name(repo: Repo, found: list[Commit], name: str) -> tuple[list[Commit], str | None]:
    """Of a path's commits those down to the one that gave it its name, and the name it had before that one."""
    for n, commit in enumerate(found):
        if any(status == "A" and path == _shown(name) for status, path, _ in commit.changes):
            old = next((move.was for move in moves(repo, commit) if move.path == name), None)
            if old is not None:
                return found[: n + 1], old
    return found, None


def last_change(store: Store, path: str = "") -> Commit | None:
    """The newest commit of a path; without one the newest that changed any document."""
    found = log(store, path, 1) if path else audit.history(store, audit.Wanted(documents=True), 1)
    return found[0] if found else None


def _shown(path: str) -> str:
    """A path as commits are listed with it: bytes that are no UTF-8 are replaced."""
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


# differences


def diff(store: Store, path: str = "", old: str | None = None, new: str | None = None) -> str:
    """The unified diff of a document, a folder or (without a path) all documents, as text; "" for no difference.

    See `compare` for what ``old`` and ``new`` mean.
    """
    return compare(store, path, old, new).text


def compare(store: Store, path: str = "", old: str | None = None, new: str | None = None) -> Comparison:
    """What differs below ``path`` between two revisions.

    ``old`` alone: from there to now, with what lies in the folder and has not landed. ``new`` alone: what that commit
    did. Neither: what the last change of the path did. Turn logs and session pages are left out unless the path is
    one of theirs.
    """
    repo = store.repo
    tip = tip_of(store)
    start, end = _ends(store, path, old, new)
    if start is None and end is None:
        return Comparison(None, None, [])
    changed = _changed(repo, start, end or tip, path)
    unlanded = _lay_folder_over(store, tip, changed) if end is None else {}

    def text(id: str) -> bytes:
        return unlanded[id] if id in unlanded else body(repo, id)

    found = [
        each for each in _paired(changed, text) if _is_below(path, each.path) or _is_below(path, each.was)
    ]
    return Comparison(start, end, [Difference(move, patch(move, text)) for move in found])


def _ends(store: Store, path: str, old: str | None, new: str | None) -> tuple[str | None, str | None]:
    """The two commits that are compared; both None where nothing was ever changed."""
    repo = store.repo
    if old is not None:
        return commits.revision(repo, old), None if new is None else commits.revision(repo, new)
    last = last_change(store, path) if new is None else None
    if new is None and last is None:
        return None, None
    end = last.id if last else commits.revision(repo, new or "")
    return next(iter(repo.parents(end)), None), end


def _lay_folder_over(store: Store, tip: str, changed: dict[str, tuple[str, str]]) -> dict[str, bytes]:
    """Have ``changed`` end with what lies in the folder; the bytes by blob id of what has not landed there."""
    repo, bodies = store.repo, {}
    if publish.checked_out(repo):
        for edit in adopt.unlanded(Draft(repo, tip), time.time()):
            if not edit.unreadable:
                id = NOTHING if edit.data is None else object_id("blob", edit.data)
                bodies[id] = edit.data or b""
                before = changed[edit.path][0] if edit.path in changed else _blob(repo, tip, edit.path)
                changed[edit.path] = (before, id)
    return bodies


def moves(repo: Repo, commit: Commit) -> list[Move]:
    """What a commit did to documents against its first parent, renames told; by path."""
    return moves_between(repo, commit.parents[0] if commit.parents else None, commit.id)


def moves_between(repo: Repo, old: str | None, new: str) -> list[Move]:
    """What differs in documents from one commit to another, renames told; by path."""
    return _paired(_changed(repo, old, new, ""), lambda id: body(repo, id))


def renames(old: Mapping[str, str], new: Mapping[str, str], text: Callable[[str], bytes]) -> dict[str, str]:
    """Old name to new name of the documents that lie elsewhere now; ``old`` and ``new`` as path to blob id."""
    changed = {path: (id, NOTHING) for path, id in old.items() if path not in new}
    changed.update({path: (NOTHING, id) for path, id in new.items() if path not in old})
    pairs = ((move.was, move.path) for move in _paired(changed, text))
    return {was: path for was, path in pairs if was is not None and path is not None}


class Places:
    """Where the documents of a commit lie in a draft, which is read as it was when this was first asked."""

    def __init__(self, draft: Draft, rev: str) -> None:
        self._draft = draft
        self._rev = rev
        self._moved: dict[str, str] | None = None

    def now(self, path: str) -> str | None:
        """Where a document lies now, under its name or a later one; None where it is gone."""
        if self._draft.read(path) is not None:
            return path
        if self._moved is None:
            old, new = _listing(Draft(self._draft.repo, self._rev)), _listing(self._draft)
            known = {id: name for name, id in new.items()}
            self._moved = renames(old, new, lambda id: self._text(id, known))
        return self._moved.get(path)

    def _text(self, id: str, known: Mapping[str, str]) -> bytes:
        return (self._draft.read(known[id]) or b"") if id in known else body(self._draft.repo, id)


def _listing(draft: Draft, folder: str = "") -> dict[str, str]:
    """Blob ids of all files of a draft but the logs."""
    found = {}
    for name, entry in list(draft.folder(folder).items()):
        path = f"{folder}/{name}" if folder else name
        if entry.mode != FOLDER:
            found[path] = entry.id
        elif not in_log(path):
            found.update(_listing(draft, path))
    return found


def tip_of(store: Store) -> str:
    """The commit of main; ``NoStoreError`` for a scope without one."""
    tip = store.repo.tip() if store.exists else None
    if tip is None:
        raise NoStoreError(store.scope)
    return tip


def _changed(repo: Repo, old: str | None, new: str, path: str) -> dict[str, tuple[str, str]]:
    """Blob ids before and after of every path that differs; those of the logs only where ``path`` is one of theirs."""
    without = () if in_log(path) else LOGS
    found = {change.path: (change.before, change.after) for change in repo.diff(old, new, without)}
    return {name: ids for name, ids in found.items() if _is_below(path, name)} if in_log(path) else found


def _is_below(folder: str, path: str | None) -> bool:
    return path is not None and (not folder or f"{path}/".startswith(f"{folder}/"))


def _blob(repo: Repo, rev: str | None, path: str) -> str:
    """The blob id of a path at a commit, NOTHING where it has no file."""
    entry = repo.entry(rev, path) if rev else None
    return NOTHING if entry is None or entry.mode == FOLDER else entry.id


def body(repo: Repo, id: str) -> bytes:
    """A blob's bytes; none for what is no blob of this repository, such as a submodule's commit."""
    found = None if id == NOTHING else repo.object(id)
    return found[1] if found and found[0] == "blob" else b""


def sure_body(repo: Repo, id: str) -> bytes:
    """A blob's bytes, for what is to be written again: one that a crash took must not pass for an empty text."""
    found = repo.object(id)
    if found is None:
        raise BrokenStoreError(f"A text of {repo.path} cannot be read ({id[:12]}).", "neosian status")
    return found[1]


def _paired(changed: Mapping[str, tuple[str, str]], text: Callable[[str], bytes]) -> list[Move]:
    """The changes by path, a path that is gone and one that came with the same or nearly the same text as one move."""
    gone = {path: before for path, (before, after) in changed.items() if after == NOTHING != before}
    come = {path: after for path, (before, after) in changed.items() if before == NOTHING != after}
    was = _likest(gone, come, text)
    left = set(was.values())
    found = []
    for path, (before, after) in sorted(changed.items()):
        if path in was:
            found.append(Move(was[path], path, gone[was[path]], after))
        elif path not in left and before != after:
            found.append(
                Move(path if before != NOTHING else None, path if after != NOTHING else None, before, after)
            )
    return found


def _likest(gone: Mapping[str, str], come: Mapping[str, str], text: Callable[[str], bytes]) -> dict[str, str]:
    """New name to old name for the texts that are most alike, each old name once."""
    compared = len(gone) * len(come) <= _PAIRS
    rows = {id: _rows(text(id)) for id in {*gone.values(), *come.values()}} if compared else {}
    scored = []
    for new, new_id in come.items():
        for old, old_id in gone.items():
            likeness = _likeness(rows[old_id], rows[new_id]) if compared else float(old_id == new_id)
            if likeness >= _ALIKE:
                same_name = old.rpartition("/")[2] == new.rpartition("/")[2]
                scored.append((-likeness, not same_name, old, new))
    found: dict[str, str] = {}
    for _, _, old, new in sorted(scored):
        if new not in found and old not in found.values():
            found[new] = old
    return found


def _rows(text: bytes) -> Counter[bytes]:
    return Counter(text.splitlines(keepends=True))


def _likeness(one: Counter[bytes], other: Counter[bytes]) -> float:
    """Which share of the longer text's bytes is in lines of both; 0 for two empty ones, which tell nothing."""
    sizes = [sum(len(row) * times for row, times in rows.items()) for rows in (one, other, one & other)]
    return sizes[2] / max(sizes[:2]) if max(sizes[:2]) else 0.0


def patch(move: Move, text: Callable[[str], bytes]) -> str:
    """One document's unified diff with git's own header, so that `git apply` takes it."""
    name_a, name_b = (
        _quoted(side + (path or ""))
        for side, path in (("a/", move.was or move.path), ("b/", move.path or move.was))
    )
    head = [f"diff --git {name_a} {name_b}"]
    if move.status == "A":
        head.append("new file mode 100644")
    elif move.status == "D":
        head.append("deleted file mode 100644")
    elif move.status == "R":
        head += [f"rename from {_quoted(move.was or '')}", f"rename to {_quoted(move.path or '')}"]
    hunks = _hunks(text(move.before), text(move.after))
    if hunks is None:
        head.append(f"Binary files {name_a} and {name_b} differ")
    elif hunks:
        head.append(f"--- {'/dev/null' if move.was is None else name_a}")
        head.append(f"+++ {'/dev/null' if move.path is None else name_b}")
    return "\n".join(head) + "\n" + (hunks or "")


def _hunks(old: bytes, new: bytes) -> str | None:
    """The hunks of a unified diff as text, without a header; None where one side is no text."""
    patch = _compared(old, new)
    if patch.delta.is_binary:
        return None
    said = patch.data
    start = said.find(b"\n@@ ")
    return said[start + 1 :].decode("utf-8", "replace") if start >= 0 else ""


def _compared(old: bytes, new: bytes, context: int = 3, *, as_text: bool = False) -> pygit2.Patch:
    """Two texts compared. The patch reads from them again when it is asked: whoever has it must hold both."""
    import pygit2  # most of what is asked of history needs no difference, and this costs as much as ten Pythons
    from pygit2.enums import DiffOption

    flags = DiffOption.INDENT_HEURISTIC | (DiffOption.FORCE_TEXT if as_text else DiffOption.NORMAL)
    return pygit2.Patch.create_from(old, new, "a", "b", flags, context)


def _quoted(path: str) -> str:
    """A path as git's headers hold it: in quotes where it has signs that would end the line or the name."""
    if path.isprintable() and not set(path) & set('"\\'):
        return path
    escaped = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t"}
    signs = (escaped.get(char) or (char if char.isprintable() else _octal(char)) for char in path)
    return f'"{"".join(signs)}"'


def _octal(char: str) -> str:
    return "".join(f"\\{byte:03o}" for byte in char.encode("utf-8", "surrogateescape"))


# lines


class Line:
    """One line of a document as it is now; ``commit`` that wrote it, None where it has not landed."""

    __slots__ = ("commit", "text")

    def __init__(self, text: str, commit: str | None) -> None:
        self.text = text
        self.commit = commit


def blame(store: Store, path: str) -> list[Line]:
    """Every line of a document as it lies in the folder, with the id of the commit that wrote it."""
    repo = store.repo
    tip = tip_of(store)
    landed = text_at(store, tip, path)
    now = _in_folder(store, path) if publish.checked_out(repo) else None
    now = landed if now is None else now
    if now is None:
        raise NoText(f"There is no document {path} in {store.scope} now.", command(store, "log", path))
    if b"\0" in now[:8000]:
        raise NoText(f"{path} is no text, so it has no lines.", command(store, "log", path))
    wrote = _written_by(repo, tip, path) if landed else []
    marks = wrote if now == landed else _carried(landed or b"", now, wrote)
    lines = now.decode("utf-8", "replace").removeprefix("\ufeff").split("\n")
    texts = [line.removesuffix("\r") for line in (lines if lines[-1] else lines[:-1])]
    return [Line(text, mark) for text, mark in zip(texts, marks, strict=True)]


def text_at(store: Store, rev: str, path: str) -> bytes | None:
    """A document's bytes at a commit, None where it has none; what is no plain file is an error."""
    entry = store.repo.entry(rev, path)
    if entry is not None and not entry.mode.startswith("100"):
        what = "a folder" if entry.mode == FOLDER else "a link or a submodule"
        raise NoText(f"{path} is {what}, not a document.", command(store, "log", path))
    return None if entry is None else sure_body(store.repo, entry.id)


def _in_folder(store: Store, path: str) -> bytes | None:
    """A document's bytes as they lie in the folder; None for what is no plain file, or lies behind a link."""
    full = os.path.join(os.path.realpath(store.path), path)
    try:
        return files.read(full) if os.path.realpath(full) == full else None
    except OSError:
        return None


def _written_by(repo: Repo, rev: str, path: str) -> list[str]:
    """The commit of every line at a revision, through renames."""
    said = repo.git("blame", "--porcelain", rev, "--", path, timeout=_LONG)
    return [found.decode() for found in re.findall(rb"^([0-9a-f]{40}) \d+ \d+(?: \d+)?$", said, re.MULTILINE)]


def _carried(old: bytes, new: bytes, marks: list[str]) -> list[str | None]:
    """The marks of the lines of an old text, for those of a new one; None where a line is new."""
    carried: list[str | None] = []
    at = 0
    for hunk in _compared(old, new, 0, as_text=True).hunks:
        start = hunk.old_start - 1 if hunk.old_lines else hunk.old_start
        carried += marks[at:start]
        carried += [None] * hunk.new_lines
        at = start + hunk.old_lines
    return carried + marks[at:]


# merging


def merge(repo: Repo, base: bytes, ours: bytes, theirs: bytes) -> tuple[bytes, str, str]:
    """Three texts merged, byte for byte; and where both sides changed the same lines, those of ours and of theirs.

    By git's own `merge-file`: pygit2 gives a merged text back as UTF-8 only. Neither index nor work tree is touched.
    """
    if any(b"\0" in text[:8000] for text in (base, ours, theirs)):
        return b"", ours.decode("utf-8", "replace"), theirs.decode("utf-8", "replace")
    collides, said = _merge_file(repo, base, ours, theirs, f"--marker-size={_MARKS}")
    return (b"", *_both_sides(said)) if collides else (said, "", "")


def merge_marked(repo: Repo, base: bytes, ours: bytes, theirs: bytes, sides: tuple[str, str]) -> bytes:
    """Three texts merged, with the marks that people know from git around what both sides changed; ``sides``: what
    stands beside the marks of ours and of theirs."""
    return _merge_file(repo, base, ours, theirs, "-L", sides[0], "-L", "base", "-L", sides[1])[1]


def _merge_file(repo: Repo, base: bytes, ours: bytes, theirs: bytes, *options: str) -> tuple[bool, bytes]:
    """What `git merge-file` makes of three texts, and whether they collide."""
    files.make_dir(repo.private)
    names = [os.path.join(repo.private, f"merge-{os.getpid()}-{side}") for side in ("ours", "base", "theirs")]
    try:
        for name, text in zip(names, (ours, base, theirs), strict=True):
            files.write(name, text)
        args = ("merge-file", "-p", "--quiet", *options, *names)
        status, said, errors = repo.start(*args, timeout=_LONG).communicate(b"")
    finally:
        for name in names:
            files.remove(name)
    if not 0 <= status < 128:
        raise GitError(args, status, errors.decode("utf-8", "replace"))
    return status != 0, said


def merge_note(repo: Repo, base: bytes, ours: bytes, theirs: bytes) -> tuple[bytes, str, str]:
    """Three texts of a document merged as `merge` does, their front matter key by key where its lines collide."""
    merged, left, right = merge(repo, base, ours, theirs)
    if not (left or right) and not _broke(merged, ours, theirs):
        return merged, "", ""
    sides = [_header_and_body(text) for text in (base, ours, theirs)]
    if not any(side[1] for side in sides):
        return merged, left, right
    keys = _merge_keys(*(side[1] for side in sides))
    text, left, right = merge(repo, *(side[3] for side in sides))
    opening, closing = next((side[0], side[2]) for side in (sides[1], sides[2], sides[0]) if side[1])
    merged = opening + b"".join((keys or {}).values()) + closing + text if keys else text
    if keys is None or left or right or _broke(merged, ours, theirs):
        return b"", ours.decode("utf-8", "replace"), theirs.decode("utf-8", "replace")
    return merged, "", ""


def _broke(merged: bytes, ours: bytes, theirs: bytes) -> bool:
    """Whether front matter cannot be read that on both sides could."""
    from neosian import matter  # YAML costs as much as ten Pythons, and a log needs none

    wrong = [bool(matter.read(documents.read(text).header)[1]) for text in (merged, ours, theirs)]
    return wrong == [True, False, False]


def _header_and_body(data: bytes) -> tuple[bytes, dict[str, bytes], bytes, bytes]:
    """A document in parts: opening fence, the lines of each key ("": above the first), closing fence, body."""
    lines, start, end = editing.header_lines(data)
    rows = [line.encode("utf-8", "surrogateescape") for line in lines]
    if not end:
        return b"", {}, b"", data
    keys: dict[str, bytes] = {}
    key = ""
    for line, row in zip(lines[start:end], rows[start:end], strict=True):
        found = _KEY.match(line)
        key = found[1].lower() if found else key
        keys[key] = keys.get(key, b"") + row
    return rows[0], keys, rows[end], b"".join(rows[end + 1 :])


def _merge_keys(
    base: dict[str, bytes], ours: dict[str, bytes], theirs: dict[str, bytes]
) -> dict[str, bytes] | None:
    """The lines of each key that the front matter is to have, in our order; None where both changed one of them."""
    merged = {}
    for key in [*ours, *(key for key in theirs if key not in ours)]:
        was, left, right = (side.get(key) for side in (base, ours, theirs))
        if left != right and was not in (left, right):
            return None
        kept = right if left == was else left
        if kept is not None:
            merged[key] = kept
    return merged


def _both_sides(said: bytes) -> tuple[str, str]:
    """What stands on either side of the conflict marks of a merged text."""
    sides: dict[bytes, list[bytes]] = {b"<": [], b"=": []}
    side = b""
    for line in said.splitlines(keepends=True):
        if line[:1] in (b"<", b"=", b">") and line[:_MARKS] == line[:1] * _MARKS:
            side = line[:1]
        elif side in sides:
            sides[side].append(line)
    ours, theirs = (b"".join(rows).decode("utf-8", "replace") for rows in sides.values())
    return ours, theirs


def command(store: Store, *words: str) -> str:
    """A command to try, which means this scope wherever it is typed."""
    return " ".join(["neosian", *map(quote, words), "--scope", quote(store.scope)])
