"""How a home is doing: its scopes, what waits in the spool, which clients were heard, what is wrong."""

from __future__ import annotations

import os
import shlex
import time
from collections.abc import Sequence
from typing import Any

from neosian import (
    adopt,
    clients,
    commits,
    config,
    documents,
    files,
    install,
    matter,
    mcp_install,
    output,
    projects,
    switch,
    taking,
    turns,
    wiring,
)
from neosian.clients.installers import SERVED, installer, trust
from neosian.clients.mcp_clients import PROJECT, USER
from neosian.dream import schedule, state
from neosian.errors import NeosianError
from neosian.index import Index
from neosian.redact import redact_path
from neosian.spool import Spool
from neosian.store import Store

_WAITS_LONG = 6 * 3600.0
_WAITS = 600.0  # seconds without an event after which no session is thought to run
_OLD = 86_400.0  # seconds after which a line of the log is old
_SHOWN = 160  # characters shown of a line of the log
_NAMED = 20
"""Documents with faulty front matter that are named in each scope."""
_LOSING = "hooks lose their events"
_FOLDERS = {
    **dict.fromkeys(("spool", "spool/new", "spool/tmp"), _LOSING),
    **dict.fromkeys(
        ("spool/bad", "spool/landing", "spool/landed", "scopes", "cache", "log", "bin"),
        "nothing can be kept there",
    ),
}
"""What in a home must be a folder where it is there at all, and what comes of it where it is none."""
_LOST = "this event was not recorded"
"""What the launcher writes into the log of an event that it could not keep."""

Heard = dict[str, tuple[float, str]]
"""Client -> when its last event was (seconds since 1970), and what it was."""
_ENDED = {turns.DONE: "stop", turns.FAILED: "failure", turns.INTERRUPTED: "interrupt"}
"""The event that a turn of this state ended with, where it is known."""


def report(
    home: str, directory: str = os.curdir, faults: Sequence[wiring.Fault] | None = None
) -> dict[str, Any]:
    """The whole state as plain values, clients' settings as they are for ``directory``, with the ``faults`` of these
    where somebody has looked for them already.

    ``problems`` is empty when all is well; each says what it is ``about``: home, launcher, settings, client, scope,
    lock or spool.
    """
    problems: list[dict[str, str]] = []
    heard: Heard = {}
    scopes = [_scope(store, problems, heard) for store in projects.stores(home)]
    _waiting(home, heard)
    for stray in projects.strays(home):
        _problem(problems, "scope", str(stray), stray.hint)
    hooks = [
        {key: value for key, value in row.items() if key != "lines"}
        for row in install.installed_hooks(os.environ, directory)
    ]
    servers = mcp_install.registered(os.environ, directory)
    landed = max((turns.seconds(row.get("last_landing") or "") for row in scopes), default=0.0)
    spool = _spool(home, problems, bool(hooks)) | {
        "lost": _lost(home, landed, problems), "held_up": [row["lock"] for row in scopes if row.get("lock")],
        "by_choice": _by_choice(home),
    }  # fmt: skip
    known = _clients(home, hooks, servers, heard)
    _home(home, problems)
    for fault in wiring.faults(home, os.environ, directory) if faults is None else faults:
        _problem(problems, fault.about, fault.what, fault.hint)
    return {
        "home": home, "hooks": hooks, "mcp": servers, "scopes": scopes, "schedule": _schedule(home, problems),
        "spool": spool, "clients": known,
        "dream": state.now(home), "log": _log(home, landed), "problems": problems,
    }  # fmt: skip


def _schedule(home: str, problems: list[dict[str, str]]) -> dict[str, Any] | None:
    """What has the dream run by itself; None where nothing does."""
    found = schedule.installed(home, os.environ, time.time())
    if found is None:
        return None
    if found.program and not os.path.exists(found.program):
        said = f"The schedule of the dream starts {found.program}, which is gone."
        _problem(problems, "schedule", said, "neosian dream schedule --write")
    return found.json()


def misfits(home: str) -> dict[str, str]:
    """What lies in a home where a folder of ours belongs, and what is wrong about it."""
    found = {}
    for name, loss in _FOLDERS.items():
        path = os.path.join(home, name)
        if os.path.lexists(path) and not os.path.isdir(path):
            is_what = "a link to no folder" if os.path.islink(path) else "no folder"
            found[path] = f"{path} is {is_what}, so {loss}."
    return found


def _problem(problems: list[dict[str, str]], about: str, what: str, hint: str) -> None:
    """Add a problem. One that sends its reader to where this is read sends on to who looks deeper."""
    hint = "neosian doctor" if hint == "neosian status" else hint
    problems.append({"about": about, "what": what, "try": hint})


