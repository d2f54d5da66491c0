"""Sessions over Kafka: the same verbs, producing to the topics and consuming this subscriber's notifications.

A connection is a broker of its own that matches nothing: its index sends. A thread reads the notifications, drops
those that came before (by publisher and sequence, never by a growing set) and puts the rest into the queues.
"""

from __future__ import annotations

import logging
import threading
from typing import Any

from silbo.broker.broker import Broker
from silbo.broker.session import Session
from silbo.model.notification import Notification, Publication
from silbo.streaming.kafka import PREFIX, KafkaWriter, consumer, named
from silbo.streaming.records import Notified, Record, decode
from silbo.streaming.sending import Sender
from silbo.streaming.topics import NOTIFICATIONS

log = logging.getLogger("silbo")

POLL = 200  # milliseconds: how soon a closed connection's thread ends


def connect(address: str, name: str | None = None, prefix: str = PREFIX) -> Session:
    """A session over Kafka's topics; its end is the end of the connection."""
    return KafkaBroker(address, prefix).connect(name)


class KafkaBroker(Broker):
    """The rules of one session, Kafka behind them."""

    def __init__(self, address: str, prefix: str = PREFIX) -> None:
        self._writer = KafkaWriter(address, prefix)
        super().__init__(index=Sender(self._send))
        self._reader = _at_the_end(address, named(NOTIFICATIONS, prefix))
        self._highest: dict[tuple[str, str], int] = {}  # by publisher and subscription
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._read, name="silbo-kafka", daemon=True)
        self._thread.start()

    def _send(self, role: str, key: str, record: Record) -> None:
        """Send, and wait for Kafka's word: what a verb has accepted is not lost."""
        self._writer.send(role, key, record)
        self._writer.flush()

    def _forget(self, session: Session) -> None:
        super()._forget(session)
        self._ended.set()

    def _read(self) -> None:
        while not self._ended.is_set():
            for records in self._reader.poll(timeout_ms=POLL).values():
                for record in records:
                    self._arrived(record.key, record.value)
        self._reader.close()
        self._writer.close()

    def _arrived(self, key: bytes | None, value: bytes) -> None:
        with self._lock:
            session = self._sessions.get((key or b"").decode())
            if session is None:
                return
            record = decode(value)
            assert isinstance(record, Notified)
            subscription = session._subscriptions.get(record.subscription)
            seen = self._highest.get((record.publisher_uuid, record.subscription), 0)
            if subscription is None or record.sequence <= seen:
                return
            self._highest[record.publisher_uuid, record.subscription] = record.sequence
            notification = _notification(record)
            if not subscription._queue.put_if_room(notification):
                subscription._offer(notification)
            self._counts["notified"] += 1
        self._report()


def _notification(record: Notified) -> Notification:
    publication = Publication(
        record.publisher, record.publisher_uuid, record.sequence, record.attributes, {}, record.context, None,
        record.payload,
    )  # fmt: skip
    return Notification(publication, record.subscriber, record.subscription, record.context)


def _at_the_end(address: str, topic: str) -> Any:
    """A consumer of all partitions that begins with what comes from now on."""
    from kafka import TopicPartition

    reader = consumer(address)
    partitions = [TopicPartition(topic, number) for number in reader.partitions_for_topic(topic) or ()]
    reader.assign(partitions)
    reader.seek_to_end(*partitions)
    for each in partitions:
        reader.position(each)  # asked now: what comes before the first poll counts
    return reader
