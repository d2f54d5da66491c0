"""Pieces of expressions: the words they are written with, next to a closure that says what they mean.

A closure computes with plain Python over plain values, and is put together while the text is. It
knows no tree and no parser: what it says is the independent check of both. Precedence is used
here, never spelled out: parentheses stand only where they must, and now and then where they need not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import NamedTuple, TypeAlias

from silbo.testing import spelling
from silbo.testing.chance import seldom

Values: TypeAlias = Mapping[str, object]
NOTHING: Values = {}

MAX_TEXT, MAX_DEPTH, MAX_NODES, MAX_CONJUNCTIONS, MAX_CONSTRAINTS = 4_096, 32, 256, 64, 64


class Situation(NamedTuple):
    """What an expression sees: the message, the other side's context, and this side's own."""

    msg: Values
    other: Values
    this: Values


Judge: TypeAlias = Callable[[Situation], bool | None]
Compute: TypeAlias = Callable[[Situation], object]
Borderline: TypeAlias = Callable[[Situation], bool]
Used: TypeAlias = frozenset[tuple[str, str]]  # (namespace, name)

KINDS: Mapping[type, str] = {bool: "bool", int: "number", float: "number", str: "string"}
SUM, PRODUCT, UNARY, OPERAND = range(4)  # how tightly a value binds
OR, AND, NOT, ATOM = range(4)  # how tightly a condition binds


def kind_of(value: object) -> str | None:
    """The type of a scalar; None for an absent value, a set or a geometry."""
    return KINDS.get(type(value))


@dataclass(frozen=True, slots=True)
class ValuePiece:
    """A piece that has a value, or none (None) where it is absent or not finite."""

    tokens: tuple[str, ...]
    compute: Compute
    binding: int = OPERAND
    depth: int = 0
    nodes: int = 1
    names: Used = frozenset()
    constant: str | None = None  # the kind of a lone constant: some operators take only some

    def parenthesised(self) -> ValuePiece:
        """The same value in parentheses."""
        return replace(self, tokens=("(", *self.tokens, ")"), binding=OPERAND, depth=self.depth + 1)


@dataclass(frozen=True, slots=True)
class ConditionPiece:
    """A piece that is true, false or unknown (None).

    `disjunctive` counts the conjunctions, and the constraints of the longest, of a filter's
    disjunctive form; `negated` those of its negation. `borderline`, where there is one, says that a
    great-circle distance is too near its threshold for any engine to be held to it.
    """

    tokens: tuple[str, ...]
    judge: Judge
    binding: int = ATOM
    depth: int = 0
    nodes: int = 1
    names: Used = frozenset()
    disjunctive: tuple[int, int] = (1, 1)
    negated: tuple[int, int] = (1, 1)
    borderline: Borderline | None = None

    def parenthesised(self) -> ConditionPiece:
        """The same condition in parentheses."""
        return replace(self, tokens=("(", *self.tokens, ")"), binding=ATOM, depth=self.depth + 1)

    def fits_filter(self) -> bool:
        """Whether a filter may be as large as this."""
        conjunctions, constraints = self.disjunctive
        return conjunctions <= MAX_CONJUNCTIONS and constraints <= MAX_CONSTRAINTS and self._fits()

    def fits_function(self) -> bool:
        """Whether a function or scope may be as large as this."""
        return self.nodes <= MAX_NODES and self._fits()

    def _fits(self) -> bool:
        return self.depth <= MAX_DEPTH and len(spelling.dense_text(self.tokens)) <= MAX_TEXT

    def is_borderline(self, situation: Situation) -> bool:
        """Whether the situation is to be discarded."""
        return self.borderline is not None and self.borderline(situation)


def atom(tokens: Iterable[str], judge: Judge, *parts: ValuePiece, operators: int = 1) -> ConditionPiece:
    """A condition that consists of values and operators."""
    return ConditionPiece(
        tuple(tokens),
        judge,
        depth=max((part.depth for part in parts), default=0),
        nodes=sum(part.nodes for part in parts) + operators,
        names=frozenset().union(*(part.names for part in parts)),
    )


def negation(random: Random, operand: ConditionPiece) -> ConditionPiece:
    """`not`: binds tighter than `and`, so only chains need parentheses."""
    inner = operand if operand.binding >= NOT else operand.parenthesised()

    def judge(situation: Situation) -> bool | None:
        truth = operand.judge(situation)
        return None if truth is None else not truth

    return replace(
        inner,
        tokens=(spelling.keyword(random, "not"), *inner.tokens),
        judge=judge,
        binding=NOT,
        depth=inner.depth + 1,
        nodes=inner.nodes + 1,
        disjunctive=inner.negated,
        negated=inner.disjunctive,
    )


def all_of(random: Random, operands: Sequence[ConditionPiece]) -> ConditionPiece:
    """`a and b and …`: false if one is, else unknown if one is, else true."""
    joined = _joined(random, "and", AND, operands)
    return replace(
        joined,
        judge=_decided_by(False, [each.judge for each in operands]),
        disjunctive=_multiplied([each.disjunctive for each in operands]),
        negated=_added([each.negated for each in operands]),
    )


def any_of(random: Random, operands: Sequence[ConditionPiece]) -> ConditionPiece:
    """`a or b or …`: true if one is, else unknown if one is, else false."""
    joined = _joined(random, "or", OR, operands)
    return replace(
        joined,
        judge=_decided_by(True, [each.judge for each in operands]),
        disjunctive=_added([each.disjunctive for each in operands]),
        negated=_multiplied([each.negated for each in operands]),
    )


def _joined(random: Random, word: str, binding: int, operands: Sequence[ConditionPiece]) -> ConditionPiece:
    shown = [each if each.binding >= binding else each.parenthesised() for each in operands]
    tokens = [*shown[0].tokens]
    for each in shown[1:]:
        tokens += [spelling.keyword(random, word), *each.tokens]
    return ConditionPiece(
        tuple(tokens),
        shown[0].judge,
        binding=binding,
        depth=max(each.depth for each in shown),
        nodes=sum(each.nodes for each in shown) + len(shown) - 1,
        names=frozenset().union(*(each.names for each in shown)),
        borderline=_any_borderline([each.borderline for each in shown]),
    )


def _decided_by(decisive: bool, judges: list[Judge]) -> Judge:
    def judge(situation: Situation) -> bool | None:
        truths = {each(situation) for each in judges}
        if decisive in truths:
            return decisive
        return None if None in truths else not decisive

    return judge


def _added(sizes: list[tuple[int, int]]) -> tuple[int, int]:
    return sum(count for count, _ in sizes), max(length for _, length in sizes)


def _multiplied(sizes: list[tuple[int, int]]) -> tuple[int, int]:
    product = 1
    for count, _ in sizes:
        product *= count
    return product, sum(length for _, length in sizes)


def _any_borderline(judges: Iterable[Borderline | None]) -> Borderline | None:
    asked = [judge for judge in judges if judge is not None]
    return (lambda situation: any(judge(situation) for judge in asked)) if asked else None


def composed(random: Random, draw: Callable[[], ConditionPiece], atoms: int) -> ConditionPiece:
    """About so many atoms joined by `and`, `or` and `not`, in any shape."""
    if atoms == 1:
        condition = draw()
    else:
        parts = [composed(random, draw, share) for share in _shares(random, atoms)]
        condition = random.choice((all_of, any_of))(random, parts)
    if seldom(random, 0.15):
        condition = negation(random, condition)
    while seldom(random, 0.12):
        condition = condition.parenthesised()
    return condition


def _shares(random: Random, atoms: int) -> list[int]:
    count = random.randint(2, min(atoms, 4))
    shares = [1] * count
    for _ in range(atoms - count):
        shares[random.randrange(count)] += 1
    return shares
