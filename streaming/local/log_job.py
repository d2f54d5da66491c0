"""The job over a local log: it reads the topics, and appends notifications and rejected records.

A batch that was interrupted is written again with the same bytes; readers drop repeats by publisher and sequence.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from silbo.streaming.bulk.output import values
from silbo.streaming.local.log import append, create, partition_file, partitions_of
from silbo.streaming.spark.job import Options, matched, started, written
from silbo.streaming.spark.migration import offsets
from silbo.streaming.topics import INPUTS, NOTIFICATIONS, REJECTED

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

    from silbo.streaming.spark.progress import Ends, PartitionOffsets


def start(spark: SparkSession, folder: Path, options: Options) -> StreamingQuery:
    """Start the job over a log; raises `InvalidValue` if its checkpoint has other settings."""
    from silbo.streaming.local.source import LogSource

    spark.dataSource.register(LogSource)
    frames = {topic: _read(spark, folder, topic, options) for topic in INPUTS}
    rows = matched(frames, options, *source_of(folder))
    for topic in (NOTIFICATIONS, REJECTED):
        create(folder, topic, 1)
    return started(written(rows, options).foreachBatch(_sink(folder)), spark, options)


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


def ends_of_log(folder: Path) -> Ends:
    """The function that returns the present ends of a log's partitions, in bytes."""

    def ends(topic: str, read: PartitionOffsets) -> PartitionOffsets:
        return {number: partition_file(folder, topic, int(number)).stat().st_size for number in read}

    return ends
