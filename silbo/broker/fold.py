"""A log and a fold: apply events, in batches cut anywhere, and get notifications.

In a log a session is its name: the first accepted event that names it connects it, and after
`disconnect` the same name is a new session.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import assert_never

from silbo.broker.batch import Batch
from silbo.broker.core import Core, IndexLike, Message, Peer
from silbo.broker.offload import OffloadLike
from silbo.context.function import ContextFunction, Scope
from silbo.errors import NotAdvertised, SilboError, UnknownSession
from silbo.matching.candidates import SubscriptionRow
from silbo.matching.filter import Filter
from silbo.model.events import (
    Advertise,
    Disconnect,
    Event,
    Publish,
    SetContext,
    Subscribe,
    Unadvertise,
    Unsubscribe,
)
from silbo.model.notification import Notification, Publication


class Fold:
    """The state after some events of a log."""

    def __init__(self, index: IndexLike | None = None, offload: OffloadLike | None = None) -> None:
        self.core = Core(index, offload)
        self.peers: dict[str, Peer] = {}
        self._batch: Batch | None = None

    def apply(
        self, events: Iterable[Event], refused: Callable[[int, SilboError], None] | None = None
    ) -> list[Notification]:
        """Apply events in their order; a refused one changes nothing: `refused` is told which and why, or it raises."""
        notifications: list[Notification] = []
        for i, event in enumerate(events):
            try:
                if not self._defer(event):
                    notifications += self._apply_deferred()
                    notifications += self._apply(event)
            except SilboError as error:
                if refused is None:
                    notifications += self._apply_deferred()
                    raise
                refused(i, error)
        notifications += self._apply_deferred()
        return notifications

    def close(self) -> None:
        """Let the device go, if there is one."""
        self.core.close()

    # in columns: positions and publications of known sessions, which are most of what happens

    def _defer(self, event: Event) -> bool:
        """Put an event into the batch at hand, if it can wait there; a refused publish raises here."""
        peer = self.peers.get(event.session)
        if peer is None or not isinstance(event, Publish | SetContext):
            return False
        if self._batch is not None and self._batch.is_full:
            return False
        if self._batch is None:
            self._batch = self.core.batch()
        if self._batch is None:
            return False
        return self._batch.publish(peer, event) if isinstance(event, Publish) else self._batch.set_context(peer, event)

    def _apply_deferred(self) -> list[Notification]:
        if self._batch is None:
            return []
        batch, self._batch = self._batch, None
        return [each for publication, rows in batch.apply() for each in _notifications(publication, rows)]

    def _apply(self, event: Event) -> list[Notification]:
        known = self.peers.get(event.session)
        if isinstance(event, Disconnect):
            if known is None:
                raise UnknownSession(event.session)
            self.core.disconnect(known)
            del self.peers[event.session]
            return []
        peer = self.core.connect(event.session) if known is None else known
        try:
            notifications = self._change(peer, event)
        except SilboError:
            if known is None:
                self.core.disconnect(peer)
            raise
        self.peers[event.session] = peer
        return notifications

    def _change(
        self, peer: Peer, event: Advertise | Unadvertise | Subscribe | Unsubscribe | SetContext | Publish
    ) -> list[Notification]:
        match event:
            case Advertise(_, id, filter, offers, reads):
                self.core.advertise(peer, id, Filter.of(filter), offers, reads)
            case Unadvertise(_, id):
                self.core.unadvertise(peer, id)
            case Subscribe(_, id, filter, context, include):
                function = None if context is None else ContextFunction.of(context)
                self.core.subscribe(peer, id, Filter.of(filter), function, include, sink=None)
            case Unsubscribe(_, id):
                self.core.unsubscribe(peer, id)
            case SetContext(_, values):
                self.core.set_context(peer, values)
            case Publish():
                return self._publish(peer, event)
            case _:
                assert_never(event)
        return []

    def publish(self, event: Publish) -> Publication:
        """Apply one publish and give the publication it became; it raises if refused."""
        peer = self.peers.get(event.session)
        if peer is None:
            raise NotAdvertised(event.session, event.attributes, [])
        return self.core.publish(peer, _message(event))[0]

    def _publish(self, peer: Peer, event: Publish) -> list[Notification]:
        return _notifications(*self.core.publish(peer, _message(event)))


def _message(event: Publish) -> Message:
    return event.attributes, event.context, None if event.scope is None else Scope.of(event.scope), event.payload


def _notifications(publication: Publication, rows: Iterable[SubscriptionRow]) -> list[Notification]:
    """In the order of the output."""
    return [row.notification(publication) for row in sorted(rows, key=lambda row: (row.name, row.id))]
