"""What several commands ask: which conversation is meant, and which scope has it."""

from __future__ import annotations

import argparse

from neosian import conversations
from neosian.commands._scopes import everywhere
from neosian.errors import NeosianError, UsageError
from neosian.store import Store


def found_in(
    args: argparse.Namespace, name: str, at: str | None = None, *, asked: int | None = None
) -> tuple[str, Store]:
    """`client:conversation` of the one that begins with ``name``, and its scope; ``asked``: of it this turn alone.

    ``NeosianError`` names the candidates when there are several, and the way to a list when there is none.
    """
    found: dict[str, Store] = {}
    failed: NeosianError | None = None
    for store in everywhere(args):
        try:
            one = conversations.resolve(store.repo, name, at)
            found.setdefault(f"{one.client}:{one.conversation}", store)
        except conversations.UnknownConversation as error:
            if error.candidates:
                raise
            failed = failed or error
        except conversations.UnknownRevision as error:
            failed = error
        finally:
            store.repo.close()
    if not found and asked is None and name.isdigit() and len(name) < 6 and failed is not None:
        command = args.command
        hint = (
            f"neosian recall {name} --conversation ID"
            if command == "recall"
            else f"neosian {command} ID#{name}"
        )
        raise UsageError(f"Of which conversation is turn {name} wanted?", hint)
    if not found:
        raise failed or NeosianError("Nothing has been recorded yet.", "neosian status")
    full = conversations.the_one(name, [full for full in found if full.endswith(f":{name}")] or sorted(found))
    return full, found[full]
