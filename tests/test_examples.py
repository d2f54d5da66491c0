"""Every example runs, and prints what it promises."""

import re
import struct
import subprocess
import sys
from pathlib import Path

import pytest

from silbo.model.events import Advertise, Publish, Subscribe

EXAMPLES = Path(__file__).parent.parent / "examples"

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
    "couriers.py": [
        "ines [1, 2]",
        "jon [2]",
        "kim []",
        "3 of 3 subscriptions on the device, which found 5 candidates",
    ],
}
MARKED = [pytest.param(name, marks=[pytest.mark.rtl] * (name == "couriers.py")) for name in PRINTED]


ROAD = EXAMPLES / "road"


def run(name, *arguments, timeout=120, **more):
    command = [sys.executable, EXAMPLES / name, *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=timeout, encoding="utf-8", **more)


@pytest.mark.parametrize("name", MARKED)
def test_an_example_prints_what_it_promises(name):
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


@pytest.mark.spark
def test_the_road_scenario_as_a_stream_agrees_with_the_oracle_and_is_drawn(tmp_path):
    picture = tmp_path / "out" / "road.png"
    small = ("--cars", "60", "--cameras", "30", "--minutes", "30", "--seed", "7")
    done = run("road/stream.py", *small, "--picture", picture, timeout=300)
    assert agreed(done), done.stderr
    assert re.search(r"contexts +1,860 +[\d,]+ a second", done.stdout)  # one at first, and one each minute
    assert re.search(r"publications +60 +[\d,]+ a second", done.stdout)
    assert f"picture: {picture}" in done.stdout
    data = picture.read_bytes()
    assert data.startswith(b"\x89PNG\r\n\x1a\n")
    assert min(struct.unpack(">II", data[16:24])) >= 1_000  # pixels
    assert len(data) > 50_000  # an empty square has less


def test_the_road_scenario_says_how_to_get_java(tmp_path):
    done = run("road/stream.py", env={"PATH": str(tmp_path)})
    assert done.returncode == 2
    assert "road: Java 17 or newer is not there. Install it with: apt-get install" in done.stderr
    assert done.stdout == ""


def test_the_road_scenario_fails_where_the_oracle_disagrees(monkeypatch, capsys):
    monkeypatch.syspath_prepend(ROAD)
    from verdict import disagrees

    events = [Advertise("camera", "a", "true"), Subscribe("car", "s", "true"), Publish("camera", {"msg": "ice"}, {})]
    assert disagrees(events, [])
    assert capsys.readouterr().out == "  the oracle expects 1 notifications, 1 differ: FAILED\n"


def test_every_example_is_tested():
    assert {path.name for path in EXAMPLES.glob("*.py")} == set(PRINTED)
    programs = {path.name for path in ROAD.glob("*.py") if "__main__" in path.read_text(encoding="utf-8")}
    assert programs == {"broker.py", "stream.py"}


def test_the_quickstart_stands_in_the_readme_as_it_runs():
    readme = (EXAMPLES.parent / "README.md").read_text(encoding="utf-8")
    body = (EXAMPLES / "quickstart.py").read_text(encoding="utf-8").partition('"""\n\n')[2]
    assert body in readme
    assert len([line for line in body.splitlines() if line and not line.startswith("import")]) <= 10


def test_the_readme_prints_what_it_says():
    readme = (EXAMPLES.parent / "README.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```(\w*)\n(.*?)^```", readme, re.DOTALL | re.MULTILINE)
    programs = [text for language, text in blocks if language == "python"]
    done = subprocess.run([sys.executable, "-c", "".join(programs)], capture_output=True, text=True, encoding="utf-8")
    notification, _, explanation = done.stdout.partition("\n")
    assert done.stderr == ""
    assert f"`{notification}`" in readme
    assert ("", explanation) in blocks
