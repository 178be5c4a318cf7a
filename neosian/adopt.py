"""Adoption: what people and agents changed in the folder with other tools, committed under their own name."""

from __future__ import annotations

import os
import time

from neosian import files, publish
from neosian.child import git_program, spawn
from neosian.decoding import decoded
from neosian.documents import is_document, is_of_skill
from neosian.draft import Draft, Signature
from neosian.errors import GitError
from neosian.plumbing import FOLDER, NOTHING, Entry, Repo, object_id
from neosian.publish import LOGS
from neosian.store import agent, committer, message

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SETTLED = 2.0
"""Seconds of quiet before a change counts as saved rather than being saved."""

_NAMED = 3  # places of secrets that are named
SECRET, SECRET_NAME, UNREADABLE = "holds a secret", "has a secret in its name", "cannot be read"
"""Why an edit waits."""

_WAITING = "waiting"
_LOOKED = "looked"
_SKILL_FILE_MOST = 1_000_000  # bytes of a skill's other file that are kept


class Edit:
    """One path changed in the work tree at ``changed``: its new bytes, or None when it is gone.

    ``theirs``: staged otherwise than it lies in the folder, so a person is about to commit it.
    ``unreadable``: a file, or a folder, that we have no right to read.
    """

    __slots__ = ("changed", "data", "path", "settled", "theirs", "unreadable")

    def __init__(self, path: str, data: bytes | None, changed: float, now: float) -> None:
        self.path = path
        self.data = data
        self.changed = changed
        self.settled = abs(now - changed) > SETTLED
        self.theirs = False
        self.unreadable = False

    def why_it_waits(self) -> str:
        """Why this must not reach git, "" where it may."""
        from neosian.redact import path_is_clean  # only where something was edited

        if self.unreadable:
            return UNREADABLE
        if self.data is None:
            return ""
        return SECRET_NAME if not path_is_clean(self.path) else SECRET if holds_secret(self.data) else ""


def adopt(draft: Draft, named_by: Callable[[str, float], str | None], now: float | None = None) -> list[str]:
    """Commit to ``draft`` every settled edit of a document, one commit for each who made them.

    ``named_by`` tells the actor (`claude-code:9f…#3`) whose own tool call names an absolute path and ran when it
    changed (seconds since 1970), None for a person's edit. An agent's edit is settled as soon as its call ended.
    What holds a secret or cannot be read waits and is named in `waiting`. Nothing is adopted while another branch is
    checked out or a merge is under way.
    """
    repo = draft.repo
    if draft.base is None or not is_time(repo):
        return []
    began = time.time()
    by_actor: dict[str, list[Edit]] = {}
    waiting = {}
    left = 0
    edits = list(unlanded(draft, began if now is None else now))
    _settle_renames(draft, edits)
    for edit in edits:
        actor = named_by(os.path.join(os.path.realpath(repo.path), edit.path), edit.changed) or ""
        if edit.theirs or not (edit.settled or actor):
            left += 1
        elif why := edit.why_it_waits():
            waiting[edit.path] = why
        else:
            by_actor.setdefault(actor, []).append(edit)
    _note_waiting(repo, waiting)
    _note_looked(repo, not (left or waiting or by_actor), began)
    adopted = []
    for actor, edits in sorted(by_actor.items()):
        for edit in edits:
            draft.delete(edit.path) if edit.data is None else draft.put(edit.path, edit.data)
            adopted.append(edit.path)
        at = time.time()
        author = agent(actor.partition("#")[0], at) if actor else person(at)
        trailers = {"Neosian-Act": "edit", "Neosian-Actor": actor or author.name}
        subject, body = _told(edits)
        draft.commit(message(subject, trailers, body), author, committer())
    return adopted


def is_time(repo: Repo) -> bool:
    """Whether there may be something to adopt now: a cheap look, without git."""
    return publish.checked_out(repo) and not publish.merging(repo) and looks_changed(repo)


def _settle_renames(draft: Draft, edits: list[Edit]) -> None:
    """Let both halves of a rename wait for each other: a moved file keeps its old time, the deletion has a new one."""
    moving = {
        entry.id
        for edit in edits
        if edit.data is None and not edit.settled and (entry := draft.entry(edit.path)) is not None
    }
    for edit in edits if moving else ():
        if edit.data is not None and object_id("blob", edit.data) in moving:
            edit.settled = False


