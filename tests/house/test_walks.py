"""How a verb, a replay and a batch go through silbo: the calls that enter another module, and the pictures of the walks.

The pictures are the Mermaid diagrams of ARCHITECTURE.md. The label of a node that stands for a module begins with the
module's path below `silbo/`.
"""

import re
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

import silbo

ROOT = Path(silbo.__file__).resolve().parents[1]
OWN = f"{ROOT}/silbo/"
NODE = re.compile(r'(\w+)\["([^"]+)"\]')
ARROW = re.compile(r"\s*(-->|-\.->)\s*")

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
        if event != "call" or not file.startswith(OWN):
            return
        caller = frame.f_back
        while caller is not None and not caller.f_code.co_filename.startswith(OWN):
            caller = caller.f_back
        if caller is None or caller.f_code.co_filename != file:
            files.append(file.removeprefix(f"{ROOT}/"))

    sys.setprofile(profile)
    try:
        work()
    finally:
        sys.setprofile(None)
    return files


class Picture(NamedTuple):
    """A Mermaid diagram: the files of its modules, and the solid arrows between modules. A dotted arrow is no call."""

    files: set[str]
    calls: list[tuple[str, str]]


def picture(heading):
    """The first Mermaid diagram under a heading of ARCHITECTURE.md."""
    section = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8").split(f"\n## {heading}\n")[1]
    source = section.split("```mermaid\n")[1].split("```")[0]
    labels = {node: label.partition("<br>")[0] for node, label in NODE.findall(source)}
    files = {node: f"silbo/{label}.py" for node, label in labels.items() if "/" in label}
    assert [file for file in files.values() if not (ROOT / file).is_file()] == []
    calls = []
    for line in NODE.sub(r"\1", source).splitlines():
        first, *rest = ARROW.split(line.strip())
        for arrow, second in zip(rest[::2], rest[1::2], strict=True):
            if arrow == "-->" and first in files and second in files:
                calls.append((files[first], files[second]))
            first = second
    return Picture(set(files.values()), calls)


def assert_shows(shown, files, left_out):
    """Check that a picture shows a walk: all its modules but those that it leaves out, and each after its caller."""
    assert shown.files.isdisjoint(left_out)
    assert shown.files | left_out == set(files)
    order = list(dict.fromkeys(files))
    assert [(a, b) for a, b in shown.calls if order.index(a) > order.index(b)] == []


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


def test_the_picture_of_a_publish_shows_its_modules():
    """It leaves out the index, which is one of several, and the modules of values and expressions."""
    left_out = {
        "silbo/model/values.py", "silbo/model/events.py", "silbo/model/notification.py", "silbo/context/table.py",
        "silbo/language/evaluation.py", "silbo/matching/plain.py", "silbo/session/link.py",
    }  # fmt: skip
    assert_shows(picture("What happens on publish"), PUBLISH, left_out)


def test_a_context_change_enters_another_module_at_most_9_times(road):
    car, _, _ = road
    assert len(entered(lambda: car.set_context(x=13.0, y=41.0))) <= 9
    assert len(entered(lambda: car.set_context(x=14.0, role="taxi"))) <= 9
