"""Figures 7, 8 and 9: the time of a change of a subscriber's context, measured in both systems in turns.

Changes are so short in one system that they are timed in batches, after some changes that are not timed: otherwise
each system would pay for the data of the other in the processor's caches. Between batches both match a publication,
so that a grid, if there is one, has been repaired when the next batch begins.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np

from silbo.bench.numbers import numeric_filters
from silbo.bench.timing import timed
from silbo.language import tree
from silbo.matching.filter import Filter
from silbo.matching.siena import RESERVED
from silbo.papers.siena.brokers import Connected, connected
from silbo.papers.siena.load import SIDE, Load, paper_load, populate, settle, somewhere
from silbo.papers.siena.paper_figures import CHANGES_7, EACH
from silbo.papers.siena.sizes import STEPS, RunSizes
from silbo.papers.siena.spread import Spread, medians, spread
from silbo.papers.siena.systems import Place, Siena, Silbo, System
from silbo.session.subscription import Subscription

PER_CONNECTION_7 = 8  # subscriptions per connection: in Figure 7, 10,000 subscriptions in 1,250 connections
NEW_7 = (1, 10)  # filters of a new subscriber: 1 follows from the paper's numbers, 10 is its average
BATCH = 20  # changes timed together
WARM = 5  # changes before a batch, not timed
PROBED = 20  # subscribers for each step of Figure 9
EVENTS = 500
PARTS = (0.25, 0.5, 0.75, 1.0)  # of the connections, Figure 8
ENDS: tuple[tuple[tree.ComparisonOperator, float], ...] = ((">=", -SIDE / 2), ("<=", SIDE / 2))  # of a box
HEADLINES = (1, 10, 50)  # filters of a subscriber that the results name


def pair(load: Load) -> tuple[Silbo, Siena]:
    """Both systems, with the load."""
    both = Silbo(load.function), Siena(load.function)
    populate(both, load)
    return both


def change_all(change: Callable[[Any, Place], object], changes: Sequence[tuple[Any, Place]]) -> None:
    """Make changes one after the other; the caller takes the time."""
    for who, place in changes:
        change(who, place)


def taken_us(system: System, subscribers: Sequence[int], places: Sequence[Place]) -> float:
    """Microseconds per change in a batch."""
    return batch_us(system.change, [(system.who(each), place) for each, place in zip(subscribers, places, strict=True)])


def batch_us(change: Callable[[Any, Place], object], changes: Sequence[tuple[Any, Place]]) -> float:
    """Microseconds per change in a batch, without the first few, which warm the caches."""
    change_all(change, changes[:WARM])
    return timed(change_all, change, changes[WARM:]) / (len(changes) - WARM) / 1_000


# Figure 7


def figure_7(sizes: RunSizes, seed: int) -> dict[str, Any]:
    """Let new subscribers join a loaded broker; each changes its context fifty times."""
    chance = np.random.default_rng([seed, 7])
    load = paper_load(chance, sizes.loaded, PER_CONNECTION_7, EVENTS)
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
    """Let a subscriber join both systems; returns the milliseconds of its fifty changes in each."""
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


def figure_8(sizes: RunSizes, seed: int) -> list[dict[str, Any]]:
    """The seconds of runs of changes while connections are added, at two sizes."""
    return [each for most in sizes.most for each in _growing(sizes, most, seed)]


def _growing(sizes: RunSizes, most: int, seed: int) -> list[dict[str, Any]]:
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
    """The median seconds of some runs, by system."""
    taken: dict[str, list[float]] = {system.name: [] for system in both}
    for _ in range(repeats):
        who, places = chance.integers(0, connections, WARM + run).tolist(), somewhere(chance, WARM + run)
        for system in both:
            taken[system.name].append(taken_us(system, who, places) * run / 1e6)
    return {name: round(float(np.median(each)), 6) for name, each in taken.items()}


# Figure 9


def figure_9(sizes: RunSizes, seed: int) -> dict[str, Any]:
    """One change by the number of filters: all samples, the line through SIENA's, and silbo measured alone."""
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
        "alone_us": _alone(chance, both[0], probed, sizes.samples),  # last: silbo moves and SIENA does not
        **line(samples["siena"]),
    }


