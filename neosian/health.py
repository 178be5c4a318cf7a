"""How a home is doing: its scopes, what waits in the spool, which clients were heard, what is wrong."""

from __future__ import annotations

import os
import shlex
import subprocess
import time
from pathlib import Path
from typing import Any

from neosian import (
    adopt,
    config,
    documents,
    files,
    install,
    matter,
    mcp_install,
    output,
    projects,
    recall,
    switch,
    taking,
    turns,
    wiring,
)
from neosian.clients.installers import SERVED, installer
from neosian.dream import schedule, state
from neosian.errors import NeosianError
from neosian.index import Index
from neosian.launcher import launcher_path
from neosian.redact import redact_path
from neosian.spool import Spool
from neosian.store import Store

_WAITS_LONG = 6 * 3600.0
_WAITS = 600.0  # seconds without an event after which no session is thought to run
_STARTS = 20.0  # seconds that the launcher's Python has to start
_OLD = 86_400.0  # seconds after which a line of the log is old
_SHOWN = 160  # characters shown of a line of the log
_PROGRAMS = {"python": "python", "stub": "stub", "NEOSIAN_GIT": "git"}
"""What the launcher names, by the variable that holds it."""
_NAMED = 20
"""Documents with faulty front matter that are named in each scope."""
_LOST = "this event was not recorded"
"""What the launcher writes into the log of an event that it could not keep."""


def report(home: str, directory: str = os.curdir) -> dict[str, Any]:
    """The whole state as plain values, clients' settings as they are for ``directory``.

    ``problems`` is empty when all is well; each says what it is ``about``: home, launcher, settings, client, scope,
    lock or spool.
    """
    problems: list[dict[str, str]] = []
    scopes = [_scope(store, problems) for store in projects.stores(home)]
    for stray in projects.strays(home):
        _problem(problems, "scope", str(stray), stray.hint)
    hooks = [
        {key: value for key, value in row.items() if key != "lines"}
        for row in install.installed_hooks(os.environ, directory)
    ]
    servers = _mcp(directory, problems)
    landed = max((turns.seconds(row.get("last_landing") or "") for row in scopes), default=0.0)
    spool = _spool(home, problems, bool(hooks)) | {
        "lost": _lost(home, landed, problems), "held_up": [row["lock"] for row in scopes if row.get("lock")],
        "by_choice": _by_choice(home),
    }  # fmt: skip
    clients = _clients(home, hooks, servers, _heard(home, scopes))
    _home(home, problems)
    return {
        "home": home, "hooks": hooks, "mcp": servers, "scopes": scopes, "schedule": _schedule(home, problems),
        "spool": spool, "clients": clients,
        "dream": state.now(home), "log": _log(home, landed), "problems": problems,
    }  # fmt: skip


def _mcp(directory: str, problems: list[dict[str, str]]) -> list[dict[str, Any]]:
    """Settings files that tell a client of our MCP server, and the program that they name."""
    found = mcp_install.registered(os.environ, directory)
    for row in found:
        program = row["command"][0]
        if os.path.isabs(program) and not os.path.exists(program):
            level = " --user" if row["level"] == "user" else ""
            again = f"neosian mcp install --client {row['client']}{level} --write"
            _problem(problems, "client", f"{row['file']} starts {program}, which is gone.", again)
    return found


def _schedule(home: str, problems: list[dict[str, str]]) -> dict[str, Any] | None:
    """What has the dream run by itself; None where nothing does."""
    found = schedule.installed(home, os.environ, time.time())
    if found is None:
        return None
    if found.program and not os.path.exists(found.program):
        said = f"The schedule of the dream starts {found.program}, which is gone."
        _problem(problems, "schedule", said, "neosian dream schedule --write")
    return found.json()


def _problem(problems: list[dict[str, str]], about: str, what: str, hint: str) -> None:
    problems.append({"about": about, "what": what, "try": hint})


