"""The order of records, and the frontier: the time up to which all records have arrived.

Records are ordered by time, control records before publications, then by topic, partition and offset. A partition's
mark is the highest time seen in it; later records of the partition may be older than the mark by at most the lateness.
The frontier is the least of all marks, minus the lateness: the records before it are complete, in whatever batches
they came.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple, TypeAlias

from silbo.wire.records import LAST, Record

NEVER = -(2**63)  # before every time
LATE = "its time {} is older than the newest before it in its partition by more than the lateness of {} microseconds."

Partition: TypeAlias = tuple[str, int]  # topic, number


class Arrival(NamedTuple):
    """A record and its place. Arrivals sort in the order of records, which no two share: the record is not compared."""

    time: int
    is_publication: bool
    topic: str
    partition: int
    offset: int
    record: Record


class Frontier:
    """The marks of all partitions; an expected partition without records keeps the frontier at the beginning."""

    def __init__(self, lateness: int, expected: Iterable[Partition]) -> None:
        self.lateness = lateness
        self.marks: dict[Partition, int] = dict.fromkeys(expected, NEVER)

    def is_late(self, partition: Partition, time: int, before: int) -> bool:
        """Whether a record is too old for its partition; `before` is the highest earlier time in this batch."""
        return time < self._less(max(self.marks.get(partition, NEVER), before))

    def late(self, time: int) -> str:
        """Why a record of this time is late."""
        return LATE.format(time, self.lateness)

    def raise_marks(self, marks: Mapping[Partition, int]) -> None:
        """Raise the marks of partitions."""
        for partition, mark in marks.items():
            self.marks[partition] = max(self.marks.get(partition, NEVER), mark)

    @property
    def time(self) -> int:
        """The time before which all records have arrived."""
        return self._less(min(self.marks.values(), default=NEVER))

    def _less(self, mark: int) -> int:
        return mark if mark in (NEVER, LAST) else max(NEVER, mark - self.lateness)
