"""The device's two axes: which of the publishers' variables they hold, and the boxes over them.

The device knows one x and one y. An axis goes to the first variable that a box asks for, and is free again when no box
uses that variable. A box over other variables has no room.
"""

from __future__ import annotations

from collections.abc import Iterable

from silbo.hw.driver.device_box import DeviceBox
from silbo.hw.offload.fixed_point import EVERYWHERE, Interval, around, place
from silbo.matching.fast.boxes import Box
from silbo.model.values import KINDS, Context


class Axes:
    """The variables that x and y hold, and how many boxes use each."""

    def __init__(self) -> None:
        self._names: list[str | None] = [None, None]
        self._uses: dict[str, int] = {}

    def take(self, box: Box) -> bool:
        """Reserve the variables of one more box; returns False, and reserves none, if there is no room for all."""
        names = _names(box)
        new = [name for name in names if name not in self._uses]
        if len(new) > self._names.count(None):
            return False
        for name in new:
            self._names[self._names.index(None)] = name
        for name in names:
            self._uses[name] = self._uses.get(name, 0) + 1
        return True

    def release(self, box: Box) -> None:
        """Release the variables of one box."""
        for name in _names(box):
            self._uses[name] -= 1
            if not self._uses[name]:
                del self._uses[name]
                self._names[self._names.index(name)] = None

    def position(self, offered: Context) -> tuple[int, int] | None:
        """The position that a publisher offers; None if it offers neither coordinate.

        One missing coordinate is sent as 0. Any value would do: a function with a box over it is not true.
        """
        x, y = (None if name is None else _number(offered.get(name)) for name in self._names)
        return None if x is None and y is None else (place(x or 0.0), place(y or 0.0))

    def hull(self, boxes: Iterable[Box], context: Context) -> DeviceBox | None:
        """The smallest box that contains all of a subscriber's boxes; None if none of their functions can be true."""
        found = [each for box in boxes if (each := self._box(box, context)) is not None]
        if not found:
            return None
        x_low, x_high, y_low, y_high = zip(*found, strict=True)
        return DeviceBox(min(x_low), max(x_high), min(y_low), max(y_high))

    def _box(self, box: Box, context: Context) -> DeviceBox | None:
        ends = [EVERYWHERE, EVERYWHERE]
        for axis in box.axes:
            centre = _number(context.get(axis.this))
            if centre is None:
                return None
            at = self._names.index(axis.pub)
            ends[at] = _both(ends[at], around(centre, box.reach))
        (x_low, x_high), (y_low, y_high) = ends
        return DeviceBox(x_low, x_high, y_low, y_high)


def _names(box: Box) -> list[str]:
    return list(dict.fromkeys(axis.pub for axis in box.axes))


def _number(value: object) -> float | None:
    """A coordinate as a float; None for strings, bools, sets and geometries, with which functions do not compute."""
    return float(value) if KINDS.get(type(value)) == "number" else None  # type: ignore[arg-type]  # the kind says so


def _both(a: Interval, b: Interval) -> Interval:
    """The intersection of two intervals. If it is empty, low is above high, and no position is between them."""
    return max(a[0], b[0]), min(a[1], b[1])
