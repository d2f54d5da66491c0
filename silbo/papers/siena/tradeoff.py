"""Equation 2: the number of notifications per context change above which SIENA takes less time, if there is one.

It is `(T_silbo_change - T_siena_change) / (T_siena_notification - T_silbo_notification)`, with SIENA's change as one
message (the paper's formula), and with the real cost of a change with ten filters (in silbo including the later repair
of a grid). If silbo's notifications do not take longer than SIENA's, there is no crossing: SIENA never takes less
time. Intervals come from a bootstrap over the samples.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

Array: TypeAlias = np.ndarray[Any, Any]
Samples: TypeAlias = Mapping[str, Sequence[float] | Array]  # microseconds of changes, by the filters of a subscriber

RESAMPLES = 2_000
LEVEL = 95  # percent of the resamples in an interval
FILTERS = "10"


def trade_off(
    silbo: Samples, siena: Samples, notified: Mapping[str, Array], seed: int, *, repair: float = 0.0
) -> dict[str, Any]:
    """Both crossings with their intervals, and the share of resamples without a crossing."""
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
    """For both formulas: the extra time of SIENA for a change, and of silbo for a notification."""
    steps = [int(step) for step in siena]
    message = float(np.polyfit(steps, [np.median(each) for each in siena.values()], 1)[0]) / 2
    ours, theirs = float(np.median(silbo[FILTERS])), float(np.median(siena[FILTERS]))
    more = float(np.mean(notified["silbo"]) - np.mean(notified["siena"]))
    return {"paper_formula": (message - ours, more), "real_cost": (theirs - ours - repair, more)}


def _ratio(change: float, notification: float) -> float | None:
    """Notifications per change at the crossing; None if SIENA never takes less time."""
    return change / notification if notification > 0 else None


def _resampled(
    chance: np.random.Generator, silbo: Samples, siena: Samples, notified: Mapping[str, Array]
) -> tuple[Samples, Samples, Mapping[str, Array]]:
    """As many samples of each, drawn with replacement; a publication is drawn with its times in both systems."""
    drawn = chance.integers(0, len(notified["silbo"]), len(notified["silbo"]))
    again = {name: each[drawn] for name, each in notified.items()}
    return _drawn(chance, silbo), _drawn(chance, siena), again


def _drawn(chance: np.random.Generator, samples: Samples) -> Samples:
    return {step: chance.choice(each, len(each)) for step, each in samples.items()}


def _interval(points: Sequence[float | None]) -> list[float | None] | None:
    """The middle of the resamples. Its upper end is None without a crossing there; None if the lower end has none."""
    numbers = sorted(np.inf if point is None else point for point in points)
    outside = (100 - LEVEL) / 200
    low, high = numbers[int(outside * len(numbers))], numbers[int((1 - outside) * len(numbers)) - 1]
    return None if np.isinf(low) else [_rounded(float(low)), _rounded(None if np.isinf(high) else float(high))]


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 3)
