"""Sessions over Kafka: the same verbs send records to the topics, and a thread reads the subscriber's notifications.

A connection has a core of its own, which applies the rules of sessions and matches nothing. A worker thread takes one
event after the other: it applies it, sends its records, waits for Kafka, and then acknowledges the event; if Kafka
does not answer, the event is undone. Another thread reads the notifications, drops repeats (by publisher and sequence)
and puts the rest into the queues.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from queue import SimpleQueue
from typing import Any, Protocol

from silbo.core.bulk import check_lengths, columns_of, rows_of
from silbo.core.client import Client
from silbo.core.core import Core
from silbo.core.notation import tables
from silbo.errors import Closed, InvalidRecord, NotAcknowledged, Refused, SilboError
from silbo.matching.candidates import NOWHERE, Sink, SubscriptionRow
from silbo.matching.choice import ChosenIndex, NoIndex
from silbo.matching.explanation import Explanation
from silbo.model.events import Disconnect, Dropped, Event, Publish, SetContext, Subscribe, Unsubscribe
from silbo.model.notification import Publication
from silbo.model.values import Context, checked_name
from silbo.session.link import OWN, Acknowledgement
from silbo.session.queue import Queue, wait_for_room
from silbo.session.registry import Registry
from silbo.session.session import Session
from silbo.session.verbs import Verbs
from silbo.streaming.bulk.sender import Sender, subscription_key
from silbo.streaming.kafka.client import ACKNOWLEDGED, PREFIX, KafkaWriter, consumer, missing_topic, named, values
from silbo.streaming.kafka.hearing import Hearing
from silbo.streaming.topics import CONTEXTS, NOTIFICATIONS, SUBSCRIPTIONS
from silbo.wire.records import (
    ContextRecord,
    NotificationRecord,
    PublicationRecord,
    Record,
    SubscriptionRecord,
    UnsubscriptionRecord,
    decode,
)

log = logging.getLogger("silbo")

POLL = 200  # milliseconds after which the thread of a closed connection ends, at most
CLOSING = 5.0  # seconds that a close waits for Kafka if it did not answer before
SLOW = 1.0  # seconds; a record that Kafka acknowledges later may be late for a job in strict order


class TopicWriter(Protocol):
    """Sends records to topics."""

    def send(self, role: str, key: str, record: Record) -> None:
        """Send a record; `flush` waits for its acknowledgement."""

    def flush(self, seconds: float | None = None) -> None:
        """Wait until all records are acknowledged, or raise `NotAcknowledged`."""

    def close(self) -> None:
        """Wait until all records are acknowledged, and let go of Kafka."""


class NotificationReader(Protocol):
    """Reads the topic of notifications."""

    def poll(self, timeout_ms: int) -> Mapping[Any, Sequence[Any]]:
        """The records that have arrived, by partition."""

    def close(self) -> None:
        """Let go of Kafka."""


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


def warn_if_slow(sent: Sequence[Record], now: int) -> None:
    """Warn if Kafka acknowledged records long after their time; the session's verb succeeds all the same."""
    if sent and now - sent[0].time > SLOW * 1_000_000:
        log.warning(
            "Kafka took %.1f s to acknowledge a record. A job in strict order rejects it as late if its --lateness "
            "is smaller; the topic silbo.rejected has the rejected records.", (now - sent[0].time) / 1_000_000,
        )  # fmt: skip


