"""The record of the events that a broker accepted."""

import signal
import subprocess
import sys
import time

import pytest

import silbo
from silbo import errors
from silbo.model.events import Publish, Unsubscribe
from silbo.wire.jsonl import parse_event


def publisher(broker, filter="true", **options):
    session = broker.connect("publisher")
    session.advertise(filter, **options)
    return session


def test_a_record_is_a_log_of_what_was_accepted(tmp_path):
    path = tmp_path / "log.jsonl"
    with silbo.Broker(record=path) as broker:
        session = publisher(broker, "exists a", offers=["x"])
        every = session.subscribe("true", include=["x"], id="all")
        session.set_context(x=1)
        session.set_context(x=1.0)  # unchanged: no event
        session.publish({"a": 1}, scope="true", payload=b"p")
        with pytest.raises(errors.NotAdvertised):
            session.publish({"b": 1})
        received = every.drain()
    assert len(path.read_text().splitlines()) == 5
    replayed = list(silbo.replay(path, engine="oracle"))
    assert [(each.sequence, each.context, each.payload) for each in replayed] == [(1, {"x": 1}, b"p")]
    assert len(received) == 1


def test_a_session_without_events_leaves_no_trace_in_a_record():
    events = []
    with silbo.Broker(record=events.append) as broker:
        lonely = broker.connect("lonely")
        with pytest.raises(errors.NotAdvertised):
            lonely.publish({"a": 1})
        lonely.close()
    assert events == []


def test_sessions_of_the_same_name_are_distinct_in_a_record():
    events = []
    with silbo.Broker(record=events.append) as broker:
        first, second = broker.connect("same"), broker.connect("same")
        first.set_context(x=1)
        second.set_context(x=2)
    assert events[0].session == "same"
    assert events[1].session == second.uuid


def test_an_existing_file_is_not_overwritten(tmp_path):
    path = tmp_path / "log.jsonl"
    path.write_text("precious")
    with pytest.raises(errors.InvalidValue, match="Name a new file, or continue this one"):
        silbo.Broker(record=path)
    assert path.read_text() == "precious"


def test_a_record_that_fails_stops_and_says_so(caplog):
    def full(event):
        raise OSError("disk full")

    with silbo.Broker(record=full) as broker:
        session = publisher(broker)
        session.publish({"a": 1})
        assert broker.stats()["published"] == 1
    assert "cannot write the record any more" in caplog.text
    assert len(caplog.records) == 1


def test_a_killed_process_loses_nothing_that_was_accepted(tmp_path):
    path = tmp_path / "log.jsonl"
    program = f"""
import os, signal, silbo
session = silbo.Broker(record={str(path)!r}).connect("p")
session.advertise("true")
for n in range(50):
    session.publish({{"n": n}})
os.kill(os.getpid(), signal.SIGKILL)
"""
    done = subprocess.run([sys.executable, "-c", program], check=False)
    assert done.returncode == -signal.SIGKILL
    events = [parse_event(line) for line in path.read_text().splitlines()]
    assert [event.attributes["n"] for event in events[1:]] == list(range(50))


# slow subscribers


def record_of_slow_subscribers(path):
    """Write a record in which s2 ended as slow, s3 dropped its oldest, and s4 ended after the publisher had waited."""
    with silbo.Broker(record=path, index="plain") as broker:
        session = publisher(broker)
        subscriptions = [
            session.subscribe("true", queue=3),
            session.subscribe("true", queue=3, slow="drop_oldest"),
            session.subscribe("i = 1", queue=1, slow="block", block_timeout=0.01),
        ]
        for i in range(6):
            session.publish({"i": i})
        for i in range(2):
            session.publish({"i": 1, "again": i})
        stats = broker.stats()
    return [[each["i"] for each in reading(subscription)] for subscription in subscriptions], stats


def reading(subscription):
    try:
        yield from subscription
    except errors.SlowSubscriber:
        return


def test_the_record_shows_slow_subscribers(tmp_path):
    path = tmp_path / "log.jsonl"
    read, stats = record_of_slow_subscribers(path)
    assert read == [[0, 1, 2], [5, 1, 1], [1]]
    events = [parse_event(line) for line in path.read_text().splitlines()]
    ends = [event for event in events if isinstance(event, Unsubscribe)]
    assert [(event.id, event.reason) for event in ends] == [("s1", "slow"), ("s3", "slow")]
    assert ends[1].dropped == (("publisher", 7, "publisher", "s3"),)
    dropped = [each for event in events if isinstance(event, Publish) for each in event.dropped]
    assert dropped == [("publisher", sequence, "publisher", "s2") for sequence in range(1, 6)]
    assert stats["slow"] == 2
    assert stats["dropped"] == 6


