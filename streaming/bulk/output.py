"""The output of a shard's batch as rows for Spark; content that notifications of a publication share is stored once.

A row names a topic, its recipients (the key and the beginning of each record) and the common end of their records.
Spark's own code (`expanded`) or the sink of the local log (`values`) joins them. So a publication of a megabyte for a
thousand subscribers takes sixteen megabytes in Arrow, and never more than `EXPANDED` bytes on Java's heap.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any, TypeAlias

from silbo.matching.candidates import SubscriptionRow
from silbo.model.notification import Publication
from silbo.model.values import Context
from silbo.streaming.bulk.step import Match
from silbo.streaming.topics import LARGEST_VALUE, NOTIFICATIONS, REJECTED
from silbo.wire.records import (
    SHOWN,
    NotificationRecord,
    RejectionRecord,
    decode,
    encode,
    notification_beginning,
    notification_end,
    notification_recipient,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

MOST = 10_000  # recipients of a row
# bytes of the records that a row expands to, where it has several: Spark holds all of them in memory before the first
# is written to Kafka
EXPANDED = 2**26
SCHEMA = "topic string, recipients array<struct<key binary, head binary>>, tail binary"

Recipient: TypeAlias = tuple[bytes | None, bytes]  # the key and the beginning of a record
Output: TypeAlias = tuple[str, Sequence[Recipient], bytes]  # topic, recipients, the end of each of their records


def output_of(matches: Iterable[Match], rejected: Iterable[RejectionRecord]) -> Iterator[Output]:
    """The rows of a batch, notifications in their order."""
    for publication, rows in matches:
        for context, alike in _by_context(publication, rows):
            yield from _output(publication, context, alike)
    for each in rejected:
        yield REJECTED, [(None, encode(each))], b""


def _by_context(
    publication: Publication, rows: Sequence[SubscriptionRow]
) -> Iterator[tuple[Context, Sequence[SubscriptionRow]]]:
    """Yield runs of at most `MOST` neighbours that are shown the same part of the publisher's context."""
    offered = publication.offered
    for names, run in groupby(rows, key=lambda row: offered.keys() & row.asked):
        context = {name: value for name, value in offered.items() if name in names}
        alike = list(run)
        for at in range(0, len(alike), MOST):
            yield context, alike[at : at + MOST]


def _output(publication: Publication, context: Context, rows: Sequence[SubscriptionRow]) -> Iterator[Output]:
    """The rows of the notifications of a publication that show the same context."""
    tail, recipients = notification_end(publication.attributes, context, publication.payload), []
    for row, head in zip(rows, _heads(publication, rows), strict=True):
        if len(head) + len(tail) <= LARGEST_VALUE:
            recipients.append((row.subscriber.encode(), head))
        else:
            yield REJECTED, [(None, encode(_too_large(publication, row, head + tail)))], b""
    if recipients:
        largest = len(tail) + max(len(head) for _, head in recipients)
        most = max(1, EXPANDED // largest)
        for at in range(0, len(recipients), most):
            yield NOTIFICATIONS, recipients[at : at + most], tail


def _heads(publication: Publication, rows: Sequence[SubscriptionRow]) -> Iterator[bytes]:
    """The bytes of the notifications up to their message: the publication and the recipient."""
    sent = publication
    assert sent.time is not None
    beginning = notification_beginning(sent.time, sent.publisher_uuid, sent.publisher, sent.sequence)
    for row in rows:
        yield beginning + notification_recipient(row.subscriber, row.name, row.id)


def _too_large(publication: Publication, row: SubscriptionRow, value: bytes) -> RejectionRecord:
    """The rejection of a notification too large for a topic; it has no place in an input, so that is given as 0."""
    reason = (
        f"the notification {publication.publisher}#{publication.sequence} to {row.name}/{row.id}"
        f" has {len(value):,} bytes, at most {LARGEST_VALUE:,} can be written."
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
