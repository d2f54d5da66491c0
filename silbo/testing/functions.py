"""Atoms of context functions and scopes: comparisons of any two values, membership, bools, places."""

from __future__ import annotations

from random import Random

from silbo.testing import pools
from silbo.testing.arithmetic import Vocabulary, binary, called, constant, negative, numeric, operand, variable
from silbo.testing.chance import seldom
from silbo.testing.filters import comparison, constants, exists, membership, pattern, truth_constant
from silbo.testing.fragments import ConditionPiece, Situation, ValuePiece, atom
from silbo.testing.operators import EQUALITY, ORDER
from silbo.testing.places import geo_comparison, spatial


def function_atom(random: Random, words: Vocabulary) -> ConditionPiece:
    """One atom over the names of a vocabulary."""
    draw = random.random()
    if draw < 0.34:
        return _comparison(random, words)
    if draw < 0.37:
        return _rounded(random)
    if draw < 0.48:
        return _near(random, words)
    if draw < 0.55:
        return pattern(random, _string(random, words), _string(random, words))
    if draw < 0.68:
        return _membership(random, words)
    if draw < 0.77:
        return _holds(random, words)
    if draw < 0.83:
        return exists(random, variable(random, *words.pick(random, *pools.CONTEXT_KINDS)))
    if draw < 0.9:
        return geo_comparison(random, words)
    if draw < 0.97:
        return spatial(random, words)
    return truth_constant(random)


def _comparison(random: Random, words: Vocabulary) -> ConditionPiece:
    kind = random.choice(("number", "number", "number", "string", "bool"))
    left, right = operand(random, words, kind), operand(random, words, kind)
    if seldom(random, 0.05):  # two types that never fit
        right = operand(random, words, random.choice(pools.PLAIN_KINDS))
    # order never takes a bool constant
    ordered = "bool" not in (left.constant, right.constant) and not seldom(random, 0.4)
    return comparison(random, random.choice(ORDER if ordered else EQUALITY), left, right)


def _rounded(random: Random) -> ConditionPiece:
    """Arithmetic on integers that no double holds, compared exactly: `abs(9007199254740993) = 9007199254740993`."""
    big, other = (constant(random, random.choice(pools.BIG_NUMBERS)) for _ in range(2))
    value = random.choice(
        (
            called(random, "abs", [big]),
            called(random, random.choice(("min", "max")), [big, other]),
            binary(random.choice("+-"), big, constant(random, random.choice((0, 1)))),
            negative(random, big),
        )
    )
    return comparison(random, random.choice((*EQUALITY, *ORDER)), value, other)


def _near(random: Random, words: Vocabulary) -> ConditionPiece:
    """`abs(pub.x - this.x) <= 20`, the form that most users write."""
    there = variable(random, *words.pick(random, "number", namespaces=words.contexts()))
    here = variable(random, *words.pick(random, "number", namespaces=["this"]))
    span = called(random, "abs", [binary("-", there, here)])
    return comparison(random, random.choice(("<=", "<=", "<")), span, constant(random, pools.scalar(random, "number")))


def _string(random: Random, words: Vocabulary) -> ValuePiece:
    value = operand(random, words, "string")
    if value.constant is None and seldom(random, 0.05):
        return binary("+", value, numeric(random, words, 1))  # a number where a string is needed: unknown, not an error
    return value


def _membership(random: Random, words: Vocabulary) -> ConditionPiece:
    kind = random.choice(pools.PLAIN_KINDS)
    left = operand(random, words, kind)
    if not seldom(random, 0.5):
        return membership(random, left, constants(random, kind))
    wanted = next(each for each, of in pools.SETS.items() if of == kind)
    return membership(random, left, variable(random, *words.pick(random, wanted, namespaces=words.contexts())))


def _holds(random: Random, words: Vocabulary) -> ConditionPiece:
    """A name alone: a bool, else unknown."""
    name = variable(random, *words.pick(random, "bool"))

    def judge(situation: Situation) -> bool | None:
        value = name.compute(situation)
        return value if isinstance(value, bool) else None

    return atom(name.tokens, judge, name, operators=0)