def test_a_replay_gives_a_slow_subscription_the_notifications_that_its_program_could_read(tmp_path):
    path = tmp_path / "log.jsonl"
    record_of_slow_subscribers(path)
    replayed = [each for each in silbo.replay(path, engine="oracle") if each.subscription == "s1"]
    assert [each.attributes["i"] for each in replayed] == [0, 1, 2]


# times


def test_times_in_a_record_do_not_go_back_where_a_publish_ends_a_slow_subscription():
    events = []
    with silbo.Broker(record=events.append) as broker:
        session = publisher(broker)
        session.subscribe("true", queue=1)
        for number in range(3):
            session.publish({"number": number})
    times = [event.time for event in events]
    ended = next(i for i, event in enumerate(events) if isinstance(event, Unsubscribe))
    assert times == sorted(times)
    assert times[ended] == times[ended + 1]  # the publish that found the queue full


def test_events_and_notifications_have_the_time_of_acceptance(tmp_path):
    path = tmp_path / "log.jsonl"
    before = time.time_ns() // 1_000
    with silbo.Broker(record=path, index="plain") as broker:
        session = publisher(broker)
        every = session.subscribe("true")
        session.publish({"a": 1})
        notification = every.get(timeout=1)
    after = time.time_ns() // 1_000
    times = [parse_event(line).time for line in path.read_text().splitlines()]
    assert before <= times[0]
    assert times == sorted(times)
    assert times[-1] <= after
    assert notification.time == times[2]
    (replayed,) = silbo.replay(path)
    assert replayed.time == notification.time
    assert "time" not in replayed.to_json()


# a service that starts again


SERVICE = """
import os, signal, sys, silbo
broker = silbo.Broker(record=sys.argv[1], append=True, index="plain")
session = broker.connect("camera")
session.advertise("true", id="a")
every = session.subscribe("true", id="s")
session.set_context(run=int(sys.argv[2]))
session.publish({"run": int(sys.argv[2])})
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_service_that_is_killed_and_starts_again_continues_its_record(tmp_path):
    path = tmp_path / "log.jsonl"
    for number in (1, 2, 3):
        subprocess.run([sys.executable, "-c", SERVICE, path, str(number)], check=False)
    refused = []
    replayed = list(silbo.replay(path, engine="oracle", refused=lambda *each: refused.append(each)))
    assert refused == []
    assert [(each.sequence, each.attributes["run"]) for each in replayed] == [(1, 1), (1, 2), (1, 3)]


def test_a_line_that_a_crash_cut_off_is_removed(tmp_path):
    path = tmp_path / "log.jsonl"
    path.write_text('{"event":"advertise","session":"p","id":"a","filter":"true"}\n{"event":"publ')
    with silbo.Broker(record=path, append=True, index="plain") as broker:
        publisher(broker)
    events = [parse_event(line) for line in path.read_text().splitlines()]
    assert [(type(event).__name__, event.session) for event in events] == [
        ("Advertise", "p"), ("Disconnect", "p"), ("Advertise", "publisher"), ("Disconnect", "publisher"),
    ]  # fmt: skip


def test_a_file_that_is_no_record_is_not_continued(tmp_path):
    path = tmp_path / "letter.txt"
    path.write_text("Dear Sir,\n")
    with pytest.raises(errors.InvalidValue, match=r"line 1 is not an event: .* at column 1\. Continue only"):
        silbo.Broker(record=path, append=True)
    assert path.read_text() == "Dear Sir,\n"


def test_a_record_that_is_to_be_continued_must_be_named():
    with pytest.raises(errors.InvalidValue, match="append: there is no record to continue"):
        silbo.Broker(append=True)


def test_two_brokers_do_not_write_one_record(tmp_path):
    path = tmp_path / "log.jsonl"
    with (
        silbo.Broker(record=path, append=True),
        pytest.raises(errors.InvalidValue, match="another broker is writing"),
    ):
        silbo.Broker(record=path, append=True)
    silbo.Broker(record=path, append=True).close()


def test_a_line_that_was_written_only_in_part_is_cut_off(tmp_path):
    """A limit on the size of files simulates a full disk."""
    path = tmp_path / "log.jsonl"
    program = f"""
import resource, signal, silbo
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
session = silbo.Broker(record={str(path)!r}, index="plain").connect("p")
session.advertise("true")
resource.setrlimit(resource.RLIMIT_FSIZE, (2_000, resource.RLIM_INFINITY))
for n in range(50):
    session.publish({{"n": n}})
"""
    done = subprocess.run([sys.executable, "-c", program], check=False, capture_output=True, text=True)
    assert done.returncode == 0
    assert "cannot write the record any more" in done.stderr
    content = path.read_bytes()
    assert content.endswith(b"\n")
    assert 10 < len([parse_event(line) for line in content.splitlines()]) < 50
