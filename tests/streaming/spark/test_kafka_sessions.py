"""Live sessions over real Kafka: ticks for strict order, topic prefixes, and times when Kafka is unavailable."""

import contextlib
import subprocess
import sys
import threading

import pytest

import silbo
from silbo.model.events import SetContext, Subscribe, Unsubscribe
from silbo.streaming.bulk.sender import sending
from silbo.streaming.kafka import kafka_job
from silbo.streaming.kafka.client import KafkaWriter, create_topics, located, named, producer, values
from silbo.streaming.kafka.hearing import Heard
from silbo.streaming.kafka.kafka_session import connect, end_subscriber
from silbo.streaming.kafka.ticking import Ticking
from silbo.streaming.local.kafka_server import Kafka
from silbo.streaming.spark.job import Options
from silbo.streaming.topics import CONTEXTS, NOTIFICATIONS, SUBSCRIPTIONS
from silbo.testing.links import FakeKafka
from silbo.wire.records import (
    ContextRecord,
    NotificationRecord,
    SubscriptionRecord,
    UnsubscriptionRecord,
    decode,
    encode,
)

SECONDS = 120  # the longest time that a notification may take on a busy machine


def test_live_sessions_in_strict_order_get_their_notifications_by_ticks(spark, kafka, topics, tmp_path):
    """Most partitions stay silent. The URLs of the sessions contain the prefix of the topics."""
    url = f"kafka://{kafka.address}/{topics}"
    query = kafka_job.start(spark, kafka.address, Options(tmp_path / "checkpoint", lateness=5.0), topics)
    try:
        with (
            Ticking(kafka.address, 0.5, topics),
            silbo.connect(url, "car") as car,
            silbo.connect(url, "camera") as camera,
        ):
            car.set_context(x=1.0)
            alerts = car.subscribe("true", context="pub.x = this.x")
            camera.advertise("true")
            camera.publish({"n": 1}, context={"x": 1.0})
            car.set_context(x=2.0)
            camera.publish({"n": 2}, context={"x": 1.0})
            camera.publish({"n": 3}, context={"x": 2.0})
            assert [alerts.get(timeout=SECONDS)["n"] for _ in range(2)] == [1, 3]
    finally:
        query.stop()


def test_a_url_contains_the_prefix_of_the_topics():
    assert located("kafka://localhost:9092/city") == ("localhost:9092", "city")
    assert located("localhost:9092") == located("localhost:9092/") == ("localhost:9092", "silbo")
    for wrong in ("a/b", "it's", " ", "x" * 201):
        with pytest.raises(silbo.InvalidValue, match="characters besides"):
            silbo.connect(f"kafka://localhost:1/{wrong}")


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["--log", "city", "--lateness", "2"], "live traffic over Kafka"),
        (["--kafka", "localhost:1", "--order", "arrival", "--lateness", "2"], "live traffic over Kafka"),
        (["--kafka", "localhost:1"], "Give --lateness too"),
    ],
)
def test_useless_or_harmful_ticks_are_refused(tmp_path, arguments, reason):
    command = [sys.executable, "-m", "silbo", "stream", "--checkpoint", str(tmp_path), "--tick", "1", *arguments]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 2
    assert reason in done.stderr


# reading notifications, which the tests write to the topic themselves


def notified(session, time, sequence, id="s", publisher="p"):
    return NotificationRecord(
        time, publisher, "camera", sequence, session.uuid, session.name, id, {"n": sequence}, {}, None
    )


def notify(kafka, prefix, session, *records):
    sender = producer(kafka.address)
    for record in records:
        sender.send(named(NOTIFICATIONS, prefix), encode(record), session.uuid.encode(), partition=0).get(timeout=30)
    sender.close()


def records_of(kafka, prefix, role):
    return list(map(decode, values(kafka.address, role, prefix)))


def test_a_subscription_gets_no_notifications_of_an_older_one_with_the_same_id(kafka, topics):
    with connect(kafka.address, "car", topics) as car:
        car.subscribe("true", id="s").close()
        again = car.subscribe("true", id="s")
        first, _, second = records_of(kafka, topics, SUBSCRIPTIONS)
        notify(kafka, topics, car, notified(car, first.time + 1, 7), notified(car, second.time, 8))
        assert again.get(timeout=SECONDS)["n"] == 8


