"""Figures 7, 8 and 9: what a change of a subscriber's context takes, in both systems, by turns.

Changes are so short in one of them that a batch is timed at a time, behind some changes that are not timed: else
each system would pay for what the other left in the processor's caches. Between batches both match a publication,
so that a grid, if there is one, has been repaired when the next batch begins.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from silbo.bench.numbers import numeric_filters
from silbo.bench.timing import timed
from silbo.broker.delivery import Subscription
from silbo.experiment.brokers import Connected, connected
from silbo.experiment.load import SIDE, Load, paper_load, populate, settle, somewhere
from silbo.experiment.published import CHANGES_7, EACH
from silbo.experiment.sizes import STEPS, Sizes
from silbo.experiment.systems import Place, Siena, Silbo, System
from silbo.language import tree
from silbo.matching.filter import Filter
from silbo.matching.siena import RESERVED

CONNECTIONS_7 = 8  # subscriptions each of the 1,250 connections that 10,000 subscriptions are in Figure 7
NEW_7 = (1, 10)  # filters of a new subscriber: 1 is what the paper's numbers say, 10 is its average
BATCH = 20  # changes timed together
WARM = 5  # changes ahead of a batch, not timed
PROBED = 20  # subscribers of each step of Figure 9
EVENTS = 500
PARTS = (0.25, 0.5, 0.75, 1.0)  # of the connections, Figure 8
ENDS: tuple[tuple[tree.ComparisonOperator, float], ...] = ((">=", -SIDE / 2), ("<=", SIDE / 2))  # of a box
HEADLINES = (1, 10, 50)  # filters of a subscriber that the results name


def pair(load: Load) -> tuple[Silbo, Siena]:
    """Both systems, loaded."""
    both = Silbo(load.function), Siena(load.function)
    populate(both, load)
    return both


def change_all(change: Callable[[Any, Place], object], changes: Sequence[tuple[Any, Place]]) -> None:
    """Make changes one after the other; the caller takes the time."""
    for who, place in changes:
        change(who, place)


def taken_us(system: System, subscribers: Sequence[int], places: Sequence[Place]) -> float:
    """Microseconds of a change, of a batch of them."""
    return batch_us(system.change, [(system.who(each), place) for each, place in zip(subscribers, places, strict=True)])


def batch_us(change: Callable[[Any, Place], object], changes: Sequence[tuple[Any, Place]]) -> float:
    """Microseconds of a change: of those that are behind the first few."""
    change_all(change, changes[:WARM])
    return timed(change_all, change, changes[WARM:]) / (len(changes) - WARM) / 1_000


# Figure 7


def figure_7(sizes: Sizes, seed: int) -> dict[str, Any]:
    """New subscribers join a loaded broker, and each changes its context fifty times."""
    chance = np.random.default_rng([seed, 7])
    load = paper_load(chance, sizes.loaded, CONNECTIONS_7, EVENTS)
    both = pair(load)
    settle(both, load.publications, sizes.warm_up)
    taken: dict[str, dict[str, list[float]]] = {each.name: {str(new): [] for new in NEW_7} for each in both}
    for _ in range(sizes.newcomers):
        for new in NEW_7:
            for name, ms in _newcomer(chance, both, numeric_filters(chance, new)).items():
                taken[name][str(new)].append(ms)
        _match_once(chance, both, load)
    return {
        "connections_before": len(load.places),
        "connections": list(
            range(len(load.places) + len(NEW_7), len(load.places) + len(NEW_7) * sizes.newcomers + 1, 2)
        ),
        "changes_each": CHANGES_7,
        "ms_per_connection": taken,
    }


def _newcomer(chance: np.random.Generator, both: Sequence[System], filters: Sequence[Filter]) -> dict[str, float]:
    """A subscriber joins both systems: milliseconds of its fifty changes in each."""
    first, *places = somewhere(chance, 1 + WARM + CHANGES_7)
    numbers = [system.join(first, filters) for system in both]
    return {
        system.name: round(taken_us(system, [number] * len(places), places) * CHANGES_7 / 1_000, 6)
        for system, number in zip(both, numbers, strict=True)
    }


def _match_once(chance: np.random.Generator, both: Sequence[System], load: Load) -> None:
    publication = load.publications[int(chance.integers(len(load.publications)))]
    for system in both:
        system.match(*publication)


# Figure 8


def figure_8(sizes: Sizes, seed: int) -> list[dict[str, Any]]:
    """Runs of changes while connections grow: the seconds of each run, at two sizes."""
    return [each for most in sizes.most for each in _growing(sizes, most, seed)]


def _growing(sizes: Sizes, most: int, seed: int) -> list[dict[str, Any]]:
    chance = np.random.default_rng([seed, 8, most])
    load = paper_load(chance, most, EACH, EVENTS)
    both = Silbo(load.function), Siena(load.function)
    found, at = [], 0
    for part in PARTS:
        until = round(part * len(load.places))
        populate(both, Load(load.function, load.places[at:until], load.filters[at:until], ()))
        settle(both, load.publications, sizes.warm_up // len(PARTS))
        at = until
        found += [
            {"most": most, "part": part, "connections": until, "subscriptions": until * EACH, "changes": run,
             "seconds": _run_seconds(chance, both, until, run, sizes.repeats)}
            for run in sizes.runs
        ]  # fmt: skip
    return found


def _run_seconds(
    chance: np.random.Generator, both: Sequence[System], connections: int, run: int, repeats: int
) -> dict[str, float]:
    """The median of some runs."""
    taken: dict[str, list[float]] = {system.name: [] for system in both}
    for _ in range(repeats):
        who, places = chance.integers(0, connections, WARM + run).tolist(), somewhere(chance, WARM + run)
        for system in both:
            taken[system.name].append(taken_us(system, who, places) * run / 1e6)
    return {name: round(float(np.median(each)), 6) for name, each in taken.items()}


# Figure 9


def figure_9(sizes: Sizes, seed: int) -> dict[str, Any]:
    """One change by the filters that its subscriber has; all samples, and the line through SIENA's."""
    chance = np.random.default_rng([seed, 9])
    load = paper_load(chance, sizes.loaded, EACH, EVENTS)
    both = pair(load)
    probed = {step: [_join(chance, both, step) for _ in range(PROBED)] for step in STEPS}
    settle(both, load.publications, sizes.warm_up)
    samples: dict[str, dict[str, list[float]]] = {each.name: {str(step): [] for step in STEPS} for each in both}
    for turn in range(sizes.samples):
        for step in STEPS:
            places = somewhere(chance, WARM + BATCH)
            who = chance.choice(probed[step], WARM + BATCH).tolist()
            for system in _by_turns(both, turn):
                samples[system.name][str(step)].append(round(taken_us(system, who, places), 4))
            _match_once(chance, both, load)
    return {
        "samples_us": samples,
        "median_us": {name: {step: _median(each) for step, each in of.items()} for name, of in samples.items()},
        "same_answers": all(both[0].got(*each) == both[1].got(*each) for each in load.publications),
        **line(samples["siena"]),
    }


