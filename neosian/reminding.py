"""A prompt: whether it is about anything that memory could know. Most are not, and then little is loaded."""

from __future__ import annotations

import os

from neosian import clients, config, evidence, files, owed, switch
from neosian.own import is_own
from neosian.spool import Spool


def remind(home: str, name: str, *, spool: Spool | None = None, behind: list[str] | None = None) -> str:
    """What a hook prints so that the session whose spooled prompt is ``name`` is told with it; "" for nothing.

    A client that can be told nothing at a session's start is told that here, before what the prompt brings to mind.
    What is told is spooled too: it becomes a `context` line behind the prompt's own. Scopes whose index is too far
    behind to catch up in a hook's time are added to ``behind``.
    """
    settings, wrong = config.load(home)
    if wrong:
        files.log(os.path.join(home, "log", "neosian.log"), wrong)
    spool = spool or Spool(home)
    entry = next(iter(spool.take([name])), None)
    if entry is None or not (settings.context_recall or settings.context_start):
        return ""
    event = clients.read(entry.payload, entry.spooled)
    if event.kind != "prompt" or event.agent or switch.is_project_off(home, event.root or event.cwd):
        return ""
    program = clients.adapter(event.client)
    words = evidence.asked(event.data["text"]) if settings.context_recall else ""
    start = ""
    if program.STARTS_WITH_PROMPT and settings.context_start and event.data["text"].strip():
        start = owed.owed(home, event)
    if not (words or start) or is_own(home, event):
        return ""
    from neosian.answering import answer  # half of the cost of a prompt, which small talk has no use for

    told = answer(home, settings, spool, entry, event, words, start, [] if behind is None else behind)
    return program.shown("prompt", told)