def _join(chance: np.random.Generator, both: Sequence[System], filters: int) -> int:
    (place,), made = somewhere(chance, 1), numeric_filters(chance, filters)
    numbers = {system.join(place, made) for system in both}
    (number,) = numbers
    return number


def _alone(chance: np.random.Generator, silbo: Silbo, probed: dict[int, list[int]], samples: int) -> dict[str, Spread]:
    """The same changes in silbo with nothing measured between them, so that its caches are not overwritten."""
    taken: dict[str, list[float]] = {str(step): [] for step in HEADLINES}
    for _ in range(samples):
        for step in HEADLINES:
            who = chance.choice(probed[step], WARM + BATCH).tolist()
            taken[str(step)].append(taken_us(silbo, who, somewhere(chance, WARM + BATCH)))
    return {step: spread(medians(each)) for step, each in taken.items()}


def _by_turns(both: Sequence[System], turn: int) -> Sequence[System]:
    """Both systems, in an order that alternates with each turn."""
    return both if turn % 2 == 0 else tuple(reversed(both))


def line(samples: dict[str, list[float]]) -> dict[str, float]:
    """Microseconds per filter and per message (two for each filter), and the constant part of a change."""
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


def levels(sizes: RunSizes, seed: int) -> dict[str, dict[str, dict[str, Spread]]]:
    """The time of a change through sessions: `set_context` of both, and `unsubscribe` and `subscribe` for SIENA."""
    chance = np.random.default_rng([seed, 10])
    load = paper_load(chance, sizes.loaded, EACH, EVENTS)
    with (
        connected("silbo", load, "fast") as silbo,
        connected("siena", load) as siena,
        connected("verbs", load, "fast") as verbs,
    ):
        movers = {str(step): _movers(chance, (silbo, siena, verbs), step, load) for step in HEADLINES}
        for each in (silbo, siena, verbs):
            each.settle(load.publications, sizes.warm_up)
        found = _by_level(chance, movers, sizes.samples)
    return {
        "set_context": {name: {step: of[name] for step, of in found.items()} for name in ("silbo", "siena")},
        "unsubscribe and subscribe": {"siena": {step: of["verbs"] for step, of in found.items()}},
    }


Movers: TypeAlias = dict[str, Callable[[Place], object]]  # by broker, the function that moves a new subscriber


def _movers(
    chance: np.random.Generator, brokers: tuple[Connected, Connected, Connected], filters: int, load: Load
) -> Movers:
    """Add a new subscriber with `filters` filters to each broker."""
    (place,), made = somewhere(chance, 1), numeric_filters(chance, filters)
    silbo, siena, verbs = brokers
    movers: Movers = {each.name: each.join(place, made, load).set_context for each in (silbo, siena)}
    return {**movers, "verbs": ResubscribingSender(verbs, made).move}


def _by_level(chance: np.random.Generator, movers: dict[str, Movers], samples: int) -> dict[str, dict[str, Spread]]:
    """By number of filters and by broker, the time of a change; all are measured in turns."""
    taken: dict[str, dict[str, list[float]]] = {step: {name: [] for name in of} for step, of in movers.items()}
    for _ in range(samples):
        places = somewhere(chance, WARM + BATCH)
        for step, of in movers.items():
            for name, move in of.items():
                taken[step][name].append(batch_us(_call, [(move, place) for place in places]))
    return {step: {name: spread(medians(each)) for name, each in of.items()} for step, of in taken.items()}


def _call(move: Callable[[Place], object], place: Place) -> None:
    move(place)


class ResubscribingSender:
    """A subscriber of a broker without contexts: to move, it writes its box into its filters and subscribes again."""

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