def _home(home: str, problems: list[dict[str, str]]) -> None:
    if os.path.exists(home) and not os.path.isdir(home):
        _problem(problems, "home", f"{home} is a file, not a folder.", "neosian status --root DIR")
        return
    for what in misfits(home).values():
        _problem(problems, "spool" if _LOSING in what else "home", what, "neosian doctor --fix")
    try:
        projects.find(home, os.path.join(home, "nowhere"))
    except NeosianError as error:
        _problem(problems, "settings", str(error), error.hint)
    _, wrong = config.load(home)
    if wrong:
        file = os.path.join(home, "config.toml")
        aside = f"mv {shlex.quote(file)} {shlex.quote(file + '.aside')}"
        hint = aside if os.path.isdir(file) else f"open {file} in an editor"
        _problem(problems, "settings", wrong, hint)


def _scope(store: Store, problems: list[dict[str, str]], heard: Heard) -> dict[str, Any]:
    row: dict[str, Any] = {"scope": store.scope, "path": store.path}
    try:
        tip = store.repo.tip()
        head = store.repo.object(tip) if tip else None
        if head is None:
            raise NeosianError(
                f"{store.path} has no readable commit.",
                "neosian doctor --fix",
            )
        with Index.open(store.cache) as index:
            is_in_step = index.catch_up(store.repo, None)
            row["index"] = "in step" if is_in_step else "behind"
            row |= index.counts()
            _landed(store, index, heard, is_in_step)
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
    except NeosianError as error:
        row["index"] = "unreadable"
        _problem(problems, "scope", str(error), error.hint or f"git -C {store.path} fsck")
    except OSError as error:
        row["index"] = "unreadable"
        _problem(problems, "scope", files.said(error), "neosian doctor")
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


def _landed(store: Store, index: Index, heard: Heard, is_in_step: bool) -> None:
    """Each client's last landed turn; what an index that somebody holds does not show yet is asked of git."""
    for client, (at, how) in index.heard().items():
        _hear(heard, client, at, f"{_ENDED.get(how, 'turn')}, landed")
    if not is_in_step:
        shown, tip = index.commit, store.repo.tip()
        here = shown and store.repo.object(shown) is not None
        for commit in commits.since(store.repo, shown if here else None, tip, None) or () if tip else ():
            if commit.act == "record" and commit.client:
                _hear(heard, commit.client, commit.at, "turn, landed")


def _waiting(home: str, heard: Heard) -> None:
    """Each client's last event that waits, through whichever client's hook line it came."""
    for entry in Spool(home).look():
        if entry.spooled.event == "context":
            continue  # what we told, not what we heard
        try:
            event = clients.read(entry.payload, entry.spooled)
        except NeosianError:  # a client of another release
            _hear(heard, entry.spooled.client, entry.spooled.at, f"{entry.spooled.event}, waiting")
        else:
            _hear(heard, event.client, event.at, f"{event.kind}, waiting")


def _hear(heard: Heard, client: str, at: float, what: str) -> None:
    heard[client] = max(heard.get(client, (0.0, "")), (at, what))


def _clients(
    home: str, hooks: list[dict[str, Any]], servers: list[dict[str, Any]], heard: Heard
) -> list[dict[str, Any]]:
    """A row a client that is installed or was heard: what of it is there, its last event, what is to be done.

    ``tell`` is the command that tells it of the server, None where it is told. ``state``: heard, never fired, not set
    up, served (it has no hooks, and is told of the server), or unknown (a client of whose settings nothing is known).
    """
    asked = wiring.versions(home)
    rows = []
    for name in dict.fromkeys((*SERVED, *sorted(heard))):
        is_here = name in SERVED and wiring.is_here(name, os.environ)
        if not (is_here or name in heard):
            continue  # its settings in a project are for those who have it
        levels = {kind: [row["level"] for row in found if row["client"] == name]
                  for kind, found in (("hooks", hooks), ("mcp", servers))}  # fmt: skip
        at, what = heard.get(name, (0.0, ""))
        state, todo = _state(name, levels, bool(what))
        rows.append({
            "client": name, "title": installer(name).TITLE if name in SERVED else name, "installed": is_here,
            "verified": name in SERVED and installer(name).VERIFIED, "version": asked.get(name), **levels,
            "last": what or None, "at": turns.stamp(at) if what else None,
            "age": round(time.time() - at) if what else None, "state": state, "try": todo,
            "tell": mcp_install.command_for(name) if name in SERVED and not levels["mcp"] else None,
        })  # fmt: skip
    return rows


def _state(name: str, levels: dict[str, list[str]], is_heard: bool) -> tuple[str, str]:
    """How a client stands, and what is to be done about it; "" where nothing is."""
    if name not in SERVED:
        return "unknown", ""
    known = installer(name)
    again = f"neosian setup --client {name} --write"
    if known.HOOKS is None:
        # where it edits its file itself, setup could only name the same command
        again = known.MCP.adds or again
        return ("served", "") if levels["mcp"] else ("not set up", again)
    if not levels["hooks"]:
        return "heard" if is_heard else "not set up", again
    if not is_heard:
        level = USER if USER in levels["hooks"] else PROJECT
        return "never fired", trust(name, level) or f"start {known.TITLE} and say something"
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
