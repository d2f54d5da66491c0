"""Sessions over Kafka: the same verbs, producing to the topics and consuming this subscriber's notifications.

A connection is a broker of its own that matches nothing: its index sends. A thread reads the notifications, drops
those that came before (by publisher and sequence, never by a growing set) and puts the rest into the queues.
"""

from __future__ import annotations

import logging
import threading
from typing import Any

from silbo.broker.broker import Broker, Tickets
from silbo.broker.session import Session
from silbo.errors import Closed, InvalidRecord, InvalidValue
from silbo.model.notification import Notification, Publication
from silbo.model.values import checked_name
from silbo.streaming.kafka import PREFIX, KafkaWriter, consumer, named
from silbo.streaming.records import Notified, Record, decode
from silbo.streaming.sending import Sender
from silbo.streaming.topics import NOTIFICATIONS

log = logging.getLogger("silbo")

POLL = 200  # milliseconds: how soon a closed connection's thread ends


def connect(address: str, name: str | None = None, prefix: str = PREFIX) -> Session:
    """A session over Kafka's topics; its end is the end of the connection."""
    if name is not None:
        checked_name(name, "name")
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
        try:
            super()._forget(session)
        finally:
            if not self._sessions:
                self._ended.set()

    def _read(self) -> None:
        """Until the session ends, or Kafka cannot be read any more: then whoever waits for notifications is told."""
        try:
            while not self._ended.is_set():
                for records in self._reader.poll(timeout_ms=POLL).values():
                    for record in records:
                        self._arrived(record.key, record.value)
        except Exception as error:  # the thread's last word: no reader may wait for ever
            log.exception("notifications of Kafka cannot be read any more")
            self._end_queues(error)
        self._ended.wait()
        self._reader.close()
        self._writer.close()

    def _end_queues(self, error: Exception) -> None:
        with self._lock:
            for session in self._sessions.values():
                for subscription in session._subscriptions.values():
                    subscription._queue.close(Closed(f"the connection to Kafka ({error})"))

    def _arrived(self, key: bytes | None, value: bytes) -> None:
        tickets: Tickets = {}
        with self._lock:
            for session in self._sessions.values():
                if key == session.uuid.encode():
                    self._put(session, value, tickets)
        # a full queue that blocks holds this thread back, and with it this connection alone
        self._wait_for_room(tickets)
        self._report()

    def _put(self, session: Session, value: bytes, tickets: Tickets) -> None:
        try:
            record = decode(value)
        except InvalidRecord as error:
            log.warning("a notification for %s cannot be read: %s", session.name, error)
            return
        subscription = session._subscriptions.get(record.subscription) if isinstance(record, Notified) else None
        if subscription is None or not isinstance(record, Notified):
            return
        place = record.publisher_uuid, record.subscription
        if record.sequence <= self._highest.get(place, 0):
            return
        self._highest[place] = record.sequence
        notification = _notification(record)
        if not subscription._queue.put_if_room(notification):
            ticket = subscription._offer(notification)
            if ticket is not None:
                tickets[subscription] = ticket
        self._counts["notified"] += 1


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
    if not partitions:
        reader.close()
        raise InvalidValue("kafka", f"{address} has no topic {topic}. Make them: silbo stream --create-topics.")
    reader.assign(partitions)
    reader.seek_to_end(*partitions)
    for each in partitions:
        reader.position(each)  # asked now: what comes before the first poll counts
    return reader
