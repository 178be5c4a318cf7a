"""What commands share that change documents: who writes, in which editor, and how it is told."""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

from neosian import files, output
from neosian.child import git_program, spawn
from neosian.clients import calling
from neosian.errors import GitError, NeosianError
from neosian.memory import Done, Writer


def writer() -> Writer:
    """Who runs this: the agent whose shell it is, else the person."""
    caller = calling(os.environ)
    return Writer.of_session(*caller) if caller else Writer()


@contextmanager
def in_editor(path: str, begun: bytes) -> Iterator[bytes]:
    """What a person makes of a text in their editor. What then cannot be written is kept in a file, and said so."""
    folder = tempfile.mkdtemp(prefix="neosian-")  # 0700
    file = os.path.join(folder, os.path.basename(path))
    files.write(file, begun)
    kept = False
    try:
        status = subprocess.run(
            ["/bin/sh", "-c", f'{_editor()} "$@"', "editor", file], check=False
        ).returncode
        if os.path.islink(file) or not os.path.isfile(file):
            raise NeosianError("The editor left no file there. Nothing was written.")
        after = files.read(file) or b""
        kept = after != begun
        if status:
            raise NeosianError(f"The editor ended with {status}. Nothing was written.")
        yield after
        kept = False
    except NeosianError as error:
        raise NeosianError(
            f"{error}\nYour text is kept in {file}." if kept else str(error), error.hint
        ) from None
    except KeyboardInterrupt:
        kept = True
        output.note(f"Interrupted; what the editor had saved is in {file}.")
        raise
    finally:
        if not kept:
            shutil.rmtree(folder, ignore_errors=True)  # editors leave backups beside


def _editor() -> str:
    """The editor that git would open."""
    try:
        asked = spawn([git_program(), "var", "GIT_EDITOR"], dict(os.environ), 5.0).communicate(b"")[1]
    except GitError:
        asked = b""
    return os.fsdecode(asked).strip() or os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"


def tell(args: argparse.Namespace, done: Done) -> None:
    """Print what a change came to, and how to take it back."""
    if args.json:
        output.as_json(done.json())
    elif done.commit is None:
        output.text(f"{done.place}: it was so already.")
    else:
        output.text(f"{done.said} ({done.place}, commit {done.commit[:10]})")
        output.note(f"To take it back: {done.undo.replace('`', '')}")
