"""Which two of the publishers' variables are a position on the device, and the boxes over them.

The device knows one x and one y. They go to the variables that boxes ask for first, each until no box uses it any more;
a box over others finds no room.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

from silbo.hw.fixed_point import EVERYWHERE, Interval, around, place
from silbo.matching.boxes import Box
from silbo.model.values import KINDS, Context

DeviceBox: TypeAlias = tuple[int, int, int, int]  # x from, to, y from, to: in fixed point, ends included


class Axes:
    """The variables behind x and y, and how many boxes use each."""

    def __init__(self) -> None:
        self._names: list[str | None] = [None, None]
        self._uses: dict[str, int] = {}

    def take(self, box: Box) -> bool:
        """Let one more box use its variables; whether there is room for all of them."""
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
        """One box less."""
        for name in _names(box):
            self._uses[name] -= 1
            if not self._uses[name]:
                del self._uses[name]
                self._names[self._names.index(name)] = None

    def position(self, offered: Context) -> tuple[int, int] | None:
        """Where a publisher is, as far as it shows it; a coordinate that boxes cannot hold true for is any."""
        x, y = (None if name is None else _number(offered.get(name)) for name in self._names)
        return None if x is None and y is None else (place(x or 0.0), place(y or 0.0))

    def hull(self, boxes: Iterable[Box], context: Context) -> DeviceBox | None:
        """What holds the boxes around a subscriber; None if none of their functions can be true for it."""
        found = [each for box in boxes if (each := self._box(box, context)) is not None]
        if not found:
            return None
        x_low, x_high, y_low, y_high = zip(*found, strict=True)
        return min(x_low), max(x_high), min(y_low), max(y_high)

    def _box(self, box: Box, context: Context) -> DeviceBox | None:
        ends = [EVERYWHERE, EVERYWHERE]
        for axis in box.axes:
            centre = _number(context.get(axis.this))
            if centre is None:
                return None
            at = self._names.index(axis.pub)
            ends[at] = _both(ends[at], around(centre, box.reach))
        (x_low, x_high), (y_low, y_high) = ends
        return x_low, x_high, y_low, y_high


def _names(box: Box) -> list[str]:
    return list(dict.fromkeys(axis.pub for axis in box.axes))


def _number(value: object) -> float | None:
    """A coordinate, as the arithmetic of functions takes it; strings, bools, sets and geometries are none."""
    return float(value) if KINDS.get(type(value)) == "number" else None  # type: ignore[arg-type]  # the kind says so


def _both(a: Interval, b: Interval) -> Interval:
    """What two intervals share; where that is nothing, low and high are crossed, and nobody is between them."""
    return max(a[0], b[0]), min(a[1], b[1])
