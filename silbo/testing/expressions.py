"""Random expressions, each as a pair: its text, and a closure that says what the text means.

Filters, context functions and scopes are drawn with all of their syntax, within every bound. The
closure shares no code with `silbo.language` or the oracle: if a grammar, an evaluator or an engine
disagrees with it, one of them is wrong.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from silbo.testing import pools, spelling
from silbo.testing.arithmetic import Vocabulary
from silbo.testing.chance import seldom
from silbo.testing.filters import filter_atom
from silbo.testing.fragments import MAX_DEPTH, MAX_TEXT, NOTHING, ConditionPiece, Situation, Values, composed
from silbo.testing.functions import function_atom

FUNCTION_WORDS = Vocabulary(
    {"pub": tuple(pools.VARIABLES), "this": tuple(pools.VARIABLES), "msg": tuple(pools.ATTRIBUTES)}
)
SCOPE_WORDS = Vocabulary(
    {"sub": tuple(pools.VARIABLES), "this": tuple(pools.VARIABLES), "msg": tuple(pools.ATTRIBUTES)}
)


@dataclass(frozen=True, slots=True)
class Pair:
    """An expression's text and its meaning over plain values (a set is a list, a geometry a `Geometry`)."""

    text: str
    condition: ConditionPiece

    def truth(self, msg: Values, other: Values = NOTHING, this: Values = NOTHING) -> bool | None:
        """True, False, or None for unknown.

        `other` is the publisher's context for a function and the subscriber's for a scope, `this` the
        own one; a filter sees the message alone.
        """
        return self.condition.judge(Situation(msg, other, this))

    def is_borderline(self, msg: Values, other: Values = NOTHING, this: Values = NOTHING) -> bool:
        """Whether a `geo_distance` is within 1 mm of its threshold or near the antipode: discard the case."""
        return self.condition.is_borderline(Situation(msg, other, this))


def filter_pair(random: Random, atoms: int | None = None) -> Pair:
    """A content filter of about so many constraints."""
    return written(random, filter_condition(random, atoms))


def function_pair(random: Random, atoms: int | None = None, words: Vocabulary = FUNCTION_WORDS) -> Pair:
    """A context function of about so many atoms, over the names of a vocabulary."""
    return written(random, function_condition(random, atoms, words))


def scope_pair(random: Random, atoms: int | None = None, words: Vocabulary = SCOPE_WORDS) -> Pair:
    """A scope of about so many atoms, over the names of a vocabulary."""
    return written(random, function_condition(random, atoms, words))


def written(random: Random, condition: ConditionPiece) -> Pair:
    """A condition with its text; another call may choose other blanks."""
    text = spelling.text(random, condition.tokens)
    if len(text) > MAX_TEXT:
        text = spelling.dense_text(condition.tokens)
    return Pair(text, condition)


def filter_condition(random: Random, atoms: int | None = None) -> ConditionPiece:
    """What a filter is written from; others can be derived from it."""
    return _fitting(random, atoms, lambda: filter_atom(random), ConditionPiece.fits_filter)


def function_condition(random: Random, atoms: int | None = None, words: Vocabulary = FUNCTION_WORDS) -> ConditionPiece:
    """What a context function or scope is written from."""
    return _fitting(random, atoms, lambda: function_atom(random, words), ConditionPiece.fits_function)


def _fitting(
    random: Random, atoms: int | None, draw: Callable[[], ConditionPiece], fits: Callable[[ConditionPiece], bool]
) -> ConditionPiece:
    while True:
        condition = _deepened(random, composed(random, draw, atoms or _atoms(random)))
        if fits(condition):
            return condition


def _atoms(random: Random) -> int:
    draw = random.random()
    if draw < 0.3:
        return 1
    if draw < 0.8:
        return random.randint(2, 4)
    return random.randint(5, 10) if draw < 0.97 else random.randint(11, 60)


def _deepened(random: Random, condition: ConditionPiece) -> ConditionPiece:
    """Now and then in as many parentheses as the bound on depth allows."""
    if seldom(random, 0.01):
        while condition.depth < MAX_DEPTH:
            condition = condition.parenthesised()
    return condition
