"""What several commands ask: which scopes are meant, which document, what a time on the command line means."""

from __future__ import annotations

import argparse
import os
from shlex import quote

from neosian import adopt, commits, config, output, projects, scope
from neosian.errors import NeosianError, UsageError
from neosian.mounts import Layout, Mount, layout
from neosian.store import Store

_NAMED = 5  # documents that are named one by one
_ONE_SCOPE = (
    "only this scope, such as user:alice/proj:shop, shown as /project (default: the user's at /user and this "
    "directory's project at /project)"
)


def add_scope(parser: argparse._ActionsContainer) -> None:
    """`--scope`: one scope instead of those that the working directory sees."""
    parser.add_argument("--scope", metavar="SCOPE", help=_ONE_SCOPE)


def add_project(parser: argparse.ArgumentParser) -> None:
    """`--project`: the scope of one of the user's projects, by its name; `--scope` beside it is refused."""
    scopes = parser.add_mutually_exclusive_group()
    add_scope(scopes)
    scopes.add_argument("--project", metavar="NAME", help="only this project, from whatever directory")


def choose_project(args: argparse.Namespace) -> None:
    """Have `--project NAME` mean its scope."""
    if args.project is not None:
        args.scope = projects.scope_of(scope.home(args.root), args.project)


def add_mounts(parser: argparse.ArgumentParser) -> None:
    """`--scope` and `--mount`, as a hook line may spell them."""
    add_scope(parser)
    parser.add_argument(
        "--mount",
        metavar="/PATH=SCOPE[:ro]",
        action="append",
        help="a scope and where it is shown; repeatable",
    )


def mount_flags(args: argparse.Namespace) -> list[str]:
    """The words of a hook line for `--scope` and `--mount`."""
    words = ["--scope", args.scope] if getattr(args, "scope", None) else []
    for mount in getattr(args, "mount", None) or ():
        words += ["--mount", mount]
    return words


def seen(args: argparse.Namespace, directory: str = "") -> Layout:
    """What a session with these flags would see in ``directory`` (default: the working one)."""
    home = scope.home(args.root)
    settings, _ = config.load(home)
    chosen = os.environ.get("NEOSIAN_SCOPE", "")
    return layout(home, directory or scope.working_directory(), settings, mount_flags(args), chosen)


def mounted(args: argparse.Namespace) -> list[tuple[str, Store]]:
    """(mount path, store) of the scopes that are meant, the user's first."""
    home = scope.home(args.root)
    return [(mount.path, projects.open_store(home, mount.scope)) for mount in seen(args).mounts]


def locate(args: argparse.Namespace, text: str = "") -> tuple[Mount, Store, str]:
    """(mount, store, path in it) of a document or folder as people meet it; the path is "" for the whole scope.

    A file below a scope's own folder, wherever it is named from; a path as search prints it (`/project/tools/x.md`);
    else a path in the scope where turns of this directory go.
    """
    home = scope.home(args.root)
    if "\0" in text:
        raise UsageError(f"{text!r} is no path.", "neosian path")
    here = seen(args)
    stores = (
        [projects.open_store(home, here.turns)] if getattr(args, "scope", None) else projects.stores(home)
    )
    for store in stores:
        inside = _below(store.path, text)
        if inside is not None:
            mount = next((each for each in here.mounts if each.scope == store.scope), Mount("", store.scope))
            return mount, store, _plain(inside, text)
    if not text.startswith("/"):
        mount = next(each for each in here.mounts if each.scope == here.turns)
        return mount, projects.open_store(home, mount.scope), _plain(text, text)
    for mount in here.mounts:
        if f"{text}/".startswith(f"{mount.path}/"):
            return mount, projects.open_store(home, mount.scope), _plain(text[len(mount.path) :], text)
    there = ", ".join(mount.path for mount in here.mounts)
    raise UsageError(f"No scope is shown at {text}; there are {there} here.", "neosian path")


def _below(folder: str, text: str) -> str | None:
    """The path below a scope's folder of a file that is named from the working directory; None for one elsewhere."""
    full = os.path.abspath(os.path.join(scope.working_directory(), text))
    for way in (full, os.path.join(os.path.realpath(os.path.dirname(full)), os.path.basename(full))):
        if f"{way}/".startswith(f"{folder}/"):
            return way[len(folder) + 1 :]
    return None


def _plain(path: str, said: str) -> str:
    """A path in a scope without what changes nothing; UsageError for one that leads out of it, or into git's own."""
    parts = [part for part in path.split("/") if part not in ("", ".")]
    if ".." in parts or parts[:1] == [".git"]:
        raise UsageError(f"{said} is no path of a scope.", "neosian path")
    return "/".join(parts)


def shown(mount: Mount, path: str) -> str:
    """A path of a scope as people meet it."""
    return f"{mount.path}/{path}" if path else mount.path or "/"


def tell_saved(mount: Mount, store: Store, path: str, more: str = "") -> bool:
    """Say which documents at or below a path are saved and not committed yet; whether there are any."""
    found = [each for each in adopt.saved(store.repo) if not path or f"{each}/".startswith(f"{path}/")]
    for each in found[:_NAMED]:
        why = adopt.why_waiting(store.repo, each)
        waits = (
            f"and waits: {why}" if why else "not committed yet: the next landing does it, or neosian watch"
        )
        output.note(f"{shown(mount, each)} is saved, {waits}.{more}")
    if len(found) > _NAMED:
        output.note(f"So are {len(found) - _NAMED} more (see: neosian status).")
    return bool(found)


def holding(args: argparse.Namespace, name: str) -> tuple[Mount, Store]:
    """The scope in sight that has a commit: an id is looked for in each, another name means the scope of here."""
    if not 4 <= len(name) <= 40 or name.strip("0123456789abcdefABCDEF"):
        mount, store, _ = locate(args)
        return mount, store
    home = scope.home(args.root)
    here = [(mount, projects.open_store(home, mount.scope)) for mount in seen(args).mounts]
    found = [(mount, store) for mount, store in here if _has(store, name)]
    if len(found) == 1:
        return found[0]
    if found:
        said = f"{name!r} names a commit in {len(found)} scopes."
    else:
        found = [(Mount("", store.scope), store) for store in projects.stores(home) if _has(store, name)]
        if not found:
            raise commits.UnknownRevision(name)
        said = f"{name!r} is a commit of {found[0][1].scope}, which is not in sight here."
    raise NeosianError(said, f"neosian {args.command} {name} --scope {quote(found[0][1].scope)}")


def _has(store: Store, name: str) -> bool:
    """Whether a scope has the commit, and only one of that name."""
    try:
        return store.exists and bool(commits.revision(store.repo, name))
    except commits.UnknownRevision as error:
        if error.candidates:
            raise
        return False
    finally:
        store.repo.close()


def everywhere(args: argparse.Namespace) -> list[Store]:
    """The scopes that are meant, then (unless one was named) every other: a conversation's id finds it anywhere."""
    first = [store for _, store in mounted(args) if store.exists]
    if getattr(args, "scope", None):
        return first
    known = {store.scope for store in first}
    return first + [store for store in projects.stores(scope.home(args.root)) if store.scope not in known]


def whole(text: str) -> int:
    """A whole number of at least one."""
    if not text.isascii() or not text.isdigit() or len(text) > 9 or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number from 1 to 999999999")
    return int(text)
