"""Which engine a run uses."""

from __future__ import annotations

from collections.abc import Mapping

from neosian.dream import edits, engine
from neosian.dream.engine import Engine, Tool
from neosian.errors import UsageError

# What says that there is something to sign in with; `dream.model`, which reads them, is slow to load.
_KEYS = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN")

REMEMBER = Tool(edits.TOOL, edits.DESCRIPTION, edits.SCHEMA)


def choose(named: str, environ: Mapping[str, str]) -> str:
    """The name of the engine: the one that is named, else `anthropic` with a key or token, else `rules`."""
    if named and named not in engine.NAMES:
        raise UsageError(
            f"There is no engine {named!r}; there are {', '.join(engine.NAMES)}.", "neosian docs engines"
        )
    has_key = any(environ.get(name, "").strip() for name in _KEYS)
    return named or (engine.ANTHROPIC if has_key else engine.RULES)


def pick(named: str, home: str, environ: Mapping[str, str], *, model: str = "") -> Engine | None:
    """The engine that asks a model, None for `rules`, which asks none.

    ``named`` is what the person says, here or in the settings, "" where nothing; ``model`` likewise. Raises
    `UsageError`, and `EngineError` where it is clear from the start that there will be no answer.
    """
    chosen = choose(named, environ)
    if chosen == engine.ANTHROPIC:
        from neosian.dream.model import Messages  # takes a second to load

        return Messages(REMEMBER, environ, model=model)
    if chosen == engine.CLAUDE_CLI:
        from neosian.dream.claude_cli import ClaudeCli

        return ClaudeCli(REMEMBER, home, environ, model=model)
    return None
