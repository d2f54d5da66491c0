"""The link of a session to Kafka: events go to the worker of the connection, which acknowledges them later."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from silbo.core.client import Client
from silbo.errors import Closed
from silbo.matching.candidates import NOWHERE, Sink
from silbo.model.events import Dropped, Event, Publish
from silbo.model.notification import Publication
from silbo.model.values import Context
from silbo.session.link import OWN, Acknowledgement
from silbo.session.queue import Queue

if TYPE_CHECKING:
    from silbo.streaming.kafka.connection import KafkaConnection


class KafkaLink:
    """Takes the events of one session to the worker of its connection."""

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
        worker = self._connection.worker
        return worker.submit(lambda: worker.accept(self._client, event, sink))

    def submit_all(self, events: Sequence[Publish]) -> Acknowledgement[list[Publication]]:
        """Take publishes to the worker, which accepts all or none."""
        self._check_open()
        for event in events:
            self._fill(event)
        worker = self._connection.worker
        return worker.submit(lambda: worker.accept_all(self._client, events))

    def _fill(self, event: Publish) -> None:
        """Give a publish the session's own context, if it has no other."""
        if event.context is OWN:
            event.context = self.context()

    def move(self, values: dict[str, Any]) -> bool:  # noqa: ARG002  # Kafka gets every change
        """Return False: each change is a record."""
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
        """Let the thread that reads notifications wait for room."""
        self._connection.arrivals.blocked[queue] = ticket

    def note_slow(self, queue: Queue) -> None:
        """Count and report a slow subscription."""
        self._connection.counts["slow"] += 1
        self._connection.counts["dropped"] += len(queue.overflow)
        self._connection.arrivals.reports.append((f"{self.name}/{queue.id}", queue.limit))

    def _check_open(self) -> None:
        if self.uuid not in self._connection.core.clients:
            raise Closed(f"session {self.name!r}")