def _join(chance: np.random.Generator, both: Sequence[System], filters: int) -> int:
    (place,), made = somewhere(chance, 1), numeric_filters(chance, filters)
    numbers = {system.join(place, made) for system in both}
    (number,) = numbers
    return number


def _by_turns(both: Sequence[System], turn: int) -> Sequence[System]:
    """Who went second goes first the next time."""
    return both if turn % 2 == 0 else tuple(reversed(both))


def line(samples: dict[str, list[float]]) -> dict[str, float]:
    """Microseconds a filter and a message (two a filter), and what a change takes besides."""
    steps = [int(step) for step in samples]
    slope, base = np.polyfit(steps, [np.median(each) for each in samples.values()], 1)
    return {
        "siena_us_per_filter": round(float(slope), 3),
        "siena_us_per_message": round(float(slope) / 2, 3),
        "siena_us_besides": round(float(base), 3),
    }


def _median(samples: Sequence[float]) -> float:
    return round(float(np.median(samples)), 4)


# the same change at other levels


def levels(sizes: Sizes, seed: int) -> dict[str, dict[str, dict[str, float]]]:
    """A change through the sessions: `set_context` of both, and SIENA as unsubscribes and subscribes."""
    chance = np.random.default_rng([seed, 10])
    load = paper_load(chance, sizes.loaded, EACH, EVENTS)
    with (
        connected("silbo", load, "fast") as silbo,
        connected("siena", load) as siena,
        connected("verbs", load, "fast") as verbs,
    ):
        found = {str(step): _by_level(chance, (silbo, siena, verbs), step, load, sizes) for step in HEADLINES}
    return {
        "set_context": {name: {step: of[name] for step, of in found.items()} for name in ("silbo", "siena")},
        "unsubscribe and subscribe": {"siena": {step: of["verbs"] for step, of in found.items()}},
    }


def _by_level(
    chance: np.random.Generator, brokers: tuple[Connected, Connected, Connected], filters: int, load: Load, sizes: Sizes
) -> dict[str, float]:
    """Medians of a new subscriber's changes, with so many filters."""
    (place,), made = somewhere(chance, 1), numeric_filters(chance, filters)
    silbo, siena, verbs = brokers
    calls = {each.name: each.join(place, made, load).set_context for each in (silbo, siena)}
    calls["verbs"] = Sender(verbs, made).move  # type: ignore[assignment]
    for each in brokers:
        each.settle(load.publications, sizes.warm_up // len(HEADLINES))
    taken: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(sizes.samples):
        places = somewhere(chance, WARM + BATCH)
        for name, call in calls.items():
            taken[name].append(batch_us(lambda call, place: call(place), [(call, place) for place in places]))
    return {name: _median(each) for name, each in taken.items()}


class Sender:
    """A subscriber of a broker without context: it writes its box into its filters, and sends them anew."""

    def __init__(self, broker: Connected, filters: Sequence[Filter]) -> None:
        self._session = broker.broker.connect()
        self._filters = filters
        self._sent: list[Subscription] = []

    def move(self, place: Place) -> None:
        """Unsubscribe and subscribe each filter."""
        ranges = [
            tree.Compare(operator, tree.Name("attribute", RESERVED + axis), tree.Constant("number", place[axis] + side))
            for axis in ("x", "y")
            for operator, side in ENDS
        ]
        for subscription in self._sent:
            subscription.close()
        self._sent = [self._session.subscribe(_with(filter, ranges)) for filter in self._filters]


def _with(filter: Filter, ranges: Sequence[tree.Condition]) -> Filter:
    return Filter(tree.conjunction((filter.tree, *ranges)), filter.text)
