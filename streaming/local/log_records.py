"""Records in a local log: write them to the partition of their key, end the log, and read the notifications."""

from __future__ import annotations

from pathlib import Path

from silbo.streaming.bulk.output import notifications_in_order
from silbo.streaming.local.log import Writer, append, create, partition_of, partitions_of, read_all
from silbo.streaming.topics import INPUTS, NOTIFICATIONS
from silbo.wire.records import LAST, NotificationRecord, Record, TickRecord, encode


class LogWriter:
    """Writes records to a log's partitions; its `send` is what `Sender` calls."""

    def __init__(self, folder: Path, partitions: int) -> None:
        self._partitions = partitions
        for topic in INPUTS:
            create(folder, topic, partitions)
        self._writers = {
            (topic, number): Writer(folder, topic, number) for topic in INPUTS for number in range(partitions)
        }

    def send(self, topic: str, key: str, record: Record) -> None:
        """Append a record to the partition of its key."""
        self._writers[topic, partition_of(key, self._partitions)].append(encode(record))

    def flush(self) -> None:
        """Let readers see everything that was sent."""
        for writer in self._writers.values():
            writer.flush()

    def close(self) -> None:
        """Write everything through to the disk."""
        for writer in self._writers.values():
            writer.close()


def drain(folder: Path) -> None:
    """Append to every partition the tick that says that no record follows."""
    for topic in INPUTS:
        for number in range(partitions_of(folder, topic)):
            append(folder, topic, number, [encode(TickRecord(LAST))])


def notifications(folder: Path) -> list[NotificationRecord]:
    """The notifications that the job wrote to a log."""
    return notifications_in_order(read_all(folder, NOTIFICATIONS, 0))
