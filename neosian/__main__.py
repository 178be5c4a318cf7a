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
    _stand_in_for_what_is_closed()
    status = main(argv)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


def _stand_in_for_what_is_closed() -> None:
    """Where a standard stream is closed, have reading or writing it fail as a file's would; stderr swallows it all.

    Python gives None for such a stream, and the system its number to the next file that is opened.
    """
    for number, name, mode, how in (
        (0, "stdin", "r", os.O_WRONLY),
        (1, "stdout", "w", os.O_RDONLY),
        (2, "stderr", "w", os.O_WRONLY),
    ):
        if getattr(sys, name) is None:
            opened = os.open(os.devnull, how)
            if opened != number:
                os.dup2(opened, number)
                os.close(opened)
            setattr(sys, name, open(number, mode, encoding="utf-8", errors="replace", closefd=False))  # noqa: SIM115 - it stays


if __name__ == "__main__":
    run()
