"""`neosian dream schedule` and `unschedule`: have the dream run by itself, and no more."""

from __future__ import annotations

import argparse
import os
import shlex
import stat
from typing import Any

from neosian import config, output, scope
from neosian.dream import engine, engines, jobs, schedule
from neosian.dream.schedule import CRONTAB, Plan, Systemd

ACTIONS = ("schedule", "unschedule")
_NOTHING: dict[str, Any] = {
    "by": None,
    "every": None,
    "texts": {},
    "commands": [],
    "changed": False,
    "replaces": False,
}


def configure(actions: Any) -> None:
    """Add both to the actions of `neosian dream`."""
    parser = actions.add_parser(
        "schedule",
        help="have the dream run by itself",
        description="Print what would have every scope dreamt by itself: a timer of your systemd, else a line of your "
        "crontab. With --write it is put there; an earlier schedule is replaced.",
    )
    often = parser.add_mutually_exclusive_group()
    often.add_argument("--every", metavar="TIME", help="how often: 30m, 3h, 1d; from 5m to 7d")
    often.add_argument("--nightly", action="store_true", help="every night (the default)")
    _configure(parser, "put it there")
    parser = actions.add_parser(
        "unschedule",
        help="have it run by itself no more",
        description="Print the schedule of the dream. With --write it is taken back whole; the notes stay.",
    )
    _configure(parser, "take it back")


def _configure(parser: argparse.ArgumentParser, write: str) -> None:
    parser.add_argument("--write", action="store_true", help=write)
    parser.add_argument("--root", metavar="DIR", default=argparse.SUPPRESS, help="the home")
    parser.add_argument("--json", action="store_true", default=argparse.SUPPRESS, help="print one object")


def run(args: argparse.Namespace) -> int:
    home = scope.home(args.root)
    if args.action == "unschedule":
        return _unschedule(args, home)
    seconds = jobs.every(args.every) if args.every is not None else jobs.NIGHTLY
    plan = schedule.plan_schedule(home, seconds, os.environ)
    said = schedule.carry_out(plan) if args.write else []
    said += _about(plan)
    if args.json:
        output.as_json({**plan.json(), "written": bool(args.write and plan.changed), "warnings": said})
        return 0
    if not args.write:
        _show(plan)
    for each in (*_done(plan, args), *said):
        output.note(each)
    return 0


def _unschedule(args: argparse.Namespace, home: str) -> int:
    plan = schedule.plan_unschedule(home, os.environ)
    said = schedule.carry_out(plan) if plan and args.write else []
    if args.json:
        about = plan.json() if plan else _NOTHING | {"home": home}
        output.as_json({**about, "written": bool(plan and args.write), "warnings": said})
    elif plan is None:
        output.note(f"No dream of {home} is scheduled.")
    elif args.write:
        output.note(f"The schedule is taken back from {_by(plan)}. The notes stay.")
    else:
        _show(plan)
        output.note("This would go. To take it back, say it again with --write.")
    if not args.json:
        for each in said:
            output.note(each)
    return 0


def _show(plan: Plan) -> None:
    """Texts with where they belong, then the commands."""
    texts = [
        text if where == CRONTAB else f"# {where}\n{text.rstrip()}\n" for where, text in plan.texts.items()
    ]
    output.text("\n".join([*texts, *(shlex.join(each) for each in plan.commands)]))


def _done(plan: Plan, args: argparse.Namespace) -> list[str]:
    """What is so now, or would be."""
    told = jobs.told(plan.seconds or 0)
    if not plan.changed:
        return [f"{plan.keeper.by} has it already: {told}. Nothing was changed."]
    if not args.write:
        earlier = " An earlier schedule would be replaced." if plan.replaces else ""
        every = f" --every {jobs.short(plan.seconds or 0)}" if args.every is not None else ""
        root = f" --root {shlex.quote(args.root)}" if args.root else ""
        return [
            f"This would have {plan.keeper.by} dream {told}; nothing is written yet.{earlier}",
            f"next: neosian dream schedule{every}{root} --write",
        ]
    earlier = " The earlier schedule is replaced." if plan.replaces else ""
    return [f"Every scope of {plan.job.home} is dreamt {told} by {plan.keeper.by}.{earlier}"]


def _by(plan: Plan) -> str:
    return " and ".join(keeper.by for keeper in (plan.keeper, *plan.others))


def _about(plan: Plan) -> list[str]:
    """What a person should know of a schedule on this machine."""
    said = []
    if (person := os.environ.get("SUDO_USER")) and person != "root" and scope.login() == "root":
        said.append(f"This is root's schedule and root's memory; for {person}'s say it without sudo.")
    if isinstance(plan.keeper, Systemd) and not plan.keeper.lingers():
        said.append("It runs while you are logged in only; to have it run always: loginctl enable-linger")
    return [*said, *_about_keys(plan)]


def _about_keys(plan: Plan) -> list[str]:
    """Where the job gets a key from, if the engine that is used here needs one."""
    settings, _ = config.load(plan.job.home)
    if engines.choose(settings.dream_engine, os.environ) != engine.ANTHROPIC:
        return []
    path = plan.job.keys
    try:
        open_to_all = stat.S_IMODE(os.stat(path).st_mode) & 0o077
    except OSError:
        quoted = shlex.quote(path)
        needs = (
            f"The engine anthropic needs a key, and the job sees no variable of this shell: put it into {path},"
            " a line ANTHROPIC_API_KEY=... that only you may read."
        )
        return [needs, f"for that: touch {quoted}; chmod 600 {quoted}; then open it in an editor"]
    return [f"Others may read your key: chmod 600 {shlex.quote(path)}"] if open_to_all else []
