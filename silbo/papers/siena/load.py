"""The load of both systems: the paper's content, positions in the square, and boxes, all from one seed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import cycle, islice
from typing import TYPE_CHECKING

from silbo.bench import places
from silbo.bench.numbers import numeric_filters, numeric_messages
from silbo.context.function import ContextFunction
from silbo.matching.filter import Filter
from silbo.model.values import Attributes, Context
from silbo.papers.siena.systems import Place, Publications, System

if TYPE_CHECKING:
    import numpy as np

    from silbo.bench.numbers import Array

SIDE = 40.0  # km, the side of a box


@dataclass(frozen=True, slots=True)
class Load:
    """Subscribers with their places and filters, and the publications."""

    function: ContextFunction
    places: Sequence[Place]  # by subscriber
    filters: Sequence[Sequence[Filter]]  # by subscriber
    publications: Publications

    @property
    def subscriptions(self) -> int:
        """The number of subscriptions."""
        return sum(map(len, self.filters))


def box(side: float = SIDE) -> ContextFunction:
    """The function of a box around the subscriber, given its side in km."""
    return ContextFunction.of(places.box(side))


def somewhere(chance: np.random.Generator, count: int) -> list[Place]:
    """Uniform places in the square."""
    return places.contexts(places.uniform(chance, count))


def paper_load(
    chance: np.random.Generator, subscriptions: int, each: int, events: int, *, side: float = SIDE, towns: bool = False
) -> Load:
    """A load with `each` subscriptions per subscriber; positions are uniform in the square, or in towns."""
    subscribers = -(-subscriptions // each)
    filters = numeric_filters(chance, subscribers * each)
    around = places.uniform(chance, places.TOWNS)

    def drawn(count: int) -> Array:
        return places.in_towns(chance, around, count) if towns else places.uniform(chance, count)

    return Load(
        box(side),
        places.contexts(drawn(subscribers)),
        [filters[i : i + each] for i in range(0, len(filters), each)],
        list(zip(numeric_messages(chance, events), places.contexts(drawn(events)), strict=True)),
    )


def populate(systems: Iterable[System], load: Load) -> None:
    """Add all subscribers of the load."""
    for system in systems:
        for place, filters in zip(load.places, load.filters, strict=True):
            system.join(place, filters)


def settle(systems: Iterable[System], publications: Publications, events: int) -> None:
    """Match until the planner has settled."""
    for each in repeated(publications, events):
        for system in systems:
            system.match(*each)


def repeated(publications: Publications, count: int) -> Iterator[tuple[Attributes, Context]]:
    """`count` publications, starting again from the first if there are fewer."""
    return islice(cycle(publications), count)
