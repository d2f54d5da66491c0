"""The frontier for live traffic: partitions that are silent for some seconds do not hold it.

Beats measure how long a partition has been silent. They are ticks of a clock and come in batches like all records, so
that a batch that is matched again finds the same silence. The result depends on when records arrive: a record that
arrives after the frontier has passed its time is late.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

from silbo.streaming.bulk.order import NEVER, Frontier, Partition
from silbo.streaming.topics import BEATS
from silbo.wire.records import LAST

BEAT: Partition = (BEATS, 0)
PASSED = "its time {} is older than the frontier, {}: the frontier no longer waited for its partition."

# the last beat, the frontier, and for each partition its topic, its number and the beat at its last record
Silence: TypeAlias = tuple[int, int, Sequence[tuple[str, int, int]]]


class IdleFrontier(Frontier):
    """A frontier that never goes back, even if a silent partition has records again."""

    def __init__(self, lateness: int, expected: Iterable[Partition], idle: int) -> None:
        super().__init__(lateness, expected)
        self._idle = idle  # microseconds
        self._beat = NEVER
        self._reached = NEVER
        self._heard: dict[Partition, int] = {}  # by partition: the beat at its last record

    @property
    def time(self) -> int:
        """The time before which all records have arrived or are late."""
        return self._reached

    def is_late(self, partition: Partition, time: int, before: int) -> bool:
        """Whether a record is older than the frontier, or too old for its partition."""
        return time < self._reached or super().is_late(partition, time, before)

    def late(self, time: int) -> str:
        """Why a record of this time is late."""
        return PASSED.format(time, self._reached) if time < self._reached else super().late(time)

    def raise_marks(self, marks: Mapping[Partition, int]) -> None:
        """Raise the marks of partitions, and the clock."""
        super().raise_marks({partition: mark for partition, mark in marks.items() if partition != BEAT})
        self._listen(marks)
        self._reached = max(self._reached, self._least())

    def _listen(self, marks: Mapping[Partition, int]) -> None:
        is_first = self._beat == NEVER
        self._beat = max(self._beat, marks.get(BEAT, NEVER))
        if is_first:  # silence counts from the first beat
            self._heard = dict.fromkeys(self.marks, self._beat)
        for partition, mark in marks.items():
            # a value that is not a record does not end the silence
            if partition != BEAT and (mark != NEVER or partition not in self._heard):
                self._heard[partition] = self._beat

    def _least(self) -> int:
        holding = [mark for partition, mark in self.marks.items() if not self._is_silent(partition)]
        if holding:
            return self._less(min(holding))
        highest = max(self.marks.values(), default=NEVER)
        return highest if highest in (NEVER, LAST) else highest + 1  # lets all waiting records go, the newest included

    def _is_silent(self, partition: Partition) -> bool:
        return self._beat - self._heard[partition] >= self._idle

    def silence(self) -> Silence:
        """The part of the frontier that its marks do not contain, for a snapshot."""
        return self._beat, self._reached, [(*partition, beat) for partition, beat in self._heard.items()]

    def restore(self, silence: Silence) -> None:
        """Restore the result of `silence`, for a frontier with the same marks."""
        self._beat, self._reached, heard = silence
        self._heard = {(topic, partition): beat for topic, partition, beat in heard}
