"""Context as in SIENA: the box becomes ordinary constraints of the filter, over attributes of the message.

A publisher's variables are sent as attributes with reserved names, and a subscriber's box is written into each
of its filters, so a context change is an unsubscribe and a subscribe of each filter. Benchmarks compare silbo with
this index, over the same fast index and with the same answers; nothing else uses it. Whatever does not depend on
the context is reused from one subscribe to the next: a filter's normal form and its row. A new box is computed once
for consecutive filters with the same function.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, TypeAlias

from silbo.context.function import ContextFunction
from silbo.context.table import ContextTable
from silbo.errors import InvalidValue
from silbo.language import tree
from silbo.matching.candidates import Found, SubscriptionRow
from silbo.matching.fast.encoding import Literal
from silbo.matching.fast.filing import filed
from silbo.matching.fast.index import FastIndex, Numbers
from silbo.model.notification import Publication
from silbo.model.values import Attributes, Context

RESERVED = "pub."  # how the names of publishers' variables begin in a message

Ranges: TypeAlias = list[Literal]  # the box around a subscriber, as constraints


class _Axis(NamedTuple):
    """`abs(pub.… - this.…) <= reach`."""

    pub: str
    this: str
    reach: float
    name: tree.Name  # the publisher's variable as an attribute of the message


class _Filed(NamedTuple):
    """A subscription as the fast index holds it: a row without a function, and the filter's own constraints."""

    row: SubscriptionRow
    own: Sequence[Sequence[Literal]]


class SienaIndex:
    """An index for rows whose function is a box or None. A fast index holds each row with the box in its filter."""

    def __init__(self) -> None:
        self.index = FastIndex(ContextTable())
        self._contexts: dict[str, Context] = {}
        self._rows: dict[str, dict[SubscriptionRow, _Filed]] = {}  # by subscriber
        self._by_slot: dict[int, SubscriptionRow] = {}
        self._axes: dict[str, tuple[_Axis, ...]] = {}  # by a function's text
        self._variables: dict[str, str] = {}  # publishers' variables that boxes read, under their reserved names

    def add(self, row: SubscriptionRow) -> None:
        """Add a subscription."""
        self._variables.update({axis.pub: axis.name.name for axis in self._axes_of(row.function)})
        plain = SubscriptionRow(row.subscriber, row.name, row.id, row.filter, None, ())
        each = self._rows.setdefault(row.subscriber, {})[row] = _Filed(plain, filed(row.filter.tree))
        self._file(row, each, self._ranges(row))

    def remove(self, row: SubscriptionRow) -> None:
        """Remove a subscription."""
        own = self._rows[row.subscriber]
        self._unfile(own.pop(row))
        if not own:
            del self._rows[row.subscriber]

    def set_context(self, subscriber: str, context: Context) -> None:
        """Remove each of a subscriber's filters, and add it again with the new box."""
        self._contexts[subscriber] = context
        if not context:
            del self._contexts[subscriber]  # a session that disconnects leaves an empty context
        before, ranges = None, None
        for row, each in self._rows.get(subscriber, {}).items():
            if ranges is None or row.function is not before:
                before, ranges = row.function, self._ranges(row)
            self._unfile(each)
            self._file(row, each, ranges)

    def candidates(self, batch: Sequence[Publication]) -> Iterator[Iterable[SubscriptionRow]]:
        """Yield for each publication the rows that get it."""
        return (sure for sure, _ in self.found(batch))

    def found(self, batch: Sequence[Publication]) -> Iterator[Found]:
        """Yield for each publication the rows that get it, and no undecided rows."""
        for publication in batch:
            slots = self.match(publication.attributes, publication.offered)
            yield [self._by_slot[slot] for slot in slots.tolist()], ()

    def match(self, attributes: Attributes, offered: Context) -> Numbers:
        """The slots of the subscriptions that get a message."""
        return self.index.match(self.message(attributes, offered), {})[0]

    def message(self, attributes: Attributes, offered: Context) -> Attributes:
        """The message with the publisher's variables added to its attributes."""
        message = dict(attributes)
        for name, reserved in self._variables.items():
            value = offered.get(name)
            if type(value) is float or type(value) is int:
                message[reserved] = value
        return message

    def row(self, slot: int) -> SubscriptionRow:
        """The subscription in this slot."""
        return self._by_slot[slot]

    def _axes_of(self, function: ContextFunction | None) -> tuple[_Axis, ...]:
        if function is None:
            return ()
        axes = self._axes.get(function.text)
        if axes is None:
            axes = self._axes[function.text] = _axes(function)
        return axes

    def _ranges(self, row: SubscriptionRow) -> Ranges | None:
        """A row's box as constraints; None if the subscriber has no position, so that no message can match."""
        context = self._contexts.get(row.subscriber, {})
        ranges: Ranges = []
        for axis in self._axes_of(row.function):
            place = context.get(axis.this)
            if type(place) is not float and type(place) is not int:
                return None
            least, greatest = _ends(float(place), axis.reach)
            ranges += [
                (tree.Compare(">=", axis.name, tree.Constant("number", least)), False),
                (tree.Compare("<=", axis.name, tree.Constant("number", greatest)), False),
            ]
        return ranges

    def _file(self, row: SubscriptionRow, each: _Filed, ranges: Ranges | None) -> None:
        if ranges is not None:
            self.index.file(each.row, [[*own, *ranges] for own in each.own])
            self._by_slot[each.row.slot] = row

    def _unfile(self, each: _Filed) -> None:
        slot = each.row.slot
        if slot >= 0:
            del self._by_slot[slot]
            self.index.remove(each.row)
            each.row.slot = -1


def _axes(function: ContextFunction) -> tuple[_Axis, ...]:
    """The axes of a function that is a box and nothing else."""
    clauses = function.tree.operands if isinstance(function.tree, tree.And) else (function.tree,)
    return tuple(_axis(clause, function) for clause in clauses)


def _axis(clause: tree.Condition, function: ContextFunction) -> _Axis:
    match clause:
        case tree.Compare(
            "<=",
            tree.Call("abs", (tree.Arithmetic("-", tree.Name("pub", pub), tree.Name("this", this)),)),
            tree.Constant("number", reach),
        ):
            return _Axis(pub, this, float(reach), tree.Name("attribute", RESERVED + pub))
        case _:
            raise InvalidValue("function", f"`{function}` is not a box: abs(pub.x - this.x) <= 20 and … is expected.")


def _ends(place: float, reach: float) -> tuple[float, float]:
    """The least and the greatest double v with abs(v - place) <= reach, which rounding may move by a few doubles."""
    return _end(place, reach, -math.inf), _end(place, reach, math.inf)


def _end(place: float, reach: float, side: float) -> float:
    end = place + math.copysign(reach, side)
    while abs(end - place) > reach:
        end = math.nextafter(end, place)
    while abs((beyond := math.nextafter(end, side)) - place) <= reach:
        end = beyond
    return end
