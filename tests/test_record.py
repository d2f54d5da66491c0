"""The record of what a broker accepted."""

import signal
import subprocess
import sys

import pytest

import silbo
from silbo import errors
from silbo.model.log import parse_event


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


def test_sessions_of_one_name_are_told_apart_in_a_record():
    events = []
    with silbo.Broker(record=events.append) as broker:
        first, second = broker.connect("same"), broker.connect("same")
        first.set_context(x=1)
        second.set_context(x=2)
    assert events[0].session == "same"
    assert events[1].session == second.uuid


def test_a_record_is_never_written_over(tmp_path):
    path = tmp_path / "log.jsonl"
    path.write_text("precious")
    with pytest.raises(errors.InvalidValue, match="Name a new file"):
        silbo.Broker(record=path)
    assert path.read_text() == "precious"


def test_a_record_that_fails_stops_and_says_so(caplog):
    def full(event):
        raise OSError("disk full")

    with silbo.Broker(record=full) as broker:
        session = publisher(broker)
        session.publish({"a": 1})
        assert broker.stats()["published"] == 1
    assert "the record stopped" in caplog.text
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
