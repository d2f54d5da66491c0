"""What this process and all that it started hold in memory, at the most."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import Self

EVERY = 1.0  # seconds


class Peak:
    """`with Peak() as peak: …; peak.megabytes`; shared pages count once. 0 where the system does not tell."""

    def __init__(self) -> None:
        self.megabytes = 0.0
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="silbo-memory", daemon=True)

    def _watch(self) -> None:
        while not self._ended.wait(EVERY):
            self.megabytes = max(self.megabytes, round(sum(map(_kilobytes, _family())) / 1_000))

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()


def _family() -> set[int]:
    """This process and its descendants."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").glob("[0-9]*"):
        children.setdefault(_parent(entry), []).append(int(entry.name))
    found, new = set[int](), [os.getpid()]
    while new:
        found |= set(new)
        new = [child for each in new for child in children.get(each, ())]
    return found


def _parent(entry: Path) -> int:
    try:
        return int((entry / "stat").read_text().rpartition(")")[2].split()[1])
    except OSError:  # it has ended
        return 0


def _kilobytes(pid: int) -> int:
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("Pss:")), 0)
