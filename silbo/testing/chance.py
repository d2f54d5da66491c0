"""Random draws in which the smallest draw gives the plainest result, so that Hypothesis shrinks to plain text."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import TypeVar

T = TypeVar("T")


def seldom(random: Random, share: float) -> bool:
    """Yes in this share of all draws."""
    return random.random() >= 1 - share


def picked(random: Random, usual: Sequence[T], border: Sequence[T], share: float = 0.2) -> T:
    """One of the usual ones, or in this share of all draws one from the border."""
    return random.choice(border if seldom(random, share) else usual)