def looks_changed(repo: Repo) -> bool:
    """A cheap look, without git: whether a document or a folder of documents changed since the last whole one.

    By the time of the last change of the inode, which no copy and no unpacking sets back.
    """
    try:
        since = os.stat(os.path.join(repo.private, _LOOKED)).st_mtime - SETTLED - 1
        folders = [repo.path]
        while folders:
            folder = folders.pop()
            if os.stat(folder).st_ctime >= since:
                return True
            with os.scandir(folder) as entries:
                for entry in entries:
                    if entry.name.startswith(".") or (folder == repo.path and entry.name in LOGS):
                        continue
                    if entry.is_dir(follow_symlinks=False):
                        folders.append(entry.path)
                    elif entry.stat(follow_symlinks=False).st_ctime >= since:
                        return True
    except OSError:
        return True
    return False


def _note_looked(repo: Repo, whole: bool, began: float) -> None:
    """Remember when the folder was last looked through with nothing left over."""
    marker = os.path.join(repo.private, _LOOKED)
    if whole:
        files.write(marker, b"")
        os.utime(marker, (began, began))
    else:
        files.remove(marker)


def waiting(repo: Repo) -> dict[str, str]:
    """Paths of edits that were not adopted at the last landing, and why: a phrase that goes on after the path."""
    rows = os.fsdecode(files.read(os.path.join(repo.private, _WAITING)) or b"").split("\0")[:-1]
    return {path: why for why, tab, path in (row.partition("\t") for row in rows) if tab}


def told_waiting(repo: Repo, path: str, why: str) -> tuple[str, str]:
    """The sentence that names an edit which waits, and what helps; neither holds the secret."""
    from neosian.redact import redact_path

    shown, full = redact_path(path), os.path.join(repo.path, path)
    helps = {SECRET: f"open {full} in an editor", UNREADABLE: f"ls -ld {full}"}.get(why, "")
    if why == SECRET and (found := why_waiting(repo, path)):
        told = f"{shown} in {repo.path} is not committed: {found}."
    else:
        told = f"{shown} in {repo.path} {why}, so it is not committed."
    return (
        told,
        helps if shown == path else "rename it",
    )


def why_waiting(repo: Repo, path: str) -> str:
    """Why a saved document waits, in words that let a person find it and tell no secret; "" for no reason."""
    from neosian.redact import found_in_document

    try:
        data = files.read(os.path.join(repo.path, path))
    except OSError as error:
        return f"it cannot be read ({error.strerror})"
    found = found_in_document(decoded(data or b""))
    named = dict.fromkeys(
        f"line {line} is <private>" if kind == "private" else f"line {line} holds a secret ({kind})"
        for line, kind in found
    )
    more = f", and {len(named) - _NAMED} more" if len(named) > _NAMED else ""
    return ", ".join([*named][:_NAMED]) + more


def saved(repo: Repo) -> list[str]:
    """Documents of the folder that are saved and not committed yet, by path, those that wait among them; none where
    nothing is adopted now."""
    tip = repo.tip() if is_time(repo) else None
    return sorted(edit.path for edit in unlanded(Draft(repo, tip), time.time())) if tip else []


def person(at: float) -> Signature:
    """The person at this machine: their global git identity, else the login name."""
    login = login_name()
    name = _global_setting("user.name") or login
    return Signature(name, _global_setting("user.email") or f"{login}@localhost", at)


def login_name() -> str:
    """The login of who runs this process."""
    try:
        import pwd

        return pwd.getpwuid(os.getuid()).pw_name
    except (ImportError, KeyError):
        return os.environ.get("USERNAME") or os.environ.get("USER") or "user"


def _global_setting(key: str) -> str:
    try:
        # From where there is surely a folder: the caller's own may be gone, and git cannot start there.
        command = [git_program(), "-C", os.sep, "config", "--global", "--get", key]
        child = spawn(command, dict(os.environ), 2.0)
        return child.communicate(b"")[1].decode("utf-8", "replace").strip()
    except GitError:
        return ""


def _told(edits: list[Edit]) -> tuple[str, str]:
    """Subject and body of the commit of these edits. A document with a secret in its name can still be deleted."""
    from neosian.redact import redact_path  # only where something was edited

    paths = [redact_path(edit.path) for edit in edits]
    if len(paths) > 1:
        return f"Edit {len(paths)} documents", "\n".join(f"- {path}" for path in paths)
    return f"{'Delete' if edits[0].data is None else 'Edit'} {paths[0]}", ""


def holds_secret(data: bytes) -> bool:
    """Whether a document holds what must not reach git."""
    from neosian.redact import redact_document

    # Both, since a file may say of itself that it is UTF-16 and not be.
    texts = {decoded(data), data.decode("utf-8", "replace").replace("\0", "")}
    return any(redact_document(text) != text for text in texts)


def _note_waiting(repo: Repo, reasons: dict[str, str]) -> None:
    where = os.path.join(repo.private, _WAITING)
    if reasons:
        files.write(where, os.fsencode("".join(f"{why}\t{path}\0" for path, why in reasons.items())))
    else:
        files.remove(where)


