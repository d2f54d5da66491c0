"""The Spark job as engines of `silbo replay`: the events become records, the job matches them, all at the end."""

from __future__ import annotations

import tempfile
import uuid
from collections.abc import Callable, Sequence
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from silbo.broker.fold import Fold
from silbo.errors import SilboError
from silbo.model.events import Event
from silbo.streaming.job import LogWriter, Options, drain, in_order, notifications, start
from silbo.streaming.kafka import KafkaWriter, create_topics, delete_topics, located, values
from silbo.streaming.records import Notified
from silbo.streaming.sending import Sender
from silbo.streaming.spark import session
from silbo.streaming.topics import NOTIFICATIONS

if TYPE_CHECKING:
    from pyspark.sql.streaming.query import StreamingQuery

PARTITIONS = 3


class _JobEngine:
    """Times are the events' numbers, so the order is the lines'."""

    def __init__(self, writer: LogWriter | KafkaWriter) -> None:
        times = count(1)
        self._fold = Fold(Sender(writer.send, lambda: next(times)))

    def apply(self, events: Sequence[Event], refused: Callable[[int, SilboError], None]) -> list[Notified]:
        """Write the events as records; their notifications come with `finish`."""
        self._fold.apply(events, refused)
        return []


class StreamEngine(_JobEngine):
    """The job on a local log."""

    def __init__(self, batch: int | None = None, shards: int = 2) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="silbo-stream-")
        self._log = Path(self._folder.name) / "log"
        self._options = Options(Path(self._folder.name) / "checkpoint", shards=shards, batch=batch)
        self._writer = LogWriter(self._log, PARTITIONS)
        super().__init__(self._writer)

    def finish(self) -> list[Notified]:
        """Run the job over all of it."""
        self._writer.close()
        drain(self._log)
        _run(start(session(brief=True), self._log, self._options))
        found = notifications(self._log)
        self._folder.cleanup()
        return found


class KafkaEngine(_JobEngine):
    """The job over Kafka, with topics of its own."""

    def __init__(self, address: str, batch: int | None = None, shards: int = 2) -> None:
        self._address, prefix = located(address)
        self._batch, self._shards = batch, shards
        self._prefix = f"{prefix}-replay-{uuid.uuid4().hex[:12]}"
        create_topics(self._address, PARTITIONS, self._prefix)
        self._writer = KafkaWriter(self._address, self._prefix)
        super().__init__(self._writer)

    def finish(self) -> list[Notified]:
        """Run the job over all of it."""
        from silbo.streaming import kafka_job

        self._writer.drain()
        self._writer.close()
        with tempfile.TemporaryDirectory(prefix="silbo-stream-") as folder:
            options = Options(Path(folder) / "checkpoint", shards=self._shards, batch=self._batch)
            _run(kafka_job.start(kafka_job.spark_session(brief=True), self._address, options, self._prefix))
        found = in_order(values(self._address, NOTIFICATIONS, self._prefix))
        delete_topics(self._address, self._prefix)
        return found


def _run(query: StreamingQuery) -> None:
    try:
        query.processAllAvailable()
    finally:
        query.stop()
