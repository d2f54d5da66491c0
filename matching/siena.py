"""Context the SIENA way: the box becomes ordinary constraints of the filter, over attributes of the message.

A publisher's variables travel as attributes under reserved names, and a subscriber's box is written into each
of its filters; so a change of its context is an unsubscribe and a subscribe of each. It is what silbo is
compared with, over the same index and with the same answers, and nothing else uses it.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from silbo.context.function import ContextFunction
from silbo.context.table import ContextTable
from silbo.errors import InvalidValue
from silbo.language import tree
from silbo.language.text import name_text
from silbo.matching.candidates import SubscriptionRow
from silbo.matching.fast import FastIndex, Numbers
from silbo.matching.filter import Filter
from silbo.model.values import Attributes, Context

RESERVED = "pub."  # how the names of publishers' variables begin in a message


class _Axis(NamedTuple):
    """`abs(pub.… - this.…) <= reach`."""

    pub: str
    this: str
    reach: float
    name: tree.Name  # the publisher's variable as an attribute of the message
    text: str


class _Ranges(NamedTuple):
    """A box around a subscriber as constraints, and as text."""

    atoms: tuple[tree.Compare, ...]
    text: str


class SienaIndex:
    """Takes rows whose function is a box, or none; each stands in a fast index with its box in its filter."""

    def __init__(self) -> None:
        self._index = FastIndex(ContextTable())
        self._contexts: dict[str, Context] = {}
        self._rows: dict[str, list[SubscriptionRow]] = {}  # by subscriber
        self._filed: dict[SubscriptionRow, SubscriptionRow] = {}
        self._by_slot: dict[int, SubscriptionRow] = {}
        self._axes: dict[str, tuple[_Axis, ...]] = {}  # by a function's text
        self._variables: dict[str, str] = {}  # publishers' variables that boxes read, under their reserved names

    def add(self, row: SubscriptionRow) -> None:
        """Take a new subscription in."""
        axes = self._axes_of(row.function)
        self._variables.update({axis.pub: axis.name.name for axis in axes})
        self._rows.setdefault(row.subscriber, []).append(row)
        self._file(row, self._ranges(row))

    def remove(self, row: SubscriptionRow) -> None:
        """Forget a subscription."""
        self._rows[row.subscriber].remove(row)
        self._unfile(row)

    def set_context(self, subscriber: str, context: Context) -> None:
        """Take each of a subscriber's filters out, and put it in with the new box."""
        self._contexts[subscriber] = context
        before, ranges = None, None
        for row in self._rows.get(subscriber, ()):
            if ranges is None or row.function is not before:
                before, ranges = row.function, self._ranges(row)
            self._unfile(row)
            self._file(row, ranges)

    def match(self, attributes: Attributes, offered: Context) -> Numbers:
        """The numbers of the subscriptions that get a message."""
        message = dict(attributes)
        for name, reserved in self._variables.items():
            value = offered.get(name)
            if type(value) is float or type(value) is int:
                message[reserved] = value
        return self._index.match(message, {})[0]

    def row(self, slot: int) -> SubscriptionRow:
        """The subscription with this number."""
        return self._by_slot[slot]

    def _axes_of(self, function: ContextFunction | None) -> tuple[_Axis, ...]:
        if function is None:
            return ()
        axes = self._axes.get(function.text)
        if axes is None:
            axes = self._axes[function.text] = _axes(function)
        return axes

    def _ranges(self, row: SubscriptionRow) -> _Ranges | None:
        """A row's box as constraints; None if the subscriber is nowhere, so that nothing can be in it."""
        context = self._contexts.get(row.subscriber, {})
        atoms: list[tree.Compare] = []
        text = ""
        for axis in self._axes_of(row.function):
            place = context.get(axis.this)
            if type(place) is not float and type(place) is not int:
                return None
            name = axis.name
            least, greatest = _ends(float(place), axis.reach)
            atoms += [
                tree.Compare(">=", name, tree.Constant("number", least)),
                tree.Compare("<=", name, tree.Constant("number", greatest)),
            ]
            text += f" and {axis.text} >= {least!r} and {axis.text} <= {greatest!r}"
        return _Ranges(tuple(atoms), text)

    def _file(self, row: SubscriptionRow, ranges: _Ranges | None) -> None:
        if ranges is None:
            return
        filter = Filter(tree.conjunction((row.filter.tree, *ranges.atoms)), f"({row.filter.text}){ranges.text}")
        filed = self._filed[row] = SubscriptionRow(row.subscriber, row.name, row.id, filter, None, (), None)
        self._index.add(filed)
        self._by_slot[filed.slot] = row

    def _unfile(self, row: SubscriptionRow) -> None:
        filed = self._filed.pop(row, None)
        if filed is not None:
            del self._by_slot[filed.slot]
            self._index.remove(filed)


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
            name = tree.Name("attribute", RESERVED + pub)
            return _Axis(pub, this, float(reach), name, name_text(name))
        case _:
            raise InvalidValue("function", f"`{function}` is no box: abs(pub.x - this.x) <= 20 and … is expected.")


def _ends(place: float, reach: float) -> tuple[float, float]:
    """The least and the greatest double v with abs(v - place) <= reach: rounding moves them by some neighbours."""
    return _end(place, reach, -math.inf), _end(place, reach, math.inf)


def _end(place: float, reach: float, side: float) -> float:
    end = place + math.copysign(reach, side)
    while abs(end - place) > reach:
        end = math.nextafter(end, place)
    while abs((beyond := math.nextafter(end, side)) - place) <= reach:
        end = beyond
    return end
