"""The projects of a home: listed, renamed, two made one, and followed to where their folder went.

Which project is which stands in `projects.toml`, a person's file: it is edited as text, and what comes out is read
again before it is written.
"""

from __future__ import annotations

import itertools
import os
import re
import shutil
import time
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from shlex import quote

from neosian import adopt, config, files, history, paths, projects, publish, scope, switch, turns
from neosian.adopting import Adopter
from neosian.draft import Draft, Signature
from neosian.dream import alone, review, run
from neosian.errors import BusyError, DamagedError, NeosianError, UsageError
from neosian.index import Index
from neosian.journal import Journal
from neosian.landing import Lander
from neosian.plumbing import FILE as PLAIN
from neosian.plumbing import FOLDER, MAIN, NOTHING, PROGRAM, Change, Entry, Repo
from neosian.projects import FILE, open_store
from neosian.store import ATTRIBUTES, Lock, Store, committer, message, scope_page

_PATIENCE = 10.0  # seconds: a person waits for it
_FETCHING = 600.0
_LONGEST = 80  # characters of a name
_NAMED = 5  # paths that are named one by one
_FETCHED = "refs/neosian/merging/"
_GONE = "merged-"  # how the names of merged projects' folders begin, in the cache
_PASSING = ("neosian/merging/", "neosian/next")  # refs of an act that is over
_BY_ID = tuple(each.removeprefix("refs/") for each in (review.REVIEW, publish.GIVEN_UP))
_TOKEN = re.compile(
    r"(?P<comment>\#[^\n]*)|(?P<key>(?:\bslug|\"slug\"|'slug')\s*=\s*)?"
    r'(?P<text>"""(?:[^\\]|\\.)*?"""|\'\'\'.*?\'\'\'|"(?:[^"\\\n]|\\.)*"|\'[^\'\n]*\')',
    re.S,
)


@dataclass
class Project:
    """One project as `list` tells of it; ``here`` are its folders on this machine, ``off`` whether it is switched off.

    ``turns``, ``documents`` and ``last`` (seconds since 1970) are None where nothing was recorded or can be read.
    """

    name: str
    scope: str
    identities: list[str]
    here: list[str]
    off: bool
    turns: int | None = None
    documents: int | None = None
    last: float | None = None

    def json(self) -> dict[str, object]:
        """The fields that `--json` prints."""
        return {**self.__dict__, "last": turns.stamp(self.last) if self.last else None}


@dataclass
class Merged:
    """What became of two projects that are one now. ``both``: documents that both had, in different words, each with
    the path at which the source's is kept; ``commit``: the merge, None where there was nothing to merge; ``remotes``:
    the source's, with their addresses, which do not come along."""

    commit: str | None = None
    both: dict[str, str] = field(default_factory=dict)
    merged: list[str] = field(default_factory=list)
    adopted: list[str] = field(default_factory=list)
    remotes: dict[str, str] = field(default_factory=dict)


def listed(home: str) -> list[Project]:
    """Every project that is registered or remembered, by name."""
    known = projects.known(home)
    found = []
    for name in projects.slugs(home):
        identities = sorted(known.get(name, ()))
        folders = [each for each in identities if each.startswith("/") and os.path.isdir(each)]
        is_off = any(switch.is_project_off(home, each) for each in folders)
        project = Project(name, f"{scope.user_scope()}/proj:{name}", identities, folders, is_off)
        _count(project, open_store(home, project.scope))
        found.append(project)
    return found


def _count(project: Project, store: Store) -> None:
    if not store.exists:
        return
    try:
        with Index.open(store.cache) as index:
            index.catch_up(store.repo, None)
            counts = index.counts()
            project.turns, project.documents = counts["turns"], counts["documents"]
            last = index.commits(act="record", limit=1)
            project.last = last[0].at if last else None
    except (NeosianError, OSError):
        return  # `neosian status` tells of it
    finally:
        store.repo.close()


# rename ------------------------------------------------------------------------------------------


