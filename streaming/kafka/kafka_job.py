"""The job over Kafka: the same as over a local log, with Kafka's own source and sink."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING

from silbo.streaming.bulk.output import expanded
from silbo.streaming.kafka.client import PREFIX, named, partition_counts
from silbo.streaming.local.jars import jars
from silbo.streaming.spark.job import Options, matched, started, written
from silbo.streaming.spark.migration import offsets
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
    """Start the job over Kafka's topics; raises `InvalidValue` if its checkpoint has other settings."""
    counts, source = source_of(address, prefix)
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
