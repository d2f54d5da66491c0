"""Positions as the device has them: 32 bits with a sign, eight of them behind the point.

Whoever is in a box stays in it: a place is rounded down, a box outwards, and what lies beyond the range is
brought to its end. So the device may take somebody for near who is not, never the reverse.
"""

from __future__ import annotations

import math
from typing import TypeAlias

from silbo.matching.boxes import SLACK

ONE = 1 << 8
LEAST, GREATEST = 1 - 2**31, 2**31 - 1  # -2^31 is kept: as an x it says that there is no position
TINY = 1e-150  # squares of less are 0: `distance` cannot tell them from nothing

Interval: TypeAlias = tuple[int, int]  # both ends belong to it
EVERYWHERE: Interval = (LEAST, GREATEST)


def place(coordinate: float) -> int:
    """A publisher's coordinate."""
    return math.floor(_clamped(coordinate))


def around(coordinate: float, reach: float) -> Interval:
    """Every place for which arithmetic on doubles may find that it is no further than `reach`."""
    wide = reach + SLACK * (reach + abs(coordinate)) + TINY
    return math.floor(_clamped(coordinate - wide)), math.ceil(_clamped(coordinate + wide))


def _clamped(coordinate: float) -> float:
    """In units of the last bit; the product is exact, or infinite and so at an end."""
    return max(LEAST, min(GREATEST, coordinate * ONE))
