"""The output of a shard's batch as rows for Spark; content that notifications of a publication share is stored once.

A row names a topic, its recipients (the key and the beginning of each record) and the common end of their records.
Spark's own code (`expanded`) or the sink of the local log (`values`) joins them. So a publication of a megabyte for a
thousand subscribers takes sixteen megabytes in Arrow, and never more than `EXPANDED` bytes on Java's heap.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from silbo.streaming.topics import LARGEST_VALUE, NOTIFICATIONS, REJECTED
from silbo.wire.records import SHOWN, NotificationRecord, RejectionRecord, decode, encode, head_of, tail_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

MOST = 10_000  # recipients of a row
# bytes of the records that a row expands to, where it has several: Spark holds all of them in memory before the first
# is written to Kafka
EXPANDED = 2**26
SCHEMA = "topic string, recipients array<struct<key binary, head binary>>, tail binary"

Recipient: TypeAlias = tuple[bytes | None, bytes]  # the key and the beginning of a record
Output: TypeAlias = tuple[str, Sequence[Recipient], bytes]  # topic, recipients, the end of each of their records


def output_of(notifications: Iterable[NotificationRecord], rejected: Iterable[RejectionRecord]) -> Iterator[Output]:
    """The rows of a batch, notifications in their order."""
    for alike in _runs(notifications):
        yield from _rows(alike)
    for each in rejected:
        yield REJECTED, [(None, encode(each))], b""


def _runs(notifications: Iterable[NotificationRecord]) -> Iterator[list[NotificationRecord]]:
    """Yield runs of neighbours that differ only in their recipients."""
    run: list[NotificationRecord] = []
    for each in notifications:
        if run and (len(run) == MOST or not _is_alike(run[-1], each)):
            yield run
            run = []
        run.append(each)
    if run:
        yield run


def _is_alike(a: NotificationRecord, b: NotificationRecord) -> bool:
    """Whether both come from one publication and include the same context."""
    return (
        a.attributes is b.attributes
        and a.payload is b.payload
        and (a.publisher_uuid, a.sequence, a.time) == (b.publisher_uuid, b.sequence, b.time)
        and a.context.keys() == b.context.keys()
        and all(b.context[name] is value for name, value in a.context.items())
    )


def _rows(alike: Sequence[NotificationRecord]) -> Iterator[Output]:
    tail, recipients = tail_of(alike[0]), []
    for each in alike:
        head = head_of(each)
        if len(head) + len(tail) <= LARGEST_VALUE:
            recipients.append((each.subscriber_uuid.encode(), head))
        else:
            yield REJECTED, [(None, encode(_too_large(each, head + tail)))], b""
    if recipients:
        largest = len(tail) + max(len(head) for _, head in recipients)
        most = max(1, EXPANDED // largest)
        for at in range(0, len(recipients), most):
            yield NOTIFICATIONS, recipients[at : at + most], tail


def _too_large(notification: NotificationRecord, value: bytes) -> RejectionRecord:
    """The rejection of a notification too large for a topic; it has no place in an input, so that is given as 0."""
    reason = (
        f"the notification {notification.publisher}#{notification.sequence} to {notification.subscriber}/"
        f"{notification.subscription} has {len(value):,} bytes, at most {LARGEST_VALUE:,} can be written."
    )
    return RejectionRecord(0, NOTIFICATIONS, 0, 0, reason, value[:SHOWN])


def expanded(rows: DataFrame) -> DataFrame:
    """A row for each record: `topic`, `key`, `value`, `shard` and `executor`."""
    each = rows.selectExpr("topic", "explode(recipients) as recipient", "tail", "shard", "executor")
    return each.selectExpr("topic", "recipient.key", "concat(recipient.head, tail) as value", "shard", "executor")


def values(rows: Mapping[str, Sequence[Any]], topic: str) -> Iterator[bytes]:
    """The records of a topic, from rows given as columns."""
    for name, recipients, tail in zip(rows["topic"], rows["recipients"], rows["tail"], strict=True):
        if name == topic:
            yield from (recipient["head"] + tail for recipient in recipients)


def notifications_in_order(records: Iterable[bytes]) -> list[NotificationRecord]:
    """Notifications without repeats, in the order of the publications."""
    first: dict[tuple[str, int, str, str], NotificationRecord] = {}
    for value in records:
        record = decode(value)
        assert isinstance(record, NotificationRecord)
        first.setdefault((record.publisher_uuid, record.sequence, record.subscriber_uuid, record.subscription), record)
    return sorted(first.values(), key=_place)


def _place(record: NotificationRecord) -> tuple[int, str, int, str, str]:
    return record.time, record.publisher_uuid, record.sequence, record.subscriber, record.subscription
