"""Python's garbage collector in a worker: keep long-lived objects out of its walks.

Spark's workers collect garbage after every task. Modules and subscriptions live long and hold no garbage; walking
through them at every batch would cost more than the batch, and more with every subscription.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

MORE = 1.1  # the growth of long-lived data after which it is frozen again

_settled = -1  # bytes of long-lived data when it was frozen last


def settle(stays: int = 0) -> None:
    """Freeze all objects, the first time and whenever the long-lived data has grown enough since."""
    global _settled  # noqa: PLW0603  # one value for the process
    if stays > _settled * MORE:
        gc.freeze()
        _settled = stays


@contextmanager
def uncollected() -> Iterator[None]:
    """Switch the collector off: thousands of new records would start it in vain."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
