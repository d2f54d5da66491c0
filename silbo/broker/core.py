"""The broker's core: its tables and its rules, synchronous and without any I/O.

Every verb either changes the state or raises and leaves it as it was. Who calls from several threads
must see to it that one call is over before the next begins; queues and sessions' handles belong to
`delivery` and `session`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from uuid import uuid4

from silbo.context.function import ContextFunction, Scope
from silbo.context.table import ContextTable
from silbo.errors import DuplicateId, NotAdvertised, ScopeBeyondReads, UnknownId
from silbo.matching.candidates import Candidates, SubscriptionRow
from silbo.matching.decision import decided
from silbo.matching.filter import Filter
from silbo.matching.index import PlainIndex
from silbo.model.events import Publish
from silbo.model.notification import Publication
from silbo.model.values import Attributes, Context, ContextValue


@dataclass(frozen=True, slots=True)
class AdvertisementRow:
    """A row of the advertisement table; None stands for all variables."""

    filter: Filter
    offers: frozenset[str] | None
    reads: frozenset[str] | None


@dataclass(slots=True, eq=False)
class Peer:
    """A connected session, as the core sees it."""

    uuid: str
    name: str
    advertisements: dict[str, AdvertisementRow] = field(default_factory=dict)
    subscriptions: dict[str, SubscriptionRow] = field(default_factory=dict)
    sequence: int = 0


class Core:
    """All tables of one broker."""

    def __init__(self, index: Candidates | None = None) -> None:
        self.peers: dict[str, Peer] = {}
        self.contexts = ContextTable()
        self.index: Candidates = PlainIndex() if index is None else index

    def connect(self, name: str | None = None) -> Peer:
        """A new session under a UUID of the broker's making; the name is a label."""
        uuid = str(uuid4())
        peer = self.peers[uuid] = Peer(uuid, uuid if name is None else name)
        return peer

    def disconnect(self, peer: Peer) -> None:
        """End a session: subscriptions, advertisements and context go."""
        for row in peer.subscriptions.values():
            self.index.remove(row)
        peer.subscriptions.clear()
        peer.advertisements.clear()
        self.contexts.remove(peer.uuid)
        del self.peers[peer.uuid]

    def advertise(
        self, peer: Peer, id: str, filter: Filter, offers: Sequence[str] | None, reads: Sequence[str] | None
    ) -> None:
        """Let a session publish what the filter selects."""
        if id in peer.advertisements:
            raise DuplicateId("advertisement", id)
        peer.advertisements[id] = AdvertisementRow(
            filter, None if offers is None else frozenset(offers), None if reads is None else frozenset(reads)
        )

    def unadvertise(self, peer: Peer, id: str) -> None:
        """End an advertisement."""
        if id not in peer.advertisements:
            raise UnknownId("advertisement", id, peer.advertisements)
        del peer.advertisements[id]

    def subscribe(
        self,
        peer: Peer,
        id: str,
        filter: Filter,
        function: ContextFunction | None,
        include: tuple[str, ...],
        sink: object,
    ) -> SubscriptionRow:
        """Let a session be notified of what the filter selects while the function holds."""
        if id in peer.subscriptions:
            raise DuplicateId("subscription", id)
        row = SubscriptionRow(peer.uuid, peer.name, id, filter, function, include, sink)
        self.index.add(row)
        peer.subscriptions[id] = row
        return row

    def unsubscribe(self, peer: Peer, id: str) -> SubscriptionRow:
        """End a subscription."""
        if id not in peer.subscriptions:
            raise UnknownId("subscription", id, peer.subscriptions)
        row = peer.subscriptions.pop(id)
        self.index.remove(row)
        return row

    def set_context(self, peer: Peer, changes: Mapping[str, ContextValue | None]) -> bool:
        """One write of one row; whether anything changed."""
        changed = self.contexts.set(peer.uuid, changes)
        if changed:
            self.index.set_context(peer.uuid, self.contexts[peer.uuid])
        return changed

    def publish(self, peer: Peer, publish: Publish) -> tuple[Publication, list[SubscriptionRow]]:
        """Accept a message, and give the rows that get it."""
        return next(self.publish_many(peer, [publish]))

    def publish_many(
        self, peer: Peer, publishes: Sequence[Publish]
    ) -> Iterator[tuple[Publication, list[SubscriptionRow]]]:
        """Accept all messages or none; the rows are found as the result is walked."""
        scopes = [None if publish.scope is None else Scope.of(publish.scope) for publish in publishes]
        offered = [_offered(peer, publish, scope) for publish, scope in zip(publishes, scopes, strict=True)]
        batch = [self._accept(peer, publish, shown) for publish, shown in zip(publishes, offered, strict=True)]
        return (
            (publication, decided(publication, scope, rows, self.contexts))
            for publication, scope, rows in zip(batch, scopes, self.index.candidates(batch), strict=True)
        )

    def _accept(self, peer: Peer, publish: Publish, offered: Context) -> Publication:
        peer.sequence += 1
        attributes: Attributes = MappingProxyType(dict(publish.attributes))
        return Publication(
            peer.name, peer.uuid, peer.sequence, attributes, publish.context, offered, publish.scope, publish.payload
        )


def _offered(peer: Peer, publish: Publish, scope: Scope | None) -> Context:
    """What the advertisements that contain the message show of the publisher's context, or a refusal."""
    containing = [row for row in peer.advertisements.values() if row.filter.selects(publish.attributes)]
    if not containing:
        raise NotAdvertised(peer.name, publish.attributes, [str(row.filter) for row in peer.advertisements.values()])
    reads = _united(row.reads for row in containing)
    if scope is not None and reads is not None and not scope.variables("sub") <= reads:
        raise ScopeBeyondReads(scope.variables("sub") - reads, reads)
    offers = _united(row.offers for row in containing)
    if offers is None:
        return publish.context
    return {name: value for name, value in publish.context.items() if name in offers}


def _united(names: Iterator[frozenset[str] | None]) -> frozenset[str] | None:
    """The union; None, which stands for all, makes it all."""
    union: frozenset[str] = frozenset()
    for each in names:
        if each is None:
            return None
        union |= each
    return union
