"""Turn accepted events into records. A core applies the rules of sessions; the job that reads the records matches.

A whole context is sent before a session's first subscription, and at each change while the session has subscriptions.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from silbo.context.function import Scope
from silbo.core.client import Client
from silbo.core.core import Core
from silbo.core.fold import Fold
from silbo.matching.candidates import SubscriptionRow
from silbo.matching.choice import NoIndex
from silbo.model.events import Disconnect, Event, Publish, SetContext, Subscribe, Unsubscribe
from silbo.model.notification import Publication
from silbo.streaming.topics import CONTEXTS, PUBLICATIONS, SUBSCRIPTIONS
from silbo.wire.records import ContextRecord, PublicationRecord, Record, SubscriptionRecord, UnsubscriptionRecord

Send: TypeAlias = Callable[[str, str, Record], object]  # topic, key, record
Clock: TypeAlias = Callable[[], int]  # microseconds


class Sender:
    """Sends the records of accepted events, each with a later time than the one before. `accepted` observes a core."""

    def __init__(self, core: Core, send: Send, clock: Clock = lambda: time.time_ns() // 1_000) -> None:
        self._core = core
        self._send = send
        self._clock = clock
        self._last = 0
        self._has_context: set[str] = set()  # subscribers whose context the job may have
        self._cleared: set[str] = set()  # subscribers whose context the current event removes from the job

    def accepted(self, client: Client, event: Event, result: Any) -> None:
        """Send the records of one accepted event, where they need no confirmation."""
        self.send(client, event, result)
        self.confirmed()

    def send(self, client: Client, event: Event, result: Any) -> None:
        """Send the records of one event; an advertisement has none. A `disconnect` may be sent before it is applied."""
        kind = type(event)
        if kind is Publish:
            self.publication(result[0])
        elif kind is SetContext:
            if result and client.subscriptions:
                self._context(client)
        elif kind is Subscribe:
            self._began(client, result)
        elif kind is Unsubscribe:
            self._ended(client, [result], len(client.subscriptions))
        elif kind is Disconnect:
            self._ended(client, result, 0)

    def _began(self, client: Client, row: SubscriptionRow) -> None:
        """Send a subscription; the first one of a session follows the session's context."""
        if len(client.subscriptions) == 1 and self._core.contexts.at(client.row):
            self._context(client)
        function = None if row.function is None else row.function.text
        uuid = client.uuid
        record = SubscriptionRecord(self._time(), uuid, client.name, row.id, row.filter.text, function, row.include)
        self._send(SUBSCRIPTIONS, subscription_key(uuid, row.id), record)

    def confirmed(self) -> None:
        """Take note that the records of the last event have arrived."""
        self._has_context -= self._cleared
        self._cleared.clear()

    def _ended(self, client: Client, rows: Sequence[SubscriptionRow], left: int) -> None:
        """Send the ends of subscriptions; after the last one the context is removed from the job as well."""
        uuid = client.uuid
        for row in rows:
            self._send(SUBSCRIPTIONS, subscription_key(uuid, row.id), UnsubscriptionRecord(self._time(), uuid, row.id))
        if not left and uuid in self._has_context:
            self._send(CONTEXTS, uuid, ContextRecord(self._time(), uuid, {}))
            self._cleared.add(uuid)

    def _context(self, client: Client) -> None:
        context = self._core.contexts.at(client.row)
        self._has_context.add(client.uuid)
        self._send(CONTEXTS, client.uuid, ContextRecord(self._time(), client.uuid, context))

    def publication(self, publication: Publication) -> None:
        """Send an accepted publication."""
        offered = dict(publication.offered)
        read = Scope.of(publication.scope).variables("this") if publication.scope is not None else frozenset()
        for_scope = {name: value for name, value in publication.context.items() if name in read and name not in offered}
        record = PublicationRecord(
            self._time(), publication.publisher_uuid, publication.publisher, publication.sequence,
            dict(publication.attributes), offered, for_scope, publication.scope, publication.payload,
        )  # fmt: skip
        self._send(PUBLICATIONS, publication.publisher_uuid, record)

    def _time(self) -> int:
        self._last = max(self._last + 1, self._clock())
        return self._last


def subscription_key(subscriber: str, id: str) -> str:
    """The key of a subscription's records."""
    return f"{subscriber}/{id}"


def sending(send: Send, clock: Clock = lambda: time.time_ns() // 1_000) -> Fold:
    """A fold that matches nothing, and sends the records of the events that it accepts."""
    fold = Fold(NoIndex())
    fold.core.observers.append(Sender(fold.core, send, clock).accepted)
    return fold
