"""The thread that carries out the events of a connection: it applies an event, sends its records, and waits for Kafka.

If Kafka does not acknowledge the records, the event is undone, and its acknowledgement raises. A publication cannot be
undone, because Kafka may have its record: its sequence number stays used.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, Protocol

from silbo.core.client import Client
from silbo.errors import NotAcknowledged, SilboError
from silbo.matching.candidates import NOWHERE, Sink, SubscriptionRow
from silbo.model.events import Disconnect, Event, Publish, SetContext, Subscribe, Unsubscribe
from silbo.model.notification import Publication
from silbo.model.values import Context
from silbo.streaming.bulk.sender import Sender
from silbo.wire.records import PublicationRecord, Record, SubscriptionRecord, UnsubscriptionRecord

if TYPE_CHECKING:
    from silbo.streaming.kafka.connection import KafkaConnection

log = logging.getLogger("silbo")

CLOSING = 5.0  # seconds that a close waits for Kafka if it did not answer before
SLOW = 1.0  # seconds; a record that Kafka acknowledges later may be late for a job in strict order


class TopicWriter(Protocol):
    """Sends records to topics."""

    def send(self, role: str, key: str, record: Record, seconds: float | None = None) -> None:
        """Send a record, for at most `seconds`; `flush` waits for its acknowledgement."""

    def flush(self, seconds: float | None = None) -> None:
        """Wait until all records are acknowledged, or raise `NotAcknowledged`."""

    def close(self) -> None:
        """Wait until all records are acknowledged, and let go of Kafka."""


class EventWorker:
    """Takes one event after the other, in a thread."""

    def __init__(self, connection: KafkaConnection, writer: TopicWriter) -> None:
        self._connection = connection
        self._writer = writer
        self._sender = Sender(connection.core, self._send)
        self._sent: list[Record] = []  # records of the current event
        self._is_away = False  # whether Kafka did not acknowledge the previous event
        self._jobs: SimpleQueue[tuple[Future[Any], Callable[[], Any]] | None] = SimpleQueue()
        threading.Thread(target=self._work, name="silbo-kafka-verbs", daemon=True).start()

    def submit(self, job: Callable[[], Any]) -> Future[Any]:
        """Let the worker do a job after all earlier ones."""
        future: Future[Any] = Future()
        self._jobs.put((future, job))
        return future

    def _work(self) -> None:
        """Do one job after the other until `stop`, then let go of Kafka."""
        while (each := self._jobs.get()) is not None:
            future, job = each
            try:
                result = job()
            except BaseException as error:  # noqa: BLE001  # the caller gets it
                future.set_exception(error)
            else:
                future.set_result(result)
        self._writer.close()

    def stop(self) -> None:
        """End the thread after all jobs."""
        self._jobs.put(None)

    def accept(self, client: Client, event: Event, sink: Sink) -> Any:
        """Apply an event and send its records; if Kafka does not acknowledge them, undo all but a publish."""
        if type(event) is Disconnect:
            return self._disconnect(client, event)
        connection = self._connection
        with connection.lock:
            before = connection.core.contexts.at(client.row)
            result = connection.core.apply(client, event, sink)
        try:
            self._sender.send(client, event, result)
            self._confirm()
        except BaseException:
            self._undo(client, event, result, before)
            raise
        self._sender.confirmed()
        if type(event) is Publish:
            connection.counts["published"] += 1
        return result

    def _undo(self, client: Client, event: Event, result: Any, before: Context) -> None:
        """Apply the event that undoes an accepted one, if there is one."""
        opposite, sink = _opposite(event, result, before)
        if opposite is None:
            return
        with self._connection.lock:
            self._connection.core.apply(client, opposite, sink)
        if type(opposite) is Unsubscribe:
            self._connection.hearing.end(client.uuid, opposite.id)

    def _disconnect(self, client: Client, event: Disconnect) -> Sequence[SubscriptionRow]:
        """Send the ends of the subscriptions first: if Kafka does not answer, the session stays open."""
        self._sender.send(client, event, list(client.subscriptions.values()))
        self._confirm()
        self._sender.confirmed()
        with self._connection.lock:
            rows = self._connection.core.apply(client, event)
            self._connection.remove(client)
            return rows

    def accept_all(self, client: Client, events: Sequence[Publish]) -> list[Publication]:
        """Accept publishes, all or none, send them, and wait for Kafka once."""
        connection = self._connection
        with connection.lock:
            publications = connection.core.apply_all(client, events)
        for publication in publications:
            self._sender.publication(publication)
        self._confirm()
        connection.counts["published"] += len(publications)
        return publications

    def _send(self, role: str, key: str, record: Record) -> None:
        if isinstance(record, SubscriptionRecord):
            self._connection.hearing.begin(record)  # a job may answer before the acknowledgement is here
        try:
            self._writer.send(role, key, record, CLOSING if self._is_brief([record]) else None)
        except SilboError as error:
            self._sent = []
            self._is_away = self._is_away or isinstance(error, NotAcknowledged)
            raise
        self._sent.append(record)

    def _is_brief(self, records: Sequence[Record]) -> bool:
        """Whether to wait only briefly for Kafka: it did not answer before, and these records may be sent again.

        So, while Kafka is away, a close waits less than a publish.
        """
        return self._is_away and not any(isinstance(each, PublicationRecord | SubscriptionRecord) for each in records)

    def _confirm(self) -> None:
        """Wait until Kafka has acknowledged the records of an event."""
        sent, self._sent = self._sent, []
        seconds = CLOSING if self._is_brief(sent) else None
        self._is_away = True
        self._writer.flush(seconds)
        self._is_away = False
        warn_if_slow(sent, time.time_ns() // 1_000)
        for record in sent:
            if isinstance(record, UnsubscriptionRecord):
                self._connection.hearing.end(record.subscriber, record.id)


def _opposite(event: Event, result: Any, before: Context) -> tuple[Event | None, Sink]:
    """The event that undoes an accepted event, and the sink of its subscription; None if nothing has to be undone."""
    if type(event) is Subscribe:
        return Unsubscribe(event.session, event.id), NOWHERE
    if type(event) is Unsubscribe:
        function = None if result.function is None else result.function.text
        return Subscribe(event.session, result.id, result.filter.text, function, result.include), result.sink
    if type(event) is SetContext:
        return SetContext(event.session, {**dict.fromkeys(event.values), **before}), NOWHERE
    return None, NOWHERE


def warn_if_slow(sent: Sequence[Record], now: int) -> None:
    """Warn if Kafka acknowledged records long after their time; the session's verb succeeds all the same."""
    if sent and now - sent[0].time > SLOW * 1_000_000:
        log.warning(
            "Kafka took %.1f s to acknowledge a record. A job in strict order rejects it as late if its --lateness "
            "is smaller; the topic silbo.rejected has the rejected records.", (now - sent[0].time) / 1_000_000,
        )  # fmt: skip
