"""Sessions for asyncio."""

import asyncio
import subprocess
import sys
import threading

import pytest

import silbo
from silbo import errors
from silbo.session.session import Session
from silbo.testing.links import FakeKafka

SOON = 5  # seconds


def run(work):
    return asyncio.run(asyncio.wait_for(work, 60))


async def pair(broker, **options):
    """A subscription to everything, and a session that may publish."""
    subscriber = await silbo.aio.connect(broker, "s")
    publisher = await silbo.aio.connect(broker, "p")
    await publisher.advertise("true")
    return await subscriber.subscribe("true", **options), publisher


def test_a_session_publishes_and_receives():
    async def work():
        async with silbo.aio.connect("memory://aio", "car") as car:
            await car.set_context(x=12)
            async with await car.subscribe('msg = "accident"', context="abs(pub.x - this.x) <= 20") as alerts:
                await car.advertise("true", offers=["x"])
                receipt = await car.publish({"msg": "accident"})
                assert receipt.sequence == 1
                assert (await alerts.get(timeout=SOON)).context == {"x": 12}
        assert car.closed
        assert alerts.closed

    run(work())


def test_get_waits_and_gives_up_after_its_timeout():
    async def work():
        every, publisher = await pair(silbo.Broker())
        with pytest.raises(TimeoutError, match=r"no notification for s/s1 within 0\.01 s"):
            await every.get(timeout=0.01)
        waiting = asyncio.create_task(every.get(timeout=SOON))
        await publisher.publish({"n": 1})
        return (await waiting)["n"]

    assert run(work()) == 1


def test_one_waiters_timeout_leaves_the_other_waiting():
    async def work():
        every, publisher = await pair(silbo.Broker())
        patient = asyncio.create_task(every.get(timeout=SOON))
        with pytest.raises(TimeoutError):
            await every.get(timeout=0.01)
        assert not patient.done()
        await publisher.publish({"n": 1})
        return (await patient)["n"]

    assert run(work()) == 1


def test_a_cancelled_get_ends_and_takes_no_notification():
    async def work():
        every, publisher = await pair(silbo.Broker())
        waiting = asyncio.create_task(every.get(timeout=SOON))
        await asyncio.sleep(0)  # now `get` waits
        await publisher.publish({"n": 1})
        waiting.cancel()  # after the notification has woken it
        with pytest.raises(asyncio.CancelledError):
            await waiting
        return (await every.get(timeout=SOON))["n"]

    assert run(work()) == 1


def test_a_notification_from_another_thread_wakes_the_loop():
    broker = silbo.Broker()
    publisher = broker.connect("p")
    publisher.advertise("true")

    async def work():
        every, _ = await pair(broker)
        thread = threading.Thread(target=lambda: publisher.publish({"n": 7}))
        waiting = asyncio.create_task(every.get(timeout=SOON))
        thread.start()
        number = (await waiting)["n"]
        thread.join()
        return number

    assert run(work()) == 7


def test_iteration_ends_on_close():
    async def work():
        every, publisher = await pair(silbo.Broker())
        reading = asyncio.create_task(collect(every))
        for number in range(5):
            await publisher.publish({"n": number})
        await every.close()
        return await reading

    assert run(work()) == [0, 1, 2, 3, 4]


async def collect(subscription):
    return [each["n"] async for each in subscription]


def test_publishing_to_a_full_queue_does_not_stop_the_loop():
    async def work():
        every, publisher = await pair(silbo.Broker(), queue=1, slow="block", block_timeout=SOON)
        publishing = [asyncio.create_task(publisher.publish({"n": n})) for n in range(10)]
        got = [(await every.get(timeout=SOON))["n"] for _ in range(10)]
        await asyncio.gather(*publishing)
        return got

    assert run(work()) == list(range(10))


def test_an_async_subscription_can_be_explained():
    async def work():
        broker = silbo.Broker()
        every, publisher = await pair(broker)
        return broker.explain(await publisher.publish({"n": 1}), every).gets

    assert run(work()) is True


def test_refusals_are_the_same():
    async def work():
        session = await silbo.aio.connect("memory://aio", "x")
        with pytest.raises(errors.NotAdvertised):
            await session.publish({"a": 1})
        await session.close()
        with pytest.raises(errors.Closed):
            await session.set_context(x=1)

    run(work())


