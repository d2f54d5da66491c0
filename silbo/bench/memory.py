"""The peak memory of this process and of all processes that it started."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import TYPE_CHECKING

from silbo.bench.processes import descendants

if TYPE_CHECKING:
    from typing_extensions import Self

EVERY = 1.0  # seconds between two samples


class Peak:
    """`with Peak() as peak: …; peak.megabytes`; shared pages count once. 0 if the system does not report it."""

    def __init__(self) -> None:
        self.megabytes = 0.0
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="silbo-memory", daemon=True)

    def _watch(self) -> None:
        me = os.getpid()
        while not self._ended.wait(EVERY):
            self.megabytes = max(self.megabytes, round(sum(map(_kilobytes, [me, *descendants(me)])) / 1_000))

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()


def _kilobytes(pid: int) -> int:
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("Pss:")), 0)
