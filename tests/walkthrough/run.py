"""Play a real client's sessions with our hooks installed, offline, and check what they left.

    python tests/walkthrough/run.py [CLIENT...] [--version V] [--cache DIR] [--keep] [--record] [--table]

Exit status 0 when every check held, and also when the client cannot be installed here: that
is said loudly, in a closing line of its own. Anything else is 1. To add a client, write a module
like claude_code.py (see harness.Scenario) and name it below.
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from pathlib import Path
from typing import cast

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.walkthrough import table
from tests.walkthrough.harness import BrokenOffError, Report, Sandbox, Scenario, UnavailableError

CLIENTS = {
    "claude-code": "tests.walkthrough.claude_code",
    "codex": "tests.walkthrough.codex",
    "opencode": "tests.walkthrough.opencode",
    "gemini-cli": "tests.walkthrough.gemini_cli",
    "qwen-code": "tests.walkthrough.qwen_code",
    "copilot-cli": "tests.walkthrough.copilot_cli",
    "pi": "tests.walkthrough.pi",
    "kimi-code": "tests.walkthrough.kimi_code",
    "across": "tests.walkthrough.across",
}
DATA = Path(__file__).resolve().parents[1] / "data"


def main(argv: list[str] | None = None) -> int:
    args = _parser().parse_args(argv)
    names = args.clients + args.client or list(CLIENTS)
    reports = [walk(name, args.version, args.cache, args.keep, args.record, args.table) for name in names]
    played = [report for report in reports if report]
    if len(names) > 1:
        left_out = f", {len(names) - len(played)} SKIPPED" if len(played) < len(names) else ""
        print(f"walkthrough of {len(names)}: {sum(played, Report())}{left_out}")
    return 0 if all(report.good for report in played) else 1


def walk(
    name: str, version: str | None, cache: Path, keep: bool = False, record: bool = False, write: bool = False
) -> Report | None:
    """Walk one client through its story; print each check and a closing line. None: it could not be installed.

    ``record``: what its hooks were given becomes test data. ``write``: where every check held, its row of the table
    in docs/clients.md is written.
    """
    scenario = cast(Scenario, importlib.import_module(CLIENTS[name]))
    version = version or scenario.VERSION
    title = f"walkthrough {name} {version}"
    print(title, flush=True)
    try:
        client = scenario.obtain(version, cache / name)
    except UnavailableError as error:
        print(f"\nSKIPPED: {name} {version} could not be installed: {error}\nSKIPPED: nothing was checked.\n")
        print(f"{title}: SKIPPED")
        return None
    report = Report()
    with Sandbox(keep) as box:
        try:
            scenario.walk(client, version, box, report)
        except BrokenOffError as error:
            print(f"  broken off: {error}")
        if record:
            box.save_payloads(DATA / name / "turns" / "walkthrough.jsonl")
    print(f"{title}: {report}")
    if report.good and write and scenario.ROW:
        table.write(name, version, scenario.ROW)
    return report


def default_cache() -> Path:
    """Where clients are installed unless told otherwise: outside the tree, one folder a client."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "neosian-walkthrough"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    known = ", ".join(CLIENTS)
    parser.add_argument("clients", nargs="*", metavar="CLIENT", type=_client, help=f"one of {known}")
    parser.add_argument("--client", action="append", type=_client, default=[], help="the same")
    parser.add_argument("--version", help="of the client (default: the one pinned in its module)")
    parser.add_argument(
        "--cache",
        type=Path,
        default=default_cache(),
        help="where clients are installed, kept between runs (default: %(default)s)",
    )
    parser.add_argument("--record", action="store_true", help="make test data of what the hooks were given")
    parser.add_argument("--table", action="store_true", help="write what was green into docs/clients.md")
    parser.add_argument("--keep", action="store_true", help="leave the throwaway home and project behind")
    return parser


def _client(name: str) -> str:
    if name not in CLIENTS:
        raise argparse.ArgumentTypeError(f"no walkthrough for {name}")
    return name


if __name__ == "__main__":
    sys.exit(main())
