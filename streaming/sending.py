"""Sending: the verbs of sessions as records. It stands where a broker has its index, and finds nobody.

A broker over this has all the rules of sessions (ids, advertisements, scopes, sequences) and matches nothing: what
it accepts becomes records, and the job matches them. A context goes out while its session has subscriptions: whole
before the first, then at each change.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import repeat
from typing import TypeAlias

from silbo.context.function import Scope
from silbo.matching.candidates import SubscriptionRow
from silbo.model.notification import Publication
from silbo.model.values import Context
from silbo.streaming.records import ContextIs, Published, Record, Subscribed, Unsubscribed
from silbo.streaming.topics import CONTEXTS, PUBLICATIONS, SUBSCRIPTIONS

Send: TypeAlias = Callable[[str, str, Record], object]  # topic, key, record
Clock: TypeAlias = Callable[[], int]  # microseconds


class Sender:
    """`Candidates` that sends what it is told, each record later than the one before."""

    def __init__(
        self, send: Send, clock: Clock = lambda: time.time_ns() // 1_000, confirm: Callable[[], object] = lambda: None
    ) -> None:
        self._send = send
        self._clock = clock
        self._confirm = confirm  # that all of a verb's records arrived, or an error
        self._last = 0
        self._contexts: dict[str, Context] = {}
        self._subscriptions: dict[str, int] = {}
        self._told: set[str] = set()  # whose context the job may have

    def add(self, row: SubscriptionRow) -> None:
        """Send a subscription, behind the context that it is the first to need."""
        uuid = row.subscriber
        if not self._subscriptions.get(uuid) and self._contexts.get(uuid):
            self._tell(uuid, self._contexts[uuid])
        function = None if row.function is None else row.function.text
        record = Subscribed(self._time(), uuid, row.name, row.id, row.filter.text, function, row.include)
        self._send(SUBSCRIPTIONS, subscription_key(uuid, row.id), record)
        self._confirm()
        self._subscriptions[uuid] = self._subscriptions.get(uuid, 0) + 1

    def remove(self, row: SubscriptionRow) -> None:
        """Send the end of a subscription; nobody needs the context of a session without any."""
        uuid = row.subscriber
        left = self._subscriptions[uuid] - 1
        self._send(SUBSCRIPTIONS, subscription_key(uuid, row.id), Unsubscribed(self._time(), uuid, row.id))
        if not left and uuid in self._told:
            self._tell(uuid, {})
        self._confirm()
        self._subscriptions[uuid] = left
        if not left:
            del self._subscriptions[uuid]
            self._told.discard(uuid)

    def set_context(self, subscriber: str, context: Context) -> None:
        """Send a context, if there are subscriptions that need it."""
        # one that went out for a subscription that did not is taken back at the end
        if self._subscriptions.get(subscriber) or (not context and subscriber in self._told):
            self._tell(subscriber, context)
            self._confirm()
        if context:
            self._contexts[subscriber] = context
        else:
            self._contexts.pop(subscriber, None)
            self._told.discard(subscriber)

    def _tell(self, subscriber: str, context: Context) -> None:
        if context:
            self._told.add(subscriber)
        self._send(CONTEXTS, subscriber, ContextIs(self._time(), subscriber, context))

    def candidates(self, batch: Sequence[Publication]) -> Iterator[Iterable[SubscriptionRow]]:
        """Send the publications, all before any is confirmed; who gets them is found out elsewhere."""
        for publication in batch:
            self._send(PUBLICATIONS, publication.publisher_uuid, self._published(publication))
        self._confirm()
        yield from repeat((), len(batch))

    def _published(self, publication: Publication) -> Published:
        offered = dict(publication.offered)
        read = Scope.of(publication.scope).variables("this") if publication.scope is not None else frozenset()
        seen = {name: value for name, value in publication.context.items() if name in read and name not in offered}
        return Published(
            self._time(), publication.publisher_uuid, publication.publisher, publication.sequence,
            dict(publication.attributes), offered, seen, publication.scope, publication.payload,
        )  # fmt: skip

    def _time(self) -> int:
        self._last = max(self._last + 1, self._clock())
        return self._last


def subscription_key(subscriber: str, id: str) -> str:
    """The key of a subscription's records."""
    return f"{subscriber}/{id}"
