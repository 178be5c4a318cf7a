"""`neosian dream`: turns become notes; and review, accept, reject, undo, by which a person has the last word."""

from __future__ import annotations

import argparse
import os
import time

from neosian import config, output, scope
from neosian.adopting import Adopter
from neosian.commands import dream_review
from neosian.commands._scopes import add_mounts, seen, whole
from neosian.dream.dreaming import Dreamer, Report
from neosian.dream.engine import NAMES
from neosian.dream.engines import pick
from neosian.wiki import Wiki


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--engine", choices=NAMES, help="who reads the turns (default: anthropic with a key, else rules)"
    )
    parser.add_argument("--model", metavar="NAME", help="which model is asked")
    parser.add_argument("--review", action="store_true", help="land nothing: all of it waits for review")
    parser.add_argument("--dry-run", action="store_true", help="say what would be dreamt, and ask nobody")
    parser.add_argument(
        "--max-sessions", metavar="N", type=whole, help="at most so many sessions, the oldest first"
    )
    add_mounts(parser)
    parser.add_argument("--json", action="store_true", help="print one object")
    actions = parser.add_subparsers(dest="action", metavar="review | accept | reject | undo")
    for name, about in _ACTIONS.items():
        action = actions.add_parser(name, help=about, description=f"{about[0].upper()}{about[1:]}.")
        if name in ("accept", "reject"):
            action.add_argument(
                "names", metavar="NOTE", nargs="*", help="a note, a folder, or what review calls it"
            )
        if name == "reject":
            action.add_argument(
                "--reason", metavar="TEXT", default="", help="why; later dreams are told of it"
            )
        if name == "undo":
            action.add_argument(
                "run", metavar="RUN", nargs="?", default="", help="a run (default: the last one)"
            )
        again = argparse.SUPPRESS
        action.add_argument("--root", metavar="DIR", default=again, help="the home")
        action.add_argument("--scope", metavar="SCOPE", default=again, help="the scope that is meant")
        action.add_argument(
            "--mount", metavar="/PATH=SCOPE[:ro]", action="append", default=again, help="a mount"
        )
        action.add_argument("--json", action="store_true", default=again, help="print one object")


_ACTIONS = {
    "review": "show the notes that wait for a person, and at a terminal ask about each",
    "accept": "land notes that wait",
    "reject": "let notes that wait go, and say why",
    "undo": "take a dream back whole",
}


def run(args: argparse.Namespace) -> int:
    home = scope.home(args.root)
    settings, wrong = config.load(home)
    if wrong:
        output.note(wrong)
    wiki = Wiki(home, seen(args))
    if args.action:
        return dream_review.run(args, wiki)
    engine = pick(
        args.engine or settings.dream_engine, home, os.environ, model=args.model or settings.dream_model
    )
    try:
        dreamer = Dreamer(
            wiki, engine, now=time.time(), idle=settings.dream_idle, named_by=Adopter(home).named_by, told=output.note,
        )  # fmt: skip
        if args.dry_run:
            return _forecast(args, dreamer)
        report = dreamer.dream(most=args.max_sessions, apart=args.review or settings.dream_review)
    finally:
        if engine is not None:
            engine.close()
    if args.json:
        output.as_json(report.json())
    else:
        _tell(report)
    return 1 if report.failed and not report.sessions else 0


def _forecast(args: argparse.Namespace, dreamer: Dreamer) -> int:
    found = dreamer.waiting()
    rows = [
        (
            each.conversation,
            each.client,
            str(len(each.turns)),
            time.strftime("%Y-%m-%d %H:%M", time.localtime(each.last)),
        )
        for each in found.sessions
    ]
    if args.json:
        output.as_json(
            [
                {"conversation": name, "client": client, "turns": int(n), "last": last}
                for name, client, n, last in rows
            ]
        )
    elif rows:
        output.text(output.table(rows, ("conversation", "client", "turns", "last")))
    if not rows:
        output.note(
            "There is nothing new to dream."
            + (f" {len(found.warm)} sessions are warm still." if found.warm else "")
        )
    return 0


def _tell(report: Report) -> None:
    """What a dream came to, for a person."""
    for merged in report.landed.scopes if report.landed else ():
        for path in merged.paths:
            output.text(f"{merged.scope}  {path}")
        for path in merged.to_review:
            output.text(f"{merged.scope}  {path}  waits for review")
    spent = (
        f", {report.input_tokens:,} tokens read and {report.output_tokens:,} written"
        if report.input_tokens
        else ""
    )
    money = f", about ${report.cost:.2f}" if spent and report.cost else ""
    output.note(f"{len(report.sessions)} sessions dreamt by {report.engine}{spent}{money}.")
    for name, why in report.failed:
        output.note(f"{name} was not dreamt: {why}")
    if report.warm or report.left:
        output.note(f"{report.warm} sessions are warm still, {report.left} are left for the next dream.")
    if report.run and report.landed:
        output.note("To look: neosian log, neosian dream review. To take it back: neosian dream undo")