def test_a_new_id_gets_notifications_from_a_publisher_whose_clock_is_slow(kafka, topics):
    with connect(kafka.address, "car", topics) as car:
        alerts = car.subscribe("true", id="s")
        notify(kafka, topics, car, notified(car, 5, 1), notified(car, 5, 1), notified(car, 6, 2))
        assert [alerts.get(timeout=SECONDS)["n"] for _ in range(2)] == [1, 2]


def test_two_sessions_of_one_connection_both_get_their_notifications(kafka, topics):
    with connect(kafka.address, "car", topics) as car, car.broker.connect("truck") as truck:
        alerts = {session: session.subscribe("true", id="s") for session in (car, truck)}
        for session in alerts:
            notify(kafka, topics, session, notified(session, 5, 1))
        assert [each.get(timeout=SECONDS).subscriber for each in alerts.values()] == ["car", "truck"]


def test_the_bookkeeping_of_a_subscription_ends_with_it(kafka, topics):
    with connect(kafka.address, "car", topics) as car:
        for _ in range(3):
            with car.subscribe("true", id="s") as alerts:
                (*_, last) = records_of(kafka, topics, SUBSCRIPTIONS)
                notify(kafka, topics, car, notified(car, last.time, 1))
                alerts.get(timeout=SECONDS)
                assert list(car.broker.hearing.heard) == [(car.uuid, "s")]
            assert not car.broker.hearing.heard
        assert list(car.broker.hearing.used) == [(car.uuid, "s")]


def test_repeats_are_detected_for_the_most_recent_publishers(monkeypatch):
    monkeypatch.setattr("silbo.streaming.kafka.hearing.PUBLISHERS", 2)
    heard = Heard(None)

    def is_new(publisher, sequence):
        return heard.is_new(NotificationRecord(0, publisher, "p", sequence, "u", "car", "s", {}, {}, None))

    assert [is_new("a", 1), is_new("b", 1), is_new("a", 2), is_new("c", 1)] == [True] * 4
    assert [is_new("a", 2), is_new("c", 1)] == [False] * 2
    assert is_new("b", 1)  # forgotten, since the other two published later
    assert len(heard) == 2


def test_the_policies_of_full_queues_apply_over_kafka(kafka, topics):
    with connect(kafka.address, "car", topics) as car:
        kept = car.subscribe("true", id="kept", queue=1, slow="block", block_timeout=SECONDS)
        lost = car.subscribe("true", id="lost", queue=1, slow="drop_oldest")
        ended = car.subscribe("true", id="ended", queue=1)
        waited = car.subscribe("true", id="waited", queue=1, slow="block", block_timeout=0.01)
        for id in ("lost", "ended", "waited", "kept"):
            notify(kafka, topics, car, *(notified(car, i, i, id) for i in (1, 2, 3)))
        assert [kept.get(timeout=SECONDS)["n"] for _ in range(3)] == [1, 2, 3]
        assert [lost.get(timeout=SECONDS)["n"], lost.dropped] == [3, 2]
        for each in (ended, waited):
            assert each.get(timeout=SECONDS)["n"] == 1
            with pytest.raises(silbo.SlowSubscriber):
                each.get(timeout=SECONDS)
    records = records_of(kafka, topics, SUBSCRIPTIONS)
    assert [each.id for each in records if isinstance(each, UnsubscriptionRecord)][:2] == ["ended", "waited"]


def test_an_address_without_a_kafka_is_reported(monkeypatch):
    monkeypatch.setattr("silbo.streaming.kafka.client.ANSWER", 0.5)
    with pytest.raises(silbo.errors.NotReachable, match=r"no Kafka answers at 127\.0\.0\.1:1"):
        connect("127.0.0.1:1")


# sending


