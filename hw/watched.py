"""A driver that keeps what each verb did and took, in cycles: what `silbo hw sim` prints."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from silbo.hw.driver.x2cbbr import BoxLike, X2cbbr


@dataclass(frozen=True, slots=True)
class Step:
    """One verb: what was given, what came out, and the device's own count of its cycles."""

    verb: str
    given: str
    result: tuple[int, ...]  # t-SIDs
    cycles: int | None  # a context is one write of a row, which it does not count
    context_cycles: int | None = None  # of the lanes, beside a match

    def __str__(self) -> str:
        result = " ".join(map(str, self.result)) or "none"
        lanes = "" if self.context_cycles is None else f", lanes {self.context_cycles}"
        took = "one row" if self.cycles is None else f"{self.cycles} cycles{lanes}"
        return f"{self.verb:9} {self.given:60} -> {result:12} {took}"


class Watched:
    """The verbs of a driver."""

    def __init__(self, driver: X2cbbr) -> None:
        self.driver = driver
        self.steps: list[Step] = []

    @property
    def subscribers(self) -> int:
        """How many rows the contextManager memory has."""
        return self.driver.subscribers

    def init(self) -> None:
        """Forget everything."""
        self.driver.init()

    def register(self, words: Sequence[int], row: int | None = None, osid: int = 0) -> int:
        """Add a subscription."""
        tsid = self.driver.register(words, row, osid)
        where = "anywhere" if row is None else f"in the box of row {row}"
        self._keep(Step("register", f"words {_listed(words)}, {where}", (tsid,), self.driver.cycles.register))
        return tsid

    def remove(self, tsid: int) -> None:
        """Take a subscription away."""
        self.driver.remove(tsid)
        self._keep(Step("remove", f"t-SID {tsid}", (), self.driver.cycles.register))

    def set_context(self, row: int, box: BoxLike | None) -> None:
        """Write a row."""
        self.driver.set_context(row, box)
        where = "nowhere" if box is None else "x {} to {}, y {} to {}".format(*box)
        self._keep(Step("context", f"row {row}: {where}", (), None))

    def match(self, position: tuple[int, int] | None, words: Sequence[int]) -> list[int]:
        """Match a publication."""
        found = self.driver.match(position, words)
        took, where = self.driver.cycles, "nowhere" if position is None else f"at {position[0]} {position[1]}"
        lanes = None if position is None else took.context
        self._keep(Step("match", f"words {_listed(words)}, {where}", tuple(found), took.match, lanes))
        return found

    def close(self) -> None:
        """Let go of the device."""
        self.driver.close()

    def _keep(self, step: Step) -> None:
        self.steps.append(step)


def _listed(words: Sequence[int], most: int = 8) -> str:
    """The first of them."""
    shown = " ".join(map(str, words[:most])) or "none"
    return shown if len(words) <= most else f"{shown} … ({len(words)})"
