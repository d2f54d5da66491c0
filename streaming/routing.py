"""Routing: from a source's partition to the shards. Records are checked here, once, before anything counts them.

A subscriber's records go to its shard, a publication to all; every shard hears how far the partition has come.
Spark runs this over each partition of the sources, in the order of the offsets.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from zlib import crc32

from silbo.context.function import ContextFunction, Scope
from silbo.errors import InvalidRecord, SilboError
from silbo.matching.filter import Filter
from silbo.streaming.columns import Chunk, Fields, Refusal
from silbo.streaming.order import NEVER, Partition
from silbo.streaming.records import SHOWN, Notified, Published, Record, Rejected, Subscribed, Tick, decode, fields_of


def shard_of(subscriber: str, shards: int) -> int:
    """The shard that has a subscriber's subscriptions and context."""
    return crc32(subscriber.encode()) % shards


def targets(record: Record, shards: int) -> Sequence[int]:
    """The shards that a record goes to."""
    match record:
        case Published():
            return range(shards)
        case Tick():
            return ()
        case _:
            return (shard_of(record.subscriber, shards),)  # type: ignore[union-attr]  # control


def checked(value: bytes) -> Record:
    """A record whose expressions can be read, or an error; what was read is remembered by its text."""
    record = decode(value)
    match record:
        case Subscribed():
            Filter.of(record.filter)
            if record.context is not None:
                ContextFunction.of(record.context)
        case Published() if record.scope is not None:
            Scope.of(record.scope)
        case Notified() | Rejected():
            raise InvalidRecord("this is what the job writes, not what it reads.")
        case _:
            pass
    return record


@dataclass(slots=True)
class _Part:
    """What goes to one shard."""

    offsets: list[int] = field(default_factory=list)
    befores: list[int] = field(default_factory=list)
    records: list[Fields] = field(default_factory=list)
    refused: list[Refusal] = field(default_factory=list)


class Router:
    """Routes the records of some partitions; it remembers how far each has come."""

    def __init__(self, shards: int) -> None:
        self._shards = shards
        self._marks: dict[Partition, int] = {}

    def chunks(
        self, topic: str, partition: int, records: Iterable[tuple[int, bytes | None]]
    ) -> Iterator[tuple[int, Chunk]]:
        """Shards and their chunks, of (offset, value) in the order of offsets."""
        parts: defaultdict[int, _Part] = defaultdict(_Part)
        mark = self._marks.get((topic, partition), NEVER)
        for offset, value in records:
            data = value or b""
            try:
                record = checked(data)
            except SilboError as error:
                parts[offset % self._shards].refused.append((offset, error.line, data[:SHOWN]))
                continue
            # who reads a chunk trusts it: what was checked goes on, not the bytes it came from
            fields = fields_of(record)
            for shard in targets(record, self._shards):
                part = parts[shard]
                part.offsets.append(offset)
                part.befores.append(mark)
                part.records.append(fields)
            mark = max(mark, record.time)
        self._marks[topic, partition] = mark
        for shard in range(self._shards):
            part = parts[shard]
            yield shard, Chunk(topic, partition, mark, part.offsets, part.befores, part.records, part.refused)
