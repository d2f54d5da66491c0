"""Every example runs, and prints what it promises."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

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
}


def run(name, *arguments):
    return subprocess.run(
        [sys.executable, EXAMPLES / name, *arguments], capture_output=True, text=True, timeout=120, encoding="utf-8"
    )


@pytest.mark.parametrize("name", PRINTED)
def test_an_example_prints_what_it_promises(name):
    done = run(name)
    assert done.stderr == ""
    assert done.stdout.splitlines() == PRINTED[name]


def test_the_road_scenario_agrees_with_the_oracle():
    done = run("road.py", "--cars", "120", "--cameras", "30", "--steps", "12", "--seed", "7")
    assert done.stderr == ""
    assert done.returncode == 0
    verdict = re.search(r"the oracle expects (\d+) notifications, (\d+) differ: (\w+)", done.stdout)
    assert int(verdict[1]) > 0
    assert verdict[2] == "0"
    assert verdict[3] == "agreed"
    assert "they changed the index 0 times" in done.stdout


def test_every_example_is_tested():
    assert {path.name for path in EXAMPLES.glob("*.py")} == {*PRINTED, "road.py"}


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
