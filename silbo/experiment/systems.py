"""The two systems over one index: contexts in a table that functions read, or boxes written into the filters.

Both are fed with the same subscribers and filters. What stands here is what a broker does once session, lock
and checks are behind it; `brokers` has the same two behind the public verbs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeAlias

from silbo.context.function import ContextFunction
from silbo.context.table import ContextTable
from silbo.matching.candidates import SubscriptionRow
from silbo.matching.fast import FastIndex, Numbers
from silbo.matching.filter import Filter
from silbo.matching.planner import Plan
from silbo.matching.siena import SienaIndex
from silbo.model.values import Attributes, Context

Place: TypeAlias = dict[str, float]
Publications: TypeAlias = Sequence[tuple[Attributes, Context]]


class System(Protocol):
    """What is measured of both."""

    name: str
    change: Callable[[Any, Place], object]  # of a subscriber's context, given as `who` says

    def who(self, subscriber: int) -> Any:
        """How `change` names a subscriber."""

    def join(self, place: Place, filters: Sequence[Filter]) -> int:
        """Let a subscriber in; its number."""

    def match(self, attributes: Attributes, offered: Context) -> Numbers:
        """The numbers, in its index, of the subscriptions that get a message."""

    def got(self, attributes: Attributes, offered: Context) -> set[str]:
        """The ids of the subscriptions that get a message."""


class _Joining:
    """Numbers subscribers and subscriptions in the order in which they come."""

    def __init__(self, function: ContextFunction) -> None:
        self._function = function
        self.subscribers = self.subscriptions = 0

    def _rows(self, filters: Sequence[Filter]) -> list[SubscriptionRow]:
        name, first = str(self.subscribers), self.subscriptions
        self.subscribers += 1
        self.subscriptions += len(filters)
        return [
            SubscriptionRow(name, name, f"s{number}", filter, self._function, (), None)
            for number, filter in enumerate(filters, first)
        ]


class Silbo(_Joining):
    """Explicit context: a change is one write of one row."""

    name = "silbo"

    def __init__(self, function: ContextFunction, plan: Plan = "measured") -> None:
        super().__init__(function)
        self.table = ContextTable()
        self.index = FastIndex(self.table, plan)
        self.change: Callable[[Any, Place], object] = self.table.write_floats

    def who(self, subscriber: int) -> int:
        """Its row in the table."""
        return self.table.row(str(subscriber))

    def join(self, place: Place, filters: Sequence[Filter]) -> int:
        """Let a subscriber in; its number."""
        number = self.subscribers
        self.table.set(str(number), place)
        for row in self._rows(filters):
            self.index.add(row)
        return number

    def match(self, attributes: Attributes, offered: Context) -> Numbers:
        """The numbers of the subscriptions that get a message: a box leaves nothing to Python."""
        return self.index.match(attributes, offered)[0]

    def got(self, attributes: Attributes, offered: Context) -> set[str]:
        """The ids of the subscriptions that get a message."""
        return {self.index.row(slot).id for slot in self.match(attributes, offered).tolist()}


class Siena(_Joining):
    """Implicit context: a change takes each filter out and puts it in with the new box."""

    name = "siena"

    def __init__(self, function: ContextFunction) -> None:
        super().__init__(function)
        self.index = SienaIndex()
        self.change: Callable[[Any, Place], object] = self.index.set_context

    def who(self, subscriber: int) -> str:
        """Its name."""
        return str(subscriber)

    def join(self, place: Place, filters: Sequence[Filter]) -> int:
        """Let a subscriber in; its number."""
        number = self.subscribers
        self.index.set_context(str(number), place)
        for row in self._rows(filters):
            self.index.add(row)
        return number

    def match(self, attributes: Attributes, offered: Context) -> Numbers:
        """The numbers of the subscriptions that get a message."""
        return self.index.match(attributes, offered)

    def got(self, attributes: Attributes, offered: Context) -> set[str]:
        """The ids of the subscriptions that get a message."""
        return {self.index.row(slot).id for slot in self.match(attributes, offered).tolist()}