def _home(home: str, problems: list[dict[str, str]]) -> None:
    if os.path.exists(home) and not os.path.isdir(home):
        _problem(problems, "home", f"{home} is a file, not a folder.", "neosian status --root DIR")
        return
    try:
        projects.find(home, os.path.join(home, "nowhere"))
    except NeosianError as error:
        _problem(problems, "settings", str(error), error.hint)
    _, wrong = config.load(home)
    if wrong:
        _problem(problems, "settings", wrong, f"open {os.path.join(home, 'config.toml')} in an editor")
    if os.path.isdir(home) and (why := _why_no_launcher(os.fspath(launcher_path(Path(home))))):
        _problem(problems, "launcher", why, "neosian doctor --fix")


def _why_no_launcher(path: str) -> str:
    """Why the launcher cannot do its work, "" when it can: hooks pass over one that is not there, and say nothing."""
    launcher = files.read(path)
    if launcher is None:
        return "No launcher is installed."
    if not os.access(path, os.X_OK):
        return f"The launcher {path} may not be run, so hooks do nothing."
    programs = {}
    for row in launcher.decode("utf-8", "replace").splitlines():
        name, equals, value = row.partition("=")
        if equals and name in _PROGRAMS and (words := shlex.split(value)):
            programs[_PROGRAMS[name]] = words[0]
    for name, program in programs.items():
        if not os.path.exists(program):
            return f"The launcher's {name} is gone: {program}."
        if not os.access(program, os.R_OK if name == "stub" else os.X_OK):
            return f"The launcher's {name} cannot be used: {program}."
    return _why_no_start(programs) if {"python", "stub"} <= programs.keys() else ""


def _why_no_start(programs: dict[str, str]) -> str:
    """Why the launcher's Python does not run its stub, "" when it does: without words the stub only says so."""
    command = [programs["python"], "-I", "-S", "-X", "utf8", programs["stub"]]
    said = last_line(command)
    return (
        ""
        if said.startswith("neosian: ")
        else f"The launcher's python cannot run its stub: {' '.join(command)}: {said}."
    )


