"""Every example runs and prints the output that its text shows."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from silbo.model.events import Advertise, Publish, Subscribe

EXAMPLES = Path(__file__).parents[2] / "examples"

PRINTED = {
    "quickstart.py": [
        "<Notification camera-7#1 to car-1/s1: {'msg': 'accident', 'severity': 4} context {'x': 15.0, 'y': 42.0}>"
    ],
    "portfolio.py": ["ACME        12.50", "INITECH    101.00"],
    "geofence.py": ["morning [1, 2]", "evening [3]"],
    "roles.py": [
        "ada   [12, 14]",
        "bob   []",
        "cleo  [14]",
        "dora  []",
        "the scope reads sub.salary, beyond the advertisement's reads; it may read: role, ward. Advertise with reads=[…] that name it.",
    ],
}
ON_HARDWARE = {"couriers.py"}  # tests/hw/rtl/test_couriers.py runs it


ROAD = EXAMPLES / "road"


def run(name, *arguments, timeout=120, **more):
    command = [sys.executable, EXAMPLES / name, *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=timeout, encoding="utf-8", **more)


@pytest.mark.parametrize("name", PRINTED)
def test_an_example_prints_the_expected_output(name):
    done = run(name)
    assert done.stderr == ""
    assert done.stdout.splitlines() == PRINTED[name]


def agreed(done):
    verdict = re.search(r"the oracle expects ([\d,]+) notifications, (\d+) differ: (\w+)", done.stdout)
    return done.returncode == 0 and verdict[1] != "0" and verdict[2] == "0" and verdict[3] == "agreed"


def test_the_road_scenario_on_the_broker_agrees_with_the_oracle():
    done = run("road/broker.py", "--cars", "120", "--cameras", "30", "--minutes", "30", "--seed", "7")
    assert done.stderr == ""
    assert agreed(done)
    assert "they changed the index 0 times" in done.stdout
    assert "µs each, by the plain index in Python" in done.stdout


def test_the_road_scenario_says_how_to_get_java(tmp_path):
    done = run("road/stream.py", env={"PATH": str(tmp_path)})
    assert done.returncode == 2
    assert "road: Java 17 or newer is not there. Install it with: apt-get install" in done.stderr
    assert done.stdout == ""


def test_the_road_scenario_fails_if_the_oracle_disagrees(monkeypatch, capsys):
    monkeypatch.syspath_prepend(ROAD)
    from verdict import disagrees

    events = [Advertise("camera", "a", "true"), Subscribe("car", "s", "true"), Publish("camera", {"msg": "ice"}, {})]
    assert disagrees(events, [])
    assert capsys.readouterr().out == "  the oracle expects 1 notifications, 1 differ: FAILED\n"


def test_every_example_is_tested():
    assert {path.name for path in EXAMPLES.glob("*.py")} == set(PRINTED) | ON_HARDWARE
    programs = {path.name for path in ROAD.glob("*.py") if "__main__" in path.read_text(encoding="utf-8")}
    assert programs == {"broker.py", "stream.py"}


def test_the_quickstart_in_the_readme_is_the_example():
    readme = (EXAMPLES.parent / "README.md").read_text(encoding="utf-8")
    body = (EXAMPLES / "quickstart.py").read_text(encoding="utf-8").partition('"""\n\n')[2]
    assert body in readme
    assert len([line for line in body.splitlines() if line and not line.startswith("import")]) <= 10


README = (EXAMPLES.parent / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```", README, re.DOTALL | re.MULTILINE)


def test_the_programs_of_the_readme_print_the_output_shown(tmp_path):
    """The programs run one after the other in one process. The Kafka program is left out, since it needs a Kafka."""
    programs = [text for language, text in BLOCKS if language == "python" and "kafka://" not in text]
    done = subprocess.run(
        [sys.executable, "-c", "".join(programs)], capture_output=True, text=True, encoding="utf-8", cwd=tmp_path
    )
    assert done.stderr == ""
    assert f"`{done.stdout.strip()}`" in README
    commands = [text for language, text in BLOCKS if language == "console"]
    assert commands
    for text in commands:
        command, _, printed = text.partition("\n")
        assert command.startswith("$ silbo ")
        done = subprocess.run(
            [sys.executable, "-m", *command.split()[1:]],
            capture_output=True, text=True, encoding="utf-8", cwd=tmp_path, env={**os.environ, "SILBO_INDEX": "plain"},
        )  # fmt: skip
        assert (timeless(done.stdout), done.stderr) == (timeless(printed), "")


def timeless(text):
    """The output of a command without the times of events."""
    return re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}: ", "", text).strip()


def test_the_readme_is_read_in_two_minutes():
    assert len(README.splitlines()) <= 90
