"""The verbs of a session, written once: `Session` waits for their acknowledgements, `AsyncSession` awaits them.

A verb checks its arguments, reads expressions, makes an event and submits it to the session's link. Whether the event
is accepted is decided by the core behind the link. The state here is that of the handles: which ones are active, and
the ids that the session made.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from typing import Any, Concatenate, ParamSpec, Protocol, TypeAlias, TypeVar

from silbo.context.function import ContextFunction, Scope
from silbo.core.core import Matched
from silbo.errors import Closed, InvalidValue, NotAcknowledged, SilboError, SlowSubscriber
from silbo.language.form import Form
from silbo.matching.candidates import SubscriptionRow, asked_variables
from silbo.matching.filter import Filter
from silbo.model.events import Advertise, Disconnect, Publish, SetContext, Subscribe, Unadvertise, Unsubscribe
from silbo.model.notification import Publication
from silbo.model.values import (
    checked_changes,
    checked_context,
    checked_message,
    checked_name,
    checked_names,
)
from silbo.session.dispatch import FINISH, Dispatcher
from silbo.session.handles import Advertisement, Receipt
from silbo.session.link import DONE, OWN, Acknowledged, Acknowledgement, Link, chained
from silbo.session.messages import MessageColumns, listed, names_in
from silbo.session.queue import BLOCK_TIMEOUT, QUEUE, Deliver, OnClose, Queue, Slow
from silbo.session.subscription import Subscription, check_options

P = ParamSpec("P")
T = TypeVar("T")

FilterLike: TypeAlias = str | Form | Filter
FunctionLike: TypeAlias = str | Form | ContextFunction
ScopeLike: TypeAlias = str | Form | Scope


class ArrowTable(Protocol):
    """The part of an Arrow table or record batch that `publish_many` needs."""

    def to_pylist(self) -> list[dict[str, Any]]:
        """The rows as dictionaries."""


class Verbs:
    """The verbs of one session. Each returns an acknowledgement, or raises what was refused at once."""

    def __init__(self, link: Link, counts: dict[str, int]) -> None:
        self.link = link
        self.lock = link.lock
        self.closed = False
        self.subscriptions: dict[str, Subscription] = {}
        self.advertisements: dict[str, Advertisement] = {}
        self.handle: Any = None  # the `Session` of these verbs
        self._dispatcher = Dispatcher(link.name, link.lock, counts)
        self._last_number = {"a": 0, "s": 0}  # of the ids that the session made, for advertisements and subscriptions

    @property
    def name(self) -> str:
        """The session's label, given when it connected."""
        return self.link.name

    @property
    def uuid(self) -> str:
        """The session's identity."""
        return self.link.uuid

    # context

    def set_context(self, mapping: Mapping[str, Any] | None = None, /, **values: Any) -> Acknowledgement[None]:
        """Change the session's context: merges the values, all or none; None removes a variable.

        As a subscriber's context it applies from the next publication on; as a publisher's it is sent
        with the next publish.
        """
        given = values if mapping is None else {**_mapping(mapping), **values}
        return DONE if self.link.move(given) else self.change_context(given)

    def change_context(self, given: Mapping[str, Any]) -> Acknowledgement[None]:
        """`set_context` without the shortcut for moves."""
        return self.link.submit(SetContext(self.link.log_name, checked_changes(given, "context")))

    # publishing

    def advertise(
        self,
        filter: FilterLike,
        *,
        offers: Iterable[str] | None = None,
        reads: Iterable[str] | None = None,
        id: str | None = None,
    ) -> Acknowledgement[Advertisement]:
        """Declare the messages that this session will publish.

        `offers` names the variables of this session's context that subscribers may see (None: all), `reads` the
        subscriber variables that scopes may use (None: any).
        """
        read = Filter.of(filter)
        shown = None if offers is None else checked_names(offers, "offers")
        used = None if reads is None else checked_names(reads, "reads")
        with self.lock:
            self.check_open()
            key = self._id(id, "a", self.advertisements)
            acknowledgement = self.link.submit(Advertise(self.link.log_name, key, read.text, shown, used))
            return chained(acknowledgement, lambda _: self._advertised(key), self.lock)

    def _advertised(self, key: str) -> Advertisement:
        advertisement = self.advertisements[key] = Advertisement(self, key)
        return advertisement

    def unadvertise(self, advertisement: Advertisement | str) -> Acknowledgement[None]:
        """End an advertisement, given by its handle or its id."""
        id = _id_of(advertisement, Advertisement)
        with self.lock:
            self.check_open()
            if isinstance(advertisement, Advertisement):
                self._check_own(advertisement, self.advertisements.get(id))
            acknowledgement = self.link.submit(Unadvertise(self.link.log_name, id))
            return chained(acknowledgement, lambda _: self._unadvertised(id), self.lock)

    def _unadvertised(self, id: str) -> None:
        self.advertisements.pop(id)._closed = True

    def publish(
        self,
        attributes: Mapping[str, Any],
        *,
        scope: ScopeLike | None = None,
        payload: bytes | None = None,
        context: Mapping[str, Any] | None = None,
    ) -> Acknowledgement[Receipt]:
        """Publish a message with this session's context as it is now.

        `scope` admits only subscribers whose context makes it true; `payload` is opaque to silbo;
        `context` replaces the session's own context for this message (a gateway needs that, for example).
        """
        text = None if scope is None else Scope.of(scope).text
        sent = OWN if context is None else checked_context(context)
        message, body = checked_message(attributes, payload)
        link = self.link
        acknowledgement = link.submit(Publish(link.log_name, message, sent, text, body))
        if type(acknowledgement) is Acknowledged:
            acknowledgement.value = Receipt(acknowledgement.value.publication)
            return acknowledgement
        return chained(acknowledgement, _receipt, self.lock)

    def publish_many(
        self,
        rows: Iterable[Mapping[str, Any]] | ArrowTable,
        *,
        scope: ScopeLike | None = None,
        context: Iterable[str] | None = None,
        payload: str | None = None,
    ) -> Acknowledgement[list[Receipt]]:
        """Publish rows of attributes, or the rows of an Arrow table (null: absent), all or none.

        `context` names the columns that are each row's publisher context instead of attributes: a gateway uses it
        to publish the positions of many things. Without it every message has this session's context as it is now.
        `payload` names the column that holds the payload's bytes.
        """
        text = None if scope is None else Scope.of(scope).text
        mappings = listed(rows)
        columns = MessageColumns.of(names_in(rows, mappings), context, payload)
        messages = [columns.message(row, f"rows[{i}]") for i, row in enumerate(mappings)]
        name = self.link.log_name
        events = [
            Publish(name, attributes, OWN if sent is None else sent, text, body) for attributes, sent, body in messages
        ]
        return chained(self.link.submit_all(events), lambda all_of_them: [*map(Receipt, all_of_them)], self.lock)

    def flush(self, timeout: float | None = None) -> Acknowledgement[None]:
        """Wait until the broker has acknowledged all messages: it has when `publish` returns."""
        del timeout
        self.check_open()
        return DONE

    # subscribing

    def subscribe(
        self,
        filter: FilterLike,
        *,
        context: FunctionLike | None = None,
        include: Iterable[str] = (),
        id: str | None = None,
        deliver: Deliver | None = None,
        on_close: OnClose | None = None,
        queue: int = QUEUE,
        slow: Slow = "disconnect",
        block_timeout: float = BLOCK_TIMEOUT,
    ) -> Acknowledgement[Subscription]:
        """Ask for the messages that the filter selects, while the context function is true.

        `include` names publisher variables that notifications show besides those the function reads. `deliver` is
        called with each notification; without it, read the subscription. `on_close` needs `deliver`: it is
        called once, after the last notification, with the reason (`Closed` or `SlowSubscriber`). `slow` is the policy
        for a full queue: 'disconnect' ends the subscription, 'drop_oldest' drops and counts, 'block' makes
        the publisher wait up to `block_timeout` seconds and then ends the subscription.
        """
        read = Filter.of(filter)
        function = None if context is None else ContextFunction.of(context)
        shown = checked_names(include, "include")
        check_options(queue, slow, block_timeout, deliver, on_close)
        link = self.link
        if not link.is_prepared:
            link.prepare()
        with self.lock:
            self.check_open()
            key = self._id(id, "s", self.subscriptions)
            waiting = Queue(
                self, self.lock, link.name, key, asked_variables(function, shown), limit=queue, slow=slow,
                block_timeout=block_timeout, deliver=deliver, on_close=on_close,
            )  # fmt: skip
            if deliver is not None:
                waiting.observe(lambda is_end: self._dispatcher.schedule(waiting, is_end=is_end))
            text = None if function is None else function.text
            event = Subscribe(link.log_name, key, read.text, text, shown, read=(read, function))
            acknowledgement = link.submit(event, waiting)
            subscription = Subscription(self, waiting, read.text, text)
            return chained(acknowledgement, lambda _: self._subscribed(subscription), self.lock)

    def _subscribed(self, subscription: Subscription) -> Subscription:
        self.subscriptions[subscription.id] = subscription
        return subscription

    def unsubscribe(self, subscription: Subscription | str) -> Acknowledgement[Queue]:
        """End a subscription, given by its handle or its id; `settle` then ends its callbacks."""
        id = _id_of(subscription, Subscription)
        with self.lock:
            self.check_open()
            if isinstance(subscription, Subscription):
                self._check_own(subscription, self.subscriptions.get(id))
            return self._end(id)

    def end(self, subscription: Subscription) -> Acknowledgement[Queue]:
        """End an active subscription."""
        return self._end(subscription.id)

    def _end(self, id: str) -> Acknowledgement[Queue]:
        why = Closed(f"subscription {id!r} of session {self.name!r}")
        acknowledgement = self.link.submit(Unsubscribe(self.link.log_name, id))
        return chained(acknowledgement, lambda row: self._unsubscribed(row, why), self.lock)

    def _unsubscribed(self, row: SubscriptionRow, why: SilboError) -> Queue:
        self.subscriptions.pop(row.id, None)
        queue = row.sink
        assert isinstance(queue, Queue)
        queue.close(why)
        return queue

    def settle(self, queue: Queue, deadline: float | None = None) -> None:
        """Let the pending callbacks of an ended subscription run until the deadline, and none after it."""
        if queue.deliver is not None:
            self._dispatcher.finish_of(queue, time.monotonic() + FINISH if deadline is None else deadline)
            queue.discard()

    # full queues: their keeper is the session

    def note_dropped(self, queue: Queue, dropped: Publication) -> None:
        """Report a dropped publication to the engine, which counts and records it."""
        self.link.note_dropped(queue, dropped)

    def note_blocked(self, queue: Queue, ticket: int) -> None:
        """Let the publisher wait for room."""
        self.link.note_blocked(queue, ticket)

    def end_slow(self, queue: Queue, at: int | None) -> None:
        """End a subscription as slow, and report it: one with a callback has no reader who sees it.

        `at` is the time of the publish that is being delivered; without it, the subscription ends now.
        """
        with self.lock:
            if queue.end is not None:
                return
            self.link.note_slow(queue)
            queue.dropped += len(queue.overflow)
            lost = tuple(self.link.dropped_entry(queue, each) for each in queue.overflow)
            event = Unsubscribe(self.link.log_name, queue.id, reason="slow", dropped=lost, time=at)
            acknowledgement = self.link.submit(event)
        why = SlowSubscriber(queue.id, queue.limit)
        chained(acknowledgement, lambda row: self._unsubscribed(row, why), self.lock).result()

    # ending

    def close(self) -> Acknowledgement[None]:
        """End the session if it is open; `finish` then ends its callbacks."""
        with self.lock:
            if self.closed:
                return DONE
            acknowledgement = self.link.submit(Disconnect(self.link.log_name))
            return chained(acknowledgement, lambda _: self.ended(), self.lock)

    def ended(self) -> None:
        """Close the handles of a session that its engine has disconnected. The caller holds the lock."""
        self.closed = True
        for queue in self.queues():
            queue.close(Closed(f"session {self.name!r}"))

    def queues(self) -> list[Queue]:
        """The queues of the active subscriptions."""
        return [subscription._queue for subscription in self.subscriptions.values()]

    def abandon(self, why: SilboError) -> None:
        """Close the copy of a session in a forked process, without waking anybody: its threads are the parent's."""
        self.closed = True
        self.link.abandon()
        for queue in self.queues():
            queue.abandon(why)

    def finish(self, deadline: float | None = None) -> None:
        """Let pending callbacks run until the deadline, and none after it."""
        deadline = time.monotonic() + FINISH if deadline is None else deadline
        self._dispatcher.finish(deadline)
        for queue in self.queues():
            self.settle(queue, deadline)

    def check_open(self) -> None:
        """Raise `Closed` if the session has ended."""
        if self.closed:
            raise Closed(f"session {self.name!r}")

    def _check_own(self, handle: Advertisement | Subscription, active: object) -> None:
        if handle._verbs is not self:
            raise InvalidValue("id", f"{handle!r} is of another session. End it there.")
        if handle is not active:
            raise Closed(f"{type(handle).__name__.lower()} {handle.id!r} of session {self.name!r}")

    def _id(self, given: str | None, letter: str, active: Mapping[str, object]) -> str:
        if given is not None:
            return checked_name(given, "id")
        while True:
            self._last_number[letter] += 1
            if (id := f"{letter}{self._last_number[letter]}") not in active:
                return id