def rename(home: str, old: str, new: str, person: Signature) -> str:
    """Give a project another name: in the register, and its scope's folder with all that is kept for it. The new name.

    One that was cut off is finished when it is asked for again.
    """
    name = _new_name(new)
    begin = f"{scope.user_scope()}/proj:"
    store, becomes = open_store(home, begin + old), open_store(home, begin + name)
    known = projects.known(home)
    is_half_done = projects.is_half_renamed(store, becomes)
    if not is_half_done:
        projects.scope_of(home, old)  # refuses a name that nothing has
        if name == old:
            raise UsageError(f"{old} is called so already.", "neosian project list")
        if becomes.exists or (name in known and old in known):
            raise UsageError(
                f"There is a project {name} already. To make the two one: see the command below.",
                f"neosian project merge {old} {name}",
            )
    with _alone(home):
        if old in known:
            _edit_register(home, person, f"Rename project {old} to {name}", slugs={old: name})
        if store.exists or is_half_done:
            projects.rename_scope(home, store, becomes)
    return name


def _new_name(text: str) -> str:
    name = scope.slug(text)[:_LONGEST].strip("-")
    if not name or name != text:
        better = f"neosian project rename OLD {name}" if name else "neosian project list"
        raise UsageError(
            f"{text!r} cannot be a project's name: up to {_LONGEST} letters in lower case, digits and dashes.",
            better,
        )
    return name


# move --------------------------------------------------------------------------------------------


def move(home: str, which: str, folder: str, person: Signature) -> tuple[str, str, str]:
    """Have a project known by its new ``folder`` instead of the one it left; ``which`` is its name or the folder it
    left. Its name, that folder ("" where it is known by remotes only), and the new one."""
    root = _root(folder)
    name, old = _left(home, which)
    found = projects.find(home, root)
    new = found.identities[-1]
    known = projects.known(home)
    if found.slug != name and known.get(found.slug, set()) & set(found.identities):
        raise UsageError(
            f"{root} belongs to the project {found.slug} already; nothing was changed. Are the two one?",
            f"neosian project merge {found.slug} {name}",
        )
    if new == old:
        raise UsageError(f"{name} is known by {root} already.", "neosian project list")
    if old and os.path.isdir(old):
        raise UsageError(
            f"{old} is still there, so {name} did not move. Move its folder first.", f"mv {old} {root}"
        )
    with _alone(home):
        if name not in known:
            _edit_register(home, person, f"Register project {name}", added=(name, new))
        elif old:
            _edit_register(home, person, f"Move project {name} to {new}", moved={old: new})
        elif new not in known[name]:
            _edit_register(home, person, f"Move project {name} to {new}", added=(name, new))
        switch.move_project(home, old, root)
        store = open_store(home, projects.scope_of(home, name))
        if store.exists:
            projects.note_identities(store, projects.find(home, root))
    return name, old, root


def _root(folder: str) -> str:
    """The root of the project in a folder."""
    if not os.path.isdir(folder):
        raise UsageError(
            f"{folder} is no folder. Move the project's folder first, then say so.", "neosian project list"
        )
    root = scope.project_root(os.path.abspath(folder))
    if root is None:
        raise UsageError(f"{folder} can be no project.", "neosian project list")
    return root


def _left(home: str, which: str) -> tuple[str, str]:
    """The project that is meant, and the folder that it left; "" where it is known by remotes only."""
    known = projects.known(home)
    if os.sep not in which:
        projects.scope_of(home, which)  # refuses a name that nothing has
        gone = sorted(each for each in known.get(which, ()) if each.startswith("/"))
        gone = [each for each in gone if not os.path.isdir(each)] or gone
        if len(gone) > 1:
            raise UsageError(
                f"{which} is known by {len(gone)} folders: {', '.join(gone)}. Which did it leave?",
                f"neosian project move {gone[0]} NEW-FOLDER",
            )
        return which, gone[0] if gone else ""
    full = os.path.abspath(which)
    for path in (scope.identity(full), scope.identity(os.path.realpath(full))):
        for name, identities in known.items():
            if path in identities:
                return name, path
    raise UsageError(f"No project is known by the folder {which}.", "neosian project list")


