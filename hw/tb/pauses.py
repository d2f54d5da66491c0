"""Patterns of pauses: when a sender is idle, or a receiver is not ready.

Benches run with all of them, since a module that works without gaps may fail with them, and the other way round.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator

PAUSES: dict[str, Callable[[], Iterator[bool]]] = {
    "never": lambda: itertools.repeat(False),
    "alternating": lambda: itertools.cycle((False, True)),
    "bursts": lambda: itertools.cycle((False, False, False, True, True, True, True, True)),
    "random": lambda: _at_random(random.Random(7)),
}
NAMES = list(PAUSES)


def _at_random(chance: random.Random) -> Iterator[bool]:
    while True:
        yield chance.random() < 0.4
