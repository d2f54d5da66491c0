"""The engine behind the sessions of a broker in this process: a core behind one lock, with its observers and counts.

It stamps events with the time of their acceptance, and keeps what must be reported after the lock is free.
"""

from __future__ import annotations

import dataclasses
import logging
import time
from collections.abc import Sequence
from threading import RLock
from typing import TYPE_CHECKING, Any, cast

from silbo.core.bulk import Columns
from silbo.core.client import Client
from silbo.core.core import Core
from silbo.embedded.link import EmbeddedLink
from silbo.embedded.record import Record
from silbo.errors import Closed
from silbo.matching.candidates import Sink
from silbo.matching.choice import ChosenIndex
from silbo.model.events import Disconnect, Dropped, Event, Publish, SetContext
from silbo.model.notification import Publication
from silbo.session.queue import Queue
from silbo.session.registry import Registry
from silbo.session.verbs import Verbs

if TYPE_CHECKING:
    from silbo.embedded.broker import Broker

log = logging.getLogger("silbo")


class EmbeddedEngine:
    """Accepts the events of all sessions of a broker. Callers hold `lock`, unless a method says otherwise."""

    def __init__(self, broker: Broker, index: ChosenIndex, record: Record | None) -> None:
        self.broker = broker
        self.lock = RLock()
        self.core = Core(index)
        self.registry = Registry()
        self.counts = dict.fromkeys(("published", "dropped", "slow", "callback_errors"), 0)
        self.blocked: dict[Queue, int] = {}  # full queues that the current publish must wait for, and the tickets
        self.reports: list[tuple[str, int]] = []
        self.is_closed = False
        self._record = record
        self._log_names: set[str] = set()
        self._recorded: set[str] = set()  # sessions that the record has an event of
        self._dropped: list[Dropped] = []  # caused by the publication that is being delivered
        self.time = 0 if record is None else record.last_time  # of the last event, in microseconds
        if record is not None:
            self.core.observers.append(self._write)
        # without observers, or an index with its own copy of contexts, a change of floats is only a write to the table
        self.moves_are_writes = not self.core.observers and not index.listens_to_contexts

    def connect(self, label: str | None) -> Verbs:
        """Add a session."""
        self.check_open()
        client = self.core.connect(label)
        # a log identifies sessions by name alone: if two share a name, the newer one is logged by its UUID
        log_name = client.uuid if client.name in self._log_names else client.name
        self._log_names.add(log_name)
        return self.registry.add(Verbs(EmbeddedLink(self, client, log_name), self.counts))

    def forget(self, link: EmbeddedLink) -> None:
        """Remove a session that has disconnected."""
        self.registry.remove(link.uuid)
        self._log_names.discard(link.log_name)

    def accept(self, client: Client, event: Event, sink: Sink) -> Any:
        """Apply an event with the time of now, or with its own."""
        return self.core.apply(client, self._stamped(event), sink)

    def accept_all(self, client: Client, events: Sequence[Publish]) -> list[Publication]:
        """Apply publishes with the time of now, all or none."""
        now = self.now()
        for event in events:
            event.time = now
        publications = self.core.apply_all(client, events)
        self.counts["published"] += len(publications)
        return publications

    def set_contexts(self, sessions: Sequence[Verbs], columns: Columns) -> None:
        """Change the contexts of many sessions, all or none."""
        clients = [self.core.clients[verbs.uuid] for verbs in sessions]
        self.core.set_contexts(
            clients, columns, lambda i, changes: SetContext(sessions[i].link.log_name, changes, time=self.now())
        )

    def _stamped(self, event: Event) -> Event:
        if self._record is None or event.time is not None:
            return event
        return dataclasses.replace(cast("Disconnect", event), time=self.now())

    def now(self) -> int:
        """The time of an event, in microseconds since 1970; it does not go back if the clock does."""
        self.time = max(self.time, time.time_ns() // 1_000)
        return self.time

    # full queues

    def take_blocked(self) -> dict[Queue, int] | None:
        """The full queues that the current publish must wait for; None if there are none."""
        if not self.blocked:
            return None
        blocked, self.blocked = self.blocked, {}
        return blocked

    def note_dropped(self, entry: Dropped) -> None:
        """Count a dropped notification, and keep it for the record of the publish that it made room for."""
        self.counts["dropped"] += 1
        if self._record is not None:
            self._dropped.append(entry)

    def note_slow(self, name: str, limit: int, lost: int) -> None:
        """Count a subscription that ended as slow, and the notifications that it lost; `report` logs it."""
        self.counts["slow"] += 1
        self.counts["dropped"] += lost
        self.reports.append((name, limit))

    def log_name_of(self, publication: Publication) -> str:
        """The name of a publication's session in the record."""
        publisher = self.registry.get(publication.publisher_uuid)
        return publication.publisher if publisher is None else publisher.link.log_name

    def report(self) -> None:
        """Log what happened under the lock. The caller does not hold it: a user's log handler may call any verb."""
        with self.lock:
            reports, self.reports = self.reports, []
        for name, limit in reports:
            log.warning("subscription %s ended: its queue of %d was full", name, limit)

    # the record observes accepted events

    def _write(self, _: Client, event: Event, result: object) -> None:
        """Write an accepted event to the record.

        A publish is written after its delivery, together with the notifications that the delivery dropped. A
        subscription that the delivery ended as slow did not get the message, so its `unsubscribe` is written first.
        """
        assert self._record is not None
        if type(event) is Publish:
            dropped, self._dropped = self._dropped, []
            event.dropped = tuple(dropped)
        elif type(event) is SetContext and not result:
            return  # nothing changed
        # in a log a session begins with its first event: a session without events has no end there
        if type(event) is Disconnect:
            if event.session not in self._recorded:
                return
            self._recorded.discard(event.session)
        else:
            self._recorded.add(event.session)
        self._record.write(event)

    def stats(self) -> dict[str, Any]:
        """Counts of what is connected now, and of what happened since the broker was created."""
        counts = {"notified": self.core.delivered, **self.counts}
        return {**self.registry.stats(self.core), **counts, **self.core.index.stats()}

    # ending

    def close(self) -> list[Verbs]:
        """Disconnect every session, and close the record and the device; returns the sessions."""
        if not self.is_closed:
            self.core.index.close()
        ended = list(self.registry)
        for verbs in ended:
            verbs.close().result()
        if self._record is not None:
            self._record.close()
        self.is_closed = True
        return ended

    def abandon(self) -> None:
        """Close the copy of an engine in a forked process: its threads, record and device belong to the parent."""
        self.lock._at_fork_reinit()  # type: ignore[attr-defined]  # a thread may have held it
        self.is_closed = True
        self._record = None
        ended = Closed("a broker of the parent process")
        for verbs in self.registry:
            verbs.abandon(ended)

    def check_open(self) -> None:
        """Raise `Closed` if the broker is closed."""
        if self.is_closed:
            raise Closed("this broker")