def last_line(command: list[str]) -> str:
    """The last line that a program says, on stderr where it says anything there."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_STARTS, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    said = done.stderr.strip() or done.stdout.strip()
    return (said.splitlines() or [f"it ended with {done.returncode}"])[-1]


def _scope(store: Store, problems: list[dict[str, str]]) -> dict[str, Any]:
    row: dict[str, Any] = {"scope": store.scope, "path": store.path}
    try:
        tip = store.repo.tip()
        head = store.repo.object(tip) if tip else None
        if head is None:
            raise NeosianError(
                f"{store.path} has no readable commit; the next landing mends it.",
                f"git -C {store.path} fsck",
            )
        with Index.open(store.cache) as index:
            row["index"] = "in step" if index.catch_up(store.repo, None) else "behind"
            row |= index.counts()
            last = index.commits(act="record", limit=1)
            row["last_landing"] = turns.stamp(last[0].at) if last else None
        bad = files.names(os.path.join(store.repo.private, "bad-lines"))
        row["bad_lines"] = sum(
            len((files.read(os.path.join(store.repo.private, "bad-lines", name)) or b"").splitlines())
            for name in bad
        )
        if row["bad_lines"]:
            _problem(
                problems, "scope",
                f"{row['bad_lines']} lines in the logs of {store.scope} cannot be read and are passed over.",
                f"look at {os.path.join(store.repo.private, 'bad-lines')}",
            )  # fmt: skip
        waiting = adopt.waiting(store.repo)
        row["edits_waiting"] = [redact_path(path) for path in waiting]
        for path, why in waiting.items():
            _problem(problems, "scope", *adopt.told_waiting(store.repo, path, why))
        for path in taking.kept(store.repo):
            _problem(
                problems,
                "scope",
                f"{path} is a save of yours that was overtaken by a later one while a document was written.",
                f"take from it what you need, then: rm {shlex.quote(path)}",
            )
        row["dream"] = state.of(store)
        saved = adopt.saved(store.repo)
        row["edits_saved"] = [path for path in saved if path not in row["edits_waiting"]]
        _front_matter(store, row, problems)
        lock = os.path.join(store.repo.git_dir, "index.lock")
        if os.path.exists(lock):
            row["lock"] = lock
            _problem(
                problems,
                "lock",
                f"{lock} is held, so landings wait.",
                "finish the git command that is open there",
            )
    except (NeosianError, OSError) as error:
        row["index"] = "unreadable"
        _problem(problems, "scope", str(error), getattr(error, "hint", "") or f"git -C {store.path} fsck")
    finally:
        store.repo.close()
    return row


def _front_matter(store: Store, row: dict[str, Any], problems: list[dict[str, str]]) -> None:
    """Name the documents whose front matter is not what it should be; only the beginning of each file is read."""
    row["front_matter"] = []
    for path, found in documents.walk(store.path):
        problem = _wrong_in(os.path.join(store.path, path), found.st_size)
        if problem:
            row["front_matter"].append({"path": path, "what": problem})
    for each in row["front_matter"][:_NAMED]:
        _problem(
            problems,
            "scope",
            f"{each['path']} in {store.path} has front matter that cannot be read as it stands: {each['what']}."
            " Its text is found all the same.",
            f"open {store.path}/{each['path']} in an editor",
        )
    if (more := len(row["front_matter"]) - _NAMED) > 0:
        _problem(
            problems, "scope", f"So have {more} more documents in {store.path}.", "neosian status --json"
        )


def _wrong_in(path: str, size: int) -> str:
    """What is wrong with the front matter of a file, "" where nothing is."""
    try:
        with files.opened(path) as stream:
            beginning = stream.read(matter.LONGEST)
    except OSError:
        return ""
    header = documents.read(beginning).header
    if header:
        return matter.read(header)[1]
    is_open = beginning.removeprefix(b"\xef\xbb\xbf").startswith((b"---\n", b"---\r"))
    if is_open and size > matter.LONGEST:
        return f"line 1: it does not end within {matter.LONGEST:,} bytes"
    return ""


def _spool(home: str, problems: list[dict[str, str]], has_hooks: bool) -> dict[str, Any]:
    spool = Spool(home)
    names = spool.names()
    times = [
        os.stat(path).st_mtime for name in names if os.path.exists(path := os.path.join(spool.new, name))
    ]
    bad = [name for name in files.names(spool.bad) if not name.endswith(".why")]
    for name in bad[:5]:
        why = (files.read(os.path.join(spool.bad, name + ".why")) or b"").decode("utf-8", "replace")
        _problem(
            problems, "spool", f"Event {name} is set aside: {why}", f"look at {os.path.join(spool.bad, name)}"
        )
    ended = sum(1 for each in spool.peek() if each.event in ("stop", "end") and time.time() - each.at > 60)
    if ended:
        log = os.path.join(home, "log", "neosian.log")
        _problem(
            problems,
            "spool",
            f"{ended} ended turns have not landed; the next session's start tries again.",
            f"see {log}",
        )
    oldest = min(times, default=None)
    newest = max(times, default=None)
    if newest is not None and time.time() - newest > _WAITS and not has_hooks:
        said = f"{len(names)} events wait, and no hook is installed here that would land them."
        _problem(problems, "client", said, "neosian setup --write")
    elif oldest is not None and time.time() - oldest > _WAITS_LONG:
        _problem(
            problems,
            "spool",
            "Events have waited for hours.",
            f"see {os.path.join(home, 'log', 'neosian.log')}",
        )
    return {
        "waiting": len(names), "bytes": spool.backlog(), "oldest": turns.stamp(oldest) if oldest else None,
        "newest": turns.stamp(newest) if newest else None,
        "set_aside": len(bad),
    }  # fmt: skip


def _lost(home: str, landed: float, problems: list[dict[str, str]]) -> int:
    """How many events the launcher could not keep in the last week, as far as it could say so in the log."""
    log = os.path.join(home, "log", "neosian.log")
    lost = [line for line in _lines(log) if _LOST in line[1]]
    recent = [said for at, said in lost if at + 1 > landed]  # the log knows whole seconds
    if recent:
        said = f"{len(recent)} events were lost since the last landing: {_first(recent[-1])}"
        _problem(problems, "spool", said, f"see {log}")
    return len(lost)


def _by_choice(home: str) -> list[str]:
    """What is not captured because a person wanted it so."""
    said = []
    if switch.is_off(home):
        said.append("All of neosian is switched off; to go on: neosian on")
    for folder in switch.off_projects(home) or ():
        said.append(f"The project in {folder} is switched off; to go on: neosian on {shlex.quote(folder)}")
    try:
        if config.load(home)[0].record_capture == "marked":
            said.append("Only folders marked with a file .neosian-record are recorded (record.capture).")
    except OSError:
        pass  # that the settings cannot be read is told elsewhere
    if os.environ.get("NEOSIAN_OFF"):
        said.append("NEOSIAN_OFF is set here: what is started from this shell is not recorded.")
    return said


def _heard(home: str, scopes: list[dict[str, Any]]) -> dict[str, tuple[float, str]]:
    """Each client's last event: one that waits, or the last of its landed turns."""
    last: dict[str, tuple[float, str]] = {}
    for entry in Spool(home).peek():
        last[entry.client] = max(last.get(entry.client, (0.0, "")), (entry.at, f"{entry.event}, waiting"))
    for row in scopes:
        store = projects.open_store(home, row["scope"])
        if row.get("index") == "in step":
            for session in recall.sessions(store, 20):
                last[session.client] = max(
                    last.get(session.client, (0.0, "")), (session.last, "turn, landed")
                )
            store.repo.close()
    return last


