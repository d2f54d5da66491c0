"""The job over real Kafka, and sessions by URL: the oracle's notifications, through a kill of Kafka itself."""

from itertools import count

import pytest
from kafka import KafkaAdminClient

import silbo
from silbo.model.events import Advertise
from silbo.streaming.bulk.output import notifications_in_order
from silbo.streaming.bulk.sender import sending
from silbo.streaming.engine import KafkaEngine
from silbo.streaming.kafka import kafka_job
from silbo.streaming.kafka.client import (
    KafkaWriter,
    create_topics,
    delete_topics,
    named,
    partition_counts,
    producer,
    values,
)
from silbo.streaming.kafka.kafka_session import connect
from silbo.streaming.spark.job import Options
from silbo.streaming.topics import INPUTS, NOTIFICATIONS, REJECTED, SUBSCRIPTIONS
from silbo.testing import assert_agrees, generate_log
from silbo.wire.records import decode

SECONDS = 90  # the longest time that a notification may take on a busy machine


def test_a_log_through_kafka_gives_the_oracles_notifications(spark, kafka):
    log = generate_log(8, 400)
    assert_agrees(log, silbo.replay(log, engine=KafkaEngine(kafka.address, batch=100)))


def test_an_interrupted_replay_deletes_its_topics(kafka):
    prefix = "silbo-given-up"

    def events():
        yield Advertise("camera", "a", "true", None, None)
        assert prefix in str(topics_of(kafka))
        raise LookupError

    with pytest.raises(LookupError):
        list(silbo.replay(events(), engine=f"kafka://{kafka.address}/{prefix}", batch=1))
    assert prefix not in str(topics_of(kafka))


def topics_of(kafka):
    admin = KafkaAdminClient(bootstrap_servers=kafka.address)
    try:
        return admin.list_topics()
    finally:
        admin.close()


def test_kafka_may_be_killed_while_the_job_runs(spark, kafka, topics, tmp_path):
    """Kafka still has every acknowledged record when it is back, and the job continues."""
    log = generate_log(9, 400)
    writer, times = KafkaWriter(kafka.address, topics), count(1)
    fold = sending(writer.send, lambda: next(times))
    query = kafka_job.start(spark, kafka.address, Options(tmp_path / "checkpoint", batch=30), topics)
    try:
        for part in (log[:200], log[200:]):
            fold.apply(part, lambda *_: None)
            writer.flush()
            if part is not log[200:]:
                kafka.kill()
                kafka.start()
        writer.drain()
        query.processAllAvailable()
    finally:
        query.stop()
        writer.close()
    assert_agrees(log, notifications_in_order(values(kafka.address, NOTIFICATIONS, topics)))


def test_a_car_gets_the_alerts_near_it_as_it_drives(spark, kafka, topics, tmp_path):
    query = kafka_job.start(spark, kafka.address, Options(tmp_path / "checkpoint", order="arrival"), topics)
    try:
        with connect(kafka.address, "car-1", topics) as car, connect(kafka.address, "camera-7", topics) as camera:
            car.set_context(x=12.0, y=40.5)
            alerts = car.subscribe('msg = "accident"', context="abs(pub.x - this.x) <= 20", include=["y"])
            camera.advertise('msg = "accident"', offers=["x", "y"])
            camera.set_context(x=15.0, y=42.0)
            camera.publish({"msg": "accident", "severity": 4}, payload=b"photo")
            alert = alerts.get(timeout=SECONDS)
            assert (alert["severity"], alert.context, alert.payload) == (4, {"x": 15.0, "y": 42.0}, b"photo")
            car.set_context(x=500.0)
            camera.publish({"msg": "accident", "severity": 5})
            car.set_context(x=20.0)
            camera.publish({"msg": "accident", "severity": 6})
            assert alerts.get(timeout=SECONDS)["severity"] == 6
            with pytest.raises(silbo.NotAdvertised):
                camera.publish({"msg": "sunshine"})
    finally:
        query.stop()


def test_an_unreadable_record_is_written_to_the_topic_of_rejected_records(spark, kafka, topics, tmp_path):
    sender = producer(kafka.address)
    sender.send(named(SUBSCRIPTIONS, topics), b"nonsense", b"key", partition=2).get(timeout=30)
    sender.close()
    query = kafka_job.start(spark, kafka.address, Options(tmp_path / "checkpoint"), topics)
    try:
        query.processAllAvailable()
    finally:
        query.stop()
    (rejected,) = map(decode, values(kafka.address, REJECTED, topics))
    assert (rejected.topic, rejected.partition, rejected.offset) == (SUBSCRIPTIONS, 2, 0)
    assert rejected.value == b"nonsense"


def test_a_checkpoint_of_other_topics_is_refused_with_the_remedy(spark, kafka, topics, tmp_path):
    options = Options(tmp_path / "checkpoint")
    writer = KafkaWriter(kafka.address, topics)
    writer.tick(1)
    query = kafka_job.start(spark, kafka.address, options, topics)
    try:
        query.processAllAvailable()
    finally:
        query.stop()
    kafka_job.check_offsets(kafka.address, options.checkpoint)
    writer.close()
    delete_topics(kafka.address, topics)
    create_topics(kafka.address, 3, topics)
    with pytest.raises(silbo.InvalidValue, match=r"continues at record 1 of .* and Kafka has 0 to 0\. .*new folder"):
        kafka_job.start(spark, kafka.address, options, topics)


def test_topics_are_created_once_and_their_partitions_are_counted(kafka, topics):
    create_topics(kafka.address, 5, topics)
    assert partition_counts(kafka.address, topics) == dict.fromkeys(INPUTS, 3)
    with pytest.raises(silbo.SilboError, match="--create-topics"):
        partition_counts(kafka.address, "nobody")
