"""kill -9 of parts of the job: no notification is missing, and repeated notifications are equal.

test_job.py kills the driver and test_kafka.py kills Kafka. `make torture` also kills executors and workers of a
cluster, at random moments and many times.
"""

import os
import signal
import time
from contextlib import suppress

from silbo.streaming.kafka import kafka_job
from silbo.streaming.kafka.client import create_topics, values
from silbo.streaming.kafka.kafka_session import connect
from silbo.streaming.local import log_job, log_records
from silbo.streaming.local.log import LogWriter, read_all
from silbo.streaming.spark import job
from silbo.streaming.topics import NOTIFICATIONS
from silbo.testing import assert_agrees, generate_log
from silbo.testing.own.jobs import PAUSE, Feed, repeats
from silbo.testing.own.spark_processes import task_workers

SECONDS = 90  # the longest time that a notification may take on a busy machine


def kill(pids):
    for pid in pids:
        with suppress(ProcessLookupError):  # it has ended by itself
            os.kill(pid, signal.SIGKILL)


def assert_oracles(log, folder):
    repeats(read_all(folder, NOTIFICATIONS, 0))
    assert_agrees(log, log_records.notifications(folder))


def test_python_workers_of_a_local_job_may_be_killed(spark, tmp_path):
    """Spark retries the task of a killed worker on another worker, which does not have the cache."""
    log, folder = generate_log(12, 300), tmp_path / "log"
    writer = LogWriter(folder, 3)
    feed = Feed(writer)
    query = log_job.start(spark, folder, job.Options(tmp_path / "checkpoint", batch=60))
    try:
        for first in range(0, 300, 100):
            feed.write(log[first : first + 100])
            since = time.monotonic()
            while not (workers := task_workers(os.getpid())):
                assert time.monotonic() < since + SECONDS
                time.sleep(PAUSE)  # there is no signal for the start of a worker
            kill(workers)
        writer.close()
        log_records.drain(folder)
        query.processAllAvailable()
    finally:
        query.stop()
    assert_oracles(log, folder)


def test_a_session_gets_each_notification_once_if_the_job_repeats_a_batch(spark, kafka, tmp_path):
    """A batch without a commit is run again at the next start, as after a kill just before the commit."""
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
