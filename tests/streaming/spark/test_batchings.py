"""Strict order on real Spark, over a local log and over Kafka: the oracle's notifications, however records arrive.

Records are out of order within the lateness, topics lag each other by whole batches, and one topic is silent for the
second half. test_step.py tests the same without Spark, in every batching and with longer logs.
"""

import random

import pytest

from silbo.model.events import Disconnect, Subscribe, Unsubscribe
from silbo.streaming.bulk.sender import sending
from silbo.streaming.kafka import kafka_job
from silbo.streaming.kafka.client import KafkaWriter, create_topics, named, producer, values
from silbo.streaming.local import log_job, log_records
from silbo.streaming.local.log import LogWriter, append, read_all
from silbo.streaming.spark import job
from silbo.streaming.topics import CONTEXTS, INPUTS, NOTIFICATIONS, PUBLICATIONS, REJECTED, SUBSCRIPTIONS
from silbo.testing import assert_agrees, generate_log
from silbo.wire.records import decode, encode

PARTITIONS = 3
LATENESS = 5  # microseconds; there is one record for each, so this is less than a tenth of the log


@pytest.fixture(scope="module")
def log():
    """A log without subscribe, unsubscribe and disconnect in its second half, so that one topic is silent there."""
    events = generate_log(186, 140)
    kept = [each for each in events[70:] if not isinstance(each, Subscribe | Unsubscribe | Disconnect)]
    return events[:70] + kept


@pytest.fixture(scope="module")
def records(log):
    """The records of each partition, out of order within the lateness.

    Keys contain UUIDs, so their hashes differ from run to run. Keys are therefore assigned to partitions in turn:
    every partition has records, and the same ones in each run.
    """
    partitions = {(topic, number): [] for topic in INPUTS for number in range(PARTITIONS)}
    keys = {topic: {} for topic in INPUTS}
    times, chance = iter(range(1, 10**9)), random.Random(5)

    def send(topic, key, record):
        number = keys[topic].setdefault(key, len(keys[topic])) % PARTITIONS
        partitions[topic, number].append((record.time + chance.uniform(0, LATENESS), record))

    sending(send, lambda: next(times)).apply(log, lambda *_: None)
    last = next(times)
    assert last > 10 * LATENESS
    assert max(record.time for each, found in partitions.items() if each[0] == SUBSCRIPTIONS for _, record in found) < (
        0.7 * last
    )
    return {
        each: [encode(record) for _, record in sorted(found, key=lambda pair: pair[0])]
        for each, found in partitions.items()
    }


class OverLog:
    """A local log."""

    def __init__(self, folder):
        self._folder = folder
        LogWriter(folder, PARTITIONS).close()

    def start(self, spark, options):
        return log_job.start(spark, self._folder, options)

    def write(self, topic, partition, found):
        append(self._folder, topic, partition, found)

    def drain(self):
        log_records.drain(self._folder)

    def read(self, topic):
        return list(read_all(self._folder, topic, 0))


class OverKafka:
    """Topics of Kafka."""

    def __init__(self, kafka, prefix):
        self._address, self._prefix = kafka.address, prefix
        create_topics(kafka.address, PARTITIONS, prefix)

    def start(self, spark, options):
        return kafka_job.start(spark, self._address, options, self._prefix)

    def write(self, topic, partition, found):
        sender = producer(self._address)
        for value in found:
            sender.send(named(topic, self._prefix), value, b"key", partition=partition)
        sender.flush()
        sender.close()

    def drain(self):
        writer = KafkaWriter(self._address, self._prefix)
        writer.drain()
        writer.close()

    def read(self, topic):
        return list(values(self._address, topic, self._prefix))


@pytest.fixture
def place(request, tmp_path):
    if request.param == "log":
        return OverLog(tmp_path / "log")
    return OverKafka(request.getfixturevalue("kafka"), f"silbo-batchings-{abs(hash(request.node.nodeid))}")


# the order of arrival: each topic runs ahead of the others by whole batches, and then falls behind
PARTS = [[(PUBLICATIONS, 0, 0.5), (SUBSCRIPTIONS, 0, 0.4)], [(CONTEXTS, 0, 0.7), (SUBSCRIPTIONS, 0.4, 1)],
         [(PUBLICATIONS, 0.5, 1), (CONTEXTS, 0.7, 1)]]  # fmt: skip


def write(place, records, topic, begin, end):
    for number in range(PARTITIONS):
        found = records[topic, number]
        place.write(topic, number, found[round(begin * len(found)) : round(end * len(found))])


@pytest.mark.parametrize(("place", "batch"), [("log", 3), ("kafka", 7)], indirect=["place"])
def test_every_batching_gives_the_oracles_notifications(spark, place, log, records, batch, tmp_path):
    query = place.start(spark, job.Options(tmp_path / "checkpoint", lateness=LATENESS / 1e6, batch=batch))
    try:
        for parts in PARTS:
            for part in parts:
                write(place, records, *part)
            query.processAllAvailable()
        before = len(place.read(NOTIFICATIONS))
        place.drain()
        query.processAllAvailable()
    finally:
        query.stop()
    found = place.read(NOTIFICATIONS)
    assert 0 < before < len(found)  # the silent topic held the frontier
    assert_agrees(log, [decode(each) for each in found])
    assert place.read(REJECTED) == []


@pytest.mark.parametrize("place", ["kafka"], indirect=True)
def test_all_at_once_gives_the_oracles_notifications(spark, place, log, records, tmp_path):
    for topic in INPUTS:
        write(place, records, topic, 0, 1)
    place.drain()
    query = place.start(spark, job.Options(tmp_path / "checkpoint", lateness=LATENESS / 1e6))
    try:
        query.processAllAvailable()
    finally:
        query.stop()
    assert len(query.recentProgress) <= 2  # one batch with all records, and an empty one
    assert_agrees(log, [decode(each) for each in place.read(NOTIFICATIONS)])
    assert place.read(REJECTED) == []
