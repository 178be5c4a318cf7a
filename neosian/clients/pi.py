"""Pi: what the plugin in ``hooks/`` sends of it, as events."""

from __future__ import annotations

from neosian.clients import _plugin
from neosian.clients._reading import utf16

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from neosian.events import Event, Spooled

NAME = "pi"
TITLE = "Pi"
OLDEST = (1, 6, 0)
EVENTS: dict[str, tuple[int, ...]] = dict.fromkeys(_plugin.VERB, OLDEST)
VERB = _plugin.VERB
START_LIMIT = 9_500
STARTS_WITH_PROMPT = False

cost = utf16


def session_of(environ: Mapping[str, str]) -> str:
    """The session whose agent runs a shell in this environment."""
    return environ.get("PI_SESSION_ID", "")


def parse(payload: dict[str, Any], spooled: Spooled) -> Event:
    """The payload as an `Event`. An event without a session id goes under the session "unknown"."""
    return _plugin.parse(NAME, payload, spooled)


def shown(verb: str, text: str) -> str:
    """The text itself: the plugin puts it where the model reads it."""
    return text
