"""The thread that reads the notifications of a connection, drops repeats, and puts the rest into the queues."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from silbo.core.client import Client
from silbo.errors import Closed, InvalidRecord, NotAcknowledged
from silbo.model.notification import Publication
from silbo.session.queue import Queue, wait_for_room
from silbo.wire.records import NotificationRecord, decode

if TYPE_CHECKING:
    from silbo.streaming.kafka.connection import KafkaConnection

log = logging.getLogger("silbo")

POLL = 200  # milliseconds after which the thread of a closed connection ends, at most


class NotificationReader(Protocol):
    """Reads the topic of notifications."""

    def poll(self, timeout_ms: int) -> Mapping[Any, Sequence[Any]]:
        """The records that have arrived, by partition."""

    def close(self) -> None:
        """Let go of Kafka."""


class Arrivals:
    """Reads notifications, in a thread, until the connection has ended."""

    def __init__(self, connection: KafkaConnection, reader: NotificationReader) -> None:
        self._connection = connection
        self._reader = reader
        self.blocked: dict[Queue, int] = {}  # full queues with the policy 'block', and the tickets to wait for
        self.reports: list[tuple[str, int]] = []  # subscriptions that ended as slow, and the limits of their queues
        threading.Thread(target=self._read, name="silbo-kafka-notifications", daemon=True).start()

    def _read(self) -> None:
        """Read notifications until the connection ends. If Kafka cannot be read, the queues end with an error."""
        try:
            while not self._connection.ended.is_set():
                for records in self._reader.poll(timeout_ms=POLL).values():
                    for record in records:
                        self._arrived(record.key, record.value)
        except Exception as error:  # the thread ends: readers of the queues must not wait forever
            log.exception("notifications cannot be read from Kafka any more")
            self._end_queues(error)
        self._connection.ended.wait()
        self._reader.close()

    def _end_queues(self, error: Exception) -> None:
        with self._connection.lock:
            for verbs in self._connection.registry:
                for queue in verbs.queues():
                    queue.close(Closed(f"the connection to Kafka ({error})"))

    def _arrived(self, key: bytes | None, value: bytes) -> None:
        client = None if key is None else self._connection.core.clients.get(key.decode(errors="replace"))
        if client is None:
            return
        try:
            self._deliver(client, value)
            # a full queue with the policy 'block' stops this thread, and so the notifications of this connection only
            if self.blocked:
                with self._connection.lock:
                    tickets, self.blocked = self.blocked, {}
                wait_for_room(tickets, time.monotonic())
        except NotAcknowledged as error:  # a slow subscription was not ended; the next arrival tries it again
            log.warning("a slow subscription could not be ended: %s", error)
        self._report()

    def _deliver(self, client: Client, value: bytes) -> None:
        try:
            record = decode(value)
        except InvalidRecord as error:
            log.warning("a notification for %s cannot be read: %s", client.name, error)
            return
        row = client.subscriptions.get(record.subscription) if isinstance(record, NotificationRecord) else None
        if row is None or not isinstance(record, NotificationRecord) or not self._connection.hearing.is_new(record):
            return
        publication = _publication(record)
        self._connection.counts["notified"] += 1
        with self._connection.lock:
            has_room = len(row.sink) < row.sink.room
            if has_room:
                row.sink.append(publication)
        if not has_room:
            row.sink.put(publication)

    def _report(self) -> None:
        """Log which subscriptions ended as slow. The caller does not hold the lock."""
        with self._connection.lock:
            reports, self.reports = self.reports, []
        for name, limit in reports:
            log.warning("subscription %s ended: its queue of %d was full", name, limit)


def _publication(record: NotificationRecord) -> Publication:
    return Publication(
        record.publisher, record.publisher_uuid, record.sequence, record.attributes, {}, record.context, None,
        record.payload, record.time,
    )  # fmt: skip
