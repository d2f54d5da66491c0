"""Values in functions and scopes: names, constants, and arithmetic over them, with what they compute.

Operands become doubles first, the tree is evaluated as it is written, and what is not finite is no
value. Products stand in sums without parentheses, and signs stand close, so that a wrong precedence
or a wrong sign rule gives another number.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import TypeAlias, cast

from silbo.testing import pools, spelling
from silbo.testing.chance import picked, seldom
from silbo.testing.fragments import OPERAND, PRODUCT, SUM, UNARY, Compute, Situation, ValuePiece, kind_of

Calculate: TypeAlias = Callable[..., float | None]


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The names that an expression may use, by namespace: `pub` or `sub`, `this`, `msg`."""

    names: Mapping[str, Sequence[str]]

    def contexts(self) -> list[str]:
        """The namespaces whose values may be sets and geometries."""
        return [namespace for namespace in self.names if namespace != "msg"]

    def pick(self, random: Random, *kinds: str, namespaces: Iterable[str] = ()) -> tuple[str, str]:
        """A namespace and a name in it, mostly one whose values are of one of the kinds."""
        allowed = [each for each in namespaces or self.names if self.names.get(each)]
        namespace = random.choice(allowed)
        fitting = [name for name in self.names[namespace] if _kind(namespace, name) in kinds]
        usual = [name for name in fitting if name not in pools.ODD] or fitting
        if not fitting or seldom(random, 0.06):
            return namespace, random.choice(self.names[namespace])
        return namespace, picked(random, usual, fitting, 0.3)


def _kind(namespace: str, name: str) -> str | None:
    return (pools.ATTRIBUTES if namespace == "msg" else pools.VARIABLES).get(name)


def constant(random: Random, value: pools.Scalar) -> ValuePiece:
    """A constant, as exact as it is written."""
    return ValuePiece((spelling.constant(random, value),), lambda _: value, constant=kind_of(value))


def variable(random: Random, namespace: str, name: str) -> ValuePiece:
    """A name in one of the namespaces."""
    token = spelling.variable(random, namespace, name)
    return ValuePiece((token,), look(namespace, name), names=frozenset([(namespace, name)]))


def look(namespace: str, name: str) -> Compute:
    """What a name has in a situation, None where it is absent."""
    if namespace == "msg":
        return lambda situation: situation.msg.get(name)
    if namespace == "this":
        return lambda situation: situation.this.get(name)
    return lambda situation: situation.other.get(name)


def loosened(random: Random, value: ValuePiece) -> ValuePiece:
    """The value, now and then in parentheses: they change nothing and make nothing arithmetic."""
    while seldom(random, 0.08):
        value = value.parenthesised()
    return value


def operand(random: Random, words: Vocabulary, kind: str) -> ValuePiece:
    """Something that mostly is of a kind: a name, a constant, or for numbers a calculation."""
    draw = random.random()
    if kind == "number" and draw > 0.55:
        return numeric(random, words, random.choice((1, 2, 2, 3, 4, 6)))
    if draw < 0.4:
        return loosened(random, variable(random, *words.pick(random, kind)))
    return loosened(random, constant(random, pools.scalar(random, kind)))


def numeric(random: Random, words: Vocabulary, size: int) -> ValuePiece:
    """A number calculated from about so many names and constants."""
    if size == 1:
        return _leaf(random, words)
    draw = random.random()
    if draw < 0.6:
        value = _binary(random, words, size)
    elif draw < 0.75:
        value = negative(random, numeric(random, words, size - 1))
    else:
        value = _call(random, words, size)
    return loosened(random, value)


def _leaf(random: Random, words: Vocabulary) -> ValuePiece:
    if random.random() < 0.6:
        return loosened(random, variable(random, *words.pick(random, "number")))
    return loosened(random, constant(random, pools.scalar(random, "number")))


def _binary(random: Random, words: Vocabulary, size: int) -> ValuePiece:
    share = random.randint(1, size - 1)
    left, right = numeric(random, words, share), numeric(random, words, size - share)
    return binary(random.choice("+-*/"), left, right)


