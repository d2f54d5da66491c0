"""The job on real Spark, over a local log: the oracle's notifications, whatever the batches, through kills and restarts."""

import signal
import subprocess
import sys
import time
from itertools import count

import pytest
from pyspark.sql import Row

import silbo
from silbo.streaming.bulk.routing import Router
from silbo.streaming.bulk.sender import sending
from silbo.streaming.bulk.step import Settings
from silbo.streaming.engine import StreamEngine
from silbo.streaming.local import log_job, log_records
from silbo.streaming.local.log import LogWriter, append, partition_file, read_all
from silbo.streaming.spark import job
from silbo.streaming.spark.host import Matcher
from silbo.streaming.topics import CONTEXTS, INPUTS, NOTIFICATIONS, PUBLICATIONS, REJECTED, SUBSCRIPTIONS
from silbo.testing import assert_agrees, generate_log
from silbo.wire.records import PublicationRecord, SubscriptionRecord, UnsubscriptionRecord, decode, encode

PARTITIONS = 3


@pytest.fixture(scope="module")
def log():
    return generate_log(4, 500)


def written(folder, events):
    """Write the records of events to a local log in a folder; returns the folder."""
    writer, times = LogWriter(folder, PARTITIONS), count(1)
    fold = sending(writer.send, lambda: next(times))
    fold.apply(events, lambda *_: None)
    writer.close()
    return folder


def run(spark, folder, options):
    query = log_job.start(spark, folder, options)
    try:
        query.processAllAvailable()
    finally:
        query.stop()
    return query


def test_the_job_gives_the_oracles_notifications(spark, log):
    assert_agrees(log, silbo.replay(log, engine=StreamEngine(60)))


def test_a_restarted_job_continues_where_it_stopped(spark, log, tmp_path):
    """Records arrive while the job is stopped. The worker still has the old query's cache; the checkpoint counts."""
    folder, half = tmp_path / "log", len(log) // 2
    writer, times = LogWriter(folder, PARTITIONS), count(1)
    fold = sending(writer.send, lambda: next(times))
    options = job.Options(tmp_path / "checkpoint", batch=100)
    for part in (log[:half], log[half:]):
        fold.apply(part, lambda *_: None)
        writer.flush()
        run(spark, folder, options)
    writer.close()
    log_records.drain(folder)
    run(spark, folder, options)
    assert_agrees(log, log_records.notifications(folder))


def test_a_large_publication_for_many_subscriptions_is_notified_and_spark_keeps_its_settings(spark, tmp_path):
    folder, setting, size = tmp_path / "log", "spark.sql.shuffle.partitions", 2**20 - 100
    LogWriter(folder, 1).close()
    append(
        folder,
        SUBSCRIPTIONS,
        0,
        [encode(SubscriptionRecord(1, "u", "car", f"s{i}", "true", None, ())) for i in range(1_000)],
    )
    append(folder, PUBLICATIONS, 0, [encode(PublicationRecord(2, "p", "p", 1, {}, {}, {}, None, b"x" * size))])
    spark.conf.set(setting, "7")
    try:
        run(spark, folder, job.Options(tmp_path / "checkpoint", order="arrival", shards=1))
        assert spark.conf.get(setting) == "7"
    finally:
        spark.conf.unset(setting)
    notified = partition_file(folder, NOTIFICATIONS, 0)
    assert notified.stat().st_size > 1_000 * size
    notified.unlink()  # it is large, and pytest keeps the folders of its last runs


def test_an_unreadable_record_is_rejected_and_the_job_continues(spark, tmp_path):
    folder = tmp_path / "log"
    LogWriter(folder, 1).close()
    good = SubscriptionRecord(1, "u", "car", "s", "a = 1", None, ())
    append(folder, SUBSCRIPTIONS, 0, [b"nonsense", encode(good)])
    append(folder, CONTEXTS, 0, [encode(UnsubscriptionRecord(2, "u", "unknown"))])
    options = job.Options(tmp_path / "checkpoint", order="arrival")
    run(spark, folder, options)
    rejected = [decode(value) for value in read_all(folder, REJECTED, 0)]
    assert [(each.topic, each.partition, each.offset, each.value) for each in rejected] == [
        (SUBSCRIPTIONS, 0, 0, b"nonsense")
    ]


