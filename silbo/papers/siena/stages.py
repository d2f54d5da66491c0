"""The microseconds of each stage of a notification and of a context change, in both systems.

The stages of a notification are encode (the message, in words), candidates (the postings that match by list, signature
and interval), residual (the remaining constraints), context (the function) and deliver (the rest of `publish`:
checks, lock, notifications, queues). The stages of a change are remove, encode, add, write, and the repair of a grid
at the next match.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import perf_counter_ns
from typing import Any

import numpy as np

from silbo.bench.timing import timed
from silbo.matching.fast.index import FastIndex
from silbo.matching.fast.kernels import layout
from silbo.papers.siena.brokers import Connected
from silbo.papers.siena.changes import BATCH, WARM, change_all, taken_us
from silbo.papers.siena.load import somewhere
from silbo.papers.siena.systems import Place, Publications, Siena, Silbo

NOTIFICATION = ("encode", "candidates", "residual", "context", "deliver")
CHANGE = ("remove", "encode", "add", "write", "repair at the next match")
STAGES = (layout.COLLECT, layout.FIRST_CHECK, layout.BOTH_CHECKS)
MOVED = 100  # rows that move before a grid is repaired


def notification_stages(
    brokers: Sequence[Connected], publications: Publications, repeats: int
) -> dict[str, dict[str, float]]:
    """The mean of each stage over all publications, by broker."""
    return {each.name: _stages(each, publications, repeats) for each in brokers}


def _stages(each: Connected, publications: Publications, repeats: int) -> dict[str, float]:
    """Measure a publish and its kernel; the kernel's time is divided in proportion to its stages measured alone."""
    whole, kernel = _in_place(each, publications, repeats)
    index = each.fast
    index.match(*publications[0])  # repairs grids, and grows arrays
    taken = [[_four(each, publication, turn) for publication in publications] for turn in range(repeats)]
    encode, candidates, first, second = np.median(taken, axis=0).mean(axis=0) / 1_000
    parts = [candidates, max(0.0, first - candidates), max(0.0, second - first)]
    candidates, first, second = (part * kernel / sum(parts) for part in parts)
    residual, context = (second, first) if _is_early(each) else (first, second)
    if each.siena is not None:
        residual, context = first + second, 0.0  # there is no context function
    deliver = max(0.0, whole - kernel - encode)
    found = zip(NOTIFICATION, (encode, candidates, residual, context, deliver), strict=True)
    return {name: round(float(value), 3) for name, value in found}


def _in_place(each: Connected, publications: Publications, repeats: int) -> tuple[float, float]:
    """Microseconds of a publish, and of the kernel in it."""
    index, publish = each.fast, each.publisher.publish
    clock = Clock(index._run)
    index._run, own = clock, _clocks_own()
    taken = []
    try:
        for _ in range(repeats):
            for attributes, context in publications:
                before = clock.taken
                whole = timed(_publish, publish, attributes, context)
                taken.append((whole - own, clock.taken - before - own))
            each.read()
    finally:
        index._run = clock.call
    medians = np.median(np.array(taken).reshape(repeats, len(publications), 2), axis=0).mean(axis=0) / 1_000
    return float(medians[0]), float(medians[1])


def _publish(publish: Callable[..., Any], attributes: Any, context: Any) -> None:
    publish(attributes, context=context)


def _four(each: Connected, publication: tuple[Any, Any], turn: int) -> list[int]:
    """Nanoseconds of encoding, and of matching up to each stage; an untimed run of all stages warms the caches."""
    encode = timed(_encode, each, *publication)
    match_up_to(each.fast, layout.BOTH_CHECKS)
    order = [STAGES[(turn + i) % 3] for i in range(3)]
    taken = {stage: match_up_to(each.fast, stage)[0] for stage in order}
    return [encode, *(taken[stage] for stage in STAGES)]


def match_up_to(index: FastIndex, stage: int) -> tuple[int, int]:
    """Match the publication at the beginning of the stream up to a stage: the nanoseconds, and how many are left."""
    state, handle = index._state, index.arrays.handle
    end = int(index.arrays.stream[1])
    state[layout.OUT] = state[layout.PUBLICATIONS] = 0
    state[layout.STAGE] = stage
    try:
        return timed(index._run, handle, 0, end), state[layout.OUT]
    finally:
        state[layout.STAGE] = layout.WHOLE


