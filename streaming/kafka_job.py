"""The job over Kafka: the same as over a local log, with Kafka's own source and sink."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING

from silbo.streaming.jars import jars
from silbo.streaming.job import Options, matched, written
from silbo.streaming.kafka import LARGEST, PREFIX, named, partition_counts
from silbo.streaming.migration import offsets
from silbo.streaming.spark import LOCAL, is_submitted, session
from silbo.streaming.topics import INPUTS

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery


EARLIEST = -2  # Spark's number for it


def spark_session(master: str = LOCAL, *, brief: bool = False) -> SparkSession:
    """A session of Spark's with its connector to Kafka; spark-submit brings it by --jars or --packages."""
    more = {} if is_submitted() else {"spark.jars": ",".join(map(str, jars("spark")))}
    return session(master, more, brief=brief)


def start(spark: SparkSession, address: str, options: Options, prefix: str = PREFIX) -> StreamingQuery:
    """The job over Kafka's topics, running; `InvalidValue` if its checkpoint was made otherwise."""
    counts, source = source_of(address, prefix)
    frames = {role: _read(spark, address, role, prefix, options, counts[role]) for role in INPUTS}
    found = matched(frames, options, counts, source)
    # roles become topics again, and the debug columns headers: repeats must have the same content
    sent = found.selectExpr(
        f"concat('{prefix}', substring(topic, {len(PREFIX) + 1})) as topic", "key", "value",
        "array(struct('shard' as key, cast(cast(shard as string) as binary) as value),"
        " struct('executor' as key, cast(executor as binary) as value)) as headers",
    )  # fmt: skip
    sink = written(sent, options).format("kafka").option("kafka.bootstrap.servers", address)
    return sink.option("includeHeaders", "true").option("kafka.max.request.size", str(LARGEST)).start()


def source_of(address: str, prefix: str = PREFIX) -> tuple[Mapping[str, int], str]:
    """The partitions of Kafka's topics, and its name in a checkpoint."""
    return partition_counts(address, prefix), f"kafka://{address}/{prefix}"


def _read(spark: SparkSession, address: str, role: str, prefix: str, options: Options, partitions: int) -> DataFrame:
    from pyspark.sql.functions import lit

    reader = (
        spark.readStream.format("kafka")
        .option("kafka.bootstrap.servers", address)
        .option("subscribe", named(role, prefix))
        .option("startingOffsets", _begin(named(role, prefix), options, partitions))
        .option("kafka.fetch.max.wait.ms", "10")  # what comes seldom is not held back
    )
    limit = options.limit(role)
    if limit is not None:
        reader = reader.option("maxOffsetsPerTrigger", str(limit * partitions))
    return reader.load().select(lit(role).alias("topic"), "partition", "offset", "value")


def _begin(topic: str, options: Options, partitions: int) -> str:
    """Where a topic is read from, the first time: its beginning, or how far a migrated state has come."""
    come = offsets(options.checkpoint).get(topic)
    if come is None:
        return "earliest"
    return json.dumps({topic: {number: come.get(number, EARLIEST) for number in map(str, range(partitions))}})
