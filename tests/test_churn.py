"""A month of churn in miniature, on Spark's own state: who comes and goes leaves nothing behind."""

import pytest

from silbo.model.events import Disconnect, SetContext, Subscribe, Unsubscribe
from silbo.streaming import job
from silbo.testing.jobs import Feed

pytestmark = pytest.mark.spark
DAYS = 12
CARS = 250
BOUND = 2**21  # bytes, however long it goes on: a megabyte of deltas is not worth a fold, and a day's cars have less


def day(number):
    """Cars connect with a kilobyte of context, subscribe, move, and leave: half of them say so first."""
    cars = [f"car-{number:02}-{i:03}" for i in range(CARS)]
    yield from (SetContext(car, {"x": 1.0, "tag": "t" * 1_000}) for car in cars)
    yield from (Subscribe(car, "s", "a = 1", "pub.x > this.x") for car in cars)
    yield from (SetContext(car, {"x": 2.0}) for car in cars)
    yield from (Unsubscribe(car, "s") for car in cars[::2])
    yield from (Disconnect(car) for car in cars)


def state_bytes(spark, checkpoint):
    """What the state's head says of both parts, summed over the shards."""
    head = spark.read.format("statestore").option("path", str(checkpoint)).option("stateVarName", "head").load()
    ((total,),) = head.selectExpr("sum(value.snapshot_bytes + value.delta_bytes)").collect()
    return total


def test_churn_leaves_a_state_that_does_not_grow(spark, tmp_path):
    folder, options = tmp_path / "log", job.Options(tmp_path / "checkpoint", order="arrival", shards=1)
    writer = job.LogWriter(folder, 1)
    feed, sizes = Feed(writer), []
    query = job.start(spark, folder, options)
    try:
        for number in range(DAYS):
            feed.write(list(day(number)))
            query.processAllAvailable()
            sizes.append(state_bytes(spark, options.checkpoint))
    finally:
        query.stop()
    writer.close()
    written = sum(path.stat().st_size for path in folder.rglob("*.log"))
    assert written > 3 * BOUND
    # deltas grow until they are folded, and a fold may meet a day half over: what counts is that it comes
    assert max(sizes) < BOUND
    assert min(sizes[DAYS // 2 :]) < max(sizes[: DAYS // 2])