def test_many_publications_are_all_accepted_before_any_is_sent():
    kafka = FakeKafka()
    with kafka.connection().connect("camera") as camera:
        camera.advertise("a > 0")
        with pytest.raises(silbo.NotAdvertised):
            camera.publish_many([{"a": 1}, {"a": 2}, {"a": -1}])
        assert not kafka.sent
        flushes = kafka.flushes
        camera.publish_many([{"a": 1}, {"a": 2}])
        assert [each.sequence for each in kafka.sent] == [1, 2]
        assert kafka.flushes == flushes + 1  # one wait for Kafka's acknowledgement


@pytest.mark.parametrize("kind", [UnsubscriptionRecord, ContextRecord])
def test_a_close_that_failed_is_finished_by_the_next_close(kind):
    kafka = FakeKafka()
    car = kafka.connection().connect("car")
    car.set_context(x=1.0)
    first = car.subscribe("true", id="a")
    car.subscribe("true", id="b")
    kafka.fails_at = (kind,)
    with pytest.raises(silbo.NotAcknowledged):
        car.close()
    assert not car.closed
    kafka.fails_at = ()
    car.close()
    assert car.closed
    assert first.closed
    assert {each.id for each in kafka.sent if isinstance(each, UnsubscriptionRecord)} == {"a", "b"}
    assert kafka.sent[-1].values == {}


def test_a_context_that_was_sent_before_a_failed_subscribe_is_removed_at_close():
    kafka = FakeKafka()
    with kafka.connection().connect("car") as car:
        car.set_context(x=1.0)
        kafka.fails_at = (SubscriptionRecord,)
        with pytest.raises(silbo.NotAcknowledged):
            car.subscribe("true")
        assert [each.values for each in kafka.sent] == [{"x": 1.0}]
        kafka.fails_at = ()
    assert [each.values for each in kafka.sent] == [{"x": 1.0}, {}]


# Kafka is unavailable, or the program has ended


def test_while_kafka_is_unavailable_queues_can_be_read_and_a_later_close_succeeds():
    with Kafka() as kafka:
        create_topics(kafka.address, 1)
        car = connect(kafka.address, "car", acknowledged=3.0)
        car.advertise("true")
        car.set_context(x=1.0)
        alerts = car.subscribe("true", id="s")
        car.subscribe("true", id="t")
        notify(kafka, "silbo", car, notified(car, 1, 1))
        assert alerts.get(timeout=SECONDS)["n"] == 1
        kafka.stop()
        refused = []

        def publish():
            try:
                car.publish({})
            except silbo.NotAcknowledged as error:
                refused.append(error)

        verb = threading.Thread(target=publish)
        verb.start()
        assert alerts.poll() is None
        with pytest.raises(TimeoutError):
            alerts.get(timeout=0.2)
        assert verb.is_alive()  # publish still waits for Kafka, and did not block the reads
        verb.join()
        assert len(refused) == 1
        with pytest.raises(silbo.NotAcknowledged):
            car.close()
        assert not car.closed
        kafka.start()
        for _ in range(20):  # until the producer has reconnected
            with contextlib.suppress(silbo.NotAcknowledged):
                car.__exit__()  # closes, or does nothing if it is closed
        assert car.closed
        ended = {
            each.id for each in records_of(kafka, "silbo", SUBSCRIPTIONS) if isinstance(each, UnsubscriptionRecord)
        }
        assert ended == {"s", "t"}
        assert records_of(kafka, "silbo", CONTEXTS)[-1].values == {}


def test_subscriptions_of_a_program_that_died_can_be_ended(kafka, topics):
    writer = KafkaWriter(kafka.address, topics)
    fold = sending(writer.send)
    fold.apply([SetContext("gone", {"x": 1.0}), *(Subscribe("gone", id, "true") for id in ("a", "b", "c"))])
    fold.apply([Unsubscribe("gone", "b"), Subscribe("other", "s", "true")])
    writer.close()
    uuid = fold.clients["gone"].uuid
    assert end_subscriber(kafka.address, uuid, topics) == 2
    assert end_subscriber(kafka.address, uuid, topics) == 0
    ended = [each for each in records_of(kafka, topics, SUBSCRIPTIONS) if isinstance(each, UnsubscriptionRecord)]
    assert sorted((each.subscriber, each.id) for each in ended) == [(uuid, id) for id in ("a", "b", "c")]
    assert not any(each.values for each in records_of(kafka, topics, CONTEXTS)[-1:])