# merge -------------------------------------------------------------------------------------------


def merge(home: str, source: str, target: str, person: Signature) -> Merged:
    """Make one project of two: ``target`` gets all turns and documents of ``source``, with both histories, and is known
    by the identities of both. What cannot be told apart from its own is never overwritten.
    """
    _sweep(home)
    texts = projects.scope_of(home, source), projects.scope_of(home, target)
    if source == target:
        raise UsageError("A project cannot be merged with itself.", "neosian project list")
    theirs, ours = (open_store(home, text) for text in texts)
    done = Merged()
    said, slugs = f"Merge project {source} into {target}", {source: target}
    with _alone(home):
        is_known = source in projects.known(home)
        if is_known:
            _check_register(home, slugs)
        if theirs.exists:
            done.adopted = _adopted(home, (theirs, ours))
            _check_source(theirs)
            done.remotes = _remotes(theirs.repo)
            if ours.exists:
                _join(theirs, ours, source, person, done)
            else:
                projects.rename_scope(home, theirs, ours)
        elif projects.is_half_renamed(theirs, ours):
            projects.rename_scope(home, theirs, ours)
        with _done_so_far(source, ours):
            if is_known:
                _edit_register(home, person, said, slugs=slugs)
            if theirs.exists:
                _remove(home, theirs, ours)
    return done


def _remotes(repo: Repo) -> dict[str, str]:
    """The remotes of a scope, with their addresses, without what would let somebody in there."""
    from neosian.redact import redact

    said = os.fsdecode(repo.git("config", "--local", "-z", "--get-regexp", r"^remote\..*\.url$", check=False))
    found = {}
    for row in said.split("\0")[:-1]:
        key, _, url = row.partition("\n")
        found[key[len("remote.") : -len(".url")]] = scope.normal_url(url) or redact(url)
    return found


def _adopted(home: str, stores: Sequence[Store]) -> list[str]:
    adopter = Adopter(home)
    found: list[str] = []
    for store in stores:
        if store.exists:
            if not store.is_sound():
                raise DamagedError(store.path)
            found += adopter.adopt_now(store, patience=_PATIENCE)
            store.write(lambda draft: None, patience=_PATIENCE)  # what a killed writer left is finished
    return found


def _check_source(store: Store) -> None:
    """Refuse where something of a scope would not come along: its folder goes."""
    repo, where = store.repo, store.path
    if not publish.checked_out(repo) or publish.merging(repo):
        raise NeosianError(
            f"Another branch is checked out in {where}, or a merge is under way. Nothing was merged.",
            f"git -C {where} status",
        )
    said = repo.git("status", "--porcelain", "-z", "--untracked-files=all", "--ignored", timeout=60.0)
    left = [os.fsdecode(row)[3:] for row in said.split(b"\0") if row]
    if left:
        raise NeosianError(
            f"{where} holds what is not committed: {_named(left)}. Nothing was merged. What was saved just now is"
            " committed in two seconds; for other files see the status.",
            f"git -C {where} status",
        )
    if repo.ref("refs/stash"):
        raise NeosianError(
            f"A stash of yours lies in {where}. Nothing was merged.", f"git -C {where} stash list"
        )
    _check_files(store)
    if trees := files.names(os.path.join(repo.git_dir, "worktrees")):
        raise NeosianError(
            f"{where} has a work tree elsewhere ({_named(trees)}), which would lose its repository. Nothing was"
            " merged.",
            f"git -C {quote(where)} worktree list",
        )
    if inner := files.names(os.path.join(repo.git_dir, "modules")):
        raise NeosianError(
            f"{where} keeps submodules ({_named(inner)}), which cannot be merged. Nothing was merged.",
            f"ls {quote(os.path.join(repo.git_dir, 'modules'))}",
        )
    if repo.refs(run.DREAM):
        raise NeosianError(f"A dream of {store.scope} was cut off. Nothing was merged.", "neosian dream")


