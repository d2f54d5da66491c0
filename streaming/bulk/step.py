"""The step: apply a batch of records to a shard's state, and return the publications with the rows that get them.

It is deterministic: the same state and the same batch give the same delta and the same matches, and a state
that absorbs the deltas of another becomes equal to it. Spark owns the state as bytes (`snapshots`); the `State` here
is its matchable form, a cache that can be rebuilt at any time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, TypeAlias

from silbo.core.client import Client
from silbo.core.core import Core
from silbo.core.run import BatchRun
from silbo.matching.candidates import SubscriptionRow
from silbo.matching.choice import ChosenIndex
from silbo.model.events import Disconnect, Subscribe, Unsubscribe
from silbo.model.notification import Publication
from silbo.streaming.bulk.chunks import ShardBatch
from silbo.streaming.bulk.idle import IdleFrontier
from silbo.streaming.bulk.order import Arrival, Frontier, Partition
from silbo.wire.records import (
    SHOWN,
    ContextRecord,
    PublicationRecord,
    Record,
    RejectionRecord,
    SubscriptionRecord,
    UnsubscriptionRecord,
    encode,
)

Order: TypeAlias = Literal["strict", "arrival"]
Match: TypeAlias = tuple[Publication, Sequence[SubscriptionRow]]  # rows by name, id and UUID


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of a state, which must not change while it exists."""

    order: Order = "strict"
    lateness: int = 0  # microseconds
    partitions: tuple[Partition, ...] = ()  # those that the frontier waits for
    shard: int = 0
    shards: int = 1
    idle: int | None = None  # microseconds of silence after which a partition stops holding the frontier; None: never


class Delta(NamedTuple):
    """What a batch adds to a state: the marks of partitions, and the records that still have an effect."""

    marks: dict[Partition, int]
    retained: list[Arrival]


class Outcome(NamedTuple):
    """The result of a batch: the delta, each publication with the rows that get it, and the rejected records."""

    delta: Delta
    matches: list[Match]
    rejected: list[RejectionRecord]


@dataclass(slots=True)
class State:
    """The subscriptions and contexts of a shard as of the frontier, and the records that wait for the frontier."""

    settings: Settings
    core: Core = field(default_factory=lambda: Core(ChosenIndex("fast")))
    waiting: list[Arrival] = field(default_factory=list)
    frontier: Frontier = field(init=False)

    def __post_init__(self) -> None:
        self.frontier = frontier_of(self.settings)


def frontier_of(settings: Settings) -> Frontier:
    """The frontier of an empty state."""
    if settings.idle is None:
        return Frontier(settings.lateness, settings.partitions)
    return IdleFrontier(settings.lateness, settings.partitions, settings.idle)


def step(state: State, batch: ShardBatch) -> Outcome:
    """Apply a batch to the state; the delta of the outcome describes the change."""
    arrivals, rejected = _accepted(state, batch)
    passed = _released(state, batch.marks, arrivals)
    matches = _walk(state, passed)
    return Outcome(Delta(batch.marks, _retained(arrivals, passed)), matches, rejected)


def _retained(arrivals: Sequence[Arrival], passed: Sequence[Arrival]) -> list[Arrival]:
    """The arrivals that still have an effect: no publications or outdated contexts that the frontier has passed."""
    outdated: set[int] = set()
    seen: set[str] = set()
    for each in reversed(passed):
        record = each.record
        if type(record) is ContextRecord and record.subscriber not in seen:
            seen.add(record.subscriber)
        elif type(record) is ContextRecord or type(record) is PublicationRecord:
            outdated.add(id(each))
    return [each for each in arrivals if id(each) not in outdated]


def absorb(state: State, delta: Delta) -> None:
    """Apply the delta of another state, without matching anything."""
    passed = _released(state, delta.marks, delta.retained)
    _walk(state, [each for each in passed if not each.is_publication])


# accepting records


def _accepted(state: State, batch: ShardBatch) -> tuple[list[Arrival], list[RejectionRecord]]:
    """The accepted records, and the rejected ones with their reasons."""
    arrivals: list[Arrival] = []
    rejected = [RejectionRecord(0, *refused) for refused in batch.refused()]
    settings, frontier = state.settings, state.frontier
    for chunk in batch.chunks:
        topic, partition = place = chunk.topic, chunk.partition
        for offset, before, record in zip(chunk.offsets, chunk.befores, chunk.records, strict=True):
            each = Arrival(record.time, type(record) is PublicationRecord, topic, partition, offset, record)
            if settings.order == "arrival" or not frontier.is_late(place, record.time, before):
                arrivals.append(each)
            # every shard gets a publication, and only one of them reports it
            elif not each.is_publication or offset % settings.shards == settings.shard:
                rejected.append(_late(each, frontier))
    return arrivals, rejected


