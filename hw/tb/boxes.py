"""Boxes in the format of the contextManager, and coordinates at the borders of the number range."""

from __future__ import annotations

from silbo.hw.driver.device_box import DeviceBox
from silbo.hw.tb.core import WORD

BORDERS = (-(2**31), -(2**31) + 1, -257, -256, -1, 0, 1, 255, 256, 2**31 - 2, 2**31 - 1)


def bits(box: DeviceBox | None) -> int:
    """The box as {y_high, y_low, x_high, x_low}; 0 if there is none, since its bits then do not matter."""
    if box is None:
        return 0
    return sum((each & WORD) << 32 * i for i, each in enumerate((box.x_low, box.x_high, box.y_low, box.y_high)))


def contains(box: DeviceBox | None, x: int, y: int) -> bool:
    """Whether the position is inside, borders included."""
    return box is not None and box.x_low <= x <= box.x_high and box.y_low <= y <= box.y_high
