"""The step: what a batch of records does to a shard's state, and the notifications that come of it.

It is pure in what counts: the same state and the same columns give the same delta and the same notifications,
and a state that takes in the deltas of another is equal to it. Spark owns the state as bytes (`snapshots`); what
is here is the form in which it can be matched, a cache that can be made anew at any time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, TypeAlias

from silbo.broker.core import Core, Peer
from silbo.context.function import ContextFunction, Scope
from silbo.matching.filter import Filter
from silbo.model.notification import Publication
from silbo.streaming.columns import Columns
from silbo.streaming.idle import IdleFrontier
from silbo.streaming.order import Arrival, Frontier, Partition
from silbo.streaming.records import (
    SHOWN,
    ContextIs,
    Notified,
    Published,
    Record,
    Rejected,
    Subscribed,
    Unsubscribed,
    encode,
    record_of,
)

Order: TypeAlias = Literal["strict", "arrival"]


@dataclass(frozen=True, slots=True)
class Settings:
    """What must not change while a state lives."""

    order: Order = "strict"
    lateness: int = 0  # microseconds
    partitions: tuple[Partition, ...] = ()  # that the frontier waits for
    shard: int = 0
    shards: int = 1
    idle: int | None = None  # microseconds after which a silent partition holds no frontier; None: it always does


class Delta(NamedTuple):
    """What a batch adds to a state: marks of partitions, and the records that still count."""

    marks: dict[Partition, int]
    kept: list[Arrival]


class Outcome(NamedTuple):
    """What a batch gives: the delta, the notifications in the order of their publications, and what was rejected."""

    delta: Delta
    notifications: list[Notified]
    rejected: list[Rejected]


@dataclass(slots=True)
class State:
    """The subscriptions and contexts of a shard as of the frontier, and what waits for it."""

    settings: Settings
    core: Core = field(default_factory=lambda: Core("fast"))
    peers: dict[str, Peer] = field(default_factory=dict)
    waiting: list[Arrival] = field(default_factory=list)
    frontier: Frontier = field(init=False)

    def __post_init__(self) -> None:
        self.frontier = frontier_of(self.settings)


def frontier_of(settings: Settings) -> Frontier:
    """The frontier of an empty state."""
    if settings.idle is None:
        return Frontier(settings.lateness, settings.partitions)
    return IdleFrontier(settings.lateness, settings.partitions, settings.idle)


def step(state: State, columns: Columns) -> Outcome:
    """Take a batch in: the state moves on, and the delta tells how."""
    arrivals, rejected = _accepted(state, columns)
    passed = _advance(state, columns.marks, arrivals)
    notifications = _walk(state, passed)
    return Outcome(Delta(columns.marks, _kept(arrivals, passed)), notifications, rejected)


def _kept(arrivals: Sequence[Arrival], passed: Sequence[Arrival]) -> list[Arrival]:
    """What came and still counts: of what the frontier has passed neither publications nor outdated contexts."""
    outdated: set[int] = set()
    seen: set[str] = set()
    for each in reversed(passed):
        record = each.record
        if type(record) is ContextIs and record.subscriber not in seen:
            seen.add(record.subscriber)
        elif type(record) is ContextIs or type(record) is Published:
            outdated.add(id(each))
    return [each for each in arrivals if id(each) not in outdated]


def absorb(state: State, delta: Delta) -> None:
    """Let a state follow one that made this delta, without matching anything."""
    passed = _advance(state, delta.marks, delta.kept)
    _walk(state, [each for each in passed if not each.is_publication])


# taking in


def _accepted(state: State, columns: Columns) -> tuple[list[Arrival], list[Rejected]]:
    """The records that may change something, and those that may not, with the reason."""
    arrivals: list[Arrival] = []
    rejected = [Rejected(0, *refused) for refused in columns.refused()]
    settings, frontier = state.settings, state.frontier
    for chunk in columns.chunks:
        topic, partition = place = chunk.topic, chunk.partition
        for offset, before, fields in zip(chunk.offsets, chunk.befores, chunk.records, strict=True):
            record = record_of(fields)
            each = Arrival(record.time, type(record) is Published, topic, partition, offset, record)
            if settings.order == "arrival" or not frontier.is_late(place, record.time, before):
                arrivals.append(each)
            # a publication comes to every shard, and one of them says so
            elif not each.is_publication or offset % settings.shards == settings.shard:
                rejected.append(_late(each, frontier))
    return arrivals, rejected


def _late(each: Arrival, frontier: Frontier) -> Rejected:
    value = encode(each.record)[:SHOWN]
    return Rejected(0, each.topic, each.partition, each.offset, frontier.late(each.time), value)


def _advance(state: State, marks: dict[Partition, int], arrivals: Sequence[Arrival]) -> list[Arrival]:
    """Take records in, move the frontier, and give what it passed, in order."""
    if state.settings.order == "arrival":
        return sorted(arrivals)
    state.frontier.advance(marks)
    waiting = sorted([*state.waiting, *arrivals])
    limit = state.frontier.time
    passed = [each for each in waiting if each.time < limit]
    state.waiting = waiting[len(passed) :]
    return passed


# walking


def _walk(state: State, passed: Iterable[Arrival]) -> list[Notified]:
    """Apply records in their order; the notifications of the publications among them."""
    walk = _Walk(state)
    for each in passed:
        walk.apply(each.record)
    walk.flush()
    return walk.notifications


class _Walk:
    """A walk over records: contexts and publications are applied in runs, as the broker does it."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._core = state.core
        self._batch = state.core.batch()
        self._published: list[Published] = []
        self.notifications: list[Notified] = []

    def apply(self, record: Record) -> None:
        match record:
            case Published():
                self._publish(record)
            case ContextIs():
                self._context(record)
            case Subscribed():
                self.flush()
                self._subscribe(record)
            case Unsubscribed():
                self.flush()
                self._unsubscribe(record)
            case _:
                raise AssertionError(f"nothing to do for {record}")

    def flush(self) -> None:
        """Apply what waits in the run."""
        if self._batch is None:
            return
        for published, (publication, rows) in zip(self._published, self._batch.apply(), strict=True):
            for row in sorted(rows, key=lambda row: (row.name, row.id, row.subscriber)):
                self.notifications.append(
                    Notified(
                        published.time, published.publisher, published.name, published.sequence,
                        row.subscriber, row.name, row.id, publication.attributes, row.context(publication),
                        publication.payload,
                    )
                )  # fmt: skip
        self._published = []
        self._batch = self._core.batch()

    def _publish(self, record: Published) -> None:
        if self._batch is None:
            return  # nobody has ever subscribed
        if self._batch.is_full:
            self.flush()
        publication = Publication(
            record.name, record.publisher, record.sequence, record.attributes, {**record.seen, **record.context},
            record.context, record.scope, record.payload,
        )  # fmt: skip
        self._batch.add(publication, None if record.scope is None else Scope.of(record.scope))
        self._published.append(record)

    def _context(self, record: ContextIs) -> None:
        peer = self._peer(record.subscriber)
        if self._batch is not None and self._batch.set_whole(peer, record.values):
            return
        self.flush()
        old = self._core.contexts.at(peer.row)
        self._core.set_context(peer, {**dict.fromkeys(old.keys() - record.values.keys()), **record.values})
        self._forget(peer)

    def _subscribe(self, record: Subscribed) -> None:
        peer = self._peer(record.subscriber)
        peer.name = record.name
        if record.id in peer.subscriptions:
            self._core.unsubscribe(peer, record.id)
        function = None if record.context is None else ContextFunction.of(record.context)
        self._core.subscribe(peer, record.id, Filter.of(record.filter), function, record.include, sink=None)
        self._batch = self._core.batch()

    def _unsubscribe(self, record: Unsubscribed) -> None:
        peer = self._peer(record.subscriber)
        if record.id in peer.subscriptions:  # a compacted topic may hold the end alone
            self._core.unsubscribe(peer, record.id)
        self._forget(peer)

    def _peer(self, uuid: str) -> Peer:
        peer = self._state.peers.get(uuid)
        if peer is None:
            peer = self._state.peers[uuid] = self._core.connect(uuid, uuid)
        return peer

    def _forget(self, peer: Peer) -> None:
        """Nobody needs a peer without subscriptions and context."""
        if not peer.subscriptions and not self._core.contexts.at(peer.row):
            self._core.disconnect(peer)
            del self._state.peers[peer.uuid]


def records_of(state: State) -> Iterator[Record]:
    """The records that make a state what it is as of its frontier: subscriptions and contexts."""
    for peer in state.peers.values():
        for row in peer.subscriptions.values():
            function = None if row.function is None else row.function.text
            yield Subscribed(0, peer.uuid, row.name, row.id, row.filter.text, function, row.include)
        context = state.core.contexts.at(peer.row)
        if context:
            yield ContextIs(0, peer.uuid, context)


def take_records(state: State, records: Iterable[Record]) -> None:
    """Bring records of `records_of` into a state that nothing waits in."""
    walk = _Walk(state)
    for record in records:
        walk.apply(record)
    walk.flush()
