"""Queues, slow subscribers, callbacks and threads."""

import logging
import threading
import time

import pytest

import silbo
from silbo import errors

SOON = 5  # seconds: a time-out that only a failing test reaches


@pytest.fixture
def publisher(broker):
    session = broker.connect("publisher")
    session.advertise("true")
    return session


def publish(publisher, *numbers):
    for number in numbers:
        publisher.publish({"n": number})


def numbers(notifications):
    return [each["n"] for each in notifications]


def in_thread(work):
    # a daemon: if a wake-up is missing, the test fails and the thread does not block the end of the run
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    return thread


# reading


def test_get_waits_for_a_notification(broker, publisher):
    every = broker.connect("s").subscribe("true")
    thread = in_thread(lambda: publish(publisher, 7))
    assert every.get(timeout=SOON)["n"] == 7
    thread.join(SOON)


def test_get_gives_up_after_its_timeout(broker):
    every = broker.connect("s").subscribe("true")
    with pytest.raises(TimeoutError, match=r"s/s1 within 0\.01 s"):
        every.get(timeout=0.01)
    with pytest.raises(TimeoutError):
        every.get(timeout=0)


def test_poll_and_drain_answer_at_once(broker, publisher):
    every = broker.connect("s").subscribe("true")
    assert every.poll() is None
    assert every.drain() == []
    publish(publisher, 1, 2, 3)
    assert every.poll()["n"] == 1
    assert numbers(every.drain()) == [2, 3]


def test_iteration_blocks_and_ends_on_close(broker, publisher):
    every = broker.connect("s").subscribe("true")
    got = []
    thread = in_thread(lambda: got.extend(numbers(every)))
    publish(publisher, 1, 2, 3)
    every.close()
    thread.join(SOON)
    assert not thread.is_alive()
    assert got == [1, 2, 3]


def test_iteration_ends_when_the_session_or_the_broker_closes():
    broker = silbo.Broker()
    first, second = broker.connect("a").subscribe("true"), broker.connect("b").subscribe("true")
    threads = [in_thread(lambda each=each: list(each)) for each in (first, second)]
    first._verbs.handle.close()
    threads[0].join(SOON)
    broker.close()
    threads[1].join(SOON)
    assert not any(thread.is_alive() for thread in threads)


def test_queued_notifications_can_be_read_after_close(broker, publisher):
    every = broker.connect("s").subscribe("true")
    publish(publisher, 1, 2)
    every.close()
    publish(publisher, 3)
    assert every.get()["n"] == 1
    assert numbers(every.drain()) == [2]
    with pytest.raises(errors.Closed):
        every.get(timeout=SOON)


def test_a_waiting_get_is_woken_by_the_end(broker):
    session = broker.connect("s")
    every = session.subscribe("true")
    raised = []

    def wait():
        try:
            every.get(timeout=SOON)
        except errors.Closed as error:
            raised.append(error)

    thread = in_thread(wait)
    session.close()
    thread.join(SOON)
    assert len(raised) == 1


# slow subscribers


def test_disconnect_ends_the_subscription_after_the_queued_notifications_are_read(broker, publisher, caplog):
    session = broker.connect("s")
    slow = session.subscribe("true", queue=3, id="slow")
    other = session.subscribe("true")
    publish(publisher, 1, 2, 3, 4, 5)
    assert slow.closed
    assert [slow.get()["n"], slow.poll()["n"], slow.drain()[0]["n"]] == [1, 2, 3]
    for read in (slow.get, slow.poll, slow.drain, lambda: next(slow)):
        with pytest.raises(errors.SlowSubscriber, match="3 notifications were waiting"):
            read()
    assert numbers(other.drain()) == [1, 2, 3, 4, 5]
    assert broker.stats()["slow"] == 1
    assert "its queue of 3 was full" in caplog.text
    assert session.subscribe("true", id="slow").id == "slow"