def binary(operator: str, left: ValuePiece, right: ValuePiece) -> ValuePiece:
    """Two operands; the left may bind as loosely as the operator, the right must bind tighter."""
    binding = SUM if operator in "+-" else PRODUCT
    left = left if left.binding >= binding else left.parenthesised()
    right = right if right.binding > binding else right.parenthesised()
    return _calculated((*left.tokens, operator, *right.tokens), BINARY[operator], [left, right], binding)


def negative(random: Random, inner: ValuePiece) -> ValuePiece:
    """Unary minus: before a digit a blank keeps it from becoming a part of the number."""
    inner = inner if inner.binding >= UNARY else inner.parenthesised()
    sign = "-" + random.choice((" ", "\n", "\t")) if inner.tokens[0][0].isdigit() else "-"
    value = _calculated((sign, *inner.tokens), lambda a: -a, [inner], UNARY)
    return replace(value, depth=inner.depth + 1)


def _call(random: Random, words: Vocabulary, size: int) -> ValuePiece:
    function = random.choice(("abs", "abs", "min", "max", "sqrt", "distance"))
    count = {"abs": 1, "sqrt": 1, "distance": 4}.get(function) or random.choice((2, 2, 3, 5, 12))
    each = max(1, size // count - 1)
    return called(random, function, [numeric(random, words, each) for _ in range(count)])


def called(random: Random, function: str, arguments: Sequence[ValuePiece]) -> ValuePiece:
    """A call of a numeric function."""
    value = _calculated(call_tokens(random, function, arguments), CALLS[function], arguments, OPERAND)
    return replace(value, depth=value.depth + 1)


def call_tokens(random: Random, function: str, arguments: Sequence[ValuePiece]) -> tuple[str, ...]:
    """The function's name in any case, and its arguments in parentheses."""
    tokens = [spelling.keyword(random, function), "("]
    for i, argument in enumerate(arguments):
        tokens += [*([","] if i else []), *argument.tokens]
    return (*tokens, ")")


def _calculated(tokens: Iterable[str], calculate: Calculate, parts: Sequence[ValuePiece], binding: int) -> ValuePiece:
    return ValuePiece(
        tuple(tokens),
        on_doubles(calculate, [part.compute for part in parts]),
        binding=binding,
        depth=max(part.depth for part in parts),
        nodes=sum(part.nodes for part in parts) + 1,
        names=frozenset().union(*(part.names for part in parts)),
    )


def on_doubles(calculate: Calculate, computes: Sequence[Compute]) -> Compute:
    """A calculation over numbers as doubles; None for other operands, or if the result is not finite."""

    def compute(situation: Situation) -> float | None:
        values = [each(situation) for each in computes]
        if any(kind_of(value) != "number" for value in values):
            return None
        result = calculate(*(float(cast("float", value)) for value in values))
        return result if result is not None and math.isfinite(result) else None

    return compute


def _distance(x1: float, y1: float, x2: float, y2: float) -> float:
    return math.sqrt((x2 - x1) * (x2 - x1) + (y2 - y1) * (y2 - y1))


EARTH_RADIUS = 6371008.8  # metres


def haversine(lon1: float, lat1: float, lon2: float, lat2: float) -> float:
    """Of the angle between two places on the sphere, in degrees; past a pole it may be negative."""
    phi1, phi2 = math.radians(lat1), math.radians(lat2)
    u = math.sin((phi1 - phi2) / 2)
    v = math.sin((math.radians(lon1) - math.radians(lon2)) / 2)
    return u * u + math.cos(phi1) * math.cos(phi2) * (v * v)


def _geo_distance(*degrees: float) -> float | None:
    a = haversine(*degrees)
    return 2 * EARTH_RADIUS * math.asin(math.sqrt(min(1.0, a))) if a >= 0 else None


BINARY: Mapping[str, Calculate] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a / b if b else None,
}
CALLS: Mapping[str, Calculate] = {
    "abs": math.fabs,
    "min": lambda *numbers: min(numbers),
    "max": lambda *numbers: max(numbers),
    "sqrt": lambda a: math.sqrt(a) if a >= 0 else None,
    "distance": _distance,
    "geo_distance": _geo_distance,
}
