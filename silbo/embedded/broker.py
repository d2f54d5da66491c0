"""The broker in this process, as users hold it: it connects sessions, reports tables and explains."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

from silbo.core.bulk import ArrowColumns, check_lengths, columns_of
from silbo.core.notation import tables
from silbo.embedded.engine import EmbeddedEngine
from silbo.embedded.record import Record
from silbo.errors import InvalidValue, UnknownId
from silbo.matching.candidates import SubscriptionRow
from silbo.matching.choice import ChosenIndex, IndexLike, OffloadLike
from silbo.matching.explanation import Explanation, explain
from silbo.model.events import Event
from silbo.model.notification import Notification
from silbo.model.values import checked_name
from silbo.session.dispatch import FINISH
from silbo.session.handles import Receipt
from silbo.session.registry import SessionLike
from silbo.session.session import Session
from silbo.session.subscription import Subscription

if TYPE_CHECKING:
    from typing_extensions import Self


class Broker:
    """An independent broker; sessions of different brokers do not receive each other's messages.

    `record` keeps every accepted event, in the order of acceptance: the path of a new log file, which
    `silbo replay` and `silbo explain` read, or a function that takes each event and must not call a verb itself. With
    `append` an existing log is continued, for a service that restarts.
    `index` finds the candidates: 'fast' (compiled kernels, the default), 'plain' (a dictionary), or your own index.
    `offload` puts the subscriptions that fit onto the matcher in hardware: 'sim' (its RTL, simulated), 'pynq' (a
    board), 'auto' (the board if there is one, else software alone); `index` gets the rest.
    """

    def __init__(
        self,
        *,
        record: str | PathLike[str] | Callable[[Event], object] | None = None,
        append: bool = False,
        index: IndexLike | None = None,
        offload: OffloadLike | None = None,
    ) -> None:
        if append and record is None:
            raise InvalidValue("append", "there is no record to continue. Give its path as record=.")
        chosen = ChosenIndex(index, offload)
        self._engine = EmbeddedEngine(self, chosen, None if record is None else Record(record, append=append))
        _brokers.add(self)

    @property
    def sessions(self) -> tuple[Session, ...]:
        """The open sessions, the oldest first."""
        with self._engine.lock:
            return self._engine.registry.handles()

    def connect(self, name: str | None = None) -> Session:
        """Open a new session. The name is a label; without one the session's UUID is used."""
        label = None if name is None else checked_name(name, "name")
        with self._engine.lock:
            return self._engine.connect(label).handle  # type: ignore[no-any-return]

    def close(self) -> None:
        """Close every session, the record and the device; a second call does nothing.

        Pending callbacks still run, for a few seconds at most.
        """
        with self._engine.lock:
            ended = self._engine.close()
        deadline = time.monotonic() + FINISH  # one for all of them
        for verbs in ended:
            verbs.finish(deadline)

    @property
    def closed(self) -> bool:
        """Whether the broker is closed."""
        return self._engine.is_closed

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        count = len(self._engine.registry)
        return f"<Broker of {count} session{'' if count == 1 else 's'}{' closed' * self.closed}>"

    def set_contexts(self, sessions: Iterable[SessionLike], values: Mapping[str, Sequence[Any]] | ArrowColumns) -> None:
        """Change the contexts of many sessions at once, all or nothing: a column of values for each variable.

        Each session is given by its handle, its name or its UUID. Each column has one value for each session; a
        session that is given twice gets the later values. Columns are numpy arrays, lists, columns of Arrow or
        pandas, or an Arrow table; None or null removes a variable. Columns of floats, integers or bools cost a few
        nanoseconds per change.
        """
        names = columns_of(values)
        engine = self._engine
        with engine.lock:
            engine.check_open()
            changed = engine.registry.found(sessions)
            check_lengths(len(changed), names)
            if names:
                engine.set_contexts(changed, names)

    # inspection

    def explain(
        self, message: Notification | Receipt, subscription: Subscription | tuple[SessionLike, str]
    ) -> Explanation:
        """Say why a subscription would get a message or not, clause by clause, with the contexts as they are now.

        The message is a notification, or the receipt of its publish. The subscription is a handle, or a pair of its
        session (handle, name or UUID) and its id. For the contexts at the time of the publish, record the broker and
        use `silbo explain`.
        """
        if not isinstance(message, Notification | Receipt):
            raise InvalidValue("message", f"a notification or a receipt is expected, not {type(message).__name__}.")
        with self._engine.lock:
            row = self._row(subscription)
            return explain(message._publication, row, self._engine.core.contexts[row.subscriber], now=True)

    def _row(self, subscription: Subscription | tuple[SessionLike, str]) -> SubscriptionRow:
        subscription = getattr(subscription, "_subscription", subscription)  # an AsyncSubscription wraps one
        if isinstance(subscription, Subscription):
            subscription._check_active(self)
            return self._engine.core.clients[subscription._verbs.uuid].subscriptions[subscription.id]
        if not isinstance(subscription, tuple) or len(subscription) != 2:
            raise InvalidValue("subscription", "a subscription, or a pair (session, id), is expected.")
        given, id = subscription
        (verbs,) = self._engine.registry.found([given])
        known = self._engine.core.clients[verbs.uuid].subscriptions
        if id not in known:
            raise UnknownId("subscription", id, known)
        return known[id]

    def tables(self) -> str:
        """The broker's tables in the paper's notation."""
        with self._engine.lock:
            return tables(self._engine.core)

    def stats(self) -> dict[str, Any]:
        """Counts of what is connected now and of what happened since the broker was created, and the matching plan."""
        with self._engine.lock:
            return self._engine.stats()


_brokers: WeakSet[Broker] = WeakSet()


def _abandon_all() -> None:
    for broker in list(_brokers):
        broker._engine.abandon()


if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(after_in_child=_abandon_all)
