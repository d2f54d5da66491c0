"""Sets of numbers and of strings that are unions of intervals, with an exact algebra.

Both domains have a least value and, after every value but the last, a next one, so every interval is
half-open, `[from, to)`, and `x > 1` is the interval that begins with the next number after 1. A set is
stored as the sorted values where membership changes. `suffix` and `contains` are not intervals;
`strings` handles them.
"""

from __future__ import annotations

import math
import sys
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

from silbo.exhaustive import assert_never
from silbo.language.tree import ComparisonOperator
from silbo.model.values import LARGEST_INT, SMALLEST_INT

T = TypeVar("T", float, str)

NUL = "\0"


@dataclass(frozen=True, slots=True)
class Domain(Generic[T]):
    """An ordered type: its least value, and the next value after a given one (None after the last)."""

    least: T
    after: Callable[[T], T | None]


@dataclass(frozen=True, slots=True)
class Ranges(Generic[T]):
    """The values from the first cut up to the second, from the third up to the fourth, and so on.

    An odd number of cuts leaves the last interval without an end. No two cuts are equal, so equal sets
    have equal cuts, and intervals that touch are one.
    """

    domain: Domain[T]
    cuts: tuple[T, ...]

    def __bool__(self) -> bool:
        return bool(self.cuts)

    def __invert__(self) -> Ranges[T]:
        least = self.domain.least
        begins_with_least = bool(self.cuts) and self.cuts[0] == least
        return Ranges(self.domain, self.cuts[1:] if begins_with_least else (least,) + self.cuts)  # noqa: RUF005  # mypy does not accept a star here

    def __and__(self, other: Ranges[T]) -> Ranges[T]:
        few, many = self._by_size(other)
        cuts: list[T] = []
        for start, stop in few.intervals():
            first, last = many._between(start, stop)
            if first % 2:
                cuts.append(start)
            cuts.extend(many.cuts[first:last])
            if last % 2 and stop is not None:
                cuts.append(stop)
        return Ranges(self.domain, tuple(cuts))

    def overlaps(self, other: Ranges[T]) -> bool:
        """Whether the two have a value in common."""
        few, many = self._by_size(other)
        for start, stop in few.intervals():
            first, last = many._between(start, stop)
            if first % 2 or first < last:
                return True
        return False

    def intervals(self) -> Iterator[tuple[T, T | None]]:
        """Each interval's first value, and the value before which it stops (None: it has no end)."""
        for i in range(0, len(self.cuts) - 1, 2):
            yield self.cuts[i], self.cuts[i + 1]
        if len(self.cuts) % 2:
            yield self.cuts[-1], None

    def _by_size(self, other: Ranges[T]) -> tuple[Ranges[T], Ranges[T]]:
        """The one with fewer cuts first: its intervals are looked up in the other, which may be a list of 1,000."""
        return (self, other) if len(self.cuts) <= len(other.cuts) else (other, self)

    def _between(self, start: T, stop: T | None) -> tuple[int, int]:
        """The cuts inside an interval, as a slice; an odd index means that the value there is in the set."""
        last = len(self.cuts) if stop is None else bisect_left(self.cuts, stop)
        return bisect_right(self.cuts, start), last


def nothing(domain: Domain[T]) -> Ranges[T]:
    """The empty set."""
    return Ranges(domain, ())


def everything(domain: Domain[T]) -> Ranges[T]:
    """All values of the domain."""
    return Ranges(domain, (domain.least,))


def one_of(domain: Domain[T], values: Iterable[T]) -> Ranges[T]:
    """Exactly these values."""
    cuts: list[T] = []
    for value in sorted(set(values)):
        if cuts and cuts[-1] == value:
            cuts.pop()
        else:
            cuts.append(value)
        following = domain.after(value)
        if following is not None:
            cuts.append(following)
    return Ranges(domain, tuple(cuts))


def compared(domain: Domain[T], operator: ComparisonOperator, value: T) -> Ranges[T]:
    """The values for which the comparison with this one is true."""
    match operator:
        case "=":
            return one_of(domain, (value,))
        case "!=":
            return ~one_of(domain, (value,))
        case ">=":
            return Ranges(domain, (value,))
        case "<":
            return ~Ranges(domain, (value,))
        case ">":
            return _above(domain, value)
        case "<=":
            return ~_above(domain, value)
        case _:
            assert_never(operator)


def _above(domain: Domain[T], value: T) -> Ranges[T]:
    following = domain.after(value)
    return nothing(domain) if following is None else Ranges(domain, (following,))


def next_number(value: float) -> float | None:
    """The next number after a value. Beyond 2^53 an int may lie between two doubles."""
    double = float(value)  # for an int, the nearest double, which may be less or greater
    if double <= value:
        double = math.nextafter(double, math.inf)
    whole = math.floor(value) + 1
    if SMALLEST_INT <= whole <= LARGEST_INT:
        return min(whole, double)
    return double if double < math.inf else None


def next_string(value: str) -> str:
    """The next string after a value, in code point order."""
    return value + NUL


def next_character(character: str) -> str | None:
    """The next code point, without the surrogates, which are not characters; None after the last."""
    if character == "\U0010ffff":
        return None
    return "\ue000" if character == "\ud7ff" else chr(ord(character) + 1)


NUMBERS: Domain[float] = Domain(-sys.float_info.max, next_number)
STRINGS: Domain[str] = Domain("", next_string)


def beginning_with(prefix: str) -> Ranges[str]:
    """The strings with this prefix: from the prefix up to the first string that is greater than all of them."""
    stem = prefix.rstrip("\U0010ffff")
    if not stem:
        return Ranges(STRINGS, (prefix,))
    following = next_character(stem[-1])
    assert following is not None
    return Ranges(STRINGS, (prefix, stem[:-1] + following))
