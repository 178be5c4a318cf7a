"""What the launcher runs for the few events that must answer or land: `python -I -S hook.py VERB HOME CLIENT NAME`.

The event is in the spool already. Run as a script it finds the package beside itself. Python compiles a script anew
each time it runs, so this one is short, and what it runs is kept compiled.
"""

from __future__ import annotations

import os
import sys

if __name__ == "__main__":
    import gc

    gc.disable()  # this process ends before there is garbage in circles worth looking for
    sys.path.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from neosian.errands import land, main

__all__ = ["land", "main"]

if __name__ == "__main__":
    status = main(sys.argv[1:])
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)  # taking the interpreter apart takes a fifth of its start, and everything is closed
