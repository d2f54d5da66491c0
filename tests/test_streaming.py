"""The job on real Spark, over a local log: the oracle's notifications, whatever the batches, through kills and restarts."""

import signal
import subprocess
import sys
import time
from itertools import count

import pytest
from pyspark.sql import Row

import silbo
from silbo.broker.fold import Fold
from silbo.streaming import job
from silbo.streaming.engine import StreamEngine
from silbo.streaming.host import Matcher
from silbo.streaming.log import read_all
from silbo.streaming.records import Published, Subscribed, Unsubscribed, decode, encode
from silbo.streaming.routing import Router
from silbo.streaming.sending import Sender
from silbo.streaming.step import Settings
from silbo.streaming.topics import CONTEXTS, INPUTS, NOTIFICATIONS, PUBLICATIONS, REJECTED, SUBSCRIPTIONS
from silbo.testing import assert_agrees, generate_log

PARTITIONS = 3
pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def log():
    return generate_log(4, 1_500)


def written(folder, events):
    """A log of records in a folder."""
    writer, times = job.LogWriter(folder, PARTITIONS), count(1)
    fold = Fold(Sender(writer.send, lambda: next(times)))
    fold.apply(events, lambda *_: None)
    writer.close()
    return folder


def run(spark, folder, options):
    query = job.start(spark, folder, options)
    try:
        query.processAllAvailable()
    finally:
        query.stop()
    return query


@pytest.mark.parametrize("batch", [None, 40])
def test_the_job_gives_the_oracles_notifications(spark, log, batch):
    assert_agrees(log, silbo.replay(log, engine=StreamEngine(batch)))


def test_a_restarted_job_goes_on_where_it_was(spark, log, tmp_path):
    """Records come while it is down; a stopped query's cache is in the worker still, and is not what counts."""
    folder, half = tmp_path / "log", len(log) // 2
    writer, times = job.LogWriter(folder, PARTITIONS), count(1)
    fold = Fold(Sender(writer.send, lambda: next(times)))
    options = job.Options(tmp_path / "checkpoint", batch=100)
    for part in (log[:half], log[half:]):
        fold.apply(part, lambda *_: None)
        writer.flush()
        run(spark, folder, options)
    writer.close()
    job.drain(folder)
    run(spark, folder, options)
    assert_agrees(log, job.notifications(folder))


def test_what_is_no_record_is_rejected_and_the_job_goes_on(spark, tmp_path):
    folder = tmp_path / "log"
    job.LogWriter(folder, 1).close()
    good = Subscribed(1, "u", "car", "s", "a = 1", None, ())
    job.append(folder, SUBSCRIPTIONS, 0, [b"nonsense", encode(good)])
    job.append(folder, CONTEXTS, 0, [encode(Unsubscribed(2, "u", "unknown"))])
    options = job.Options(tmp_path / "checkpoint", order="arrival")
    run(spark, folder, options)
    rejected = [decode(value) for value in read_all(folder, REJECTED, 0)]
    assert [(each.topic, each.partition, each.offset, each.value) for each in rejected] == [
        (SUBSCRIPTIONS, 0, 0, b"nonsense")
    ]


@pytest.mark.parametrize("changed", [{"shards": 3}, {"order": "arrival"}, {"lateness": 1.0}])
def test_a_checkpoint_made_otherwise_is_refused(tmp_path, changed):
    partitions = dict.fromkeys(INPUTS, 3)
    job.check(job.Options(tmp_path), partitions, "log")
    job.check(job.Options(tmp_path), partitions, "log")
    with pytest.raises(silbo.SilboError, match="was made with"):
        job.check(job.Options(tmp_path, **changed), partitions, "log")
    with pytest.raises(silbo.SilboError, match="was made with 'log'"):
        job.check(job.Options(tmp_path), partitions, "another")
    with pytest.raises(silbo.SilboError, match="was made with 3, not 4"):
        job.check(job.Options(tmp_path), {**partitions, CONTEXTS: 4}, "log")


def test_every_reducer_has_its_shard(spark):
    from silbo.streaming.frames import reducer_keys

    for shards in (1, 2, 3, 5, 8):
        keys = reducer_keys(spark, shards)
        assert len(keys) == len(set(keys)) == shards


def test_a_job_killed_in_the_middle_loses_nothing_and_repeats_only_what_is_equal(log, tmp_path):
    folder = written(tmp_path / "log", log)
    job.drain(folder)
    command = [sys.executable, "-m", "silbo", "stream", "--log", str(folder), "--checkpoint", str(tmp_path / "c"),
               "--once", "--batch", "40"]  # fmt: skip
    for least in (1, 200):
        running = subprocess.Popen(command, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + 120
        while len(list(read_all(folder, NOTIFICATIONS, 0))) < least and running.poll() is None:
            assert time.monotonic() < deadline
            time.sleep(0.05)  # nothing tells when a batch of another process has ended
        running.send_signal(signal.SIGKILL)
        running.wait()
    assert subprocess.run(command, stderr=subprocess.DEVNULL).returncode == 0
    made = [decode(value) for value in read_all(folder, NOTIFICATIONS, 0)]
    by_id = {}
    for each in made:
        key = each.publisher_uuid, each.sequence, each.subscriber_uuid, each.subscription
        by_id.setdefault(key, set()).add(encode(each))
    assert all(len(contents) == 1 for contents in by_id.values())
    assert_agrees(log, job.notifications(folder))


class Value:
    """A value of a state, as Spark keeps it."""

    def __init__(self):
        self.content = None

    def get(self):
        return self.content

    def update(self, value):
        self.content = value


class Map:
    """A map of a state, as Spark keeps it."""

    def __init__(self):
        self.content = {}

    def iterator(self):
        return iter(self.content.items())

    def updateValue(self, key, value):  # noqa: N802
        self.content = {**self.content, key: value}


class Handle:
    """Gives the parts of a state, and takes back what a failed attempt wrote."""

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


def test_a_cache_that_a_failed_attempt_left_behind_is_not_used():
    """An attempt that matched and then failed has moved the worker's cache on; Spark's state has not moved."""
    handle, matcher = Handle(), Matcher(Settings(order="arrival"), (7,))
    matcher.init(handle)

    def batch(topic, *records):
        ((_, chunk),) = Router(1).chunks(topic, 0, enumerate(map(encode, records)))
        rows = matcher.handleInputRows((7,), iter([Row(chunk=chunk.pack())]), None)
        return [decode(row.value) for row in rows if row.topic == NOTIFICATIONS]

    batch(SUBSCRIPTIONS, Subscribed(1, "u", "car", "s", "true", None, ()))
    before = handle.committed()
    batch(SUBSCRIPTIONS, Unsubscribed(2, "u", "s"))
    handle.roll_back(before)
    assert len(batch(PUBLICATIONS, Published(3, "p", "p", 1, {}, {}, {}, None, None))) == 1
    assert len(batch(PUBLICATIONS, Published(4, "p", "p", 2, {}, {}, {}, None, None))) == 1


def test_a_log_without_topics_is_refused(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "silbo", "stream", "--log", str(tmp_path), "--checkpoint", str(tmp_path / "c")],
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 2
    assert "has no topic silbo.subscriptions" in done.stderr


def test_for_spark_users_it_is_one_function():
    import silbo.streaming
    from silbo.streaming.frames import match

    assert silbo.streaming.match is match
