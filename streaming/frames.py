"""For Spark users a function: match publications with subscriptions and contexts, in a query of their own.

The three inputs are streaming frames with the columns that Kafka's source has: `topic`, `partition`, `offset` and
`value`, a record of `silbo.streaming.records`. The result has `topic` (notifications or rejected), `key`, `value`
(again a record), `shard` and `executor`. How a batch went stands in the query's progress, as the observed metrics
of the name `silbo`.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING

from silbo.errors import InvalidValue
from silbo.streaming.host import OUTPUT, ROUTED, Matcher, Routing
from silbo.streaming.records import Tick, encode
from silbo.streaming.step import Order, Settings
from silbo.streaming.topics import BEATS, INPUTS

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

COLUMNS = ("topic", "partition", "offset", "value")
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
    """Notifications of these streams, and what was rejected of them.

    `order="strict"` gives what the oracle gives for the records in their order of time, whatever the batches are;
    `order="arrival"` matches at once what a batch has. `lateness` (seconds) is how far a record may lie behind what
    came before it in its partition. `partitions` says how many each topic has, so that a silent one holds the
    frontier; one each, if it is left out. With `idle` one that was silent for that many seconds does not hold it:
    live traffic goes on, what comes behind the frontier is rejected as late, and the result depends on when records
    arrive. `migrated` is a checkpoint that `silbo stream --migrate` made: the state begins with what it holds.
    """
    _check(order, shards, idle)
    counts = dict.fromkeys(INPUTS, 1) if partitions is None else partitions
    expected = tuple((topic, number) for topic, count in counts.items() for number in range(count))
    keys = reducer_keys(publications.sparkSession, shards)
    silent = None if idle is None else _microseconds(idle)
    settings = Settings(order, _microseconds(lateness), expected, shards=shards, idle=silent)
    inputs = [frame.select(*COLUMNS) for frame in (publications, subscriptions, contexts)]
    if idle is not None:
        inputs.append(beats(publications.sparkSession))
    united = reduce(lambda a, b: a.unionByName(b), inputs)
    # a task for each core, not for each partition: a task costs more than to route a thousand records
    routed = united.coalesce(publications.sparkSession.sparkContext.defaultParallelism).mapInArrow(
        Routing(keys), ROUTED
    )
    found = routed.groupBy("shard").transformWithState(Matcher(settings, keys, migrated), OUTPUT, "Append", "None")
    return _observed(found).where("topic is not null").drop("told")


def _observed(found: DataFrame) -> DataFrame:
    """What the shards tell of a batch, put together: all of their counts, the slowest of their times."""
    from pyspark.sql.functions import expr

    counts = ("waiting", "records", "notifications", "rejected", "hits", "folds", "bytes")
    stages = ("unpack_ms", "step_ms", "pack_ms", "match_ms", "keep_ms")
    return found.observe(
        OBSERVED,
        expr("min(told.frontier) as frontier"),
        expr("count(told) as shards"),
        *(expr(f"sum(told.{name}) as {name}") for name in counts),
        *(expr(f"max(told.{name}) as {name}") for name in stages),
    )


def _check(order: str, shards: int, idle: float | None) -> None:
    if order not in ("strict", "arrival"):
        raise InvalidValue("order", f"expected 'strict' or 'arrival', not {order!r}.")
    if shards < 1:
        raise InvalidValue("shards", f"at least one shard is needed, not {shards!r}.")
    if idle is not None and (order != "strict" or not idle > 0):
        raise InvalidValue("idle", "seconds above 0, with order='strict': the order of arrival waits for nobody.")


def beats(spark: SparkSession) -> DataFrame:
    """A tick a second of a clock, as records; Spark's offsets determine their times, so a batch repeats them."""
    rate = spark.readStream.format("rate").option("rowsPerSecond", "1").option("numPartitions", "1").load()
    head = encode(Tick(2**40))[:-8].hex()  # before its eight bytes a tick of our days is always the same
    return rate.selectExpr(
        f"'{BEATS}' as topic", "0 as partition", "value as offset",
        f"concat(X'{head}', unhex(lpad(hex(unix_micros(timestamp)), 16, '0'))) as value",
    )  # fmt: skip


def _microseconds(seconds: float) -> int:
    return round(seconds * 1_000_000)


def reducer_keys(spark: SparkSession, shards: int) -> tuple[int, ...]:
    """A key for each shard, so that every reducer has just one: Spark chooses reducers by a hash of the key."""
    spark.conf.set("spark.sql.shuffle.partitions", str(shards))
    found = spark.range(64 * shards).selectExpr("int(id) as key", f"pmod(hash(int(id)), {shards}) as reducer").collect()
    keys: dict[int, int] = {}
    for row in found:
        keys.setdefault(row.reducer, row.key)
    return tuple(keys[reducer] for reducer in range(shards))