@pytest.mark.parametrize("changed", [{"shards": 3}, {"order": "arrival"}, {"lateness": 1.0}])
def test_a_checkpoint_with_other_settings_is_refused(tmp_path, changed):
    partitions = dict.fromkeys(INPUTS, 3)
    job.check(job.Options(tmp_path), partitions, "log")
    job.check(job.Options(tmp_path), partitions, "log")
    with pytest.raises(silbo.SilboError, match="was made with"):
        job.check(job.Options(tmp_path, **changed), partitions, "log")
    with pytest.raises(silbo.SilboError, match="was made with 'log'"):
        job.check(job.Options(tmp_path), partitions, "another")
    with pytest.raises(silbo.SilboError, match="was made with 3, not 4"):
        job.check(job.Options(tmp_path), {**partitions, CONTEXTS: 4}, "log")


def test_every_reducer_gets_one_shard(spark):
    from silbo.streaming.spark.frames import reducer_keys

    for shards in (1, 2, 3, 5, 8):
        keys = spark.createDataFrame([(key,) for key in reducer_keys(shards)], "key int")
        rows = keys.selectExpr(f"pmod(hash(key), {shards}) as reducer").collect()
        assert [row.reducer for row in rows] == list(range(shards))


def test_a_killed_job_loses_nothing_and_its_repeats_are_equal(spark, log, tmp_path):
    folder = written(tmp_path / "log", log)
    log_records.drain(folder)
    command = [sys.executable, "-m", "silbo", "stream", "--log", str(folder), "--checkpoint", str(tmp_path / "c"),
               "--once", "--batch", "40"]  # fmt: skip
    running = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 120
    while not list(read_all(folder, NOTIFICATIONS, 0)):
        assert running.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.05)  # there is no signal for the end of a batch in another process
    running.send_signal(signal.SIGKILL)
    running.wait()
    run(spark, folder, job.Options(tmp_path / "c", batch=40))  # continues from the same checkpoint
    made = [decode(value) for value in read_all(folder, NOTIFICATIONS, 0)]
    by_id = {}
    for each in made:
        key = each.publisher_uuid, each.sequence, each.subscriber_uuid, each.subscription
        by_id.setdefault(key, set()).add(encode(each))
    assert all(len(contents) == 1 for contents in by_id.values())
    assert_agrees(log, log_records.notifications(folder))


class Value:
    """A fake of Spark's ValueState."""

    def __init__(self):
        self.content = None

    def get(self):
        return self.content

    def update(self, value):
        self.content = value


class Map:
    """A fake of Spark's MapState."""

    def __init__(self):
        self.content = {}

    def iterator(self):
        return iter(self.content.items())

    def updateValue(self, key, value):  # noqa: N802
        self.content = {**self.content, key: value}


class Handle:
    """A fake of Spark's handle: it creates the parts of a state, and can roll back the writes of a failed attempt."""

    def __init__(self):
        self.parts = {}

    def getValueState(self, name, _):  # noqa: N802
        return self.parts.setdefault(name, Value())

    def getMapState(self, name, *_):  # noqa: N802
        return self.parts.setdefault(name, Map())

    def committed(self):
        return {name: part.content for name, part in self.parts.items()}

    def roll_back(self, values):
        for name, content in values.items():
            self.parts[name].content = content


def test_the_cache_of_a_failed_attempt_is_not_used():
    """An attempt that matched and then failed has advanced the worker's cache, but not Spark's state."""
    handle, matcher = Handle(), Matcher(Settings(order="arrival"), (7,))
    matcher.init(handle)

    def batch(topic, *records):
        ((_, chunk),) = Router(1).chunks(topic, 0, enumerate(map(encode, records)))
        rows = matcher.handleInputRows((7,), iter([Row(chunk=chunk.pack())]), None)
        found = [row for row in rows if row.topic == NOTIFICATIONS]
        return [decode(each.head + row.tail) for row in found for each in row.recipients]

    batch(SUBSCRIPTIONS, SubscriptionRecord(1, "u", "car", "s", "true", None, ()))
    before = handle.committed()
    batch(SUBSCRIPTIONS, UnsubscriptionRecord(2, "u", "s"))
    handle.roll_back(before)
    assert len(batch(PUBLICATIONS, PublicationRecord(3, "p", "p", 1, {}, {}, {}, None, None))) == 1
    assert len(batch(PUBLICATIONS, PublicationRecord(4, "p", "p", 2, {}, {}, {}, None, None))) == 1


def test_a_log_without_topics_is_refused(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "silbo", "stream", "--log", str(tmp_path), "--checkpoint", str(tmp_path / "c")],
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 2
    assert "has no topic silbo.subscriptions" in done.stderr


def test_spark_users_can_import_match():
    import silbo.streaming
    from silbo.streaming.spark.frames import match

    assert silbo.streaming.match is match