def test_drop_oldest_keeps_the_newest_and_counts_the_dropped(broker, publisher):
    slow = broker.connect("s").subscribe("true", queue=2, slow="drop_oldest")
    publish(publisher, 1, 2, 3, 4, 5)
    assert numbers(slow.drain()) == [4, 5]
    assert slow.dropped == broker.stats()["dropped"] == 3
    assert not slow.closed


def test_block_makes_the_publisher_wait_for_room(broker, publisher):
    slow = broker.connect("s").subscribe("true", queue=1, slow="block", block_timeout=SOON)
    publish(publisher, 1)
    thread = in_thread(lambda: publish(publisher, 2, 3))
    assert [slow.get(timeout=SOON)["n"] for _ in range(3)] == [1, 2, 3]
    thread.join(SOON)
    assert not thread.is_alive()
    assert slow.dropped == 0


def test_block_ends_the_subscription_after_its_timeout(broker, publisher):
    slow = broker.connect("s").subscribe("true", queue=1, slow="block", block_timeout=0.05)
    publish(publisher, 1)
    begin = time.monotonic()
    publish(publisher, 2)
    assert time.monotonic() - begin < SOON
    assert slow.get()["n"] == 1
    with pytest.raises(errors.SlowSubscriber):
        slow.get()
    publish(publisher, 3)  # the subscription has ended, so this returns at once


def test_other_publishers_continue_while_one_waits(broker, publisher):
    slow = broker.connect("s").subscribe("n < 100", queue=1, slow="block", block_timeout=SOON)
    other = broker.connect("o").subscribe("true")
    publish(publisher, 1)
    thread = in_thread(lambda: publish(publisher, 2))
    assert numbers([other.get(timeout=SOON), other.get(timeout=SOON)]) == [1, 2]
    second = broker.connect("second")
    second.advertise("true")
    publish(second, 100)  # while the first one waits for room
    assert other.get(timeout=SOON)["n"] == 100
    assert numbers([slow.get(timeout=SOON), slow.get(timeout=SOON)]) == [1, 2]
    thread.join(SOON)


def test_a_publisher_that_waits_keeps_its_order(broker, publisher):
    slow = broker.connect("s").subscribe("true", queue=1, slow="block", block_timeout=SOON)
    threads = [in_thread(lambda: publisher.publish_many([{"n": n} for n in range(20)])) for _ in range(4)]
    got = [slow.get(timeout=SOON).sequence for _ in range(80)]
    for thread in threads:
        thread.join(SOON)
    assert got == list(range(1, 81))


def test_closing_a_full_subscription_frees_the_publisher(broker, publisher):
    slow = broker.connect("s").subscribe("true", queue=1, slow="block", block_timeout=60)
    publish(publisher, 1)
    thread = in_thread(lambda: publish(publisher, 2))
    while publisher._verbs.link.client.sequence < 2:
        thread.join(0.001)
    slow.close()
    thread.join(SOON)
    assert not thread.is_alive()


# callbacks


def called(count):
    """A list of notifications, an event that is set after `count` of them, and a callback that fills the list."""
    got, full = [], threading.Event()

    def deliver(notification):
        got.append(notification)
        if len(got) >= count:
            full.set()

    return got, full, deliver


def test_a_callback_gets_every_notification_in_order(broker, publisher):
    got, full, deliver = called(100)
    broker.connect("s").subscribe("true", deliver=deliver)
    publish(publisher, *range(100))
    assert full.wait(SOON)
    assert numbers(got) == list(range(100))


def test_with_a_callback_reading_is_an_error(broker):
    every = broker.connect("s").subscribe("true", deliver=print)
    for read in (every.get, every.poll, every.drain, lambda: iter(every), lambda: next(every)):
        with pytest.raises(errors.Refused, match="delivers to a callback"):
            read()


