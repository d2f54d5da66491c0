"""A device that fails: what was asked for is done whole or not at all."""

import pytest

import silbo
from silbo.context.function import ContextFunction
from silbo.errors import DeviceError
from silbo.matching.candidates import SubscriptionRow
from silbo.matching.filter import Filter
from silbo.testing.own.matching_unit import ModelUnit, over

NEAR = "abs(pub.x - this.x) <= 20 and abs(pub.y - this.y) <= 20"


def row(filter, function=None, subscriber="car", id="s"):
    read = None if function is None else ContextFunction.of(function)
    return SubscriptionRow(subscriber, subscriber, id, Filter.of(filter), read, (), None)


@pytest.fixture
def offloaded():
    """A broker over a model that can break, one subscriber near, and a publisher."""
    unit = ModelUnit()
    broker = silbo.Broker(offload=over(unit), index="plain")
    car, cam = broker.connect("car"), broker.connect("cam")
    car.set_context(x=0, y=0)
    cam.advertise("true")
    subscription = car.subscribe("a = 1 or b = 1", context=NEAR)
    yield unit, car, cam, subscription
    unit.broken = False
    broker.close()


def test_a_subscribe_that_fails_on_the_device_changes_nothing(offloaded):
    unit, car, _, _ = offloaded
    before = car.broker.stats()
    unit.broken = True
    with pytest.raises(DeviceError):
        car.subscribe("c = 1", context="abs(pub.x - this.x) <= 900")
    unit.broken = False
    assert car.broker.stats() == before
    car.subscribe("c = 1", context="abs(pub.x - this.x) <= 900")
    assert car.broker.stats()["offload"]["words"] == before["offload"]["words"] + 1


def test_an_unsubscribe_goes_through_though_the_device_fails_and_the_others_stay(offloaded):
    unit, car, cam, subscription = offloaded
    other = car.subscribe("b = 1", context=NEAR)
    unit.broken = True
    subscription.close()
    unit.broken = False
    cam.publish({"a": 1, "b": 1}, context={"x": 0, "y": 0})
    assert subscription.poll() is None
    assert other.poll() is not None
    other.close()
    assert car.broker.stats()["offload"] == {
        **dict.fromkeys(("device", "software", "tsids", "words", "rows"), 0),
        "matches": 1,
    }


def test_a_context_that_does_not_reach_the_device_is_not_set(offloaded):
    unit, car, cam, subscription = offloaded
    unit.broken = True
    with pytest.raises(DeviceError):
        car.set_context(x=1_000)
    unit.broken = False
    assert car.context == {"x": 0, "y": 0}
    cam.publish({"a": 1}, context={"x": 0, "y": 0})
    assert subscription.poll() is not None
    car.set_context(x=1_000)
    cam.publish({"a": 1}, context={"x": 1_000, "y": 0})
    assert subscription.poll() is not None


def test_contexts_set_in_bulk_are_all_set_or_none(offloaded):
    unit, car, cam, subscription = offloaded
    written = unit.set_context

    def write_once(row, box):
        written(row, box)
        unit.set_context = fail

    def fail(row, box):
        unit.set_context = written
        raise DeviceError("the device does not answer.")

    van = car.broker.connect("van")
    van.subscribe("a = 1", context=NEAR)
    unit.set_context = write_once
    with pytest.raises(DeviceError):
        car.broker.set_contexts([car, van], {"x": [1_000, 1], "y": [0, 1]})
    assert (car.context, van.context) == ({"x": 0, "y": 0}, {})
    cam.publish({"a": 1}, context={"x": 0, "y": 0})
    assert subscription.poll() is not None


def test_a_publish_that_the_device_cannot_match_is_not_accepted(offloaded):
    unit, _, cam, subscription = offloaded
    cam.set_context(x=0, y=0)
    unit.broken = True
    with pytest.raises(DeviceError):
        cam.publish({"a": 1})
    with pytest.raises(DeviceError):
        cam.publish_many([{"a": 1}, {"a": 1}])
    unit.broken = False
    cam.publish({"a": 1})
    assert [each.sequence for each in subscription.drain()] == [1]
