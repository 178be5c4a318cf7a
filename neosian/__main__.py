"""`python -m neosian`, and what the installed `neosian` calls."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from neosian.cli import main


def run(argv: Sequence[str] | None = None) -> None:
    """Run one command and end the process there: taking the interpreter apart takes half as long as starting it.

    So a command leaves nothing to `atexit`, nor to a thread that goes on.
    """
    status = main(argv)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


if __name__ == "__main__":
    run()