def _check_files(store: Store) -> None:
    """Refuse what main holds besides files: a repository in the folder would go with it, with all its commits."""
    repo = store.repo
    odd = [path for path, mode in _modes(repo) if mode not in (PLAIN, PROGRAM)]
    if odd:
        raise NeosianError(
            f"{store.path} holds links, or repositories of their own, and these cannot be merged: {_named(odd)}."
            " Nothing was merged. Put them elsewhere, and commit that.",
            f"git -C {quote(store.path)} rm --cached {quote(odd[0])}",
        )


def _modes(repo: Repo) -> Iterator[tuple[str, str]]:
    """Path and mode of whatever main holds."""
    for row in repo.git("ls-tree", "-r", "-z", "--full-tree", MAIN, timeout=60.0).split(b"\0")[:-1]:
        about, _, path = row.partition(b"\t")
        yield os.fsdecode(path), about[:6].decode()


def _named(paths_: Sequence[str]) -> str:
    more = f" and {len(paths_) - _NAMED} more" if len(paths_) > _NAMED else ""
    return ", ".join(paths_[:_NAMED]) + more


def _label(name: str) -> str:
    """A project's name as a part of refs and paths: a scope may hold signs that these do not take."""
    return scope.slug(name).encode()[:_LONGEST].decode("utf-8", "ignore").strip("-") or "project"


def _join(theirs: Store, ours: Store, source: str, person: Signature, done: Merged) -> None:
    """Merge one scope's main into another's, and bring whatever else its refs name along."""
    label = _label(source)
    try:
        ours.repo.git(
            "fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--prune", theirs.path,
            f"+refs/*:{_FETCHED}*", timeout=_FETCHING,
        )  # fmt: skip
        tip = ours.repo.ref(f"{_FETCHED}heads/main") or ""

        def change(draft: Draft) -> None:
            done.commit, done.both, done.merged = None, {}, []
            _merge_into(ours, draft, tip, theirs.scope, label, person, done)

        ours.write(change, patience=_PATIENCE)
        with _done_so_far(source, ours):
            _keep_refs(ours.repo, label)
    finally:
        ours.repo.close()
        theirs.repo.close()


@contextmanager
def _done_so_far(source: str, ours: Store) -> Iterator[None]:
    """Have an error that comes after the merge say so: it is in main, and the same command goes on from there."""
    try:
        yield
    except NeosianError as error:
        why = projects.HELD if isinstance(error, BusyError) else error
        raise NeosianError(
            f"The turns and documents of {source} are in {ours.path} now, but {source} is still there: {why} Then"
            " merge once more.",
            error.hint,
        ) from error


def _keep_refs(repo: Repo, label: str) -> None:
    """Give the refs that came along names of their own, none of which is taken, and let the fetched ones go."""
    there = {name: id for name, id in repo.refs("refs/").items() if not f"refs/{name}".startswith(_FETCHED)}
    came = repo.refs(_FETCHED)
    wanted = {name: id for name, id in came.items() if name != "heads/main" and not name.startswith(_PASSING)}
    for number in itertools.count(1):
        numbered = label if number == 1 else f"{label}-{number}"
        named = {_name_of_its_own(there, name, id, numbered): id for name, id in wanted.items()}
        if all(_is_free(there, name, id) for name, id in named.items()):
            break
    gone = [(_FETCHED + name, NOTHING, id) for name, id in came.items()]
    repo.update_refs([*gone, *((f"refs/{name}", id, there.get(name, NOTHING)) for name, id in named.items())])


