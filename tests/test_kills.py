"""The job through kill -9 of its parts: nothing is missing, and what comes again is equal to the first time.

The driver's and Kafka's own deaths are in test_streaming and test_kafka; `make torture` has many of all kinds.
"""

import os
import signal
import time
from contextlib import suppress

import pytest

import silbo
from silbo.streaming import job, kafka_job
from silbo.streaming.kafka import create_topics, values
from silbo.streaming.kafka_session import connect
from silbo.streaming.log import read_all
from silbo.streaming.topics import NOTIFICATIONS
from silbo.testing import assert_agrees, generate_log
from silbo.testing.jobs import PAUSE, Feed, Program, repeats
from silbo.testing.processes import task_workers

pytestmark = pytest.mark.spark
SECONDS = 90  # that a notification may take on a busy machine


def notified(folder):
    return len(job.notifications(folder))


def batches(tmp_path):
    """How many have ended."""
    return len([path for path in tmp_path.glob("checkpoint/commits/*") if path.name.isdigit()])


def kill(pids):
    for pid in pids:
        with suppress(ProcessLookupError):  # it has ended by itself
            os.kill(pid, signal.SIGKILL)


def assert_oracles(log, folder):
    repeats(read_all(folder, NOTIFICATIONS, 0))
    assert_agrees(log, job.notifications(folder))


def test_executors_and_python_workers_of_a_cluster_may_be_killed_in_bursts(cluster, tmp_path, monkeypatch):
    log, folder = generate_log(11, 600), tmp_path / "log"
    writer = job.LogWriter(folder, 3)
    feed = Feed(writer)
    monkeypatch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
    options = "--log", folder, "--checkpoint", tmp_path / "checkpoint", "--batch", "60", "--master", cluster.url
    feed.write(log[:200])
    with Program.stream(tmp_path / "errors", *options) as running:
        running.until(lambda: batches(tmp_path) > 0)
        executor, *others = cluster.executors()
        kill([executor])
        before = batches(tmp_path)
        feed.write(log[200:400])
        running.until(lambda: batches(tmp_path) > before)
        assert executor not in cluster.executors()
        workers = task_workers(others[0])
        assert workers
        kill(workers)
        feed.write(log[400:])
        writer.close()
        job.drain(folder)
        expected = len(list(silbo.replay(log, engine="oracle")))
        running.until(lambda: notified(folder) >= expected)
    assert_oracles(log, folder)


def test_python_workers_of_a_local_job_may_be_killed(spark, tmp_path):
    """A task whose worker died is tried again, by a worker without the first one's cache."""
    log, folder = generate_log(12, 600), tmp_path / "log"
    writer = job.LogWriter(folder, 3)
    feed = Feed(writer)
    query = job.start(spark, folder, job.Options(tmp_path / "checkpoint", batch=60))
    try:
        for first in range(0, 600, 200):
            feed.write(log[first : first + 200])
            since = time.monotonic()
            while not (workers := task_workers(os.getpid())):
                assert time.monotonic() < since + SECONDS
                time.sleep(PAUSE)  # nothing tells when Spark has started a worker
            kill(workers)
        writer.close()
        job.drain(folder)
        query.processAllAvailable()
    finally:
        query.stop()
    assert_oracles(log, folder)


def test_a_session_sees_each_once_though_the_job_repeats_a_batch(spark, kafka, tmp_path):
    """A batch whose end was not written down is run again at the next start: as after a kill before that moment."""
    prefix, options = "silbo-once", job.Options(tmp_path / "checkpoint", order="arrival")
    create_topics(kafka.address, 3, prefix)
    with connect(kafka.address, "car-1", prefix) as car, connect(kafka.address, "camera-7", prefix) as camera:
        alerts = car.subscribe("true")
        camera.advertise("true")
        for number in range(1, 11):
            camera.publish({"number": number})
        query = kafka_job.start(spark, kafka.address, options, prefix)
        query.processAllAvailable()
        query.stop()
        commits = sorted(int(path.name) for path in (options.checkpoint / "commits").iterdir() if path.name.isdigit())
        (options.checkpoint / "commits" / str(commits[-1])).unlink()
        (options.checkpoint / "commits" / f".{commits[-1]}.crc").unlink(missing_ok=True)
        query = kafka_job.start(spark, kafka.address, options, prefix)
        query.processAllAvailable()
        assert repeats(values(kafka.address, NOTIFICATIONS, prefix)) > 0
        camera.publish({"number": 11})
        seen = [alerts.get(timeout=SECONDS)["number"] for _ in range(11)]
        query.stop()
        assert seen == list(range(1, 12))
        assert alerts.drain() == []
