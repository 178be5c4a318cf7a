"""`neosian record --explain`: where a payload would go and what would be dropped, without recording it."""

from __future__ import annotations

import os
import sys

from neosian import clients, config, files, output, payload, places, scope, switch
from neosian.calls import Globs, named_paths
from neosian.errors import NeosianError
from neosian.events import FLAG_SEPARATOR, Event, Spooled
from neosian.mounts import layout
from neosian.own import is_own
from neosian.redact import hide_private, redact


def explain(home: str, client: str, source: str, flags: list[str], *, as_json: bool) -> int:
    """Tell about the payload in a file, on stdin (`-`), or about a session in a directory."""
    settings, wrong = config.load(home)
    directory = os.path.abspath(source) if source != "-" and os.path.isdir(source) else ""
    event = None if directory else _event(client, source, flags)
    if event is None:
        seen = layout(home, directory, settings, flags)
        chosen, reason = seen.turns, seen.reason
    else:
        place = places.find_place(home, event.client, event.session)
        seen = places.layout_of(home, settings, event)
        chosen = place.scope if place else seen.turns
        reason = "the conversation began there" if place else seen.reason
    where = directory or (event.root or event.cwd if event else "")
    kept, why = _recorded(home, settings, where)
    if event is not None and is_own(home, event):
        kept, why = False, "it is neosian's own question to a model"
    found: dict[str, object] = {
        "scope": chosen,
        "reason": reason,
        "project": seen.root,
        "folder": os.path.join(home, "scopes", scope.disk_name(chosen)),
        "mounts": {
            mount.path: mount.scope + ("" if mount.writable else " (read only)") for mount in seen.mounts
        },
        "recorded": kept,
        "because": why,
        "event": event.kind if event else None,
        "dropped": _dropped(event, settings) if event else [],
    }
    if wrong:
        output.note(wrong)
    if as_json:
        output.as_json(found)
    else:
        output.text(
            output.table([(name, _words(value)) for name, value in found.items() if value not in (None, [])])
        )
    return 0


def _event(client: str, source: str, flags: list[str]) -> Event:
    raw = sys.stdin.buffer.read() if source == "-" else files.read(source)
    if raw is None:
        raise NeosianError(f"There is no file {source}.", "neosian record --explain DIR")
    said = payload.loads(raw)
    marks = {
        name: os.environ[name] for name in ("CLAUDE_PROJECT_DIR",) if name in os.environ and source == "-"
    }
    spooled = Spooled(name="explain", client=client, at=0.0, level=FLAG_SEPARATOR.join(flags), marks=marks)
    return clients.read(said, spooled)


def _recorded(home: str, settings: config.Config, where: str) -> tuple[bool, str]:
    if os.environ.get("NEOSIAN_OFF"):
        return False, "$NEOSIAN_OFF is set"
    if switch.is_off(home):
        return False, f"{switch.file(home)} is there"
    if switch.is_project_off(home, where):
        return False, f"{switch.list_file(home)} names the project"
    if settings.record_capture == "marked" and not marked(where):
        return False, "record.capture is marked, and no .neosian-record file is above the directory"
    return True, "nothing switches it off"


def marked(directory: str) -> bool:
    """Whether a `.neosian-record` file lies in a directory or above it."""
    here = os.path.abspath(directory)
    while True:
        if os.path.exists(os.path.join(here, ".neosian-record")):
            return True
        above = os.path.dirname(here)
        if above == here:
            return False
        here = above


def _dropped(event: Event, settings: config.Config) -> list[str]:
    """What of the payload would not reach the log, in words."""
    found = []
    asked = event.data.get("input")
    pattern = (
        Globs(settings.record_ignore).match(named_paths(asked, event.cwd))
        if isinstance(asked, dict)
        else None
    )
    if pattern:
        found.append(f"input and output: a file matches record.ignore {pattern}")
    texts = list(_texts(event.data))
    if any(redact(text) != text for text in texts):
        found.append("secrets, each replaced by its kind")
    if any(hide_private(text, whole=event.kind == "prompt") != text for text in texts):
        found.append("what stands between <private> tags")
    output_limit = settings.record_output_chars
    if event.kind == "result" and payload.length(str(event.data.get("text", ""))) > output_limit:
        found.append(f"output beyond {output_limit} characters")
    return found


def _texts(value: object) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [text for each in value.values() for text in _texts(each)]
    if isinstance(value, list):
        return [text for each in value for text in _texts(each)]
    return []


def _words(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict):
        return ", ".join(f"{path} = {scope}" for path, scope in value.items())
    if isinstance(value, list):
        return "; ".join(map(str, value))
    return str(value)
