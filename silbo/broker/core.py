"""The broker's core: its tables and its rules, synchronous and without any I/O.

Every verb either changes the state or raises and leaves it as it was. Who calls from several threads
must see to it that one call is over before the next begins; queues and sessions' handles belong to
`delivery` and `session`.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import repeat
from types import MappingProxyType
from typing import Any, Literal, TypeAlias
from uuid import uuid4

from silbo.broker.batch import Batch
from silbo.context.function import ContextFunction, Scope
from silbo.context.table import ContextTable
from silbo.errors import DuplicateId, InvalidValue, NotAdvertised, ScopeBeyondReads, UnknownId
from silbo.matching.candidates import Candidates, Deciding, Found, SubscriptionRow
from silbo.matching.decision import decided
from silbo.matching.filter import Filter
from silbo.matching.index import PlainIndex
from silbo.model.events import Publish
from silbo.model.notification import Publication
from silbo.model.values import Attributes, Context, ContextValue

INDEXES = ("fast", "plain")
IndexLike: TypeAlias = Candidates | Literal["fast", "plain"]


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
    row: int  # of the contextManager table
    advertisements: dict[str, AdvertisementRow] = field(default_factory=dict)
    subscriptions: dict[str, SubscriptionRow] = field(default_factory=dict)
    sequence: int = 0


class Core:
    """All tables of one broker.

    `index` names what finds candidates, 'fast' or 'plain', or is one; without it `SILBO_INDEX` says which. It
    is made for the first subscription: who only publishes need not wait for it.
    """

    def __init__(self, index: IndexLike | None = None) -> None:
        self.peers: dict[str, Peer] = {}
        self.contexts = ContextTable()
        self._wanted = checked_index(index)
        self._index: Candidates | None = None if isinstance(self._wanted, str) else self._wanted
        # the indexes of ours read contexts where they stand
        self._listener = self._index

    @property
    def index(self) -> Candidates:
        """What finds candidates."""
        if self._index is None:
            self._index = _made(self._wanted, self.contexts)
        return self._index

    def stats(self) -> dict[str, Any]:
        """What the index tells of its plan and its work, if it tells."""
        return self._index.stats() if self._index is not None and hasattr(self._index, "stats") else {}

    def connect(self, name: str | None = None) -> Peer:
        """A new session under a UUID of the broker's making; the name is a label."""
        uuid = str(uuid4())
        peer = self.peers[uuid] = Peer(uuid, uuid if name is None else name, self.contexts.row(uuid))
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
        changed = self.contexts.write(peer.row, changes)
        if changed and self._listener is not None:
            self._listener.set_context(peer.uuid, self.contexts.at(peer.row))
        return changed

    def set_floats(self, peer: Peer, changes: dict[str, float]) -> bool:
        """`set_context` of plain, finite floats; the dictionary becomes the table's own."""
        changed = self.contexts.write_floats(peer.row, changes)
        if changed and self._listener is not None:
            self._listener.set_context(peer.uuid, self.contexts.at(peer.row))
        return changed

    def publish(self, peer: Peer, publish: Publish) -> tuple[Publication, Sequence[SubscriptionRow]]:
        """Accept a message, and give the rows that get it."""
        return next(self.publish_many(peer, [publish]))

    def publish_many(
        self, peer: Peer, publishes: Sequence[Publish]
    ) -> Iterator[tuple[Publication, Sequence[SubscriptionRow]]]:
        """Accept all messages or none; the rows are found as the result is walked."""
        scopes = [None if publish.scope is None else Scope.of(publish.scope) for publish in publishes]
        offered = [_offered(peer, publish, scope) for publish, scope in zip(publishes, scopes, strict=True)]
        batch = [_accepted(peer, publish, shown) for publish, shown in zip(publishes, offered, strict=True)]
        return (
            (publication, decided(publication, scope, found, self.contexts))
            for publication, scope, found in zip(batch, scopes, self._found(batch), strict=True)
        )

    def _found(self, batch: Sequence[Publication]) -> Iterable[Found]:
        match self._index:
            case None:
                return repeat(([], []), len(batch))
            case Deciding():
                return self._index.found(batch)
            case _:
                return (([], rows) for rows in self._index.candidates(batch))

    def accept(self, peer: Peer, publish: Publish, scope: Scope | None) -> Publication:
        """Accept a message that is matched elsewhere, or raise."""
        return _accepted(peer, publish, _offered(peer, publish, scope))

    def batch(self) -> Batch | None:
        """A run of publications and positions, if the index can match them together."""
        if self._wanted != "fast" or self._index is None:
            return None
        from silbo.matching.fast import FastIndex

        return Batch(self, self._index) if isinstance(self._index, FastIndex) else None


def _accepted(peer: Peer, publish: Publish, offered: Context) -> Publication:
    peer.sequence += 1
    attributes: Attributes = MappingProxyType(dict(publish.attributes))
    return Publication(
        peer.name, peer.uuid, peer.sequence, attributes, publish.context, offered, publish.scope, publish.payload
    )


def checked_index(index: IndexLike | None) -> Candidates | str:
    """An index, or the name of one that there is."""
    wanted = os.environ.get("SILBO_INDEX", "fast") if index is None else index
    if isinstance(wanted, str) and wanted not in INDEXES:
        raise InvalidValue("index", f"expected one of {', '.join(INDEXES)}, not {wanted!r}.")
    return wanted


def _made(wanted: Candidates | str, contexts: ContextTable) -> Candidates:
    if not isinstance(wanted, str):
        return wanted
    if wanted == "plain":
        return PlainIndex()
    from silbo.matching.fast import FastIndex  # with numba: imported where there is a subscription

    return FastIndex(contexts)


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
