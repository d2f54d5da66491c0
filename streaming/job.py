"""The job, and how it runs over a local log: read its topics, match, append notifications and rejected records to it.

What a batch wrote before it was cut off it writes again, equal to the first time: who reads drops repeats by
publisher and sequence.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from silbo.streaming import checkpoint
from silbo.streaming.log import Writer, create, partition_of, partitions_of, read_all
from silbo.streaming.migration import offsets
from silbo.streaming.records import LAST, Notified, Tick, decode, encode
from silbo.streaming.step import Order
from silbo.streaming.topics import CONTEXTS, INPUTS, NOTIFICATIONS, PUBLICATIONS, REJECTED, SUBSCRIPTIONS

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery
    from pyspark.sql.streaming.readwriter import DataStreamWriter


LOOK = 1  # second


@dataclass(frozen=True, slots=True)
class Options:
    """How the job runs."""

    checkpoint: Path
    order: Order = "strict"
    lateness: float = 0.0  # seconds
    shards: int = 2
    trigger: str = "0 seconds"
    batch: int | Mapping[str, int] | None = None  # records of a partition in a batch, at most; or by topic
    idle: float | None = None  # seconds after which a silent partition holds no frontier

    def limit(self, topic: str) -> int | None:
        """Records of a topic's partition in a batch, at most."""
        return self.batch.get(topic) if isinstance(self.batch, Mapping) else self.batch


def start(spark: SparkSession, folder: Path, options: Options) -> StreamingQuery:
    """The job over a log, running; `InvalidValue` if its checkpoint was made otherwise."""
    from silbo.streaming.source import LogSource

    spark.dataSource.register(LogSource)
    frames = {topic: _read(spark, folder, topic, options) for topic in INPUTS}
    found = matched(frames, options, *source_of(folder))
    for topic in (NOTIFICATIONS, REJECTED):
        create(folder, topic, 1)
    return written(found, options).foreachBatch(_sink(folder)).start()


def matched(frames: Mapping[str, DataFrame], options: Options, partitions: Mapping[str, int], source: str) -> DataFrame:
    """The notifications of the three inputs, matched as the options say."""
    from silbo.streaming.frames import match

    check(options, partitions, source)
    return match(
        frames[PUBLICATIONS], frames[SUBSCRIPTIONS], frames[CONTEXTS],
        order=options.order, lateness=options.lateness, shards=options.shards, partitions=partitions, idle=options.idle,
        migrated=options.checkpoint.absolute(),
    )  # fmt: skip


def written(found: DataFrame, options: Options) -> DataStreamWriter:
    """The writer of a result, with what every sink needs."""
    writer = found.writeStream.outputMode("append").option("checkpointLocation", str(options.checkpoint))
    return writer.trigger(processingTime=options.trigger)


def work_off(query: StreamingQuery, options: Options) -> None:
    """Wait until all that is there was matched."""
    if options.idle is None:
        query.processAllAvailable()
        return
    # beats never end: done is who finds nothing besides them, in a batch that no earlier run had planned
    first: int | None = None
    while not query.awaitTermination(LOOK):
        last = query.lastProgress
        if last is not None:
            first = last["batchId"] if first is None else first
            if last["batchId"] > first and not any(each["numInputRows"] for each in last["sources"][: len(INPUTS)]):
                return


def check(options: Options, partitions: Mapping[str, int], source: str) -> None:
    """Refuse what a state cannot live with: it was made for this source, these shards, this order, these partitions."""
    checkpoint.check(options.checkpoint, wanted(options, partitions, source))


def wanted(options: Options, partitions: Mapping[str, int], source: str) -> checkpoint.Made:
    """What the checkpoint of a job must have been made with."""
    chosen = {"order": options.order, "lateness": options.lateness, "shards": options.shards, "idle": options.idle}
    return {"state": checkpoint.STATE, "source": source, **chosen, **partitions}


def source_of(folder: Path) -> tuple[Mapping[str, int], str]:
    """The partitions of a log's topics, and its name in a checkpoint."""
    return {topic: partitions_of(folder, topic) for topic in INPUTS}, str(folder.absolute())


def _read(spark: SparkSession, folder: Path, topic: str, options: Options) -> DataFrame:
    reader = spark.readStream.format("silbo").option("path", str(folder.absolute())).option("topic", topic)
    reader = reader.option("startingOffsets", json.dumps(offsets(options.checkpoint)))
    limit = options.limit(topic)
    return (reader if limit is None else reader.option("batch", str(limit))).load()


def _sink(folder: Path) -> Callable[[DataFrame, int], None]:
    """What appends a batch's output; it looks for the end of a file once, and remembers it."""
    ends: dict[str, int] = {}

    def write(frame: DataFrame, _batch: int) -> None:
        found: Mapping[str, list[Any]] = frame.select("topic", "value").toArrow().to_pydict()
        for topic in (NOTIFICATIONS, REJECTED):
            values = [value for name, value in zip(found["topic"], found["value"], strict=True) if name == topic]
            if values:
                ends[topic] = append(folder, topic, 0, values, ends.get(topic, 0))

    return write


def append(folder: Path, topic: str, partition: int, values: list[bytes], since: int = 0) -> int:
    """Write records to a partition that is whole up to `since`, and through to the disk; where it ends now."""
    writer = Writer(folder, topic, partition, since)
    for value in values:
        writer.append(value)
    return writer.close()


def drain(folder: Path) -> None:
    """Say in every partition that nothing more will come."""
    for topic in INPUTS:
        for number in range(partitions_of(folder, topic)):
            append(folder, topic, number, [encode(Tick(LAST))])


def notifications(folder: Path) -> list[Notified]:
    """What the job has notified over a log."""
    return in_order(read_all(folder, NOTIFICATIONS, 0))


def in_order(values: Iterable[bytes]) -> list[Notified]:
    """Notifications without repeats, in the order of the publications."""
    found: dict[tuple[str, int, str, str], Notified] = {}
    for value in values:
        record = decode(value)
        assert isinstance(record, Notified)
        found.setdefault((record.publisher_uuid, record.sequence, record.subscriber_uuid, record.subscription), record)
    return sorted(found.values(), key=_place)


def _place(record: Notified) -> tuple[int, str, int, str, str]:
    return record.time, record.publisher_uuid, record.sequence, record.subscriber, record.subscription


class LogWriter:
    """Sends records to a log's partitions, as `Sender` wants it."""

    def __init__(self, folder: Path, partitions: int) -> None:
        self._partitions = partitions
        for topic in INPUTS:
            create(folder, topic, partitions)
        self._writers = {
            (topic, number): Writer(folder, topic, number) for topic in INPUTS for number in range(partitions)
        }

    def send(self, topic: str, key: str, record: Any) -> None:
        """Append a record to the partition of its key."""
        self._writers[topic, partition_of(key, self._partitions)].append(encode(record))

    def flush(self) -> None:
        """Let readers see everything that was sent."""
        for writer in self._writers.values():
            writer.flush()

    def close(self) -> None:
        """Write everything through to the disk."""
        for writer in self._writers.values():
            writer.close()
