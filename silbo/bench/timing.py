"""How times are taken: each call by itself, without the garbage collector's walks over what was built before."""

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


def say_nothing(text: str) -> None:
    """What is told of the progress where nobody looks."""


@contextmanager
def quiet() -> Iterator[None]:
    """Take what there is out of the collector's sight: a walk over a million subscriptions is no part of a call."""
    gc.collect()
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


@contextmanager
def uncollected() -> Iterator[None]:
    """Keep the collector from walking at all: for a part that builds much and leaves it all behind at its end."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
        gc.collect()


def timed(call: Callable[..., Any], *arguments: Any) -> int:
    """The nanoseconds of a call; who takes many is `quiet`."""
    since = time.perf_counter_ns()
    call(*arguments)
    return time.perf_counter_ns() - since


def times(call: Callable[..., Any], arguments: Iterable[Sequence[Any]]) -> list[int]:
    """The nanoseconds of each call."""
    with quiet():
        return [timed(call, *each) for each in arguments]


def median(taken: Sequence[int]) -> float:
    """In microseconds."""
    return round(float(np.median(taken)) / 1_000, 3)


def figures(taken: Sequence[int]) -> Figures:
    """Median and 99th percentile, in microseconds."""
    return {"median": median(taken), "p99": round(float(np.percentile(taken, 99)) / 1_000, 3)}


def resident() -> float:
    """What the process holds in memory now, in megabytes; where the system does not tell, what it held at most."""
    statm = Path("/proc/self/statm")
    if statm.exists():
        return round(int(statm.read_text(encoding="ascii").split()[1]) * resource.getpagesize() / 1e6, 1)
    return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6, 1)
