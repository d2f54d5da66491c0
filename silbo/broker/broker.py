"""The broker in this process: it connects sessions, and shows its tables, figures and reasons."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from os import PathLike
from threading import RLock
from types import TracebackType
from typing import Self

from silbo.broker.core import Core
from silbo.broker.delivery import Subscription
from silbo.broker.record import Record
from silbo.broker.session import Receipt, Session
from silbo.broker.tables import tables
from silbo.errors import Closed, InvalidValue, UnknownId, UnknownSession
from silbo.matching.candidates import Candidates, SubscriptionRow
from silbo.matching.explanation import Explanation, explain
from silbo.model.events import Disconnect, Event, Publish
from silbo.model.notification import Notification, Publication, shown_context
from silbo.model.values import checked_name


class Broker:
    """A broker of its own; sessions of different brokers do not hear each other.

    `record` keeps every accepted event, in the order of acceptance: a path of a new log file, which
    `silbo replay` and `silbo explain` read, or a function that takes each event and calls no verb itself.
    `index` is what finds candidates.
    """

    def __init__(
        self, *, record: str | PathLike[str] | Callable[[Event], object] | None = None, index: Candidates | None = None
    ) -> None:
        self._lock = RLock()
        self._core = Core(index)
        self._recorder = None if record is None else Record(record)
        self._sessions: dict[str, Session] = {}
        self._log_names: set[str] = set()
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
        """Close every session, and the record."""
        with self._lock:
            self._check_open()
            self._closed = True
            sessions = list(self._sessions.values())
        for session in sessions:
            with session:
                pass  # closes it, unless somebody else just did
        if self._recorder is not None:
            self._recorder.close()

    @property
    def closed(self) -> bool:
        """Whether it was closed."""
        return self._closed

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if not self._closed:
            self.close()

    def __repr__(self) -> str:
        return f"<Broker of {len(self._sessions)} sessions{' closed' * self._closed}>"

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
            if subscription.closed:
                raise Closed(f"subscription {subscription.id!r} of session {subscription._session.name!r}")
            return subscription._session._peer.subscriptions[subscription.id]
        if not isinstance(subscription, tuple) or len(subscription) != 2:
            raise InvalidValue("subscription", "a subscription or (session's name, id) is expected.")
        session, id = subscription
        peers = [peer for peer in self._core.peers.values() if session in (peer.uuid, peer.name)]
        if not peers:
            raise UnknownSession(session)
        known = {key: row for peer in peers for key, row in peer.subscriptions.items()}
        if id not in known:
            raise UnknownId("subscription", id, known)
        return known[id]

    def tables(self) -> str:
        """The broker's tables as the paper prints them."""
        with self._lock:
            return tables(self._core)

    def stats(self) -> dict[str, int]:
        """Counts: what is connected now, and what happened since the broker was made."""
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
            }

    # what sessions need

    def _publish(self, session: Session, publishes: list[Publish], *, own_context: bool) -> list[Receipt]:
        waiting: dict[Subscription, list[Notification]] = {}
        receipts = []
        with self._lock:
            session._check_open()
            if own_context:
                context = self._core.contexts[session.uuid]
                publishes = [replace(publish, context=context) for publish in publishes]
            for publish, (publication, rows) in zip(
                publishes, self._core.publish_many(session._peer, publishes), strict=True
            ):
                self._record(session, partial(_renamed, publish))
                receipts.append(Receipt(publication))
                self._deliver(publication, rows, waiting)
            self._counts["published"] += len(receipts)
            self._wait_for_room(waiting)
        return receipts

    def _deliver(
        self, publication: Publication, rows: list[SubscriptionRow], waiting: dict[Subscription, list[Notification]]
    ) -> None:
        """Queue a notification for each row; those that must wait for room are put aside in their order."""
        for row in rows:
            subscription = row.sink
            assert isinstance(subscription, Subscription)
            context = shown_context(publication.offered, row.asked)
            notification = Notification(publication, row.name, row.id, context)
            if subscription in waiting or not subscription._offer(notification):
                waiting.setdefault(subscription, []).append(notification)
        self._counts["notified"] += len(rows)

    def _wait_for_room(self, waiting: dict[Subscription, list[Notification]]) -> None:
        """The lock is free while this waits: readers and other publishers go on."""
        for subscription, notifications in waiting.items():
            for notification in notifications:
                subscription._offer_waiting(notification)

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


def _renamed(publish: Publish, session: str) -> Publish:
    return replace(publish, session=session)
