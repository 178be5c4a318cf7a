"""neosian: a memory wiki for coding agents, kept in plain files under git."""

from __future__ import annotations

__version__ = "0.1.0"
