"""The naive method, in Spark SQL without an index: every publication against every subscription and its latest context.

It has advantages over the job: the publications are decoded, the contexts do not change, and the box is checked
before the constraints, so that few constraints are evaluated.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from silbo.bench.workloads import EACH, Workload
from silbo.language import tree
from silbo.model.values import Attributes, Context

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

NEAR = "abs(publisher_x - x) <= {0} and abs(publisher_y - y) <= {0}"
HOLDS = """forall(constraints, c -> coalesce(case c.operator
    when '=' then message[c.name] = c.value when '!=' then message[c.name] != c.value
    when '<' then message[c.name] < c.value when '<=' then message[c.name] <= c.value
    when '>' then message[c.name] > c.value else message[c.name] >= c.value end, false))"""


def matched(
    spark: SparkSession, workload: Workload, publications: Sequence[tuple[Attributes, Context]]
) -> tuple[set[tuple[int, int]], float]:
    """The matching pairs of publication and subscription, and the seconds taken; both tables are in memory before."""
    assert workload.box is not None
    subscribed, published = _subscriptions(spark, workload), _publications(spark, publications)
    condition = f"{NEAR.format(workload.box / 2)} and {HOLDS}"
    joined = published.crossJoin(subscribed).where(condition).select("publication", "subscription")
    since = time.perf_counter()
    found = joined.collect()
    taken = time.perf_counter() - since
    for frame in (subscribed, published):
        frame.unpersist()
    return {(row.publication, row.subscription) for row in found}, taken


def _subscriptions(spark: SparkSession, workload: Workload) -> DataFrame:
    import pyarrow as pa

    constraints = [list(map(_constraint, _atoms(filter.tree))) for filter in workload.filters]
    kind = pa.list_(pa.struct([("name", pa.string()), ("operator", pa.string()), ("value", pa.float64())]))
    contexts = [workload.contexts[i // EACH] for i in range(len(workload))]
    columns = {
        "subscription": pa.array(range(len(workload)), pa.int64()),
        "constraints": pa.array(constraints, kind),
        **{name: pa.array([context[name] for context in contexts], pa.float64()) for name in "xy"},
    }
    return _in_memory(spark, columns)


def _publications(spark: SparkSession, publications: Sequence[tuple[Attributes, Context]]) -> DataFrame:
    import pyarrow as pa

    columns = {
        "publication": pa.array(range(len(publications)), pa.int64()),
        "message": pa.array([list(message.items()) for message, _ in publications], pa.map_(pa.string(), pa.float64())),
        **{
            f"publisher_{name}": pa.array([context[name] for _, context in publications], pa.float64()) for name in "xy"
        },
    }
    return _in_memory(spark, columns)


def _in_memory(spark: SparkSession, columns: dict[str, Any]) -> DataFrame:
    import pyarrow as pa

    frame = spark.createDataFrame(pa.table(columns)).repartition(spark.sparkContext.defaultParallelism).cache()
    frame.count()
    return frame


def _atoms(condition: tree.Condition) -> Sequence[tree.Condition]:
    return condition.operands if isinstance(condition, tree.And) else (condition,)


def _constraint(atom: tree.Condition) -> dict[str, Any]:
    match atom:
        case tree.Compare(operator, tree.Name(_, name), tree.Constant("number", value)):
            return {"name": name, "operator": operator, "value": float(value)}
        case _:
            raise AssertionError(f"not in any numeric workload: {atom}")
