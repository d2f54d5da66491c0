"""A model of the matcher in hardware: what its driver answers, in plain Python, at sizes of your own.

It stands where `silbo.hw`'s driver does, and counts what was asked of it. Cycles and registers it has none.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from silbo.context.table import ContextTable
from silbo.errors import DeviceError, DeviceFull
from silbo.hw.driver.device_box import DeviceBox
from silbo.hw.offload.offload import MatchingUnit, Offload
from silbo.matching.candidates import Candidates

MOST = 16  # filters of a subscription


@dataclass(frozen=True, slots=True)
class ModelSubscription:
    """A subscription of the device."""

    words: frozenset[int]
    osid: int
    row: int | None


class ModelUnit:
    """Every word of a subscription must be said, and the position be in its row's box."""

    def __init__(self, sids: int = 255, filters: int = 256, subscribers: int = 256) -> None:
        self.sids = sids
        self.filters = filters
        self.subscribers = subscribers
        self.registered: dict[int, ModelSubscription] = {}
        self.boxes: dict[int, DeviceBox] = {}
        self.calls: Counter[str] = Counter()
        self.broken = False  # then every call fails, as on a device that does not answer
        self.closed = False

    def init(self) -> None:
        """Forget everything."""
        self._called("init")
        self.registered.clear()
        self.boxes.clear()

    def close(self) -> None:
        """Note that it was let go."""
        self.closed = True

    def register(self, words: Sequence[int], *, osid: int, row: int | None) -> int:
        """Give the lowest free t-SID."""
        self._called("register")
        known = {word for each in self.registered.values() for word in each.words}
        if not 1 <= len(set(words)) <= MOST or not (row is None or 0 <= row < self.subscribers):
            raise DeviceError(f"{len(words)} words in row {row} cannot be registered.")
        if len(self.registered) == self.sids:
            raise DeviceFull("the SMT is full.")
        if len(known | set(words)) > self.filters:
            raise DeviceFull("the CRT is full.")
        tsid = next(tsid for tsid in range(1, self.sids + 1) if tsid not in self.registered)
        self.registered[tsid] = ModelSubscription(frozenset(words), osid, row)
        return tsid

    def remove(self, tsid: int) -> None:
        """Forget a subscription."""
        self._called("remove")
        del self.registered[tsid]

    def set_context(self, row: int, box: DeviceBox | None) -> None:
        """Write a row, or empty it."""
        self._called("set_context")
        if not 0 <= row < self.subscribers:
            raise DeviceError(f"there is no row {row}.")
        self.boxes.pop(row, None)
        if box is not None:
            self.boxes[row] = box

    def match(self, position: tuple[int, int] | None, words: Sequence[int]) -> list[int]:
        """The t-SIDs that a publication matches, from the lowest on."""
        self._called("match")
        said = set(words)
        return [
            tsid
            for tsid, each in sorted(self.registered.items())
            if each.words <= said and (each.row is None or self._is_in(each.row, position))
        ]

    def _is_in(self, row: int, position: tuple[int, int] | None) -> bool:
        box = self.boxes.get(row)
        if box is None or position is None:
            return False
        (x, y), (x_low, x_high, y_low, y_high) = position, box
        return x_low <= x <= x_high and y_low <= y <= y_high

    def _called(self, verb: str) -> None:
        self.calls[verb] += 1
        if self.broken:
            raise DeviceError("the device does not answer.")


def over(unit: MatchingUnit) -> Callable[[ContextTable, Callable[[], Candidates]], Offload]:
    """What `Broker(offload=…)` takes, over a unit of your own."""
    return lambda contexts, make_index: Offload(unit, contexts, make_index)
