"""A prompt: whether it is about anything that memory could know. Most are not, and then little is loaded."""

from __future__ import annotations

import os

from neosian import config, evidence, files, switch
from neosian.clients import adapter
from neosian.own import is_own
from neosian.spool import Spool


def remind(
    home: str, client: str, name: str, *, spool: Spool | None = None, behind: list[str] | None = None
) -> str:
    """What the session whose spooled prompt is ``name`` is told with it; "" when there is nothing to tell.

    What is told is spooled too: it becomes a `context` line behind the prompt's own. Scopes whose index is too far
    behind to catch up in a hook's time are added to ``behind``.
    """
    settings, wrong = config.load(home)
    if wrong:
        files.log(os.path.join(home, "log", "neosian.log"), wrong)
    spool = spool or Spool(home)
    entry = next(iter(spool.take([name])), None)
    if entry is None or not settings.context_recall:
        return ""
    program = adapter(client)
    event = program.parse(entry.payload, entry.spooled)
    words = evidence.asked(event.data["text"]) if event.kind == "prompt" and not event.agent else ""
    if not words or is_own(home, event) or switch.is_project_off(home, event.root or event.cwd):
        return ""
    from neosian.answering import answer  # half of the cost of a prompt, which small talk has no use for

    return answer(home, settings, spool, entry, event, words, program.cost, [] if behind is None else behind)
