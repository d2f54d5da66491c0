"""Ticks by a clock: for live traffic in strict order over Kafka, where a silent partition would hold the frontier.

A tick says that nothing before it will come in its partition, the lateness apart. Whoever sends records puts their
time on them before Kafka has them, by a clock of its own: the lateness must cover that delay and the clocks'
difference, or what comes behind a tick is late.
"""

from __future__ import annotations

import contextlib
import logging
import threading
import time
from typing import Self

from silbo.errors import NotAcknowledged
from silbo.streaming.kafka import PREFIX, KafkaWriter

log = logging.getLogger("silbo")


class Ticking:
    """Says in every partition, every so many seconds, how late it is by this machine's clock, while it is open."""

    def __init__(self, address: str, seconds: float, prefix: str = PREFIX) -> None:
        self._seconds = seconds
        self._writer = KafkaWriter(address, prefix)
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="silbo-ticks", daemon=True)

    def _run(self) -> None:
        while not self._ended.wait(self._seconds):
            try:
                self._writer.tick(time.time_ns() // 1_000)
            except NotAcknowledged as error:  # the next one says all that this one would have said
                log.warning("a tick was not sent: %s", error)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()
        with contextlib.suppress(NotAcknowledged):  # nobody needs the last one
            self._writer.close()
