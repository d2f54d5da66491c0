"""A connection to Kafka: its sessions share a core with the rules, a worker for events and a reader of notifications.

The core matches nothing: the job does. The worker (`worker`) accepts events and sends their records; `arrivals` puts
the notifications of the job into the queues.
"""

from __future__ import annotations

import threading
from typing import Any

from silbo.core.bulk import check_lengths, columns_of, rows_of
from silbo.core.client import Client
from silbo.core.core import Core
from silbo.core.notation import tables
from silbo.errors import Closed, Refused
from silbo.matching.choice import ChosenIndex, NoIndex
from silbo.matching.explanation import Explanation
from silbo.model.events import SetContext
from silbo.model.values import checked_name
from silbo.session.registry import Registry
from silbo.session.session import Session
from silbo.session.verbs import Verbs
from silbo.streaming.kafka.arrivals import Arrivals, NotificationReader
from silbo.streaming.kafka.hearing import Hearing
from silbo.streaming.kafka.link import KafkaLink
from silbo.streaming.kafka.worker import EventWorker, TopicWriter


class KafkaConnection:
    """The sessions of one connection to Kafka; it is what their `session.broker` returns."""

    def __init__(self, writer: TopicWriter, reader: NotificationReader) -> None:
        self.lock = threading.RLock()  # of the core, the handles and the queues; nobody waits for Kafka with it
        self.ended = threading.Event()  # set when the last session has ended
        self.core = Core(ChosenIndex(NoIndex()))
        self.registry = Registry()
        self.counts = dict.fromkeys(("published", "notified", "dropped", "slow", "callback_errors"), 0)
        self.hearing = Hearing()
        self.worker = EventWorker(self, writer)
        self.arrivals = Arrivals(self, reader)

    @property
    def closed(self) -> bool:
        """Whether all sessions have ended."""
        return self.ended.is_set()

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

    def remove(self, client: Client) -> None:
        """Remove a session that was disconnected; the last one ends the connection."""
        self.registry.remove(client.uuid)
        if not self.registry:
            self.ended.set()
            self.worker.stop()
