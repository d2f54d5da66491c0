"""A box of positions as the device holds it: signed 32-bit numbers, in the fixed point that the caller chooses.

The boxes of context functions are in `silbo.matching.fast.boxes`; `silbo.hw.offload` makes this one of those.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias


class DeviceBox(NamedTuple):
    """Positions from low to high, ends included. The driver takes any tuple of these four numbers instead."""

    x_low: int
    x_high: int
    y_low: int
    y_high: int


BoxLike: TypeAlias = DeviceBox | tuple[int, int, int, int]
