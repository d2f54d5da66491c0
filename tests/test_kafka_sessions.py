"""Live sessions over real Kafka: ticks for strict order, prefixes, and what happens when Kafka is away."""

import contextlib
import subprocess
import sys
import threading

import pytest

import silbo
from silbo.streaming import kafka_job
from silbo.streaming.job import Options
from silbo.streaming.kafka import KafkaWriter, create_topics, located, named, producer, values
from silbo.streaming.kafka_server import Kafka
from silbo.streaming.kafka_session import _Heard, connect, end_subscriber
from silbo.streaming.records import ContextIs, Notified, Subscribed, Unsubscribed, decode, encode
from silbo.streaming.sending import Sender
from silbo.streaming.ticking import Ticking
from silbo.streaming.topics import CONTEXTS, NOTIFICATIONS, SUBSCRIPTIONS

pytestmark = pytest.mark.spark
SECONDS = 120  # that a notification may take on a busy machine


def test_live_sessions_in_strict_order_get_their_notifications_by_ticks(spark, kafka, topics, tmp_path):
    """Most partitions are silent for ever; the sessions' URLs name the topics' prefix."""
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


def test_a_url_names_the_prefix_of_topics():
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
        (["--kafka", "localhost:1"], "Give a --lateness"),
    ],
)
def test_ticks_that_would_do_nothing_or_harm_are_refused(tmp_path, arguments, reason):
    command = [sys.executable, "-m", "silbo", "stream", "--checkpoint", str(tmp_path), "--tick", "1", *arguments]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 2
    assert reason in done.stderr


# what came to a subscription, by notifications that no job has made


def notified(session, time, sequence, id="s", publisher="p"):
    return Notified(time, publisher, "camera", sequence, session.uuid, session.name, id, {"n": sequence}, {}, None)


def notify(kafka, prefix, session, *records):
    sender = producer(kafka.address)
    for record in records:
        sender.send(named(NOTIFICATIONS, prefix), encode(record), session.uuid.encode(), partition=0).get(timeout=30)
    sender.close()


def records_of(kafka, prefix, role):
    return list(map(decode, values(kafka.address, role, prefix)))


def test_a_subscription_gets_nothing_that_was_meant_for_an_older_one_of_the_same_id(kafka, topics):
    with connect(kafka.address, "car", topics) as car:
        car.subscribe("true", id="s").close()
        again = car.subscribe("true", id="s")
        first, _, second = records_of(kafka, topics, SUBSCRIPTIONS)
        notify(kafka, topics, car, notified(car, first.time + 1, 7), notified(car, second.time, 8))
        assert again.get(timeout=SECONDS)["n"] == 8


def test_a_publisher_whose_clock_is_behind_is_heard_by_an_id_that_is_new(kafka, topics):
    with connect(kafka.address, "car", topics) as car:
        alerts = car.subscribe("true", id="s")
        notify(kafka, topics, car, notified(car, 5, 1), notified(car, 5, 1), notified(car, 6, 2))
        assert [alerts.get(timeout=SECONDS)["n"] for _ in range(2)] == [1, 2]


def test_what_is_known_of_a_subscription_goes_with_it(kafka, topics):
    with connect(kafka.address, "car", topics) as car:
        for _ in range(3):
            with car.subscribe("true", id="s") as alerts:
                (*_, last) = records_of(kafka, topics, SUBSCRIPTIONS)
                notify(kafka, topics, car, notified(car, last.time, 1))
                alerts.get(timeout=SECONDS)
                assert list(car.broker._heard) == ["s"]
            assert not car.broker._heard
        assert list(car.broker._used) == ["s"]


def test_repeats_are_known_of_the_publishers_that_spoke_last(monkeypatch):
    monkeypatch.setattr("silbo.streaming.kafka_session.PUBLISHERS", 2)
    heard = _Heard(None)

    def is_new(publisher, sequence):
        return heard.is_new(Notified(0, publisher, "p", sequence, "u", "car", "s", {}, {}, None))

    assert [is_new("a", 1), is_new("b", 1), is_new("a", 2), is_new("c", 1)] == [True] * 4
    assert [is_new("a", 2), is_new("c", 1)] == [False] * 2
    assert is_new("b", 1)  # forgotten: the others spoke later
    assert len(heard._highest) == 2


def test_a_full_queue_does_over_kafka_what_its_policy_says(kafka, topics):
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
    assert [each.id for each in records if isinstance(each, Unsubscribed)][:2] == ["ended", "waited"]


