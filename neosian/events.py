"""`Event`: one hook payload in the words of this program, whichever client sent it.

Plain classes with slots: ``typing`` and ``dataclasses`` alone would cost the hook half of its budget.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


FLAG_SEPARATOR = "\x1f"
"""What stands between the words of a hook line in `Spooled.level` and `Event.level`."""


class Spooled:
    """What the spool knows of a payload before anybody has read it.

    ``client`` is the one that the hook line names and ``event`` its verb (start, prompt, stop, end or note), ``level``
    the text of its other flags,
    ``at`` the file's time in seconds since 1970, ``tick`` seconds since boot (None where the system cannot tell)
    and ``boot`` the boot those seconds belong to.
    """

    __slots__ = ("at", "boot", "client", "cwd", "event", "level", "marks", "name", "tick")

    def __init__(
        self,
        *,
        name: str,
        client: str,
        at: float,
        event: str = "note",
        level: str = "",
        cwd: str = "",
        marks: dict[str, str] | None = None,
        tick: float | None = None,
        boot: str = "",
    ) -> None:
        self.name = name
        self.client = client
        self.event = event
        self.level = level
        self.cwd = cwd
        self.marks = marks or {}
        self.at = at
        self.tick = tick
        self.boot = boot


class Event:
    """One thing that happened in a client's session. ``kind`` decides what ``data`` holds:

    ==========  =====================================================================================
    start       source, model
    prompt      text, notification (None, or call, task, status, summary of ended background work), steers (only
                where the client says whether the prompt goes to the turn that runs)
    call        tool, input; of a call and a result that other events tell of too: echo (true)
    result      tool, input, text, ok (None: not told), ms, background (task id: only the launch is over),
                agent (id of the subagent that the call ran), person (the text is a person's words)
    batch       calls: list of {call, tool, input, text, ok, person}
    permission  tool, input, state (asked, denied), reason
    said        text: the agent's last words, where its stop does not tell them
    subagent    event (start, stop), text
    compact     event (before, after), trigger, text
    stop        text, active, background (ids of tasks still running), aborted (only where a person may have done it),
                transcript (only where the client names a file instead of the text: what its module needs to find the
                text in it)
    failure     error, text
    error       error, text: a request failed, and the client may try again
    interrupt   reason: a person stopped the turn
    end         reason
    cwd         old, new
    context     event, commit, shown, text: what we injected ourselves
    event       payload (as it came), opens (whether it can open a turn): anything not known
    nothing     no data: the client says something that is none of a person's or an agent's doing
    ==========  =====================================================================================

    ``spooled`` is the name of its spool file and unique; ``agent`` is set inside a subagent.
    """

    __slots__ = (
        "agent",
        "agent_type",
        "at",
        "boot",
        "call",
        "client",
        "cwd",
        "data",
        "kind",
        "level",
        "name",
        "prompt_id",
        "root",
        "session",
        "spooled",
        "tick",
    )

    def __init__(
        self,
        *,
        client: str,
        session: str,
        name: str,
        kind: str,
        at: float,
        data: dict[str, Any],
        spooled: str,
        cwd: str = "",
        prompt_id: str | None = None,
        agent: str | None = None,
        agent_type: str | None = None,
        call: str | None = None,
        root: str | None = None,
        level: str = "",
        tick: float | None = None,
        boot: str = "",
    ) -> None:
        self.client = client
        self.session = session
        self.name = name
        self.kind = kind
        self.at = at
        self.data = data
        self.spooled = spooled
        self.cwd = cwd
        self.prompt_id = prompt_id
        self.agent = agent
        self.agent_type = agent_type
        self.call = call
        self.root = root
        self.level = level
        self.tick = tick
        self.boot = boot

    def __repr__(self) -> str:
        return f"<Event {self.name} {self.session[:8]} {(self.prompt_id or '-')[:8]} {self.spooled}>"
