"""The rows of the device's contextManager memory: whose each is, and what was written there.

A subscriber has a row while a subscription of it is matched in context on the device. The row holds one box, the hull
of the boxes of all these subscriptions, so a change of context is one write, or none where the hull stays.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Protocol

from silbo.context.table import ContextTable
from silbo.hw.axes import Axes, DeviceBox
from silbo.matching.boxes import Box
from silbo.model.values import Context


class ContextMemory(Protocol):
    """What of the driver is needed here."""

    @property
    def subscribers(self) -> int:
        """How many rows there are."""

    def set_context(self, row: int, box: DeviceBox | None) -> None:
        """Write a row; None says that its subscriber is nowhere."""


@dataclass(slots=True)
class _Row:
    number: int
    boxes: Counter[Box] = field(default_factory=Counter)  # many subscriptions have the same


class ContextRows:
    """Gives rows out, takes them back, and keeps them right."""

    def __init__(self, memory: ContextMemory) -> None:
        self._memory = memory
        self._axes = Axes()
        self._rows: dict[str, _Row] = {}  # by subscriber
        self._free = list(reversed(range(memory.subscribers)))
        # by row: what stands in the memory, whoever's it was; where a write failed, `write_anew` comes before the next
        self._written: list[DeviceBox | None] = [None] * memory.subscribers
        self.position = self._axes.position

    def take(self, subscriber: str, box: Box, context: Context) -> int | None:
        """The row for one more subscription with a box, as the context is now; None if there is no room."""
        row = self._rows.get(subscriber)
        if (row is None and not self._free) or not self._axes.take(box):
            return None
        if row is None:
            row = self._rows[subscriber] = _Row(self._free.pop())
        row.boxes[box] += 1
        try:
            self._write(row, context)
        except BaseException:
            self.release(subscriber, box)
            raise
        return row.number

    def release(self, subscriber: str, box: Box) -> None:
        """One subscription less; a hull that could be smaller now stays until the next change."""
        row = self._rows[subscriber]
        row.boxes -= Counter([box])
        self._axes.release(box)
        if not row.boxes:
            self._free.append(self._rows.pop(subscriber).number)

    def set_context(self, subscriber: str, context: Context) -> None:
        """Write the subscriber's row, if it has one and its hull changes."""
        row = self._rows.get(subscriber)
        if row is not None:
            self._write(row, context)

    def write_anew(self, contexts: ContextTable) -> None:
        """Write every row into a memory that was initialised."""
        self._written = [None] * self._memory.subscribers
        for subscriber, row in self._rows.items():
            self._write(row, contexts[subscriber])

    def _write(self, row: _Row, context: Context) -> None:
        hull = self._axes.hull(row.boxes, context)
        if self._written[row.number] != hull:
            self._memory.set_context(row.number, hull)
            self._written[row.number] = hull

    def __len__(self) -> int:
        return len(self._rows)
