"""The broker's core: its tables and its rules, synchronous and without any I/O.

Every verb either changes the state or raises and leaves it as it was. Who calls from several threads
must see to it that one call is over before the next begins; queues and sessions' handles belong to
`delivery` and `session`.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from importlib.util import find_spec
from itertools import repeat
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast
from uuid import uuid4

from silbo.broker.batch import Batch
from silbo.broker.bulk import Columns, are_numbers, rows_of
from silbo.broker.offload import OffloadLike, maker_of
from silbo.context.function import ContextFunction, Scope
from silbo.context.table import ContextTable
from silbo.errors import DeviceError, DuplicateId, InvalidValue, NotAdvertised, ScopeBeyondReads, SilboError, UnknownId
from silbo.matching.candidates import Candidates, Deciding, Found, SubscriptionRow
from silbo.matching.decision import decided
from silbo.matching.filter import Filter
from silbo.matching.index import PlainIndex
from silbo.model.notification import Publication
from silbo.model.values import Attributes, Context, ContextValue

if TYPE_CHECKING:
    from silbo.matching.fast import FastIndex
    from silbo.matching.planner import Plan

# 'fast-content' and 'fast-context' have their plan fixed, for comparisons
INDEXES: Mapping[str, Plan] = {
    "fast": "measured",
    "fast-content": "content",
    "fast-context": "context",
    "plain": "content",
}
# what a publish is made of, after the door: attributes, the publisher's whole context, scope, payload
Message: TypeAlias = tuple[Attributes, Context, Scope | None, bytes | None]
IndexLike: TypeAlias = Candidates | Literal["fast", "fast-content", "fast-context", "plain"]


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

    `index` names what finds candidates (see INDEXES), or is one; without it `SILBO_INDEX` says which. It
    is made for the first subscription: who only publishes need not wait for it. `offload` names a device, or
    is who makes an index over one; then `index` is beside it, and has what the device does not take.
    """

    def __init__(self, index: IndexLike | None = None, offload: OffloadLike | None = None) -> None:
        self.peers: dict[str, Peer] = {}
        self.contexts = ContextTable()
        self._wanted = checked_index(index)
        self._index: Candidates | None = None if isinstance(self._wanted, str) else self._wanted
        self._fast: FastIndex | None = None
        self._is_deciding: bool | None = None
        self._device = None if offload is None else maker_of(offload)(self.contexts, self._made_beside)
        if self._device is not None:
            self._index = self._device
        # the indexes of ours read contexts where they stand; a device has its own
        self.listener = self._index

    @property
    def index(self) -> Candidates:
        """What finds candidates."""
        if self._index is None:
            self._index = self._made(str(self._wanted))
        return self._index

    def _made_beside(self) -> Candidates:
        """The index beside a device."""
        return self._made(self._wanted) if isinstance(self._wanted, str) else self._wanted

    def _made(self, wanted: str) -> Candidates:
        if wanted == "plain":
            return PlainIndex()
        from silbo.matching.fast import FastIndex  # with numba: imported where there is a subscription

        self._fast = FastIndex(self.contexts, INDEXES[wanted])
        return self._fast

    def prepare(self) -> None:
        """Load what the index needs, or compile it: before the lock is taken, so that nobody waits for it there."""
        if isinstance(self._wanted, str) and self._wanted != "plain" and self._fast is None:
            from silbo.matching.kernels import entries

            entries.made()

    def stats(self) -> dict[str, Any]:
        """The plan, and what else the index tells of its work."""
        told = self._index.stats() if self._index is not None and hasattr(self._index, "stats") else {}
        return {"plan": "content first", **told}

    def connect(self, name: str | None = None, uuid: str | None = None) -> Peer:
        """A new session under a UUID, which the broker makes unless another has made it; the name is a label."""
        uuid = str(uuid4()) if uuid is None else uuid
        peer = self.peers[uuid] = Peer(uuid, uuid if name is None else name, self.contexts.row(uuid))
        return peer

    def disconnect(self, peer: Peer) -> None:
        """End a session: subscriptions, advertisements and context go."""
        for id in list(peer.subscriptions):  # one that cannot be ended is still there when this is tried again
            self.unsubscribe(peer, id)
        if self.listener is not None:
            self.listener.set_context(peer.uuid, {})
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
        row = peer.subscriptions[id]
        self.index.remove(row)
        del peer.subscriptions[id]
        return row

    def set_context(self, peer: Peer, changes: Mapping[str, ContextValue | None]) -> bool:
        """One write of one row; whether anything changed."""
        before = self.contexts.at(peer.row)
        changed = self.contexts.write(peer.row, changes)
        if changed and self.listener is not None:
            try:
                self.listener.set_context(peer.uuid, self.contexts.at(peer.row))
            except SilboError:
                self.contexts.write(peer.row, {**dict.fromkeys(changes), **before})
                raise
        return changed

    def set_contexts(
        self, peers: Sequence[Peer], columns: Columns, *, one_by_one: bool = False
    ) -> list[tuple[int, Mapping[str, ContextValue | None]]]:
        """Change many contexts, all or none; if one by one, which of them changed and how."""
        rows = [peer.row for peer in peers]
        if not one_by_one and self.listener is None and are_numbers(columns):
            self.contexts.write_columns(rows, columns)
            return []
        changes = list(rows_of(columns))
        self.contexts.check_all(rows, changes)
        changed: list[tuple[int, Mapping[str, ContextValue | None]]] = []
        with ExitStack() as undo:
            for i, (peer, change) in enumerate(zip(peers, changes, strict=True)):
                before = {**dict.fromkeys(change), **self.contexts.at(peer.row)}
                if self.set_context(peer, change):
                    undo.callback(self.set_context, peer, before)
                    changed.append((i, change))
            undo.pop_all()
        return changed

    def publish(self, peer: Peer, message: Message) -> tuple[Publication, Sequence[SubscriptionRow]]:
        """Accept a message, and give the rows that get it."""
        publication = self.accept(peer, message)
        try:
            (found,) = self._found((publication,))
        except DeviceError:
            peer.sequence -= 1  # nobody has seen it
            raise
        return publication, decided(publication, message[2], found, self.contexts)

    def publish_many(
        self, peer: Peer, messages: Sequence[Message]
    ) -> Iterator[tuple[Publication, Sequence[SubscriptionRow]]]:
        """Accept all messages or none; the rows are found as the result is walked."""
        offered = [_offered(peer, message) for message in messages]
        batch = [_accepted(peer, message, shown) for message, shown in zip(messages, offered, strict=True)]
        try:
            found_of_all = self._found(batch)
        except DeviceError:
            peer.sequence -= len(batch)
            raise
        return (
            (publication, decided(publication, scope, found, self.contexts))
            for publication, (_, _, scope, _), found in zip(batch, messages, found_of_all, strict=True)
        )

    def accept(self, peer: Peer, message: Message) -> Publication:
        """Accept a message that is matched elsewhere, or raise."""
        return _accepted(peer, message, _offered(peer, message))

    def _found(self, batch: Sequence[Publication]) -> Iterable[Found]:
        if self._index is None:
            return repeat(([], []), len(batch))
        if self._is_deciding is None:
            self._is_deciding = isinstance(self._index, Deciding)  # slow to tell of a Protocol: once is enough
        if self._is_deciding:
            return cast("Deciding", self._index).found(batch)
        return (([], rows) for rows in self._index.candidates(batch))

    def batch(self) -> Batch | None:
        """A run of publications and positions, if the index can match them together."""
        return Batch(self, self._fast) if self._fast is not None and self._device is None else None

    def close(self) -> None:
        """Let the device go, if there is one."""
        if self._device is not None:
            self._device.close()


