"""Compile context functions to programs for the machine in `kernels`: the tree as written, node by node.

The truth is MAYBE if the machine cannot decide it (geometry), and also for a function that reads a variable for
which no column is left. `decision` then evaluates the function.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from silbo.context.scalars import bits, bool_mask, encoded_number, listed, packed
from silbo.exhaustive import assert_never
from silbo.language import tree
from silbo.matching.fast.kernels import layout
from silbo.model.geometry import geometry

KINDS = {"number": layout.NUMBER, "bool": layout.BOOL, "string": layout.STRING}
COMPARISONS: Mapping[str, int] = {
    "=": layout.EQ,
    "!=": layout.NE,
    "<": layout.LT,
    "<=": layout.LE,
    ">": layout.GT,
    ">=": layout.GE,
}
PATTERNS = {"prefix": layout.BEGINS, "suffix": layout.ENDS, "contains": layout.HOLDS}
ARITHMETIC = {"+": layout.ADD, "-": layout.SUBTRACT, "*": layout.MULTIPLY, "/": layout.DIVIDE}
FUNCTIONS = {
    "abs": layout.ABS,
    "min": layout.MIN,
    "max": layout.MAX,
    "sqrt": layout.SQRT,
    "distance": layout.DISTANCE,
    "geo_distance": layout.GEO_DISTANCE,
}
NAMESPACES = {"pub": layout.PUB, "msg": layout.MSG, "this": layout.THIS}
SMALL = 1 << 15  # ids below this fit into a box clause, two in one argument

# the id of an attribute or a publisher's variable, or the column of a subscriber's variable (None: it has none)
Numbered: TypeAlias = Callable[[tree.Name], int | None]


class _NoColumn(Exception):
    """A subscriber's variable has no column."""


