"""What several commands ask: which scopes are meant, what a time on the command line means."""

from __future__ import annotations

import argparse
import os
import re

from neosian import config, projects, scope
from neosian.errors import UsageError
from neosian.mounts import Layout, layout
from neosian.store import Store

_AGE = re.compile(r"(\d+)(min|h|d|w)")
_HOURS = {"min": 1 / 60, "h": 1, "d": 24, "w": 168}


def add_scope(parser: argparse.ArgumentParser) -> None:
    """`--scope`: one scope instead of those that the working directory sees."""
    parser.add_argument(
        "--scope", metavar="SCOPE", help="one scope (default: the user's and this directory's project)"
    )


def add_mounts(parser: argparse.ArgumentParser) -> None:
    """`--scope` and `--mount`, as a hook line may spell them."""
    parser.add_argument(
        "--scope", metavar="SCOPE", help="the scope of the turns, such as user:alice/proj:shop"
    )
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
    if getattr(args, "scope", None):
        return [("", projects.open_store(home, scope.check(args.scope)))]
    return [(mount.path, projects.open_store(home, mount.scope)) for mount in seen(args).mounts]


def everywhere(args: argparse.Namespace) -> list[Store]:
    """The scopes that are meant, then (unless one was named) every other: a conversation's id finds it anywhere."""
    first = [store for _, store in mounted(args) if store.exists]
    if getattr(args, "scope", None):
        return first
    known = {store.scope for store in first}
    return first + [store for store in projects.stores(scope.home(args.root)) if store.scope not in known]


def moment(text: str) -> float:
    """Seconds since 1970 of a date, a time (both ISO), or an age such as `3d`, `2h`, `30min`."""
    from datetime import datetime, timedelta  # as dear as a tenth of a search that names no time

    if found := _AGE.fullmatch(text):
        return (datetime.now() - timedelta(hours=int(found[1]) * _HOURS[found[2]])).timestamp()
    try:
        return datetime.fromisoformat(text).timestamp()
    except (ValueError, OverflowError):
        raise UsageError(f"{text!r} is no time.", "2026-11-29, 2026-11-29T14:00, 3d, 2h or 30min") from None


def whole(text: str) -> int:
    """A whole number of at least one."""
    if not text.isascii() or not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number above 0")
    return int(text)
