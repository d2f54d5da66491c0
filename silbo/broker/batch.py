"""A run of publications and positions, matched together: the core's rules first, then one kernel call for all."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from silbo.context.function import Scope
from silbo.matching.candidates import SubscriptionRow
from silbo.matching.decision import decided
from silbo.model.events import Publish, SetContext
from silbo.model.notification import Publication
from silbo.model.values import Context

if TYPE_CHECKING:
    from silbo.broker.core import Core, Peer
    from silbo.matching.fast import FastIndex


MOST_WORDS = 2**20  # 8 MiB


class Batch:
    """Events that change no table but the contexts'. What cannot wait here is refused a place, not applied."""

    def __init__(self, core: Core, index: FastIndex) -> None:
        self._core = core
        self._index = index
        self._columns = index.columns()
        self._published: list[tuple[Publication, Scope | None]] = []

    def publish(self, peer: Peer, event: Publish) -> bool:
        """Accept a message, or raise; it is matched by `apply`."""
        scope = None if event.scope is None else Scope.of(event.scope)
        self.add(self._core.accept(peer, (event.attributes, event.context, scope, event.payload)), scope)
        return True

    def add(self, publication: Publication, scope: Scope | None) -> None:
        """Take a message that was accepted."""
        self._columns.publish(publication.attributes, publication.offered, pause=scope is not None)
        self._published.append((publication, scope))

    def set_context(self, peer: Peer, event: SetContext) -> bool:
        """Take a change of floats where floats are; whether that is what it is."""
        values: Any = event.values
        if not values or any(type(value) is not float for value in values.values()):
            return False
        if not self._core.contexts.holds_floats(peer.row, values.keys()):
            return False
        self._columns.set_floats(peer.row, values)
        return True

    def set_whole(self, peer: Peer, context: Context) -> bool:
        """Take a whole context of floats where the same variables are floats; whether that is what it is."""
        if not context or any(type(value) is not float for value in context.values()):
            return False
        if not self._core.contexts.is_of_floats(peer.row, context.keys()):
            return False
        self._columns.set_floats(peer.row, cast("Mapping[str, float]", context))
        return True

    @property
    def is_full(self) -> bool:
        """Whether it is time to apply it: what waits takes memory, and offsets in it have 31 bits."""
        return self._columns.size > MOST_WORDS

    def apply(self) -> Iterator[tuple[Publication, Sequence[SubscriptionRow]]]:
        """The publications with the rows that get them. To be walked to its end before anything else is done."""
        rows_of, contexts = self._index.rows_of, self._core.contexts
        answers = self._index.apply(self._columns)
        # to the end of the answers: positions behind the last publication are written there
        for (publication, scope), (sure, maybe) in zip(self._published, answers, strict=True):
            yield publication, decided(publication, scope, (rows_of(sure), rows_of(maybe)), contexts)
