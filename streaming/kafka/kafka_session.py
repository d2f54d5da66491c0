"""Sessions over Kafka: open one, and end one whose program is gone."""

from __future__ import annotations

import time
from typing import Any

from silbo.errors import InvalidRecord
from silbo.model.values import checked_name
from silbo.session.session import Session
from silbo.streaming.bulk.sender import subscription_key
from silbo.streaming.kafka.client import ACKNOWLEDGED, PREFIX, KafkaWriter, consumer, missing_topic, named, values
from silbo.streaming.kafka.connection import KafkaConnection
from silbo.streaming.topics import CONTEXTS, NOTIFICATIONS, SUBSCRIPTIONS
from silbo.wire.records import ContextRecord, Record, SubscriptionRecord, UnsubscriptionRecord, decode


def connect(
    address: str, name: str | None = None, prefix: str = PREFIX, *, acknowledged: float = ACKNOWLEDGED
) -> Session:
    """Open a session over Kafka's topics; closing the session closes the connection.

    A verb waits for Kafka's acknowledgement, and raises `NotAcknowledged` after `acknowledged` seconds.
    """
    if name is not None:
        checked_name(name, "name")
    writer = KafkaWriter(address, prefix, acknowledged)
    return KafkaConnection(writer, _at_the_end(address, prefix)).connect(name)


def end_subscriber(address: str, uuid: str, prefix: str = PREFIX) -> int:
    """End the subscriptions and the context of a session whose program is gone; returns the number of subscriptions."""
    last: dict[str, Record] = {}
    for value in values(address, SUBSCRIPTIONS, prefix):
        record = _of(uuid, value)
        if record is not None:
            last[record.id] = record
    left = [record for record in last.values() if isinstance(record, SubscriptionRecord)]
    writer, now = KafkaWriter(address, prefix), time.time_ns() // 1_000
    for record in left:
        writer.send(
            SUBSCRIPTIONS,
            subscription_key(uuid, record.id),
            UnsubscriptionRecord(max(now, record.time), uuid, record.id),
        )
    writer.send(CONTEXTS, uuid, ContextRecord(now, uuid, {}))
    writer.close()
    return len(left)


def _of(uuid: str, value: bytes) -> SubscriptionRecord | UnsubscriptionRecord | None:
    """The record if it is about a subscription of this subscriber; None if it is not, or cannot be read."""
    try:
        record = decode(value)
    except InvalidRecord:
        return None
    return (
        record if isinstance(record, SubscriptionRecord | UnsubscriptionRecord) and record.subscriber == uuid else None
    )


def _at_the_end(address: str, prefix: str) -> Any:
    """A consumer of all notifications that arrive from now on."""
    reader = consumer(address)
    from kafka import TopicPartition

    topic = named(NOTIFICATIONS, prefix)
    partitions = [TopicPartition(topic, number) for number in reader.partitions_for_topic(topic) or ()]
    if not partitions:
        reader.close()
        raise missing_topic(address, NOTIFICATIONS, prefix)
    reader.assign(partitions)
    reader.seek_to_end(*partitions)
    for each in partitions:
        reader.position(each)  # fixes the position now, so that records before the first poll are read
    return reader
