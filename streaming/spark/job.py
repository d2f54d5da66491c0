"""The job, and how it runs over a local log: it reads the topics, and appends notifications and rejected records.

A batch that was interrupted is written again with the same bytes; readers drop repeats by publisher and sequence.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from silbo.streaming.bulk.output import values
from silbo.streaming.bulk.step import Order
from silbo.streaming.local.log import Writer, create, partition_of, partitions_of, read_all
from silbo.streaming.spark import checkpoint
from silbo.streaming.spark.migration import offsets
from silbo.streaming.topics import CONTEXTS, INPUTS, NOTIFICATIONS, PUBLICATIONS, REJECTED, SUBSCRIPTIONS
from silbo.wire.records import LAST, NotificationRecord, TickRecord, decode, encode

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery
    from pyspark.sql.streaming.readwriter import DataStreamWriter


LOOK = 1  # seconds between two looks at the query's progress


@dataclass(frozen=True, slots=True)
class Options:
    """The options of the job."""

    checkpoint: Path
    order: Order = "strict"
    lateness: float = 0.0  # seconds
    shards: int = 2
    trigger: str = "0 seconds"
    batch: int | Mapping[str, int] | None = None  # the most records of a partition in a batch; or the same by topic
    idle: float | None = None  # seconds after which a silent partition does not hold the frontier

    def limit(self, topic: str) -> int | None:
        """The most records of a partition of this topic in a batch."""
        return self.batch.get(topic) if isinstance(self.batch, Mapping) else self.batch


def start(spark: SparkSession, folder: Path, options: Options) -> StreamingQuery:
    """Start the job over a log; raises `InvalidValue` if its checkpoint has other settings."""
    from silbo.streaming.local.source import LogSource

    spark.dataSource.register(LogSource)
    frames = {topic: _read(spark, folder, topic, options) for topic in INPUTS}
    rows = matched(frames, options, *source_of(folder))
    for topic in (NOTIFICATIONS, REJECTED):
        create(folder, topic, 1)
    return started(written(rows, options).foreachBatch(_sink(folder)), spark, options)


def started(writer: DataStreamWriter, spark: SparkSession, options: Options) -> StreamingQuery:
    """Start the query of a writer, with one reducer for each shard."""
    from silbo.streaming.spark.frames import reducers

    with reducers(spark, options.shards):
        return writer.start()


def matched(frames: Mapping[str, DataFrame], options: Options, partitions: Mapping[str, int], source: str) -> DataFrame:
    """The output for the three inputs with these options, as rows of `output`."""
    from silbo.streaming.spark.frames import matched_rows

    check(options, partitions, source)
    return matched_rows(
        frames[PUBLICATIONS], frames[SUBSCRIPTIONS], frames[CONTEXTS],
        order=options.order, lateness=options.lateness, shards=options.shards, partitions=partitions, idle=options.idle,
        migrated=options.checkpoint.absolute(),
    )  # fmt: skip


def written(found: DataFrame, options: Options) -> DataStreamWriter:
    """The writer of a result, with the settings that every sink needs."""
    writer = found.writeStream.outputMode("append").option("checkpointLocation", str(options.checkpoint))
    return writer.trigger(processingTime=options.trigger)


def work_off(query: StreamingQuery, options: Options) -> None:
    """Wait until all records that exist now are matched."""
    if options.idle is None:
        query.processAllAvailable()
        return
    # beats never end: the job is done when a batch has only beats, and no earlier run had planned that batch
    first: int | None = None
    while not query.awaitTermination(LOOK):
        last = query.lastProgress
        if last is not None:
            first = last["batchId"] if first is None else first
            if last["batchId"] > first and not any(each["numInputRows"] for each in last["sources"][: len(INPUTS)]):
                return


def check(options: Options, partitions: Mapping[str, int], source: str) -> None:
    """Refuse a checkpoint whose state was made with other settings: source, order, shards, partitions and so on."""
    checkpoint.check(options.checkpoint, wanted(options, partitions, source))


def wanted(options: Options, partitions: Mapping[str, int], source: str) -> checkpoint.Made:
    """The settings that the checkpoint of a job must have."""
    chosen = {"order": options.order, "lateness": options.lateness, "shards": options.shards, "idle": options.idle}
    return {"state": checkpoint.STATE, "source": source, **chosen, **partitions}


def source_of(folder: Path) -> tuple[Mapping[str, int], str]:
    """The number of partitions of each topic of a log, and the log's name in a checkpoint."""
    return {topic: partitions_of(folder, topic) for topic in INPUTS}, str(folder.absolute())


def _read(spark: SparkSession, folder: Path, topic: str, options: Options) -> DataFrame:
    reader = spark.readStream.format("silbo").option("path", str(folder.absolute())).option("topic", topic)
    reader = reader.option("startingOffsets", json.dumps(offsets(options.checkpoint)))
    limit = options.limit(topic)
    return (reader if limit is None else reader.option("batch", str(limit))).load()


def _sink(folder: Path) -> Callable[[DataFrame, int], None]:
    """The function that appends a batch's output. It looks for the end of a file once, and remembers it."""
    ends: dict[str, int] = {}

    def write(frame: DataFrame, _batch: int) -> None:
        rows: Mapping[str, list[Any]] = frame.select("topic", "recipients", "tail").toArrow().to_pydict()
        for topic in (NOTIFICATIONS, REJECTED):
            if topic in rows["topic"]:
                ends[topic] = append(folder, topic, 0, values(rows, topic), ends.get(topic, 0))

    return write


def append(folder: Path, topic: str, partition: int, records: Iterable[bytes], since: int = 0) -> int:
    """Append records to a partition that is whole up to `since`, sync it to the disk, and return its new end."""
    writer = Writer(folder, topic, partition, since)
    for record in records:
        writer.append(record)
    return writer.close()


def drain(folder: Path) -> None:
    """Append to every partition the tick that says that no record follows."""
    for topic in INPUTS:
        for number in range(partitions_of(folder, topic)):
            append(folder, topic, number, [encode(TickRecord(LAST))])


def notifications(folder: Path) -> list[NotificationRecord]:
    """The notifications that the job wrote to a log."""
    return in_order(read_all(folder, NOTIFICATIONS, 0))


def in_order(records: Iterable[bytes]) -> list[NotificationRecord]:
    """Notifications without repeats, in the order of the publications."""
    found: dict[tuple[str, int, str, str], NotificationRecord] = {}
    for value in records:
        record = decode(value)
        assert isinstance(record, NotificationRecord)
        found.setdefault((record.publisher_uuid, record.sequence, record.subscriber_uuid, record.subscription), record)
    return sorted(found.values(), key=_place)


def _place(record: NotificationRecord) -> tuple[int, str, int, str, str]:
    return record.time, record.publisher_uuid, record.sequence, record.subscriber, record.subscription


class LogWriter:
    """Writes records to a log's partitions; its `send` is what `Sender` calls."""

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
