"""What commands share that change documents: who writes, and how it is told."""

from __future__ import annotations

import argparse
import os

from neosian import output
from neosian.clients import calling
from neosian.memory import Done, Writer


def writer() -> Writer:
    """Who runs this: the agent whose shell it is, else the person."""
    caller = calling(os.environ)
    return Writer.of_session(*caller) if caller else Writer()


def tell(args: argparse.Namespace, done: Done) -> None:
    """Print what a change came to, and how to take it back."""
    if args.json:
        output.as_json(done.json())
    elif done.commit is None:
        output.text(f"{done.place}: it was so already.")
    else:
        output.text(f"{done.said} ({done.place}, commit {done.commit[:10]})")
        output.note(f"To take it back: {done.undo.replace('`', '')}")