def _name_of_its_own(there: Mapping[str, str], name: str, id: str, label: str) -> str:
    """A ref's name in the other project, without `refs/`: `heads/idea` becomes `heads/shop/idea`."""
    if name.startswith(_BY_ID):  # who asks for these knows their names
        return name if _is_free(there, name, id) else f"{name}-{label}"
    kind, slash, rest = name.partition("/")
    return f"{kind}/{label}/{rest}" if slash else f"kept/{label}/{name}"


def _is_free(there: Mapping[str, str], name: str, id: str) -> bool:
    """Whether a ref can have a name: it has it already, or no other ref is it, nor lies above or below it."""
    if name in there:
        return there[name] == id
    above = name
    while above := above.rpartition("/")[0]:
        if above in there:
            return False
    return not any(each.startswith(name + "/") for each in there)


def _merge_into(
    ours: Store, draft: Draft, tip: str, scope_text: str, source: str, person: Signature, done: Merged
) -> None:
    """Put what the source has and the target has not into a draft, and commit it as a merge."""
    repo, base = ours.repo, draft.base or ""
    if repo.succeeds("merge-base", "--is-ancestor", tip, base):
        return
    shared = repo.git("merge-base", base, tip, check=False).decode().strip() or None
    changes = repo.diff(shared, tip)
    _check_folder(ours, draft, [change.path for change in changes])
    for change in changes:
        _take(draft, change, tip, scope_text, source, done)
    trailers = {"Neosian-Act": "merge", "Neosian-Actor": person.name}
    body = "\n".join(f"- {path} of {source} is kept as {other}" for path, other in done.both.items())
    said = message(f"Merge project {source}", trailers, body)
    done.commit = draft.commit(said, person, committer(), tip)


def _check_folder(store: Store, draft: Draft, paths_: list[str]) -> None:
    documents = [path for path in paths_ if not publish.in_log(path) and not draft.in_the_way(path)]
    for path in adopt.not_landed(draft, documents):
        raise NeosianError(
            f"{path} in {store.path} was changed and has not landed. Nothing was merged.",
            f"git -C {store.path} status",
        )


def _take(draft: Draft, change: Change, tip: str, scope_text: str, source: str, done: Merged) -> None:
    """One path of the source into the draft of the target."""
    here = draft.entry(change.path)
    held = here.id if here is not None and here.mode != FOLDER else NOTHING
    entry = draft.repo.entry(tip, change.path)
    if change.after == held or (change.after == NOTHING and held != change.before):
        return  # the same, or gone there and changed here
    if entry is None:
        draft.delete(change.path)
    elif held == change.before and not draft.in_the_way(change.path):
        path = _free(draft, change.path, source)
        draft.take(path, entry)
        if path != change.path:
            done.both[change.path] = path
    elif publish.in_log(change.path):
        _take_log(draft, change.path, entry)
    elif not _is_page_of_ours(draft.repo, change, scope_text):
        _take_document(draft, change, entry, held, source, done)


def _take_log(draft: Draft, path: str, entry: Entry) -> None:
    """Lines of a log that are missing here; a session's page stays as it is here."""
    if path.endswith(".jsonl"):
        held = draft.read(path) or b""
        there = set(held.splitlines())
        more = [row for row in history.sure_body(draft.repo, entry.id).splitlines() if row not in there]
        draft.put(path, held + b"".join(row + b"\n" for row in more))


def _is_page_of_ours(repo: Repo, change: Change, scope_text: str) -> bool:
    """Whether this is what every scope begins with."""
    if change.path == "README.md":
        return history.sure_body(repo, change.after) == scope_page(scope_text)
    return change.path == ".gitattributes" and history.sure_body(repo, change.after) == ATTRIBUTES


def _take_document(draft: Draft, change: Change, entry: Entry, held: str, source: str, done: Merged) -> None:
    """A document that both have, in different words: merged where they have a common past, else both are kept."""
    here = draft.entry(change.path)
    if NOTHING not in (held, change.before) and here is not None and here.mode in (PLAIN, PROGRAM):
        texts = [history.sure_body(draft.repo, id) for id in (change.before, held, change.after)]
        merged, left, right = history.merge_note(draft.repo, texts[0], texts[1], texts[2])
        if not (left or right):
            draft.put(change.path, merged)
            done.merged.append(change.path)
            return
    other = _beside(draft, change.path, source)
    draft.take(other, entry)
    done.both[change.path] = other


