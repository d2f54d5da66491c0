"""The example of the couriers, on the simulated matcher."""

import subprocess
import sys
from pathlib import Path

EXAMPLE = Path(__file__).parents[3] / "examples" / "couriers.py"


def test_the_couriers_print_what_they_promise():
    done = subprocess.run([sys.executable, EXAMPLE], capture_output=True, text=True, timeout=120, encoding="utf-8")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "ines [1, 2]",
        "jon [2]",
        "kim []",
        "3 of 3 subscriptions on the device, which found 5 candidates",
    ]
