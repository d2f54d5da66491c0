"""Comparison of received notifications with those of the oracle."""

import pytest

import silbo
from silbo.testing import RecordingSession, assert_agrees, compare


@pytest.fixture
def played():
    """The events of two subscribers, and the notifications of the one that is recorded."""
    events = []
    with silbo.Broker(record=events.append) as broker:
        camera, van = broker.connect("camera"), broker.connect("van")
        car = RecordingSession(broker.connect("car"))
        camera.advertise("true")
        van.subscribe("true")
        car.subscribe("a > 1")
        for a in range(4):
            camera.publish({"a": a})
        yield events, car.received


def test_the_notifications_of_some_subscribers_can_be_compared(played):
    events, received = played
    assert_agrees(events, received, subscribers=["car"])
    with pytest.raises(AssertionError, match="2 expected, 1 missing, 0 unexpected"):
        assert_agrees(events, received[1:], subscribers=["car"])


def test_names_that_the_events_do_not_have_are_refused(played):
    events, _ = played
    for wrong, why in ((["cra"], "no session 'cra'. Did you mean 'car'"), ("car", r"Write \['car'\]")):
        with pytest.raises(silbo.InvalidValue, match=why):
            assert_agrees(events, [], subscribers=wrong)


def test_without_names_the_notifications_of_all_subscribers_are_compared(played):
    comparison = compare(*played)
    assert (comparison.expected, len(comparison.missing), comparison.unexpected) == (6, 4, ())
