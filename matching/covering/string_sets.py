"""Sets of strings: a union of intervals, narrowed by `suffix` and `contains` and their negations.

All questions reduce to whether such a set is empty. An interval is finite exactly if it is
`[s, s + NUL * n)`, and then holds s, s + NUL, and so on. Any other interval holds all extensions of some
string, and among them strings that end with a given text, that contain it, and that do not end with it.
So the answer is exact for intervals and one fragment, and for two fragments; with more, an empty set may
be taken for one that is not empty.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, TypeAlias

from silbo.language.tree import PatternOperator
from silbo.matching.covering.ranges import (
    NUL,
    STRINGS,
    Ranges,
    beginning_with,
    everything,
    next_character,
    nothing,
    one_of,
)

Interval: TypeAlias = tuple[str, str | None]

ALL = everything(STRINGS)


@dataclass(frozen=True, slots=True)
class Fragment:
    """A text, not empty, that a string must or, negated, must not end with or contain."""

    operator: Literal["suffix", "contains"]
    text: str
    negated: bool

    def __invert__(self) -> Fragment:
        return Fragment(self.operator, self.text, not self.negated)

    def among(self, strings: list[str]) -> list[str]:
        """The strings in the list that satisfy the fragment."""
        text, wanted = self.text, not self.negated
        if self.operator == "contains":
            return [string for string in strings if (text in string) is wanted]
        return [string for string in strings if string.endswith(text) is wanted]

    def excludes(self, other: Fragment) -> bool:
        """Whether no string at all satisfies both fragments. This one must not be negated."""
        if other.negated:
            return self._entails(other)
        both_end = self.operator == other.operator == "suffix"
        return both_end and not self.text.endswith(other.text) and not other.text.endswith(self.text)

    def _entails(self, other: Fragment) -> bool:
        """Whether every string that satisfies this fragment also satisfies the other, negations ignored."""
        if other.operator == "contains":
            return other.text in self.text
        return self.operator == "suffix" and self.text.endswith(other.text)


@dataclass(frozen=True)  # no slots, because of the cached property
class Strings:
    """The strings of the ranges that satisfy every fragment; `narrowed` creates them."""

    ranges: Ranges[str]
    fragments: tuple[Fragment, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.ranges)

    def overlaps(self, other: Strings) -> bool:
        """Whether they have a string in common."""
        if not self.ranges or not other.ranges:
            return False
        if not self.fragments and not other.fragments:
            return self.ranges.overlaps(other.ranges)
        if _exclude(self.fragments, other.fragments) or _exclude(other.fragments, self.fragments):
            return False
        # the other's fragments first: the strings of a list in this one satisfy its own fragments already
        fragments = other.fragments + self.fragments
        both = self if other.ranges is ALL else Strings(self.ranges & other.ranges)
        return next(both._remaining(fragments), None) is not None

    def inside(self, other: Strings) -> bool:
        """Whether the other set contains every string of this one."""
        if self.overlaps(Strings(~other.ranges)):
            return False
        return not any(self.overlaps(Strings(ALL, (~fragment,))) for fragment in other.fragments)

    def _remaining(self, fragments: tuple[Fragment, ...]) -> Iterator[Interval]:
        """Yield the intervals that fragments leave of the ranges, in no order.

        An infinite interval may still contain strings that do not satisfy the fragments.
        """
        listed, others = self._parts
        for fragment in fragments:
            listed = fragment.among(listed)
            if not listed:
                break
        yield from ((string, string + NUL) for string in listed)
        unwanted = [each.text for each in fragments if each.negated and each.operator == "contains"]
        for start, stop in others:
            yield from _remaining_interval(start, stop, fragments, unwanted)

    @cached_property
    def _parts(self) -> tuple[list[str], list[Interval]]:
        """The strings that are an interval by themselves, of which a list may have 1,000, and the other intervals."""
        intervals = list(self.ranges.intervals())
        listed = [start for start, stop in intervals if stop == start + NUL]
        return listed, [(start, stop) for start, stop in intervals if stop != start + NUL]


def matching(operator: PatternOperator, text: str, *, negated: bool) -> Strings:
    """The strings that have the prefix, suffix or part or, negated, the strings that do not."""
    if operator == "prefix" or not text:
        ranges = beginning_with(text)
        return Strings(~ranges if negated else ranges)
    return Strings(ALL, (Fragment(operator, text, negated),))


def narrowed(ranges: Ranges[str], fragments: tuple[Fragment, ...]) -> Strings:
    """The strings of the ranges that satisfy every fragment, without the intervals that are known to be empty."""
    if not fragments:
        return Strings(ranges)
    if _exclude(fragments, fragments):
        return Strings(nothing(STRINGS))
    # no two of the intervals touch, so sorting keeps the cuts of each together
    cuts = sorted(cut for interval in Strings(ranges)._remaining(fragments) for cut in interval if cut is not None)
    return Strings(Ranges(STRINGS, tuple(cuts)), fragments)


def _exclude(some: tuple[Fragment, ...], others: tuple[Fragment, ...]) -> bool:
    """Whether a fragment that is not negated excludes another; the empty string satisfies all negated ones."""
    wanted = [each for each in some if not each.negated]
    return any(each.excludes(other) for each in wanted for other in others)


def _remaining_interval(
    start: str, stop: str | None, fragments: tuple[Fragment, ...], unwanted: list[str]
) -> Iterator[Interval]:
    first = _raised(start, stop, unwanted)
    if first is not None and stop is not None and _is_finite(first, stop):
        yield from _remaining_extensions(first, stop, fragments)
    elif first is not None:
        yield first, stop


def _is_finite(start: str, stop: str) -> bool:
    return stop == start + NUL * (len(stop) - len(start))


def _raised(start: str, stop: str | None, unwanted: list[str]) -> str | None:
    """Where an interval can begin if its strings must not contain these texts; None if nothing is left of it."""
    first: str | None = start
    for text in unwanted:
        if first is not None and text in first:
            first = _least_without(text, first)
    return None if first is None or (stop is not None and first >= stop) else first


def _least_without(text: str, start: str) -> str | None:
    """The least string above start that does not contain the text; start contains it.

    Where a string above start that does not extend it first differs from it, its character is higher. The
    later that place, the lower the string; a place after the text's first occurrence would keep the text.
    """
    end = start.index(text) + len(text)
    for i in reversed(range(end)):
        higher = next_character(start[i])
        if higher is not None and (start[:i] + higher).endswith(text):
            higher = next_character(higher)
        if higher is not None:
            return start[:i] + higher
    return None


def _remaining_extensions(start: str, stop: str, fragments: tuple[Fragment, ...]) -> Iterator[Interval]:
    ranges = Ranges(STRINGS, (start, stop))
    for fragment in fragments:
        ranges &= _among_extensions(start, fragment)
    return ranges.intervals()


def _among_extensions(start: str, fragment: Fragment) -> Ranges[str]:
    """The strings among start, start + NUL, … that satisfy the fragment. Of other strings the ranges say nothing."""
    first = _first_extension(start, fragment)
    if first is None:
        met = nothing(STRINGS)
    elif fragment.operator == "contains" or not fragment.text.strip(NUL):
        met = Ranges(STRINGS, (first,))
    else:
        met = one_of(STRINGS, (first,))
    return ~met if fragment.negated else met


def _first_extension(start: str, fragment: Fragment) -> str | None:
    """The shortest of start, start + NUL, … that has the fragment's text; it ends with it unless start contains it."""
    text = fragment.text
    if fragment.operator == "contains" and text in start:
        return start
    missing = _ending_nuls(text) - _ending_nuls(start)
    extended = start + NUL * missing
    return extended if extended.endswith(text) else None


def _ending_nuls(text: str) -> int:
    return len(text) - len(text.rstrip(NUL))
