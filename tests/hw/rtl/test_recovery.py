"""A device that fails in the middle of a verb: what fails did not happen, and what comes after it is right.

Each access of a scenario fails once, either before it reaches the device or after it took effect there.
"""

import pytest

import silbo
from silbo.errors import DeviceError
from silbo.hw.build.simulation import Parameters
from silbo.hw.driver.sim import SimDevice
from silbo.hw.driver.x2cbbr import X2cbbr
from silbo.hw.offload.offload import Offload

SMALL = Parameters(filters=16, sids=16, subscribers=16, lanes=4)
NEAR = "abs(pub.x - this.x) <= 10"


class Failing:
    """A device whose n-th access from now on fails once: in time, or too late."""

    def __init__(self, *, late):
        self._device = SimDevice(SMALL)
        self._late = late
        self.left = None
        self.accesses = 0

    def _access(self, verb, *arguments):
        self.accesses += 1
        if self.left is not None:
            self.left -= 1
        fails = self.left == 0
        if fails and not self._late:
            raise DeviceError("the bus is gone.")
        answer = getattr(self._device, verb)(*arguments)
        if fails:
            raise DeviceError("the bus is gone, after all was done.")
        return answer

    def read(self, address):
        return self._access("read", address)

    def write(self, address, value):
        self._access("write", address, value)

    def send(self, words):
        self._access("send", words)

    def close(self):
        self._device.close()


class Scene:
    """A car, a camera and their verbs, each tried again if it failed."""

    def __init__(self, device):
        self.device = device
        self.failures = 0  # of verbs
        self.broker = silbo.Broker(offload=self._over, index="plain")
        self.car, self.camera = self.broker.connect("car"), self.broker.connect("camera")
        self.camera.advertise("true")

    def _over(self, contexts, make_index):
        return Offload(X2cbbr(self.device), contexts, make_index)

    def tried(self, verb, *arguments, **more):
        try:
            return verb(*arguments, **more)
        except DeviceError:
            self.failures += 1
            return verb(*arguments, **more)

    def play(self):
        """What came of it; everything that is said of a device happens in it."""
        self.tried(self.car.set_context, x=0)
        first = self.tried(self.car.subscribe, "a = 1 and b = 2 or c = 3", context=NEAR)
        second = self.tried(self.car.subscribe, "a = 1")
        self._publish(x=0)
        self.tried(self.car.set_context, x=100)
        self._publish(x=0)
        self._publish(x=100)
        self.tried(second.close)
        third = self.tried(self.car.subscribe, "b = 2", context=NEAR)
        self._publish(x=105)
        seen = [[each.sequence for each in subscription.drain()] for subscription in (first, second, third)]
        return seen, self.broker.stats()["offload"]["device"]

    def _publish(self, x):
        self.tried(self.camera.publish, {"a": 1, "b": 2}, context={"x": x})
        self.tried(self.camera.publish, {"c": 3}, context={"x": x})


EXPECTED = [[1, 2, 5, 6, 7, 8], [1, 3, 5], [7]], 2


def test_the_scene_as_it_is_without_failures():
    scene = Scene(Failing(late=False))
    assert scene.play() == EXPECTED
    assert scene.failures == 0
    scene.broker.close()


@pytest.mark.parametrize("late", [False, True], ids=["in time", "too late"])
def test_whichever_access_fails_nobody_misses_anything(late):
    whole = Scene(Failing(late=late))
    before = whole.device.accesses
    whole.play()
    count = whole.device.accesses - before
    whole.broker.close()
    failures = 0
    for at in range(1, count + 1):
        scene = Scene(Failing(late=late))
        scene.device.left = at
        assert scene.play() == EXPECTED, f"access {at}"
        assert scene.device.left <= 0
        failures += scene.failures
        scene.broker.close()
    assert count > failures > 100  # to end a subscription never fails


def test_filters_of_a_registration_that_was_cut_off_are_not_the_next_ones():
    device = Failing(late=True)
    driver = X2cbbr(device)
    device.left = 4  # o-SID twice, the row, a filter
    with pytest.raises(DeviceError):
        driver.register([1, 2])
    tsid = driver.register([9])
    assert driver.match(None, [9]) == [tsid]


def test_a_result_that_nobody_read_does_not_hold_the_next_publication_back():
    device = Failing(late=True)
    driver = X2cbbr(device)
    tsid = driver.register([9])
    device.left = 2  # the publication, then STATUS
    with pytest.raises(DeviceError):
        driver.match(None, [9])
    assert driver.match(None, [9]) == [tsid]
    assert driver.match(None, [8]) == []


def test_a_session_ends_though_the_device_fails_and_the_others_are_found():
    scene = Scene(Failing(late=False))
    van = scene.broker.connect("van")
    alerts = van.subscribe("a = 1")
    scene.car.subscribe("a = 1")
    scene.car.subscribe("b = 2")
    scene.device.left = 1
    scene.car.close()
    assert scene.device.left <= 0
    scene.camera.publish({"a": 1, "b": 2})
    assert len(alerts.drain()) == 1
    assert scene.broker.stats()["offload"]["device"] == 1
    scene.broker.close()
