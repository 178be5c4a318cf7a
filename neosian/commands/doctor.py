"""`neosian doctor`: a deeper look than `neosian status`, and what is safe mended; exit 1 when something stays wrong."""

from __future__ import annotations

import argparse
import os

from neosian import doctor, output, scope


def configure(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Check all there is: the launcher, the lines in the clients' settings, every repository, the search caches, "
        "the spool, permissions and locks. It reads everything, so it takes longer than neosian status."
    )
    parser.add_argument("--fix", action="store_true", help="mend what is safe to mend, and say what was done")
    parser.add_argument("--json", action="store_true", help="print one object: problems, done")


def run(args: argparse.Namespace) -> int:
    home, directory = scope.home(args.root), scope.working_directory()
    found = doctor.examine(home, directory, os.environ)
    done = doctor.mend(found) if args.fix else []
    if done:
        found = doctor.examine(home, directory, os.environ)
    if args.json:
        output.as_json({
            "problems": [
                {"about": each.about, "what": each.what, "try": each.hint, "fix": each.mend is not None}
                for each in found
            ],
            "done": [{"ok": is_well, "what": what} for is_well, what in done],
        })  # fmt: skip
    else:
        for is_well, what in done:
            output.text(f"{'mended' if is_well else 'not mended'}: {what}")
        output.text("\n\n".join(filter(None, (_table(found), _problems(found)))))
        if any(each.mend for each in found) and not args.fix:
            output.note("Those marked (--fix) are mended by: neosian doctor --fix")
    return 1 if found else 0


def _table(found: list[doctor.Finding]) -> str:
    """A line a check: what is well, and how much is not."""
    counts = {about: sum(each.about == about for each in found) for about in doctor.CHECKS}
    return output.table([
        (f"{count} wrong" if (count := counts[about]) else "ok", words) for about, words in doctor.CHECKS.items()
    ])  # fmt: skip


def _problems(found: list[doctor.Finding]) -> str:
    rows = []
    for each in found:
        mark = " (--fix)" if each.mend else ""
        rows.append(f"! {each.what}{mark}" + (f"\n    try: {each.hint}" if each.hint else ""))
    return "\n".join(rows) or "All is well."