def test_a_callback_may_call_any_verb(broker, publisher):
    session = broker.connect("s")
    session.advertise("echo > 0")
    done = threading.Event()

    def deliver(notification):
        session.set_context(last=notification["n"])
        extra = session.subscribe("true")
        session.publish({"echo": 1, "n": -1})
        assert extra.get(timeout=SOON)["n"] == -1
        session.unsubscribe(extra)
        session.close()
        done.set()

    session.subscribe("n >= 0", deliver=deliver)
    publish(publisher, 1)
    assert done.wait(SOON)
    assert session.closed


def test_callbacks_of_a_session_run_one_at_a_time_and_outside_any_lock(broker, publisher):
    running, most, seen = 0, 0, []
    full = threading.Event()

    def deliver(notification):
        nonlocal running, most
        running += 1
        most = max(most, running)
        # another thread can take the broker's lock, so this callback does not hold it
        free = in_thread(broker.stats)
        free.join(SOON)
        seen.append((notification.subscription, free.is_alive()))
        running -= 1
        if len(seen) == 20:
            full.set()

    session = broker.connect("s")
    session.subscribe("true", deliver=deliver, id="a")
    session.subscribe("true", deliver=deliver, id="b")
    publish(publisher, *range(10))
    assert full.wait(SOON)
    assert most == 1
    assert not any(blocked for _, blocked in seen)
    assert sorted(id for id, _ in seen) == ["a"] * 10 + ["b"] * 10


def test_a_callback_that_raises_disturbs_nothing_else_and_is_reported(broker, publisher, caplog):
    _, full, deliver = called(2)

    def raising(notification):
        deliver(notification)
        raise RuntimeError(f"no good {notification['n']}")

    broker.connect("s").subscribe("true", deliver=raising)
    other = broker.connect("o").subscribe("true")
    publish(publisher, 1, 2)
    assert full.wait(SOON)
    assert numbers(other.drain()) == [1, 2]
    broker.close()
    assert "no good 1" in caplog.text
    assert "the callback of s/s1 raised" in caplog.text
    assert broker.stats()["callback_errors"] == 2


def test_close_waits_for_the_callbacks_that_are_due(broker, publisher):
    got = []
    session = broker.connect("s")
    session.subscribe("true", deliver=got.append)
    publish(publisher, *range(1_000))
    session.close()
    assert numbers(got) == list(range(1_000))


def test_the_policy_of_the_queue_applies_to_a_slow_callback(broker, publisher):
    got, full, deliver = called(3)
    begun, go_on = threading.Event(), threading.Event()

    def hesitating(notification):
        begun.set()
        go_on.wait(SOON)
        deliver(notification)

    slow = broker.connect("s").subscribe("true", deliver=hesitating, queue=2, slow="drop_oldest")
    publish(publisher, 1)
    assert begun.wait(SOON)
    publish(publisher, 2, 3, 4, 5)
    go_on.set()
    assert full.wait(SOON)
    assert numbers(got) == [1, 4, 5]
    assert slow.dropped == 2


@pytest.mark.parametrize("error", [SystemExit, KeyboardInterrupt, GeneratorExit])
def test_a_callback_that_raises_an_exit_or_interrupt_is_called_again(broker, publisher, error):
    got, full, deliver = called(2)

    def raising(notification):
        deliver(notification)
        raise error

    broker.connect("s").subscribe("true", deliver=raising)
    publish(publisher, 1, 2)
    assert full.wait(SOON)
    broker.close()
    assert numbers(got) == [1, 2]
    assert broker.stats()["callback_errors"] == 2


def test_a_thread_that_cannot_start_is_tried_again(broker, publisher, monkeypatch, caplog):
    got, full, deliver = called(2)
    broker.connect("s").subscribe("true", deliver=deliver)
    other = broker.connect("o").subscribe("true")
    with monkeypatch.context() as patched:
        patched.setattr(threading.Thread, "start", cannot_start)
        publish(publisher, 1)
    publish(publisher, 2)
    assert full.wait(SOON)
    assert numbers(got) == numbers(other.drain()) == [1, 2]
    assert "cannot start the thread" in caplog.text


