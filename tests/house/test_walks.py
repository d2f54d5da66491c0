"""How far a verb goes: the calls that enter another module of silbo, and the layers that they pass."""

import sys
from pathlib import Path

import pytest

import silbo

ROOT = str(Path(silbo.__file__).resolve().parents[1])

# the picture of a publish in ARCHITECTURE.md shows these modules, in this order
PUBLISH = [
    "silbo/session/verbs.py", "silbo/model/values.py", "silbo/model/events.py", "silbo/embedded/link.py",
    "silbo/context/table.py", "silbo/core/core.py", "silbo/core/acceptance.py", "silbo/language/evaluation.py",
    "silbo/model/notification.py", "silbo/matching/plain.py", "silbo/matching/decision.py", "silbo/context/table.py",
    "silbo/language/evaluation.py", "silbo/language/evaluation.py", "silbo/session/link.py",
    "silbo/session/subscription.py", "silbo/session/queue.py", "silbo/model/notification.py",
]  # fmt: skip


def entered(work):
    """The files of silbo that a call entered from another file of silbo, or from outside, in their order."""
    files = []

    def profile(frame, event, _):
        file = frame.f_code.co_filename
        if event != "call" or not file.startswith(ROOT):
            return
        caller = frame.f_back
        while caller is not None and not caller.f_code.co_filename.startswith(ROOT):
            caller = caller.f_back
        if caller is None or caller.f_code.co_filename != file:
            files.append(file.removeprefix(ROOT + "/"))

    sys.setprofile(profile)
    try:
        work()
    finally:
        sys.setprofile(None)
    return [file for file in files if not file.startswith("tests/")]


@pytest.fixture
def road():
    with silbo.Broker(index="plain") as broker:
        car, camera = broker.connect("car"), broker.connect("camera")
        car.set_context(x=12.0, y=40.5)
        near = "abs(pub.x - this.x) <= 20 and abs(pub.y - this.y) <= 20"
        alerts = car.subscribe('msg = "accident"', context=near)
        camera.set_context(x=15.0, y=42.0)
        camera.advertise('msg = "accident"', offers=["x", "y"])
        camera.publish({"msg": "accident"})  # compiles the expressions
        alerts.get(timeout=1)
        yield car, camera, alerts


def test_a_publish_and_a_get_enter_another_module_at_most_18_times(road):
    _, camera, alerts = road
    assert entered(lambda: (camera.publish({"msg": "accident"}), alerts.get(timeout=1))) == PUBLISH
    assert len(PUBLISH) <= 18


def test_a_context_change_enters_another_module_at_most_9_times(road):
    car, _, _ = road
    assert len(entered(lambda: car.set_context(x=13.0, y=41.0))) <= 9
    assert len(entered(lambda: car.set_context(x=14.0, role="taxi"))) <= 9