def _free(draft: Draft, path: str, source: str) -> str:
    """The path itself; another where it differs in nothing but upper and lower case from one that is there."""
    if publish.in_log(path):
        return path
    try:
        return paths.settle(path, lambda folder: draft.folder(folder))
    except paths.Twin as twin:
        is_free = draft.entry(twin.other) is None and not draft.in_the_way(twin.other)
        return twin.other if is_free else _beside(draft, twin.other, source)


def _beside(draft: Draft, path: str, source: str) -> str:
    """A path that is free, beside another, and says which project its document came of."""
    stem, dot, ending = path.rpartition(".")
    has_ending = dot and "/" not in ending and os.path.basename(stem)
    stem, ending = (stem, dot + ending) if has_ending else (path, "")
    for begin in (stem, f"from-{source}/{stem}"):  # a document may be where the folder of this one would be
        for number in range(1, 100):
            tried = f"{begin}-from-{source}{f'-{number}' if number > 1 else ''}{ending}"
            if draft.entry(tried) is None and not draft.in_the_way(tried):
                return tried
    raise NeosianError(
        f"{path} finds no place in the other project. Nothing was merged.", "neosian project list"
    )


def _remove(home: str, theirs: Store, ours: Store) -> None:
    """Take the source's folder away: its main is in the target's, and what git does not hold is carried over."""
    tip, held = ours.repo.tip() or "", theirs.repo.tip() or ""
    if not ours.repo.succeeds("merge-base", "--is-ancestor", held, tip):
        raise NeosianError(
            f"{theirs.path} has moved on meanwhile. It stays; merge once more.", "neosian project list"
        )
    theirs.repo.close()
    with theirs.lock(_PATIENCE):
        for name in ("bad-lines", "damaged", "kept", "rejected"):
            _carry(os.path.join(theirs.repo.private, name), os.path.join(ours.repo.private, name))
        landed = [
            os.path.join(home, "spool", "landed", os.path.basename(each.path)) for each in (theirs, ours)
        ]
        _carry(landed[0], landed[1])
        entry = os.path.join(home, "scopes", scope.disk_name(theirs.scope))
        gone = os.path.join(home, "cache", f"{_GONE}{time.monotonic_ns():x}")
        files.make_dir(os.path.dirname(gone))
        for ending in ("", "-journal", "-wal", "-shm"):
            files.remove(theirs.cache + ending)
        os.rename(entry, gone)  # in one step: half a repository would be taken for a damaged one
    _sweep(home)


def _sweep(home: str) -> None:
    """Remove the folders of merged projects, those too that an act which was cut off left."""
    cache = os.path.join(home, "cache")
    for name in files.names(cache):
        path = os.path.join(cache, name)
        if name.startswith(_GONE) and os.path.islink(path):
            files.remove(path)
        elif name.startswith(_GONE):
            shutil.rmtree(path)


def _carry(old: str, new: str) -> None:
    """Move what is in a folder into another; names that are there already get a number."""
    for name in files.names(old):
        files.make_dir(new)
        target, number = os.path.join(new, name), 1
        while os.path.lexists(target):
            number += 1
            target = os.path.join(new, f"{name}-{number}")
        os.rename(os.path.join(old, name), target)
    if os.path.isdir(old):
        os.rmdir(old)


# the home, and its register ----------------------------------------------------------------------


