"""The Spark job as an engine of `silbo replay`: the events become records, and the job matches them all at the end."""

from __future__ import annotations

import logging
import tempfile
import uuid
from collections.abc import Callable, Sequence
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from silbo.errors import SilboError
from silbo.model.events import Event
from silbo.model.notification import Notified
from silbo.streaming.bulk.output import notifications_in_order
from silbo.streaming.bulk.sender import sending
from silbo.streaming.kafka.client import KafkaWriter, create_topics, delete_topics, located, values
from silbo.streaming.local.log import LogWriter
from silbo.streaming.local.log_job import start
from silbo.streaming.local.log_records import drain, notifications
from silbo.streaming.spark.failure import as_job_failure
from silbo.streaming.spark.job import Options
from silbo.streaming.spark.spark_session import session
from silbo.streaming.topics import NOTIFICATIONS
from silbo.wire.records import NotificationRecord

if TYPE_CHECKING:
    from pyspark.sql.streaming.query import StreamingQuery

PARTITIONS = 3

log = logging.getLogger("silbo")


class _JobEngine:
    """The times of the records count from 1, so that the records keep the order of the events."""

    apply: Callable[[Sequence[Event], Callable[[int, SilboError], None]], Sequence[Notified]]

    def __init__(self, writer: LogWriter | KafkaWriter) -> None:
        times = count(1)
        # the fold writes the events as records and finds no notifications; `finish` returns them
        self.apply = sending(writer.send, lambda: next(times)).apply


class StreamEngine(_JobEngine):
    """The job on a local log."""

    def __init__(self, batch: int | None = None, shards: int = 2) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="silbo-stream-")
        self._log = Path(self._folder.name) / "log"
        self._options = Options(Path(self._folder.name) / "checkpoint", shards=shards, batch=batch)
        self._writer = LogWriter(self._log, PARTITIONS)
        super().__init__(self._writer)

    def finish(self) -> list[NotificationRecord]:
        """Run the job over all records, and return the notifications."""
        self._writer.close()
        drain(self._log)
        _run(lambda: start(session(brief=True), self._log, self._options))
        notified = notifications(self._log)
        self.close()
        return notified

    def close(self) -> None:
        """Delete the log and the checkpoint; closing it again does nothing."""
        self._folder.cleanup()


class KafkaEngine(_JobEngine):
    """The job over Kafka, with topics of its own."""

    def __init__(self, address: str, batch: int | None = None, shards: int = 2) -> None:
        self._address, prefix = located(address)
        self._batch, self._shards = batch, shards
        self._prefix = f"{prefix}-replay-{uuid.uuid4().hex[:12]}"
        self._has_topics = True
        create_topics(self._address, PARTITIONS, self._prefix)
        self._writer = KafkaWriter(self._address, self._prefix)
        super().__init__(self._writer)

    def finish(self) -> list[NotificationRecord]:
        """Run the job over all records, and return the notifications."""
        from silbo.streaming.kafka import kafka_job

        self._writer.drain()
        self._writer.close()
        with tempfile.TemporaryDirectory(prefix="silbo-stream-") as folder:
            options = Options(Path(folder) / "checkpoint", shards=self._shards, batch=self._batch)
            _run(lambda: kafka_job.start(kafka_job.spark_session(brief=True), self._address, options, self._prefix))
        notified = notifications_in_order(values(self._address, NOTIFICATIONS, self._prefix))
        self.close()
        return notified

    def close(self) -> None:
        """Delete the topics; closing it again does nothing."""
        if self._has_topics:
            self._has_topics = False
            self._writer.abandon()
            try:
                delete_topics(self._address, self._prefix)
            except SilboError as error:
                log.warning("the topics %s.* were not deleted: %s", self._prefix, error.line)


def _run(start: Callable[[], StreamingQuery]) -> None:
    with as_job_failure():
        query = start()
        try:
            query.processAllAvailable()
        finally:
            query.stop()
