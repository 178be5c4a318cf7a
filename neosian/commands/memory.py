"""`neosian memory`: documents viewed and changed, by people and by agents in a shell."""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Callable
from typing import Any

from neosian import editing, output, resources, scope
from neosian.commands._scopes import add_mounts, seen
from neosian.commands._writing import in_editor, tell, writer
from neosian.errors import NeosianError, UsageError
from neosian.memory import FLAGS, Done, Memory, Writer
from neosian.wiki import Missing, Wiki

_TEMPLATES = "templates/notes"
_PATH = "a document, such as /project/tools/deploy.md"
_RANGE = re.compile(r"(\d+)(?::(\d+)?)?")


def configure(parser: argparse.ArgumentParser) -> None:
    add_mounts(parser)
    parser.add_argument("--json", action="store_true", help="print one object")
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", required=True)

    def verb(name: str, about: str, **arguments: str) -> argparse.ArgumentParser:
        made = verbs.add_parser(name, help=about, description=f"{about[0].upper()}{about[1:]}.")
        for argument, said in arguments.items():
            made.add_argument(argument, metavar=argument.upper(), help=said)
        _again(made)
        return made

    def text(parser: argparse.ArgumentParser, name: str, about: str) -> None:
        parser.add_argument(
            name, metavar=name.upper(), nargs="?", default="-", help=f"{about}; - (the default) reads stdin"
        )

    view = verb("view", "show a document with line numbers, or what a folder holds")
    view.add_argument(
        "path", metavar="PATH", nargs="?", default="/", help="a document or folder (default: all there is)"
    )
    view.add_argument("--lines", metavar="A[:B]", type=_lines, help="only these lines; A: goes to the end")
    view.add_argument("--at", metavar="REV", help="as it stood at a commit of the scope")
    create = verb("create", "write a new document", path=_PATH)
    text(create, "file_text", "its text")
    create.add_argument("--template", choices=_templates(), help="begin from this one instead")
    replace = verb(
        "str_replace",
        "replace a text of a document",
        path=_PATH,
        old_str="text that stands in it exactly once",
    )
    replace.add_argument("new_str", metavar="NEW_STR", help="what it becomes; - reads stdin")
    insert = verb("insert", "add lines to a document", path=_PATH)
    insert.add_argument(
        "insert_line",
        metavar="INSERT_LINE",
        type=int,
        help="the line behind which they go; 0: at the beginning",
    )
    text(insert, "insert_text", "the lines")
    verb("delete", "take documents away; history keeps them", path="a document or folder")
    verb("rename", "move documents", old_path="a document or folder", new_path="a path that is free")
    verb("pin", "have a document told whole at every session start", path=_PATH)
    verb("unpin", "have a document told no longer", path=_PATH)
    flag = verb("flag", "say that a document is stale or wrong, until somebody changes it", path=_PATH)
    flag.add_argument("kind", metavar="|".join(FLAGS), choices=FLAGS, help="not so any more, or never so")
    flag.add_argument("--reason", metavar="TEXT", default="", help="what is wrong with it")
    verb("unflag", "take back what was said against a document", path=_PATH)
    edit = verb("edit", "open a document in your editor, then commit it under your name", path=_PATH)
    edit.add_argument("--template", choices=_templates(), help="what a new document begins with")


def _again(parser: argparse.ArgumentParser) -> None:
    """The options of `neosian memory`, also behind its verb."""
    again = argparse.SUPPRESS
    parser.add_argument("--root", metavar="DIR", default=again, help="the home")
    parser.add_argument("--scope", metavar="SCOPE", default=again, help="one scope, mounted as /project")
    parser.add_argument("--mount", metavar="/PATH=SCOPE[:ro]", action="append", default=again, help="a mount")
    parser.add_argument("--json", action="store_true", default=again, help="print one object")


def run(args: argparse.Namespace) -> int:
    wiki = Wiki(scope.home(args.root), seen(args))
    if args.verb == "view":
        if args.json:
            output.as_json(wiki.as_json(args.path, args.at))
        else:
            output.text(wiki.view(args.path, args.lines, args.at))
        return 0
    memory = Memory(wiki, Writer() if args.verb == "edit" else writer())
    done = edit(memory, args.path, args.template) if args.verb == "edit" else _ACTS[args.verb](memory, args)
    tell(args, done)
    return 0


_ACTS: dict[str, Callable[[Memory, Any], Done]] = {
    "create": lambda memory, args: memory.create(args.path, _begun(args)),
    "str_replace": lambda memory, args: memory.str_replace(
        args.path, _text(args.old_str), _text(args.new_str)
    ),
    "insert": lambda memory, args: memory.insert(args.path, args.insert_line, _text(args.insert_text)),
    "delete": lambda memory, args: memory.delete(args.path),
    "rename": lambda memory, args: memory.rename(args.old_path, args.new_path),
    "pin": lambda memory, args: memory.pin(args.path),
    "unpin": lambda memory, args: memory.pin(args.path, False),
    "flag": lambda memory, args: memory.flag(args.path, args.kind, args.reason),
    "unflag": lambda memory, args: memory.unflag(args.path),
}


def edit(memory: Memory, path: str, template: str | None = None) -> Done:
    """Open a document in the person's editor, and write what comes of it. What cannot be written is kept in a file."""
    if not (output.can_ask() or os.environ.get("GIT_EDITOR")):
        raise UsageError(
            "An editor needs a terminal, and there is none.",
            f"neosian memory str_replace {path} OLD_STR NEW_STR",
        )
    memory.check(path)
    try:
        before: bytes | None = memory.wiki.read(path)
    except Missing:
        before = None
    begun = before if before is not None else _template(template).encode() if template else b""
    with in_editor(path, begun) as after:
        return _written(memory, path, before, after, nothing=after in (begun, b""))


def _written(memory: Memory, path: str, before: bytes | None, after: bytes, *, nothing: bool) -> Done:
    """What the editor left, written."""
    if before is not None and not after.strip():
        raise NeosianError("The document was emptied. Nothing was written.", f"neosian memory delete {path}")
    if before is not None:
        return memory.rewrite(path, after, before)
    if nothing:
        raise NeosianError(f"Nothing was written in the editor, and no {path} was made.")
    return memory.create(path, editing.shown(after))


def _text(given: str) -> str:
    """A text as given; `-` is what stdin holds."""
    if given != "-":
        return given
    if sys.stdin.isatty():
        output.note("Reading the text from the terminal; it ends with Ctrl-D.")
    return sys.stdin.buffer.read().decode("utf-8", "replace")


def _begun(args: argparse.Namespace) -> str:
    """The text of a new document: as given, or a template's."""
    if args.template and args.file_text != "-":
        raise UsageError("A new document begins with a text or with a template, not with both.")
    text = _template(args.template) if args.template else _text(args.file_text)
    if not text.strip():
        raise UsageError(
            "There is no text to write.", f"neosian memory create {args.path} --template preference"
        )
    return text


def _template(name: str) -> str:
    return resources.text(_TEMPLATES, f"{name}.md")


def _templates() -> list[str]:
    return [name.removesuffix(".md") for name in resources.names(_TEMPLATES)]


def _lines(text: str) -> tuple[int, int]:
    found = _RANGE.fullmatch(text)
    if found is None:
        raise argparse.ArgumentTypeError(f"{text!r} is no range of lines such as 3, 3:10 or 3:")
    first = int(found[1])
    return first, int(found[2]) if found[2] else -1 if ":" in text else first
