"""The broker in this process: it connects sessions, and shows its tables, figures and reasons."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import partial
from os import PathLike
from threading import RLock
from typing import Any, Self, TypeAlias, cast

from silbo.broker.bulk import check_lengths, columns_of
from silbo.broker.core import Core, IndexLike, Message
from silbo.broker.delivery import Subscription
from silbo.broker.dispatch import FINISH
from silbo.broker.offload import OffloadLike
from silbo.broker.record import Record
from silbo.broker.session import ArrowTable, Receipt, Session
from silbo.broker.tables import tables
from silbo.context.function import Scope
from silbo.errors import Closed, InvalidValue, UnknownId, UnknownSession
from silbo.matching.candidates import SubscriptionRow
from silbo.matching.explanation import Explanation, explain
from silbo.model.events import Disconnect, Event, Publish, SetContext
from silbo.model.notification import Notification, Publication
from silbo.model.values import Attributes, Context, ContextValue, checked_name

Sent: TypeAlias = tuple[Context | None, Scope | None, bytes | None]  # besides attributes: context, scope, payload
Tickets: TypeAlias = dict[Subscription, int]  # what a publisher waits with where queues are full

log = logging.getLogger("silbo")


class Broker:
    """A broker of its own; sessions of different brokers do not hear each other.

    `record` keeps every accepted event, in the order of acceptance: a path of a new log file, which
    `silbo replay` and `silbo explain` read, or a function that takes each event and calls no verb itself.
    `index` is what finds candidates: 'fast' (compiled kernels, the default), 'plain' (a dictionary), or your own.
    `offload` puts what fits onto the matcher in hardware: 'sim' (its RTL, simulated), 'pynq' (a board), 'auto' (the
    board if there is one, else software alone); `index` has the rest.
    """

    def __init__(
        self,
        *,
        record: str | PathLike[str] | Callable[[Event], object] | None = None,
        index: IndexLike | None = None,
        offload: OffloadLike | None = None,
    ) -> None:
        self._lock = RLock()
        self._queue_lock = self._lock  # one for both is quicker, where no verb waits for another machine
        self._core = Core(index, offload)
        self._recorder = None if record is None else Record(record)
        self._sessions: dict[str, Session] = {}
        self._log_names: set[str] = set()
        self._reports: list[tuple[str, int]] = []
        self._counts = dict.fromkeys(("published", "notified", "dropped", "slow", "callback_errors"), 0)
        self._closed = False

    def connect(self, name: str | None = None) -> Session:
        """A new session; the name is a label, without one the session's UUID serves."""
        label = None if name is None else checked_name(name, "name")
        with self._lock:
            self._check_open()
            peer = self._core.connect(label)
            # a log knows sessions by name alone: where two share one, the younger goes by its UUID
            session = Session(self, peer, peer.uuid if peer.name in self._log_names else peer.name)
            self._log_names.add(session._log_name)
            self._sessions[session.uuid] = session
            return session

    def close(self) -> None:
        """Close every session, record and device; callbacks that are due still run, for some seconds at most."""
        with self._lock:
            self._check_open()
            ended = self._end()
        self._finish(ended)

    def _end(self) -> list[Session]:
        """End it, if nobody else has; the sessions that ended with it. The caller holds the lock."""
        if not self._closed:
            self._core.close()
        ended = list(self._sessions.values())
        for session in ended:
            session._end()
        if self._recorder is not None:
            self._recorder.close()
        self._closed = True
        return ended

    @staticmethod
    def _finish(ended: list[Session]) -> None:
        deadline = time.monotonic() + FINISH  # one for all of them
        for session in ended:
            session._dispatcher.finish(deadline)

    @property
    def closed(self) -> bool:
        """Whether it was closed."""
        return self._closed

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with self._lock:
            ended = self._end()
        self._finish(ended)

    def __repr__(self) -> str:
        return f"<Broker of {len(self._sessions)} sessions{' closed' * self._closed}>"

    def set_contexts(self, sessions: Iterable[Session | str], values: Mapping[str, Sequence[Any]] | ArrowTable) -> None:
        """Change the contexts of many sessions at once, all or nothing: a column of values for each variable.

        The sessions are handles or UUIDs, as many as the columns are long; one that stands there twice gets what
        comes last. Columns are numpy arrays, lists or an Arrow table's; None or null removes. Columns of floats,
        integers or bools cost some nanoseconds a change.
        """
        names = columns_of(values)
        with self._lock:
            self._check_open()
            changed = [self._session(each) for each in sessions]
            check_lengths(len(changed), names)
            if not names:
                return
            who_changed = self._core.set_contexts(
                [session._peer for session in changed], names, one_by_one=self._recorder is not None
            )
            for i, changes in who_changed:
                self._record(changed[i], partial(_set_context, changes))

    def _session(self, given: Session | str) -> Session:
        uuid = given.uuid if isinstance(given, Session) else given
        if uuid not in self._sessions:
            raise UnknownSession(str(given))
        return self._sessions[uuid]

    # looking inside

    def explain(self, message: Notification | Receipt, subscription: Subscription | tuple[str, str]) -> Explanation:
        """Why a subscription would get a message or not, clause by clause, with the contexts as they are now.

        The message is a notification or the receipt of its publish; the subscription is a handle, or its
        session's name and its id. What was at the publish itself is told by `silbo explain` of a record.
        """
        if not isinstance(message, Notification | Receipt):
            raise InvalidValue("message", f"a notification or a receipt is expected, not {type(message).__name__}.")
        with self._lock:
            row = self._row(subscription)
            return explain(message._publication, row, self._core.contexts[row.subscriber], now=True)

    def _row(self, subscription: Subscription | tuple[str, str]) -> SubscriptionRow:
        subscription = getattr(subscription, "_subscription", subscription)  # asyncio's is around one of ours
        if isinstance(subscription, Subscription):
            if subscription._session._broker is not self:
                raise InvalidValue("subscription", f"{subscription!r} is of another broker. Ask that one.")
            if subscription.closed:
                raise Closed(f"subscription {subscription.id!r} of session {subscription._session.name!r}")
            return subscription._session._peer.subscriptions[subscription.id]
        if not isinstance(subscription, tuple) or len(subscription) != 2:
            raise InvalidValue("subscription", "a subscription or (session's name, id) is expected.")
        session, id = subscription
        peers = [peer for peer in self._core.peers.values() if session in (peer.uuid, peer.name)]
        if not peers:
            raise UnknownSession(session)
        if len(peers) > 1:
            raise InvalidValue("subscription", f"{len(peers)} sessions are named {session!r}. Give the UUID of one.")
        known = peers[0].subscriptions
        if id not in known:
            raise UnknownId("subscription", id, known)
        return known[id]

    def tables(self) -> str:
        """The broker's tables as the paper prints them."""
        with self._lock:
            return tables(self._core)

    def stats(self) -> dict[str, Any]:
        """Counts: what is connected now, what happened since the broker was made; and the plan of matching."""
        with self._lock:
            peers = self._core.peers.values()
            live = [
                subscription for session in self._sessions.values() for subscription in session._subscriptions.values()
            ]
            return {
                "sessions": len(peers),
                "advertisements": sum(len(peer.advertisements) for peer in peers),
                "subscriptions": sum(len(peer.subscriptions) for peer in peers),
                "contexts": len(self._core.contexts),
                "context_writes": self._core.contexts.writes,
                "queued": sum(map(len, live)),
                **self._counts,
                **self._core.stats(),
            }

    # what sessions need

    def _publish(self, session: Session, attributes: Attributes, sent: Sent) -> tuple[Receipt, Tickets]:
        """Accept a message, and queue the notifications; the receipt, and the tickets of those without room."""
        tickets: Tickets = {}
        with self._lock:
            session._check_open()
            message = self._message(session, attributes, sent)
            publication, rows = self._core.publish(session._peer, message)
            if self._recorder is not None:
                self._record(session, partial(_publish, message))
            if rows:
                self._deliver(publication, rows, tickets)
            self._counts["published"] += 1
        self._report()
        return Receipt(publication), tickets

    def _publish_many(self, session: Session, rows: Sequence[Attributes], sent: Sent) -> tuple[list[Receipt], Tickets]:
        """Accept all or none, and queue the notifications; the receipts, and the tickets of those without room."""
        tickets: Tickets = {}
        receipts = []
        with self._lock:
            session._check_open()
            messages = [self._message(session, row, sent) for row in rows]
            accepted = self._core.publish_many(session._peer, messages)
            for message, (publication, found) in zip(messages, accepted, strict=True):
                if self._recorder is not None:
                    self._record(session, partial(_publish, message))
                receipts.append(Receipt(publication))
                self._deliver(publication, found, tickets)
            self._counts["published"] += len(receipts)
        self._report()
        return receipts, tickets

    def _message(self, session: Session, attributes: Attributes, sent: Sent) -> Message:
        """With the session's own context as it is now, unless another was sent."""
        context, scope, payload = sent
        own = self._core.contexts.at(session._peer.row) if context is None else context
        return attributes, own, scope, payload

    def _deliver(self, publication: Publication, rows: Sequence[SubscriptionRow], tickets: Tickets) -> None:
        contexts: dict[AbstractSet[str], Context] = {}  # who asks for the same sees the same
        for row in rows:
            context = contexts.get(row.asked)
            if context is None:
                context = contexts[row.asked] = row.context(publication)
            subscription = cast("Subscription", row.sink)
            notification = Notification(publication, row.name, row.id, context)
            if not subscription._queue.put_if_room(notification):
                ticket = subscription._offer(notification)
                if ticket is not None:
                    tickets[subscription] = ticket
        self._counts["notified"] += len(rows)

    def _wait_for_room(self, tickets: Tickets) -> None:
        """The lock is free while this waits: readers and other publishers go on."""
        if not tickets:
            return
        since = time.monotonic()
        with self._lock:
            for subscription, ticket in tickets.items():
                subscription._wait_for_room(ticket, since)
        self._report()

    def _report_slow(self, name: str, limit: int) -> None:
        self._counts["slow"] += 1
        self._reports.append((name, limit))

    def _report(self) -> None:
        """Log what happened under the lock once it is free: a handler of users' may call any verb."""
        if not self._reports:
            return
        with self._lock:
            reports, self._reports = self._reports, []
        for name, limit in reports:
            log.warning("subscription %s ended: its queue of %d was full", name, limit)

    def _record(self, session: Session, event: Callable[[str], Event]) -> None:
        if self._recorder is not None:
            made = event(session._log_name)
            # in a log a session begins with its first event: one that had none cannot end either
            if session._is_recorded or not isinstance(made, Disconnect):
                session._is_recorded = True
                self._recorder.write(made)

    def _forget(self, session: Session) -> None:
        self._core.disconnect(session._peer)
        del self._sessions[session.uuid]
        self._log_names.discard(session._log_name)

    def _check_open(self) -> None:
        if self._closed:
            raise Closed("this broker")


def _set_context(changes: Mapping[str, ContextValue | None], session: str) -> SetContext:
    return SetContext(session, changes)


def _publish(message: Message, session: str) -> Publish:
    attributes, context, scope, payload = message
    return Publish(session, attributes, context, None if scope is None else scope.text, payload)
