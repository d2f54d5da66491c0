"""Ticks by a clock, for live traffic in strict order over Kafka: without them a silent partition holds the frontier.

A tick says that no older record will come in its partition, apart from the lateness. A sender puts the time of its own
clock on a record before Kafka has it: the lateness must cover that delay and the difference of the clocks, or records
that arrive after a tick are late.
"""

from __future__ import annotations

import contextlib
import logging
import threading
import time
from typing import TYPE_CHECKING

from silbo.errors import NotAcknowledged
from silbo.streaming.kafka.client import PREFIX, KafkaWriter

if TYPE_CHECKING:
    from typing_extensions import Self

log = logging.getLogger("silbo")


class Ticking:
    """While it is open, sends a tick with this machine's time to every partition, every `seconds`."""

    def __init__(self, address: str, seconds: float, prefix: str = PREFIX) -> None:
        self._seconds = seconds
        self._writer = KafkaWriter(address, prefix)
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="silbo-ticks", daemon=True)

    def _run(self) -> None:
        while not self._ended.wait(self._seconds):
            try:
                self._writer.tick(time.time_ns() // 1_000)
            except NotAcknowledged as error:  # the next tick replaces this one
                log.warning("a tick was not sent: %s", error)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()
        with contextlib.suppress(NotAcknowledged):  # the last tick is not needed
            self._writer.close()
