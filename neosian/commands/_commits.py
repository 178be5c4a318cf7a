"""Commits as commands print them: one line for people, one object for programs."""

from __future__ import annotations

import re
from collections.abc import Iterable

from neosian import turns
from neosian.commits import Commit

_ROOT = "bcd8240a5a3ad1c5a8ae721e388985ba90d98b90"
"""The commit that every scope begins with: nobody's act, and of 1970."""


def told(found: Iterable[Commit]) -> list[Commit]:
    """The commits that are somebody's act."""
    return [commit for commit in found if commit.id != _ROOT]


def brief(name: str) -> str:
    """An actor, or a turn, whose session is named by its first signs, as far as commands need them."""
    return re.sub(r"(?<![^:])([0-9a-f]{8})-[0-9a-f-]{27}", r"\1", name)


def as_object(commit: Commit, scope: str) -> dict[str, object]:
    """What `--json` says of a commit."""
    return {
        "at": turns.stamp(commit.at), "actor": commit.actor, "act": commit.act,
        "conversation": commit.conversation or None, "turn": commit.turn, "subject": commit.subject,
        "commit": commit.id, "scope": scope, "paths": [path for _, path, _ in commit.changes],
    }  # fmt: skip
