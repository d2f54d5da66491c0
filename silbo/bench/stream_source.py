"""Where the stream bench sends its records and hears the notifications: a local log, or topics of Kafka."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from silbo.streaming import job, kafka_job
from silbo.streaming.kafka import KafkaWriter, consumer, create_topics, delete_topics, named
from silbo.streaming.log import end_of, partition_file, read
from silbo.streaming.topics import NOTIFICATIONS

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

    from silbo.streaming.records import Record

PARTITIONS = 3
POLL = 20  # milliseconds


class Source(Protocol):
    """What the bench asks of it."""

    def send(self, topic: str, key: str, record: Record) -> None:
        """A record on its way; `flush` lets the job see it."""

    def flush(self) -> None:
        """Everything that was sent is there."""

    def start(self, spark: SparkSession, options: job.Options) -> StreamingQuery:
        """The job over it, running."""

    def heard(self) -> Iterator[bytes]:
        """The notifications that came since it was asked last."""

    def close(self) -> None:
        """Take everything away."""


class LogTopics:
    """Topics in a local log."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._writer = job.LogWriter(folder, PARTITIONS)
        self._at = 0
        self.send, self.flush, self.close = self._writer.send, self._writer.flush, self._writer.close

    def start(self, spark: SparkSession, options: job.Options) -> StreamingQuery:
        """The job over it, running."""
        return job.start(spark, self._folder, options)

    def heard(self) -> Iterator[bytes]:
        """The notifications that came since it was asked last."""
        path = partition_file(self._folder, NOTIFICATIONS, 0)
        if path.exists():
            since, self._at = self._at, end_of(path, self._at)
            yield from (value for _, value in read(path, since, self._at))


class KafkaTopics:
    """Topics of their own in a Kafka."""

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
        """The job over it, running."""
        return kafka_job.start(spark, self._address, options, self._prefix)

    def heard(self) -> Iterator[bytes]:
        """The notifications that came since it was asked last."""
        ends = self._reader.end_offsets(self._mine)
        while any(self._reader.position(each) < end for each, end in ends.items()):
            for records in self._reader.poll(timeout_ms=POLL).values():
                yield from (record.value for record in records)

    def close(self) -> None:
        """Take everything away."""
        self._reader.close()
        self._writer.close()
        delete_topics(self._address, self._prefix)


@contextmanager
def source(address: str | None, folder: Path) -> Iterator[Source]:
    """A log in this folder, or topics of the Kafka at this address."""
    made: Source = LogTopics(folder) if address is None else KafkaTopics(address)
    try:
        yield made
    finally:
        made.close()
