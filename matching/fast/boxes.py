"""The box in a context function: how far the publisher can be from a subscriber for whom the function is true.

It is derived from the clauses of the top-level `and`: the paper's inequalities (`pub.x >= this.x - 20`), `abs(pub.x -
this.x) <= 20`, `distance(…) <= 20`, `geo_distance(…) <= 20`, in any order, with the sides swapped or with more
constants. A box only selects candidates: outside of it, one of the clauses is not true.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TypeGuard

from silbo.language import tree
from silbo.language.evaluation import computed

INFINITE = math.inf
SLACK = 1e-9  # times the sum of all constants' magnitudes: 256 roundings lose a ten-thousandth of that
FARTHEST = 2.0**100  # a function that reaches further has no box


@dataclass(frozen=True, slots=True)
class Axis:
    """A publisher's variable, and the subscriber's variable that it is compared with."""

    pub: str
    this: str


@dataclass(frozen=True, slots=True)
class Box:
    """One or two axes, and the greatest distance along each; on the globe, the distance in metres over both."""

    axes: tuple[Axis, ...]
    reach: float  # including what rounding may add
    is_geo: bool = False


@dataclass(frozen=True, slots=True)
class _Linear:
    """The form `sign * (pub - this) + constant`; without an axis, a constant."""

    axis: Axis | None
    sign: int
    constant: float
    scale: float


def box_of(function: tree.Condition) -> Box | None:
    """The box of a function, or None if it has none."""
    clauses = function.operands if isinstance(function, tree.And) else (function,)
    low: dict[Axis, float] = {}
    high: dict[Axis, float] = {}
    scale = 0.0
    for clause in clauses:
        if not isinstance(clause, tree.Compare) or clause.operator == "!=":
            continue
        whole = _circle(clause)
        if whole is not None and whole.is_geo:
            return whole
        if whole is not None:
            for axis in whole.axes:
                low[axis], high[axis] = (
                    max(low.get(axis, -INFINITE), -whole.reach),
                    min(high.get(axis, INFINITE), whole.reach),
                )
            continue
        for axis, least, greatest, size in _bounds(clause):
            low[axis] = max(low.get(axis, -INFINITE), least)
            high[axis] = min(high.get(axis, INFINITE), greatest)
            scale += size
    bounded = [
        axis for axis in sorted(low, key=lambda axis: (axis.pub, axis.this)) if high[axis] - low[axis] < INFINITE
    ]
    if not bounded:
        return None
    axes = tuple(bounded[:2])
    reach = max(max(abs(low[axis]), abs(high[axis])) for axis in axes)
    reach += SLACK * scale
    return Box(axes, reach) if reach <= FARTHEST else None


def _circle(clause: tree.Compare) -> Box | None:
    """The box of a `distance` or `geo_distance` between publisher and subscriber below a constant, or None."""
    left, operator, right = clause.left, clause.operator, clause.right
    if isinstance(right, tree.Call):
        left, operator, right = right, tree.FLIPPED[operator], left
    if not isinstance(left, tree.Call) or left.function not in ("distance", "geo_distance") or operator in (">", ">="):
        return None
    radius = _constant(right)
    a, b, c, d = left.arguments
    x, y = _axis(a, c), _axis(b, d)
    if radius is None or x is None or y is None or radius > FARTHEST:
        return None
    return Box((x, y), max(radius, 0.0), left.function == "geo_distance")


def _axis(a: tree.Value, b: tree.Value) -> Axis | None:
    match a, b:
        case (tree.Name("pub", pub), tree.Name("this", this)) | (tree.Name("this", this), tree.Name("pub", pub)):
            return Axis(pub, this)
        case _:
            return None


def _bounds(clause: tree.Compare) -> list[tuple[Axis, float, float, float]]:
    """The bounds that a clause sets to the difference pub - this: the axis, the least, the greatest, the scale."""
    absolute = _absolute(clause)
    if absolute is not None:
        inner, limit = absolute
        linear = _linear(inner)
        if linear is None or not _is_whole(linear.axis):
            return []
        ends = [linear.sign * (-limit - linear.constant), linear.sign * (limit - linear.constant)]
        return [(linear.axis, min(ends), max(ends), linear.scale + abs(limit))]
    if isinstance(clause.left, tree.Name) and isinstance(clause.right, tree.Name):
        return []  # both may be strings; only arithmetic shows that they must be numbers
    left, right = _linear(clause.left), _linear(clause.right)
    linear = None if left is None or right is None else _difference(left, right)
    if linear is None or not _is_whole(linear.axis):
        return []
    # sign * d + constant  OP  0
    end = -linear.sign * linear.constant
    below = (clause.operator in ("<", "<=")) == (linear.sign > 0)
    least = end if clause.operator == "=" or not below else -INFINITE
    greatest = end if clause.operator == "=" or below else INFINITE
    return [(linear.axis, least, greatest, linear.scale)]


def _is_whole(axis: Axis | None) -> TypeGuard[Axis]:
    return axis is not None and axis.pub != "" != axis.this


def _absolute(clause: tree.Compare) -> tuple[tree.Value, float] | None:
    """The argument of `abs(…)` and the constant that it must not exceed, or None for any other clause."""
    left, operator, right = clause.left, clause.operator, clause.right
    if isinstance(right, tree.Call):
        left, operator, right = right, tree.FLIPPED[operator], left
    limit = _constant(right)
    if isinstance(left, tree.Call) and left.function == "abs" and operator in ("<", "<=", "=") and limit is not None:
        return left.arguments[0], limit
    return None


def _constant(node: tree.Value) -> float | None:
    if any(True for _ in tree.names(node)):
        return None
    value = computed(node)
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _linear(node: tree.Value) -> _Linear | None:
    """A node as a linear form, if it is one in which each variable occurs once, without a factor."""
    constant = _constant(node)
    if constant is not None:
        return _Linear(None, 1, constant, abs(constant))
    match node:
        case tree.Name("pub", name):
            return _Linear(Axis(name, ""), 1, 0.0, 0.0)
        case tree.Name("this", name):
            return _Linear(Axis("", name), -1, 0.0, 0.0)
        case tree.Negative(operand):
            inner = _linear(operand)
            return None if inner is None else _negated(inner)
        case tree.Arithmetic("+" | "-" as operator, left, right):
            a, b = _linear(left), _linear(right)
            if a is None or b is None:
                return None
            return _difference(a, b) if operator == "-" else _difference(a, _negated(b))
        case _:
            return None


def _negated(linear: _Linear) -> _Linear:
    return _Linear(linear.axis, -linear.sign, -linear.constant, linear.scale)


def _difference(a: _Linear, b: _Linear) -> _Linear | None:
    """The difference a - b, if it is a linear form of one axis. One variable is half an axis, until it is completed."""
    constant, scale = a.constant - b.constant, a.scale + b.scale
    if a.axis is None or b.axis is None:
        whole = a if b.axis is None else _negated(b)
        return _Linear(whole.axis, whole.sign, constant, scale)
    if a.sign != -b.sign:
        return None
    match (a.axis.pub, a.axis.this), (b.axis.pub, b.axis.this):
        case (str(pub), ""), ("", str(this)):
            return _Linear(Axis(pub, this), a.sign, constant, scale)
        case ("", str(this)), (str(pub), ""):
            return _Linear(Axis(pub, this), a.sign, constant, scale)
        case _:
            return None