def unlanded(draft: Draft, now: float) -> Iterator[Edit]:
    """What the work tree changed against the draft: tracked files but the logs, and new documents."""
    repo = draft.repo
    changed = _tracked_changes(repo)
    staged = _staged(draft, changed) if changed else set()
    for path in changed:
        if not same_as_main(draft, path):
            for edit in _edit(repo, path, now):
                edit.theirs = path in staged
                yield edit
    new = list(_new_documents(draft, ""))
    about_to_be_committed = publish.index_entries(repo, new)
    for path in new:
        for edit in _edit(repo, path, now):
            edit.theirs = path in about_to_be_committed
            yield edit


def not_landed(draft: Draft, paths: list[str]) -> list[str]:
    """Of these paths those where the folder, or git's index, holds what the draft does not: a commit over it would
    lose one of the two. None while another branch is checked out."""
    repo = draft.repo
    if not publish.checked_out(repo):
        return []
    staged = publish.index_entries(repo, paths)
    found = []
    for path in paths:
        entry, landed = draft.entry(path), repo.entry(draft.base, path) if draft.base else None
        known = [each.id if each and each.mode != FOLDER else NOTHING for each in (entry, landed)]
        is_out = not publish.in_reach(repo, path)  # a file of somebody's lies where a folder would have to be
        if is_out or publish.work_tree_id(repo, path) != known[0] or staged.get(path, NOTHING) not in known:
            found.append(path)
    return found


def _edit(repo: Repo, path: str, now: float) -> Iterator[Edit]:
    full = os.path.join(repo.path, path)
    try:
        found = os.lstat(full)
        if _is_shut(full):
            raise PermissionError
        data = files.read(full) if os.path.isfile(full) and not os.path.islink(full) else None
    except (FileNotFoundError, NotADirectoryError):
        yield Edit(path, None, _folder_changed(os.path.dirname(full)), now)
    except OSError:  # somebody else's, or made unreadable: it waits, the landing does not
        edit = Edit(path, b"", 0.0, now)
        edit.unreadable = True
        yield edit
    else:
        if data is not None and publish.in_reach(repo, path):
            yield Edit(path, data, found.st_mtime, now)


def _is_shut(path: str) -> bool:
    """Whether this is a folder into which we cannot look."""
    is_folder = os.path.isdir(path) and not os.path.islink(path)
    return is_folder and not os.access(path, os.R_OK | os.X_OK)


def _folder_changed(folder: str) -> float:
    """When a folder last changed, or the nearest one above it that is still there."""
    while not os.path.isdir(folder):
        folder = os.path.dirname(folder)
    return os.stat(folder).st_mtime


def _tracked_changes(repo: Repo) -> list[str]:
    """Tracked paths whose file differs from git's index, by git's own look at stat data."""
    limits = ("--", ".", *(f":(exclude){name}" for name in LOGS))
    said = repo.git("diff-files", "--name-only", "-z", *limits)
    return [os.fsdecode(path) for path in said.split(b"\0")[:-1]]


def _staged(draft: Draft, paths: list[str]) -> set[str]:
    """Of these paths those whose index entry is not what main has."""
    held = publish.index_entries(draft.repo, paths)
    different = set()
    for path in paths:
        entry = draft.entry(path)
        if held.get(path) != (entry.id if entry else None):
            different.add(path)
    return different


def _new_documents(draft: Draft, below: str) -> Iterator[str]:
    """Documents that main does not have, and those put into main's place after a staged deletion; and folders into
    which we cannot look."""
    known: dict[str, Entry] = draft.folder(below)
    try:
        entries = sorted(os.scandir(os.path.join(draft.repo.path, below)), key=lambda entry: entry.name)
    except PermissionError:
        if below:
            yield below
        return
    except OSError:
        return
    for entry in entries:
        path = f"{below}/{entry.name}" if below else entry.name
        if entry.name.startswith(".") or path in LOGS:
            continue
        here = known.get(entry.name)
        if entry.is_dir(follow_symlinks=False):
            if here is None or here.mode == FOLDER:
                yield from _new_documents(draft, path)
        elif here is None and _is_kept(path, entry):
            yield path


def _is_kept(path: str, entry: os.DirEntry[str]) -> bool:
    """Whether a new file is one that belongs into git: a document, or another file of a skill's folder."""
    if not entry.is_file(follow_symlinks=False):
        return False
    return is_document(path) or (
        is_of_skill(path) and entry.stat(follow_symlinks=False).st_size <= _SKILL_FILE_MOST
    )


def same_as_main(draft: Draft, path: str) -> bool:
    """Whether the folder's file is what main has, before the draft's own commits (both missing counts)."""
    entry = draft.repo.entry(draft.base, path) if draft.base else None
    return publish.work_tree_id(draft.repo, path) == (entry.id if entry else NOTHING)
