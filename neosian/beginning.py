"""The start of a session: which scopes it sees, and the block it is told."""

from __future__ import annotations

import os
import sys
import time

from neosian import config, fastjson, files, places, projects
from neosian.clients import adapter
from neosian.context import Block, Mount, start_block
from neosian.errors import NeosianError
from neosian.events import Event
from neosian.index import Index
from neosian.mounts import Layout
from neosian.spool import Entry, Spool, header

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from neosian.store import Store

_ANSWERED_FOR = 5.0


def begin(
    home: str, client: str, name: str, *, spool: Spool | None = None, behind: list[str] | None = None
) -> str:
    """What the session whose spooled start event is ``name`` is told; "" when another hook line told it already.

    What is told is spooled too: it becomes a `context` line of the session's first turn. Scopes whose index is too
    far behind to catch up in a hook's time are added to ``behind``.
    """
    settings, wrong = config.load(home)
    if wrong:
        files.log(os.path.join(home, "log", "neosian.log"), wrong)
    spool = spool or Spool(home)
    entry = next(iter(spool.take([name])), None)
    if entry is None or not settings.context_start:
        return ""
    program = adapter(client)
    event = program.parse(entry.payload, entry.spooled)
    if event.kind != "start" or not _first_to_answer(home, entry, event):
        return ""
    seen = places.layout_of(home, settings, event)
    if seen.root is not None:
        projects.follow_rename(home, projects.find(home, seen.root))
    place = places.find_place(home, event.client, event.session, search=False)
    if place is not None and place.scope != seen.turns:
        for mount in seen.mounts:
            if mount.scope == seen.turns:
                mount.scope = place.scope
        seen.turns = place.scope
    block = block_for(
        home, seen, source=str(event.data.get("source") or "startup"), conversation=event.session, client=client,
        budget=min(settings.context_budget, program.START_LIMIT), cost=program.cost, behind=behind,
    )  # fmt: skip
    _keep(home, spool, event, block, seen)
    return block.text


def block_for(
    home: str, seen: Layout, *, source: str, conversation: str, client: str, budget: int,
    cost: Callable[[str], int], behind: list[str] | None = None, commits: int | None = 50,
) -> Block:  # fmt: skip
    """The block for a session with these mounts. Nothing is written but the index, which is a cache.

    ``commits`` is how many may be read to catch up (None: all there are).
    """
    mounts: list[Mount] = []
    try:
        for mount in seen.mounts:
            store = projects.open_store(home, mount.scope)
            index = Index.open(store.cache)
            mounts.append(Mount(mount.path, store, index, _waiting(store)))
            if store.exists and not index.catch_up(store.repo, commits) and behind is not None:
                behind.append(mount.scope)
        turns_at = next(mount.path for mount in seen.mounts if mount.scope == seen.turns)
        return start_block(
            mounts, source=source, conversation=conversation, client=client, now=time.time(), budget=budget,
            cost=cost, turns_at=turns_at, command=own_command(),
        )  # fmt: skip
    finally:
        for shown in mounts:
            shown.index.close()
            shown.store.repo.close()


def own_command() -> str:
    """How the agent can run neosian: by name where its PATH has it, else by where this installation lies."""
    for folder in os.environ.get("PATH", "").split(os.pathsep):
        if os.access(os.path.join(folder, "neosian"), os.X_OK):
            return "neosian"
    beside = os.path.join(os.path.dirname(sys.executable), "neosian")
    return beside if os.access(beside, os.X_OK) else f"{sys.executable} -m neosian"


def _waiting(store: Store) -> list[str]:
    """Documents that are not adopted; hardly ever there are any, so that a start loads nothing for it."""
    if not os.path.exists(os.path.join(store.repo.private, "waiting")):
        return []
    from neosian import adopt

    return adopt.waiting(store.repo)


def _first_to_answer(home: str, entry: Entry, event: Event) -> bool:
    """Of two hook lines (user and project level) with the same event only one answers; the same line twice does."""
    from neosian.plumbing import object_id

    said = fastjson.dumps(entry.payload, sort_keys=True).encode("utf-8", "replace")
    folder = os.path.join(home, "cache", "answered")
    path = os.path.join(folder, object_id("blob", said))
    mine = entry.spooled.level.encode("utf-8", "surrogateescape")
    try:
        files.make_dir(folder)
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, files.PRIVATE_FILE)
    except FileExistsError:
        if time.time() - os.stat(path).st_mtime < _ANSWERED_FOR:
            return files.read(path) == mine
        files.write(path, mine)
        return True
    except OSError:
        return True  # a home that cannot be written still answers
    os.write(handle, mine)
    os.close(handle)
    files.forget(folder, 60.0)
    return True


def _keep(home: str, spool: Spool, event: Event, block: Block, seen: Layout) -> None:
    """Spool the words that the session was told, for its first turn."""
    store = projects.open_store(home, seen.turns)
    try:
        commit = store.repo.tip() if store.exists else None
        payload = {"session_id": event.session, "prompt_id": event.prompt_id, "commit": commit, "text": block.text,
                   "shown": block.shown}  # fmt: skip
        flags = event.level
        head = header(event.client, "context", flags, event.cwd, {"CLAUDE_PROJECT_DIR": event.root or ""})
        spool.put(head, fastjson.dumps(payload, ensure_ascii=False).encode("utf-8", "replace"))
    except (OSError, NeosianError) as error:
        files.log(os.path.join(home, "log", "neosian.log"), f"start: what was told is not kept: {error}")
