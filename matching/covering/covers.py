"""Compare two filters without a message: whether one selects every message that the other selects, or none of them.

A yes is always right. A no may also mean that the proof was not found: filters are compared conjunction by
conjunction and attribute by attribute, which is exact for conjunctions with one constraint on each
attribute. It misses a filter that only several conjunctions together cover, and some combinations of
`suffix` and `contains` on one attribute. The limits on the size of filters bound the work.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import TypeAlias

from silbo.language.form import Form
from silbo.matching.covering.permitted import ANYTHING, Permitted, common, permitted
from silbo.matching.filter import Filter
from silbo.matching.normal_form import Conjunction, Constraint, conjunctions

# one filter is often compared with many others in turn; in this form most take kilobytes, the largest four megabytes
REMEMBERED = 64  # filters in the cache

Relation: TypeAlias = Callable[[Permitted, Permitted], bool]


@dataclass(frozen=True, slots=True)
class Alternative:
    """A conjunction that may select a message: the values it permits each attribute, in total and by constraint."""

    attributes: Mapping[str, Permitted]
    constraints: tuple[tuple[str, Permitted], ...]


def covers(general: str | Form | Filter, specific: str | Form | Filter) -> bool:
    """Whether the general filter certainly selects every message that the specific one selects."""
    those, these = _alternatives(Filter.of(general)), _alternatives(Filter.of(specific))
    inside = _asked_once(Permitted.inside, those, these)
    return all(any(_implies(this, that, inside) for that in those) for this in these)


def disjoint(a: str | Form | Filter, b: str | Form | Filter) -> bool:
    """Whether certainly no message is selected by both filters."""
    those, these = _alternatives(Filter.of(a)), _alternatives(Filter.of(b))
    overlaps = _asked_once(Permitted.overlaps, those, these)
    return all(_excludes(this, that, overlaps) or _excludes(that, this, overlaps) for this in these for that in those)


def _asked_once(relation: Relation, *filters: tuple[Alternative, ...]) -> Relation:
    """The relation with its answers cached, since a filter's conjunctions have most of their constraints in common."""
    return cache(relation) if any(len(alternatives) > 1 for alternatives in filters) else relation


def _implies(this: Alternative, that: Alternative, inside: Relation) -> bool:
    return all(inside(this.attributes.get(name, ANYTHING), each) for name, each in that.constraints)


def _excludes(this: Alternative, that: Alternative, overlaps: Relation) -> bool:
    """Whether a constraint of `that` is never true when `this` is true.

    To compare `that.attributes` instead would find a little more. But those values, which may be long lists, differ
    from conjunction to conjunction, so that each pair of conjunctions would be compared; single constraints are few.
    """
    return any(not overlaps(this.attributes.get(name, ANYTHING), each) for name, each in that.constraints)


@lru_cache(maxsize=REMEMBERED)
def _alternatives(filter: Filter) -> tuple[Alternative, ...]:
    """The filter's conjunctions, without those that are known to select nothing."""
    of_constraint, of_all = cache(permitted), cache(common)
    found = (_alternative(conjunction, of_constraint, of_all) for conjunction in conjunctions(filter.tree))
    return tuple(alternative for alternative in found if alternative is not None)


def _alternative(
    conjunction: Conjunction,
    of_constraint: Callable[[Constraint], Permitted],
    of_all: Callable[[tuple[Permitted, ...]], Permitted],
) -> Alternative | None:
    constraints = {(each.attribute, of_constraint(each)): None for each in conjunction}
    if not all(each for _, each in constraints):
        return None
    by_name: dict[str, list[Permitted]] = {}
    for name, each in constraints:
        if name is not None:
            by_name.setdefault(name, []).append(each)
    attributes = {name: of_all(tuple(several)) for name, several in by_name.items()}
    if not all(attributes.values()):
        return None
    return Alternative(attributes, tuple((name, each) for name, several in by_name.items() for each in several))
