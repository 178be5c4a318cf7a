"""The page docs/cli.md, made from the command's own parser: `python -m tests.reference` prints it.

argparse's own help is laid out differently from one Python to the next; this reads the actions instead.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

HEAD = """\
# Commands

Every command with its arguments and options; made from the parser by `make docs`, so edit the help texts instead.
"""


def reference(parser: argparse.ArgumentParser) -> str:
    """The whole page."""
    return "\n".join([HEAD, *_command(parser, "##")]).rstrip("\n") + "\n"


def commands(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    """The parser and those of all its commands, each before the commands below it."""
    yield parser
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for below in action.choices.values():
                yield from commands(below)


def shown(parser: argparse.ArgumentParser) -> list[argparse.Action]:
    """The arguments and options of one command that its help shows; `--help` itself goes without saying."""
    return [
        action
        for action in parser._actions
        if not isinstance(action, (argparse._HelpAction, argparse._SubParsersAction))
        and action.help is not argparse.SUPPRESS
    ]


def _command(parser: argparse.ArgumentParser, mark: str) -> Iterator[str]:
    for command in commands(parser):
        words = command.prog.split()
        yield f"{mark if len(words) < 3 else mark + '#'} {command.prog}\n"
        if command.description:
            yield f"{command.description.strip()}\n"
        actions = shown(command)
        yield from (f"- {_spelled(action)}: {_explained(action)}" for action in actions)
        if actions:
            yield ""


def _spelled(action: argparse.Action) -> str:
    value = "" if action.nargs == 0 else _value(action)
    if not action.option_strings:
        return f"`{value}`" if action.nargs not in ("?", "*") else f"`[{value}]`"
    return ", ".join(f"`{name} {value}`" if value else f"`{name}`" for name in action.option_strings)


def _value(action: argparse.Action) -> str:
    if action.choices is not None:
        return "|".join(str(choice) for choice in action.choices)
    if isinstance(action.metavar, str):
        return action.metavar
    return action.dest.upper()


def _explained(action: argparse.Action) -> str:
    return " ".join(
        (action.help or "").replace("%(default)s", str(action.default)).replace("%%", "%").split()
    )


if __name__ == "__main__":
    from neosian.cli import build_parser

    print(reference(build_parser()), end="")