def test_an_address_where_nobody_answers_is_told(monkeypatch):
    monkeypatch.setattr("silbo.streaming.kafka.ANSWER", 0.5)
    with pytest.raises(silbo.InvalidValue, match=r"nobody answers at 127\.0\.0\.1:1"):
        connect("127.0.0.1:1")


# sending


class Sent(list):
    """Takes records, and fails where it is told to."""

    def __init__(self):
        self.fails_at, self.confirmed = (), 0

    def send(self, _topic, _key, record):
        if type(record) in self.fails_at:
            raise silbo.NotAcknowledged("Kafka is away")
        self.append(record)

    def confirm(self):
        self.confirmed += 1

    def broker(self):
        return silbo.Broker(index=Sender(self.send, confirm=self.confirm))


def test_many_publications_are_all_accepted_before_any_is_sent():
    sent = Sent()
    with sent.broker() as broker:
        camera = broker.connect("camera")
        camera.advertise("a > 0")
        with pytest.raises(silbo.NotAdvertised):
            camera.publish_many([{"a": 1}, {"a": 2}, {"a": -1}])
        assert not sent
        camera.publish_many([{"a": 1}, {"a": 2}])
        assert [each.sequence for each in sent] == [1, 2]
        assert sent.confirmed == 1  # Kafka is waited for once


@pytest.mark.parametrize("kind", [Unsubscribed, ContextIs])
def test_a_close_that_could_not_be_sent_is_finished_by_the_next(kind):
    sent = Sent()
    with sent.broker() as broker:
        car = broker.connect("car")
        car.set_context(x=1.0)
        first = car.subscribe("true", id="a")
        car.subscribe("true", id="b")
        sent.fails_at = (kind,)
        with pytest.raises(silbo.NotAcknowledged):
            car.close()
        assert not car.closed
        sent.fails_at = ()
        car.close()
        assert car.closed
        assert first.closed
    assert {each.id for each in sent if isinstance(each, Unsubscribed)} == {"a", "b"}
    assert sent[-1].values == {}


def test_a_context_that_went_out_for_a_subscription_that_did_not_is_taken_back_at_the_end():
    sent = Sent()
    with sent.broker() as broker:
        car = broker.connect("car")
        car.set_context(x=1.0)
        sent.fails_at = (Subscribed,)
        with pytest.raises(silbo.NotAcknowledged):
            car.subscribe("true")
        assert [each.values for each in sent] == [{"x": 1.0}]
        car.close()
    assert [each.values for each in sent] == [{"x": 1.0}, {}]


# Kafka is away, or the session is


def test_while_kafka_is_away_queues_are_read_and_a_close_is_finished_when_it_is_back():
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
        assert verb.is_alive()  # it still waits for Kafka, and nobody waited for it
        verb.join()
        assert len(refused) == 1
        with pytest.raises(silbo.NotAcknowledged):
            car.close()
        assert not car.closed
        kafka.start()
        for _ in range(20):  # until the producer has found it again
            with contextlib.suppress(silbo.NotAcknowledged):
                car.__exit__()  # a close that does nothing once it is done
        assert car.closed
        ended = {each.id for each in records_of(kafka, "silbo", SUBSCRIPTIONS) if isinstance(each, Unsubscribed)}
        assert ended == {"s", "t"}
        assert records_of(kafka, "silbo", CONTEXTS)[-1].values == {}


def test_what_a_program_left_behind_can_be_ended(kafka, topics):
    writer = KafkaWriter(kafka.address, topics)
    sender = Sender(writer.send)
    with silbo.Broker(index=sender) as broker:
        gone, other = broker.connect("gone"), broker.connect("other")
        gone.set_context(x=1.0)
        for id in ("a", "b", "c"):
            gone.subscribe("true", id=id)
        gone.unsubscribe("b")
        other.subscribe("true")
        writer.close()
        assert end_subscriber(kafka.address, gone.uuid, topics) == 2
        assert end_subscriber(kafka.address, gone.uuid, topics) == 0
        ended = [each for each in records_of(kafka, topics, SUBSCRIPTIONS) if isinstance(each, Unsubscribed)]
        assert sorted((each.subscriber, each.id) for each in ended) == [(gone.uuid, id) for id in ("a", "b", "c")]
        assert not any(each.values for each in records_of(kafka, topics, CONTEXTS)[-1:])
        sender._send = lambda *_: None  # the sessions' own end goes nowhere