def cannot_start(thread):
    raise RuntimeError("can't start new thread")


def test_memory_does_not_grow_while_a_callback_is_stuck(broker, publisher):
    begun, go_on = threading.Event(), threading.Event()

    def stuck(notification):
        begun.set()
        go_on.wait(SOON)

    session = broker.connect("s")
    slow = session.subscribe("true", deliver=stuck, queue=2, slow="drop_oldest")
    publish(publisher, 0)
    assert begun.wait(SOON)
    publish(publisher, *range(1_000))
    assert len(slow) == 2
    assert len(session._verbs._dispatcher._turns) == 3  # the running one, and one for each queued notification
    assert slow.dropped == 998
    go_on.set()


def test_a_callback_may_publish_in_its_session_while_another_thread_waits_for_room(broker):
    session = broker.connect("s")
    session.advertise("true")
    acknowledged = broker.connect("o").subscribe("exists ack")

    def deliver(notification):
        session.publish({"ack": notification["n"]})

    slow = session.subscribe("exists n", deliver=deliver, queue=1, slow="block", block_timeout=SOON)
    thread = in_thread(lambda: publish(session, *range(10)))
    assert [acknowledged.get(timeout=SOON)["ack"] for _ in range(10)] == list(range(10))
    thread.join(SOON)
    assert not slow.closed


def test_a_log_handler_may_call_any_verb(broker, publisher):
    class Publishing(logging.Handler):
        def emit(self, record):
            publisher.publish({"report": record.getMessage()})

    reports = broker.connect("o").subscribe("exists report")
    broker.connect("s").subscribe("n > 0", queue=1)
    handler = Publishing()
    logging.getLogger("silbo").addHandler(handler)
    thread = in_thread(lambda: publish(publisher, 1, 2))
    thread.join(SOON)
    logging.getLogger("silbo").removeHandler(handler)
    assert not thread.is_alive()
    assert reports.get(timeout=SOON)["report"] == "subscription s/s1 ended: its queue of 1 was full"


def test_a_handle_that_ends_inside_a_with_statement_is_closed_without_an_error(broker, publisher):
    with broker.connect("s") as session, session.subscribe("true", queue=1) as slow, publisher:
        publish(publisher, 1, 2)
        assert slow.closed
        broker.close()
    assert session.closed


@pytest.mark.parametrize("timeout", [float("inf"), 1e300, 10**30])
def test_a_timeout_may_be_infinite_or_very_long(broker, publisher, timeout):
    every = broker.connect("s").subscribe("true")
    publish(publisher, 1)
    assert every.get(timeout=timeout)["n"] == 1


@pytest.mark.parametrize("timeout", ["x", float("nan"), True])
def test_a_timeout_is_a_number(broker, timeout):
    every = broker.connect("s").subscribe("true")
    with pytest.raises(errors.InvalidValue, match="timeout"):
        every.get(timeout=timeout)


# threads


def test_every_verb_from_many_threads_leaves_a_consistent_state():
    broker = silbo.Broker()
    faults = []

    def work(name):
        try:
            for i in range(60):
                with broker.connect(name) as session:
                    session.advertise("true")
                    session.set_context(x=i)
                    with session.subscribe("n >= 0", context="exists this.x") as every:
                        session.publish({"n": i})
                        assert i in numbers(every.drain())
        except Exception as error:
            faults.append(error)

    threads = [in_thread(lambda name=f"t{n}": work(name)) for n in range(4)]
    for thread in threads:
        thread.join(60)
    assert not faults
    stats = broker.stats()
    assert stats["sessions"] == stats["subscriptions"] == stats["advertisements"] == stats["contexts"] == 0
    assert stats["published"] == 240
