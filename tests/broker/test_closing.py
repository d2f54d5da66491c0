"""How things end: closing twice, callbacks after a close, callbacks that hang, forked processes, the end of a program."""

import asyncio
import os
import subprocess
import sys
import textwrap
import threading
import time

import pytest

import silbo
from silbo import errors
from silbo.session import dispatch

SOON = 5  # seconds: a time-out that only a failing test reaches


@pytest.fixture
def session(broker):
    session = broker.connect("s")
    session.advertise("true")
    return session


# closing twice


def test_everything_may_be_closed_twice(broker, session):
    things = [session.subscribe("true"), session.advertise("true"), session, broker]
    for thing in things:
        thing.close()
        thing.close()
    for thing in things:
        thing.close()


def test_a_close_in_finally_does_not_hide_the_error(broker, session):
    def program():
        try:
            broker.close()
            raise KeyError("the error")
        finally:
            session.close()

    with pytest.raises(KeyError, match="the error"):
        program()


def test_closing_twice_writes_one_end_to_the_record():
    events = []
    with silbo.Broker(record=events.append, index="plain") as broker:
        session = broker.connect("s")
        subscription = session.subscribe("true")
        for _ in range(2):
            subscription.close()
        for _ in range(2):
            session.close()
    assert [type(event).__name__ for event in events] == ["Subscribe", "Unsubscribe", "Disconnect"]


def test_async_handles_may_be_closed_twice(broker):
    async def program():
        async with silbo.aio.connect(broker, "s") as session, session.subscribe("true") as every:
            for thing in (every, session):
                await thing.close()
                await thing.close()

    asyncio.run(program())


# callbacks after a close


@pytest.mark.parametrize("closed", ["subscription", "session", "broker"])
def test_a_callback_that_closes_its_subscription_is_not_called_again(broker, session, closed, caplog):
    got, is_over = [], threading.Event()

    def once(notification):
        got.append(notification["z"])
        {"subscription": handle, "session": session, "broker": broker}[closed].close()
        is_over.set()

    handle = session.subscribe("exists z", deliver=once)
    session.publish_many([{"z": i} for i in range(5)])
    assert is_over.wait(SOON)
    broker.close()  # waits for callbacks that are still due
    assert got == [0]
    assert caplog.text == ""


def test_a_close_from_outside_lets_due_callbacks_run_and_none_after_it(broker, session):
    got = []
    handle = session.subscribe("true", deliver=got.append)
    session.publish_many([{"z": i} for i in range(100)])
    handle.close()
    assert len(got) == 100
    session.publish({"z": 100})
    session.close()
    assert len(got) == 100


def test_a_hanging_callback_delays_a_close_for_a_bounded_time_and_is_the_last_one(broker, session, monkeypatch, caplog):
    for module in (dispatch, sys.modules["silbo.session.verbs"]):
        monkeypatch.setattr(module, "FINISH", 0.05)
    got, may_go_on = [], threading.Event()

    def hang(notification):
        got.append(notification["z"])
        may_go_on.wait(SOON)

    handle = session.subscribe("true", deliver=hang)
    session.publish_many([{"z": i} for i in range(3)])
    handle.close()
    assert "those that were due are not called" in caplog.text
    may_go_on.set()
    monkeypatch.setattr("silbo.session.verbs.FINISH", SOON)
    session.close()
    assert got == [0]


# on_close


def test_on_close_is_called_once_after_the_last_notification(broker, session):
    got = []
    handle = session.subscribe("true", deliver=lambda n: got.append(n["z"]), on_close=got.append)
    session.publish_many([{"z": i} for i in range(3)])
    handle.close()
    session.close()
    assert got[:3] == [0, 1, 2]
    assert [type(each) for each in got[3:]] == [errors.Closed]


def test_on_close_gets_the_error_of_a_slow_subscription(broker, session):
    reasons, may_go_on = [], threading.Event()
    session.subscribe("true", deliver=lambda _: may_go_on.wait(SOON), on_close=reasons.append, queue=2)
    session.publish_many([{"z": i} for i in range(9)])
    may_go_on.set()
    session.close()
    assert [type(each) for each in reasons] == [errors.SlowSubscriber]
    assert reasons[0].limit == 2


def test_on_close_needs_a_callback(session):
    with pytest.raises(errors.InvalidValue, match="on_close: it goes with deliver="):
        session.subscribe("true", on_close=print)


# the end of a program


def run(program):
    since = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, timeout=60,
        env={**os.environ, "SILBO_INDEX": "plain"},
    )  # fmt: skip
    return done, time.monotonic() - since


BEGIN = """
    import sys, threading, time
    import silbo
    from silbo.session import dispatch
    dispatch.FINISH = 0.3
    session = silbo.Broker().connect("s")
    session.advertise("true")
"""


def test_a_callback_that_never_returns_does_not_keep_the_process_alive():
    done, seconds = run(BEGIN + """
    session.subscribe("true", deliver=lambda n: threading.Event().wait())
    session.publish({"a": 1})
    """)  # fmt: skip
    assert done.returncode == 0
    assert "a callback of s has not returned for 0.3 s" in done.stderr
    assert seconds < 30


def test_due_callbacks_run_before_a_program_ends():
    done, _ = run(BEGIN + """
    def slow(n):
        time.sleep(0.01)  # longer than the rest of the program takes
        print(n["a"], flush=True)
    session.subscribe("true", deliver=slow)
    session.publish_many([{"a": i} for i in range(50)])
    """)  # fmt: skip
    assert (done.stdout.split(), done.stderr) == (list(map(str, range(50))), "")


def test_a_forked_process_cannot_use_the_brokers_of_its_parent(tmp_path):
    done, _ = run(f"""
    import os
    import silbo
    broker = silbo.Broker(record={str(tmp_path / "log.jsonl")!r})
    session = broker.connect("s")
    session.advertise("true")
    every = session.subscribe("true")
    if os.fork() == 0:
        for verb in (lambda: session.publish({{"a": 1}}), broker.connect, lambda: every.get(timeout=1)):
            try:
                verb()
            except silbo.Closed as error:
                print(error, flush=True)
        session.close()
        own = silbo.connect("memory://", "own")
        own.advertise("true")
        print(own.publish({{"a": 1}}).sequence, flush=True)
        os._exit(0)
    os.wait()
    session.publish({{"a": 2}})
    print(len(every.drain()))
    """)  # fmt: skip
    assert done.stderr == ""
    lines = done.stdout.splitlines()
    assert all("closed" in line for line in lines[:3])
    assert lines[3:] == ["1", "1"]
    assert len((tmp_path / "log.jsonl").read_text().splitlines()) == 3