def test_a_busy_loop_is_woken_once():
    async def work():
        every, publisher = await pair(silbo.Broker(), queue=10, slow="drop_oldest")
        session = Session(publisher._verbs)
        before = len(asyncio.get_running_loop()._ready)
        for n in range(1_000):
            session.publish({"n": n})
        return len(asyncio.get_running_loop()._ready) - before, len(every.drain())

    assert run(work()) == (1, 10)


def test_a_subscriber_whose_loop_is_closed_does_not_disturb_a_publisher():
    broker = silbo.Broker()
    run(pair(broker))
    publisher = broker.connect("late")
    publisher.advertise("true")
    other = broker.connect("o").subscribe("true")
    assert publisher.publish({"n": 1}).sequence == 1
    assert len(other) == 1


def test_a_session_belongs_to_its_loop():
    every, publisher = run(pair(silbo.Broker()))
    for verb in (lambda: publisher.publish({"n": 1}), lambda: every.get(timeout=1), lambda: publisher.set_context(x=1)):
        with pytest.raises(errors.Refused, match="another event loop"):
            run(verb())


def test_waiting_publishers_do_not_delay_a_publisher_that_needs_no_room():
    async def work():
        broker = silbo.Broker()
        every, _ = await pair(broker, queue=1, slow="block", block_timeout=SOON)
        waiting = [await silbo.aio.connect(broker, f"w{n}") for n in range(40)]
        for session in waiting:
            await session.advertise("true")
        tasks = [asyncio.create_task(session.publish({"n": n})) for n, session in enumerate(waiting)]
        free = await silbo.aio.connect(broker, "free")
        await free.advertise("true")
        await free.publish({"m": 1}, scope="false")
        got = [(await every.get(timeout=SOON))["n"] for _ in range(40)]
        await asyncio.gather(*tasks)
        return got

    assert run(work()) == list(range(40))


def test_a_subscription_can_be_used_with_async_with():
    async def main():
        async with silbo.aio.connect("memory://", "car") as car:
            await car.advertise("true")
            async with car.subscribe("true") as alerts:
                await car.publish({"a": 1})
                await car.publish({"a": 2})
                assert len(alerts) == 2
                assert [(await alerts.get(timeout=1))["a"] for _ in range(2)] == [1, 2]
            with pytest.raises(errors.Closed):
                await alerts.get(timeout=1)

    asyncio.run(main())


def test_a_callback_in_asyncio_is_refused_with_advice():
    async def main():
        async with silbo.aio.connect("memory://", "car") as car:
            with pytest.raises(errors.InvalidValue, match="start a task that iterates"):
                await car.subscribe("true", deliver=print)

    asyncio.run(main())


TICKER = """
import asyncio, time
import silbo

async def main():
    gaps, last = [], time.perf_counter()

    async def tick():
        nonlocal last
        while True:
            await asyncio.sleep(0.01)
            now = time.perf_counter()
            gaps.append(now - last)
            last = now

    ticker = asyncio.create_task(tick())
    await asyncio.sleep(0.05)
    begin = time.perf_counter()
    async with silbo.aio.connect("memory://", "car") as car, car.subscribe("true", context="pub.x = this.x"):
        took = time.perf_counter() - begin
        ticker.cancel()
    print(max(gaps), took, len(gaps))

asyncio.run(main())
"""


def test_the_loop_keeps_running_while_the_first_subscription_loads_the_kernels():
    done = subprocess.run([sys.executable, "-c", TICKER], capture_output=True, text=True, check=True)
    largest, took, ticks = map(float, done.stdout.split())
    print(f"largest gap {largest:.3f} s")  # below 0.25 s on a quiet machine; a busy one may stop any process for longer
    assert ticks > took / 0.25  # a blocked loop would tick once in the whole time
    assert largest < max(0.25, took / 2)


def test_verbs_that_wait_for_another_machine_do_not_block_the_loop():
    kafka = FakeKafka()

    async def drive():
        session = await silbo.aio.connect(kafka.connection(), "car")
        verbs = [
            lambda: session.subscribe("true", id="s"),
            lambda: session.set_context(x=1),
            lambda: session.advertise("true"),
            lambda: session.publish({"a": 1}),
            lambda: session.publish_many([{"a": 1}]),
            lambda: session.unsubscribe("s"),
            session.close,
        ]
        for verb in verbs:
            kafka.may_go_on.clear()
            asyncio.get_running_loop().call_later(0, kafka.may_go_on.set)  # never runs if the verb blocks the loop
            await verb()

    asyncio.run(drive())
