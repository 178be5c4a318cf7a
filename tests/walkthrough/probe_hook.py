"""A hook that only keeps what it was given: ``probe_hook.py FOLDER VERB``, the payload on stdin.

It stands alone, since a client starts it, and names its files so that they sort by arrival.
"""

from __future__ import annotations

import json
import os
import sys
import time


def main() -> int:
    arrived = time.time_ns()
    folder, verb = sys.argv[1:]
    kept = {
        "verb": verb,
        "root": os.environ.get("CLAUDE_PROJECT_DIR"),
        "payload": json.loads(sys.stdin.buffer.read()),
    }
    path = os.path.join(folder, f"{arrived:020}-{os.getpid()}")
    with open(path + ".part", "w", encoding="utf-8") as file:
        json.dump(kept, file, ensure_ascii=False)
    os.rename(path + ".part", path + ".json")
    return 0


if __name__ == "__main__":
    sys.exit(main())
