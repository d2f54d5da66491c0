"""A log and a fold: apply events, in batches cut anywhere, and get notifications.

In a log a session is its name: the first accepted event that names it connects it, and after
`disconnect` the same name is a new session.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import assert_never

from silbo.broker.core import Core, IndexLike, Peer
from silbo.context.function import ContextFunction
from silbo.errors import NotAdvertised, SilboError, UnknownSession
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

    def __init__(self, index: IndexLike | None = None) -> None:
        self.core = Core(index)
        self.peers: dict[str, Peer] = {}

    def apply(
        self, events: Iterable[Event], refused: Callable[[int, SilboError], None] | None = None
    ) -> list[Notification]:
        """Apply events in their order; a refused one changes nothing: `refused` is told which and why, or it raises."""
        notifications: list[Notification] = []
        for i, event in enumerate(events):
            try:
                notifications += self._apply(event)
            except SilboError as error:
                if refused is None:
                    raise
                refused(i, error)
        return notifications

    def _apply(self, event: Event) -> list[Notification]:
        known = self.peers.get(event.session)
        if isinstance(event, Disconnect):
            if known is None:
                raise UnknownSession(event.session)
            self.core.disconnect(self.peers.pop(event.session))
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
        return self.core.publish(peer, event)[0]

    def _publish(self, peer: Peer, event: Publish) -> list[Notification]:
        publication, rows = self.core.publish(peer, event)
        return [row.notification(publication) for row in sorted(rows, key=lambda row: (row.name, row.id))]
