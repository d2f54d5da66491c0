"""A batch of records in columns, as it travels from Spark's sources to the shards: one chunk for each source partition.

A chunk is msgpack, so that one row in Spark carries thousands of records. `before` is the highest time among the
earlier records of the same partition in this batch. It is computed at the source, because a shard sees only some of
the records. `routing` checks the records and makes the chunks; readers of a chunk do not check them again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np

from silbo.streaming.bulk.order import NEVER, Partition
from silbo.wire.records import Record, fields_of, record_of
from silbo.wire.values import packed, unpacked

Refusal: TypeAlias = tuple[int, str, bytes]  # offset, reason, value


class Chunk(NamedTuple):
    """Records of one source partition for one shard, in the order of their offsets."""

    topic: str
    partition: int
    mark: int  # the highest time in the partition so far, over the records for all shards
    offsets: Sequence[int]
    befores: Sequence[int]
    records: Sequence[Record]
    refused: Sequence[Refusal] = ()  # values that are not records; each is sent to one shard only

    def pack(self) -> bytes:
        """Encode the chunk."""
        numbers = (np.asarray(each, np.int64).tobytes() for each in (self.offsets, self.befores))
        fields = list(map(fields_of, self.records))
        return packed([self.topic, self.partition, self.mark, *numbers, fields, self.refused])

    @classmethod
    def unpack(cls, data: bytes) -> Chunk:
        """Decode a chunk."""
        topic, partition, mark, offsets, befores, fields, refused = unpacked(data)
        numbers = [np.frombuffer(each, np.int64).tolist() for each in (offsets, befores)]
        return cls(topic, partition, mark, numbers[0], numbers[1], list(map(record_of, fields)), refused)


class ShardBatch:
    """All chunks of a batch for one shard."""

    def __init__(self, chunks: Sequence[Chunk]) -> None:
        self.chunks = chunks
        self.marks: dict[Partition, int] = {}
        for chunk in chunks:
            partition = chunk.topic, chunk.partition
            self.marks[partition] = max(self.marks.get(partition, NEVER), chunk.mark)

    def refused(self) -> Iterator[tuple[str, int, int, str, bytes]]:
        """Yield topic, partition, offset, reason and bytes of each value that is not a record."""
        for chunk in self.chunks:
            for offset, reason, value in chunk.refused:
                yield chunk.topic, chunk.partition, offset, reason, value

    def __len__(self) -> int:
        return sum(len(chunk.records) for chunk in self.chunks)
