"""Give an expression's truth for given values: True, False, or None for unknown.

A tree is compiled once into nested closures, so that matching does not walk it. A closure for a value
gives None where the value is absent or no finite number came out; since no value is None, that is
all a comparison needs to know to be unknown.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

from silbo.exhaustive import assert_never
from silbo.language import tree
from silbo.language.tree import Condition, Constant, Name, Namespace, Shape, Value
from silbo.model.geometry import Geometry
from silbo.model.values import KINDS, ContextValue, ValueSet

if TYPE_CHECKING:
    from shapely.geometry.base import BaseGeometry

# the message, the other side's context (the publisher's for a function, the subscriber's for a scope),
# and this side's own
Bindings: TypeAlias = tuple[Mapping[str, ContextValue], Mapping[str, ContextValue], Mapping[str, ContextValue]]
Evaluate: TypeAlias = Callable[[Bindings], bool | None]
Compute: TypeAlias = Callable[[Bindings], ContextValue | None]
Locate: TypeAlias = Callable[[Bindings], "BaseGeometry | None"]

PLACE: Mapping[Namespace, int] = {"attribute": 0, "msg": 0, "pub": 1, "sub": 1, "this": 2}

EARTH_RADIUS = 6371008.8  # metres, the mean radius

COMPARISONS: Mapping[tree.ComparisonOperator, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}

PATTERNS: Mapping[tree.PatternOperator, Callable[[str, str], bool]] = {
    "prefix": str.startswith,
    "suffix": str.endswith,
    "contains": operator.contains,
}


def compiled(condition: Condition) -> Evaluate:
    """A function of the bindings that gives the condition's truth."""
    match condition:
        case tree.Truth(truth):
            return lambda _: truth
        case tree.Not(operand):
            return _negation(compiled(operand))
        case tree.And(operands):
            return _chain([compiled(operand) for operand in operands], decisive=False)
        case tree.Or(operands):
            return _chain([compiled(operand) for operand in operands], decisive=True)
        case tree.Holds(name):
            return _holds(_compute(name))
        case tree.Compare(operator_, left, right):
            return _comparison(operator_, _compute(left), _compute(right))
        case tree.Pattern(operator_, left, right):
            return _pattern(PATTERNS[operator_], _compute(left), _compute(right))
        case tree.In(value, members):
            return (
                _in_set(_compute(value), _compute(members))
                if isinstance(members, Name)
                else _in_list(_compute(value), members)
            )
        case tree.Exists(name):
            return _exists(_compute(name))
        case tree.Spatial(predicate, left, right):
            return _spatial(predicate, _locate(left), _locate(right))
        case _:
            assert_never(condition)


def value_of(node: Value, bindings: Bindings) -> ContextValue | None:
    """The value of a part of an expression; None if it is absent, or no finite number."""
    return _compute(node)(bindings)


def computed(node: Value) -> ContextValue | None:
    """The value of an expression without names; None if it has none."""
    return _compute(node)(({}, {}, {}))


def _negation(operand: Evaluate) -> Evaluate:
    def negated(bindings: Bindings) -> bool | None:
        truth = operand(bindings)
        return None if truth is None else not truth

    return negated


def _chain(operands: list[Evaluate], *, decisive: bool) -> Evaluate:
    """`and` (false decides) or `or` (true decides); else one unknown makes it unknown."""

    def chain(bindings: Bindings) -> bool | None:
        unknown = False
        for operand in operands:
            truth = operand(bindings)
            if truth is decisive:
                return decisive
            unknown = unknown or truth is None
        return None if unknown else not decisive

    return chain


def _holds(compute: Compute) -> Evaluate:
    def holds(bindings: Bindings) -> bool | None:
        value = compute(bindings)
        return value if isinstance(value, bool) else None

    return holds


def _comparison(operator_: tree.ComparisonOperator, left: Compute, right: Compute) -> Evaluate:
    compare = COMPARISONS[operator_]
    # equality also for bools, order only for numbers and strings; sets and geometries have no kind
    kinds = {"number", "string", "bool"} if operator_ in ("=", "!=") else {"number", "string"}

    def comparison(bindings: Bindings) -> bool | None:
        a, b = left(bindings), right(bindings)
        kind = KINDS.get(type(a))
        return compare(a, b) if kind in kinds and kind == KINDS.get(type(b)) else None

    return comparison


def _pattern(matches: Callable[[str, str], bool], left: Compute, right: Compute) -> Evaluate:
    def pattern(bindings: Bindings) -> bool | None:
        a, b = left(bindings), right(bindings)
        return matches(a, b) if isinstance(a, str) and isinstance(b, str) else None

    return pattern


