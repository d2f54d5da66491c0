"""Compare two filters before any message comes: whether one selects all that the other does, or nothing of it.

Yes is always right. No may mean that it was not found out: the question is decided conjunction by
conjunction and attribute by attribute, which is exact for conjunctions with one constraint on each
attribute. It misses a filter that only several conjunctions together cover, and some combinations of
`suffix` and `contains` on one attribute. The work is bounded by the bounds of filters.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import TypeAlias

from silbo.language.form import Form
from silbo.matching.filter import Filter
from silbo.matching.normal_form import Conjunction, Constraint, conjunctions
from silbo.matching.permitted import ANYTHING, Permitted, common, permitted

# a filter is compared with many others in a row; in this form most take kilobytes, the largest four megabytes.
REMEMBERED = 64  # filters

Relation: TypeAlias = Callable[[Permitted, Permitted], bool]


@dataclass(frozen=True, slots=True)
class Alternative:
    """A conjunction that some message meets: what it permits each attribute in all, and by each constraint."""

    attributes: Mapping[str, Permitted]
    constraints: tuple[tuple[str, Permitted], ...]


def covers(general: str | Form | Filter, specific: str | Form | Filter) -> bool:
    """Whether every message that the specific filter selects is surely selected by the general one."""
    those, these = _alternatives(Filter.of(general)), _alternatives(Filter.of(specific))
    inside = _asked_once(Permitted.inside, those, these)
    return all(any(_implies(this, that, inside) for that in those) for this in these)


def disjoint(a: str | Form | Filter, b: str | Form | Filter) -> bool:
    """Whether surely no message is selected by both filters."""
    those, these = _alternatives(Filter.of(a)), _alternatives(Filter.of(b))
    overlaps = _asked_once(Permitted.overlaps, those, these)
    return all(_excludes(this, that, overlaps) or _excludes(that, this, overlaps) for this in these for that in those)


def _asked_once(relation: Relation, *filters: tuple[Alternative, ...]) -> Relation:
    """The relation, with its answers remembered: a filter's conjunctions have most of their constraints in common."""
    return cache(relation) if any(len(alternatives) > 1 for alternatives in filters) else relation


def _implies(this: Alternative, that: Alternative, inside: Relation) -> bool:
    return all(inside(this.attributes.get(name, ANYTHING), each) for name, each in that.constraints)


def _excludes(this: Alternative, that: Alternative, overlaps: Relation) -> bool:
    """Whether one of that one's constraints is never true where this one holds.

    All its constraints at once would find a little more; but pairs of long lists are as many as pairs
    of conjunctions, while single constraints are few.
    """
    return any(not overlaps(this.attributes.get(name, ANYTHING), each) for name, each in that.constraints)


@lru_cache(maxsize=REMEMBERED)
def _alternatives(filter: Filter) -> tuple[Alternative, ...]:
    """The filter's conjunctions, less those that are seen to select nothing."""
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
