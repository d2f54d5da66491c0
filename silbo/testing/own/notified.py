"""The notifications of a step, as the records that the job writes."""

from __future__ import annotations

from collections.abc import Iterable

from silbo.streaming.bulk.output import output_of
from silbo.streaming.bulk.step import Match
from silbo.streaming.topics import NOTIFICATIONS
from silbo.wire.records import NotificationRecord, decode


def notification_records(matches: Iterable[Match]) -> list[NotificationRecord]:
    """The records of the notifications of these publications."""
    rows = output_of(matches, [])
    found = [
        decode(head + tail) for topic, recipients, tail in rows if topic == NOTIFICATIONS for _, head in recipients
    ]
    return [record for record in found if isinstance(record, NotificationRecord)]
