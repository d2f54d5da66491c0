"""Two other matching methods, in numpy: all constraints of every subscription, or every subscriber's context first.

Both hold constraints as closed intervals in columns, subscription after subscription, and compare them in a few vector
operations. They take conjunctions of numeric comparisons and one box for all functions, and give the same answers as
the index for them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from silbo.bench.workloads import EACH, Workload
from silbo.errors import InvalidValue
from silbo.language import tree
from silbo.model.values import Attributes, Context

if TYPE_CHECKING:
    from silbo.bench.numbers import Array

NO_NUMBERS = "it takes conjunctions of numeric comparisons only"
NO_BOX = "it needs the same box for all subscriptions"


class NumpyBrute:
    """Checks every constraint of every subscription, then the box of those whose constraints hold."""

    def __init__(self, workload: Workload) -> None:
        self._columns = ConstraintColumns(workload)
        self._places = None if workload.box is None else Places(workload)

    def match(self, attributes: Attributes, offered: Context) -> Array:
        """The numbers of the subscriptions that get a message."""
        columns = self._columns
        holds = columns.holds(columns.values(attributes), slice(None))
        found = np.flatnonzero(np.logical_and.reduceat(holds, columns.starts[:-1]))
        if self._places is not None:
            found = found[self._places.near(offered)[found // EACH]]
        return found


class NumpyContextFirst:
    """Checks the box of every subscriber, then the constraints of the subscriptions whose box matches."""

    def __init__(self, workload: Workload) -> None:
        self._places = Places(workload)
        self._columns = ConstraintColumns(workload)
        firsts = np.arange(0, len(workload), EACH)
        self._first = firsts, np.minimum(firsts + EACH, len(workload))

    def match(self, attributes: Attributes, offered: Context) -> Array:
        """The numbers of the subscriptions that get a message."""
        near = np.flatnonzero(self._places.near(offered))
        if near.size == 0:
            return near
        columns = self._columns
        subscriptions = _ranges(*(each[near] for each in self._first))
        begin, end = columns.starts[subscriptions], columns.starts[subscriptions + 1]
        holds = columns.holds(columns.values(attributes), _ranges(begin, end))
        sizes = end - begin
        all_hold = np.logical_and.reduceat(holds, np.cumsum(sizes) - sizes)
        return subscriptions[all_hold]


class Places:
    """The positions of all subscribers."""

    def __init__(self, workload: Workload) -> None:
        if workload.box is None:
            raise InvalidValue("workload", NO_BOX)
        self._reach = workload.box / 2
        self._x, self._y = (np.array([context[name] for context in workload.contexts]) for name in "xy")

    def near(self, offered: Context) -> Array:
        """For each subscriber, whether the publisher is in its box."""
        inside = np.abs(self._x - offered["x"]) <= self._reach
        inside &= np.abs(self._y - offered["y"]) <= self._reach
        return inside


class ConstraintColumns:
    """All constraints: the attribute's number, the least and the greatest value, and a value that is excluded."""

    def __init__(self, workload: Workload) -> None:
        self._numbers: dict[str, int] = {}
        rows: list[tuple[int, float, float, float]] = []
        starts = [0]
        for filter in workload.filters:
            rows.extend(map(self._row, _atoms(filter.tree)))
            starts.append(len(rows))
        names, *bounds = zip(*rows, strict=True)
        self.starts = np.array(starts)
        self._names = np.array(names)
        self._least, self._greatest, self._excluded = map(np.array, bounds)

    def _row(self, atom: tree.Compare) -> tuple[int, float, float, float]:
        match atom:
            case tree.Compare(operator, tree.Name(_, name), tree.Constant("number", value)):
                number = self._numbers.setdefault(name, len(self._numbers))
                return (number, *_interval(operator, float(value)))
            case _:
                raise InvalidValue("workload", NO_NUMBERS)

    def values(self, attributes: Attributes) -> Array:
        """The values of a message by attribute number; an absent one is NaN, for which no constraint holds."""
        values = np.full(len(self._numbers), np.nan)
        for name, value in attributes.items():
            number = self._numbers.get(name)
            if number is not None:
                values[number] = value
        return values

    def holds(self, values: Array, which: Array | slice) -> Array:
        """For each of these constraints, whether it holds."""
        own = values[self._names[which]]
        holds: Array = own >= self._least[which]
        holds &= own <= self._greatest[which]
        holds &= own != self._excluded[which]
        return holds


def _atoms(condition: tree.Condition) -> Iterable[tree.Compare]:
    atoms = condition.operands if isinstance(condition, tree.And) else (condition,)
    if not all(isinstance(atom, tree.Compare) for atom in atoms):
        raise InvalidValue("workload", NO_NUMBERS)
    return atoms  # type: ignore[return-value]  # all are comparisons


def _interval(operator: tree.ComparisonOperator, value: float) -> tuple[float, float, float]:
    """The least and the greatest double for which a comparison is true, and a double in between that is excluded."""
    match operator:
        case "=":
            return value, value, math.nan
        case "<":
            return -math.inf, math.nextafter(value, -math.inf), math.nan
        case "<=":
            return -math.inf, value, math.nan
        case ">":
            return math.nextafter(value, math.inf), math.inf, math.nan
        case ">=":
            return value, math.inf, math.nan
        case "!=":
            return -math.inf, math.inf, value


def _ranges(begin: Array, end: Array) -> Array:
    """The numbers of all ranges from `begin` up to, but not including, `end`."""
    sizes = end - begin
    numbers: Array = np.arange(sizes.sum()) + np.repeat(begin - (np.cumsum(sizes) - sizes), sizes)
    return numbers
