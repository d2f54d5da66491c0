"""The two systems as users see them: brokers with sessions, one of which has an index in the SIENA style.

Both have the same verbs, checks, locks and queues; they differ in how the index stores the context.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from silbo.embedded.broker import Broker
from silbo.matching.choice import IndexLike
from silbo.matching.fast.index import FastIndex
from silbo.matching.filter import Filter
from silbo.matching.siena import SienaIndex
from silbo.model.notification import Notification
from silbo.papers.siena.load import Load, repeated
from silbo.papers.siena.systems import Place, Publications
from silbo.session.session import Session
from silbo.session.subscription import Subscription

PUBLISHER = "publisher"


@dataclass(frozen=True, slots=True)
class Connected:
    """A broker, its subscribers' sessions and its publisher."""

    name: str
    broker: Broker
    siena: SienaIndex | None
    sessions: list[Session]
    subscriptions: list[Subscription]
    publisher: Session

    @property
    def fast(self) -> FastIndex:
        """The fast index that either system uses."""
        if self.siena is not None:
            return self.siena.index
        index = self.broker._engine.core.index.fast
        assert index is not None
        return index

    def join(self, place: Place, filters: Sequence[Filter], load: Load) -> Session:
        """Add a new subscriber, which sets its context before its first subscription."""
        session = self.broker.connect(f"subscriber-{len(self.sessions)}")
        session.set_context(place)
        first = len(self.subscriptions)
        self.subscriptions.extend(
            session.subscribe(filter, context=load.function, id=f"s{number}")
            for number, filter in enumerate(filters, first)
        )
        self.sessions.append(session)
        return session

    def read(self) -> list[Notification]:
        """Take all notifications from the queues."""
        return [each for subscription in self.subscriptions if len(subscription) for each in subscription.drain()]

    def settle(self, publications: Publications, events: int) -> None:
        """Publish until the planner has settled."""
        for attributes, context in repeated(publications, events):
            self.publisher.publish(attributes, context=context)
        self.read()


@contextmanager
def connected(name: str, load: Load, index: IndexLike | None = None) -> Iterator[Connected]:
    """A broker with a load; without `index` it has an index in the SIENA style."""
    siena = SienaIndex() if index is None else None
    with Broker(index=siena or index) as broker:
        publisher = broker.connect(PUBLISHER)
        publisher.advertise("true")
        made = Connected(name, broker, siena, [], [], publisher)
        for place, filters in zip(load.places, load.filters, strict=True):
            made.join(place, filters, load)
        yield made
