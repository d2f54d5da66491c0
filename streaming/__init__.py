"""Bulk matching on Spark Structured Streaming: the step that matches a batch of records, and its hosts.

Spark users need only one function, `silbo.streaming.match`.
"""

from __future__ import annotations

from typing import Any

__all__ = ["match"]


def __getattr__(name: str) -> Any:
    """Import `match` at its first use, because it imports Spark."""
    if name == "match":
        from silbo.streaming.spark.frames import match

        return match
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
