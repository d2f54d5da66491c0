"""Positions in the device's fixed point: signed, 32 bits, eight of them after the binary point.

Conversion keeps a position inside its box: positions are rounded down, boxes outwards, and values beyond the range
are clamped to it. So the device may find a position in a box that is outside, but never the reverse.
"""

from __future__ import annotations

import math
from typing import TypeAlias

from silbo.matching.fast.boxes import SLACK

ONE = 1 << 8
LEAST, GREATEST = 1 - 2**31, 2**31 - 1  # -2^31 is reserved: as x it means that there is no position
TINY = 1e-150  # squares of smaller numbers are 0, so `distance` takes such numbers for 0

Interval: TypeAlias = tuple[int, int]  # ends included
EVERYWHERE: Interval = (LEAST, GREATEST)


def place(coordinate: float) -> int:
    """A publisher's coordinate in fixed point."""
    return math.floor(_clamped(coordinate))


def around(coordinate: float, reach: float) -> Interval:
    """The interval of all places that arithmetic on doubles may find within `reach` of the coordinate."""
    wide = reach + SLACK * (reach + abs(coordinate)) + TINY
    return math.floor(_clamped(coordinate - wide)), math.ceil(_clamped(coordinate + wide))


def _clamped(coordinate: float) -> float:
    """The coordinate in units of the last bit, clamped; the product is exact, or infinite and then clamped."""
    return max(LEAST, min(GREATEST, coordinate * ONE))
