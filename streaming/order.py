"""The order of records, and the frontier: up to which time everything has come.

Records are ordered by time, control before publications, then by topic, partition and offset. A partition's
mark is the highest time seen in it; nothing that comes later in it may lie further back than the lateness. The
frontier is the least of all marks, less the lateness: what lies before it is complete, whatever the batches were.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple, TypeAlias

from silbo.streaming.records import LAST, Record

NEVER = -(2**63)  # before every time
LATE = "its time {} lies further behind its partition than the lateness of {} microseconds: the frontier has passed it."

Partition: TypeAlias = tuple[str, int]  # topic, number


class Arrival(NamedTuple):
    """A record and its place; tuples of this kind sort in the order of records: no two have the same offset."""

    time: int
    is_publication: bool
    topic: str
    partition: int
    offset: int
    record: Record


class Frontier:
    """The marks of all partitions; those that must have been heard of hold it, however silent they are."""

    def __init__(self, lateness: int, expected: Iterable[Partition]) -> None:
        self.lateness = lateness
        self.marks: dict[Partition, int] = dict.fromkeys(expected, NEVER)

    def is_late(self, partition: Partition, time: int, before: int) -> bool:
        """Whether a record lies too far behind what came before it in its partition (`before`: in this batch)."""
        return time < self._less(max(self.marks.get(partition, NEVER), before))

    def late(self, time: int) -> str:
        """Why a record of this time is late."""
        return LATE.format(time, self.lateness)

    def advance(self, marks: Mapping[Partition, int]) -> None:
        """Partitions have come so far."""
        for partition, mark in marks.items():
            self.marks[partition] = max(self.marks.get(partition, NEVER), mark)

    @property
    def time(self) -> int:
        """Everything before it has come."""
        return self._less(min(self.marks.values(), default=NEVER))

    def _less(self, mark: int) -> int:
        return mark if mark in (NEVER, LAST) else mark - self.lateness
