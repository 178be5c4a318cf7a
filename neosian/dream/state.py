"""How the dreams of a home stand: what was dreamt, what is to be, what waits for a person, what was spent."""

from __future__ import annotations

import json
import os
import time

from neosian import config, files, projects, scope, turns
from neosian.dream import alone, kept, past, review, run, spend
from neosian.dream.dreaming import waiting
from neosian.dream.engine import RULES
from neosian.dream.engines import choose
from neosian.dream.tries import Tries
from neosian.redact import redact
from neosian.store import Store

LAST = os.path.join("dream", "last.json")


def of(store: Store) -> dict[str, object]:
    """One scope: the ``last`` run that landed with its turns (and its notes, those in the person's own scope included),
    those ``unfinished``, sessions ``waiting`` or ``warm``, those ``failing``, those ``set_aside``, documents
    ``to_review``, how many changes were ``rejected`` by whom, the newest that the gate ``refused``."""
    rejected = review.rejections(store)
    settings, _ = config.load(store.home)
    is_counted = choose(settings.dream_engine, os.environ) == RULES
    found = waiting(store, now=time.time(), idle=settings.dream_idle, is_counted=is_counted)
    tries = Tries(store)
    return {
        "last": _last(store),
        "unfinished": sorted({name.partition("/")[0] for name in store.repo.refs(run.DREAM)}),
        "waiting": sum(not tries.is_aside(each) for each in found.sessions),
        "warm": len(found.warm),
        "failing": [each.json() for each in tries.failing],
        "set_aside": [each.json() for each in tries.aside],
        "to_review": review.waiting_paths(store),
        "rejected": {by: sum(each.by == by for each in rejected) for by in (review.PERSON, review.GATE)},
        "refused": next((each.json() for each in rejected if each.by == review.GATE), None),
    }


def _last(store: Store) -> dict[str, object] | None:
    """The newest run, what of it changed in the person's own scope included, and whether it was taken back."""
    for each in past.runs(store, 1):
        personal = projects.open_store(store.home, scope.user_scope())
        along = [personal] if personal.exists and personal.scope != store.scope else []
        notes, is_undone = past.came_to([store, *along], each)
        return each.json() | {"notes": notes, "undone": is_undone}
    return None


def keep_last(home: str, at: float, *, stopped: str) -> None:
    """Note how the last dream of the home ended, for `now`: why it was stopped, "" where it came to its end."""
    files.make_dir(os.path.join(home, os.path.dirname(LAST)))
    said = {"at": turns.stamp(at), "stopped": redact(stopped) or None}
    files.write(os.path.join(home, LAST), json.dumps(said, ensure_ascii=False).encode("utf-8", "replace"))


def _ended(home: str) -> dict[str, object] | None:
    held = kept.read(os.path.join(home, LAST))
    if not isinstance(held, dict):
        return None
    return {"at": str(held.get("at")), "stopped": str(held.get("stopped") or "") or None}


def now(home: str) -> dict[str, object]:
    """All scopes: the dream that is under way (``running``: its process, and since when), how the last one ``ended``,
    and what today cost."""
    running = alone.running(home)
    tokens, cost = spend.today(home, time.time())
    under_way = {"process": running[0], "since": turns.stamp(running[1])} if running else None
    return {"running": under_way, "ended": _ended(home), "tokens_today": tokens, "cost_today": cost}
