"""`neosian watch`: commit what people save in an editor as soon as it has settled, until it is ended."""

from __future__ import annotations

import argparse
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from neosian import output, scope, turns
from neosian.errors import NeosianError
from neosian.watch import Adopted, Trouble, Watcher

_INTERRUPTED = 130


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--scope", metavar="SCOPE", action="append", default=[],
        help="only this scope; repeatable (default: all of the home)",
    )  # fmt: skip
    parser.add_argument("--json", action="store_true", help="print one object a line")


def run(args: argparse.Namespace) -> int:
    home = scope.home(args.root)
    if os.path.exists(home) and not os.path.isdir(home):
        raise NeosianError(f"{home} is a file, not a folder.", "neosian watch --root DIR")
    watcher = Watcher(home, map(scope.check, args.scope))
    with _ended_by_signals(watcher) as ended:
        begun = False
        for news in watcher.news():
            if isinstance(news, Adopted):
                _show(news, args.json)
            elif isinstance(news, Trouble):
                output.note(f"neosian: {news.what}" + (f"\n  try: {news.hint}" if news.hint else ""))
            elif not begun:
                begun = True
                output.note(_beginning(home, watcher.scopes, args.scope))
            elif not output.is_read():
                break
    return _INTERRUPTED if signal.SIGINT in ended else 0


def _show(adopted: Adopted, as_json: bool) -> None:
    if as_json:
        said = {"at": turns.stamp(adopted.at), "scope": adopted.scope, "subject": adopted.subject}
        output.as_json(said | {"actor": adopted.actor, "paths": adopted.paths, "commit": adopted.commit})
        return
    paths = f": {', '.join(adopted.paths)}" if len(adopted.paths) > 1 else ""
    output.text(
        f"{output.when(adopted.at)}  {adopted.scope}  {adopted.subject}{paths}  ({adopted.actor})".replace(
            "\n", " "
        )
    )


def _beginning(home: str, watched: list[str], named: list[str]) -> str:
    missing = sorted(set(named) - set(watched))
    what = ", ".join(watched) or f"for a first scope in {home}"
    waits = f"; waiting for {', '.join(missing)}, of which nothing is recorded yet" if missing else ""
    return f"Watching {what}{waits}. Ctrl-C ends it."


@contextmanager
def _ended_by_signals(watcher: Watcher) -> Iterator[list[int]]:
    """Have the first signal end the watch between two commits, and a second one at once; those that came."""
    came: list[int] = []
    before: dict[int, Any] = {}

    def end(number: int, _: object) -> None:
        came.append(number)
        watcher.stop()
        for each, handler in before.items():
            signal.signal(each, handler)

    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        if (number := getattr(signal, name, None)) is not None:
            before[number] = signal.signal(number, end)
    try:
        yield came
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
