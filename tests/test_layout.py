"""The rows of the package, as docs/architecture.md has them: who may import whom, read from the source.

A module's row is its room in one direction of flow. The tests parse every file and look at all its imports,
those inside functions and those for type checkers too; only what runs when a hook starts is looked at apart.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import NamedTuple

import pytest

PACKAGE = Path(__file__).parent.parent / "neosian"
PAGE = PACKAGE.parent / "docs" / "architecture.md"


class Room(NamedTuple):
    """A line of the page's table: its place from the top, its row, and whether it runs when a hook fires."""

    line: int
    row: int
    hook: bool


def rooms() -> dict[str, Room]:
    """Module or folder -> its line in docs/architecture.md; one without a number goes on with the row above it."""
    found: dict[str, Room] = {}
    row = -1
    for number, name, hook in re.findall(
        r"^\| (?:(\d) .*?)?\| `([\w.*]+)` \|(.*?)\|", PAGE.read_text("utf-8"), re.M
    ):
        row = int(number) if number else row
        found[name] = Room(len(found), row, hook.strip() == "yes")
    return found


ROOMS = rooms()
HOOK_PATH = {name for name, place in ROOMS.items() if place.hook}

# The one module that may import each third-party package.
THIRD_PARTY = {
    "anthropic": "dream.model",
    "filelock": "store",
    "frontmatter": "matter",
    "httpx2": "dream.model",
    "yaml": "matter",
    "mcp": "mcp_server",
    "pydantic": "mcp_server",
    "pygit2": "history",
    "watchdog": "watch",
}

# What of the standard library a module of the hook's path may load at once: each other module costs a
# noticeable part of an interpreter's start.
CHEAP = {
    "__future__", "_json", "_sha1", "_sqlite3", "collections", "collections.abc", "errno", "fcntl", "gc", "json", "math", "mmap",
    "os", "os.path", "re", "select", "sqlite3", "stat", "sys", "time", "unicodedata", "zlib",
}  # fmt: skip
# What must not be loaded when they are imported, by whatever way.
DEAR = {
    "argparse", "asyncio", "dataclasses", "hashlib", "importlib.metadata", "logging", "pathlib", "subprocess",
    "tempfile", "typing", "filelock", "frontmatter", "pygit2", "yaml",
}  # fmt: skip


class Import(NamedTuple):
    """One imported module: its full name, and whether it is loaded as soon as the importer is."""

    target: str
    at_once: bool


def modules() -> dict[str, Path]:
    """Every module of the package, by its name without ``neosian.``."""
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        found[".".join(part for part in parts if part != "__init__")] = path
    return found


MODULES = modules()


def room(module: str) -> str:
    """Where a module lives: the line of its own name, else of one with a `*` in it, else that of its folder."""
    alike = (name for name in ROOMS if "*" in name and fnmatchcase(module, name))
    return module if module in ROOMS else next(alike, module.split(".")[0])


# Those with a row; `test_every_module_has_a_row` tells of the others.
HOUSED = [module for module in MODULES if room(module) in ROOMS]


def imports(module: str) -> list[Import]:
    """All that one module of the package imports."""
    tree = ast.parse(MODULES[module].read_text(encoding="utf-8"))
    return list(_imports(tree, at_once=True))


def _imports(node: ast.AST, *, at_once: bool) -> Iterator[Import]:
    if isinstance(node, ast.Import):
        yield from (Import(alias.name, at_once) for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        assert node.level == 0, "imports are written out in full"
        source = node.module or ""
        for alias in node.names:
            inner = f"{source}.{alias.name}"
            yield Import(inner if inner.removeprefix("neosian.") in MODULES else source, at_once)
    elif isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
        yield from (found for child in node.body for found in _imports(child, at_once=False))
        yield from (found for child in node.orelse for found in _imports(child, at_once=at_once))
    else:
        # A function's imports wait for its call, those of an `except` for a Python without the first choice.
        waits = isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ExceptHandler))
        for child in ast.iter_child_nodes(node):
            yield from _imports(child, at_once=at_once and not waits)


def own(found: list[Import]) -> list[str]:
    """The imported modules that are the package's own, without ``neosian.``; the bare package is left out."""
    return [item.target.removeprefix("neosian.") for item in found if item.target.startswith("neosian.")]


