"""The frontier for live traffic: partitions that are silent for some seconds do not hold it.

How long a partition has been silent is told by beats, records of a clock that come in batches as all others do, so
that a batch that is matched again finds the same silence. What is found does depend on when records arrive: one that
comes behind the frontier, because nobody waited for its partition any longer, is late.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

from silbo.streaming.order import NEVER, Frontier, Partition
from silbo.streaming.records import LAST
from silbo.streaming.topics import BEATS

BEAT: Partition = (BEATS, 0)
PASSED = "its time {} lies behind the frontier, which has passed {}: nobody waited for its partition any longer."

# the last beat, how far the frontier came, and topic, partition and beat of what was heard last
Silence: TypeAlias = tuple[int, int, Sequence[tuple[str, int, int]]]


class IdleFrontier(Frontier):
    """A frontier that never goes back, whoever begins to speak again."""

    def __init__(self, lateness: int, expected: Iterable[Partition], idle: int) -> None:
        super().__init__(lateness, expected)
        self._idle = idle  # microseconds
        self._beat = NEVER
        self._reached = NEVER
        self._heard: dict[Partition, int] = {}  # the beat at which something came, by partition

    @property
    def time(self) -> int:
        """Everything before it has come, or is late."""
        return self._reached

    def is_late(self, partition: Partition, time: int, before: int) -> bool:
        """Whether the frontier has passed it, or its own partition has."""
        return time < self._reached or super().is_late(partition, time, before)

    def late(self, time: int) -> str:
        """Why a record of this time is late."""
        return PASSED.format(time, self._reached) if time < self._reached else super().late(time)

    def advance(self, marks: Mapping[Partition, int]) -> None:
        """Partitions have come so far, and the clock has."""
        super().advance({partition: mark for partition, mark in marks.items() if partition != BEAT})
        self._listen(marks)
        self._reached = max(self._reached, self._least())

    def _listen(self, marks: Mapping[Partition, int]) -> None:
        is_first = self._beat == NEVER
        self._beat = max(self._beat, marks.get(BEAT, NEVER))
        if is_first:  # nobody has been silent before the clock began
            self._heard = dict.fromkeys(self.marks, self._beat)
        for partition, mark in marks.items():
            # what is no record is no sign of life
            if partition != BEAT and (mark != NEVER or partition not in self._heard):
                self._heard[partition] = self._beat

    def _least(self) -> int:
        holding = [mark for partition, mark in self.marks.items() if not self._is_silent(partition)]
        if holding:
            return self._less(min(holding))
        highest = max(self.marks.values(), default=NEVER)
        return highest if highest in (NEVER, LAST) else highest + 1  # all that waits goes, the last as well

    def _is_silent(self, partition: Partition) -> bool:
        return self._beat - self._heard[partition] >= self._idle

    def silence(self) -> Silence:
        """What marks do not tell, for a snapshot."""
        return self._beat, self._reached, [(*partition, beat) for partition, beat in self._heard.items()]

    def restore(self, silence: Silence) -> None:
        """Take in what `silence` told of a frontier with these marks."""
        self._beat, self._reached, heard = silence
        self._heard = {(topic, partition): beat for topic, partition, beat in heard}
