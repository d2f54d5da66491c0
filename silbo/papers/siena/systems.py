"""The two systems over one index: contexts in a table that functions read, or boxes written into the filters.

Both get the same subscribers and filters. This module has the work of a broker after session, lock and checks;
`brokers` has the same two systems with the public verbs.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from silbo.context.function import ContextFunction
from silbo.context.table import ContextTable
from silbo.matching.candidates import SubscriptionRow
from silbo.matching.fast.index import FastIndex, Numbers
from silbo.matching.fast.planner import Plan
from silbo.matching.filter import Filter
from silbo.matching.siena import SienaIndex
from silbo.model.values import Attributes, Context

Place: TypeAlias = dict[str, float]
Publications: TypeAlias = Sequence[tuple[Attributes, Context]]


class System(ABC):
    """The operations that are measured; subscribers and subscriptions are numbered in the order of their arrival."""

    name: str
    index: FastIndex | SienaIndex
    change: Callable[[Any, Place], object]  # changes a context; takes what `who` returns

    def __init__(self, function: ContextFunction) -> None:
        self._function = function
        self.subscribers = self.subscriptions = 0

    def join(self, place: Place, filters: Sequence[Filter]) -> int:
        """Add a subscriber, its context first, and return its number."""
        number, name, first = self.subscribers, str(self.subscribers), self.subscriptions
        self.subscribers += 1
        self.subscriptions += len(filters)
        self._place(name, place)
        for i, filter in enumerate(filters, first):
            self.index.add(SubscriptionRow(name, name, f"s{i}", filter, self._function, ()))
        return number

    def got(self, attributes: Attributes, offered: Context) -> set[str]:
        """The ids of the subscriptions that get a message."""
        return {self.index.row(slot).id for slot in self.match(attributes, offered).tolist()}

    @abstractmethod
    def _place(self, name: str, place: Place) -> None:
        """Set the place of a new subscriber."""

    @abstractmethod
    def who(self, subscriber: int) -> Any:
        """The argument of `change` for a subscriber."""

    @abstractmethod
    def match(self, attributes: Attributes, offered: Context) -> Numbers:
        """The numbers in the index of the subscriptions that get a message."""


class Silbo(System):
    """Explicit context: a change is one write of one row."""

    name = "silbo"

    def __init__(self, function: ContextFunction, plan: Plan = "measured") -> None:
        super().__init__(function)
        self.table = ContextTable()
        self.index: FastIndex = FastIndex(self.table, plan)
        self.change = self.table.write_floats

    def _place(self, name: str, place: Place) -> None:
        self.table.set(name, place)

    def who(self, subscriber: int) -> int:
        """The subscriber's row in the table."""
        return self.table.row(str(subscriber))

    def match(self, attributes: Attributes, offered: Context) -> Numbers:
        """The numbers of the subscriptions that get a message; the kernel decides a box completely."""
        return self.index.match(attributes, offered)[0]


class Siena(System):
    """Implicit context: a change removes each filter and adds it again with the new box."""

    name = "siena"

    def __init__(self, function: ContextFunction) -> None:
        super().__init__(function)
        self.index: SienaIndex = SienaIndex()
        self.change = self.index.set_context

    def _place(self, name: str, place: Place) -> None:
        self.index.set_context(name, place)

    def who(self, subscriber: int) -> str:
        """The subscriber's name."""
        return str(subscriber)

    def match(self, attributes: Attributes, offered: Context) -> Numbers:
        """The numbers of the subscriptions that get a message."""
        return self.index.match(attributes, offered)