def _encode(each: Connected, attributes: Any, offered: Any) -> None:
    """Do what `match` does before its kernel."""
    if each.siena is None:
        each.fast._encoder.publication(attributes, offered)
    else:
        each.fast._encoder.publication(each.siena.message(attributes, offered), {})


def _is_early(each: Connected) -> bool:
    """Whether the planner evaluates the function before the constraints."""
    return bool(each.fast.arrays.programs.reshape(-1, layout.PROGRAM)[:, layout.R_EARLY].any())


# a change


def change_stages(
    silbo: Silbo, siena: Siena, samples: int, publications: Publications, seed: int
) -> dict[str, dict[str, float]]:
    """The stages of a change, as medians of batches, for subscribers drawn at random; all have as many filters."""
    chance = np.random.default_rng([seed, 11])
    taken = []
    for _ in range(samples):
        write, whole = (taken_us(system, *_drawn(chance, silbo.subscribers)) for system in (silbo, siena))
        removed, added = _clocked(siena, *_drawn(chance, silbo.subscribers))
        taken.append((write, removed, max(0.0, whole - removed - added), added))
        silbo.match(*publications[0])  # repairs the grid
    write, *theirs = np.median(taken, axis=0).round(3).tolist()
    zero = dict.fromkeys(CHANGE, 0.0)
    return {
        "silbo": {**zero, "write": write, CHANGE[-1]: _repair(silbo, chance, publications)},
        "siena": {**zero, **dict(zip(("remove", "encode", "add"), theirs, strict=True))},
    }


def _drawn(chance: np.random.Generator, subscribers: int) -> tuple[list[int], list[Place]]:
    """Subscribers and their new places: others each time, since those that have just moved are in the caches."""
    who: list[int] = chance.integers(0, subscribers, WARM + BATCH).tolist()
    return who, somewhere(chance, WARM + BATCH)


class Clock:
    """Wraps a function, and adds up the nanoseconds of its calls."""

    def __init__(self, call: Callable[..., Any]) -> None:
        self.taken, self.calls = 0, 0
        self.call = call

    def __call__(self, *arguments: Any) -> Any:
        """Call the function, and add its time."""
        since = perf_counter_ns()
        result = self.call(*arguments)
        self.taken += perf_counter_ns() - since
        self.calls += 1
        return result


def _clocked(siena: Siena, who: Sequence[int], places: Sequence[Place]) -> tuple[float, float]:
    """Microseconds of a change spent on removing filters, and on the kernel that adds them."""
    index = siena.index.index
    remove, add = index.remove, index._add
    clocks = Clock(remove), Clock(add)
    index.remove, index._add = clocks  # type: ignore[method-assign, assignment]
    try:
        change_all(siena.change, [(siena.who(each), place) for each, place in zip(who, places, strict=True)])
    finally:
        index.remove, index._add = remove, add  # type: ignore[method-assign]
    own = _clocks_own()
    removed, added = (max(0.0, clock.taken - own * clock.calls) / len(who) / 1_000 for clock in clocks)
    return removed, added


def _clocks_own() -> float:
    """The nanoseconds that a clock itself adds to a call."""
    clock = Clock(int)
    for _ in range(1_000):
        clock()
    return clock.taken / clock.calls


def _repair(silbo: Silbo, chance: np.random.Generator, publications: Publications) -> float:
    """Microseconds by which the next match takes longer, for each row that moved."""
    more = []
    for publication in publications[:MOVED]:
        silbo.match(*publication)
        alone = timed(silbo.match, *publication)
        drawn = chance.choice(silbo.subscribers, min(MOVED, silbo.subscribers), replace=False).tolist()
        for each, place in zip(drawn, somewhere(chance, len(drawn)), strict=True):
            silbo.change(silbo.who(each), place)
        more.append((timed(silbo.match, *publication) - alone) / len(drawn))
    return round(max(0.0, float(np.median(more)) / 1_000), 3)
