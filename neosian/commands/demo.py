"""``neosian demo``: see two recorded sessions land in a throwaway store, and what the next one is told."""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from neosian import demo
from neosian.errors import UsageError


def configure(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Play two recorded sessions of a real agent through the installed hook, in a throwaway home and project, "
        "and show what they leave. Needs no key and no network."
    )
    parser.add_argument(
        "--keep", metavar="DIR", type=Path, help="put it all into DIR, which must be new or empty"
    )


def run(args: argparse.Namespace) -> int:
    for number, section in enumerate(demo.show(_folder(args.keep)), start=1):
        title = f"{number}. {section.title}"
        print(f"{title}\n{'-' * len(title)}\n{section.about}\n")
        print(
            "\n".join(f"    {line}".rstrip() for line in section.text.rstrip().splitlines()) + "\n",
            flush=True,
        )
    return 0


def _folder(wanted: Path | None) -> Path:
    """A folder with nothing in it."""
    if wanted is None:
        return Path(tempfile.mkdtemp(prefix="neosian-demo-"))
    if wanted.exists() and (not wanted.is_dir() or any(wanted.iterdir())):
        raise UsageError(f"{wanted} is not an empty folder.", "neosian demo --keep NEW-FOLDER")
    return wanted
