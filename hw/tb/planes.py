"""Counters that stand in planes: plane p holds bit p of all of them."""

from __future__ import annotations

from silbo.hw.tb.module import Module


def counts(counters: Module, planes: int) -> list[int]:
    """Each counter's number."""
    sids = counters.size("SIDS")
    return [sum((planes >> p * sids + t & 1) << p for p in range(counters.size("PLANES"))) for t in range(sids)]
