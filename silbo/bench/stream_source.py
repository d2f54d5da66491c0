"""The topics to which the stream bench sends records and from which it reads notifications: a local log, or Kafka."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from silbo.streaming.kafka import kafka_job
from silbo.streaming.kafka.client import KafkaWriter, consumer, create_topics, delete_topics, named
from silbo.streaming.local import log_job
from silbo.streaming.local.log import LogWriter, end_of, partition_file, read
from silbo.streaming.spark import job
from silbo.streaming.topics import NOTIFICATIONS

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

    from silbo.wire.records import Record

PARTITIONS = 3
POLL = 20  # milliseconds


class Source(Protocol):
    """The topics, as the bench uses them."""

    def send(self, topic: str, key: str, record: Record) -> None:
        """Send a record; the job sees it after `flush`."""

    def flush(self) -> None:
        """Make everything that was sent visible to the job."""

    def start(self, spark: SparkSession, options: job.Options) -> StreamingQuery:
        """Start the job over these topics."""

    def heard(self) -> Iterator[bytes]:
        """Yield the notifications that arrived since the last call."""

    def close(self) -> None:
        """Close the topics, and delete those in Kafka."""


class LogTopics:
    """Topics in a local log."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._writer = LogWriter(folder, PARTITIONS)
        self._at = 0
        self.send, self.flush, self.close = self._writer.send, self._writer.flush, self._writer.close

    def start(self, spark: SparkSession, options: job.Options) -> StreamingQuery:
        """Start the job over these topics."""
        return log_job.start(spark, self._folder, options)

    def heard(self) -> Iterator[bytes]:
        """Yield the notifications that arrived since the last call."""
        path = partition_file(self._folder, NOTIFICATIONS, 0)
        if path.exists():
            since, self._at = self._at, end_of(path, self._at)
            yield from (value for _, value in read(path, since, self._at))


class KafkaTopics:
    """New topics in Kafka, deleted at the end."""

    def __init__(self, address: str) -> None:
        from kafka import TopicPartition

        self._address = address
        self._prefix = f"silbo-bench-{uuid.uuid4().hex[:12]}"
        create_topics(address, PARTITIONS, self._prefix)
        self._writer = KafkaWriter(address, self._prefix)
        self.send, self.flush = self._writer.send, self._writer.flush
        self._reader = consumer(address)
        self._mine = [TopicPartition(named(NOTIFICATIONS, self._prefix), number) for number in range(PARTITIONS)]
        self._reader.assign(self._mine)
        self._reader.seek_to_beginning(*self._mine)

    def start(self, spark: SparkSession, options: job.Options) -> StreamingQuery:
        """Start the job over these topics."""
        return kafka_job.start(spark, self._address, options, self._prefix)

    def heard(self) -> Iterator[bytes]:
        """Yield the notifications that arrived since the last call."""
        ends = self._reader.end_offsets(self._mine)
        while any(self._reader.position(each) < end for each, end in ends.items()):
            for records in self._reader.poll(timeout_ms=POLL).values():
                yield from (record.value for record in records)

    def close(self) -> None:
        """Close the connections, and delete the topics."""
        self._reader.close()
        self._writer.close()
        delete_topics(self._address, self._prefix)


@contextmanager
def source(address: str | None, folder: Path) -> Iterator[Source]:
    """A log in this folder, or topics in the Kafka at this address."""
    made: Source = LogTopics(folder) if address is None else KafkaTopics(address)
    try:
        yield made
    finally:
        made.close()
