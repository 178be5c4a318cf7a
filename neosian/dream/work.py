"""What was done in a turn, as far as its tool calls tell: the commands that ran and the files that were changed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from neosian import speech, turns
from neosian.dream import shell
from neosian.dream.means import lines_of

_PATH_KEYS = ("file_path", "notebook_path", "path", "filePath", "target_file", "filename", "file")
_EDITING = re.compile(r"edit|write|replace|create_file|insert|apply_?patch", re.IGNORECASE)
_PATCHED = re.compile(r"^\*\*\* (?:Add|Update) File: (.+)$", re.MULTILINE)
_NOBODYS = re.compile(
    r"(?:^|/)(?:\.git|node_modules|\.venv|venv|__pycache__|dist|build|target|\.next|coverage)(?:/|$)"
)

# How a tool says that it failed or passed, where its exit code was lost in a pipe.
_SAYS_FAILED = re.compile(
    r"\b[1-9]\d* (?:failed|failures?|errors?)\b|^(?:FAILED|FAIL)\b|^Traceback \(most recent|(?:^|\s)error(?:\[\w+\])?: "
    r"|^npm (?:ERR!|error)|^make(?:\[\d+\])?: \*\*\*|^fatal: |command not found|^E {3}",
    re.MULTILINE,
)
_SAYS_PASSED = re.compile(
    r"\b\d+ (?:passed|passing)\b|^OK\b|\b0 (?:failures|failed|errors)\b|^test result: ok|^All checks passed"
    r"|^Success: no issues|^ok\s+\S+\s+[\d.(]|\bFinished\b.*\btarget\(s\)|compiled successfully",
    re.MULTILINE | re.IGNORECASE,
)

# Lines of a failed command's output, the best telling first; of the first kind the last one counts, it ends a stack.
_RAISED = re.compile(
    r"^[ \t]*(?:E[ \t]+)?(?:Uncaught )?(?:[\w$]+\.)*\w*(?:Error|Exception|Failure|Panic)(?: ?\[\w+\])?(?::.*|[ \t]*)$",
    re.MULTILINE,
)
_COMPLAINT = re.compile(
    r"\b(?:[Ee]rror|ERROR|[Ff]atal|FATAL|panic|[Ee]xception)(?: ?\[?[A-Z]*\d+\]?)?:|\bpanicked at|\bnpm (?:ERR!|error)"
    r"|\bcommand not found|\bNo such file|\bPermission denied|\b[Cc]annot find|\bundefined reference|\bNo module named"
    r"|: not found$|\bUnknown (?:option|command)|\bunrecognized|\*\*\* ",
    re.MULTILINE,
)
_FAILED = re.compile(r"\b(?:FAILED|FAIL|Failed|not ok)\b|[✗✕×✖]")
_ANY = re.compile(r"^(?!(?:Exit code|exit status|Command failed|Process exited)\b).*\w.*$", re.MULTILINE)
_ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_MESSAGE_MOST = 140
_SUMMARY_MOST = 2_000  # of its end, in which a tool sums up
_OUTPUT_MOST = 16_384  # characters of an output that are looked at
_MISUSED = re.compile(
    r"not found|No module named|No such file|[Uu]nknown|unrecognized|invalid (?:option|choice|argument)"
    r"|[Mm]issing script|Permission denied|externally-managed|usage:|not installed|Cannot find module|is not recognized"
)


class Run(NamedTuple):
    """A command that ran; ``ok`` is None where nobody knows how it ended, ``message`` the telling line of a failure."""

    ran: shell.Ran
    ok: bool | None
    message: str
    at: str

    @property
    def key(self) -> tuple[str, str]:
        """What two runs share that ran the same."""
        return self.ran.folder, self.ran.form

    @property
    def is_misuse(self) -> bool:
        """Whether it failed because it was called in a wrong way, and not because of what it found."""
        return _MISUSED.search(self.message) is not None


class Edit(NamedTuple):
    """A file of the project that was changed, as seen from the project's top folder."""

    path: str


class Roots:
    """The top folders of a project, as far as its turns tell: directories in which they ran, none inside another."""

    def __init__(self, directories: Iterable[str]) -> None:
        self._found: list[str] = []
        for directory in sorted(
            {each.rstrip("/") for each in directories}, key=lambda each: (len(each), each)
        ):
            if directory.startswith("/") and self.of(directory) == "":
                self._found.append(directory)

    def of(self, path: str) -> str:
        """The top folder that holds a path, "" where none does."""
        return next((root for root in self._found if shell.inside(path, root) is not None), "")


