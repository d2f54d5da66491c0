"""Counters stored as bit planes: plane p holds bit p of every counter."""

from __future__ import annotations

from silbo.hw.tb.module import Module


def counts(counters: Module, planes: int) -> list[int]:
    """The value of each counter."""
    sids = counters.size("SIDS")
    return [sum((planes >> p * sids + t & 1) << p for p in range(counters.size("PLANES"))) for t in range(sids)]
