"""Sessions as users hold them: the verbs, and the small handles they return.

What a verb does is decided in `core`; here arguments pass the door, expressions are read, and one
lock makes each call atomic.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol, Self, TypeAlias

from silbo.broker.core import Peer
from silbo.broker.delivery import Deliver, Subscription, check_options
from silbo.broker.dispatch import FINISH, Dispatcher
from silbo.broker.queue import BLOCK_TIMEOUT, QUEUE, Queue, Slow
from silbo.context.function import ContextFunction, Scope
from silbo.errors import Closed, InvalidValue, SilboError
from silbo.language.form import Form
from silbo.matching.filter import Filter
from silbo.model.events import Advertise, Disconnect, SetContext, Subscribe, Unadvertise, Unsubscribe
from silbo.model.notification import Publication
from silbo.model.values import (
    Context,
    check_message_size,
    checked_attributes,
    checked_changes,
    checked_context,
    checked_name,
    checked_names,
    checked_payload,
)

if TYPE_CHECKING:
    from silbo.broker.broker import Broker, Tickets

FilterLike: TypeAlias = str | Form | Filter
FunctionLike: TypeAlias = str | Form | ContextFunction
ScopeLike: TypeAlias = str | Form | Scope


class ArrowTable(Protocol):
    """What `publish_many` needs of an Arrow table or record batch."""

    def to_pylist(self) -> list[dict[str, Any]]:
        """The rows as dictionaries."""


class Receipt:
    """What `publish` gives: the message's place in its session's sequence."""

    __slots__ = ("_publication",)

    def __init__(self, publication: Publication) -> None:
        self._publication = publication

    @property
    def sequence(self) -> int:
        """From 1, rising by one with each accepted publish of the session."""
        return self._publication.sequence

    def wait(self, timeout: float | None = None) -> Receipt:
        """Wait until the broker acknowledged it: an embedded broker has done so when publish returns."""
        del timeout
        return self

    def __repr__(self) -> str:
        return f"<Receipt {self._publication.publisher}#{self.sequence}>"


class Advertisement:
    """What `advertise` gives; `close` is `unadvertise`."""

    __slots__ = ("_closed", "_session", "id")

    def __init__(self, session: Session, id: str) -> None:
        self.id = id
        self._session = session
        self._closed = False

    def close(self) -> None:
        """End the advertisement."""
        self._session.unadvertise(self)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with self._session._lock:
            if not (self._closed or self._session.closed):
                self.close()

    def __repr__(self) -> str:
        return f"<Advertisement {self._session.name}/{self.id}>"


class Session:
    """One connection to a broker; it may publish and subscribe. Made by `Broker.connect` or `silbo.connect`."""

    def __init__(self, broker: Broker, peer: Peer, log_name: str) -> None:
        self._broker = broker
        self._peer = peer
        self._log_name = log_name
        self._is_recorded = False
        self._lock = broker._lock
        self._core = broker._core
        self._contexts = broker._core.contexts
        self._row = peer.row
        self._is_unheard = broker._recorder is None and broker._core.listener is None  # of by anybody but the table
        self._dispatcher = Dispatcher(peer.name, broker._queue_lock, broker._counts)
        self._subscriptions: dict[str, Subscription] = {}
        self._advertisements: dict[str, Advertisement] = {}
        self._made = 0
        self._closed = False

    @property
    def name(self) -> str:
        """The label it was connected with."""
        return self._peer.name

    @property
    def uuid(self) -> str:
        """Its identity, made by the broker."""
        return self._peer.uuid

    @property
    def closed(self) -> bool:
        """Whether it was closed, by itself or with its broker."""
        return self._closed

    @property
    def broker(self) -> Broker:
        """The broker it is connected to."""
        return self._broker

    @property
    def context(self) -> Context:
        """Its context as it is now; read-only, `set_context` changes it."""
        with self._lock:
            self._check_open()
            return MappingProxyType(dict(self._core.contexts.at(self._peer.row)))

    # context

    def set_context(self, mapping: Mapping[str, Any] | None = None, /, **values: Any) -> None:
        """Say what the situation is now: merges, all or nothing; None removes a variable.

        As a subscriber's context it counts from the next publication on; as a publisher's it travels
        with the next publish.
        """
        given = values if mapping is None else {**_mapping(mapping), **values}
        if self._is_unheard and self._move(given):
            return
        changes = checked_changes(given, "context")
        with self._lock:
            self._check_open()
            if self._core.set_context(self._peer, changes):
                self._broker._record(self, partial(_set_context, changes))

    def _move(self, changes: Mapping[str, Any]) -> bool:
        """Write finite floats over floats: things that move do little else, and it needs no other checks.

        Whether that is what it was; if not, nothing was done.
        """
        for value in changes.values():
            # no finite number: the difference is NaN
            if type(value) is not float or value - value != 0.0:
                return False
        lock = self._lock
        lock.acquire()  # `with` takes twice as long to find its methods
        try:
            return not self._closed and self._contexts.write_floats(self._row, changes) is not None
        finally:
            lock.release()

    setContext = set_context  # noqa: N815  # the paper's spelling

    # publishing

    def advertise(
        self,
        filter: FilterLike,
        *,
        offers: Iterable[str] | None = None,
        reads: Iterable[str] | None = None,
        id: str | None = None,
    ) -> Advertisement:
        """Say what will be published.

        `offers` names what subscribers may see of this session's context (None: all of it), `reads` the
        subscriber variables that scopes may use (None: any).
        """
        read = Filter.of(filter)
        shown = None if offers is None else checked_names(offers, "offers")
        used = None if reads is None else checked_names(reads, "reads")
        with self._lock:
            self._check_open()
            key = self._id(id, "a", self._peer.advertisements)
            self._core.advertise(self._peer, key, read, shown, used)
            self._broker._record(self, lambda name: Advertise(name, key, read.text, shown, used))
            advertisement = self._advertisements[key] = Advertisement(self, key)
            return advertisement

    def unadvertise(self, advertisement: Advertisement | str) -> None:
        """End an advertisement, given by its handle or its id."""
        id = _id_of(advertisement, Advertisement)
        with self._lock:
            self._check_open()
            if isinstance(advertisement, Advertisement):
                self._check_own(advertisement, active=advertisement is self._advertisements.get(id))
            self._core.unadvertise(self._peer, id)
            self._broker._record(self, lambda name: Unadvertise(name, id))
            self._advertisements.pop(id)._closed = True

    def publish(
        self,
        attributes: Mapping[str, Any],
        *,
        scope: ScopeLike | None = None,
        payload: bytes | None = None,
        context: Mapping[str, Any] | None = None,
    ) -> Receipt:
        """Publish a message with this session's context as it is now.

        `scope` admits only subscribers whose context makes it true; `payload` is never looked at;
        `context` takes the place of the session's own for this message (a gateway's, say).
        """
        receipt, tickets = self._publish(attributes, scope, payload, context)
        self._broker._wait_for_room(tickets)
        return receipt

    def publish_many(
        self, rows: Iterable[Mapping[str, Any]] | ArrowTable, *, scope: ScopeLike | None = None
    ) -> list[Receipt]:
        """Publish rows of attributes, or the rows of an Arrow table (null: absent), all or none."""
        receipts, tickets = self._publish_many(rows, scope)
        self._broker._wait_for_room(tickets)
        return receipts

    def _publish(
        self,
        attributes: Mapping[str, Any],
        scope: ScopeLike | None,
        payload: bytes | None,
        context: Mapping[str, Any] | None,
    ) -> tuple[Receipt, Tickets]:
        """Publish without waiting for room: the receipt, and the tickets to wait with."""
        read = None if scope is None else Scope.of(scope)
        message = checked_attributes(attributes)
        sent = None if context is None else checked_context(context)
        kept = None if payload is None else checked_payload(payload)
        check_message_size(message, kept)
        return self._broker._publish(self, message, (sent, read, kept))

    def _publish_many(
        self, rows: Iterable[Mapping[str, Any]] | ArrowTable, scope: ScopeLike | None
    ) -> tuple[list[Receipt], Tickets]:
        """As `_publish`, for many."""
        read = None if scope is None else Scope.of(scope)
        messages = []
        for i, row in enumerate(listed(rows)):
            messages.append(checked_attributes(row, f"rows[{i}]"))
            check_message_size(messages[-1], None, f"rows[{i}]")
        return self._broker._publish_many(self, messages, (None, read, None))

    def flush(self, timeout: float | None = None) -> None:
        """Wait until the broker acknowledged all that was published: at once on an embedded broker."""
        del timeout
        with self._lock:
            self._check_open()

    # subscribing

    def subscribe(
        self,
        filter: FilterLike,
        *,
        context: FunctionLike | None = None,
        include: Iterable[str] = (),
        id: str | None = None,
        deliver: Deliver | None = None,
        queue: int = QUEUE,
        slow: Slow = "disconnect",
        block_timeout: float = BLOCK_TIMEOUT,
    ) -> Subscription:
        """Ask for the messages that the filter selects, while the context function is true.

        `include` names publisher variables to be shown besides those the function reads. With
        `deliver` each notification is passed to it, else read the subscription. A full queue does what
        `slow` says: 'disconnect' ends the subscription, 'drop_oldest' drops and counts, 'block' makes
        the publisher wait up to `block_timeout` seconds and then ends the subscription.
        """
        read = Filter.of(filter)
        function = None if context is None else ContextFunction.of(context)
        shown = checked_names(include, "include")
        check_options(queue, slow, block_timeout, deliver)
        self._core.prepare()
        with self._lock:
            self._check_open()
            key = self._id(id, "s", self._peer.subscriptions)
            subscription = Subscription(self, key, Queue(self._broker._queue_lock, queue, slow), deliver, block_timeout)
            self._core.subscribe(self._peer, key, read, function, shown, subscription)
            text = None if function is None else function.text
            self._broker._record(self, lambda name: Subscribe(name, key, read.text, text, shown))
            self._subscriptions[key] = subscription
            return subscription

    def unsubscribe(self, subscription: Subscription | str) -> None:
        """End a subscription, given by its handle or its id."""
        id = _id_of(subscription, Subscription)
        with self._lock:
            self._check_open()
            if isinstance(subscription, Subscription):
                self._check_own(subscription, active=subscription is self._subscriptions.get(id))
            self._end_subscription(id, Closed(f"subscription {id!r} of session {self.name!r}"))

    def _end_subscription(self, id: str, why: SilboError) -> None:
        self._core.unsubscribe(self._peer, id)
        self._broker._record(self, lambda name: Unsubscribe(name, id))
        self._subscriptions.pop(id)._queue.close(why)

    # ending

    def close(self) -> None:
        """End the session: subscriptions, advertisements and context go; queued notifications stay readable.

        Callbacks that are due still run; this waits for them, for some seconds at most.
        """
        with self._lock:
            self._check_open()
            self._end()
        self._dispatcher.finish(time.monotonic() + FINISH)

    def _end(self) -> None:
        """End it, if nobody else has; the caller holds the lock."""
        if self._closed:
            return
        self._broker._record(self, Disconnect)
        self._broker._forget(self)
        self._closed = True
        for subscription in self._subscriptions.values():
            subscription._queue.close(Closed(f"session {self.name!r}"))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._end()
        self._dispatcher.finish(time.monotonic() + FINISH)

    def __repr__(self) -> str:
        return f"<Session {self.name} {self.uuid}{' closed' if self._closed else ''}>"

    def _check_open(self) -> None:
        if self._closed:
            raise Closed(f"session {self.name!r}")

    def _check_own(self, handle: Advertisement | Subscription, *, active: bool) -> None:
        if handle._session is not self:
            raise InvalidValue("id", f"{handle!r} is of another session. End it there.")
        if not active:
            raise Closed(f"{type(handle).__name__.lower()} {handle.id!r} of session {self.name!r}")

    def _id(self, given: str | None, letter: str, active: Mapping[str, object]) -> str:
        if given is not None:
            return checked_name(given, "id")
        while True:
            self._made += 1
            if (id := f"{letter}{self._made}") not in active:
                return id


def _set_context(values: Mapping[str, Any], session: str) -> SetContext:
    return SetContext(session, values)


def _mapping(mapping: object) -> Mapping[str, Any]:
    if not isinstance(mapping, Mapping):
        raise InvalidValue("context", f"a mapping of names to values is expected, not {type(mapping).__name__}.")
    return mapping


def listed(rows: object) -> list[Mapping[str, Any]]:
    """The rows that `publish_many` was given, a table's without its nulls."""
    if hasattr(rows, "to_pylist"):
        return [_without_nulls(row) for row in rows.to_pylist()]
    if isinstance(rows, Mapping | str | bytes) or not isinstance(rows, Iterable):
        raise InvalidValue("rows", f"mappings of attributes or an Arrow table are expected, not {type(rows).__name__}.")
    return list(rows)


def _id_of(given: object, handle: type[Advertisement | Subscription]) -> str:
    if isinstance(given, handle):
        return given.id
    if isinstance(given, str):
        return given
    raise InvalidValue("id", f"an id or the {handle.__name__.lower()} itself is expected, not {type(given).__name__}.")


def _without_nulls(row: object) -> Mapping[str, Any]:
    if not isinstance(row, Mapping):
        raise InvalidValue("rows", f"a table of attributes is expected; a row is here {type(row).__name__}.")
    return {name: value for name, value in row.items() if value is not None}
