"""The time of a new process until its first notification, with kernels compiled (cold) or from the cache (warm)."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from typing import NamedTuple

PROGRAM = """
import logging, silbo, time

logging.getLogger("silbo").setLevel(logging.ERROR)  # that kernels are compiled is what is measured here

with silbo.Broker(index="fast") as broker:
    car, camera = broker.connect("car"), broker.connect("camera")
    car.set_context(x=1.0, y=2.0)
    alerts = car.subscribe('msg = "accident"', context="abs(pub.x - this.x) <= 20 and abs(pub.y - this.y) <= 20")
    camera.advertise("true")
    camera.set_context(x=2.0, y=3.0)
    camera.publish({"msg": "accident"})
    assert len(alerts) == 1
print(time.process_time())
"""


class Start(NamedTuple):
    """Seconds of wall time from the interpreter's start to its end, and seconds of CPU."""

    wall: float
    cpu: float


def starts() -> tuple[Start, Start]:
    """A start with an empty cache, and the next start."""
    with tempfile.TemporaryDirectory(prefix="silbo-bench-") as folder:
        return _start(folder), _start(folder)


def _start(cache: str) -> Start:
    since = time.perf_counter()
    done = subprocess.run(  # noqa: S603  # our own program
        [sys.executable, "-c", PROGRAM],
        env={**os.environ, "NUMBA_CACHE_DIR": cache},
        stdout=subprocess.PIPE,
        start_new_session=True,  # Ctrl-C reaches only this process, which ends the other one
        check=True,
        text=True,
    )
    return Start(round(time.perf_counter() - since, 2), round(float(done.stdout), 2))
