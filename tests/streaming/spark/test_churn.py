"""Churn on Spark's own state: subscribers that have left leave nothing in it."""

from silbo.model.events import Disconnect, SetContext, Subscribe, Unsubscribe
from silbo.streaming.local import log_job
from silbo.streaming.local.log import LogWriter
from silbo.streaming.spark import job
from silbo.testing.own.jobs import Feed

DAYS = 8
CARS = 250
BOUND = 2**21  # bytes, for any number of days: at most a megabyte of deltas is not folded, and a day's cars have less


def morning(cars):
    """Each car connects with a kilobyte of context, and subscribes."""
    yield from (SetContext(car, {"x": 1.0, "tag": "t" * 1_000}) for car in cars)
    yield from (Subscribe(car, "s", "a = 1", "pub.x > this.x") for car in cars)


def evening(cars):
    """Each car moves and disconnects; half of them unsubscribe first."""
    yield from (SetContext(car, {"x": 2.0}) for car in cars)
    yield from (Unsubscribe(car, "s") for car in cars[::2])
    yield from (Disconnect(car) for car in cars)


def state_bytes(spark, checkpoint):
    """The bytes of snapshots and deltas in the state, summed over the shards."""
    head = spark.read.format("statestore").option("path", str(checkpoint)).option("stateVarName", "head").load()
    ((total,),) = head.selectExpr("sum(value.snapshot_bytes + value.delta_bytes)").collect()
    return total


def test_churn_leaves_a_state_that_does_not_grow(spark, tmp_path):
    folder, options = tmp_path / "log", job.Options(tmp_path / "checkpoint", order="arrival", shards=1)
    writer = LogWriter(folder, 1)
    feed, sizes = Feed(writer), []
    query = log_job.start(spark, folder, options)
    try:
        for number in range(DAYS):
            cars = [f"car-{number:02}-{i:03}" for i in range(CARS)]
            for part in (morning(cars), evening(cars)):  # in two batches, or a delta would leave out the contexts
                feed.write(list(part))
                query.processAllAvailable()
            sizes.append(state_bytes(spark, options.checkpoint))
    finally:
        query.stop()
    writer.close()
    written = sum(path.stat().st_size for path in folder.rglob("*.log"))
    assert written > 2 * BOUND
    # deltas grow until they are folded, and a fold may come in the middle of a day; but it must come
    assert max(sizes) < BOUND
    assert min(sizes[DAYS // 2 :]) < max(sizes[: DAYS // 2])
