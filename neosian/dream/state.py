"""How the dreams of a home stand: what was dreamt, what is to be, what waits for a person, what was spent."""

from __future__ import annotations

import os
import time

from neosian import config, turns
from neosian.dream import alone, past, review, run, spend
from neosian.dream.dreaming import waiting
from neosian.dream.engine import RULES
from neosian.dream.engines import choose
from neosian.dream.tries import Tries
from neosian.store import Store


def of(store: Store) -> dict[str, object]:
    """One scope: the ``last`` run that landed with its turns, those ``unfinished``, sessions ``waiting`` or ``warm``,
    those ``set_aside``, documents ``to_review``, how many changes were ``rejected`` by whom, the ``refused`` one of the
    gate's that is newest."""
    rejected = review.rejections(store)
    settings, _ = config.load(store.home)
    is_counted = choose(settings.dream_engine, os.environ) == RULES
    found = waiting(store, now=time.time(), idle=settings.dream_idle, is_counted=is_counted)
    tries = Tries(store)
    return {
        "last": next((each.json() for each in past.runs(store, 1)), None),
        "unfinished": sorted({name.partition("/")[0] for name in store.repo.refs(run.DREAM)}),
        "waiting": sum(not tries.is_aside(each) for each in found.sessions),
        "warm": len(found.warm),
        "set_aside": [each.json() for each in tries.aside],
        "to_review": review.waiting_paths(store),
        "rejected": {by: sum(each.by == by for each in rejected) for by in (review.PERSON, review.GATE)},
        "refused": next((each.json() for each in rejected if each.by == review.GATE), None),
    }


def now(home: str) -> dict[str, object]:
    """All scopes: the dream that is under way (``running``: its process, and since when), and what today cost."""
    running = alone.running(home)
    tokens, cost = spend.today(home, time.time())
    under_way = {"process": running[0], "since": turns.stamp(running[1])} if running else None
    return {"running": under_way, "tokens_today": tokens, "cost_today": cost}