@contextmanager
def _alone(home: str) -> Iterator[None]:
    """Hold off what would write into scopes: landings and dreams. What waits lands first, where it belongs now."""
    if not os.path.isdir(home):
        yield
        return
    with alone.alone(home):
        settings, _ = config.load(home)
        lander = Lander(home, settings, patience=_PATIENCE)
        try:
            lander.land(sweep=False)
        finally:
            lander.close()
        with Lock(os.path.join(home, "spool", "lock"), _PATIENCE):
            if Journal(os.path.join(home, "spool"), home).unfinished():
                raise BusyError(
                    "A landing was cut off and could not be finished. Nothing was changed.", "neosian doctor"
                )
            yield


def _edit_register(
    home: str, person: Signature, said: str, *, slugs: dict[str, str] | None = None,
    moved: dict[str, str] | None = None, added: tuple[str, str] | None = None,
) -> None:  # fmt: skip
    """One commit that changes `projects.toml`: names, identities, or an entry more."""
    user = open_store(home, scope.user_scope())
    Adopter(home).adopt_now(user, patience=_PATIENCE)

    def change(draft: Draft) -> None:
        draft.put(FILE, _edited(user, draft, slugs or {}, moved or {}, added))
        trailers = {"Neosian-Act": "edit", "Neosian-Actor": person.name}
        draft.commit(message(said, trailers), person, committer())

    user.write(change, patience=_PATIENCE)


def _check_register(home: str, slugs: dict[str, str]) -> None:
    """Refuse now what `_edit_register` would refuse when other things are done already."""
    user = open_store(home, scope.user_scope())
    Adopter(home).adopt_now(user, patience=_PATIENCE)

    def look(draft: Draft) -> None:
        _edited(user, draft, slugs, {}, None)

    try:
        user.write(look, patience=_PATIENCE)
    except NeosianError as error:
        raise NeosianError(f"{error} Nothing was changed.", error.hint) from error


def _edited(
    user: Store, draft: Draft, slugs: dict[str, str], moved: dict[str, str], added: tuple[str, str] | None
) -> bytes:
    """The register as it is to be."""
    if adopt.not_landed(draft, [FILE]):
        raise NeosianError(
            f"{FILE} in {user.path} was saved just now, or is staged: it is not changed.",
            f"git -C {quote(user.path)} status",
        )
    before = (draft.read(FILE) or b"").decode("utf-8-sig", "surrogateescape")
    after = _rewritten(before, slugs, moved)
    if added is not None:
        name, identity = map(projects.quoted, added)
        after = f"{after.rstrip()}\n\n[[project]]\nslug = {name}\nidentities = [{identity}]\n"
    if _parsed(after, user) != _expected(_parsed(before, user), slugs, moved, added):
        path = os.path.join(user.path, FILE)
        raise NeosianError(
            f"{path} is written in a way that neosian does not edit: it is not changed.",
            f"open {path} in an editor",
        )
    return after.encode("utf-8", "surrogateescape")


def _parsed(text: str, user: Store) -> dict[str, set[str]]:
    try:
        return projects.identities_in(tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise config.ConfigError(os.path.join(user.path, FILE), str(error)) from None


def _expected(
    held: dict[str, set[str]], slugs: dict[str, str], moved: dict[str, str], added: tuple[str, str] | None
) -> dict[str, set[str]]:
    """What the register is to say."""
    wanted: dict[str, set[str]] = {}
    for name, identities in held.items():
        wanted.setdefault(slugs.get(name, name), set()).update(moved.get(each, each) for each in identities)
    if added is not None:
        wanted.setdefault(added[0], set()).add(added[1])
    return wanted


def _rewritten(text: str, slugs: dict[str, str], moved: dict[str, str]) -> str:
    """The register with other names and identities, all else byte for byte as it is."""

    def one(found: re.Match[str]) -> str:
        if found["comment"]:
            return found[0]
        try:
            value = str(tomllib.loads(f"x = {found['text']}")["x"])
        except tomllib.TOMLDecodeError:
            return found[0]
        if found["key"]:
            name = slugs.get(scope.slug(value))
            return found[0] if name is None else found["key"] + projects.quoted(name)
        return projects.quoted(moved[value]) if value in moved else found[0]

    return _TOKEN.sub(one, text)
