"""One suite of verbs over every link: the embedded broker, Kafka in memory, and links that acknowledge late."""

import asyncio
import threading

import pytest

import silbo
from silbo import errors
from silbo.streaming.kafka.worker import CLOSING
from silbo.testing.links import FakeKafka, LateBroker, brokers
from silbo.wire.records import ContextRecord, UnsubscriptionRecord

SOON = 20  # seconds


@pytest.fixture(params=["embedded", "kafka", "late", "out of step"])
def broker(request):
    with brokers(request.param) as broker:
        yield broker


def test_a_message_arrives_with_what_its_subscription_asked_for(broker):
    car, camera = broker.connect("car"), broker.connect("camera")
    car.set_context(x=1.0)
    alerts = car.subscribe("a > 0", context="pub.x = this.x", include=["y"])
    camera.set_context(x=1.0, y=2.0, z=3.0)
    camera.advertise("a > 0", offers=["x", "y"])
    assert camera.publish({"a": 1}, payload=b"p").wait().sequence == 1
    alert = alerts.get(timeout=SOON)
    assert (alert["a"], dict(alert.context), alert.payload) == (1, {"x": 1.0, "y": 2.0}, b"p")
    assert (alert.publisher, alert.subscriber, alert.subscription) == ("camera", "car", "s1")


def test_messages_of_a_publisher_arrive_in_their_order(broker):
    every, camera = broker.connect("car").subscribe("true"), broker.connect("camera")
    camera.advertise("true")
    camera.publish({"n": 1})
    camera.publish_many([{"n": 2}, {"n": 3}])
    assert [every.get(timeout=SOON)["n"] for _ in range(3)] == [1, 2, 3]


def test_a_context_change_counts_for_the_next_message(broker):
    car, camera = broker.connect("car"), broker.connect("camera")
    alerts = car.subscribe("true", context="pub.x = this.x")
    camera.advertise("true")
    for x in (1.0, 2.0):
        car.set_context(x=x)
        camera.publish({"n": x}, context={"x": x})
        camera.publish({"n": 0}, context={"x": 7.0})
    assert [alerts.get(timeout=SOON)["n"] for _ in range(2)] == [1.0, 2.0]
    assert car.context == {"x": 2.0}


def test_a_refused_verb_changes_nothing(broker):
    session = broker.connect("s")
    with pytest.raises(errors.NotAdvertised):
        session.publish({"a": 1})
    session.advertise("a = 1", id="a")
    with pytest.raises(errors.DuplicateId):
        session.advertise("true", id="a")
    with pytest.raises(errors.NotAdvertised, match=r"^rows\[1\]: "):
        session.publish_many([{"a": 1}, {"a": 2}])
    assert session.publish({"a": 1}).sequence == 1
    session.subscribe("true", id="s")
    with pytest.raises(errors.DuplicateId):
        session.subscribe("true", id="s")
    with pytest.raises(errors.UnknownId):
        session.unsubscribe("t")
    assert [each.id for each in session.subscriptions] == ["s"]


def test_an_id_can_be_used_again_after_its_end(broker):
    session = broker.connect("s")
    for _ in range(2):
        session.subscribe("true", id="s").close()
        session.advertise("true", id="a").close()
    assert (session.subscriptions, session.advertisements) == ((), ())


def test_a_closed_session_refuses_verbs_and_closes_again_in_peace(broker):
    session = broker.connect("s")
    every = session.subscribe("true")
    session.close()
    session.close()
    assert session.closed
    assert every.closed
    for verb in (lambda: session.set_context(x=1), lambda: session.subscribe("true"), session.flush):
        with pytest.raises(errors.Closed):
            verb()


def test_callbacks_are_called_in_order(broker):
    got, full = [], threading.Event()

    def deliver(notification):
        got.append(notification["n"])
        if len(got) == 3:
            full.set()

    session = broker.connect("s")
    session.subscribe("true", deliver=deliver)
    session.advertise("true")
    session.publish_many([{"n": n} for n in range(3)])
    assert full.wait(SOON)
    assert got == [0, 1, 2]


