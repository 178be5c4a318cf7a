"""The command line: a table of commands, dispatch, and the one place where an error becomes text and a status."""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from collections.abc import Sequence
from typing import Any

from neosian import __version__
from neosian.errors import NeosianError, UsageError, did_you_mean

COMMANDS = {
    "setup": "wire the coding agents that are installed here to neosian, and take it back",
    "record": "record one hook event, or install and remove the hooks",
    "context": "show what a session is told at its start",
    "memory": "view and change documents",
    "board": "tell what is being done, and by whom",
    "skills": "list the skills, or show one",
    "dream": "turn what happened into notes",
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
    "doctor": "look deeper than status, and mend what is safe to mend",
    "off": "record and tell nothing, everywhere or in one project",
    "on": "record and tell again",
    "project": "list the projects; rename, merge or move one",
    "watch": "commit what people save as soon as it has settled",
    "path": "print the folder of a scope",
    "docs": "print a page of the documentation",
    "demo": "play two recorded sessions in a throwaway home",
}
"""Each is a module of `neosian.commands` with ``configure(parser)`` and ``run(args) -> int``."""

FAILED, BAD_INVOCATION, INTERRUPTED = 1, 2, 130


def build_parser(only: str | None = None) -> argparse.ArgumentParser:
    """The parser of the whole command line, or of one command, whose module alone is then imported."""
    parser = _Parser(
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
    root = ""
    try:
        args, rest = build_parser(_named(words)).parse_known_args(words)
        if rest and args.command != "search":
            args.parser.error(f"unrecognized arguments: {' '.join(rest)}")
        elif rest:
            args.query += rest  # any text is a query, `--no-verify` too
        if args.root == "":
            raise UsageError("--root needs the path of a folder.")
        root = args.root or ""
        status: int = importlib.import_module(f"neosian.commands.{args.command}").run(args)
        sys.stdout.flush()
        return status
    except SystemExit as ended:  # --help and --version, or what argparse refused
        if _flushed():
            raise
        return FAILED if ended.code == 0 else BAD_INVOCATION
    except NeosianError as error:
        return _tell(str(error), error.hint, BAD_INVOCATION if isinstance(error, UsageError) else FAILED)
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        _let_go_of_stdout()  # whoever read it has seen enough
        return 0
    except OSError as error:
        where = f" ({error.filename})" if error.filename else ""
        return _tell(f"{error.strerror or error}{where}.", _elsewhere(words), FAILED)
    except Exception as error:
        said = f"Something unexpected happened: {_keep_traceback(root, error)}"
        return _tell(said, _elsewhere(words), FAILED)


def _elsewhere(words: list[str]) -> str:
    """The command that says how things stand, after one that could not."""
    return "neosian doctor" if _named(words) == "status" else "neosian status"


class _Parser(argparse.ArgumentParser):
    """Takes a command's options before, between and behind its arguments. What it read says, as ``parser``, which
    parser read it: a command's own usage belongs beside what is wrong with the command."""

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        words = sys.argv[1:] if args is None else list(args)
        found, rest = super().parse_known_args(self._options_first(words), namespace)
        if not hasattr(found, "parser"):
            found.parser = self
        return found, rest

    def _options_first(self, words: list[str]) -> list[str]:
        """The words of a command with its options in front, each with its value.

        argparse fills optional arguments from the first words it meets, and takes none behind an option any more.
        """
        if any(isinstance(action, argparse._SubParsersAction) for action in self._actions):
            return words
        options: list[str] = []
        others: list[str] = []
        at = 0
        while at < len(words) and words[at] != "--":
            action = self._option(words[at])
            (others if action is None else options).append(words[at])
            at += 1
            if action is None or "=" in words[at - 1]:
                continue
            may_go_without = action.nargs == "?" and (at == len(words) or words[at].startswith("-"))
            if action.nargs in (None, "?") and not may_go_without:
                if at == len(words):
                    return words  # its value is missing, which argparse tells
                options.append(words[at])
                at += 1
        return options + others + words[at:]

    def _option(self, word: str) -> argparse.Action | None:
        """The option that a word names, whole or by a beginning that no other has."""
        name = word.partition("=")[0]
        if not name.startswith("--"):
            return self._option_string_actions.get(name)
        known = self._option_string_actions
        begun = {id(action): action for option, action in known.items() if option.startswith(name)}
        return known.get(name) or (next(iter(begun.values())) if len(begun) == 1 else None)


def _named(words: list[str]) -> str | None:
    """The command that the first word names, None where it is an option of the whole program."""
    if not words:
        raise UsageError(
            "No command was given. usage: neosian COMMAND ...", "neosian --help, or neosian docs quickstart"
        )
    if words[0].startswith("-"):
        return None
    if words[0] not in COMMANDS:
        near = did_you_mean(words[0], COMMANDS)
        raise UsageError(f"There is no command {words[0]!r}.{near}", "neosian --help")
    return words[0]


def _tell(said: str, hint: str, status: int) -> int:
    _flushed()
    from neosian.output import printable

    sys.stderr.write(printable(f"neosian: {said}\n" + (f"  try: {hint}\n" if hint else "")))
    return status


def _flushed() -> bool:
    """Whether stdout took all that it was given; what it did not take is let go."""
    try:
        sys.stdout.flush()
    except OSError:
        _let_go_of_stdout()
        return False
    return True


def _let_go_of_stdout() -> None:
    """Have what is left of our output go nowhere, for Python would try again at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


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
