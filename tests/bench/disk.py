"""What a history takes on disk, against the bytes of its turn logs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from neosian import packing
from tests.bench.histories import History
from tests.bench.table import Row

GIT, ALL = 0.6, 2.5


def rows(history: History) -> Iterator[Row]:
    """Two rows: the packed repository, and everything."""
    store, home = history.stage.store, history.stage.home
    packing.pack(str(home), store.scope)
    scope = Path(store.path)
    text = sum(path.stat().st_size for path in (scope / "record").rglob("*.jsonl"))
    git = used(scope / ".git")
    everything = used(scope) + used(Path(store.cache)) + used(home / "spool")
    yield Row("disk", f"packed .git, {history.plan}", git / text, GIT)
    yield Row("disk", f"with folder, index, spool, {history.plan}", everything / text, ALL)


def used(path: Path) -> int:
    """Bytes that a file, or all below a folder, takes on the disk."""
    files = [path] if path.is_file() else [each for each in path.rglob("*") if each.is_file()]
    return sum(each.stat().st_blocks * 512 for each in files)
