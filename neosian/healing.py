"""Mending a repository after a crash of the machine: objects that never reached the disk, refs left empty.

Landings are not synced one by one; the turns themselves are, in `spool/landed`, until a pack holds them. So main
goes back to its newest whole commit, and what landed since then lands again from there.
"""

from __future__ import annotations

import os
import re
import time
import zlib

from neosian import files, publish, recording, turns
from neosian.draft import Draft
from neosian.errors import BrokenStoreError, GitError
from neosian.journal import Journal, Note, read
from neosian.plumbing import MAIN, NOTHING, Change, Repo, object_id
from neosian.store import Store

_ID = re.compile(r"[0-9a-f]{40}")
_CANDIDATES = 500
_DAMAGE = (
    "missing", "corrupt", "bad object", "bad tree", "not a tree", "not a commit", "nable to read", "ould not read",
    "annot read", "is empty", "loose object", "inflate",
)  # fmt: skip
"""What git says of objects that are gone or damaged."""
_QUICK = 16 * 1024 * 1024


def is_quick(repo: Repo) -> bool:
    """Whether mending takes about as long as a landing: every commit is looked through, so packs must be small."""
    folder = os.path.join(repo.git_dir, "objects", "pack")
    return sum(os.stat(os.path.join(folder, name)).st_size for name in files.names(folder)) < _QUICK


def heal(store: Store, journal: Journal, machine: str) -> str:
    """Set main to its newest whole commit and land again what came after; says what was done.

    Damaged objects are moved to `.git/neosian/damaged`, never removed. Raises BrokenStoreError when no commit
    of main is whole.
    """
    with store.lock():
        store.repo.close()
        _move_bad_settings(store.repo)
        store.frame()
        moved = _move_damaged(store.repo)
        old = _named(store.repo)
        tip = _newest_whole(store.repo)
        if tip is None:
            raise BrokenStoreError(
                f"No commit of {store.path} is whole any more; its files are as they were, and what comes next waits.",
                "git -C " + store.path + " fsck",
            )
        _forget_damaged(store.repo)
        if tip != old:
            files.write(os.path.join(store.repo.git_dir, MAIN), tip.encode() + b"\n", sync=True)
            files.remove(os.path.join(store.repo.private, "recent"))
        if tip != old or not store.repo.index_is_whole():
            _show(store.repo, tip)
    again = _land_again(store, journal, machine)
    return (
        f"{store.scope}: {moved} damaged objects set aside, main at {tip[:12]}, {again} turns landed again."
    )


def _move_bad_settings(repo: Repo) -> None:
    """Move aside settings that git cannot read: with them it does nothing at all in the repository."""
    path = os.path.join(repo.git_dir, "config")
    _, _, errors = repo.start("config", "--file", path, "--list").communicate(b"")
    if b"bad config" in errors:
        files.make_dir(os.path.join(repo.private, "damaged"))
        os.replace(path, os.path.join(repo.private, "damaged", f"config-{time.time_ns()}"))


def _move_damaged(repo: Repo) -> int:
    """Move aside loose objects whose bytes are not what their names promise."""
    objects = os.path.join(repo.git_dir, "objects")
    moved = 0
    for folder in files.names(objects):
        for name in files.names(os.path.join(objects, folder)) if len(folder) == 2 else ():
            path = os.path.join(objects, folder, name)
            if len(name) == 38 and not _is_whole(path, folder + name):
                files.make_dir(os.path.join(repo.private, "damaged"))
                os.replace(path, os.path.join(repo.private, "damaged", folder + name))
                moved += 1
    return moved


def _is_whole(path: str, id: str) -> bool:
    try:
        head, _, body = zlib.decompress(files.read(path) or b"").partition(b"\0")
    except zlib.error:
        return False
    return object_id(head.split(b" ")[0].decode("ascii", "replace"), body) == id


def _named(repo: Repo) -> str | None:
    try:
        return repo.tip()
    except BrokenStoreError:
        return None


def _newest_whole(repo: Repo) -> str | None:
    """The newest commit main ever named of which everything can be read."""
    named = [
        _named(repo) or "",
        (files.read(os.path.join(repo.git_dir, MAIN + ".lock")) or b"").decode("ascii", "replace"),
    ]
    for line in reversed(list(files.lines(os.path.join(repo.git_dir, "logs", MAIN)))[-_CANDIDATES:]):
        old, _, rest = line.partition(" ")
        named += [rest.partition(" ")[0], old]
    for commit in dict.fromkeys(name.strip() for name in named):
        if _ID.fullmatch(commit) and commit != NOTHING and _reaches_all(repo, commit):
            return commit
    return None