class Program:
    """The words of one function: instructions, then the lists, strings and bounds that they point to."""

    def __init__(self, function: tree.Condition, numbered: Numbered) -> None:
        self._numbered = numbered
        self._code: list[tuple[int, int, int]] = []
        self._data: list[tuple[int, np.ndarray[Any, Any], int]] = []  # instruction, words, length for the span
        self._lists: list[tuple[int, int, Sequence[Any]]] = []  # instruction, kind, members
        try:
            for clause in function.operands if isinstance(function, tree.And) else (function,):
                self._require(clause)
        except _NoColumn:
            self._code, self._data, self._lists = [], [], []
            self._emit(layout.LITERAL, layout.MAYBE)
            self._emit(layout.REQUIRE)

    @property
    def size(self) -> int:
        """The size of the instructions in words."""
        return len(self._code) * layout.SCALAR

    @property
    def is_cheap(self) -> bool:
        """Whether the program consists of box clauses only."""
        return all(code & 0xFF >= layout.WITHIN_SPAN for code, _, _ in self._code)

    def words(self) -> np.ndarray[Any, Any]:
        """The whole block; spans count from its beginning."""
        code = np.array(self._code, np.int64)
        parts = [code.reshape(-1)]
        used = code.size
        for at, kind, members in self._lists:
            block = listed(kind, members, used)
            code[at, 2] = used | len(members) << 32
            parts.append(block)
            used += block.size
        for at, block, length in self._data:
            # the span of a string counts bytes, that of bounds counts words
            code[at, 2] = (used * 8 if length >= 0 else used) | max(length, 0) << 32
            parts.append(block)
            used += block.size
        parts[0] = code.reshape(-1)
        return np.concatenate(parts)

    def _emit(
        self, code: int, argument: int = 0, payload: int = 0, span: int = 0, kind: int = 0, residue: int = 0
    ) -> int:
        self._code.append((code | kind << 8 | (residue & 0xFFFF) << 16 | argument << 32, payload, span))
        return len(self._code) - 1

    # conditions

    def _require(self, clause: tree.Condition) -> None:
        if not self._box_clause(clause):
            self._condition(clause)
            self._emit(layout.REQUIRE)

    def _condition(self, node: tree.Condition) -> None:
        match node:
            case tree.Truth(value):
                self._emit(layout.LITERAL, layout.TRUE if value else layout.FALSE)
            case tree.Not(operand):
                self._condition(operand)
                self._emit(layout.NOT)
            case tree.And(operands) | tree.Or(operands):
                for operand in operands:
                    self._condition(operand)
                self._emit(layout.AND if isinstance(node, tree.And) else layout.OR, len(operands))
            case tree.Holds(name):
                self._value(name)
                self._emit(layout.IS_TRUE)
            case tree.Exists(name):
                self._value(name)
                self._emit(layout.PRESENT)
            case tree.Compare(operator, left, right):
                self._both(left, right)
                self._emit(layout.COMPARE, COMPARISONS[operator])
            case tree.Pattern(operator, left, right):
                self._both(left, right)
                self._emit(layout.PATTERN, PATTERNS[operator])
            case tree.In(value, tree.Name() as members):
                self._both(value, members)
                self._emit(layout.IN_SET)
            case tree.In(value, members):
                assert not isinstance(members, tree.Name)
                self._value(value)
                self._in_list(members)
            case tree.Spatial(_, left, right):
                self._shape(left)
                self._shape(right)
                self._emit(layout.SPATIAL)
            case _:
                assert_never(node)

    def _in_list(self, members: tuple[tree.Constant, ...]) -> None:
        kind = KINDS[members[0].kind]
        # without duplicates, as in the list that is searched
        values = list(dict.fromkeys(member.value for member in members))
        mask = int(bool_mask(values)) if kind == layout.BOOL else 0
        at = self._emit(layout.IN_LIST, payload=mask, kind=kind)
        if kind != layout.BOOL:
            self._lists.append((at, kind, values))

    # values

    def _both(self, left: tree.Value, right: tree.Value) -> None:
        self._value(left)
        self._value(right)

    def _value(self, node: tree.Value) -> None:
        match node:
            case tree.Constant(kind, value):
                self._constant(kind, value)
            case tree.Name(namespace, _):
                self._emit(NAMESPACES[namespace], self._id(node))
            case tree.Negative(operand):
                self._value(operand)
                self._emit(layout.NEGATIVE, 1)
            case tree.Arithmetic(operator, left, right):
                self._both(left, right)
                self._emit(ARITHMETIC[operator], 2)
            case tree.Call(function, arguments):
                for argument in arguments:
                    self._value(argument)
                self._emit(FUNCTIONS[function], len(arguments))
            case _:
                assert_never(node)

    def _id(self, name: tree.Name) -> int:
        number = self._numbered(name)
        if number is None:
            raise _NoColumn
        return number

    def _constant(self, kind: str, value: Any) -> None:
        if kind == "number":
            number, residue = encoded_number(value)
            self._emit(layout.CONSTANT, payload=bits(number), kind=layout.NUMBER, residue=residue)
        elif kind == "bool":
            self._emit(layout.CONSTANT, payload=int(value), kind=layout.BOOL)
        else:
            at = self._emit(layout.CONSTANT, payload=hash(value), kind=layout.STRING)
            data = value.encode()
            self._data.append((at, packed(data), len(data)))

    def _shape(self, node: tree.Shape) -> None:
        match node:
            case tree.Name("msg", _):
                self._emit(layout.CONSTANT)  # of kind 0 (absent): a message cannot hold a geometry
            case tree.Name(namespace, _):
                self._emit(NAMESPACES[namespace], self._id(node))
            case tree.Point(x, y):
                self._both(x, y)
                self._emit(layout.POINT)
            case tree.GeometryConstant(_, wkt):
                at = self._emit(layout.CONSTANT, kind=layout.SHAPE)
                self._data.append((at, np.array(geometry(wkt).bounds, np.float64).view(np.int64), -1))
            case _:
                assert_never(node)

    # boxes

    def _box_clause(self, clause: tree.Condition) -> bool:
        """Emit a clause as one box instruction, if there is one for its form; returns whether there is."""
        match clause:
            case tree.Compare(
                "<" | "<=" as operator, tree.Call("abs", (tree.Arithmetic("-", a, b),)), tree.Constant(_, c)
            ):
                return self._clause(layout.WITHIN_SPAN, operator, [(a, b)], c)
            case tree.Compare("<" | "<=" as operator, tree.Call("distance", (a, b, x, y)), tree.Constant(_, c)):
                return self._clause(layout.WITHIN_DISTANCE, operator, [(a, x), (b, y)], c)
            case tree.Compare("<" | "<=" as operator, tree.Call("geo_distance", (a, b, x, y)), tree.Constant(_, c)):
                return self._clause(layout.WITHIN_GEO, operator, [(a, x), (b, y)], c)
            case tree.Compare(
                "<" | "<=" | ">" | ">=" as operator, tree.Name("pub", _) as a, tree.Arithmetic() as right
            ):
                return self._shifted(operator, a, right)
            case tree.Compare("<" | "<=" | ">" | ">=" as operator, tree.Arithmetic() as left, tree.Name("pub", _) as a):
                return self._shifted(tree.FLIPPED[operator], a, left)
            case _:
                return False

    def _shifted(self, operator: str, a: tree.Name, right: tree.Arithmetic) -> bool:
        """Emit `pub.a <= this.b + c`; b - c is exactly b + (-c)."""
        match right:
            case tree.Arithmetic(
                "+" | "-" as sign, tree.Name("this", _) as b, tree.Constant("number", int() | float() as c)
            ):
                return self._clause(layout.SHIFTED, operator, [(a, b)], c if sign == "+" else -c)
            case _:
                return False

    def _clause(self, code: int, operator: str, pairs: list[tuple[tree.Value, tree.Value]], constant: Any) -> bool:
        if isinstance(constant, bool) or not isinstance(constant, int | float) or encoded_number(constant)[1]:
            return False
        pubs, columns = 0, 0
        for i, (a, b) in enumerate(pairs):
            first, second = (b, a) if isinstance(a, tree.Name) and a.namespace == "this" else (a, b)
            match first, second:
                case tree.Name("pub", _) as pub, tree.Name("this", _) as this:
                    if self._id(pub) >= SMALL:
                        return False
                    pubs |= self._id(pub) << 16 * i
                    columns |= self._id(this) << 16 * i
                case _:
                    return False
        self._emit(code, pubs, bits(float(constant)), columns | COMPARISONS[operator] << 48)
        return True
