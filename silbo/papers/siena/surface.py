"""The trade-off as a surface: which system takes less time, by box, subscriptions per subscriber, crowding and rates.

For each point both systems match the same publications and make the same changes. The times for any number of
notifications per context change are computed from these. Each point also has the plan that silbo's planner chose.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np

from silbo.bench.timing import timed, uncollected
from silbo.papers.siena.changes import BATCH, WARM, pair, taken_us
from silbo.papers.siena.load import Load, paper_load, settle, somewhere
from silbo.papers.siena.sizes import RunSizes
from silbo.papers.siena.systems import System

CROWDING = {"anywhere in the square": False, "in twenty towns": True}
RATIOS = tuple(10**exponent for exponent in np.linspace(-3, 4, 29).tolist())  # notifications per context change
SAMPLES = 20  # batches of changes
REPEATS = 5  # repeats of each publication


def surface(sizes: RunSizes, seed: int, say: Callable[[str], object]) -> list[dict[str, Any]]:
    """Measure all points."""
    found = []
    wanted = list(product(CROWDING, sizes.each, sizes.boxes))
    for number, (crowding, each, side) in enumerate(wanted, 1):
        say(f"  point {number} of {len(wanted)}: {crowding}, {each} per subscriber, box of {side:g} km")
        with uncollected():
            point = _point(sizes, crowding, each, side, seed)
        found.append({"crowding": crowding, "each": each, "box_km": side, **point})
    return found


def _point(sizes: RunSizes, crowding: str, each: int, side: float, seed: int) -> dict[str, Any]:
    chance = np.random.default_rng([seed, 13])
    load = paper_load(chance, sizes.surface, each, sizes.surface_events, side=side, towns=CROWDING[crowding])
    silbo, siena = both = pair(load)
    settle(both, load.publications, sizes.warm_up)
    matched = _matched(both, load)
    changed = _changed(chance, both, load)
    matches = sum(len(silbo.match(*publication)) for publication in load.publications)
    return {
        "plan": silbo.index.stats()["plan"],
        "notification_us": matched,
        "context_change_us": changed,
        "matches": matches,
        "same_answers": all(silbo.got(*one) == siena.got(*one) for one in load.publications[:50]),
        "crossing": crossing(matched, changed),
    }


def _matched(both: tuple[System, System], load: Load) -> dict[str, float]:
    """The mean time of all publications, each the median of its repeats; the systems are measured in turns."""
    taken: dict[str, list[list[int]]] = {system.name: [] for system in both}
    for _ in range(REPEATS):
        for system in both:
            taken[system.name].append([timed(system.match, *each) for each in load.publications])
    return {name: round(float(np.median(each, axis=0).mean()) / 1_000, 3) for name, each in taken.items()}


def _changed(chance: np.random.Generator, both: tuple[System, System], load: Load) -> dict[str, float]:
    taken: dict[str, list[float]] = {system.name: [] for system in both}
    for _ in range(SAMPLES):
        who = chance.integers(0, len(load.places), WARM + BATCH).tolist()
        places = somewhere(chance, WARM + BATCH)
        for system in both:
            taken[system.name].append(taken_us(system, who, places))
    return {name: round(float(np.median(each)), 4) for name, each in taken.items()}


def crossing(notification: dict[str, float], change: dict[str, float]) -> float | None:
    """The notifications per change above which SIENA takes less time; None if there is no such number."""
    more = notification["silbo"] - notification["siena"]
    return round((change["siena"] - change["silbo"]) / more, 3) if more > 0 else None


def times_cheaper(point: dict[str, Any], ratio: float) -> float:
    """SIENA's time for a change and `ratio` notifications, as a multiple of silbo's."""
    taken = {
        name: point["context_change_us"][name] + ratio * point["notification_us"][name] for name in ("silbo", "siena")
    }
    return float(taken["siena"] / taken["silbo"])
