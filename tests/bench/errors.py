"""What makes a bench fail: never a slow act, always one that did not do its work."""

from __future__ import annotations


class BenchError(Exception):
    """Something that is measured, or made ready to be, did not do what it should."""
