"""Routing of records from a source's partition to the shards. Records are checked here, once, before any other use.

A subscriber's records go to its shard, and a publication goes to all shards; every shard gets the partition's mark.
Spark runs this over each partition of the sources, in the order of the offsets.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from zlib import crc32

from silbo.context.function import ContextFunction, Scope
from silbo.errors import InvalidRecord, SilboError, shortened
from silbo.matching.filter import Filter
from silbo.streaming.bulk.chunks import Chunk, Refusal
from silbo.streaming.bulk.order import NEVER, Partition
from silbo.wire.records import (
    SHOWN,
    NotificationRecord,
    PublicationRecord,
    Record,
    RejectionRecord,
    SubscriptionRecord,
    TickRecord,
    decode,
)

REASON = 1_000  # characters of a reason: an error may quote the content of a record, which may be megabytes


def shard_of(subscriber: str, shards: int) -> int:
    """The shard that has a subscriber's subscriptions and context."""
    return crc32(subscriber.encode()) % shards


def targets(record: Record, shards: int) -> Sequence[int]:
    """The shards that a record goes to."""
    match record:
        case PublicationRecord():
            return range(shards)
        case TickRecord():
            return ()
        case _:
            return (shard_of(record.subscriber, shards),)  # type: ignore[union-attr]  # control records


def checked(value: bytes) -> Record:
    """Decode a record and parse its expressions, or raise; parsed expressions are cached by their text."""
    record = decode(value)
    match record:
        case SubscriptionRecord():
            Filter.of(record.filter)
            if record.context is not None:
                ContextFunction.of(record.context)
        case PublicationRecord() if record.scope is not None:
            Scope.of(record.scope)
        case NotificationRecord() | RejectionRecord():
            raise InvalidRecord("the job writes records of this kind, and does not read them.")
        case _:
            pass
    return record


@dataclass(slots=True)
class _Part:
    """The records for one shard."""

    offsets: list[int] = field(default_factory=list)
    befores: list[int] = field(default_factory=list)
    records: list[Record] = field(default_factory=list)
    refused: list[Refusal] = field(default_factory=list)


class Router:
    """Routes the records of some partitions, and remembers the mark of each partition."""

    def __init__(self, shards: int) -> None:
        self._shards = shards
        self._marks: dict[Partition, int] = {}

    def chunks(
        self, topic: str, partition: int, records: Iterable[tuple[int, bytes | None]]
    ) -> Iterator[tuple[int, Chunk]]:
        """Yield each shard with its chunk; `records` are (offset, value) in the order of offsets."""
        parts: defaultdict[int, _Part] = defaultdict(_Part)
        mark = self._marks.get((topic, partition), NEVER)
        for offset, value in records:
            data = value or b""
            try:
                record = checked(data)
            except SilboError as error:
                parts[offset % self._shards].refused.append((offset, shortened(error.line, REASON), data[:SHOWN]))
                continue
            for shard in targets(record, self._shards):
                part = parts[shard]
                part.offsets.append(offset)
                part.befores.append(mark)
                part.records.append(record)
            mark = max(mark, record.time)
        self._marks[topic, partition] = mark
        for shard in range(self._shards):
            part = parts[shard]
            yield shard, Chunk(topic, partition, mark, part.offsets, part.befores, part.records, part.refused)
