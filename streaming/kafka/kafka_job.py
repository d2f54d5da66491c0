"""The job over Kafka: the same as over a local log, with Kafka's own source and sink."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from silbo.errors import InvalidValue
from silbo.streaming.bulk.output import expanded
from silbo.streaming.kafka.client import PREFIX, bounds, named, partition_counts
from silbo.streaming.local.jars import jars
from silbo.streaming.spark.job import Options, matched, started, written
from silbo.streaming.spark.migration import offsets, read_to
from silbo.streaming.spark.spark_session import LOCAL, is_submitted, session
from silbo.streaming.topics import INPUTS, LARGEST

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery


EARLIEST = -2  # Spark's number for the earliest offset
A_DAY = str(86_400_000)  # milliseconds that the job waits for a Kafka that does not answer
SOURCE: Mapping[str, str] = {
    "kafka.fetch.max.wait.ms": "10",  # records that come seldom are not held back
    "fetchOffset.numRetries": "1000000",  # each of them takes a minute or more
    "fetchOffset.retryIntervalMs": "1000",
    "kafkaConsumer.pollTimeoutMs": A_DAY,
}
SINK: Mapping[str, str] = {
    "includeHeaders": "true",
    "kafka.max.request.size": str(LARGEST),
    "kafka.max.block.ms": A_DAY,
    "kafka.delivery.timeout.ms": A_DAY,
}


def spark_session(master: str = LOCAL, *, brief: bool = False) -> SparkSession:
    """A Spark session with the Kafka connector; with spark-submit the connector comes from --jars or --packages."""
    more = {} if is_submitted() else {"spark.jars": ",".join(map(str, jars("spark")))}
    return session(master, more, brief=brief)


def start(spark: SparkSession, address: str, options: Options, prefix: str = PREFIX) -> StreamingQuery:
    """Start the job over Kafka's topics; raises `InvalidValue` if its checkpoint does not fit."""
    counts, source = source_of(address, prefix)
    check_offsets(address, options.checkpoint)
    frames = {role: _read(spark, address, role, prefix, options, counts[role]) for role in INPUTS}
    rows = expanded(matched(frames, options, counts, source))
    # roles become topics again, and the debug columns become headers: repeats must have the same content
    sent = rows.selectExpr(
        f"concat('{prefix}', substring(topic, {len(PREFIX) + 1})) as topic", "key", "value",
        "array(struct('shard' as key, cast(cast(shard as string) as binary) as value),"
        " struct('executor' as key, cast(executor as binary) as value)) as headers",
    )  # fmt: skip
    sink = written(sent, options).format("kafka").option("kafka.bootstrap.servers", address).options(**SINK)
    return started(sink, spark, options)


def check_offsets(address: str, checkpoint: Path) -> None:
    """Refuse a checkpoint whose offsets Kafka does not have: the topics are others, or lost unread records."""
    for topic, offsets_by_partition in read_to(checkpoint).items():
        for partition, (begin, end) in bounds(address, topic).items():
            offset = offsets_by_partition.get(str(partition), begin)
            if not begin <= offset <= end:
                raise InvalidValue(
                    "checkpoint", f"{checkpoint} continues at record {offset} of {topic}, partition {partition}, and "
                    f"Kafka has {begin} to {end}. The topics were made again, or lost records that were not read yet. "
                    "Give a new folder: the job then begins with the first records that Kafka has.",
                )  # fmt: skip


def source_of(address: str, prefix: str = PREFIX) -> tuple[Mapping[str, int], str]:
    """The number of partitions of each topic in Kafka, and the source's name in a checkpoint."""
    return partition_counts(address, prefix), f"kafka://{address}/{prefix}"


def _read(spark: SparkSession, address: str, role: str, prefix: str, options: Options, partitions: int) -> DataFrame:
    from pyspark.sql.functions import lit

    reader = (
        spark.readStream.format("kafka")
        .option("kafka.bootstrap.servers", address)
        .option("subscribe", named(role, prefix))
        .option("startingOffsets", _begin(named(role, prefix), options, partitions))
        .options(**SOURCE)
    )
    limit = options.limit(role)
    if limit is not None:
        reader = reader.option("maxOffsetsPerTrigger", str(limit * partitions))
    return reader.load().select(lit(role).alias("topic"), "partition", "offset", "value")


def _begin(topic: str, options: Options, partitions: int) -> str:
    """The offsets at which a new job starts to read a topic: its beginning, or those of a migrated state."""
    resume_at = offsets(options.checkpoint).get(topic)
    if resume_at is None:
        return "earliest"
    return json.dumps({topic: {number: resume_at.get(number, EARLIEST) for number in map(str, range(partitions))}})