def _in_list(compute: Compute, constants: tuple[Constant, ...]) -> Evaluate:
    kind = constants[0].kind
    members = frozenset(constant.value for constant in constants)

    def in_list(bindings: Bindings) -> bool | None:
        value = compute(bindings)
        return value in members if KINDS.get(type(value)) == kind else None

    return in_list


def _in_set(compute: Compute, compute_set: Compute) -> Evaluate:
    def in_set(bindings: Bindings) -> bool | None:
        value, members = compute(bindings), compute_set(bindings)
        kind = KINDS.get(type(value))
        if kind is None or not isinstance(members, ValueSet):
            return None
        if members.kind is None:
            return False
        return value in members if kind == members.kind else None

    return in_set


def _exists(compute: Compute) -> Evaluate:
    return lambda bindings: compute(bindings) is not None


def _compute(node: Value) -> Compute:
    match node:
        case Constant(_, value):
            return lambda _: value
        case Name(namespace, name):
            place = PLACE[namespace]
            return lambda bindings: bindings[place].get(name)
        case tree.Negative(operand):
            return _number_of(operator.neg, [operand])
        case tree.Arithmetic(operator_, left, right):
            return _number_of(ARITHMETIC[operator_], [left, right])
        case tree.Call(function, arguments):
            return _number_of(FUNCTIONS[function], list(arguments))
        case _:
            assert_never(node)


def _number_of(calculate: Callable[..., float], operands: list[Value]) -> Compute:
    """Arithmetic: operands become doubles first; a result that is not finite is None."""
    computes = [_compute(operand) for operand in operands]

    def number(bindings: Bindings) -> float | None:
        numbers = []
        for compute in computes:
            value = compute(bindings)
            if KINDS.get(type(value)) != "number":
                return None
            numbers.append(float(value))  # type: ignore[arg-type]  # the kind says that it is a number
        try:
            result = calculate(*numbers)
        except (ValueError, ZeroDivisionError, OverflowError):
            return None
        return result if math.isfinite(result) else None

    return number


def distance(x1: float, y1: float, x2: float, y2: float) -> float:
    """Planar distance, in the unit of the coordinates; every step as docs/language.md writes it, so no hypot."""
    dx, dy = x1 - x2, y1 - y2
    return math.sqrt(dx * dx + dy * dy)


def geo_distance(lon1: float, lat1: float, lon2: float, lat2: float) -> float:
    """Great-circle distance in metres by the haversine formula, of degrees."""
    phi1, phi2 = math.radians(lat1), math.radians(lat2)
    half_phi, half_lambda = (phi2 - phi1) / 2, (math.radians(lon2) - math.radians(lon1)) / 2
    a = math.sin(half_phi) ** 2 + math.cos(phi1) * math.cos(phi2) * math.sin(half_lambda) ** 2
    return 2 * EARTH_RADIUS * math.asin(math.sqrt(min(1.0, a)))


ARITHMETIC: Mapping[tree.ArithmeticOperator, Callable[..., float]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
}

FUNCTIONS: Mapping[tree.Function, Callable[..., float]] = {
    "abs": abs,
    "min": min,
    "max": max,
    "sqrt": math.sqrt,
    "distance": distance,
    "geo_distance": geo_distance,
}


def _locate(node: Shape) -> Locate:
    match node:
        case Name("msg", _):
            return lambda _: None
        case Name():
            return _variable_shape(_compute(node))
        case tree.GeometryConstant(wkb, _):
            return _constant_shape(wkb)
        case tree.Point(x, y):
            return _point(_number_of(float, [x]), _number_of(float, [y]))
        case _:
            assert_never(node)


def _variable_shape(compute: Compute) -> Locate:
    def variable(bindings: Bindings) -> BaseGeometry | None:
        value = compute(bindings)
        return value.shape if isinstance(value, Geometry) else None

    return variable


def _constant_shape(wkb: bytes) -> Locate:
    import shapely

    shape = shapely.from_wkb(wkb)
    shapely.prepare(shape)
    return lambda _: shape


def _point(compute_x: Compute, compute_y: Compute) -> Locate:
    import shapely

    def point(bindings: Bindings) -> BaseGeometry | None:
        x, y = compute_x(bindings), compute_y(bindings)
        return None if x is None or y is None else shapely.Point(x, y)

    return point


def _spatial(predicate: tree.SpatialPredicate, left: Locate, right: Locate) -> Evaluate:
    import numpy as np
    import shapely

    holds = shapely.covered_by if predicate == "within" else shapely.intersects

    def spatial(bindings: Bindings) -> bool | None:
        a, b = left(bindings), right(bindings)
        if a is None or b is None:
            return None
        with np.errstate(all="ignore"):  # coordinates near the largest double overflow inside, and are still judged
            return bool(holds(a, b))

    return spatial
