"""A batch of records in columns, as it travels from Spark's sources to the shards: one chunk for each source partition.

A chunk is msgpack, so that a row of Spark's carries thousands of records. `before` is the highest time that came
before a record in its partition, in this batch: only the source's partition knows it, as a shard sees a part.
Records are checked where chunks are made (`routing`): whoever reads a chunk trusts it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from silbo.streaming.order import NEVER, Partition
from silbo.streaming.records import packed, unpacked

Fields: TypeAlias = Sequence[Any]  # a record's kind and fields
Refusal: TypeAlias = tuple[int, str, bytes]  # offset, reason, value


class Chunk(NamedTuple):
    """Records of one source partition for one shard, in the order of their offsets."""

    topic: str
    partition: int
    mark: int  # the highest time in the partition so far, of all shards
    offsets: Sequence[int]
    befores: Sequence[int]
    records: Sequence[Fields]
    refused: Sequence[Refusal] = ()  # what is no record, told to one shard

    def pack(self) -> bytes:
        """As bytes."""
        numbers = (np.asarray(each, np.int64).tobytes() for each in (self.offsets, self.befores))
        return packed([self.topic, self.partition, self.mark, *numbers, self.records, self.refused])

    @classmethod
    def unpack(cls, data: bytes) -> Chunk:
        """From bytes."""
        topic, partition, mark, offsets, befores, records, refused = unpacked(data)
        numbers = [np.frombuffer(each, np.int64).tolist() for each in (offsets, befores)]
        return cls(topic, partition, mark, numbers[0], numbers[1], records, refused)


class Columns:
    """All chunks of a batch that are a shard's."""

    def __init__(self, chunks: Sequence[Chunk]) -> None:
        self.chunks = chunks
        self.marks: dict[Partition, int] = {}
        for chunk in chunks:
            partition = chunk.topic, chunk.partition
            self.marks[partition] = max(self.marks.get(partition, NEVER), chunk.mark)

    def refused(self) -> Iterator[tuple[str, int, int, str, bytes]]:
        """Topic, partition, offset, reason and bytes of what is no record."""
        for chunk in self.chunks:
            for offset, reason, value in chunk.refused:
                yield chunk.topic, chunk.partition, offset, reason, value

    def __len__(self) -> int:
        return sum(len(chunk.records) for chunk in self.chunks)
