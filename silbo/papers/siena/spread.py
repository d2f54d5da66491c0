"""Median and range of figures that differ from run to run, so that a reader sees how reliable each of them is.

A round measures everything that is compared, one after the other, so that a disturbance of the machine affects all of
it. Ratios are computed within a round.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

import numpy as np

Spread: TypeAlias = dict[str, float]  # median, low, high

ROUNDS = 5  # parts that a series of samples is divided into, in the order of time


def spread(rounds: Sequence[float]) -> Spread:
    """The median of the rounds, the least and the greatest of them."""
    found = {"median": np.median(rounds), "low": np.min(rounds), "high": np.max(rounds)}
    return {name: round(float(value), 4) for name, value in found.items()}


def medians(samples: Sequence[float], rounds: int = ROUNDS) -> list[float]:
    """The median of each part of a series, as shorter runs would have given it."""
    return [float(np.median(part)) for part in np.array_split(samples, min(rounds, len(samples)))]


def ratios(above: Iterable[float], below: Iterable[float]) -> Spread:
    """The spread of the quotients, round by round."""
    return spread([a / b for a, b in zip(above, below, strict=True)])


def shown(found: Spread, form: str = ".2f") -> str:
    """The median, and the range in parentheses."""
    median, low, high = (format(found[name], form) for name in ("median", "low", "high"))
    return f"{median} ({low} to {high})"


def shown_change(found: Spread) -> str:
    """The spread of a quotient as more or less than one, in percent."""
    return shown({name: value - 1 for name, value in found.items()}, "+.0%")
