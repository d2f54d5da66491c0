"""Measure the time of calls, each by itself, without the garbage collector's walks over older objects."""

from __future__ import annotations

import gc
import resource
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

Figures: TypeAlias = dict[str, float]
Say: TypeAlias = Callable[[str], object]
Clock: TypeAlias = Callable[[], int]  # nanoseconds


def say_nothing(text: str) -> None:
    """Ignore a progress message."""


@contextmanager
def quiet() -> Iterator[None]:
    """Hide all present objects from the collector: a walk over a million subscriptions is not part of a call."""
    gc.collect()
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


@contextmanager
def uncollected() -> Iterator[None]:
    """Switch the collector off, for a part that builds many objects and drops all of them at its end."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
        gc.collect()


def timed(call: Callable[..., Any], *arguments: Any, clock: Clock = time.perf_counter_ns) -> int:
    """The nanoseconds of a call; a caller that times many calls uses `quiet`."""
    since = clock()
    call(*arguments)
    return clock() - since


def times(
    call: Callable[..., Any], arguments: Iterable[Sequence[Any]], clock: Clock = time.perf_counter_ns
) -> list[int]:
    """The nanoseconds of each call."""
    with quiet():
        return [timed(call, *each, clock=clock) for each in arguments]


def median(taken: Sequence[int]) -> float:
    """The median, in microseconds."""
    return round(float(np.median(taken)) / 1_000, 3)


def figures(taken: Sequence[int]) -> Figures:
    """The median and the 99th percentile, in microseconds."""
    return {"median": median(taken), "p99": round(float(np.percentile(taken, 99)) / 1_000, 3)}


def resident() -> float:
    """The memory of the process now, in megabytes; its peak, if the system does not report the present value."""
    statm = Path("/proc/self/statm")
    if statm.exists():
        return round(int(statm.read_text(encoding="ascii").split()[1]) * resource.getpagesize() / 1e6, 1)
    return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6, 1)