def _late(each: Arrival, frontier: Frontier) -> RejectionRecord:
    value = encode(each.record)[:SHOWN]
    return RejectionRecord(0, each.topic, each.partition, each.offset, frontier.late(each.time), value)


def _released(state: State, marks: dict[Partition, int], arrivals: Sequence[Arrival]) -> list[Arrival]:
    """Add records, advance the frontier, and return the records that it passed, in order."""
    if state.settings.order == "arrival":
        return sorted(arrivals)
    state.frontier.raise_marks(marks)
    waiting = sorted([*state.waiting, *arrivals])
    limit = state.frontier.time
    passed = [each for each in waiting if each.time < limit]
    state.waiting = waiting[len(passed) :]
    return passed


# applying records


def _walk(state: State, passed: Iterable[Arrival]) -> list[Match]:
    """Apply records in their order, and return the publications among them, each with the rows that get it."""
    walk = _Walk(state)
    for each in passed:
        walk.apply(each.record)
    walk.flush()
    return walk.matches


class _Walk:
    """Applies records to the core of a state, through a run, and collects the publications with their rows.

    A topic may be compacted: a subscription may come twice, and an end without its beginning.
    """

    def __init__(self, state: State) -> None:
        self._core = state.core
        self._run = BatchRun(state.core, self._matched)
        self.matches: list[Match] = []

    def apply(self, record: Record) -> None:
        match record:
            case PublicationRecord():
                if self._run.is_batching:  # otherwise there has never been a subscription
                    self._run.publish(_publication(record))
            case ContextRecord():
                self._context(record)
            case SubscriptionRecord():
                self._subscribe(record)
            case UnsubscriptionRecord():
                self._unsubscribe(record)
            case _:
                raise AssertionError(f"nothing to do for {record}")

    def flush(self) -> None:
        """Match the publications that were collected."""
        self._run.flush()

    def _matched(self, publication: Publication, rows: Sequence[SubscriptionRow]) -> None:
        if rows:
            self.matches.append((publication, sorted(rows, key=lambda row: (row.name, row.id, row.subscriber))))

    def _context(self, record: ContextRecord) -> None:
        client = self._client(record.subscriber)
        self._run.replace_context(client, record.values)
        if not record.values:
            self._forget(client)

    def _subscribe(self, record: SubscriptionRecord) -> None:
        client = self._client(record.subscriber)
        self._end(client, record.id)
        client.name = record.name
        event = Subscribe(client.uuid, record.id, record.filter, record.context, record.include)
        self._run.apply(client, event)

    def _unsubscribe(self, record: UnsubscriptionRecord) -> None:
        client = self._client(record.subscriber)
        self._end(client, record.id)
        self._forget(client)

    def _end(self, client: Client, id: str) -> None:
        if id in client.subscriptions:
            self._run.apply(client, Unsubscribe(client.uuid, id))

    def _client(self, uuid: str) -> Client:
        client = self._core.clients.get(uuid)
        return self._core.connect(uuid, uuid) if client is None else client

    def _forget(self, client: Client) -> None:
        """Remove a client without subscriptions and context."""
        if not client.subscriptions and not self._core.contexts.at(client.row):
            self._run.apply(client, Disconnect(client.uuid))


def _publication(record: PublicationRecord) -> Publication:
    return Publication(
        record.name, record.publisher, record.sequence, record.attributes, {**record.for_scope, **record.context},
        record.context, record.scope, record.payload, record.time,
    )  # fmt: skip


def records_of(state: State) -> Iterator[Record]:
    """The records from which a state can be rebuilt as of its frontier: subscriptions and contexts."""
    for client in state.core.clients.values():
        for row in client.subscriptions.values():
            function = None if row.function is None else row.function.text
            yield SubscriptionRecord(0, client.uuid, row.name, row.id, row.filter.text, function, row.include)
        context = state.core.contexts.at(client.row)
        if context:
            yield ContextRecord(0, client.uuid, context)


def take_records(state: State, records: Iterable[Record]) -> None:
    """Apply records of `records_of` to a state without waiting records."""
    walk = _Walk(state)
    for record in records:
        walk.apply(record)
    walk.flush()
