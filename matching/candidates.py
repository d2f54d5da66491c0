"""The one seam of matching: who might match, found fast; who does match is decided elsewhere.

Behind `Candidates` stand the plain index and, with it, every faster one. Each gives a superset of the
subscriptions that match, and may use the context to narrow it; `decision` decides. For speed an index may
evaluate filter and function as written in the same pass (`Deciding`), and say of which rows it did so.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from types import MappingProxyType
from typing import Protocol, TypeAlias, runtime_checkable

from silbo.context.function import ContextFunction
from silbo.matching.filter import Filter
from silbo.model.notification import Notification, Publication
from silbo.model.values import Context


class SubscriptionRow:
    """A row of the subscription table: who wants what in which situation, and what it wants to see.

    Rows are compared by identity: the same filter of two subscribers is two rows.
    """

    __slots__ = ("asked", "filter", "function", "id", "include", "name", "sink", "slot", "subscriber")

    def __init__(
        self,
        subscriber: str,
        name: str,
        id: str,
        filter: Filter,
        function: ContextFunction | None,
        include: tuple[str, ...],
        sink: object,
    ) -> None:
        self.subscriber = subscriber  # the session's UUID, the key of its context
        self.name = name
        self.id = id
        self.filter = filter
        self.function = function
        self.include = include
        self.asked = frozenset(include) | (function.variables("pub") if function else frozenset())
        self.sink = sink  # who takes the notifications; matching never looks at it
        self.slot = -1  # where the index keeps it; the index's own

    def context(self, publication: Publication) -> Context:
        """Of the offered context, the variables that this row asked for."""
        offered, asked = publication.offered, self.asked
        return MappingProxyType({name: value for name, value in offered.items() if name in asked} if asked else {})

    def notification(self, publication: Publication) -> Notification:
        """What this row gets of a publication."""
        return Notification(publication, self.name, self.id, self.context(publication))


class Candidates(Protocol):
    """Finds the subscriptions that might match."""

    def add(self, row: SubscriptionRow) -> None:
        """Take a new subscription in."""

    def remove(self, row: SubscriptionRow) -> None:
        """Forget a subscription."""

    def set_context(self, subscriber: str, context: Context) -> None:
        """Hear of a subscriber's new context; who does not narrow by context ignores it."""

    def candidates(self, batch: Sequence[Publication]) -> Iterator[Iterable[SubscriptionRow]]:
        """For each publication a superset of the rows that match it, each row once."""


# rows whose filter and function are true as written, and rows that are only candidates
Found: TypeAlias = tuple[Sequence[SubscriptionRow], Iterable[SubscriptionRow]]


@runtime_checkable
class Deciding(Candidates, Protocol):
    """Candidates that are decided in the same pass, by the expressions as written, wherever that can be."""

    def found(self, batch: Sequence[Publication]) -> Iterator[Found]:
        """For each publication the rows that are decided and those that are not, each row once."""
