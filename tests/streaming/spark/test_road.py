"""The road scenario of `make run` on real Spark."""

import re
import struct
import subprocess
import sys
from pathlib import Path

EXAMPLES = Path(__file__).parents[3] / "examples"


def run(name, *arguments, timeout=120, **more):
    command = [sys.executable, EXAMPLES / name, *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=timeout, encoding="utf-8", **more)


def agreed(done):
    verdict = re.search(r"the oracle expects ([\d,]+) notifications, (\d+) differ: (\w+)", done.stdout)
    return done.returncode == 0 and verdict[1] != "0" and verdict[2] == "0" and verdict[3] == "agreed"


def test_the_road_scenario_as_a_stream_agrees_with_the_oracle_and_is_drawn(tmp_path):
    picture = tmp_path / "out" / "road.png"
    small = ("--cars", "30", "--cameras", "15", "--minutes", "12", "--seed", "7")
    done = run("road/stream.py", *small, "--picture", picture, timeout=300)
    assert agreed(done), done.stderr
    assert re.search(r"contexts +390 +[\d,]+ a second", done.stdout)  # one at the start, and one each minute
    assert re.search(r"publications +12 +[\d,]+ a second", done.stdout)
    assert f"picture: {picture}" in done.stdout
    data = picture.read_bytes()
    assert data.startswith(b"\x89PNG\r\n\x1a\n")
    assert min(struct.unpack(">II", data[16:24])) >= 1_000  # pixels
    assert len(data) > 50_000  # an empty map is smaller
