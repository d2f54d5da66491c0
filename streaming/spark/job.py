"""The job: its options, the settings of its checkpoint, and what its sources and sinks have in common.

`local.log_job` runs it over a local log, `kafka.kafka_job` over Kafka.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from silbo.streaming.bulk.step import Order
from silbo.streaming.spark import checkpoint
from silbo.streaming.topics import CONTEXTS, INPUTS, PUBLICATIONS, SUBSCRIPTIONS

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


def written(rows: DataFrame, options: Options) -> DataStreamWriter:
    """The writer of a result, with the settings that every sink needs."""
    writer = rows.writeStream.outputMode("append").option("checkpointLocation", str(options.checkpoint))
    return writer.trigger(processingTime=options.trigger)


def wait_until_matched(query: StreamingQuery, options: Options) -> None:
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
    checkpoint.check(options.checkpoint, job_settings(options, partitions, source))


def job_settings(options: Options, partitions: Mapping[str, int], source: str) -> checkpoint.JobSettings:
    """The settings that the checkpoint of a job must have."""
    chosen = {"order": options.order, "lateness": options.lateness, "shards": options.shards, "idle": options.idle}
    return {"state": checkpoint.STATE, "source": source, **chosen, **partitions}