def _reaches_all(repo: Repo, commit: str) -> bool:
    """Whether everything a commit needs is there. Only git's own word that it is not counts: a git that could not
    run, or took too long, proves nothing, and main is not moved back on a guess."""
    try:
        repo.git("rev-list", "--objects", "--quiet", commit, timeout=60.0)
    except GitError as error:
        if not any(word in error.detail for word in _DAMAGE):
            raise
        return False
    return True


def _forget_damaged(repo: Repo) -> None:
    """Take the rows out of the reflogs that name commits which are gone: git calls them invalid for ever."""
    for name in (MAIN, "HEAD"):
        path = os.path.join(repo.git_dir, "logs", name)
        rows = (files.read(path) or b"").splitlines(keepends=True)
        known = {id: _is_known(repo, id) for row in rows[-100:] for id in row.split(b" ", 2)[:2]}
        kept = [row for row in rows if all(known.get(id, True) for id in row.split(b" ", 2)[:2])]
        if len(kept) < len(rows):
            files.write(path, b"".join(kept))


def _is_known(repo: Repo, id: bytes) -> bool:
    """Whether a commit that a reflog names is there, with its tree and all trees and files of that."""
    name = id.decode("ascii", "replace")
    if name == NOTHING:
        return True
    if not _ID.fullmatch(name) or repo.object(name) is None:
        return False
    return repo.succeeds("rev-list", "--objects", "--quiet", "-n", "1", name)


def _show(repo: Repo, tip: str) -> None:
    """Have index and logs of the work tree show ``tip``; what lay there is kept aside. Documents stay as they are."""
    index = os.path.join(repo.git_dir, "index")
    files.remove(index)
    repo.git("read-tree", tip, index=index, timeout=30.0)
    for change in _differing_logs(repo, tip):
        path = os.path.join(repo.path, change.path)
        held = files.read(path)
        if held is not None:
            files.make_dir(os.path.join(repo.private, "damaged"))
            files.write(os.path.join(repo.private, "damaged", object_id("blob", held)), held)
        if change.after == NOTHING:
            files.remove(path)
        elif body := repo.object(change.after):
            files.make_dir(os.path.dirname(path))
            files.write(path, body[1], scratch=repo.private)


def _differing_logs(repo: Repo, tip: str) -> list[Change]:
    wanted = {path: blob for top in publish.LOGS for path, blob in repo.ls(tip, top + "/")}
    here: set[str] = set()
    for top in publish.LOGS:
        for folder, _, names in os.walk(os.path.join(repo.path, top)):
            here |= {os.path.relpath(os.path.join(folder, name), repo.path) for name in names}
    changes = [
        Change("M", path, publish.work_tree_id(repo, path), wanted.get(path, NOTHING))
        for path in here | set(wanted)
    ]
    return [change for change in changes if change.before != change.after]


def _land_again(store: Store, journal: Journal, machine: str) -> int:
    """Land what the journal keeps and main does not hold."""
    notes = [note for path in journal.kept(os.path.basename(store.path)) if (note := read(path)) is not None]
    again = 0

    def change(draft: Draft) -> None:
        nonlocal again
        again = 0
        for note in notes:
            span = _missing(draft, note)
            if span is not None:
                recording.add(draft, note.day, machine, span)
                again += 1

    store.write(change, patience=5.0)
    return again


def _missing(draft: Draft, note: Note) -> recording.Span | None:
    """What of one kept landing its conversation's log lacks."""
    paths = recording.segments(draft, note.day, note.client, note.session)
    there = {row for path in paths for row in (draft.read(path) or b"").splitlines(keepends=True)}
    lines, _ = turns.parse_lines(b"".join(row for row in note.lines if row not in there))
    if not lines:
        return None
    header = next((line for line in reversed(lines) if line["kind"] == "turn"), {})
    return recording.Span(
        note.client, note.session, note.turn, lines, actor=str(header.get("actor") or f"{note.client}:{note.session}"),
        at=turns.seconds(str(lines[-1]["at"])), state=str(header.get("state") or turns.DONE),
        late=any(b'"turn":%d,' % note.turn in row for row in there),
    )  # fmt: skip
