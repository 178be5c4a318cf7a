"""The command line: a table of commands, dispatch, and the one place where an error becomes text and a status."""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from collections.abc import Sequence

from neosian import __version__
from neosian.errors import NeosianError, UsageError

COMMANDS = {
    "record": "record one hook event, or install and remove the hooks",
    "context": "show what a session is told at its start",
    "memory": "view and change documents",
    "board": "tell what is being done, and by whom",
    "skills": "list the skills, or show one",
    "recall": "show a turn whole",
    "replay": "print what an agent was given, word for word",
    "search": "find turns and documents",
    "sessions": "list the sessions",
    "audit": "tell who changed what, when, and from which turn",
    "mcp": "serve the memory to agents over MCP, or tell a client of that server",
    "log": "tell what happened to a scope or a document, newest first",
    "diff": "show what changed in documents",
    "revert": "take back a change of documents, or put a document back",
    "why": "tell who wrote each line of a document, and from which turns",
    "status": "tell how the memory is doing",
    "watch": "commit what people save as soon as it has settled",
    "path": "print the folder of a scope",
    "docs": "print a page of the documentation",
    "demo": "play a recorded session in a throwaway home",
}
"""Each is a module of `neosian.commands` with ``configure(parser)`` and ``run(args) -> int``."""

FAILED, BAD_INVOCATION, INTERRUPTED = 1, 2, 130


def build_parser(only: str | None = None) -> argparse.ArgumentParser:
    """The parser of the whole command line, or of one command, whose module alone is then imported."""
    parser = argparse.ArgumentParser(
        prog="neosian", description="A memory wiki for coding agents, in plain files under git.",
        formatter_class=_trial,
    )  # fmt: skip
    parser.add_argument("--version", action="version", version=f"neosian {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True, prog=parser.prog)
    made = [parser]
    for name, about in COMMANDS.items():
        if only in (None, name):
            command = commands.add_parser(
                name, help=about, description=about[0].upper() + about[1:] + ".", formatter_class=_trial
            )
            command.add_argument(
                "--root", metavar="DIR", help="the home (default: $NEOSIAN_HOME, else ~/.neosian)"
            )
            importlib.import_module(f"neosian.commands.{name}").configure(command)
            made.append(command)
    for each in made:
        each.formatter_class = argparse.HelpFormatter
    return parser


def _trial(prog: str) -> argparse.HelpFormatter:
    """What argparse tries each new argument out with. Left alone it would measure the terminal for that, and import
    for it what takes a quarter of an interpreter's start."""
    return argparse.HelpFormatter(prog, width=80)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; its exit status."""
    words = list(sys.argv[1:] if argv is None else argv)
    named = words[0] if words and words[0] in COMMANDS else None
    root = ""
    try:
        parser = build_parser(named)
        args, rest = parser.parse_known_args(words)
        if rest and args.command != "search":
            parser.error(f"unrecognized arguments: {' '.join(rest)}")
        elif rest:
            args.query += rest  # any text is a query, `--no-verify` too
        root = args.root or ""
        status: int = importlib.import_module(f"neosian.commands.{args.command}").run(args)
        sys.stdout.flush()
        return status
    except NeosianError as error:
        return _tell(str(error), error.hint, BAD_INVOCATION if isinstance(error, UsageError) else FAILED)
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # Whoever read our output has seen enough; keep Python from telling of it again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        where = f" ({error.filename})" if error.filename else ""
        return _tell(f"{error.strerror or error}{where}.", "neosian status", FAILED)
    except Exception as error:
        return _tell(
            f"Something unexpected happened: {_keep_traceback(root, error)}", "neosian status", FAILED
        )


def _tell(said: str, hint: str, status: int) -> int:
    sys.stdout.flush()
    from neosian.output import printable

    sys.stderr.write(printable(f"neosian: {said}\n" + (f"  try: {hint}\n" if hint else "")))
    return status


def _keep_traceback(root: str, error: Exception) -> str:
    """Put the details into the log, for whoever is asked about it; what a person is told."""
    import traceback

    from neosian import files, scope

    try:
        path = os.path.join(scope.home(root), "log", "neosian.log")
        files.log(path, " | ".join(traceback.format_exception(error)))
    except (NeosianError, OSError):
        return f"{type(error).__name__}: {error}."
    return f"{type(error).__name__}: {error}. The details are in {path}."
