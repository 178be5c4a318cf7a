"""How editors save a file: each function does with the disk what its editor does, as seen with strace."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

Save = Callable[[Path, str], None]


def in_place(path: Path, text: str) -> None:
    """nano, VS Code, a shell's `>`."""
    path.write_text(text)


def by_appending(path: Path, text: str) -> None:
    """A shell's `>>`, here to the same end: the old text is kept only as far as it is the new one's beginning."""
    held = path.read_text() if path.exists() else ""
    with path.open("a") as stream:
        stream.write(text[len(held) :] if text.startswith(held) else text)


def by_replacing(path: Path, text: str) -> None:
    """Anything that writes a spare file and renames it: gedit, JetBrains, `sed -i`."""
    spare = path.with_name(f".goutputstream-{os.getpid()}")
    spare.write_text(text)
    spare.replace(path)


def as_jetbrains(path: Path, text: str) -> None:
    spare, old = (path.with_name(f"{path.name}___jb_{part}___") for part in ("tmp", "old"))
    spare.write_text(text)
    if path.exists():
        path.rename(old)
    spare.rename(path)
    old.unlink(missing_ok=True)


def as_vim(path: Path, text: str) -> None:
    """vim with `backupcopy=no`: a probe that the folder can be written, the file moved aside, a new one."""
    swap, probe, backup = (
        path.with_name(f".{path.name}.swp"),
        path.with_name("4913"),
        path.with_name(f"{path.name}~"),
    )
    swap.write_text("b0VIM 9.0")
    probe.touch()
    probe.unlink()
    if path.exists():
        path.rename(backup)
    path.write_text(text)
    backup.unlink(missing_ok=True)
    swap.unlink()


def as_emacs(path: Path, text: str) -> None:
    """emacs: a lock that is a dangling link, an auto-save file, and a backup that stays."""
    lock, auto = path.with_name(f".#{path.name}"), path.with_name(f"#{path.name}#")
    lock.symlink_to("ada@host.1:1795982400")
    auto.write_text(text[: len(text) // 2])
    if path.exists():
        path.rename(path.with_name(f"{path.name}~"))
    path.write_text(text)
    auto.unlink()
    lock.unlink()


def as_sed(path: Path, text: str) -> None:
    """`sed -i`, itself."""
    path.write_text("@\n") if not path.exists() else None
    script = (
        "1s/.*/" + text.rstrip("\n").replace("\\", "\\\\").replace("/", "\\/").replace("\n", "\\n") + "/;2,$d"
    )
    subprocess.run(["sed", "-i", script, str(path)], check=True)


EDITORS: dict[str, Save] = {
    "in-place": in_place, "appending": by_appending, "replacing": by_replacing, "jetbrains": as_jetbrains,
    "vim": as_vim, "emacs": as_emacs, "sed": as_sed,
}  # fmt: skip
