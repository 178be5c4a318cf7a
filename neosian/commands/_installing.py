"""What installing and uninstalling ask and say, whatever it is that goes into a client's settings."""

from __future__ import annotations

import argparse
import os
from typing import Any

from neosian import output
from neosian.errors import UsageError
from neosian.merging import Plan


def add_flag(parser: argparse.ArgumentParser, flag: str, **about: Any) -> None:
    """A flag that the command above has too: given before the verb, it counts as well."""
    parser.add_argument(flag, default=argparse.SUPPRESS, **about)


def as_json(args: argparse.Namespace) -> bool:
    return bool(getattr(args, "json", False))


def mounts(args: argparse.Namespace) -> tuple[str, ...]:
    return tuple(getattr(args, "mount", None) or ())


def current_folder(*, needed: bool) -> str:
    """The current folder, which may be gone where none is needed."""
    try:
        return os.getcwd()
    except FileNotFoundError:
        if not needed:
            return os.sep
        raise UsageError("The current folder is gone, so there is no project here.", "cd") from None


def answer(args: argparse.Namespace, plan: Plan, fragment: str, more: dict[str, Any]) -> None:
    """The result on stdout: the fragment where there is something to paste or to see, or all of it as JSON.

    A UsageError is left to whoever shows errors: nothing was answered.
    """
    if isinstance(plan.refused, UsageError) and args.write:
        raise plan.refused
    if not as_json(args):
        if plan.names and (plan.refused or not args.write):
            output.text(fragment)
        return
    output.as_json(
        {
            "file": plan.file,
            "changed": plan.changed,
            "written": bool(args.write and plan.changed),
            "warnings": list(plan.warnings),
            "refused": str(plan.refused) if plan.refused else None,
            "fragment": plan.fragment,
            **more,
        }
    )


def status(args: argparse.Namespace, plan: Plan) -> int:
    """0, or the refusal of what was to be written or could not even be read."""
    if plan.refused is None or not (args.write or not plan.names):
        return 0
    raise plan.refused


def would_be_refused(plan: Plan) -> list[str]:
    """What is said of a refusal before anybody asked to write."""
    hint = [f"next: {plan.refused.hint}"] if plan.refused and plan.refused.hint else []
    return [f"--write would be refused: {plan.refused}", *hint]


def say(*lines: str) -> None:
    for line in lines:
        output.note(line)
