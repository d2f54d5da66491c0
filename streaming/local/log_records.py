"""Records in a local log: end the log, and read the notifications that the job wrote."""

from __future__ import annotations

from pathlib import Path

from silbo.streaming.bulk.output import notifications_in_order
from silbo.streaming.local.log import append, partitions_of, read_all
from silbo.streaming.topics import INPUTS, NOTIFICATIONS
from silbo.wire.records import LAST, NotificationRecord, TickRecord, encode


def drain(folder: Path) -> None:
    """Append to every partition the tick that says that no record follows."""
    for topic in INPUTS:
        for number in range(partitions_of(folder, topic)):
            append(folder, topic, number, [encode(TickRecord(LAST))])


def notifications(folder: Path) -> list[NotificationRecord]:
    """The notifications that the job wrote to a log."""
    return notifications_in_order(read_all(folder, NOTIFICATIONS, 0))
