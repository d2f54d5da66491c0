"""The core: it accepts or refuses events, and says which subscriptions get a publication. It does no I/O.

Every event either changes the state or raises and leaves it as it was. Callers in several threads must serialize their
calls. Queues and handles belong to `session`; which index finds candidates is decided by `matching.choice`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from typing import Any, NamedTuple, TypeAlias, overload
from uuid import uuid4

from silbo.context.function import ContextFunction, Scope
from silbo.core.acceptance import accepted, accepted_all
from silbo.core.batch import Batch
from silbo.core.bulk import Columns, are_numbers, rows_of
from silbo.core.client import AdvertisementRow, Client
from silbo.errors import DeviceError, DuplicateId, SilboError, UnknownId
from silbo.language.expression import evaluation_of
from silbo.matching.candidates import NOWHERE, Sink, SubscriptionRow
from silbo.matching.choice import ChosenIndex
from silbo.matching.decision import decided
from silbo.matching.filter import Filter
from silbo.model import events
from silbo.model.notification import Publication
from silbo.model.values import ContextValue

Changes: TypeAlias = Mapping[str, ContextValue | None]


class Matched(NamedTuple):
    """An accepted publish: its publication, and the rows of the subscriptions that get it."""

    publication: Publication
    rows: Sequence[SubscriptionRow]


# what an event changed: whether a context changed, the rows of subscriptions that began or ended, a match
Accepted: TypeAlias = Matched | SubscriptionRow | Sequence[SubscriptionRow] | bool | None
Observer: TypeAlias = Callable[
    [Client, events.Event, Any], object
]  # called with each accepted event, and what it changed


class Core:
    """All tables of one broker, and the only place where events are accepted or refused.

    `apply` takes one event, `apply_all` publishes of one client, `set_contexts` contexts of many clients, and `accept`
    a publish that a batch will match.

    `observers` are called with the accepted events, in the order of acceptance. They must not call the core.
    """

    def __init__(self, index: ChosenIndex | None = None) -> None:
        self.index = ChosenIndex() if index is None else index
        self.contexts = self.index.contexts
        self.clients: dict[str, Client] = {}
        self.observers: list[Observer] = []
        self.delivered = 0  # notifications

    def connect(self, name: str | None = None, uuid: str | None = None) -> Client:
        """Add a client. The core makes its UUID unless one is given; the name is a label."""
        uuid = str(uuid4()) if uuid is None else uuid
        client = self.clients[uuid] = Client(uuid, uuid if name is None else name, self.contexts.row(uuid))
        return client

    def discard(self, client: Client) -> None:
        """Remove a client whose first event was refused; the observers were not called for it."""
        self._disconnect(client, events.Disconnect(client.name), NOWHERE)

    @overload
    def apply(self, client: Client, event: events.Publish) -> Matched: ...
    @overload
    def apply(self, client: Client, event: events.Subscribe, sink: Sink = ...) -> SubscriptionRow: ...
    @overload
    def apply(self, client: Client, event: events.Unsubscribe) -> SubscriptionRow: ...
    @overload
    def apply(self, client: Client, event: events.SetContext) -> bool: ...
    @overload
    def apply(self, client: Client, event: events.Disconnect) -> Sequence[SubscriptionRow]: ...
    @overload
    def apply(self, client: Client, event: events.Advertise | events.Unadvertise) -> None: ...
    @overload
    def apply(self, client: Client, event: events.Event, sink: Sink = ...) -> Accepted: ...
    def apply(self, client: Client, event: events.Event, sink: Sink = NOWHERE) -> Accepted:
        """Accept an event of a client, or raise; returns what it changed. A subscription's notifications go to `sink`.

        A publication is delivered to the sinks of its rows before the observers are called.
        """
        result = VERBS[type(event)](self, client, event, sink)
        for observer in self.observers:
            observer(client, event, result)
        return result

    def apply_all(self, client: Client, publishes: Sequence[events.Publish]) -> list[Publication]:
        """Accept all publishes of a client or none, and deliver them in their order."""
        publications = []
        for event, matched in zip(publishes, self._match_all(client, publishes), strict=True):
            self._deliver(matched)
            for observer in self.observers:
                observer(client, event, matched)
            publications.append(matched.publication)
        return publications

    def accept(self, client: Client, event: events.Publish) -> Publication:
        """Accept a publish without matching it, for engines that match in batches."""
        return accepted(client, event)

    # one verb each, called by `apply` through the table VERBS

    def _advertise(self, client: Client, event: events.Advertise, _: Sink) -> None:
        if event.id in client.advertisements:
            raise DuplicateId("advertisement", event.id)
        offers, reads = (None if names is None else frozenset(names) for names in (event.offers, event.reads))
        filter = Filter.of(event.filter)
        client.advertisements[event.id] = AdvertisementRow(filter, evaluation_of(filter), offers, reads)

    def _unadvertise(self, client: Client, event: events.Unadvertise, _: Sink) -> None:
        if event.id not in client.advertisements:
            raise UnknownId("advertisement", event.id, client.advertisements)
        del client.advertisements[event.id]

    def _subscribe(self, client: Client, event: events.Subscribe, sink: Sink) -> SubscriptionRow:
        if event.id in client.subscriptions:
            raise DuplicateId("subscription", event.id)
        filter, function = _expressions(event) if event.read is None else event.read
        row = SubscriptionRow(client.uuid, client.name, event.id, filter, function, event.include, sink)
        self.index.index.add(row)
        client.subscriptions[event.id] = row
        return row

    def _unsubscribe(self, client: Client, event: events.Unsubscribe, _: Sink) -> SubscriptionRow:
        return self._end(client, event.id)

    def _end(self, client: Client, id: str) -> SubscriptionRow:
        if id not in client.subscriptions:
            raise UnknownId("subscription", id, client.subscriptions)
        row = client.subscriptions[id]
        self.index.index.remove(row)
        del client.subscriptions[id]
        return row

    def _set_context(self, client: Client, event: events.SetContext, _: Sink) -> bool:
        return self._write(client, event.values)

    def _write(self, client: Client, changes: Changes) -> bool:
        """Write one row; returns whether anything changed."""
        if not self.index.listens_to_contexts:
            return self.contexts.write(client.row, changes)
        before = self.contexts.at(client.row)
        changed = self.contexts.write(client.row, changes)
        if changed:
            try:
                self.index.set_context(client.uuid, self.contexts.at(client.row))
            except SilboError:
                self.contexts.write(client.row, {**dict.fromkeys(changes), **before})
                raise
        return changed

    def _publish(self, client: Client, event: events.Publish, _: Sink) -> Matched:
        publication = accepted(client, event)
        try:
            (found,) = self.index.finder((publication,))
        except DeviceError:
            client.sequence -= 1  # the number was not used
            raise
        scope = None if event.scope is None else Scope.of(event.scope)
        rows = decided(publication, scope, found, self.contexts)
        matched = Matched(publication, rows)
        if rows:
            self._deliver(matched)
        return matched

    def _disconnect(self, client: Client, _event: events.Disconnect, _: Sink) -> Sequence[SubscriptionRow]:
        rows = list(client.subscriptions.values())
        for row in rows:  # if one cannot be removed it stays, and the event can be applied again
            self._end(client, row.id)
        self.index.set_context(client.uuid, {})
        client.advertisements.clear()
        self.contexts.remove(client.uuid)
        del self.clients[client.uuid]
        return rows

    def _deliver(self, matched: Matched) -> None:
        """Put a publication into the sinks of its rows.

        This loop runs once for each notification: it appends where there is room, and leaves all else to the sink.
        """
        publication, rows = matched
        for row in rows:
            sink = row.sink
            if len(sink) < sink.room:
                sink.append(publication)
            else:
                sink.put(publication)
        self.delivered += len(rows)

    # many at once

    def _match_all(self, client: Client, publishes: Sequence[events.Publish]) -> Iterator[Matched]:
        """Accept all or none; the rows are decided while the caller iterates."""
        publications = accepted_all(client, publishes)
        try:
            found_of_all = self.index.finder(publications)
        except DeviceError:
            client.sequence -= len(publications)
            raise
        for event, publication, found in zip(publishes, publications, found_of_all, strict=True):
            scope = None if event.scope is None else Scope.of(event.scope)
            yield Matched(publication, decided(publication, scope, found, self.contexts))

    def set_contexts(
        self, clients: Sequence[Client], columns: Columns, event_of: Callable[[int, Changes], events.SetContext]
    ) -> None:
        """Change many contexts, all or none. The observers get the event `event_of(i, changes)` of each that changed.

        Numbers are written as columns, by a kernel, if nobody needs to know each change.
        """
        rows = [client.row for client in clients]
        if not self.observers and not self.index.listens_to_contexts and are_numbers(columns):
            self.contexts.write_columns(rows, columns)
            return
        changes = list(rows_of(columns))
        self.contexts.check_all(rows, changes)
        changed: list[tuple[int, Changes]] = []
        with ExitStack() as undo:
            for i, (client, change) in enumerate(zip(clients, changes, strict=True)):
                before = {**dict.fromkeys(change), **self.contexts.at(client.row)}
                if self._write(client, change):
                    undo.callback(self._write, client, before)
                    changed.append((i, change))
            undo.pop_all()
        for i, changed_values in changed:
            event = event_of(i, changed_values)
            for observer in self.observers:
                observer(clients[i], event, True)

    def batch(self) -> Batch | None:
        """An empty batch, or None if the index cannot match several publications in one call."""
        return None if self.index.fast is None else Batch(self.contexts, self.index.fast)


def _expressions(event: events.Subscribe) -> tuple[Filter, ContextFunction | None]:
    return Filter.of(event.filter), None if event.context is None else ContextFunction.of(event.context)


VERBS: Mapping[type, Callable[[Core, Client, Any, Sink], Accepted]] = {
    events.Advertise: Core._advertise,  # private methods: the table belongs to the class
    events.Unadvertise: Core._unadvertise,
    events.Subscribe: Core._subscribe,
    events.Unsubscribe: Core._unsubscribe,
    events.SetContext: Core._set_context,
    events.Publish: Core._publish,
    events.Disconnect: Core._disconnect,
}
