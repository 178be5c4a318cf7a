"""`neosian memory`: documents viewed and changed, by people and by agents in a shell."""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from typing import Any

from neosian import editing, files, output, resources, scope
from neosian.commands._scopes import add_mounts, seen
from neosian.commands._writing import tell, writer
from neosian.errors import NeosianError
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
    text(replace, "new_str", "what it becomes")
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
        said = wiki.view(args.path, args.lines, args.at)
        output.as_json({"path": args.path, "text": said}) if args.json else output.text(said)
        return 0
    memory = Memory(wiki, Writer() if args.verb == "edit" else writer())
    done = edit(memory, args.path, args.template) if args.verb == "edit" else _ACTS[args.verb](memory, args)
    tell(args, done)
    return 0


_ACTS: dict[str, Callable[[Memory, Any], Done]] = {
    "create": lambda memory, args: memory.create(
        args.path,
        resources.text(_TEMPLATES, f"{args.template}.md") if args.template else _text(args.file_text),
    ),
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
    try:
        before: bytes | None = memory.wiki.read(path)
    except Missing:
        before = None
    begun = (
        before
        if before is not None
        else resources.text(_TEMPLATES, f"{template}.md").encode()
        if template
        else b""
    )
    folder = tempfile.mkdtemp(prefix="neosian-")  # 0700
    file = os.path.join(folder, os.path.basename(path) or "note.md")
    files.write(file, begun)
    status = subprocess.run(["/bin/sh", "-c", f'{_editor()} "$@"', "editor", file], check=False).returncode
    after = files.read(file) or b""
    try:
        if status:
            raise NeosianError(f"The editor ended with {status}. Nothing was written.")
        if before is None and after in (begun, b""):
            raise NeosianError(f"Nothing was written in the editor, and no {path} was made.")
        if before is None:
            done = memory.create(path, editing.shown(after))
        else:
            done = memory.rewrite(path, after, before)
    except NeosianError as error:
        if after == begun:
            _remove(file)
            raise
        raise NeosianError(f"{error}\nYour text is kept in {file}.", error.hint) from None
    _remove(file)
    return done


def _editor() -> str:
    """The editor that git would open."""
    asked = subprocess.run(["git", "var", "GIT_EDITOR"], capture_output=True, text=True, check=False)
    return asked.stdout.strip() or os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"


def _remove(file: str) -> None:
    files.remove(file)
    os.rmdir(os.path.dirname(file))


def _text(given: str) -> str:
    """A text as given; `-` is what stdin holds."""
    if given != "-":
        return given
    if sys.stdin.isatty():
        output.note("Reading the text from the terminal; it ends with Ctrl-D.")
    return sys.stdin.buffer.read().decode("utf-8", "replace")


def _templates() -> list[str]:
    return [name.removesuffix(".md") for name in resources.names(_TEMPLATES)]


def _lines(text: str) -> tuple[int, int]:
    found = _RANGE.fullmatch(text)
    if found is None:
        raise argparse.ArgumentTypeError(f"{text!r} is no range of lines such as 3, 3:10 or 3:")
    first = int(found[1])
    return first, int(found[2]) if found[2] else -1 if ":" in text else first
