"""The values that constraints permit an attribute: which numbers, strings and bools, and whether it may be absent.

A constraint permits only the values that make it true. A comparison, negated or not, permits only values of its
constant's type, and only `not exists` permits that the attribute is absent.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import and_

from silbo.exhaustive import assert_never
from silbo.language.tree import Compare, Constant, Exists, In, Pattern, Truth
from silbo.matching.covering.ranges import NUMBERS, STRINGS, Ranges, compared, everything, nothing, one_of
from silbo.matching.covering.string_sets import Strings, matching, narrowed
from silbo.matching.normal_form import Constraint


# compared by identity, so that results about pairs of them can be cached cheaply
@dataclass(frozen=True, slots=True, eq=False)
class Permitted:
    """The set of values that an attribute may have."""

    absent: bool
    numbers: Ranges[float]
    strings: Strings
    bools: frozenset[bool]

    def __bool__(self) -> bool:
        return self.absent or bool(self.bools) or bool(self.numbers) or bool(self.strings)

    def overlaps(self, other: Permitted) -> bool:
        """Whether both permit a common value."""
        return (
            (self.absent and other.absent)
            or not self.bools.isdisjoint(other.bools)
            or self.numbers.overlaps(other.numbers)
            or self.strings.overlaps(other.strings)
        )

    def inside(self, other: Permitted) -> bool:
        """Whether the other permits every value that this one permits."""
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
    """The values that one constraint permits its attribute."""
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
            raise AssertionError(f"a filter cannot contain {constraint.atom}")


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
    """The values that all of them permit."""
    if len(several) == 1:
        return several[0]
    return Permitted(
        absent=all(each.absent for each in several),
        numbers=reduce(and_, (each.numbers for each in several)),
        strings=_common_strings([each.strings for each in several]),
        bools=reduce(and_, (each.bools for each in several)),
    )


def _common_strings(several: Sequence[Strings]) -> Strings:
    # all at once: one after the other would test the earlier fragments on a long list again each time
    fragments = dict.fromkeys(fragment for each in several for fragment in each.fragments)
    return narrowed(reduce(and_, (each.ranges for each in several)), tuple(fragments))
