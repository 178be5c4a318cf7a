"""`neosian dream`: turns become notes; and review, accept, reject, rejected, undo: a person has the last word."""

from __future__ import annotations

import argparse
import contextlib
import os
import signal
import time
from collections.abc import Iterator, Sequence

from neosian import config, output, projects, scope
from neosian.adopting import Adopter
from neosian.commands import dream_prompt, dream_review, dream_schedule
from neosian.commands._scopes import add_mounts, seen, whole
from neosian.dream import state
from neosian.dream.dreaming import Dreamer, Report, waiting
from neosian.dream.engine import NAMES, RULES
from neosian.dream.engines import choose, pick
from neosian.dream.sessions import Due
from neosian.dream.spend import Spend
from neosian.dream.tries import MOST, Tries
from neosian.errors import BrokenStoreError, BusyError, GitError, NeosianError, UsageError
from neosian.mounts import Layout, Mount
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
    parser.add_argument("--again", action="store_true", help="sessions that were set aside, too")
    parser.add_argument(
        "--all", action="store_true", help="every scope with something to dream, one after the other"
    )
    parser.add_argument("--quiet", action="store_true", help="say nothing unless something is wrong")
    add_mounts(parser)
    parser.add_argument("--json", action="store_true", help="print one object")
    actions = parser.add_subparsers(dest="action", metavar="ACTION")
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
    dream_prompt.configure(actions)
    dream_schedule.configure(actions)


_ACTIONS = {
    "review": "show the notes that wait for a person, and at a terminal ask about each",
    "accept": "land notes that wait",
    "reject": "let notes that wait go, and say why",
    "rejected": "list the changes that you and the gate turned down, and why",
    "undo": "take a dream back whole",
}


def run(args: argparse.Namespace) -> int:
    if args.action in dream_schedule.ACTIONS:
        return dream_schedule.run(args)
    if args.action == dream_prompt.ACTION:
        return dream_prompt.run(args)
    home = scope.home(args.root)
    settings, wrong = config.load(home)
    if wrong:
        output.note(wrong)
    if args.action:
        return dream_review.run(args, Wiki(home, seen(args)))
    wikis = [Wiki(home, each) for each in _layouts(args, home)]
    if args.dry_run:
        is_counted = choose(args.engine or settings.dream_engine, os.environ) == RULES
        return _forecast(
            args, [(each, _due(args, each, settings, is_counted)) for each in wikis], settings.dream_idle
        )
    with _signals_interrupt():
        reports, passed_over = _dream(args, home, settings, wikis)
    if args.json:
        found = [report.json() for _, report in reports]
        failed = [{"scope": wiki.turns.store.scope, "error": str(error)} for wiki, error in passed_over]
        output.as_json([*found, *failed] if args.all else found[0])
    else:
        for wiki, report in reports:
            _tell(wiki, report, args.quiet)
        for wiki, error in passed_over:
            output.note(f"{wiki.turns.store.scope} was passed over: {error}")
    return 1 if passed_over or any(each.failed and not each.sessions for _, each in reports) else 0


def _dream(
    args: argparse.Namespace, home: str, settings: config.Config, wikis: Sequence[Wiki]
) -> tuple[list[tuple[Wiki, Report]], list[tuple[Wiki, NeosianError]]]:
    """One dream after the other, until one is stopped; what each came to, and which scopes could not be dreamt.

    How it ended is kept for `neosian status`.
    """
    now = time.time()
    ended: str | None = "it was interrupted"
    engine = None
    progress = output.Progress(args.quiet)
    reports: list[tuple[Wiki, Report]] = []
    passed_over: list[tuple[Wiki, NeosianError]] = []
    most = {"run_most": settings.dream_max_tokens_per_run, "day_most": settings.dream_max_tokens_per_day}
    try:
        named, model = args.engine or settings.dream_engine, args.model or settings.dream_model
        engine = pick(named, home, os.environ, model=model)
        spend = Spend(home, now, **most)
        for wiki in wikis:
            dreamer = Dreamer(
                wiki, engine, now=now, idle=settings.dream_idle, named_by=Adopter(home).named_by, spend=spend,
                told=lambda said, report: progress.show(report.done, report.total, said, _spent(report)),
            )  # fmt: skip
            apart = args.review or settings.dream_review
            try:
                report = dreamer.dream(most=args.max_sessions, apart=apart, again=args.again)
            except (BrokenStoreError, GitError) as error:  # of this scope alone
                if not args.all:
                    raise
                passed_over.append((wiki, error))
                continue
            reports.append((wiki, report))
            if report.stopped:
                break
        ended = reports[-1][1].stopped if reports else ""
    except BusyError:
        ended = None  # another dream is under way, which says itself how it ends
        raise
    except NeosianError as error:
        ended = str(error)
        raise
    finally:
        progress.end()
        if engine is not None:
            engine.close()
        if ended is not None:
            state.keep_last(home, now, stopped=ended)
    return reports, passed_over


