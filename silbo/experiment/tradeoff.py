"""Equation 2: from how many notifications to a context change on SIENA takes less time, if from any.

`(T_silbo_change - T_siena_change) / (T_siena_notification - T_silbo_notification)`, by the paper's formula, which
has one message for a change, and by what a change costs with ten filters (and, in silbo, with what a grid must
repair for it later). Where silbo's notifications take no
longer than SIENA's there is no crossing: SIENA is never ahead. Intervals are of a bootstrap over the samples.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

Array: TypeAlias = np.ndarray[Any, Any]
Samples: TypeAlias = Mapping[str, Sequence[float] | Array]  # microseconds of changes, by the filters of a subscriber

RESAMPLES = 2_000
LEVEL = 95  # percent of the resamples that lie in an interval
FILTERS = "10"


def trade_off(
    silbo: Samples, siena: Samples, notified: Mapping[str, Array], seed: int, *, repair: float = 0.0
) -> dict[str, Any]:
    """Both points with their intervals, and how many resamples have no crossing."""
    points = {name: _ratio(*costs) for name, costs in _costs(silbo, siena, notified, repair).items()}
    chance = np.random.default_rng([seed, 2])
    drawn = [_costs(*_resampled(chance, silbo, siena, notified), repair) for _ in range(RESAMPLES)]
    resampled = {name: [_ratio(*each[name]) for each in drawn] for name in points}
    return {
        "paper_formula": _rounded(points["paper_formula"]),
        "real_cost": _rounded(points["real_cost"]),
        "interval": {name: _interval(each) for name, each in resampled.items()},
        "without_crossing": {
            name: round(sum(point is None for point in each) / RESAMPLES, 3) for name, each in resampled.items()
        },
    }


def _costs(
    silbo: Samples, siena: Samples, notified: Mapping[str, Array], repair: float
) -> dict[str, tuple[float, float]]:
    """By the way of counting: what SIENA takes more for a change, and what silbo takes more for a notification."""
    steps = [int(step) for step in siena]
    message = float(np.polyfit(steps, [np.median(each) for each in siena.values()], 1)[0]) / 2
    ours, theirs = float(np.median(silbo[FILTERS])), float(np.median(siena[FILTERS]))
    more = float(np.mean(notified["silbo"]) - np.mean(notified["siena"]))
    return {"paper_formula": (message - ours, more), "real_cost": (theirs - ours - repair, more)}


def _ratio(change: float, notification: float) -> float | None:
    """Notifications to a change; None where SIENA is never ahead."""
    return change / notification if notification > 0 else None


def _resampled(
    chance: np.random.Generator, silbo: Samples, siena: Samples, notified: Mapping[str, Array]
) -> tuple[Samples, Samples, Mapping[str, Array]]:
    """As many of each, drawn with putting back; a publication with its times in both systems."""
    drawn = chance.integers(0, len(notified["silbo"]), len(notified["silbo"]))
    again = {name: each[drawn] for name, each in notified.items()}
    return _drawn(chance, silbo), _drawn(chance, siena), again


def _drawn(chance: np.random.Generator, samples: Samples) -> Samples:
    return {step: chance.choice(each, len(each)) for step, each in samples.items()}


def _interval(points: Sequence[float | None]) -> list[float | None] | None:
    """The middle of the resamples; an end is None where there is no crossing, and all of it where there is none."""
    numbers = sorted(np.inf if point is None else point for point in points)
    outside = (100 - LEVEL) / 200
    low, high = numbers[int(outside * len(numbers))], numbers[int((1 - outside) * len(numbers)) - 1]
    return None if np.isinf(low) else [_rounded(float(low)), _rounded(None if np.isinf(high) else float(high))]


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 3)
