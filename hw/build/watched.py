"""A driver that records each verb, its result and its cycles, for `silbo hw sim`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from silbo.hw.driver.device_box import BoxLike
from silbo.hw.driver.x2cbbr import X2cbbr


@dataclass(frozen=True, slots=True)
class Step:
    """One verb: its arguments, its result, and the device's own count of its cycles."""

    verb: str
    given: str
    result: tuple[int, ...]  # t-SIDs
    cycles: int | None  # None for a context change: the device does not count the write of a row
    context_cycles: int | None = None  # the cycles of the lanes, for a match with a position

    def __str__(self) -> str:
        result = " ".join(map(str, self.result)) or "none"
        lanes = "" if self.context_cycles is None else f", lanes {self.context_cycles}"
        took = "one row" if self.cycles is None else f"{self.cycles} cycles{lanes}"
        return f"{self.verb:9} {self.given:60} -> {result:12} {took}"


class Watched:
    """The verbs of a driver, recorded in `steps`."""

    def __init__(self, driver: X2cbbr) -> None:
        self.driver = driver
        self.steps: list[Step] = []

    @property
    def subscribers(self) -> int:
        """The number of rows of the contextManager memory."""
        return self.driver.subscribers

    def init(self) -> None:
        """Remove all subscriptions and contexts."""
        self.driver.init()

    def register(self, words: Sequence[int], row: int | None = None, osid: int = 0) -> int:
        """Register a subscription; its t-SID."""
        tsid = self.driver.register(words, row, osid)
        where = "anywhere" if row is None else f"in the box of row {row}"
        self._keep(Step("register", f"words {_listed(words)}, {where}", (tsid,), self.driver.cycles.register))
        return tsid

    def remove(self, tsid: int) -> None:
        """Remove a subscription."""
        self.driver.remove(tsid)
        self._keep(Step("remove", f"t-SID {tsid}", (), self.driver.cycles.register))

    def set_context(self, row: int, box: BoxLike | None) -> None:
        """Write a subscriber's box to its row, or remove it."""
        self.driver.set_context(row, box)
        where = "nowhere" if box is None else "x {} to {}, y {} to {}".format(*box)
        self._keep(Step("context", f"row {row}: {where}", (), None))

    def match(self, position: tuple[int, int] | None, words: Sequence[int]) -> list[int]:
        """The t-SIDs that a publication matches."""
        found = self.driver.match(position, words)
        took, where = self.driver.cycles, "nowhere" if position is None else f"at {position[0]} {position[1]}"
        lanes = None if position is None else took.context
        self._keep(Step("match", f"words {_listed(words)}, {where}", tuple(found), took.match, lanes))
        return found

    def close(self) -> None:
        """Close the device."""
        self.driver.close()

    def _keep(self, step: Step) -> None:
        self.steps.append(step)


def _listed(words: Sequence[int], most: int = 8) -> str:
    """The words as text, with only the first `most` written out."""
    shown = " ".join(map(str, words[:most])) or "none"
    return shown if len(words) <= most else f"{shown} … ({len(words)})"