def foreign(found: list[Import]) -> set[str]:
    """The imported top-level packages that are neither the package's own nor Python's."""
    tops = {item.target.split(".")[0] for item in found}
    return tops - set(sys.stdlib_module_names) - {"neosian"}


def loaded_by(module: str) -> set[str]:
    """What a fresh interpreter holds after importing one module, without site-packages, as a hook runs it."""
    program = f"import sys; sys.path.insert(0, {str(PACKAGE.parent)!r}); import {module}; print(*sys.modules)"
    command = [sys.executable, "-I", "-S", "-c", program]
    shown = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    return set(shown.split())


def allowed(importer: str, target: str) -> bool:
    """Whether the table lets one room import another."""
    if importer == target:
        return True
    if target not in ROOMS:
        return False
    if target in ("cli", "commands"):
        return importer == "cli" and target == "commands"
    return ROOMS[target].line < ROOMS[importer].line


def test_every_module_has_a_row() -> None:
    homeless = {room(module) for module in MODULES} - set(ROOMS) - {"", "__main__"}
    assert homeless == set(), "give the new module a line in the table of docs/architecture.md"


def test_every_row_has_its_module() -> None:
    assert set(ROOMS) - {room(module) for module in MODULES} == set()


@pytest.mark.parametrize("module", HOUSED)
def test_imports_go_to_lines_above_only(module: str) -> None:
    wrong = [target for target in own(imports(module)) if not allowed(room(module), room(target))]
    assert wrong == []


def test_only_main_imports_the_command_line() -> None:
    importers = {module for module in MODULES if "cli" in own(imports(module))}
    assert importers <= {"__main__"}


@pytest.mark.parametrize("module", [name for name in MODULES if name.startswith("commands.")])
def test_a_command_imports_no_other_command(module: str) -> None:
    others = [target for target in own(imports(module)) if room(target) == "commands"]
    # Its own subcommands are no others, nor is what commands share.
    assert [name for name in others if not name.startswith((f"{module}_", "commands._"))] == []


def test_no_two_modules_import_each_other() -> None:
    graph = {module: set(own(imports(module))) for module in MODULES}
    while free := [module for module, targets in graph.items() if not targets & set(graph)]:
        for module in free:
            del graph[module]
    assert graph == {}, "these modules are on a cycle, or import one that is"


@pytest.mark.parametrize("module", MODULES)
def test_a_third_party_package_has_one_importer(module: str) -> None:
    wrong = {name for name in foreign(imports(module)) if THIRD_PARTY.get(name) != room(module)}
    assert wrong == set()


@pytest.mark.parametrize("package", sorted(THIRD_PARTY))
def test_the_one_importer_is_one_file(package: str) -> None:
    importers = [module for module in MODULES if package in foreign(imports(module))]
    assert len(importers) <= 1


@pytest.mark.parametrize("module", [name for name in HOUSED if ROOMS[room(name)].row in (0, 1)])
def test_the_ground_and_the_capture_row_use_the_standard_library_only(module: str) -> None:
    assert foreign(imports(module)) == set()


@pytest.mark.parametrize("module", [name for name in HOUSED if room(name) in HOOK_PATH])
def test_the_hook_path_imports_only_what_is_cheap(module: str) -> None:
    at_once = [item for item in imports(module) if item.at_once and item.target != "neosian"]
    dear = {item.target for item in at_once if not item.target.startswith("neosian.")} - CHEAP
    outside = {target for target in own(at_once) if room(target) not in HOOK_PATH}
    assert (dear, outside) == (set(), set())


@pytest.mark.parametrize("module", [name for name in HOUSED if room(name) in HOOK_PATH])
def test_the_hook_path_loads_only_what_is_cheap(module: str) -> None:
    assert sorted(loaded_by(f"neosian.{module}") & DEAR) == []


def test_importing_the_package_loads_nothing_of_it() -> None:
    assert [name for name in loaded_by("neosian") if name.startswith("neosian.")] == []


@pytest.mark.parametrize("face", ["beginning", "reminding", "answering"])
def test_what_answers_a_client_has_no_time_for_patterns(face: str) -> None:
    assert loaded_by(f"neosian.{face}") & {"re", "json", "enum"} == set()


def test_small_talk_loads_neither_the_index_nor_the_store() -> None:
    assert loaded_by("neosian.reminding") & {"_sqlite3", "sqlite3", "neosian.index", "neosian.store"} == set()
