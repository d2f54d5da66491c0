"""The nodes of an expression: a frozen tree, the same for the text and the Python form.

A tree is kept as it was written: nothing is simplified, reordered or normalised, since the
expression as written decides. Equality carries the type of constants: `x = 1` equals `x = 1.0` and
differs from `x = true`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from silbo.exhaustive import assert_never

ConstantKind: TypeAlias = Literal["number", "bool", "string"]
Namespace: TypeAlias = Literal["attribute", "msg", "pub", "this", "sub"]
ArithmeticOperator: TypeAlias = Literal["+", "-", "*", "/"]
ComparisonOperator: TypeAlias = Literal["=", "!=", "<", "<=", ">", ">="]
PatternOperator: TypeAlias = Literal["prefix", "suffix", "contains"]
Function: TypeAlias = Literal["abs", "min", "max", "sqrt", "distance", "geo_distance"]
SpatialPredicate: TypeAlias = Literal["within", "intersects"]


@dataclass(frozen=True, slots=True, init=False)
class Constant:
    """A number, bool or string. The kind makes 1 and true different and leaves 1 and 1.0 equal."""

    kind: ConstantKind
    value: bool | int | float | str

    def __init__(self, kind: ConstantKind, value: bool | float | str) -> None:
        _set_kind(self, kind)
        _set_value(self, value)


@dataclass(frozen=True, slots=True)
class Name:
    """An attribute of the message (in a filter) or a variable of one of the namespaces."""

    namespace: Namespace
    name: str


@dataclass(frozen=True, slots=True)
class Negative:
    """Unary minus. A sign that belongs to a number is in the constant."""

    operand: Value


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """Two operands and `+ - * /`, on doubles."""

    operator: ArithmeticOperator
    left: Value
    right: Value


@dataclass(frozen=True, slots=True)
class Call:
    """A numeric function."""

    function: Function
    arguments: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Point:
    """`point(x, y)`, a geometry from two numbers."""

    x: Value
    y: Value


@dataclass(frozen=True, slots=True)
class GeometryConstant:
    """`geometry("WKT")`; equal geometries have equal WKB, whatever their text."""

    wkb: bytes
    wkt: str = field(compare=False)


@dataclass(frozen=True, slots=True)
class Truth:
    """`true` or `false` as an atom."""

    value: bool


@dataclass(frozen=True, slots=True)
class Holds:
    """A name alone: true or false if it is a bool, else unknown."""

    name: Name


@dataclass(frozen=True, slots=True, init=False)
class Compare:
    """Two values and `= != < <= > >=`."""

    operator: ComparisonOperator
    left: Value
    right: Value

    def __init__(self, operator: ComparisonOperator, left: Value, right: Value) -> None:
        _set_operator(self, operator)
        _set_left(self, left)
        _set_right(self, right)


@dataclass(frozen=True, slots=True)
class Pattern:
    """Two strings and `prefix suffix contains`: `a prefix b` means that a begins with b."""

    operator: PatternOperator
    left: Value
    right: Value


@dataclass(frozen=True, slots=True)
class In:
    """Membership in a list of constants of one type, or in a set-valued context variable."""

    value: Value
    members: tuple[Constant, ...] | Name


@dataclass(frozen=True, slots=True)
class Exists:
    """Presence of a name, never unknown."""

    name: Name


@dataclass(frozen=True, slots=True)
class Spatial:
    """`within` (the border counts) or `intersects` of two geometries."""

    predicate: SpatialPredicate
    left: Shape
    right: Shape


@dataclass(frozen=True, slots=True)
class Not:
    """SQL's three-valued `not`."""

    operand: Condition


@dataclass(frozen=True, slots=True)
class And:
    """Two or more conditions; a chain `a and b and c` is one node."""

    operands: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class Or:
    """Two or more conditions; a chain `a or b or c` is one node."""

    operands: tuple[Condition, ...]


# The most frequent nodes fill their slots themselves: the constructors that dataclass generates take three times as
# long. The descriptors of the slots write where `__setattr__` refuses to.
_set_kind, _set_value = (Constant.__dict__[slot].__set__ for slot in Constant.__slots__)
_set_operator, _set_left, _set_right = (Compare.__dict__[slot].__set__ for slot in Compare.__slots__)

Value: TypeAlias = Constant | Name | Negative | Arithmetic | Call
Shape: TypeAlias = Name | Point | GeometryConstant
Atom: TypeAlias = Truth | Holds | Compare | Pattern | In | Exists | Spatial
Condition: TypeAlias = Atom | Not | And | Or
Node: TypeAlias = Condition | Value | Shape


def children(node: Node) -> tuple[Node, ...]:
    """The nodes directly below, from left to right (the constants of a list are none)."""
    match node:
        case Not(operand) | Negative(operand):
            return (operand,)
        case And(operands) | Or(operands):
            return operands
        case Compare(_, left, right) | Pattern(_, left, right) | Spatial(_, left, right) | Arithmetic(_, left, right):
            return (left, right)
        case In(value, Name() as members):
            return (value, members)
        case In(value, _):
            return (value,)
        case Exists(name) | Holds(name):
            return (name,)
        case Call(_, arguments):
            return arguments
        case Point(x, y):
            return (x, y)
        case Constant() | Name() | GeometryConstant() | Truth():
            return ()
        case _:
            assert_never(node)


def names(node: Node) -> Iterator[Name]:
    """Every name in the tree, from left to right, as often as it stands there."""
    if isinstance(node, Name):
        yield node
    for child in children(node):
        yield from names(child)


def conjunction(operands: Iterable[Condition]) -> Condition:
    """`a and b and …` as one node; parentheses around an inner `and` change nothing."""
    flat: list[Condition] = []
    for each in operands:
        if isinstance(each, And):
            flat.extend(each.operands)
        else:
            flat.append(each)
    return flat[0] if len(flat) == 1 else And(tuple(flat))


def disjunction(operands: Iterable[Condition]) -> Condition:
    """`a or b or …` as one node; parentheses around an inner `or` change nothing."""
    flat: list[Condition] = []
    for each in operands:
        if isinstance(each, Or):
            flat.extend(each.operands)
        else:
            flat.append(each)
    return flat[0] if len(flat) == 1 else Or(tuple(flat))


FLIPPED: Mapping[ComparisonOperator, ComparisonOperator] = {
    "=": "=",
    "!=": "!=",
    "<": ">",
    "<=": ">=",
    ">": "<",
    ">=": "<=",
}


def comparison(operator: ComparisonOperator, left: Value, right: Value) -> Compare:
    """A comparison; a constant on the left is flipped to the right."""
    if isinstance(left, Constant) and not isinstance(right, Constant):
        return Compare(FLIPPED[operator], right, left)
    return Compare(operator, left, right)
