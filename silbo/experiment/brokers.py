"""The two systems as users have them: brokers with sessions, of which one has the SIENA way as its index.

Both take the same verbs, checks, locks and queues; what differs is how the index has the context.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from silbo.broker.broker import Broker
from silbo.broker.core import IndexLike
from silbo.broker.delivery import Subscription
from silbo.broker.session import Session
from silbo.experiment.load import Load, repeated
from silbo.experiment.systems import Place, Publications
from silbo.matching.fast import FastIndex
from silbo.matching.filter import Filter
from silbo.matching.siena import SienaIndex
from silbo.model.notification import Notification

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
        """The fast index that stands behind either way."""
        if self.siena is not None:
            return self.siena.index
        assert isinstance(self.broker._core.index, FastIndex)
        return self.broker._core.index

    def join(self, place: Place, filters: Sequence[Filter], load: Load) -> Session:
        """A new subscriber, whose context is sent before its first subscription."""
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
        """Whatever stands in the queues."""
        return [each for subscription in self.subscriptions if len(subscription) for each in subscription.drain()]

    def settle(self, publications: Publications, events: int) -> None:
        """Publish until the planner has settled."""
        for attributes, context in repeated(publications, events):
            self.publisher.publish(attributes, context=context)
        self.read()


@contextmanager
def connected(name: str, load: Load, index: IndexLike | None = None) -> Iterator[Connected]:
    """A broker loaded with everything; `siena` has its own index."""
    siena = SienaIndex() if index is None else None
    with Broker(index=siena or index) as broker:
        publisher = broker.connect(PUBLISHER)
        publisher.advertise("true")
        made = Connected(name, broker, siena, [], [], publisher)
        for place, filters in zip(load.places, load.filters, strict=True):
            made.join(place, filters, load)
        yield made
