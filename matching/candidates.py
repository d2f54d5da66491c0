"""The interface of an index, which quickly finds the subscriptions that might match; `decision` decides which do.

The plain index and every faster one implement `Candidates`. Each returns a superset of the subscriptions
that match, and may use contexts to narrow it. For speed an index may evaluate filter and function as written in
the same pass (`Deciding`), and say for which rows it did so.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol, TypeAlias, runtime_checkable

from silbo.context.function import ContextFunction
from silbo.matching.filter import Filter
from silbo.model.notification import Notification, Publication, notification_of
from silbo.model.values import Context


class Sink(Protocol):
    """Where the publications of a subscription go: a list while it is shorter than `room`, and `put` otherwise."""

    room: int

    def __len__(self) -> int:
        """The number of publications that wait."""

    def append(self, publication: Publication, /) -> None:
        """Add a publication. Called only while there is room."""

    def put(self, publication: Publication) -> None:
        """Take a publication for which there is no room, or for which somebody waits."""


class Nowhere:
    """A sink that keeps nothing, for engines that read the rows instead."""

    room = 0

    def __len__(self) -> int:
        return 0

    def append(self, publication: Publication, /) -> None:
        """Do nothing: the sink has no room, so nobody calls this."""

    def put(self, publication: Publication) -> None:
        """Drop the publication."""


NOWHERE = Nowhere()


class SubscriptionRow:
    """A row of the subscription table: the subscriber, its filter and function, and the variables to include.

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
        sink: Sink = NOWHERE,
    ) -> None:
        self.subscriber = subscriber  # the session's UUID, the key of its context
        self.name = name
        self.id = id
        self.filter = filter
        self.function = function
        self.include = include
        self.asked = asked_variables(function, include)
        self.sink = sink  # gets the publications; matching does not use it
        self.slot = -1  # the row's place in the index, set by the index

    def notification(self, publication: Publication) -> Notification:
        """The notification of a publication for this row."""
        return notification_of(publication, self.name, self.id, self.asked)


def asked_variables(function: ContextFunction | None, include: tuple[str, ...]) -> frozenset[str]:
    """The publisher's variables that a subscription's notifications show."""
    return frozenset(include) if function is None else function.variables("pub").union(include)


class Candidates(Protocol):
    """Finds the subscriptions that might match."""

    def add(self, row: SubscriptionRow) -> None:
        """Add a subscription."""

    def remove(self, row: SubscriptionRow) -> None:
        """Remove a subscription."""

    def set_context(self, subscriber: str, context: Context) -> None:
        """Take note of a subscriber's new context; an index that does not use contexts ignores it."""

    def candidates(self, batch: Sequence[Publication]) -> Iterator[Iterable[SubscriptionRow]]:
        """Yield for each publication a superset of the rows that match it, each row once."""


# rows whose filter and function are true as written, and rows that are only candidates
Found: TypeAlias = tuple[Sequence[SubscriptionRow], Iterable[SubscriptionRow]]


@runtime_checkable
class Deciding(Candidates, Protocol):
    """An index that also decides candidates in the same pass, by the expressions as written, if it can."""

    def found(self, batch: Sequence[Publication]) -> Iterator[Found]:
        """Yield for each publication the rows that match and the rows that are undecided, each row once."""
