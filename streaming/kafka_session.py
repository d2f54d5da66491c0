"""Sessions over Kafka: the same verbs, producing to the topics and consuming this subscriber's notifications.

A connection is a broker of its own that matches nothing: its index sends. A thread reads the notifications, drops
those that came before (by publisher and sequence) and puts the rest into the queues. Verbs wait for Kafka, one at a
time; queues have a lock of their own, so that whoever reads them does not wait with the verbs.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import OrderedDict
from typing import Any

from silbo.broker.broker import Broker, Tickets
from silbo.broker.delivery import Subscription
from silbo.broker.session import Session
from silbo.errors import Closed, InvalidRecord, InvalidValue, NotAcknowledged
from silbo.model.notification import Notification, Publication
from silbo.model.values import checked_name
from silbo.streaming.kafka import ACKNOWLEDGED, PREFIX, KafkaWriter, consumer, named, values
from silbo.streaming.records import ContextIs, Notified, Record, Subscribed, Unsubscribed, decode
from silbo.streaming.sending import Sender, subscription_key
from silbo.streaming.topics import CONTEXTS, NOTIFICATIONS, SUBSCRIPTIONS

log = logging.getLogger("silbo")

POLL = 200  # milliseconds: how soon a closed connection's thread ends
PUBLISHERS = 65_536  # of a subscription, whose repeats are known; a batch matched again has fewer
ENDED = 65_536  # ids of subscriptions that ended: one used again later than that has nothing on its way any more


def connect(
    address: str, name: str | None = None, prefix: str = PREFIX, *, acknowledged: float = ACKNOWLEDGED
) -> Session:
    """A session over Kafka's topics; its end is the end of the connection.

    A verb waits for Kafka's word, `acknowledged` seconds at most, and then raises `NotAcknowledged`.
    """
    if name is not None:
        checked_name(name, "name")
    return KafkaBroker(address, prefix, acknowledged).connect(name)


def end_subscriber(address: str, uuid: str, prefix: str = PREFIX) -> int:
    """End the subscriptions and the context of a session whose program is gone; how many subscriptions there were."""
    last: dict[str, Record] = {}
    for value in values(address, SUBSCRIPTIONS, prefix):
        record = _of(uuid, value)
        if record is not None:
            last[record.id] = record
    left = [record for record in last.values() if isinstance(record, Subscribed)]
    writer, now = KafkaWriter(address, prefix), time.time_ns() // 1_000
    for record in left:
        writer.send(
            SUBSCRIPTIONS, subscription_key(uuid, record.id), Unsubscribed(max(now, record.time), uuid, record.id)
        )
    writer.send(CONTEXTS, uuid, ContextIs(now, uuid, {}))
    writer.close()
    return len(left)


def _of(uuid: str, value: bytes) -> Subscribed | Unsubscribed | None:
    """A subscriber's record of its subscriptions; others' are none, nor is what cannot be read."""
    try:
        record = decode(value)
    except InvalidRecord:
        return None
    return record if isinstance(record, Subscribed | Unsubscribed) and record.subscriber == uuid else None


class _Heard:
    """What came to a subscription: the highest sequence of each publisher, of those that spoke last."""

    __slots__ = ("_highest", "_since")

    def __init__(self, since: int | None) -> None:
        self._since = since  # microseconds: what was published before is of an older one with the same id
        self._highest: OrderedDict[str, int] = OrderedDict()

    def is_new(self, record: Notified) -> bool:
        """Whether it is this subscription's, and comes for the first time."""
        if self._since is not None and record.time < self._since:
            return False
        if record.sequence <= self._highest.get(record.publisher_uuid, 0):
            return False
        self._highest[record.publisher_uuid] = record.sequence
        self._highest.move_to_end(record.publisher_uuid)
        if len(self._highest) > PUBLISHERS:
            self._highest.popitem(last=False)
        return True


class KafkaBroker(Broker):
    """The rules of one session, Kafka behind them."""

    def __init__(self, address: str, prefix: str = PREFIX, acknowledged: float = ACKNOWLEDGED) -> None:
        self._writer = KafkaWriter(address, prefix, acknowledged)
        super().__init__(index=Sender(self._send, confirm=self._confirm))
        self._queue_lock = threading.RLock()
        self._reader = _at_the_end(address, named(NOTIFICATIONS, prefix))
        self._sent: list[Record] = []  # of the verb at hand
        self._heard: dict[str, _Heard] = {}  # by subscription
        self._used: OrderedDict[str, None] = OrderedDict()  # ids of subscriptions that ended
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._read, name="silbo-kafka", daemon=True)
        self._thread.start()

    def _send(self, role: str, key: str, record: Record) -> None:
        try:
            self._writer.send(role, key, record)
        except NotAcknowledged:
            self._sent = []
            raise
        self._sent.append(record)

    def _confirm(self) -> None:
        """Wait for Kafka's word of what a verb has sent: what it has accepted is not lost."""
        sent, self._sent = self._sent, []
        self._writer.flush()
        for record in sent:
            if isinstance(record, Subscribed):
                self._heard[record.id] = _Heard(record.time if record.id in self._used else None)
            elif isinstance(record, Unsubscribed):
                self._stop_hearing(record.id)

    def _stop_hearing(self, id: str) -> None:
        self._heard.pop(id, None)
        self._used[id] = None
        if len(self._used) > ENDED:
            self._used.popitem(last=False)

    def _forget(self, session: Session) -> None:
        try:
            super()._forget(session)
        finally:
            if not self._sessions:
                self._ended.set()

    # reading

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
        try:
            with self._lock:
                for session in self._sessions.values():
                    if key == session.uuid.encode():
                        self._put(session, value, tickets)
            # a full queue that blocks holds this thread back, and with it this connection's notifications alone
            self._wait_for_room(tickets)
        except NotAcknowledged as error:  # the end of a subscription that is too slow; the next arrival ends it again
            log.warning("a slow subscription could not be ended: %s", error)
        self._report()

    def _wait_for_room(self, tickets: Tickets) -> None:
        """As every broker, with the verbs' lock free: only this connection's thread puts something in."""
        since = time.monotonic()
        for subscription, ticket in tickets.items():
            subscription._wait_for_room(ticket, since)

    def _put(self, session: Session, value: bytes, tickets: Tickets) -> None:
        try:
            record = decode(value)
        except InvalidRecord as error:
            log.warning("a notification for %s cannot be read: %s", session.name, error)
            return
        subscription = session._subscriptions.get(record.subscription) if isinstance(record, Notified) else None
        if subscription is None or not isinstance(record, Notified) or not self._heard[subscription.id].is_new(record):
            return
        ticket = self._queued(subscription, _notification(record))
        if ticket is not None:
            tickets[subscription] = ticket
        self._counts["notified"] += 1

    def _queued(self, subscription: Subscription, notification: Notification) -> int | None:
        with self._queue_lock:
            has_room = subscription._queue.put_if_room(notification)
        return None if has_room else subscription._offer(notification)


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
