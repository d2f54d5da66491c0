"""Atoms of content filters: one attribute against constants, in every form that the language has."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from silbo.testing import pools, spelling
from silbo.testing.arithmetic import constant, loosened
from silbo.testing.chance import picked, seldom
from silbo.testing.fragments import ConditionPiece, Situation, ValuePiece, atom
from silbo.testing.operators import EQUALITY, MIRRORED, ORDER, PATTERNS, compared, member, patterned


def filter_atom(random: Random) -> ConditionPiece:
    """One constraint."""
    draw = random.random()
    if draw < 0.55:
        return _comparison(random)
    if draw < 0.7:
        return _pattern(random)
    if draw < 0.86:
        return _membership(random)
    if draw < 0.96:
        return exists(random, _attribute(random, _name(random)[0]))
    return truth_constant(random)


def _name(random: Random) -> tuple[str, str]:
    """An attribute and the kind that its constants mostly have."""
    usual = [name for name in pools.ATTRIBUTES if name not in pools.ODD]
    name = picked(random, usual, list(pools.ATTRIBUTES), 0.3)
    kind = pools.ATTRIBUTES[name]
    return name, random.choice(pools.PLAIN_KINDS) if seldom(random, 0.05) else kind


def _attribute(random: Random, name: str) -> ValuePiece:
    token = spelling.attribute(random, name)
    return ValuePiece((token,), lambda situation: situation.msg.get(name), names=frozenset([("msg", name)]))


def _comparison(random: Random) -> ConditionPiece:
    name, kind = _name(random)
    # order never takes a bool constant
    operators = EQUALITY if kind == "bool" else picked(random, [ORDER], [EQUALITY], 0.5)
    left = loosened(random, _attribute(random, name))
    right = loosened(random, constant(random, pools.scalar(random, kind)))
    return comparison(random, random.choice(operators), left, right)


def comparison(random: Random, operator: str, left: ValuePiece, right: ValuePiece) -> ConditionPiece:
    """Two values and an operator, now and then written from the right to the left."""

    def judge(situation: Situation) -> bool | None:
        return compared(operator, left.compute(situation), right.compute(situation))

    if seldom(random, 0.25):
        return atom((*right.tokens, MIRRORED[operator], *left.tokens), judge, left, right)
    return atom((*left.tokens, operator, *right.tokens), judge, left, right)


def _pattern(random: Random) -> ConditionPiece:
    left = _attribute(random, random.choice([name for name, kind in pools.ATTRIBUTES.items() if kind == "string"]))
    right = constant(random, pools.scalar(random, "string"))
    return pattern(random, loosened(random, left), loosened(random, right))


def pattern(random: Random, left: ValuePiece, right: ValuePiece) -> ConditionPiece:
    """Two strings and one of `prefix suffix contains`."""
    operator = random.choice(PATTERNS)

    def judge(situation: Situation) -> bool | None:
        return patterned(operator, left.compute(situation), right.compute(situation))

    return atom((*left.tokens, spelling.keyword(random, operator), *right.tokens), judge, left, right)


def _membership(random: Random) -> ConditionPiece:
    name, kind = _name(random)
    return membership(random, loosened(random, _attribute(random, name)), constants(random, kind))


def constants(random: Random, kind: str) -> ValuePiece:
    """The list of `in`, with parentheses around some members; the list itself adds no level of depth."""
    count = 300 if seldom(random, 0.01) else random.choice((1, 2, 2, 3, 3, 4, 6, 40))
    members = [pools.scalar(random, kind) for _ in range(count)]
    written = [loosened(random, constant(random, member)) for member in members]
    tokens = ["("]
    for i, each in enumerate(written):
        tokens += [*([","] if i else []), *each.tokens]
    return ValuePiece((*tokens, ")"), lambda _: members, depth=max(each.depth for each in written))


def membership(random: Random, left: ValuePiece, members: ValuePiece) -> ConditionPiece:
    """`in` or `not in` a list or a set."""
    negated = seldom(random, 0.3)
    words: Sequence[str] = ("not", "in") if negated else ("in",)

    def judge(situation: Situation) -> bool | None:
        truth = member(left.compute(situation), members.compute(situation))
        return not truth if negated and truth is not None else truth

    tokens = (*left.tokens, *(spelling.keyword(random, word) for word in words), *members.tokens)
    return atom(tokens, judge, left, members, operators=len(words))


def exists(random: Random, name: ValuePiece) -> ConditionPiece:
    """`exists x`, `exists(x)`, `exists((x))`."""
    shown = name
    while seldom(random, 0.4):
        shown = shown.parenthesised()
    tokens = (spelling.keyword(random, "exists"), *shown.tokens)
    return atom(tokens, lambda situation: name.compute(situation) is not None, shown)


def truth_constant(random: Random) -> ConditionPiece:
    """`true` or `false` as an atom."""
    value = not seldom(random, 0.5)
    return atom((spelling.keyword(random, "true" if value else "false"),), lambda _: value)
