"""What constraints permit one attribute to be: absent, a number, a string or a bool, and which ones.

A constraint permits only what makes it true: a comparison nothing but values of its constant's type,
negated or not, and only `not exists` that the attribute is absent.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import and_
from typing import assert_never

from silbo.language.tree import Compare, Constant, Exists, In, Pattern, Truth
from silbo.matching.normal_form import Constraint
from silbo.matching.ranges import NUMBERS, STRINGS, Ranges, compared, everything, nothing, one_of
from silbo.matching.strings import Strings, matching, narrowed


# compared by identity, so that what was found out about two of them can be remembered cheaply
@dataclass(frozen=True, slots=True, eq=False)
class Permitted:
    """Everything that an attribute may be."""

    absent: bool
    numbers: Ranges[float]
    strings: Strings
    bools: frozenset[bool]

    def __bool__(self) -> bool:
        return self.absent or bool(self.bools) or bool(self.numbers) or bool(self.strings)

    def overlaps(self, other: Permitted) -> bool:
        """Whether both permit something that is the same."""
        return (
            (self.absent and other.absent)
            or not self.bools.isdisjoint(other.bools)
            or self.numbers.overlaps(other.numbers)
            or self.strings.overlaps(other.strings)
        )

    def inside(self, other: Permitted) -> bool:
        """Whether the other permits everything that this one does."""
        return (
            (other.absent or not self.absent)
            and self.bools <= other.bools
            and not self.numbers.overlaps(~other.numbers)
            and self.strings.inside(other.strings)
        )


BOOLS = frozenset((True, False))
NOTHING = Permitted(False, nothing(NUMBERS), Strings(nothing(STRINGS)), frozenset())
ANYTHING = Permitted(True, everything(NUMBERS), Strings(everything(STRINGS)), BOOLS)
PRESENT = replace(ANYTHING, absent=False)
ABSENT = replace(NOTHING, absent=True)


def permitted(constraint: Constraint) -> Permitted:
    """What one constraint permits its attribute to be."""
    match constraint.atom:
        case Truth(value):
            return NOTHING if value is constraint.negated else ANYTHING
        case Exists():
            return ABSENT if constraint.negated else PRESENT
        case Compare(operator, _, Constant(_, bool() as value)):
            return _bools({value}, negated=constraint.negated is not (operator == "!="))
        case Compare(operator, _, Constant(_, str() as value)):
            return _strings(compared(STRINGS, operator, value), negated=constraint.negated)
        case Compare(operator, _, Constant(_, int() | float() as value)):
            return _numbers(compared(NUMBERS, operator, value), negated=constraint.negated)
        case Pattern(operator, _, Constant(_, str() as text)):
            return replace(NOTHING, strings=matching(operator, text, negated=constraint.negated))
        case In(_, tuple() as members):
            return _one_of(members, negated=constraint.negated)
        case _:
            raise AssertionError(f"no filter holds {constraint.atom}")


def _one_of(members: tuple[Constant, ...], *, negated: bool) -> Permitted:
    values = [member.value for member in members]
    match members[0].kind:
        case "bool":
            return _bools({value for value in values if isinstance(value, bool)}, negated=negated)
        case "string":
            strings = (value for value in values if isinstance(value, str))
            return _strings(one_of(STRINGS, strings), negated=negated)
        case "number":
            numbers = (value for value in values if not isinstance(value, str))
            return _numbers(one_of(NUMBERS, numbers), negated=negated)
        case kind:
            assert_never(kind)


def _bools(values: set[bool], *, negated: bool) -> Permitted:
    return replace(NOTHING, bools=BOOLS - values if negated else frozenset(values))


def _numbers(ranges: Ranges[float], *, negated: bool) -> Permitted:
    return replace(NOTHING, numbers=~ranges if negated else ranges)


def _strings(ranges: Ranges[str], *, negated: bool) -> Permitted:
    return replace(NOTHING, strings=Strings(~ranges if negated else ranges))


def common(several: Sequence[Permitted]) -> Permitted:
    """What all of them permit."""
    if len(several) == 1:
        return several[0]
    return Permitted(
        absent=all(each.absent for each in several),
        numbers=reduce(and_, (each.numbers for each in several)),
        strings=_common_strings([each.strings for each in several]),
        bools=reduce(and_, (each.bools for each in several)),
    )


def _common_strings(several: Sequence[Strings]) -> Strings:
    # all at once: with one after the other, each would try the fragments of those before on a long list again
    fragments = dict.fromkeys(fragment for each in several for fragment in each.fragments)
    return narrowed(reduce(and_, (each.ranges for each in several)), tuple(fragments))
