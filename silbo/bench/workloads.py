"""The workloads by name: subscriptions, contexts and publications. Each changes one thing in the paper's workload.

`siena` is our reading of the paper's own: 1,000 names by Zipf's law, 1 to 9 constraints, 1 to 16 attributes, a
square of 1,000 km, a box of 40 km, ten subscriptions per subscriber. The same seed gives the same workload.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from silbo.bench import places, situations
from silbo.bench.numbers import numeric_filters, numeric_messages
from silbo.bench.string_content import string_filters, string_messages, vocabulary
from silbo.context.function import ContextFunction
from silbo.language import tree
from silbo.matching.candidates import SubscriptionRow
from silbo.matching.filter import Filter
from silbo.model.values import Attributes, Context

if TYPE_CHECKING:
    from silbo.bench.numbers import Array

EACH = 10  # subscriptions of a subscriber
SIDE, BIG = 40.0, 500.0  # km
DISTINCT = 100  # filters of `identical`


Near: TypeAlias = Callable[[np.random.Generator, Context, Context], Context]


@dataclass(frozen=True, slots=True)
class Workload:
    """Subscriptions, contexts and publications; `box` is the side in km of the box that all functions have."""

    name: str
    filters: Sequence[Filter]
    functions: Sequence[ContextFunction | None]
    contexts: Sequence[Context]  # by subscriber
    publications: Sequence[tuple[Attributes, Context]]
    near: Near  # makes a publisher's context that is similar to a subscriber's
    box: float | None = None

    def __len__(self) -> int:
        return len(self.filters)

    def rows(self) -> list[SubscriptionRow]:
        """The subscriptions as rows of the table."""
        return [
            SubscriptionRow(subscriber(i), subscriber(i), f"s{i}", filter, function, ())
            for i, (filter, function) in enumerate(zip(self.filters, self.functions, strict=True))
        ]


def subscriber(subscription: int) -> str:
    """The name of the subscriber of a subscription."""
    return f"subscriber-{subscription // EACH}"


def workload(name: str, subscriptions: int, events: int, seed: int) -> Workload:
    """Generate the workload with this name."""
    return WORKLOADS[name](np.random.default_rng(seed), subscriptions, events)


def _siena(chance: np.random.Generator, subscriptions: int, events: int) -> Workload:
    return _numeric("siena", chance, subscriptions, events, box=SIDE)


def _nocontext(chance: np.random.Generator, subscriptions: int, events: int) -> Workload:
    return _numeric("nocontext", chance, subscriptions, events)


def _bigbox(chance: np.random.Generator, subscriptions: int, events: int) -> Workload:
    return _numeric("bigbox", chance, subscriptions, events, box=BIG)


def _clustered(chance: np.random.Generator, subscriptions: int, events: int) -> Workload:
    towns = places.uniform(chance, places.TOWNS)
    return _numeric(
        "clustered", chance, subscriptions, events, box=SIDE,
        positions=lambda count: places.in_towns(chance, towns, count),
    )  # fmt: skip


def _identical(chance: np.random.Generator, subscriptions: int, events: int) -> Workload:
    few = numeric_filters(chance, DISTINCT)
    filters = [few[i] for i in chance.integers(0, DISTINCT, subscriptions).tolist()]
    return _numeric("identical", chance, subscriptions, events, box=SIDE, filters=filters)


def _numeric(
    name: str,
    chance: np.random.Generator,
    subscriptions: int,
    events: int,
    *,
    box: float | None = None,
    filters: Sequence[Filter] | None = None,
    positions: Callable[[int], Array] | None = None,
) -> Workload:
    """A workload with numbers as content, and a box or nothing as context."""
    positions = positions or (lambda count: places.uniform(chance, count))
    function = None if box is None else ContextFunction.of(places.box(box))
    return Workload(
        name,
        filters or numeric_filters(chance, subscriptions),
        [function] * subscriptions,
        places.contexts(positions(-(-subscriptions // EACH))),
        list(zip(numeric_messages(chance, events), places.contexts(positions(events)), strict=True)),
        partial(places.near, reach=(box or SIDE) / 2),
        box,
    )


def _strings(chance: np.random.Generator, subscriptions: int, events: int) -> Workload:
    """A workload with patterns only: with a context function most of them would not have to be checked."""
    words = vocabulary(chance)
    filters = string_filters(chance, words, subscriptions)
    contexts = places.contexts(places.uniform(chance, -(-subscriptions // EACH)))
    published = places.contexts(places.uniform(chance, events))
    messages = string_messages(chance, words, events)
    publications = list(zip(messages, published, strict=True))
    near = partial(places.near, reach=SIDE / 2)
    return Workload("strings", filters, [None] * subscriptions, contexts, publications, near)


def _mixed(chance: np.random.Generator, subscriptions: int, events: int) -> Workload:
    """A workload with numbers and strings as content, some filters with `or`, and functions of every kind."""
    words = vocabulary(chance)
    numeric = numeric_filters(chance, subscriptions)
    patterns = string_filters(chance, words, subscriptions)
    filters = [_either(i % 4, *pair) for i, pair in enumerate(zip(numeric, patterns, strict=True))]
    said = string_messages(chance, words, events)
    messages = [
        {**a, **b} if i % 2 else a for i, (a, b) in enumerate(zip(numeric_messages(chance, events), said, strict=True))
    ]
    return Workload(
        "mixed",
        filters,
        situations.functions(chance, subscriptions),
        [situations.subscriber_context(chance) for _ in range(-(-subscriptions // EACH))],
        [(message, situations.publisher_context(chance)) for message in messages],
        situations.near,
    )


def _either(turn: int, numeric: Filter, pattern: Filter) -> Filter:
    """Of every four filters, two of numbers, one of strings, and one of both with `or`."""
    if turn < 2:
        return numeric
    if turn == 2:
        return pattern
    return Filter(tree.disjunction((numeric.tree, pattern.tree)), f"{numeric.text} or {pattern.text}")


WORKLOADS: Mapping[str, Callable[[np.random.Generator, int, int], Workload]] = {
    "siena": _siena,
    "nocontext": _nocontext,
    "bigbox": _bigbox,
    "clustered": _clustered,
    "identical": _identical,
    "strings": _strings,
    "mixed": _mixed,
}