def _clients(
    home: str, hooks: list[dict[str, Any]], servers: list[dict[str, Any]], heard: dict[str, tuple[float, str]]
) -> list[dict[str, Any]]:
    """A row a client that is installed, wired or was heard: what of it is there, its last event, what is to be done.

    ``state``: heard, never fired, not set up, served (it has no hooks, and is told of the server), or unknown (a client
    of whose settings nothing is known).
    """
    asked = wiring.versions(home)
    wired = {row["client"] for row in (*hooks, *servers)}
    rows = []
    for name in dict.fromkeys((*SERVED, *sorted(heard))):
        is_here = name in SERVED and wiring.is_here(name, os.environ)
        if not (is_here or name in wired or name in heard):
            continue
        levels = {kind: [row["level"] for row in found if row["client"] == name]
                  for kind, found in (("hooks", hooks), ("mcp", servers))}  # fmt: skip
        at, what = heard.get(name, (0.0, ""))
        state, todo = _state(name, levels, bool(what))
        rows.append({
            "client": name, "title": installer(name).TITLE if name in SERVED else name, "installed": is_here,
            "verified": name in SERVED and installer(name).VERIFIED, "version": asked.get(name), **levels,
            "last": what or None, "at": turns.stamp(at) if what else None,
            "age": round(time.time() - at) if what else None, "state": state, "try": todo,
        })  # fmt: skip
    return rows


def _state(name: str, levels: dict[str, list[str]], is_heard: bool) -> tuple[str, str]:
    """How a client stands, and what is to be done about it; "" where nothing is."""
    if name not in SERVED:
        return "unknown", ""
    known = installer(name)
    again = f"neosian setup --client {name} --write"
    if known.HOOKS is None:
        return ("served", "") if levels["mcp"] else ("not set up", again)
    if not levels["hooks"]:
        return "heard" if is_heard else "not set up", again
    if not is_heard:
        return "never fired", known.TRUST or f"start {known.TITLE} and say something"
    return "heard", ""


def _log(home: str, landed: float) -> list[dict[str, Any]]:
    """What went wrong in hooks in the last week, the last five lines, each cut to what it says first.

    ``old``: it is of another day, or a turn has ``landed`` since (seconds since 1970).
    """
    now = time.time()
    return [
        {"at": turns.stamp(at), "what": _first(said), "old": at < max(landed, now - _OLD)}
        for at, said in _lines(os.path.join(home, "log", "neosian.log"))[-5:]
    ]


def _lines(log: str) -> list[tuple[float, str]]:
    """The lines of a log that are of the last week: when, and what."""
    found = []
    for line in files.lines(log):
        stamp, _, said = line.partition(" ")
        at = turns.seconds(stamp)
        if time.time() - at < 7 * 86_400:
            found.append((at, said))
    return found


def _first(said: str) -> str:
    """The beginning of a line of the log; of a traceback, which is one line there, the error that it ends with."""
    what, mark, traceback = said.partition("Traceback (most recent call last)")
    return output.cut(what + traceback.rpartition(" | ")[2] if mark else what, _SHOWN)
