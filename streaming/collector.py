"""Python's garbage collector in a worker: what it must not walk through, again and again.

Spark's workers collect garbage after every task. All modules and all subscriptions are there to stay, and hold no
garbage; a walk through them at every batch would cost more than the batch, and the more, the more is subscribed.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

MORE = 1.1  # so much more to stay, and it is worth another look

_settled = -1  # what stayed when it was settled last


def settle(stays: int = 0) -> None:
    """Take what there is out of the collector's sight, if it is the first time or much has come to stay since."""
    global _settled  # noqa: PLW0603  # it is the process's
    if stays > _settled * MORE:
        gc.freeze()
        _settled = stays


@contextmanager
def uncollected() -> Iterator[None]:
    """Let the collector rest: thousands of new records would send it looking, in vain."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