@contextlib.contextmanager
def _signals_interrupt() -> Iterator[None]:
    """A signal to end means what ^C does: what was dreamt lands, and no client that was started stays behind."""

    def interrupt(number: int, frame: object) -> None:
        raise KeyboardInterrupt

    numbers = {signal.SIGTERM, getattr(signal, "SIGHUP", signal.SIGTERM)}
    before = {number: signal.signal(number, interrupt) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _layouts(args: argparse.Namespace, home: str) -> list[Layout]:
    """What each dream may read and write: the person's own scope beside a project of theirs."""
    if args.all and (args.scope or args.mount):
        raise UsageError(
            "--all means every scope, so --scope and --mount cannot stand beside it.", "neosian dream --all"
        )
    if args.all:
        return [own for store in projects.stores(home) if (own := _own(store.scope)) is not None]
    if args.scope and not args.mount and (own := _own(scope.check(args.scope))) is not None:
        return [own]
    return [seen(args)]


def _own(text: str) -> Layout | None:
    """The view that a session of this person in this scope has; None for a scope of somebody else."""
    user = Mount("/user", scope.user_scope())
    if text == user.scope:
        return Layout([user], "it is the person's own scope")
    if text.startswith(f"{user.scope}/proj:"):
        return Layout([user, Mount("/project", text)], "it is a project's scope")
    return None


def _due(args: argparse.Namespace, wiki: Wiki, settings: config.Config, is_counted: bool) -> Due:
    """What a dream with these flags would take up in a scope."""
    store = wiki.turns.store
    found = waiting(store, now=time.time(), idle=settings.dream_idle, is_counted=is_counted)
    tries = Tries(store)
    found.sessions = [each for each in found.sessions if args.again or not tries.is_aside(each)]
    found.sessions = found.sessions[: args.max_sessions]
    return found


def _forecast(args: argparse.Namespace, found: list[tuple[Wiki, Due]], idle: float) -> int:
    """What would be dreamt."""
    if args.json:
        output.as_json(
            [each.json() | {"scope": wiki.turns.store.scope} for wiki, due in found for each in due.sessions]
        )
        return 0
    for wiki, due in found:
        rows = [
            (each.conversation[:8], each.client, str(each.count), output.when(each.last)[:16], each.prompt)
            for each in due.sessions
        ]
        if rows:
            head = ("session", "client", "turns", "last", "began with")
            title = f"{wiki.turns.store.scope}\n" if args.all else ""
            output.text(title + output.table(rows, head, free=True))
        warm = f" {_still_warm(len(due.warm), due.ready(idle))}" if due.warm else ""
        if not rows and (warm or not args.all):
            output.note(f"There is nothing new to dream in {wiki.turns.store.scope}.{warm}")
        elif warm:
            output.note(warm.strip())
    return 0


def _sessions(count: int) -> str:
    return f"{output.many(count, 'session')} {'is' if count == 1 else 'are'}"


def _still_warm(count: int, ready: float) -> str:
    """That sessions wait since they were written to a moment ago, and until when."""
    until = output.when(ready)[11:16]
    return f"{_sessions(count)} still warm; the first may be dreamt from {until} on (dream.idle)."


def _spent(report: Report) -> str:
    """Tokens and money, as far as there are any."""
    tokens = report.input_tokens + report.output_tokens
    if not tokens:
        return ""
    money = f", ${report.cost:.2f}" if report.cost else ""
    return f"{tokens:,} tokens{money}"


def _tell(wiki: Wiki, report: Report, is_quiet: bool) -> None:
    """What a dream came to, for a person."""
    rows = _changed(wiki, report)
    if not is_quiet:
        if rows:
            output.text(output.table(rows))
        refused = sum(int(str(each["refused"])) for each in report.sessions)
        said = [
            f"{len(report.sessions)} of {output.many(report.total, 'session')} dreamt by {report.engine}",
            *([f"{output.many(refused, 'edit')} refused (neosian dream rejected)"] if refused else []),
            *([_spent(report)] if _spent(report) else []),
        ]
        if report.total:
            output.note(f"{report.scope}: {', '.join(said)}.")
        elif not rows:
            output.note(f"There is nothing new to dream in {report.scope}.")
        if report.warm:
            output.note(_still_warm(report.warm, report.ready))
    left = report.left
    for name, why in report.failed:
        if why == report.stopped:
            left += 1  # which is told below
        else:
            output.note(f"Session {name} was not dreamt and stays for the next dream: {why}")
    if report.stopped:
        why = report.stopped.rstrip(".")
        output.note(f"The dream stopped: {why}. {_sessions(left)} left for the next one.")
    elif report.left and not is_quiet:
        output.note(f"{_sessions(report.left)} left for the next dream.")
    if report.aside:
        output.note(
            f"{_sessions(len(report.aside))} set aside after {MOST} tries. To try once more: neosian dream --again"
        )
    if rows and not is_quiet:
        look = ["neosian dream review"] if any(what for _, what in rows) else []
        look += ["neosian log"] if not all(what for _, what in rows) else []
        output.note(f"To look: {', '.join(look)}. To take it back: neosian dream undo")


def _changed(wiki: Wiki, report: Report) -> list[tuple[str, str]]:
    """The notes that changed or wait, by their places, and which of the two."""
    mounts = {mount.store.scope: mount for mount in wiki.mounts}
    rows = []
    for merged in [each for landed in report.landed for each in landed.scopes]:
        rows += [(str(mounts[merged.scope].at(path)), "") for path in merged.paths]
        rows += [(str(mounts[merged.scope].at(path)), "waits for review") for path in merged.to_review]
    return rows
