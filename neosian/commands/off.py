"""`neosian off`: record nothing and tell nothing, everywhere or in one project."""

from __future__ import annotations

import argparse

from neosian.commands import _switching


def configure(parser: argparse.ArgumentParser) -> None:
    _switching.configure(parser)


def run(args: argparse.Namespace) -> int:
    return _switching.run(args, is_on=False)
