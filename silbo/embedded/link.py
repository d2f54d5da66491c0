"""The link of a session to the broker of this process: events are accepted, delivered and acknowledged at once."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from silbo.core.client import Client
from silbo.core.core import Matched
from silbo.errors import Closed
from silbo.matching.candidates import NOWHERE, Sink
from silbo.model.events import Disconnect, Dropped, Event, Publish, SetContext
from silbo.model.notification import Publication
from silbo.model.values import Context
from silbo.session.link import DONE, OWN, Acknowledged, Acknowledgement
from silbo.session.queue import Queue, wait_for_room

if TYPE_CHECKING:
    from silbo.embedded.broker import Broker
    from silbo.embedded.engine import EmbeddedEngine


class EmbeddedLink:
    """Takes the events of one session to the engine, under the engine's lock."""

    # `move` takes the first four of many sessions by turns: slots keep them in one line of the processor's cache
    __slots__ = ("_moves_are_writes", "lock", "_contexts", "_row", "_engine", "client", "log_name", "is_ended")  # noqa: RUF023

    patience: float | None = None

    def __init__(self, engine: EmbeddedEngine, client: Client, log_name: str) -> None:
        self._engine = engine
        self._contexts = engine.core.contexts
        self.client = client
        self.log_name = log_name
        self.lock = engine.lock
        self.is_ended = False
        self._row = client.row
        self._moves_are_writes = engine.moves_are_writes  # until the session ends

    @property
    def name(self) -> str:
        """The session's label."""
        return self.client.name

    @property
    def uuid(self) -> str:
        """The session's identity, which the core made."""
        return self.client.uuid

    @property
    def broker(self) -> Broker:
        """The broker of this process."""
        return self._engine.broker

    def submit(self, event: Event, sink: Sink = NOWHERE) -> Acknowledgement[Any]:
        """Apply an event; raises if it is refused."""
        if type(event) is Publish:
            return self._publish(event)
        engine = self._engine
        with engine.lock:
            self._check_open()
            if type(event) is SetContext:
                event.time = engine.time = max(engine.time, time.time_ns() // 1_000)
                engine.core.apply(self.client, event)
                return DONE
            result = engine.accept(self.client, event, sink)
            if type(event) is Disconnect:
                self.abandon()
                engine.forget(self)
        return Acknowledged(result)

    def _publish(self, event: Publish) -> Acknowledgement[Matched]:
        """Apply a publish. It is `engine.accept` and the context, in one place to save calls for each message."""
        engine = self._engine
        with engine.lock:
            if self.is_ended:
                self._check_open()
            if event.context is OWN:
                event.context = self._contexts.at(self._row)
            now = time.time_ns() // 1_000
            if now > engine.time:  # noqa: PLR1730  # it does not go back; `max` takes three times as long
                engine.time = now
            event.time = engine.time
            matched = engine.core.apply(self.client, event)
            engine.counts["published"] += 1
            blocked = engine.take_blocked() if engine.blocked else None
        if engine.reports:
            engine.report()
        return Acknowledged(matched) if blocked is None else Blocked(engine, matched, blocked)

    def submit_all(self, events: Sequence[Publish]) -> Acknowledgement[list[Publication]]:
        """Apply publishes, all or none."""
        engine = self._engine
        with engine.lock:
            self._check_open()
            own = self._contexts.at(self.client.row)
            for event in events:
                event.context = own if event.context is OWN else event.context
            publications = engine.accept_all(self.client, events)
            blocked = engine.take_blocked()
        if engine.reports:
            engine.report()
        return Acknowledged(publications) if blocked is None else Blocked(engine, publications, blocked)

    def move(self, values: dict[str, Any]) -> bool:
        """Write finite floats over floats. Without observers this is only a write to the table of contexts."""
        for value in values.values():
            # the difference is NaN if the number is not finite
            if type(value) is not float or value - value != 0.0:
                return False
        lock = self.lock
        lock.acquire()  # `with` takes twice as long to find its methods
        try:
            cells = self._contexts.cells
            return self._moves_are_writes and cells is not None and cells.write_floats(self._row, values) is not None
        finally:
            lock.release()

    def context(self) -> Context:
        """The session's row of the context table, as it is now."""
        with self.lock:
            self._check_open()
            return self._contexts.at(self.client.row)

    @property
    def is_prepared(self) -> bool:
        """Whether the index is loaded and compiled."""
        return self._engine.core.index.is_prepared

    def prepare(self) -> None:
        """Load or compile the kernels, without the lock, so that no other call waits."""
        self._engine.core.index.prepare()

    def abandon(self) -> None:
        """Refuse all further events: the engine belongs to the parent of this forked process."""
        self.is_ended = True
        self._moves_are_writes = False

    # what full queues do

    def note_dropped(self, queue: Queue, dropped: Publication) -> None:
        """Count a dropped publication, and keep it for the record of the publish that it made room for."""
        self._engine.note_dropped(self.dropped_entry(queue, dropped))

    def dropped_entry(self, queue: Queue, dropped: Publication) -> Dropped:
        """The record's entry for a dropped publication, with the sessions' names in the log."""
        return Dropped(self._engine.log_name_of(dropped), dropped.sequence, self.log_name, queue.id)

    def note_blocked(self, queue: Queue, ticket: int) -> None:
        """Let the current publish wait for room."""
        self._engine.blocked[queue] = ticket

    def note_slow(self, queue: Queue) -> None:
        """Report a slow subscription after the lock is free."""
        self._engine.note_slow(f"{self.name}/{queue.id}", queue.limit, len(queue.overflow))

    def _check_open(self) -> None:
        if self.is_ended:
            raise Closed(f"session {self.name!r}")


class Blocked:
    """The acknowledgement of a publish that waits for room in full queues; the message is accepted already."""

    def __init__(self, engine: EmbeddedEngine, result: Any, tickets: dict[Queue, int]) -> None:
        self._engine = engine
        self._result = result
        self._tickets = tickets
        self._since = time.monotonic()

    def done(self) -> bool:
        """Whether nothing has to be waited for any more."""
        return not self._tickets

    def result(self, timeout: float | None = None) -> Any:  # noqa: ARG002  # every queue has its own time-out
        """Wait for room. The lock is released meanwhile, so that readers and other publishers go on."""
        tickets, self._tickets = self._tickets, {}
        wait_for_room(tickets, self._since)
        self._engine.report()
        return self._result