def directory(turn: turns.Turn, line: Mapping[str, Any] | None = None) -> str:
    """Where a turn, or one of its calls, ran."""
    return str((line or {}).get("cwd") or turn.header.get("cwd") or "")


def steps(turn: turns.Turn, roots: Roots) -> Iterator[Run | Edit]:
    """What a turn's calls ran and changed, in their order."""
    for call in turn.calls:
        here = directory(turn, call.line)
        where = shell.Where(roots.of(here), here)
        if lines := lines_of(call.input):
            for line in lines:
                yield from _runs(line, call, where)
        elif call.ok is not False and _EDITING.search(call.tool):
            for path in _paths(call.input):
                seen = shell.inside(path, where.root) if path.startswith("/") else where.moved(path).folder()
                if seen and not _NOBODYS.search(seen):
                    yield Edit(seen)


def _paths(given: Mapping[str, Any]) -> list[str]:
    """The files that an editing tool's input names."""
    named = [value for key in _PATH_KEYS if isinstance(value := given.get(key), str) and value]
    patches = [value for key in ("patch", "input", "diff") if isinstance(value := given.get(key), str)]
    found = named or [path for patch in patches for path in _PATCHED.findall(patch)]
    return [path.replace("\\", "/") for path in dict.fromkeys(found) if "\n" not in path]


def _runs(line: str, call: turns.Call, where: shell.Where) -> Iterator[Run]:
    is_launch = bool(call.results) and "background" in call.results[-1]
    ok = None if is_launch or not call.ended else call.ok
    ran = shell.commands(line, where, ok)
    text = _ANSI.sub("", call.text[:_OUTPUT_MOST])
    for each in ran:
        verdict = each.ok
        if verdict is None and len(ran) == 1 and call.ended and not is_launch:
            verdict = _said(text)
        message = telling_line(text, where.root) if verdict is False else ""
        yield Run(each, verdict, message, str(call.line.get("at") or ""))


def _said(text: str) -> bool | None:
    """How a command ended by its own words."""
    end = text[-_SUMMARY_MOST:]
    return False if _SAYS_FAILED.search(end) else True if _SAYS_PASSED.search(end) else None


def telling_line(output: str, root: str = "") -> str:
    """The one line of a failed command's output that says what went wrong, "" where there is none.

    Paths are as seen from ``root``, temporary ones are hidden.
    """
    found = _telling(output)
    if root:
        found = found.replace(f"{root}/", "").replace(root, ".")
    found = re.sub(r"(?<![\w.])(?:/private)?/(?:tmp|var/tmp|var/folders|dev/shm)/\S*", shell.HIDDEN, found)
    return speech.snippet(re.sub(r"^\s*E\s{2,}", "", found), _MESSAGE_MOST)


def _telling(output: str) -> str:
    if raised := _RAISED.findall(output):
        return str(raised[-1])
    if sign := _COMPLAINT.search(output) or _FAILED.search(output):
        return output[output.rfind("\n", 0, sign.start()) + 1 :].split("\n", 1)[0]
    lines = _ANY.findall(output)
    return str(lines[-1]) if lines else ""


def is_alike(failed: Run, passed: Run) -> bool:
    """Whether a command may be how another one should have been called: one word differs, or it wraps it."""
    one, two = failed.ran.form.split(), passed.ran.form.split()
    bases = [word.rpartition("/")[2] for word in two]
    differs_once = len(one) == len(two) and sum(a != b for a, b in zip(one, two, strict=True)) == 1
    base = one[0].rpartition("/")[2]
    return differs_once or base in bases[1:] or (base == bases[0] and one[0] != two[0])


def sequences(done: Sequence[Run | Edit]) -> Iterator[tuple[int, int]]:
    """(failed, passed): positions of a command that failed and of the run that passed in its stead.

    Of several failures in a row the last one is told, unless nothing was done between it and the pass.
    """
    failing: dict[tuple[str, str], list[int]] = {}
    for at, step in enumerate(done):
        if isinstance(step, Edit) or step.ok is None:
            continue
        if not step.ok:
            failing.setdefault(step.key, []).append(at)
            continue
        if before := failing.pop(step.key, None):
            yield _worked_on(before, at, done), at
        for key, places in list(failing.items()):
            first = done[places[-1]]
            if isinstance(first, Run) and first.is_misuse and at - places[-1] <= 4 and is_alike(first, step):
                yield places[-1], at
                del failing[key]


def _worked_on(failures: Sequence[int], passed: int, done: Sequence[Run | Edit]) -> int:
    """The last failure behind which a file was changed, else the last one."""
    for at in reversed(failures):
        if any(isinstance(step, Edit) for step in done[at:passed]):
            return at
    return failures[-1]
