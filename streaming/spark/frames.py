"""The function for Spark users, `match`: it matches publications with subscriptions and contexts in their own query.

The three inputs are streaming frames with the columns of the Kafka source: `topic`, `partition`, `offset` and `value`,
which is a record of `silbo.wire.records`. The result has `topic` (notifications or rejected), `key`, `value`
(again a record), `shard` and `executor`. The query's progress has the metrics of each batch, as observed metrics
named `silbo`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import reduce
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from silbo.errors import InvalidValue
from silbo.streaming.bulk.output import expanded
from silbo.streaming.bulk.step import Order, Settings
from silbo.streaming.spark.host import OUTPUT, ROUTED, Matcher, Routing
from silbo.streaming.topics import BEATS, INPUTS
from silbo.wire.records import TickRecord, encode

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

COLUMNS = ("topic", "partition", "offset", "value")
PARTITIONS = "spark.sql.shuffle.partitions"
WORD = 2**32 - 1
OBSERVED = "silbo"  # the name of the observed metrics


def match(
    publications: DataFrame,
    subscriptions: DataFrame,
    contexts: DataFrame,
    *,
    order: Order = "strict",
    lateness: float = 0.0,
    shards: int = 2,
    partitions: Mapping[str, int] | None = None,
    idle: float | None = None,
    migrated: Path | None = None,
) -> DataFrame:
    """Return the notifications of these streams, and the records that were rejected.

    `order="strict"` gives the oracle's result for the records in the order of their times, whatever the batches are;
    `order="arrival"` matches the records of a batch at once. `lateness` (seconds) is how much older a record may be
    than the newest one before it in its partition. `partitions` gives the number of partitions of each topic, so that
    a silent one holds the frontier; the default is one each. With `idle`, a partition that was silent for that many
    seconds does not hold the frontier: live traffic goes on, a record older than the frontier is rejected as late, and
    the result depends on when records arrive. `migrated` is a checkpoint that `silbo stream --migrate` made: the state
    begins with its content.

    Spark's settings are not changed. Set `spark.sql.shuffle.partitions` to the number of shards before the query
    starts for the first time: with a larger number Spark runs tasks that have nothing to do.
    """
    rows = matched_rows(
        publications, subscriptions, contexts,
        order=order, lateness=lateness, shards=shards, partitions=partitions, idle=idle, migrated=migrated,
    )  # fmt: skip
    return expanded(rows)


def matched_rows(
    publications: DataFrame,
    subscriptions: DataFrame,
    contexts: DataFrame,
    *,
    order: Order,
    lateness: float,
    shards: int,
    partitions: Mapping[str, int] | None,
    idle: float | None,
    migrated: Path | None,
) -> DataFrame:
    """The result of `match`, as rows of `output`."""
    _check(order, shards, idle)
    counts = dict.fromkeys(INPUTS, 1) if partitions is None else partitions
    expected = tuple((topic, number) for topic, count in counts.items() for number in range(count))
    keys = reducer_keys(shards)
    silent = None if idle is None else _microseconds(idle)
    settings = Settings(order, _microseconds(lateness), expected, shards=shards, idle=silent)
    inputs = [frame.select(*COLUMNS) for frame in (publications, subscriptions, contexts)]
    if idle is not None:
        inputs.append(beats(publications.sparkSession))
    united = reduce(lambda a, b: a.unionByName(b), inputs)
    # a task for each core, not for each partition: a task costs more than routing a thousand records
    routed = united.coalesce(publications.sparkSession.sparkContext.defaultParallelism).mapInArrow(
        Routing(keys), ROUTED
    )
    rows = routed.groupBy("shard").transformWithState(Matcher(settings, keys, migrated), OUTPUT, "Append", "None")
    return _observed(rows).where("topic is not null").drop("metrics")


def _observed(rows: DataFrame) -> DataFrame:
    """Observe the metrics of all shards: the sums of their counts, and the slowest of their times."""
    from pyspark.sql.functions import expr

    counts = ("waiting", "records", "notifications", "rejected", "hits", "folds", "bytes")
    alike = ("held", "silent", "partitions")  # every shard gets all publications and the marks of all partitions
    stages = ("unpack_ms", "step_ms", "pack_ms", "match_ms", "keep_ms")
    return rows.observe(
        OBSERVED,
        expr("min(metrics.frontier) as frontier"),
        expr("count(metrics) as shards"),
        *(expr(f"sum(metrics.{name}) as {name}") for name in counts),
        *(expr(f"max(metrics.{name}) as {name}") for name in (*alike, *stages)),
    )


def _check(order: str, shards: int, idle: float | None) -> None:
    if order not in ("strict", "arrival"):
        raise InvalidValue("order", f"expected 'strict' or 'arrival', not {order!r}.")
    if shards < 1:
        raise InvalidValue("shards", f"at least one shard is needed, not {shards!r}.")
    if idle is not None and (order != "strict" or not idle > 0):
        raise InvalidValue("idle", "seconds above 0 are expected, with order='strict': order='arrival' does not wait.")


def beats(spark: SparkSession) -> DataFrame:
    """One tick per second, as records; Spark's offsets determine the times, so a repeated batch has the same ticks."""
    rate = spark.readStream.format("rate").option("rowsPerSecond", "1").option("numPartitions", "1").load()
    head = encode(TickRecord(2**40))[:-8].hex()  # a time of today takes eight bytes; the bytes before it are constant
    return rate.selectExpr(
        f"'{BEATS}' as topic", "0 as partition", "value as offset",
        f"concat(X'{head}', unhex(lpad(hex(unix_micros(timestamp)), 16, '0'))) as value",
    )  # fmt: skip


def _microseconds(seconds: float) -> int:
    return round(seconds * 1_000_000)


@contextmanager
def reducers(spark: SparkSession, shards: int) -> Iterator[None]:
    """Give a query that starts inside one reducer for each shard; the setting is restored afterwards."""
    before = spark.conf.get(PARTITIONS)
    spark.conf.set(PARTITIONS, str(shards))
    try:
        yield
    finally:
        spark.conf.set(PARTITIONS, str(before))


def reducer_keys(shards: int) -> tuple[int, ...]:
    """A key for each shard, so that each reducer gets one shard: Spark chooses the reducer by a hash of the key."""
    keys: dict[int, int] = {}
    for key in count():
        keys.setdefault(_spark_hash(key) % shards, key)
        if len(keys) == shards:
            return tuple(keys[reducer] for reducer in range(shards))
    raise AssertionError("count() does not end")


def _spark_hash(number: int) -> int:
    """Spark's hash of an int column: Murmur3 of four bytes, with the seed 42."""
    word = _rotated(number * 0xCC9E2D51 & WORD, 15) * 0x1B873593 & WORD
    mixed = _rotated(42 ^ word, 13) * 5 + 0xE6546B64 & WORD
    mixed ^= 4
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35), (16, 1)):
        mixed = (mixed ^ mixed >> shift) * factor & WORD
    return mixed - 2**32 if mixed >= 2**31 else mixed


def _rotated(word: int, bits: int) -> int:
    return (word << bits | word >> 32 - bits) & WORD