def test_asyncio_has_the_same_verbs(broker):
    async def work():
        async with silbo.aio.connect(broker, "car") as car:
            await car.set_context(x=1.0)
            await car.advertise("true")
            async with car.subscribe("true", context="this.x = 1") as every:
                await car.publish({"n": 1})
                await car.publish_many([{"n": 2}])
                return [(await every.get(timeout=SOON))["n"] for _ in range(2)]

    assert asyncio.run(work()) == [1, 2]


def test_what_hangs_on_the_broker_has_an_answer(broker):
    session = broker.connect("s")
    every = session.subscribe("true")
    session.advertise("true")
    receipt = session.publish({"a": 1})
    with session.broker.connect("t") as other:
        assert {each.name for each in session.broker.sessions} >= {"t"}
        session.broker.set_contexts([other], {"x": [1.0]})
        assert other.context == {"x": 1.0}
    assert "⟨s; true; ∅; ∅⟩" in session.broker.tables()
    session.publish_many([{"a": 2}])
    stats = session.broker.stats()
    assert (stats["subscriptions"], stats["published"]) == (1, 2)
    assert not session.broker.closed
    try:
        assert str(session.broker.explain(receipt, every)).startswith("s/s1 ")
    except errors.Refused as error:
        assert "silbo explain" in str(error)  # noqa: PT017  # Kafka's answer names the command


# never, and late


def test_a_verb_that_is_never_acknowledged_says_so():
    late = LateBroker(silbo.Broker(index="plain"), "never", patience=0.05)
    session = late.connect("s")
    for verb in (lambda: session.set_context(x=1.0), lambda: session.subscribe("true"), session.close):
        with pytest.raises(errors.NotAcknowledged, match=r"within 0\.05 s"):
            verb()
    assert not session.closed
    assert session.subscriptions == ()
    late.close()


def test_a_verb_that_is_never_acknowledged_says_so_in_asyncio():
    late = LateBroker(silbo.Broker(index="plain"), "never", patience=0.05)

    async def work():
        session = await silbo.aio.connect(late, "s")
        with pytest.raises(errors.NotAcknowledged, match=r"within 0\.05 s"):
            await session.set_context(x=1.0)

    asyncio.run(work())
    late.close()


def test_verbs_of_several_threads_wait_for_their_own_acknowledgements():
    with brokers("out of step") as broker:
        session = broker.connect("s")
        threads = [threading.Thread(target=session.subscribe, args=("true",), kwargs={"id": f"i{n}"}) for n in range(9)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(SOON)
        assert sorted(each.id for each in session.subscriptions) == [f"i{n}" for n in range(9)]


def test_a_close_waits_briefly_for_a_kafka_that_did_not_answer_before():
    kafka = FakeKafka()
    session = kafka.connection().connect("s")
    session.subscribe("true")
    kafka.fails_at = (ContextRecord, UnsubscriptionRecord)
    with pytest.raises(errors.NotAcknowledged):
        session.set_context(x=1.0)
    with pytest.raises(errors.NotAcknowledged):
        session.close()
    assert kafka.patience == [None, None, CLOSING]
    kafka.fails_at = ()
    session.close()
    assert session.closed


def test_the_loop_goes_on_while_a_verb_waits_for_kafka():
    kafka = FakeKafka()
    gaps = []

    async def tick():
        loop = asyncio.get_running_loop()
        last = loop.time()
        while True:
            await asyncio.sleep(0.01)
            now = loop.time()
            gaps.append(now - last)
            last = now

    async def work():
        session = await silbo.aio.connect(kafka.connection(), "s")
        ticker = asyncio.create_task(tick())
        kafka.may_go_on.clear()
        asyncio.get_running_loop().call_later(0.5, kafka.may_go_on.set)
        await session.subscribe("true")
        ticker.cancel()
        await session.close()

    asyncio.run(work())
    print(f"largest gap {max(gaps):.3f} s")
    assert len(gaps) > 2
    assert max(gaps) < 0.25