class KafkaConnection:
    """The sessions of one connection to Kafka; it is what their `session.broker` returns."""

    def __init__(self, writer: TopicWriter, reader: NotificationReader) -> None:
        self.lock = threading.RLock()  # of the core, the handles and the queues; nobody waits for Kafka with it
        self.core = Core(ChosenIndex(NoIndex()))
        self.registry = Registry()
        self.counts = dict.fromkeys(("published", "notified", "dropped", "slow", "callback_errors"), 0)
        self.blocked: dict[Queue, int] = {}
        self.reports: list[tuple[str, int]] = []
        self.hearing = Hearing()
        self._writer = writer
        self._reader = reader
        self._sender = Sender(self.core, self._send)
        self._sent: list[Record] = []  # records of the current event
        self._is_away = False  # whether Kafka did not acknowledge the previous event
        self._jobs: SimpleQueue[tuple[Future[Any], Callable[[], Any]] | None] = SimpleQueue()
        self._ended = threading.Event()
        for work, role in ((self._work, "verbs"), (self._read, "notifications")):
            threading.Thread(target=work, name=f"silbo-kafka-{role}", daemon=True).start()

    # what `session.broker` offers

    @property
    def closed(self) -> bool:
        """Whether all sessions have ended."""
        return self._ended.is_set()

    @property
    def sessions(self) -> tuple[Session, ...]:
        """The open sessions, the oldest first."""
        with self.lock:
            return self.registry.handles()

    def connect(self, name: str | None = None) -> Session:
        """Open another session over the same connection."""
        label = None if name is None else checked_name(name, "name")
        with self.lock:
            if self.closed:
                raise Closed("this connection to Kafka")
            client = self.core.connect(label)
            verbs = self.registry.add(Verbs(KafkaLink(self, client), self.counts))
            return verbs.handle  # type: ignore[no-any-return]

    def close(self) -> None:
        """Close every session; a second call does nothing."""
        for session in self.sessions:
            session.close()

    def set_contexts(self, sessions: Any, values: Any) -> None:
        """Change the contexts of many sessions. All values are checked first; then one session follows the other."""
        names = columns_of(values)
        with self.lock:
            changed = self.registry.found(sessions)
            check_lengths(len(changed), names)
            changes = list(rows_of(names))
            clients = [self.core.clients[verbs.uuid] for verbs in changed]
            self.core.contexts.check_all([client.row for client in clients], changes)
        for verbs, change in zip(changed, changes, strict=True):
            verbs.link.submit(SetContext(verbs.link.log_name, change)).result()

    def explain(self, message: Any, subscription: Any) -> Explanation:  # noqa: ARG002  # as at a broker
        """Refuse: the job that matches these sessions has the contexts, not this process."""
        raise Refused(
            "over Kafka the job matches, and this process does not know its contexts. "
            "Replay the program with Broker(record='log.jsonl') and run: silbo explain log.jsonl"
        )

    def tables(self) -> str:
        """The tables of this connection's sessions in the paper's notation."""
        with self.lock:
            return tables(self.core)

    def stats(self) -> dict[str, Any]:
        """Counts of this connection's sessions."""
        with self.lock:
            return {**self.registry.stats(self.core), **self.counts}

    # events, in the worker thread

    def submit(self, job: Callable[[], Any]) -> Future[Any]:
        """Let the worker do a job after all earlier ones."""
        future: Future[Any] = Future()
        self._jobs.put((future, job))
        return future

    def _work(self) -> None:
        """Do one job after the other, until the connection has ended."""
        while (each := self._jobs.get()) is not None:
            future, job = each
            try:
                result = job()
            except BaseException as error:  # noqa: BLE001  # the caller gets it
                future.set_exception(error)
            else:
                future.set_result(result)

    def accept(self, client: Client, event: Event, sink: Sink) -> Any:
        """Apply an event and send its records; if Kafka does not acknowledge them, the event is undone."""
        if type(event) is Disconnect:
            return self._disconnect(client, event)
        with self.lock:
            before = self.core.contexts.at(client.row)
            result = self.core.apply(client, event, sink)
        with self._undone_on_failure(client, event, result, before):
            self._sender.send(client, event, result)
            self._confirm()
        self._sender.confirmed()
        return result

    def _disconnect(self, client: Client, event: Disconnect) -> Sequence[SubscriptionRow]:
        """Send the ends of the subscriptions first: if Kafka does not answer, the session stays open."""
        self._sender.send(client, event, list(client.subscriptions.values()))
        self._confirm()
        self._sender.confirmed()
        with self.lock:
            rows = self.core.apply(client, event)
            self.registry.remove(client.uuid)
            if not self.registry:
                self._ended.set()
                self._jobs.put(None)
            return rows

    def accept_all(self, client: Client, events: Sequence[Publish]) -> list[Publication]:
        """Accept publishes, all or none, send them, and wait for Kafka once."""
        with self.lock:
            publications = self.core.apply_all(client, events)
        for publication in publications:
            self._sender.publication(publication)
        self._confirm()
        self.counts["published"] += len(publications)
        return publications

    def _undone_on_failure(self, client: Client, event: Event, result: Any, before: Context) -> _Undo:
        undo: Event | None = None
        sink: Sink = NOWHERE
        if type(event) is Subscribe:
            undo = Unsubscribe(event.session, event.id)
        elif type(event) is Unsubscribe:
            function = None if result.function is None else result.function.text
            undo, sink = Subscribe(event.session, result.id, result.filter.text, function, result.include), result.sink
        elif type(event) is SetContext:
            undo = SetContext(event.session, {**dict.fromkeys(event.values), **before})
        return _Undo(self, client, undo, sink)

    def _send(self, role: str, key: str, record: Record) -> None:
        if isinstance(record, SubscriptionRecord):
            self.hearing.begin(record)  # a job may answer before the acknowledgement is here
        try:
            self._writer.send(role, key, record)
        except SilboError:
            self._sent = []
            raise
        self._sent.append(record)

    def _confirm(self) -> None:
        """Wait until Kafka has acknowledged the records of an event."""
        sent, self._sent = self._sent, []
        # the end of a subscription may be sent again: while Kafka is away a close waits less than a publish
        is_brief = self._is_away and not any(
            isinstance(record, PublicationRecord | SubscriptionRecord) for record in sent
        )
        self._is_away = True
        self._writer.flush(CLOSING if is_brief else None)
        self._is_away = False
        warn_if_slow(sent, time.time_ns() // 1_000)
        for record in sent:
            if isinstance(record, UnsubscriptionRecord):
                self.hearing.end(record.subscriber, record.id)

    # notifications, in the reader thread

    def _read(self) -> None:
        """Read notifications until the session ends. If Kafka cannot be read any more, the queues end with an error."""
        try:
            while not self._ended.is_set():
                for records in self._reader.poll(timeout_ms=POLL).values():
                    for record in records:
                        self._arrived(record.key, record.value)
        except Exception as error:  # the thread ends: readers of the queues must not wait forever
            log.exception("notifications cannot be read from Kafka any more")
            self._end_queues(error)
        self._ended.wait()
        self._reader.close()
        self._writer.close()

    def _end_queues(self, error: Exception) -> None:
        with self.lock:
            for verbs in self.registry:
                for queue in verbs.queues():
                    queue.close(Closed(f"the connection to Kafka ({error})"))

    def _arrived(self, key: bytes | None, value: bytes) -> None:
        client = None if key is None else self.core.clients.get(key.decode(errors="replace"))
        if client is None:
            return
        try:
            self._deliver(client, value)
            # a full queue with the policy 'block' stops this thread, and so the notifications of this connection only
            if self.blocked:
                with self.lock:
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
        if row is None or not isinstance(record, NotificationRecord) or not self.hearing.is_new(record):
            return
        publication = _publication(record)
        self.counts["notified"] += 1
        with self.lock:
            has_room = len(row.sink) < row.sink.room
            if has_room:
                row.sink.append(publication)
        if not has_room:
            row.sink.put(publication)

    def _report(self) -> None:
        """Log which subscriptions ended as slow. The caller does not hold the lock."""
        with self.lock:
            reports, self.reports = self.reports, []
        for name, limit in reports:
            log.warning("subscription %s ended: its queue of %d was full", name, limit)


class _Undo:
    """Applies an event that undoes another one, if Kafka did not acknowledge it."""

    def __init__(self, connection: KafkaConnection, client: Client, event: Event | None, sink: Sink) -> None:
        self._connection = connection
        self._client = client
        self._event = event
        self._sink = sink

    def __enter__(self) -> None:
        """Do nothing: the event to undo was applied before."""

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None or self._event is None:
            return
        with self._connection.lock:
            self._connection.core.apply(self._client, self._event, self._sink)
        if type(self._event) is Unsubscribe:
            self._connection.hearing.end(self._client.uuid, self._event.id)


class KafkaLink:
    """Takes the events of one session to the worker of its connection, which acknowledges them later."""

    patience: float | None = None  # the worker answers every event in time
    is_prepared = True  # there is nothing to load

    def __init__(self, connection: KafkaConnection, client: Client) -> None:
        self._connection = connection
        self._client = client
        self.lock = connection.lock
        self.name = client.name
        self.uuid = client.uuid
        self.log_name = client.name
        self.broker = connection

    def submit(self, event: Event, sink: Sink = NOWHERE) -> Acknowledgement[Any]:
        """Take an event to the worker."""
        self._check_open()
        if type(event) is Publish:
            self._fill(event)
        connection = self._connection
        return connection.submit(lambda: connection.accept(self._client, event, sink))

    def submit_all(self, events: Sequence[Publish]) -> Acknowledgement[list[Publication]]:
        """Take publishes to the worker, which accepts all or none."""
        self._check_open()
        for event in events:
            self._fill(event)
        connection = self._connection
        return connection.submit(lambda: connection.accept_all(self._client, events))

    def _fill(self, event: Publish) -> None:
        """Give a publish the session's own context, if it has no other."""
        if event.context is OWN:
            event.context = self.context()

    def move(self, values: dict[str, Any]) -> bool:  # noqa: ARG002  # Kafka gets every change
        """Never: each change is a record."""
        return False

    def context(self) -> Context:
        """The session's context after the events that the worker has taken."""
        with self.lock:
            self._check_open()
            return self._connection.core.contexts.at(self._client.row)

    def prepare(self) -> None:
        """Do nothing: no kernels are needed here."""

    def abandon(self) -> None:
        """Do nothing: a forked process has no worker, and the connection belongs to its parent."""

    def note_dropped(self, queue: Queue, dropped: Publication) -> None:  # noqa: ARG002  # only counted
        """Count a dropped notification."""
        self._connection.counts["dropped"] += 1

    def dropped_entry(self, queue: Queue, dropped: Publication) -> Dropped:
        """What an event says of a dropped publication."""
        return Dropped(dropped.publisher, dropped.sequence, self.log_name, queue.id)

    def note_blocked(self, queue: Queue, ticket: int) -> None:
        """Let the reader thread wait for room."""
        self._connection.blocked[queue] = ticket

    def note_slow(self, queue: Queue) -> None:
        """Count and report a slow subscription."""
        self._connection.counts["slow"] += 1
        self._connection.counts["dropped"] += len(queue.overflow)
        self._connection.reports.append((f"{self.name}/{queue.id}", queue.limit))

    def _check_open(self) -> None:
        if self.uuid not in self._connection.core.clients:
            raise Closed(f"session {self.name!r}")


def _publication(record: NotificationRecord) -> Publication:
    return Publication(
        record.publisher, record.publisher_uuid, record.sequence, record.attributes, {}, record.context, None,
        record.payload, record.time,
    )  # fmt: skip


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
