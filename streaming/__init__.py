"""Bulk matching on Spark Structured Streaming: records, the step that matches a batch of them, and its hosts.

For Spark users the whole of it is one function, `silbo.streaming.match`.
"""

from __future__ import annotations

from typing import Any

__all__ = ["match"]


def __getattr__(name: str) -> Any:
    """`match`, imported where it is asked for: Spark comes with it."""
    if name == "match":
        from silbo.streaming.frames import match

        return match
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
