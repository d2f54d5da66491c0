"""The Spark job as an engine of `silbo replay`: the events become a local log, the job matches it, all at the end."""

from __future__ import annotations

import tempfile
import uuid
from collections.abc import Callable, Sequence
from itertools import count
from pathlib import Path

from silbo.broker.fold import Fold
from silbo.errors import SilboError
from silbo.model.events import Event
from silbo.streaming.job import LogWriter, Options, drain, in_order, notifications, start
from silbo.streaming.kafka import KafkaWriter, create_topics, values
from silbo.streaming.records import Notified
from silbo.streaming.sending import Sender
from silbo.streaming.spark import session
from silbo.streaming.topics import NOTIFICATIONS

PARTITIONS = 3


class KafkaEngine:
    """The same over Kafka, with topics of its own."""

    def __init__(self, address: str, batch: int | None = None, shards: int = 2) -> None:
        self._address = address
        self._prefix = f"silbo-replay-{uuid.uuid4().hex[:12]}"
        create_topics(address, PARTITIONS, self._prefix)
        self._batch = batch
        self._shards = shards
        self._writer = KafkaWriter(address, self._prefix)
        times = count(1)
        self._fold = Fold(Sender(self._writer.send, lambda: next(times)))

    def apply(self, events: Sequence[Event], refused: Callable[[int, SilboError], None]) -> list[Notified]:
        """Send the events; their notifications come with `finish`."""
        self._fold.apply(events, refused)
        return []

    def finish(self) -> list[Notified]:
        """Run the job over all of it."""
        from silbo.streaming import kafka_job

        self._writer.drain()
        self._writer.close()
        with tempfile.TemporaryDirectory(prefix="silbo-stream-") as folder:
            options = Options(Path(folder) / "checkpoint", shards=self._shards, batch=self._batch)
            query = kafka_job.start(kafka_job.spark_session(), self._address, options, self._prefix)
            try:
                query.processAllAvailable()
            finally:
                query.stop()
        return in_order(values(self._address, NOTIFICATIONS, self._prefix))


class StreamEngine:
    """Times are the events' numbers, so the order is the lines'."""

    def __init__(self, batch: int | None = None, shards: int = 2) -> None:
        self._batch = batch
        self._shards = shards
        self._folder = tempfile.TemporaryDirectory(prefix="silbo-stream-")
        self._log = Path(self._folder.name) / "log"
        self._writer = LogWriter(self._log, PARTITIONS)
        times = count(1)
        self._fold = Fold(Sender(self._writer.send, lambda: next(times)))

    def apply(self, events: Sequence[Event], refused: Callable[[int, SilboError], None]) -> list[Notified]:
        """Write the events; their notifications come with `finish`."""
        self._fold.apply(events, refused)
        return []

    def finish(self) -> list[Notified]:
        """Run the job over all of it."""
        self._writer.close()
        drain(self._log)
        options = Options(Path(self._folder.name) / "checkpoint", shards=self._shards, batch=self._batch)
        query = start(session(), self._log, options)
        try:
            query.processAllAvailable()
        finally:
            query.stop()
        found = notifications(self._log)
        self._folder.cleanup()
        return found
