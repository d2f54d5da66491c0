"""The rows of the device's contextManager memory: which subscriber has each, and what was written to it.

A subscriber has a row while one of its subscriptions is matched in context on the device. The row holds one box, the
hull of the boxes of all these subscriptions. So a change of context is one write, or none if the hull is the same.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Protocol

from silbo.context.table import ContextTable
from silbo.hw.driver.device_box import DeviceBox
from silbo.hw.offload.axes import Axes
from silbo.matching.fast.boxes import Box
from silbo.model.values import Context


class ContextMemory(Protocol):
    """The methods of the driver that this module uses."""

    @property
    def subscribers(self) -> int:
        """The number of rows."""

    def set_context(self, row: int, box: DeviceBox | None) -> None:
        """Write a row; None means that no position matches its subscriber."""


@dataclass(slots=True)
class _Row:
    number: int
    boxes: Counter[Box] = field(default_factory=Counter)  # with the number of subscriptions of each


class ContextRows:
    """Assigns rows to subscribers, takes them back, and writes them when a hull changes."""

    def __init__(self, memory: ContextMemory) -> None:
        self._memory = memory
        self._axes = Axes()
        self._rows: dict[str, _Row] = {}  # by subscriber
        self._free = list(reversed(range(memory.subscribers)))
        # the content of each row, free ones included. After a failed write, `write_all` comes before the next.
        self._written: list[DeviceBox | None] = [None] * memory.subscribers
        self.position = self._axes.position

    def take(self, subscriber: str, box: Box, context: Context) -> int | None:
        """Add a subscription with a box, and write the row for this context; the row's number, or None without room."""
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
        """Remove a subscription. A hull that could now be smaller is not written before the next change."""
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

    def write_all(self, contexts: ContextTable) -> None:
        """Write every row again, after the memory was initialised."""
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