def _accepted(peer: Peer, message: Message, offered: Context) -> Publication:
    attributes, context, scope, payload = message
    peer.sequence += 1
    text = None if scope is None else scope.text
    kept: Attributes = MappingProxyType(dict(attributes))
    return Publication(peer.name, peer.uuid, peer.sequence, kept, context, offered, text, payload)


def checked_index(index: IndexLike | None) -> Candidates | str:
    """An index, or the name of one that there is."""
    wanted = os.environ.get("SILBO_INDEX", usual_index()) if index is None else index
    if isinstance(wanted, str) and wanted not in INDEXES:
        raise InvalidValue("index", f"expected one of {', '.join(INDEXES)}, not {wanted!r}.")
    return wanted


def usual_index() -> str:
    """The fast one, or the plain one where numba is not to be had, as on a board with an ARM of 32 bits."""
    return "plain" if find_spec("numba") is None else "fast"


def _offered(peer: Peer, message: Message) -> Context:
    """What the advertisements that contain the message show of the publisher's context, or a refusal."""
    attributes, context, scope, _ = message
    containing = [row for row in peer.advertisements.values() if row.filter.selects(attributes)]
    if not containing:
        raise NotAdvertised(peer.name, attributes, [str(row.filter) for row in peer.advertisements.values()])
    if len(containing) == 1 and scope is None and containing[0].offers is None:
        return context  # most publishers say one thing, and show what they have
    reads = _united([row.reads for row in containing])
    if scope is not None and reads is not None and not scope.variables("sub") <= reads:
        raise ScopeBeyondReads(scope.variables("sub") - reads, reads)
    offers = _united([row.offers for row in containing])
    if offers is None:
        return context
    return {name: value for name, value in context.items() if name in offers}


def _united(names: Iterable[frozenset[str] | None]) -> frozenset[str] | None:
    """The union; None, which stands for all, makes it all."""
    union: frozenset[str] = frozenset()
    for each in names:
        if each is None:
            return None
        union |= each
    return union