def _receipt(matched: Matched) -> Receipt:
    return Receipt(matched.publication)


def waiting(verb: Callable[Concatenate[Verbs, P], Acknowledgement[T]]) -> Callable[Concatenate[Any, P], T]:
    """The verb as a method of `Session`, which waits for the acknowledgement and returns its result."""

    @wraps(verb)
    def call(self: Any, /, *args: P.args, **kwargs: P.kwargs) -> T:
        verbs: Verbs = self._verbs
        acknowledgement = verb(verbs, *args, **kwargs)
        if isinstance(acknowledgement, Acknowledged):
            return acknowledgement.value  # type: ignore[no-any-return]
        return waited(verbs, acknowledgement)

    return call


def set_context(self: Any, mapping: Mapping[str, Any] | None = None, /, **values: Any) -> None:
    """Change the session's context: merges the values, all or none; None removes a variable.

    As a subscriber's context it applies from the next publication on; as a publisher's it is sent
    with the next publish.
    """
    # the most frequent call of all, so this method of `Session` tries the shortcut before anything else is called
    given = values if mapping is None else {**_mapping(mapping), **values}
    if not self._link.move(given):
        acknowledgement = self._verbs.change_context(given)
        if acknowledgement is not DONE:
            waited(self._verbs, acknowledgement)


def waited(verbs: Verbs, acknowledgement: Acknowledgement[T]) -> T:
    """Wait for an acknowledgement as long as the link allows; raises `NotAcknowledged` after that."""
    patience = verbs.link.patience
    try:
        return acknowledgement.result(patience)
    except TimeoutError:
        if patience is None or acknowledgement.done():
            raise
        raise NotAcknowledged(f"no acknowledgement within {patience} s") from None


def _mapping(mapping: object) -> Mapping[str, Any]:
    if not isinstance(mapping, Mapping):
        raise InvalidValue("context", f"a mapping of names to values is expected, not {type(mapping).__name__}.")
    return mapping


def _id_of(given: object, handle: type[Advertisement | Subscription]) -> str:
    if isinstance(given, handle):
        return given.id
    if isinstance(given, str):
        return given
    raise InvalidValue("id", f"an id or the {handle.__name__.lower()} itself is expected, not {type(given).__name__}.")
